// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The processes of a communicator as a group of ddio.  Forming one costs messages among all, so a communicator keeps
 * those that were made of it.
 */
#include <errno.h>
#include <sched.h>
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

/*
 * What processes tell each other goes by the MPI's collective functions, but by those that do not block: one that blocks may
 * wait for ever for a process that has died.  The group of ddio hears of that, and what is under way is given up.  What the MPI
 * may still write into is left to it then.
 */
#define TALK_BYTES 512
struct team_talk {
	MPI_Request request;
	union {
		char bytes[TALK_BYTES];
		int64_t most[TALK_BYTES / 8];
		uint64_t sum[2];
	} in, out;
};

/* So long the MPI has for the rest after a member has gone: it may have been done, and leave. */
#define TALK_GRACE_NS 500000000

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A pause between two looks: none at first, and then others get the processor. */
static void talk_pause(unsigned int looks)
{
	if (looks > 20000)
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	else if (looks > 50)
		sched_yield();
}

static int talk_wait(struct mpiio_team *t)
{
	unsigned int looks;
	uint64_t until = 0;
	int done = 0, err = 0;

	for (looks = 0; !done; looks++) {
		if (real.Test(&t->talk->request, &done, MPI_STATUS_IGNORE))
			return -EIO;
		talk_pause(looks);
		if (done || looks % 64 || !t->group)
			continue;
		err = ddio_group_check(t->group);
		if (err && !until)
			until = now_ns() + TALK_GRACE_NS;
		if (err && now_ns() > until) {
			t->deaf = true;
			return err;
		}
	}
	return 0;
}

/* Whether there is anybody to talk to, and a way. */
static int talk_begins(struct mpiio_team *t)
{
	return t->deaf ? ddio_group_check(t->group) : 0;
}

int team_max(struct mpiio_team *t, int64_t *numbers, int n)
{
	int ret = talk_begins(t);

	if (ret || t->size == 1)
		return ret;
	memcpy(t->talk->in.most, numbers, (size_t)n * sizeof(*numbers));
	if (PMPI_Iallreduce(t->talk->in.most, t->talk->out.most, n, MPI_INT64_T, MPI_MAX, t->comm,
			    &t->talk->request))
		return -EIO;
	ret = talk_wait(t);
	if (!ret)
		memcpy(numbers, t->talk->out.most, (size_t)n * sizeof(*numbers));
	return ret;
}

int team_barrier(struct mpiio_team *t)
{
	int ret = talk_begins(t);

	if (ret || t->size == 1)
		return ret;
	return PMPI_Ibarrier(t->comm, &t->talk->request) ? -EIO : talk_wait(t);
}

int team_bcast(struct mpiio_team *t, void *buf, size_t len)
{
	int ret = talk_begins(t);
	char *at = buf;

	while (!ret && len && t->size > 1) {
		size_t n = len < TALK_BYTES ? len : TALK_BYTES;

		memcpy(t->talk->in.bytes, at, n);
		if (PMPI_Ibcast(t->talk->in.bytes, (int)n, MPI_BYTE, 0, t->comm, &t->talk->request))
			return -EIO;
		ret = talk_wait(t);
		if (!ret)
			memcpy(at, t->talk->in.bytes, n);
		at += n;
		len -= n;
	}
	return ret;
}

int team_sum(struct mpiio_team *t, uint64_t mine, uint64_t *before, uint64_t *all)
{
	int ret = talk_begins(t);

	*before = 0;
	*all = mine;
	if (ret || t->size == 1)
		return ret;
	t->talk->in.sum[0] = mine;
	if (PMPI_Iexscan(t->talk->in.sum, t->talk->out.sum, 1, MPI_UINT64_T, MPI_SUM, t->comm,
			 &t->talk->request))
		return -EIO;
	ret = talk_wait(t);
	if (ret)
		return ret;
	*before = t->rank ? t->talk->out.sum[0] : 0;
	if (PMPI_Iallreduce(t->talk->in.sum, t->talk->out.sum, 1, MPI_UINT64_T, MPI_SUM, t->comm,
			    &t->talk->request))
		return -EIO;
	ret = talk_wait(t);
	*all = t->talk->out.sum[0];
	return ret;
}

void verdict_of_root(struct mpiio_team *t, struct team_verdict *v)
{
	int ret = team_bcast(t, v, sizeof(*v));

	if (ret)
		verdict_say(v, cluster_session(t->cluster), ret);
}

int worst_of(struct mpiio_team *t, int err)
{
	int64_t worst = -(int64_t)err;
	int ret = team_max(t, &worst, 1);

	return ret ? ret : -(int)worst;
}

int team_same(struct mpiio_team *t, int64_t value)
{
	int64_t most[2] = { value, -value };
	int ret = team_max(t, most, 2);

	return ret ? ret : most[0] != -most[1];
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

static struct mpiio_team *team_new(void)
{
	struct mpiio_team *t = calloc(1, sizeof(*t));
	struct team_talk *talk = malloc(sizeof(*talk));

	if (!t || !talk) {
		free(t);
		free(talk);
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
		free(t->talk);
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
	struct mpiio_team *t = team_new();
	int ret = t ? 0 : -ENOMEM, worst = ret;

	PMPI_Allreduce(&ret, &worst, 1, MPI_INT, MPI_MIN, comm);
	if (worst) {
		if (t)
			team_free(t);
		return worst;
	}
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
	struct mpiio_team *t = *team, *own = team_new();
	int ret;

	if (own) {
		own->cluster = t->cluster;
		own->rank = t->rank;
		own->size = t->size;
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
