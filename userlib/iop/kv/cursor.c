// SPDX-License-Identifier: LGPL-2.1-or-later
/* Walks a database through all layers of the record store. */
#include <errno.h>
#include <string.h>
#include "iop/kv/priv.h"

enum { LAYERS = 3 };

/* Settles on the record with the lowest key; of several with that key on the one of the topmost layer. */
static int cursor_settle(struct kv_cursor *c, int *from)
{
	const struct kv_node *node;
	int i;

	*from = -1;
	for (i = 0; i < LAYERS; i++) {
		node = c->node[i];
		if (!node || node->db != c->db)
			continue;
		if (*from >= 0 &&
		    kv_compare(kv_node_key(node), node->key_len, c->key, c->key_len) >= 0)
			continue;
		*from = i;
		c->key = kv_node_key(node);
		c->key_len = node->key_len;
		c->value = node->value;
		c->len = node->len;
	}
	if (c->lmdb_any && (*from < 0 || kv_compare(c->lmdb_key.mv_data, c->lmdb_key.mv_size,
						    c->key, c->key_len) < 0)) {
		*from = LAYERS;
		c->key = c->lmdb_key.mv_data;
		c->key_len = c->lmdb_key.mv_size;
		c->value = c->lmdb_value.mv_size ? c->lmdb_value.mv_data : (const void *)"";
		c->len = c->lmdb_value.mv_size;
	}
	return *from < 0 ? -ENOENT : 0;
}

static int lmdb_move(struct kv_cursor *c, MDB_cursor_op op)
{
	int ret = lmdb_errno(mdb_cursor_get(c->lmdb, &c->lmdb_key, &c->lmdb_value, op));

	c->lmdb_any = !ret;
	return ret == -ENOENT ? 0 : ret;
}

/* Moves all layers past the current key. */
static int cursor_pass(struct kv_cursor *c)
{
	const uint8_t *key = c->key;
	size_t len = c->key_len;
	int i;

	for (i = 0; i < LAYERS; i++) {
		const struct kv_node *node = c->node[i];

		if (node && node->db == c->db && node->key_len == len &&
		    !memcmp(kv_node_key(node), key, len))
			c->node[i] = node->next[0];
	}
	if (c->lmdb_any && c->lmdb_key.mv_size == len && !memcmp(c->lmdb_key.mv_data, key, len))
		return lmdb_move(c, MDB_NEXT);
	return 0;
}

/* Settles on the next record that is not deleted. */
static int cursor_find(struct kv_cursor *c)
{
	int from, ret = cursor_settle(c, &from);

	while (!ret && !c->value) {
		ret = cursor_pass(c);
		if (!ret)
			ret = cursor_settle(c, &from);
	}
	return ret;
}

int kv_first(struct kv_cursor *c, struct kv *kv, uint8_t db, const void *key, size_t key_len)
{
	int ret;

	*c = (struct kv_cursor){ .kv = kv, .db = db };
	c->node[0] = kv_map_at(&kv->change, db, key, key_len);
	c->node[1] = kv_map_at(&kv->active, db, key, key_len);
	c->node[2] = kv_map_at(&kv->sealed, db, key, key_len);
	ret = lmdb_read_begin(&kv->db);
	if (ret)
		return ret;
	ret = lmdb_errno(mdb_cursor_open(kv->db.read, kv->db.dbi[db], &c->lmdb));
	if (ret) {
		c->lmdb = NULL;
		lmdb_read_end(&kv->db);
		return ret;
	}
	c->lmdb_key = lmdb_val(key, key_len);
	ret = lmdb_move(c, key_len ? MDB_SET_RANGE : MDB_FIRST);
	return ret ? ret : cursor_find(c);
}

int kv_next(struct kv_cursor *c)
{
	int ret = cursor_pass(c);

	return ret ? ret : cursor_find(c);
}

void kv_cursor_close(struct kv_cursor *c)
{
	if (!c->lmdb)
		return;
	mdb_cursor_close(c->lmdb);
	lmdb_read_end(&c->kv->db);
	c->lmdb = NULL;
}
