// SPDX-License-Identifier: GPL-2.0-only
/*
 * The block cache without memory: every allocation fails once.  Sources that allocate are compiled in here,
 * with the allocator replaced.
 */
#include "tests/unit/lib/ut_nomem.h"

#include "userlib/iop/cache/entry.c"
#include "userlib/iop/cache/flush_wait.c"
#include "userlib/iop/cache/io.c"
#include "userlib/iop/cache/mask.c"
#include "userlib/iop/cache/runs.c"

#include "tests/unit/lib/ut_nomem_end.h"

#include "tests/unit/lib/ut.h"
#include "cache_world.h"

#define BS 4096u

static struct cache_world *world_blocks(uint32_t blocks)
{
	struct cache_opts opts = { .bytes = blocks * BS, .depth = 1 };

	return world_new(&opts);
}

/* Fires the timer that the cache has armed. */
static bool timer_fires(struct cache_world *w)
{
	struct ddio_timer *timer = w->timer;

	if (!timer || !timer->node.slot)
		return false;
	w->now = timer->node.when;
	w->timer = NULL;
	timer->node.slot = 0;
	timer->fn(timer->arg);
	world_run(w);
	return true;
}

/* Locks that got no entry are tried again, in their order, until there is memory. */
static void a_starved_lock_is_tried_again(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_lock a, b;

	world_fill(w, obj, 2);
	nomem_countdown = 1;
	CU_ASSERT(!world_lock(w, &a, obj, 0));
	nomem_countdown = 1;
	CU_ASSERT(!world_lock(w, &b, obj, 1));
	CU_ASSERT_EQUAL(a.granted + b.granted, 0);
	nomem_countdown = 1;
	CU_ASSERT(timer_fires(w));
	CU_ASSERT_EQUAL(a.granted + b.granted, 0);
	/* The entry has its memory, what is known of its object has none. */
	nomem_countdown = 2;
	CU_ASSERT(timer_fires(w));
	CU_ASSERT_EQUAL(a.granted + b.granted, 0);
	nomem_countdown = 3;
	CU_ASSERT(timer_fires(w));
	CU_ASSERT_EQUAL(a.granted, 1);
	CU_ASSERT_EQUAL(b.granted, 0);
	CU_ASSERT(timer_fires(w));
	CU_ASSERT_EQUAL(b.granted, 1);
	CU_ASSERT(!timer_fires(w));
	cache_unlock(w->cache, &a.lock, false);
	cache_unlock(w->cache, &b.lock, false);
	CU_ASSERT_EQUAL(world_obj(obj)->refs, 1);
	world_free(w);
	free(obj);
}

/* A lock that is withdrawn while it starves is not granted later. */
static void a_starved_lock_is_withdrawn(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS);
	struct world_lock a;

	nomem_countdown = 1;
	CU_ASSERT(!world_lock(w, &a, obj, 0));
	cache_lock_cancel(w->cache, &a.lock);
	timer_fires(w);
	CU_ASSERT_EQUAL(a.granted, 0);
	CU_ASSERT_EQUAL(world_obj(obj)->refs, 1);
	world_free(w);
	free(obj);
}

/* Each allocation of a request of two blocks fails: the request says so, or does without. */
static void a_request_fails_or_does_without(void)
{
	struct object *obj = world_object(1, BS);
	uint8_t buf[2 * BS];
	uint64_t k, failed = 0;
	int ret;

	for (k = 1; k < 10; k++) {
		struct cache_world *w = world_blocks(8);

		memset(world_obj(obj)->placed, 0, sizeof(world_obj(obj)->placed));
		world_obj(obj)->end = 0;
		world_fill(w, obj, 2);
		memset(buf, 9, sizeof(buf));
		nomem_countdown = k;
		ret = world_write(w, obj, 100, buf, BS);
		CU_ASSERT(!ret || ret == -ENOMEM);
		failed += ret != 0;
		nomem_countdown = 0;
		CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
		CU_ASSERT_EQUAL(world_read(w, obj, 0, buf, 2 * BS), 0);
		CU_ASSERT_EQUAL(buf[99], 1);
		CU_ASSERT_EQUAL(buf[2 * BS - 1], 2);
		CU_ASSERT(ret || (buf[100] == 9 && buf[BS + 99] == 9));
		world_free(w);
		CU_ASSERT_EQUAL(world_obj(obj)->refs, 1);
	}
	CU_ASSERT(failed >= 2 && failed < k - 1);
	free(obj);
}

/* A write back fails, and there is no memory to remember for which object: every flush is told. */
static void an_error_is_not_lost(void)
{
	struct cache_world *w = world_blocks(8);
	struct object *obj = world_object(1, BS), *other = world_object(2, BS);
	struct world_io x;
	uint8_t buf[BS];

	memset(buf, 6, sizeof(buf));
	w->fail_op = DDIO_DISK_WRITE;
	w->fail_n = 1;
	world_write_start(w, &x, obj, 0, buf, BS);
	nomem_countdown = 1;
	world_run(w);
	CU_ASSERT_EQUAL(x.status, 0);
	CU_ASSERT_EQUAL(nomem_countdown, 0);
	CU_ASSERT_EQUAL(world_flush(w, other, false), -EIO);
	CU_ASSERT_EQUAL(world_flush(w, obj, false), 0);
	world_free(w);
	free(obj);
	free(other);
}

static const struct ut_case cases[] = {
	{ "a starved lock is tried again", a_starved_lock_is_tried_again },
	{ "a starved lock is withdrawn", a_starved_lock_is_withdrawn },
	{ "a request fails or does without", a_request_fails_or_does_without },
	{ "an error is not lost", an_error_is_not_lost },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "no memory", cases } };

	return ut_run("cache_nomem", suites, 1);
}
