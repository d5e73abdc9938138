// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ranges of an object's blocks: reserves them, makes them read as zeros again, frees them. */
#include <errno.h>
#include <stdlib.h>
#include "iop/store/priv.h"

/* Reserves the first unwritten blocks of a run, unless they are reserved already; *count is lowered to
 * how many that were. */
static int reserve_run(struct object *obj, uint64_t first, uint64_t *count)
{
	const struct range_node *kept = ranges_find(&obj->reserved, first);
	int ret;

	if (kept && kept->start <= first) {
		if (*count > kept->start + kept->len - first)
			*count = kept->start + kept->len - first;
		return 0;
	}
	if (kept && *count > kept->start - first)
		*count = kept->start - first;
	ret = object_ranges_ready(obj);
	if (!ret)
		ret = object_note_extents(obj, first, *count, true);
	if (ret)
		return ret;
	obj->seq = obj->store->seq;
	return ranges_add(&obj->reserved, first, *count);
}

int object_reserve(struct object *obj, uint64_t first, uint64_t count)
{
	uint64_t at, start, run;
	bool written;
	int ret = object_alloc_gaps(obj, first, count);

	for (at = first; at - first < count && !ret; at += run) {
		object_lookup(obj, at, &start, &run, &written);
		if (run > first + count - at)
			run = first + count - at;
		if (!written)
			ret = reserve_run(obj, at, &run);
	}
	return ret;
}

static int unwrite_run(struct object *obj, uint64_t first, uint64_t count)
{
	int ret = object_ranges_ready(obj);

	if (!ret)
		ret = object_note_mark(obj, first, count, true);
	if (ret)
		return ret;
	obj->seq = obj->store->seq;
	ret = ranges_add(&obj->unwritten, first, count);
	return ret ? ret : ranges_add(&obj->reserved, first, count);
}

/* Makes blocks read as zeros that have a place.  Where others have it, too, they get another one. */
static int unwrite(struct object *obj, uint64_t first, uint64_t start, uint64_t *count)
{
	uint64_t len = *count * obj->ref.block;
	int ret;

	if (!shares_at(&obj->store->shares, start, &len)) {
		*count = len / obj->ref.block;
		return unwrite_run(obj, first, *count);
	}
	*count = len / obj->ref.block;
	ret = object_punch(obj, first, *count);
	return ret ? ret : object_reserve(obj, first, *count);
}

int object_unwrite(struct object *obj, uint64_t first, uint64_t count)
{
	uint64_t end = extent_map_end(&obj->map), at, start, run;
	bool written;
	int ret = 0;

	if (obj->removed || obj->refused)
		return obj->removed ? -ENOENT : -EUCLEAN;
	if (obj->frozen)
		return -EROFS;
	if (count < end && first < end - count)
		end = first + count;
	for (at = first; at < end && !ret; at += run) {
		bool there = object_lookup(obj, at, &start, &run, &written);

		if (run > end - at)
			run = end - at;
		if (there && written)
			ret = unwrite(obj, at, start, &run);
	}
	return ret;
}

static void note_freed(struct object *obj, uint64_t first, uint64_t end)
{
	size_t at = extent_map_find(&obj->map, first);
	const struct extent *ext;
	uint64_t from, to;

	for (; at < obj->map.n && obj->map.v[at].block < end; at++) {
		ext = &obj->map.v[at];
		from = ext->block > first ? ext->block : first;
		to = ext->block + ext->count < end ? ext->block + ext->count : end;
		batch_freed(&obj->store->open, ext->start + (from - ext->block) * obj->ref.block,
			    (to - from) * obj->ref.block);
	}
}

int object_cut_ready(struct object *obj, uint64_t first, uint64_t end)
{
	if (batch_reserve(&obj->store->open, 1, object_extents_within(obj, first, end)) ||
	    extent_map_reserve(&obj->map, 1) || object_ranges_ready(obj))
		return -ENOMEM;
	ranges_remove(&obj->unwritten, first, end - first);
	ranges_remove(&obj->reserved, first, end - first);
	return 0;
}

void object_cut(struct object *obj, uint64_t first, uint64_t end)
{
	note_freed(obj, first, end);
	extent_map_cut(&obj->map, first, end, obj->ref.block);
	obj->seq = obj->store->seq;
}

int object_punch(struct object *obj, uint64_t first, uint64_t count)
{
	struct store *store = obj->store;
	uint64_t end = count < UINT64_MAX - first ? first + count : UINT64_MAX;
	const struct store_change change = {
		.kind = CHANGE_CUT,
		.bs = obj->ref.block,
		.id = obj->ref.id,
		.block = first,
		.count = end - first,
	};

	if (obj->removed || obj->refused)
		return obj->removed ? -ENOENT : -EUCLEAN;
	if (obj->frozen)
		return -EROFS;
	if (!count || !object_extents_within(obj, first, end))
		return 0;
	if (fresh_drop(obj, first, end) || object_cut_ready(obj, first, end))
		return -ENOMEM;
	if (obj->recorded)
		batch_change(&store->open, &change);
	object_cut(obj, first, end);
	return 0;
}
