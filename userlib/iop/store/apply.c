// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Applies changes to the records, within a transaction of the worker.  Extents and free space change in
 * the same transaction and are checked against each other: space that an extent takes must be recorded
 * as free, space that it gives back must not.
 */
#include <errno.h>
#include "iop/store/priv.h"

static int apply_object(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	const struct rec_object rec = { .id = change->id,
					.seed = change->start,
					.block = change->bs,
					.layout = (uint32_t)change->block,
					.frozen = change->frozen };
	uint8_t key[REC_KEY_LEN], value[REC_OBJECT_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));

	rec_key(key, rec.id);
	rec_object_put(value, &rec);
	return mdb_put(txn, store->db.dbi[STORE_OBJECTS], &k, &v, 0);
}

static int apply_remove(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key));
	int ret = store_apply_cut(store, txn, change);

	if (ret)
		return ret;
	rec_key(key, change->id);
	ret = mdb_del(txn, store->db.dbi[STORE_OBJECTS], &k, NULL);
	return ret == MDB_NOTFOUND ? 0 : ret;
}

static int apply_pending(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	const struct rec_pending rec = { .epoch = change->block,
					 .id = change->id,
					 .shadow = change->count,
					 .seed = change->start,
					 .block = change->bs,
					 .layout = change->layout };
	uint8_t key[REC_PENDING_KEY_LEN], value[REC_PENDING_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));

	rec_pending_key(key, rec.epoch, rec.id);
	rec_pending_put(value, &rec);
	return mdb_put(txn, store->db.dbi[STORE_PENDING], &k, &v, 0);
}

static int apply_pended(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	uint8_t key[REC_PENDING_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key));
	int ret;

	rec_pending_key(key, change->block, change->id);
	ret = mdb_del(txn, store->db.dbi[STORE_PENDING], &k, NULL);
	return ret == MDB_NOTFOUND ? 0 : ret;
}

static int apply(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	switch (change->kind) {
	case CHANGE_OBJECT:
		return apply_object(store, txn, change);
	case CHANGE_EXTENT:
		return store_apply_extent(store, txn, change);
	case CHANGE_MARK:
		return store_apply_mark(store, txn, change);
	case CHANGE_CUT:
		return store_apply_cut(store, txn, change);
	case CHANGE_REMOVE:
		return apply_remove(store, txn, change);
	case CHANGE_LIFE:
		return store_apply_life(store, txn);
	case CHANGE_SCRUB:
		return store_apply_scrub(store, txn);
	case CHANGE_PENDING:
		return apply_pending(store, txn, change);
	case CHANGE_MOVE:
		return store_apply_move(store, txn, change);
	case CHANGE_PENDED:
		return apply_pended(store, txn, change);
	case CHANGE_SHARE:
		return store_apply_share(store, txn, change);
	case CHANGE_REPLACE:
		return store_apply_replace(store, txn, change);
	case CHANGE_END:
		return store_apply_end(store, txn, change);
	}
	return -EINVAL;
}

static int any_shared(struct store *store, MDB_txn *txn, bool *any)
{
	MDB_stat stat = { .ms_entries = 0 };
	int ret = mdb_stat(txn, store->db.dbi[STORE_SHARED], &stat);

	*any = stat.ms_entries;
	return ret;
}

/*
 * The label says whether places have more owners than one, so that a check that finds the records of owners damaged
 * does not take the second owner of a place for a mistake.
 */
int store_apply_change(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	bool before = false, after = false;
	int ret = any_shared(store, txn, &before);

	if (!ret)
		ret = apply(store, txn, change);
	if (!ret)
		ret = any_shared(store, txn, &after);
	return ret || before == after ? ret : store_put_label(store, txn, 0);
}
