// SPDX-License-Identifier: LGPL-2.1-or-later
/* Removes damaged records, so that a check can mend what hung on them. */
#include <stdio.h>
#include "iop/kv/priv.h"
#include "iop/lmdb/key.h"

struct mending {
	struct kv *kv;
	const struct kv_opts *opts;
};

static void say(struct kv *kv, const char *db, const MDB_val *key)
{
	char hex[REC_KEY_HEX];

	rec_key_hex(hex, key->mv_data, key->mv_size);
	ddio_env_log(kv->env, DDIO_LOG_WARN, "%s: the damaged record %s %s is removed", kv->db.dir,
		     db, hex);
}

static int mend_db(struct mending *m, MDB_txn *txn, uint8_t db)
{
	const char *name = m->opts->dbs[db];
	MDB_cursor *cursor;
	MDB_val k, v;
	int ret = mdb_cursor_open(txn, m->kv->db.dbi[db], &cursor);

	if (ret)
		return ret;
	for (ret = mdb_cursor_get(cursor, &k, &v, MDB_FIRST); !ret;
	     ret = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) {
		if (m->opts->intact(name, &k, &v))
			continue;
		say(m->kv, name, &k);
		ret = mdb_cursor_del(cursor, 0);
		if (ret)
			break;
	}
	mdb_cursor_close(cursor);
	return ret == MDB_NOTFOUND ? 0 : ret;
}

static int mend_all(MDB_txn *txn, void *arg)
{
	struct mending *m = arg;
	uint8_t db;
	int ret = 0;

	for (db = 0; db < m->kv->own && !ret; db++)
		ret = mend_db(m, txn, db);
	return ret;
}

int kv_drop_damaged(struct kv *kv, const struct kv_opts *opts)
{
	struct mending m = { kv, opts };

	return lmdb_write(&kv->db, mend_all, &m);
}
