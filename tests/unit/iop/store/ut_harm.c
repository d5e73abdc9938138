// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/iop/store/ut_harm.h"

static int strike(MDB_txn *txn, void *arg)
{
	struct store_hit *hit = arg;
	MDB_val k = lmdb_val(hit->key, hit->key_len);
	MDB_val v = lmdb_val(hit->value, hit->len);

	if (hit->len)
		return mdb_put(txn, hit->store->db.dbi[hit->db], &k, &v, 0);
	return mdb_del(txn, hit->store->db.dbi[hit->db], &k, NULL);
}

void apply(struct ut_store *t, struct store_hit *hit)
{
	hit->store = t->store;
	CU_ASSERT_EQUAL(lmdb_write(&t->store->db, strike, hit), 0);
}

struct store_hit hit_extent(uint64_t id, uint64_t block, uint64_t start, uint64_t count)
{
	const struct rec_extent rec = { id, block, start, count, false, false };
	struct store_hit hit = { .db = STORE_EXTENTS, .key_len = 16, .len = REC_EXTENT_LEN };

	rec_extent_key(hit.key, id, block);
	rec_extent_put(hit.value, &rec);
	return hit;
}

struct store_hit hit_object(uint64_t id, uint32_t block)
{
	const struct rec_object rec = { .id = id,
					.block = block,
					.seed = ut_ref(id, block, 0).seed };
	struct store_hit hit = { .db = STORE_OBJECTS, .key_len = 8, .len = REC_OBJECT_LEN };

	rec_key(hit.key, id);
	rec_object_put(hit.value, &rec);
	return hit;
}

struct store_hit hit_free(uint64_t start, uint64_t len)
{
	const struct rec_free rec = { start, len };
	struct store_hit hit = { .db = STORE_FREE, .key_len = 8, .len = REC_FREE_LEN };

	rec_key(hit.key, start);
	rec_free_put(hit.value, &rec);
	return hit;
}
