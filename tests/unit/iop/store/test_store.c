// SPDX-License-Identifier: GPL-2.0-only
/* The object store: objects, their blocks, commits. */
#include <errno.h>
#include "iop/store/priv.h"
#include "base/bug.h"
#include "ut_store.h"

#define BS 8192u
#define CONTIGUOUS DDIO_LAYOUT_CONTIGUOUS_W

static void test_identity_kept(void)
{
	struct ut_store t;

	ut_store_begin(&t, 16 * MIB);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 16 * MIB - 4096);
	CU_ASSERT_EQUAL(store_objects(t.store), 0);
	CU_ASSERT_PTR_EQUAL(store_disk(t.store), t.disk);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 16 * MIB - 4096);
	ut_store_end(&t);
}

static void test_get(void)
{
	struct ddio_file_ref ref = ut_ref(5, BS, CONTIGUOUS);
	struct object *obj, *again;
	struct ut_store t;

	ut_store_begin(&t, 16 * MIB);
	CU_ASSERT_EQUAL(store_get(t.store, &ref, false, &obj), -ENOENT);
	CU_ASSERT_EQUAL_FATAL(store_get(t.store, &ref, true, &obj), 0);
	CU_ASSERT_EQUAL(store_objects(t.store), 1);
	CU_ASSERT_EQUAL(object_file(obj)->id, 5);
	CU_ASSERT_EQUAL(store_get(t.store, &ref, false, &again), 0);
	CU_ASSERT_PTR_EQUAL(obj, again);
	object_put(again);
	ref.block = 2 * BS;
	CU_ASSERT_EQUAL(store_get(t.store, &ref, false, &again), -ESTALE);
	ref = ut_ref(5, BS, DDIO_LAYOUT_RANDOM_BLOCKS_W);
	CU_ASSERT_EQUAL(store_get(t.store, &ref, false, &again), -ESTALE);
	ref = ut_ref(5, BS, CONTIGUOUS);
	ref.seed++;
	CU_ASSERT_EQUAL(store_get(t.store, &ref, false, &again), -ESTALE);
	ref = ut_ref(6, 256, CONTIGUOUS);
	CU_ASSERT_EQUAL(store_get(t.store, &ref, true, &again), -EINVAL);
	ref = ut_ref(6, 3 * 512, CONTIGUOUS);
	CU_ASSERT_EQUAL(store_get(t.store, &ref, true, &again), -EINVAL);
	ref = ut_ref(6, 512, DDIO_LAYOUT_MAX_W);
	CU_ASSERT_EQUAL(store_get(t.store, &ref, true, &again), -EINVAL);
	ref = ut_ref(6, DDIO_MAX_BLOCK * 2, CONTIGUOUS);
	CU_ASSERT_EQUAL(store_get(t.store, &ref, true, &again), -EINVAL);
	/* Nothing was ever written: there is nothing to find. */
	object_put(obj);
	ref = ut_ref(5, BS, CONTIGUOUS);
	CU_ASSERT_EQUAL(store_get(t.store, &ref, false, &obj), -ENOENT);
	CU_ASSERT_EQUAL(store_objects(t.store), 0);
	ut_store_end(&t);
}

static void test_lookup(void)
{
	struct object *obj;
	uint64_t start, first, run;
	struct ut_store t;
	bool written;

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	CU_ASSERT_FALSE(object_lookup(obj, 3, &start, &run, &written));
	CU_ASSERT_EQUAL(run, UINT64_MAX - 3);
	CU_ASSERT_EQUAL(object_alloc(obj, 10, 20), 0);
	CU_ASSERT_EQUAL(object_blocks(obj), 20);
	CU_ASSERT_EQUAL(object_end(obj), 30);
	CU_ASSERT_FALSE(object_lookup(obj, 3, &start, &run, &written));
	CU_ASSERT_EQUAL(run, 7);
	CU_ASSERT_TRUE(object_lookup(obj, 10, &first, &run, &written));
	CU_ASSERT_EQUAL(run, 20);
	CU_ASSERT_FALSE(written);
	CU_ASSERT(first >= 4096 && first % 4096 == 0);
	object_written(obj, 14, 3);
	CU_ASSERT_TRUE(object_lookup(obj, 11, &start, &run, &written));
	CU_ASSERT_EQUAL(run, 3);
	CU_ASSERT_FALSE(written);
	CU_ASSERT_EQUAL(start, first + BS);
	CU_ASSERT_TRUE(object_lookup(obj, 15, &start, &run, &written));
	CU_ASSERT_EQUAL(run, 2);
	CU_ASSERT_TRUE(written);
	CU_ASSERT_EQUAL(start, first + 5 * BS);
	CU_ASSERT_TRUE(object_lookup(obj, 17, &start, &run, &written));
	CU_ASSERT_EQUAL(run, 13);
	CU_ASSERT_FALSE(written);
	CU_ASSERT_FALSE(object_lookup(obj, 30, &start, &run, &written));
	object_put(obj);
	ut_store_end(&t);
}

/* After a restart, blocks that were allocated but not written are gone; written ones are there. */
static void test_only_written_is_recorded(void)
{
	struct object *obj;
	uint64_t start, at, run;
	struct ut_store t;
	bool written;

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	CU_ASSERT_EQUAL(object_alloc(obj, 0, 100), 0);
	CU_ASSERT_FALSE(store_dirty(t.store));
	object_written(obj, 40, 10);
	object_written(obj, 60, 1);
	object_lookup(obj, 40, &start, &run, &written);
	CU_ASSERT_TRUE(store_dirty(t.store));
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_FALSE(store_dirty(t.store));
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 16 * MIB - 4096 - 100 * BS);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 16 * MIB - 4096 - 11 * BS);
	CU_ASSERT_EQUAL(ut_store_clean(&t), store_free_bytes(t.store));
	obj = ut_object(&t, 1, BS, CONTIGUOUS, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(obj);
	CU_ASSERT_EQUAL(object_blocks(obj), 11);
	CU_ASSERT_FALSE(object_lookup(obj, 39, &at, &run, &written));
	CU_ASSERT_TRUE(object_lookup(obj, 40, &at, &run, &written));
	CU_ASSERT_EQUAL(at, start);
	CU_ASSERT_EQUAL(run, 10);
	CU_ASSERT_TRUE(written);
	CU_ASSERT_TRUE(object_lookup(obj, 60, &at, &run, &written));
	CU_ASSERT_EQUAL(at, start + 20 * BS);
	object_put(obj);
	ut_store_end(&t);
}

/* Reserved blocks stay with an object that nobody holds. */
static void test_reservation_stays(void)
{
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	CU_ASSERT_EQUAL(object_alloc(obj, 0, 100), 0);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(obj);
	CU_ASSERT_EQUAL(object_blocks(obj), 100);
	object_put(obj);
	ut_store_end(&t);
}

static void test_truncate(void)
{
	uint64_t full = 16 * MIB - 4096, start, run;
	struct object *obj;
	struct ut_store t;
	bool written;

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 100), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_punch(obj, 30, UINT64_MAX), 0);
	CU_ASSERT_EQUAL(object_punch(obj, 50, UINT64_MAX), 0);
	CU_ASSERT_EQUAL(object_end(obj), 30);
	CU_ASSERT_FALSE(object_lookup(obj, 30, &start, &run, &written));
	/* Freed only by the commit. */
	CU_ASSERT_EQUAL(store_free_bytes(t.store), full - 100 * BS);
	CU_ASSERT_TRUE(store_dirty(t.store));
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), full - 30 * BS);
	CU_ASSERT_EQUAL(ut_store_clean(&t), full - 30 * BS);
	/* Cut and grown again within one batch. */
	CU_ASSERT_EQUAL(object_punch(obj, 10, UINT64_MAX), 0);
	CU_ASSERT_EQUAL(ut_fill(obj, 10, 5), 0);
	CU_ASSERT_EQUAL(object_punch(obj, 12, UINT64_MAX), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), full - 12 * BS);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(obj);
	CU_ASSERT_EQUAL(object_blocks(obj), 12);
	object_put(obj);
	ut_store_end(&t);
}

static void test_remove_while_used(void)
{
	uint64_t full = 16 * MIB - 4096, start, run;
	struct object *obj, *other;
	struct ut_store t;
	bool written;

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 100), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	CU_ASSERT_EQUAL(object_remove(obj), -ENOENT);
	CU_ASSERT_PTR_NULL(ut_object(&t, 1, BS, CONTIGUOUS, false));
	CU_ASSERT_EQUAL(store_objects(t.store), 0);
	CU_ASSERT_FALSE(object_lookup(obj, 0, &start, &run, &written));
	CU_ASSERT_EQUAL(object_alloc(obj, 200, 1), -ENOENT);
	CU_ASSERT_EQUAL(object_punch(obj, 0, UINT64_MAX), -ENOENT);
	object_written(obj, 0, 10);
	/* The same number may be made anew at once. */
	other = ut_object(&t, 1, BS, CONTIGUOUS, true);
	CU_ASSERT_PTR_NOT_NULL_FATAL(other);
	CU_ASSERT_EQUAL(object_blocks(other), 0);
	CU_ASSERT_EQUAL(ut_fill(other, 0, 3), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	/* A user may still have a write under way: no one else may get its place. */
	CU_ASSERT_EQUAL(store_free_bytes(t.store), full - 103 * BS);
	object_put(obj);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), full - 3 * BS);
	CU_ASSERT_EQUAL(ut_store_clean(&t), full - 3 * BS);
	object_put(other);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), full - 3 * BS);
	CU_ASSERT_EQUAL(store_objects(t.store), 1);
	ut_store_end(&t);
}

static int made(struct ut_store *t, uint64_t id)
{
	const struct ddio_file_ref ref = { .id = id, .block = BS };
	struct object *obj;
	int ret = store_get(t->store, &ref, true, &obj);

	object_put(obj);
	return ret;
}

/* No object is made of a file that was removed lately: for an hour, and of as many as fit. */
static void test_gone(void)
{
	enum { MOST = 8192, FIRST = 100 };
	const struct ddio_file_ref ref = { .id = FIRST, .block = BS };
	struct object *obj;
	struct ut_store t;
	uint64_t id;

	ut_store_begin(&t, 16 * MIB);
	CU_ASSERT_EQUAL(made(&t, FIRST), 0);
	for (id = FIRST; id < FIRST + MOST; id++)
		store_gone(t.store, id);
	CU_ASSERT_EQUAL(made(&t, FIRST), -ESTALE);
	CU_ASSERT_EQUAL(made(&t, FIRST + MOST - 1), -ESTALE);
	CU_ASSERT_EQUAL(made(&t, FIRST + MOST), 0);
	CU_ASSERT_EQUAL(store_get(t.store, &ref, false, &obj), -ENOENT);
	/* Twice is once. */
	store_gone(t.store, FIRST + 1);
	CU_ASSERT_EQUAL(made(&t, FIRST), -ESTALE);
	store_gone(t.store, FIRST + MOST);
	CU_ASSERT_EQUAL(made(&t, FIRST), 0);
	CU_ASSERT_EQUAL(made(&t, FIRST + 1), -ESTALE);
	CU_ASSERT_EQUAL(made(&t, FIRST + MOST), -ESTALE);
	ddio_sim_run_for(t.world, 3599 * 1000000000ull);
	CU_ASSERT_EQUAL(made(&t, FIRST + 1), -ESTALE);
	ddio_sim_run_for(t.world, 2 * 1000000000ull);
	CU_ASSERT_EQUAL(made(&t, FIRST + 1), 0);
	store_gone(t.store, FIRST + 1);
	CU_ASSERT_EQUAL(made(&t, FIRST + 1), -ESTALE);
	ut_store_end(&t);
}

static void test_remove_before_commit(void)
{
	uint64_t full = 16 * MIB - 4096;
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 10), 0);
	CU_ASSERT_EQUAL(object_alloc(obj, 10, 10), 0);
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	object_put(obj);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), full - 20 * BS);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), full);
	CU_ASSERT_EQUAL(ut_store_clean(&t), full);
	ut_store_end(&t);
}

static void test_no_space(void)
{
	struct object *obj, *other;
	struct ut_store t;
	uint64_t left;
	int layout;

	for (layout = 0; layout < DDIO_LAYOUT_MAX_W; layout++) {
		ut_store_begin(&t, 4 * MIB);
		obj = ut_object(&t, 1, BS, layout, true);
		CU_ASSERT_EQUAL(ut_fill(obj, 0, 100), 0);
		left = store_free_bytes(t.store);
		CU_ASSERT_EQUAL(object_alloc(obj, 50, 100000), -ENOSPC);
		CU_ASSERT_EQUAL(object_alloc(obj, 50, 1ull << 50), -ENOSPC);
		CU_ASSERT_EQUAL(object_alloc(obj, 1ull << 60, 1), -EFBIG);
		CU_ASSERT_EQUAL(object_alloc(obj, 50, left / BS + 51), -ENOSPC);
		CU_ASSERT_EQUAL(store_free_bytes(t.store), left);
		CU_ASSERT_EQUAL(object_blocks(obj), 100);
		/* Space that was freed but not committed cannot be allocated yet. */
		other = ut_object(&t, 2, BS, CONTIGUOUS, true);
		for (left = 0; !ut_fill(other, left, 1); left++)
			;
		CU_ASSERT_EQUAL(object_punch(other, 0, UINT64_MAX), 0);
		CU_ASSERT_EQUAL(object_alloc(obj, 100, 1), -ENOSPC);
		CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
		CU_ASSERT_EQUAL(object_alloc(obj, 100, 1), 0);
		object_put(obj);
		object_put(other);
		ut_store_end(&t);
	}
}

/* No long piece is left: the blocks are found in pieces, or not at all. */
static void test_fragmented(void)
{
	struct object *obj[8];
	struct ut_store t;
	uint64_t id;

	ut_store_begin(&t, 4096 + 8 * 16 * BS);
	for (id = 0; id < 8; id++) {
		obj[id] = ut_object(&t, id + 1, BS, CONTIGUOUS, true);
		CU_ASSERT_EQUAL(ut_fill(obj[id], 0, 16), 0);
	}
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 0);
	for (id = 0; id < 8; id += 2)
		CU_ASSERT_EQUAL(object_punch(obj[id], 8, UINT64_MAX), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_fill(obj[7], 16, 20), 0);
	CU_ASSERT_EQUAL(object_blocks(obj[7]), 36);
	CU_ASSERT_EQUAL(object_alloc(obj[7], 36, 13), -ENOSPC);
	CU_ASSERT_EQUAL(ut_fill(obj[7], 36, 12), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), 0);
	for (id = 0; id < 8; id++)
		object_put(obj[id]);
	ut_store_end(&t);
}

/* A disk of 8 TiB: offsets far beyond 32 bits, of blocks and of bytes. */
static void test_beyond_4_gib(void)
{
	const uint64_t size = 8ull << 40, bs = 16 * MIB;
	uint64_t start, run, far = 1ull << 45;
	struct object *obj;
	struct ut_store t;
	bool written;

	ut_store_begin(&t, size);
	obj = ut_object(&t, 1ull << 60, bs, CONTIGUOUS, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 6ull << 40 >> 24), 0);
	CU_ASSERT_TRUE(object_lookup(obj, (5ull << 40) >> 24, &start, &run, &written));
	CU_ASSERT_EQUAL(start, 4096 + (5ull << 40));
	CU_ASSERT_EQUAL(run, (1ull << 40) >> 24);
	CU_ASSERT_EQUAL(ut_fill(obj, far, 3), 0);
	CU_ASSERT_EQUAL(object_end(obj), far + 3);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), size - 4096 - (6ull << 40) - 3 * bs);
	obj = ut_object(&t, 1ull << 60, bs, CONTIGUOUS, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(obj);
	CU_ASSERT_TRUE(object_lookup(obj, far + 1, &start, &run, &written));
	CU_ASSERT(start >= 4096 + (6ull << 40));
	CU_ASSERT_EQUAL(run, 2);
	object_put(obj);
	ut_store_end(&t);
}

static void test_list(void)
{
	struct object *obj[10];
	struct ut_store t;
	uint64_t ids[20], i;

	ut_store_begin(&t, 16 * MIB);
	CU_ASSERT_EQUAL(store_list(t.store, 0, ids, 20), 0);
	for (i = 0; i < 10; i++) {
		obj[i] = ut_object(&t, 10 * (10 - i), BS, CONTIGUOUS, true);
		CU_ASSERT_EQUAL(ut_fill(obj[i], 0, 1), 0);
		if (i == 4)
			CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	}
	CU_ASSERT_EQUAL(object_remove(obj[0]), 0);
	CU_ASSERT_EQUAL(object_remove(obj[9]), 0);
	CU_ASSERT_EQUAL(store_list(t.store, 0, ids, 20), 8);
	for (i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(ids[i], 20 + 10 * i);
	CU_ASSERT_EQUAL(store_list(t.store, 40, ids, 3), 3);
	CU_ASSERT_EQUAL(ids[0], 50);
	CU_ASSERT_EQUAL(ids[2], 70);
	CU_ASSERT_EQUAL(store_list(t.store, 90, ids, 20), 0);
	CU_ASSERT_EQUAL(store_list(t.store, UINT64_MAX, ids, 20), 0);
	for (i = 0; i < 10; i++)
		object_put(obj[i]);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_list(t.store, 20, ids, 20), 7);
	CU_ASSERT_EQUAL(store_objects(t.store), 8);
	ut_store_end(&t);
}

/* More than memory keeps, and more records than the first map holds. */
static void test_many(void)
{
	struct object *obj;
	struct ut_store t;
	uint64_t i, n = 0, blocks = ut_rounds(150000);

	ut_store_begin(&t, 2048 * MIB);
	for (i = 1; i <= 3000; i++) {
		obj = ut_object(&t, i, 512, CONTIGUOUS, true);
		CU_ASSERT_EQUAL(ut_fill(obj, 0, 1), 0);
		object_put(obj);
	}
	obj = ut_object(&t, 5000, 8192, DDIO_LAYOUT_RANDOM_BLOCKS_W, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, blocks), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	object_put(obj);
	for (i = 1; i <= 3000; i++) {
		obj = ut_object(&t, i, 512, CONTIGUOUS, false);
		n += obj && object_blocks(obj) == 1;
		object_put(obj);
	}
	CU_ASSERT_EQUAL(n, 3000);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(store_objects(t.store), 3001);
	ut_store_clean(&t);
	obj = ut_object(&t, 5000, 8192, DDIO_LAYOUT_RANDOM_BLOCKS_W, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(obj);
	CU_ASSERT_EQUAL(object_blocks(obj), blocks);
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), 2048 * MIB - 4096 - 3000 * 512);
	ut_store_end(&t);
}

/* Commits that come while one runs share the next; each covers what came before it. */
static void test_group_commit(void)
{
	struct ut_commit c[4];
	struct object *obj;
	struct ut_store t;
	int i;

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	for (i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(ut_fill(obj, i, 1), 0);
		ut_commit_init(&c[i], t.env);
		store_commit(t.store, &c[i].commit);
	}
	CU_ASSERT_EQUAL(ut_commit_wait(&c[0]), 0);
	CU_ASSERT_FALSE(ddio_gate_is_open(&c[1].gate));
	CU_ASSERT_TRUE(store_dirty(t.store));
	CU_ASSERT_EQUAL(ut_commit_wait(&c[1]), 0);
	CU_ASSERT_TRUE(ddio_gate_is_open(&c[3].gate));
	CU_ASSERT_FALSE(store_dirty(t.store));
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(obj);
	CU_ASSERT_EQUAL(object_blocks(obj), 4);
	object_put(obj);
	ut_store_end(&t);
}

/*
 * A flush that fails may have lost any block written since the last one: no later commit succeeds or records
 * anything, though the disk flushes again; the records are as before when the store is opened again.
 */
static void test_failed_flush(void)
{
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 10), 0);
	disk_inject(t.disk, DDIO_DISK_FLUSH, 1, -EIO);
	CU_ASSERT_EQUAL(store_stopped(t.store), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), -EIO);
	CU_ASSERT_EQUAL(store_stopped(t.store), -EIO);
	CU_ASSERT_TRUE(store_dirty(t.store));
	CU_ASSERT_EQUAL(ut_store_clean(&t), 16 * MIB - 4096);
	CU_ASSERT_EQUAL(ut_fill(obj, 10, 10), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), -EIO);
	CU_ASSERT_EQUAL(ut_store_commit(&t), -EIO);
	CU_ASSERT_EQUAL(ut_store_clean(&t), 16 * MIB - 4096);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(store_stopped(t.store), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 16 * MIB - 4096);
	ut_store_end(&t);
}

/**
 * struct overwrite - a write past the store
 */
struct overwrite {
	struct ddio_disk_req req;
	struct ut_store *t;
	struct ddio_gate gate;
	uint8_t *buf;
};

static void overwrite_done(struct ddio_disk_req *req)
{
	struct overwrite *w = req->arg;

	CU_ASSERT_EQUAL(req->status, 0);
	ddio_gate_open(w->t->env, &w->gate);
}

/* Writes 4096 bytes at the disk's end, and waits. */
static void overwrite(struct ut_store *t)
{
	struct overwrite w = { .t = t, .buf = ddio_env_alloc(t->env, 4096) };

	memset(w.buf, 1, 4096);
	ddio_gate_init(&w.gate);
	w.req = (struct ddio_disk_req){ .op = DDIO_DISK_WRITE,
					.offset = ddio_disk_info(t->disk)->size - 4096,
					.len = 4096,
					.buf = w.buf,
					.done = overwrite_done,
					.arg = &w };
	ddio_disk_submit(t->disk, &w.req);
	ddio_disk_commit(t->disk);
	CU_ASSERT_EQUAL(ddio_gate_wait(t->env, &w.gate, 0), 0);
	ddio_env_free(t->env, w.buf, 4096);
}

static uint64_t flushes(const struct ut_store *t)
{
	struct ddio_disk_stats stats;

	ddio_disk_stats(t->disk, &stats);
	return stats.flushes;
}

/* Blocks may have been written again in place: a commit flushes even if no record has changed. */
static void test_always_flushed(void)
{
	struct ut_store t;
	int i;

	ut_store_begin(&t, 16 * MIB);
	for (i = 1; i <= 3; i++) {
		overwrite(&t);
		CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
		CU_ASSERT_EQUAL(flushes(&t), i);
	}
	ut_store_end(&t);
}

/* The first commit flushes in any case; what came before the start may not be on the disk. */
static void test_same_commit(void)
{
	struct ut_commit c[3];
	struct ut_store t;
	int i;

	ut_store_begin(&t, 16 * MIB);
	for (i = 0; i < 3; i++) {
		ut_commit_init(&c[i], t.env);
		store_commit(t.store, &c[i].commit);
	}
	for (i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(ut_commit_wait(&c[i]), 0);
		CU_ASSERT_TRUE(ddio_gate_is_open(&c[2].gate));
	}
	CU_ASSERT_EQUAL(flushes(&t), 1);
	/* Nothing since: nothing to do.  It is told by the loop all the same. */
	for (i = 0; i < 3; i++) {
		ut_commit_init(&c[i], t.env);
		store_commit(t.store, &c[i].commit);
		CU_ASSERT_FALSE(ddio_gate_is_open(&c[i].gate));
	}
	for (i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(ut_commit_wait(&c[i]), 0);
	CU_ASSERT_EQUAL(flushes(&t), 1);
	ut_store_end(&t);
}

/* What was written, or changed, while a commit is under way needs one of its own. */
static void test_not_the_same_commit(void)
{
	struct ut_commit c[2];
	struct object *obj;
	struct ut_store t;
	uint64_t before;
	int i;

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 1), 0);
	for (i = 0; i < 2; i++) {
		overwrite(&t);
		before = flushes(&t);
		ut_commit_init(&c[0], t.env);
		ut_commit_init(&c[1], t.env);
		store_commit(t.store, &c[0].commit);
		if (i) {
			CU_ASSERT_EQUAL(ut_fill(obj, 1, 1), 0);
		} else {
			overwrite(&t);
		}
		store_commit(t.store, &c[1].commit);
		CU_ASSERT_EQUAL(ut_commit_wait(&c[0]), 0);
		CU_ASSERT_EQUAL(ut_commit_wait(&c[1]), 0);
		CU_ASSERT_EQUAL(flushes(&t), before + 2);
	}
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(obj);
	CU_ASSERT_EQUAL(object_blocks(obj), 2);
	object_put(obj);
	ut_store_end(&t);
}

/* A commit of records alone does not flush, so it is none for the one that has written. */
static void test_early_is_not_the_same(void)
{
	struct ut_commit c;
	struct object *obj;
	struct ut_store t;
	uint8_t data[BS] = { 1 };

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	CU_ASSERT_EQUAL(object_alloc(obj, 0, 1), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 0);
	object_write_end(obj, 0, true, data);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	overwrite(&t);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 1);
	ut_commit_init(&c, t.env);
	c.commit.early = true;
	store_commit(t.store, &c.commit);
	CU_ASSERT_EQUAL(ut_commit_wait(&c), 0);
	CU_ASSERT_EQUAL(flushes(&t), 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(flushes(&t), 2);
	object_put(obj);
	ut_store_end(&t);
}

static int broken_apply(MDB_txn *txn, void *ctx)
{
	int ret = store_committer_ops.apply(txn, ctx);

	return ret ? ret : ENOSPC;
}

/* A few of the changes find room. */
static int broken_parts(void *ctx)
{
	struct store_batch *batch = &((struct store *)ctx)->sealed;
	size_t n = batch->nchanges;
	int ret;

	batch->nchanges = n < 8 ? n : 8;
	ret = store_committer_ops.parts(ctx);
	batch->nchanges = n;
	return ret ? ret : -ENOSPC;
}

static void test_parts(void)
{
	struct committer_ops broken = store_committer_ops;
	struct object *objs[20];
	struct ut_store t;
	uint64_t i;

	ut_store_begin(&t, 16 * MIB);
	broken.apply = broken_apply;
	broken.parts = broken_parts;
	t.store->committer.ops = &broken;
	for (i = 0; i < 20; i++) {
		objs[i] = ut_object(&t, i + 1, BS, CONTIGUOUS, true);
		CU_ASSERT_EQUAL(ut_fill(objs[i], i, 2), 0);
	}
	CU_ASSERT_EQUAL(ut_store_commit(&t), -ENOSPC);
	/* What is in the records is not written again. */
	CU_ASSERT_EQUAL(ut_store_clean(&t), 16 * MIB - 4096 - 8 * BS);
	for (i = 0; i < 20; i += 2)
		CU_ASSERT_EQUAL(object_remove(objs[i]), 0);
	broken.parts = store_committer_ops.parts;
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	for (i = 0; i < 20; i++)
		object_put(objs[i]);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 16 * MIB - 4096 - 20 * BS);
	CU_ASSERT_EQUAL(ut_store_clean(&t), 16 * MIB - 4096 - 20 * BS);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), 16 * MIB - 4096 - 20 * BS);
	ut_store_end(&t);
}

/* The same if the records cannot be written: there is no room for them. */
static void test_failed_transaction(void)
{
	struct committer_ops broken = store_committer_ops;
	struct object *obj, *gone;
	struct ut_store t;

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	gone = ut_object(&t, 2, BS, CONTIGUOUS, true);
	CU_ASSERT_EQUAL(ut_fill(gone, 0, 5), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	broken.apply = broken_apply;
	broken.parts = NULL;
	t.store->committer.ops = &broken;
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 10), 0);
	CU_ASSERT_EQUAL(object_remove(gone), 0);
	object_put(gone);
	CU_ASSERT_EQUAL(ut_store_commit(&t), -ENOSPC);
	CU_ASSERT_EQUAL(ut_fill(obj, 10, 10), 0);
	CU_ASSERT_EQUAL(object_punch(obj, 12, UINT64_MAX), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), -ENOSPC);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 16 * MIB - 4096 - 25 * BS);
	CU_ASSERT_EQUAL(ut_store_clean(&t), 16 * MIB - 4096 - 5 * BS);
	t.store->committer.ops = &store_committer_ops;
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 16 * MIB - 4096 - 12 * BS);
	CU_ASSERT_EQUAL(ut_store_clean(&t), 16 * MIB - 4096 - 12 * BS);
	object_put(obj);
	ut_store_end(&t);
}

/* Blocks written in any order, each in a commit of its own, come to one record. */
static void test_records_join(void)
{
	static const uint64_t order[] = { 5, 3, 4, 0, 7, 1, 2, 6 };
	struct ddio_msg_fsck fsck;
	struct object *obj;
	struct ut_store t;
	size_t i;

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	CU_ASSERT_EQUAL(object_alloc(obj, 0, 8), 0);
	for (i = 0; i < 8; i++) {
		object_written(obj, order[i], 1);
		CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	}
	CU_ASSERT_EQUAL(ut_store_check(t.store, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.extents, 1);
	CU_ASSERT_EQUAL(fsck.blocks, 8);
	object_put(obj);
	ut_store_end(&t);
}

static void count_bug(void *arg, const char *line)
{
	*(int *)arg += strstr(line, "closed during a commit") != NULL;
}

/* Closing in the middle of a commit is a bug of the caller; in production the memory is lost, no more. */
static void test_closed_too_early(void)
{
	struct object *obj;
	struct ut_commit c;
	struct ut_store t;
	int bugs = 0;

	ut_store_begin(&t, 16 * MIB);
	obj = ut_object(&t, 1, BS, CONTIGUOUS, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 1), 0);
	ut_commit_init(&c, t.env);
	store_commit(t.store, &c.commit);
	ddio_bug_set_log(count_bug, &bugs);
	ddio_bug_set_fatal(false);
	store_close(t.store);
	ddio_bug_set_fatal(true);
	ddio_bug_set_log(NULL, NULL);
	CU_ASSERT_EQUAL(bugs, 1);
	CU_ASSERT_EQUAL(ut_commit_wait(&c), 0);
	object_put(obj);
	ut_store_end(&t);
}

static const struct ut_case objects[] = {
	{ "identity is kept", test_identity_kept },
	{ "get", test_get },
	{ "lookup", test_lookup },
	{ "only what was written is recorded", test_only_written_is_recorded },
	{ "a reservation stays", test_reservation_stays },
	{ "truncate", test_truncate },
	{ "remove while used", test_remove_while_used },
	{ "remove before any commit", test_remove_before_commit },
	{ "a file that is gone", test_gone },
	{ "list", test_list },
	{ .name = NULL },
};

static const struct ut_case space[] = {
	{ "no space, nothing changed", test_no_space },
	{ "fragmented space", test_fragmented },
	{ "beyond 4 GiB", test_beyond_4_gib },
	{ "many objects and extents", test_many },
	{ .name = NULL },
};

static const struct ut_case commits[] = {
	{ "group commit", test_group_commit },
	{ "failed flush", test_failed_flush },
	{ "always flushed", test_always_flushed },
	{ "the same commit", test_same_commit },
	{ "not the same commit", test_not_the_same_commit },
	{ "an early commit is not the same", test_early_is_not_the_same },
	{ "failed transaction", test_failed_transaction },
	{ "in parts, where there is no room", test_parts },
	{ "records join", test_records_join },
	{ "closed too early", test_closed_too_early },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = {
		{ "objects", objects },
		{ "space", space },
		{ "commits", commits },
	};

	return ut_run("store", suites, sizeof(suites) / sizeof(suites[0]));
}
