// SPDX-License-Identifier: LGPL-2.1-or-later
/* The space that an object takes: counts it, allocates it ahead, and makes it read as zeros, in turns of the reactor. */
#include <errno.h>
#include <stdlib.h>
#include "iop/ops/handlers.h"
#include "iop/ops/object.h"

int serve_obj_stat(struct server_request *req, const void *payload)
{
	struct ddio_msg_obj_stat x = { 0 };
	int ret, err;

	if (!obj_decode(req, payload, req->msg.length, false, &ret))
		return ret;
	err = obj_get(req, false);
	if (err && err != -ENOENT)
		return 0;
	if (!err) {
		x.alloc = object_blocks(req->object) * req->obj.file.block;
		x.end = object_end(req->object) * req->obj.file.block;
	}
	SERVER_REPLY(req, obj_stat, &x);
	return 0;
}

static uint64_t first_block(const struct server_request *req)
{
	return req->obj.offset / req->obj.file.block;
}

/* Returns how many blocks the range touches. */
static uint64_t touched_blocks(const struct server_request *req)
{
	uint64_t end = req->obj.offset + req->obj.len, size = req->obj.file.block;

	return end / size + (end % size != 0) - first_block(req);
}

/**
 * struct obj_space - blocks of an object that get places, or read as zeros, some in each turn: server_request.data
 * @at, @end: those that are left
 * @post: the next turn
 * @then: called when none are left
 */
struct obj_space {
	struct ddio_post post;
	struct server_request *req;
	uint64_t at, end;
	void (*then)(struct server_request *req);
};

/* Begins with [first, first + count).  Returns NULL, and the request is over, if there is no memory. */
static struct obj_space *obj_space(struct server_request *req, uint64_t first, uint64_t count,
				   void (*turn)(void *arg),
				   void (*then)(struct server_request *req))
{
	struct obj_space *job = malloc(sizeof(*job));

	if (!job) {
		obj_fail(req, -ENOMEM, "allocating space");
		return NULL;
	}
	*job = (struct obj_space){ .req = req, .at = first, .end = first + count, .then = then };
	job->post.fn = turn;
	job->post.arg = job;
	req->data = job;
	return job;
}

/* Returns true if nobody wants to know any more: the request is over. */
static bool space_given_up(struct server_request *req)
{
	if (req->client && !req->reactor->stopping)
		return false;
	server_fail(req, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
	return true;
}

/* Returns how many blocks are for this turn. */
static uint64_t space_stretch(const struct obj_space *job)
{
	struct bound *bound = &job->req->reactor->bounds.at[BOUND_PLACED];

	return object_stretch(job->req->object, job->at, job->end - job->at, bound->limit);
}

static void space_go_on(struct obj_space *job, uint64_t n)
{
	struct server_request *req = job->req;
	void (*then)(struct server_request * req) = job->then;

	job->at += n;
	if (job->at < job->end) {
		req->reactor->bounds.at[BOUND_PLACED].hits++;
		ddio_env_post(req->reactor->env, &job->post);
		return;
	}
	req->data = NULL;
	free(job);
	then(req);
}

static void take_turn(void *arg)
{
	struct obj_space *job = arg;
	struct server_request *req = job->req;
	uint64_t n;
	int err;

	if (space_given_up(req))
		return;
	n = space_stretch(job);
	err = object_reserve(req->object, job->at, n);
	if (err)
		obj_fail(req, err, "allocating space");
	else
		space_go_on(job, n);
}

/* Gives places to blocks of the object, then goes on with @then. */
static void space_take(struct server_request *req, uint64_t first, uint64_t count,
		       void (*then)(struct server_request *req))
{
	int err = object_room(req->object, first, count);
	struct obj_space *job;

	if (err) {
		obj_fail(req, err, "allocating space");
		return;
	}
	job = obj_space(req, first, count, take_turn, then);
	if (job)
		take_turn(job);
}

static void space_done(struct server_request *req)
{
	server_reply(req, NULL, 0);
}

int serve_obj_reserve(struct server_request *req, const void *payload)
{
	int ret;

	if (!obj_decode(req, payload, req->msg.length, false, &ret))
		return ret;
	/* Checked before an object is made that no disk could hold. */
	if (req->obj.len > ddio_disk_info(req->disk->disk)->size / req->obj.file.block) {
		obj_fail(req, -ENOSPC, "reserving more than the disk holds");
		return 0;
	}
	if (!obj_get_to_change(req, true))
		space_take(req, 0, req->obj.len, space_done);
	return 0;
}

/* Finds the whole blocks within the range; there are none if *@end is not above *@first. */
static void whole_blocks(const struct server_request *req, uint64_t *first, uint64_t *end)
{
	uint32_t size = req->obj.file.block;

	*first = req->obj.offset / size + (req->obj.offset % size != 0);
	*end = (req->obj.offset + req->obj.len) / size;
}

/* Zeroes some blocks. */
static void zero_now(struct server_request *req)
{
	int err = object_unwrite(req->object, req->first, req->count);

	if (err)
		obj_fail(req, err, "making its blocks read as zeros");
	else
		space_go_on(req->data, req->count);
}

static void zero_turn(void *arg)
{
	struct obj_space *job = arg;

	if (!space_given_up(job->req))
		obj_quiet(job->req, job->at, space_stretch(job), zero_now);
}

/* Takes the space again, since the object may have been cut meanwhile. */
static void zero_done(struct server_request *req)
{
	space_take(req, first_block(req), touched_blocks(req), obj_commit);
}

static void zero_whole(struct server_request *req)
{
	struct obj_space *job;
	uint64_t first, end;

	whole_blocks(req, &first, &end);
	if (end <= first) {
		obj_commit(req);
		return;
	}
	job = obj_space(req, first, end - first, zero_turn, zero_done);
	if (job)
		zero_turn(job);
}

static void zero_tail(struct server_request *req)
{
	uint64_t to = req->obj.offset + req->obj.len, first, end, from;

	whole_blocks(req, &first, &end);
	from = end * req->obj.file.block;
	/* If the range lies within one block, the head was all of it. */
	obj_zero(req, end < first ? to : from, to, zero_whole);
}

static void zero_head(struct server_request *req)
{
	uint64_t to = req->obj.offset + req->obj.len, first, end;

	whole_blocks(req, &first, &end);
	if (to > first * req->obj.file.block)
		to = first * req->obj.file.block;
	obj_zero(req, req->obj.offset, to, zero_tail);
}

static void allocated(struct server_request *req)
{
	if (req->obj.flags & DDIO_OBJ_ZERO)
		obj_alone(req, zero_head);
	else
		space_done(req);
}

int serve_obj_allocate(struct server_request *req, const void *payload)
{
	int ret;

	if (!obj_decode(req, payload, req->msg.length, false, &ret))
		return ret;
	/* Checked before an object is made that no disk could hold. */
	if (touched_blocks(req) > ddio_disk_info(req->disk->disk)->size / req->obj.file.block) {
		obj_fail(req, -ENOSPC, "allocating more than the disk holds");
		return 0;
	}
	if (!obj_get_to_change(req, true))
		space_take(req, first_block(req), touched_blocks(req), allocated);
	return 0;
}
