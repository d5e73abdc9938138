// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Atomic mode (MPI 4.0, section 14.6.1).  An access of one process holds a lock of the bytes between its first and its
 * last; of a collective access rank 0 holds one of the whole file, while ddio gives its members' bytes a serial order.
 */
#include "mpiio/abi/op.h"

struct atomic_range {
	uint64_t offset, len;
};

static bool range_of(const struct mpiio_op *op, struct atomic_range *r)
{
	const struct mpiio_view *v = &op->file->view;
	int64_t first, last;

	if (op->access.all) {
		*r = (struct atomic_range){ 0 };
		return op->file->team->rank == 0;
	}
	if (op->err || !op->memory.len)
		return false;
	first = view_byte(v, op->at);
	last = view_byte(v, op->at + op->memory.len - 1);
	if (first < 0 || last < first)
		return false;
	*r = (struct atomic_range){ (uint64_t)first, (uint64_t)(last - first) + 1 };
	return true;
}

int atomic_begin(const struct mpiio_op *op)
{
	struct atomic_range r;

	if (!op->file->atomic || !range_of(op, &r))
		return 0;
	return ddio_lock(op->file->file, r.offset, r.len,
			 op->access.write ? DDIO_LOCK_EXCLUSIVE : DDIO_LOCK_SHARED);
}

void atomic_end(const struct mpiio_op *op)
{
	struct atomic_range r;

	if (op->file->atomic && range_of(op, &r))
		ddio_unlock(op->file->file, r.offset, r.len);
}
