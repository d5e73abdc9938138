/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inside of the disk-directed method: dd.c begins and ends it, data.c moves the
 * data, near.c lets I/O processors on this machine move them. */
#ifndef DDIO_CP_DD_PRIV_H
#define DDIO_CP_DD_PRIV_H

#include "cp/coll/attach.h"
#include "cp/coll/blockset.h"
#include "cp/coll/dd/dd.h"
#include "cp/coll/op.h"

/**
 * struct dd_lane - one reactor's part
 * @owner: it has disks of the file, so it will say when it is done
 * @busy: counted in lane->colls
 */
struct dd_lane {
	struct lane *lane;
	bool owner, busy, done;
};

/**
 * struct dd - op->priv
 * @left: reactors that are not done
 * @moved: bytes received, or handed out to be sent
 * @seen: blocks for which that is so
 * @sends: pieces of the user's memory on their way out
 * @stopping: op->m->stop() was called
 * @launched: rank 0: the I/O processors may have been asked
 * @joining: of what is asked of nodes before the start
 * @membership: of each node, where this process has joined its memory, else NULL
 * @may_scatter: there was one
 */
struct dd {
	struct ddio_op *op;
	struct attach_job attach;
	struct dd_lane *lanes;
	uint32_t nlanes, nnodes;
	uint32_t left;
	uint64_t moved;
	struct blockset seen;
	uint32_t sends;
	bool stopping, launched, may_scatter;
	struct request_set joining;
	struct ddio_membership **membership;
};

/* A block that an I/O processor asked for, in lane->wants. */
struct dd_want {
	struct ddio_list link;
	struct ddio_op *op;
	uint64_t block;
	uint32_t disk;
};

/* dd.c */
/* The operation that a message of a lane is for, if it is still on and a DD one. */
struct ddio_op *dd_find(struct lane *lane, uint32_t handle, uint64_t number);
/* Everything has been moved, as far as this side knows? */
void dd_check_end(struct ddio_op *op);

/* data.c */
/* Nothing of the operation is to be sent or received any more. */
void dd_data_stop(struct ddio_op *op);

/* near.c */
/* Gives the memory to those I/O processors that are on this machine; ends in op_prepared(). */
void dd_join_begin(struct dd *dd);
/* The memory is this process's alone again. */
void dd_join_end(struct dd *dd);

#endif /* DDIO_CP_DD_PRIV_H */
