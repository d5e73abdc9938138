// SPDX-License-Identifier: GPL-2.0-only
/* Where blocks go: in one piece, at random places, on random tracks. */
#include <errno.h>
#include "base/rand.h"
#include "ut_store.h"

#define BS 8192u
#define TRACK (72 * 512)
/* An HP 97560. */
#define SIZE 1374220800ull

static uint64_t place_of(const struct object *obj, uint64_t block, uint64_t *run)
{
	uint64_t start, n;
	bool written;

	CU_ASSERT_TRUE_FATAL(object_lookup(obj, block, &start, run ? run : &n, &written));
	return start;
}

/* One extent, at the beginning, right after what is there. */
static void test_contiguous(void)
{
	struct object *a, *b;
	struct ut_store t;
	uint64_t run;

	ut_store_begin(&t, SIZE);
	a = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	b = ut_object(&t, 2, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	CU_ASSERT_EQUAL(object_alloc(a, 0, 80), 0);
	CU_ASSERT_EQUAL(place_of(a, 0, &run), 4096);
	CU_ASSERT_EQUAL(run, 80);
	CU_ASSERT_EQUAL(object_alloc(a, 80, 20), 0);
	CU_ASSERT_EQUAL(place_of(a, 0, &run), 4096);
	CU_ASSERT_EQUAL(run, 100);
	CU_ASSERT_EQUAL(object_alloc(b, 0, 50), 0);
	CU_ASSERT_EQUAL(place_of(b, 0, &run), 4096 + 100 * BS);
	/* Behind a is b now: elsewhere, but again in one piece. */
	CU_ASSERT_EQUAL(object_alloc(a, 100, 30), 0);
	place_of(a, 100, &run);
	CU_ASSERT_EQUAL(run, 30);
	object_put(a);
	object_put(b);
	ut_store_end(&t);
}

/* Blocks that are written in any order still lie in the order of the file. */
static void test_contiguous_out_of_order(void)
{
	struct object *obj;
	uint64_t rand = 5, i, run, order[200];
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	for (i = 0; i < 200; i++)
		order[i] = i;
	for (i = 199; i; i--) {
		uint64_t j = ddio_rand_below(&rand, i + 1), swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	for (i = 0; i < 200; i++)
		CU_ASSERT_EQUAL(ut_fill(obj, order[i], 1), 0);
	CU_ASSERT_EQUAL(place_of(obj, 0, &run), 4096);
	CU_ASSERT_EQUAL(run, 200);
	object_put(obj);
	ut_store_end(&t);
}

/* Only the holes are filled, each at its own place. */
static void test_fill_holes(void)
{
	struct object *obj;
	uint64_t place, run;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 10, 5), 0);
	CU_ASSERT_EQUAL(ut_fill(obj, 30, 5), 0);
	place = place_of(obj, 10, NULL);
	CU_ASSERT_EQUAL(object_alloc(obj, 0, 50), 0);
	CU_ASSERT_EQUAL(object_blocks(obj), 50);
	CU_ASSERT_EQUAL(place_of(obj, 10, NULL), place);
	CU_ASSERT_EQUAL(place_of(obj, 0, NULL), place - 10 * BS);
	place_of(obj, 10, &run);
	CU_ASSERT_EQUAL(run, 5);
	object_put(obj);
	ut_store_end(&t);
}

/* A file with blocks of 512 bytes does not misalign the others. */
static void test_alignment(void)
{
	struct object *small, *large;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	small = ut_object(&t, 1, 512, DDIO_LAYOUT_CONTIGUOUS_W, true);
	large = ut_object(&t, 2, 65536, DDIO_LAYOUT_CONTIGUOUS_W, true);
	CU_ASSERT_EQUAL(object_alloc(small, 0, 3), 0);
	CU_ASSERT_EQUAL(object_alloc(large, 0, 3), 0);
	CU_ASSERT_EQUAL(place_of(large, 0, NULL) % 4096, 0);
	object_put(small);
	object_put(large);
	ut_store_end(&t);
}

/* Every tenth of the disk gets a tenth of the blocks, give or take five sigma. */
static void spread(const struct object *obj, uint64_t n)
{
	uint64_t tenth[10] = { 0 }, i, mean = n / 10, square;

	for (i = 0; i < n; i++)
		tenth[place_of(obj, i, NULL) / (SIZE / 10 + 1)]++;
	for (i = 0; i < 10; i++) {
		square = (tenth[i] - mean) * (tenth[i] - mean);
		CU_ASSERT(square < 25 * n * 9 / 100);
	}
}

static void test_random_blocks(void)
{
	struct object *obj, *other;
	uint64_t i, run, pieces = 0, same = 0;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_RANDOM_BLOCKS_W, true);
	other = ut_object(&t, 2, BS, DDIO_LAYOUT_RANDOM_BLOCKS_W, true);
	CU_ASSERT_EQUAL(object_alloc(obj, 0, 20000), 0);
	CU_ASSERT_EQUAL(object_alloc(other, 0, 1000), 0);
	spread(obj, 20000);
	for (i = 0; i < 20000; i++) {
		pieces += (place_of(obj, i, &run), run == 1);
		if (i < 1000)
			same += place_of(obj, i, NULL) == place_of(other, i, NULL);
	}
	CU_ASSERT(pieces > 19900);
	CU_ASSERT_EQUAL(same, 0);
	object_put(obj);
	object_put(other);
	ut_store_end(&t);
}

/*
 * The same seed gives the same places, whatever the order of writing, but for
 * the few blocks that drew the same one.
 */
static void test_random_blocks_repeat(void)
{
	uint64_t place[500], i, same = 0;
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_RANDOM_BLOCKS_W, true);
	CU_ASSERT_EQUAL(object_alloc(obj, 0, 500), 0);
	for (i = 0; i < 500; i++)
		place[i] = place_of(obj, i, NULL);
	object_put(obj);
	ut_store_end(&t);
	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_RANDOM_BLOCKS_W, true);
	for (i = 500; i--;)
		CU_ASSERT_EQUAL(object_alloc(obj, i, 1), 0);
	for (i = 0; i < 500; i++)
		same += place_of(obj, i, NULL) == place[i];
	CU_ASSERT(same >= 490);
	object_put(obj);
	ut_store_end(&t);
}

/* Fills the disk to the last block. */
static void test_random_full(void)
{
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, 4096 + 1000 * BS);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_RANDOM_BLOCKS_W, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 999), 0);
	CU_ASSERT_EQUAL(object_alloc(obj, 999, 2), -ENOSPC);
	CU_ASSERT_EQUAL(ut_fill(obj, 999, 1), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), 0);
	object_put(obj);
	ut_store_end(&t);
}

static void test_random_tracks(void)
{
	struct object *obj, *slow;
	struct ut_store t;
	uint64_t i, start;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, DDIO_LAYOUT_RANDOM_TRACKS_W, true);
	slow = ut_object(&t, 2, BS, DDIO_LAYOUT_RANDOM_TRACKS_W, true);
	CU_ASSERT_EQUAL(object_alloc(obj, 0, 8000), 0);
	spread(obj, 8000 - 4000);
	for (i = 0; i < 8000; i++) {
		start = place_of(obj, i, NULL);
		CU_ASSERT_EQUAL(start % TRACK, i % 4 * BS);
		if (i % 4)
			CU_ASSERT_EQUAL(start, place_of(obj, i - 1, NULL) + BS);
	}
	/* One block at a time comes to the same. */
	for (i = 0; i < 400; i++)
		CU_ASSERT_EQUAL(object_alloc(slow, i ^ 3, 1), 0);
	for (i = 0; i < 400; i++)
		CU_ASSERT_EQUAL(place_of(slow, i, NULL) % TRACK, i % 4 * BS);
	object_put(obj);
	object_put(slow);
	ut_store_end(&t);
}

/* Blocks larger than a track begin on one. */
static void test_random_tracks_large(void)
{
	struct object *obj;
	struct ut_store t;
	uint64_t i;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, 1 << 20, DDIO_LAYOUT_RANDOM_TRACKS_W, true);
	CU_ASSERT_EQUAL(object_alloc(obj, 0, 100), 0);
	for (i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(place_of(obj, i, NULL) % TRACK, 0);
	object_put(obj);
	ut_store_end(&t);
}

static const struct ut_case cases[] = {
	{ "contiguous", test_contiguous },
	{ "contiguous, written out of order", test_contiguous_out_of_order },
	{ "holes", test_fill_holes },
	{ "alignment", test_alignment },
	{ "random-blocks", test_random_blocks },
	{ "random-blocks repeat", test_random_blocks_repeat },
	{ "random-blocks on a full disk", test_random_full },
	{ "random-tracks", test_random_tracks },
	{ "random-tracks, large blocks", test_random_tracks_large },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "layout", cases } };

	return ut_run("store_layout", suites, 1);
}
