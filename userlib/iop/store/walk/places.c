// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/lmdb/walk.h"
#include "iop/store/priv.h"
#include "iop/store/walk/places.h"

#define CAP_MIN 64

/**
 * struct store_places - a portion being looked for
 * @v: a heap, the last place on top; while it is sorted, only of the first @unsorted
 * @id, @bs: the object of the last record, and the bytes of its blocks; 0: its record cannot be read
 * @sorting: all records have been read
 */
struct store_places {
	struct store *store;
	struct lmdb_walk walk;
	uint64_t from;
	size_t most, n, cap, unsorted;
	struct store_place *v;
	uint64_t id;
	uint32_t bs;
	bool sorting;
	int err;
};

static void swap(struct store_place *v, size_t i, size_t j)
{
	const struct store_place tmp = v[i];

	v[i] = v[j];
	v[j] = tmp;
}

static void rise(struct store_place *v, size_t i)
{
	for (; i && v[i].start > v[(i - 1) / 2].start; i = (i - 1) / 2)
		swap(v, i, (i - 1) / 2);
}

static void sink(struct store_place *v, size_t n)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && v[child + 1].start > v[child].start)
			child++;
		if (v[i].start >= v[child].start)
			return;
		swap(v, i, child);
		i = child;
	}
}

static int grow(struct store_places *p)
{
	size_t cap = p->cap ? 2 * p->cap : CAP_MIN;
	struct store_place *v;

	if (p->n < p->cap)
		return 0;
	v = realloc(p->v, cap * sizeof(*v));
	if (!v)
		return -ENOMEM;
	p->v = v;
	p->cap = cap;
	return 0;
}

/* Keeps a place if it is one of the first. */
static int keep(struct store_places *p, const struct store_place *place)
{
	int ret;

	if (p->n == p->most) {
		if (place->start >= p->v[0].start)
			return 0;
		p->v[0] = *place;
		sink(p->v, p->n);
		return 0;
	}
	ret = grow(p);
	if (ret)
		return ret;
	p->v[p->n++] = *place;
	rise(p->v, p->n - 1);
	return 0;
}

/* Returns the bytes of the object's blocks, or 0 if its record cannot be read. */
static uint32_t block_size(struct store_places *p, uint64_t id)
{
	uint8_t key[REC_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	struct rec_object rec;

	if (id == p->id)
		return p->bs;
	rec_key(key, id);
	p->id = id;
	p->bs = 0;
	if (!mdb_get(p->walk.txn, p->store->db.dbi[STORE_OBJECTS], &k, &v) &&
	    !rec_object_get(key, sizeof(key), v.mv_data, v.mv_size, &rec))
		p->bs = rec.block;
	return p->bs;
}

/* What is damaged is for a check to find. */
static int take(struct store_places *p, const MDB_val *key, const MDB_val *val)
{
	struct store_place place;
	struct rec_extent rec;

	if (rec_extent_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec) ||
	    rec.lost || rec.unwritten)
		return 0;
	place = (struct store_place){ .start = rec.start,
				      .count = rec.count,
				      .id = rec.id,
				      .block = rec.block,
				      .bs = block_size(p, rec.id) };
	if (!place.bs || !rec_extent_within(&rec, place.bs, p->store->size) ||
	    place.start + place.count * place.bs <= p->from)
		return 0;
	return keep(p, &place);
}

static void restart(struct store_places *p)
{
	p->n = 0;
	p->id = 0;
	p->bs = 0;
	p->sorting = false;
	p->err = lmdb_walk_begin(&p->walk, &p->store->db);
}

int store_places_begin(struct store *store, uint64_t from, size_t most,
		       struct store_places **places)
{
	struct store_places *p = calloc(1, sizeof(*p));

	*places = p;
	if (!p)
		return -ENOMEM;
	p->store = store;
	p->from = from;
	p->most = most;
	restart(p);
	return 0;
}

/* Returns false when all is sorted. */
static bool step(struct store_places *p)
{
	MDB_val k, v;
	int ret;

	if (p->sorting) {
		if (p->unsorted < 2)
			return false;
		swap(p->v, 0, --p->unsorted);
		sink(p->v, p->unsorted);
		return true;
	}
	ret = lmdb_walk_next(&p->walk, p->store->db.dbi[STORE_EXTENTS], &k, &v);
	p->sorting = ret == -ENOENT;
	p->unsorted = p->n;
	if (!ret)
		ret = take(p, &k, &v);
	if (ret && !p->sorting)
		p->err = ret;
	return true;
}

bool store_places_step(struct store_places *p, uint32_t steps)
{
	/* The map has grown, and has ended the walk. */
	if (!p->walk.txn && !p->err && !p->sorting) {
		lmdb_walk_end(&p->walk);
		restart(p);
	}
	for (; steps && !p->err; steps--)
		if (!step(p))
			return false;
	return !p->err;
}

int store_places_end(struct store_places *p, struct store_place **v, size_t *n)
{
	int ret = p->err;

	lmdb_walk_end(&p->walk);
	if (v)
		*n = ret ? 0 : p->n;
	if (v && !ret)
		*v = p->v;
	else
		free(p->v);
	free(p);
	return ret;
}
