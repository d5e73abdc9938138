// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collective executor with random distributions, irregular parts, partial blocks, holes, what
 * the cache holds dirty, and several collectives and other requests at once.
 */
/* needs: everything */
#include "tests/unit/coll_member.h"

static uint64_t between(struct world *w, uint64_t lo, uint64_t hi)
{
	return lo + w_random(w) % (hi - lo + 1);
}

/*
 * Random descriptions
 */
static void random_dim(struct world *w, struct ddio_dim *dim, uint32_t *procs_left)
{
	static const uint32_t dists[] = { DDIO_NONE, DDIO_BLOCK, DDIO_CYCLIC, DDIO_CYCLIC,
					  DDIO_ALL };

	memset(dim, 0, sizeof(*dim));
	dim->dist = dists[w_random(w) % 5];
	dim->size = between(w, 1, 14);
	dim->procs = dim->dist == DDIO_NONE ? 1 : between(w, 1, *procs_left);
	*procs_left /= dim->procs;
	dim->k = dim->dist == DDIO_CYCLIC ? between(w, 0, 3) : 0;
	if (w_random(w) % 3)
		return;
	dim->start = between(w, 0, dim->size - 1);
	dim->stride = between(w, 1, 3);
	dim->count = between(w, 1, (dim->size - dim->start + dim->stride - 1) / dim->stride);
}

static void random_array(struct world *w, struct ddio_array *a, uint32_t nprocs)
{
	uint32_t left = nprocs, d;

	memset(a, 0, sizeof(*a));
	a->file_offset = w_random(w) % 3 ? 0 : between(w, 1, 3000);
	a->elem_size = between(w, 1, 40);
	a->ndims = between(w, 1, 3);
	for (d = 0; d < a->ndims; d++)
		random_dim(w, &a->dim[d], &left);
}

enum { PIECES = 400 };

struct random_parts {
	struct ddio_part part[8];
	struct ddio_extent list[8][PIECES];
};

static void parts_shuffle(struct world *w, struct ddio_extent *list, uint64_t n)
{
	uint64_t i;

	for (i = 1; i < n; i++) {
		uint64_t j = w_random(w) % (i + 1);
		struct ddio_extent t = list[i];

		list[i] = list[j];
		list[j] = t;
	}
}

/* Pieces of the file, each somebody's, nobody's or, with @shared, two members'. */
static void random_lists(struct world *w, struct random_parts *rp, uint32_t n, bool shared)
{
	uint64_t at = between(w, 0, 2000), i, len;
	uint32_t r;

	for (r = 0; r < n; r++)
		rp->part[r] = (struct ddio_part){ .kind = DDIO_PART_LIST, .list = rp->list[r] };
	for (i = 0; i < PIECES; i++) {
		struct ddio_part *first = &rp->part[w_random(w) % n];
		struct ddio_part *second = &rp->part[w_random(w) % n];

		len = between(w, 1, 60);
		if (w_random(w) % 5) {
			rp->list[first - rp->part][first->n++] = (struct ddio_extent){ at, len };
			if (shared && second != first)
				rp->list[second - rp->part][second->n++] =
					(struct ddio_extent){ at, len };
		} else if (!(w_random(w) % 20)) {
			at += 5000; /* whole blocks that nobody wants */
		}
		at += len;
	}
	for (r = 0; r < n; r++)
		if (w_random(w) % 2)
			parts_shuffle(w, rp->list[r], rp->part[r].n);
}

/*
 * Random cases
 */

/* Some blocks are there, some have a place but were never written, some are nowhere. */
static void random_fill(struct world *w, struct w_file *f, uint64_t size)
{
	uint64_t b, i, bs = f->rec.ref.block;
	struct ddio_object *obj;

	for (b = 0; b * bs < size; b++) {
		uint32_t how = w_random(w) % 4;

		if (how >= 2) {
			for (i = 0; i < bs; i++)
				f->image[b * bs + i] = w_byte(77, b * bs + i);
			w_block_write(w, f, b);
		} else if (how == 1) {
			ddio_store_get(w_file_store(w, f, b), &f->rec.ref, true, &obj);
			ddio_object_alloc(obj, b / f->rec.ndisks, 1);
			ddio_object_put(obj);
		}
	}
	f->rec.size = size;
}

static bool block_written(struct world *w, const struct w_file *f, uint64_t b)
{
	uint8_t *buf = malloc(f->rec.ref.block);
	bool there = w_block_read(w, f, b, buf);

	free(buf);
	return there;
}

struct expect {
	uint64_t reads, writes;
};

static struct expect expect_of(const struct w_job *job)
{
	uint64_t bs = job->f->rec.ref.block, lo, hi, b, covered;
	struct expect e = { 0 };
	struct ddio_map *map;

	CU_ASSERT_EQUAL_FATAL(w_map(job, &map), 0);
	ddio_map_bounds(map, &lo, &hi);
	for (b = lo / bs; b * bs < hi; b++) {
		covered = ddio_map_covered(map, b * bs, (b + 1) * bs);
		if (!covered)
			continue;
		if (!(job->flags & DDIO_COLL_WRITE)) {
			e.reads += block_written(job->g->w, job->f, b);
			continue;
		}
		e.writes++;
		e.reads += covered < bs && block_written(job->g->w, job->f, b);
	}
	ddio_map_free(map);
	return e;
}

static void run_case(struct w_job *job)
{
	struct world *w = job->g->w;
	struct expect e = expect_of(job);
	struct w_totals before = w_totals(w), after;
	uint64_t op = w_start(job);

	CU_ASSERT_EQUAL(w_wait(job->g, op, 60 * SEC), DDIO_ST_OK);
	after = w_totals(w);
	CU_ASSERT_EQUAL(after.reads - before.reads, e.reads);
	CU_ASSERT_EQUAL(after.writes - before.writes, e.writes);
	if (job->flags & DDIO_COLL_WRITE) {
		w_apply(job, job->g->map[op % W_OPS]);
		CU_ASSERT_EQUAL(w_file_wrong(w, job->f, job->f->rec.size), 0);
	} else {
		CU_ASSERT_EQUAL(w_read_wrong(job->g, op, job->f), 0);
	}
}

static uint32_t random_flags(struct world *w)
{
	static const uint32_t one[] = { DDIO_COLL_SORT, DDIO_COLL_ROTATE, DDIO_COLL_SYNC,
					DDIO_COLL_NO_BATCH };
	uint32_t flags = 0, i;

	for (i = 0; i < 4; i++)
		flags |= w_random(w) % 2 ? one[i] : 0;
	return flags;
}

static void random_world(uint64_t seed)
{
	struct w_params p = { .seed = seed,
			      .ndisks = 1 + seed % 4,
			      .options = seed % 3 ? NULL : "delay_us=300" };
	struct world *w;
	struct w_group *g;
	struct random_parts *rp = calloc(1, sizeof(*rp));
	uint32_t i, n = 1 + seed % 7;

	p.nreactors = p.ndisks % 2 ? 1 : 1 + seed % 2;
	w = w_new(&p);
	g = w_group_new(w, n);
	for (i = 0; i < 12; i++) {
		struct w_file f;
		struct ddio_array a;
		struct w_job job = { .g = g, .f = &f, .seed = i };

		w_file_init(w, &f, i + 1, 512u << between(w, 0, 3), w_random(w) % 2);
		random_fill(w, &f, 30000);
		job.file_size = W_FILE_MAX;
		job.flags = random_flags(w);
		job.buffers = between(w, 0, 4);
		if (i % 2) {
			random_array(w, &a, n);
			job.array = &a;
		} else {
			random_lists(w, rp, n, false);
			job.parts = rp->part;
		}
		run_case(&job);
		job.flags |= DDIO_COLL_WRITE;
		run_case(&job);
		job.flags &= ~DDIO_COLL_WRITE;
		run_case(&job);
		if (!job.array) {
			random_lists(w, rp, n, true);
			run_case(&job);
		}
		w_file_free(&f);
	}
	w_free(w);
	free(rp);
}

static void test_random(void)
{
	uint64_t seed;

	printf("\n  seeds 1 to 40 ");
	for (seed = 1; seed <= 40; seed++)
		random_world(seed);
}

/* Every member wants all of every other element: more than the message buffer takes at once. */
static void test_rounds(void)
{
	struct w_params p = { .seed = 2 };
	struct world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 8);
	struct ddio_strided s = { .offset = 0, .len = 8, .nlevels = 1, .level = { { 1000, 16 } } };
	struct ddio_part part[8];
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .parts = part };
	uint32_t i;

	for (i = 0; i < 8; i++)
		part[i] = (struct ddio_part){ .kind = DDIO_PART_STRIDED, .n = 1, .strided = &s };
	w_file_init(w, &f, 1, 1024, DDIO_LAYOUT_CONTIGUOUS_W);
	random_fill(w, &f, 16000);
	run_case(&job);
	CU_ASSERT(w->max_memory <= 2 * 2 * 2 * 1024);
	w_file_free(&f);
	w_free(w);
}

/*
 * The cache
 */
struct c_io {
	struct ddio_cache_io io;
	bool over;
	int status;
};

static void c_done(struct ddio_cache_io *io, int status)
{
	struct c_io *c = io->arg;

	c->over = true;
	c->status = status;
	ddio_object_put(io->obj);
}

static bool c_over(void *arg)
{
	return ((struct c_io *)arg)->over;
}

/* One request of the traditional path, within a block; not waited for. */
static void tc_begin(struct world *w, struct w_file *f, struct c_io *c, uint64_t off, void *buf,
		     uint64_t len, bool write)
{
	uint64_t bs = f->rec.ref.block, b = off / bs;
	struct ddio_iop_disk *d = &w->disk[f->disks[b % f->rec.ndisks]];

	memset(c, 0, sizeof(*c));
	CU_ASSERT_EQUAL_FATAL(ddio_store_get(d->store, &f->rec.ref, true, &c->io.obj), 0);
	c->io.offset = b / f->rec.ndisks * bs + off % bs;
	c->io.len = len;
	c->io.buf = buf;
	c->io.done = c_done;
	c->io.arg = c;
	if (write)
		ddio_cache_write(d->cache, &c->io);
	else
		ddio_cache_read(d->cache, &c->io);
}

static void tc(struct world *w, struct w_file *f, uint64_t off, void *buf, uint64_t len, bool write)
{
	struct c_io c;

	tc_begin(w, f, &c, off, buf, len, write);
	CU_ASSERT(w_until(w, c_over, &c, 60 * SEC));
	CU_ASSERT_EQUAL(c.status, 0);
	if (write)
		memcpy(f->image + off, buf, len);
}

static uint64_t dirty_blocks(struct world *w)
{
	struct ddio_cache_stats st;
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < w->p.ndisks; i++) {
		ddio_cache_stats(w->disk[i].cache, &st);
		n += st.dirty;
	}
	return n;
}

static void flush_done(struct ddio_cache_flush *flush, int status)
{
	CU_ASSERT_EQUAL(status, 0);
	*(bool *)flush->arg = true;
}

static bool flag_set(void *arg)
{
	return *(bool *)arg;
}

static void flush_all(struct world *w)
{
	uint32_t i;

	for (i = 0; i < w->p.ndisks; i++) {
		bool over = false;
		struct ddio_cache_flush flush = { .done = flush_done, .arg = &over };

		ddio_cache_flush(w->disk[i].cache, &flush);
		CU_ASSERT(w_until(w, flag_set, &over, 60 * SEC));
	}
}

struct dirty {
	struct world *w;
	struct w_group *g;
	struct w_file f;
	struct ddio_array a;
	struct w_job job;
};

/* Sixteen blocks of 1024 bytes; a few have dirty bytes in the cache. */
static void dirty_new(struct dirty *d, uint64_t seed)
{
	struct w_params p = { .seed = seed, .options = "delay_us=200" };
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
	CU_ASSERT_EQUAL(dirty_blocks(d->w), 3);
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
	CU_ASSERT_EQUAL(dirty_blocks(d.w), 3);
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
	CU_ASSERT_EQUAL(dirty_blocks(d.w), 0);
	before = w_totals(d.w);
	flush_all(d.w);
	CU_ASSERT_EQUAL(w_totals(d.w).writes, before.writes);
	CU_ASSERT_EQUAL(w_file_wrong(d.w, &d.f, 16384), 0);
	tc(d.w, &d.f, 7 * 1024 + 900, buf, 100, false);
	CU_ASSERT_EQUAL(memcmp(buf, d.f.image + 7 * 1024 + 900, 100), 0);
	dirty_free(&d);
}

/* Partly covered: the rest of the block is what the cache had. */
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
	CU_ASSERT_EQUAL(dirty_blocks(d.w), 0);
	CU_ASSERT_EQUAL(w_file_wrong(d.w, &d.f, 16384), 0);
	tc(d.w, &d.f, 0, buf, 1024, false);
	CU_ASSERT_EQUAL(memcmp(buf, d.f.image, 1024), 0);
	dirty_free(&d);
}

/*
 * At once
 */
enum { LANES = 3 };

/* Three writers of every third element, at once: two collectives and the traditional path. */
static void interleave(uint64_t seed)
{
	struct w_params p = { .seed = seed, .options = seed % 2 ? "delay_us=150" : NULL };
	struct ddio_double_net net;
	struct world *w = w_new(&p);
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
		ddio_double_net_default(&net);
		net.jitter_ns = 300000;
		ddio_double_net(g[i]->m[1].env, &net);
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
	struct world *w = w_new(&p);
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

static const struct ut_case random_cases[] = {
	{ "random arrays and lists over blocks, places and holes", test_random },
	{ "more for the members than a message buffer takes", test_rounds },
	{ NULL, NULL },
};

static const struct ut_case cache_cases[] = {
	{ "dirty blocks are read from the cache", test_dirty_is_read },
	{ "dirty blocks are overwritten and forgotten", test_dirty_is_overwritten },
	{ "dirty blocks are what a partial write keeps", test_dirty_is_merged },
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
		{ "random", random_cases },
		{ "cache", cache_cases },
		{ "at once", once_cases },
	};

	return ut_run("test_coll_random", suites, sizeof(suites) / sizeof(suites[0]));
}
