// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cache's I/O: reads a block, fills a partly valid one, writes one back.  The turn of the loop does
 * what a completion makes possible, by way of the list "ready".
 */
#include <errno.h>
#include <string.h>
#include "iop/cache/priv.h"

static void entry_ready(struct cache *c, struct cache_entry *e)
{
	ddio_list_del(&e->ready);
	ddio_list_add(&e->ready, &c->ready);
	cache_kick(c);
}

static void entry_write_failed(struct cache *c, struct cache_entry *e, int err)
{
	const struct ddio_file_ref *file = object_file(e->obj);

	ddio_env_log(
		c->env, DDIO_LOG_ERR,
		"disk %s: block %llu of file %llu could not be written and stays in memory: %s",
		ddio_disk_name(c->queue.disk), (unsigned long long)e->block,
		(unsigned long long)file->id, strerror(-err));
	e->failed = true;
	e->write_back = false;
	e->count = 0;
	c->mem_err = err;
	cache_flush_failed(c, e, err);
	cache_kick(c);
}

/* Ends the entry's I/O, whose result has been noted. */
static void entry_io_end(struct cache *c, struct cache_entry *e)
{
	e->state = ENTRY_IDLE;
	if (e->stale)
		cache_entry_drop(c, e);
	else if (e->dirty && e->write_back)
		cache_disk_write(c, e);
	entry_ready(c, e);
}

static void entry_read_end(struct cache *c, struct cache_entry *e, int status)
{
	if (!status) {
		e->valid = e->size;
	} else {
		e->err = status;
		cache_entry_drop(c, e);
	}
}

static void entry_fill_end(struct cache *c, struct cache_entry *e, int status)
{
	if (!status)
		cache_mask_merge(e, c->fill_buf);
	else
		e->err = status;
	if (status && e->write_back && !e->stale)
		entry_write_failed(c, e, status);
	cache_mem_raw_free(c, c->fill_buf, e->size);
	c->fill_buf = NULL;
	c->filling = NULL;
	c->writing -= cache_mem_cost(e->size);
}

static void entry_write_end(struct cache *c, struct cache_entry *e, int status)
{
	c->writing -= cache_mem_cost(e->size);
	if (e->stale)
		return;
	if (status) {
		entry_write_failed(c, e, status);
		return;
	}
	c->mem_err = 0;
	object_written(e->obj, e->block, 1);
	cache_entry_clean(c, e);
}

static void entry_done(struct queue_req *req, int status)
{
	struct cache_entry *e = ddio_container_of(req, struct cache_entry, req);
	struct cache *c = e->cache;

	c->inflight--;
	if (e->state == ENTRY_READING)
		entry_read_end(c, e, status);
	else if (e->state == ENTRY_FILLING)
		entry_fill_end(c, e, status);
	else
		entry_write_end(c, e, status);
	entry_io_end(c, e);
	c->work(c);
}

static void entry_submit(struct cache *c, struct cache_entry *e, enum ddio_disk_op op,
			 uint64_t start, void *buf)
{
	e->req.op = op;
	e->req.offset = start;
	e->req.len = e->size;
	e->req.buf = buf;
	e->req.later = e->state == ENTRY_READING && e->run;
	e->req.done = entry_done;
	c->inflight++;
	queue_push(&c->queue, &e->req);
}

void cache_disk_read(struct cache *c, struct cache_entry *e, uint64_t start)
{
	e->state = ENTRY_READING;
	entry_submit(c, e, DDIO_DISK_READ, start, e->buf);
}

void cache_disk_fill(struct cache *c, struct cache_entry *e)
{
	e->state = ENTRY_FILLING;
	c->writing += cache_mem_cost(e->size);
	ddio_list_add(&e->fill, &c->fills);
	cache_disk_run_fills(c);
}

/* Runs one fill at a time, so that one buffer suffices. */
void cache_disk_run_fills(struct cache *c)
{
	struct cache_entry *e;
	uint64_t start;

	if (c->filling || ddio_list_empty(&c->fills))
		return;
	e = ddio_list_first(&c->fills, struct cache_entry, fill);
	c->fill_buf = cache_mem_raw(c, e->size);
	if (!c->fill_buf) {
		cache_retry_later(c);
		return;
	}
	ddio_list_del(&e->fill);
	c->filling = e;
	if (cache_entry_on_disk(e, &start)) {
		entry_submit(c, e, DDIO_DISK_READ, start, c->fill_buf);
		return;
	}
	/* The block has been cut off since: its other bytes are zeros. */
	memset(c->fill_buf, 0, e->size);
	entry_fill_end(c, e, 0);
	entry_io_end(c, e);
}

void cache_disk_write(struct cache *c, struct cache_entry *e)
{
	uint64_t start, run;
	bool written;

	if (!e->dirty || e->stale || e->state == ENTRY_WRITING)
		return;
	e->write_back = true;
	if (e->lock || e->state != ENTRY_IDLE)
		return;
	if (e->valid < e->size) {
		cache_disk_fill(c, e);
		return;
	}
	if (!object_lookup(e->obj, e->block, &start, &run, &written)) {
		entry_write_failed(c, e, -ESTALE);
		return;
	}
	e->write_back = false;
	e->failed = false;
	e->state = ENTRY_WRITING;
	c->writing += cache_mem_cost(e->size);
	entry_submit(c, e, DDIO_DISK_WRITE, start, e->buf);
}
