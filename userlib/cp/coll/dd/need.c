// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which disks of the file have something of this process's share, by their place in the stripe, or are to be asked by it.
 *
 * What is at a constant distance comes back to the same bytes of the same disks after a while, so a level of a
 * run is followed only until then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/priv.h"

/**
 * struct need_walk - the walk over a share
 * @bits: a bit for each place in the stripe
 * @left: places without
 * @block, @n: bytes of a block, places
 */
struct need_walk {
	uint8_t *bits;
	uint64_t left, block, n;
};

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Marks the places of a piece's blocks.  Returns 1 if there is nothing left to mark. */
static int mark_piece(struct need_walk *w, uint64_t off, uint64_t len)
{
	uint64_t block = off / w->block, count = (off + len - 1) / w->block - block + 1;

	for (; count && w->left; count--, block++) {
		uint64_t place = block % w->n;
		uint8_t bit = (uint8_t)(1u << place % 8);

		w->left -= !(w->bits[place / 8] & bit);
		w->bits[place / 8] |= bit;
	}
	return !w->left;
}

static int mark_level(struct need_walk *w, const struct ddio_map_run *run, uint32_t level,
		      uint64_t off)
{
	uint64_t stripe = w->block * w->n, count, i;
	int full = 0;

	if (level == run->nlevels)
		return mark_piece(w, off, run->len);
	count = stripe / gcd(stripe, run->level[level].file_stride);
	if (count > run->level[level].count)
		count = run->level[level].count;
	for (i = 0; i < count && !full; i++)
		full = mark_level(w, run, level + 1, off + i * run->level[level].file_stride);
	return full;
}

static int mark_run(void *arg, const struct ddio_map_run *run)
{
	return mark_level(arg, run, 0, run->file_off);
}

int dd_need(struct dd *dd)
{
	const struct ddio_op *op = dd->op;
	struct need_walk w = { .block = op->file->rec.ref.block, .n = op->file->rec.ndisks };
	uint32_t i;

	free(dd->need);
	dd->need = malloc(w.n / 8 + 1);
	if (!dd->need)
		return -ENOMEM;
	memcpy(dd->need, dd->ask, w.n / 8 + 1);
	w.bits = dd->need;
	for (i = 0; i < w.n; i++)
		w.left += !dd_place(dd->need, i);
	if (!w.left)
		return 0;
	ddio_map_runs_of(op->map, op->rank, 0, DDIO_MAX_FILE, op->writing, mark_run, &w);
	return 0;
}

int dd_need_less(struct dd *dd)
{
	const struct ddio_op *op = dd->op;

	return op_yields(op) || (!op->writing && op->flags & DDIO_XFER_SHORT) ? dd_need(dd) : 0;
}
