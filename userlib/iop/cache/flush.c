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

/**
 * cache_flush - write back dirty blocks
 * @c: the cache
 * @flush: see struct cache_flush
 */
void cache_flush(struct cache *c, struct cache_flush *flush)
{
	struct cache_entry *e, *tmp;

	flush->seq = ++c->epoch;
	flush->pending = 1;
	flush->status = cache_errors_take(c, flush->obj);
	ddio_list_add(&flush->link, &c->flushes);
	ddio_list_for_each_entry(e, &c->unsettled, unsettled)
		if (cache_flush_concerns(flush, e))
			flush->pending++;
	ddio_list_for_each_entry_safe(e, tmp, &c->unsettled, unsettled)
		if (cache_flush_concerns(flush, e))
			cache_disk_write(c, e);
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

void cache_flush_end(struct cache *c, struct cache_flush *flush)
{
	struct cache_entry *e, *tmp;

	if (flush->drop)
		ddio_list_for_each_entry_safe(e, tmp, &c->all, all)
			if ((!flush->obj || e->obj == flush->obj) && entry_droppable(e))
				cache_entry_forget(c, e);
	flush->done(flush, flush->status);
}
