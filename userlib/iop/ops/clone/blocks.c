// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Gives all blocks of a file that somebody holds to a new one as well, on one disk.  As both are held, nobody reads or writes
 * either meanwhile.  What lies beyond the size that the clone will have is left out: writes that were under way may have put
 * blocks there, and bytes into the last block.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/ops/clone/priv.h"
#include "iop/ops/object.h"

/**
 * struct clone_job - in the request's data; its object is the clone's
 * @to: the clone's hold
 * @at, @end: blocks: the next, and the end
 */
struct clone_job {
	struct server_request *req;
	struct ddio_msg_obj_clone msg;
	struct clone_hold *to;
	uint64_t at, end;
};

static void clone_end(struct clone_job *job)
{
	if (job->to)
		clone_hold_end(job->to);
	job->to = NULL;
}

static void clone_fail(struct clone_job *job, int err, const char *what)
{
	clone_end(job);
	obj_fail(job->req, err, what);
}

/* Calls @fn after a while. */
static void turn_after(struct clone_job *job, void (*fn)(void *arg), uint64_t delay)
{
	struct server_request *req = job->req;
	struct ddio_env *env = req->reactor->env;

	req->timer.fn = fn;
	req->timer.arg = job;
	if (ddio_timer_arm(env, &req->timer, ddio_env_now(env) + delay))
		clone_fail(job, -ENOMEM, "cloning");
}

/* Returns the hold of the other file, or NULL and the request is over, and @job with it. */
static struct clone_hold *held(struct clone_job *job)
{
	const struct ddio_msg_obj_clone *msg = &job->msg;
	struct clone_hold *h = clone_hold_find(job->req->disk, msg->from.id, msg->hold);

	if (h)
		return h;
	clone_end(job);
	server_fail(job->req, DDIO_ST_CANCELLED, "disk %s: the hold of file %llu is over",
		    job->req->disk->name, (unsigned long long)msg->from.id);
	return NULL;
}

/* Returns true if the file that is held is the one that the request describes: its number alone says nothing of its blocks. */
static bool described(struct clone_job *job, const struct clone_hold *from)
{
	const struct ddio_file_ref *is = object_file(clone_hold_object(from));
	const struct ddio_file_ref *said = &job->msg.from;

	if (is->block == said->block && is->layout == said->layout && is->seed == said->seed)
		return true;
	server_fail(job->req, DDIO_ST_STALE,
		    "disk %s: file %llu has another block size, layout or seed",
		    job->req->disk->name, (unsigned long long)said->id);
	return false;
}

/*
 * The bytes beyond the end in the last block
 */
static void clone_commit(struct clone_job *job)
{
	int err = job->msg.flags & DDIO_OBJ_CLONE_FREEZE ? object_freeze(job->req->object) : 0;

	if (err) {
		clone_fail(job, err, "freezing a snapshot");
		return;
	}
	clone_end(job);
	obj_commit(job->req);
}

static void tail_flushed(struct cache_flush *flush, int status)
{
	struct clone_job *job = flush->arg;

	if (status)
		clone_fail(job, status, "clearing what lies beyond the end");
	else
		clone_commit(job);
}

static void tail_written(struct cache_io *io, int status)
{
	struct clone_job *job = io->arg;
	struct server_request *req = job->req;

	if (status) {
		clone_fail(job, status, "clearing what lies beyond the end");
		return;
	}
	req->flush = (struct cache_flush){ .obj = req->object, .done = tail_flushed, .arg = job };
	cache_flush(req->disk->cache, &req->flush);
}

static bool all_zero(const uint8_t *buf, size_t len)
{
	size_t i;

	for (i = 0; i < len && !buf[i]; i++)
		;
	return i == len;
}

static void tail_read(struct cache_io *io, int status)
{
	struct clone_job *job = io->arg;
	struct server_request *req = job->req;

	if (status) {
		clone_fail(job, status, "reading the last block");
	} else if (all_zero(req->buf, req->len)) {
		clone_commit(job);
	} else {
		memset(req->buf, 0, req->len);
		io->done = tail_written;
		cache_write(req->disk->cache, io);
	}
}

static void tail(struct clone_job *job)
{
	struct server_request *req = job->req;
	uint64_t block = job->msg.len / job->msg.to.block, start, run;
	uint32_t used = job->msg.len % job->msg.to.block;
	bool written;

	if (!used || !object_lookup(req->object, block, &start, &run, &written)) {
		clone_commit(job);
		return;
	}
	if (server_request_buf(req, job->msg.to.block - used)) {
		clone_fail(job, -ENOMEM, "reading the last block");
		return;
	}
	req->io = (struct cache_io){ .obj = req->object,
				     .offset = job->msg.len,
				     .len = req->len,
				     .buf = req->buf,
				     .done = tail_read,
				     .arg = job };
	cache_read(req->disk->cache, &req->io);
}

/*
 * Sharing
 */
static void share_turn(void *arg)
{
	struct clone_job *job = arg;
	uint64_t n = job->end - job->at;
	struct clone_hold *from = held(job);
	int err;

	if (!from)
		return;
	err = n ? object_share(job->req->object, job->at, clone_hold_object(from), job->at, &n) : 0;
	if (err) {
		clone_fail(job, err, "sharing blocks");
		return;
	}
	job->at += n;
	if (job->at < job->end) {
		/* So many checksums may wait to be recorded that a commit has to come first. */
		turn_after(job, share_turn,
			   !n && store_pressed(job->req->disk->store) ? SERVER_POLL_NS : 0);
		return;
	}
	/* Whatever others write from now on they write elsewhere. */
	clone_hold_end(from);
	tail(job);
}

/* The clone's object must have nobody's blocks and no user. */
static bool object_new(struct clone_job *job)
{
	struct server_request *req = job->req;

	if (obj_get(req, true))
		return false;
	if (!object_alone(req->object) || object_end(req->object)) {
		server_fail(req, DDIO_ST_INVALID, "disk %s: file %llu is not new", req->disk->name,
			    (unsigned long long)req->obj.file.id);
		return false;
	}
	job->to = clone_hold_new(req, req->object);
	if (!job->to)
		obj_fail(req, -ENOMEM, "cloning");
	return job->to;
}

static void clone_begin(void *arg)
{
	struct clone_job *job = arg;
	struct server_request *req = job->req;
	uint64_t blocks = (job->msg.len + job->msg.to.block - 1) / job->msg.to.block;
	struct clone_hold *from = held(job);

	if (!from || !described(job, from))
		return;
	if (!store_fetch(req->disk->store, &job->msg.to, NULL)) {
		turn_after(job, clone_begin, SERVER_POLL_NS);
		return;
	}
	if (!object_new(job))
		return;
	job->end = object_end(clone_hold_object(from));
	if (job->end > blocks)
		job->end = blocks;
	share_turn(job);
}

int serve_obj_clone(struct server_request *req, const void *payload)
{
	struct clone_job *job = calloc(1, sizeof(*job));
	int err;

	req->data = job;
	if (!job) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for a clone");
		return 0;
	}
	err = ddio_get_obj_clone(payload, req->msg.length, &job->msg);
	if (err)
		return server_fail_decode(req, err, "files, disk, hold or length");
	job->req = req;
	req->obj = (struct ddio_msg_obj){ .file = job->msg.to,
					  .disk = job->msg.disk,
					  .len = job->msg.len };
	req->disk = reactor_disk(req->reactor, job->msg.disk);
	if (!req->disk)
		obj_fail_disk(req);
	else
		clone_begin(job);
	return 0;
}
