// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Memory of the cache's blocks: its bound, eviction, who waits for it.
 *
 * Blocks go in LRU order.  Where the oldest one is dirty it is written back first, and
 * nobody younger goes in its place.  Blocks that could not be written are passed
 * over; when only such blocks are left, they are tried again one at a time, and
 * each time one fails the first who waits gets the error, so that nobody waits for ever.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/cache/priv.h"

#define MEM_PAGE 4096u

/* Buffers are whole pages. */
uint64_t cache_mem_cost(uint32_t size)
{
	return size < MEM_PAGE ? MEM_PAGE : size;
}

static uint64_t mem_max_blocks(const struct cache *c)
{
	uint64_t n = (uint64_t)CACHE_PAPER_CLIENT * c->clients;

	return n < CACHE_PAPER_MIN ? CACHE_PAPER_MIN : n;
}

/* Is there room for so many bytes more, in so many buffers more? */
static bool mem_fits(const struct cache *c, uint64_t bytes, uint64_t nbufs)
{
	if (!c->opts.paper)
		return bytes <= c->opts.bytes;
	return nbufs <= mem_max_blocks(c) && bytes <= DDIO_CACHE_PAPER_MAX;
}

uint64_t cache_mem_bound(const struct cache *c, uint32_t size)
{
	uint64_t bytes = c->opts.bytes;

	if (c->opts.paper) {
		bytes = mem_max_blocks(c) * cache_mem_cost(size);
		bytes = bytes < DDIO_CACHE_PAPER_MAX ? bytes : DDIO_CACHE_PAPER_MAX;
	}
	return bytes;
}

static bool mem_room(const struct cache *c, uint32_t size)
{
	return !c->nbufs || mem_fits(c, c->bytes + cache_mem_cost(size), c->nbufs + 1);
}

void cache_mem_trim(struct cache *c)
{
	while (c->pool) {
		void *buf = c->pool;

		c->pool = *(void **)buf;
		ddio_env_free(c->env, buf, c->pool_size);
	}
	c->pooled = 0;
	c->npooled = 0;
}

uint8_t *cache_mem_raw(struct cache *c, uint32_t size)
{
	void *buf = c->pool;

	if (!buf || c->pool_size != size) {
		cache_mem_trim(c);
		return ddio_env_alloc(c->env, size);
	}
	c->pool = *(void **)buf;
	c->pooled -= cache_mem_cost(size);
	c->npooled--;
	return buf;
}

void cache_mem_raw_free(struct cache *c, uint8_t *buf, uint32_t size)
{
	uint64_t cost = cache_mem_cost(size);

	if (c->pool_size != size) {
		cache_mem_trim(c);
		c->pool_size = size;
	}
	if (!mem_fits(c, c->bytes + c->pooled + cost, c->nbufs + c->npooled + 1)) {
		ddio_env_free(c->env, buf, size);
		return;
	}
	*(void **)(void *)buf = c->pool;
	c->pool = buf;
	c->pooled += cost;
	c->npooled++;
}

static int mem_take(struct cache *c, struct cache_entry *e)
{
	e->buf = cache_mem_raw(c, e->size);
	if (!e->buf)
		return -ENOMEM;
	c->bytes += cache_mem_cost(e->size);
	c->nbufs++;
	ddio_list_add(&e->lru, &c->lru);
	return 0;
}

void cache_mem_release(struct cache *c, struct cache_entry *e)
{
	c->bytes -= cache_mem_cost(e->size);
	c->nbufs--;
	ddio_list_del(&e->lru);
	cache_mem_raw_free(c, e->buf, e->size);
	e->buf = NULL;
}

static void mem_evict(struct cache *c, struct cache_entry *e)
{
	cache_entry_drop(c, e);
	cache_entry_settle(c, e);
}

static bool mem_make_room(struct cache *c, uint32_t size)
{
	struct cache_entry *e, *tmp;
	bool older_dirty = false;

	ddio_list_for_each_entry_safe(e, tmp, &c->lru, lru) {
		if (mem_room(c, size))
			return true;
		if (cache_entry_busy(e))
			continue;
		if (!e->dirty) {
			if (!older_dirty)
				mem_evict(c, e);
			continue;
		}
		if (e->failed)
			continue;
		older_dirty = true;
		if (c->writing >= c->wanted)
			break;
		cache_disk_write(c, e);
	}
	return mem_room(c, size);
}

static void mem_unwait(struct cache *c, struct cache_entry *e)
{
	ddio_list_del(&e->mem);
	c->wanted -= cache_mem_cost(e->size);
}

int cache_mem_attach(struct cache *c, struct cache_entry *e)
{
	if (ddio_list_empty(&e->mem)) {
		ddio_list_add(&e->mem, &c->mem);
		c->wanted += cache_mem_cost(e->size);
	}
	if (c->mem.next != &e->mem || !mem_make_room(c, e->size)) {
		if (!c->inflight)
			cache_kick(c);
		return -EAGAIN;
	}
	mem_unwait(c, e);
	return mem_take(c, e);
}

bool cache_mem_try(struct cache *c, struct cache_entry *e)
{
	struct cache_entry *old, *tmp;

	if (!ddio_list_empty(&c->mem))
		return false;
	ddio_list_for_each_entry_safe(old, tmp, &c->lru, lru) {
		if (mem_room(c, e->size))
			break;
		if (cache_entry_busy(old))
			continue;
		/* Not for the block that has just been asked for either. */
		if (old->dirty || (old->obj == e->obj && old->block + 1 == e->block))
			return false;
		mem_evict(c, old);
	}
	return mem_room(c, e->size) && !mem_take(c, e);
}

/* Nothing under way will make room: try once more what could not be written. */
static void mem_retry_failed(struct cache *c)
{
	struct cache_entry *e;

	ddio_list_for_each_entry(e, &c->lru, lru) {
		if (e->dirty && e->failed && !cache_entry_busy(e)) {
			cache_disk_write(c, e);
			return;
		}
	}
}

/* The first who waits gets the error. */
static void mem_fail_first(struct cache *c)
{
	struct cache_entry *e = ddio_list_first(&c->mem, struct cache_entry, mem);

	mem_unwait(c, e);
	e->err = c->mem_err;
	c->mem_err = 0;
	cache_entry_run(c, e);
}

void cache_mem_run(struct cache *c)
{
	while (!ddio_list_empty(&c->mem)) {
		struct cache_entry *e = ddio_list_first(&c->mem, struct cache_entry, mem);

		if (mem_make_room(c, e->size))
			cache_entry_run(c, e);
		else if (c->mem_err && !c->writing)
			mem_fail_first(c);
		else
			break;
	}
	if (ddio_list_empty(&c->mem))
		c->mem_err = 0;
	else if (!c->inflight && ddio_list_empty(&c->ready))
		mem_retry_failed(c);
}

void cache_mem_shrink(struct cache *c)
{
	struct cache_entry *e, *tmp;

	ddio_list_for_each_entry_safe(e, tmp, &c->lru, lru) {
		if (mem_fits(c, c->bytes, c->nbufs))
			break;
		if (!e->dirty && !cache_entry_busy(e))
			mem_evict(c, e);
	}
	if (!mem_fits(c, c->bytes + c->pooled, c->nbufs + c->npooled))
		cache_mem_trim(c);
}
