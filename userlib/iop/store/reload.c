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

/* Restores them, unless the repair gave their place or their number to others. */
static int restore_unwritten(struct object *obj, const struct places *places)
{
	struct store *store = obj->store;
	uint32_t bs = obj->ref.block;
	size_t i, at;
	int ret = 0;

	for (i = 0; i < places->n && !ret; i++) {
		const struct extent *ext = &places->v[i];

		at = extent_map_find(&obj->map, ext->block);
		if ((at < obj->map.n && obj->map.v[at].block < ext->block + ext->count) ||
		    !ranges_contain(&store->free, ext->start, ext->count * bs)) {
			ddio_env_log(store->env, DDIO_LOG_WARN,
				     "disk %s: %" PRIu64 " blocks of object %" PRIu64
				     " that were never written have lost their place",
				     store->label.name, ext->count, obj->ref.id);
			continue;
		}
		ret = ranges_remove(&store->free, ext->start, ext->count * bs);
		if (!ret)
			ret = extent_map_add(&obj->map, ext, 1, bs);
		if (!ret)
			ret = ranges_add(&obj->unwritten, ext->block, ext->count);
	}
	return ret;
}

static int fresh_keep(struct object *obj)
{
	struct ranges *free = &obj->store->free;
	const struct extent_map *map = &obj->fresh;
	size_t i;
	int ret = 0;

	/* Nothing that a repair does takes free space. */
	for (i = 0; i < map->n && !ret; i++)
		ret = ranges_remove(free, map->v[i].start, map->v[i].count * obj->ref.block);
	return ret;
}

/* Takes a place out of what is free, or adds an owner where it has one. */
static int hold_place(struct store *store, uint64_t start, uint64_t len)
{
	const struct range_node *free;
	uint64_t piece;
	int ret = 0;

	for (; len && !ret; start += piece, len -= piece) {
		free = ranges_find(&store->free, start);
		piece = len;
		if (free && free->start <= start) {
			if (piece > free->start + free->len - start)
				piece = free->start + free->len - start;
			ret = ranges_remove(&store->free, start, piece);
		} else {
			if (free && piece > free->start - start)
				piece = free->start - start;
			ret = shares_add(&store->shares, start, piece, 1);
		}
	}
	return ret;
}

static int hold_removed(struct object *obj)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < obj->map.n && !ret; i++)
		ret = hold_place(obj->store, obj->map.v[i].start,
				 obj->map.v[i].count * obj->ref.block);
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
static int keep(struct object *obj, const struct object *before, struct places *places)
{
	size_t i;
	int ret = 0;

	fini(obj);
	obj->map = before->map;
	obj->unwritten = before->unwritten;
	obj->reserved = before->reserved;
	obj->recorded = before->recorded;
	obj->refused = true;
	obj->damaged = before->damaged;
	for (i = 0; i < places->n && !ret; i++)
		ret = ranges_remove(&obj->store->free, places->v[i].start,
				    places->v[i].count * obj->ref.block);
	free(places->v);
	return ret;
}

int object_reload(struct object *obj)
{
	struct places places = { .v = NULL };
	const struct object before = *obj;
	int ret;

	if (obj->removed)
		return hold_removed(obj);
	ret = fresh_keep(obj);
	if (!ret)
		ret = collect_unwritten(obj, &places);
	if (ret)
		goto free_places;
	memset(&obj->map, 0, sizeof(obj->map));
	ranges_init(&obj->unwritten);
	ranges_init(&obj->reserved);
	obj->refused = false;
	obj->damaged = false;
	ret = load(obj);
	if (ret == -EUCLEAN)
		return keep(obj, &before, &places);
	fini(&before);
	if (!ret)
		ret = restore_unwritten(obj, &places);
free_places:
	free(places.v);
	return ret;
}
