// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write back on request.  A flush has a number, and waits for the blocks that
 * were dirty, or discarded with I/O under way, when it came: an entry's epoch is the
 * number of the last flush before that happened, so that what becomes dirty later
 * is not waited for.  A block that could not be written stays dirty and is
 * counted as new.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/cache/priv.h"

static bool flush_concerns(const struct cache_flush *flush, const struct cache_entry *e)
{
	return (!flush->obj || flush->obj == e->obj) && flush->seq > e->epoch;
}

static void flush_one_less(struct cache *c, struct cache_flush *flush)
{
	if (--flush->pending)
		return;
	ddio_list_del(&flush->link);
	ddio_list_add(&flush->link, &c->flushed);
	cache_kick(c);
}

void cache_flush_notify(struct cache *c, const struct cache_entry *e)
{
	struct cache_flush *flush, *tmp;

	ddio_list_for_each_entry_safe(flush, tmp, &c->flushes, link)
		if (flush_concerns(flush, e))
			flush_one_less(c, flush);
}

/* For the next flush; the first error of an object is the one that counts. */
static void error_keep(struct cache *c, struct object *obj, int err)
{
	struct cache_error *x;

	ddio_list_for_each_entry(x, &c->errors, link)
		if (x->obj == obj)
			return;
	x = malloc(sizeof(*x));
	if (!x) {
		c->lost_err = err;
		return;
	}
	x->obj = obj;
	x->err = err;
	object_ref(obj);
	ddio_list_add(&x->link, &c->errors);
}

static void error_free(struct cache_error *x)
{
	ddio_list_del(&x->link);
	object_put(x->obj);
	free(x);
}

/* The errors that nobody was told of; @obj NULL: of all objects. */
static int errors_take(struct cache *c, const struct object *obj)
{
	struct cache_error *x, *tmp;
	int err = c->lost_err;

	c->lost_err = 0;
	ddio_list_for_each_entry_safe(x, tmp, &c->errors, link) {
		if (obj && x->obj != obj)
			continue;
		if (!err)
			err = x->err;
		error_free(x);
	}
	return err;
}

void cache_errors_forget(struct cache *c, const struct object *obj)
{
	struct cache_error *x, *tmp;

	ddio_list_for_each_entry_safe(x, tmp, &c->errors, link)
		if (!obj || x->obj == obj)
			error_free(x);
}

void cache_flush_failed(struct cache *c, struct cache_entry *e, int err)
{
	struct cache_flush *flush, *tmp;
	bool told = false;

	ddio_list_for_each_entry_safe(flush, tmp, &c->flushes, link) {
		if (!flush_concerns(flush, e))
			continue;
		told = true;
		if (!flush->status)
			flush->status = err;
		flush_one_less(c, flush);
	}
	e->epoch = c->epoch;
	if (!told)
		error_keep(c, e->obj, err);
}

/**
 * cache_flush - write back what is dirty
 * @c: the cache
 * @flush: see struct cache_flush
 */
void cache_flush(struct cache *c, struct cache_flush *flush)
{
	struct cache_entry *e, *tmp;

	flush->seq = ++c->epoch;
	flush->pending = 1;
	flush->status = errors_take(c, flush->obj);
	ddio_list_add(&flush->link, &c->flushes);
	ddio_list_for_each_entry(e, &c->unsettled, unsettled)
		if (flush_concerns(flush, e))
			flush->pending++;
	ddio_list_for_each_entry_safe(e, tmp, &c->unsettled, unsettled)
		if (flush_concerns(flush, e))
			cache_disk_write(c, e);
	flush_one_less(c, flush);
	queue_commit(&c->queue);
}

/* A block of nobody's that is being read is forgotten too, when it has come. */
static bool entry_droppable(const struct cache_entry *e)
{
	if (cache_entry_waited(e) || e->lock)
		return false;
	return e->state == ENTRY_READING || (e->state == ENTRY_IDLE && (!e->dirty || e->failed));
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
