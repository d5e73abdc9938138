// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What processes tell each other goes by the MPI's collective functions, but by those that do not block: one that blocks may
 * wait for ever for a process that has died.  The group of ddio hears of that, and what is under way is given up.  What the MPI
 * may still write into is left to it then.
 *
 * Processes whose programs make different calls find that out: what begins a call is the same message for all of them, with the
 * call in it.  If others are in a call that moves data the group knows that they wait.
 *
 * Before there is a group nobody hears of it.  But once all have come to an open, none has anything else to do: whoever does
 * not answer for a while then has died.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "mpiio/team/launcher.h"
#include "mpiio/team/siblings.h"
#include "mpiio/team/team.h"

#define TALK_BYTES 4096
#define TALK_NUMBERS 8 /* what, twice, and up to six */
struct team_talk {
	MPI_Request request;
	MPI_Comm dup;
	union {
		char bytes[TALK_BYTES];
		int64_t most[TALK_BYTES / 8];
		uint64_t sum[2];
	} in, out;
};

/* So long the MPI has for the rest after a member has gone: it may have been done, and leave. */
#define TALK_GRACE_NS 500000000

/* So many seconds processes that have come to an open wait for each other, if the environment does not say otherwise. */
#define TALK_BOUND 60
#define TALK_BOUND_NAME "DDIO_MPIIO_TIMEOUT"

static int (*talk_test)(MPI_Request *request, int *done, MPI_Status *status);
static uint64_t bound_ns;

void talk_init(int (*test)(MPI_Request *request, int *done, MPI_Status *status))
{
	const char *told = getenv(TALK_BOUND_NAME);
	unsigned long seconds = told ? strtoul(told, NULL, 10) : 0;

	talk_test = test;
	bound_ns = (seconds && seconds < 1000000 ? seconds : TALK_BOUND) * UINT64_C(1000000000);
}

/* One more, for a process without memory: it takes part all the same. */
static struct team_talk spare;
static atomic_flag spare_taken = ATOMIC_FLAG_INIT;

struct team_talk *talk_new(void)
{
	struct team_talk *talk = malloc(sizeof(*talk));

	if (!talk && !atomic_flag_test_and_set(&spare_taken))
		talk = &spare;
	return talk;
}

void talk_free(struct team_talk *talk)
{
	if (talk == &spare)
		atomic_flag_clear(&spare_taken);
	else
		free(talk);
}

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

/* Before there is a group: a process of the job that is there no more cannot come. */
static int talk_misses(const struct mpiio_team *t)
{
	return (t->whole && siblings_miss()) || launcher_misses() ? -ECONNABORTED : 0;
}

/* Whether a process has died, and since when the others have known; or when they take it for dead. */
static int talk_look(const struct mpiio_team *t, uint64_t *until)
{
	int err = t->group ? ddio_group_check(t->group) : *until ? 0 : talk_misses(t);

	if (err && !*until)
		*until = now_ns() + TALK_GRACE_NS;
	if (!*until || now_ns() < *until)
		return 0;
	return err ? err : -ECONNABORTED;
}

static bool talk_awaited(const struct mpiio_team *t)
{
	return ddio_group_awaited(t->group) > 0 || ddio_file_awaited(t->talks_of) > 0;
}

/*
 * Others may wait for this process in a call that moves data, which it does not make while it waits for them here.  A call that
 * they have come from they leave it to the MPI to end here, too: that takes it less than processes have to come to an open.
 */
static void talk_heed(const struct mpiio_team *t, uint64_t *heeded)
{
	if (!t->heeds || !talk_awaited(t))
		*heeded = 0;
	else if (!*heeded)
		*heeded = now_ns() + bound_ns;
	else if (now_ns() >= *heeded)
		ddio_group_abort(t->group, "its program is in another call of MPI-IO");
}

/* The MPI has lost the way to one of them, of which the group hears, too. */
static int talk_failed(struct mpiio_team *t)
{
	uint64_t until = now_ns() + TALK_GRACE_NS;
	int err = 0;

	t->deaf = true;
	while (t->group && !err && now_ns() < until) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		err = ddio_group_check(t->group);
	}
	return err ? err : -EIO;
}

/* @until: when who has not answered is taken for dead, or 0: only the group tells. */
static int talk_wait(struct mpiio_team *t, uint64_t until)
{
	uint64_t heeded = 0;
	unsigned int looks;
	int done = 0, err;

	for (looks = 0; !done; looks++) {
		if (talk_test(&t->talk->request, &done, MPI_STATUS_IGNORE))
			return talk_failed(t);
		talk_pause(looks);
		if (done || looks % 64)
			continue;
		talk_heed(t, &heeded);
		err = talk_look(t, &until);
		if (err) {
			t->deaf = true;
			return err;
		}
	}
	return 0;
}

/* A process that has died after it had come may have kept from some of the others that all have. */
static int talk_answer(struct mpiio_team *t)
{
	int ret = talk_wait(t, t->group ? 0 : now_ns() + bound_ns);

	if (ret && !t->group)
		launcher_tell(t->comm);
	return ret;
}

/* Whether there is anybody to talk to, and a way. */
static int talk_begins(struct mpiio_team *t)
{
	if (!t->deaf)
		return t->talk ? 0 : -ENOMEM;
	return t->group ? ddio_group_check(t->group) : -ECONNABORTED;
}

static int max_begin(struct mpiio_team *t, int64_t what, const int64_t *numbers, int n)
{
	int64_t *in = t->talk->in.most;

	memset(in, 0, TALK_NUMBERS * sizeof(*in));
	in[0] = what;
	in[1] = -what;
	if (n)
		memcpy(in + 2, numbers, (size_t)n * sizeof(*numbers));
	return PMPI_Iallreduce(in, t->talk->out.most, TALK_NUMBERS, MPI_INT64_T, MPI_MAX, t->comm,
			       &t->talk->request)
		       ? -EIO
		       : 0;
}

static int max_end(struct mpiio_team *t, int64_t *numbers, int n, int ret)
{
	const int64_t *out = t->talk->out.most;

	if (ret)
		return ret;
	t->greatest = out[0];
	if (out[0] != -out[1])
		return TEAM_DIFFERS;
	if (n)
		memcpy(numbers, out + 2, (size_t)n * sizeof(*numbers));
	return 0;
}

/*
 * None leaves a group before all have come to the last call of it.  So a group that is broken when a call begins is of no use, and
 * what others have left to the MPI must not be taken for an answer.
 */
static int call_begins(struct mpiio_team *t)
{
	int ret = t->group ? ddio_group_check(t->group) : 0;

	t->deaf |= ret != 0;
	return ret ? ret : talk_begins(t);
}

int team_max(struct mpiio_team *t, int64_t what, int64_t *numbers, int n)
{
	int ret = what ? call_begins(t) : talk_begins(t);

	if (ret || t->size == 1)
		return ret;
	ret = max_begin(t, what, numbers, n);
	return max_end(t, numbers, n, ret ? ret : talk_answer(t));
}

int team_come(struct mpiio_team *visit, int64_t *numbers, int n)
{
	int ret = talk_begins(visit);

	if (ret || visit->size == 1)
		return ret;
	ret = max_begin(visit, 0, numbers, n);
	launcher_begin(visit->comm);
	ret = max_end(visit, numbers, n, ret ? ret : talk_wait(visit, 0));
	launcher_end(ret == -ECONNABORTED);
	return ret;
}

/* It waits for nobody, but two threads may be about to do the same. */
static int dup_alone(struct mpiio_team *of, MPI_Comm *comm)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int ret;

	pthread_mutex_lock(&lock);
	ret = PMPI_Comm_dup(of->comm, comm);
	pthread_mutex_unlock(&lock);
	return ret ? -ENOMEM : 0;
}

int team_dup(struct mpiio_team *of, MPI_Comm *comm)
{
	int ret = talk_begins(of);

	if (ret)
		return ret;
	if (of->size == 1)
		return dup_alone(of, comm);
	if (PMPI_Comm_idup(of->comm, &of->talk->dup, &of->talk->request))
		return -ENOMEM;
	ret = talk_answer(of);
	*comm = ret ? MPI_COMM_NULL : of->talk->dup;
	return ret;
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
		ret = talk_answer(t);
		if (!ret)
			memcpy(at, t->talk->in.bytes, n);
		at += n;
		len -= n;
	}
	return ret;
}

/* They differ. */
static int sum_talk(struct mpiio_team *t, uint64_t mine, uint64_t *before, uint64_t *all)
{
	int ret;

	t->talk->in.sum[0] = mine;
	if (PMPI_Iexscan(t->talk->in.sum, t->talk->out.sum, 1, MPI_UINT64_T, MPI_SUM, t->comm,
			 &t->talk->request))
		return -EIO;
	ret = talk_answer(t);
	if (ret)
		return ret;
	*before = t->rank ? t->talk->out.sum[0] : 0;
	if (PMPI_Iallreduce(t->talk->in.sum, t->talk->out.sum, 1, MPI_UINT64_T, MPI_SUM, t->comm,
			    &t->talk->request))
		return -EIO;
	ret = talk_answer(t);
	*all = t->talk->out.sum[0];
	return ret;
}

int team_sum(struct mpiio_team *t, int64_t what, uint64_t mine, uint64_t *before, uint64_t *all)
{
	int64_t say = mine > INT64_MAX ? INT64_MAX : (int64_t)mine, most[2] = { say, -say };
	int ret = team_max(t, what, most, 2);

	if (!ret && most[0] > INT64_MAX / t->size)
		return -EOVERFLOW;
	*before = (uint64_t)t->rank * mine;
	*all = (uint64_t)t->size * mine;
	return ret || most[0] == -most[1] ? ret : sum_talk(t, mine, before, all);
}

int team_same(struct mpiio_team *t, int64_t what, int64_t value)
{
	int64_t most[2] = { value, -value };
	int ret = team_max(t, what, most, 2);

	return ret ? ret : most[0] != -most[1];
}
