// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast emulated HP 97560 disks are read through the caches, in virtual time: one reader of a
 * file that is striped over sixteen, several readers, strides; and how deep is read ahead.
 */
#include "iop/cache/cache.h"
#include "tests/unit/iop/store/ut_store.h"

#define BS 8192u
#define DISKS 16
#define CACHE (2u << 20) /* of each disk */
#define PIECES 64
#define US 1000u

/**
 * struct ahead_rig - a file striped over disks, each with a store and a cache of its own
 */
struct ahead_rig {
	struct ddio_sim *world;
	struct ddio_env *env;
	struct ut_store t[DISKS];
	struct cache *cache[DISKS];
	struct object *obj[DISKS];
	uint32_t ndisks;
	uint64_t blocks; /* of the file */
};

struct ahead_reader;

struct ahead_part {
	struct cache_io io;
	struct ahead_reader *reader;
};

/**
 * struct ahead_reader - reads @len bytes each @stride from @at on until @end, one request at a time
 * @think: time between a reply and the next request
 * @busy: parts of the request under way
 */
struct ahead_reader {
	struct ahead_rig *rig;
	uint64_t stream, at, end, len, stride, think;
	struct ddio_timer timer;
	uint32_t busy;
	struct ahead_part part[PIECES];
	uint8_t *buf;
	uint64_t done_ns, bytes;
	bool over;
};

static void rig_begin(struct ahead_rig *r, uint32_t ndisks, uint64_t blocks)
{
	struct cache_opts opts = { .bytes = CACHE, .depth = 1 };
	uint64_t share = blocks / ndisks;
	uint32_t i;

	memset(r, 0, sizeof(*r));
	r->ndisks = ndisks;
	r->blocks = blocks;
	for (i = 0; i < ndisks; i++) {
		struct ut_store *t = &r->t[i];

		ut_store_prepare(t, 0);
		if (i) {
			ddio_sim_free(t->world);
			t->world = r->world;
			t->env = r->env;
		}
		r->world = t->world;
		r->env = t->env;
		t->spec = (struct ddio_disk_spec){ .name = "d0", .engine = "hp97560" };
		CU_ASSERT_EQUAL_FATAL(ut_store_open(t), 0);
		r->obj[i] = ut_object(t, 1, BS, 0, true);
		CU_ASSERT_EQUAL_FATAL(ut_fill(r->obj[i], 0, share), 0);
		CU_ASSERT_EQUAL_FATAL(cache_new(r->env, t->store, &opts, &r->cache[i]), 0);
	}
}

static void rig_end(struct ahead_rig *r)
{
	uint32_t i;

	ddio_sim_run_for(r->world, 10000000000ull);
	for (i = 0; i < r->ndisks; i++) {
		cache_free(r->cache[i]);
		object_put(r->obj[i]);
		ut_store_close(&r->t[i]);
		ut_remove_tree(r->t[i].top);
	}
	ddio_sim_free(r->world);
}

static void reader_pause(struct ahead_reader *rd);

static void part_done(struct cache_io *io, int status)
{
	struct ahead_reader *rd = ((struct ahead_part *)io->arg)->reader;

	CU_ASSERT_EQUAL(status, 0);
	rd->bytes += io->len;
	if (!--rd->busy)
		reader_pause(rd);
}

/* What lies on one disk is one request there, as a client makes it. */
static void reader_ask(struct ahead_reader *rd)
{
	struct ahead_rig *r = rd->rig;
	uint64_t first = rd->at / BS, n = rd->len / BS, i;
	uint64_t per = (n + r->ndisks - 1) / r->ndisks;
	uint8_t *buf = rd->buf;

	rd->busy = 1;
	for (i = 0; i < n && i < r->ndisks; i++) {
		struct ahead_part *p = &rd->part[i];
		uint64_t block = first + i, disk = block % r->ndisks;

		memset(p, 0, sizeof(*p));
		p->reader = rd;
		p->io.obj = r->obj[disk];
		p->io.offset = block / r->ndisks * BS;
		p->io.len = per * BS;
		p->io.buf = buf;
		p->io.prefetch = true;
		p->io.reader = rd->stream;
		p->io.done = part_done;
		p->io.arg = p;
		buf += p->io.len;
		rd->busy++;
		cache_read(r->cache[disk], &p->io);
	}
	rd->at += rd->stride;
	if (!--rd->busy)
		reader_pause(rd);
}

static void reader_next(void *arg)
{
	struct ahead_reader *rd = arg;

	if (rd->at < rd->end) {
		reader_ask(rd);
		return;
	}
	rd->over = true;
	rd->done_ns = ddio_env_now(rd->rig->env);
}

static void reader_pause(struct ahead_reader *rd)
{
	struct ddio_env *env = rd->rig->env;

	rd->timer.fn = reader_next;
	rd->timer.arg = rd;
	CU_ASSERT_EQUAL(ddio_timer_arm(env, &rd->timer, ddio_env_now(env) + rd->think), 0);
}

static void reader_begin(struct ahead_reader *rd, struct ahead_rig *r, uint64_t stream, uint64_t at,
			 uint64_t end, uint64_t len, uint64_t stride, uint64_t think)
{
	memset(rd, 0, sizeof(*rd));
	rd->rig = r;
	rd->stream = stream;
	rd->at = at;
	rd->end = end;
	rd->len = len;
	rd->stride = stride;
	rd->think = think;
	rd->buf = malloc(len + DISKS * BS);
	reader_next(rd);
}

/* Part of the disks' sustained rate that readers together reach. */
static double rate(struct ahead_rig *r, struct ahead_reader *rd, uint32_t n, uint64_t began)
{
	double peak = (double)ddio_disk_info(r->t[0].disk)->peak * r->ndisks;
	uint64_t last = 0, bytes = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t tries;

		for (tries = 0; tries < 6000 && !rd[i].over; tries++)
			ddio_sim_run_for(r->world, 100000000);
		CU_ASSERT_TRUE(rd[i].over);
		last = rd[i].done_ns > last ? rd[i].done_ns : last;
		bytes += rd[i].bytes;
		free(rd[i].buf);
	}
	return (double)bytes * 1e9 / (double)(last - began) / peak;
}

static struct cache_stats stats(const struct ahead_rig *r)
{
	struct cache_stats all = { 0 }, one;
	uint32_t i;

	for (i = 0; i < r->ndisks; i++) {
		cache_stats(r->cache[i], &one);
		all.prefetches += one.prefetches;
		all.prefetch_used += one.prefetch_used;
		all.prefetch_wasted += one.prefetch_wasted;
		all.depth = one.depth > all.depth ? one.depth : all.depth;
	}
	return all;
}

static void say(const struct ahead_rig *r, const char *what, double part)
{
	struct cache_stats st = stats(r);

	printf("%-44s %5.1f %% of the disks' rate, depth %2llu, read ahead %llu, used %llu, wasted "
	       "%llu\n",
	       what, part * 100, (unsigned long long)st.depth, (unsigned long long)st.prefetches,
	       (unsigned long long)st.prefetch_used, (unsigned long long)st.prefetch_wasted);
}

static double one_reader(uint64_t stream, uint64_t len, const char *what)
{
	uint64_t blocks = DISKS * 1024, began;
	static struct ahead_reader rd;
	struct ahead_rig r;
	double part;

	rig_begin(&r, DISKS, blocks);
	began = ddio_env_now(r.env);
	reader_begin(&rd, &r, stream, 0, blocks * BS, len, len, 50 * US);
	part = rate(&r, &rd, 1, began);
	say(&r, what, part);
	CU_ASSERT_EQUAL(rd.bytes, blocks * BS);
	CU_ASSERT(stream == 0 || stats(&r).depth >= 32);
	CU_ASSERT_EQUAL(stats(&r).prefetch_wasted, 0);
	rig_end(&r);
	return part;
}

static void test_one_reader(void)
{
	CU_ASSERT(one_reader(7, 1 << 20, "one reader, requests of 1 MB") > 0.95);
	CU_ASSERT(one_reader(7, 128 << 10, "one reader, requests of 128 KB") > 0.95);
	CU_ASSERT(one_reader(7, 8 << 10, "one reader, requests of 8 KB") > 0.9);
	one_reader(0, 1 << 20, "1 MB, one block ahead as in the papers");
}

/* Part of one disk's rate of readers of the same open file, each of a part of it of its own. */
static double some_readers(uint64_t stream, uint32_t n, uint64_t stride, uint64_t think,
			   const char *what, double *fair)
{
	uint64_t blocks = 4096, began, i, part = blocks / n * BS;
	static struct ahead_reader rd[4];
	struct ahead_rig r;
	double sum;

	rig_begin(&r, 1, blocks);
	began = ddio_env_now(r.env);
	for (i = 0; i < n; i++)
		reader_begin(&rd[i], &r, stream, i * part + BS, (i + 1) * part, BS, stride * BS,
			     think);
	sum = rate(&r, rd, n, began);
	say(&r, what, sum);
	*fair = 1;
	for (i = 0; i < n; i++) {
		double ended =
			(double)(rd[i].done_ns - began) / (double)(rd[n - 1].done_ns - began);

		*fair = ended < *fair ? ended : *fair;
	}
	rig_end(&r);
	return sum;
}

/* The arm seldom moves, and yet serves every reader in turn. */
static void test_readers_of_one_disk(void)
{
	double fair, unfair;
	double part = some_readers(5, 4, 1, 500 * US, "one disk, four readers of one file", &fair);

	some_readers(0, 4, 1, 500 * US, "the same, one block ahead", &unfair);
	printf("the first of them ends at %.2f of the last one's time; one block ahead %.2f\n",
	       fair, unfair);
	CU_ASSERT(part > 0.8);
	CU_ASSERT(fair > 0.8);
}

/* Blocks far apart: the arm is there before the reader. */
static void test_strided(void)
{
	double fair;
	double ahead =
		some_readers(5, 1, 20, 15000 * US, "one disk, a block of 20, slow reader", &fair);
	double papers = some_readers(0, 1, 20, 15000 * US, "the same, one block ahead", &fair);
	double both = some_readers(5, 2, 20, 15000 * US, "the same, two of them", &fair);

	CU_ASSERT(ahead > papers * 1.4);
	CU_ASSERT(both > papers * 1.4);
}

static const struct ut_case cases[] = {
	{ "one reader of sixteen disks", test_one_reader },
	{ "several readers of one disk", test_readers_of_one_disk },
	{ "strided", test_strided },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "read ahead", cases } };

	return ut_run("cache_ahead", suites, 1);
}
