// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The chunks of a share.  They are expanded from the runs of the map a stretch of a block at a time, so
 * that memory is bounded whatever the block size.  A chunk that ends with its stretch is kept until the
 * next one is there: it may go on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/tc/priv.h"

enum { STRETCH = 64 << 10 };

static int chunk_push(struct tc_cursor *d, uint64_t at, uint64_t len, uint64_t share)
{
	struct tc_chunk *last = d->n > d->next ? &d->chunk[d->n - 1] : NULL;
	struct tc_chunk *chunk;
	size_t cap;

	if (last && last->at + last->len == at) {
		last->broken |= last->share + last->len != share;
		last->len += len;
		return 0;
	}
	if (d->n == d->cap) {
		cap = d->cap ? 2 * d->cap : 64;
		chunk = realloc(d->chunk, cap * sizeof(*chunk));
		if (!chunk)
			return -ENOMEM;
		d->chunk = chunk;
		d->cap = cap;
		last = d->n > d->next ? &d->chunk[d->n - 1] : NULL;
	}
	if (last && last->at > at)
		d->sorted = false;
	d->chunk[d->n++] = (struct tc_chunk){ .at = at, .len = len, .share = share };
	return 0;
}

static int run_expand(struct tc_cursor *d, const struct ddio_map_run *run, uint32_t level,
		      uint64_t at, uint64_t share)
{
	uint64_t i;
	int err = 0;

	if (level == run->nlevels)
		return chunk_push(d, at, run->len, share);
	for (i = 0; i < run->level[level].count && !err; i++) {
		err = run_expand(d, run, level + 1, at, share);
		at += run->level[level].file_stride;
		share += run->level[level].share_stride;
	}
	return err;
}

static int run_take(void *arg, const struct ddio_map_run *run)
{
	return run_expand(arg, run, 0, run->file_off, run->share_off);
}

static int chunk_cmp(const void *a, const void *b)
{
	const struct tc_chunk *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Sorts chunks, since runs come in any order, and merges neighbours. */
static int chunks_sort(struct tc_cursor *d)
{
	struct tc_chunk *list = d->chunk + d->next;
	size_t n = d->n - d->next, i;
	int err = 0;

	qsort(list, n, sizeof(*list), chunk_cmp);
	d->n = d->next + 1;
	for (i = 1; i < n && !err; i++) {
		struct tc_chunk c = list[i];

		err = chunk_push(d, c.at, c.len, c.share);
		if (c.broken)
			d->chunk[d->n - 1].broken = true;
	}
	return err;
}

static int stretch_expand(struct tc *tc, struct tc_cursor *d, uint64_t end)
{
	struct ddio_op *op = tc->op;
	uint64_t hi = d->lo + STRETCH < end ? d->lo + STRETCH : end;
	size_t before;
	int err;

	if (d->n > d->next)
		memmove(d->chunk, d->chunk + d->next, (d->n - d->next) * sizeof(*d->chunk));
	d->n -= d->next;
	d->next = 0;
	d->sorted = true;
	before = d->n;
	err = ddio_map_runs_of(op->map, op->rank, d->lo, hi, op->writing, run_take, d);
	if (!err && !d->sorted)
		err = chunks_sort(d);
	d->lo = hi;
	ddio_env_charge(op->session->env, DDIO_WORK_PIECES,
			(d->n - before) * ddio_map_ndims(op->map));
	return err;
}

/* Goes to the disk's next block of which anything is wanted; false if there is none. */
static bool block_seek(struct tc *tc, struct tc_cursor *d)
{
	const struct ddio_op *op = tc->op;
	uint64_t bs = op->file->rec.ref.block, start, end, skip;

	for (;;) {
		if (!ddio_map_next(op->map, d->block * bs, &start, &end))
			return false;
		if (start / bs > d->block) {
			skip = (start / bs - d->block + d->step - 1) / d->step;
			d->block += skip * d->step;
			continue;
		}
		if (ddio_map_msg_size(op->map, op->rank, d->block * bs, (d->block + 1) * bs))
			return true;
		d->block += d->step;
	}
}

/* Is the next chunk complete, wherever the cursor is? */
static bool chunk_whole(const struct tc_cursor *d, uint64_t end)
{
	const struct tc_chunk *c;

	if (d->n - d->next != 1)
		return d->n > d->next;
	c = &d->chunk[d->next];
	return (d->cut && d->lo == end) || c->at + c->len < d->lo;
}

int tc_chunk_ready(struct tc *tc, struct tc_cursor *d)
{
	uint64_t bs = tc->op->file->rec.ref.block, end;
	int err;

	for (;;) {
		end = (d->block + 1) * bs;
		if (chunk_whole(d, end))
			return 1;
		if (d->lo == end) {
			d->block += d->step;
			d->lo = 0;
		}
		if (d->lo < d->block * bs) {
			if (!block_seek(tc, d))
				return d->n > d->next;
			d->lo = d->block * bs;
		}
		err = stretch_expand(tc, d, (d->block + 1) * bs);
		if (err)
			return err;
	}
}

/*
 * Requests
 */
int tc_chunk_memory(struct tc *tc, struct objreq *req, const struct tc_chunk *c)
{
	struct ddio_op *op = tc->op;
	uint64_t at = c->share, len = c->len;

	req->niov = 1;
	req->iov_one.iov_len = c->len;
	if ((op->packed && !c->broken) ||
	    ddio_memmap_contiguous(op->memmap, c->at, c->at + c->len, op->writing, &at, &len)) {
		req->iov_one.iov_base = op->buf + at;
		return len == c->len ? 0 : -EPROTO;
	}
	req->bounce = malloc(c->len);
	if (!req->bounce)
		return -ENOMEM;
	req->iov_one.iov_base = req->bounce;
	req->key = c->at;
	if (op->writing)
		ddio_memmap_pack(op->memmap, c->at, c->at + c->len, true, req->bounce, op->buf);
	return 0;
}
