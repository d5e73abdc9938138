// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Chooses places for new blocks of an object, by the layout of its file.
 *
 * The random layouts draw places uniformly over the whole disk until one is free, so that seeks are as
 * long as in the papers.  A block's draws depend only on seed, file, disk and block, not on the order in
 * which blocks are written.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/rand.h"
#include "iop/store/priv.h"

/* A track of the HP 97560: 72 sectors of 512 bytes. */
#define TRACK (72u * 512u)
/* After so many draws the disk counts as nearly full and is searched. */
#define DRAWS 256
/* Large blocks begin at pages, so that files with 512-byte blocks do not misalign others. */
#define ALIGN 4096u
/* Room is looked for up to so many bytes ahead; and always, if so many are to be placed. */
#define AHEAD (64u << 20)
#define AHEAD_FOR (1u << 20)

static uint64_t block_align(uint32_t bs)
{
	return bs < ALIGN ? bs : ALIGN;
}

/* Allocates [start, start + count * bs), which is free. */
static int place_take(struct object *obj, struct places *places, uint64_t block, uint64_t start,
		      uint64_t count)
{
	struct extent *v;

	if (places->n == places->cap) {
		places->cap = places->cap ? places->cap * 2 : 16;
		v = realloc(places->v, places->cap * sizeof(*v));
		if (!v)
			return -ENOMEM;
		places->v = v;
	}
	if (ranges_remove(&obj->store->free, start, count * obj->ref.block))
		return -ENOMEM;
	places->v[places->n++] = (struct extent){ .block = block, .start = start, .count = count };
	return 0;
}

static bool place_free(const struct object *obj, uint64_t start, uint64_t count)
{
	return ranges_contain(&obj->store->free, start, count * obj->ref.block);
}

/* Finds where @block lies if it continues the object's nearest extent: blocks written out of order still
 * end up in order. */
static bool place_next_to(const struct object *obj, const struct extent_map *map, uint64_t block,
			  uint64_t count, uint64_t *start)
{
	size_t at = extent_map_find(map, block);
	const struct extent *ext;
	uint32_t bs = obj->ref.block;

	if (at) {
		ext = &map->v[at - 1];
		if (block - ext->block <= (obj->store->size - ext->start) / bs) {
			*start = ext->start + (block - ext->block) * bs;
			if (place_free(obj, *start, count))
				return true;
		}
	}
	if (at < map->n) {
		ext = &map->v[at];
		if (ext->block - block <= ext->start / bs) {
			*start = ext->start - (ext->block - block) * bs;
			return place_free(obj, *start, count);
		}
	}
	return false;
}

static bool place_near(const struct object *obj, uint64_t block, uint64_t count, uint64_t *start)
{
	return place_next_to(obj, &obj->fresh, block, count, start) ||
	       place_next_to(obj, &obj->map, block, count, start);
}

/* Finds the object's first place, with room for the blocks before it. */
static bool place_first(const struct object *obj, uint64_t block, uint64_t count, uint64_t *start)
{
	const struct ranges *free = &obj->store->free;
	uint32_t bs = obj->ref.block;
	uint64_t longest = ranges_longest(free) / bs;

	if (block > longest || count > longest - block)
		return false;
	if (!ranges_fit(free, 0, (block + count) * bs, block_align(bs), start))
		return false;
	*start += block * bs;
	return true;
}

/* No range is long enough: allocates from the longest ones, as much of each as fits. */
static int place_pieces(struct object *obj, uint64_t block, uint64_t count, struct places *places)
{
	const struct ranges *free = &obj->store->free;
	uint32_t bs = obj->ref.block;
	uint64_t start, n;
	int ret = 0;

	while (count && !ret) {
		n = ranges_longest(free) / bs;
		/* Alignment may cost the last block. */
		while (n && !ranges_fit(free, 0, n * bs, block_align(bs), &start))
			n--;
		if (!n)
			return -ENOSPC;
		if (n > count)
			n = count;
		ret = place_take(obj, places, block, start, n);
		block += n;
		count -= n;
	}
	return ret;
}

/*
 * Returns how many blocks are likely to follow, those to be placed included: who goes on where the object has its own blocks, and
 * finds the place behind them taken, writes it from front to back, and may go on for as long.
 */
static uint64_t likely(const struct object *obj, uint64_t block, uint64_t count)
{
	uint64_t start, run, most = AHEAD / obj->ref.block;
	bool written, owned;

	owned = !block || (object_target(obj, block - 1, &start, &run, &written) && written);
	if (!obj->map.n || (!owned && count * obj->ref.block < AHEAD_FOR))
		return count;
	if (most > obj->map.blocks)
		most = obj->map.blocks;
	return most > count ? most : count;
}

/* Finds a place where more can follow, for what is likely to come, or as much of it as anywhere. */
static bool place_ahead(const struct object *obj, uint64_t block, uint64_t count, uint64_t *start)
{
	const struct ranges *free = &obj->store->free;
	uint64_t bs = obj->ref.block, want = likely(obj, block, count), longest;

	longest = ranges_longest(free) / bs;
	if (want > longest)
		want = longest;
	/* The longest range may not begin where a block may. */
	return want > count && (ranges_fit(free, 0, want * bs, block_align(bs), start) ||
				ranges_fit(free, 0, (want - 1) * bs, block_align(bs), start));
}

static int place_contiguous(struct object *obj, uint64_t block, uint64_t count,
			    struct places *places)
{
	const struct ranges *free = &obj->store->free;
	uint32_t bs = obj->ref.block;
	uint64_t start;

	if (place_near(obj, block, count, &start))
		return place_take(obj, places, block, start, count);
	if (!obj->map.n && !places->n && place_first(obj, block, count, &start))
		return place_take(obj, places, block, start, count);
	if (place_ahead(obj, block, count, &start) ||
	    ranges_fit(free, 0, count * bs, block_align(bs), &start))
		return place_take(obj, places, block, start, count);
	return place_pieces(obj, block, count, places);
}

/**
 * struct draw - places that can be drawn: first + i * step for i below n
 */
struct draw {
	uint64_t first, step, n, need;
	uint64_t state;
};

static struct draw draw_new(const struct object *obj, uint64_t what, uint64_t first, uint64_t step,
			    uint64_t need)
{
	const struct store *store = obj->store;
	struct draw draw = { .first = first, .step = step, .need = need };

	draw.state = ddio_rand_mix(obj->ref.seed) ^ ddio_rand_mix(obj->ref.id + 1) * 3 ^
		     ddio_rand_mix(store->label.disk + UINT64_C(0x100000000)) * 5;
	draw.state = ddio_rand_mix(draw.state + what * UINT64_C(0xd1342543de82ef95));
	if (store->size >= first + need)
		draw.n = (store->size - first - need) / step + 1;
	return draw;
}

/* Draws a free place; after many failures takes the first one from the last draw on. */
static bool draw_free(const struct object *obj, struct draw *draw, uint64_t *start)
{
	const struct ranges *free = &obj->store->free;
	const struct range_node *range;
	uint64_t i, at, end, round;

	if (!draw->n)
		return false;
	for (i = 0; i < DRAWS; i++) {
		*start = draw->first + ddio_rand_below(&draw->state, draw->n) * draw->step;
		if (ranges_contain(free, *start, draw->need))
			return true;
	}
	at = *start;
	for (round = 0; round < 2; round++, at = draw->first) {
		for (range = ranges_find(free, at); range; range = ranges_find(free, end)) {
			end = range->start + range->len;
			if (range->start > at)
				at = range->start;
			at = draw->first +
			     (at - draw->first + draw->step - 1) / draw->step * draw->step;
			*start = at;
			if (at < end && end - at >= draw->need)
				return true;
			at = end;
		}
	}
	return false;
}

static int place_random_blocks(struct object *obj, uint64_t block, uint64_t count,
			       struct places *places)
{
	uint32_t bs = obj->ref.block;
	uint64_t start;
	int ret = 0;

	for (; count && !ret; block++, count--) {
		struct draw draw = draw_new(obj, block, LABEL_SPACE, bs, bs);

		if (!draw_free(obj, &draw, &start))
			return -ENOSPC;
		ret = place_take(obj, places, block, start, 1);
	}
	return ret;
}

/* Finds the track that holds a block of [first, last] of the object, if any. */
static bool track_of_group(const struct object *obj, const struct places *places, uint64_t first,
			   uint64_t last, uint64_t *start)
{
	size_t at = extent_map_find(&obj->map, first);
	const struct extent *ext = NULL;
	uint64_t block;

	if (at < obj->map.n && obj->map.v[at].block <= last)
		ext = &obj->map.v[at];
	else if (places->n && places->v[places->n - 1].block >= first &&
		 places->v[places->n - 1].block <= last)
		ext = &places->v[places->n - 1];
	if (!ext)
		return false;
	block = ext->block > first ? ext->block : first;
	*start = ext->start + (block - ext->block) * obj->ref.block;
	if (*start < (block - first) * obj->ref.block)
		return false;
	*start -= (block - first) * obj->ref.block;
	return true;
}

/* Places blocks that share a track on it in order; a block larger than a track begins at one. */
static int place_random_tracks(struct object *obj, uint64_t block, uint64_t count,
			       struct places *places)
{
	uint32_t bs = obj->ref.block;
	uint64_t per_track = bs < TRACK ? TRACK / bs : 1;
	uint64_t group, track, start, n;
	int ret = 0;

	while (count && !ret) {
		group = block / per_track;
		n = (group + 1) * per_track - block;
		if (n > count)
			n = count;
		if (!track_of_group(obj, places, group * per_track, (group + 1) * per_track - 1,
				    &track) ||
		    !place_free(obj, track + (block - group * per_track) * bs, n)) {
			struct draw draw = draw_new(obj, group, TRACK, TRACK, per_track * bs);

			if (!draw_free(obj, &draw, &track))
				return place_contiguous(obj, block, count, places);
		}
		start = track + (block - group * per_track) * bs;
		ret = place_take(obj, places, block, start, n);
		block += n;
		count -= n;
	}
	return ret;
}

int layout_place(struct object *obj, uint64_t first, uint64_t count, struct places *places)
{
	switch (obj->ref.layout) {
	case DDIO_LAYOUT_RANDOM_BLOCKS_W:
		return place_random_blocks(obj, first, count, places);
	case DDIO_LAYOUT_RANDOM_TRACKS_W:
		return place_random_tracks(obj, first, count, places);
	default:
		return place_contiguous(obj, first, count, places);
	}
}
