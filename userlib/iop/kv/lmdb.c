// SPDX-License-Identifier: LGPL-2.1-or-later
/* The lowest layer of the record store: LMDB, and the number of the last journal record in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/kv/priv.h"
#include "iop/lmdb/value.h"
#include "proto/cursor.h"

#define OWN_KEY "committed"
#define PART_RECORDS 16
#define OWN_VERSION 1
#define OWN_LEN (VALUE_EXTRA + 8)

static int committed_get(const MDB_val *key, const MDB_val *value, uint64_t *seq)
{
	struct ddio_coder c = value_reading(key->mv_data, key->mv_size, value->mv_data,
					    value->mv_size, OWN_VERSION);

	code_u64(&c, seq);
	return value_end(&c);
}

bool kv_own_intact(const MDB_val *key, const MDB_val *value)
{
	uint64_t seq;

	return !committed_get(key, value, &seq);
}

int kv_read_committed(struct kv *kv)
{
	MDB_val k = lmdb_val(OWN_KEY, strlen(OWN_KEY)), v;
	int ret = lmdb_read_begin(&kv->db);

	if (ret)
		return ret;
	ret = lmdb_errno(mdb_get(kv->db.read, kv->db.dbi[kv->own], &k, &v));
	if (!ret)
		ret = committed_get(&k, &v, &kv->committed);
	lmdb_read_end(&kv->db);
	return ret == -ENOENT ? 0 : ret;
}

static int write_node(struct kv *kv, MDB_txn *txn, const struct kv_node *node)
{
	MDB_val key = lmdb_val(kv_node_key(node), node->key_len);
	MDB_val v = lmdb_val(node->value, node->len);
	int ret;

	if (node->value)
		return mdb_put(txn, kv->db.dbi[node->db], &key, &v, 0);
	ret = mdb_del(txn, kv->db.dbi[node->db], &key, NULL);
	return ret == MDB_NOTFOUND ? 0 : ret;
}

int kv_write(struct kv *kv, MDB_txn *txn, const struct kv_map *map, uint64_t seq)
{
	MDB_val k = lmdb_val(OWN_KEY, strlen(OWN_KEY)), v;
	const struct kv_node *node;
	uint8_t number[OWN_LEN];
	struct ddio_coder c = value_writing(number, sizeof(number), OWN_VERSION);
	int ret = 0;

	for (node = map->head[0]; node && !ret; node = node->next[0])
		ret = write_node(kv, txn, node);
	if (ret)
		return ret;
	code_u64(&c, &seq);
	value_close(&c, k.mv_data, k.mv_size);
	v = lmdb_val(number, sizeof(number));
	return mdb_put(txn, kv->db.dbi[kv->own], &k, &v, 0);
}

/* A layer that is written in parts: from @next on, up to change @seq. */
struct part {
	struct kv *kv;
	const struct kv_node *next;
	uint64_t seq;
};

static int write_part(MDB_txn *txn, void *arg)
{
	struct part *part = arg;
	const struct kv_node *node = part->next;
	int i, ret = 0;

	for (i = 0; i < PART_RECORDS && node && !ret; i++, node = node->next[0])
		ret = write_node(part->kv, txn, node);
	if (!ret)
		part->next = node;
	return ret;
}

static int write_end(MDB_txn *txn, void *arg)
{
	const struct kv_map none = { .n = 0 };
	struct part *part = arg;

	return kv_write(part->kv, txn, &none, part->seq);
}

/* Each record says what it becomes, so that a start after a crash in the middle writes all of them again. */
int kv_write_parts(struct kv *kv, const struct kv_map *map, uint64_t seq)
{
	struct part part = { kv, map->head[0], seq };
	int ret = kv_journal_sync(&kv->journal, kv->env);

	while (part.next && !ret)
		ret = lmdb_write_once(&kv->db, write_part, &part);
	return ret ? ret : lmdb_write_once(&kv->db, write_end, &part);
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
