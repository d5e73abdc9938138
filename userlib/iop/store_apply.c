// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Changes of the records, within a transaction of the worker.  Free space is
 * kept with the extents in the same transaction, and each is checked against
 * the other on the way: what an extent takes must be recorded as free, what it
 * gives back must not.
 */
#include <errno.h>
#include "iop/store_priv.h"

/* The record at the cursor, decoded. */
static int free_decode(const MDB_val *key, const MDB_val *val, struct ddio_rec_free *rec)
{
	return ddio_rec_free_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, rec);
}

static int free_write(struct ddio_store *store, MDB_txn *txn, uint64_t start, uint64_t len)
{
	const struct ddio_rec_free rec = { .start = start, .len = len };
	uint8_t key[DDIO_REC_KEY_LEN], value[DDIO_REC_FREE_LEN];
	MDB_val k = ddio_lmdb_val(key, sizeof(key)), v = ddio_lmdb_val(value, sizeof(value));

	if (!len)
		return 0;
	ddio_rec_key(key, start);
	ddio_rec_free_put(value, &rec);
	return mdb_put(txn, store->db.dbi[DDIO_DB_FREE], &k, &v, 0);
}

static int free_delete(struct ddio_store *store, MDB_txn *txn, uint64_t start)
{
	uint8_t key[DDIO_REC_KEY_LEN];
	MDB_val k = ddio_lmdb_val(key, sizeof(key));

	ddio_rec_key(key, start);
	return mdb_del(txn, store->db.dbi[DDIO_DB_FREE], &k, NULL);
}

/*
 * The free records on both sides of @at: @before starts at or below it, @after
 * above; len 0 if there is none.
 */
static int free_around(struct ddio_store *store, MDB_txn *txn, uint64_t at,
		       struct ddio_rec_free *before, struct ddio_rec_free *after)
{
	uint8_t key[DDIO_REC_KEY_LEN];
	MDB_val k = ddio_lmdb_val(key, sizeof(key)), v;
	MDB_cursor *cursor;
	int ret;

	*before = (struct ddio_rec_free){ .len = 0 };
	*after = *before;
	ret = mdb_cursor_open(txn, store->db.dbi[DDIO_DB_FREE], &cursor);
	if (ret)
		return ret;
	ddio_rec_key(key, at + 1);
	ret = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
	if (!ret)
		ret = free_decode(&k, &v, after);
	if (!ret || ret == MDB_NOTFOUND)
		ret = mdb_cursor_get(cursor, &k, &v, ret ? MDB_LAST : MDB_PREV);
	if (!ret)
		ret = free_decode(&k, &v, before);
	mdb_cursor_close(cursor);
	return ret == MDB_NOTFOUND ? 0 : ret;
}

static int free_take(struct ddio_store *store, MDB_txn *txn, uint64_t start, uint64_t len)
{
	struct ddio_rec_free rec, after;
	uint64_t end;
	int ret;

	ret = free_around(store, txn, start, &rec, &after);
	if (ret)
		return ret;
	end = rec.start + rec.len;
	if (start < rec.start || start > end || end - start < len || !rec.len)
		return -EUCLEAN;
	ret = free_delete(store, txn, rec.start);
	if (!ret)
		ret = free_write(store, txn, rec.start, start - rec.start);
	if (!ret)
		ret = free_write(store, txn, start + len, end - start - len);
	return ret;
}

int ddio_store_put_free(struct ddio_store *store, MDB_txn *txn, uint64_t start, uint64_t len)
{
	struct ddio_rec_free before, after;
	int ret;

	ret = free_around(store, txn, start, &before, &after);
	if (ret)
		return ret;
	if (before.len && before.start + before.len > start)
		return -EUCLEAN;
	if (after.len && after.start < start + len)
		return -EUCLEAN;
	if (after.len && after.start == start + len) {
		ret = free_delete(store, txn, after.start);
		len += after.len;
	}
	if (!ret && before.len && before.start + before.len == start) {
		ret = free_delete(store, txn, before.start);
		start = before.start;
		len += before.len;
	}
	return ret ? ret : free_write(store, txn, start, len);
}

static int extent_write(struct ddio_store *store, MDB_txn *txn, const struct ddio_rec_extent *rec)
{
	uint8_t key[DDIO_REC_EXTENT_KEY_LEN], value[DDIO_REC_EXTENT_LEN];
	MDB_val k = ddio_lmdb_val(key, sizeof(key)), v = ddio_lmdb_val(value, sizeof(value));

	ddio_rec_extent_key(key, rec->id, rec->block);
	ddio_rec_extent_put(value, rec);
	return mdb_put(txn, store->db.dbi[DDIO_DB_EXTENTS], &k, &v, 0);
}

static int extent_delete(struct ddio_store *store, MDB_txn *txn, const struct ddio_rec_extent *rec)
{
	uint8_t key[DDIO_REC_EXTENT_KEY_LEN];
	MDB_val k = ddio_lmdb_val(key, sizeof(key));

	ddio_rec_extent_key(key, rec->id, rec->block);
	return mdb_del(txn, store->db.dbi[DDIO_DB_EXTENTS], &k, NULL);
}

static int extent_decode(const MDB_val *key, const MDB_val *val, struct ddio_rec_extent *rec)
{
	return ddio_rec_extent_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, rec);
}

/*
 * The extents of object @id on both sides of @block: @before begins below it,
 * @after at or above; count 0 if there is none.
 */
static int extents_around(struct ddio_store *store, MDB_txn *txn, uint64_t id, uint64_t block,
			  struct ddio_rec_extent *before, struct ddio_rec_extent *after)
{
	uint8_t key[DDIO_REC_EXTENT_KEY_LEN];
	MDB_val k = ddio_lmdb_val(key, sizeof(key)), v;
	MDB_cursor *cursor;
	int ret;

	before->count = 0;
	after->count = 0;
	ret = mdb_cursor_open(txn, store->db.dbi[DDIO_DB_EXTENTS], &cursor);
	if (ret)
		return ret;
	ddio_rec_extent_key(key, id, block);
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

static bool rec_continues(const struct ddio_rec_extent *a, const struct ddio_rec_extent *b,
			  uint32_t bs)
{
	return a->count && b->count && a->block + a->count == b->block &&
	       a->start + a->count * bs == b->start;
}

static int apply_extent(struct ddio_store *store, MDB_txn *txn, const struct ddio_change *change)
{
	struct ddio_rec_extent before = { .id = 0 }, after = { .id = 0 };
	struct ddio_rec_extent rec = { change->id, change->block, change->start, change->count };
	int ret;

	ret = free_take(store, txn, rec.start, rec.count * change->bs);
	if (!ret)
		ret = extents_around(store, txn, rec.id, rec.block, &before, &after);
	if (ret)
		return ret;
	if (before.count && before.block + before.count > rec.block)
		return -EUCLEAN;
	if (after.count && after.block < rec.block + rec.count)
		return -EUCLEAN;
	if (rec_continues(&rec, &after, change->bs)) {
		ret = extent_delete(store, txn, &after);
		rec.count += after.count;
	}
	/* Same key: written over. */
	if (rec_continues(&before, &rec, change->bs)) {
		before.count += rec.count;
		rec = before;
	}
	return ret ? ret : extent_write(store, txn, &rec);
}

/* Shortens an extent that begins below @block. */
static int cut_before(struct ddio_store *store, MDB_txn *txn, struct ddio_rec_extent *rec,
		      uint64_t block, uint32_t bs)
{
	uint64_t keep = block - rec->block;
	uint64_t gone = rec->count > keep ? rec->count - keep : 0;
	int ret;

	if (!gone)
		return 0;
	rec->count = keep;
	ret = extent_write(store, txn, rec);
	return ret ? ret : ddio_store_put_free(store, txn, rec->start + keep * bs, gone * bs);
}

static int apply_cut(struct ddio_store *store, MDB_txn *txn, const struct ddio_change *change)
{
	struct ddio_rec_extent before = { .id = 0 }, after = { .id = 0 };
	int ret;

	ret = extents_around(store, txn, change->id, change->block, &before, &after);
	if (!ret && before.count)
		ret = cut_before(store, txn, &before, change->block, change->bs);
	while (!ret && after.count) {
		ret = extent_delete(store, txn, &after);
		if (!ret)
			ret = ddio_store_put_free(store, txn, after.start,
						  after.count * change->bs);
		if (!ret)
			ret = extents_around(store, txn, change->id, change->block, &before,
					     &after);
	}
	return ret;
}

static int apply_object(struct ddio_store *store, MDB_txn *txn, const struct ddio_change *change)
{
	const struct ddio_rec_object rec = { .id = change->id,
					     .seed = change->start,
					     .block = change->bs,
					     .layout = (uint32_t)change->block };
	uint8_t key[DDIO_REC_KEY_LEN], value[DDIO_REC_OBJECT_LEN];
	MDB_val k = ddio_lmdb_val(key, sizeof(key)), v = ddio_lmdb_val(value, sizeof(value));

	ddio_rec_key(key, rec.id);
	ddio_rec_object_put(value, &rec);
	return mdb_put(txn, store->db.dbi[DDIO_DB_OBJECTS], &k, &v, 0);
}

static int apply_remove(struct ddio_store *store, MDB_txn *txn, const struct ddio_change *change)
{
	uint8_t key[DDIO_REC_KEY_LEN];
	MDB_val k = ddio_lmdb_val(key, sizeof(key));
	int ret = apply_cut(store, txn, change);

	if (ret)
		return ret;
	ddio_rec_key(key, change->id);
	ret = mdb_del(txn, store->db.dbi[DDIO_DB_OBJECTS], &k, NULL);
	return ret == MDB_NOTFOUND ? 0 : ret;
}

int ddio_store_apply_change(struct ddio_store *store, MDB_txn *txn,
			    const struct ddio_change *change)
{
	switch (change->kind) {
	case DDIO_CHANGE_OBJECT:
		return apply_object(store, txn, change);
	case DDIO_CHANGE_EXTENT:
		return apply_extent(store, txn, change);
	case DDIO_CHANGE_CUT:
		return apply_cut(store, txn, change);
	case DDIO_CHANGE_REMOVE:
		return apply_remove(store, txn, change);
	}
	return -EINVAL;
}
