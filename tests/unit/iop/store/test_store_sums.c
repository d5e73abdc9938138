// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checksums of blocks: recorded with what is new, in doubt while something is written again, and compared with what
 * the disk has.
 */
#include <errno.h>
#include <fcntl.h>
#include "base/crc32c.h"
#include "base/rand.h"
#include "iop/store/priv.h"
#include "ut_store.h"

#define BS 4096u
#define SIZE (64 * MIB)

/* The bytes of a block: from @stamp alone. */
static void fill(uint8_t *data, uint32_t len, uint64_t stamp)
{
	uint64_t state = stamp, word, i;

	for (i = 0; i < len; i += sizeof(word)) {
		word = ddio_rand_next(&state);
		memcpy(data + i, &word, sizeof(word));
	}
}

static uint64_t place(struct object *obj, uint64_t block)
{
	uint64_t start, run;
	bool written;

	if (!object_lookup(obj, block, &start, &run, &written))
		abort();
	return start;
}

/* Puts bytes into the disk's file, as the disk does. */
static void put(const struct ut_store *t, uint64_t at, const void *data, size_t len)
{
	int fd = open(t->file, O_WRONLY);

	if (fd < 0 || pwrite(fd, data, len, (off_t)at) != (ssize_t)len)
		abort();
	close(fd);
}

static void get(const struct ut_store *t, uint64_t at, void *data, size_t len)
{
	int fd = open(t->file, O_RDONLY);

	if (fd < 0 || pread(fd, data, len, (off_t)at) != (ssize_t)len)
		abort();
	close(fd);
}

static uint32_t bs_of(const struct object *obj)
{
	return object_file(obj)->block;
}

/* Writes a block that object_write_begin() allows. */
static void write_now(struct ut_store *t, struct object *obj, uint64_t block, uint64_t stamp)
{
	uint8_t *data = malloc(bs_of(obj));

	if (!data)
		abort();
	fill(data, bs_of(obj), stamp);
	put(t, place(obj, block), data, bs_of(obj));
	object_write_end(obj, block, true, data);
	free(data);
}

/* Returns how many commits it took. */
static int write_block(struct ut_store *t, struct object *obj, uint64_t block, uint64_t stamp)
{
	int ret, commits = 0;

	CU_ASSERT_EQUAL_FATAL(object_alloc(obj, block, 1), 0);
	for (ret = object_write_begin(obj, block); ret == 1; ret = object_write_begin(obj, block)) {
		CU_ASSERT_EQUAL_FATAL(ut_store_commit(t), 0);
		CU_ASSERT_FATAL(++commits < 3);
	}
	CU_ASSERT_EQUAL_FATAL(ret, 0);
	write_now(t, obj, block, stamp);
	return commits;
}

static int check(struct ut_store *t, struct object *obj, uint64_t block)
{
	uint8_t *data = malloc(bs_of(obj));
	int ret;

	if (!data)
		abort();
	get(t, place(obj, block), data, bs_of(obj));
	ret = object_check(obj, block, data);
	free(data);
	return ret;
}

static void flip(const struct ut_store *t, struct object *obj, uint64_t block, uint64_t bit)
{
	uint64_t at = place(obj, block) + bit / 8;
	uint8_t byte;

	get(t, at, &byte, 1);
	byte ^= (uint8_t)(1u << bit % 8);
	put(t, at, &byte, 1);
}

/* The store is closed, without a last commit, and opened again. */
static struct object *again(struct ut_store *t, struct object *obj)
{
	struct ddio_file_ref ref = *object_file(obj);

	object_put(obj);
	CU_ASSERT_EQUAL_FATAL(ut_store_reopen(t), 0);
	return store_get(t->store, &ref, false, &obj) ? NULL : obj;
}

static void settle(struct ut_store *t)
{
	store_settle(t->store, true);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	CU_ASSERT_FALSE(store_unsettled(t->store));
}

static void a_new_block_is_recorded_with_its_sum(void)
{
	struct ut_store t;
	struct object *obj;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	CU_ASSERT_EQUAL(write_block(&t, obj, 0, 1), 0);
	CU_ASSERT_EQUAL(write_block(&t, obj, 300, 2), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_FALSE(store_unsettled(t.store));
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	CU_ASSERT_EQUAL(check(&t, obj, 300), 0);
	flip(&t, obj, 300, 12345);
	CU_ASSERT_EQUAL(check(&t, obj, 300), -EBADMSG);
	CU_ASSERT_EQUAL(check(&t, obj, 300), -EBADMSG);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	flip(&t, obj, 300, 12345);
	CU_ASSERT_EQUAL(check(&t, obj, 300), 0);
	ut_store_clean(&t);
	object_put(obj);
	ut_store_end(&t);
}

/* 10,000 bits, of blocks of each kind of size: no chunk is forgotten. */
static void every_wrong_bit_is_found(void)
{
	static const uint32_t sizes[] = { 512, 4096, 65536, 1u << 20, 16u << 20 };
	struct ut_store t;
	struct object *obj;
	uint64_t rand = 16, bit;
	unsigned int i, k;

	for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		uint8_t *data = malloc(sizes[k]);

		ut_store_begin(&t, SIZE);
		obj = ut_object(&t, 1, sizes[k], DDIO_LAYOUT_CONTIGUOUS_W, true);
		write_block(&t, obj, 1, k);
		CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
		obj = again(&t, obj);
		get(&t, place(obj, 1), data, sizes[k]);
		for (i = 0; i < ut_rounds(sizes[k] > 65536 ? 500 : 3000); i++) {
			bit = ddio_rand_below(&rand, sizes[k] * UINT64_C(8));
			data[bit / 8] ^= (uint8_t)(1u << bit % 8);
			CU_ASSERT_EQUAL(object_check(obj, 1, data), -EBADMSG);
			data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		CU_ASSERT_EQUAL(object_check(obj, 1, data), 0);
		object_put(obj);
		free(data);
		ut_store_end(&t);
	}
}

static void a_block_is_in_doubt_before_it_is_written_again(void)
{
	struct ut_store t;
	struct object *obj;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	write_block(&t, obj, 0, 1);
	write_block(&t, obj, 1, 2);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 1);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 1);
	CU_ASSERT_TRUE(store_dirty(t.store));
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_FALSE(store_dirty(t.store));
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 0);
	write_now(&t, obj, 0, 3);
	/* Its group is in doubt as a whole, and stays so. */
	CU_ASSERT_EQUAL(write_block(&t, obj, 1, 4), 0);
	CU_ASSERT_EQUAL(write_block(&t, obj, 0, 5), 0);
	CU_ASSERT_FALSE(store_dirty(t.store));
	CU_ASSERT_TRUE(store_unsettled(t.store));
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	CU_ASSERT_EQUAL(check(&t, obj, 1), 0);
	/* As long as the process lives, the sums in memory count. */
	flip(&t, obj, 0, 7);
	CU_ASSERT_EQUAL(check(&t, obj, 0), -EBADMSG);
	flip(&t, obj, 0, 7);
	settle(&t);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 1);
	object_put(obj);
	ut_store_end(&t);
}

/* What a crash may leave of a block that was being written: old, new, and half of each. */
static void a_block_in_doubt_is_taken_as_it_is(void)
{
	struct ut_store t;
	struct object *obj;
	uint8_t old[BS], new[BS];
	int way;

	for (way = 0; way < 3; way++) {
		ut_store_begin(&t, SIZE);
		obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
		write_block(&t, obj, 0, 1);
		write_block(&t, obj, 1, 2);
		CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
		get(&t, place(obj, 0), old, BS);
		CU_ASSERT_EQUAL(write_block(&t, obj, 0, 3), 1);
		get(&t, place(obj, 0), new, BS);
		if (way < 2)
			put(&t, place(obj, 0), old, way ? BS / 2 : BS);
		obj = again(&t, obj);
		CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
		/* From now on it is known. */
		flip(&t, obj, 0, 99);
		CU_ASSERT_EQUAL(check(&t, obj, 0), -EBADMSG);
		flip(&t, obj, 0, 99);
		settle(&t);
		obj = again(&t, obj);
		flip(&t, obj, 0, 99);
		CU_ASSERT_EQUAL(check(&t, obj, 0), -EBADMSG);
		object_put(obj);
		ut_store_end(&t);
	}
}

/* What nobody has read since the crash stays in doubt, whatever else of the group is settled. */
static void doubt_outlives_settling(void)
{
	struct ut_store t;
	struct object *obj;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	write_block(&t, obj, 0, 1);
	write_block(&t, obj, 1, 2);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(write_block(&t, obj, 0, 3), 1);
	CU_ASSERT_EQUAL(write_block(&t, obj, 1, 4), 0);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(write_block(&t, obj, 0, 5), 1);
	settle(&t);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(check(&t, obj, 1), 0);
	flip(&t, obj, 0, 1);
	CU_ASSERT_EQUAL(check(&t, obj, 0), -EBADMSG);
	object_put(obj);
	ut_store_end(&t);
}

static void nothing_is_settled_that_is_being_written(void)
{
	struct ut_store t;
	struct object *obj;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	write_block(&t, obj, 0, 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 0);
	store_settle(t.store, true);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_TRUE(store_unsettled(t.store));
	/* Half of it reaches the disk before the crash. */
	flip(&t, obj, 0, 5);
	object_write_end(obj, 0, false, NULL);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	object_put(obj);
	ut_store_end(&t);
}

static void it_is_settled_when_it_was_quiet_for_a_while(void)
{
	struct ut_store t;
	struct object *obj;
	int i;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	write_block(&t, obj, 0, 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	for (i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(write_block(&t, obj, 0, 2), !i);
		store_settle(t.store, false);
		CU_ASSERT_FALSE(store_dirty(t.store));
	}
	store_settle(t.store, false);
	CU_ASSERT_FALSE(store_dirty(t.store));
	store_settle(t.store, false);
	CU_ASSERT_TRUE(store_dirty(t.store));
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_FALSE(store_unsettled(t.store));
	object_put(obj);
	ut_store_end(&t);
}

/* Nobody knows what a failed write has left. */
static void a_failed_write_leaves_no_sum(void)
{
	struct ut_store t;
	struct object *obj;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	write_block(&t, obj, 0, 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 0);
	flip(&t, obj, 0, 5);
	object_write_end(obj, 0, false, NULL);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	settle(&t);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	/* So does one that went past us. */
	CU_ASSERT_EQUAL(write_block(&t, obj, 0, 2), 0);
	settle(&t);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 0);
	object_write_end(obj, 0, true, NULL);
	flip(&t, obj, 0, 6);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	object_put(obj);
	ut_store_end(&t);
}

/* A block that was cut off and is new again has nothing to do with the sum of the old one. */
static void a_new_place_needs_no_doubt(void)
{
	struct ut_store t;
	struct object *obj;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	write_block(&t, obj, 0, 1);
	write_block(&t, obj, 1, 2);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_punch(obj, 1, 1), 0);
	CU_ASSERT_EQUAL(write_block(&t, obj, 1, 3), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(check(&t, obj, 1), 0);
	/* The whole file, as by O_TRUNC. */
	CU_ASSERT_EQUAL(object_punch(obj, 0, UINT64_MAX), 0);
	CU_ASSERT_EQUAL(write_block(&t, obj, 0, 4), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	ut_store_clean(&t);
	object_put(obj);
	ut_store_end(&t);
}

/* Its record says that it was written, until the next commit: so it changes at its place like any other. */
static void a_block_that_reads_as_zeros_again_needs_doubt(void)
{
	struct ut_store t;
	struct object *obj;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	write_block(&t, obj, 0, 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_unwrite(obj, 0, 1), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 0);
	write_now(&t, obj, 0, 2);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	object_put(obj);
	ut_store_end(&t);
}

static void a_reserved_block_gets_its_sum_when_it_is_written(void)
{
	struct ut_store t;
	struct object *obj;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	CU_ASSERT_EQUAL(object_reserve(obj, 0, 4), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(write_block(&t, obj, 2, 1), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(check(&t, obj, 2), 0);
	flip(&t, obj, 2, 0);
	CU_ASSERT_EQUAL(check(&t, obj, 2), -EBADMSG);
	object_put(obj);
	ut_store_end(&t);
}

static void sums_go_with_their_object(void)
{
	struct ut_store t;
	struct object *obj;
	uint64_t i;

	ut_store_begin(&t, SIZE);
	for (i = 1; i < 4; i++) {
		obj = ut_object(&t, i, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
		write_block(&t, obj, 0, i);
		write_block(&t, obj, 1000, i);
		object_put(obj);
	}
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	obj = ut_object(&t, 2, BS, DDIO_LAYOUT_CONTIGUOUS_W, false);
	CU_ASSERT_EQUAL(write_block(&t, obj, 0, 9), 1);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 0);
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	/* A write may be under way still. */
	object_write_end(obj, 0, true, NULL);
	object_put(obj);
	settle(&t);
	/* The same number again, as after a name space was put back: the check finds no sums of nobody. */
	ut_store_clean(&t);
	obj = ut_object(&t, 2, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	CU_ASSERT_EQUAL(write_block(&t, obj, 0, 7), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	object_put(obj);
	ut_store_end(&t);
}

static void without_sums_none_are_left(void)
{
	struct ut_store t;
	struct object *obj;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	write_block(&t, obj, 0, 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	t.opts.sums = false;
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(write_block(&t, obj, 0, 2), 0);
	CU_ASSERT_EQUAL(write_block(&t, obj, 1, 3), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_FALSE(store_unsettled(t.store));
	flip(&t, obj, 0, 1);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	/* Blocks that have none get theirs when they are written. */
	t.opts.sums = true;
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	CU_ASSERT_EQUAL(write_block(&t, obj, 0, 4), 0);
	settle(&t);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	flip(&t, obj, 0, 1);
	CU_ASSERT_EQUAL(check(&t, obj, 0), -EBADMSG);
	object_put(obj);
	ut_store_end(&t);
}

static int broken_apply(MDB_txn *txn, void *ctx)
{
	(void)txn;
	(void)ctx;
	return -ENOSPC;
}

/* There is no room for a transaction; for several small ones there is, later. */
static int fail_commit(struct ut_store *t, bool parts)
{
	struct committer_ops broken = store_committer_ops;
	int ret;

	broken.apply = broken_apply;
	if (!parts)
		broken.parts = NULL;
	t->store->committer.ops = &broken;
	ret = ut_store_commit(t);
	t->store->committer.ops = &store_committer_ops;
	return ret;
}

static void a_commit_that_fails_is_made_up_for(void)
{
	struct ut_store t;
	struct object *obj;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	write_block(&t, obj, 0, 1);
	CU_ASSERT_EQUAL(fail_commit(&t, false), -ENOSPC);
	CU_ASSERT_TRUE(store_dirty(t.store));
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 1);
	CU_ASSERT_EQUAL(fail_commit(&t, false), -ENOSPC);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 0);
	write_now(&t, obj, 0, 2);
	store_settle(t.store, true);
	CU_ASSERT_EQUAL(fail_commit(&t, false), -ENOSPC);
	CU_ASSERT_TRUE(store_dirty(t.store));
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	obj = again(&t, obj);
	flip(&t, obj, 0, 1);
	CU_ASSERT_EQUAL(check(&t, obj, 0), -EBADMSG);
	object_put(obj);
	ut_store_end(&t);
}

/* In several transactions, each of a few groups, it comes to the same. */
static void sums_are_written_in_parts(void)
{
	struct ut_store t;
	struct object *obj;
	uint64_t i;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, 512, DDIO_LAYOUT_CONTIGUOUS_W, true);
	for (i = 0; i < 11; i++)
		write_block(&t, obj, i * SUMS_GROUP, i);
	CU_ASSERT_EQUAL(fail_commit(&t, true), 0);
	CU_ASSERT_FALSE(store_dirty(t.store));
	obj = again(&t, obj);
	for (i = 0; i < 11; i++) {
		CU_ASSERT_EQUAL(check(&t, obj, i * SUMS_GROUP), 0);
		flip(&t, obj, i * SUMS_GROUP, 9);
		CU_ASSERT_EQUAL(check(&t, obj, i * SUMS_GROUP), -EBADMSG);
	}
	object_put(obj);
	ut_store_end(&t);
}

/* A block that was written and not committed is none for the records: it may be written again at once. */
static void what_is_not_recorded_changes_at_will(void)
{
	struct ut_store t;
	struct object *obj;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	write_block(&t, obj, 0, 1);
	CU_ASSERT_EQUAL(write_block(&t, obj, 0, 2), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 0);
	/* The commit covers the second write; the third one is under way, and reaches the disk in part. */
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	flip(&t, obj, 0, 77);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 0), 1);
	object_put(obj);
	ut_store_end(&t);
}

/* Having recorded beforehand is done in bounded steps, fewer where there is nothing to record. */
static void what_is_recorded_beforehand_is_bounded(void)
{
	uint32_t steps = 20;
	struct ut_store t;
	struct object *obj;
	uint64_t i;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, 512, DDIO_LAYOUT_CONTIGUOUS_W, true);
	for (i = 0; i < 6; i++)
		write_block(&t, obj, i * SUMS_GROUP, i);
	CU_ASSERT_FALSE(object_write_ahead(obj, 0, UINT64_MAX, &steps));
	CU_ASSERT_EQUAL(steps, 14);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	/* Two groups and a part of a third. */
	steps = 20;
	CU_ASSERT_TRUE(object_write_ahead(obj, 0, UINT64_MAX, &steps));
	CU_ASSERT_EQUAL(steps, 0);
	CU_ASSERT_FALSE(object_write_ahead(obj, 0, UINT64_MAX, &steps));
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	for (i = 0; i < 6; i++)
		CU_ASSERT_EQUAL(object_write_begin(obj, i * SUMS_GROUP), i > 2);
	for (i = 0; i < 3; i++)
		object_write_end(obj, i * SUMS_GROUP, false, NULL);
	object_put(obj);
	ut_store_end(&t);
}

/* However much is written again, what waits in memory is bounded. */
static void memory_is_bounded(void)
{
	uint64_t groups = SUMS_BUSY + SUMS_KEEP + 600, i;
	const struct sums *sums;
	struct ut_store t;
	struct object *obj;
	int pass;

	ut_store_begin(&t, SIZE);
	sums = &t.store->sums;
	obj = ut_object(&t, 1, 512, DDIO_LAYOUT_CONTIGUOUS_W, true);
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < groups; i++) {
			uint32_t steps = 1000;

			write_block(&t, obj, i * SUMS_GROUP, i + 7 * pass);
			/* Commits that nobody waits for end, too. */
			if (!(i % 1000))
				CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
			object_write_ahead(obj, (i + 1) * SUMS_GROUP, 50 * SUMS_GROUP, &steps);
			CU_ASSERT(sums->nbusy <= SUMS_BUSY + 1100);
			CU_ASSERT(sums->nclean <= SUMS_KEEP + SUMS_BUSY);
		}
	}
	settle(&t);
	CU_ASSERT_EQUAL(sums->nclean, SUMS_KEEP);
	CU_ASSERT(store_sums_bytes(t.store) < 2 * SUMS_KEEP * 1024);
	obj = again(&t, obj);
	for (i = 0; i < groups; i += 97)
		CU_ASSERT_EQUAL(check(&t, obj, i * SUMS_GROUP), 0);
	object_put(obj);
	ut_store_end(&t);
}

/* Returns the CRC-32C of a block as the disk has it. */
static uint32_t sum_of(struct ut_store *t, struct object *obj, uint64_t block)
{
	uint8_t *data = malloc(bs_of(obj));
	uint32_t sum;

	if (!data)
		abort();
	get(t, place(obj, block), data, bs_of(obj));
	sum = ddio_crc32c(0, data, bs_of(obj));
	free(data);
	return sum;
}

/* What is compared elsewhere: the whole block's sum, of as many chunks as it has; nothing while one is in doubt. */
static void the_sum_of_a_whole_block_is_told(void)
{
	static const uint32_t sizes[] = { 512, 65536, 1u << 17, 1u << 20, 16u << 20 };
	struct ut_store t;
	struct object *obj;
	uint32_t sum, i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ut_store_begin(&t, SIZE);
		obj = ut_object(&t, 1, sizes[i], DDIO_LAYOUT_CONTIGUOUS_W, true);
		CU_ASSERT_EQUAL(object_sum(obj, 1, &sum), 0);
		write_block(&t, obj, 1, i);
		CU_ASSERT_EQUAL(object_sum(obj, 1, &sum), 1);
		CU_ASSERT_EQUAL(sum, sum_of(&t, obj, 1));
		CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
		obj = again(&t, obj);
		CU_ASSERT_EQUAL(object_sum(obj, 1, &sum), 1);
		CU_ASSERT_EQUAL(sum, sum_of(&t, obj, 1));
		/* It dies in the middle of another write. */
		CU_ASSERT_EQUAL(object_write_begin(obj, 1), 1);
		CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
		CU_ASSERT_EQUAL(object_write_begin(obj, 1), 0);
		obj = again(&t, obj);
		CU_ASSERT_EQUAL(object_sum(obj, 1, &sum), -EAGAIN);
		CU_ASSERT_EQUAL(check(&t, obj, 1), 0);
		CU_ASSERT_EQUAL(object_sum(obj, 1, &sum), 1);
		object_put(obj);
		ut_store_end(&t);
	}
}

/* Whoever wrote a block of one chunk tells its sum, and it is compared with that from then on. */
static void a_sum_that_was_told_is_kept(void)
{
	struct ut_store t;
	struct object *obj;
	uint32_t i;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, 1u << 17, DDIO_LAYOUT_CONTIGUOUS_W, true);
	CU_ASSERT_FALSE(object_takes_sum(obj));
	object_put(obj);
	obj = ut_object(&t, 2, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	CU_ASSERT(object_takes_sum(obj));
	for (i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL_FATAL(object_alloc(obj, i, 1), 0);
		CU_ASSERT_EQUAL_FATAL(object_write_begin(obj, i), 0);
		object_write_told(obj, i, sum_of(&t, obj, i) ^ i << 17);
	}
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	for (i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(check(&t, obj, 0), 0);
		CU_ASSERT_EQUAL(check(&t, obj, 1), -EBADMSG);
		obj = again(&t, obj);
	}
	object_put(obj);
	ut_store_end(&t);
}

/* What was found elsewhere is counted like what is found here. */
static void what_was_compared_elsewhere_counts(void)
{
	struct ut_store t;
	struct object *obj;
	struct sums_count before;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, 1u << 17, DDIO_LAYOUT_CONTIGUOUS_W, true);
	write_block(&t, obj, 0, 1);
	before = t.store->sums.count;
	object_compared(obj, 0, true);
	CU_ASSERT_EQUAL(t.store->sums.count.checked, before.checked + 2);
	CU_ASSERT_EQUAL(t.store->sums.count.bad, before.bad);
	object_compared(obj, 0, false);
	CU_ASSERT_EQUAL(t.store->sums.count.bad, before.bad + 1);
	object_put(obj);
	ut_store_end(&t);
}

/* Of 64 KB blocks that lie in one piece, records and sums are 0.02 % of the data at most.  DDIO_FIGURES=1 prints the figure. */
static void records_are_small(void)
{
	uint64_t blocks = 65536, bs = 64 << 10, i, before, used;
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, (blocks + 16) * bs);
	before = store_left(t.store).used;
	obj = ut_object(&t, 1, (uint32_t)bs, DDIO_LAYOUT_CONTIGUOUS_W, true);
	for (i = 0; i < blocks; i++) {
		CU_ASSERT_EQUAL_FATAL(object_alloc(obj, i, 1), 0);
		CU_ASSERT_EQUAL_FATAL(object_write_begin(obj, i), 0);
		object_write_told(obj, i, (uint32_t)(i * 2654435761u));
		if (i % 4096 == 4095)
			CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	}
	object_put(obj);
	CU_ASSERT_EQUAL_FATAL(ut_store_reopen(&t), 0);
	used = store_left(t.store).used;
	if (getenv("DDIO_FIGURES"))
		printf("# records of %llu blocks of 64 KB: %.4f %% of the data, with those of an empty disk %.4f %%\n",
		       (unsigned long long)blocks,
		       100.0 * (double)(used - before) / (double)(blocks * bs),
		       100.0 * (double)used / (double)(blocks * bs));
	CU_ASSERT(used > blocks * 4);
	CU_ASSERT(used <= blocks * bs / 5000);
	ut_store_end(&t);
}

static const struct ut_case cases[] = {
	{ "records are small", records_are_small },
	{ "the sum of a whole block is told", the_sum_of_a_whole_block_is_told },
	{ "a sum that was told is kept", a_sum_that_was_told_is_kept },
	{ "what was compared elsewhere counts", what_was_compared_elsewhere_counts },
	{ "a new block is recorded with its sum", a_new_block_is_recorded_with_its_sum },
	{ "every wrong bit is found", every_wrong_bit_is_found },
	{ "a block is in doubt before it is written again",
	  a_block_is_in_doubt_before_it_is_written_again },
	{ "a block in doubt is taken as it is", a_block_in_doubt_is_taken_as_it_is },
	{ "doubt outlives settling", doubt_outlives_settling },
	{ "nothing is settled that is being written", nothing_is_settled_that_is_being_written },
	{ "it is settled when it was quiet for a while",
	  it_is_settled_when_it_was_quiet_for_a_while },
	{ "a failed write leaves no sum", a_failed_write_leaves_no_sum },
	{ "a new place needs no doubt", a_new_place_needs_no_doubt },
	{ "a block that reads as zeros again needs doubt",
	  a_block_that_reads_as_zeros_again_needs_doubt },
	{ "a reserved block gets its sum when it is written",
	  a_reserved_block_gets_its_sum_when_it_is_written },
	{ "sums go with their object", sums_go_with_their_object },
	{ "without sums none are left", without_sums_none_are_left },
	{ "a commit that fails is made up for", a_commit_that_fails_is_made_up_for },
	{ "sums are written in parts", sums_are_written_in_parts },
	{ "what is not recorded changes at will", what_is_not_recorded_changes_at_will },
	{ "what is recorded beforehand is bounded", what_is_recorded_beforehand_is_bounded },
	{ "memory is bounded", memory_is_bounded },
	{ .name = NULL },
};

static const struct ut_suite suites[] = { { "sums", cases } };

int main(void)
{
	return ut_run("store_sums", suites, 1);
}
