// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What blocks give, as items of the answer.  An item: how far its block's number in the window is from that of the item before,
 * the sign in the lowest bit; how many records it has, doubled, or 1 if fragments follow; the records' numbers, each as the distance
 * from where the one before ended, as a column (unless they are not wanted); each field of all of them, as a column, or as it is if it
 * is no number.  The last item of a block may be the fragments of the
 * records that lie in it in part.  A block that gives nothing has no item.
 */
#include <stdlib.h>
#include <string.h>
#include "iop/query/priv.h"

#define ITEM_HEAD 10 /* two numbers of 32 bits, seven in a byte */
#define NUMBER_LEN 4 /* a block has fewer than 2^32 records */

/* Returns the bytes of an item with @n records at most; its block's fragments will have room, too. */
static size_t item_bound(const struct iop_query *query, uint32_t n)
{
	const struct ddio_query_shape *s = &query->shape;
	size_t each = NUMBER_LEN + (size_t)s->out;

	return 2 * ITEM_HEAD + 2 * (size_t)s->used +
	       (n ? n * each + (1 + s->q->noutput) * DDIO_QUERY_COLUMN_HEAD : 0);
}

static bool has_room(const struct query_sink *sink)
{
	return item_bound(sink->query, sink->npending + 1) <= sink->cap - sink->len;
}

bool query_items_room(const struct iop_query *query)
{
	uint32_t i;

	for (i = 0; i < query->nsinks; i++)
		if (!has_room(&query->sink[i]))
			return false;
	return true;
}

bool query_item_add(struct iop_query *query, uint64_t record, uint32_t sink)
{
	struct query_sink *to = &query->sink[sink];

	if (query->npending == DDIO_QUERY_ITEM_MAX || !has_room(to))
		query_items_put(query);
	if (!has_room(to))
		return false;
	query->pending[query->npending++] = (uint64_t)sink << 32 | (record - query->range.whole);
	to->npending++;
	return true;
}

static uint64_t pending_record(const struct iop_query *query, uint64_t pending)
{
	return query->range.whole + (uint32_t)pending;
}

/*
 * One item
 */
static void put_number(struct query_sink *sink, uint64_t v)
{
	sink->len += ddio_query_delta_put(sink->items + sink->len, v);
}

static void put_head(struct query_sink *sink, uint32_t n, bool fragments)
{
	uint32_t at = sink->query->scanning->at;
	int64_t distance = (int64_t)at - sink->item_at;

	put_number(sink, (uint64_t)distance << 1 ^ (distance < 0 ? UINT64_MAX : 0));
	put_number(sink, (uint64_t)n << 1 | fragments);
	sink->item_at = at;
}

static void put_column(struct query_sink *sink, const uint64_t *v, uint32_t len)
{
	sink->len += ddio_query_column_put(sink->items + sink->len, v, sink->npending, len);
}

static void put_numbers(struct query_sink *sink, const uint64_t *pending)
{
	const struct iop_query *query = sink->query;
	uint64_t v[DDIO_QUERY_ITEM_MAX], record;
	uint32_t i;

	if (sink->last_at != query->scanning->at)
		sink->last = query->begin;
	sink->last_at = query->scanning->at;
	for (i = 0; i < sink->npending; i++) {
		record = pending_record(query, pending[i]);
		v[i] = record - sink->last;
		sink->last = record + 1;
	}
	if (!(query->msg.flags & DDIO_QUERY_UNNUMBERED))
		put_column(sink, v, NUMBER_LEN);
}

static void put_field(struct query_sink *sink, const uint64_t *pending,
		      const struct ddio_query_field *f)
{
	const struct iop_query *query = sink->query;
	uint32_t skip = f->offset - query->shape.lo, len = ddio_query_field_len(f), i;
	uint64_t v[DDIO_QUERY_ITEM_MAX];

	for (i = 0; i < sink->npending; i++) {
		const uint8_t *at = query_span(query, pending_record(query, pending[i])) + skip;

		if (f->type != DDIO_QUERY_BYTES) {
			v[i] = ddio_query_field_bits(f, at);
			continue;
		}
		memcpy(sink->items + sink->len, at, len);
		sink->len += len;
	}
	if (f->type != DDIO_QUERY_BYTES)
		put_column(sink, v, len);
}

/* Puts the records of a sink, all its pending ones. */
static void put_records(struct query_sink *sink, const uint64_t *pending)
{
	const struct ddio_query *q = sink->query->shape.q;
	uint32_t i;

	put_head(sink, sink->npending, false);
	put_numbers(sink, pending);
	for (i = 0; i < q->noutput; i++)
		put_field(sink, pending, &q->field[q->output[i]]);
	sink->npending = 0;
}

/*
 * Those of all sinks
 */
static int by_sink(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void query_items_put(struct iop_query *query)
{
	struct query_sink *sink;
	uint32_t i, n;

	if (query->nsinks > 1)
		qsort(query->pending, query->npending, sizeof(query->pending[0]), by_sink);
	for (i = 0; i < query->npending; i += n) {
		sink = &query->sink[query->pending[i] >> 32];
		n = sink->npending;
		put_records(sink, query->pending + i);
	}
	query->npending = 0;
}

/* A record may have bytes on either side of the block, and none in it. */
static uint32_t fragment_len(const struct iop_query *query, uint64_t record)
{
	uint64_t lo = query_lo(query, query->scanning->at);

	return ddio_query_fragment_len(&query->shape, record, lo, lo + query_block_size(query));
}

static void put_fragment(struct query_sink *sink, uint64_t record)
{
	const struct iop_query *query = sink->query;
	uint64_t lo = query_lo(query, query->scanning->at);

	sink->len += ddio_query_fragment_take(&query->shape, record, lo,
					      lo + query_block_size(query), query->scanning->buf,
					      sink->items + sink->len);
}

static void put_fragments(struct query_sink *sink)
{
	const struct ddio_query_range *r = &sink->query->range;
	uint64_t record;

	put_head(sink, 0, true);
	for (record = r->first; record < r->whole; record++)
		put_fragment(sink, record);
	for (record = r->whole_end; record < r->end; record++)
		put_fragment(sink, record);
}

/* Whose the records are that lie in the block in part nobody knows here: everybody gets the fragments. */
void query_items_last(struct iop_query *query)
{
	const struct ddio_query_range *r = &query->range;
	uint32_t bytes = 0, i;
	uint64_t record;

	query_items_put(query);
	for (record = r->first; record < r->whole; record++)
		bytes += fragment_len(query, record);
	for (record = r->whole_end; record < r->end; record++)
		bytes += fragment_len(query, record);
	for (i = 0; i < query->nsinks && bytes; i++)
		put_fragments(&query->sink[i]);
}
