// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests of nonblocking transfers.  The program's handle is a generalized request of the MPI (MPI 4.0, section
 * 13.2); ddio's progress thread moves the data, and the call that asks for the request tells the MPI that it is over:
 * MPI_Grequest_complete() is called by threads of the program only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "mpiio/abi/op.h"
#include "mpiio/abi/request.h"

_Atomic unsigned int requests_pending;

/* All of them by their requests, of which a program may have very many. */
#define BUCKETS 4096
static struct mpiio_op *bucket[BUCKETS];

/* One process's own begin in their order, so many at a time.  A collective begins at once: its group knows how many nodes take. */
struct mpiio_ops {
	struct mpiio_op *first, **last;
};
static struct mpiio_ops waiting, begun;
static unsigned int abandoned_ones;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void list_add(struct mpiio_ops *l, struct mpiio_op *op)
{
	op->list = l;
	op->next = NULL;
	op->link = l->first ? l->last : &l->first;
	*op->link = op;
	l->last = &op->next;
}

static void list_del(struct mpiio_op *op)
{
	if (!op->list)
		return;
	*op->link = op->next;
	if (op->next)
		op->next->link = op->link;
	else
		op->list->last = op->link;
	op->list = NULL;
}

/* An MPI's request is a number or an address. */
static struct mpiio_op **bucket_of(MPI_Request request)
{
	return &bucket[((uint64_t)(uintptr_t)request * 0x9e3779b97f4a7c15u) >> 52];
}

/* The MPI asks when a request is looked at that is over.  Errors are told by the functions that complete it. */
static int query(void *extra, MPI_Status *status)
{
	struct mpiio_op *op = extra;

	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	status_set(status, op->bytes);
	return MPI_SUCCESS;
}

/* It is over, and not looked for any more. */
static void strike(struct mpiio_op *op)
{
	struct mpiio_op **p;

	pthread_mutex_lock(&lock);
	for (p = bucket_of(op->request); *p && *p != op; p = &(*p)->other)
		;
	if (*p) {
		*p = op->other;
		list_del(op);
		abandoned_ones -= op->abandoned;
		requests_pending--;
	}
	pthread_mutex_unlock(&lock);
	op_free(op);
}

/* The MPI frees the request. */
static int forget(void *extra)
{
	strike(extra);
	return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
	(void)extra;
	(void)complete;
	return MPI_SUCCESS;
}

#define RUNNING_MAX 48

static void begin(struct mpiio_op *op)
{
	/* In atomic mode it is over when it begins; of a collective the others may not be awaited. */
	if (op->file->atomic && !op->access.all) {
		int ret = atomic_begin(op);

		if (ret && !op->err)
			op_failed(op, ret);
		op_run(op);
		atomic_end(op);
	} else {
		op_start(op);
	}
}

/* Under the lock.  A thread that ends it frees what op_over() looks at. */
static bool is_under_way(struct mpiio_op *op)
{
	return op->stage == OP_BEGINNING || op->stage == OP_ENDING ||
	       (op->stage == OP_RUNNING && !op_over(op));
}

/* Under the lock: the next that begins, or NULL. */
static struct mpiio_op *first_waiting(void)
{
	struct mpiio_op *op, *next;
	unsigned int running = 0;

	for (op = waiting.first ? begun.first : NULL; op; op = next) {
		next = op->next;
		if (is_under_way(op))
			running++;
		else
			list_del(op);
	}
	return running < RUNNING_MAX ? waiting.first : NULL;
}

/* Under the lock: it has waited. */
static void begins(struct mpiio_op *op)
{
	op->stage = OP_BEGINNING;
	list_del(op);
	list_add(&begun, op);
}

/*
 * One thread begins them, in their order, and without the lock: in atomic mode it may have to wait for what other
 * processes do.  Other threads leave it to that one.
 */
static void begin_some(void)
{
	static bool busy;
	struct mpiio_op *op;

	pthread_mutex_lock(&lock);
	while (!busy && (op = first_waiting())) {
		busy = true;
		begins(op);
		pthread_mutex_unlock(&lock);
		begin(op);
		pthread_mutex_lock(&lock);
		op->stage = OP_RUNNING;
		busy = false;
	}
	pthread_mutex_unlock(&lock);
}

static void enlist(struct mpiio_op *op)
{
	struct mpiio_op **p = bucket_of(op->request);

	pthread_mutex_lock(&lock);
	op->other = *p;
	*p = op;
	if (!op->access.all)
		list_add(&waiting, op);
	requests_pending++;
	pthread_mutex_unlock(&lock);
}

/* It has begun. */
static void runs(struct mpiio_op *op)
{
	pthread_mutex_lock(&lock);
	op->stage = OP_RUNNING;
	pthread_mutex_unlock(&lock);
}

/* The program was told when it began. */
static int end_without(struct mpiio_op *op)
{
	strike(op);
	return MPI_SUCCESS;
}

/* By the thread that made its stage OP_ENDING.  The program's error handler has not heard of the code. */
static int end_untold(struct mpiio_op *op)
{
	MPI_Request request = op->request;
	bool abandoned;
	int code;

	op_finish(op);
	if (request == MPI_REQUEST_NULL)
		return end_without(op);
	code = op->code = op_code(op);
	PMPI_Grequest_complete(request);
	pthread_mutex_lock(&lock);
	abandoned = op->abandoned;
	list_del(op);
	op->stage = OP_COMPLETE; /* who else waits for it may free it now */
	pthread_mutex_unlock(&lock);
	if (abandoned)
		real.Request_free(&request);
	return code;
}

/*
 * An error handler of the program may close the file, which waits for those that have not ended, or not return; so it comes last, also
 * in the call that this is a part of.
 */
static int end(struct mpiio_op *op)
{
	MPI_File ticket = op->file->ticket;
	int code = end_untold(op);

	if (code)
		handle_call(ticket, code);
	return code;
}

static bool is_of(struct mpiio_op *op, const struct mpiio_file *f)
{
	return op->file == f && op->stage != OP_COMPLETE;
}

static bool is_abandoned_over(struct mpiio_op *op, const struct mpiio_file *f)
{
	return op->abandoned && op->file == f && op->stage == OP_RUNNING && op_over(op);
}

/* Under the lock: one of those. */
static struct mpiio_op *find_one(bool (*is)(struct mpiio_op *op, const struct mpiio_file *f),
				 const struct mpiio_file *f)
{
	struct mpiio_op *op = NULL;
	unsigned int i;

	for (i = 0; i < BUCKETS && !op; i++)
		for (op = bucket[i]; op && !is(op, f); op = op->other)
			;
	return op;
}

/*
 * Of this file alone: another may be about to be closed by another thread, which ends its own.  Each may have the file closed, when
 * there are no more: nothing but its address is used here.
 */
static void abandoned_end(const struct mpiio_file *f)
{
	struct mpiio_op *op;

	do {
		pthread_mutex_lock(&lock);
		op = abandoned_ones ? find_one(is_abandoned_over, f) : NULL;
		if (op)
			op->stage = OP_ENDING;
		pthread_mutex_unlock(&lock);
		if (op)
			end(op);
	} while (op);
}

/* Returns false if it is complete: then it is the MPI's to free. */
static bool abandon(struct mpiio_op *op)
{
	bool goes_on;

	pthread_mutex_lock(&lock);
	goes_on = op->stage != OP_COMPLETE;
	op->abandoned = goes_on;
	abandoned_ones += goes_on;
	pthread_mutex_unlock(&lock);
	return goes_on;
}

void request_abandon(struct mpiio_op *op)
{
	const struct mpiio_file *f = op->file;
	MPI_Request request = op->request;

	if (!abandon(op)) {
		real.Request_free(&request);
		return;
	}
	begin_some();
	abandoned_end(f);
}

static void begin_new(struct mpiio_op *op)
{
	const struct mpiio_file *f = op->file;

	op->stage = op->access.all ? OP_BEGINNING : OP_WAITING;
	enlist(op);
	if (op->access.all) {
		begin(op);
		runs(op);
	}
	begin_some();
	abandoned_end(f);
}

/* A collective without a request is the library's to end, and touches nothing of the program's: all hear of the error. */
static int make_without(struct mpiio_op *op)
{
	MPI_File ticket = op->file->ticket;
	int code = code_text(-ENOMEM, strerror(ENOMEM));

	if (!op->access.all) {
		op_free(op);
		handle_call(ticket, code);
		return code;
	}
	op_void(op, -ENOMEM);
	pthread_mutex_lock(&lock);
	abandoned_ones++;
	pthread_mutex_unlock(&lock);
	op->abandoned = true;
	begin_new(op); /* an error handler that it calls may close the file */
	handle_call(ticket, code);
	return code;
}

int request_make(struct mpiio_op *op, MPI_Request *request)
{
	if (PMPI_Grequest_start(query, forget, cancel, op, request)) {
		*request = MPI_REQUEST_NULL;
		return make_without(op);
	}
	op->request = *request;
	begin_new(op);
	return MPI_SUCCESS;
}

struct mpiio_op *request_find(MPI_Request request)
{
	struct mpiio_op *op;

	if (request == MPI_REQUEST_NULL)
		return NULL;
	pthread_mutex_lock(&lock);
	for (op = *bucket_of(request); op && op->request != request; op = op->other)
		;
	pthread_mutex_unlock(&lock);
	return op;
}

static enum op_stage stage_of(const struct mpiio_op *op)
{
	enum op_stage stage;

	pthread_mutex_lock(&lock);
	stage = op->stage;
	pthread_mutex_unlock(&lock);
	return stage;
}

bool request_over(struct mpiio_op *op)
{
	bool over;

	begin_some(); /* whichever of those under way is over */
	pthread_mutex_lock(&lock);
	over = op->stage == OP_COMPLETE || (op->stage == OP_RUNNING && op_over(op));
	pthread_mutex_unlock(&lock);
	return over;
}

/* Whether this thread is the one that ends it. */
static bool ending_take(struct mpiio_op *op)
{
	bool mine;

	pthread_mutex_lock(&lock);
	mine = op->stage == OP_RUNNING;
	if (mine)
		op->stage = OP_ENDING;
	pthread_mutex_unlock(&lock);
	return mine;
}

static void await_end(const struct mpiio_op *op)
{
	struct timespec t = { .tv_nsec = 50000 };

	while (stage_of(op) != OP_COMPLETE)
		nanosleep(&t, NULL);
}

int request_complete(struct mpiio_op *op)
{
	if (ending_take(op))
		return end(op);
	await_end(op);
	return op->code;
}

/* None at first, and then longer ones. */
static void nap(unsigned int *naps)
{
	struct timespec t = { .tv_nsec = 20000 };

	if (++*naps < 20)
		return;
	if (*naps > 200)
		t.tv_nsec = 500000;
	nanosleep(&t, NULL);
}

/* The MPI may have to do something for other ranks meanwhile, which it does while it is asked for a request. */
void request_nap(MPI_Request request, unsigned int *naps)
{
	int flag;

	real.Request_get_status(request, &flag, MPI_STATUS_IGNORE);
	nap(naps);
}

/* Of this thread's own time: one that asks again within the first has computed nothing in between; after the second it sleeps. */
#define ASKED_AGAIN_NS 50000u
#define ASKED_ONLY_NS 1000000u
#define ASKED_PAUSE_NS 50000

/*
 * Such a thread holds a processor that those who move the data may need.  That the MPI yields it does not always help:
 * threads that do may keep it from those of other sessions, as daemons are, for a minute (Linux 6.18; Documentation/mpiio.rst).
 */
void request_asked(void)
{
	static _Thread_local uint64_t since, last;
	const struct timespec pause = { .tv_nsec = ASKED_PAUSE_NS };
	struct timespec t;
	uint64_t now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	if (now - last > ASKED_AGAIN_NS)
		since = now;
	last = now;
	if (now - since > ASKED_ONLY_NS)
		nanosleep(&pause, NULL);
}

static void await_over(struct mpiio_op *op)
{
	unsigned int naps = 0;

	while (!request_over(op))
		request_nap(op->request, &naps);
}

int request_await(struct mpiio_op *op)
{
	await_over(op);
	return request_complete(op);
}

static bool is_over(struct mpiio_op *op, const struct mpiio_file *f)
{
	return op->file == f && op->stage == OP_RUNNING && op_over(op);
}

/* One that this thread ends, or NULL; @more: there are others.  Those may be another thread's, which frees them: they are not named. */
static struct mpiio_op *settle_take(const struct mpiio_file *f, bool *more)
{
	struct mpiio_op *op;

	pthread_mutex_lock(&lock);
	op = find_one(is_over, f);
	*more = find_one(is_of, f) != NULL;
	if (op)
		op->stage = OP_ENDING;
	pthread_mutex_unlock(&lock);
	return op;
}

/* As request_nap(), without a request. */
static void settle_nap(const struct mpiio_file *f, unsigned int *naps)
{
	int flag;

	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, f->team->comm, &flag, MPI_STATUS_IGNORE);
	nap(naps);
}

/* Another thread that ends one tells its error. */
int requests_settle(const struct mpiio_file *f)
{
	int first = MPI_SUCCESS, code;
	bool more = requests_pending != 0;
	unsigned int naps = 0;
	struct mpiio_op *op;

	while (more) {
		begin_some();
		op = settle_take(f, &more);
		code = op ? end_untold(op) : MPI_SUCCESS;
		first = first ? first : code;
		if (!op && more)
			settle_nap(f, &naps);
	}
	return first;
}
