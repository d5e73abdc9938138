// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A move of blocks to another place.  Only the mover knows the new one until the disk has the blocks there; then, in one turn, they
 * become blocks with fresh places that have been written, as one that several objects have does when one of them writes
 * it (share.c): the next commit records the new place with the sum, and frees the old one.
 */
#include <errno.h>
#include "iop/store/mend/mend.h"
#include "iop/store/priv.h"

/* Returns true if all of the blocks were written, and no other object has them. */
static bool all_movable(const struct object *obj, uint64_t first, uint64_t count)
{
	uint64_t start, there, run, n, end = first + count;
	bool written;

	if (obj->removed || obj->refused)
		return false;
	for (; first < end; first += run) {
		if (!object_target(obj, first, &start, &run, &written) || !written ||
		    !object_lookup(obj, first, &there, &n, &written) || there != start)
			return false;
	}
	return true;
}

int store_move_begin(struct store_move *move, struct object *obj, uint64_t first, uint64_t count,
		     uint64_t start)
{
	struct store *store = obj->store;
	uint64_t len = count * obj->ref.block;

	*move = (struct store_move){
		.place = { .start = start, .len = len }, .obj = obj, .first = first, .count = count
	};
	ddio_list_init(&move->place.link);
	if (!all_movable(obj, first, count))
		return -ESTALE;
	if (!ranges_contain(&store->free, start, len))
		return -EAGAIN;
	if (!store_room(store))
		return -ENOSPC;
	if (ranges_remove(&store->free, start, len))
		return -ENOMEM;
	ddio_list_add(&move->place.link, &store->moves);
	return 0;
}

/* Blocks of the object have fresh places, which have been written.  Returns how many of them were recorded to have. */
static uint64_t written(struct object *obj, uint64_t first, uint64_t count, const uint8_t *data)
{
	uint64_t i;

	for (i = 0; i < count; i++, data += obj->ref.block) {
		if (object_write_begin(obj, first + i) ||
		    object_write_end(obj, first + i, true, data))
			break;
	}
	return i;
}

int store_move_end(struct store_move *move, uint64_t count, const void *data)
{
	struct object *obj = move->obj;
	const struct store_taken *place = &move->place;
	const struct extent ext = { .block = move->first, .start = place->start, .count = count };
	uint64_t len = count * obj->ref.block;
	int ret = count && !all_movable(obj, move->first, count) ? -ESTALE : 0;

	ddio_list_del(&move->place.link);
	/* What of it is free in the records is found free by the next start. */
	if (place->lost)
		return -ESTALE;
	if (!ret && count)
		ret = extent_map_reserve(&obj->fresh, 1);
	if (ret)
		len = 0;
	store_give_back(obj->store, place->start + len, place->len - len);
	if (!len)
		return ret;
	extent_map_add(&obj->fresh, &ext, 1, obj->ref.block);
	if (written(obj, move->first, count, data) == count)
		return 0;
	(void)fresh_drop(obj, move->first, move->first + count);
	return -ENOMEM;
}

struct store_space store_space(const struct store *store)
{
	return (struct store_space){ .free = store_free_bytes(store),
				     .ranges = store->free.n,
				     .longest = ranges_longest(&store->free) };
}
