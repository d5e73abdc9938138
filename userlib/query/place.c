// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which records lie in a range of the file, wholly or in part. */
#include <string.h>
#include "query/query.h"

uint64_t ddio_query_records(const struct ddio_query *q, uint64_t size)
{
	return size > q->origin ? (size - q->origin) / q->record : 0;
}

/* Returns the first record whose byte @offset lies at @at or behind. */
static uint64_t first_at(const struct ddio_query_shape *shape, uint64_t at, uint32_t offset)
{
	uint64_t from = shape->q->origin + offset;

	return at > from ? (at - from - 1) / shape->q->record + 1 : 0;
}

static uint64_t within(uint64_t v, uint64_t lo, uint64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

void ddio_query_range(const struct ddio_query_shape *shape, uint64_t first, uint64_t end,
		      uint64_t lo, uint64_t hi, struct ddio_query_range *range)
{
	*range = (struct ddio_query_range){ first, first, first, first };
	if (!shape->used)
		return;
	/* The last byte of the span lies at lo or behind; the first before hi. */
	range->first = within(first_at(shape, lo, shape->hi - 1), first, end);
	range->end = within(first_at(shape, hi, shape->lo), range->first, end);
	/* The first byte lies at lo or behind; the last before hi. */
	range->whole = within(first_at(shape, lo, shape->lo), range->first, range->end);
	range->whole_end = within(first_at(shape, hi, shape->hi - 1), range->whole, range->end);
}

/* Intersects a run of a record that begins at @at with [lo, hi): its length, and where it begins in the run. */
static uint32_t run_cut(const struct query_run *run, uint64_t at, uint64_t lo, uint64_t hi,
			uint32_t *skip)
{
	uint64_t from = at + run->offset, to = from + run->len;

	*skip = lo > from ? (uint32_t)(lo - from < run->len ? lo - from : run->len) : 0;
	if (to > hi)
		to = hi;
	from += *skip;
	return to > from ? (uint32_t)(to - from) : 0;
}

uint32_t ddio_query_fragment_len(const struct ddio_query_shape *shape, uint64_t record, uint64_t lo,
				 uint64_t hi)
{
	uint32_t i, skip, len = 0;

	for (i = 0; i < shape->nruns; i++)
		len += run_cut(&shape->run[i], ddio_query_at(shape, record), lo, hi, &skip);
	return len;
}

uint32_t ddio_query_fragment_take(const struct ddio_query_shape *shape, uint64_t record,
				  uint64_t lo, uint64_t hi, const uint8_t *block, uint8_t *to)
{
	uint64_t at = ddio_query_at(shape, record);
	uint32_t i, skip, n, len = 0;

	for (i = 0; i < shape->nruns; i++) {
		n = run_cut(&shape->run[i], at, lo, hi, &skip);
		if (n)
			memcpy(to + len, block + (at + shape->run[i].offset + skip - lo), n);
		len += n;
	}
	return len;
}

void ddio_query_fragment_put(const struct ddio_query_shape *shape, uint64_t record, uint64_t lo,
			     uint64_t hi, const uint8_t *from, uint8_t *used)
{
	uint64_t at = ddio_query_at(shape, record);
	uint32_t i, skip, n;

	for (i = 0; i < shape->nruns; i++) {
		n = run_cut(&shape->run[i], at, lo, hi, &skip);
		memcpy(used + shape->run[i].at + skip, from, n);
		from += n;
	}
}
