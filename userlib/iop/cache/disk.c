// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cache's I/O: reads a block, fills a partly valid one, writes one back.  The turn of the loop does
 * what a completion makes possible, by way of the list "ready".
 */
#include <errno.h>
#include <string.h>
#include "iop/cache/priv.h"

/* What was written of a block is written back in whole units of so many bytes, of which places of large blocks are multiples. */
#define WRITE_UNIT 4096

static void entry_ready(struct cache *c, struct cache_entry *e)
{
	ddio_list_del(&e->ready);
	ddio_list_add(&e->ready, &c->ready);
	cache_kick(c);
}

/* A lack of memory is not the disk's fault, and concerns all blocks alike: it is told once. */
static void say_write_failed(struct cache *c, const struct cache_entry *e, int err)
{
	const struct ddio_file_ref *file = object_file(e->obj);

	if (err == -ENOMEM && c->said == err)
		return;
	c->said = err == -ENOMEM ? err : 0;
	ddio_env_log(
		c->env, DDIO_LOG_ERR,
		"disk %s: block %llu of file %llu could not be written and stays in memory: %s",
		ddio_disk_name(c->queue.disk), (unsigned long long)e->block,
		(unsigned long long)file->id, strerror(-err));
}

static void entry_write_failed(struct cache *c, struct cache_entry *e, int err)
{
	say_write_failed(c, e, err);
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

/* The block changed in memory before it was written: who flushes it is told, and what memory holds of it is of no use. */
static void entry_spoiled(struct cache *c, struct cache_entry *e)
{
	cache_flush_failed(c, e, -EIO);
	cache_entry_drop(c, e);
}

static void entry_write_end(struct cache *c, struct cache_entry *e, int status)
{
	int err;

	c->writing -= cache_mem_cost(e->size);
	err = object_write_end(e->obj, e->block, !status && !e->stale, e->buf);
	if (e->stale)
		return;
	if (!status)
		status = err;
	if (status) {
		entry_write_failed(c, e, status);
		return;
	}
	c->mem_err = 0;
	c->said = 0;
	if (e->proven && !object_prove(e->obj, e->block, e->proof))
		entry_spoiled(c, e);
	else
		cache_entry_clean(c, e);
}

/* Returns how a read ended, after what came has been compared with its checksum. */
static int entry_checked(const struct cache *c, const struct cache_entry *e, int status)
{
	if (status || e->stale)
		return status;
	return object_check(e->obj, e->block, e->state == ENTRY_READING ? e->buf : c->fill_buf);
}

static void entry_done(struct queue_req *req, int status)
{
	struct cache_entry *e = ddio_container_of(req, struct cache_entry, req);
	struct cache *c = e->cache;

	c->inflight--;
	if (e->state == ENTRY_READING)
		entry_read_end(c, e, entry_checked(c, e, status));
	else if (e->state == ENTRY_FILLING)
		entry_fill_end(c, e, entry_checked(c, e, status));
	else
		entry_write_end(c, e, status);
	entry_io_end(c, e);
	c->work(c);
}

static void entry_submit(struct cache *c, struct cache_entry *e, enum ddio_disk_op op,
			 uint64_t start, void *buf, uint32_t len)
{
	e->req.op = op;
	e->req.offset = start;
	e->req.len = len;
	e->req.buf = buf;
	e->req.durable = op == DDIO_DISK_WRITE && e->alone;
	if (op == DDIO_DISK_WRITE)
		e->alone = false;
	e->req.later = e->state == ENTRY_READING && e->run;
	e->req.done = entry_done;
	c->inflight++;
	queue_push(&c->queue, &e->req);
}

void cache_disk_read(struct cache *c, struct cache_entry *e, uint64_t start)
{
	e->state = ENTRY_READING;
	entry_submit(c, e, DDIO_DISK_READ, start, e->buf, e->size);
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
		entry_submit(c, e, DDIO_DISK_READ, start, c->fill_buf, e->size);
		return;
	}
	/* The block has been cut off since: its other bytes are zeros. */
	memset(c->fill_buf, 0, e->size);
	entry_fill_end(c, e, 0);
	entry_io_end(c, e);
}

/* A block that is not written after all. */
static void entry_unwritten(struct cache *c, struct cache_entry *e, int err)
{
	c->writing -= cache_mem_cost(e->size);
	e->state = ENTRY_IDLE;
	if (err)
		entry_write_failed(c, e, err);
}

/*
 * Writes the units that have changed since the block was last written or read: around them the disk has the same bytes.  One
 * that was never written at this place is written whole.
 */
static void entry_write_at(struct cache *c, struct cache_entry *e, uint64_t start, bool written)
{
	uint32_t from = e->from - e->from % WRITE_UNIT, to = e->to + WRITE_UNIT - 1;

	to -= to % WRITE_UNIT;
	if (!written || start % WRITE_UNIT || to > e->size ||
	    ddio_disk_info(c->queue.disk)->sector > WRITE_UNIT) {
		from = 0;
		to = e->size;
	}
	entry_submit(c, e, DDIO_DISK_WRITE, start + from, e->buf + from, to - from);
}

/* Writes the block, or has it wait until the store has recorded that it may change. */
static void entry_write(struct cache *c, struct cache_entry *e)
{
	uint64_t start, run;
	bool written;
	int ret = -ESTALE;

	if (object_target(e->obj, e->block, &start, &run, &written))
		ret = object_write_begin(e->obj, e->block);
	if (ret < 0) {
		entry_unwritten(c, e, ret);
	} else if (!ret) {
		entry_write_at(c, e, start, written);
	} else {
		object_write_soon(e->obj, e->block);
		ddio_list_add(&e->doubt, &c->doubts);
		c->inflight++;
		cache_kick(c);
	}
}

static void doubt_recorded(struct commit *commit, int err)
{
	struct cache *c = commit->arg;
	struct ddio_list waited;
	struct cache_entry *e;

	c->doubting = false;
	c->inflight--;
	ddio_list_init(&waited);
	ddio_list_splice(&c->doubts, &waited);
	while (!ddio_list_empty(&waited)) {
		e = ddio_list_first(&waited, struct cache_entry, doubt);
		ddio_list_del(&e->doubt);
		c->inflight--;
		if (!e->stale && !err) {
			entry_write(c, e);
			continue;
		}
		entry_unwritten(c, e, e->stale ? 0 : err);
		entry_io_end(c, e);
	}
	c->work(c);
}

void cache_disk_doubt(struct cache *c)
{
	if (c->doubting || (ddio_list_empty(&c->doubts) && !c->doubt_soon))
		return;
	c->doubting = true;
	c->doubt_soon = false;
	c->inflight++;
	c->doubt.done = doubt_recorded;
	c->doubt.arg = c;
	c->doubt.early = true;
	store_commit(c->store, &c->doubt);
}

void cache_disk_write(struct cache *c, struct cache_entry *e)
{
	if (!e->dirty || e->stale || e->state == ENTRY_WRITING)
		return;
	e->write_back = true;
	if (e->lock || e->state != ENTRY_IDLE)
		return;
	if (e->valid < e->size) {
		cache_disk_fill(c, e);
		return;
	}
	e->write_back = false;
	e->failed = false;
	e->state = ENTRY_WRITING;
	c->writing += cache_mem_cost(e->size);
	entry_write(c, e);
}
