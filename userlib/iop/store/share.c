// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Blocks that several objects have, at one place.  None of them writes there: a block gets a fresh place of its own first, in
 * memory only, as a block that had none; it is read where it was until it has been written, and then the record
 * changes its place and takes an owner from the old one.
 */
#include <errno.h>
#include <inttypes.h>
#include "iop/store/priv.h"

/* So many chunks of blocks get another owner in a turn, at most; an extent counts for some. */
#define SHARE_STEPS 4096u
#define SHARE_EXTENT 8u
/* And so many of an extent. */
#define SHARE_CHUNKS 1024u

/* Blocks are worn that lie in at least so many pieces, of fewer bytes than that on average; so many pieces are looked at. */
#define WORN_PIECES 8
#define WORN_PIECE (1u << 20)
#define WORN_LOOKS 65536

static int load_one(void *arg, const MDB_val *key, const MDB_val *val)
{
	struct store *store = arg;
	struct rec_shared rec;
	int ret = rec_shared_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);

	if (!ret)
		return shares_add(&store->shares, rec.start, rec.len, rec.more);
	ddio_env_log(store->env, DDIO_LOG_ERR,
		     "disk %s: a record of what objects share is damaged: until 'ddio fsck' has "
		     "repaired it, nothing is written in place",
		     store->label.name);
	return shares_add(&store->shares, 0, store->size, 1);
}

int store_load_shares(struct store *store)
{
	shares_fini(&store->shares);
	return lmdb_each(&store->db, STORE_SHARED, load_one, store);
}

bool fresh_has(const struct object *obj, uint64_t block)
{
	size_t at = extent_map_find(&obj->fresh, block);

	return at < obj->fresh.n && obj->fresh.v[at].block <= block;
}

bool object_target(const struct object *obj, uint64_t block, uint64_t *start, uint64_t *run,
		   bool *written)
{
	size_t at = extent_map_find(&obj->fresh, block);
	const struct extent *ext = at < obj->fresh.n ? &obj->fresh.v[at] : NULL;
	uint64_t len;
	bool there;

	if (ext && ext->block <= block && !obj->removed) {
		*start = ext->start + (block - ext->block) * obj->ref.block;
		*run = ext->block + ext->count - block;
		*written = false;
		return true;
	}
	there = object_lookup(obj, block, start, run, written);
	if (ext && *run > ext->block - block)
		*run = ext->block - block;
	if (!there || !*written)
		return there;
	len = *run * obj->ref.block;
	there = !shares_at(&obj->store->shares, *start, &len);
	*run = len / obj->ref.block;
	*written = there;
	return there;
}

/**
 * struct blocks - some that follow one another
 */
struct blocks {
	uint64_t first, count;
};

/* Finds the next blocks of [block, end) that others have, too, and that have no fresh place; count 0: none. */
static struct blocks next_shared(const struct object *obj, uint64_t block, uint64_t end)
{
	uint64_t start, at, run;
	bool written;

	for (; block < end; block += run) {
		if (object_target(obj, block, &start, &run, &written))
			continue;
		if (run > end - block)
			run = end - block;
		/* A hole has no place that others could have. */
		if (object_lookup(obj, block, &start, &at, &written))
			return (struct blocks){ block, run };
	}
	return (struct blocks){ .count = 0 };
}

uint64_t fresh_missing(const struct object *obj, uint64_t first, uint64_t count)
{
	uint64_t end = first + count, missing = 0;
	struct blocks b;

	if (!obj->store->shares.n)
		return 0;
	for (b = next_shared(obj, first, end); b.count;
	     b = next_shared(obj, b.first + b.count, end))
		missing += b.count;
	return missing;
}

/* Finds the next blocks that need a place, whatever pieces they lie in now. */
static struct blocks next_missing(const struct object *obj, uint64_t block, uint64_t end)
{
	struct blocks b = next_shared(obj, block, end), more = b;

	while (more.count && b.first + b.count < end) {
		more = next_shared(obj, b.first + b.count, end);
		if (more.first != b.first + b.count)
			break;
		b.count += more.count;
	}
	return b;
}

int fresh_place(struct object *obj, uint64_t first, uint64_t count, struct places *places)
{
	uint64_t end = first + count;
	struct blocks b;
	int ret = 0;

	if (!obj->store->shares.n)
		return 0;
	for (b = next_missing(obj, first, end); b.count && !ret;
	     b = next_missing(obj, b.first + b.count, end))
		ret = layout_place(obj, b.first, b.count, places);
	return ret;
}

/* Returns true if the blocks were all written, and lie in so many small pieces that it is better to write them elsewhere. */
static bool is_worn(const struct object *obj, uint64_t first, uint64_t count)
{
	uint64_t at, start, to, run, n = 0, behind = 0;
	bool written;

	for (at = first; at - first < count && n < WORN_LOOKS; at += run) {
		if (!object_lookup(obj, at, &start, &run, &written) || !written)
			return false;
		object_target(obj, at, &to, &run, &written);
		if (to != start && fresh_has(obj, at))
			return false;
		n += start != behind;
		behind = start + run * obj->ref.block;
	}
	return n >= WORN_PIECES && count * obj->ref.block / n < WORN_PIECE;
}

bool object_renew(struct object *obj, uint64_t first, uint64_t count)
{
	struct store *store = obj->store;
	uint32_t bs = obj->ref.block, align = bs < 4096 ? bs : 4096;
	struct extent ext = { .block = first, .count = count };
	uint64_t len = count * bs;

	if (obj->ref.layout != DDIO_LAYOUT_CONTIGUOUS_W || obj->removed || obj->refused ||
	    obj->frozen || first > STORE_MAX_BLOCKS || count > object_blocks(obj) ||
	    len > store->free.total / 2 || !is_worn(obj, first, count))
		return false;
	if (!ranges_fit(&store->free, 0, len, align, &ext.start) || !store_room(store) ||
	    extent_map_reserve(&obj->fresh, 1) || ranges_remove(&store->free, ext.start, len))
		return false;
	return !extent_map_add(&obj->fresh, &ext, 1, bs);
}

static int part_written(struct object *obj, const struct extent *part)
{
	const struct store_change change = {
		.kind = CHANGE_REPLACE,
		.bs = obj->ref.block,
		.id = obj->ref.id,
		.block = part->block,
		.start = part->start,
		.count = part->count,
	};
	uint64_t end = part->block + part->count;

	/* Each of the two maps may get one more extent by the cut, and that of the object this one. */
	if (extent_map_reserve(&obj->fresh, 1) || extent_map_reserve(&obj->map, 2) ||
	    batch_reserve(&obj->store->open, 2, 0) || object_cut_ready(obj, part->block, end))
		return -ENOMEM;
	object_note(obj);
	batch_change(&obj->store->open, &change);
	object_cut(obj, part->block, end);
	extent_map_add(&obj->map, part, 1, obj->ref.block);
	extent_map_cut(&obj->fresh, part->block, end, obj->ref.block);
	return 0;
}

int fresh_written(struct object *obj, uint64_t first, uint64_t end)
{
	uint32_t bs = obj->ref.block;
	struct extent part;
	int ret = 0;

	for (part = extent_map_part(&obj->fresh, first, end, bs); part.count && !ret;
	     part = extent_map_part(&obj->fresh, part.block + part.count, end, bs))
		ret = part_written(obj, &part);
	return ret;
}

uint64_t object_shared(const struct object *obj)
{
	const struct shares *shares = &obj->store->shares;
	uint64_t at, end, len, n = 0;
	size_t i;

	for (i = 0; i < obj->map.n && shares->n; i++) {
		at = obj->map.v[i].start;
		end = at + obj->map.v[i].count * obj->ref.block;
		for (; at < end; at += len) {
			len = end - at;
			n += shares_at(shares, at, &len) ? len : 0;
		}
	}
	return n / obj->ref.block;
}

/* Loads them, so that copy_sums() cannot fail. */
static int ready_sums(struct object *to, uint64_t first, const struct object *from, uint64_t at,
		      uint64_t count)
{
	const struct sums_block a = { from->ref.id, at, from->ref.block };
	const struct sums_block b = { to->ref.id, first, to->ref.block };
	int ret = sums_ready(&to->store->sums, &a, count);

	return ret ? ret : sums_ready(&to->store->sums, &b, count);
}

static void copy_sums(struct object *to, uint64_t first, const struct object *from, uint64_t at,
		      uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++) {
		const struct sums_block a = { from->ref.id, at + i, from->ref.block };
		const struct sums_block b = { to->ref.id, first + i, to->ref.block };

		sums_move(&to->store->sums, &a, &b);
	}
}

/* Gives an extent in place of what @to has there: 0, or -ENOMEM with nothing changed. */
static int give(struct object *to, const struct extent *ext)
{
	const struct store_change change = {
		.kind = CHANGE_SHARE,
		.bs = to->ref.block,
		.id = to->ref.id,
		.block = ext->block,
		.start = ext->start,
		.count = ext->count,
	};
	uint64_t len = ext->count * to->ref.block;
	int ret;

	if (batch_reserve(&to->store->open, 3, 0) || extent_map_reserve(&to->map, 2))
		return -ENOMEM;
	ret = shares_add(&to->store->shares, ext->start, len, 1);
	if (ret)
		return ret;
	ret = object_punch(to, ext->block, ext->count);
	if (ret) {
		store_give_back(to->store, ext->start, len);
		return ret;
	}
	object_note(to);
	batch_change(&to->store->open, &change);
	extent_map_add(&to->map, ext, 1, to->ref.block);
	to->seq = to->store->seq;
	return 0;
}

/* Shares the first of the blocks, as far as they are alike; @steps: how many chunks and extents that were. */
static int share_run(struct object *to, uint64_t first, struct object *from, uint64_t at,
		     uint64_t *count, uint64_t *steps)
{
	uint32_t chunks = sums_chunks(to->ref.block);
	struct extent ext = { .block = first };
	uint64_t run;
	bool written, there = object_lookup(from, at, &ext.start, &run, &written) && written;
	int ret;

	if (there && run > SHARE_CHUNKS / chunks)
		run = SHARE_CHUNKS / chunks;
	if (run < *count)
		*count = run;
	ext.count = *count;
	*steps = SHARE_EXTENT + (there ? *count * chunks : 0);
	if (!there)
		return object_punch(to, first, *count);
	ret = ready_sums(to, first, from, at, *count);
	if (!ret)
		ret = give(to, &ext);
	if (!ret)
		copy_sums(to, first, from, at, *count);
	return ret;
}

int object_share(struct object *to, uint64_t first, struct object *from, uint64_t at,
		 uint64_t *count)
{
	uint64_t done = 0, n, took, steps = SHARE_STEPS;
	int ret = 0;

	if (to->removed || from->removed)
		return -ENOENT;
	if (to->frozen)
		return -EROFS;
	if (to->ref.block != from->ref.block)
		return -EINVAL;
	if (first > STORE_MAX_BLOCKS || at > STORE_MAX_BLOCKS || *count > STORE_MAX_BLOCKS)
		return -EFBIG;
	if (!store_room(to->store))
		return -ENOSPC;
	while (done < *count && steps && !ret && !sums_pressed(&to->store->sums)) {
		n = *count - done;
		ret = share_run(to, first + done, from, at + done, &n, &took);
		done += ret ? 0 : n;
		steps -= took < steps ? took : steps;
	}
	*count = done;
	return done ? 0 : ret;
}
