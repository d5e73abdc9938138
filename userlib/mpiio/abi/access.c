// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading and writing: one body for all functions that move data (MPI 4.0, section 14.4). */
#include <errno.h>
#include "mpiio/abi/op.h"

/* What the file's mode forbids is the same on all ranks. */
static int mode_check(const struct mpiio_file *f, const struct mpiio_access *a)
{
	if (a->write && (f->amode & MPI_MODE_RDONLY))
		return fail_class(f, MPI_ERR_READ_ONLY, "the file was opened with MPI_MODE_RDONLY");
	if (!a->write && (f->amode & MPI_MODE_WRONLY))
		return fail_class(f, MPI_ERR_ACCESS, "the file was opened with MPI_MODE_WRONLY");
	if ((f->amode & MPI_MODE_SEQUENTIAL) && a->from != FROM_SHARED)
		return fail_class(f, MPI_ERR_UNSUPPORTED_OPERATION,
				  "the file was opened with MPI_MODE_SEQUENTIAL");
	if (f->forsaken && (a->all || a->from == FROM_SHARED))
		return fail(f, TEAM_DIFFERS);
	return MPI_SUCCESS;
}

/* Where it began, and what it asked for, are taken back if less came of it and nobody has moved the pointer since. */
static void pointer_correct(const struct mpiio_op *op)
{
	struct mpiio_file *f = op->file;
	uint64_t etype = op->seen->view.etype, from = op->at / etype,
		 asked = op->memory.len / etype;

	pthread_mutex_lock(&f->lock);
	if (f->seen == op->seen && f->pos == from + asked)
		f->pos = from + op->moved / etype;
	pthread_mutex_unlock(&f->lock);
}

/* Etypes as bytes of the view.  Beyond what a file can have they must not come out small. */
static uint64_t bytes_at(struct mpiio_op *op, uint64_t etypes)
{
	uint64_t bytes;

	if (!__builtin_mul_overflow(etypes, op->seen->view.etype, &bytes) && bytes <= BYTES_MAX)
		return bytes;
	if (!op->err)
		op_wrong(op, MPI_ERR_ARG, "the offset is beyond what a file can have");
	return 0;
}

/* Moves the pointer by what was asked for, at once: the next may be another thread's.  Returns false if the view is another now. */
static bool pointer_take(struct mpiio_op *op, uint64_t etypes, uint64_t *at)
{
	struct mpiio_file *f = op->file;
	bool same;

	pthread_mutex_lock(&f->lock);
	same = f->seen == op->seen;
	*at = f->pos;
	if (same && *at <= BYTES_MAX / op->seen->view.etype)
		f->pos += etypes;
	pthread_mutex_unlock(&f->lock);
	return same;
}

/* Where the access begins; or returns false. */
static bool place(struct mpiio_op *op)
{
	uint64_t at = 0, etypes = op->err ? 0 : op->memory.len / op->seen->view.etype;
	int ret;

	switch (op->access.from) {
	case FROM_OFFSET:
		at = op->err ? 0 : (uint64_t)op->access.offset;
		break;
	case FROM_POINTER:
		if (!pointer_take(op, etypes, &at))
			return false;
		break;
	case FROM_SHARED:
		ret = shared_take(op->file, op->access.all, etypes, &at);
		if (ret == -EOVERFLOW)
			op_wrong(op, MPI_ERR_COUNT, "more than a file can have");
		else if (ret && !op->err)
			op_failed(op, ret);
		break;
	}
	op_place(op, bytes_at(op, at));
	return true;
}

/*
 * The last that is done with a transfer, and with its file: an error handler of the program may close that, or not return.
 * Returns the code.
 */
static int access_over(struct mpiio_op *op, MPI_Status *status)
{
	MPI_File ticket = op->file->ticket;
	int code = op_code(op);

	if (!code)
		status_set(status, op->bytes);
	op_give_back(op);
	if (code)
		handle_call(ticket, code);
	return code;
}

static int access_now(struct mpiio_op *op)
{
	int ret;

	ret = atomic_begin(op);
	if (ret && !op->err) {
		op_failed(op, ret);
		op->part.kind = 0; /* nobody's, as in op_place() */
	}
	if (behind_takes(op->file, &op->access))
		behind_write(op);
	else
		op_run(op);
	atomic_end(op);
	if (op->access.from == FROM_POINTER && !op->class)
		pointer_correct(op);
	return access_over(op, op->access.status);
}

/* One split collective is under way already: the others of this one, whose own has ended, hear of it. */
static int access_refuse(struct mpiio_op *op)
{
	op_run(op);
	return access_over(op, MPI_STATUS_IGNORE);
}

static int access_split(struct mpiio_op *op)
{
	if (op->file->split)
		return access_refuse(op);
	op_start(op);
	op->file->split = op;
	return MPI_SUCCESS;
}

/* A view that another thread sets meanwhile is that of the whole access, or of nothing of it. */
static struct mpiio_op *op_placed(struct mpiio_file *f, const struct mpiio_access *a)
{
	struct mpiio_op *op;

	while ((op = op_make(f, a))) {
		if (a->all && f->split && !op->err)
			op_wrong(op, MPI_ERR_OTHER, "a split collective is under way");
		if (place(op))
			break;
		op_give_back(op);
	}
	return op;
}

/* An error of this process alone is no reason not to come. */
static bool is_awaited(const struct mpiio_file *f, const struct mpiio_access *a)
{
	return a->all && behind_is_alone(f, a);
}

int access_run(struct mpiio_file *f, const struct mpiio_access *a)
{
	int ret = mode_check(f, a);
	struct mpiio_op *op;

	if (ret)
		return ret;
	ret = behind_before(f, a);
	if (ret && !is_awaited(f, a))
		return behind_fail(f, ret);
	op = op_placed(f, a);
	if (!op)
		return fail_text(f, -ENOMEM, NULL);
	if (ret)
		op_void(op, ret);
	switch (a->ends) {
	case ENDS_LATER:
		return request_make(op, a->request);
	case ENDS_SPLIT:
		return access_split(op);
	default:
		return access_now(op);
	}
}

int access_end(struct mpiio_file *f, bool write, enum mpiio_from from, void *buf,
	       MPI_Status *status)
{
	struct mpiio_op *op = f->split;

	(void)buf;
	if (!op || op->access.write != write || op->access.from != from)
		return fail_class(f, MPI_ERR_OTHER, "no such split collective is under way");
	f->split = NULL;
	op_finish(op);
	return access_over(op, status);
}
