// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Atomic mode (MPI 4.0, section 14.6.1).  An access of one process holds a lock of the bytes between its first and its
 * last; of a collective access rank 0 holds one of the whole file, while ddio gives its members' bytes a serial order.
 */
#include "mpiio/abi/op.h"

/* What this process has to lock; false: nothing. */
static bool range_of(struct mpiio_op *op)
{
	const struct mpiio_view *v = &op->seen->view;
	int64_t first, last;

	op->lock_offset = op->lock_len = 0;
	if (op->access.all)
		return op->file->team->rank == 0;
	if (op->err || !op->memory.len)
		return false;
	first = view_byte(v, op->at);
	last = view_byte(v, op->at + op->memory.len - 1);
	if (first < 0 || last < first)
		return false;
	op->lock_offset = (uint64_t)first;
	op->lock_len = (uint64_t)(last - first) + 1;
	return true;
}

int atomic_begin(struct mpiio_op *op)
{
	int ret = 0;

	if (!op->file->atomic || op->err == TEAM_DIFFERS)
		return 0;
	/* Whoever has not come may be waiting for a lock of its own, and so for this one. */
	if (op->access.all)
		ret = file_barrier(op->file, CALL_ATOMIC);
	if (ret || !range_of(op))
		return ret;
	ret = ddio_lock(op->file->file, op->lock_offset, op->lock_len,
			op->access.write ? DDIO_LOCK_EXCLUSIVE : DDIO_LOCK_SHARED);
	op->locked = !ret;
	return ret;
}

/* That rank 0 has lost its lock meanwhile is an error of all. */
static int agree(struct mpiio_op *op, int err)
{
	int64_t code = -err;
	int ret = file_max(op->file, CALL_ATOMIC, &code, 1);

	return ret ? ret : (int)-code;
}

void atomic_end(struct mpiio_op *op)
{
	bool all = op->file->atomic && op->access.all && op->err != TEAM_DIFFERS;
	int err = op->locked ? ddio_unlock(op->file->file, op->lock_offset, op->lock_len) : 0;

	op->locked = false;
	if (all)
		err = agree(op, err);
	if (err && !op->err)
		op_failed(op, err);
}
