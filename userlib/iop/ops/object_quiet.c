// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Blocks may be freed or moved only while nobody reads or writes them.  So the file's collectives end first;
 * then the cache forgets the blocks and ends its I/O on them, again and again until nothing came between.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/coll/service.h"
#include "iop/ops/object.h"

static void quiet_try(struct server_request *req);

/* Calls @again after a moment.  Returns false if the deadline has passed, and the request is over. */
static bool quiet_wait(struct server_request *req, void (*again)(void *arg))
{
	struct ddio_env *env = req->reactor->env;
	uint64_t now = ddio_env_now(env);

	if (!req->deadline)
		req->deadline = now + req->reactor->iop->conf->timeout_ns;
	if (now >= req->deadline) {
		server_fail(req, DDIO_ST_BUSY,
			    "disk %s: a collective transfer of file %llu does not end",
			    req->disk->name, (unsigned long long)req->obj.file.id);
		return false;
	}
	req->timer.fn = again;
	req->timer.arg = req;
	if (!ddio_timer_arm(env, &req->timer, now + SERVER_POLL_NS))
		return true;
	obj_fail(req, -ENOMEM, "waiting for a collective transfer");
	return false;
}

static void alone_again(void *arg)
{
	struct server_request *req = arg;

	obj_alone(req, req->step);
}

void obj_alone(struct server_request *req, void (*step)(struct server_request *req))
{
	req->step = step;
	if (coll_uses(req->reactor, req->obj.file.id))
		quiet_wait(req, alone_again);
	else
		step(req);
}

static void quiet_again(void *arg)
{
	quiet_try(arg);
}

/* A flush waits for what is written, not for what is being read. */
static void quiet_flushed(struct cache_flush *flush, int status)
{
	struct server_request *req = flush->arg;
	struct ddio_env *env = req->reactor->env;

	(void)status; /* what could not be written is still dirty: the next flush reports it */
	req->timer.fn = quiet_again;
	req->timer.arg = req;
	if (!cache_busy(req->disk->cache, req->object, req->first, req->count) ||
	    ddio_timer_arm(env, &req->timer, ddio_env_now(env) + SERVER_POLL_NS))
		quiet_try(req);
}

static void quiet_try(struct server_request *req)
{
	struct cache *cache = req->disk->cache;

	if (coll_uses(req->reactor, req->obj.file.id)) {
		quiet_wait(req, quiet_again);
		return;
	}
	/*
	 * The cache forgets the blocks once at the beginning, so that nothing is written that will be freed, and
	 * once when no I/O is under way.  Doing it in between would make requests that read such a block start
	 * again, and both sides would wait for each other for ever.
	 */
	if (!req->discarded)
		cache_discard(cache, req->object, req->first, req->count);
	req->discarded = true;
	if (!cache_busy(cache, req->object, req->first, req->count)) {
		cache_discard(cache, req->object, req->first, req->count);
		req->step(req);
		return;
	}
	req->flush = (struct cache_flush){ .obj = req->object, .done = quiet_flushed, .arg = req };
	cache_flush(cache, &req->flush);
}

void obj_quiet(struct server_request *req, uint64_t first, uint64_t count,
	       void (*step)(struct server_request *req))
{
	req->first = first;
	req->count = count;
	req->step = step;
	req->discarded = false;
	if (count)
		quiet_try(req);
	else
		step(req);
}

static void zero_ended(struct server_request *req, int status)
{
	if (status)
		obj_fail(req, status, "clearing a part of a block");
	else
		req->step(req);
}

static void zero_flushed(struct cache_flush *flush, int status)
{
	zero_ended(flush->arg, status);
}

/* The disk gets the zeros now: the commit with which every cut ends makes them durable together with its records. */
static void zeroed(struct cache_io *io, int status)
{
	struct server_request *req = io->arg;

	free(req->data);
	req->data = NULL;
	if (status) {
		zero_ended(req, status);
		return;
	}
	req->flush = (struct cache_flush){ .obj = req->object,
					   .first = io->offset / req->obj.file.block,
					   .count = 1,
					   .quiet = true,
					   .done = zero_flushed,
					   .arg = req };
	cache_flush(req->disk->cache, &req->flush);
}

void obj_zero(struct server_request *req, uint64_t from, uint64_t to,
	      void (*step)(struct server_request *req))
{
	uint64_t block = from / req->obj.file.block, start, run;
	bool written;

	req->step = step;
	if (from >= to || !object_lookup(req->object, block, &start, &run, &written) ||
	    (!written && !cache_newer(req->disk->cache, req->object, block))) {
		step(req);
		return;
	}
	req->io.obj = req->object;
	req->io.offset = from;
	req->io.len = to - from;
	req->data = calloc(1, req->io.len);
	req->io.buf = req->data;
	req->io.done = zeroed;
	if (!req->data)
		obj_fail(req, -ENOMEM, "clearing a part of a block");
	else
		cache_write(req->disk->cache, &req->io);
}

static void committed(struct commit *commit, int err)
{
	struct server_request *req = commit->arg;

	if (err)
		obj_fail(req, err, "committing");
	else
		server_reply(req, NULL, 0);
}

void obj_commit(struct server_request *req)
{
	req->commit.done = committed;
	store_commit(req->disk->store, &req->commit);
}
