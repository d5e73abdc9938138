// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests of nonblocking transfers.  The program's handle is a generalized request of the MPI (MPI 4.0, section
 * 13.2); ddio's progress thread moves the data, and the call that asks for the request tells the MPI that it is over:
 * MPI_Grequest_complete() is called by threads of the program only.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "mpiio/abi/op.h"
#include "mpiio/abi/request.h"

_Atomic unsigned int requests_pending;

static struct mpiio_op *ops;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The MPI asks when a request is looked at that is over.  Errors are told by the functions that complete it. */
static int query(void *extra, MPI_Status *status)
{
	struct mpiio_op *op = extra;

	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	status_set(status, op->bytes);
	return MPI_SUCCESS;
}

/* The MPI frees the request. */
static int forget(void *extra)
{
	struct mpiio_op *op = extra, **p;

	pthread_mutex_lock(&lock);
	for (p = &ops; *p && *p != op; p = &(*p)->next)
		;
	if (*p) {
		*p = op->next;
		requests_pending--;
	}
	pthread_mutex_unlock(&lock);
	op_free(op);
	return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
	(void)extra;
	(void)complete;
	return MPI_SUCCESS;
}

/* Operations begin in the order in which they came, and of those that have begun a node takes so many of a group. */
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

/* Under the lock: the first that waits, if it may begin. */
static struct mpiio_op *first_waiting(void)
{
	struct mpiio_op *op;
	unsigned int running = 0;

	for (op = ops; op && op->stage != OP_WAITING; op = op->next)
		running += is_under_way(op);
	return running < RUNNING_MAX ? op : NULL;
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
		op->stage = OP_BEGINNING;
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
	struct mpiio_op **p;

	pthread_mutex_lock(&lock);
	for (p = &ops; *p; p = &(*p)->next)
		;
	*p = op;
	requests_pending++;
	pthread_mutex_unlock(&lock);
}

/* By the thread that made its stage OP_ENDING. */
static int end(struct mpiio_op *op)
{
	MPI_Request request = op->request;
	bool abandoned;
	int code;

	op_finish(op);
	code = op->code = op_code(op);
	PMPI_Grequest_complete(request);
	pthread_mutex_lock(&lock);
	abandoned = op->abandoned;
	op->stage = OP_COMPLETE; /* who else waits for it may free it now */
	pthread_mutex_unlock(&lock);
	if (abandoned)
		real.Request_free(&request);
	return code;
}

/* Under the lock: one that the program has freed, and that is over. */
static struct mpiio_op *abandoned_over(const struct mpiio_file *f)
{
	struct mpiio_op *op;

	for (op = ops; op; op = op->next)
		if (op->abandoned && op->file == f && op->stage == OP_RUNNING && op_over(op))
			break;
	return op;
}

/* Of this file alone: another may be about to be closed by another thread, which ends its own. */
static void abandoned_end(const struct mpiio_file *f)
{
	struct mpiio_op *op;

	do {
		pthread_mutex_lock(&lock);
		op = abandoned_over(f);
		if (op)
			op->stage = OP_ENDING;
		pthread_mutex_unlock(&lock);
		if (op)
			end(op);
	} while (op);
}

void request_abandon(struct mpiio_op *op)
{
	const struct mpiio_file *f = op->file;

	pthread_mutex_lock(&lock);
	op->abandoned = true;
	pthread_mutex_unlock(&lock);
	begin_some();
	abandoned_end(f);
}

int request_make(struct mpiio_op *op, MPI_Request *request)
{
	struct mpiio_file *f = op->file;

	abandoned_end(f);

	if (PMPI_Grequest_start(query, forget, cancel, op, request)) {
		op_free(op);
		return fail_text(f, -ENOMEM, NULL);
	}
	op->request = *request;
	op->stage = OP_WAITING;
	enlist(op);
	begin_some();
	return MPI_SUCCESS;
}

struct mpiio_op *request_find(MPI_Request request)
{
	struct mpiio_op *op;

	if (request == MPI_REQUEST_NULL)
		return NULL;
	pthread_mutex_lock(&lock);
	for (op = ops; op && op->request != request; op = op->next)
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

	if (stage_of(op) == OP_WAITING)
		begin_some();
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

int request_complete(struct mpiio_op *op)
{
	struct timespec t = { .tv_nsec = 50000 };

	if (!ending_take(op)) {
		while (stage_of(op) != OP_COMPLETE)
			nanosleep(&t, NULL);
		return op->code;
	}
	return end(op);
}

/* The MPI may have to do something for other ranks meanwhile, which it does while it is asked for a request. */
void request_nap(MPI_Request request, unsigned int *naps)
{
	struct timespec t = { .tv_nsec = 20000 };
	int flag;

	real.Request_get_status(request, &flag, MPI_STATUS_IGNORE);
	if (++*naps < 20)
		return;
	if (*naps > 200)
		t.tv_nsec = 500000;
	nanosleep(&t, NULL);
}

int request_await(struct mpiio_op *op)
{
	unsigned int naps = 0;

	while (!request_over(op))
		request_nap(op->request, &naps);
	return request_complete(op);
}

static struct mpiio_op *op_of(const struct mpiio_file *f)
{
	struct mpiio_op *op;

	pthread_mutex_lock(&lock);
	for (op = ops; op && (op->file != f || op->stage == OP_COMPLETE); op = op->next)
		;
	pthread_mutex_unlock(&lock);
	return op;
}

/* Those of other groups wait for their own members only. */
static bool waits_in(const struct mpiio_team *team)
{
	struct mpiio_op *op;

	pthread_mutex_lock(&lock);
	for (op = ops; op; op = op->next)
		if (op->stage <= OP_BEGINNING && op->access.all && op->file->team == team)
			break;
	pthread_mutex_unlock(&lock);
	return op != NULL;
}

void requests_begin_all(const struct mpiio_team *team)
{
	struct timespec t = { .tv_nsec = 50000 };

	while (requests_pending && waits_in(team)) {
		begin_some();
		if (waits_in(team))
			nanosleep(&t, NULL);
	}
}

void requests_settle(const struct mpiio_file *f)
{
	struct mpiio_op *op;

	while ((op = op_of(f)))
		request_await(op);
}
