// SPDX-License-Identifier: GPL-2.0-only
/* Reading ahead of streams: what makes a run, how far is read ahead of it, and what is not. */
#include "tests/unit/iop/cache/cache_world.h"
#include "tests/unit/lib/ut.h"

#define BS 4096u
#define BLOCKS 400

static uint8_t buf[64 * BS];

static struct cache_stats stats(const struct cache_world *w)
{
	struct cache_stats st;

	cache_stats(w->cache, &st);
	return st;
}

static struct cache_world *begin(uint64_t cache, struct object **obj)
{
	const struct cache_opts opts = { .bytes = cache, .depth = 1 };
	struct cache_world *w = world_new(&opts);

	*obj = world_object(1, BS);
	world_fill(w, *obj, BLOCKS);
	return w;
}

static void end(struct cache_world *w, struct object *obj)
{
	world_free(w);
	CU_ASSERT_EQUAL(world_obj(obj)->refs, 1);
	free(obj);
}

/* To the end, with all that is read ahead; the bytes must be right.  Return: was it a hit? */
static bool ask(struct cache_world *w, struct object *obj, uint64_t stream, uint64_t offset,
		uint64_t len)
{
	struct world_io x;
	uint64_t i, wrong = 0;

	world_io_set(&x, obj, offset, buf, len);
	x.io.prefetch = true;
	x.io.reader = stream;
	cache_read(w->cache, &x.io);
	world_run(w);
	CU_ASSERT_EQUAL(x.status, 0);
	for (i = 0; i < len; i++)
		wrong += buf[i] != (uint8_t)((offset + i) / BS + 1);
	CU_ASSERT_EQUAL(wrong, 0);
	return x.io.hit;
}

static bool ask_block(struct cache_world *w, struct object *obj, uint64_t stream, uint64_t block)
{
	return ask(w, obj, stream, block * BS, BS);
}

static void sequential(void)
{
	struct object *obj;
	struct cache_world *w = begin(1 << 20, &obj);
	uint64_t b, hits = 0, most = 0;

	for (b = 0; b < BLOCKS; b++) {
		hits += ask_block(w, obj, 9, b);
		most = stats(w).depth > most ? stats(w).depth : most;
		if (b == 0)
			CU_ASSERT_EQUAL(stats(w).prefetches, 0);
		if (b == 1)
			CU_ASSERT_EQUAL(stats(w).prefetches, 2);
	}
	CU_ASSERT_EQUAL(hits, BLOCKS - 2);
	CU_ASSERT_EQUAL(stats(w).prefetches, BLOCKS - 2);
	CU_ASSERT_EQUAL(stats(w).prefetch_used, BLOCKS - 2);
	CU_ASSERT_EQUAL(stats(w).prefetch_wasted, 0);
	CU_ASSERT_EQUAL(stats(w).runs, 1);
	/* Half of the cache. */
	CU_ASSERT_EQUAL(most, 128);
	CU_ASSERT_EQUAL(w->nlog, BLOCKS);
	end(w, obj);
}

/* From the middle four requests are needed; requests of parts of blocks and of several are the same. */
static void sequential_pieces(void)
{
	struct object *obj;
	struct cache_world *w = begin(1 << 20, &obj);
	uint64_t at, len, hits = 0, n = 0;

	ask(w, obj, 9, 50 * BS + 100, 1000);
	ask(w, obj, 9, 50 * BS + 1100, 5000);
	CU_ASSERT_EQUAL(stats(w).prefetches, 0);
	for (at = 50 * BS + 6100; at < (BLOCKS - 8) * BS; at += len) {
		len = 1000 * (1 + n++ % 7);
		hits += ask(w, obj, 9, at, len);
	}
	CU_ASSERT(hits >= n - 3);
	CU_ASSERT(stats(w).prefetch_used > 300);
	CU_ASSERT_EQUAL(stats(w).prefetch_wasted, 0);
	end(w, obj);
}

static void random_reads_nothing_ahead(void)
{
	struct object *obj;
	struct cache_world *w = begin(64 * BS, &obj);
	uint64_t rand = 3, i;

	for (i = 0; i < 3000; i++) {
		rand = rand * 6364136223846793005ull + 1442695040888963407ull;
		ask_block(w, obj, 9, 1 + (rand >> 33) % (BLOCKS - 1));
	}
	CU_ASSERT(stats(w).misses > 2000);
	/* Four in a row, or five at one distance, hardly happen. */
	CU_ASSERT(stats(w).prefetches < 30);
	end(w, obj);
}

/* Two reads that continue each other are followed by many that do not. */
static void unproven_runs_are_forgotten(void)
{
	struct object *obj;
	struct cache_world *w = begin(64 * BS, &obj);
	uint64_t i;

	ask_block(w, obj, 9, 10);
	ask_block(w, obj, 9, 11);
	for (i = 0; i < 40; i++)
		ask_block(w, obj, 9, 20 + i * i % 367);
	i = stats(w).prefetches;
	ask_block(w, obj, 9, 12);
	CU_ASSERT_EQUAL(stats(w).prefetches, i);
	end(w, obj);
}

static void runs_side_by_side(void)
{
	struct object *obj;
	struct cache_world *w = begin(1 << 20, &obj);
	uint64_t b, hits = 0;

	/* Two of one stream, one of another, one backwards in large steps. */
	for (b = 0; b < 90; b++) {
		hits += ask_block(w, obj, 9, 10 + b);
		hits += ask_block(w, obj, 9, 110 + b);
		hits += ask_block(w, obj, 8, 210 + b);
		if (b < 30)
			hits += ask_block(w, obj, 7, 390 - 3 * b);
	}
	/* Four requests, or five, prove a run; and a few blocks that one reads ahead another finds gone. */
	CU_ASSERT(hits >= 300 - 3 * 4 - 5 - 3);
	CU_ASSERT_EQUAL(stats(w).runs, 4);
	CU_ASSERT(stats(w).prefetch_wasted < 10);
	end(w, obj);
}

static void strided(void)
{
	struct object *obj;
	struct cache_world *w = begin(1 << 20, &obj);
	uint64_t k, hits = 0;

	for (k = 0; k < 40; k++)
		hits += ask(w, obj, 9, (3 + 9 * k) * BS + 10, 2 * BS);
	/* Three make it, two more prove it; each touches three blocks; and behind the last one. */
	CU_ASSERT_EQUAL(hits, 35);
	CU_ASSERT_EQUAL(stats(w).prefetch_used, 35 * 3);
	CU_ASSERT(stats(w).prefetches <= 35 * 3 + 5 * 3);
	CU_ASSERT_EQUAL(w->nlog, 5 * 3 + stats(w).prefetches);
	end(w, obj);
	w = begin(1 << 20, &obj);
	for (k = 0, hits = 0; k < 60; k++)
		hits += ask_block(w, obj, 9, 395 - 6 * k);
	CU_ASSERT_EQUAL(hits, 55);
	CU_ASSERT(stats(w).prefetches <= 55 + 6);
	end(w, obj);
}

/* Neighbours change places, as requests on several connections do. */
static void a_little_out_of_order(void)
{
	struct object *obj;
	struct cache_world *w = begin(1 << 20, &obj);
	uint64_t b, hits = 0;

	for (b = 0; b < 4; b++)
		ask_block(w, obj, 9, b);
	for (b = 4; b + 4 <= BLOCKS; b += 4) {
		hits += ask_block(w, obj, 9, b + 2);
		hits += ask_block(w, obj, 9, b);
		hits += ask_block(w, obj, 9, b + 3);
		hits += ask_block(w, obj, 9, b + 1);
	}
	CU_ASSERT(hits > BLOCKS - 10);
	CU_ASSERT_EQUAL(stats(w).runs, 1);
	CU_ASSERT_EQUAL(stats(w).prefetch_wasted, 0);
	CU_ASSERT_EQUAL(w->nlog, BLOCKS);
	end(w, obj);
}

/* What is read ahead and not used halves the depth. */
static void the_depth_shrinks(void)
{
	struct object *obj, *other = world_object(2, BS);
	struct cache_world *w = begin(32 * BS, &obj);
	uint64_t b, before;

	world_fill(w, other, 100);
	for (b = 0; b < 60; b++)
		ask_block(w, obj, 9, b);
	before = stats(w).depth;
	CU_ASSERT_EQUAL(before, 16);
	for (b = 0; b < 100; b++)
		ask_block(w, other, 0, 99 - b);
	CU_ASSERT(stats(w).prefetch_wasted > 0);
	CU_ASSERT(stats(w).depth < before);
	for (b = 60; b < 200; b++)
		ask_block(w, obj, 9, b);
	CU_ASSERT_EQUAL(stats(w).depth, 16);
	end(w, obj);
	free(other);
}

/* Whatever the cache, blocks that were read ahead fill half of it at most. */
static void bounded_by_the_cache(void)
{
	static const uint64_t sizes[] = { 1, 2, 3, 4, 7, 8, 31 };
	struct object *obj;
	uint64_t b, i, unused;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct cache_world *w = begin(sizes[i] * BS, &obj);

		for (b = 0; b < BLOCKS; b++) {
			ask_block(w, obj, 9, b);
			unused = stats(w).prefetches - stats(w).prefetch_used -
				 stats(w).prefetch_wasted;
			CU_ASSERT(unused <= sizes[i] / 2);
			CU_ASSERT(stats(w).blocks <= sizes[i]);
		}
		CU_ASSERT_EQUAL(stats(w).prefetch_wasted, 0);
		CU_ASSERT_EQUAL(w->nlog, BLOCKS);
		end(w, obj);
	}
}

/* Holes and what is cached are passed over, and the object's end is the end. */
static void passes_over_holes(void)
{
	struct object *obj;
	struct cache_world *w = begin(1 << 20, &obj);
	uint64_t b;

	for (b = 0; b < BLOCKS; b++)
		if (b % 3 == 2)
			world_obj(obj)->placed[b] = world_obj(obj)->written[b] = false;
	for (b = 0; b < BLOCKS; b++) {
		struct world_io x;

		world_io_set(&x, obj, b * BS, buf, BS);
		x.io.prefetch = true;
		x.io.reader = 4;
		cache_read(w->cache, &x.io);
		world_run(w);
		CU_ASSERT_EQUAL(buf[7], b % 3 == 2 ? 0 : (uint8_t)(b + 1));
	}
	CU_ASSERT_EQUAL(w->nlog, BLOCKS - BLOCKS / 3);
	CU_ASSERT_EQUAL(stats(w).prefetch_wasted, 0);
	CU_ASSERT(stats(w).prefetch_used > BLOCKS / 2);
	end(w, obj);
}

/* More runs than are remembered: the ones used last are. */
static void many_runs(void)
{
	struct object *obj;
	struct cache_world *w = begin(256 * BS, &obj);
	uint64_t b, s, hits = 0;

	for (s = 1; s <= 200; s++)
		for (b = 0; b < 4; b++)
			ask_block(w, obj, s, s + b);
	CU_ASSERT(stats(w).runs <= 64);
	for (b = 0; b < 50; b++)
		hits += ask_block(w, obj, 500, 300 + b);
	CU_ASSERT(hits >= 46);
	end(w, obj);
}

static const struct ut_case cases[] = {
	{ "sequential", sequential },
	{ "sequential, in pieces", sequential_pieces },
	{ "random reads nothing ahead", random_reads_nothing_ahead },
	{ "unproven runs are forgotten", unproven_runs_are_forgotten },
	{ "runs side by side", runs_side_by_side },
	{ "strided", strided },
	{ "a little out of order", a_little_out_of_order },
	{ "the depth shrinks", the_depth_shrinks },
	{ "bounded by the cache", bounded_by_the_cache },
	{ "passes over holes", passes_over_holes },
	{ "many runs", many_runs },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "read-ahead", cases } };

	return ut_run("cache_readahead", suites, 1);
}
