// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of the kernel's interface against a twin that visits every byte and reckons in 128 bits.
 */
#include <stdlib.h>
#include <time.h>

#include "base/rand.h"
#include "runs.h"
#include "tests/unit/lib/ut.h"

#define ROUNDS 20000
#define BLOCK_MAX 4096
#define MEMORY_MAX 16384
#define GUARD 64

typedef __int128 s128;

static uint64_t seed = 1994;

static u64 below(u64 n)
{
	return ddio_rand_below(&seed, n);
}

/* Numbers near powers of two, where sums stop fitting. */
static u64 spiky(u32 bits)
{
	u64 n = 1ULL << below(bits);

	switch (below(4)) {
	case 0:
		return n - 1;
	case 1:
		return n + below(3);
	case 2:
		return below(16);
	default:
		return below(n) + below(2);
	}
}

/* The first and one past the last byte that a run touches, on either side. */
static void twin_bounds(const struct ddio_run *run, bool memory, s128 *from, s128 *to)
{
	s128 step, far;
	u32 i;

	*from = memory ? (s128)run->memory : (s128)run->offset;
	*to = *from + run->length;
	for (i = 0; i < run->levels; i++) {
		step = memory ? (s128)run->level[i].memory_stride
			      : (s128)run->level[i].block_stride;
		far = (run->level[i].count - (s128)1) * step;
		*(far < 0 ? from : to) += far;
	}
}

static s128 twin_bytes(const struct ddio_run *run)
{
	s128 bytes = run->length;
	u32 i;

	/* Two of the factors have 32 bits each, and the third cannot make it fit again. */
	for (i = 0; i < run->levels && bytes <= (s128)1 << 64; i++)
		bytes *= run->level[i].count;
	return bytes;
}

/* A piece's position by its number on each level. */
static u64 twin_at(const struct ddio_run *run, const u32 *n, bool memory)
{
	s128 at = memory ? (s128)run->memory : (s128)run->offset;
	u32 i;

	for (i = 0; i < run->levels; i++)
		at += n[i] * (memory ? (s128)run->level[i].memory_stride
				     : (s128)run->level[i].block_stride);
	return at;
}

static bool twin_next(const struct ddio_run *run, u32 *n)
{
	u32 i;

	for (i = 0; i < run->levels; i++) {
		if (++n[i] < run->level[i].count)
			return true;
		n[i] = 0;
	}
	return false;
}

typedef void (*twin_fn)(void *arg, u64 block, u64 memory);

static void twin_visit(const struct ddio_run *run, twin_fn fn, void *arg)
{
	u32 n[DDIO_RUN_LEVELS] = { 0 }, i;

	do {
		for (i = 0; i < run->length; i++)
			fn(arg, twin_at(run, n, false) + i, twin_at(run, n, true) + i);
	} while (twin_next(run, n));
}

static void test_malformed(void)
{
	const struct ddio_run good = { .length = 8, .levels = 1, .level = { { 2, 8, 8 } } };
	struct ddio_run run;
	u32 i;

	CU_ASSERT_EQUAL(ddio_run_check(&good, 16), 0);
	CU_ASSERT_EQUAL(ddio_run_check(&good, 15), -ERANGE);
	run = good;
	run.length = 0;
	CU_ASSERT_EQUAL(ddio_run_check(&run, 16), -EINVAL);
	run = good;
	run.levels = DDIO_RUN_LEVELS + 1;
	CU_ASSERT_EQUAL(ddio_run_check(&run, 16), -EINVAL);
	run = good;
	run.level[0].count = 0;
	CU_ASSERT_EQUAL(ddio_run_check(&run, 16), -EINVAL);
	for (i = 1; i < DDIO_RUN_LEVELS; i++) {
		run = good;
		run.level[i].count = 1;
		CU_ASSERT_EQUAL(ddio_run_check(&run, 16), -EINVAL);
		run = good;
		run.level[i].block_stride = 1;
		CU_ASSERT_EQUAL(ddio_run_check(&run, 16), -EINVAL);
		run = good;
		run.level[i].memory_stride = -1;
		CU_ASSERT_EQUAL(ddio_run_check(&run, 16), -EINVAL);
	}
}

static void test_limits(void)
{
	struct ddio_run run = { .offset = 0xffffffff, .length = 0xffffffff };
	u32 i;

	CU_ASSERT_EQUAL(ddio_run_check(&run, 0xffffffff), -ERANGE);
	run = (struct ddio_run){ .length = 1, .levels = 3 };
	for (i = 0; i < 3; i++)
		run.level[i] = (struct ddio_run_level){ 0xffffffff, 0xffffffff, INT64_MIN };
	CU_ASSERT_EQUAL(ddio_run_check(&run, 16), -EOVERFLOW);
	CU_ASSERT_EQUAL(ddio_run_check_memory(&run, U64_MAX), -EOVERFLOW);
	/* Pieces that lie on each other are too many some day. */
	for (i = 0; i < 3; i++)
		run.level[i] = (struct ddio_run_level){ 256, 0, 0 };
	CU_ASSERT_EQUAL(ddio_run_check(&run, 1), 0);
	CU_ASSERT_EQUAL(ddio_run_bytes(&run), DDIO_RUN_BYTES_MAX);
	run.level[1].count++;
	CU_ASSERT_EQUAL(ddio_run_check(&run, 1), -EOVERFLOW);
	/* The whole of an address space, to its last byte. */
	run = (struct ddio_run){ .memory = U64_MAX - 1, .length = 1 };
	CU_ASSERT_EQUAL(ddio_run_check_memory(&run, U64_MAX), 0);
	run.length = 2;
	CU_ASSERT_EQUAL(ddio_run_check_memory(&run, U64_MAX), -EOVERFLOW);
	/* Down to the first byte, and one further. */
	run = (struct ddio_run){ .memory = 1ULL << 63, .length = 1, .levels = 1 };
	run.level[0] = (struct ddio_run_level){ 2, 1, INT64_MIN };
	CU_ASSERT_EQUAL(ddio_run_check_memory(&run, U64_MAX), 0);
	run.memory--;
	CU_ASSERT_EQUAL(ddio_run_check_memory(&run, U64_MAX), -ERANGE);
}

static int twin_check(const struct ddio_run *run, u32 block_length)
{
	s128 from, to;

	twin_bounds(run, false, &from, &to);
	if (to > (s128)U64_MAX)
		return -EOVERFLOW;
	if (to > block_length)
		return -ERANGE;
	return twin_bytes(run) > DDIO_RUN_BYTES_MAX ? -EOVERFLOW : 0;
}

/* Refused or not is exact; of two reasons either may be given. */
static bool same_memory(const struct ddio_run *run, u64 memory_length)
{
	int ret = ddio_run_check_memory(run, memory_length);
	s128 from, to;

	twin_bounds(run, true, &from, &to);
	if (from >= 0 && to <= (s128)memory_length)
		return ret == 0;
	if (from >= 0 && to <= (s128)U64_MAX)
		return ret == -ERANGE;
	return ret == -ERANGE || ret == -EOVERFLOW;
}

static void test_check(void)
{
	u32 kinds[3] = { 0 }, i, k;
	struct ddio_run run;
	u32 block_length;
	int ret;

	for (i = 0; i < ROUNDS; i++) {
		run = (struct ddio_run){ .memory = spiky(64), .levels = below(4) };
		run.offset = spiky(below(2) ? 32 : 8);
		run.length = 1 + (u32)spiky(below(2) ? 31 : 8);
		for (k = 0; k < run.levels; k++) {
			run.level[k].count = 1 + (u32)spiky(below(2) ? 31 : 6);
			run.level[k].block_stride = spiky(below(2) ? 32 : 8);
			run.level[k].memory_stride = spiky(64) * (below(2) ? 1 : -1ULL);
		}
		block_length = below(2) ? DDIO_BLOCK_LENGTH_MAX : 1 + below(BLOCK_MAX);
		ret = ddio_run_check(&run, block_length);
		if (ret != twin_check(&run, block_length))
			CU_FAIL_FATAL("check differs from its twin");
		if (!same_memory(&run, spiky(64)))
			CU_FAIL_FATAL("check of the memory differs from its twin");
		kinds[ret == 0 ? 0 : ret == -ERANGE ? 1 : 2]++;
	}
	for (i = 0; i < 3; i++)
		CU_ASSERT(kinds[i] > ROUNDS / 200);
}

static const u32 lengths[] = { 1, 2, 4, 8, 16, 32, 64, 3, 5, 7, 12, 24, 100, 257 };

/* A run whose pieces lie in a block and a memory; mostly without overlaps. */
static bool random_run(struct ddio_run *run, u32 block_length, u64 memory_length)
{
	u64 block = 0, memory = 0, size;
	s128 from, to;
	u32 i;

	*run = (struct ddio_run){ .levels = below(4) };
	run->length = lengths[below(sizeof(lengths) / sizeof(lengths[0]))];
	block = memory = run->length;
	for (i = 0; i < run->levels; i++) {
		run->level[i].count = 1 + below(below(4) ? 6 : 60);
		run->level[i].block_stride = below(3) ? block : block + below(2 * block);
		size = below(3) ? memory : memory + below(2 * memory);
		run->level[i].memory_stride = below(4) ? (s64)size : -(s64)size;
		if (!below(20))
			run->level[i].block_stride = below(block + 1);
		block += (run->level[i].count - 1) * (u64)run->level[i].block_stride;
		memory += (run->level[i].count - 1) * size;
	}
	if (block > block_length || memory > memory_length)
		return false;
	run->offset = below(block_length - block + 1);
	twin_bounds(run, true, &from, &to);
	run->memory = (u64)-from + below(memory_length - memory + 1);
	return true;
}

struct twin_copy {
	uint8_t *block;
	uint8_t *memory;
};

static void twin_scatter(void *arg, u64 block, u64 memory)
{
	struct twin_copy *c = arg;

	c->memory[memory] = c->block[block];
}

static void twin_gather(void *arg, u64 block, u64 memory)
{
	struct twin_copy *c = arg;

	c->block[block] = c->memory[memory];
}

static void fill(uint8_t *at, size_t n)
{
	while (n--)
		*at++ = ddio_rand_next(&seed);
}

static void copy_round(const struct ddio_run *run, uint8_t *block, uint8_t *memory)
{
	static uint8_t block_twin[BLOCK_MAX + 2 * GUARD], memory_twin[MEMORY_MAX + 2 * GUARD];
	struct twin_copy twin = { block_twin + GUARD, memory_twin + GUARD };

	memcpy(block_twin, block, sizeof(block_twin));
	memcpy(memory_twin, memory, sizeof(memory_twin));
	if (below(2)) {
		ddio_run_scatter(run, block + GUARD, memory + GUARD);
		twin_visit(run, twin_scatter, &twin);
	} else {
		ddio_run_gather(run, block + GUARD, memory + GUARD);
		twin_visit(run, twin_gather, &twin);
	}
	if (memcmp(block_twin, block, sizeof(block_twin)) ||
	    memcmp(memory_twin, memory, sizeof(memory_twin)))
		CU_FAIL_FATAL("copy differs from its twin");
}

static void test_copy(void)
{
	static uint8_t block[BLOCK_MAX + 2 * GUARD], memory[MEMORY_MAX + 2 * GUARD];
	struct ddio_run run;
	u32 i, made = 0;

	for (i = 0; i < ROUNDS; i++) {
		if (!random_run(&run, BLOCK_MAX, MEMORY_MAX))
			continue;
		CU_ASSERT_EQUAL_FATAL(ddio_run_check(&run, BLOCK_MAX), 0);
		CU_ASSERT_EQUAL_FATAL(ddio_run_check_memory(&run, MEMORY_MAX), 0);
		if (made++ % 64 == 0) {
			fill(block, sizeof(block));
			fill(memory, sizeof(memory));
		}
		copy_round(&run, block, memory);
	}
	CU_ASSERT(made > ROUNDS / 4);
}

struct twin_list {
	u64 (*at)[2];
	u32 nr;
};

static void twin_note(void *arg, u64 block, u64 memory)
{
	struct twin_list *list = arg;

	list->at[list->nr][0] = block;
	list->at[list->nr++][1] = memory;
}

/* The parts visit the run's bytes in the run's order, each part with as many as it may have. */
static u32 parts_round(const struct ddio_run *run, u32 most)
{
	static u64 whole[MEMORY_MAX * 4][2], parts[MEMORY_MAX * 4][2];
	struct twin_list a = { whole, 0 }, b = { parts, 0 };
	u32 at, bytes, nr = 0;
	struct ddio_run part;

	twin_visit(run, twin_note, &a);
	for (at = 0; at < a.nr; at += bytes, nr++) {
		bytes = ddio_run_part(run, at, most, &part);
		if (!bytes || bytes > most || bytes != ddio_run_bytes(&part) ||
		    ddio_run_check(&part, BLOCK_MAX))
			CU_FAIL_FATAL("a part that is none");
		twin_visit(&part, twin_note, &b);
	}
	if (a.nr != b.nr || memcmp(whole, parts, a.nr * sizeof(*whole)))
		CU_FAIL_FATAL("the parts are not the run");
	return nr;
}

static void test_parts(void)
{
	static const struct ddio_run sixty = {
		.length = 4, .levels = 2, .level = { { 5, 4, 8 }, { 3, 32, -64 } }, .memory = 512
	};
	u32 i, made = 0, many = 0;
	struct ddio_run run;

	CU_ASSERT_EQUAL(parts_round(&sixty, 60), 1);
	CU_ASSERT_EQUAL(parts_round(&sixty, 59), 2);
	CU_ASSERT_EQUAL(parts_round(&sixty, 20), 3);
	CU_ASSERT_EQUAL(parts_round(&sixty, 12), 6);
	CU_ASSERT_EQUAL(parts_round(&sixty, 4), 15);
	CU_ASSERT_EQUAL(parts_round(&sixty, 3), 30);
	CU_ASSERT_EQUAL(parts_round(&sixty, 1), 60);
	for (i = 0; i < ROUNDS / 4; i++) {
		if (!random_run(&run, BLOCK_MAX, MEMORY_MAX) ||
		    ddio_run_bytes(&run) > MEMORY_MAX * 4)
			continue;
		made++;
		many += parts_round(&run, 1 + below(below(2) ? 64 : MEMORY_MAX)) > 1;
	}
	CU_ASSERT(made > ROUNDS / 16 && many > made / 4);
}

/* Each piece is in one of the windows, whatever their size. */
static void window_round(const struct ddio_run *run, u32 *count)
{
	u32 from, window = 1 + below(BLOCK_MAX), to;
	struct ddio_run part;
	s128 bytes = 0, first, last;

	for (from = 0; from < BLOCK_MAX; from = to) {
		to = from + window;
		if (!ddio_run_window(run, from, to, &part))
			continue;
		(*count)++;
		bytes += twin_bytes(&part);
		twin_bounds(&part, false, &first, &last);
		if (part.offset < from || part.offset >= to || last > BLOCK_MAX ||
		    part.length != run->length)
			CU_FAIL_FATAL("a part that does not begin in its window");
	}
	if (bytes != twin_bytes(run))
		CU_FAIL_FATAL("the windows' parts are not the whole");
}

/* Window by window, a copy is the same as of the whole. */
static void window_copy(const struct ddio_run *run)
{
	static uint8_t block[BLOCK_MAX], memory[MEMORY_MAX], twin[MEMORY_MAX];
	u32 from, window = 1 + below(BLOCK_MAX);
	struct ddio_run part;

	fill(block, sizeof(block));
	memset(memory, 0, sizeof(memory));
	memset(twin, 0, sizeof(twin));
	ddio_run_scatter(run, block, twin);
	for (from = 0; from < BLOCK_MAX; from += window)
		if (ddio_run_window(run, from, from + window, &part))
			ddio_run_scatter(&part, block, memory);
	if (memcmp(memory, twin, sizeof(memory)))
		CU_FAIL_FATAL("windows copied something else");
}

static void test_windows(void)
{
	struct ddio_run run;
	u32 i, count = 0, made = 0;

	for (i = 0; i < ROUNDS; i++) {
		if (!random_run(&run, BLOCK_MAX, MEMORY_MAX))
			continue;
		made++;
		window_round(&run, &count);
		if (made % 16 == 0)
			window_copy(&run);
	}
	CU_ASSERT(count > made + made / 10);
}

static void twin_mark(void *arg, u64 block, u64 memory)
{
	(void)memory;
	((uint8_t *)arg)[block] = 1;
}

static void test_covers(void)
{
	static uint8_t mark[BLOCK_MAX];
	struct ddio_run run;
	u32 i, length, yes = 0;
	s128 from, to;

	for (i = 0; i < ROUNDS; i++) {
		if (!random_run(&run, BLOCK_MAX, MEMORY_MAX))
			continue;
		run.offset = 0;
		twin_bounds(&run, false, &from, &to);
		length = (u32)to;
		if (!ddio_run_covers(&run, length))
			continue;
		yes++;
		memset(mark, 0, sizeof(mark));
		twin_visit(&run, twin_mark, mark);
		if (memchr(mark, 0, length))
			CU_FAIL_FATAL("said to cover what it does not");
	}
	CU_ASSERT(yes > ROUNDS / 20);
	run = (struct ddio_run){ .length = 512 };
	CU_ASSERT(ddio_run_covers(&run, 512));
	CU_ASSERT(!ddio_run_covers(&run, 513));
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* One block after the other, all members' parts of each. */
static double speed(uint8_t *file, uint8_t **member, u32 members, u64 bytes, u32 block, u32 piece)
{
	struct ddio_run run = { .length = piece, .levels = 1 };
	double begun;
	u64 at;
	u32 m;

	run.level[0] = (struct ddio_run_level){ block / piece / members, piece * members, piece };
	begun = now();
	for (at = 0; at < bytes; at += block) {
		for (m = 0; m < members; m++) {
			run.offset = m * piece;
			run.memory = at / members;
			ddio_run_scatter(&run, file + at, member[m]);
		}
	}
	return bytes / (now() - begun) / 1e9;
}

/* Prints the time for the reader, since machines differ. */
static void test_speed(void)
{
	static const u32 pieces[] = { 1, 2, 4, 8, 16, 24, 256, 4096 };
	const u64 bytes = 64 << 20;
	uint8_t *file = malloc(bytes), *member[2];
	u32 i;

	member[0] = malloc(bytes / 2);
	member[1] = malloc(bytes / 2);
	if (!file || !member[0] || !member[1])
		CU_FAIL_FATAL("no memory");
	memset(file, 1, bytes);
	memset(member[0], 0, bytes / 2);
	memset(member[1], 0, bytes / 2);
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		u32 block = 8192 / (2 * pieces[i]) * (2 * pieces[i]);

		printf("\n    scatter, 2 members, pieces of %u bytes: %.2f GB/s", pieces[i],
		       speed(file, member, 2, bytes / block * block, block, pieces[i]));
	}
	CU_ASSERT_EQUAL(member[1][bytes / 2 - 1], 1);
	free(file);
	free(member[0]);
	free(member[1]);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "malformed", test_malformed },
		{ "limits", test_limits },
		{ "check against a twin", test_check },
		{ "copies against a twin", test_copy },
		{ "windows", test_windows },
		{ "parts", test_parts },
		{ "cover", test_covers },
		{ "speed", test_speed },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "runs", cases } };

	return ut_run("test_runs", suites, 1);
}
