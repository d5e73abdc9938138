// SPDX-License-Identifier: GPL-2.0-only
/*
 * The geometry of pinned memory: which byte lies where, and that what is released piece by piece is
 * every page, once; with pages and huge pages of sizes that no machine here has.
 */
#include <stdlib.h>

#include "pieces.h"
#include "tests/unit/lib/ut.h"

#define MOST (1ULL << 30)

/* Where memory begins in its first huge page, and how long it is. */
static const struct {
	u32 page, shift;
	u64 first, length;
} memory[] = {
	{ 12, 21, 0, 2ULL << 20 },
	{ 12, 21, 4096 + 100, 5ULL << 20 },
	{ 12, 30, 100, 3ULL << 30 },
	{ 12, 30, (1ULL << 30) - 1, 2 },
	{ 16, 34, 15ULL << 30, 2ULL << 30 },
	{ 16, 34, 0, 16ULL << 30 },
	{ 16, 34, (5ULL << 30) + 777, (14ULL << 30) + 1 },
	{ 16, 34, (12ULL << 30) + 65535, (40ULL << 30) + 3 },
};

static void test_at(void)
{
	u64 in, k, offset, at;
	size_t i;

	for (i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		struct ddio_pieces p = { .first = memory[i].first, .shift = memory[i].shift };

		for (k = 0; k <= 64; k++) {
			offset = k == 64 ? memory[i].length - 1 : memory[i].length / 64 * k;
			at = memory[i].first + offset;
			CU_ASSERT_EQUAL(ddio_pieces_at(&p, offset, &in), at >> memory[i].shift);
			CU_ASSERT_EQUAL(in, at - (at >> memory[i].shift << memory[i].shift));
		}
		CU_ASSERT_EQUAL(ddio_pieces_count(&p, memory[i].length),
				(at >> memory[i].shift) + 1);
	}
}

static void test_release(void)
{
	size_t i;

	for (i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		struct ddio_pieces p = { .first = memory[i].first, .shift = memory[i].shift };
		u64 page = 1ULL << memory[i].page, next = memory[i].first >> memory[i].page;
		u64 n, in, from, to, offset;

		for (offset = 0; offset < memory[i].length; offset += n) {
			n = ddio_pieces_step(&p, offset, memory[i].length, MOST, page);
			CU_ASSERT_FATAL(n && n <= MOST && n <= memory[i].length - offset);
			from = ddio_pieces_at(&p, offset, &in) << (p.shift - memory[i].page);
			CU_ASSERT(in + n <= 1ULL << p.shift);
			to = from + ((in + n + page - 1) >> memory[i].page);
			from += in >> memory[i].page;
			CU_ASSERT_EQUAL(from, next);
			next = to;
		}
		CU_ASSERT_EQUAL(next,
				(memory[i].first + memory[i].length + page - 1) >> memory[i].page);
	}
}

static const struct ut_case cases[] = {
	{ "each byte is in its piece", test_at },
	{ "each page is released once", test_release },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "pieces", cases } };

	return ut_run("test_pieces", suites, 1);
}
