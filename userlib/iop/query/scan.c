// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The records of a block are looked at, a batch at a time and a bounded number in a turn of the reactor.  Of those that match only
 * the numbers are kept at first; items.c makes answers of many at once.
 */
#include <string.h>
#include "iop/query/priv.h"

static bool returns(const struct iop_query *query)
{
	return !(query->msg.flags & DDIO_QUERY_COUNTS);
}

static void done_block(struct iop_query *query)
{
	struct query_slot *slot = query->scanning;

	query_items_last(query);
	query->did[slot->at / 8] |= (uint8_t)(1u << slot->at % 8);
	query->ndid++;
	slot->state = QSLOT_IDLE;
	query->scanning = NULL;
	query->part = DDIO_QUERY_NO_PART;
	query->part_next = 0;
}

/* Returns whose a record is. */
static uint32_t owner(const struct iop_query *query, uint64_t record, const uint8_t *span)
{
	const struct ddio_msg_query *x = &query->msg;

	if (!(x->flags & DDIO_QUERY_DEALT))
		return 0;
	return ddio_query_owner(&query->shape, &x->deal, x->members, span, record - x->first,
				x->end - x->first);
}

/* Takes a record that matches; false: there is no room for it. */
static bool take(struct iop_query *query, uint64_t record, const uint8_t *span)
{
	if (returns(query) && !query_item_add(query, record, owner(query, record, span)))
		return false;
	ddio_query_accs_add(&query->accs, &query->shape, span);
	return true;
}

/* Takes those of @n records that match, by their bits; false: there is no room for the one that is the next. */
static bool take_batch(struct iop_query *query, const uint8_t *span, uint64_t bits, uint32_t n)
{
	uint64_t first = query->record;
	uint32_t i;

	query->record = first + n;
	if (!returns(query) && !query->shape.q->nreduce) {
		query->accs.matched += (uint32_t)__builtin_popcountll(bits);
		return true;
	}
	for (; bits; bits &= bits - 1) {
		i = (uint32_t)__builtin_ctzll(bits);
		if (take(query, first + i, span + (size_t)i * query->shape.q->record))
			continue;
		query->record = first + i;
		return false;
	}
	return true;
}

static void part_full(struct iop_query *query)
{
	query_items_put(query);
	query->full = true;
	query->part = query->scanning->at;
	query->part_next = query->record;
	query->scanning->state = QSLOT_IDLE;
	query->scanning = NULL;
}

/* Looks at records of the block, as long as there are @left steps; returns how many are left then. */
static uint32_t scan_block(struct iop_query *query, uint32_t left)
{
	const struct ddio_query_shape *s = &query->shape;
	uint32_t cost = 1 + s->q->nsteps + s->q->nreduce + (query->nsinks > 1), n;

	while (query->record < query->range.whole_end && left) {
		uint64_t all = query->range.whole_end - query->record;
		const uint8_t *span = query_span(query, query->record);

		n = all < DDIO_QUERY_BATCH ? (uint32_t)all : DDIO_QUERY_BATCH;
		left -= left < n * cost ? left : n * cost;
		if (take_batch(query, span, ddio_query_matches_batch(s, span, n), n))
			continue;
		part_full(query);
		return left;
	}
	if (query->record == query->range.whole_end)
		done_block(query);
	return left;
}

static void scan_begin(struct iop_query *query, struct query_slot *slot)
{
	struct ddio_query_range *r = &query->range;

	ddio_query_range(&query->shape, query->msg.first, query->msg.end, query_lo(query, slot->at),
			 query_lo(query, slot->at) + query_block_size(query), r);
	query->scanning = slot;
	query->record = r->whole;
	if (slot->at == query->part && query->part_next > r->whole &&
	    query->part_next <= r->whole_end)
		query->record = query->part_next;
	query->begin = query->record;
	query->npending = 0;
	ddio_env_charge(query_env(query), DDIO_WORK_COPY, query_block_size(query));
	if (!query_items_room(query))
		part_full(query);
}

/* A block of which a part has been looked at has to be the next. */
static struct query_slot *ready(struct iop_query *query)
{
	int i;

	for (i = 0; i < QUERY_SLOTS; i++)
		if (query->slot[i].state == QSLOT_READY &&
		    (query->part == DDIO_QUERY_NO_PART || query->part == query->slot[i].at))
			return &query->slot[i];
	return NULL;
}

bool query_scan(struct iop_query *query)
{
	/* A block costs something even if none of its records is asked about. */
	uint32_t left = QUERY_TURN, bytes = query_block_size(query) / 16;
	struct query_slot *slot;

	while (left && !query->full) {
		if (!query->scanning) {
			slot = ready(query);
			if (!slot)
				return false;
			scan_begin(query, slot);
			left -= left < bytes ? left : bytes;
		}
		if (query->scanning)
			left = scan_block(query, left);
		/* The disk has its next block while another is looked at. */
		query_slots_fill(query);
	}
	return !query->full;
}
