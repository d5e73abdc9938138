// SPDX-License-Identifier: LGPL-2.1-or-later
/* Walks the runs of irregular parts in a range of the file. */
#include "map/clan.h"

/* Returns the first item that ends after @x. */
static uint64_t share_find(const struct map_share *share, uint64_t x)
{
	const struct item *item = share->items.item;
	uint64_t lo = 0;
	uint64_t hi = share->items.n;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (item[mid].hi > x)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

uint64_t share_below(const struct map_share *share, uint64_t x)
{
	uint64_t i = share_find(share, x);

	if (i == share->items.n)
		return share->bytes;
	return share->items.item[i].before + item_below(&share->items.item[i], x);
}

static void run_from_stack(struct ddio_map_run *run, const struct stack *st)
{
	uint32_t i;

	run->len = st->len;
	run->nlevels = st->n;
	for (i = 0; i < st->n; i++) {
		const struct stack_level *level = &st->level[st->n - 1 - i];

		run->level[i].count = level->count;
		run->level[i].file_stride = level->a;
		run->level[i].share_stride = level->b;
	}
}

/* @run->msg_off: of the item's first byte, modulo 2^64 where that lies before the message */
static int nest_runs(const struct nest *nest, const struct map_range *range,
		     const struct ddio_map_run *first, ddio_map_run_fn fn, void *arg)
{
	uint64_t from[NEST_DIMS], to[NEST_DIMS];
	uint64_t lo[NEST_DIMS], hi[NEST_DIMS];
	struct boxes boxes;
	struct stack st;
	struct ddio_map_run run;
	int rc = 0;

	nest_locate(nest, range->lo, from);
	nest_locate(nest, range->hi, to);
	boxes_init(&boxes, nest, from, to);
	while (!rc && boxes_next(&boxes, lo, hi)) {
		uint64_t rank = nest_rank(nest, lo);

		stack_box(&st, nest, lo, hi);
		run.proc = first->proc;
		run.file_off = nest_addr(nest, lo);
		run.share_off = first->share_off + rank;
		run.msg_off = first->msg_off + rank;
		run_from_stack(&run, &st);
		rc = fn(arg, &run);
	}
	return rc;
}

/**
 * struct tree_walk - the runs of a tree on their way
 * @first: as for nest_runs()
 */
struct tree_walk {
	const struct ddio_map_run *first;
	ddio_map_run_fn fn;
	void *arg;
};

static int tree_run(void *arg, const struct stack *st, uint64_t addr, uint64_t pos)
{
	const struct tree_walk *w = arg;
	struct ddio_map_run run;

	run.proc = w->first->proc;
	run.file_off = addr;
	run.share_off = w->first->share_off + pos;
	run.msg_off = w->first->msg_off + pos;
	run_from_stack(&run, st);
	return w->fn(w->arg, &run);
}

static int tree_runs(const struct item *item, const struct map_range *range,
		     const struct ddio_map_run *first, ddio_map_run_fn fn, void *arg)
{
	struct tree_walk w = { first, fn, arg };

	return tree_part_walk(item->tree, item_below(item, range->lo), item_below(item, range->hi),
			      2 * DDIO_MAX_DIMS, tree_run, &w);
}

static int item_runs(const struct item *item, const struct map_range *range,
		     struct ddio_map_run *run, ddio_map_run_fn fn, void *arg)
{
	struct nest tmp;
	uint64_t lo, hi;

	if (item->len == ITEM_TREE)
		return tree_runs(item, range, run, fn, arg);
	if (item->hi - item->lo != item->len)
		return nest_runs(item_nest(item, &tmp), range, run, fn, arg);
	lo = range->lo > item->lo ? range->lo : item->lo;
	hi = range->hi < item->hi ? range->hi : item->hi;
	run->file_off = lo;
	run->share_off += lo - item->lo;
	run->msg_off += lo - item->lo;
	run->len = hi - lo;
	run->nlevels = 0;
	return fn(arg, run);
}

static int share_runs(const struct map_share *share, uint32_t proc, const struct map_range *range,
		      ddio_map_run_fn fn, void *arg)
{
	const struct item *item = share->items.item;
	struct ddio_map_run run;
	uint64_t i, below;
	int rc = 0;

	i = share_find(share, range->lo);
	if (i == share->items.n || item[i].lo >= range->hi)
		return 0;
	below = share_below(share, range->origin);
	for (; !rc && i < share->items.n && item[i].lo < range->hi; i++) {
		run.proc = proc;
		run.share_off = item[i].share;
		run.msg_off = item[i].before - below;
		rc = item_runs(&item[i], range, &run, fn, arg);
	}
	return rc;
}

/* Finds the family of a process: they are in the order of their ranks. */
static const struct clan *clan_of(const struct parts *parts, uint32_t proc)
{
	uint32_t lo = 0, hi = parts->nclans;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (parts->clan[mid].first > proc)
			hi = mid;
		else
			lo = mid;
	}
	return &parts->clan[lo];
}

const struct map_share *parts_share(const struct parts *parts, uint32_t proc, uint64_t *shift)
{
	const struct clan *clan;

	*shift = 0;
	if (parts->share)
		return &parts->share[proc];
	clan = clan_of(parts, proc);
	if (clan->nest)
		*shift = clan_shift(clan, proc);
	return &clan->share;
}

static uint64_t shift_back(uint64_t x, uint64_t shift)
{
	return x > shift ? x - shift : 0;
}

uint64_t parts_below(const struct parts *parts, uint32_t proc, uint64_t x)
{
	uint64_t shift;
	const struct map_share *share = parts_share(parts, proc, &shift);

	return share_below(share, shift_back(x, shift));
}

/* Runs that lie @shift further than the items say. */
struct shifted_walk {
	uint64_t shift;
	ddio_map_run_fn fn;
	void *arg;
};

static int run_shifted(void *arg, const struct ddio_map_run *run)
{
	const struct shifted_walk *w = arg;
	struct ddio_map_run there = *run;

	there.file_off += w->shift;
	return w->fn(w->arg, &there);
}

int parts_runs_of(const struct parts *parts, uint32_t proc, const struct map_range *range,
		  ddio_map_run_fn fn, void *arg)
{
	struct shifted_walk w = { .fn = fn, .arg = arg };
	const struct map_share *share = parts_share(parts, proc, &w.shift);
	struct map_range back = { .lo = shift_back(range->lo, w.shift),
				  .hi = shift_back(range->hi, w.shift),
				  .origin = shift_back(range->origin, w.shift),
				  .writing = range->writing };

	if (!w.shift)
		return share_runs(share, proc, range, fn, arg);
	return share_runs(share, proc, &back, run_shifted, &w);
}

static int clans_runs(const struct parts *parts, const struct map_range *range, ddio_map_run_fn fn,
		      void *arg)
{
	uint32_t c;
	int rc = 0;

	for (c = 0; c < parts->nclans && !rc; c++) {
		const struct clan *clan = &parts->clan[c];

		rc = clan->nest ? clan_runs(clan, range, fn, arg)
				: share_runs(&clan->share, clan->first, range, fn, arg);
	}
	return rc;
}

int parts_runs(const struct parts *parts, const struct map_range *range, ddio_map_run_fn fn,
	       void *arg)
{
	uint32_t p;
	int rc = 0;

	if (range->lo >= range->hi)
		return 0;
	if (parts->clan)
		return clans_runs(parts, range, fn, arg);
	for (p = 0; p < parts->nprocs && !rc; p++)
		rc = parts_runs_of(parts, p, range, fn, arg);
	return rc;
}
