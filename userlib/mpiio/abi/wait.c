// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * MPI_Wait() and its kin while transfers of ddio are under way: those of them that are over are completed, and then
 * the MPI's own function does the rest.
 */
#include <stdlib.h>
#include "mpiio/abi/op.h"
#include "mpiio/abi/request.h"

/* How the requests of one call fared that were completed in it: codes by their place, where any is an error. */
struct outcome {
	int n, failed;
	int *codes;
};

static void outcome_note(struct outcome *o, int i, int code)
{
	if (code == MPI_SUCCESS)
		return;
	if (!o->codes)
		o->codes = calloc((size_t)o->n, sizeof(*o->codes));
	if (o->codes)
		o->codes[i] = code;
	o->failed = code;
}

/* Completes those of ddio that are over; how many of ddio's are not. */
static int complete_some(struct outcome *o, const MPI_Request *requests, MPI_Request *left)
{
	int i, pending = 0;

	for (i = 0; i < o->n; i++) {
		struct mpiio_op *op = request_find(requests[i]);

		if (!op)
			continue;
		if (request_over(op)) {
			outcome_note(o, i, request_complete(op));
		} else {
			*left = requests[i];
			pending++;
		}
	}
	return pending;
}

static void complete_all(struct outcome *o, const MPI_Request *requests)
{
	int i;

	for (i = 0; i < o->n; i++) {
		struct mpiio_op *op = request_find(requests[i]);

		if (op)
			outcome_note(o, i, request_await(op));
	}
}

/* Of one request: its code is the function's. */
static int outcome_one(struct outcome *o, int i, int ret)
{
	if (o->codes && i >= 0 && i < o->n && o->codes[i])
		ret = o->codes[i];
	else if (!o->codes && o->failed && i >= 0)
		ret = o->failed; /* no memory to tell which */
	free(o->codes);
	return ret;
}

/* Of several: each status says which failed.  @where: places of the statuses, NULL: all in order. */
static int outcome_several(struct outcome *o, int ret, int n, const int *where,
			   MPI_Status *statuses)
{
	int i;

	if (o->failed && ret != MPI_ERR_IN_STATUS) {
		for (i = 0; statuses != MPI_STATUSES_IGNORE && i < n; i++)
			statuses[i].MPI_ERROR = MPI_SUCCESS;
		ret = MPI_ERR_IN_STATUS;
	}
	for (i = 0; o->codes && statuses != MPI_STATUSES_IGNORE && i < n; i++)
		if (o->codes[where ? where[i] : i])
			statuses[i].MPI_ERROR = o->codes[where ? where[i] : i];
	free(o->codes);
	return ret;
}

/* For functions that do not wait: an operation, or NULL, is completed if it is over. */
static int complete_one(struct mpiio_op *op)
{
	if (op && request_over(op))
		return request_complete(op);
	if (op)
		request_asked();
	return MPI_SUCCESS;
}

static void complete_those_over(struct outcome *o, const MPI_Request *requests)
{
	MPI_Request left;

	if (complete_some(o, requests, &left))
		request_asked();
}

int serve_Wait(MPI_Request *request, MPI_Status *status)
{
	struct mpiio_op *op = request_find(*request);
	int code = op ? request_await(op) : MPI_SUCCESS, ret = real.Wait(request, status);

	return code ? code : ret;
}

int serve_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	struct mpiio_op *op = request_find(*request);
	int code = complete_one(op);
	int ret = real.Test(request, flag, status);

	return code ? code : ret;
}

int serve_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
	struct outcome o = { .n = n };

	complete_all(&o, requests);
	return outcome_several(&o, real.Waitall(n, requests, statuses), n, NULL, statuses);
}

/* One of many must not end alone: its error would have been told with no flag set.  NULL: all of ddio's are over. */
static const MPI_Request *first_not_over(int n, const MPI_Request *requests)
{
	int i;

	for (i = 0; i < n; i++) {
		struct mpiio_op *op = request_find(requests[i]);

		if (op && !request_over(op))
			return &requests[i];
	}
	return NULL;
}

/* The MPI is asked, as it may have something to do meanwhile.  This one may be over by now, which does not mean that all are. */
static int not_yet(MPI_Request request, int *flag)
{
	int one;

	*flag = 0;
	request_asked();
	return real.Request_get_status(request, &one, MPI_STATUS_IGNORE);
}

/* Of all, if the MPI has said so by the flag.  Else there is no status to say which have failed: they are told when all are over. */
static int outcome_all(struct outcome *o, int ret, int flag, MPI_Status *statuses)
{
	if (flag)
		return outcome_several(o, ret, o->n, NULL, statuses);
	free(o->codes);
	return ret;
}

int serve_Testall(int n, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
	const MPI_Request *not_over = first_not_over(n, requests);
	struct outcome o = { .n = n };
	MPI_Request left;
	int ret;

	if (not_over)
		return not_yet(*not_over, flag);
	complete_some(&o, requests, &left);
	ret = real.Testall(n, requests, flag, statuses);
	return outcome_all(&o, ret, *flag, statuses);
}

int serve_Testany(int n, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
	struct outcome o = { .n = n };
	int ret;

	complete_those_over(&o, requests);
	ret = real.Testany(n, requests, index, flag, status);
	return outcome_one(&o, *flag ? *index : -1, ret);
}

int serve_Waitany(int n, MPI_Request *requests, int *index, MPI_Status *status)
{
	unsigned int naps = 0;
	int flag = 0, ret;

	for (;;) {
		struct outcome o = { .n = n };
		MPI_Request left = MPI_REQUEST_NULL;

		if (!complete_some(&o, requests, &left)) {
			ret = real.Waitany(n, requests, index, status);
			return outcome_one(&o, *index, ret);
		}
		ret = real.Testany(n, requests, index, &flag, status);
		ret = outcome_one(&o, flag ? *index : -1, ret);
		if (flag || ret)
			return ret;
		request_nap(left, &naps);
	}
}

int serve_Testsome(int n, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses)
{
	struct outcome o = { .n = n };
	int ret;

	complete_those_over(&o, requests);
	ret = real.Testsome(n, requests, done, indices, statuses);
	return outcome_several(&o, ret, *done == MPI_UNDEFINED ? 0 : *done, indices, statuses);
}

int serve_Waitsome(int n, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses)
{
	unsigned int naps = 0;

	for (;;) {
		struct outcome o = { .n = n };
		MPI_Request left = MPI_REQUEST_NULL;
		int ret;

		if (!complete_some(&o, requests, &left)) {
			ret = real.Waitsome(n, requests, done, indices, statuses);
			return outcome_several(&o, ret, *done == MPI_UNDEFINED ? 0 : *done, indices,
					       statuses);
		}
		ret = real.Testsome(n, requests, done, indices, statuses);
		ret = outcome_several(&o, ret, *done == MPI_UNDEFINED ? 0 : *done, indices,
				      statuses);
		if (*done || ret)
			return ret;
		request_nap(left, &naps);
	}
}

/* The transfer goes on to its end, by which nobody but this library asks for it. */
int serve_Request_free(MPI_Request *request)
{
	struct mpiio_op *op = request_find(*request);

	if (!op)
		return real.Request_free(request);
	request_abandon(op);
	*request = MPI_REQUEST_NULL;
	return MPI_SUCCESS;
}

int serve_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	struct mpiio_op *op = request_find(request);
	int code = complete_one(op);
	int ret = real.Request_get_status(request, flag, status);

	return code ? code : ret;
}

int serve_Request_get_status_all(int n, const MPI_Request *requests, int *flag,
				 MPI_Status *statuses)
{
	const MPI_Request *not_over = first_not_over(n, requests);
	struct outcome o = { .n = n };
	MPI_Request left;
	int ret;

	if (not_over)
		return not_yet(*not_over, flag);
	complete_some(&o, requests, &left);
	ret = real.Request_get_status_all(n, requests, flag, statuses);
	return outcome_all(&o, ret, *flag, statuses);
}

int serve_Request_get_status_any(int n, const MPI_Request *requests, int *index, int *flag,
				 MPI_Status *status)
{
	struct outcome o = { .n = n };
	int ret;

	complete_those_over(&o, requests);
	ret = real.Request_get_status_any(n, requests, index, flag, status);
	return outcome_one(&o, *flag ? *index : -1, ret);
}

int serve_Request_get_status_some(int n, const MPI_Request *requests, int *done, int *indices,
				  MPI_Status *statuses)
{
	struct outcome o = { .n = n };
	int ret;

	complete_those_over(&o, requests);
	ret = real.Request_get_status_some(n, requests, done, indices, statuses);
	return outcome_several(&o, ret, *done == MPI_UNDEFINED ? 0 : *done, indices, statuses);
}
