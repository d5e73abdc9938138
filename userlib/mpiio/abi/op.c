// SPDX-License-Identifier: LGPL-2.1-or-later
/* One transfer between a file view and memory, by ddio. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mpiio/abi/op.h"

void op_failed(struct mpiio_op *op, int err)
{
	const char *text = team_text(op->file->team, err);

	op->err = err;
	if (err)
		snprintf(op->text, sizeof(op->text), "%s", text);
}

void op_wrong(struct mpiio_op *op, int class, const char *text)
{
	op->err = -EINVAL;
	op->class = class;
	snprintf(op->text, sizeof(op->text), "%s", text);
}

/* Only an MPI knows whether a type was committed: it says so of a message to nobody. */
static bool type_is_ready(const struct mpiio_op *op, MPI_Datatype type)
{
	char none[1] = "";

	return type_plain(type) ||
	       !PMPI_Send(none, 1, type, MPI_PROC_NULL, 0, op->file->team->comm);
}

#define NOT_CONVERTED "the program's data representation does not convert the data"

static void memory_take(struct mpiio_op *op)
{
	const struct mpiio_access *a = &op->access;
	int ret;

	if (a->count < 0)
		return op_wrong(op, MPI_ERR_COUNT, "the count is negative");
	if (a->from == FROM_OFFSET && a->offset < 0)
		return op_wrong(op, MPI_ERR_ARG, "the offset is negative");
	if (a->type == MPI_DATATYPE_NULL)
		return op_wrong(op, MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
	if (!type_is_ready(op, a->type))
		return op_wrong(op, MPI_ERR_TYPE, "the datatype is not committed");
	if (op->seen->rep)
		ret = rep_make(op->seen->rep, a->write, a->buf, a->count, a->type, &op->memory);
	else
		ret = memory_of(a->buf, a->count, a->type, &op->memory);
	if (ret == -ENOMEM) {
		op->err = ret;
		return;
	}
	if (ret == -EILSEQ)
		return op_wrong(op, MPI_ERR_CONVERSION, NOT_CONVERTED);
	if (ret)
		return op_wrong(op, MPI_ERR_TYPE, "the datatype cannot be described");
	if (op->memory.len % op->seen->view.etype)
		op_wrong(op, MPI_ERR_IO, "the data are not a whole number of etypes");
	else if (op->memory.len && !shape_bytes(&op->seen->view.shape))
		op_wrong(op, MPI_ERR_IO, "the file type of the view has no bytes");
}

/* What is read in another representation is unpacked at the end, when the program may have freed the type. */
static void type_hold(struct mpiio_op *op)
{
	if (op->err || !op->memory.staging)
		return;
	if (type_copy(op->access.type, &op->type))
		op->err = -ENOMEM;
	op->access.type = op->type;
}

/* The others of a collective call would wait for a process that has no memory: the file keeps an op for that. */
static struct mpiio_op *op_spare(struct mpiio_file *f, struct mpiio_op *give)
{
	struct mpiio_op *had;

	pthread_mutex_lock(&f->lock);
	had = f->spare;
	f->spare = give;
	pthread_mutex_unlock(&f->lock);
	return had;
}

bool op_keep_spare(struct mpiio_file *f)
{
	struct mpiio_op *had = op_spare(f, NULL);

	if (!had)
		had = calloc(1, sizeof(*had));
	free(op_spare(f, had));
	return had != NULL;
}

struct mpiio_op *op_make(struct mpiio_file *f, const struct mpiio_access *a)
{
	struct mpiio_op *op = calloc(1, sizeof(*op));

	if (!op && a->all) {
		op = op_spare(f, NULL);
		if (!op)
			return NULL;
		*op = (struct mpiio_op){ .err = -ENOMEM };
	} else if (op && a->all)
		op_keep_spare(f); /* a nonblocking one may have taken it */
	if (!op)
		return NULL;
	op->file = f;
	op->seen = fview_hold(&f->seen, &f->lock);
	op->access = *a;
	op->request = MPI_REQUEST_NULL;
	op->type = MPI_DATATYPE_NULL;
	if (op->err)
		return op;
	memory_take(op);
	type_hold(op);
	return op;
}

static void op_empty(struct mpiio_op *op)
{
	memory_drop(&op->memory);
	type_drop(&op->type);
	fview_put(op->seen);
}

void op_free(struct mpiio_op *op)
{
	op_empty(op);
	free(op);
}

void op_give_back(struct mpiio_op *op)
{
	op_empty(op);
	free(op_spare(op->file, op));
}

void op_place(struct mpiio_op *op, uint64_t at)
{
	struct ddio_transfer *t = &op->transfer;

	op->at = at;
	view_part(&op->seen->view, at, op->memory.len, &op->tree, &op->view);
	op->part = (struct ddio_part){ .kind = DDIO_PART_VIEW, .n = op->memory.len ? 1 : 0 };
	op->part.view = &op->view;
	if (op->err)
		op->part.kind = 0; /* nobody's: all members get an error */
	*t = (struct ddio_transfer){ .struct_size = sizeof(*t),
				     .part = &op->part,
				     .report = &op->report };
	t->memory = op->memory.packed ? NULL : &op->memory.memory;
	t->buf = op->memory.len ? op->memory.buf : NULL;
	if (!op->access.write)
		t->flags |= DDIO_XFER_SHORT;
	if (op->access.all && (op->file->atomic || op->access.ends != ENDS_NOW))
		t->flags |= DDIO_XFER_OVERLAP;
	/* The standard has an order of them for each file. */
	if (op->access.all && op->access.ends != ENDS_NOW)
		t->flags |= DDIO_XFER_FILE_ORDER;
	if (op->access.all && op->access.write && op->file->whole)
		t->flags |= DDIO_XFER_ATOMIC;
	op->report.struct_size = sizeof(op->report);
}

void op_void(struct mpiio_op *op, int err)
{
	if (!op->err)
		op_failed(op, err);
	op->part.kind = 0; /* nobody's, as in op_place() */
}

static int transfer_start(struct mpiio_op *op)
{
	struct mpiio_file *f = op->file;
	bool write = op->access.write;

	if (op->access.all)
		return (write ? ddio_start_write_all : ddio_start_read_all)(
			f->file, f->team->group, &op->transfer, &op->running);
	return (write ? ddio_start_write : ddio_start_read)(f->file, &op->transfer, &op->running);
}

static int transfer_run(struct mpiio_op *op)
{
	struct mpiio_file *f = op->file;
	bool write = op->access.write;

	if (op->access.all)
		return (write ? ddio_write_all : ddio_read_all)(f->file, f->team->group,
								&op->transfer);
	return (write ? ddio_write : ddio_read)(f->file, &op->transfer);
}

/*
 * Bytes that are named more than once cost ddio time and memory for each piece, so it is asked for them after it has
 * refused.  A collective is refused for all members, and comes again from all of them, also from those that gave nothing
 * but an error.  One that ends later has asked at once: its members may end it in different orders.
 */
static bool wants_overlap(const struct mpiio_op *op, int err)
{
	if (op->transfer.flags & DDIO_XFER_OVERLAP)
		return false;
	return op->access.write ? err == -EBADSLT : err == -EINVAL;
}

/* So many bytes of the file; what the program is told counts in its own. */
static void op_moved(struct mpiio_op *op, uint64_t bytes)
{
	const struct mpiio_access *a = &op->access;
	int64_t taken = (int64_t)bytes;

	op->moved = bytes;
	if (op->memory.staging)
		taken = rep_taken(op->seen->rep, &op->memory, bytes, a->write ? NULL : a->buf,
				  a->type);
	op->bytes = taken < 0 ? 0 : (uint64_t)taken;
	if (taken < 0)
		op_wrong(op, MPI_ERR_CONVERSION, NOT_CONVERTED);
}

void op_wrote(struct mpiio_op *op)
{
	op_moved(op, op->memory.len);
}

static void take_result(struct mpiio_op *op, int ret)
{
	if (wants_overlap(op, ret)) {
		op->transfer.flags |= DDIO_XFER_OVERLAP;
		ret = transfer_run(op);
	}
	op->ended = true;
	if (op->err)
		return;
	if (ret)
		return op_failed(op, ret);
	op_moved(op, op->access.write ? op->memory.len : op->report.bytes_moved);
	report_note(op->file, &op->report);
}

/* Contiguous in file and memory, and nobody else's: the traditional path. */
static bool is_plain(const struct mpiio_op *op)
{
	return !op->access.all && op->memory.packed && view_is_contiguous(&op->seen->view);
}

static void run_plain(struct mpiio_op *op)
{
	struct mpiio_file *f = op->file;
	uint64_t offset = op->seen->view.disp + op->at;
	ssize_t n;

	if (op->access.write)
		n = ddio_pwrite(f->file, op->memory.buf, op->memory.len, offset);
	else
		n = ddio_pread(f->file, op->memory.buf, op->memory.len, offset);
	op->ended = true;
	if (n < 0)
		return op_failed(op, (int)n);
	op_moved(op, (uint64_t)n);
}

/* There is nothing to do; or nobody to do it with, which all have heard. */
static bool op_is_nothing(struct mpiio_op *op)
{
	op->ended = op->err == TEAM_DIFFERS || (!op->access.all && (op->err || !op->memory.len));
	return op->ended;
}

void op_run(struct mpiio_op *op)
{
	if (op_is_nothing(op))
		return;
	if (is_plain(op))
		run_plain(op);
	else
		take_result(op, transfer_run(op));
}

void op_start(struct mpiio_op *op)
{
	int ret;

	if (op_is_nothing(op))
		return;
	ret = transfer_start(op);
	if (ret)
		take_result(op, ret);
}

bool op_over(struct mpiio_op *op)
{
	return op->ended || ddio_test(op->running) != -EINPROGRESS;
}

void op_finish(struct mpiio_op *op)
{
	struct ddio_op *running = op->running;

	if (!op->ended) {
		op->running = NULL;
		take_result(op, ddio_wait(running));
	}
	/* Not when the MPI frees the request: MPICH with threads takes no calls then. */
	type_drop(&op->type);
	fview_put(op->seen);
	op->seen = NULL;
}

int op_code(const struct mpiio_op *op)
{
	if (op->class)
		return code_class(op->class, op->text);
	return op->err ? code_text(op->err, op->text) : MPI_SUCCESS;
}

void status_set(MPI_Status *status, uint64_t bytes)
{
	if (status == MPI_STATUS_IGNORE)
		return;
	PMPI_Status_set_elements_x(status, MPI_BYTE, (MPI_Count)bytes);
	PMPI_Status_set_cancelled(status, 0);
}
