// SPDX-License-Identifier: LGPL-2.1-or-later
/* Brings objects in memory in line with repaired records. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "iop/store/priv.h"

/* Returns how many of the @run blocks from @block on are, or are not, *reserved. */
static uint64_t reserved_run(const struct object *obj, uint64_t block, uint64_t run, bool *reserved)
{
	const struct range_node *kept = ranges_find(&obj->reserved, block);
	uint64_t end;

	*reserved = kept && kept->start <= block;
	if (!kept)
		return run;
	end = *reserved ? kept->start + kept->len : kept->start;
	return end - block < run ? end - block : run;
}

/* Collects the blocks that exist in memory only: neither written nor reserved. */
static int collect_unwritten(const struct object *obj, struct places *places)
{
	const struct range_node *raw = ranges_find(&obj->unwritten, 0);
	uint64_t start, run, block;
	struct extent *v;
	bool written, reserved;

	while (raw) {
		for (block = raw->start; block < raw->start + raw->len; block += run) {
			if (!object_lookup(obj, block, &start, &run, &written))
				return -EUCLEAN;
			run = reserved_run(obj, block, run, &reserved);
			if (reserved)
				continue;
			v = realloc(places->v, (places->n + 1) * sizeof(*v));
			if (!v)
				return -ENOMEM;
			places->v = v;
			v[places->n++] = (struct extent){ block, start, run };
		}
		raw = ranges_find(&obj->unwritten, raw->start + raw->len);
	}
	return 0;
}

static int hold(struct ranges *held, const struct extent *v, size_t n, uint32_t bs)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		/* What was removed may have been shared. */
		ret = ranges_remove(held, v[i].start, v[i].count * bs);
		if (!ret)
			ret = ranges_add(held, v[i].start, v[i].count * bs);
	}
	return ret;
}

static int object_held(const struct object *obj, struct ranges *held)
{
	struct places places = { .v = NULL };
	uint32_t bs = obj->ref.block;
	int ret = hold(held, obj->fresh.v, obj->fresh.n, bs);

	if (!ret && obj->removed)
		return hold(held, obj->map.v, obj->map.n, bs);
	if (!ret)
		ret = collect_unwritten(obj, &places);
	if (!ret)
		ret = hold(held, places.v, places.n, bs);
	free(places.v);
	return ret;
}

void store_moves_lose(struct store *store, uint64_t start, uint64_t len)
{
	struct store_taken *taken;

	ddio_list_for_each_entry(taken, &store->moves, link)
		taken->lost |= taken->start < start + len && start < taken->start + taken->len;
}

int store_held(struct store *store, struct ranges *held)
{
	const struct store_taken *taken;
	struct ddio_hash_walk walk;
	struct object *obj;
	int ret = 0;

	ddio_list_for_each_entry(taken, &store->moves, link)
		if (!ret && !taken->lost)
			ret = ranges_add(held, taken->start, taken->len);

	ddio_hash_for_each(obj, &walk, &store->hash, node)
		if (!ret)
			ret = object_held(obj, held);
	return ret;
}

/* Returns true if something of it is in the set. */
static bool overlaps(const struct ranges *set, uint64_t start, uint64_t len)
{
	const struct range_node *node = ranges_find(set, start);

	return node && node->start < start + len;
}

/* Gives up a place, but for what is others'. */
static int give_up(struct store *store, const struct ranges *taken, uint64_t start, uint64_t len)
{
	const struct range_node *other;
	uint64_t end = start + len, to;
	int ret = 0;

	for (; start < end && !ret; start = to) {
		other = ranges_find(taken, start);
		to = other && other->start < end ? other->start : end;
		if (to > start)
			ret = ranges_add(&store->free, start, to - start);
		else
			to = other->start + other->len;
	}
	return ret;
}

/* Restores them, unless the repair gave their place or their number to others. */
static int restore_unwritten(struct object *obj, const struct places *places,
			     const struct ranges *taken)
{
	struct store *store = obj->store;
	uint32_t bs = obj->ref.block;
	size_t i, at;
	int ret = 0;

	for (i = 0; i < places->n && !ret; i++) {
		const struct extent *ext = &places->v[i];

		at = extent_map_find(&obj->map, ext->block);
		if ((at < obj->map.n && obj->map.v[at].block < ext->block + ext->count) ||
		    overlaps(taken, ext->start, ext->count * bs)) {
			ddio_env_log(store->env, DDIO_LOG_WARN,
				     "disk %s: %" PRIu64 " blocks of object %" PRIu64
				     " that were never written have lost their place",
				     store->label.name, ext->count, obj->ref.id);
			ret = give_up(store, taken, ext->start, ext->count * bs);
			continue;
		}
		ret = extent_map_add(&obj->map, ext, 1, bs);
		if (!ret)
			ret = ranges_add(&obj->unwritten, ext->block, ext->count);
	}
	return ret;
}

/* What an object that was removed has of others' becomes theirs alone when it goes. */
static int hold_removed(struct object *obj, const struct ranges *taken)
{
	uint32_t bs = obj->ref.block;
	uint64_t start, end, to;
	size_t i;
	int ret = 0;

	for (i = 0; i < obj->map.n; i++) {
		end = obj->map.v[i].start + obj->map.v[i].count * bs;
		for (start = obj->map.v[i].start; start < end && !ret; start = to) {
			const struct range_node *other = ranges_find(taken, start);

			if (!other || other->start >= end)
				break;
			start = other->start > start ? other->start : start;
			to = other->start + other->len < end ? other->start + other->len : end;
			ret = shares_add(&obj->store->shares, start, to - start, 1);
		}
	}
	return ret;
}

static int load(struct object *obj)
{
	uint64_t next = 0, steps = UINT64_MAX;
	struct rec_object rec;
	int ret = lmdb_read_begin(&obj->store->db);

	if (ret)
		return ret;
	ret = store_load_header(obj->store, obj->ref.id, &rec);
	obj->recorded = !ret;
	if (!ret)
		ret = store_load_extents(obj, &next, &steps);
	lmdb_read_end(&obj->store->db);
	return ret == -ENOENT ? 0 : ret;
}

static void fini(const struct object *obj)
{
	struct object old = *obj;

	extent_map_fini(&old.map);
	ranges_fini(&old.unwritten);
	ranges_fini(&old.reserved);
}

/* Its users go on with what memory has of it; nobody else gets it.  Its space is not free in the records. */
static int keep(struct object *obj, const struct object *before)
{
	fini(obj);
	obj->map = before->map;
	obj->unwritten = before->unwritten;
	obj->reserved = before->reserved;
	obj->recorded = before->recorded;
	obj->refused = true;
	obj->damaged = before->damaged;
	return 0;
}

int object_reload(struct object *obj, const struct ranges *taken)
{
	struct places places = { .v = NULL };
	const struct object before = *obj;
	int ret;

	if (obj->removed)
		return hold_removed(obj, taken);
	ret = collect_unwritten(obj, &places);
	if (ret)
		goto free_places;
	memset(&obj->map, 0, sizeof(obj->map));
	ranges_init(&obj->unwritten);
	ranges_init(&obj->reserved);
	obj->refused = false;
	obj->damaged = false;
	ret = load(obj);
	if (ret == -EUCLEAN) {
		ret = keep(obj, &before);
		goto free_places;
	}
	fini(&before);
	if (!ret)
		ret = restore_unwritten(obj, &places, taken);
free_places:
	free(places.v);
	return ret;
}
