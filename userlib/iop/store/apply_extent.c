// SPDX-License-Identifier: LGPL-2.1-or-later
/* Applies changes to an object's extents, within a transaction of the worker; see apply.c. */
#include <errno.h>
#include "iop/store/priv.h"

static int extent_write(struct store *store, MDB_txn *txn, const struct rec_extent *rec)
{
	uint8_t key[REC_EXTENT_KEY_LEN], value[REC_EXTENT_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));

	rec_extent_key(key, rec->id, rec->block);
	rec_extent_put(value, rec);
	return mdb_put(txn, store->db.dbi[STORE_EXTENTS], &k, &v, 0);
}

static int extent_delete(struct store *store, MDB_txn *txn, const struct rec_extent *rec)
{
	uint8_t key[REC_EXTENT_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key));

	rec_extent_key(key, rec->id, rec->block);
	return mdb_del(txn, store->db.dbi[STORE_EXTENTS], &k, NULL);
}

static int extent_decode(const MDB_val *key, const MDB_val *val, struct rec_extent *rec)
{
	return rec_extent_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, rec);
}

/* Finds the extents of object @id around @block: @before starts below it, @after at or above; count 0:
 * none. */
static int extents_around(struct store *store, MDB_txn *txn, uint64_t id, uint64_t block,
			  struct rec_extent *before, struct rec_extent *after)
{
	uint8_t key[REC_EXTENT_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	MDB_cursor *cursor;
	int ret;

	before->count = 0;
	after->count = 0;
	ret = mdb_cursor_open(txn, store->db.dbi[STORE_EXTENTS], &cursor);
	if (ret)
		return ret;
	rec_extent_key(key, id, block);
	ret = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
	if (!ret)
		ret = extent_decode(&k, &v, after);
	if (!ret || ret == MDB_NOTFOUND)
		ret = mdb_cursor_get(cursor, &k, &v, ret ? MDB_LAST : MDB_PREV);
	if (!ret)
		ret = extent_decode(&k, &v, before);
	mdb_cursor_close(cursor);
	if (before->id != id)
		before->count = 0;
	if (after->id != id)
		after->count = 0;
	return ret == MDB_NOTFOUND ? 0 : ret;
}

static bool rec_continues(const struct rec_extent *a, const struct rec_extent *b, uint32_t bs)
{
	return a->count && b->count && a->unwritten == b->unwritten &&
	       a->block + a->count == b->block && a->start + a->count * bs == b->start;
}

/* Adds an extent; neighbours that continue it are merged into one record. */
static int extent_add(struct store *store, MDB_txn *txn, struct rec_extent rec, uint32_t bs)
{
	struct rec_extent before = { .id = 0 }, after = { .id = 0 };
	int ret = extents_around(store, txn, rec.id, rec.block, &before, &after);

	if (ret)
		return ret;
	if (before.count && before.block + before.count > rec.block)
		return -EUCLEAN;
	if (after.count && after.block < rec.block + rec.count)
		return -EUCLEAN;
	if (rec_continues(&rec, &after, bs)) {
		ret = extent_delete(store, txn, &after);
		rec.count += after.count;
	}
	/* It has the key of @before, and overwrites it. */
	if (rec_continues(&before, &rec, bs)) {
		before.count += rec.count;
		rec = before;
	}
	return ret ? ret : extent_write(store, txn, &rec);
}

/*
 * Takes out of the records what the first extent with blocks of [first, end) has there, into @rec;
 * count 0: there is none.  Its blocks outside the range stay.
 */
static int extent_take(struct store *store, MDB_txn *txn, const struct store_change *change,
		       uint64_t first, uint64_t end, struct rec_extent *rec)
{
	struct rec_extent after = { .id = 0 }, part;
	int ret;

	*rec = after;
	ret = extents_around(store, txn, change->id, first, rec, &after);
	if (!rec->count || rec->block + rec->count <= first)
		*rec = after;
	if (rec->count && rec->block >= end)
		rec->count = 0;
	if (ret || !rec->count)
		return ret;
	ret = extent_delete(store, txn, rec);
	if (!ret && rec->block + rec->count > end) {
		part = *rec;
		part.block = end;
		part.start += (end - rec->block) * change->bs;
		part.count = rec->block + rec->count - end;
		rec->count -= part.count;
		ret = extent_write(store, txn, &part);
	}
	if (!ret && rec->block < first) {
		part = *rec;
		part.count = first - rec->block;
		rec->block = first;
		rec->start += part.count * change->bs;
		rec->count -= part.count;
		ret = extent_write(store, txn, &part);
	}
	return ret;
}

int store_apply_extent(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	const struct rec_extent rec = {
		.id = change->id,
		.block = change->block,
		.start = change->start,
		.count = change->count,
		.unwritten = change->unwritten,
	};
	int ret = store_take_free(store, txn, rec.start, rec.count * change->bs);

	return ret ? ret : extent_add(store, txn, rec, change->bs);
}

int store_apply_mark(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	uint64_t at = change->block, end = at + change->count;
	struct rec_extent rec;
	int ret = 0;

	while (at < end && !ret) {
		ret = extent_take(store, txn, change, at, end, &rec);
		if (!ret && (!rec.count || rec.block != at))
			return -EUCLEAN;
		rec.unwritten = change->unwritten;
		at += rec.count;
		if (!ret)
			ret = extent_add(store, txn, rec, change->bs);
	}
	return ret;
}

/* Frees what the object has of the blocks. */
static int cut(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	uint64_t end = change->block + change->count;
	struct rec_extent rec;
	int ret;

	do {
		ret = extent_take(store, txn, change, change->block, end, &rec);
		if (!ret && rec.count && !rec.lost)
			ret = store_take_owner(store, txn, rec.start, rec.count * change->bs);
	} while (!ret && rec.count);
	return ret;
}

int store_apply_move(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	struct store_change shadow = *change;
	uint64_t at = change->block, end = at + change->count;
	struct rec_extent rec;
	int ret = cut(store, txn, change);

	shadow.id = change->start;
	while (at < end && !ret) {
		ret = extent_take(store, txn, &shadow, at, end, &rec);
		if (!ret && (!rec.count || rec.block != at || rec.lost))
			return -EUCLEAN;
		at += rec.count;
		rec.id = change->id;
		if (!ret)
			ret = extent_add(store, txn, rec, change->bs);
	}
	return ret;
}

/* Blocks get new places; what they had there before is freed. */
int store_apply_replace(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	int ret = cut(store, txn, change);

	return ret ? ret : store_apply_extent(store, txn, change);
}

int store_apply_share(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	const struct rec_extent rec = {
		.id = change->id,
		.block = change->block,
		.start = change->start,
		.count = change->count,
	};
	int ret = store_put_owner(store, txn, rec.start, rec.count * change->bs);

	return ret ? ret : extent_add(store, txn, rec, change->bs);
}

int store_apply_cut(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	uint64_t end = change->block + change->count;
	int ret = cut(store, txn, change);

	return ret ? ret : sums_cut(&store->sums, txn, change->id, change->bs, change->block, end);
}
