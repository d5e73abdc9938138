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
	op->waiting = false;
	/* In atomic mode it is over when it begins; of a collective the others may not be awaited. */
	if (op->file->atomic && !op->access.all) {
		op->err = op->err ? op->err : atomic_begin(op);
		op_run(op);
		atomic_end(op);
	} else {
		op_start(op);
	}
}

static bool begin_some(void)
{
	struct mpiio_op *op;
	unsigned int running = 0;
	bool left = false;

	pthread_mutex_lock(&lock);
	for (op = ops; op; op = op->next) {
		if (op->waiting && running < RUNNING_MAX)
			begin(op);
		left = left || op->waiting;
		if (!op->waiting && !op->complete && !op_over(op))
			running++;
	}
	pthread_mutex_unlock(&lock);
	return left;
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

int request_make(struct mpiio_op *op, MPI_Request *request)
{
	struct mpiio_file *f = op->file;

	if (PMPI_Grequest_start(query, forget, cancel, op, request)) {
		op_free(op);
		return fail_text(f, -ENOMEM, NULL);
	}
	op->request = *request;
	op->waiting = true;
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

bool request_over(struct mpiio_op *op)
{
	if (op->waiting)
		begin_some();
	return op->complete || (!op->waiting && op_over(op));
}

int request_complete(struct mpiio_op *op)
{
	if (op->complete)
		return op->code;
	op_finish(op);
	op->code = op_code(op);
	op->complete = true;
	PMPI_Grequest_complete(op->request);
	return op->code;
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
	for (op = ops; op && (op->file != f || op->complete); op = op->next)
		;
	pthread_mutex_unlock(&lock);
	return op;
}

void requests_begin_all(void)
{
	struct timespec t = { .tv_nsec = 50000 };

	while (requests_pending && begin_some())
		nanosleep(&t, NULL);
}

void requests_settle(const struct mpiio_file *f)
{
	struct mpiio_op *op;

	while ((op = op_of(f)))
		request_await(op);
}
