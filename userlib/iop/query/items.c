// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What blocks give, as items of the answer.  An item: how far its block's number in the window is from that of the item before,
 * the sign in the lowest bit; how many records it has, doubled, and 1 more if fragments follow; the records' numbers, each as the distance
 * from where the one before ended, as a column (unless they are not wanted); each field of all of them, as a column, or as it is if it
 * is no number; and, in the last item of a block, the fragments of the records that lie in it in part.  A block that gives
 * nothing has no item.
 */
#include <string.h>
#include "iop/query/priv.h"

#define ITEM_HEAD 10 /* two numbers of 32 bits, seven in a byte */
#define NUMBER_LEN 4 /* a block has fewer than 2^32 records */

/* Returns the bytes of an item with @n records at most; its block's fragments will have room, too. */
static size_t item_bound(const struct iop_query *query, uint32_t n)
{
	const struct ddio_query_shape *s = &query->shape;
	size_t each = NUMBER_LEN + (size_t)s->out;

	return ITEM_HEAD + 2 * (size_t)s->used +
	       (n ? n * each + (1 + s->q->noutput) * DDIO_QUERY_COLUMN_HEAD : 0);
}

static bool has_room(const struct iop_query *query, uint32_t n)
{
	return item_bound(query, n) <= query->items_cap - query->items_len;
}

bool query_item_room(struct iop_query *query)
{
	if (query->npending == DDIO_QUERY_ITEM_MAX || !has_room(query, query->npending + 1))
		query_item_put(query, false);
	return has_room(query, query->npending + 1);
}

static void put_number(struct iop_query *query, uint64_t v)
{
	query->items_len += ddio_query_delta_put(query->items + query->items_len, v);
}

static void put_column(struct iop_query *query, const uint64_t *v, uint32_t len)
{
	query->items_len +=
		ddio_query_column_put(query->items + query->items_len, v, query->npending, len);
}

static const uint8_t *pending_span(const struct iop_query *query, uint32_t i)
{
	return query_span(query, query->range.whole + query->pending[i]);
}

static void put_numbers(struct iop_query *query)
{
	uint64_t v[DDIO_QUERY_ITEM_MAX], record;
	uint32_t i;

	for (i = 0; i < query->npending; i++) {
		record = query->range.whole + query->pending[i];
		v[i] = record - query->last;
		query->last = record + 1;
	}
	if (!(query->msg.flags & DDIO_QUERY_UNNUMBERED))
		put_column(query, v, NUMBER_LEN);
}

static void put_field(struct iop_query *query, const struct ddio_query_field *f)
{
	uint32_t skip = f->offset - query->shape.lo, len = ddio_query_field_len(f), i;
	uint64_t v[DDIO_QUERY_ITEM_MAX];

	for (i = 0; i < query->npending; i++) {
		const uint8_t *at = pending_span(query, i) + skip;

		if (f->type != DDIO_QUERY_BYTES) {
			v[i] = ddio_query_field_bits(f, at);
			continue;
		}
		memcpy(query->items + query->items_len, at, len);
		query->items_len += len;
	}
	if (f->type != DDIO_QUERY_BYTES)
		put_column(query, v, len);
}

static void put_records(struct iop_query *query)
{
	const struct ddio_query *q = query->shape.q;
	uint32_t i;

	put_numbers(query);
	for (i = 0; i < q->noutput; i++)
		put_field(query, &q->field[q->output[i]]);
	query->npending = 0;
}

void query_item_put(struct iop_query *query, bool fragments)
{
	uint32_t at = query->scanning->at;
	int64_t distance = (int64_t)at - query->item_at;

	if (!query->npending && !fragments)
		return;
	put_number(query, (uint64_t)distance << 1 ^ (uint64_t)(distance >> 63));
	put_number(query, (uint64_t)query->npending << 1 | fragments);
	query->item_at = at;
	if (query->npending)
		put_records(query);
}

/* A record may have bytes on either side of the block, and none in it. */
static uint32_t fragment_len(const struct iop_query *query, uint64_t record)
{
	uint64_t lo = query_lo(query, query->scanning->at);

	return ddio_query_fragment_len(&query->shape, record, lo, lo + query_block_size(query));
}

static void put_fragment(struct iop_query *query, uint64_t record)
{
	uint64_t lo = query_lo(query, query->scanning->at);

	query->items_len +=
		ddio_query_fragment_take(&query->shape, record, lo, lo + query_block_size(query),
					 query->scanning->buf, query->items + query->items_len);
}

void query_item_last(struct iop_query *query)
{
	const struct ddio_query_range *r = &query->range;
	uint32_t bytes = 0;
	uint64_t record;

	for (record = r->first; record < r->whole; record++)
		bytes += fragment_len(query, record);
	for (record = r->whole_end; record < r->end; record++)
		bytes += fragment_len(query, record);
	query_item_put(query, bytes);
	for (record = r->first; record < r->whole && bytes; record++)
		put_fragment(query, record);
	for (record = r->whole_end; record < r->end && bytes; record++)
		put_fragment(query, record);
}
