// SPDX-License-Identifier: LGPL-2.1-or-later
/* The conforming distribution of the two-phase method, and the end of a group that cannot go on. */
#include <string.h>
#include "cp/coll/2p/priv.h"

void tp_segment(const struct ddio_op *op, uint32_t rank, struct tp_segment *seg)
{
	uint64_t bs = op->file->rec.ref.block;
	uint64_t first = op->lo / bs, n = op->hi > op->lo ? (op->hi - 1) / bs + 1 - first : 0;
	uint64_t each = (n + op->nprocs - 1) / op->nprocs;
	uint64_t from = (uint64_t)rank * each, to = from + each;

	if (from >= n) {
		memset(seg, 0, sizeof(*seg));
		return;
	}
	seg->base = (first + from) * bs;
	seg->lo = seg->base < op->lo ? op->lo : seg->base;
	seg->hi = to >= n ? op->hi : (first + to) * bs;
}

void tp_broken(struct two_phase *tp, int err, const char *what)
{
	struct ddio_op *op = tp->op;
	struct error error;

	error_set(&error, err, "%s of %s: rank %u: %s: %s", op->writing ? "write" : "read",
		  op->file->rec.name, op->rank, what, strerror(-err));
	group_break(op->group, &error, op->rank, true);
}
