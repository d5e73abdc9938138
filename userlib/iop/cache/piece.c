// SPDX-License-Identifier: LGPL-2.1-or-later
/* Serves the part of a request that is in one block. */
#include <errno.h>
#include <string.h>
#include "base/crc32c.h"
#include "iop/cache/priv.h"

static void entry_used(struct cache *c, struct cache_entry *e)
{
	if (e->prefetched)
		cache_run_used(c, e);
	ddio_list_del(&e->lru);
	ddio_list_add(&e->lru, &c->lru);
}

/* Gives the entry a buffer: 0, PIECE_WAITS, or why it cannot have one. */
static int entry_need_buf(struct cache *c, struct cache_entry *e)
{
	int err = e->err;

	if (!err && !e->buf)
		err = cache_mem_attach(c, e);
	return err == -EAGAIN ? PIECE_WAITS : err;
}

static int piece_read_miss(struct cache *c, struct cache_entry *e, struct cache_piece *p)
{
	uint64_t start;
	int ret;

	if (!e->valid && !cache_entry_on_disk(e, &start)) {
		memset(p->data, 0, p->len);
		ddio_env_charge(c->env, DDIO_WORK_COPY, p->len);
		return 0;
	}
	ret = entry_need_buf(c, e);
	if (ret)
		return ret;
	p->io->disk_reqs++;
	if (e->valid)
		cache_disk_fill(c, e);
	else
		cache_disk_read(c, e, start);
	return PIECE_WAITS;
}

/* Adds what the bytes have to be to what is known of the request's. */
static void piece_prove(const struct cache_entry *e, const struct cache_piece *p)
{
	struct cache_io *io = p->io;
	uint64_t end = (uint64_t)(p->data - (uint8_t *)io->buf) + p->len;
	uint32_t sum;

	if (!io->prove || e->dirty ||
	    !object_sum_range(e->obj, e->block, p->offset, p->offset + p->len, &sum))
		return;
	io->sum ^= ddio_crc32c_join(sum, 0, io->len - end);
	io->proven += p->len;
}

static int piece_read(struct cache *c, struct cache_entry *e, struct cache_piece *p)
{
	if (e->state == ENTRY_READING)
		return PIECE_WAITS;
	if (!cache_mask_covers(e, p->offset, p->len))
		return e->state == ENTRY_IDLE ? piece_read_miss(c, e, p) : PIECE_WAITS;
	memcpy(p->data, e->buf + p->offset, p->len);
	piece_prove(e, p);
	ddio_env_charge(c->env, DDIO_WORK_COPY, p->len);
	entry_used(c, e);
	cache_entry_show(c, e);
	return 0;
}

/*
 * Prepares an empty block to be written to: with zeros where nothing was written before, else with a
 * mask of what is valid.  Without memory for the mask, or with install, all of it is read first.
 */
static int piece_write_prepare(struct cache *c, struct cache_entry *e, struct cache_piece *p)
{
	uint64_t start;
	int ret = e->buf ? 0 : entry_need_buf(c, e);

	if (ret)
		return ret;
	if (p->len == e->size) {
		e->valid = e->size;
	} else if (!cache_entry_on_disk(e, &start)) {
		memset(e->buf, 0, e->size);
		e->valid = e->size;
	} else if (c->opts.install || cache_mask_start(e)) {
		ret = entry_need_buf(c, e);
		if (ret)
			return ret;
		p->io->disk_reqs++;
		cache_disk_read(c, e, start);
		return PIECE_WAITS;
	}
	return 0;
}

/* Gives a block a place again that was cut off, or shared, while a request for it waited. */
static int entry_place(struct cache_entry *e)
{
	uint64_t start, run;
	bool written;

	if (object_target(e->obj, e->block, &start, &run, &written))
		return 0;
	return object_alloc(e->obj, e->block, 1);
}

/* A block that has become dirty will be written: what has to be recorded before that is, meanwhile. */
static void entry_soon(struct cache *c, struct cache_entry *e)
{
	if (!object_write_soon(e->obj, e->block))
		return;
	c->doubt_soon = true;
	cache_kick(c);
}

static int piece_write(struct cache *c, struct cache_entry *e, struct cache_piece *p)
{
	int ret;

	if (e->state == ENTRY_READING || e->state == ENTRY_WRITING)
		return PIECE_WAITS;
	ret = e->dirty ? 0 : entry_place(e);
	if (!ret && !e->valid)
		ret = piece_write_prepare(c, e, p);
	if (ret)
		return ret;
	cache_entry_hide(c, e);
	memcpy(e->buf + p->offset, p->data, p->len);
	ddio_env_charge(c->env, DDIO_WORK_COPY, p->len);
	ddio_env_charge(c->env, DDIO_WORK_CACHE, 1); /* what it holds has changed */
	cache_mask_add(e, p->offset, p->len);
	e->proven = p->io->prove && p->io->len == e->size && p->len == e->size;
	e->proof = p->io->sum;
	if (!e->dirty)
		entry_soon(c, e);
	cache_entry_dirty(c, e, p->offset, p->len);
	entry_used(c, e);
	cache_entry_show(c, e);
	if (e->count >= e->size) {
		p->io->disk_reqs++;
		cache_disk_write(c, e);
	}
	return 0;
}

int cache_piece_try(struct cache *c, struct cache_entry *e, struct cache_piece *p)
{
	if (e->stale)
		return PIECE_WAITS;
	return cache_io_state(p->io)->write ? piece_write(c, e, p) : piece_read(c, e, p);
}

bool cache_takes_ends(const struct cache *c)
{
	return c->opts.ends;
}

/* Gives a locked block a buffer and says which of its bytes are valid; false: not now. */
static bool locked_prepare(struct cache *c, struct cache_entry *e)
{
	uint64_t start;

	if (e->valid)
		return true;
	if (cache_entry_on_disk(e, &start))
		return !c->opts.install && cache_mem_try(c, e) && !cache_mask_start(e);
	if (!cache_mem_try(c, e))
		return false;
	memset(e->buf, 0, e->size);
	e->valid = e->size;
	return true;
}

uint8_t *cache_lock_room(struct cache *c, struct block_lock *lock)
{
	struct cache_entry *e = lock->entry;

	if (e->stale || store_stopped(c->store))
		return NULL;
	if (locked_prepare(c, e))
		return e->buf;
	if (e->buf)
		cache_entry_drop(c, e);
	else
		cache_mem_age(c);
	return NULL;
}

/* A block all of whose bytes were put is written back when it is unlocked. */
void cache_lock_put(struct cache *c, struct block_lock *lock, uint32_t offset, uint32_t len)
{
	struct cache_entry *e = lock->entry;

	ddio_env_charge(c->env, DDIO_WORK_COPY, len);
	ddio_env_charge(c->env, DDIO_WORK_CACHE, 1);
	cache_mask_add(e, offset, len);
	e->proven = false;
	cache_entry_dirty(c, e, offset, len);
	entry_used(c, e);
	if (e->valid == e->size && e->count >= e->size)
		cache_disk_write(c, e);
}
