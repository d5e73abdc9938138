// SPDX-License-Identifier: LGPL-2.1-or-later
/* Flushes that wait for blocks to be written, and errors that no flush has reported yet. */
#include <stdlib.h>
#include "iop/cache/priv.h"

bool cache_flush_concerns(const struct cache_flush *flush, const struct cache_entry *e)
{
	if (flush->seq <= e->epoch || (flush->obj && flush->obj != e->obj))
		return false;
	return !flush->count || e->block - flush->first < flush->count;
}

void cache_flush_one_less(struct cache *c, struct cache_flush *flush)
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
		if (cache_flush_concerns(flush, e))
			cache_flush_one_less(c, flush);
}

/* Keeps an error for the next flush; only the first one of an object counts. */
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

int cache_errors_take(struct cache *c, const struct object *obj)
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
		if (!cache_flush_concerns(flush, e))
			continue;
		told |= !flush->quiet;
		if (!flush->status)
			flush->status = err;
		cache_flush_one_less(c, flush);
	}
	e->epoch = c->epoch;
	if (!told)
		error_keep(c, e->obj, err);
}
