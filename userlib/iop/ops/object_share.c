// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Gives blocks of one object to another one on the same disk as well, instead of copying them.  That is done in turns, each at a
 * moment when nobody reads or writes the blocks that are replaced, and the disk has what memory knows of the others.  Where
 * that does not come soon, or a collective uses one of the files, they are copied.
 */
#include <errno.h>
#include "iop/coll/service.h"
#include "iop/ops/handlers.h"
#include "iop/ops/object.h"

/* So often is it looked for such a moment. */
#define SHARE_TRIES 100

static void share_turn(void *arg);

static void turn_at(struct server_request *req, uint64_t delay)
{
	struct ddio_env *env = req->reactor->env;
	struct obj_share *s = req->data;

	req->timer.fn = share_turn;
	req->timer.arg = req;
	if (ddio_timer_arm(env, &req->timer, ddio_env_now(env) + delay))
		s->done(req, -ENOMEM);
}

static void flushed(struct cache_flush *flush, int status)
{
	struct server_request *req = flush->arg;
	struct obj_share *s = req->data;

	if (status)
		s->done(req, status);
	else
		turn_at(req, SERVER_POLL_NS);
}

/* Has written back what would be in the way. */
static void flush(struct server_request *req, struct object *obj)
{
	req->flush.obj = obj;
	req->flush.done = flushed;
	req->flush.arg = req;
	cache_flush(req->disk->cache, &req->flush);
}

static bool source_ready(const struct server_request *req, const struct obj_share *s)
{
	struct cache *c = req->disk->cache;

	return !cache_busy(c, s->from, s->at, s->count) &&
	       cache_next_newer(c, s->from, s->at, s->count) == s->at + s->count;
}

static bool collective(const struct server_request *req, const struct obj_share *s)
{
	return coll_uses(req->reactor, object_file(s->from)->id) ||
	       coll_uses(req->reactor, object_file(req->object)->id);
}

/* Shares some; the cache forgets what was there before. */
static void share_some(struct server_request *req, struct obj_share *s)
{
	uint64_t n = s->count;
	int err = object_share(req->object, s->first, s->from, s->at, &n);

	if (err) {
		s->done(req, err);
		return;
	}
	cache_discard(req->disk->cache, req->object, s->first, n);
	s->at += n;
	s->first += n;
	s->count -= n;
	s->shared += n;
	if (!s->count)
		s->done(req, 0);
	else if (!n && store_pressed(req->disk->store))
		/* So many checksums wait to be recorded. */
		turn_at(req, SERVER_POLL_NS);
	else
		turn_at(req, 0);
}

static void share_turn(void *arg)
{
	struct server_request *req = arg;
	struct obj_share *s = req->data;

	if (collective(req, s) || s->tries == SHARE_TRIES) {
		s->done(req, -EBUSY);
	} else if (!source_ready(req, s)) {
		s->tries++;
		flush(req, s->from);
	} else if (cache_busy(req->disk->cache, req->object, s->first, s->count)) {
		s->tries++;
		flush(req, req->object);
	} else {
		share_some(req, s);
	}
}

void obj_share(struct server_request *req, struct obj_share *s)
{
	s->shared = 0;
	s->tries = 0;
	share_turn(req);
}
