// SPDX-License-Identifier: GPL-2.0-only
/* The block cache when disks fail, blocks are locked, written back on request, or discarded. */
#include "tests/unit/lib/ut.h"
#include "cache_world.h"

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

/* Writes the middle of each of the first three blocks. */
static void world_object_write(struct cache_world *w, struct object *obj, const uint8_t *buf)
{
	uint32_t i;

	for (i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(world_write(w, obj, (uint64_t)i * BS, buf + (size_t)i * BS, BS - 8),
				0);
}

/*
 * Errors
 */
static void a_read_error_reaches_all_who_wait(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_io x[3];
	uint8_t buf[3][8];
	int i;

	world_fill(w, obj, 2);
	w->fail_op = DDIO_DISK_READ;
	w->fail_n = 1;
	for (i = 0; i < 3; i++)
		world_read_start(w, &x[i], obj, i * 8, buf[i], 8);
	world_run(w);
	for (i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(x[i].status, -EIO);
	CU_ASSERT_EQUAL(stats(w).blocks, 0);
	/* Asked again, the disk is tried again. */
	CU_ASSERT_EQUAL(world_read(w, obj, 0, buf[0], 8), 0);
	CU_ASSERT(all(buf[0], 8, 1));
	world_free(w);
	free(obj);
}

static void a_write_error_is_told_once_and_the_block_stays(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS), *other = world_object(2, BS);
	uint8_t buf[BS];

	memset(buf, 6, sizeof(buf));
	w->fail_op = DDIO_DISK_WRITE;
	w->fail_n = 1;
	CU_ASSERT_EQUAL(world_write(w, obj, 0, buf, BS), 0);
	CU_ASSERT_EQUAL(stats(w).dirty, 1);
	CU_ASSERT(!world_obj(obj)->written[0]);
	CU_ASSERT_EQUAL(world_read(w, obj, 0, buf, BS), 0);
	CU_ASSERT(all(buf, BS, 6));
	/* Nothing that another object has to hear. */
	CU_ASSERT_EQUAL(world_flush(w, other, false), 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), -EIO);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	CU_ASSERT_EQUAL(stats(w).dirty, 0);
	CU_ASSERT(all(w->data + world_obj(obj)->start[0], BS, 6));
	/* An error during the flush itself, told to that one only. */
	world_write(w, obj, 0, buf, 10);
	w->fail_n = 1;
	CU_ASSERT_EQUAL(world_flush(w, NULL, false), -EIO);
	CU_ASSERT_EQUAL(stats(w).dirty, 1);
	CU_ASSERT_EQUAL(world_flush(w, NULL, false), 0);
	world_free(w);
	free(obj);
	free(other);
}

/* The disk has the block, and there is no memory to note that: as if the disk had failed. */
static void what_cannot_be_noted_stays(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	uint8_t buf[BS];
	int i;

	memset(buf, 6, sizeof(buf));
	w->unnoted = true;
	CU_ASSERT_EQUAL(world_write(w, obj, 0, buf, BS), 0);
	CU_ASSERT_EQUAL(world_write(w, obj, BS, buf, BS), 0);
	for (i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(world_flush(w, obj, false), -ENOMEM);
	CU_ASSERT_EQUAL(w->logged, 1);
	CU_ASSERT_EQUAL(stats(w).dirty, 2);
	CU_ASSERT(!world_obj(obj)->written[0]);
	CU_ASSERT_EQUAL(world_read(w, obj, 0, buf, BS), 0);
	CU_ASSERT(all(buf, BS, 6));
	w->unnoted = false;
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	CU_ASSERT_EQUAL(stats(w).dirty, 0);
	w->unnoted = true;
	world_write(w, obj, 0, buf, 10);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), -ENOMEM);
	CU_ASSERT_EQUAL(w->logged, 2);
	w->unnoted = false;
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	CU_ASSERT(world_obj(obj)->written[0]);
	world_free(w);
	free(obj);
}

/* One that nobody has asked for keeps no error from who does. */
static void a_quiet_flush_takes_no_error(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_flush quiet;
	uint8_t buf[BS];

	memset(buf, 6, sizeof(buf));
	w->fail_op = DDIO_DISK_WRITE;
	/* An earlier one, and one of its own. */
	w->fail_n = 1;
	CU_ASSERT_EQUAL(world_write(w, obj, 0, buf, BS), 0);
	world_flush_quietly(w, &quiet, obj);
	world_run(w);
	CU_ASSERT_EQUAL(stats(w).dirty, 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), -EIO);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	world_write(w, obj, 0, buf, 10);
	w->fail_n = 1;
	world_flush_quietly(w, &quiet, obj);
	world_run(w);
	CU_ASSERT_EQUAL(stats(w).dirty, 1);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), -EIO);
	CU_ASSERT_EQUAL(stats(w).dirty, 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	world_free(w);
	free(obj);
}

static void two_flushes_both_hear_of_a_failure(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_flush a, b;
	uint8_t buf[16] = { 1 };

	world_write(w, obj, 0, buf, 16);
	w->fail_op = DDIO_DISK_WRITE;
	w->fail_n = 1;
	world_flush_start(w, &a, obj, false);
	world_flush_start(w, &b, NULL, false);
	world_run(w);
	CU_ASSERT_EQUAL(a.status, -EIO);
	CU_ASSERT_EQUAL(b.status, -EIO);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	world_free(w);
	free(obj);
}

/* Every block is dirty and the disk fails: writers and readers get an error, and none hangs. */
static void failing_write_back_does_not_hang_eviction(void)
{
	struct cache_world *w = world_blocks(2);
	struct object *obj = world_object(1, BS);
	struct world_io x[4];
	uint8_t buf[16] = { 1 };
	int i;

	world_fill(w, obj, 8);
	world_write(w, obj, 0, buf, 16);
	world_write(w, obj, BS, buf, 16);
	w->fail_op = -1;
	w->fail_n = 1000;
	for (i = 0; i < 2; i++)
		world_write_start(w, &x[i], obj, (2 + i) * BS, buf, 16);
	for (; i < 4; i++)
		world_read_start(w, &x[i], obj, (2 + i) * BS, buf, 16);
	world_run(w);
	for (i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(x[i].status, -EIO);
	w->fail_n = 0;
	CU_ASSERT_EQUAL(stats(w).dirty, 2);
	CU_ASSERT_EQUAL(world_read(w, obj, 5 * BS, buf, 16), 0);
	CU_ASSERT(all(buf, 16, 6));
	CU_ASSERT_EQUAL(world_flush(w, NULL, false), -EIO);
	CU_ASSERT_EQUAL(world_flush(w, NULL, false), 0);
	CU_ASSERT_EQUAL(w->data[world_obj(obj)->start[0]], 1);
	CU_ASSERT_EQUAL(w->data[world_obj(obj)->start[1]], 1);
	world_free(w);
	free(obj);
}

static void one_of_two_blocks_fails_and_the_other_makes_room(void)
{
	struct cache_world *w = world_blocks(2);
	struct object *obj = world_object(1, BS);
	uint8_t buf[16] = { 1 };

	world_write(w, obj, 0, buf, 16);
	world_write(w, obj, BS, buf, 16);
	w->fail_op = DDIO_DISK_WRITE;
	w->fail_n = 1;
	CU_ASSERT_EQUAL(world_write(w, obj, 2 * BS, buf, 16), 0);
	CU_ASSERT_EQUAL(stats(w).dirty, 2);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), -EIO);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	world_free(w);
	free(obj);
}

/*
 * Write back on request
 */
static void a_flush_does_not_wait_for_what_comes_later(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS), *other = world_object(2, BS);
	struct world_flush f;
	uint8_t buf[16] = { 1 };

	world_write(w, obj, 0, buf, 16);
	world_write(w, other, 0, buf, 16);
	world_flush_start(w, &f, obj, false);
	world_write(w, obj, BS, buf, 16); /* runs the world to the end of the flush */
	CU_ASSERT_EQUAL(f.status, 0);
	CU_ASSERT_EQUAL(stats(w).dirty, 2);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 1);
	/* Nothing to do is done from the loop too. */
	world_flush(w, NULL, false);
	world_flush_start(w, &f, NULL, false);
	CU_ASSERT_EQUAL(f.status, 1);
	world_run(w);
	CU_ASSERT_EQUAL(f.status, 0);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 3);
	world_free(w);
	free(obj);
	free(other);
}

static void dropping_forgets_the_blocks_of_one_object(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS), *other = world_object(2, BS);
	uint8_t buf[16] = { 1 };

	world_fill(w, obj, 2);
	world_fill(w, other, 2);
	world_read(w, obj, 0, buf, 16);
	world_read(w, other, 0, buf, 16);
	world_write(w, obj, BS, buf, 16);
	CU_ASSERT_EQUAL(world_flush(w, obj, true), 0);
	CU_ASSERT_EQUAL(stats(w).blocks, 1);
	CU_ASSERT_EQUAL(world_obj(obj)->refs, 1);
	CU_ASSERT_EQUAL(world_flush(w, NULL, true), 0);
	CU_ASSERT_EQUAL(stats(w).blocks, 0);
	/* What cannot be written stays: dropping the cache loses nothing. */
	world_write(w, obj, BS, buf, 16);
	w->fail_op = DDIO_DISK_WRITE;
	w->fail_n = 1;
	CU_ASSERT_EQUAL(world_flush(w, obj, true), -EIO);
	CU_ASSERT_EQUAL(stats(w).dirty, 1);
	CU_ASSERT_EQUAL(world_flush(w, obj, true), 0);
	CU_ASSERT_EQUAL(w->data[world_obj(obj)->start[1]], 1);
	CU_ASSERT_EQUAL(stats(w).blocks, 0);
	/* A disk that has failed to flush takes no more writes, and is still read. */
	w->stopped = -EIO;
	CU_ASSERT_EQUAL(world_write(w, obj, 0, buf, 16), -EIO);
	CU_ASSERT_EQUAL(world_read(w, obj, BS, buf, 16), 0);
	CU_ASSERT_EQUAL(stats(w).dirty, 0);
	world_free(w);
	free(obj);
	free(other);
}

static void discarded_blocks_are_not_written(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_flush f;
	struct world_io x;
	uint8_t buf[BS] = { 1 };

	world_write(w, obj, 0, buf, 16);
	world_write(w, obj, BS, buf, 16);
	world_write(w, obj, 2 * BS, buf, 16);
	cache_discard(w->cache, obj, 1, UINT64_MAX);
	CU_ASSERT_EQUAL(stats(w).dirty, 1);
	CU_ASSERT_EQUAL(world_flush(w, NULL, false), 0);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 1);
	/* With its write under way it is awaited, by a flush. */
	world_write_start(w, &x, obj, BS, buf, BS);
	CU_ASSERT_EQUAL(x.status, 0);
	cache_discard(w->cache, obj, 0, UINT64_MAX);
	CU_ASSERT(cache_busy(w->cache, obj, 0, UINT64_MAX));
	CU_ASSERT(cache_busy(w->cache, obj, 1, UINT64_MAX));
	CU_ASSERT(!cache_busy(w->cache, obj, 2, UINT64_MAX));
	world_obj(obj)->placed[1] = false;
	world_flush_start(w, &f, obj, false);
	world_posts(w);
	CU_ASSERT_EQUAL(f.status, 1);
	world_run(w);
	CU_ASSERT_EQUAL(f.status, 0);
	CU_ASSERT(!world_obj(obj)->written[1]);
	CU_ASSERT(!cache_busy(w->cache, obj, 0, UINT64_MAX));
	CU_ASSERT(cache_idle(w->cache));
	CU_ASSERT_EQUAL(world_obj(obj)->refs, 1);
	CU_ASSERT_EQUAL(stats(w).blocks, 0);
	world_free(w);
	free(obj);
}

/* A reader of a block that is discarded while it is read gets what is there then. */
static void a_read_under_way_is_made_again_after_a_discard(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_io x;
	uint8_t buf[8];

	world_fill(w, obj, 2);
	world_read_start(w, &x, obj, 0, buf, 8);
	cache_discard(w->cache, obj, 0, UINT64_MAX);
	world_obj(obj)->placed[0] = false;
	world_run(w);
	CU_ASSERT_EQUAL(x.status, 0);
	CU_ASSERT(all(buf, 8, 0));
	world_free(w);
	free(obj);
}

/*
 * Locks
 */
static void a_lock_keeps_requests_waiting(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_lock lock;
	struct world_io rd, wr, free_rd;
	uint8_t in[8], out[8] = { 9 }, in2[8];

	world_fill(w, obj, 3);
	CU_ASSERT(world_lock(w, &lock, obj, 1));
	CU_ASSERT_PTR_NULL(lock.lock.dirty);
	CU_ASSERT(cache_busy(w->cache, obj, 1, UINT64_MAX));
	world_write_start(w, &wr, obj, BS, out, 1);
	world_read_start(w, &rd, obj, BS, in, 8);
	world_read_start(w, &free_rd, obj, 2 * BS, in2, 8);
	world_run(w);
	CU_ASSERT_EQUAL(rd.status, 1);
	CU_ASSERT_EQUAL(wr.status, 1);
	CU_ASSERT_EQUAL(free_rd.status, 0);
	cache_unlock(w->cache, &lock.lock, false);
	CU_ASSERT_EQUAL(wr.status, 1); /* not inside the call */
	world_run(w);
	CU_ASSERT_EQUAL(wr.status, 0);
	CU_ASSERT_EQUAL(rd.status, 0);
	CU_ASSERT_EQUAL(in[0], 9);
	CU_ASSERT_EQUAL(in[1], 2);
	CU_ASSERT_EQUAL(lock.granted, 0);
	world_free(w);
	free(obj);
}

static void a_lock_shows_what_is_dirty(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_lock lock;
	struct world_flush f;
	uint8_t out[8] = { 9 };
	const uint8_t *dirty;

	world_fill(w, obj, 3);
	/* Valid in part: it is filled up before the lock is granted. */
	world_write(w, obj, BS + 4, out, 1);
	CU_ASSERT(!world_lock(w, &lock, obj, 1));
	world_run(w);
	CU_ASSERT_EQUAL(lock.granted, 1);
	CU_ASSERT_EQUAL(lock.lock.status, 0);
	dirty = lock.lock.dirty;
	CU_ASSERT_PTR_NOT_NULL_FATAL(dirty);
	CU_ASSERT_EQUAL(dirty[3], 2);
	CU_ASSERT_EQUAL(dirty[4], 9);
	CU_ASSERT_EQUAL(dirty[BS - 1], 2);
	/* Not touched while it is held, even by a flush ... */
	world_flush_start(w, &f, obj, false);
	world_run(w);
	CU_ASSERT_EQUAL(f.status, 1);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 0);
	cache_unlock(w->cache, &lock.lock, false);
	world_run(w);
	CU_ASSERT_EQUAL(f.status, 0);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 1);
	/* ... clean: the disk is as good ... */
	CU_ASSERT(world_lock(w, &lock, obj, 1));
	CU_ASSERT_PTR_NULL(lock.lock.dirty);
	/* ... and stale: forgotten, with what was dirty. */
	cache_unlock(w->cache, &lock.lock, true);
	world_run(w);
	CU_ASSERT_EQUAL(stats(w).blocks, 0);
	world_write(w, obj, BS + 4, out, 8);
	world_read(w, obj, BS, out, 8);
	CU_ASSERT(world_lock(w, &lock, obj, 1));
	CU_ASSERT_PTR_NOT_NULL(lock.lock.dirty);
	cache_unlock(w->cache, &lock.lock, true);
	CU_ASSERT_EQUAL(stats(w).dirty, 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 1);
	world_free(w);
	free(obj);
}

static void locks_and_requests_take_turns(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_lock a, b, c;
	struct world_io x, y;
	uint8_t buf[8] = { 1 };

	world_fill(w, obj, 3);
	CU_ASSERT(world_lock(w, &a, obj, 0));
	world_read_start(w, &x, obj, 0, buf, 8);
	CU_ASSERT(!world_lock(w, &b, obj, 0));
	CU_ASSERT(!world_lock(w, &c, obj, 0));
	world_read_start(w, &y, obj, 0, buf, 8);
	cache_unlock(w->cache, &a.lock, false);
	world_run(w);
	CU_ASSERT_EQUAL(x.status, 0);
	CU_ASSERT_EQUAL(b.granted, 1);
	CU_ASSERT_EQUAL(c.granted, 0);
	CU_ASSERT_EQUAL(y.status, 1);
	/* A waiter is withdrawn, and the next one is served. */
	cache_lock_cancel(w->cache, &c.lock);
	cache_unlock(w->cache, &b.lock, true);
	world_run(w);
	CU_ASSERT_EQUAL(c.granted, 0);
	CU_ASSERT_EQUAL(y.status, 0);
	CU_ASSERT_EQUAL(w->nlog, 2);
	world_free(w);
	free(obj);
}

static void a_lock_waits_for_io_and_can_be_withdrawn_late(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_lock a, b;
	struct world_io x;
	uint8_t buf[BS] = { 1 };

	world_write_start(w, &x, obj, 0, buf, BS);
	CU_ASSERT(!world_lock(w, &a, obj, 0));
	CU_ASSERT(!world_lock(w, &b, obj, 0));
	world_disk_step(w); /* the completion grants it */
	CU_ASSERT_EQUAL(a.granted, 1);
	CU_ASSERT_PTR_NULL(a.lock.dirty);
	cache_unlock(w->cache, &a.lock, false);
	/* The grant of b is due, but has not been told. */
	cache_lock_cancel(w->cache, &b.lock);
	world_run(w);
	CU_ASSERT_EQUAL(b.granted, 0);
	CU_ASSERT(world_lock(w, &a, obj, 0));
	cache_unlock(w->cache, &a.lock, false);
	world_free(w);
	free(obj);
}

static void a_lock_tells_that_the_rest_cannot_be_read(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_lock lock;
	uint8_t buf[8] = { 1 };

	world_fill(w, obj, 1);
	world_write(w, obj, 10, buf, 8);
	w->fail_op = DDIO_DISK_READ;
	w->fail_n = 1;
	CU_ASSERT(!world_lock(w, &lock, obj, 0));
	world_run(w);
	CU_ASSERT_EQUAL(lock.granted, 1);
	CU_ASSERT_EQUAL(lock.lock.status, -EIO);
	CU_ASSERT_PTR_NULL(lock.lock.dirty);
	cache_unlock(w->cache, &lock.lock, false);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	CU_ASSERT(all(w->data + world_obj(obj)->start[0], 10, 1));
	world_free(w);
	free(obj);
}

static void a_locked_block_that_is_discarded_goes_at_the_unlock(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_lock lock;
	uint8_t buf[8] = { 1 };

	world_write(w, obj, 10, buf, 8);
	CU_ASSERT(world_lock(w, &lock, obj, 0));
	CU_ASSERT_PTR_NOT_NULL(lock.lock.dirty);
	cache_discard(w->cache, obj, 0, UINT64_MAX);
	CU_ASSERT(all((const uint8_t *)lock.lock.dirty + 11, 7, 0));
	cache_unlock(w->cache, &lock.lock, false);
	world_run(w);
	CU_ASSERT_EQUAL(stats(w).blocks, 0);
	CU_ASSERT_EQUAL(w->nlog, 0);
	CU_ASSERT_EQUAL(world_obj(obj)->refs, 1);
	world_free(w);
	free(obj);
}

/* A full cache of locked blocks: requests wait, and go on when one is given back. */
static void locked_memory_is_waited_for(void)
{
	struct cache_world *w = world_blocks(2);
	struct object *obj = world_object(1, BS);
	struct world_lock a, b;
	struct world_io x;
	uint8_t buf[8] = { 1 };

	world_fill(w, obj, 4);
	world_read(w, obj, 0, buf, 8);
	world_read(w, obj, BS, buf, 8);
	CU_ASSERT(world_lock(w, &a, obj, 0));
	CU_ASSERT(world_lock(w, &b, obj, 1));
	world_read_start(w, &x, obj, 2 * BS, buf, 8);
	world_run(w);
	CU_ASSERT_EQUAL(x.status, 1);
	cache_unlock(w->cache, &b.lock, false);
	world_run(w);
	CU_ASSERT_EQUAL(x.status, 0);
	CU_ASSERT_EQUAL(stats(w).blocks, 2);
	cache_unlock(w->cache, &a.lock, false);
	world_free(w);
	free(obj);
}

/*
 * Checksums
 */
static void what_does_not_match_is_an_error(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	uint8_t buf[2 * BS];
	struct world_io x;

	world_fill(w, obj, 3);
	w->bad = 1;
	world_read_start(w, &x, obj, BS + 8, buf, 8);
	world_run(w);
	CU_ASSERT_EQUAL(x.status, -EBADMSG);
	CU_ASSERT_EQUAL(x.io.bad, 1);
	CU_ASSERT_EQUAL(stats(w).blocks, 0);
	CU_ASSERT_EQUAL(world_read(w, obj, BS, buf, 8), 0);
	/* What a write leaves of the block as it was has to match, too, before it is written with a new sum. */
	CU_ASSERT_EQUAL(world_write(w, obj, 2 * BS, buf, 8), 0);
	w->bad = 1;
	CU_ASSERT_EQUAL(world_flush(w, obj, false), -EBADMSG);
	CU_ASSERT_EQUAL(stats(w).dirty, 1);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 0);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 1);
	world_free(w);
	free(obj);
}

/* Blocks wait for one commit that records that they may change, all of them. */
static void a_block_is_recorded_before_it_is_written_again(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_flush flush;
	uint8_t buf[3 * BS];

	world_fill(w, obj, 3);
	w->doubts = true;
	memset(buf, 9, sizeof(buf));
	world_object_write(w, obj, buf);
	world_flush_start(w, &flush, obj, false);
	world_run(w);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 0);
	CU_ASSERT_EQUAL(w->commits, 1);
	CU_ASSERT_EQUAL(flush.status, 1);
	CU_ASSERT_FALSE(cache_idle(w->cache));
	world_committed(world_obj(obj), 0);
	world_run(w);
	CU_ASSERT_EQUAL(flush.status, 0);
	CU_ASSERT_EQUAL(w->commits, 1);
	CU_ASSERT(all(w->data + world_obj(obj)->start[2], BS - 8, 9));
	CU_ASSERT_EQUAL(stats(w).dirty, 0);
	world_free(w);
	free(obj);
}

/* That is begun when it becomes dirty, so that it need not be waited for later. */
static void a_dirty_block_is_recorded_meanwhile(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	uint8_t buf[3 * BS];

	world_fill(w, obj, 3);
	w->doubts = true;
	w->soon = true;
	memset(buf, 9, sizeof(buf));
	world_object_write(w, obj, buf);
	CU_ASSERT_EQUAL(w->commits, 1);
	CU_ASSERT_FALSE(cache_idle(w->cache));
	world_committed(world_obj(obj), 0);
	world_run(w);
	/* The other two were written while the first commit was under way. */
	CU_ASSERT_EQUAL(w->commits, 2);
	world_committed(world_obj(obj), 0);
	world_run(w);
	CU_ASSERT(cache_idle(w->cache));
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	CU_ASSERT_EQUAL(w->commits, 2);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 3);
	world_free(w);
	free(obj);
}

static void a_block_that_cannot_be_recorded_is_not_written(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_flush flush;
	uint8_t buf[3 * BS];

	world_fill(w, obj, 3);
	w->doubts = true;
	memset(buf, 9, sizeof(buf));
	world_object_write(w, obj, buf);
	world_flush_start(w, &flush, obj, false);
	world_run(w);
	world_committed(world_obj(obj), -ENOSPC);
	world_run(w);
	CU_ASSERT_EQUAL(flush.status, -ENOSPC);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 0);
	CU_ASSERT_EQUAL(stats(w).dirty, 3);
	/* One that was dropped while it waited is not written at all, and nobody waits for it then. */
	world_flush_start(w, &flush, obj, false);
	world_run(w);
	cache_discard(w->cache, obj, 1, 1);
	world_committed(world_obj(obj), 0);
	world_run(w);
	CU_ASSERT_EQUAL(flush.status, 0);
	CU_ASSERT_EQUAL(world_count(w, DDIO_DISK_WRITE), 2);
	CU_ASSERT_EQUAL(stats(w).dirty, 0);
	world_free(w);
	free(obj);
}

static const struct ut_case errors[] = {
	{ "a read error reaches all who wait", a_read_error_reaches_all_who_wait },
	{ "a write error is told once", a_write_error_is_told_once_and_the_block_stays },
	{ "what cannot be noted stays", what_cannot_be_noted_stays },
	{ "a quiet flush takes no error", a_quiet_flush_takes_no_error },
	{ "two flushes hear of one failure", two_flushes_both_hear_of_a_failure },
	{ "failing write back does not hang", failing_write_back_does_not_hang_eviction },
	{ "another block makes room", one_of_two_blocks_fails_and_the_other_makes_room },
	{ NULL, NULL },
};

static const struct ut_case sums[] = {
	{ "what does not match is an error", what_does_not_match_is_an_error },
	{ "a block is recorded before it is written again",
	  a_block_is_recorded_before_it_is_written_again },
	{ "a dirty block is recorded meanwhile", a_dirty_block_is_recorded_meanwhile },
	{ "a block that cannot be recorded is not written",
	  a_block_that_cannot_be_recorded_is_not_written },
	{ NULL, NULL },
};

static const struct ut_case flushes[] = {
	{ "not what comes later", a_flush_does_not_wait_for_what_comes_later },
	{ "dropping", dropping_forgets_the_blocks_of_one_object },
	{ "discarding", discarded_blocks_are_not_written },
	{ "discarding what is read", a_read_under_way_is_made_again_after_a_discard },
	{ NULL, NULL },
};

static const struct ut_case locks[] = {
	{ "requests wait", a_lock_keeps_requests_waiting },
	{ "what is dirty is shown", a_lock_shows_what_is_dirty },
	{ "in turn", locks_and_requests_take_turns },
	{ "I/O is awaited", a_lock_waits_for_io_and_can_be_withdrawn_late },
	{ "the rest cannot be read", a_lock_tells_that_the_rest_cannot_be_read },
	{ "discarded while locked", a_locked_block_that_is_discarded_goes_at_the_unlock },
	{ "memory that is locked", locked_memory_is_waited_for },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "errors", errors },
		{ "flushes", flushes },
		{ "locks", locks },
		{ "sums", sums },
	};

	return ut_run("cache_faults", suites, 4);
}
