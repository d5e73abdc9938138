// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Applies changes to the records of places with more owners than one, within a transaction of the worker; see apply.c.  A place
 * without a record has one owner, or is free: what nobody shares costs nothing.
 */
#include <errno.h>
#include "iop/store/priv.h"

static int decode(const MDB_val *key, const MDB_val *val, struct rec_shared *rec)
{
	return rec_shared_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, rec);
}

static int delete (struct store *store, MDB_txn *txn, uint64_t start)
{
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key));

	rec_key(key, start);
	return mdb_del(txn, store->db.dbi[STORE_SHARED], &k, NULL);
}

static int write(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len, uint64_t more)
{
	const struct rec_shared rec = { .start = start, .len = len, .more = more };
	uint8_t key[REC_KEY_LEN], value[REC_SHARED_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));

	if (!len || !more)
		return 0;
	rec_key(key, start);
	rec_shared_put(value, &rec);
	return mdb_put(txn, store->db.dbi[STORE_SHARED], &k, &v, 0);
}

/* Finds the records around @at: @before starts at or below it, @after above it; len 0: none. */
static int around(struct store *store, MDB_txn *txn, uint64_t at, struct rec_shared *before,
		  struct rec_shared *after)
{
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	MDB_cursor *cursor;
	int ret;

	*before = (struct rec_shared){ .len = 0 };
	*after = *before;
	ret = mdb_cursor_open(txn, store->db.dbi[STORE_SHARED], &cursor);
	if (ret)
		return ret;
	rec_key(key, at + 1);
	ret = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
	if (!ret)
		ret = decode(&k, &v, after);
	if (!ret || ret == MDB_NOTFOUND)
		ret = mdb_cursor_get(cursor, &k, &v, ret ? MDB_LAST : MDB_PREV);
	if (!ret)
		ret = decode(&k, &v, before);
	mdb_cursor_close(cursor);
	return ret == MDB_NOTFOUND ? 0 : ret;
}

/* Writes a record of @more owners, and joins it with its neighbours. */
static int put(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len, uint64_t more)
{
	struct rec_shared before, after;
	int ret = more ? around(store, txn, start, &before, &after) : 0;

	if (ret || !more)
		return ret;
	if (after.len && after.start == start + len && after.more == more) {
		ret = delete (store, txn, after.start);
		len += after.len;
	}
	/* It has the key of @before, and overwrites it. */
	if (before.len && before.start + before.len == start && before.more == more) {
		start = before.start;
		len += before.len;
	}
	return ret ? ret : write(store, txn, start, len, more);
}

/*
 * Takes out of the records how many owners there are at @at: @rec, with what is alike of the *@len bytes from there on, which
 * it lowers.
 */
static int take(struct store *store, MDB_txn *txn, uint64_t at, uint64_t *len,
		struct rec_shared *rec)
{
	struct rec_shared after;
	uint64_t end;
	int ret = around(store, txn, at, rec, &after);

	if (ret)
		return ret;
	end = rec->start + rec->len;
	if (!rec->len || end <= at) {
		if (after.len && *len > after.start - at)
			*len = after.start - at;
		rec->more = 0;
		return 0;
	}
	if (*len > end - at)
		*len = end - at;
	ret = delete (store, txn, rec->start);
	if (!ret)
		ret = write(store, txn, rec->start, at - rec->start, rec->more);
	return ret ? ret : write(store, txn, at + *len, end - at - *len, rec->more);
}

int store_put_owner(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len)
{
	struct rec_shared rec;
	uint64_t piece;
	int ret = store_owned(store, txn, start, len);

	for (; len && !ret; start += piece, len -= piece) {
		piece = len;
		ret = take(store, txn, start, &piece, &rec);
		if (!ret)
			ret = put(store, txn, start, piece, rec.more + 1);
	}
	return ret;
}

int store_take_owner(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len)
{
	struct rec_shared rec;
	uint64_t piece;
	int ret = 0;

	for (; len && !ret; start += piece, len -= piece) {
		piece = len;
		ret = take(store, txn, start, &piece, &rec);
		if (!ret && !rec.more)
			ret = store_put_free(store, txn, start, piece);
		else if (!ret)
			ret = put(store, txn, start, piece, rec.more - 1);
	}
	return ret;
}

int store_set_shared(struct store *store, MDB_txn *txn, uint64_t start, uint64_t len, uint64_t more)
{
	struct rec_shared rec;
	uint64_t at, piece;
	int ret = 0;

	for (at = start; at < start + len && !ret; at += piece) {
		piece = start + len - at;
		ret = take(store, txn, at, &piece, &rec);
	}
	return ret ? ret : put(store, txn, start, len, more);
}
