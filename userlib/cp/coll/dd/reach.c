// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which I/O processors a disk-directed transfer is for: those that have a block of the range from the first byte to the
 * last that anybody wants.  Every member computes the same from the verdict, so each knows who will say that it is done.
 */
#include "cp/coll/dd/priv.h"

/* Gives the lanes of reactors 0 of such nodes the mark that is returned. */
static uint64_t mark_nodes(const struct ddio_op *op)
{
	struct ddio_session *s = op->session;
	const struct ddio_file_record *rec = &op->file->rec;
	uint64_t mark = ++s->mark, b = op->lo / rec->ref.block, n;

	n = op->hi > op->lo ? (op->hi - 1) / rec->ref.block - b + 1 : 0;
	if (n > rec->ndisks)
		n = rec->ndisks;
	for (; n; n--, b++)
		s->nodes[s->disks[rec->disks[b % rec->ndisks]].node].lanes[0]->mark = mark;
	return mark;
}

uint32_t dd_reach(struct dd *dd)
{
	uint64_t mark;
	uint32_t i;

	if (dd->reached)
		return dd->nasked;
	dd->reached = true;
	mark = mark_nodes(dd->op);
	for (i = 0; i < dd->nlanes; i++) {
		struct dd_lane *dl = &dd->lanes[i];

		dl->asked = dl->lane->node->lanes[0]->mark == mark;
		dd->nasked += dl->asked && i < dd->nnodes;
	}
	return dd->nasked;
}

void dd_reach_only(struct dd *dd)
{
	uint32_t i;

	dd_reach(dd);
	for (i = 0; i < dd->nlanes; i++) {
		struct dd_lane *dl = &dd->lanes[i];

		if (dl->asked || dl->done)
			continue;
		dl->done = true;
		dd_lane_unbusy(dl);
		dd->left -= dl->owner;
	}
}
