// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What an I/O processor answers.  It is taken if it can be right: blocks that were asked about, each
 * once, with the records that they have; and as many of these as were counted.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include "cp/query/query.h"

#define ITEM_HEAD 8

/**
 * struct answer_items - where the reader is in an answer's items
 * @n: records so far
 */
struct answer_items {
	struct query_disk *d;
	const struct ddio_msg_answer *a;
	const uint8_t *p;
	size_t left;
	uint64_t n;
};

static bool bit(const void *bits, uint32_t i)
{
	return ((const uint8_t *)bits)[i / 8] >> i % 8 & 1;
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static void skip(struct answer_items *items, size_t n)
{
	items->p += n;
	items->left -= n;
}

static int record_take(struct answer_items *items, uint64_t record)
{
	struct query_job *job = items->d->job;
	uint32_t out = job->shape->out;
	uint8_t *to;
	int ret;

	if (items->left < out)
		return -EPROTO;
	to = query_found_add(&job->found, record, &ret);
	if (to)
		memcpy(to, items->p, out);
	skip(items, out);
	items->n++;
	return ret;
}

/* Takes @n records of a block, of which those below @next cannot be there. */
static int records_take(struct answer_items *items, uint32_t n, uint64_t next, uint64_t end)
{
	uint64_t delta;
	uint32_t used;
	int ret = 0;

	while (n-- && !ret) {
		used = ddio_query_delta_get(items->p, items->left, &delta);
		if (!used || next >= end || delta >= end - next)
			return -EPROTO;
		skip(items, used);
		ret = record_take(items, next + delta);
		next += delta + 1;
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

static int fragments_take(struct answer_items *items, const struct ddio_query_range *r, uint64_t lo,
			  uint64_t hi)
{
	uint64_t record;
	int ret = 0;

	for (record = r->first; record < r->whole && !ret; record++)
		ret = fragment_take(items, record, lo, hi);
	for (record = r->whole_end; record < r->end && !ret; record++)
		ret = fragment_take(items, record, lo, hi);
	return ret;
}

static int item_take(struct answer_items *items, uint8_t *seen)
{
	struct query_disk *d = items->d;
	struct query_job *job = d->job;
	uint32_t block = get32(items->p), n = get32(items->p + 4);
	struct ddio_query_range r;
	uint64_t lo, hi, next;
	int ret;

	skip(items, ITEM_HEAD);
	if (block >= items->a->nblocks || bit(seen, block) ||
	    !(bit(items->a->did, block) || block == items->a->part))
		return -EPROTO;
	seen[block / 8] |= (uint8_t)(1u << block % 8);
	lo = query_window_lo(d, block);
	hi = lo + job->file->rec.ref.block;
	ddio_query_range(job->shape, job->first, job->end, lo, hi, &r);
	next = block == d->part && d->part_next > r.whole ? d->part_next : r.whole;
	ret = records_take(items, n, next, r.whole_end);
	return ret || !bit(items->a->did, block) ? ret : fragments_take(items, &r, lo, hi);
}

/* Adds what was made of the records, and reads the items, which have as many as were counted. */
static int items_take(struct query_disk *d, const struct ddio_msg_answer *a)
{
	struct answer_items items = { .d = d, .a = a, .p = a->items, .left = a->items_len };
	uint8_t seen[DDIO_QUERY_BLOCKS_MAX / 8] = { 0 };
	uint64_t before = d->job->accs.matched;
	int ret = ddio_query_accs_merge(&d->job->accs, a->made, a->made_len);
	uint64_t counted = d->job->accs.matched - before;

	while (!ret && items.left)
		ret = items.left < ITEM_HEAD ? -EPROTO : item_take(&items, seen);
	if (!ret && items.n != (d->counts ? 0 : counted))
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
