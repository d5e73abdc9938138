// SPDX-License-Identifier: GPL-2.0-only
/* Copies of long pieces, wherever they begin in a page: each byte once, and none beside them. */
#include <string.h>
#include "map/copy.h"
#include "tests/unit/lib/ut.h"

enum { PAGE = 4096, ROOM = 8 * PAGE, AROUND = 80, PIECES = 3 };

static unsigned char from[ROOM] __attribute__((aligned(4096)));
static unsigned char to[ROOM] __attribute__((aligned(4096)));

static void fill(void)
{
	size_t i;

	for (i = 0; i < ROOM; i++)
		from[i] = (unsigned char)((i * 2654435761u) >> 24 | 1);
	memset(to, 0, ROOM);
}

/* Returns how many bytes are not as @n pieces from byte @src on leave them that go to @dst, @len and @stride bytes further each. */
static size_t wrong_bytes(size_t dst, size_t src, size_t len, size_t stride, size_t n)
{
	size_t i, k, wrong = 0;

	for (i = 0; i < ROOM; i++) {
		k = i < dst ? n : (i - dst) / stride;
		if (k < n && (i - dst) % stride < len)
			wrong += to[i] != from[src + k * len + (i - dst) % stride];
		else
			wrong += to[i] != 0;
	}
	return wrong;
}

static const size_t lengths[] = { 1, 255, 256, 257, 2047, 2048, 2049, 2303, 2304, 2305, 8192 };

static void one(bool past)
{
	size_t i, shift;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (shift = 0; shift < AROUND; shift++) {
			struct strided_copy copy = { .len = lengths[i], .past = past };

			fill();
			copy_run(&copy, to + PAGE + shift, from + PAGE + AROUND / 2);
			CU_ASSERT_EQUAL(wrong_bytes(PAGE + shift, PAGE + AROUND / 2, lengths[i],
						    ROOM, 1),
					0);
		}
	}
}

static void test_one(void)
{
	one(false);
}

static void test_past(void)
{
	one(true);
}

static void test_row(void)
{
	size_t i, shift;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (shift = 0; shift < AROUND; shift++) {
			size_t len = lengths[i] < 2400 ? lengths[i] : 2400, stride = len + 7;

			fill();
			copy_row((char *)to + PAGE + shift, stride, (const char *)from + PAGE, len,
				 len, PIECES);
			CU_ASSERT_EQUAL(wrong_bytes(PAGE + shift, PAGE, len, stride, PIECES), 0);
		}
	}
}

static void test_rows_past(void)
{
	size_t i, shift;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (shift = 0; shift < AROUND; shift++) {
			size_t len = lengths[i] < 2400 ? lengths[i] : 2400, stride = len + 7;
			struct strided_copy copy = { .len = len, .past = true, .nlevels = 1 };

			copy.level[0].count = PIECES;
			copy.level[0].dst = stride;
			copy.level[0].src = len;
			fill();
			copy_run(&copy, to + PAGE + shift, from + PAGE);
			CU_ASSERT_EQUAL(wrong_bytes(PAGE + shift, PAGE, len, stride, PIECES), 0);
		}
	}
}

static const struct ut_case cases[] = {
	{ "one piece", test_one },
	{ "one piece, past the caches", test_past },
	{ "rows of pieces", test_row },
	{ "rows of pieces, past the caches", test_rows_past },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "copies", cases } };

	return ut_run("map_copy", suites, 1);
}
