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
	if (f->split && a->all)
		return fail_class(f, MPI_ERR_OTHER, "a split collective is under way");
	return MPI_SUCCESS;
}

static void pointer_advance(struct mpiio_file *f, uint64_t bytes)
{
	pthread_mutex_lock(&f->lock);
	f->pos += bytes / f->view.etype;
	pthread_mutex_unlock(&f->lock);
}

/* Where the access begins.  What ends later moves the pointer by what was asked for, now. */
static uint64_t place_of(struct mpiio_op *op)
{
	struct mpiio_file *f = op->file;
	uint64_t at = 0, etypes = op->err ? 0 : op->memory.len / f->view.etype;
	int ret;

	switch (op->access.from) {
	case FROM_OFFSET:
		at = op->err ? 0 : (uint64_t)op->access.offset;
		break;
	case FROM_POINTER:
		pthread_mutex_lock(&f->lock);
		at = f->pos;
		if (op->access.ends != ENDS_NOW)
			f->pos += etypes;
		pthread_mutex_unlock(&f->lock);
		break;
	case FROM_SHARED:
		ret = shared_take(f, op->access.all, etypes, &at);
		if (!op->err)
			op->err = ret;
		break;
	}
	return at * f->view.etype;
}

static int access_now(struct mpiio_op *op)
{
	int ret;

	if (op->access.all)
		requests_begin_all(); /* a group's collectives begin in the same order everywhere */
	ret = atomic_begin(op);
	if (ret && !op->err)
		op->err = ret;
	op_run(op);
	if (!ret)
		atomic_end(op);
	ret = op_code(op);
	if (!ret && op->access.from == FROM_POINTER)
		pointer_advance(op->file, op->moved);
	if (!ret)
		status_set(op->access.status, op->bytes);
	op_free(op);
	return ret;
}

static int access_split(struct mpiio_op *op)
{
	requests_begin_all();
	op_start(op);
	op->file->split = op;
	return MPI_SUCCESS;
}

int access_run(struct mpiio_file *f, const struct mpiio_access *a)
{
	int ret = mode_check(f, a);
	struct mpiio_op *op;

	if (ret)
		return ret;
	op = op_make(f, a);
	if (!op)
		return fail_text(f, -ENOMEM, NULL);
	op_place(op, place_of(op));
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
	int ret;

	(void)buf;
	if (!op || op->access.write != write || op->access.from != from)
		return fail_class(f, MPI_ERR_OTHER, "no such split collective is under way");
	f->split = NULL;
	op_finish(op);
	ret = op_code(op);
	if (!ret)
		status_set(status, op->bytes);
	op_free(op);
	return ret;
}
