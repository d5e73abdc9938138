// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copies between a block and the messages of all processes.
 *
 * If pieces are shorter than a cache line, every process touches every line
 * of the block.  Such blocks are copied in tiles that fit in the first cache,
 * all processes of a tile before the next tile.
 */
#include "map/copy.h"
#include "map/deal.h"
#include "map/map_priv.h"

#define TILE_BYTES 16384
#define CACHE_LINE 64

static void run_copy_out(const struct ddio_map_run *run, const void *block, uint64_t block_off,
			 void *to, bool past)
{
	const char *src = (const char *)block + (run->file_off - block_off);
	struct strided_copy copy;
	uint32_t i;

	copy.len = run->len;
	copy.past = past;
	copy.nlevels = run->nlevels;
	for (i = 0; i < run->nlevels; i++) {
		copy.level[i].count = run->level[i].count;
		copy.level[i].dst = run->level[i].share_stride;
		copy.level[i].src = run->level[i].file_stride;
	}
	copy_run(&copy, to, src);
}

static void run_copy_in(const struct ddio_map_run *run, void *block, uint64_t block_off,
			const void *from)
{
	char *dst = (char *)block + (run->file_off - block_off);
	struct strided_copy copy;
	uint32_t i;

	copy.len = run->len;
	copy.past = false;
	copy.nlevels = run->nlevels;
	for (i = 0; i < run->nlevels; i++) {
		copy.level[i].count = run->level[i].count;
		copy.level[i].dst = run->level[i].file_stride;
		copy.level[i].src = run->level[i].share_stride;
	}
	copy_run(&copy, dst, from);
}

void ddio_map_run_pack(const struct ddio_map_run *run, const void *block, uint64_t block_off,
		       void *msg)
{
	run_copy_out(run, block, block_off, (char *)msg + run->msg_off, false);
}

void ddio_map_run_unpack(const struct ddio_map_run *run, void *block, uint64_t block_off,
			 const void *msg)
{
	run_copy_in(run, block, block_off, (const char *)msg + run->msg_off);
}

void ddio_map_run_take(const struct ddio_map_run *run, const void *block, uint64_t block_off,
		       void *share, bool past)
{
	run_copy_out(run, block, block_off, (char *)share + run->share_off, past);
}

void ddio_map_run_give(const struct ddio_map_run *run, void *block, uint64_t block_off,
		       const void *share)
{
	run_copy_in(run, block, block_off, (const char *)share + run->share_off);
}

struct pack {
	const void *from;
	void *to;
	uint64_t block_off;
	void *const *out;
	const void *const *in;
};

static int pack_run(void *arg, const struct ddio_map_run *run)
{
	const struct pack *p = arg;

	if (p->out[run->proc])
		ddio_map_run_pack(run, p->from, p->block_off, p->out[run->proc]);
	return 0;
}

static int unpack_run(void *arg, const struct ddio_map_run *run)
{
	const struct pack *p = arg;

	if (p->in[run->proc])
		ddio_map_run_unpack(run, p->to, p->block_off, p->in[run->proc]);
	return 0;
}

static bool map_is_small(const struct ddio_map *map)
{
	const struct ddio_map_layout *layout = &map->layout;

	if (!map->is_array)
		return map->parts.small;
	return !layout->empty && layout->axis[layout->naxes - 1].k < CACHE_LINE;
}

static int map_copy(const struct ddio_map *map, struct map_range *range, ddio_map_run_fn fn,
		    void *arg)
{
	uint64_t hi = range->hi;
	int rc = 0;

	if (!map_is_small(map))
		return map_walk(map, range, fn, arg);
	while (range->lo < hi && !rc) {
		range->hi = hi - range->lo > TILE_BYTES ? range->lo + TILE_BYTES : hi;
		rc = map_walk(map, range, fn, arg);
		range->lo = range->hi;
	}
	return rc;
}

static bool map_deals(const struct ddio_map *map, uint64_t lo, uint64_t hi)
{
	return map->is_array && !map->layout.empty && lo < hi && deal_suits(&map->layout);
}

/* Prefetches what will be dealt next: its first process touches all of it. */
static void deal_prefetch(const struct deal *deal, uint64_t lo, uint64_t hi)
{
	const char *block = deal->block - deal->block_off;

	for (; lo < hi; lo += CACHE_LINE) {
		if (deal->gather)
			__builtin_prefetch(block + lo, 0);
		else
			__builtin_prefetch(block + lo, 1);
	}
}

static int map_deal(const struct ddio_map *map, uint64_t lo, uint64_t hi, struct deal *deal)
{
	uint64_t tile = deal_tile_size(&map->layout);

	deal->layout = &map->layout;
	deal->block_off = lo;
	layout_mark(&map->layout, lo, &deal->origin);
	for (; hi - lo > tile; lo += tile) {
		deal_prefetch(deal, lo + tile, hi - lo > 2 * tile ? lo + 2 * tile : hi);
		deal_tile(deal, lo, lo + tile);
	}
	deal_tile(deal, lo, hi);
	return 0;
}

int ddio_map_pack(const struct ddio_map *map, uint64_t lo, uint64_t hi, const void *block,
		  void *const *msg)
{
	struct deal deal;
	struct map_range range = { lo, lo, map_clip(map, hi), false };
	struct pack p = { .from = block, .block_off = lo, .out = msg };

	hi = range.hi;
	if (map_deals(map, lo, hi)) {
		deal.block = (char *)block; /* only read: see gather */
		deal.msg = (char *const *)msg;
		deal.gather = true;
		return map_deal(map, lo, hi, &deal);
	}
	return map_copy(map, &range, pack_run, &p);
}

int ddio_map_unpack(const struct ddio_map *map, uint64_t lo, uint64_t hi, void *block,
		    const void *const *msg)
{
	struct deal deal;
	struct map_range range = { lo, lo, map_clip(map, hi), true };
	struct pack p = { .to = block, .block_off = lo, .in = msg };

	hi = range.hi;
	if (map_deals(map, lo, hi)) {
		deal.block = block;
		deal.msg = (char *const *)msg; /* only read: see gather */
		deal.gather = false;
		return map_deal(map, lo, hi, &deal);
	}
	return map_copy(map, &range, unpack_run, &p);
}
