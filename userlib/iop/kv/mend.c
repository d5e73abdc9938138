// SPDX-License-Identifier: LGPL-2.1-or-later
/* Corrects damaged records, and removes those that cannot be, so that a check can mend what hung on them. */
#include <stdio.h>
#include <string.h>
#include "iop/kv/priv.h"
#include "iop/lmdb/correct.h"
#include "iop/lmdb/key.h"

struct mending {
	struct kv *kv;
	const struct kv_opts *opts;
};

/* A record that is being mended: LMDB's memory does not last. */
struct mended {
	MDB_val key, value;
	uint8_t key_bytes[KV_KEY_MAX], value_bytes[CORRECT_MAX];
};

static void say(struct kv *kv, const char *db, const MDB_val *key, const char *what)
{
	char hex[REC_KEY_HEX];

	rec_key_hex(hex, key->mv_data, key->mv_size);
	ddio_env_log(kv->env, DDIO_LOG_WARN, "%s: the damaged record %s %s is %s", kv->db.dir, db,
		     hex, what);
}

static bool intact(const struct mending *m, uint8_t db, const MDB_val *key, const MDB_val *value)
{
	return db == m->kv->own ? kv_own_intact(key, value)
				: m->opts->intact(m->opts->dbs[db], key, value);
}

static bool correct(const struct mending *m, uint8_t db, const MDB_val *key, const MDB_val *value,
		    struct mended *r)
{
	if (key->mv_size > sizeof(r->key_bytes) || value->mv_size > sizeof(r->value_bytes))
		return false;
	memcpy(r->key_bytes, key->mv_data, key->mv_size);
	memcpy(r->value_bytes, value->mv_data, value->mv_size);
	r->key = lmdb_val(r->key_bytes, key->mv_size);
	r->value = lmdb_val(r->value_bytes, value->mv_size);
	return value_correct(&r->key, &r->value) && intact(m, db, &r->key, &r->value);
}

static int mend_record(struct mending *m, MDB_cursor *cursor, uint8_t db, const MDB_val *key,
		       const MDB_val *value)
{
	const char *name = db == m->kv->own ? KV_OWN_DB : m->opts->dbs[db];
	struct mended r;
	bool corrected = correct(m, db, key, value, &r);
	int ret;

	say(m->kv, name, key, corrected ? "corrected" : "removed");
	ret = mdb_cursor_del(cursor, 0);
	if (corrected)
		return ret ? ret
			   : mdb_put(mdb_cursor_txn(cursor), mdb_cursor_dbi(cursor), &r.key,
				     &r.value, 0);
	m->kv->lost = true;
	m->kv->unnumbered = m->kv->unnumbered || db == m->kv->own;
	return ret;
}

static int mend_db(struct mending *m, MDB_txn *txn, uint8_t db)
{
	MDB_cursor *cursor;
	MDB_val k, v;
	int ret = mdb_cursor_open(txn, m->kv->db.dbi[db], &cursor);

	if (ret)
		return ret;
	for (ret = mdb_cursor_get(cursor, &k, &v, MDB_FIRST); !ret;
	     ret = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) {
		if (!intact(m, db, &k, &v))
			ret = mend_record(m, cursor, db, &k, &v);
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

	for (db = 0; db <= m->kv->own && !ret; db++)
		ret = mend_db(m, txn, db);
	return ret;
}

int kv_drop_damaged(struct kv *kv, const struct kv_opts *opts)
{
	struct mending m = { kv, opts };

	return lmdb_write(&kv->db, mend_all, &m);
}
