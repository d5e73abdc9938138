// SPDX-License-Identifier: LGPL-2.1-or-later
/* The lowest layer of the record store: LMDB, and the number of the last journal record in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/kv/priv.h"
#include "proto/cursor.h"

#define OWN_KEY "committed"

int kv_read_committed(struct kv *kv)
{
	MDB_val k = lmdb_val(OWN_KEY, strlen(OWN_KEY)), v;
	int ret = lmdb_read_begin(&kv->db);
	struct ddio_rd r;

	if (ret)
		return ret;
	ret = lmdb_errno(mdb_get(kv->db.read, kv->db.dbi[kv->own], &k, &v));
	if (!ret) {
		r = ddio_rd_begin(v.mv_data, v.mv_size);
		kv->committed = ddio_rd_u64(&r);
		ret = ddio_rd_end(&r) ? -EUCLEAN : 0;
	}
	lmdb_read_end(&kv->db);
	return ret == -ENOENT ? 0 : ret;
}

int kv_write(struct kv *kv, MDB_txn *txn, const struct kv_map *map, uint64_t seq)
{
	MDB_val k = lmdb_val(OWN_KEY, strlen(OWN_KEY)), v;
	const struct kv_node *node;
	uint64_t number = htole64(seq);
	int ret;

	for (node = map->head[0]; node; node = node->next[0]) {
		MDB_val key = lmdb_val(kv_node_key(node), node->key_len);

		v = lmdb_val(node->value, node->len);
		if (node->value)
			ret = mdb_put(txn, kv->db.dbi[node->db], &key, &v, 0);
		else
			ret = mdb_del(txn, kv->db.dbi[node->db], &key, NULL);
		if (ret && (node->value || ret != MDB_NOTFOUND))
			return ret;
	}
	v = lmdb_val(&number, sizeof(number));
	return mdb_put(txn, kv->db.dbi[kv->own], &k, &v, 0);
}

/* Copies a value: LMDB's memory is valid only within its transaction. */
static int keep_value(struct kv *kv, const MDB_val *v)
{
	if (v->mv_size > kv->cap) {
		uint8_t *buf = realloc(kv->buf, v->mv_size * 2);

		if (!buf)
			return -ENOMEM;
		kv->buf = buf;
		kv->cap = v->mv_size * 2;
	}
	memcpy(kv->buf, v->mv_data, v->mv_size);
	return 0;
}

int kv_get_lmdb(struct kv *kv, uint8_t db, const void *key, size_t key_len, const void **value,
		size_t *len)
{
	MDB_val k = lmdb_val(key, key_len), v;
	int ret = lmdb_read_begin(&kv->db);

	if (ret)
		return ret;
	ret = lmdb_errno(mdb_get(kv->db.read, kv->db.dbi[db], &k, &v));
	if (!ret)
		ret = keep_value(kv, &v);
	lmdb_read_end(&kv->db);
	if (ret)
		return ret;
	*value = v.mv_size ? kv->buf : (const uint8_t *)"";
	*len = v.mv_size;
	return 0;
}
