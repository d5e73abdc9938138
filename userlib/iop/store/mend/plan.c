// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which blocks are worth moving.  An object is looked at piece by piece: a piece is what lies side by side on the disk.  Whatever has
 * been passed stays; so the next piece goes
 *   1. behind what has been passed, if there is room for all of it;
 *   2. else in front of the piece behind it, if that stays where it is;
 *   3. else, together with that, to a place where all that is left of the object has room, or as much as anywhere.
 * Each leaves one piece less.  Where the first move of several has gone by 3., the others follow by 1.
 */
#include "iop/store/mend/mend.h"
#include "iop/store/priv.h"

/* Extents that are looked at in a turn, and to find a place for what is left of an object. */
#define LOOKS 512
#define LOOKS_AHEAD 16384
#define ALIGN 4096u

enum stays { STAYS_NOT, STAYS_LONG, STAYS_SHARED, STAYS_RESERVED };

/**
 * struct mend_piece - extents of an object that lie side by side on the disk, maybe with holes of the object between them
 * @block, @end: its first block, and the one behind its last
 * @next: the first extent behind it
 */
struct mend_piece {
	uint64_t block, end;
	uint64_t start, bytes;
	size_t next;
	enum stays why;
};

/**
 * struct mend_spot - a place, and how much is free from there on
 */
struct mend_spot {
	uint64_t start, room;
};

/* Why an extent cannot be moved. */
static enum stays extent_stays(const struct object *obj, const struct extent *ext)
{
	uint64_t start, run, next;
	bool written, there = object_target(obj, ext->block, &start, &run, &written);

	if (there && written && run < ext->count) {
		there = object_target(obj, ext->block + run, &next, &run, &written);
		written = false;
	}
	if (!there)
		return STAYS_SHARED;
	return written && start == ext->start ? STAYS_NOT : STAYS_RESERVED;
}

static uint64_t bytes_of(const struct object *obj, const struct extent *ext)
{
	return ext->count * obj->ref.block;
}

/* Describes the piece that begins with extent @i; @looks is lowered by its extents. */
static struct mend_piece piece_at(const struct object *obj, size_t i, uint64_t longest, int *looks)
{
	const struct extent *v = obj->map.v;
	struct mend_piece p = { .block = v[i].block, .start = v[i].start };
	enum stays why;
	int most = LOOKS;

	for (; i < obj->map.n && v[i].start == p.start + p.bytes && most; i++, most--) {
		why = extent_stays(obj, &v[i]);
		if (why)
			p.why = why;
		p.bytes += bytes_of(obj, &v[i]);
		p.end = v[i].block + v[i].count;
		--*looks;
	}
	p.next = i;
	if (!p.why && longest && p.bytes >= longest)
		p.why = STAYS_LONG;
	return p;
}

/* Returns how much is free from byte @at on. */
static uint64_t room_at(const struct store *store, uint64_t at)
{
	const struct range_node *range = ranges_find(&store->free, at);

	return range && range->start <= at ? range->start + range->len - at : 0;
}

/* Returns the bytes of the object from extent @i on, or of as many as may be looked at. */
static uint64_t left_from(const struct object *obj, size_t i)
{
	uint64_t bytes = 0;
	size_t end = i + LOOKS_AHEAD;

	for (; i < obj->map.n && i < end; i++)
		bytes += bytes_of(obj, &obj->map.v[i]);
	return bytes;
}

/* Finds room for all that is left from extent @i on, or else the longest range there is. */
static struct mend_spot spot_anew(const struct object *obj, size_t i)
{
	const struct ranges *free = &obj->store->free;
	uint32_t bs = obj->ref.block, align = bs < ALIGN ? bs : ALIGN;
	struct mend_spot spot = { .room = left_from(obj, i) };
	uint64_t blocks;

	if (ranges_fit(free, 0, spot.room, align, &spot.start))
		return spot;
	/* The longest range's beginning may not be aligned, which costs its last block. */
	blocks = ranges_longest(free) / bs;
	while (blocks && !ranges_fit(free, 0, blocks * bs, align, &spot.start))
		blocks--;
	spot.room = blocks * bs;
	return spot;
}

/* Finds where piece @p, which begins with extent @i, is to go; @q: the next one, NULL: there is none. */
static bool find_spot(const struct object *obj, size_t i, const struct mend_piece *p,
		      const struct mend_piece *q, struct mend_spot *spot)
{
	const struct store *store = obj->store;

	if (i) {
		const struct extent *before = &obj->map.v[i - 1];

		spot->start = before->start + bytes_of(obj, before);
		spot->room = room_at(store, spot->start);
		if (spot->room >= p->bytes)
			return true;
	}
	if (q && q->why && q->start >= p->bytes) {
		spot->start = q->start - p->bytes;
		spot->room = p->bytes;
		if (ranges_contain(&store->free, spot->start, spot->room))
			return true;
	}
	if (!q || q->why)
		return false;
	*spot = spot_anew(obj, i);
	return spot->room >= p->bytes + q->bytes;
}

/* The next move: extent @i, and those behind it that follow in the object and find room there, too. */
static void gather(const struct object *obj, size_t i, const struct mend_spot *spot,
		   struct store_mend *mend)
{
	const struct extent *v = obj->map.v;
	uint64_t bs = obj->ref.block, n;

	mend->first = v[i].block;
	mend->count = 0;
	mend->start = spot->start;
	for (; i < obj->map.n && mend->count < mend->most; i++) {
		n = v[i].count;
		if (v[i].block != mend->first + mend->count ||
		    n > (spot->room - mend->count * bs) / bs || extent_stays(obj, &v[i]) ||
		    (mend->longest && n >= mend->longest / bs))
			break;
		mend->count += n < mend->most - mend->count ? n : mend->most - mend->count;
	}
}

static void stays(struct store_mend *mend, enum stays why)
{
	mend->shared += why == STAYS_SHARED;
	mend->reserved += why == STAYS_RESERVED;
	mend->space += why == STAYS_NOT;
}

/* Looks at the piece that begins with extent @i, and passes over it unless it is to be moved. */
static bool look(struct object *obj, size_t i, struct store_mend *mend, int *looks)
{
	const struct extent *before = i ? &obj->map.v[i - 1] : NULL;
	struct mend_piece p = piece_at(obj, i, mend->longest, looks), q = { .block = 0 };
	bool more = p.next < obj->map.n, apart;
	struct mend_spot spot;

	if (more)
		q = piece_at(obj, p.next, mend->longest, looks);
	/* A piece of very many extents ends where no more are looked at. */
	apart = (!before || p.start != before->start + bytes_of(obj, before)) &&
		(!more || q.start != p.start + p.bytes);
	if (apart && !p.why && find_spot(obj, i, &p, more ? &q : NULL, &spot)) {
		gather(obj, i, &spot, mend);
		return mend->count;
	}
	if (apart && (before || more))
		stays(mend, p.why);
	mend->at = p.end;
	return false;
}

enum store_mend_next store_mend_next(struct object *obj, struct store_mend *mend)
{
	const struct extent_map *map = &obj->map;
	int looks = LOOKS;
	size_t i;

	/* Its places were drawn, as somebody has asked for. */
	if (obj->removed || obj->refused || obj->ref.layout != DDIO_LAYOUT_CONTIGUOUS_W)
		return MEND_OVER;
	/* Space that will be free in later turns. */
	if (store_give(obj->store, obj->store->bounds->at[BOUND_FREED].limit))
		return MEND_MORE;
	while (looks > 0) {
		looks--;
		i = extent_map_find(map, mend->at);
		if (i >= map->n)
			return MEND_OVER;
		if (map->v[i].block < mend->at)
			mend->at = map->v[i].block + map->v[i].count;
		else if (look(obj, i, mend, &looks))
			return MEND_MOVE;
	}
	return MEND_MORE;
}
