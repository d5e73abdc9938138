// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The records of a block are looked at, a bounded number in a turn of the reactor.
 *
 * What a block gives is an item: its number in the window (32 bits), how many records follow (32 bits), these, each with
 * the distance of its number from where the one before ended, and its fields; and, in the item that completes the block,
 * the fragments of the first and the last record.  A block that gives nothing has no item.
 */
#include <endian.h>
#include <string.h>
#include "iop/query/priv.h"

#define ITEM_HEAD 8

static bool returns(const struct iop_query *query)
{
	return !(query->msg.flags & DDIO_QUERY_COUNTS);
}

static uint64_t block_hi(const struct iop_query *query, uint32_t at)
{
	return query_lo(query, at) + query_block_size(query);
}

/* Returns the bytes that the slot's block, or the rest of it, may need besides its records. */
static uint32_t reserve(const struct iop_query *query)
{
	return ITEM_HEAD + 2 * query->shape.used;
}

static bool has_room(const struct iop_query *query, uint32_t more)
{
	return query->items_len + more <= query->items_cap;
}

static void head_put(struct iop_query *query)
{
	uint32_t head[2] = { htole32(query->scanning->at), htole32(query->count) };

	memcpy(query->items + query->head - 1, head, sizeof(head));
}

/* Begins an item, unless there is one. */
static void item_open(struct iop_query *query)
{
	if (query->head)
		return;
	query->head = query->items_len + 1;
	query->items_len += ITEM_HEAD;
	head_put(query);
}

/* A record may have bytes on either side of the block, and none in it. */
static void fragment(struct iop_query *query, uint64_t record)
{
	uint32_t at = query->scanning->at;

	if (!ddio_query_fragment_len(&query->shape, record, query_lo(query, at),
				     block_hi(query, at)))
		return;
	item_open(query);
	query->items_len += ddio_query_fragment_take(&query->shape, record, query_lo(query, at),
						     block_hi(query, at), query->scanning->buf,
						     query->items + query->items_len);
}

static void done_block(struct iop_query *query)
{
	struct query_slot *slot = query->scanning;
	const struct ddio_query_range *r = &query->range;
	uint64_t record;

	for (record = r->first; record < r->whole; record++)
		fragment(query, record);
	for (record = r->whole_end; record < r->end; record++)
		fragment(query, record);
	query->did[slot->at / 8] |= (uint8_t)(1u << slot->at % 8);
	query->ndid++;
	slot->state = QSLOT_IDLE;
	query->scanning = NULL;
	query->part = DDIO_QUERY_NO_PART;
	query->part_next = 0;
}

/* Takes a record that matches; false: there is no room for it. */
static bool take(struct iop_query *query, uint64_t record, const uint8_t *span)
{
	if (returns(query)) {
		if (!has_room(query, reserve(query) + DDIO_QUERY_DELTA_MAX + query->shape.out))
			return false;
		item_open(query);
		query->items_len +=
			ddio_query_delta_put(query->items + query->items_len, record - query->last);
		ddio_query_output(&query->shape, span, query->items + query->items_len);
		query->items_len += query->shape.out;
		query->count++;
		query->last = record + 1;
		head_put(query);
	}
	ddio_query_accs_add(&query->accs, &query->shape, span);
	return true;
}

static void part_full(struct iop_query *query)
{
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
	uint64_t lo = query_lo(query, query->scanning->at);
	uint32_t cost = 1 + s->q->nsteps + s->q->nreduce;

	for (; query->record < query->range.whole_end && left; query->record++) {
		const uint8_t *span =
			query->scanning->buf + (ddio_query_at(s, query->record) + s->lo - lo);

		left -= left < cost ? left : cost;
		if (ddio_query_matches(s, span) && !take(query, query->record, span)) {
			part_full(query);
			return left;
		}
	}
	if (query->record == query->range.whole_end)
		done_block(query);
	return left;
}

static void scan_begin(struct iop_query *query, struct query_slot *slot)
{
	struct ddio_query_range *r = &query->range;

	ddio_query_range(&query->shape, query->msg.first, query->msg.end, query_lo(query, slot->at),
			 block_hi(query, slot->at), r);
	query->scanning = slot;
	query->record = r->whole;
	if (slot->at == query->part && query->part_next > r->whole &&
	    query->part_next <= r->whole_end)
		query->record = query->part_next;
	query->last = query->record;
	query->head = 0;
	query->count = 0;
	ddio_env_charge(query_env(query), DDIO_WORK_COPY, query_block_size(query));
	if (!has_room(query, reserve(query)))
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
