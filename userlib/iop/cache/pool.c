// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory of blocks: its bound, and the buffers that are free. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/cache/priv.h"

#define MEM_PAGE 4096u

/* Returns what a buffer costs: whole pages. */
uint64_t cache_mem_cost(uint32_t size)
{
	return size < MEM_PAGE ? MEM_PAGE : size;
}

static uint64_t mem_max_blocks(const struct cache *c)
{
	uint64_t n = (uint64_t)CACHE_PAPER_CLIENT * c->clients;

	return n < CACHE_PAPER_MIN ? CACHE_PAPER_MIN : n;
}

bool cache_mem_fits(const struct cache *c, uint64_t bytes, uint64_t nbufs)
{
	if (!c->opts.paper)
		return bytes <= c->opts.bytes;
	return nbufs <= mem_max_blocks(c) && bytes <= CACHE_PAPER_MAX;
}

uint64_t cache_mem_bound(const struct cache *c, uint32_t size)
{
	uint64_t bytes = c->opts.bytes;

	if (c->opts.paper) {
		bytes = mem_max_blocks(c) * cache_mem_cost(size);
		bytes = bytes < CACHE_PAPER_MAX ? bytes : CACHE_PAPER_MAX;
	}
	return bytes;
}

bool cache_mem_room(const struct cache *c, uint32_t size)
{
	return !c->nbufs || cache_mem_fits(c, c->bytes + cache_mem_cost(size), c->nbufs + 1);
}

static void mem_free(struct cache *c, void *buf, uint32_t size)
{
	if (c->showcase && ddio_showcase_has(c->showcase, buf))
		ddio_showcase_put(c->showcase, buf, size);
	else
		ddio_env_free(c->env, buf, size);
}

/* Blocks lie where they can be shown, as long as there is room. */
static void *mem_alloc(struct cache *c, uint32_t size)
{
	void *buf = c->showcase ? ddio_showcase_get(c->showcase, size) : NULL;

	return buf ? buf : ddio_env_alloc(c->env, size);
}

void cache_mem_trim(struct cache *c)
{
	while (c->pool) {
		void *buf = c->pool;

		c->pool = *(void **)buf;
		mem_free(c, buf, c->pool_size);
	}
	c->pooled = 0;
	c->npooled = 0;
}

uint8_t *cache_mem_raw(struct cache *c, uint32_t size)
{
	void *buf = c->pool;

	if (!buf || c->pool_size != size) {
		cache_mem_trim(c);
		return mem_alloc(c, size);
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
	if (!cache_mem_fits(c, c->bytes + c->pooled + cost, c->nbufs + c->npooled + 1)) {
		mem_free(c, buf, size);
		return;
	}
	*(void **)(void *)buf = c->pool;
	c->pool = buf;
	c->pooled += cost;
	c->npooled++;
}

int cache_mem_take(struct cache *c, struct cache_entry *e)
{
	e->buf = cache_mem_raw(c, e->size);
	if (!e->buf)
		return -ENOMEM;
	c->bytes += cache_mem_cost(e->size);
	c->nbufs++;
	ddio_list_add(&e->lru, &c->lru);
	return 0;
}

bool cache_mem_showable(struct cache *c, struct cache_entry *e)
{
	uint8_t *buf;

	if (ddio_showcase_has(c->showcase, e->buf))
		return true;
	buf = e->state == ENTRY_IDLE ? ddio_showcase_get(c->showcase, e->size) : NULL;
	if (!buf)
		return false;
	memcpy(buf, e->buf, e->size);
	ddio_env_free(c->env, e->buf, e->size);
	e->buf = buf;
	return true;
}

void cache_mem_release(struct cache *c, struct cache_entry *e)
{
	cache_entry_hide(c, e);
	c->bytes -= cache_mem_cost(e->size);
	c->nbufs--;
	ddio_list_del(&e->lru);
	cache_mem_raw_free(c, e->buf, e->size);
	e->buf = NULL;
}
