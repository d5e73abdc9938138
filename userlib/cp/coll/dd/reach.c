// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which I/O processors a disk-directed transfer is for: those that have a block of the range from the first byte to the
 * last that anybody wants.  Every member computes the same from the verdict.
 *
 * Of each one member asks it, and is told by each of its reactors that it is done; the others know when their bytes have
 * moved, and hear of the rest when the members agree on the end.  Few I/O processors are all asked by rank 0, before
 * it tells the members; many are dealt out to the members, each of which asks its own when it has heard that all agree.
 * That takes every member's knowing what all want, so it is for arrays.
 */
#include <errno.h>
#include <stdlib.h>
#include "cp/coll/dd/priv.h"

static uint32_t place_node(const struct ddio_op *op, uint32_t i)
{
	return op->session->conf->disks[op->file->rec.disks[i]].node;
}

/* Numbers the file's nodes by their first place in its stripe: node_mark is then @base and the number.  Returns how many. */
static uint32_t number_nodes(const struct ddio_op *op, uint64_t *base)
{
	struct ddio_session *s = op->session;
	uint32_t n = 0, i;

	*base = s->mark + 1;
	for (i = 0; i < op->file->rec.ndisks; i++)
		if (s->node_mark[place_node(op, i)] < *base)
			s->node_mark[place_node(op, i)] = *base + n++;
	s->mark += n;
	return n;
}

/* Returns true if members ask, of @n nodes each its own. */
static bool is_dealt(const struct ddio_op *op, uint32_t n)
{
	return op->part_kind == DDIO_PART_ARRAY && n > op->session->transfers->ask_alone;
}

/* Returns the rank that asks the node of this number, of @n. */
static uint32_t asker(const struct ddio_op *op, uint64_t number, uint32_t n)
{
	return op->dealt ? (uint32_t)(number * op->nprocs / n) : 0;
}

int dd_ask(struct dd *dd)
{
	struct ddio_op *op = dd->op;
	const struct ddio_session *s = op->session;
	uint32_t n, i;
	uint64_t base;

	dd->ask = calloc(op->file->rec.ndisks / 8 + 1, 1);
	if (!dd->ask)
		return -ENOMEM;
	n = number_nodes(op, &base);
	op->dealt = is_dealt(op, n);
	for (i = 0; i < op->file->rec.ndisks; i++) {
		uint64_t number = s->node_mark[place_node(op, i)] - base;

		if (asker(op, number, n) == op->rank)
			dd->ask[i / 8] |= (uint8_t)(1u << i % 8);
	}
	return 0;
}

/* Gives the nodes that are asked, by whomever, the mark that is returned; counts them. */
static uint64_t mark_asked(struct dd *dd)
{
	const struct ddio_op *op = dd->op;
	const struct ddio_file_record *rec = &op->file->rec;
	uint64_t mark = ++op->session->mark, b = op->lo / rec->ref.block, n;

	n = op->hi > op->lo ? (op->hi - 1) / rec->ref.block - b + 1 : 0;
	if (n > rec->ndisks)
		n = rec->ndisks;
	for (; n; n--, b++)
		dd->nasked +=
			node_visit(op->session, place_node(op, (uint32_t)(b % rec->ndisks)), mark);
	return mark;
}

/* Returns the mark of the nodes at the places that this member asks. */
static uint64_t mark_own(const struct dd *dd)
{
	struct ddio_op *op = dd->op;
	uint64_t mark = ++op->session->mark;
	uint32_t i;

	for (i = 0; i < op->file->rec.ndisks; i++)
		if (dd_place(dd->ask, i))
			node_visit(op->session, place_node(op, i), mark);
	return mark;
}

uint32_t dd_reach(struct dd *dd)
{
	const uint64_t *node_mark = dd->op->session->node_mark;
	uint64_t mark;
	uint32_t i;

	if (dd->reached)
		return dd->nasked;
	dd->reached = true;
	mark = mark_asked(dd);
	for (i = 0; i < dd->nlanes; i++)
		dd->lanes[i].asked = node_mark[dd->lanes[i].lane->node->index] == mark;
	mark = mark_own(dd);
	for (i = 0; i < dd->nlanes; i++)
		dd->lanes[i].own = node_mark[dd->lanes[i].lane->node->index] == mark;
	return dd->nasked;
}

uint64_t dd_mark_owners(const struct dd *dd, const uint8_t *places)
{
	struct ddio_session *s = dd->op->session;
	const struct ddio_file_record *rec = &dd->op->file->rec;
	uint64_t mark = ++s->mark;
	uint32_t i;

	for (i = 0; i < rec->ndisks; i++) {
		uint32_t reactor = disk_look(s, rec->disks[i])->reactor;
		const struct cluster_node *node = disk_node_look(s, rec->disks[i]);

		if ((!places || dd_place(places, i)) && reactor < node->nlanes &&
		    node->lanes[reactor])
			node->lanes[reactor]->mark = mark;
	}
	return mark;
}

/* Returns true if the reactor tells only the one that has asked it, another member, of a success. */
static bool lane_quiet(const struct dd_lane *dl)
{
	const struct lane *lane = dl->lane;

	return dl->owner && !dl->own && lane->state == LANE_READY &&
	       !dl->op->session->transfers->tell;
}

void dd_reach_only(struct dd *dd)
{
	uint64_t mark;
	uint32_t i;

	dd_reach(dd);
	mark = dd_mark_owners(dd, dd->need);
	for (i = 0; i < dd->nlanes; i++) {
		struct dd_lane *dl = &dd->lanes[i];

		if (dl->done || dl->quiet)
			continue;
		if (dl->asked && dl->lane->mark == mark) {
			dl->quiet = lane_quiet(dl);
			dd->quiet += dl->quiet;
			dd->left -= dl->quiet;
			continue;
		}
		dl->done = true;
		dd_lane_unbusy(dl);
		dd->left -= dl->owner;
	}
}
