// SPDX-License-Identifier: LGPL-2.1-or-later
/* Applies changes to the records of free space, within a transaction of the worker; see apply.c. */
#include <errno.h>
#include "iop/store/priv.h"

static int free_decode(const MDB_val *key, const MDB_val *val, struct rec_free *rec)
{
	return rec_free_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, rec);
}

static int free_write(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len)
{
	const struct rec_free rec = { .start = start, .len = len };
	uint8_t key[REC_KEY_LEN], value[REC_FREE_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));

	if (!len)
		return 0;
	rec_key(key, start);
	rec_free_put(value, &rec);
	return mdb_put(txn, store->db.dbi[STORE_FREE], &k, &v, 0);
}

static int free_delete(struct store *store, MDB_txn *txn, uint64_t start)
{
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key));

	rec_key(key, start);
	return mdb_del(txn, store->db.dbi[STORE_FREE], &k, NULL);
}

/* Finds the free records around @at: @before starts at or below it, @after above it; len 0: none. */
static int free_around(struct store *store, MDB_txn *txn, uint64_t at, struct rec_free *before,
		       struct rec_free *after)
{
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	MDB_cursor *cursor;
	int ret;

	*before = (struct rec_free){ .len = 0 };
	*after = *before;
	ret = mdb_cursor_open(txn, store->db.dbi[STORE_FREE], &cursor);
	if (ret)
		return ret;
	rec_key(key, at + 1);
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

int store_owned(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len)
{
	struct rec_free before, after;
	int ret = free_around(store, txn, start, &before, &after);

	if (!ret && ((before.len && before.start + before.len > start) ||
		     (after.len && after.start < start + len)))
		ret = -EUCLEAN;
	return ret;
}

int store_take_free(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len)
{
	struct rec_free rec, after;
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

int store_drop_free(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len)
{
	struct rec_free before, after;
	uint64_t end = start + len, piece;
	int ret = 0;

	for (; start < end && !ret; start += piece) {
		ret = free_around(store, txn, start, &before, &after);
		piece = end - start;
		if (before.len && before.start + before.len > start) {
			if (piece > before.start + before.len - start)
				piece = before.start + before.len - start;
			if (!ret)
				ret = store_take_free(store, txn, start, piece);
		} else if (after.len && piece > after.start - start) {
			piece = after.start - start;
		}
	}
	return ret;
}

int store_put_free(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len)
{
	struct rec_free before, after;
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
