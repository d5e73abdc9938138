// SPDX-License-Identifier: LGPL-2.1-or-later
/* The locks that collectives take on blocks. */
#include <errno.h>
#include "base/bug.h"
#include "iop/cache/priv.h"

/* Returns true if it is granted.  A partly valid block is filled first, unless its holder does without. */
bool cache_lock_try(struct cache *c, struct cache_entry *e, struct block_lock *lock)
{
	if (e->state != ENTRY_IDLE || e->lock)
		return false;
	if (e->dirty && e->valid < e->size && !e->err && !lock->part) {
		cache_disk_fill(c, e);
		return false;
	}
	cache_entry_hide(c, e);
	lock->status = 0;
	lock->dirty = NULL;
	lock->newer = e->dirty;
	if (e->dirty && e->valid < e->size)
		lock->status = lock->part ? 0 : e->err;
	else if (e->dirty)
		lock->dirty = e->buf;
	e->lock = lock;
	return true;
}

/* Returns 1: granted, 0: waits, or -ENOMEM. */
static int lock_begin(struct cache *c, struct block_lock *lock)
{
	struct cache_entry *e = cache_entry_get(c, lock->obj, lock->block);

	if (!e)
		return -ENOMEM;
	lock->entry = e;
	lock->seq = c->seq++;
	if (!cache_entry_waited(e) && cache_lock_try(c, e, lock))
		return 1;
	ddio_list_add(&lock->link, &e->locks);
	return 0;
}

/**
 * cache_lock - take a block for a collective
 * @c: the cache of the object's disk
 * @lock: see struct block_lock
 *
 * Return: true if granted at once; otherwise @lock->granted will be called.
 */
bool cache_lock(struct cache *c, struct block_lock *lock)
{
	int ret;

	ddio_list_init(&lock->link);
	lock->entry = NULL;
	lock->dirty = NULL;
	lock->status = 0;
	ddio_env_charge(c->env, DDIO_WORK_CACHE, 1);
	ret = lock_begin(c, lock);
	if (ret < 0) {
		ddio_list_add(&lock->link, &c->starved);
		cache_retry_later(c);
	}
	queue_commit(&c->queue);
	return ret == 1;
}

void cache_lock_retry(struct cache *c)
{
	while (!ddio_list_empty(&c->starved)) {
		struct block_lock *lock = ddio_list_first(&c->starved, struct block_lock, link);
		int ret;

		ddio_list_del(&lock->link);
		ret = lock_begin(c, lock);
		if (ret == 1)
			ddio_list_add(&lock->link, &c->granted);
		if (ret >= 0)
			continue;
		ddio_list_push(&lock->link, &c->starved);
		cache_retry_later(c);
		return;
	}
}

/**
 * cache_unlock - give a block back
 * @c: the cache
 * @lock: has been granted
 * @stale: the disk now holds something newer than the cache
 */
void cache_unlock(struct cache *c, struct block_lock *lock, bool stale)
{
	struct cache_entry *e = lock->entry;

	if (bug_on(!e || e->lock != lock, "disk %s: a block was unlocked that was not locked",
		   ddio_disk_name(c->queue.disk)))
		return;
	e->lock = NULL;
	lock->entry = NULL;
	lock->dirty = NULL;
	if (stale || e->stale)
		cache_entry_drop(c, e);
	else if (e->write_back)
		cache_disk_write(c, e);
	queue_commit(&c->queue);
	if (cache_entry_waited(e)) {
		ddio_list_del(&e->ready);
		ddio_list_add(&e->ready, &c->ready);
		cache_kick(c);
	} else {
		cache_entry_settle(c, e);
	}
	if (!ddio_list_empty(&c->mem))
		cache_kick(c);
}

/**
 * cache_lock_cancel - withdraw a lock
 * @c: the cache
 * @lock: cache_lock() returned false, and granted() has not been called
 */
void cache_lock_cancel(struct cache *c, struct block_lock *lock)
{
	struct cache_entry *e = lock->entry;

	ddio_list_del(&lock->link);
	if (!e)
		return;
	if (e->lock == lock) {
		cache_unlock(c, lock, false);
		return;
	}
	lock->entry = NULL;
	if (cache_entry_waited(e)) {
		ddio_list_del(&e->ready);
		ddio_list_add(&e->ready, &c->ready);
		cache_kick(c);
	} else {
		cache_entry_settle(c, e);
	}
}

static bool entry_newer(const struct cache_entry *e)
{
	return e->dirty || e->state == ENTRY_WRITING;
}

/**
 * cache_newer - tell whether the cache holds, or is writing, newer bytes than the disk has
 * @c: the cache of the object's disk
 * @obj: the object
 * @block: number in it
 *
 * The answer may be outdated with the next event; nothing is locked.
 */
bool cache_newer(struct cache *c, const struct object *obj, uint64_t block)
{
	const struct cache_entry *e = cache_entry_find(c, obj, block);

	return e && entry_newer(e);
}

static uint64_t next_newer(struct cache *c, const struct cache_object *of, uint64_t first,
			   uint64_t count)
{
	const struct cache_entry *e;
	uint64_t at = first, found = first + count;

	if (count < of->n) {
		while (at < found && !cache_newer(c, of->obj, at))
			at++;
		c->looked += at - first;
		return at;
	}
	c->looked += of->n;
	ddio_list_for_each_entry(e, &of->blocks, of_block)
		if (e->block >= first && e->block < found && entry_newer(e))
			found = e->block;
	return found;
}

uint64_t cache_next_newer(struct cache *c, const struct object *obj, uint64_t first, uint64_t count)
{
	struct cache_object *of = cache_object_hold(c, obj);
	uint64_t found;

	if (!of)
		return first + count;
	found = next_newer(c, of, first, count);
	cache_object_put(c, of);
	return found;
}
