// SPDX-License-Identifier: LGPL-2.1-or-later
/* Changes of an object's extents, within a transaction of the worker: see store_apply.c. */
#include <errno.h>
#include "iop/store/priv.h"

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
	return a->count && b->count && a->unwritten == b->unwritten &&
	       a->block + a->count == b->block && a->start + a->count * bs == b->start;
}

/* Neighbours that continue each other become one record. */
static int extent_add(struct ddio_store *store, MDB_txn *txn, struct ddio_rec_extent rec,
		      uint32_t bs)
{
	struct ddio_rec_extent before = { .id = 0 }, after = { .id = 0 };
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
	/* Same key: written over. */
	if (rec_continues(&before, &rec, bs)) {
		before.count += rec.count;
		rec = before;
	}
	return ret ? ret : extent_write(store, txn, &rec);
}

/*
 * Takes from the records the first extent that has blocks of [first, end): what lies outside
 * stays there, *rec is what lies within; count 0: there is none.
 */
static int extent_take(struct ddio_store *store, MDB_txn *txn, const struct ddio_change *change,
		       uint64_t first, uint64_t end, struct ddio_rec_extent *rec)
{
	struct ddio_rec_extent after = { .id = 0 }, part;
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

int ddio_store_apply_extent(struct ddio_store *store, MDB_txn *txn,
			    const struct ddio_change *change)
{
	const struct ddio_rec_extent rec = {
		.id = change->id,
		.block = change->block,
		.start = change->start,
		.count = change->count,
		.unwritten = change->unwritten,
	};
	int ret = ddio_store_take_free(store, txn, rec.start, rec.count * change->bs);

	return ret ? ret : extent_add(store, txn, rec, change->bs);
}

int ddio_store_apply_mark(struct ddio_store *store, MDB_txn *txn, const struct ddio_change *change)
{
	uint64_t at = change->block, end = at + change->count;
	struct ddio_rec_extent rec;
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

int ddio_store_apply_cut(struct ddio_store *store, MDB_txn *txn, const struct ddio_change *change)
{
	uint64_t end = change->block + change->count;
	struct ddio_rec_extent rec;
	int ret;

	do {
		ret = extent_take(store, txn, change, change->block, end, &rec);
		if (!ret && rec.count)
			ret = ddio_store_put_free(store, txn, rec.start, rec.count * change->bs);
	} while (!ret && rec.count);
	return ret;
}
