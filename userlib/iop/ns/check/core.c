// SPDX-License-Identifier: LGPL-2.1-or-later
/* Used by all parts of a check: problems, inodes seen, records as they are and as they will be. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/check/check.h"

#define SEEN_CHUNK 512

void check_problem(struct ns_check *c, const char *fmt, ...)
{
	char text[DDIO_MAX_TEXT] = "name space: ";
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	va_end(ap);
	if (!c->result.problems++)
		memcpy(c->result.text, text, sizeof(text));
	ddio_env_log(c->ns->env, DDIO_LOG_WARN, "%s", text);
}

struct seen_inode *check_seen(const struct ns_check *c, uint64_t ino)
{
	return ddio_hash_entry(ddio_hash_find(&c->index, ino), struct seen_inode, node);
}

/* A million inodes are to be allocated and freed in no time. */
struct seen_chunk {
	struct seen_chunk *next;
	struct seen_inode seen[SEEN_CHUNK];
};

static struct seen_chunk *chunk_new(struct ns_check *c)
{
	struct seen_chunk *chunk = c->waste;

	if (!chunk)
		return calloc(1, sizeof(*chunk));
	c->waste = chunk->next;
	memset(chunk, 0, sizeof(*chunk));
	return chunk;
}

struct seen_inode *check_see(struct ns_check *c, uint64_t ino)
{
	struct seen_chunk *chunk;
	struct seen_inode *s;

	if (!c->room) {
		chunk = chunk_new(c);
		if (!chunk)
			return NULL;
		chunk->next = c->chunks;
		c->chunks = chunk;
		c->room = SEEN_CHUNK;
	}
	s = &c->chunks->seen[--c->room];
	s->ino = ino;
	ddio_list_add(&s->link, &c->seen);
	ddio_hash_add(&c->index, &s->node, ino);
	return s;
}

void check_see_none(struct ns_check *c)
{
	struct seen_chunk *chunk;

	while (c->chunks) {
		chunk = c->chunks;
		c->chunks = chunk->next;
		chunk->next = c->waste;
		c->waste = chunk;
	}
	c->room = 0;
	c->climb = NULL;
	c->circle = NULL;
	c->verdict = SEEN_UNKNOWN;
	ddio_list_init(&c->seen);
	ddio_hash_fini(&c->index);
}

bool check_free_some(struct ns_check *c)
{
	struct seen_chunk *chunk = c->waste;

	if (!chunk)
		return false;
	c->waste = chunk->next;
	free(chunk);
	return true;
}

int check_get(struct ns_check *c, int db, const void *key, size_t len, MDB_val *v)
{
	MDB_val k = lmdb_val(key, len);

	return lmdb_errno(mdb_get(c->walk.txn, c->walk.db->dbi[db], &k, v));
}

int check_get_fixed(struct ns_check *c, int db, const void *key, size_t len, MDB_val *v)
{
	const struct kv_node *fixed = kv_map_find(&c->fixes, (uint8_t)db, key, len);

	if (!fixed)
		return check_get(c, db, key, len, v);
	if (!fixed->value)
		return -ENOENT;
	*v = lmdb_val(fixed->value, fixed->len);
	return 0;
}

int check_drop(struct ns_check *c, int db, const MDB_val *k)
{
	return kv_map_set(&c->fixes, (uint8_t)db, k->mv_data, k->mv_size, NULL, 0);
}

int check_put_entry(struct ns_check *c, uint64_t dir, const char *name, const struct ns_entry *e)
{
	uint8_t key[NS_NAME_KEY_MAX], order[NS_ORDER_KEY_LEN];
	uint8_t value[NS_ENTRY_MAX];
	struct ns_entry named = *e;
	size_t len = ns_name_key(key, dir, name), n;
	int ret;

	n = ns_entry_put(value, key, len, e, false);
	ret = kv_map_set(&c->fixes, NS_NAMES, key, len, value, n);
	if (ret)
		return ret;
	snprintf(named.name, sizeof(named.name), "%s", name);
	ns_order_key(order, dir, e->cookie);
	n = ns_entry_put(value, order, sizeof(order), &named, true);
	return kv_map_set(&c->fixes, NS_ORDER, order, sizeof(order), value, n);
}

int check_put_inode(struct ns_check *c, const struct inode *in)
{
	ssize_t len = ns_inode_put(NULL, 0, in);
	uint8_t key[NS_KEY_LEN], *value = len < 0 ? NULL : malloc((size_t)len);
	int ret;

	if (!value)
		return -ENOMEM;
	ns_inode_put(value, (size_t)len, in);
	ns_key(key, in->ino);
	ret = kv_map_set(&c->fixes, NS_INODES, key, sizeof(key), value, (size_t)len);
	free(value);
	return ret;
}
