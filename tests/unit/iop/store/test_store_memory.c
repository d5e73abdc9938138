// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is back is enough: one allocation of a store fails, at every moment, and whoever was refused asks once more.  Then each
 * commit succeeds, and memory and records have the blocks that they have without the failure, with the same bytes and sums.
 */
#include "tests/unit/lib/ut_nomem.h"

#include "userlib/iop/store/ranges/extent.c"
#include "userlib/iop/store/ranges/freespace.c"
#define find shares_find
#define take shares_take
#include "userlib/iop/store/ranges/shares.c"
#undef find
#undef take
#include "userlib/iop/store/blocks.c"
#include "userlib/iop/store/commit.c"
#include "userlib/iop/store/note.c"
#define note_freed range_note_freed
#include "userlib/iop/store/range.c"
#undef note_freed
#define next_missing share_next_missing
#include "userlib/iop/store/share.c"
#undef next_missing
#define end epoch_end
#define load_one epoch_load_one
#define ready_sums epoch_ready_sums
#include "userlib/iop/store/epoch.c"
#undef end
#undef load_one
#undef ready_sums
#define load sums_load
#include "userlib/iop/sums/group.c"
#undef load
#define put sums_put
#include "userlib/iop/sums/commit.c"
#undef put

#undef malloc
#undef calloc
#undef realloc
#undef strdup
#undef strndup

#include "ut_store.h"

enum { TRIES = 3000, BS = 4096, BLOCKS = 64 };
#define SIZE (8 * MIB)

/* Of the three objects: stamps of their blocks, 0 for what reads as zeros. */
struct life_of {
	struct ut_store t;
	struct object *obj[3];
	uint64_t want[3][BLOCKS];
	uint64_t stamp;
	struct store_epoch *epoch;
};

/* Calls once more if there was no memory. */
#define AGAIN(call)                                              \
	do {                                                     \
		int again_ = (call);                             \
		if (again_ == -ENOMEM)                           \
			again_ = (call);                         \
		CU_ASSERT_EQUAL(again_, 0);                      \
		if (again_)                                      \
			fprintf(stderr, #call ": %d\n", again_); \
	} while (0)

static struct object *get(struct life_of *l, int i)
{
	const struct ddio_file_ref ref = ut_ref((uint64_t)i + 1, BS, 0);
	struct object *obj = NULL;

	AGAIN(store_get(l->t.store, &ref, true, &obj));
	return obj;
}

static void commit(struct life_of *l)
{
	AGAIN(ut_store_commit(&l->t));
}

static int write_begin(struct life_of *l, struct object *obj, uint64_t block)
{
	int ret = object_write_begin(obj, block);

	if (ret != 1)
		return ret;
	commit(l);
	return object_write_begin(obj, block);
}

/* As the cache does: what fails is written again as a whole. */
static int write_once(struct life_of *l, struct object *obj, uint64_t block, const uint8_t *data)
{
	uint64_t start, run;
	bool written;
	int ret = object_alloc(obj, block, 1);

	if (!ret)
		ret = write_begin(l, obj, block);
	if (ret)
		return ret;
	object_target(obj, block, &start, &run, &written);
	ut_store_raw(&l->t, start, (void *)(uintptr_t)data, BS, true);
	return object_write_end(obj, block, true, data);
}

static void write_blocks(struct life_of *l, struct object *obj, int i, uint64_t first, uint64_t n)
{
	uint8_t data[BS];

	for (; n; n--, first++) {
		ut_stamp(data, BS, ++l->stamp);
		l->want[i][first] = l->stamp;
		AGAIN(write_once(l, obj, first, data));
	}
}

static void zero(struct life_of *l, int i, uint64_t first, uint64_t n)
{
	memset(&l->want[i][first], 0, n * sizeof(l->want[i][0]));
}

static void share(struct life_of *l, int to, uint64_t first, int from, uint64_t at, uint64_t n)
{
	uint64_t done, count;
	int ret;

	for (done = 0; done < n; done += ret ? 0 : count) {
		count = n - done;
		ret = object_share(l->obj[to], first + done, l->obj[from], at + done, &count);
		CU_ASSERT(!ret || ret == -ENOMEM);
	}
	memmove(&l->want[to][first], &l->want[from][at], n * sizeof(l->want[0][0]));
}

static void same(struct life_of *l)
{
	int i, b;

	for (i = 0; i < 3; i++)
		for (b = 0; b < BLOCKS; b++)
			CU_ASSERT(ut_block_has(&l->t, l->obj[i], (uint64_t)b, l->want[i][b]));
}

/* Blocks are written in any order, reserved, zeroed, punched, and written again. */
static void blocks_and_ranges(struct life_of *l)
{
	write_blocks(l, l->obj[0], 0, 0, 6);
	AGAIN(object_alloc(l->obj[0], 10, 20));
	write_blocks(l, l->obj[0], 0, 15, 2);
	write_blocks(l, l->obj[0], 0, 12, 1);
	commit(l);
	AGAIN(object_reserve(l->obj[0], 30, 12));
	write_blocks(l, l->obj[0], 0, 34, 2);
	commit(l);
	write_blocks(l, l->obj[0], 0, 2, 2);
	AGAIN(object_unwrite(l->obj[0], 15, 1));
	zero(l, 0, 15, 1);
	AGAIN(object_unwrite(l->obj[0], 34, 1));
	zero(l, 0, 34, 1);
	AGAIN(object_punch(l->obj[0], 32, 3));
	zero(l, 0, 32, 3);
	AGAIN(object_punch(l->obj[0], 1, 1));
	zero(l, 0, 1, 1);
	commit(l);
}

static void shared_blocks(struct life_of *l)
{
	write_blocks(l, l->obj[1], 1, 0, 4);
	share(l, 1, 1, 0, 0, 20);
	share(l, 2, 0, 0, 30, 10);
	commit(l);
	write_blocks(l, l->obj[1], 1, 3, 2);
	write_blocks(l, l->obj[0], 0, 4, 1);
	AGAIN(object_unwrite(l->obj[1], 5, 2));
	zero(l, 1, 5, 2);
	commit(l);
}

static void settled(struct store_wait *wait)
{
	*(bool *)wait->arg = true;
}

static void an_epoch(struct life_of *l)
{
	struct ddio_file_ref ref = ut_ref(3, BS, 0);
	struct store_epoch *e = NULL;
	bool over = false;
	struct store_wait wait = { .done = settled, .arg = &over };
	int turns = 0;

	object_put(l->obj[2]);
	AGAIN(store_epoch_begin(l->t.store, 9, &ref, &e));
	write_blocks(l, store_epoch_shadow(e), 2, 2, 3);
	write_blocks(l, store_epoch_shadow(e), 2, 20, 2);
	commit(l);
	store_epoch_prepared(e);
	store_epoch_end(e, true, &wait);
	while (!over && turns++ < 1000)
		ddio_sim_run_for(l->t.world, 100000000);
	CU_ASSERT_TRUE(over);
	l->obj[2] = get(l, 2);
	commit(l);
}

static void objects(struct life_of *l)
{
	int i;

	for (i = 0; i < 3; i++)
		l->obj[i] = get(l, i);
}

static void put_objects(struct life_of *l)
{
	int i;

	for (i = 0; i < 3; i++)
		object_put(l->obj[i]);
}

/* The nth allocation fails from here on; returns how many did. */
static uint64_t life_with(uint64_t n, void (*part)(struct life_of *l))
{
	struct life_of l = { .stamp = 100 };
	uint64_t failures;

	ut_store_begin(&l.t, SIZE);
	objects(&l);
	if (part != blocks_and_ranges)
		blocks_and_ranges(&l);
	nomem_failures = 0;
	nomem_countdown = n;
	part(&l);
	nomem_countdown = 0;
	failures = nomem_failures;
	CU_ASSERT_EQUAL(ut_store_commit(&l.t), 0);
	CU_ASSERT_FALSE(store_dirty(l.t.store));
	same(&l);
	ut_store_clean(&l.t);
	put_objects(&l);
	CU_ASSERT_EQUAL(ut_store_reopen(&l.t), 0);
	objects(&l);
	same(&l);
	put_objects(&l);
	ut_store_end(&l.t);
	return failures;
}

static void sweep(void (*part)(struct life_of *l))
{
	uint64_t n = 1;

	while (n < TRIES && life_with(n, part))
		n++;
	CU_ASSERT(n > 10 && n < TRIES);
}

static void test_blocks(void)
{
	sweep(blocks_and_ranges);
}

static void test_shared(void)
{
	sweep(shared_blocks);
}

static void test_epoch(void)
{
	sweep(an_epoch);
}

/*
 * A commit fails, there is no memory to put its changes in front of the later ones, and then there is.
 */
static void test_failed_commit(void)
{
	struct life_of l = { .stamp = 100 };
	uint64_t n;

	ut_store_begin(&l.t, SIZE);
	objects(&l);
	write_blocks(&l, l.obj[0], 0, 0, 3);
	l.t.store->sealed_lost = 0;
	CU_ASSERT_TRUE(store_committer_ops.seal(l.t.store));
	write_blocks(&l, l.obj[1], 1, 0, 3);
	write_blocks(&l, l.obj[1], 1, 7, 3);
	nomem_countdown = 1;
	store_committer_ops.ended(l.t.store, -EIO);
	CU_ASSERT_EQUAL(nomem_countdown, 0);
	CU_ASSERT_TRUE(store_dirty(l.t.store));
	/* Once more, and then it is back. */
	for (n = 0; n < 2; n++) {
		nomem_countdown = 1;
		CU_ASSERT_EQUAL(ut_store_commit(&l.t), -ENOMEM);
		nomem_countdown = 0;
		write_blocks(&l, l.obj[2], 2, 10 * n, 2);
	}
	CU_ASSERT_EQUAL(ut_store_commit(&l.t), 0);
	CU_ASSERT_EQUAL(ddio_sim_logged(l.t.world, "a commit of records failed"), 1);
	CU_ASSERT_EQUAL(ddio_sim_logged(l.t.world, "records are committed again"), 1);
	same(&l);
	ut_store_clean(&l.t);
	put_objects(&l);
	CU_ASSERT_EQUAL(ut_store_reopen(&l.t), 0);
	objects(&l);
	same(&l);
	put_objects(&l);
	ut_store_end(&l.t);
}

static const struct ut_case cases[] = {
	{ "blocks and ranges", test_blocks },
	{ "shared blocks", test_shared },
	{ "an epoch", test_epoch },
	{ "a commit that failed", test_failed_commit },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "memory that is back", cases } };

	return ut_run("test_store_memory", suites, 1);
}
