// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "map/clan.h"

/* Inserts a dimension by its stride, the greatest first. */
static void nest_insert(struct clan_nest *cn, uint64_t count, uint64_t stride, uint32_t step,
			uint64_t weight)
{
	uint32_t d = cn->all.ndims++;

	for (; d > 0 && cn->all.dim[d - 1].stride < stride; d--) {
		cn->all.dim[d] = cn->all.dim[d - 1];
		cn->step[d] = cn->step[d - 1];
		cn->weight[d] = cn->weight[d - 1];
	}
	cn->all.dim[d] = (struct nest_dim){ count, stride, 0 };
	cn->step[d] = step;
	cn->weight[d] = weight;
}

/* Computes the weights of all dimensions.  Returns false if there are too many bytes. */
static bool nest_weights(struct nest *nest)
{
	uint64_t weight = 1;
	uint32_t d;

	for (d = nest->ndims; d-- > 0;) {
		nest->dim[d].weight = weight;
		if (__builtin_mul_overflow(weight, nest->dim[d].count, &weight))
			return false;
	}
	return weight <= INT64_MAX;
}

/* Returns true if the nest is in file order and its last byte below 2^63. */
static bool nest_fits(const struct nest *nest)
{
	uint64_t end = nest->dim[nest->ndims - 1].count, span;
	uint32_t d;

	for (d = nest->ndims - 1; d-- > 0;) {
		const struct nest_dim *dim = &nest->dim[d];

		if (dim->stride < end ||
		    __builtin_mul_overflow(dim->count - 1, dim->stride, &span) ||
		    __builtin_add_overflow(end, span, &end))
			return false;
	}
	return !__builtin_add_overflow(end, nest->off, &end) && end <= INT64_MAX;
}

static int nest_make(struct clan_nest *cn, const struct clan *clan, const struct item *item)
{
	struct nest tmp;
	const struct nest *own;
	uint32_t d, step = 1;

	if (item->len == ITEM_TREE)
		return -ENOTSUP;
	own = item_nest(item, &tmp);
	if (own->ndims + clan->rows.nlevels > NEST_DIMS)
		return -ENOTSUP;
	cn->all.off = own->off;
	for (d = 0; d < own->ndims; d++)
		if (own->dim[d].count > 1 || d + 1 == own->ndims)
			nest_insert(cn, own->dim[d].count, own->dim[d].stride, 0,
				    own->dim[d].weight);
	for (d = 0; d < clan->rows.nlevels; d++) {
		nest_insert(cn, clan->rows.level[d].count, clan->rows.level[d].offset, step, 0);
		step *= clan->rows.level[d].count;
	}
	/* The bytes of a piece come last: a row that is closer would cut them. */
	if (cn->step[cn->all.ndims - 1] || !nest_fits(&cn->all) || !nest_weights(&cn->all))
		return -ENOTSUP;
	cn->merged = cn->all;
	nest_simplify(&cn->merged);
	return 0;
}

int clan_init(struct clan *clan)
{
	uint64_t i;
	int rc = 0;

	if (clan->n == 1 || !clan->share.items.n)
		return 0;
	if (clan->share.nagain)
		return -ENOTSUP;
	clan->nest = calloc(clan->share.items.n, sizeof(*clan->nest));
	if (!clan->nest)
		return -ENOMEM;
	for (i = 0; i < clan->share.items.n && !rc; i++)
		rc = nest_make(&clan->nest[i], clan, &clan->share.items.item[i]);
	return rc;
}

void clan_destroy(struct clan *clan)
{
	items_free(&clan->share.items);
	free(clan->share.again);
	free(clan->nest);
}

uint64_t clan_shift(const struct clan *clan, uint32_t proc)
{
	uint32_t i = proc - clan->first, l;
	uint64_t shift = 0;

	for (l = 0; l < clan->rows.nlevels; l++) {
		shift += i % clan->rows.level[l].count * clan->rows.level[l].offset;
		i /= clan->rows.level[l].count;
	}
	return shift;
}

/**
 * struct clan_walk - a walk over the runs of one item
 * @lo, @hi: the box at hand
 * @idx: where it begins for the process at hand
 */
struct clan_walk {
	const struct clan *clan;
	const struct item *item;
	const struct clan_nest *cn;
	const struct map_range *range;
	ddio_map_run_fn fn;
	void *arg;
	uint64_t lo[NEST_DIMS], hi[NEST_DIMS], idx[NEST_DIMS];
};

/* Makes the levels of the run of the process at hand: those of the item's own dimensions. */
static void run_levels(const struct clan_walk *w, struct ddio_map_run *run)
{
	const struct nest *all = &w->cn->all;
	uint32_t d = all->ndims - 1, i;
	struct stack st;

	st.n = 0;
	st.len = w->hi[d] - w->lo[d];
	while (d-- > 0)
		if (!w->cn->step[d])
			stack_push(&st, w->hi[d] - w->lo[d], all->dim[d].stride, w->cn->weight[d]);
	run->len = st.len;
	run->nlevels = st.n;
	for (i = 0; i < st.n; i++) {
		const struct stack_level *level = &st.level[st.n - 1 - i];

		run->level[i].count = level->count;
		run->level[i].file_stride = level->a;
		run->level[i].share_stride = level->b;
	}
}

/* Tells the run of the process whose indices are those of @idx. */
static int run_one(const struct clan_walk *w)
{
	const struct clan_nest *cn = w->cn;
	struct ddio_map_run run = { .proc = w->clan->first };
	uint64_t shift = 0, pos = 0, below;
	uint32_t d;

	for (d = 0; d < cn->all.ndims; d++) {
		run.proc += (uint32_t)w->idx[d] * cn->step[d];
		if (cn->step[d])
			shift += w->idx[d] * cn->all.dim[d].stride;
		else
			pos += w->idx[d] * cn->weight[d];
	}
	below = share_below(&w->clan->share,
			    w->range->origin > shift ? w->range->origin - shift : 0);
	run.file_off = nest_addr(&cn->all, w->idx);
	run.share_off = w->item->share + pos;
	run.msg_off = w->item->before - below + pos;
	run_levels(w, &run);
	return w->fn(w->arg, &run);
}

/* Goes to the next process that has bytes of the box.  Returns false after the last. */
static bool box_step(struct clan_walk *w)
{
	uint32_t d;

	for (d = w->cn->all.ndims; d-- > 0;) {
		if (!w->cn->step[d])
			continue;
		if (++w->idx[d] < w->hi[d])
			return true;
		w->idx[d] = w->lo[d];
	}
	return false;
}

static int item_walk(struct clan_walk *w)
{
	const struct nest *all = &w->cn->all;
	uint64_t from[NEST_DIMS], to[NEST_DIMS];
	struct boxes boxes;
	int rc = 0;

	if (w->range->hi <= all->off || w->range->lo >= nest_end(all))
		return 0;
	nest_locate(all, w->range->lo, from);
	nest_locate(all, w->range->hi, to);
	boxes_init(&boxes, all, from, to);
	while (!rc && boxes_next(&boxes, w->lo, w->hi)) {
		memcpy(w->idx, w->lo, sizeof(w->idx));
		do
			rc = run_one(w);
		while (!rc && box_step(w));
	}
	return rc;
}

int clan_runs(const struct clan *clan, const struct map_range *range, ddio_map_run_fn fn, void *arg)
{
	struct clan_walk w = { .clan = clan, .range = range, .fn = fn, .arg = arg };
	uint64_t i;
	int rc = 0;

	for (i = 0; i < clan->share.items.n && !rc; i++) {
		w.item = &clan->share.items.item[i];
		w.cn = &clan->nest[i];
		rc = item_walk(&w);
	}
	return rc;
}
