// SPDX-License-Identifier: LGPL-2.1-or-later
/* The pieces of a share, as a member tells them to I/O processors. */
#include <errno.h>
#include <stdlib.h>
#include "cp/coll/spread.h"

struct spread_list {
	struct ddio_extent *e;
	uint64_t n, room;
};

/* Returns -ENOMEM if there is no memory. */
static int piece_add(struct spread_list *p, uint64_t off, uint64_t len)
{
	struct ddio_extent *last = p->n ? &p->e[p->n - 1] : NULL;

	if (last && last->offset + last->len == off) {
		last->len += len;
		return 0;
	}
	if (p->n == p->room) {
		uint64_t room = p->room ? 2 * p->room : 64;
		struct ddio_extent *e = reallocarray(p->e, room, sizeof(*e));

		if (!e)
			return -ENOMEM;
		p->e = e;
		p->room = room;
	}
	p->e[p->n++] = (struct ddio_extent){ off, len };
	return 0;
}

static int level_add(struct spread_list *p, const struct ddio_map_run *run, uint32_t level,
		     uint64_t off)
{
	uint64_t i;
	int err = 0;

	if (level == run->nlevels)
		return piece_add(p, off, run->len);
	for (i = 0; i < run->level[level].count && !err; i++)
		err = level_add(p, run, level + 1, off + i * run->level[level].file_stride);
	return err;
}

static int run_add(void *arg, const struct ddio_map_run *run)
{
	return level_add(arg, run, 0, run->file_off);
}

struct ddio_extent *spread_pieces(const struct ddio_op *op, uint64_t *n)
{
	struct spread_list p = { 0 };
	/* There may be none: there is memory all the same. */
	int err = piece_add(&p, 0, 0);

	p.n = 0;
	if (!err)
		err = ddio_map_runs_of(op->map, op->rank, 0, DDIO_MAX_FILE, op->writing, run_add,
				       &p);
	if (err) {
		free(p.e);
		return NULL;
	}
	*n = p.n;
	return p.e;
}

/*
 * Who can
 */
/* However short the description, so many pieces are not too many. */
#define PIECES_FEW 64u

static int run_count(void *arg, const struct ddio_map_run *run)
{
	uint64_t *left = arg, n = 1;
	uint32_t l;

	for (l = 0; l < run->nlevels && n <= *left; l++)
		n = run->level[l].count > *left ? *left + 1 : n * run->level[l].count;
	if (n > *left)
		return 1;
	*left -= n;
	return 0;
}

bool spread_can(const struct ddio_op *op, size_t len)
{
	uint64_t left = len > PIECES_FEW ? len : PIECES_FEW, lo, hi;

	if (op->nprocs == 1 || op->part_kind == DDIO_PART_ARRAY || !op_is_dd(op) ||
	    op->flags & DDIO_XFER_OVERLAP)
		return false;
	ddio_map_bounds(op->map, &lo, &hi);
	return hi <= DDIO_MAX_FILE && !ddio_map_runs_of(op->map, op->rank, 0, DDIO_MAX_FILE,
							op->writing, run_count, &left);
}
