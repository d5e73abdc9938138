// SPDX-License-Identifier: GPL-2.0-only
/* Copies on one disk that share blocks: what they cost, who sees what, and what is written where. */
#include "tests/unit/iop/server/server_world.h"

#define BS 4096u
#define FREE (4 * MIB - 4096) /* of an empty disk */
#define BLOCKS 50

static uint8_t pattern[BLOCKS * BS], was[BLOCKS * BS];

static void pattern_init(void)
{
	size_t i;

	for (i = 0; i < sizeof(pattern); i++)
		was[i] = pattern[i] = (uint8_t)(1 + i % 251);
}

/* Returns what is free; all counts must be right. */
static uint64_t free_bytes(struct sc *c)
{
	struct ddio_msg_obj obj = { .disk = 0 };
	struct ddio_msg_fsck check = { 0 };

	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 2), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_FSCK, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_fsck(c->data, c->len, &check), 0);
	CU_ASSERT_EQUAL(check.problems, 0);
	return check.free_bytes;
}

static bool reads(struct sc *c, uint64_t id, uint64_t at, const uint8_t *want, uint64_t len)
{
	return !sc_read(c, id, 0, at, len) && !memcmp(c->bulk, want, len);
}

static struct sc *begin(struct sw **sw)
{
	struct sc *c;

	pattern_init();
	*sw = sw_new(NULL);
	c = sc_new(*sw, 0);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, sizeof(pattern)), DDIO_ST_OK);
	return c;
}

static void end(struct sw *sw, struct sc *c)
{
	sc_free(c);
	sw_stop(sw);
	sw_free(sw);
}

/* A copy takes no space, also of what has not been written back, and shows no later write of the other. */
static void test_copy(void)
{
	struct sw *sw;
	struct sc *c = begin(&sw);

	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 7 * BS + 11, "first", 5), DDIO_ST_OK);
	memcpy(was + 7 * BS + 11, "first", 5);
	CU_ASSERT_EQUAL(sc_copy(c, 1, 0, 2, 0, sizeof(was)), DDIO_ST_OK);
	CU_ASSERT_EQUAL(free_bytes(c), FREE - sizeof(was));
	memcpy(pattern, was, sizeof(was));
	/* A part of a block, a whole one, and one across two. */
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 3 * BS + 5, "later", 5), DDIO_ST_OK);
	memcpy(pattern + 3 * BS + 5, "later", 5);
	memset(pattern + 9 * BS, 0x77, BS);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 9 * BS, pattern + 9 * BS, BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 20 * BS - 2, "both", 4), DDIO_ST_OK);
	memcpy(pattern + 20 * BS - 2, "both", 4);
	CU_ASSERT_TRUE(reads(c, 1, 0, pattern, sizeof(was)) && reads(c, 2, 0, was, sizeof(was)));
	CU_ASSERT_EQUAL(free_bytes(c), FREE - sizeof(was) - 4 * BS);
	/* Once more, in place. */
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 9 * BS, pattern, BS), DDIO_ST_OK);
	memcpy(pattern + 9 * BS, pattern, BS);
	CU_ASSERT_EQUAL(free_bytes(c), FREE - sizeof(was) - 4 * BS);
	sw_restart(sw);
	sc_free(c);
	c = sc_new(sw, 0);
	CU_ASSERT_TRUE(reads(c, 1, 0, pattern, sizeof(was)) && reads(c, 2, 0, was, sizeof(was)));
	end(sw, c);
}

/* What is copied over is forgotten, wherever it was; what is not a block of both is copied. */
static void test_over(void)
{
	struct sw *sw;
	struct sc *c = begin(&sw);

	CU_ASSERT_EQUAL(sc_write(c, 2, 0, 0, pattern + 1, sizeof(pattern) - 1), DDIO_ST_OK);
	memcpy(was, pattern + 1, sizeof(pattern) - 1);
	CU_ASSERT_EQUAL(sc_sync(c, 2), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_write(c, 2, 0, 12 * BS, "forgotten", 9), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_copy(c, 1, 20 * BS, 2, 10 * BS, 8 * BS + 100), DDIO_ST_OK);
	memcpy(was + 10 * BS, pattern + 20 * BS, 8 * BS + 100);
	CU_ASSERT_TRUE(reads(c, 2, 0, was, sizeof(was) - 1));
	CU_ASSERT_EQUAL(free_bytes(c), FREE - 2 * sizeof(was) + 8 * BS);
	CU_ASSERT_EQUAL(sc_copy(c, 1, 100, 2, 200, 3 * BS), DDIO_ST_OK);
	memcpy(was + 200, pattern + 100, 3 * BS);
	CU_ASSERT_TRUE(reads(c, 2, 0, was, sizeof(was) - 1));
	CU_ASSERT_EQUAL(free_bytes(c), FREE - 2 * sizeof(was) + 8 * BS);
	end(sw, c);
}

/* Removed and cut off, in any order. */
static void test_removed(void)
{
	struct sw *sw;
	struct sc *c = begin(&sw);
	struct ddio_msg_obj obj = sc_obj(1, 0, 0, 0);

	CU_ASSERT_EQUAL(sc_copy(c, 1, 0, 2, 0, sizeof(was)), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_copy(c, 2, 0, 3, 0, sizeof(was)), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_REMOVE, &obj), DDIO_ST_OK);
	CU_ASSERT_TRUE(reads(c, 2, 0, was, sizeof(was)) && reads(c, 3, 0, was, sizeof(was)));
	CU_ASSERT_EQUAL(free_bytes(c), FREE - sizeof(was));
	obj = sc_obj(2, 0, 0, 10 * BS);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_TRUNCATE, &obj), DDIO_ST_OK);
	CU_ASSERT_TRUE(reads(c, 3, 0, was, sizeof(was)));
	obj = sc_obj(3, 0, 0, 0);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_REMOVE, &obj), DDIO_ST_OK);
	CU_ASSERT_TRUE(reads(c, 2, 0, was, 10 * BS));
	CU_ASSERT_EQUAL(free_bytes(c), FREE - 10 * BS);
	end(sw, c);
}

/* A full disk copies a file all the same, and then has no room to write to either. */
static void test_full(void)
{
	uint64_t rest = FREE - sizeof(was) - 2 * BS;
	struct sw *sw;
	struct sc *c = begin(&sw);
	void *fill = calloc(1, rest);

	CU_ASSERT_EQUAL(sc_write(c, 4, 0, 0, fill, rest), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 4), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_copy(c, 1, 0, 2, 0, sizeof(was)), DDIO_ST_OK);
	CU_ASSERT_EQUAL(free_bytes(c), 2 * BS);
	/* Not even the first bytes of what needs three places. */
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, BS - 2, was + 99, BS + 4), DDIO_ST_NO_SPACE);
	CU_ASSERT_EQUAL(sc_write(c, 2, 0, BS, was + 99, 3 * BS), DDIO_ST_NO_SPACE);
	CU_ASSERT_EQUAL(free_bytes(c), 2 * BS);
	CU_ASSERT_TRUE(reads(c, 1, 0, was, sizeof(was)) && reads(c, 2, 0, was, sizeof(was)));
	free(fill);
	end(sw, c);
}

static const struct ut_case cases[] = {
	{ "copies, and what is written later", test_copy },
	{ "over what is there", test_over },
	{ "one of them goes", test_removed },
	{ "a full disk", test_full },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "shared blocks", cases } };

	return ut_run("iop_server_share", suites, 1);
}
