// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The processes of a communicator as a group of ddio.  Forming one costs messages among all, so a communicator keeps
 * those that were made of it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mpiio/abi/abi.h"

static int keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void verdict_say(struct team_verdict *v, struct ddio_session *session, int err)
{
	const char *text = err && session ? ddio_last_error(session) : "";

	v->err = err;
	snprintf(v->text, sizeof(v->text), "%s", text && *text ? text : err ? strerror(-err) : "");
}

void verdict_of_root(struct mpiio_team *t, struct team_verdict *v)
{
	if (t->size > 1)
		PMPI_Bcast(v, sizeof(*v), MPI_BYTE, 0, t->comm);
}

int worst_of(struct mpiio_team *t, int err)
{
	int worst = err;

	if (t->size > 1)
		PMPI_Allreduce(&err, &worst, 1, MPI_INT, MPI_MIN, t->comm);
	return worst;
}

bool same_everywhere(MPI_Comm comm, int64_t value)
{
	int64_t both[2] = { value, -value }, most[2];

	PMPI_Allreduce(both, most, 2, MPI_INT64_T, MPI_MAX, comm);
	return most[0] == -most[1];
}

static int bcast(void *arg, void *buf, size_t len, uint32_t root)
{
	MPI_Comm *comm = arg;

	while (len) {
		int n = len > (1 << 30) ? 1 << 30 : (int)len;

		if (PMPI_Bcast(buf, n, MPI_BYTE, (int)root, *comm))
			return -EIO;
		buf = (char *)buf + n;
		len -= (size_t)n;
	}
	return 0;
}

static void team_free(struct mpiio_team *t)
{
	ddio_group_free(t->group);
	if (t->comm != MPI_COMM_NULL)
		PMPI_Comm_free(&t->comm);
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
	int ret = 0;

	pthread_mutex_lock(&lock);
	if (keyval == MPI_KEYVAL_INVALID &&
	    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_goes, &keyval, NULL))
		ret = -ENOMEM;
	pthread_mutex_unlock(&lock);
	return ret;
}

static struct mpiio_team *team_kept(MPI_Comm comm, struct mpiio_cluster *cluster)
{
	struct mpiio_team *t = NULL;
	int there = 0;

	PMPI_Comm_get_attr(comm, keyval, &t, &there);
	for (t = there ? t : NULL; t && t->cluster != cluster; t = t->next)
		;
	return t;
}

static void team_keep(MPI_Comm comm, struct mpiio_team *t)
{
	struct mpiio_team *first = NULL;
	int there = 0;

	/* Setting an attribute anew would end what it was: the new one goes behind the first. */
	PMPI_Comm_get_attr(comm, keyval, &first, &there);
	if (there) {
		t->next = first->next;
		first->next = t;
	} else if (PMPI_Comm_set_attr(comm, keyval, t)) {
		return;
	}
	t->refs++;
}

/* Every step is made by all, with what is worst of it: one that failed alone would leave the others waiting. */
static int team_form(struct mpiio_team *t, MPI_Comm comm, const char *conf)
{
	int ret;

	if (PMPI_Comm_dup(comm, &t->comm))
		return -ENOMEM;
	PMPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN);
	PMPI_Comm_rank(t->comm, &t->rank);
	PMPI_Comm_size(t->comm, &t->size);
	ret = worst_of(t, cluster_get(conf, &t->cluster));
	if (!ret)
		ret = worst_of(t, ddio_group_create_bcast(cluster_session(t->cluster),
							  (uint32_t)t->rank, (uint32_t)t->size,
							  bcast, &t->comm, NULL, &t->group));
	if (!ret)
		ret = worst_of(t, ddio_group_set_patient(t->group));
	return ret;
}

static int team_make(MPI_Comm comm, const char *conf, struct mpiio_team **team)
{
	struct mpiio_team *t = calloc(1, sizeof(*t));
	int ret = t ? 0 : -ENOMEM, worst = ret;

	PMPI_Allreduce(&ret, &worst, 1, MPI_INT, MPI_MIN, comm);
	if (worst) {
		free(t);
		return worst;
	}
	t->comm = MPI_COMM_NULL;
	t->refs = 1;
	ret = team_form(t, comm, conf);
	if (ret) {
		team_free(t);
		return ret;
	}
	team_keep(comm, t);
	*team = t;
	return 0;
}

/* Every step is made by all, as in team_form(). */
static int team_fork(struct mpiio_team *t, struct mpiio_team *own)
{
	int ret = worst_of(t, PMPI_Comm_dup(t->comm, &own->comm) ? -ENOMEM : 0);

	/* It is as patient as the group that it is of. */
	return ret ? ret : worst_of(t, ddio_group_split(t->group, 0, t->rank, &own->group));
}

int team_own(struct mpiio_team **team)
{
	struct mpiio_team *t = *team, *own = calloc(1, sizeof(*own));
	int ret;

	/* Also if another process has no memory, this is what team_free() gets. */
	if (own)
		*own = (struct mpiio_team){ .comm = MPI_COMM_NULL,
					    .cluster = t->cluster,
					    .rank = t->rank,
					    .size = t->size,
					    .refs = 1 };
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

int team_get(MPI_Comm comm, const char *conf, struct mpiio_team **team)
{
	struct mpiio_cluster *cluster = NULL;
	int ret = keyval_make();

	*team = NULL;
	if (ret)
		return ret;
	/* Whoever has the session has the team, if all were there when it was made. */
	if (!cluster_get(conf, &cluster))
		*team = team_kept(comm, cluster);
	if (!same_everywhere(comm, *team != NULL))
		*team = NULL;
	if (!*team)
		return team_make(comm, conf, team);
	pthread_mutex_lock(&lock);
	(*team)->refs++;
	pthread_mutex_unlock(&lock);
	return 0;
}
