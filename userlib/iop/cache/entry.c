// SPDX-License-Identifier: LGPL-2.1-or-later
/* The life of an entry; see priv.h. */
#include <errno.h>
#include <stdlib.h>
#include "iop/cache/priv.h"

static uint64_t entry_key(const struct object *obj, uint64_t block)
{
	return (uintptr_t)obj * UINT64_C(0x9e3779b97f4a7c15) + block;
}

struct cache_entry *cache_entry_find(struct cache *c, const struct object *obj, uint64_t block)
{
	struct cache_entry *e;

	ddio_hash_for_each_match(e, &c->entries, entry_key(obj, block), node)
		if (e->obj == obj && e->block == block)
			return e;
	return NULL;
}

static struct cache_object *object_find(const struct cache *c, const struct object *obj)
{
	return ddio_hash_entry(ddio_hash_find(&c->objects, (uintptr_t)obj), struct cache_object,
			       node);
}

struct cache_object *cache_object_hold(struct cache *c, const struct object *obj)
{
	struct cache_object *of = object_find(c, obj);

	if (of)
		of->n++;
	return of;
}

void cache_object_put(struct cache *c, struct cache_object *of)
{
	if (--of->n)
		return;
	ddio_hash_del(&c->objects, &of->node);
	free(of);
}

/* Finds or makes one; NULL: no memory. */
static struct cache_object *object_get(struct cache *c, struct object *obj)
{
	struct cache_object *of = cache_object_hold(c, obj);

	if (of)
		return of;
	of = calloc(1, sizeof(*of));
	if (!of)
		return NULL;
	of->obj = obj;
	of->n = 1;
	ddio_list_init(&of->blocks);
	ddio_list_init(&of->unsettled);
	ddio_hash_add(&c->objects, &of->node, (uintptr_t)obj);
	return of;
}

static void entry_lists_init(struct cache_entry *e)
{
	ddio_list_init(&e->lru);
	ddio_list_init(&e->unsettled);
	ddio_list_init(&e->of_unsettled);
	ddio_list_init(&e->ready);
	ddio_list_init(&e->mem);
	ddio_list_init(&e->fill);
	ddio_list_init(&e->doubt);
	ddio_list_init(&e->pieces);
	ddio_list_init(&e->locks);
}

struct cache_entry *cache_entry_get(struct cache *c, struct object *obj, uint64_t block)
{
	struct cache_entry *e = cache_entry_find(c, obj, block);

	if (e)
		return e;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->of = object_get(c, obj);
	if (!e->of) {
		free(e);
		return NULL;
	}
	entry_lists_init(e);
	e->cache = c;
	e->obj = obj;
	object_ref(obj);
	e->block = block;
	e->size = object_file(obj)->block;
	ddio_hash_add(&c->entries, &e->node, entry_key(obj, block));
	ddio_list_add(&e->all, &c->all);
	ddio_list_add(&e->of_block, &e->of->blocks);
	return e;
}

bool cache_entry_waited(const struct cache_entry *e)
{
	return !ddio_list_empty(&e->pieces) || !ddio_list_empty(&e->locks);
}

bool cache_entry_busy(const struct cache_entry *e)
{
	return e->state != ENTRY_IDLE || e->lock || e->running || cache_entry_waited(e);
}

void cache_entry_settle(struct cache *c, struct cache_entry *e)
{
	if (e->buf || cache_entry_busy(e))
		return;
	ddio_list_del(&e->ready);
	ddio_hash_del(&c->entries, &e->node);
	ddio_list_del(&e->all);
	ddio_list_del(&e->of_block);
	cache_object_put(c, e->of);
	object_put(e->obj);
	free(e);
}

static void unsettled_add(struct cache *c, struct cache_entry *e)
{
	e->epoch = c->epoch;
	ddio_list_add(&e->unsettled, &c->unsettled);
	ddio_list_add(&e->of_unsettled, &e->of->unsettled);
}

void cache_entry_dirty(struct cache *c, struct cache_entry *e, uint32_t from, uint32_t len)
{
	if (e->dirty) {
		e->count += len;
		e->from = from < e->from ? from : e->from;
		e->to = from + len > e->to ? from + len : e->to;
		return;
	}
	e->dirty = true;
	e->count = len;
	e->from = from;
	e->to = from + len;
	c->ndirty++;
	unsettled_add(c, e);
}

/* Settles an entry that has been written or is no longer wanted. */
void cache_entry_clean(struct cache *c, struct cache_entry *e)
{
	if (e->dirty || e->stale)
		cache_flush_notify(c, e);
	if (e->dirty)
		c->ndirty--;
	ddio_list_del(&e->unsettled);
	ddio_list_del(&e->of_unsettled);
	e->dirty = false;
	e->stale = false;
	e->failed = false;
	e->write_back = false;
	e->count = 0;
}

void cache_entry_drop(struct cache *c, struct cache_entry *e)
{
	if (e->prefetched)
		cache_run_wasted(c, e);
	cache_entry_clean(c, e);
	e->proven = false;
	free(e->mask);
	e->mask = NULL;
	e->valid = 0;
	if (e->buf)
		cache_mem_release(c, e);
}

void cache_entry_forget(struct cache *c, struct cache_entry *e)
{
	if (e->state == ENTRY_IDLE && !e->lock) {
		cache_entry_drop(c, e);
		cache_entry_settle(c, e);
		return;
	}
	if (e->stale)
		return;
	cache_entry_hide(c, e);
	e->stale = true;
	e->write_back = false;
	if (!e->dirty)
		unsettled_add(c, e);
}

bool cache_entry_on_disk(const struct cache_entry *e, uint64_t *start)
{
	uint64_t run;
	bool written;

	return object_lookup(e->obj, e->block, start, &run, &written) && written;
}
