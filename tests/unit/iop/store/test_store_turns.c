// SPDX-License-Identifier: GPL-2.0-only
/* Work on an object in many pieces, some in each turn of the reactor. */
#include <errno.h>
#include "iop/store/priv.h"
#include "ut_store.h"

enum { BS = 4096, BLOCKS = 64, LIMIT = 8 };

/* A store whose reactor gives back LIMIT pieces in a turn, and an object in pieces: all of it is committed. */
static struct object *turns_begin(struct ut_store *t, uint64_t size, uint64_t blocks)
{
	struct object *obj;

	ut_store_begin(t, size);
	t->store->bounds->at[BOUND_FREED].limit = LIMIT;
	obj = ut_object(t, 1, BS, DDIO_LAYOUT_RANDOM_BLOCKS_W, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, blocks), 0);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	CU_ASSERT(obj->map.n > blocks / 2);
	return obj;
}

/* Removes the object, and has all of it wait but what the first turn gives back. */
static void turns_remove(struct ut_store *t, struct object *obj)
{
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	object_put(obj);
}

static void removed_in_turns(void)
{
	struct bound *b;
	struct object *obj;
	uint64_t all, now, pieces;
	struct ut_store t;

	obj = turns_begin(&t, 16 * MIB, BLOCKS);
	b = &t.store->bounds->at[BOUND_FREED];
	all = store_free_bytes(t.store) + BLOCKS * BS;
	now = t.store->free.total;
	pieces = obj->map.n;
	turns_remove(&t, obj);
	CU_ASSERT(t.store->free.total > now && t.store->free.total < all);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), all);
	CU_ASSERT_EQUAL(b->hits, 1);
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT_EQUAL(t.store->free.total, all);
	CU_ASSERT_EQUAL(t.store->giving, 0);
	CU_ASSERT_EQUAL(b->hits, (pieces - 1) / LIMIT);
	CU_ASSERT_EQUAL(ut_store_clean(&t), all);
	ut_store_end(&t);
}

static void punched_in_turns(void)
{
	struct object *obj;
	struct ut_store t;
	uint64_t all;

	obj = turns_begin(&t, 16 * MIB, BLOCKS);
	all = store_free_bytes(t.store) + (BLOCKS - 2) * BS;
	CU_ASSERT_EQUAL(object_punch(obj, 1, BLOCKS - 2), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), all - (BLOCKS - 2) * BS);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT(t.store->free.total < all);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), all);
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT_EQUAL(t.store->free.total, all);
	CU_ASSERT_EQUAL(ut_store_clean(&t), all);
	object_put(obj);
	ut_store_end(&t);
}

/* Who finds no space has what waits given back first: nothing is full that is not. */
static void wanted_at_once(void)
{
	struct object *obj, *next;
	struct ut_store t;
	uint64_t blocks;

	ut_store_begin(&t, 2 * MIB);
	blocks = store_free_bytes(t.store) / BS;
	ut_store_end(&t);
	obj = turns_begin(&t, 2 * MIB, blocks);
	turns_remove(&t, obj);
	CU_ASSERT(t.store->giving);
	next = ut_object(&t, 2, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	CU_ASSERT_EQUAL(object_alloc(next, 0, 2 * LIMIT), 0);
	CU_ASSERT(t.store->giving);
	CU_ASSERT_EQUAL(object_alloc(next, 2 * LIMIT, blocks - 2 * LIMIT), 0);
	CU_ASSERT_EQUAL(object_alloc(next, blocks, 1), -ENOSPC);
	ddio_sim_run_for(t.world, 1000000);
	object_put(next);
	ut_store_end(&t);
}

/* Free space that is read anew has what waits; a store that is closed forgets it. */
static void read_anew(void)
{
	struct object *obj;
	struct ut_store t;
	uint64_t all;

	obj = turns_begin(&t, 16 * MIB, BLOCKS);
	all = store_free_bytes(t.store) + BLOCKS * BS;
	turns_remove(&t, obj);
	CU_ASSERT(t.store->giving);
	CU_ASSERT_EQUAL(store_load_free(t.store), 0);
	CU_ASSERT_EQUAL(t.store->free.total, all);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), all);
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT_EQUAL(t.store->free.total, all);
	obj = ut_object(&t, 3, BS, DDIO_LAYOUT_RANDOM_BLOCKS_W, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, BLOCKS), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	turns_remove(&t, obj);
	CU_ASSERT(t.store->giving);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(t.store->free.total, all);
	ddio_sim_run_for(t.world, 1000000);
	ut_store_end(&t);
}

/* A step is a block that gets a place by itself, or else a run of blocks that are alike. */
static void stretches(void)
{
	struct object *a, *b;
	struct ut_store t;

	ut_store_begin(&t, 16 * MIB);
	a = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	b = ut_object(&t, 2, BS, DDIO_LAYOUT_RANDOM_BLOCKS_W, true);
	CU_ASSERT_EQUAL(object_stretch(a, 0, 1000, 1), 1000);
	CU_ASSERT_EQUAL(object_stretch(b, 0, 1000, 1), 1);
	CU_ASSERT_EQUAL(object_stretch(b, 0, 1000, 10), 10);
	CU_ASSERT_EQUAL(object_stretch(b, 0, 10, 1000), 10);
	CU_ASSERT_EQUAL(ut_fill(a, 10, 1), 0);
	CU_ASSERT_EQUAL(object_alloc(a, 11, 1), 0);
	CU_ASSERT_EQUAL(object_stretch(a, 0, 1000, 1), 10);
	CU_ASSERT_EQUAL(object_stretch(a, 0, 1000, 2), 11);
	CU_ASSERT_EQUAL(object_stretch(a, 0, 1000, 3), 12);
	CU_ASSERT_EQUAL(object_stretch(a, 0, 1000, 4), 1000);
	CU_ASSERT_EQUAL(object_room(a, 0, 1000), 0);
	CU_ASSERT_EQUAL(object_room(a, 0, 5000), -ENOSPC);
	object_put(a);
	object_put(b);
	ut_store_end(&t);
}

/**
 * struct patient - waits until the object has been read
 * @extents: of the object, when it was called
 */
struct patient {
	struct store_wait wait;
	struct store *store;
	uint32_t called;
	size_t extents;
};

static struct ddio_file_ref pieces(void)
{
	return ut_ref(1, BS, DDIO_LAYOUT_RANDOM_BLOCKS_W);
}

static void reader_called(struct store_wait *wait)
{
	struct patient *r = ddio_container_of(wait, struct patient, wait);
	struct ddio_file_ref ref = pieces();
	struct object *obj;

	/* It must not be read over and over. */
	if (r->called++ > 9)
		return;
	CU_ASSERT(store_fetch(r->store, &ref, wait));
	if (store_get(r->store, &ref, false, &obj))
		return;
	r->extents = obj->map.n;
	object_put(obj);
}

/* An object in pieces is in the records only, and LIMIT of them are read in a turn.  Returns how many. */
static size_t fetch_prepare(struct ut_store *t)
{
	struct object *obj = turns_begin(t, 16 * MIB, BLOCKS);
	size_t n = obj->map.n;

	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_reopen(t), 0);
	t->store->bounds->at[BOUND_FETCHED].limit = LIMIT;
	return n;
}

static bool reader_begin(struct ut_store *t, struct patient *r)
{
	const struct ddio_file_ref ref = pieces();

	*r = (struct patient){ .wait.done = reader_called, .store = t->store };
	ddio_list_init(&r->wait.link);
	return store_fetch(t->store, &ref, &r->wait);
}

static void read_in_turns(void)
{
	struct patient r, second, gone;
	struct ddio_file_ref ref = pieces();
	struct bound *b;
	struct ut_store t;
	size_t n = fetch_prepare(&t);

	b = &t.store->bounds->at[BOUND_FETCHED];
	CU_ASSERT_FALSE(reader_begin(&t, &r));
	CU_ASSERT_FALSE(reader_begin(&t, &second));
	CU_ASSERT_FALSE(reader_begin(&t, &gone));
	CU_ASSERT_FALSE(store_fetch(t.store, &ref, NULL));
	store_fetch_forget(&gone.wait);
	CU_ASSERT_EQUAL(b->most, LIMIT);
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT(r.called == 1 && second.called == 1 && !gone.called);
	CU_ASSERT(r.extents == n && second.extents == n);
	CU_ASSERT(b->most == LIMIT && b->hits == (n - 1) / LIMIT);
	CU_ASSERT(ddio_list_empty(&t.store->fetches));
	/* It is there now; one that does not exist, or is another, is found out at once. */
	CU_ASSERT(reader_begin(&t, &gone));
	ref.seed++;
	CU_ASSERT(store_fetch(t.store, &ref, &gone.wait));
	ref.id = 99;
	CU_ASSERT(store_fetch(t.store, &ref, &gone.wait));
	ut_store_end(&t);
}

/* Somebody has it read at once meanwhile, and changes it; another has it removed; or nothing waits for it any more. */
static void read_beside_others(void)
{
	const struct ddio_file_ref ref = pieces();
	struct object *obj;
	struct patient r;
	struct ut_store t;
	size_t n = fetch_prepare(&t);

	CU_ASSERT_FALSE(reader_begin(&t, &r));
	CU_ASSERT_EQUAL_FATAL(store_get(t.store, &ref, false, &obj), 0);
	CU_ASSERT_EQUAL(obj->map.n, n);
	CU_ASSERT_EQUAL(object_punch(obj, 0, BLOCKS / 2), 0);
	n = obj->map.n;
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT(r.called == 1 && r.extents == n);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	t.store->bounds->at[BOUND_FETCHED].limit = LIMIT;
	CU_ASSERT_FALSE(reader_begin(&t, &r));
	CU_ASSERT_EQUAL_FATAL(store_get(t.store, &ref, false, &obj), 0);
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	object_put(obj);
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT(r.called == 1 && !r.extents);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	ut_store_clean(&t);
	ut_store_end(&t);
}

static int drop_free(MDB_txn *txn, void *arg)
{
	return mdb_drop(txn, ((struct store *)arg)->db.dbi[STORE_FREE], 0);
}

/* Its records are repaired meanwhile, and read anew; or the store is closed. */
static void read_beside_repair(void)
{
	struct ddio_msg_fsck result;
	struct patient r;
	struct ut_store t;
	size_t n = fetch_prepare(&t);

	CU_ASSERT_FALSE(reader_begin(&t, &r));
	CU_ASSERT_EQUAL(t.store->bounds->at[BOUND_FETCHED].hits, 1);
	CU_ASSERT_EQUAL(lmdb_write(&t.store->db, drop_free, t.store), 0);
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_REPAIR, &result), 0);
	CU_ASSERT(result.problems > 0);
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT(r.called == 1 && r.extents == n);
	CU_ASSERT_EQUAL(t.store->bounds->at[BOUND_FETCHED].hits, 1 + (n - 1) / LIMIT);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	t.store->bounds->at[BOUND_FETCHED].limit = 1;
	CU_ASSERT_FALSE(reader_begin(&t, &r));
	store_fetch_forget(&r.wait);
	ut_store_end(&t);
	CU_ASSERT_EQUAL(r.called, 0);
}

/* Turns a bit of the record of the object's last extent, or has it say that extents are lost. */
static int harm_last(MDB_txn *txn, void *arg)
{
	struct store *store = arg;
	MDB_cursor *cursor;
	uint8_t key[REC_EXTENT_KEY_LEN], value[64];
	MDB_val k, v;
	int ret = mdb_cursor_open(txn, store->db.dbi[STORE_EXTENTS], &cursor);

	if (!ret)
		ret = mdb_cursor_get(cursor, &k, &v, MDB_LAST);
	if (ret)
		return ret;
	CU_ASSERT_FATAL(k.mv_size == sizeof(key) && v.mv_size <= sizeof(value));
	memcpy(key, k.mv_data, k.mv_size);
	memcpy(value, v.mv_data, v.mv_size);
	mdb_cursor_close(cursor);
	k.mv_data = key;
	v.mv_data = value;
	value[9] ^= 4;
	return mdb_put(txn, store->db.dbi[STORE_EXTENTS], &k, &v, 0);
}

/* An object of which the last record is damaged is read in turns as well, and found out once. */
static void damaged_in_turns(void)
{
	const struct ddio_file_ref ref = pieces();
	struct ddio_msg_fsck result;
	struct object *obj;
	struct patient r;
	struct bound *b;
	struct ut_store t;
	size_t n = fetch_prepare(&t);
	int i;

	b = &t.store->bounds->at[BOUND_FETCHED];
	CU_ASSERT_EQUAL_FATAL(lmdb_write(&t.store->db, harm_last, t.store), 0);
	CU_ASSERT_FALSE(reader_begin(&t, &r));
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT(r.called == 1 && !r.extents);
	CU_ASSERT(b->most == LIMIT && b->hits >= 2 * ((n - 1) / LIMIT));
	for (i = 0; i < 3; i++) {
		CU_ASSERT(reader_begin(&t, &r));
		store_fetch_forget(&r.wait);
		CU_ASSERT_EQUAL(store_get(t.store, &ref, true, &obj), -EUCLEAN);
		CU_ASSERT_EQUAL(store_get_remains(t.store, &ref, &obj), -EUCLEAN);
	}
	CU_ASSERT_EQUAL(ddio_sim_logged(t.world, "are damaged; run 'ddio fsck'"), 1);
	/* A repair corrects the bit. */
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_REPAIR, &result), 0);
	CU_ASSERT_EQUAL_FATAL(store_get(t.store, &ref, false, &obj), 0);
	CU_ASSERT_EQUAL(obj->map.n, n);
	object_put(obj);
	ut_store_end(&t);
}

static int lose_last(MDB_txn *txn, void *arg)
{
	const struct rec_extent lost = { .id = 1, .block = 2 * BLOCKS, .lost = true, .count = 1 };
	struct store *store = arg;
	uint8_t key[REC_EXTENT_KEY_LEN], value[REC_EXTENT_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));

	rec_extent_key(key, 1, lost.block);
	rec_extent_put(value, &lost);
	return mdb_put(txn, store->db.dbi[STORE_EXTENTS], &k, &v, 0);
}

/* One of which a part is lost has what remains, also read in turns, for whoever removes it. */
static void remains_in_turns(void)
{
	const struct ddio_file_ref ref = pieces();
	struct object *obj;
	struct patient r;
	struct bound *b;
	struct ut_store t;
	size_t n = fetch_prepare(&t);

	b = &t.store->bounds->at[BOUND_FETCHED];
	CU_ASSERT_EQUAL_FATAL(lmdb_write(&t.store->db, lose_last, t.store), 0);
	CU_ASSERT_FALSE(reader_begin(&t, &r));
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT(r.called == 1 && !r.extents && b->most == LIMIT);
	CU_ASSERT_EQUAL(store_get(t.store, &ref, false, &obj), -EUCLEAN);
	CU_ASSERT_EQUAL_FATAL(store_get_remains(t.store, &ref, &obj), 0);
	CU_ASSERT_EQUAL(obj->map.n, n);
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_get(t.store, &ref, false, &obj), -ENOENT);
	ut_store_end(&t);
}

static const struct ut_case cases[] = {
	{ "the space of what is removed", removed_in_turns },
	{ "the space of a hole", punched_in_turns },
	{ "who finds no space", wanted_at_once },
	{ "free space is read anew", read_anew },
	{ "stretches", stretches },
	{ "records are read in turns", read_in_turns },
	{ "... beside others", read_beside_others },
	{ "... beside a repair", read_beside_repair },
	{ "... of which one is damaged", damaged_in_turns },
	{ "... of which one is lost", remains_in_turns },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "turns", cases } };

	return ut_run("store_turns", suites, 1);
}
