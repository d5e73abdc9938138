// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Evicts blocks, and hands their memory to entries that wait for it.
 *
 * Blocks are evicted in LRU order.  If the oldest one is dirty it is written back first, and no younger
 * one is evicted instead.  Blocks that could not be written are skipped; when only such blocks are left they
 * are tried again one at a time, and each time one fails the first waiter gets the error, so that no one
 * waits forever.
 */
#include <errno.h>
#include "iop/cache/priv.h"

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
		if (cache_mem_room(c, size))
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
	return cache_mem_room(c, size);
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
	return cache_mem_take(c, e);
}

bool cache_mem_try(struct cache *c, struct cache_entry *e)
{
	struct cache_entry *old, *tmp;

	if (!ddio_list_empty(&c->mem))
		return false;
	ddio_list_for_each_entry_safe(old, tmp, &c->lru, lru) {
		if (cache_mem_room(c, e->size))
			break;
		if (cache_entry_busy(old))
			continue;
		/* A block that has just been asked for is not evicted either. */
		if (old->dirty || (old->obj == e->obj && old->block + 1 == e->block))
			return false;
		mem_evict(c, old);
	}
	return cache_mem_room(c, e->size) && !cache_mem_take(c, e);
}

void cache_mem_age(struct cache *c)
{
	struct cache_entry *e;

	if (c->writing)
		return;
	ddio_list_for_each_entry(e, &c->lru, lru) {
		if (e->dirty && !e->failed && !cache_entry_busy(e)) {
			cache_disk_write(c, e);
			return;
		}
	}
}

/* If nothing under way will make room, tries once more to write a block that could not be written. */
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

struct cache_entry *cache_mem_next(struct cache *c)
{
	struct cache_entry *e = ddio_list_first(&c->mem, struct cache_entry, mem);

	if (ddio_list_empty(&c->mem)) {
		c->mem_err = 0;
		return NULL;
	}
	if (mem_make_room(c, e->size))
		return e;
	if (c->mem_err && !c->writing) {
		mem_unwait(c, e);
		e->err = c->mem_err;
		c->mem_err = 0;
		return e;
	}
	if (!c->inflight && ddio_list_empty(&c->ready))
		mem_retry_failed(c);
	return NULL;
}

void cache_mem_shrink(struct cache *c)
{
	struct cache_entry *e, *tmp;

	ddio_list_for_each_entry_safe(e, tmp, &c->lru, lru) {
		if (cache_mem_fits(c, c->bytes, c->nbufs))
			break;
		if (!e->dirty && !cache_entry_busy(e))
			mem_evict(c, e);
	}
	if (!cache_mem_fits(c, c->bytes + c->pooled, c->nbufs + c->npooled))
		cache_mem_trim(c);
}
