// SPDX-License-Identifier: GPL-2.0-only
/* What the block cache promises, one promise a test. */
#include "tests/unit/lib/ut.h"
#include "cache_world.h"
#include "iop/cache/priv.h"

#define BS 4096u

static struct cache_stats stats(struct cache_world *w)
{
	struct cache_stats s;

	cache_stats(w->cache, &s);
	return s;
}

static struct cache_world *world_blocks(uint32_t blocks)
{
	struct cache_opts opts = { .bytes = blocks * BS, .depth = 1 };

	return world_new(&opts);
}

static bool all(const uint8_t *buf, size_t len, uint8_t byte)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != byte)
			return false;
	return true;
}

static void read_misses_then_hits(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_io x;
	uint8_t buf[100];

	world_fill(w, obj, 4);
	world_read_start(w, &x, obj, BS + 10, buf, sizeof(buf));
	CU_ASSERT_EQUAL(x.status, 1);
	world_run(w);
	CU_ASSERT_EQUAL(x.status, 0);
	CU_ASSERT_EQUAL(x.io.hit, 0);
	CU_ASSERT_EQUAL(x.io.disk_reqs, 1);
	CU_ASSERT(all(buf, sizeof(buf), 2));
	/* Now from memory, and from inside the call. */
	world_read_start(w, &x, obj, BS + 200, buf, sizeof(buf));
	CU_ASSERT_EQUAL(x.status, 0);
	CU_ASSERT_EQUAL(x.io.hit, 1);
	CU_ASSERT_EQUAL(x.io.disk_reqs, 0);
	CU_ASSERT(all(buf, sizeof(buf), 2));
	CU_ASSERT_EQUAL(stats(w).hits, 1);
	CU_ASSERT_EQUAL(stats(w).misses, 1);
	CU_ASSERT_EQUAL(w->nlog, 1);
	CU_ASSERT_EQUAL(w->log[0].offset, world_obj(obj)->start[1]);
	CU_ASSERT_EQUAL(w->log[0].len, BS);
	CU_ASSERT_EQUAL(w->charged[DDIO_WORK_CACHE], 2);
	CU_ASSERT_EQUAL(w->charged[DDIO_WORK_COPY], 200);
	CU_ASSERT_EQUAL(w->charged[DDIO_WORK_DISK], 1);
	CU_ASSERT_EQUAL(w->charged[DDIO_WORK_SWITCH], 1);
	world_free(w);
	free(obj);
}

static void readers_join_one_disk_request(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_io x[5];
	uint8_t buf[5][64];
	int i;

	world_fill(w, obj, 2);
	for (i = 0; i < 5; i++)
		world_read_start(w, &x[i], obj, i * 64, buf[i], 64);
	world_run(w);
	for (i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(x[i].status, 0);
		CU_ASSERT(all(buf[i], 64, 1));
	}
	CU_ASSERT_EQUAL(w->nlog, 1);
	CU_ASSERT_EQUAL(stats(w).misses, 1);
	CU_ASSERT_EQUAL(stats(w).hits, 4);
	world_free(w);
	free(obj);
}

static void least_recently_used_goes_first(void)
{
	struct cache_world *w = world_blocks(3);
	struct object *obj = world_object(1, BS);
	uint8_t buf[8];

	world_fill(w, obj, 8);
	world_read(w, obj, 0 * BS, buf, 8);
	world_read(w, obj, 1 * BS, buf, 8);
	world_read(w, obj, 2 * BS, buf, 8);
	world_read(w, obj, 0 * BS, buf, 8); /* 0 is young again */
	world_read(w, obj, 3 * BS, buf, 8); /* 1 goes */
	CU_ASSERT_EQUAL(w->nlog, 4);
	world_read(w, obj, 0 * BS, buf, 8);
	world_read(w, obj, 2 * BS, buf, 8);
	world_read(w, obj, 3 * BS, buf, 8);
	CU_ASSERT_EQUAL(w->nlog, 4);
	world_read(w, obj, 1 * BS, buf, 8);
	CU_ASSERT_EQUAL(w->nlog, 5);
	CU_ASSERT_EQUAL(stats(w).blocks, 3);
	world_free(w);
	free(obj);
}

static void prefetches_one_block_ahead(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_io x;
	uint8_t buf[8];
	int i;

	world_fill(w, obj, 4);
	for (i = 0; i < 4; i++) {
		world_io_set(&x, obj, i * BS, buf, 8);
		x.io.prefetch = true;
		cache_read(w->cache, &x.io);
		world_run(w);
		CU_ASSERT_EQUAL(x.status, 0);
		CU_ASSERT_EQUAL(x.io.hit, i > 0);
		CU_ASSERT(all(buf, 8, i + 1));
	}
	/* Not beyond the end: 4 blocks, 4 requests. */
	CU_ASSERT_EQUAL(w->nlog, 4);
	CU_ASSERT_EQUAL(stats(w).prefetches, 3);
	CU_ASSERT_EQUAL(stats(w).prefetch_used, 3);
	CU_ASSERT_EQUAL(stats(w).prefetch_wasted, 0);
	world_free(w);
	free(obj);
}

/* Returns how many requests a read of a block that is not there makes before it has ended. */
static uint64_t requests_at_once(bool late)
{
	struct cache_world *w =
		world_new(&(struct cache_opts){ .bytes = 8 * BS, .depth = 1, .late_ahead = late });
	struct object *obj = world_object(1, BS);
	struct world_io x;
	uint8_t buf[8];
	uint64_t n;

	world_fill(w, obj, 4);
	world_io_set(&x, obj, 0, buf, 8);
	x.io.prefetch = true;
	cache_read(w->cache, &x.io);
	n = x.io.disk_reqs;
	world_run(w);
	CU_ASSERT_EQUAL(x.status, 0);
	CU_ASSERT_EQUAL(w->nlog, 2);
	CU_ASSERT_EQUAL(stats(w).prefetches, 1);
	world_free(w);
	free(obj);
	return n;
}

static void reads_ahead_along_or_afterwards(void)
{
	CU_ASSERT_EQUAL(requests_at_once(false), 2);
	CU_ASSERT_EQUAL(requests_at_once(true), 1);
}

static void prefetch_behind_the_demand_and_not_into_holes(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_io x;
	uint8_t buf[8];

	world_fill(w, obj, 4);
	world_obj(obj)->written[1] = false;
	world_io_set(&x, obj, 0, buf, 8);
	x.io.prefetch = true;
	cache_read(w->cache, &x.io);
	world_run(w);
	CU_ASSERT_EQUAL(w->nlog, 1);
	CU_ASSERT_EQUAL(stats(w).prefetches, 0);
	world_io_set(&x, obj, 2 * BS, buf, 8);
	x.io.prefetch = true;
	cache_read(w->cache, &x.io);
	CU_ASSERT_EQUAL(x.io.disk_reqs, 2);
	world_run(w);
	CU_ASSERT_EQUAL(w->log[1].offset, world_obj(obj)->start[2]);
	CU_ASSERT_EQUAL(w->log[2].offset, world_obj(obj)->start[3]);
	world_free(w);
	free(obj);
}

static void unused_prefetches_are_counted_as_wasted(void)
{
	struct cache_world *w = world_blocks(2);
	struct object *obj = world_object(1, BS);
	struct world_io x;
	uint8_t buf[8];

	world_fill(w, obj, 8);
	world_io_set(&x, obj, 0, buf, 8);
	x.io.prefetch = true;
	cache_read(w->cache, &x.io);
	world_run(w);
	world_read(w, obj, 5 * BS, buf, 8);
	world_read(w, obj, 6 * BS, buf, 8);
	CU_ASSERT_EQUAL(stats(w).prefetches, 1);
	CU_ASSERT_EQUAL(stats(w).prefetch_used, 0);
	CU_ASSERT_EQUAL(stats(w).prefetch_wasted, 1);
	world_free(w);
	free(obj);
}

static void a_full_block_is_written_back_at_once(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	uint8_t buf[BS];
	uint32_t i;

	memset(buf, 7, sizeof(buf));
	/* In the order of 8 writers of every eighth byte group. */
	for (i = 0; i < BS / 64; i++) {
		CU_ASSERT_EQUAL(w->nlog, 0);
		CU_ASSERT_EQUAL(world_write(w, obj, i % 8 * 512 + i / 8 * 64, buf, 64), 0);
	}
	CU_ASSERT_EQUAL(w->nlog, 1);
	CU_ASSERT_EQUAL(w->log[0].op, DDIO_DISK_WRITE);
	CU_ASSERT_EQUAL(stats(w).dirty, 0);
	CU_ASSERT(world_obj(obj)->written[0]);
	CU_ASSERT(all(w->data + world_obj(obj)->start[0], BS, 7));
	/* The count begins anew. */
	world_write(w, obj, 0, buf, BS - 1);
	CU_ASSERT_EQUAL(w->nlog, 1);
	CU_ASSERT_EQUAL(stats(w).dirty, 1);
	world_write(w, obj, 0, buf, 1);
	CU_ASSERT_EQUAL(stats(w).dirty, 0);
	world_free(w);
	free(obj);
}

static void overwriting_all_of_a_block_reads_nothing(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	uint8_t buf[BS];
	uint32_t i;

	world_fill(w, obj, 2);
	memset(buf, 9, sizeof(buf));
	for (i = 0; i < 64; i++) /* backwards */
		world_write(w, obj, (63 - i) * 64, buf, 64);
	world_write(w, obj, BS, buf, BS);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_READ), 0);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 2);
	CU_ASSERT(all(w->data + world_obj(obj)->start[0], 2 * BS, 9));
	world_free(w);
	free(obj);
}

static void a_part_of_a_block_is_merged_with_the_rest(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	uint8_t buf[BS], back[300];

	world_fill(w, obj, 2);
	memset(buf, 9, sizeof(buf));
	world_write(w, obj, 100, buf, 100);
	/* What was written can be read without the disk ... */
	CU_ASSERT_EQUAL(world_read(w, obj, 120, back, 80), 0);
	CU_ASSERT(all(back, 80, 9));
	CU_ASSERT_EQUAL(w->nlog, 0);
	/* ... what lies around it cannot. */
	CU_ASSERT_EQUAL(world_read(w, obj, 0, back, 300), 0);
	CU_ASSERT(all(back, 100, 1));
	CU_ASSERT(all(back + 100, 100, 9));
	CU_ASSERT(all(back + 200, 100, 1));
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_READ), 1);
	/* Not read first: only when it is written back. */
	world_write(w, obj, BS + 1, buf, 1);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_READ), 1);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_READ), 2);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 2);
	CU_ASSERT(all(w->data + world_obj(obj)->start[1] + 1, 1, 9));
	CU_ASSERT(all(w->data + world_obj(obj)->start[1] + 2, BS - 2, 2));
	CU_ASSERT(all(w->data + world_obj(obj)->start[0] + 100, 100, 9));
	world_free(w);
	free(obj);
}

static void holes_and_unwritten_blocks_are_zeros_without_a_read(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	uint8_t buf[BS];

	memset(buf, 1, sizeof(buf));
	CU_ASSERT_EQUAL(world_read(w, obj, 3 * BS, buf, BS), 0);
	CU_ASSERT(all(buf, BS, 0));
	object_alloc(obj, 0, 2); /* reserved: the disk holds other bytes there */
	memset(buf, 1, sizeof(buf));
	CU_ASSERT_EQUAL(world_read(w, obj, 0, buf, BS), 0);
	CU_ASSERT(all(buf, BS, 0));
	memset(buf, 5, sizeof(buf));
	CU_ASSERT_EQUAL(world_write(w, obj, BS + 8, buf, 8), 0);
	CU_ASSERT_EQUAL(w->nlog, 0);
	CU_ASSERT(!world_obj(obj)->written[1]);
	CU_ASSERT_EQUAL(world_flush(w, NULL, false), 0);
	CU_ASSERT(world_obj(obj)->written[1]);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_READ), 0);
	CU_ASSERT(all(w->data + world_obj(obj)->start[1], 8, 0));
	CU_ASSERT(all(w->data + world_obj(obj)->start[1] + 8, 8, 5));
	CU_ASSERT(all(w->data + world_obj(obj)->start[1] + 16, BS - 16, 0));
	world_free(w);
	free(obj);
}

static void a_full_disk_is_told_to_the_writer(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	uint8_t buf[4 * BS];

	memset(buf, 5, sizeof(buf));
	w->space = 2 * BS;
	CU_ASSERT_EQUAL(world_write(w, obj, 0, buf, 2 * BS), 0);
	CU_ASSERT_EQUAL(world_write(w, obj, 2 * BS, buf, 10), -ENOSPC);
	CU_ASSERT_EQUAL(world_write(w, obj, 0, buf, 10), 0);
	CU_ASSERT_EQUAL(stats(w).blocks, 2);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	CU_ASSERT_EQUAL(world_write(w, obj, UINT64_MAX - 5, buf, 10), -EINVAL);
	world_free(w);
	free(obj);
}

static void several_blocks_in_one_request(void)
{
	struct cache_world *w = world_blocks(4);
	struct object *obj = world_object(1, 512);
	static uint8_t buf[200 * 512], back[200 * 512];
	uint32_t i;

	for (i = 0; i < sizeof(buf); i++)
		buf[i] = i * 7 % 251;
	/* More blocks than the cache holds, and than pieces may be under way. */
	CU_ASSERT_EQUAL(world_write(w, obj, 100, buf, sizeof(buf) - 300), 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, true), 0);
	CU_ASSERT_EQUAL(stats(w).blocks, 0);
	CU_ASSERT_EQUAL(world_read(w, obj, 100, back, sizeof(buf) - 300), 0);
	CU_ASSERT_EQUAL(memcmp(buf, back, sizeof(buf) - 300), 0);
	CU_ASSERT(stats(w).bytes <= 4 * BS);
	CU_ASSERT_EQUAL(world_read(w, obj, 0, back, 0), 0);
	world_free(w);
	free(obj);
}

static void the_papers_size_goes_by_clients(void)
{
	struct cache_opts opts = { .paper = true, .depth = 1 };
	struct cache_world *w = world_new(&opts);
	struct object *obj = world_object(1, BS);
	uint8_t buf[8];
	int i;

	world_fill(w, obj, 100);
	for (i = 0; i < 100; i++)
		world_read(w, obj, i * BS, buf, 8);
	CU_ASSERT_EQUAL(stats(w).blocks, 16);
	cache_set_clients(w->cache, 10);
	for (i = 0; i < 100; i++)
		world_read(w, obj, i * BS, buf, 8);
	CU_ASSERT_EQUAL(stats(w).blocks, 80);
	cache_set_clients(w->cache, 3);
	CU_ASSERT_EQUAL(stats(w).blocks, 24);
	world_free(w);
	free(obj);
}

static void a_block_larger_than_the_cache_is_cached_alone(void)
{
	struct cache_world *w = world_blocks(1);
	struct object *big = world_object(1, 64 * 1024), *small = world_object(2, BS);
	uint8_t buf[8];

	world_fill(w, big, 2);
	world_fill(w, small, 2);
	CU_ASSERT_EQUAL(world_read(w, small, 0, buf, 8), 0);
	CU_ASSERT_EQUAL(world_read(w, big, 0, buf, 8), 0);
	CU_ASSERT_EQUAL(stats(w).blocks, 1);
	CU_ASSERT_EQUAL(world_read(w, big, 0, buf, 8), 0);
	CU_ASSERT_EQUAL(w->nlog, 2);
	CU_ASSERT_EQUAL(world_read(w, small, 0, buf, 8), 0);
	CU_ASSERT_EQUAL(stats(w).blocks, 1);
	world_free(w);
	free(big);
	free(small);
}

/* Six writers of six dirty blocks in a cache of two. */
static void dirty_blocks_make_room_by_write_back(void)
{
	struct cache_world *w = world_blocks(2);
	struct object *obj = world_object(1, BS);
	struct world_io x[6];
	uint8_t buf[6][10];
	int i;

	for (i = 0; i < 6; i++) {
		memset(buf[i], i + 1, 10);
		world_write_start(w, &x[i], obj, i * BS, buf[i], 10);
	}
	CU_ASSERT_EQUAL(x[1].status, 0);
	CU_ASSERT_EQUAL(x[2].status, 1);
	CU_ASSERT_EQUAL(stats(w).blocks, 2);
	world_run(w);
	for (i = 0; i < 6; i++)
		CU_ASSERT_EQUAL(x[i].status, 0);
	CU_ASSERT_EQUAL(stats(w).blocks, 2);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 4);
	world_flush(w, NULL, false);
	for (i = 0; i < 6; i++)
		CU_ASSERT(all(w->data + world_obj(obj)->start[i], 10, i + 1));
	world_free(w);
	free(obj);
}

static uint32_t order_of[8], order_n;

static void order_done(struct cache_io *io, int status)
{
	(void)status;
	order_of[order_n++] = (uint32_t)(io->offset / BS);
}

static void the_disk_queue_is_cscan(void)
{
	struct cache_world *w = world_blocks(16);
	struct object *obj = world_object(1, BS);
	static const int asked[] = { 5, 2, 9, 1, 7, 3 };
	static const uint32_t want[] = { 5, 7, 9, 1, 2, 3 };
	struct world_io x[6];
	uint8_t buf[8];
	int i;

	world_fill(w, obj, 10);
	order_n = 0;
	for (i = 0; i < 6; i++) {
		world_io_set(&x[i], obj, asked[i] * BS, buf, 8);
		x[i].io.done = order_done;
		cache_read(w->cache, &x[i].io);
	}
	CU_ASSERT_EQUAL(w->n_at_disk, 1);
	CU_ASSERT_EQUAL(stats(w).queue, 6);
	world_run(w);
	CU_ASSERT_EQUAL(order_n, 6);
	CU_ASSERT_EQUAL(memcmp(order_of, want, sizeof(want)), 0);
	CU_ASSERT_EQUAL(stats(w).queue, 0);
	CU_ASSERT_EQUAL(stats(w).max_queue, 6);
	world_free(w);
	free(obj);
}

static void the_disk_gets_as_many_as_it_takes(void)
{
	struct cache_opts opts = { .bytes = 16 * BS, .depth = 4 };
	struct cache_world *w = world_new(&opts);
	struct object *obj = world_object(1, BS);
	struct world_io x[6];
	uint8_t buf[8];
	int i;

	world_fill(w, obj, 10);
	for (i = 0; i < 6; i++)
		world_read_start(w, &x[i], obj, i * BS, buf, 8);
	CU_ASSERT_EQUAL(w->n_at_disk, 4);
	world_run(w);
	for (i = 0; i < 6; i++)
		CU_ASSERT_EQUAL(x[i].status, 0);
	world_free(w);
	free(obj);
}

static void a_long_block_goes_in_parts_the_disk_takes(void)
{
	struct cache_opts opts = { .bytes = 8u << 20, .depth = 1 };
	struct cache_world *w = world_new(&opts);
	struct object *obj = world_object(1, 2u << 20);
	uint8_t *buf = malloc(2u << 20);

	memset(buf, 3, 2u << 20);
	w->disk->info.max_len = 768u << 10;
	CU_ASSERT_EQUAL(world_write(w, obj, 0, buf, 2u << 20), 0);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 3);
	CU_ASSERT(all(w->data + world_obj(obj)->start[0], 2u << 20, 3));
	free(buf);
	world_free(w);
	free(obj);
}

static void wrote(struct cache_world *w, struct object *obj, uint64_t block, uint64_t from,
		  uint64_t len)
{
	struct world_log *last = &w->log[w->nlog - 1];

	CU_ASSERT_EQUAL(last->op, DDIO_DISK_WRITE);
	CU_ASSERT_EQUAL(last->offset, world_obj(obj)->start[block] + from);
	CU_ASSERT_EQUAL(last->len, len);
}

/* Of a large block that is on the disk the units are written that have changed; a new one is written whole. */
static void a_large_block_is_written_back_in_part(void)
{
	struct cache_opts opts = { .bytes = 8u << 15, .depth = 1 };
	struct cache_world *w = world_new(&opts);
	struct object *obj = world_object(1, 1u << 15);
	struct world_io x;
	uint8_t buf[100];

	world_fill(w, obj, 2);
	memset(buf, 9, sizeof(buf));
	CU_ASSERT_EQUAL(world_write(w, obj, 5000, buf, sizeof(buf)), 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	wrote(w, obj, 0, 4096, 4096);
	/* From the first byte to the last one, and no further. */
	CU_ASSERT_EQUAL(world_write(w, obj, 8192, buf, 1), 0);
	CU_ASSERT_EQUAL(world_write(w, obj, 8191, buf, 1), 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	wrote(w, obj, 0, 4096, 8192);
	CU_ASSERT_EQUAL(world_write(w, obj, (1u << 15) - 1, buf, 1), 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	wrote(w, obj, 0, 28672, 4096);
	/* A failure keeps what it was to write, and what comes then is added. */
	w->fail_op = DDIO_DISK_WRITE;
	w->fail_n = 1;
	CU_ASSERT_EQUAL(world_write(w, obj, 0, buf, 1), 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), -EIO);
	CU_ASSERT_EQUAL(world_write(w, obj, 12288, buf, 1), 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	wrote(w, obj, 0, 0, 16384);
	/* Nothing is left of a block that was dropped. */
	CU_ASSERT_EQUAL(world_write(w, obj, 0, buf, 1), 0);
	cache_discard(w->cache, obj, 0, 1);
	CU_ASSERT_EQUAL(world_write(w, obj, 20480, buf, 1), 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	wrote(w, obj, 0, 20480, 4096);
	/* A new block, also one that had a place before. */
	CU_ASSERT_EQUAL(world_write(w, obj, 2u << 15, buf, 1), 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	wrote(w, obj, 2, 0, 1u << 15);
	world_obj(obj)->written[1] = false;
	CU_ASSERT_EQUAL(world_write(w, obj, 1u << 15, buf, 1), 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	wrote(w, obj, 1, 0, 1u << 15);
	/* Places that are no multiples of a unit. */
	world_obj(obj)->start[1] += 512;
	CU_ASSERT_EQUAL(world_write(w, obj, 1u << 15, buf, 1), 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	wrote(w, obj, 1, 0, 1u << 15);
	world_read_start(w, &x, obj, 5000, buf, 1);
	CU_ASSERT_EQUAL(buf[0], 9);
	CU_ASSERT_EQUAL(w->data[world_obj(obj)->start[0] + 5099], 9);
	CU_ASSERT_EQUAL(w->data[world_obj(obj)->start[0] + 5100], 1);
	world_free(w);
	free(obj);
}

static void flushed(struct cache_world *w, struct object *obj, bool drop, bool durable)
{
	uint32_t at = w->nlog, writes = 0;

	CU_ASSERT_EQUAL(world_flush(w, obj, drop), 0);
	for (; at < w->nlog; at++) {
		bool write = w->log[at].op == DDIO_DISK_WRITE;

		/* The rest of a block may be read first. */
		CU_ASSERT_EQUAL(w->log[at].durable, write && durable);
		writes += write;
	}
	CU_ASSERT(writes > 0);
}

/* The only block of an object that is synced is to be durable when it is written; of several, a flush makes them so. */
static void a_block_alone_is_durable(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS), *other = world_object(2, BS);
	uint8_t buf[100] = { 9 };

	world_fill(w, obj, 2);
	world_fill(w, other, 1);
	CU_ASSERT_EQUAL(world_write(w, obj, 0, buf, sizeof(buf)), 0);
	CU_ASSERT_EQUAL(world_write(w, other, 0, buf, sizeof(buf)), 0);
	flushed(w, obj, false, true);
	flushed(w, NULL, false, false);
	CU_ASSERT_EQUAL(world_write(w, obj, 0, buf, sizeof(buf)), 0);
	CU_ASSERT_EQUAL(world_write(w, obj, BS, buf, sizeof(buf)), 0);
	flushed(w, obj, false, false);
	CU_ASSERT_EQUAL(world_write(w, obj, 0, buf, sizeof(buf)), 0);
	flushed(w, obj, true, false);
	world_free(w);
	free(obj);
	free(other);
}

/* What a request about one object looks at are its blocks, and not those of others, however many there are. */
static void one_object_among_others(void)
{
	struct cache_world *w = world_blocks(300);
	struct object *obj = world_object(1, BS), *other = world_object(2, BS);
	struct world_flush x;
	uint8_t buf[100];
	uint32_t i;

	world_fill(w, obj, 8);
	world_fill(w, other, 250);
	memset(buf, 9, sizeof(buf));
	for (i = 0; i < 250; i++)
		CU_ASSERT_EQUAL(world_write(w, other, i * BS, buf, sizeof(buf)), 0);
	for (i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(world_write(w, obj, i * BS, buf, sizeof(buf)), 0);
	CU_ASSERT_EQUAL(stats(w).dirty, 254);
	w->cache->looked = 0;
	world_flush_start(w, &x, obj, false);
	world_run(w);
	CU_ASSERT_EQUAL(x.status, 0);
	CU_ASSERT_EQUAL(stats(w).dirty, 250);
	CU_ASSERT(!cache_busy(w->cache, obj, 0, UINT64_MAX));
	CU_ASSERT_EQUAL(cache_next_newer(w->cache, obj, 0, WORLD_BLOCKS), WORLD_BLOCKS);
	world_flush_start(w, &x, obj, true);
	world_run(w);
	CU_ASSERT_EQUAL(stats(w).blocks, 250);
	cache_discard(w->cache, obj, 0, UINT64_MAX);
	CU_ASSERT_EQUAL(world_read(w, obj, 0, buf, 8), 0);
	cache_discard(w->cache, obj, 0, UINT64_MAX);
	CU_ASSERT_EQUAL(stats(w).blocks, 250);
	CU_ASSERT(w->cache->looked <= 30);
	/* All that is of nobody is forgotten. */
	cache_discard(w->cache, other, 1, UINT64_MAX - 1);
	CU_ASSERT_EQUAL(w->cache->objects.n, 1);
	cache_discard(w->cache, other, 0, 1);
	CU_ASSERT_EQUAL(w->cache->objects.n, 0);
	world_run(w);
	world_free(w);
	free(obj);
	free(other);
}

static const struct ut_case cases[] = {
	{ "a read misses, then hits", read_misses_then_hits },
	{ "readers of a block join in one disk request", readers_join_one_disk_request },
	{ "the least recently used block goes first", least_recently_used_goes_first },
	{ "one block is read ahead", prefetches_one_block_ahead },
	{ "along with a read, or once it has ended", reads_ahead_along_or_afterwards },
	{ "not into holes, and behind the demand", prefetch_behind_the_demand_and_not_into_holes },
	{ "unused prefetches are wasted", unused_prefetches_are_counted_as_wasted },
	{ "WriteFull: a full block is written back", a_full_block_is_written_back_at_once },
	{ "overwriting a block reads nothing", overwriting_all_of_a_block_reads_nothing },
	{ "a part is merged with the rest", a_part_of_a_block_is_merged_with_the_rest },
	{ "holes are zeros", holes_and_unwritten_blocks_are_zeros_without_a_read },
	{ "a full disk is told to the writer", a_full_disk_is_told_to_the_writer },
	{ "several blocks in one request", several_blocks_in_one_request },
	{ "the papers' size", the_papers_size_goes_by_clients },
	{ "a large block alone", a_block_larger_than_the_cache_is_cached_alone },
	{ "dirty blocks make room", dirty_blocks_make_room_by_write_back },
	{ "CSCAN", the_disk_queue_is_cscan },
	{ "depth", the_disk_gets_as_many_as_it_takes },
	{ "long blocks in parts", a_long_block_goes_in_parts_the_disk_takes },
	{ "a large block in part", a_large_block_is_written_back_in_part },
	{ "a block alone is durable", a_block_alone_is_durable },
	{ "one object among others", one_object_among_others },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "cache", cases } };

	return ut_run("cache", suites, 1);
}
