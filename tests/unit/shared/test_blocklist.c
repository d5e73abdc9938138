// SPDX-License-Identifier: GPL-2.0-only
/* Block lists against twins that compare every block with every other, and reckon in 128 bits. */
#include <stdlib.h>

#include "base/rand.h"
#include "blocklist.h"
#include "tests/unit/lib/ut.h"

#define ROUNDS 3000
#define NR_MAX 300
#define GROUPS_MAX 7

static uint64_t seed = 1994;

static u64 below(u64 n)
{
	return ddio_rand_below(&seed, n);
}

static int naive_check(u64 offset, u32 length, u64 bytes, u32 logical)
{
	unsigned __int128 end = (unsigned __int128)offset + length;

	if (!length || offset % logical || length % logical)
		return -EINVAL;
	if (end > U64_MAX)
		return -EOVERFLOW;
	return end > bytes ? -ERANGE : 0;
}

/* Near the ends of everything: of 0, of the disk, of 64 bits. */
static void test_check(void)
{
	static const u64 bytes[] = { 0, 512, 1 << 20, 1ULL << 40, U64_MAX - 511, U64_MAX };
	static const u32 logical[] = { 512, 4096, 65536 };
	int seen[4] = { 0 }, got, want, i, b, l;
	u64 offset;
	u32 length;

	for (i = 0; i < 200000; i++) {
		b = below(6);
		l = below(3);
		offset = (below(3) ? bytes[below(6)] : 0) + (below(9) - 4) * logical[l];
		offset += below(8) ? 0 : below(512);
		length = below(5) * logical[l] + (below(8) ? 0 : below(512));
		if (!below(16))
			length = UINT32_MAX - below(2) * (logical[l] - 1);
		got = ddio_block_check(offset, length, bytes[b], logical[l]);
		want = naive_check(offset, length, bytes[b], logical[l]);
		CU_ASSERT_EQUAL_FATAL(got, want);
		seen[!want ? 0 : want == -EINVAL ? 1 : want == -EOVERFLOW ? 2 : 3]++;
	}
	for (i = 0; i < 4; i++)
		CU_ASSERT(seen[i] > 1000);
}

/* Lists of several shapes: offsets dense, sparse, equal, ascending, or all over 64 bits. */
static u32 make(struct ddio_entry *entry, u32 groups)
{
	u32 shape = below(6), nr = below(NR_MAX + 1), i;
	u64 range = 1ULL << (1 + below(63)), unit = 1ULL << below(13);

	for (i = 0; i < nr; i++) {
		entry[i] = (struct ddio_entry){
			.where = below(U64_MAX),
			.length = 1 + below(shape ? 4 : 4096),
			.index = i,
			.chan = below(groups),
			.nr_runs = below(UINT32_MAX),
		};
		switch (shape) {
		case 0:
			entry[i].offset = below(range);
			break;
		case 1:
			entry[i].offset = below(nr * 8 + 1);
			break;
		case 2:
			entry[i].offset = i * unit;
			break;
		case 3:
			entry[i].offset = 7;
			break;
		case 4:
			entry[i].offset = (nr - i) * unit;
			break;
		default:
			entry[i].offset = below(2 * nr + 1) << 40 | below(2);
		}
	}
	return nr;
}

static int by_chan(const void *a, const void *b)
{
	const struct ddio_entry *x = a, *y = b;

	if (x->chan != y->chan)
		return x->chan < y->chan ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_offset(const void *a, const void *b)
{
	const struct ddio_entry *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_index(const void *a, const void *b)
{
	const struct ddio_entry *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

static bool same(const struct ddio_entry *a, const struct ddio_entry *b, u32 nr)
{
	return !nr || !memcmp(a, b, nr * sizeof(*a));
}

static void test_group(void)
{
	struct ddio_entry from[NR_MAX], to[NR_MAX], twin[NR_MAX];
	u64 first[GROUPS_MAX + 1];
	u32 groups, nr, i, g;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		groups = 1 + below(GROUPS_MAX);
		nr = make(from, groups);
		CU_ASSERT_EQUAL_FATAL(ddio_entries_group(from, to, nr, first, groups, NULL), 0);
		memcpy(twin, from, sizeof(twin));
		qsort(twin, nr, sizeof(twin[0]), by_chan);
		CU_ASSERT_FATAL(same(to, twin, nr));
		CU_ASSERT_EQUAL_FATAL(first[0], 0);
		CU_ASSERT_EQUAL_FATAL(first[groups], nr);
		for (g = 0; g < groups; g++)
			for (i = first[g]; i < first[g + 1]; i++)
				CU_ASSERT_EQUAL_FATAL(to[i].chan, g);
	}
}

static void sort_round(struct ddio_entry *entry, struct ddio_entry *spare, struct ddio_entry *twin,
		       u32 nr, struct ddio_sorter *sorter)
{
	memcpy(twin, entry, nr * sizeof(*twin));
	qsort(twin, nr, sizeof(*twin), by_offset);
	CU_ASSERT_EQUAL_FATAL(ddio_entries_sort(entry, spare, nr, DDIO_SORT_OFFSET, sorter), 0);
	CU_ASSERT_FATAL(same(entry, twin, nr));
	qsort(twin, nr, sizeof(*twin), by_index);
	CU_ASSERT_EQUAL_FATAL(ddio_entries_sort(entry, spare, nr, DDIO_SORT_INDEX, sorter), 0);
	CU_ASSERT_FATAL(same(entry, twin, nr));
}

static void test_sort(void)
{
	struct ddio_entry entry[NR_MAX], spare[NR_MAX], twin[NR_MAX];
	struct ddio_sorter sorter = { .relax = { NULL, NULL } };
	int round;

	for (round = 0; round < ROUNDS; round++)
		sort_round(entry, spare, twin, make(entry, 1), &sorter);
}

/* Long enough for long digits, and for relax to be called. */
static void test_sort_long(void)
{
	static const u32 bits[] = { 1, 12, 23, 41, 63 };
	struct ddio_sorter sorter = { .relax = { NULL, NULL } };
	u32 nr = 100000, i, b;
	struct ddio_entry *entry = calloc(nr, sizeof(*entry));
	struct ddio_entry *spare = calloc(nr, sizeof(*entry));
	struct ddio_entry *twin = calloc(nr, sizeof(*entry));

	CU_ASSERT_FATAL(entry && spare && twin);
	for (b = 0; b < 5; b++) {
		for (i = 0; i < nr; i++)
			entry[i] = (struct ddio_entry){ .offset = below(1ULL << bits[b]) << 1,
							.where = i,
							.index = i };
		sort_round(entry, spare, twin, nr, &sorter);
	}
	free(entry);
	free(spare);
	free(twin);
}

/* The first block that overlaps one before it in the list. */
static u64 naive_overlap(const struct ddio_entry *entry, u32 nr)
{
	u32 i, j;

	for (i = 0; i < nr; i++)
		for (j = 0; j < i; j++)
			if (entry[i].offset < entry[j].offset + entry[j].length &&
			    entry[j].offset < entry[i].offset + entry[i].length)
				return i;
	return DDIO_NO_ENTRY;
}

static void test_overlap(void)
{
	struct ddio_entry entry[NR_MAX], spare[NR_MAX];
	struct ddio_sorter sorter = { .relax = { NULL, NULL } };
	int round, found = 0, none = 0;
	u64 want, got;
	u32 nr;

	for (round = 0; round < ROUNDS; round++) {
		nr = make(entry, 1);
		want = naive_overlap(entry, nr);
		ddio_entries_sort(entry, spare, nr, DDIO_SORT_OFFSET, &sorter);
		CU_ASSERT_EQUAL_FATAL(ddio_entries_overlap(entry, nr, NULL, &got), 0);
		CU_ASSERT_EQUAL_FATAL(got, want);
		found += want != DDIO_NO_ENTRY;
		none += want == DDIO_NO_ENTRY;
	}
	CU_ASSERT(found > ROUNDS / 10);
	CU_ASSERT(none > ROUNDS / 10);
}

/* Gives up at each call that there is, in turn. */
static int give_up(void *arg)
{
	int *left = arg;

	return (*left)-- ? 0 : -EINTR;
}

static void test_give_up(void)
{
	struct ddio_sorter sorter;
	u32 nr = 100000, i;
	struct ddio_entry *entry = calloc(nr, sizeof(*entry));
	struct ddio_entry *spare = calloc(nr, sizeof(*entry));
	u64 first[GROUPS_MAX + 1], index;
	int calls, left, ret, gave_up = 0;

	CU_ASSERT_FATAL(entry && spare);
	sorter.relax = (struct ddio_relax){ give_up, &left };
	for (calls = 0;; calls++) {
		for (i = 0; i < nr; i++)
			entry[i] = (struct ddio_entry){ .offset = below(1ULL << 30),
							.length = 1,
							.index = i,
							.chan = below(GROUPS_MAX) };
		left = calls;
		ret = ddio_entries_group(entry, spare, nr, first, GROUPS_MAX, &sorter.relax);
		if (!ret)
			ret = ddio_entries_sort(entry, spare, nr, DDIO_SORT_OFFSET, &sorter);
		if (!ret)
			ret = ddio_entries_overlap(entry, nr, &sorter.relax, &index);
		if (!ret)
			break;
		CU_ASSERT_EQUAL_FATAL(ret, -EINTR);
		gave_up++;
	}
	/* Every sixteen thousand steps or more often, of eight walks at least. */
	CU_ASSERT(gave_up >= 8 * 6);
	free(entry);
	free(spare);
}

/* What is sorted already is looked at once, and the scratch array is not needed. */
static void test_sorted(void)
{
	u32 nr = 100000, i;
	struct ddio_entry *entry = calloc(nr, sizeof(*entry));
	struct ddio_sorter sorter;
	int left = 1000;

	CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
	sorter.relax = (struct ddio_relax){ give_up, &left };
	for (i = 0; i < nr; i++)
		entry[i].offset = i / 3;
	CU_ASSERT_EQUAL(ddio_entries_sort(entry, NULL, nr, DDIO_SORT_OFFSET, &sorter), 0);
	CU_ASSERT(1000 - left <= 7);
	free(entry);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "a block against its disk", test_check },
		{ "grouped by disk", test_group },
		{ "sorted", test_sort },
		{ "sorted, long lists", test_sort_long },
		{ "overlaps", test_overlap },
		{ "giving up", test_give_up },
		{ "sorted already", test_sorted },
		{ NULL, NULL },
	};
	static const struct ut_suite suite = { "block lists", cases };

	return ut_run("blocklist", &suite, 1);
}
