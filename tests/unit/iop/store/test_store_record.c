// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records of the object store, byte by byte: a change of these is a change of the format of the
 * disks and needs another version.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/store/record.h"
#include "iop/sums/record.h"
#include "proto/proto.h"
#include "tests/unit/lib/ut.h"
#include "tests/unit/lib/ut_hex.h"

static const struct rec_object object = {
	.id = 0x0102030405060708, .seed = 0x1112131415161718, .block = 8192, .layout = 2
};
#define FROZEN "01000000 00200000 02000080 1817161514131211 b2d6b1ce"
#define OBJECT "01000000 00200000 02000000 1817161514131211 59d3d968"

static const struct rec_extent extent = { .id = 0x0102030405060708,
					  .block = 0x2122232425262728,
					  .start = 0x3132333435363738,
					  .count = 0x4142434445464748 };
#define EXTENT_KEY "0102030405060708 2122232425262728"
#define EXTENT "01000000 3837363534333231 4847464544434241 cc342d39"
#define EXTENT_LOST "01000000 ffffffffffffffff 0100000000000000 1ed4da37"
#define EXTENT_UNWRITTEN "01000000 3837363534333231 48474645444342c1 b40fdbbb"

static const struct rec_free space = { .start = 0x5152535455565758, .len = 0x6162636465666768 };
#define SPACE_KEY "5152535455565758"
#define SPACE "01000000 6867666564636261 1dd73c32"

#define SUMS_KEY "4142434445464748 5152535455565758"
#define SUMS                                                                                     \
	"01000000 03000000 0500000000000000 0000000000000000 0000000000000000 0000000000000000 " \
	"0400000000000000 0000000000000000 0000000000000000 0000000000000000 "                   \
	"64636261 00000000 74737271 b8a1db25"

#define PENDING "01000000 0700000000000080 5857565554535251 00200000 01000000 9251a579"
#define SHARED "01000000 0020000000000000 0201000000000000 5767d786"

static void test_object(void)
{
	uint8_t key[REC_KEY_LEN], value[REC_OBJECT_LEN];
	struct rec_object got;

	rec_key(key, object.id);
	rec_object_put(value, &object);
	ut_hex_same("object", value, sizeof(value), OBJECT);
	CU_ASSERT_EQUAL(rec_object_get(key, sizeof(key), value, sizeof(value), &got), 0);
	CU_ASSERT_EQUAL(got.id, object.id);
	CU_ASSERT_EQUAL(got.seed, object.seed);
	CU_ASSERT_EQUAL(got.block, object.block);
	CU_ASSERT_EQUAL(got.layout, object.layout);
}

static void test_frozen(void)
{
	uint8_t key[REC_KEY_LEN], value[REC_OBJECT_LEN];
	struct rec_object frozen = object, got;

	frozen.frozen = true;
	rec_key(key, object.id);
	rec_object_put(value, &frozen);
	ut_hex_same("frozen object", value, sizeof(value), FROZEN);
	CU_ASSERT_EQUAL(rec_object_get(key, sizeof(key), value, sizeof(value), &got), 0);
	CU_ASSERT_TRUE(got.frozen);
	CU_ASSERT_EQUAL(got.layout, object.layout);
}

static void extent_both_ways(const struct rec_extent *rec, const char *hex)
{
	uint8_t key[REC_EXTENT_KEY_LEN], value[REC_EXTENT_LEN];
	struct rec_extent got;

	rec_extent_key(key, rec->id, rec->block);
	ut_hex_same("key of an extent", key, sizeof(key), EXTENT_KEY);
	rec_extent_put(value, rec);
	ut_hex_same("extent", value, sizeof(value), hex);
	CU_ASSERT_EQUAL(rec_extent_get(key, sizeof(key), value, sizeof(value), &got), 0);
	CU_ASSERT_EQUAL(got.id, rec->id);
	CU_ASSERT_EQUAL(got.block, rec->block);
	CU_ASSERT_EQUAL(got.start, rec->start);
	CU_ASSERT_EQUAL(got.count, rec->count);
	CU_ASSERT_EQUAL(got.unwritten, rec->unwritten);
	CU_ASSERT_EQUAL(got.lost, rec->lost);
}

static void test_extent(void)
{
	struct rec_extent unwritten = extent, lost = extent;

	unwritten.unwritten = true;
	extent_both_ways(&extent, EXTENT);
	extent_both_ways(&unwritten, EXTENT_UNWRITTEN);
	lost.lost = true;
	lost.start = UINT64_MAX;
	lost.count = 1;
	extent_both_ways(&lost, EXTENT_LOST);
}

static void test_space(void)
{
	uint8_t key[REC_KEY_LEN], value[REC_FREE_LEN];
	struct rec_free got;

	rec_key(key, space.start);
	ut_hex_same("key of free space", key, sizeof(key), SPACE_KEY);
	rec_free_put(value, &space);
	ut_hex_same("free space", value, sizeof(value), SPACE);
	CU_ASSERT_EQUAL(rec_free_get(key, sizeof(key), value, sizeof(value), &got), 0);
	CU_ASSERT_EQUAL(got.start, space.start);
	CU_ASSERT_EQUAL(got.len, space.len);
}

static void test_pending(void)
{
	const struct rec_pending rec = { .epoch = 5,
					 .id = UINT64_C(0x4142434445464748),
					 .shadow = REC_SHADOW | 7,
					 .seed = UINT64_C(0x5152535455565758),
					 .block = 8192,
					 .layout = DDIO_LAYOUT_RANDOM_BLOCKS_W };
	uint8_t key[REC_PENDING_KEY_LEN], value[REC_PENDING_LEN];
	struct rec_pending got;

	rec_pending_key(key, rec.epoch, rec.id);
	ut_hex_same("key of what is pending", key, sizeof(key),
		    "0000000000000005 4142434445464748");
	rec_pending_put(value, &rec);
	ut_hex_same("what is pending", value, sizeof(value), PENDING);
	CU_ASSERT_EQUAL(rec_pending_get(key, sizeof(key), value, sizeof(value), &got), 0);
	CU_ASSERT_EQUAL(memcmp(&got, &rec, sizeof(got)), 0);
	/* Of another epoch, and too short. */
	key[7] ^= 1;
	CU_ASSERT_EQUAL(rec_pending_get(key, sizeof(key), value, sizeof(value), &got), -EUCLEAN);
	key[7] ^= 1;
	CU_ASSERT_EQUAL(rec_pending_get(key, sizeof(key), value, sizeof(value) - 1, &got),
			-EUCLEAN);
}

static void test_shared(void)
{
	const struct rec_shared rec = { .start = UINT64_C(0x4142434445464748),
					.len = 8192,
					.more = 258 };
	uint8_t key[REC_KEY_LEN], value[REC_SHARED_LEN];
	struct rec_shared got;

	rec_key(key, rec.start);
	rec_shared_put(value, &rec);
	ut_hex_same("what has several owners", value, sizeof(value), SHARED);
	CU_ASSERT_EQUAL(rec_shared_get(key, sizeof(key), value, sizeof(value), &got), 0);
	CU_ASSERT_EQUAL(memcmp(&got, &rec, sizeof(got)), 0);
	/* Of another place, and too short. */
	key[7] ^= 1;
	CU_ASSERT_EQUAL(rec_shared_get(key, sizeof(key), value, sizeof(value), &got), -EUCLEAN);
	key[7] ^= 1;
	CU_ASSERT_EQUAL(rec_shared_get(key, sizeof(key), value, sizeof(value) - 1, &got), -EUCLEAN);
}

static void test_sums(void)
{
	const struct rec_sums sums = { .id = UINT64_C(0x4142434445464748),
				       .number = UINT64_C(0x5152535455565758),
				       .have = { 5 },
				       .doubt = { 4 },
				       .sum = { 0x61626364, 0, 0x71727374 } };
	uint8_t key[REC_SUMS_KEY_LEN], value[REC_SUMS_MAX];
	struct rec_sums got;
	size_t len;

	rec_sums_key(key, sums.id, sums.number);
	ut_hex_same("key of sums", key, sizeof(key), SUMS_KEY);
	len = rec_sums_put(value, &sums);
	ut_hex_same("sums", value, len, SUMS);
	CU_ASSERT_EQUAL(rec_sums_get(key, sizeof(key), value, len, &got), 0);
	CU_ASSERT_EQUAL(memcmp(&got, &sums, sizeof(got)), 0);
	/* Of another group, too short, in doubt about what is not there. */
	key[15]++;
	CU_ASSERT_EQUAL(rec_sums_get(key, sizeof(key), value, len, &got), -EUCLEAN);
	key[15]--;
	CU_ASSERT_EQUAL(rec_sums_get(key, sizeof(key), value, len - 4, &got), -EUCLEAN);
	got = sums;
	got.doubt[0] = 2;
	len = rec_sums_put(value, &got);
	CU_ASSERT_EQUAL(rec_sums_get(key, sizeof(key), value, len, &got), -EUCLEAN);
}

/* What a label holds where; all else in it is 0. */
static const struct {
	size_t at;
	const char *hex;
} label_bytes[] = {
	{ 0, "4444494f4449534b 03000000 44434241 5857565554535251 "
	     "000102030405060708090a0b0c0d0e0f 01000000" },
	{ 44, "636c7573746572" },
	{ 300, "6e6f64653a6430" },
	{ 556, "6867666564636261 1a776dcf" },
};
static void label_expect(uint8_t want[LABEL_LEN])
{
	size_t i, len;
	uint8_t *piece;

	memset(want, 0, LABEL_LEN);
	for (i = 0; i < sizeof(label_bytes) / sizeof(label_bytes[0]); i++) {
		piece = ut_hex(label_bytes[i].hex, &len);
		memcpy(want + label_bytes[i].at, piece, len);
		free(piece);
	}
}

static void test_label(void)
{
	struct label label = { .flags = LABEL_FORGETS,
			       .disk = 0x41424344,
			       .size = 0x5152535455565758,
			       .life = 0x6162636465666768 };
	uint8_t want[LABEL_LEN], buf[LABEL_LEN];
	struct label got;
	uint8_t i;

	for (i = 0; i < sizeof(label.uuid); i++)
		label.uuid[i] = i;
	/* What stands behind a text's end is not written. */
	memset(label.cluster, 'x', sizeof(label.cluster));
	strcpy(label.cluster, "cluster");
	strcpy(label.name, "node:d0");
	label_expect(want);
	rec_label_put(buf, &label);
	CU_ASSERT_EQUAL(memcmp(buf, want, sizeof(buf)), 0);
	CU_ASSERT_EQUAL(rec_label_get(want, sizeof(want), &got), 0);
	CU_ASSERT_EQUAL(got.flags, label.flags);
	CU_ASSERT_EQUAL(got.disk, label.disk);
	CU_ASSERT_EQUAL(got.size, label.size);
	CU_ASSERT_EQUAL(memcmp(got.uuid, label.uuid, sizeof(got.uuid)), 0);
	CU_ASSERT_STRING_EQUAL(got.cluster, "cluster");
	CU_ASSERT_STRING_EQUAL(got.name, "node:d0");
	CU_ASSERT_EQUAL(got.life, label.life);
}

static void test_life(void)
{
	static const struct rec_life life = { .of = { .life = 0x0102030405060708,
						      .from = 0x0a0b0c0d0e0f1011,
						      .known = true,
						      .n = 2,
						      .before = { 0x1112131415161718, 1 } },
					      .names = 0x2122232425262728,
					      .change = 0x4142434445464748,
					      .lost = 0x3132333435363738 };
	uint8_t buf[REC_LIFE_LEN];
	struct rec_life got;
	uint8_t *want;
	size_t len;

	want = ut_hex("01000000 01000000 0807060504030201 11100f0e0d0c0b0a 02000000 "
		      "1817161514131211 0100000000000000 0000000000000000 0000000000000000 "
		      "0000000000000000 0000000000000000 0000000000000000 0000000000000000 "
		      "2827262524232221 4847464544434241 3837363534333231 44a49055",
		      &len);
	rec_life_put(buf, &life);
	CU_ASSERT_EQUAL(len, sizeof(buf));
	CU_ASSERT_EQUAL(memcmp(buf, want, sizeof(buf)), 0);
	CU_ASSERT_EQUAL(rec_life_get(want, len, &got), 0);
	CU_ASSERT_EQUAL(memcmp(&got, &life, sizeof(got)), 0);
	want[9] ^= 1;
	CU_ASSERT_EQUAL(rec_life_get(want, len, &got), -EUCLEAN);
	free(want);
}

static void test_scrub(void)
{
	static const struct rec_scrub scrub = { .flags = REC_SCRUB_FLAGS,
						.begun = 0x0102030405060708,
						.ended = 0x1112131415161718,
						.at = 0x2122232425262728,
						.until = 0x3132333435363738,
						.done = 0x4142434445464748,
						.bad = 0x5152535455565758,
						.unread = 0x6162636465666768,
						.given = 0x7172737475767778 };
	uint8_t buf[REC_SCRUB_LEN];
	struct rec_scrub got;
	uint8_t *want;
	size_t len;

	want = ut_hex("01000000 03000000 0807060504030201 1817161514131211 2827262524232221 "
		      "3837363534333231 4847464544434241 5857565554535251 6867666564636261 "
		      "7877767574737271 c17dc06b",
		      &len);
	rec_scrub_put(buf, &scrub);
	CU_ASSERT_EQUAL(len, sizeof(buf));
	CU_ASSERT_EQUAL(memcmp(buf, want, sizeof(buf)), 0);
	CU_ASSERT_EQUAL(rec_scrub_get(want, len, &got), 0);
	CU_ASSERT_EQUAL(memcmp(&got, &scrub, sizeof(got)), 0);
	want[9] ^= 1;
	CU_ASSERT_EQUAL(rec_scrub_get(want, len, &got), -EUCLEAN);
	free(want);
}

static void test_ends(void)
{
	static const struct ddio_ends ends = { .n = 2, .boot = { 0x0102030405060708, 5 } };
	uint8_t buf[REC_ENDS_LEN];
	struct ddio_ends got;

	rec_ends_put(buf, &ends);
	CU_ASSERT_EQUAL(buf[0], 1);
	CU_ASSERT_EQUAL(buf[4], 8);
	CU_ASSERT_EQUAL(buf[12], 5);
	CU_ASSERT_EQUAL(rec_ends_get(buf, sizeof(buf), &got), 0);
	CU_ASSERT_EQUAL(memcmp(&got, &ends, sizeof(got)), 0);
	CU_ASSERT_EQUAL(rec_ends_get(buf, sizeof(buf) - 1, &got), -EUCLEAN);
	buf[4] ^= 1;
	CU_ASSERT_EQUAL(rec_ends_get(buf, sizeof(buf), &got), -EUCLEAN);
}

/* A text that fills its field is cut off before its last byte, which is 0. */
static void test_label_cut(void)
{
	struct label label = { .disk = 1 }, got;
	uint8_t buf[LABEL_LEN];

	memset(label.name, 'n', sizeof(label.name));
	rec_label_put(buf, &label);
	CU_ASSERT_EQUAL(rec_label_get(buf, sizeof(buf), &got), 0);
	CU_ASSERT_EQUAL(strlen(got.name), LABEL_TEXT - 1);
}

/* A record is refused whole: one byte less or more, any bit changed, the key of another. */
static void test_refused(void)
{
	uint8_t key[REC_KEY_LEN], value[REC_OBJECT_LEN + 1] = "";
	struct rec_object got;
	size_t i;

	rec_key(key, object.id);
	rec_object_put(value, &object);
	CU_ASSERT_EQUAL(rec_object_get(key, sizeof(key), value, REC_OBJECT_LEN - 1, &got),
			-EUCLEAN);
	CU_ASSERT_EQUAL(rec_object_get(key, sizeof(key), value, REC_OBJECT_LEN + 1, &got),
			-EUCLEAN);
	CU_ASSERT_EQUAL(rec_object_get(key, sizeof(key), value, 0, &got), -EUCLEAN);
	CU_ASSERT_EQUAL(rec_object_get(key, 0, value, REC_OBJECT_LEN, &got), -EUCLEAN);
	for (i = 0; i < 8 * REC_OBJECT_LEN; i++) {
		value[i / 8] ^= 1u << i % 8;
		CU_ASSERT_EQUAL(rec_object_get(key, sizeof(key), value, REC_OBJECT_LEN, &got),
				-EUCLEAN);
		value[i / 8] ^= 1u << i % 8;
	}
	rec_key(key, object.id + 1);
	CU_ASSERT_EQUAL(rec_object_get(key, sizeof(key), value, REC_OBJECT_LEN, &got), -EUCLEAN);
}

static const struct ut_case cases[] = {
	{ "object", test_object },
	{ "a frozen object", test_frozen },
	{ "extent", test_extent },
	{ "free space", test_space },
	{ "what is pending", test_pending },
	{ "what has several owners", test_shared },
	{ "sums", test_sums },
	{ "label", test_label },
	{ "a life", test_life },
	{ "a scrub", test_scrub },
	{ "orderly ends", test_ends },
	{ "label: a text that is too long", test_label_cut },
	{ "what is refused", test_refused },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "records of the store", cases } };

	return ut_run("store_record", suites, sizeof(suites) / sizeof(suites[0]));
}
