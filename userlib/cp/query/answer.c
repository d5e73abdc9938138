// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What an I/O processor answers.  It is taken if it can be right: blocks that were asked about, each
 * once, with the records that they have; and as many of these as were counted.
 */
#include <errno.h>
#include <string.h>
#include "cp/query/query.h"

#define NUMBER_LEN 4

/**
 * struct answer_items - where the reader is in an answer's items
 * @n: records so far
 * @block: that of the last item; @r: its records; @next: its first that may come
 * @over: its fragments have come, and nothing follows
 * @seen: a bit for each block that has come
 */
struct answer_items {
	struct query_disk *d;
	const struct ddio_msg_answer *a;
	const uint8_t *p;
	size_t left;
	uint64_t n;
	uint32_t block;
	struct ddio_query_range r;
	uint64_t next;
	bool over;
	uint8_t seen[DDIO_QUERY_BLOCKS_MAX / 8];
};

static bool bit(const void *bits, uint32_t i)
{
	return ((const uint8_t *)bits)[i / 8] >> i % 8 & 1;
}

static void skip(struct answer_items *items, size_t n)
{
	items->p += n;
	items->left -= n;
}

/* Reads a number of at most 32 bits; returns false if there is none. */
static bool get_number(struct answer_items *items, uint64_t *v)
{
	uint32_t used = ddio_query_delta_get(items->p, items->left, v);

	skip(items, used);
	return used && *v <= UINT32_MAX;
}

static bool get_column(struct answer_items *items, uint64_t *v, uint32_t n, uint32_t len)
{
	size_t used = ddio_query_column_get(items->p, items->left, v, n, len);

	skip(items, used);
	return used;
}

/* Finds room for @n records of the block; in @row where the fields of each go, or NULL. */
static int rows_make(struct answer_items *items, uint32_t n, uint8_t **row)
{
	struct query_job *job = items->d->job;
	uint64_t distance[DDIO_QUERY_ITEM_MAX] = { 0 };
	uint32_t i;
	int ret = 0;

	if (job->found.numbered && !get_column(items, distance, n, NUMBER_LEN))
		return -EPROTO;
	for (i = 0; i < n && !ret; i++) {
		if (items->next >= items->r.whole_end ||
		    distance[i] >= items->r.whole_end - items->next)
			return -EPROTO;
		items->next += distance[i];
		row[i] = query_found_add(&job->found, items->next++, &ret);
	}
	items->n += n;
	return ret;
}

/* Reads a field of all of them, to byte @at of each row. */
static bool field_take(struct answer_items *items, const struct ddio_query_field *f, uint32_t n,
		       uint8_t *const *row, uint32_t at)
{
	uint32_t len = ddio_query_field_len(f), i;
	bool number = f->type != DDIO_QUERY_BYTES;
	uint64_t v[DDIO_QUERY_ITEM_MAX];

	if (number ? !get_column(items, v, n, len) : items->left < (size_t)n * len)
		return false;
	for (i = 0; i < n; i++) {
		if (row[i] && number)
			ddio_query_field_unbits(f, v[i], row[i] + at);
		else if (row[i])
			memcpy(row[i] + at, items->p + (size_t)i * len, len);
	}
	skip(items, number ? 0 : (size_t)n * len);
	return true;
}

/* Takes @n records of the block. */
static int records_take(struct answer_items *items, uint32_t n)
{
	const struct ddio_query *q = items->d->job->shape->q;
	uint8_t *row[DDIO_QUERY_ITEM_MAX];
	uint32_t i, at = 0;
	int ret = rows_make(items, n, row);

	for (i = 0; i < q->noutput && !ret; i++) {
		const struct ddio_query_field *f = &q->field[q->output[i]];

		if (!field_take(items, f, n, row, at))
			return -EPROTO;
		at += ddio_query_field_len(f);
	}
	return ret;
}

static int fragment_take(struct answer_items *items, uint64_t record, uint64_t lo, uint64_t hi)
{
	struct query_job *job = items->d->job;
	uint32_t len = ddio_query_fragment_len(job->shape, record, lo, hi);
	int ret;

	if (!len)
		return 0;
	if (items->left < len)
		return -EPROTO;
	ret = query_piece(job, record, lo, hi, items->p, len);
	skip(items, len);
	return ret;
}

static int fragments_take(struct answer_items *items, uint64_t lo, uint64_t hi)
{
	const struct ddio_query_range *r = &items->r;
	uint64_t record;
	int ret = 0;

	for (record = r->first; record < r->whole && !ret; record++)
		ret = fragment_take(items, record, lo, hi);
	for (record = r->whole_end; record < r->end && !ret; record++)
		ret = fragment_take(items, record, lo, hi);
	return ret;
}

/* Goes to another block; returns false if it cannot be that one. */
static bool block_begin(struct answer_items *items, uint64_t block)
{
	struct query_disk *d = items->d;
	uint64_t lo;

	if (block >= items->a->nblocks || bit(items->seen, (uint32_t)block) ||
	    !(bit(items->a->did, (uint32_t)block) || block == items->a->part))
		return false;
	items->seen[block / 8] |= (uint8_t)(1u << block % 8);
	items->block = (uint32_t)block;
	items->over = false;
	lo = query_window_lo(d, items->block);
	ddio_query_range(d->job->shape, d->job->first, d->job->end, lo,
			 lo + d->job->file->rec.ref.block, &items->r);
	items->next = block == d->part && d->part_next > items->r.whole ? d->part_next
									: items->r.whole;
	return true;
}

static int item_take(struct answer_items *items)
{
	uint64_t distance, n, lo;
	bool first = items->left == items->a->items_len;
	int ret;

	if (!get_number(items, &distance) || !get_number(items, &n))
		return -EPROTO;
	/* The first item may be of block 0, which is not another one. */
	if ((first || distance) &&
	    !block_begin(items, items->block + ((distance >> 1) ^ -(distance & 1))))
		return -EPROTO;
	if (items->over || !n || n >> 1 > DDIO_QUERY_ITEM_MAX)
		return -EPROTO;
	ret = n >> 1 ? records_take(items, (uint32_t)(n >> 1)) : 0;
	if (ret || !(n & 1))
		return ret;
	if (!bit(items->a->did, items->block))
		return -EPROTO;
	items->over = true;
	lo = query_window_lo(items->d, items->block);
	return fragments_take(items, lo, lo + items->d->job->file->rec.ref.block);
}

/* Adds what was made of the records, which only the first member of a group is told, and says how many were counted. */
static int made_take(struct query_job *job, const struct ddio_msg_answer *a, uint64_t *counted)
{
	uint64_t before = job->accs.matched;
	int ret;

	if (job->dealing.deal && job->dealing.group->rank)
		return a->made_len ? -EPROTO : 0;
	ret = ddio_query_accs_merge(&job->accs, a->made, a->made_len);
	*counted = job->accs.matched - before;
	return ret;
}

/* Reads the items, which have as many records as were counted; of a group all have as many together. */
static int items_take(struct query_disk *d, const struct ddio_msg_answer *a)
{
	struct answer_items items = { .d = d, .a = a, .p = a->items, .left = a->items_len };
	uint64_t counted = 0;
	int ret = made_take(d->job, a, &counted);

	while (!ret && items.left)
		ret = item_take(&items);
	if (!ret && !d->job->dealing.deal && items.n != (d->counts ? 0 : counted))
		ret = -EPROTO;
	return ret;
}

/* Returns true if the answer is about what was asked, and goes on. */
static bool answer_ok(const struct query_disk *d, const struct ddio_msg_answer *a)
{
	uint32_t i, did = 0;

	if (a->nblocks != d->job->per)
		return false;
	for (i = 0; i < a->nblocks; i++) {
		if (bit(a->did, i) && !bit(d->want, i))
			return false;
		did += bit(a->did, i);
	}
	if (a->part == DDIO_QUERY_NO_PART)
		return did;
	if (!bit(d->want, a->part) || bit(a->did, a->part))
		return false;
	return did || a->part != d->part || a->part_next > d->part_next;
}

int query_answer(struct query_disk *d, const void *payload, size_t len)
{
	struct ddio_msg_answer a;
	uint32_t i;
	int ret = ddio_get_answer(payload, len, &a);

	if (ret || !answer_ok(d, &a))
		return -EPROTO;
	ret = items_take(d, &a);
	if (ret)
		return ret;
	d->job->disk_reqs += a.disk_reqs;
	for (i = 0; i < a.nblocks; i++)
		if (bit(a.did, i)) {
			d->want[i / 8] &= (uint8_t) ~(1u << i % 8);
			d->left--;
		}
	d->part = a.part;
	d->part_next = a.part_next;
	return 0;
}
