// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The processes of a communicator as a group of ddio.  Forming one costs messages among all, so a communicator keeps
 * those that were made of it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mpiio/team/siblings.h"
#include "mpiio/team/team.h"

static _Atomic int keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void verdict_say(struct team_verdict *v, struct ddio_session *session, int err)
{
	const char *text = err && session ? ddio_last_error(session) : "";

	v->err = err;
	snprintf(v->text, sizeof(v->text), "%s", text && *text ? text : err ? strerror(-err) : "");
}

void verdict_of_root(struct mpiio_team *t, struct team_verdict *v)
{
	int ret = team_bcast(t, v, sizeof(*v));

	if (ret)
		verdict_say(v, cluster_session(t->cluster), ret);
}

const char *team_text(const struct mpiio_team *t, int err)
{
	if (err == TEAM_DIFFERS)
		return "the processes make different calls, or one has closed the file";
	return ddio_last_error(cluster_session(t->cluster));
}

int worst_of(struct mpiio_team *t, int err)
{
	int64_t worst = -(int64_t)err;
	int ret = team_max(t, 0, &worst, 1);

	return ret ? ret : -(int)worst;
}

static int bcast(void *arg, void *buf, size_t len, uint32_t root)
{
	(void)root; /* always 0 */
	return team_bcast(arg, buf, len);
}

static struct mpiio_team *team_new(void)
{
	struct mpiio_team *t = calloc(1, sizeof(*t));
	struct team_talk *talk = t ? talk_new() : NULL;

	if (!talk) {
		free(t);
		return NULL;
	}
	*t = (struct mpiio_team){ .comm = MPI_COMM_NULL, .refs = 1, .talk = talk };
	return t;
}

/* With a process that has died, the MPI's communicator, and what it may write into, stay. */
static void team_free(struct mpiio_team *t)
{
	ddio_group_free(t->group);
	if (!t->deaf) {
		if (t->comm != MPI_COMM_NULL)
			PMPI_Comm_free(&t->comm);
		talk_free(t->talk);
	}
	free(t);
}

void team_put(struct mpiio_team *t)
{
	unsigned int refs;

	pthread_mutex_lock(&lock);
	refs = --t->refs;
	pthread_mutex_unlock(&lock);
	if (!refs)
		team_free(t);
}

/* The communicator goes: its teams stay as long as files have them. */
static int comm_goes(MPI_Comm comm, int key, void *value, void *extra)
{
	struct mpiio_team *t = value, *next;

	(void)comm;
	(void)key;
	(void)extra;
	for (; t; t = next) {
		next = t->next;
		team_put(t);
	}
	return MPI_SUCCESS;
}

static int keyval_make(void)
{
	int ret = MPI_SUCCESS, made;

	pthread_mutex_lock(&lock);
	if (keyval == MPI_KEYVAL_INVALID) {
		ret = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_goes, &made, NULL);
		if (ret == MPI_SUCCESS)
			keyval = made;
	}
	pthread_mutex_unlock(&lock);
	return ret == MPI_SUCCESS ? 0 : -ENOMEM;
}

static struct mpiio_team *team_first(MPI_Comm comm)
{
	struct mpiio_team *t = NULL;
	int there = 0;

	if (keyval != MPI_KEYVAL_INVALID)
		PMPI_Comm_get_attr(comm, keyval, &t, &there);
	return there ? t : NULL;
}

static struct mpiio_team *team_kept(MPI_Comm comm, struct mpiio_cluster *cluster)
{
	struct mpiio_team *t = team_first(comm);

	while (t && t->cluster != cluster)
		t = t->next;
	return t;
}

static void team_keep(MPI_Comm comm, struct mpiio_team *t)
{
	struct mpiio_team *first = team_first(comm);

	/* Setting an attribute anew would end what it was: the new one goes behind the first. */
	if (first) {
		t->next = first->next;
		first->next = t;
	} else if (PMPI_Comm_set_attr(comm, keyval, t)) {
		return;
	}
	t->refs++;
}

/* Every step is made by all, with what is worst of it: one that failed alone would leave the others waiting. */
static int team_form(struct mpiio_team *t, struct mpiio_team *visit, const char *conf)
{
	int ret = team_dup(visit, &t->comm);

	if (ret)
		return ret;
	PMPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN);
	t->rank = visit->rank;
	t->size = visit->size;
	t->heeds = true;
	ret = worst_of(t, cluster_get(conf, &t->cluster));
	if (!ret)
		ret = worst_of(t, ddio_group_create_bcast(cluster_session(t->cluster),
							  (uint32_t)t->rank, (uint32_t)t->size,
							  bcast, t, NULL, &t->group));
	if (!ret)
		ret = worst_of(t, ddio_group_set_patient(t->group));
	return ret;
}

static int team_make(struct mpiio_team *visit, const char *conf, struct mpiio_team **team)
{
	struct mpiio_team *t = team_new();
	int ret = worst_of(visit, t ? 0 : -ENOMEM);

	if (!ret)
		ret = team_form(t, visit, conf);
	if (ret) {
		visit->deaf |= t && t->deaf;
		if (t)
			team_free(t);
		return ret;
	}
	*team = t;
	return 0;
}

static bool threads_at_once(void)
{
	int level = MPI_THREAD_MULTIPLE;

	PMPI_Query_thread(&level);
	return level == MPI_THREAD_MULTIPLE;
}

/*
 * Several threads may open files on a communicator of one process at a time, as programs do on MPI_COMM_SELF, and the MPIs bear: no
 * team is kept there.
 */
static bool is_for_one_file(const struct mpiio_team *t)
{
	return t->size == 1 && threads_at_once();
}

/* Every step is made by all, as in team_form(). */
static int team_fork(struct mpiio_team *t, struct mpiio_team *own)
{
	int ret = worst_of(t, team_dup(t, &own->comm));

	/* It is as patient as the group that it is of. */
	return ret ? ret : worst_of(t, ddio_group_split(t->group, 0, t->rank, &own->group));
}

int team_own(struct mpiio_team **team)
{
	struct mpiio_team *t = *team, *own;
	int ret;

	if (is_for_one_file(t))
		return 0;
	own = team_new();
	if (own) {
		own->cluster = t->cluster;
		own->rank = t->rank;
		own->size = t->size;
		own->heeds = true;
	}
	ret = worst_of(t, own ? 0 : -ENOMEM);
	if (!ret)
		ret = team_fork(t, own);
	if (ret) {
		if (own)
			team_free(own);
		return ret;
	}
	team_put(t);
	*team = own;
	return 0;
}

/* There is a MPI_COMM_WORLD where siblings are known. */
static bool is_whole_job(MPI_Comm comm)
{
	int how = MPI_UNEQUAL;

	PMPI_Comm_compare(comm, MPI_COMM_WORLD, &how);
	return how != MPI_UNEQUAL;
}

/*
 * The MPI may say itself that a process has died: to this library, not to the handler of a communicator that the program has not
 * named in that call for what it sends.  Other threads may be in calls on it, and keep the handler.
 */
static void team_hush(struct mpiio_team *visit)
{
	if (!threads_at_once() && !PMPI_Comm_get_errhandler(visit->comm, &visit->handler))
		PMPI_Comm_set_errhandler(visit->comm, MPI_ERRORS_RETURN);
}

void team_unhush(struct mpiio_team *visit)
{
	if (visit->handler == MPI_ERRHANDLER_NULL)
		return;
	PMPI_Comm_set_errhandler(visit->comm, visit->handler);
	PMPI_Errhandler_free(&visit->handler);
}

bool team_visit(struct mpiio_team *visit, MPI_Comm comm)
{
	const struct mpiio_team *kept;
	int inter = 0;

	if (PMPI_Comm_test_inter(comm, &inter) || inter)
		return false;
	*visit = (struct mpiio_team){ .comm = comm,
				      .talk = talk_new(),
				      .handler = MPI_ERRHANDLER_NULL };
	PMPI_Comm_rank(comm, &visit->rank);
	PMPI_Comm_size(comm, &visit->size);
	visit->whole = siblings_are_known() && is_whole_job(comm);
	for (kept = team_first(comm); kept; kept = kept->next) {
		visit->deaf |= kept->deaf;
		if (kept->group)
			visit->group = kept->group;
	}
	team_hush(visit);
	return true;
}

/* A communicator of which a process has died is remembered as such. */
void team_leave(struct mpiio_team *visit)
{
	struct mpiio_team *t;

	team_unhush(visit);
	if (!visit->deaf) {
		talk_free(visit->talk);
		return;
	}
	t = visit->group || keyval_make() ? NULL : team_new();
	if (!t)
		return;
	t->deaf = true;
	team_keep(visit->comm, t);
	team_put(t);
}

int team_get(struct mpiio_team *visit, const char *conf, struct mpiio_team **team)
{
	struct mpiio_cluster *cluster = NULL;
	int64_t has[2];
	int ret = keyval_make();

	*team = NULL;
	if (!ret && is_for_one_file(visit))
		return team_make(visit, conf, team);
	/* Whoever has the session has the team, if all were there when it was made. */
	if (!ret && !cluster_get(conf, &cluster))
		*team = team_kept(visit->comm, cluster);
	has[0] = !*team;
	has[1] = -ret;
	ret = team_max(visit, 0, has, 2);
	if (ret || has[1])
		return ret ? ret : -(int)has[1];
	if (has[0]) {
		ret = team_make(visit, conf, team);
		if (!ret)
			team_keep(visit->comm, *team);
		return ret;
	}
	pthread_mutex_lock(&lock);
	(*team)->refs++;
	pthread_mutex_unlock(&lock);
	return 0;
}
