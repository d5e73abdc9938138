// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests of the traditional path: cuts them into pieces, which are served in order. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include "base/probe.h"
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

/* A request contains its first piece. */
static void piece_free(struct cache_piece *p)
{
	if ((void *)p != (void *)p->io->first)
		free(p);
}

static void piece_end(struct cache *c, struct cache_piece *p, int status)
{
	struct cache_io *io = p->io;
	struct cache_io_state *s = cache_io_state(io);

	ddio_list_del(&p->link);
	if (!s->pumping)
		ddio_env_charge(c->env, DDIO_WORK_SWITCH, 1);
	if (status && !s->status) {
		s->status = status;
		io->bad = p->block;
	}
	s->running--;
	piece_free(p);
	if (!s->pumping)
		io_pump(c, io);
}

/* Returns the first waiter if it is a lock; NULL: it is a piece. */
static struct block_lock *first_lock(struct cache_entry *e)
{
	struct block_lock *lock;
	struct cache_piece *p;

	if (ddio_list_empty(&e->locks))
		return NULL;
	lock = ddio_list_first(&e->locks, struct block_lock, link);
	if (ddio_list_empty(&e->pieces))
		return lock;
	p = ddio_list_first(&e->pieces, struct cache_piece, link);
	return lock->seq < p->seq ? lock : NULL;
}

static bool entry_run_first(struct cache *c, struct cache_entry *e)
{
	struct block_lock *lock = first_lock(e);
	struct cache_piece *p;
	int status;

	if (!lock) {
		p = ddio_list_first(&e->pieces, struct cache_piece, link);
		status = cache_piece_try(c, e, p);
		if (status == PIECE_WAITS)
			return false;
		piece_end(c, p, status);
		return true;
	}
	if (!cache_lock_try(c, e, lock))
		return false;
	ddio_list_del(&lock->link);
	ddio_list_add(&lock->link, &c->granted);
	cache_kick(c);
	return true;
}

void cache_entry_run(struct cache *c, struct cache_entry *e)
{
	if (e->running)
		return;
	e->running = true;
	ddio_list_del(&e->ready);
	while (!e->lock && cache_entry_waited(e))
		if (!entry_run_first(c, e))
			break;
	e->err = 0;
	e->running = false;
	cache_entry_settle(c, e);
}

/* Counts a hit or miss, as far as is known when the piece arrives. */
static void piece_count(struct cache *c, const struct cache_entry *e, struct cache_io_state *s)
{
	uint64_t start;
	bool hit = e->valid || e->state == ENTRY_READING || cache_entry_waited(e);

	ddio_env_charge(c->env, DDIO_WORK_CACHE, 1);
	DDIO_PROBE(cache_look, object_file(e->obj)->id, e->block, hit);
	if (hit) {
		c->stats.hits++;
		return;
	}
	s->missed = true;
	/* A hole that is read is neither. */
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

	if (!io->reader && c->opts.late_ahead && s->running)
		return;
	s->prefetched = true;
	cache_read_ahead(c, io);
}

/* Makes as many pieces as may be under way, until all are made or one fails. */
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

/* Gives all blocks to be written a place, or none: the writer gets -ENOSPC. */
static int io_alloc(struct cache_io *io)
{
	uint32_t size = object_file(io->obj)->block;
	uint64_t first = io->offset / size, block;
	uint64_t end = (io->offset + io->len - 1) / size + 1;
	uint64_t start, run;
	bool written;

	for (block = first; block < end; block += run) {
		if (!object_target(io->obj, block, &start, &run, &written))
			return object_alloc(io->obj, first, end - first);
		if (run > end - block)
			break;
	}
	return 0;
}

static int io_may_write(const struct cache *c, struct cache_io *io)
{
	int err = store_stopped(c->store);

	return err ? err : io_alloc(io);
}

void cache_io_begin(struct cache *c, struct cache_io *io, bool write)
{
	struct cache_io_state *s = cache_io_state(io);

	*s = (struct cache_io_state){ .write = write };
	ddio_list_init(&io->link);
	io->disk_reqs = 0;
	io->proven = 0;
	if (!write)
		io->sum = 0;
	if (io->offset > DDIO_MAX_FILE || io->len > DDIO_MAX_FILE - io->offset)
		s->status = -EINVAL;
	else if (write && io->len)
		s->status = io_may_write(c, io);
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
