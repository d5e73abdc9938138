// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lists and counts objects: the recorded ones merged with those in memory only. */
#include <stdlib.h>
#include <string.h>
#include "iop/store/priv.h"

static int id_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns the sorted ids above @after of objects in memory that are, or are not, removed. */
static uint64_t *memory_ids(const struct store *store, uint64_t after, bool removed, size_t *n)
{
	uint64_t *ids = calloc(store->hash.n + 1, sizeof(*ids));
	struct ddio_hash_walk walk;
	const struct object *obj;

	*n = 0;
	if (!ids)
		return NULL;
	ddio_hash_for_each(obj, &walk, &store->hash, node)
		if (obj->removed == removed && obj->ref.id > after && obj->ref.id < REC_SHADOW)
			ids[(*n)++] = obj->ref.id;
	qsort(ids, *n, sizeof(*ids), id_compare);
	return ids;
}

static bool ids_have(const uint64_t *ids, size_t n, uint64_t id)
{
	return bsearch(&id, ids, n, sizeof(id), id_compare) != NULL;
}

/* Finds the first recorded id from @from on that has not been removed. */
static bool next_recorded(MDB_cursor *cursor, uint64_t from, const uint64_t *gone, size_t ngone,
			  uint64_t *id)
{
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	int ret;

	rec_key(key, from);
	for (ret = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE); !ret;
	     ret = mdb_cursor_get(cursor, &k, &v, MDB_NEXT))
		if (rec_key_get(k.mv_data, k.mv_size, id) && !ids_have(gone, ngone, *id))
			return *id < REC_SHADOW;
	return false;
}

uint32_t store_list(struct store *store, uint64_t after, uint64_t *ids, uint32_t max)
{
	size_t nlive, ngone, at = 0;
	uint64_t *live = memory_ids(store, after, false, &nlive);
	uint64_t *gone = memory_ids(store, after, true, &ngone);
	MDB_cursor *cursor = NULL;
	bool more = false;
	uint64_t id = 0;
	uint32_t n = 0;

	if (!live || !gone || lmdb_read_begin(&store->db))
		goto free_ids;
	if (!mdb_cursor_open(store->db.read, store->db.dbi[STORE_OBJECTS], &cursor))
		more = after < UINT64_MAX && next_recorded(cursor, after + 1, gone, ngone, &id);
	while (n < max && (more || at < nlive)) {
		if (at < nlive && (!more || live[at] <= id)) {
			more = more && (live[at] != id ||
					(id < UINT64_MAX &&
					 next_recorded(cursor, id + 1, gone, ngone, &id)));
			ids[n++] = live[at++];
			continue;
		}
		ids[n++] = id;
		more = id < UINT64_MAX && next_recorded(cursor, id + 1, gone, ngone, &id);
	}
	if (cursor)
		mdb_cursor_close(cursor);
	lmdb_read_end(&store->db);
free_ids:
	free(live);
	free(gone);
	return n;
}

/* Returns how many objects are in memory only. */
static uint64_t unrecorded(const struct store *store)
{
	struct ddio_hash_walk walk;
	const struct object *obj;
	uint64_t n = 0;

	ddio_hash_for_each(obj, &walk, &store->hash, node)
		n += !obj->recorded && !obj->removed;
	return n;
}

int store_count(struct store *store)
{
	MDB_stat stat;
	int ret = lmdb_read_begin(&store->db);

	if (ret)
		return ret;
	ret = lmdb_errno(mdb_stat(store->db.read, store->db.dbi[STORE_OBJECTS], &stat));
	lmdb_read_end(&store->db);
	store->objects = ret ? 0 : stat.ms_entries + unrecorded(store);
	return ret;
}
