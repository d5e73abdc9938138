// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests of the traditional path, piece by piece. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/cache/priv.h"

static_assert(sizeof(struct cache_io_state) <= sizeof(((struct cache_io *)0)->priv),
	      "a request's private part is too small");

static_assert(sizeof(struct cache_piece) <= sizeof(((struct cache_io *)0)->first),
	      "a piece does not fit into its request");

static void io_pump(struct cache *c, struct cache_io *io);

static void io_finish(struct cache *c, struct cache_io *io)
{
	struct cache_io_state *s = cache_io_state(io);

	if (s->ended || s->running || (!s->status && s->next < io->len))
		return;
	s->ended = true;
	io->hit = !s->missed && !s->status;
	ddio_list_add(&io->link, &c->finished);
}

/* The first piece of a request is in the request. */
static void piece_free(struct cache_piece *p)
{
	if ((void *)p != (void *)p->io->first)
		free(p);
}

void cache_piece_end(struct cache *c, struct cache_piece *p, int status)
{
	struct cache_io *io = p->io;
	struct cache_io_state *s = cache_io_state(io);

	ddio_list_del(&p->link);
	if (!s->pumping)
		ddio_env_charge(c->env, DDIO_WORK_SWITCH, 1);
	if (status && !s->status)
		s->status = status;
	s->running--;
	piece_free(p);
	if (!s->pumping)
		io_pump(c, io);
}

static void entry_used(struct cache *c, struct cache_entry *e)
{
	if (e->prefetched)
		cache_stream_used(c, e);
	ddio_list_del(&e->lru);
	ddio_list_add(&e->lru, &c->lru);
}

/* The piece can only be served with a buffer: 0, or it has to wait or has failed (1). */
static int piece_need_buf(struct cache *c, struct cache_entry *e, struct cache_piece *p, bool *over)
{
	int err = e->err;

	*over = false;
	if (!err && !e->buf)
		err = cache_mem_attach(c, e);
	if (!err)
		return 0;
	if (err != -EAGAIN) {
		cache_piece_end(c, p, err);
		*over = true;
	}
	return 1;
}

static bool piece_read_miss(struct cache *c, struct cache_entry *e, struct cache_piece *p)
{
	uint64_t start;
	bool over;

	if (!e->valid && !cache_entry_on_disk(e, &start)) {
		memset(p->data, 0, p->len);
		ddio_env_charge(c->env, DDIO_WORK_COPY, p->len);
		cache_piece_end(c, p, 0);
		return true;
	}
	if (piece_need_buf(c, e, p, &over))
		return over;
	p->io->disk_reqs++;
	if (e->valid)
		cache_disk_fill(c, e);
	else
		cache_disk_read(c, e, start);
	return false;
}

static bool piece_read(struct cache *c, struct cache_entry *e, struct cache_piece *p)
{
	if (e->state == ENTRY_READING)
		return false;
	if (!cache_mask_covers(e, p->offset, p->len))
		return e->state == ENTRY_IDLE && piece_read_miss(c, e, p);
	memcpy(p->data, e->buf + p->offset, p->len);
	ddio_env_charge(c->env, DDIO_WORK_COPY, p->len);
	entry_used(c, e);
	cache_piece_end(c, p, 0);
	return true;
}

/*
 * Makes an empty block fit to be written to: zeros where nothing was written before, else a
 * mask.  Return: true if it is; else *over says whether the piece has failed or waits.
 */
static bool piece_write_prepare(struct cache *c, struct cache_entry *e, struct cache_piece *p,
				bool *over)
{
	uint64_t start;

	if (!e->buf && piece_need_buf(c, e, p, over))
		return false;
	if (p->len == e->size) {
		e->valid = e->size;
	} else if (!cache_entry_on_disk(e, &start)) {
		memset(e->buf, 0, e->size);
		e->valid = e->size;
	} else if (c->opts.install || cache_mask_start(e)) {
		/* Or no memory to remember what is right: then all of it shall be. */
		if (piece_need_buf(c, e, p, over))
			return false;
		p->io->disk_reqs++;
		cache_disk_read(c, e, start);
		return false;
	}
	return true;
}

/* A block that is cut off while a request for it waits gets a place anew. */
static int entry_place(struct cache_entry *e)
{
	uint64_t start, run;
	bool written;

	if (object_lookup(e->obj, e->block, &start, &run, &written))
		return 0;
	return object_alloc(e->obj, e->block, 1);
}

static bool piece_write(struct cache *c, struct cache_entry *e, struct cache_piece *p)
{
	bool over = false;
	int err;

	if (e->state == ENTRY_READING || e->state == ENTRY_WRITING)
		return false;
	err = e->dirty ? 0 : entry_place(e);
	if (err) {
		cache_piece_end(c, p, err);
		return true;
	}
	if (!e->valid && !piece_write_prepare(c, e, p, &over))
		return over;
	memcpy(e->buf + p->offset, p->data, p->len);
	ddio_env_charge(c->env, DDIO_WORK_COPY, p->len);
	ddio_env_charge(c->env, DDIO_WORK_CACHE, 1); /* what it holds has changed */
	cache_mask_add(e, p->offset, p->len);
	cache_entry_dirty(c, e, p->len);
	entry_used(c, e);
	if (e->count >= e->size) {
		p->io->disk_reqs++;
		cache_disk_write(c, e);
	}
	cache_piece_end(c, p, 0);
	return true;
}

bool cache_piece_try(struct cache *c, struct cache_entry *e, struct cache_piece *p)
{
	if (e->stale)
		return false;
	return cache_io_state(p->io)->write ? piece_write(c, e, p) : piece_read(c, e, p);
}

/* A block that nobody need go to the disk for, as far as is known when a piece comes. */
static void piece_count(struct cache *c, const struct cache_entry *e, struct cache_io_state *s)
{
	uint64_t start;
	bool hit = e->valid || e->state == ENTRY_READING || cache_entry_waited(e);

	ddio_env_charge(c->env, DDIO_WORK_CACHE, 1);
	if (hit) {
		c->stats.hits++;
		return;
	}
	s->missed = true;
	/* A hole that is read is in neither place. */
	if (s->write || cache_entry_on_disk(e, &start))
		c->stats.misses++;
}

static struct cache_piece *piece_new(struct cache_io *io)
{
	struct cache_io_state *s = cache_io_state(io);
	uint32_t size = object_file(io->obj)->block;
	uint64_t at = io->offset + s->next;
	struct cache_piece *p = (struct cache_piece *)io->first;

	if (s->next)
		p = malloc(sizeof(*p));
	if (!p)
		return NULL;
	ddio_list_init(&p->link);
	p->io = io;
	p->block = at / size;
	p->offset = at % size;
	p->len = size - p->offset;
	if (p->len > io->len - s->next)
		p->len = io->len - s->next;
	p->data = (uint8_t *)io->buf + s->next;
	return p;
}

static int piece_start(struct cache *c, struct cache_io *io)
{
	struct cache_io_state *s = cache_io_state(io);
	struct cache_piece *p = piece_new(io);
	struct cache_entry *e;

	if (!p)
		return -ENOMEM;
	e = cache_entry_get(c, io->obj, p->block);
	if (!e) {
		piece_free(p);
		return -ENOMEM;
	}
	piece_count(c, e, s);
	p->seq = c->seq++;
	s->next += p->len;
	s->running++;
	ddio_list_add(&p->link, &e->pieces);
	cache_entry_run(c, e);
	return 0;
}

static void io_prefetch(struct cache *c, struct cache_io *io)
{
	struct cache_io_state *s = cache_io_state(io);

	if (!io->stream && c->queue.fcfs && s->running)
		return;
	s->prefetched = true;
	if (io->stream)
		cache_stream_read(c, io);
	else
		cache_prefetch(c, io);
}

/* Makes pieces, as many as may be under way, until all are made; a failure ends it. */
static void io_pump(struct cache *c, struct cache_io *io)
{
	struct cache_io_state *s = cache_io_state(io);

	s->pumping = true;
	while (!s->status && s->next < io->len && s->running < CACHE_WINDOW) {
		int err = piece_start(c, io);

		if (err && !s->status)
			s->status = err;
	}
	s->pumping = false;
	if (!s->write && io->prefetch && !s->status && s->next == io->len && !s->prefetched)
		io_prefetch(c, io);
	io_finish(c, io);
}

/* Every block that is written gets its place now, or none does: a full disk is told to the writer. */
static int io_alloc(struct cache_io *io)
{
	uint32_t size = object_file(io->obj)->block;
	uint64_t first = io->offset / size, block;
	uint64_t end = (io->offset + io->len - 1) / size + 1;
	uint64_t start, run;
	bool written;

	for (block = first; block < end; block += run) {
		if (!object_lookup(io->obj, block, &start, &run, &written))
			return object_alloc(io->obj, first, end - first);
		if (run > end - block)
			break;
	}
	return 0;
}

void cache_io_begin(struct cache *c, struct cache_io *io, bool write)
{
	struct cache_io_state *s = cache_io_state(io);

	*s = (struct cache_io_state){ .write = write };
	ddio_list_init(&io->link);
	io->disk_reqs = 0;
	if (io->offset > DDIO_MAX_FILE || io->len > DDIO_MAX_FILE - io->offset)
		s->status = -EINVAL;
	else if (write && io->len)
		s->status = io_alloc(io);
	if (s->status || !io->len)
		io_finish(c, io);
	else
		io_pump(c, io);
}

void cache_io_report(struct cache *c)
{
	while (!ddio_list_empty(&c->finished)) {
		struct cache_io *io = ddio_list_first(&c->finished, struct cache_io, link);

		ddio_list_del(&io->link);
		io->done(io, cache_io_state(io)->status);
	}
}
