// SPDX-License-Identifier: GPL-2.0-only
/* Records that were damaged in every way: a check finds it, a repair mends it, nothing else is lost. */
#include <errno.h>
#include "iop/lmdb/value.h"
#include "iop/store/priv.h"
#include "ut_harm.h"
#include "ut_store.h"

#define BS 8192u
#define SIZE (16 * MIB)
#define FULL (SIZE - 4096)

/* Objects 1 to 3 of ten blocks each, one after the other from the label on, and free space. */
static void begin(struct ut_store *t)
{
	struct object *obj;
	uint64_t id;

	ut_store_begin(t, SIZE);
	for (id = 1; id <= 3; id++) {
		obj = ut_object(t, id, BS, 0, true);
		CU_ASSERT_EQUAL(ut_fill(obj, 0, 10), 0);
		object_put(obj);
	}
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(t), FULL - 30 * BS);
}

static uint64_t blocks_of(struct ut_store *t, uint64_t id)
{
	struct object *obj = ut_object(t, id, BS, 0, false);
	uint64_t n = obj ? object_blocks(obj) : 0;

	object_put(obj);
	return n;
}

/* Objects whose blocks can be read; what is lost of others is an error, not a hole. */
static uint64_t sound_blocks(struct ut_store *t)
{
	struct ddio_file_ref ref;
	struct object *obj;
	uint64_t id, n = 0;
	int ret;

	for (id = 1; id <= 3; id++) {
		ref = ut_ref(id, BS, 0);
		ret = store_get(t->store, &ref, true, &obj);
		CU_ASSERT(!ret || ret == -EUCLEAN);
		if (ret)
			continue;
		CU_ASSERT_EQUAL(object_blocks(obj), 10);
		n += object_blocks(obj);
		object_put(obj);
	}
	return n;
}

/* A repair, which is not to drop anything, leaves @sound blocks; what is lost is found again, and takes no space. */
static void expect_kept(struct ut_store *t, uint64_t sound)
{
	uint64_t free = store_free_bytes(t->store);
	struct ddio_msg_fsck fsck;

	CU_ASSERT_EQUAL(ut_store_check(t->store, STORE_REPAIR, &fsck), 0);
	CU_ASSERT_EQUAL(sound_blocks(t), sound);
	CU_ASSERT_EQUAL(ut_store_reopen(t), 0);
	CU_ASSERT_EQUAL(sound_blocks(t), sound);
	CU_ASSERT(store_free_bytes(t->store) <= free);
	CU_ASSERT_EQUAL(ut_store_check(t->store, STORE_REPAIR, &fsck), 0);
	CU_ASSERT(fsck.problems > 0);
	CU_ASSERT_EQUAL(fsck.repaired, 0);
	CU_ASSERT_EQUAL(sound_blocks(t), sound);
}

/*
 * Found, mended by dropping, found no more, also after a restart; @left: blocks that objects 1 to 3 keep.
 */
static void expect(struct ut_store *t, const char *text, uint64_t left)
{
	struct ddio_msg_fsck fsck;

	CU_ASSERT_EQUAL(ut_store_check(t->store, false, &fsck), 0);
	CU_ASSERT(fsck.problems > 0);
	CU_ASSERT_EQUAL(fsck.repaired, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(fsck.text, text));
	if (!strstr(fsck.text, text))
		fprintf(stderr, "'%s' does not say '%s'\n", fsck.text, text);
	CU_ASSERT_EQUAL(ut_store_check(t->store, STORE_DROP, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.repaired, fsck.problems);
	CU_ASSERT_EQUAL(ut_store_clean(t), FULL - left * BS);
	CU_ASSERT_EQUAL(store_free_bytes(t->store), FULL - left * BS);
	CU_ASSERT_EQUAL(blocks_of(t, 1) + blocks_of(t, 2) + blocks_of(t, 3), left);
	CU_ASSERT_EQUAL(ut_store_reopen(t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(t), FULL - left * BS);
	CU_ASSERT_EQUAL(blocks_of(t, 1) + blocks_of(t, 2) + blocks_of(t, 3), left);
	ut_store_end(t);
}

static void test_overlap(void)
{
	struct ddio_msg_fsck fsck;
	struct ut_store t;
	struct store_hit hit = hit_extent(2, 0, 4096 + 5 * BS, 10);

	begin(&t);
	apply(&t, &hit);
	/* Object 2 overlaps 1 by half, and 1 is the older one. */
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_CHECK, &fsck), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(fsck.text, "lie at the same place"));
	expect_kept(&t, 20);
	expect(&t, "lost", 20);
}

static void test_swallowed(void)
{
	struct ut_store t;
	struct store_hit hit = hit_extent(3, 0, 4096, 30);

	begin(&t);
	apply(&t, &hit);
	expect(&t, "lie at the same place", 20);
}

static void test_out_of_range(void)
{
	struct ut_store t;
	struct store_hit end = hit_extent(3, 0, SIZE - 5 * BS, 10);
	struct store_hit label = hit_extent(2, 0, 0, 10);
	struct store_hit huge = hit_extent(1, 0, 4096, UINT64_MAX / 2);

	begin(&t);
	apply(&t, &end);
	expect(&t, "outside the disk", 20);
	/* Where its blocks lie is not known, so that their space stays taken. */
	begin(&t);
	apply(&t, &end);
	expect_kept(&t, 20);
	expect(&t, "lost", 20);
	begin(&t);
	apply(&t, &label);
	expect(&t, "outside the disk", 20);
	begin(&t);
	apply(&t, &huge);
	expect(&t, "outside the disk", 20);
}

static void test_blocks_twice(void)
{
	struct ut_store t;
	struct store_hit hit = hit_extent(3, 5, 4096 + 40 * BS, 10);

	begin(&t);
	apply(&t, &hit);
	expect(&t, "overlaps the one before it", 30);
}

static void test_bad_crc(void)
{
	struct ut_store t;
	struct store_hit extent = hit_extent(2, 0, 4096 + 10 * BS, 10);
	struct store_hit object = hit_object(2, BS);
	struct store_hit space = hit_free(4096 + 30 * BS, FULL - 30 * BS);

	extent.value[9] ^= 0x10;
	object.value[5] ^= 1;
	space.value[6] ^= 1;
	begin(&t);
	apply(&t, &extent);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_PTR_NULL(ut_object(&t, 2, BS, 0, false));
	CU_ASSERT(ddio_sim_logged(t.world, "records of object 2 are damaged") > 0);
	/* One bit is corrected. */
	expect(&t, "block 0 of object 2 is damaged", 30);
	begin(&t);
	apply(&t, &object);
	expect(&t, "record of object 2 is damaged", 30);
	begin(&t);
	apply(&t, &space);
	/* What cannot be read is not given out. */
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 0);
	expect(&t, "free space", 30);
}

static void test_bad_lengths(void)
{
	struct ut_store t;
	struct store_hit extent = hit_extent(2, 0, 4096 + 10 * BS, 10);
	struct store_hit object = hit_object(2, BS);
	struct store_hit key = hit_object(9, BS);
	struct store_hit space = hit_free(4096 + 30 * BS, FULL - 30 * BS);

	extent.len = 3;
	object.len = 60;
	key.key_len = 5;
	space.len--;
	begin(&t);
	apply(&t, &extent);
	apply(&t, &key);
	expect(&t, "damaged", 20);
	begin(&t);
	apply(&t, &object);
	expect_kept(&t, 20);
	expect(&t, "damaged", 20);
	begin(&t);
	apply(&t, &space);
	expect(&t, "damaged", 30);
}

static void set_extent(struct ut_store *t, uint64_t id, uint64_t block, uint64_t start, bool bad)
{
	struct store_hit hit = hit_extent(id, block, start, 10);

	if (bad)
		hit.value[9] ^= 0x11;
	apply(t, &hit);
}

static bool can_get(struct ut_store *t, uint64_t id)
{
	struct ddio_file_ref ref = ut_ref(id, BS, 0);
	struct object *obj;
	int ret = store_get(t->store, &ref, true, &obj);

	if (!ret)
		object_put(obj);
	else
		CU_ASSERT_EQUAL(ret, -EUCLEAN);
	return !ret;
}

/* More than a bit of an extent: objects that it may have been of are refused, others and new ones are not. */
static void test_lost(void)
{
	struct ddio_msg_fsck fsck;
	struct ddio_file_ref ref;
	struct object *obj;
	struct ut_store t;

	begin(&t);
	set_extent(&t, 2, 0, 4096 + 10 * BS, true);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	/* Behind 1, which is sound; 3 has its first block. */
	expect_kept(&t, 10);
	CU_ASSERT(!can_get(&t, 1) && !can_get(&t, 2) && can_get(&t, 3) && can_get(&t, 4));
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_CHECK, &fsck), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(fsck.text, "extent at block 10 of object 1 is lost"));
	CU_ASSERT_EQUAL(fsck.problems, 2);
	/* They can be removed, and be made anew. */
	ref = ut_ref(2, BS, 0);
	CU_ASSERT_EQUAL(store_get_remains(t.store, &ref, &obj), 0);
	CU_ASSERT_EQUAL(object_alloc(obj, 0, 1), -EUCLEAN);
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	object_put(obj);
	ref = ut_ref(1, BS, 0);
	CU_ASSERT_EQUAL(store_get_remains(t.store, &ref, &obj), 0);
	CU_ASSERT_EQUAL(object_blocks(obj), 10);
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT(can_get(&t, 1) && can_get(&t, 2));
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_REPAIR, &fsck), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FULL - 10 * BS);
	ut_store_end(&t);
}

/* It happens while the object is in use: its user keeps what memory knows, and adds nothing. */
static void test_lost_in_use(void)
{
	struct ddio_msg_fsck fsck;
	struct object *obj;
	struct ut_store t;

	begin(&t);
	obj = ut_object(&t, 2, BS, 0, false);
	CU_ASSERT_EQUAL(object_alloc(obj, 10, 5), 0);
	set_extent(&t, 2, 0, 4096 + 10 * BS, true);
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_REPAIR, &fsck), 0);
	CU_ASSERT(!can_get(&t, 2));
	CU_ASSERT_EQUAL(object_blocks(obj), 15);
	CU_ASSERT_EQUAL(object_alloc(obj, 15, 1), -EUCLEAN);
	CU_ASSERT_EQUAL(object_punch(obj, 0, 1), -EUCLEAN);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FULL - 35 * BS);
	object_put(obj);
	CU_ASSERT(!can_get(&t, 2));
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	expect(&t, "lost", 20);
}

static void test_orphan(void)
{
	struct ut_store t;
	struct store_hit object = hit_object(2, BS);
	struct store_hit orphan = hit_extent(77, 3, 4096 + 100 * BS, 4);

	object.len = 0;
	begin(&t);
	apply(&t, &object);
	expect_kept(&t, 20);
	expect(&t, "belongs to no object", 20);
	begin(&t);
	apply(&t, &orphan);
	expect(&t, "belongs to no object", 30);
}

static void test_free_space_wrong(void)
{
	struct ut_store t;
	struct store_hit lost = hit_free(4096 + 30 * BS, FULL - 30 * BS);
	struct store_hit shorter = hit_free(4096 + 30 * BS, FULL - 31 * BS);
	struct store_hit doubled = hit_free(4096 + 2 * BS, BS);
	struct store_hit label = hit_free(0, 512);
	struct store_hit beyond = hit_free(SIZE, 4096);

	lost.len = 0;
	begin(&t);
	apply(&t, &lost);
	expect(&t, "free, but not recorded so", 30);
	begin(&t);
	apply(&t, &shorter);
	expect(&t, "free, but not recorded so", 30);
	begin(&t);
	apply(&t, &doubled);
	expect(&t, "recorded as free, but are not", 30);
	begin(&t);
	apply(&t, &label);
	expect(&t, "recorded as free, but are not", 30);
	begin(&t);
	apply(&t, &beyond);
	expect(&t, "free", 30);
}

/* Space that the records do not call free is not given to a second owner: the commit fails. */
/* Sums that cannot be read, or are of nobody, are dropped; nothing else is. */
static void test_sums(void)
{
	struct rec_sums rec = { .id = 2, .number = 0, .have = { 5 }, .sum = { 7, 0, 8 } };
	struct store_hit hit = { .db = STORE_SUMS, .key_len = REC_SUMS_KEY_LEN };
	uint8_t value[REC_SUMS_MAX];
	struct ut_store t;

	begin(&t);
	hit.len = rec_sums_put(value, &rec);
	CU_ASSERT_FATAL(hit.len <= sizeof(hit.value));
	memcpy(hit.value, value, hit.len);
	rec_sums_key(hit.key, rec.id, rec.number);
	apply(&t, &hit);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FULL - 30 * BS);
	hit.value[20] ^= 4;
	hit.value[30] ^= 4;
	apply(&t, &hit);
	expect(&t, "the checksums of object 2, group 0, are damaged", 30);
	begin(&t);
	rec_sums_key(hit.key, 9, 0);
	rec.id = 9;
	rec_sums_put(hit.value, &rec);
	apply(&t, &hit);
	expect(&t, "the checksums of object 9, group 0, are of no object", 30);
}

static void test_commit_meets_damage(void)
{
	struct store_hit shorter = hit_free(4096 + 31 * BS, FULL - 31 * BS);
	struct store_hit first = hit_free(4096 + 30 * BS, 1);
	struct ddio_msg_fsck fsck;
	struct object *obj;
	struct ut_store t;

	first.len = 0;
	begin(&t);
	apply(&t, &first);
	apply(&t, &shorter);
	obj = ut_object(&t, 1, BS, 0, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(obj);
	CU_ASSERT_EQUAL(ut_fill(obj, 10, 1), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), -EUCLEAN);
	CU_ASSERT_EQUAL(ut_store_check(t.store, true, &fsck), -EBUSY);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	expect(&t, "free, but not recorded so", 30);
}

/* What is only in memory survives a repair: reserved blocks, and a removed object still in use. */
static void test_repair_spares_memory(void)
{
	struct store_hit doubled = hit_free(4096 + 2 * BS, BS);
	struct object *kept, *gone;
	struct ddio_msg_fsck fsck;
	struct ut_store t;

	begin(&t);
	kept = ut_object(&t, 1, BS, 0, false);
	gone = ut_object(&t, 3, BS, 0, false);
	CU_ASSERT_EQUAL(object_alloc(kept, 10, 7), 0);
	CU_ASSERT_EQUAL(object_remove(gone), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	apply(&t, &doubled);
	CU_ASSERT_EQUAL(ut_store_check(t.store, true, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.repaired, 1);
	CU_ASSERT_EQUAL(object_blocks(kept), 17);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FULL - 37 * BS);
	object_put(gone);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FULL - 27 * BS);
	object_written(kept, 10, 7);
	object_put(kept);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FULL - 27 * BS);
	ut_store_end(&t);
}

/* As for the name space: in steps, on what there was, and nothing is repaired if something has changed. */
static void test_steps(void)
{
	struct store_hit doubled = hit_free(4096 + 2 * BS, BS);
	struct ddio_msg_fsck fsck;
	struct store_check *check;
	struct object *obj;
	struct ut_store t;
	uint32_t all, n;

	begin(&t);
	CU_ASSERT_EQUAL_FATAL(store_check_begin(t.store, false, &check), 0);
	for (all = 0; store_check_step(check, 1); all++)
		;
	CU_ASSERT_EQUAL(store_check_end(check, &fsck), 0);
	CU_ASSERT(all > 3 * 3);
	CU_ASSERT_EQUAL_FATAL(store_check_begin(t.store, false, &check), 0);
	obj = ut_object(&t, 9, BS, 0, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 3), 0);
	for (n = 0; store_check_step(check, 2); n++)
		if (n == 2)
			CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(n, all / 2);
	CU_ASSERT_EQUAL(store_check_end(check, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	CU_ASSERT_EQUAL(fsck.blocks, 30);

	CU_ASSERT_EQUAL_FATAL(store_check_begin(t.store, false, &check), 0);
	CU_ASSERT(store_check_step(check, all / 2));
	CU_ASSERT_EQUAL(lmdb_grow(&t.store->db), 0);
	while (store_check_step(check, all / 2))
		;
	CU_ASSERT_EQUAL(store_check_end(check, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	CU_ASSERT_EQUAL(fsck.blocks, 33);

	apply(&t, &doubled);
	CU_ASSERT_EQUAL_FATAL(store_check_begin(t.store, true, &check), 0);
	CU_ASSERT(store_check_step(check, all / 2));
	CU_ASSERT_EQUAL(ut_fill(obj, 3, 1), 0);
	while (store_check_step(check, all))
		;
	CU_ASSERT_EQUAL(store_check_end(check, &fsck), -EBUSY);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_check(t.store, true, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.repaired, 1);
	object_put(obj);
	ut_store_end(&t);
}

static void test_counts(void)
{
	struct ddio_msg_fsck fsck;
	struct ut_store t;

	begin(&t);
	CU_ASSERT_EQUAL(ut_store_check(t.store, true, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.objects, 3);
	CU_ASSERT_EQUAL(fsck.extents, 3);
	CU_ASSERT_EQUAL(fsck.blocks, 30);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	CU_ASSERT_EQUAL(fsck.repaired, 0);
	CU_ASSERT_STRING_EQUAL(fsck.text, "");
	ut_store_end(&t);
}

static struct store_hit hit_meta(const char *key, const void *value, size_t len)
{
	struct store_hit hit = { .db = STORE_META, .key_len = strlen(key), .len = len };

	memcpy(hit.key, key, hit.key_len);
	memcpy(hit.value, value, len);
	return hit;
}

/* Returns how many problems a check finds, and how many a repair has repaired. */
static uint64_t found(struct ut_store *t, enum store_repair repair, uint64_t *repaired)
{
	struct ddio_msg_fsck fsck;

	CU_ASSERT_EQUAL(ut_store_check(t->store, repair, &fsck), 0);
	*repaired = fsck.repaired;
	return fsck.problems;
}

/* Lives, scrub and ends: wrong bytes, cut short, too long.  A repair writes what the daemon knows. */
static void test_known_of_the_disk(void)
{
	static const char *const key[] = { STORE_LIFE_KEY, STORE_SCRUB_KEY, STORE_ENDS_KEY };
	static const size_t len[] = { 1, REC_LIFE_LEN, REC_ENDS_LEN, REC_SUMS_MAX };
	static const uint8_t junk[REC_SUMS_MAX] = { 1, 0, 0, 0, 7 };
	struct rec_life life;
	uint64_t repaired;
	struct ut_store t;
	size_t i, k;

	begin(&t);
	life = t.store->life;
	for (i = 0; i < sizeof(key) / sizeof(key[0]); i++)
		for (k = 0; k < sizeof(len) / sizeof(len[0]); k++) {
			struct store_hit hit = hit_meta(key[i], junk, len[k]);

			apply(&t, &hit);
			CU_ASSERT_EQUAL(found(&t, STORE_CHECK, &repaired), 1);
			CU_ASSERT_EQUAL(found(&t, STORE_REPAIR, &repaired), 1);
			CU_ASSERT_EQUAL(repaired, 1);
			CU_ASSERT_EQUAL(found(&t, STORE_CHECK, &repaired), 0);
		}
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(t.store->life.of.before[t.store->life.of.n - 1], life.of.life);
	CU_ASSERT_EQUAL(t.store->life.lost, life.lost);
	CU_ASSERT_EQUAL(blocks_of(&t, 1) + blocks_of(&t, 2) + blocks_of(&t, 3), 30);
	ut_store_end(&t);
}

/* Records of a version that is not this one stay, unless they are damaged and somebody says that they may go. */
static void test_unknown_of_the_disk(void)
{
	uint8_t value[64] = { 9 };
	struct ddio_coder c = value_writing(value, sizeof(value), 9);
	struct store_hit hit;
	uint64_t repaired;
	struct ut_store t;

	value_close(&c, "later", 5);
	begin(&t);
	hit = hit_meta("later", value, c.w.len);
	apply(&t, &hit);
	CU_ASSERT_EQUAL(found(&t, STORE_CHECK, &repaired), 0);
	/* One wrong bit is corrected. */
	hit.value[0] ^= 1;
	apply(&t, &hit);
	CU_ASSERT_EQUAL(found(&t, STORE_REPAIR, &repaired), 1);
	CU_ASSERT_EQUAL(repaired, 1);
	CU_ASSERT_EQUAL(found(&t, STORE_CHECK, &repaired), 0);
	hit.value[0] ^= 7;
	apply(&t, &hit);
	CU_ASSERT_EQUAL(found(&t, STORE_REPAIR, &repaired), 1);
	CU_ASSERT_EQUAL(repaired, 0);
	CU_ASSERT_EQUAL(found(&t, STORE_DROP, &repaired), 1);
	CU_ASSERT_EQUAL(repaired, 1);
	CU_ASSERT_EQUAL(found(&t, STORE_CHECK, &repaired), 0);
	ut_store_end(&t);
}

static const struct ut_case cases[] = {
	{ "overlapping extents", test_overlap },
	{ "one extent within another", test_swallowed },
	{ "extents outside the disk", test_out_of_range },
	{ "blocks twice in an object", test_blocks_twice },
	{ "bad CRC", test_bad_crc },
	{ "bad lengths", test_bad_lengths },
	{ "extents of no object", test_orphan },
	{ "an extent that is lost", test_lost },
	{ "lost while in use", test_lost_in_use },
	{ "free space wrong", test_free_space_wrong },
	{ "sums", test_sums },
	{ "a commit meets damage", test_commit_meets_damage },
	{ "a repair spares memory", test_repair_spares_memory },
	{ "counts", test_counts },
	{ "what is known of the disk", test_known_of_the_disk },
	{ "a record of another version", test_unknown_of_the_disk },
	{ "in steps", test_steps },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "check", cases } };

	return ut_run("store_check", suites, 1);
}
