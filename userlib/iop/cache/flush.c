// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes back on request.  A flush has a number and waits for the blocks that were dirty, or discarded
 * with I/O under way, when it began: an entry's epoch is the number of the last flush before that
 * happened, so a flush does not wait for blocks that become dirty later.  A block that could not be written
 * stays dirty, even if the cache is to be dropped, and counts as new.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/cache/priv.h"

static void flush_object(struct cache *c, struct cache_flush *flush)
{
	struct cache_object *of = cache_object_hold(c, flush->obj);
	struct cache_entry *e, *tmp;

	if (!of)
		return;
	ddio_list_for_each_entry(e, &of->unsettled, of_unsettled) {
		c->looked++;
		flush->pending += cache_flush_concerns(flush, e);
	}
	ddio_list_for_each_entry_safe(e, tmp, &of->unsettled, of_unsettled) {
		if (!cache_flush_concerns(flush, e))
			continue;
		/* @flush itself is pending, too. */
		e->alone = flush->pending == 2 && !flush->drop && e->dirty;
		cache_disk_write(c, e);
	}
	cache_object_put(c, of);
}

static void flush_all(struct cache *c, struct cache_flush *flush)
{
	struct cache_entry *e, *tmp;

	ddio_list_for_each_entry(e, &c->unsettled, unsettled)
		flush->pending += cache_flush_concerns(flush, e);
	ddio_list_for_each_entry_safe(e, tmp, &c->unsettled, unsettled)
		if (cache_flush_concerns(flush, e))
			cache_disk_write(c, e);
}

/**
 * cache_flush - write back dirty blocks
 * @c: the cache
 * @flush: see struct cache_flush
 */
void cache_flush(struct cache *c, struct cache_flush *flush)
{
	flush->seq = ++c->epoch;
	flush->pending = 1;
	flush->status = flush->quiet ? 0 : cache_errors_take(c, flush->obj);
	ddio_list_add(&flush->link, &c->flushes);
	if (flush->obj)
		flush_object(c, flush);
	else
		flush_all(c, flush);
	cache_flush_one_less(c, flush);
	queue_commit(&c->queue);
}

/* Returns true if the block can be dropped; one that is being read, and not waited for, is dropped on arrival. */
static bool entry_droppable(const struct cache_entry *e)
{
	if (cache_entry_waited(e) || e->lock)
		return false;
	return e->state == ENTRY_READING || (e->state == ENTRY_IDLE && !e->dirty);
}

static void drop_object(struct cache *c, const struct object *obj)
{
	struct cache_object *of = cache_object_hold(c, obj);
	struct cache_entry *e, *tmp;

	if (!of)
		return;
	c->looked += of->n;
	ddio_list_for_each_entry_safe(e, tmp, &of->blocks, of_block)
		if (entry_droppable(e))
			cache_entry_forget(c, e);
	cache_object_put(c, of);
}

static void drop_all(struct cache *c)
{
	struct cache_entry *e, *tmp;

	ddio_list_for_each_entry_safe(e, tmp, &c->all, all)
		if (entry_droppable(e))
			cache_entry_forget(c, e);
}

void cache_flush_end(struct cache *c, struct cache_flush *flush)
{
	if (flush->drop && flush->obj)
		drop_object(c, flush->obj);
	else if (flush->drop)
		drop_all(c);
	flush->done(flush, flush->status);
}

void cache_distrust(struct cache *c, const struct object *obj, uint64_t first, uint64_t count)
{
	struct cache_entry *e;
	uint64_t i;

	for (i = 0; i < count; i++) {
		e = cache_entry_find(c, obj, first + i);
		if (e && entry_droppable(e))
			cache_entry_forget(c, e);
	}
}
