/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One transfer between a file view and memory. */
#ifndef MPIIO_OP_H
#define MPIIO_OP_H

#include "mpiio/abi/abi.h"

/* Of a nonblocking one: waits for others to end, is begun by a thread, goes on, is ended by a thread, is over. */
enum op_stage { OP_WAITING, OP_BEGINNING, OP_RUNNING, OP_ENDING, OP_COMPLETE };

/**
 * struct mpiio_op - a transfer
 * @file: of it
 * @seen: the file's view, until it is over
 * @access: what the program asked for
 * @at: first byte of the view
 * @err: what was wrong before it began: a collective one is made all the same, so that the others hear of it
 * @class: of @err as MPI has it, if it is the program's; 0: by @err
 * @text: of @err
 * @memory: where the data are
 * @type: a copy of the program's type, if they are converted
 * @tree: of the file's view
 * @view: of the file that is transferred
 * @part: the same
 * @transfer: the same, for ddio
 * @report: of it
 * @running: under way
 * @ended: over, with @err and @moved bytes of the file, which are @bytes of the program's
 * @request: the program's, @other ones that it is kept with, and its place in a @list, or NULL (request.c)
 * @stage: guarded by the lock of request.c
 * @abandoned: the program has freed the request
 * @code: what the program is told when it is complete
 * @locked: of atomic mode: @lock_len bytes at @lock_offset are locked
 */
struct mpiio_op {
	struct mpiio_file *file;
	struct mpiio_fview *seen;
	struct mpiio_access access;
	uint64_t at;
	int err, class;
	char text[256];
	struct mpiio_memory memory;
	MPI_Datatype type;
	struct ddio_tree tree;
	struct ddio_view view;
	struct ddio_part part;
	struct ddio_transfer transfer;
	struct ddio_report report;
	struct ddio_op *running;
	bool ended;
	uint64_t moved;
	_Atomic uint64_t bytes; /* the MPI asks for them on the thread that looks at the request */
	MPI_Request request;
	struct mpiio_op *other, *next, **link;
	struct mpiio_ops *list;
	enum op_stage stage;
	bool abandoned;
	int code;
	bool locked;
	uint64_t lock_offset, lock_len;
};

/*
 * Takes what is to be done, also if it is wrong.  NULL: no memory, for an access that is not collective; or for a
 * collective one after another, still under way, that had none.
 */
struct mpiio_op *op_make(struct mpiio_file *f, const struct mpiio_access *a);
bool op_keep_spare(struct mpiio_file *f); /* false: no memory */

/* It must not be made: the program's fault, as MPI has it. */
void op_wrong(struct mpiio_op *op, int class, const char *text);

/* Where it begins, in bytes of the view. */
void op_place(struct mpiio_op *op, uint64_t at);

/* To its end; or its beginning, and whether op_finish() would not block.  The result is in the op. */
void op_run(struct mpiio_op *op);
void op_start(struct mpiio_op *op);
bool op_over(struct mpiio_op *op);
void op_finish(struct mpiio_op *op);
void op_free(struct mpiio_op *op);
void op_give_back(struct mpiio_op *op); /* frees it while its file is open */

/* It begins all the same, so that the other processes hear of the error; none of this one's bytes are moved. */
void op_void(struct mpiio_op *op, int err);

/* An error of ddio, with its text; all of it is written, or will be. */
void op_failed(struct mpiio_op *op, int err);
void op_wrote(struct mpiio_op *op);

void status_set(MPI_Status *status, uint64_t bytes);

/* Tells the program's error handler, and returns the code that a function returns. */
int op_code(const struct mpiio_op *op);

#endif
