// SPDX-License-Identifier: LGPL-2.1-or-later
/* The block cache's entrances, and its turn of the loop; see priv.h. */
#include <errno.h>
#include <stdlib.h>
#include "base/bug.h"
#include "iop/cache/priv.h"

static void work_serve(struct cache *c)
{
	struct cache_entry *e;

	while (!ddio_list_empty(&c->ready)) {
		e = ddio_list_first(&c->ready, struct cache_entry, ready);
		ddio_list_del(&e->ready);
		cache_entry_run(c, e);
	}
	for (e = cache_mem_next(c); e; e = cache_mem_next(c))
		cache_entry_run(c, e);
	cache_disk_run_fills(c);
	cache_disk_doubt(c);
	queue_commit(&c->queue);
}

/* Calls back for what has ended; a callback may free its own struct, and may use the cache. */
static void work_report(struct cache *c)
{
	cache_io_report(c);
	while (!ddio_list_empty(&c->granted)) {
		struct block_lock *lock = ddio_list_first(&c->granted, struct block_lock, link);

		ddio_list_del(&lock->link);
		lock->granted(lock);
	}
	while (!ddio_list_empty(&c->flushed)) {
		struct cache_flush *flush = ddio_list_first(&c->flushed, struct cache_flush, link);

		ddio_list_del(&flush->link);
		cache_flush_end(c, flush);
	}
}

/* Serves the requests that can be served, then makes the callbacks that are due. */
static void cache_work(struct cache *c)
{
	if (c->working) {
		c->more = true;
		return;
	}
	c->working = true;
	do {
		c->more = false;
		cache_lock_retry(c);
		work_serve(c);
		work_report(c);
	} while (c->more || !ddio_list_empty(&c->ready));
	queue_commit(&c->queue);
	c->working = false;
}

static void cache_lists_init(struct cache *c)
{
	struct ddio_list *lists[] = {
		&c->all,     &c->lru,	  &c->unsettled, &c->ready,   &c->mem,
		&c->fills,   &c->flushes, &c->errors,	 &c->starved, &c->finished,
		&c->flushed, &c->granted, &c->doubts,
	};
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		ddio_list_init(lists[i]);
}

/**
 * cache_new - make a cache for the disk of a store
 * @env: the reactor
 * @store: its objects' blocks are cached
 * @opts: copied
 * @cache: the result
 */
int cache_new(struct ddio_env *env, struct store *store, const struct cache_opts *opts,
	      struct cache **cache)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->env = env;
	c->store = store;
	c->opts = *opts;
	c->work = cache_work;
	c->seq = 1;
	cache_lists_init(c);
	queue_init(&c->queue, env, store_disk(store), opts->depth, opts->fcfs);
	*cache = c;
	return 0;
}

void cache_free(struct cache *c)
{
	struct cache_entry *e, *tmp;

	if (!c ||
	    bug_on(c->inflight || c->kicked || c->working,
		   "disk %s: its cache was freed while it works", ddio_disk_name(c->queue.disk)))
		return;
	ddio_timer_cancel(c->env, &c->retry);
	ddio_list_for_each_entry_safe(e, tmp, &c->all, all) {
		cache_entry_drop(c, e);
		cache_entry_settle(c, e);
	}
	cache_runs_free(c);
	cache_mem_trim(c);
	ddio_showcase_free(c->showcase);
	cache_errors_forget(c, NULL);
	ddio_hash_fini(&c->entries);
	ddio_hash_fini(&c->objects);
	free(c);
}

void cache_set_clients(struct cache *c, uint32_t clients)
{
	c->clients = clients;
	cache_mem_shrink(c);
	cache_kick(c);
}

void cache_stats(const struct cache *c, struct cache_stats *stats)
{
	*stats = c->stats;
	stats->blocks = c->nbufs;
	stats->dirty = c->ndirty;
	stats->bytes = c->bytes + c->pooled;
	if (c->filling)
		stats->bytes += cache_mem_cost(c->filling->size);
	cache_run_stats(c, stats);
	stats->queue = queue_length(&c->queue);
	stats->max_queue = c->queue.max;
}

static void cache_begin(struct cache *c, struct cache_io *io, bool write)
{
	cache_io_begin(c, io, write);
	queue_commit(&c->queue);
	if (!c->working)
		cache_io_report(c);
	else if (!ddio_list_empty(&c->finished))
		c->more = true;
}

/**
 * cache_read - read bytes of an object, from memory where possible
 * @c: the cache of the object's disk
 * @io: see struct cache_io
 */
void cache_read(struct cache *c, struct cache_io *io)
{
	cache_begin(c, io, false);
}

/**
 * cache_write - write bytes of an object, at first into memory
 * @c: the cache of the object's disk
 * @io: see struct cache_io
 *
 * A block is written back once as many bytes have been written to it as it has (WriteFull).
 */
void cache_write(struct cache *c, struct cache_io *io)
{
	cache_begin(c, io, true);
}

/* Calls @fn with every entry of a range of an object's blocks until it returns true; takes the shorter way. */
static bool range_any_of(struct cache *c, struct cache_object *of, uint64_t first, uint64_t count,
			 bool (*fn)(struct cache *c, struct cache_entry *e))
{
	struct cache_entry *e, *tmp;

	if (count < of->n) {
		c->looked += count;
		for (; count; count--, first++) {
			e = cache_entry_find(c, of->obj, first);
			if (e && fn(c, e))
				return true;
		}
		return false;
	}
	c->looked += of->n;
	ddio_list_for_each_entry_safe(e, tmp, &of->blocks, of_block)
		if (e->block >= first && e->block - first < count && fn(c, e))
			return true;
	return false;
}

static bool range_any(struct cache *c, const struct object *obj, uint64_t first, uint64_t count,
		      bool (*fn)(struct cache *c, struct cache_entry *e))
{
	struct cache_object *of = cache_object_hold(c, obj);
	bool any;

	if (!of)
		return false;
	any = range_any_of(c, of, first, count, fn);
	cache_object_put(c, of);
	return any;
}

static bool entry_discard(struct cache *c, struct cache_entry *e)
{
	cache_entry_forget(c, e);
	return false;
}

static bool entry_in_use(struct cache *c, struct cache_entry *e)
{
	(void)c;
	return e->state != ENTRY_IDLE || e->lock;
}

/**
 * cache_discard - drop blocks without writing them
 * @c: the cache of the object's disk
 * @obj: the object
 * @first: first of the blocks
 * @count: how many
 */
void cache_discard(struct cache *c, struct object *obj, uint64_t first, uint64_t count)
{
	range_any(c, obj, first, count, entry_discard);
	if (!first && count == UINT64_MAX)
		cache_errors_forget(c, obj);
	cache_kick(c);
}

bool cache_busy(struct cache *c, const struct object *obj, uint64_t first, uint64_t count)
{
	return range_any(c, obj, first, count, entry_in_use);
}

bool cache_dirty(const struct cache *c)
{
	return c->ndirty;
}

bool cache_idle(const struct cache *c)
{
	return !c->inflight && !c->kicked && !c->working && ddio_list_empty(&c->fills) &&
	       ddio_list_empty(&c->mem) && ddio_list_empty(&c->flushes);
}
