// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks at the ends of what a collective writes: they are left to the cache, where the next collective finds them,
 * so that each is written once and none is read.
 */
#include "tests/unit/iop/coll/coll_tc.h"

enum { BLOCK = 1024, BLOCKS = 24, BYTES = BLOCK * BLOCKS, MEMBERS = 4 };

struct end_blocks {
	struct coll_world *w;
	struct w_group *g;
	struct w_file f;
	struct ddio_array a;
	struct w_job job;
	uint64_t seed;
};

/* @filled: the file has been written before. */
static void ends_new(struct end_blocks *x, uint64_t seed, bool filled)
{
	struct w_params p = { .seed = seed, .ends = true };

	memset(x, 0, sizeof(*x));
	x->w = w_new(&p);
	x->g = w_group_new(x->w, MEMBERS);
	w_file_init(x->w, &x->f, 1, BLOCK, DDIO_LAYOUT_CONTIGUOUS_W);
	if (filled)
		w_file_fill(x->w, &x->f, BYTES, 1);
	x->f.rec.size = BYTES;
	x->a = (struct ddio_array){ .elem_size = 1, .ndims = 1 };
	x->job = (struct w_job){ .g = x->g, .f = &x->f, .array = &x->a, .file_size = BYTES };
}

static void ends_free(struct end_blocks *x)
{
	flush_all(x->w);
	CU_ASSERT_EQUAL(w_file_wrong(x->w, &x->f, BYTES), 0);
	w_file_free(&x->f);
	w_free(x->w);
}

/* Every @step-th byte of @n from @at on, by all members. */
static uint32_t move(struct end_blocks *x, uint64_t at, uint64_t n, uint64_t step, uint32_t flags)
{
	uint32_t status;
	uint64_t op;

	x->a.file_offset = at;
	x->a.dim[0] = (struct ddio_dim){ .size = n,
					 .procs = MEMBERS,
					 .dist = DDIO_CYCLIC,
					 .k = 7,
					 .stride = step,
					 .count = (n + step - 1) / step };
	x->job.flags = flags;
	x->job.seed = ++x->seed;
	op = w_start(&x->job);
	status = w_wait(x->g, op, 60 * SEC);
	if (!status && flags & DDIO_COLL_WRITE)
		w_apply(&x->job, x->g->map[op % W_OPS]);
	else if (!status)
		CU_ASSERT_EQUAL(w_read_wrong(x->g, op, &x->f), 0);
	return status;
}

/* One after the other, as a program does that writes a record of each process at each step. */
static void test_steps(void)
{
	enum { STEP = 2350 };
	struct w_totals before;
	struct end_blocks x;
	uint64_t at;

	ends_new(&x, 1, true);
	before = w_totals(x.w);
	for (at = 0; at < BYTES; at += STEP)
		CU_ASSERT_EQUAL(move(&x, at, at + STEP < BYTES ? STEP : BYTES - at, 1,
				     DDIO_COLL_WRITE | DDIO_COLL_SORT),
				0);
	/* Full blocks have been written by now, or are about to be. */
	w_run(x.w, SEC);
	CU_ASSERT_EQUAL(cached(x.w).dirty, 0);
	CU_ASSERT_EQUAL(w_totals(x.w).reads - before.reads, 0);
	CU_ASSERT_EQUAL(w_totals(x.w).writes - before.writes, BLOCKS);
	CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, BYTES), 0);
	ends_free(&x);
}

/* The same backwards, with blocks that were never written. */
static void test_backwards(void)
{
	enum { STEP = 700 };
	struct w_totals before;
	struct end_blocks x;
	int64_t at;

	ends_new(&x, 2, false);
	before = w_totals(x.w);
	for (at = (BYTES - 1) / STEP * STEP; at >= 0; at -= STEP)
		CU_ASSERT_EQUAL(
			move(&x, at, at + STEP < BYTES ? STEP : BYTES - at, 1, DDIO_COLL_WRITE), 0);
	flush_all(x.w);
	CU_ASSERT_EQUAL(w_totals(x.w).reads - before.reads, 0);
	CU_ASSERT_EQUAL(w_totals(x.w).writes - before.writes, BLOCKS);
	ends_free(&x);
}

/* Those with gaps, and those that must be durable, go to the disk at once. */
static void test_not_left(void)
{
	struct w_totals before;
	struct end_blocks x;

	ends_new(&x, 3, true);
	before = w_totals(x.w);
	CU_ASSERT_EQUAL(move(&x, 100, 300, 1, DDIO_COLL_WRITE | DDIO_COLL_SYNC), 0);
	CU_ASSERT_EQUAL(move(&x, BLOCK, 300, 2, DDIO_COLL_WRITE), 0);
	CU_ASSERT_EQUAL(cached(x.w).dirty, 0);
	CU_ASSERT_EQUAL(w_totals(x.w).reads - before.reads, 2);
	CU_ASSERT_EQUAL(w_totals(x.w).writes - before.writes, 2);
	CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, BYTES), 0);
	CU_ASSERT_EQUAL(move(&x, 100, 300, 1, DDIO_COLL_WRITE), 0);
	CU_ASSERT_EQUAL(cached(x.w).dirty, !w_streams);
	/* The rest of it is read for a durable write, and for one with gaps. */
	CU_ASSERT_EQUAL(move(&x, 500, 300, 1, DDIO_COLL_WRITE | DDIO_COLL_SYNC), 0);
	CU_ASSERT_EQUAL(cached(x.w).dirty, 0);
	CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, BYTES), 0);
	CU_ASSERT_EQUAL(move(&x, 100, 300, 1, DDIO_COLL_WRITE), 0);
	CU_ASSERT_EQUAL(move(&x, 2, 1000, 3, DDIO_COLL_WRITE), 0);
	CU_ASSERT_EQUAL(cached(x.w).dirty, 0);
	ends_free(&x);
}

/* A block that is wholly overwritten is not read for the sake of what the cache has of it. */
static void test_overwritten(void)
{
	struct w_totals before;
	struct end_blocks x;

	ends_new(&x, 4, true);
	CU_ASSERT_EQUAL(move(&x, 100, 300, 1, DDIO_COLL_WRITE), 0);
	w_run(x.w, SEC);
	before = w_totals(x.w);
	CU_ASSERT_EQUAL(move(&x, 0, 2 * BLOCK, 1, DDIO_COLL_WRITE), 0);
	CU_ASSERT_EQUAL(cached(x.w).dirty, 0);
	CU_ASSERT_EQUAL(w_totals(x.w).reads - before.reads, 0);
	CU_ASSERT_EQUAL(w_totals(x.w).writes - before.writes, 2);
	ends_free(&x);
}

/* A whole block that cannot be written: what the cache had of it stays. */
static void test_overwriting_fails(void)
{
	uint8_t buf[300];
	struct end_blocks x;
	uint32_t i;

	ends_new(&x, 5, true);
	CU_ASSERT_EQUAL(move(&x, 100, 300, 1, DDIO_COLL_WRITE), 0);
	for (i = 0; i < x.w->p.ndisks; i++)
		disk_inject(x.w->disk[i].disk, DDIO_DISK_WRITE, 1, -EIO);
	CU_ASSERT_EQUAL(move(&x, 0, BLOCK, 1, DDIO_COLL_WRITE), DDIO_ST_IO);
	for (i = 0; i < x.w->p.ndisks; i++)
		disk_inject(x.w->disk[i].disk, DDIO_DISK_WRITE, 0, 0);
	if (!w_streams) {
		CU_ASSERT_EQUAL(cached(x.w).dirty, 1);
		tc(x.w, &x.f, 100, buf, sizeof(buf), false);
		CU_ASSERT_EQUAL(memcmp(buf, x.f.image + 100, sizeof(buf)), 0);
	}
	/* All other bytes of the block may be anything now. */
	CU_ASSERT_EQUAL(move(&x, 0, BLOCK, 1, DDIO_COLL_WRITE), 0);
	ends_free(&x);
}

static uint64_t hits(struct coll_world *w)
{
	struct cache_stats st;
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < w->p.ndisks; i++) {
		cache_stats(w->disk[i].cache, &st);
		n += st.hits;
	}
	return n;
}

/* More of them than the cache has room for: the others go to the disk. */
static void test_full(void)
{
	struct w_params p = { .seed = 6, .ends = true, .cache = 100 << 10 };
	struct w_group *g;
	struct ddio_array a = { .elem_size = 1, .ndims = 1 };
	struct w_job job = { .array = &a, .flags = DDIO_COLL_WRITE };
	struct coll_world *w = w_new(&p);
	struct w_file f;
	uint64_t op, i, n = 400, before;
	uint8_t buf[100];

	g = w_group_new(w, 2);
	w_file_init(w, &f, 1, BLOCK, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, &f, n * BLOCK, 1);
	job.g = g;
	job.f = &f;
	for (i = 0; i < n; i++) {
		a.file_offset = i * BLOCK + i % 800;
		a.dim[0] = (struct ddio_dim){ .size = 100, .procs = 2, .dist = DDIO_BLOCK };
		job.seed = i;
		op = w_start(&job);
		CU_ASSERT_EQUAL(w_wait(g, op, 60 * SEC), DDIO_ST_OK);
		w_apply(&job, g->map[op % W_OPS]);
	}
	/* Room for 25 on each disk; older ones are written to make room, so that some of the newest are there. */
	CU_ASSERT(w_streams || cached(w).dirty > 20);
	CU_ASSERT(cached(w).dirty <= 50);
	before = hits(w);
	for (i = n - 20; i < n; i++)
		tc(w, &f, i * BLOCK + i % 800, buf, sizeof(buf), false);
	CU_ASSERT(w_streams || hits(w) - before >= 8);
	flush_all(w);
	CU_ASSERT_EQUAL(w_file_wrong(w, &f, n * BLOCK), 0);
	w_file_free(&f);
	w_free(w);
}

/* Anything, by collectives and by single requests, read back by both. */
static void mix(uint64_t seed)
{
	struct end_blocks x;
	uint8_t buf[BYTES];
	uint32_t i;

	ends_new(&x, seed, seed % 3);
	x.seed = seed * 1000;
	for (i = 0; i < 60; i++) {
		uint64_t at = w_random(x.w) % BYTES, n = 1 + w_random(x.w) % (3 * BLOCK), k;
		uint32_t flags = DDIO_COLL_SORT * (w_random(x.w) % 2), what = w_random(x.w) % 8;

		n = n < BYTES - at ? n : BYTES - at;
		if (what < 4) {
			flags |= DDIO_COLL_WRITE | DDIO_COLL_SYNC * !(w_random(x.w) % 4);
			CU_ASSERT_EQUAL(move(&x, at, n, what ? 1 : 3, flags), 0);
		} else if (what < 5) {
			CU_ASSERT_EQUAL(move(&x, at, n, 1 + w_random(x.w) % 3, flags), 0);
		} else if (what < 6) {
			n = n < BLOCK - at % BLOCK ? n : BLOCK - at % BLOCK;
			for (k = 0; k < n; k++)
				x.f.image[at + k] = buf[k] = (uint8_t)w_random(x.w);
			tc(x.w, &x.f, at, buf, n, true);
		} else if (what < 7) {
			n = n < BLOCK - at % BLOCK ? n : BLOCK - at % BLOCK;
			tc(x.w, &x.f, at, buf, n, false);
			CU_ASSERT_EQUAL(memcmp(buf, x.f.image + at, n), 0);
		} else {
			flush_all(x.w);
			CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, BYTES), 0);
		}
	}
	ends_free(&x);
}

static void test_mixed(void)
{
	uint64_t seed;

	for (seed = 1; seed <= ut_rounds(60); seed++)
		mix(seed);
}

static const struct ut_case by_request_cases[] = {
	{ "step by step", test_steps },
	{ "backwards", test_backwards },
	{ NULL, NULL },
};

static const struct ut_case cases[] = {
	{ "not left to the cache", test_not_left },
	{ "overwritten", test_overwritten },
	{ "overwriting fails", test_overwriting_fails },
	{ "a full cache", test_full },
	{ "mixed", test_mixed },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "ends", cases } };
	static const struct ut_suite only[] = { { "ends, by request", by_request_cases } };
	int ret = ut_run("test_coll_ends", only, 1);

	return w_ut_run("test_coll_ends", suites, 1) || ret;
}
