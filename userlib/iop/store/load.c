// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loads objects from their records, within a read transaction of the reactor. */
#include <errno.h>
#include "iop/store/priv.h"

static int extents_begin(MDB_cursor *cursor, MDB_val *k, MDB_val *v);

/* Returns -ENOENT if nothing is recorded of an object, -EUCLEAN if only its own record is missing, or may be. */
static int check_absent(struct store *store, uint64_t id)
{
	uint8_t key[REC_EXTENT_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	struct rec_extent rec = { .id = 0 };
	MDB_cursor *cursor;
	int ret =
		lmdb_errno(mdb_cursor_open(store->db.read, store->db.dbi[STORE_EXTENTS], &cursor));

	if (ret)
		return ret;
	rec_extent_key(key, id, 0);
	ret = extents_begin(cursor, &k, &v);
	if (!ret)
		ret = rec_extent_get(k.mv_data, k.mv_size, v.mv_data, v.mv_size, &rec);
	if (!ret)
		ret = rec.id == id ? -EUCLEAN : -ENOENT;
	mdb_cursor_close(cursor);
	return ret;
}

int store_load_header(struct store *store, uint64_t id, struct rec_object *rec)
{
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	int ret;

	rec_key(key, id);
	ret = mdb_get(store->db.read, store->db.dbi[STORE_OBJECTS], &k, &v);
	if (ret == MDB_NOTFOUND)
		return check_absent(store, id);
	if (ret)
		return lmdb_errno(ret);
	return rec_object_get(k.mv_data, k.mv_size, v.mv_data, v.mv_size, rec);
}

/* Adds one record, and has *@next behind it; -ENOENT: it belongs to another object. */
static int load_extent(struct object *obj, const MDB_val *key, const MDB_val *val, uint64_t *next)
{
	struct rec_extent rec;
	struct extent ext;
	int ret;

	ret = rec_extent_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);
	/* A damaged one may be of this object, whatever it says. */
	if (ret)
		return ret;
	*next = rec.block + 1;
	if (rec.id != obj->ref.id)
		return -ENOENT;
	if (rec.lost)
		return obj->refused ? 0 : -EUCLEAN;
	if (!rec_extent_within(&rec, obj->ref.block, obj->store->size))
		return -EUCLEAN;
	if (rec.block < extent_map_end(&obj->map))
		return -EUCLEAN;
	ext = (struct extent){ .block = rec.block, .start = rec.start, .count = rec.count };
	ret = extent_map_add(&obj->map, &ext, 1, obj->ref.block);
	if (!ret && rec.unwritten)
		ret = ranges_add(&obj->unwritten, rec.block, rec.count);
	if (!ret && rec.unwritten)
		ret = ranges_add(&obj->reserved, rec.block, rec.count);
	return ret;
}

/* Moves to the first extent at or after @k.  -EUCLEAN: the one before it is damaged, and may belong behind it. */
static int extents_begin(MDB_cursor *cursor, MDB_val *k, MDB_val *v)
{
	MDB_val first = *k;
	struct rec_extent rec;
	int ret = mdb_cursor_get(cursor, k, v, MDB_SET_RANGE);

	if (!ret || ret == MDB_NOTFOUND)
		ret = mdb_cursor_get(cursor, k, v, ret ? MDB_LAST : MDB_PREV);
	if (!ret)
		ret = rec_extent_get(k->mv_data, k->mv_size, v->mv_data, v->mv_size, &rec);
	if (ret && ret != MDB_NOTFOUND)
		return lmdb_errno(ret);
	*k = first;
	return lmdb_errno(mdb_cursor_get(cursor, k, v, MDB_SET_RANGE));
}

int store_load_extents(struct object *obj, uint64_t *next, uint64_t *steps)
{
	struct store *store = obj->store;
	uint8_t key[REC_EXTENT_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	MDB_cursor *cursor;
	int ret;

	ret = mdb_cursor_open(store->db.read, store->db.dbi[STORE_EXTENTS], &cursor);
	if (ret)
		return lmdb_errno(ret);
	rec_extent_key(key, obj->ref.id, *next);
	ret = extents_begin(cursor, &k, &v);
	for (; !ret && *steps; --*steps) {
		ret = load_extent(obj, &k, &v, next);
		if (!ret)
			ret = lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_NEXT));
	}
	mdb_cursor_close(cursor);
	return ret == -ENOENT ? 0 : ret ? ret : 1;
}
