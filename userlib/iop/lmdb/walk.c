// SPDX-License-Identifier: LGPL-2.1-or-later
#include "iop/lmdb/walk.h"

int lmdb_walk_begin(struct lmdb_walk *walk, struct lmdb *db)
{
	int ret = mdb_txn_begin(db->env, NULL, MDB_RDONLY, &walk->txn);

	walk->db = db;
	walk->cursor = NULL;
	if (ret)
		walk->txn = NULL;
	ddio_list_add(&walk->link, &db->walks);
	return lmdb_errno(ret);
}

void lmdb_walk_end(struct lmdb_walk *walk)
{
	lmdb_walk_stop(walk);
	ddio_list_del(&walk->link);
}

int lmdb_walk_next(struct lmdb_walk *walk, MDB_dbi dbi, MDB_val *key, MDB_val *value)
{
	int ret;

	if (walk->cursor) {
		ret = mdb_cursor_get(walk->cursor, key, value, MDB_NEXT);
	} else {
		ret = mdb_cursor_open(walk->txn, dbi, &walk->cursor);
		if (ret) {
			walk->cursor = NULL;
			return lmdb_errno(ret);
		}
		ret = mdb_cursor_get(walk->cursor, key, value, MDB_FIRST);
	}
	if (ret) {
		mdb_cursor_close(walk->cursor);
		walk->cursor = NULL;
	}
	return lmdb_errno(ret);
}

bool lmdb_walk_newest(const struct lmdb_walk *walk)
{
	MDB_envinfo info;

	return walk->txn && !mdb_env_info(walk->db->env, &info) &&
	       info.me_last_txnid == mdb_txn_id(walk->txn);
}
