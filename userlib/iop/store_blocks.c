// SPDX-License-Identifier: LGPL-2.1-or-later
/* The blocks of an object: where they lie, allocating, freeing. */
#include <errno.h>
#include <stdlib.h>
#include "iop/store_priv.h"

/* No object is larger than this many blocks, so that block numbers can be added up. */
#define MAX_BLOCKS (UINT64_C(1) << 53)

bool ddio_object_lookup(const struct ddio_object *obj, uint64_t block, uint64_t *start,
			uint64_t *run, bool *written)
{
	const struct ddio_extent_map *map = &obj->map;
	size_t at = ddio_extent_map_find(map, block);
	const struct ddio_placed *ext = at < map->n ? &map->v[at] : NULL;
	const struct ddio_range *raw;

	*written = false;
	*start = 0;
	if (obj->removed || !ext || ext->block > block) {
		*run = (obj->removed || !ext ? UINT64_MAX : ext->block) - block;
		return false;
	}
	*start = ext->start + (block - ext->block) * obj->ref.block;
	*run = ext->block + ext->count - block;
	raw = ddio_ranges_find(&obj->unwritten, block);
	*written = !raw || raw->start > block;
	if (*written && raw && raw->start - block < *run)
		*run = raw->start - block;
	else if (!*written && raw->start + raw->len - block < *run)
		*run = raw->start + raw->len - block;
	return true;
}

/**
 * struct gap - blocks without a place
 */
struct gap {
	uint64_t first, count;
};

/* The next gap at or above @block and below @end; count 0: none. */
static struct gap next_gap(const struct ddio_extent_map *map, uint64_t block, uint64_t end)
{
	size_t at = ddio_extent_map_find(map, block);

	while (at < map->n && block < end && map->v[at].block <= block) {
		block = map->v[at].block + map->v[at].count;
		at++;
	}
	if (block >= end)
		return (struct gap){ .count = 0 };
	if (at < map->n && map->v[at].block < end)
		end = map->v[at].block;
	return (struct gap){ .first = block, .count = end - block };
}

static uint64_t count_missing(const struct ddio_object *obj, uint64_t first, uint64_t count)
{
	struct gap gap = next_gap(&obj->map, first, first + count);
	uint64_t missing = 0;

	for (; gap.count; gap = next_gap(&obj->map, gap.first + gap.count, first + count))
		missing += gap.count;
	return missing;
}

static int place_gaps(struct ddio_object *obj, uint64_t first, uint64_t count,
		      struct ddio_places *places)
{
	struct gap gap = next_gap(&obj->map, first, first + count);
	int ret = 0;

	for (; gap.count && !ret; gap = next_gap(&obj->map, gap.first + gap.count, first + count))
		ret = ddio_layout_place(obj, gap.first, gap.count, places);
	return ret;
}

/* Notes @places as never written and as the object's. */
static int adopt(struct ddio_object *obj, const struct ddio_places *places)
{
	size_t i;
	int ret;

	ret = ddio_extent_map_reserve(&obj->map, places->n);
	for (i = 0; i < places->n && !ret; i++)
		ret = ddio_ranges_add(&obj->unwritten, places->v[i].block, places->v[i].count);
	if (!ret)
		return ddio_extent_map_add(&obj->map, places->v, places->n, obj->ref.block);
	for (i = 0; i < places->n; i++)
		ddio_ranges_remove(&obj->unwritten, places->v[i].block, places->v[i].count);
	return ret;
}

int ddio_object_alloc(struct ddio_object *obj, uint64_t first, uint64_t count)
{
	struct ddio_store *store = obj->store;
	struct ddio_places places = { .v = NULL };
	uint64_t missing;
	size_t i;
	int ret;

	if (obj->removed)
		return -ENOENT;
	if (first > MAX_BLOCKS || count > MAX_BLOCKS)
		return -EFBIG;
	missing = count_missing(obj, first, count);
	if (missing > store->free.total / obj->ref.block)
		return -ENOSPC;
	if (!missing)
		return 0;
	ret = place_gaps(obj, first, count, &places);
	if (!ret)
		ret = adopt(obj, &places);
	for (i = 0; ret && i < places.n; i++)
		ddio_store_give_back(store, places.v[i].start, places.v[i].count * obj->ref.block);
	free(places.v);
	return ret;
}

/* Notes the change that records the object itself, once. */
static void note_object(struct ddio_object *obj)
{
	const struct ddio_change change = {
		.kind = DDIO_CHANGE_OBJECT,
		.bs = obj->ref.block,
		.id = obj->ref.id,
		.block = obj->ref.layout,
		.start = obj->ref.seed,
	};

	if (obj->recorded)
		return;
	ddio_batch_change(&obj->store->open, &change);
	obj->recorded = true;
}

/* [first, first + count) was never written until now; it may lie in several extents. */
static int note_written(struct ddio_object *obj, uint64_t first, uint64_t count)
{
	struct ddio_batch *batch = &obj->store->open;
	struct ddio_change change = { .kind = DDIO_CHANGE_EXTENT };
	size_t at = ddio_extent_map_find(&obj->map, first);
	const struct ddio_placed *ext;
	uint64_t end = first + count;

	change.bs = obj->ref.block;
	change.id = obj->ref.id;
	for (; at < obj->map.n && first < end; at++) {
		ext = &obj->map.v[at];
		if (ddio_batch_reserve(batch, 2, 0))
			return -ENOMEM;
		note_object(obj);
		change.block = first;
		change.start = ext->start + (first - ext->block) * obj->ref.block;
		change.count = ext->block + ext->count - first;
		if (change.count > end - first)
			change.count = end - first;
		ddio_batch_change(batch, &change);
		first += change.count;
	}
	return 0;
}

void ddio_object_written(struct ddio_object *obj, uint64_t first, uint64_t count)
{
	const struct ddio_range *raw;
	uint64_t end = first + count, from, to;

	if (obj->removed || !obj->unwritten.n || end < first)
		return;
	for (raw = ddio_ranges_find(&obj->unwritten, first); raw && raw->start < end;
	     raw = ddio_ranges_find(&obj->unwritten, first)) {
		from = raw->start > first ? raw->start : first;
		to = raw->start + raw->len < end ? raw->start + raw->len : end;
		if (note_written(obj, from, to - from) ||
		    ddio_ranges_remove(&obj->unwritten, from, to - from)) {
			obj->store->lost = -ENOMEM;
			return;
		}
		obj->seq = obj->store->seq;
		first = to;
	}
}

/* How many extents a cut at @nblocks touches. */
static size_t extents_beyond(const struct ddio_object *obj, uint64_t nblocks)
{
	return obj->map.n - ddio_extent_map_find(&obj->map, nblocks);
}

static void note_freed(struct ddio_object *obj, uint64_t nblocks)
{
	size_t at = ddio_extent_map_find(&obj->map, nblocks);
	const struct ddio_placed *ext;
	uint64_t skip;

	for (; at < obj->map.n; at++) {
		ext = &obj->map.v[at];
		skip = ext->block < nblocks ? nblocks - ext->block : 0;
		ddio_batch_freed(&obj->store->open, ext->start + skip * obj->ref.block,
				 (ext->count - skip) * obj->ref.block);
	}
}

int ddio_object_truncate(struct ddio_object *obj, uint64_t nblocks)
{
	struct ddio_store *store = obj->store;
	const struct ddio_change change = {
		.kind = DDIO_CHANGE_CUT,
		.bs = obj->ref.block,
		.id = obj->ref.id,
		.block = nblocks,
	};

	if (obj->removed)
		return -ENOENT;
	if (ddio_object_end(obj) <= nblocks)
		return 0;
	if (ddio_batch_reserve(&store->open, 1, extents_beyond(obj, nblocks)) ||
	    ddio_ranges_remove(&obj->unwritten, nblocks, UINT64_MAX - nblocks))
		return -ENOMEM;
	note_freed(obj, nblocks);
	if (obj->recorded)
		ddio_batch_change(&store->open, &change);
	ddio_extent_map_cut(&obj->map, nblocks);
	obj->seq = store->seq;
	return 0;
}

int ddio_object_remove(struct ddio_object *obj)
{
	struct ddio_store *store = obj->store;
	const struct ddio_change change = {
		.kind = DDIO_CHANGE_REMOVE,
		.bs = obj->ref.block,
		.id = obj->ref.id,
	};

	if (obj->removed)
		return -ENOENT;
	if (ddio_batch_reserve(&store->open, 1, 0))
		return -ENOMEM;
	ddio_batch_change(&store->open, &change);
	obj->removed = true;
	obj->seq = store->seq;
	store->objects--;
	return 0;
}
