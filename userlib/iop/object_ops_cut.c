// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Removing and truncating an object.  Its blocks are freed when nobody reads or
 * writes them any more: collectives of the file end first, then what the cache
 * has of them is forgotten and its I/O awaited, again and again until nothing
 * came between.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/server_priv.h"

static void cut_try(struct server_request *req);

static uint64_t cut_size(const struct server_request *req)
{
	if (req->msg.opcode == DDIO_OP_OBJ_REMOVE)
		return 0;
	return req->obj.offset + req->obj.len;
}

static uint64_t cut_blocks(const struct server_request *req)
{
	uint32_t size = req->obj.file.block;

	return cut_size(req) / size + (cut_size(req) % size != 0);
}

static void cut_committed(struct ddio_commit *commit, int err)
{
	struct server_request *req = commit->arg;

	if (err)
		server_fail_obj(req, err, "committing");
	else
		server_reply(req, NULL, 0);
}

static void cut_now(struct server_request *req)
{
	int err;

	if (req->msg.opcode == DDIO_OP_OBJ_REMOVE)
		err = ddio_object_remove(req->object);
	else
		err = ddio_object_truncate(req->object, cut_blocks(req));
	if (err) {
		server_fail_obj(req, err, "freeing its blocks");
		return;
	}
	req->commit.done = cut_committed;
	ddio_store_commit(req->disk->store, &req->commit);
}

static void cut_again(void *arg)
{
	cut_try(arg);
}

/* A flush waits for what is written, not for what is being read. */
static void cut_flushed(struct ddio_cache_flush *flush, int status)
{
	struct server_request *req = flush->arg;
	struct ddio_env *env = req->reactor->env;

	(void)status; /* what could not be written is still dirty, and its next flush will tell */
	req->timer.fn = cut_again;
	req->timer.arg = req;
	if (!ddio_cache_busy(req->disk->cache, req->object, cut_blocks(req)) ||
	    ddio_timer_arm(env, &req->timer, ddio_env_now(env) + SERVER_POLL_NS))
		cut_try(req);
}

/* False: the request is over. */
static bool cut_wait(struct server_request *req)
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
	req->timer.fn = cut_again;
	if (!ddio_timer_arm(env, &req->timer, now + SERVER_POLL_NS))
		return true;
	server_fail_obj(req, -ENOMEM, "waiting for a collective transfer");
	return false;
}

static void cut_try(struct server_request *req)
{
	uint64_t first = cut_blocks(req);

	if (ddio_coll_uses(req->reactor, req->obj.file.id)) {
		cut_wait(req);
		return;
	}
	/*
	 * Once before all, so that nothing is written that will be gone; and when nothing is under way.
	 * In between it would have those start again who read such a block, and each wait for the
	 * other for ever.
	 */
	if (!req->discarded)
		ddio_cache_discard(req->disk->cache, req->object, first);
	req->discarded = true;
	if (!ddio_cache_busy(req->disk->cache, req->object, first)) {
		ddio_cache_discard(req->disk->cache, req->object, first);
		cut_now(req);
		return;
	}
	req->flush.obj = req->object;
	req->flush.done = cut_flushed;
	ddio_cache_flush(req->disk->cache, &req->flush);
}

/* False: there is nothing to cut, and the reply has gone. */
static bool cut_begin(struct server_request *req, const void *payload, int *ret)
{
	int err = 0;

	if (!server_obj_decode(req, payload, req->msg.length, false, ret))
		return false;
	/* An object of no file: nobody can say any more what that was like. */
	if (req->msg.opcode == DDIO_OP_OBJ_REMOVE && req->obj.flags & DDIO_OBJ_REPAIR)
		err = ddio_store_ref(req->disk->store, req->obj.file.id, &req->obj.file);
	if (err && err != -ENOENT) {
		server_fail_obj(req, err, "finding the object");
		return false;
	}
	if (!err)
		err = server_obj_get(req, false);
	if (err == -ENOENT)
		server_reply(req, NULL, 0);
	return !err;
}

int server_op_obj_remove(struct server_request *req, const void *payload)
{
	int ret;

	if (cut_begin(req, payload, &ret))
		cut_try(req);
	return ret;
}

static void cut_zeroed(struct ddio_cache_io *io, int status)
{
	struct server_request *req = io->arg;

	if (status)
		server_fail_obj(req, status, "clearing the rest of the last block");
	else
		cut_try(req);
}

static void truncate_try(void *arg)
{
	struct server_request *req = arg;
	uint64_t size = cut_size(req), start, run;
	uint32_t block = req->obj.file.block;
	bool written;

	if (ddio_coll_uses(req->reactor, req->obj.file.id)) {
		if (cut_wait(req))
			req->timer.fn = truncate_try;
		return;
	}
	if (!(size % block) ||
	    !ddio_object_lookup(req->object, size / block, &start, &run, &written)) {
		cut_try(req);
		return;
	}
	/* What is cut off within a block must read as zeros if the file grows again. */
	req->io.obj = req->object;
	req->io.offset = size;
	req->io.len = block - size % block;
	req->data = calloc(1, req->io.len);
	req->io.buf = req->data;
	req->io.done = cut_zeroed;
	if (!req->data)
		server_fail_obj(req, -ENOMEM, "clearing the rest of the last block");
	else
		ddio_cache_write(req->disk->cache, &req->io);
}

int server_op_obj_truncate(struct server_request *req, const void *payload)
{
	int ret;

	if (cut_begin(req, payload, &ret))
		truncate_try(req);
	return ret;
}
