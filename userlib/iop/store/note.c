// SPDX-License-Identifier: LGPL-2.1-or-later
/* Changes of an object's records, noted in the open batch. */
#include <errno.h>
#include "iop/store/priv.h"

void object_note(struct object *obj)
{
	const struct store_change change = {
		.kind = CHANGE_OBJECT,
		.bs = obj->ref.block,
		.id = obj->ref.id,
		.block = obj->ref.layout,
		.start = obj->ref.seed,
	};

	if (obj->recorded)
		return;
	batch_change(&obj->store->open, &change);
	obj->recorded = true;
}

int object_freeze(struct object *obj)
{
	struct store *store = obj->store;
	const struct store_change change = {
		.kind = CHANGE_OBJECT,
		.bs = obj->ref.block,
		.frozen = true,
		.id = obj->ref.id,
		.block = obj->ref.layout,
		.start = obj->ref.seed,
	};

	if (obj->removed || obj->refused)
		return obj->removed ? -ENOENT : -EUCLEAN;
	if (obj->frozen)
		return 0;
	if (!store_room(store))
		return -ENOSPC;
	if (batch_reserve(&store->open, 1, 0))
		return -ENOMEM;
	batch_change(&store->open, &change);
	obj->recorded = obj->frozen = true;
	obj->seq = store->seq;
	return 0;
}

bool object_frozen(const struct object *obj)
{
	return obj->frozen;
}

size_t object_extents_within(const struct object *obj, uint64_t first, uint64_t end)
{
	size_t at = extent_map_find(&obj->map, first), n = 0;

	while (at + n < obj->map.n && obj->map.v[at + n].block < end)
		n++;
	return n;
}

int object_ranges_ready(struct object *obj)
{
	return ranges_ready(&obj->unwritten) || ranges_ready(&obj->reserved) ? -ENOMEM : 0;
}

int object_note_extents(struct object *obj, uint64_t first, uint64_t count, bool unwritten)
{
	struct store_batch *batch = &obj->store->open;
	struct store_change change = { .kind = CHANGE_EXTENT, .unwritten = unwritten };
	size_t at = extent_map_find(&obj->map, first);
	const struct extent *ext;
	uint64_t end = first + count;

	/* All or none: what is noted twice could not be committed. */
	if (batch_reserve(batch, 1 + object_extents_within(obj, first, end), 0))
		return -ENOMEM;
	change.bs = obj->ref.block;
	change.id = obj->ref.id;
	for (; at < obj->map.n && first < end; at++) {
		ext = &obj->map.v[at];
		object_note(obj);
		change.block = first;
		change.start = ext->start + (first - ext->block) * obj->ref.block;
		change.count = ext->block + ext->count - first;
		if (change.count > end - first)
			change.count = end - first;
		batch_change(batch, &change);
		first += change.count;
	}
	return 0;
}

int object_note_mark(struct object *obj, uint64_t first, uint64_t count, bool unwritten)
{
	const struct store_change change = {
		.kind = CHANGE_MARK,
		.bs = obj->ref.block,
		.unwritten = unwritten,
		.id = obj->ref.id,
		.block = first,
		.count = count,
	};

	if (batch_reserve(&obj->store->open, 1, 0))
		return -ENOMEM;
	batch_change(&obj->store->open, &change);
	return 0;
}
