// SPDX-License-Identifier: LGPL-2.1-or-later
/* The blocks of an object: looks them up, allocates them, marks them written, removes the object. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "iop/store/priv.h"

#define AHEAD_GROUPS 8
/* What it takes to have a group recorded, where to look at one is 1. */
#define OPEN_STEPS 8

bool object_lookup(const struct object *obj, uint64_t block, uint64_t *start, uint64_t *run,
		   bool *written)
{
	const struct extent_map *map = &obj->map;
	size_t at = extent_map_find(map, block);
	const struct extent *ext = at < map->n ? &map->v[at] : NULL;
	const struct range_node *raw;

	*written = false;
	*start = 0;
	if (obj->removed || !ext || ext->block > block) {
		*run = (obj->removed || !ext ? UINT64_MAX : ext->block) - block;
		return false;
	}
	*start = ext->start + (block - ext->block) * obj->ref.block;
	*run = ext->block + ext->count - block;
	raw = ranges_find(&obj->unwritten, block);
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

/* Finds the next gap in [block, end); count 0: none. */
static struct gap next_gap(const struct extent_map *map, uint64_t block, uint64_t end)
{
	size_t at = extent_map_find(map, block);

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

static uint64_t count_missing(const struct object *obj, uint64_t first, uint64_t count)
{
	struct gap gap = next_gap(&obj->map, first, first + count);
	uint64_t missing = 0;

	for (; gap.count; gap = next_gap(&obj->map, gap.first + gap.count, first + count))
		missing += gap.count;
	return missing;
}

static int place_gaps(struct object *obj, uint64_t first, uint64_t count, struct places *places)
{
	struct gap gap = next_gap(&obj->map, first, first + count);
	int ret = 0;

	for (; gap.count && !ret; gap = next_gap(&obj->map, gap.first + gap.count, first + count))
		ret = layout_place(obj, gap.first, gap.count, places);
	return ret;
}

/* Gives @places to the object, as never written. */
static int adopt(struct object *obj, const struct places *places)
{
	size_t i;
	int ret;

	ret = extent_map_reserve(&obj->map, places->n);
	for (i = 0; i < places->n && !ret; i++)
		ret = ranges_add(&obj->unwritten, places->v[i].block, places->v[i].count);
	if (!ret)
		return extent_map_add(&obj->map, places->v, places->n, obj->ref.block);
	for (i = 0; i < places->n; i++)
		ranges_remove(&obj->unwritten, places->v[i].block, places->v[i].count);
	return ret;
}

/* Returns 0 if so many blocks may get places; @missing: how many have none, or with @shared: none to themselves. */
static int may_alloc(struct object *obj, uint64_t first, uint64_t count, bool shared,
		     uint64_t *missing)
{
	struct store *store = obj->store;

	if (obj->removed)
		return -ENOENT;
	if (obj->refused || obj->frozen)
		return obj->refused ? -EUCLEAN : -EROFS;
	if (first > STORE_MAX_BLOCKS || count > STORE_MAX_BLOCKS)
		return -EFBIG;
	*missing = count_missing(obj, first, count);
	if (shared)
		*missing += fresh_missing(obj, first, count);
	if (*missing > (store->free.total + store->giving) / obj->ref.block)
		return -ENOSPC;
	return *missing && !store_room(store) ? -ENOSPC : 0;
}

int object_room(struct object *obj, uint64_t first, uint64_t count)
{
	uint64_t missing;

	return may_alloc(obj, first, count, false, &missing);
}

/* After an error what was taken is free again. */
static void places_end(const struct object *obj, struct places *places, int err)
{
	size_t i;

	for (i = 0; err && i < places->n; i++)
		store_give_back(obj->store, places->v[i].start,
				places->v[i].count * obj->ref.block);
	free(places->v);
}

static int place_once(struct object *obj, uint64_t first, uint64_t count, bool shared)
{
	struct places places = { .v = NULL }, fresh = { .v = NULL };
	int ret = place_gaps(obj, first, count, &places);

	if (!ret && shared)
		ret = fresh_place(obj, first, count, &fresh);
	if (!ret)
		ret = extent_map_reserve(&obj->fresh, fresh.n);
	if (!ret)
		ret = adopt(obj, &places);
	if (!ret && fresh.n)
		extent_map_add(&obj->fresh, fresh.v, fresh.n, obj->ref.block);
	places_end(obj, &places, ret);
	places_end(obj, &fresh, ret);
	return ret;
}

static int alloc(struct object *obj, uint64_t first, uint64_t count, bool shared)
{
	struct store *store = obj->store;
	uint64_t missing, steps = store->bounds->at[BOUND_FREED].limit;
	int ret = may_alloc(obj, first, count, shared, &missing);

	if (ret || !missing)
		return ret;
	if (steps < missing)
		steps = missing;
	do
		ret = place_once(obj, first, count, shared);
	while (ret == -ENOSPC && store_give(store, steps));
	return ret;
}

int object_alloc(struct object *obj, uint64_t first, uint64_t count)
{
	return alloc(obj, first, count, true);
}

int object_alloc_gaps(struct object *obj, uint64_t first, uint64_t count)
{
	return alloc(obj, first, count, false);
}

static bool is_scattered(const struct object *obj)
{
	return obj->ref.layout != DDIO_LAYOUT_CONTIGUOUS_W;
}

uint64_t object_stretch(const struct object *obj, uint64_t first, uint64_t count, uint64_t steps)
{
	uint64_t at = first, start, run;
	bool there, written;

	for (; at - first < count && steps; steps--, at += run) {
		there = object_lookup(obj, at, &start, &run, &written);
		if (run > first + count - at)
			run = first + count - at;
		if (there || !is_scattered(obj))
			continue;
		/* Each block is placed by itself. */
		if (run > steps)
			run = steps;
		steps -= run - 1;
	}
	return at - first;
}

/* Notes that unwritten blocks [first, *end) have been written; *end is lowered to where one change no
 * longer describes them. */
static int note_written(struct object *obj, uint64_t first, uint64_t *end)
{
	const struct range_node *kept = ranges_find(&obj->reserved, first);
	int ret = object_ranges_ready(obj);

	if (ret)
		return ret;
	if (kept && kept->start <= first) {
		if (*end > kept->start + kept->len)
			*end = kept->start + kept->len;
		ret = object_note_mark(obj, first, *end - first, false);
		return ret ? ret : ranges_remove(&obj->reserved, first, *end - first);
	}
	if (kept && kept->start < *end)
		*end = kept->start;
	return object_note_extents(obj, first, *end - first, false);
}

int object_written(struct object *obj, uint64_t first, uint64_t count)
{
	const struct range_node *raw;
	uint64_t end = first + count, from, to;

	if (obj->removed || end < first)
		return 0;
	if (obj->fresh.n && fresh_written(obj, first, end))
		return -ENOMEM;
	for (raw = ranges_find(&obj->unwritten, first); raw && raw->start < end;
	     raw = ranges_find(&obj->unwritten, first)) {
		from = raw->start > first ? raw->start : first;
		to = raw->start + raw->len < end ? raw->start + raw->len : end;
		if (note_written(obj, from, &to))
			return -ENOMEM;
		ranges_remove(&obj->unwritten, from, to - from);
		obj->seq = obj->store->seq;
		first = to;
	}
	return 0;
}

static struct sums_block sums_block(const struct object *obj, uint64_t block)
{
	return (struct sums_block){ .id = obj->ref.id, .block = block, .bs = obj->ref.block };
}

/* Returns true if records say nothing of the block, or of a block that has its place. */
static bool block_fresh(const struct object *obj, uint64_t block)
{
	if (fresh_has(obj, block))
		return true;
	return ranges_contain(&obj->unwritten, block, 1) &&
	       !ranges_contain(&obj->reserved, block, 1);
}

int object_write_begin(struct object *obj, uint64_t block)
{
	const struct sums_block b = sums_block(obj, block);

	if (obj->removed)
		return 0;
	if (sums_pressed(&obj->store->sums))
		store_press(obj->store);
	return sums_write_begin(&obj->store->sums, &b, block_fresh(obj, block));
}

bool object_write_ahead(struct object *obj, uint64_t first, uint64_t count, uint32_t *steps)
{
	uint64_t per = SUMS_GROUP / sums_chunks(obj->ref.block), at = first;
	uint64_t end = object_end(obj);
	bool wait = false;

	for (; at - first < count && at < end && !obj->removed && *steps; at += per - at % per) {
		const struct sums_block b = sums_block(obj, at);
		bool opened = sums_open_ahead(&obj->store->sums, &b);
		uint32_t took = opened ? OPEN_STEPS : 1;

		*steps -= took < *steps ? took : *steps;
		wait |= opened;
	}
	return wait;
}

bool object_write_soon(struct object *obj, uint64_t block)
{
	uint64_t per = SUMS_GROUP / sums_chunks(obj->ref.block);
	uint32_t one = 1, more = AHEAD_GROUPS * OPEN_STEPS;

	if (fresh_has(obj, block) || !object_write_ahead(obj, block, 1, &one))
		return false;
	/* Where one group is written again, others follow. */
	object_write_ahead(obj, block, AHEAD_GROUPS * per, &more);
	return true;
}

/* Returns true if the next commit records something of the block when it has been written. */
static bool block_due(const struct object *obj, uint64_t block)
{
	return ranges_contain(&obj->unwritten, block, 1) || fresh_has(obj, block);
}

_Static_assert(DDIO_DISK_SUM_LEN == SUMS_CHUNK, "what an engine sums is a chunk");

static const uint32_t *made_sums(const struct object *obj, const struct ddio_disk_sums *made)
{
	return made && made->n == sums_chunks(obj->ref.block) ? made->sum : NULL;
}

static void write_failed(struct object *obj, uint64_t block)
{
	const struct sums_block b = sums_block(obj, block);

	if (fresh_has(obj, block))
		sums_write_none(&obj->store->sums, &b);
	else
		sums_write_end(&obj->store->sums, &b, NULL, false);
}

/* What cannot be noted for lack of memory counts as not written: the block stays as it was, and may be written again. */
static int write_end(struct object *obj, uint64_t block, bool written, const struct sums_data *data)
{
	const struct sums_block b = sums_block(obj, block);
	bool due = block_due(obj, block);
	int ret;

	if (obj->removed)
		return 0;
	ret = written ? object_written(obj, block, 1) : 0;
	if (ret || !written)
		write_failed(obj, block);
	else
		sums_write_end(&obj->store->sums, &b, data, due);
	return ret;
}

int object_write_end(struct object *obj, uint64_t block, bool written, const void *data)
{
	const struct sums_data known = { .bytes = data };

	return write_end(obj, block, written, data ? &known : NULL);
}

int object_write_made(struct object *obj, uint64_t block, const void *data,
		      const struct ddio_disk_sums *made)
{
	const struct sums_data known = { .bytes = data, .made = made_sums(obj, made) };

	return write_end(obj, block, true, &known);
}

bool object_sums(const struct object *obj)
{
	return obj->store->sums.on;
}

bool object_takes_sum(const struct object *obj)
{
	return object_sums(obj) && sums_chunks(obj->ref.block) == 1;
}

int object_write_told(struct object *obj, uint64_t block, uint32_t sum)
{
	const struct sums_block b = sums_block(obj, block);
	bool due = block_due(obj, block);
	int ret;

	if (obj->removed)
		return 0;
	ret = object_written(obj, block, 1);
	if (ret)
		write_failed(obj, block);
	else
		sums_write_told(&obj->store->sums, &b, sum, due);
	return ret;
}

/* Says in the log which chunk of a block differs from its checksum. */
static void say_differs(const struct object *obj, uint64_t block, uint32_t chunk, bool adopted)
{
	const struct store *store = obj->store;
	uint64_t start = 0, run;
	bool written;

	object_lookup(obj, block, &start, &run, &written);
	ddio_env_log(store->env, adopted ? DDIO_LOG_INFO : DDIO_LOG_ERR,
		     "disk %s: block %" PRIu64 " of object %" PRIu64 ", at byte %" PRIu64
		     " of the disk, %s",
		     store->label.name, block, obj->ref.id,
		     start + (uint64_t)chunk * sums_chunk(obj->ref.block),
		     adopted ? "was being written when the node went down, and is taken as it is"
			     : "does not match its checksum");
}

int object_check_made(struct object *obj, uint64_t block, const void *data,
		      const struct ddio_disk_sums *made)
{
	const struct sums_data known = { .bytes = data, .made = made_sums(obj, made) };
	const struct sums_block b = sums_block(obj, block);
	struct sums *sums = &obj->store->sums;
	uint64_t adopted = sums->count.adopted;
	uint32_t chunk = 0;
	int ret = obj->removed ? 0 : sums_check(sums, &b, &known, &chunk);

	if (ret == -EBADMSG || sums->count.adopted != adopted)
		say_differs(obj, block, chunk, ret != -EBADMSG);
	return ret;
}

int object_check(struct object *obj, uint64_t block, const void *data)
{
	return object_check_made(obj, block, data, NULL);
}

int object_scrub(struct object *obj, uint64_t block, const void *data, uint32_t *given,
		 uint64_t *byte)
{
	const struct sums_data known = { .bytes = data };
	const struct sums_block b = sums_block(obj, block);
	struct store *store = obj->store;
	uint32_t chunk = 0;
	uint64_t run;
	bool written;
	int ret = obj->removed ? 0 : sums_check(&store->sums, &b, &known, &chunk);

	*given = 0;
	if (ret == -EBADMSG) {
		object_lookup(obj, block, byte, &run, &written);
		*byte += (uint64_t)chunk * sums_chunk(obj->ref.block);
	}
	/* Sums are records, too, and need room. */
	if (ret || obj->removed || !sums_lack(&store->sums, &b) || !store_room(store))
		return ret;
	ret = sums_give(&store->sums, &b, data);
	*given = ret > 0 ? (uint32_t)ret : 0;
	return ret < 0 ? ret : 0;
}

bool object_lacks(struct object *obj, uint64_t block)
{
	const struct sums_block b = sums_block(obj, block);

	return !obj->removed && sums_lack(&obj->store->sums, &b);
}

int object_remove(struct object *obj)
{
	struct store *store = obj->store;
	const struct store_change change = {
		.kind = CHANGE_REMOVE,
		.bs = obj->ref.block,
		.id = obj->ref.id,
		.count = UINT64_MAX,
	};

	if (obj->removed)
		return -ENOENT;
	if (batch_reserve(&store->open, 1, 0))
		return -ENOMEM;
	batch_change(&store->open, &change);
	sums_forget(&store->sums, obj->ref.id);
	obj->removed = true;
	obj->seq = store->seq;
	store->objects--;
	return 0;
}

int object_sum(struct object *obj, uint64_t block, uint32_t *sum)
{
	const struct sums_block b = sums_block(obj, block);

	return obj->removed ? 0 : sums_whole(&obj->store->sums, &b, sum);
}

bool object_sum_range(struct object *obj, uint64_t block, uint32_t from, uint32_t to, uint32_t *sum)
{
	const struct sums_block b = sums_block(obj, block);

	return !obj->removed && sums_range(&obj->store->sums, &b, from, to, sum);
}

bool object_prove(struct object *obj, uint64_t block, uint32_t expected)
{
	const struct sums_block b = sums_block(obj, block);
	const struct store *store = obj->store;

	if (obj->removed || sums_prove(&obj->store->sums, &b, expected))
		return true;
	ddio_env_log(store->env, DDIO_LOG_ERR,
		     "disk %s: block %" PRIu64 " of object %" PRIu64
		     " changed in memory before it was written: it is an error until it is "
		     "written again",
		     store->label.name, block, obj->ref.id);
	return false;
}

void object_compared(struct object *obj, uint64_t block, bool same)
{
	const struct sums_block b = sums_block(obj, block);

	sums_compared(&obj->store->sums, &b, same);
	if (!same)
		say_differs(obj, block, 0, false);
}
