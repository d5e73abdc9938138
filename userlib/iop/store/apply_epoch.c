// SPDX-License-Identifier: LGPL-2.1-or-later
/* Applies changes to the records of what is pending, within a transaction of the worker; see apply.c. */
#include <errno.h>
#include "iop/store/priv.h"

int store_apply_pending(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	const struct rec_pending rec = { .epoch = change->block,
					 .id = change->id,
					 .shadow = change->count,
					 .seed = change->start,
					 .block = change->bs,
					 .layout = change->layout };
	uint8_t key[REC_PENDING_KEY_LEN], value[REC_PENDING_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));
	int ret;

	rec_pending_key(key, rec.epoch, rec.id);
	rec_pending_put(value, &rec);
	ret = mdb_put(txn, store->db.dbi[STORE_PENDING], &k, &v, 0);
	/* The label says to those who do not know these records that there are some. */
	return ret ? ret : store_put_label(store, txn, 0);
}

int store_apply_pended(struct store *store, MDB_txn *txn, const struct store_change *change)
{
	uint8_t key[REC_PENDING_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key));
	int ret;

	rec_pending_key(key, change->block, change->id);
	ret = mdb_del(txn, store->db.dbi[STORE_PENDING], &k, NULL);
	if (ret && ret != MDB_NOTFOUND)
		return ret;
	return store_put_label(store, txn, 0);
}
