// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collective executor with random distributions, irregular parts, partial blocks and holes.
 */
#include "tests/unit/iop/coll/coll_op.h"

static uint64_t between(struct coll_world *w, uint64_t lo, uint64_t hi)
{
	return lo + w_random(w) % (hi - lo + 1);
}

/*
 * Random descriptions
 */
static void random_dim(struct coll_world *w, struct ddio_dim *dim, uint32_t *procs_left)
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

static void random_array(struct coll_world *w, struct ddio_array *a, uint32_t nprocs)
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

static void parts_shuffle(struct coll_world *w, struct ddio_extent *list, uint64_t n)
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
static void random_lists(struct coll_world *w, struct random_parts *rp, uint32_t n, bool shared)
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
static void random_fill(struct coll_world *w, struct w_file *f, uint64_t size)
{
	uint64_t b, i, bs = f->rec.ref.block;
	struct object *obj;

	for (b = 0; b * bs < size; b++) {
		uint32_t how = w_random(w) % 4;

		if (how >= 2) {
			for (i = 0; i < bs; i++)
				f->image[b * bs + i] = w_byte(77, b * bs + i);
			w_block_write(w, f, b);
		} else if (how == 1) {
			store_get(w_file_store(w, f, b), &f->rec.ref, true, &obj);
			object_alloc(obj, b / f->rec.ndisks, 1);
			object_put(obj);
		}
	}
	f->rec.size = size;
}

static bool block_written(struct coll_world *w, const struct w_file *f, uint64_t b)
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
	struct coll_world *w = job->g->w;
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

static uint32_t random_flags(struct coll_world *w)
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
			      .doubts = seed % 2,
			      .options = seed % 3 ? NULL : "delay_us=300" };
	struct coll_world *w;
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
		job.file_size = 1 << 20;
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
	for (seed = 1; seed <= ut_rounds(40); seed++)
		random_world(seed);
}

/* Every member wants all of every other element: more than the message buffer takes at once. */
static void test_rounds(void)
{
	struct w_params p = { .seed = 2 };
	struct coll_world *w = w_new(&p);
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
	CU_ASSERT(w_shares || w->max_memory <= 2 * 2 * 2 * 1024);
	w_file_free(&f);
	w_free(w);
}

/* Large pieces that go straight and small ones that do not, in every block. */
static void mixed(uint64_t seed)
{
	enum { BIG = 128 << 10, LARGE = 70 << 10, NBIG = 6 };
	struct w_params p = { .seed = seed,
			      .ndisks = 1 + seed % 2,
			      .doubts = seed % 4 < 2,
			      .options = seed % 3 ? "delay_us=700" : NULL };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 3);
	struct ddio_extent large[NBIG], *small = calloc(NBIG * 200, sizeof(*small));
	struct ddio_part part[3] = { { .kind = DDIO_PART_LIST, .n = NBIG, .list = large },
				     { .kind = DDIO_PART_LIST },
				     { .kind = DDIO_PART_LIST, .list = small } };
	struct ddio_sim_link net;
	struct w_file f;
	struct w_job job = { .g = g, .f = &f, .parts = part, .seed = 3 };
	uint64_t b, at, len, gap;

	for (b = 0; b < NBIG; b++) {
		large[b] = (struct ddio_extent){ b * BIG, LARGE };
		/* With gaps, old bytes are read, and the next block may be done before this one. */
		gap = w_random(w) % 2;
		for (at = LARGE; at < BIG; at += len + gap) {
			len = between(w, 1, 3000);
			len = len < BIG - at ? len : BIG - at;
			small[part[2].n++] = (struct ddio_extent){ b * BIG + at, len };
		}
	}
	ddio_sim_link_default(&net);
	net.jitter_ns = 400000;
	ddio_sim_set_link(g->m[2].env, &net);
	w_file_init(w, &f, 1, BIG, DDIO_LAYOUT_CONTIGUOUS_W);
	random_fill(w, &f, NBIG * BIG);
	job.flags = DDIO_COLL_WRITE;
	run_case(&job);
	job.flags = DDIO_COLL_WRITE | DDIO_COLL_SORT;
	job.seed = 4;
	run_case(&job);
	job.flags = 0;
	run_case(&job);
	w_file_free(&f);
	w_free(w);
	free(small);
}

static void test_mixed(void)
{
	uint64_t seed;

	printf("\n  seeds 1 to 30 ");
	for (seed = 1; seed <= ut_rounds(30); seed++)
		mixed(seed);
}

static const struct ut_case random_cases[] = {
	{ "random arrays and lists over blocks, places and holes", test_random },
	{ "large and small pieces in a block", test_mixed },
	{ "more for the members than a message buffer takes", test_rounds },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "random", random_cases },
	};

	return w_ut_run_shared("test_coll_random", suites, sizeof(suites) / sizeof(suites[0]));
}
