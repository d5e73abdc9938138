// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which I/O processors a disk-directed transfer is for: those that have a block of the range from the first byte to the
 * last that anybody wants.  Every member computes the same from the verdict.
 *
 * One member asks them, and each reactor tells it that it is done; the others are told where they have something, and
 * hear of the rest when the members agree on the end.
 */
#include "cp/coll/dd/priv.h"

bool dd_asks(const struct ddio_op *op)
{
	return !op->rank;
}

/* Gives the lanes of reactors 0 of nodes that are asked the mark that is returned; counts them. */
static uint64_t mark_nodes(struct dd *dd)
{
	const struct ddio_op *op = dd->op;
	struct ddio_session *s = op->session;
	const struct ddio_file_record *rec = &op->file->rec;
	uint64_t mark = ++s->mark, b = op->lo / rec->ref.block, n;

	n = op->hi > op->lo ? (op->hi - 1) / rec->ref.block - b + 1 : 0;
	if (n > rec->ndisks)
		n = rec->ndisks;
	for (; n; n--, b++) {
		struct lane *lane = s->nodes[s->disks[rec->disks[b % rec->ndisks]].node].lanes[0];

		dd->nasked += lane->mark != mark;
		lane->mark = mark;
	}
	return mark;
}

uint32_t dd_reach(struct dd *dd)
{
	uint64_t mark;
	uint32_t i;

	if (dd->reached)
		return dd->nasked;
	dd->reached = true;
	mark = mark_nodes(dd);
	for (i = 0; i < dd->nlanes; i++)
		dd->lanes[i].asked = dd->lanes[i].lane->node->lanes[0]->mark == mark;
	return dd->nasked;
}

uint64_t dd_mark_owners(const struct dd *dd, const uint8_t *places)
{
	struct ddio_session *s = dd->op->session;
	const struct ddio_file_record *rec = &dd->op->file->rec;
	uint64_t mark = ++s->mark;
	uint32_t i;

	for (i = 0; i < rec->ndisks; i++) {
		const struct cluster_disk *disk = &s->disks[rec->disks[i]];
		const struct cluster_node *node = &s->nodes[disk->node];

		if ((!places || dd_place(places, i)) && disk->reactor < node->nlanes &&
		    node->lanes[disk->reactor])
			node->lanes[disk->reactor]->mark = mark;
	}
	return mark;
}

void dd_reach_only(struct dd *dd)
{
	uint64_t mark;
	uint32_t i;

	dd_reach(dd);
	mark = dd_mark_owners(dd, dd_asks(dd->op) ? NULL : dd->need);
	for (i = 0; i < dd->nlanes; i++) {
		struct dd_lane *dl = &dd->lanes[i];

		if (dl->done || (dl->asked && dl->lane->mark == mark))
			continue;
		dl->done = true;
		dd_lane_unbusy(dl);
		dd->left -= dl->owner;
	}
}
