// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collective executor beside the cache and beside itself: what the cache holds dirty, and
 * several collectives and traditional requests at once.
 */
#include "tests/unit/iop/coll/coll_tc.h"

struct dirty {
	struct coll_world *w;
	struct block_lock *locked; /* for a while, or NULL */
	struct w_group *g;
	struct w_file f;
	struct ddio_array a;
	struct w_job job;
};

/* Sixteen blocks of 1024 bytes; a few have dirty bytes in the cache. */
static void dirty_slow(struct dirty *d, uint64_t seed, const char *options)
{
	struct w_params p = { .seed = seed, .options = options };
	uint8_t buf[100];

	memset(d, 0, sizeof(*d));
	d->w = w_new(&p);
	d->g = w_group_new(d->w, 4);
	w_file_init(d->w, &d->f, 1, 1024, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(d->w, &d->f, 16384, 1);
	d->a = (struct ddio_array){ .elem_size = 8, .ndims = 1 };
	d->a.dim[0] = (struct ddio_dim){ .size = 2048, .procs = 4, .dist = DDIO_CYCLIC };
	d->job = (struct w_job){ .g = d->g, .f = &d->f, .array = &d->a, .flags = DDIO_COLL_SORT };
	memset(buf, 0xd1, sizeof(buf));
	tc(d->w, &d->f, 100, buf, 100, true); /* blocks 0, 1 and 7 */
	tc(d->w, &d->f, 1024, buf, 100, true);
	tc(d->w, &d->f, 7 * 1024 + 900, buf, 100, true);
	CU_ASSERT_EQUAL(cached(d->w).dirty, 3);
}

static void dirty_new(struct dirty *d, uint64_t seed)
{
	dirty_slow(d, seed, "delay_us=200");
}

static void dirty_free(struct dirty *d)
{
	flush_all(d->w);
	w_file_free(&d->f);
	w_free(d->w);
}

static void test_dirty_is_read(void)
{
	struct dirty d;
	uint64_t op;

	dirty_new(&d, 20);
	op = w_start(&d.job);
	CU_ASSERT_EQUAL(w_wait(d.g, op, 60 * SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(w_read_wrong(d.g, op, &d.f), 0);
	CU_ASSERT_EQUAL(m_op(&d.g->m[0], op)->done[0].cache_blocks, 3);
	CU_ASSERT_EQUAL(m_op(&d.g->m[0], op)->done[0].disk_requests, 13);
	CU_ASSERT_EQUAL(cached(d.w).dirty, 3);
	dirty_free(&d);
}

/* Wholly covered: what was dirty is overwritten, and is not written back later. */
static void test_dirty_is_overwritten(void)
{
	struct w_totals before;
	struct dirty d;
	uint8_t buf[100];
	uint64_t op;

	dirty_new(&d, 21);
	d.job.flags |= DDIO_COLL_WRITE;
	d.job.seed = 5;
	op = w_start(&d.job);
	CU_ASSERT_EQUAL(w_wait(d.g, op, 60 * SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(m_op(&d.g->m[0], op)->done[0].disk_requests, 16);
	w_apply(&d.job, d.g->map[op % W_OPS]);
	CU_ASSERT_EQUAL(cached(d.w).dirty, 0);
	before = w_totals(d.w);
	flush_all(d.w);
	CU_ASSERT_EQUAL(w_totals(d.w).writes, before.writes);
	CU_ASSERT_EQUAL(w_file_wrong(d.w, &d.f, 16384), 0);
	tc(d.w, &d.f, 7 * 1024 + 900, buf, 100, false);
	CU_ASSERT_EQUAL(memcmp(buf, d.f.image + 7 * 1024 + 900, 100), 0);
	dirty_free(&d);
}

/* Partly covered: the rest of the block comes from the cache. */
static void test_dirty_is_merged(void)
{
	struct dirty d;
	uint8_t buf[1024];
	uint64_t op;

	dirty_new(&d, 22);
	d.a.dim[0].size = 1024;
	d.a.dim[0].procs = 4;
	d.a.dim[0].stride = 2; /* every other element */
	d.a.dim[0].size = 2048;
	d.a.dim[0].count = 1024;
	d.job.flags |= DDIO_COLL_WRITE;
	d.job.seed = 6;
	op = w_start(&d.job);
	CU_ASSERT_EQUAL(w_wait(d.g, op, 60 * SEC), DDIO_ST_OK);
	w_apply(&d.job, d.g->map[op % W_OPS]);
	CU_ASSERT_EQUAL(m_op(&d.g->m[0], op)->done[0].cache_blocks, 3);
	CU_ASSERT_EQUAL(m_op(&d.g->m[0], op)->done[0].disk_requests, 16 + 13);
	CU_ASSERT_EQUAL(cached(d.w).dirty, 0);
	CU_ASSERT_EQUAL(w_file_wrong(d.w, &d.f, 16384), 0);
	tc(d.w, &d.f, 0, buf, 1024, false);
	CU_ASSERT_EQUAL(memcmp(buf, d.f.image, 1024), 0);
	dirty_free(&d);
}

/* The cache has newer bytes of a block, and the rest of the block cannot be read. */
static void test_dirty_cannot_be_filled(void)
{
	struct dirty d;
	uint8_t block[1024];
	uint64_t op;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		dirty_new(&d, 23);
		d.job.flags = i ? DDIO_COLL_WRITE : 0;
		d.job.buffers = 1;
		d.job.seed = 1;
		d.a.dim[0].size--; /* the last block is not wholly covered */
		disk_inject(d.w->disk[0].disk, DDIO_DISK_READ, 1, -EIO);
		disk_inject(d.w->disk[1].disk, DDIO_DISK_READ, 1, -EIO);
		op = w_start(&d.job);
		CU_ASSERT_EQUAL(w_wait(d.g, op, SEC), DDIO_ST_IO);
		/* A feed first reads the blocks that the cache does not have. */
		CU_ASSERT_PTR_NOT_NULL(
			strstr(m_op(&d.g->m[2], op)->text,
			       w_streams && !i ? "reading block" : "rest of cached block"));
		w_run(d.w, 10 * MS);
		disk_inject(d.w->disk[0].disk, DDIO_DISK_READ, 0, 0);
		disk_inject(d.w->disk[1].disk, DDIO_DISK_READ, 0, 0);
		/* The blocks are not locked: whole ones can be written. */
		memset(block, 0x33, sizeof(block));
		tc(d.w, &d.f, 0, block, sizeof(block), true);
		tc(d.w, &d.f, 1024, block, sizeof(block), true);
		tc(d.w, &d.f, 7 * 1024, block, sizeof(block), true);
		dirty_free(&d);
	}
}

/* A write fails on a block that the cache has newer bytes of: they are not lost. */
static void test_dirty_survives(void)
{
	struct dirty d;
	uint8_t buf[100];
	uint64_t op;

	dirty_new(&d, 24);
	d.a.dim[0].size = 128 / 8; /* the first bytes of block 0 */
	d.job.flags = DDIO_COLL_WRITE;
	d.job.seed = 7;
	disk_inject(d.w->disk[d.f.disks[0]].disk, DDIO_DISK_WRITE, 1, -EIO);
	op = w_start(&d.job);
	CU_ASSERT_EQUAL(w_wait(d.g, op, SEC), DDIO_ST_IO);
	CU_ASSERT_EQUAL(cached(d.w).dirty, 3);
	tc(d.w, &d.f, 100, buf, 100, false);
	CU_ASSERT_EQUAL(memcmp(buf, d.f.image + 100, 100), 0);
	flush_all(d.w);
	CU_ASSERT_EQUAL(w_file_wrong(d.w, &d.f, 16384), 0);
	dirty_free(&d);
}

/* A write fails on a block that the cache holds clean: the disk may have some of it, so it is forgotten. */
static void test_clean_is_forgotten(void)
{
	struct dirty d;
	uint64_t op;

	dirty_new(&d, 25);
	flush_all(d.w);
	CU_ASSERT_EQUAL(cached(d.w).blocks, 3);
	d.a.dim[0].size = 128 / 8; /* the first bytes of block 0 */
	d.job.flags = DDIO_COLL_WRITE;
	d.job.seed = 7;
	disk_inject(d.w->disk[d.f.disks[0]].disk, DDIO_DISK_WRITE, 1, -EIO);
	op = w_start(&d.job);
	CU_ASSERT_EQUAL(w_wait(d.g, op, SEC), DDIO_ST_IO);
	CU_ASSERT_EQUAL(cached(d.w).blocks, 2);
	dirty_free(&d);
}

static uint64_t renewed(struct coll_world *w, uint32_t disk)
{
	return ((struct mem_store *)w->disk[disk].store)->renewed;
}

/* Two of the dirty blocks are of the one disk; the other one's is written back first. */
enum { DIRTY, CLEAN };

static void renew_begin(struct dirty *d, uint64_t seed, const char *options)
{
	dirty_slow(d, seed, options);
	flush_disk(d->w, CLEAN);
	CU_ASSERT_EQUAL(cached(d->w).dirty, 2);
}

/*
 * Has all 16 blocks written.  @kept: those of a disk keep their places whose cache has to write one of them, or does: the write would
 * end at the old place of its block, which would then be taken for written at the new one.
 */
static void renew_check(struct dirty *d, bool kept)
{
	uint64_t op;

	d->job.flags |= DDIO_COLL_WRITE;
	d->job.seed = 8;
	op = w_start(&d->job);
	if (d->locked) {
		w_run(d->w, 10 * MS);
		cache_unlock(d->w->disk[DIRTY].cache, d->locked, false);
	}
	CU_ASSERT_EQUAL(w_wait(d->g, op, 60 * SEC), DDIO_ST_OK);
	w_apply(&d->job, d->g->map[op % W_OPS]);
	CU_ASSERT_EQUAL(renewed(d->w, CLEAN), 8);
	CU_ASSERT_EQUAL(renewed(d->w, DIRTY), kept ? 0 : 8);
}

static void renew_end(struct dirty *d)
{
	flush_all(d->w);
	CU_ASSERT_EQUAL(w_file_wrong(d->w, &d->f, 16384), 0);
	dirty_free(d);
}

static void test_renew(void)
{
	struct dirty d;

	renew_begin(&d, 26, NULL);
	flush_disk(d.w, DIRTY);
	renew_check(&d, false);
	renew_end(&d);
}

static void test_renew_dirty(void)
{
	struct dirty d;

	renew_begin(&d, 27, NULL);
	renew_check(&d, true);
	renew_end(&d);
}

/* The cache's writes are under way when the collective makes its lists. */
static void test_renew_written(void)
{
	bool over = false;
	struct cache_flush flush = { .done = flush_done, .arg = &over };
	struct dirty d;

	renew_begin(&d, 28, "delay_us=20000");
	cache_flush(d.w->disk[DIRTY].cache, &flush);
	w_run(d.w, MS);
	CU_ASSERT_FALSE(over);
	renew_check(&d, true);
	CU_ASSERT(w_until(d.w, flag_set, &over, 60 * SEC));
	renew_end(&d);
}

/* Somebody moves a block, for instance. */
static void test_renew_locked(void)
{
	struct block_lock lock = { .block = 2 };
	struct dirty d;

	renew_begin(&d, 29, NULL);
	flush_disk(d.w, DIRTY);
	CU_ASSERT_EQUAL(store_get(d.w->disk[DIRTY].store, &d.f.rec.ref, false, &lock.obj), 0);
	CU_ASSERT_TRUE(cache_lock(d.w->disk[DIRTY].cache, &lock));
	d.locked = &lock;
	renew_check(&d, true);
	object_put(lock.obj);
	renew_end(&d);
}

/*
 * At once
 */
enum { LANES = 3 };

/* Three writers of every third element, at once: two collectives and the traditional path. */
static void interleave(uint64_t seed)
{
	struct w_params p = { .seed = seed, .options = seed % 2 ? "delay_us=150" : NULL };
	struct ddio_sim_link net;
	struct coll_world *w = w_new(&p);
	struct w_group *g[2] = { w_group_new(w, 3), w_group_new(w, 2) };
	struct ddio_array a[2];
	struct w_job job[2];
	struct c_io io[64];
	uint8_t elem[64][8];
	struct w_file f;
	uint64_t op[2];
	uint32_t i;

	w_file_init(w, &f, 1, 512, seed % 2);
	w_file_fill(w, &f, 64 * 24, 1);
	f.rec.size = 0; /* what the writers know of it */
	for (i = 0; i < 2; i++) {
		a[i] = (struct ddio_array){ .elem_size = 8, .ndims = 1 };
		a[i].dim[0] = (struct ddio_dim){ .size = 64 * 3,
						 .start = i,
						 .count = 64,
						 .stride = LANES,
						 .procs = g[i]->n,
						 .dist = DDIO_CYCLIC };
		job[i] = (struct w_job){ .g = g[i],
					 .f = &f,
					 .array = &a[i],
					 .seed = 50 + i,
					 .flags = DDIO_COLL_WRITE | (i ? DDIO_COLL_SORT : 0) };
		ddio_sim_link_default(&net);
		net.jitter_ns = 300000;
		ddio_sim_set_link(g[i]->m[1].env, &net);
		op[i] = w_start(&job[i]);
	}
	for (i = 0; i < 64; i++) {
		memset(elem[i], 0x80 + i, 8);
		tc_begin(w, &f, &io[i], i * 24 + 16, elem[i], 8, true);
		w_run(w, w_random(w) % 40000);
	}
	for (i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(w_wait(g[i], op[i], 60 * SEC), DDIO_ST_OK);
	for (i = 0; i < 64; i++) {
		CU_ASSERT(w_until(w, c_over, &io[i], 60 * SEC));
		CU_ASSERT_EQUAL(io[i].status, 0);
		memcpy(f.image + i * 24 + 16, elem[i], 8);
	}
	for (i = 0; i < 2; i++)
		w_apply(&job[i], g[i]->map[op[i] % W_OPS]);
	flush_all(w);
	CU_ASSERT_EQUAL(w_file_wrong(w, &f, 64 * 24), 0);
	w_file_free(&f);
	w_free(w);
}

static void test_interleaved(void)
{
	uint64_t seed;

	printf("\n  seeds 1 to 60 ");
	for (seed = 1; seed <= 60; seed++)
		interleave(seed);
}

/* The same blocks in opposite orders, and twice by one group. */
static void crossing(uint64_t seed)
{
	struct w_params p = { .seed = seed, .options = "delay_us=100" };
	struct coll_world *w = w_new(&p);
	struct w_group *g[2] = { w_group_new(w, 2), w_group_new(w, 4) };
	struct ddio_array a[2];
	struct w_job job[4];
	struct w_file f;
	uint64_t op[4];
	uint32_t i;

	w_file_init(w, &f, 1, 512, DDIO_LAYOUT_RANDOM_BLOCKS_W);
	w_file_fill(w, &f, 32768, 1);
	for (i = 0; i < 2; i++) {
		a[i] = (struct ddio_array){ .elem_size = 8, .ndims = 1 };
		a[i].dim[0] =
			(struct ddio_dim){ .size = 4096, .procs = g[i]->n, .dist = DDIO_CYCLIC };
	}
	for (i = 0; i < 4; i++) {
		job[i] = (struct w_job){ .g = g[i % 2],
					 .f = &f,
					 .array = &a[i % 2],
					 .seed = 1,
					 .flags = i % 2 ? DDIO_COLL_SORT : 0 };
		/* They all write what is there already, so that any order is right. */
		if (w_random(w) % 2)
			job[i].flags |= DDIO_COLL_WRITE;
		op[i] = w_start(&job[i]);
		w_run(w, w_random(w) % 100000);
	}
	for (i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(w_wait(job[i].g, op[i], 60 * SEC), DDIO_ST_OK);
		if (!(job[i].flags & DDIO_COLL_WRITE))
			CU_ASSERT_EQUAL(w_read_wrong(job[i].g, op[i], &f), 0);
	}
	CU_ASSERT_EQUAL(w_file_wrong(w, &f, 32768), 0);
	CU_ASSERT_EQUAL(w->disk[0].coll_max_buffers, 2);
	w_file_free(&f);
	w_free(w);
}

static void test_crossing(void)
{
	uint64_t seed;

	printf("\n  seeds 1 to 30 ");
	for (seed = 1; seed <= 30; seed++)
		crossing(seed);
}

static const struct ut_case cache_cases[] = {
	{ "dirty blocks are read from the cache", test_dirty_is_read },
	{ "dirty blocks are overwritten and forgotten", test_dirty_is_overwritten },
	{ "dirty blocks are what a partial write keeps", test_dirty_is_merged },
	{ "dirty blocks whose rest cannot be read", test_dirty_cannot_be_filled },
	{ "dirty blocks survive a write that fails", test_dirty_survives },
	{ "clean blocks are forgotten when a write fails", test_clean_is_forgotten },
	{ "blocks get new places in one piece", test_renew },
	{ "but not those of a disk that has dirty ones", test_renew_dirty },
	{ "nor those of one whose dirty ones are being written", test_renew_written },
	{ "nor those of one of which somebody has locked a block", test_renew_locked },
	{ NULL, NULL },
};

static const struct ut_case once_cases[] = {
	{ "three writers of interleaved elements lose nothing", test_interleaved },
	{ "collectives over the same blocks in opposite orders end", test_crossing },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "cache", cache_cases },
		{ "at once", once_cases },
	};

	return w_ut_run_shared("test_coll_cache", suites, sizeof(suites) / sizeof(suites[0]));
}
