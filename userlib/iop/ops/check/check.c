// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks the records of a disk, or of the name space, some of them in each turn of the reactor, so that others are
 * served meanwhile; and one check at a time, since each remembers what it has seen.  Records are repaired, some in each turn as
 * well, only as long as nothing has changed since the check began: so everything is written back and committed first, and
 * again if something has.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/ns/ns.h"
#include "iop/ops/check/priv.h"
#include "iop/ops/object.h"

#define CHECK_TRIES 10

/**
 * struct check_job - a check: server_request.data
 * @link: in reactor.checks
 * @post: its next turn
 * @disk, @names: one of them, while it looks at records
 * @repaired: what earlier tries have repaired, which others then cut short
 */
struct check_job {
	struct ddio_list link;
	struct server_request *req;
	struct ddio_post post;
	struct store_check *disk;
	struct ns_check *names;
	uint64_t repaired;
};

static struct check_job *check_of(const struct server_request *req)
{
	return req->data;
}

static bool check_names(const struct server_request *req)
{
	return req->obj.disk == DDIO_FSCK_NAMES;
}

static bool check_repairs(const struct server_request *req)
{
	return req->obj.flags & DDIO_OBJ_REPAIR;
}

static enum store_repair disk_repair(const struct server_request *req)
{
	if (!check_repairs(req))
		return STORE_CHECK;
	return req->obj.flags & DDIO_OBJ_DROP ? STORE_DROP : STORE_REPAIR;
}

static void check_turn(struct check_job *job, void (*fn)(void *arg))
{
	job->post.fn = fn;
	job->post.arg = job;
	ddio_env_post(job->req->reactor->env, &job->post);
}

static void check_start(void *arg);

/* It is the next one's turn; the request can be answered. */
static void check_leave(struct server_request *req)
{
	struct ddio_list *checks = &req->reactor->checks;

	ddio_list_del(&check_of(req)->link);
	if (!ddio_list_empty(checks))
		check_turn(ddio_list_first(checks, struct check_job, link), check_start);
}

static void check_fail(struct server_request *req, int err)
{
	check_leave(req);
	if (check_names(req))
		server_fail_errno(req, err, "checking the name space");
	else
		obj_fail(req, err, "checking its records");
}

/* Returns true if nobody wants to know any more. */
static bool check_given_up(struct server_request *req)
{
	if (req->client && !req->reactor->stopping)
		return false;
	check_leave(req);
	server_fail(req, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
	return true;
}

static int check_end(struct check_job *job, struct ddio_msg_fsck *x)
{
	int err = job->names ? ns_check_end(job->names, x) : store_check_end(job->disk, x);

	job->names = NULL;
	job->disk = NULL;
	return err;
}

static void check_commit(struct server_request *req);

static void check_over(struct server_request *req)
{
	struct check_job *job = check_of(req);
	struct ddio_msg_fsck x = { 0 };
	int err = check_end(job, &x);

	if (err == -EBUSY && req->tries++ < CHECK_TRIES) {
		job->repaired += x.repaired;
		check_commit(req);
	} else if (err) {
		check_fail(req, err);
	} else {
		x.problems += job->repaired;
		x.repaired += job->repaired;
		check_leave(req);
		SERVER_REPLY(req, fsck, &x);
	}
}

static void check_go_on(void *arg)
{
	struct check_job *job = arg;
	struct bound *bound = &job->req->reactor->bounds.at[BOUND_CHECKED];
	bool more;

	if (job->req->reactor->stopping || (!job->req->client && !job->names)) {
		check_end(job, NULL);
		check_given_up(job->req);
		return;
	}
	if (!job->req->client)
		ns_check_give_up(job->names);
	more = job->names ? ns_check_step(job->names, (uint32_t)bound->limit)
			  : store_check_step(job->disk, (uint32_t)bound->limit);
	if (!more) {
		check_over(job->req);
		return;
	}
	bound_seen(bound, bound->limit);
	bound->hits++;
	check_turn(job, check_go_on);
}

static void check_begin(struct server_request *req)
{
	struct check_job *job = check_of(req);
	int err;

	if (check_given_up(req))
		return;
	err = check_names(req)
		      ? ns_check_begin(req->reactor->iop->ns, check_repairs(req), &job->names)
		      : store_check_begin(req->disk->store, disk_repair(req), &job->disk);
	if (err == -EBUSY && req->tries++ < CHECK_TRIES)
		check_commit(req);
	else if (err)
		check_fail(req, err);
	else
		check_turn(job, check_go_on);
}

static void check_committed(struct commit *commit, int err)
{
	struct server_request *req = commit->arg;

	if (err)
		check_fail(req, err);
	else
		check_begin(req);
}

/* A block that cannot be written stays in memory, and its file's users are told.  It is no record: those can be repaired. */
static void check_flushed(struct cache_flush *flush, int status)
{
	struct server_request *req = flush->arg;

	(void)status;
	store_commit(req->disk->store, &req->commit);
}

static void check_commit(struct server_request *req)
{
	req->commit.done = check_committed;
	if (check_names(req)) {
		ns_commit(req->reactor->iop->ns, &req->commit);
		return;
	}
	req->flush.done = check_flushed;
	req->flush.quiet = true;
	cache_flush(req->disk->cache, &req->flush);
}

static void check_start(void *arg)
{
	struct check_job *job = arg;

	if (check_repairs(job->req))
		check_commit(job->req);
	else
		check_begin(job->req);
}

/* Nobody wants to know any more.  The check that is under way ends at its next turn. */
static void check_gone(struct server_request *req)
{
	struct check_job *job = check_of(req);

	if (job->link.prev == &req->reactor->checks)
		return;
	ddio_list_del(&job->link);
	server_request_end(req);
}

static void check_queue(struct server_request *req)
{
	struct check_job *job = calloc(1, sizeof(*job));
	bool first = ddio_list_empty(&req->reactor->checks);

	if (!job) {
		server_fail_errno(req, -ENOMEM, "checking records");
		return;
	}
	job->req = req;
	req->data = job;
	req->gone = check_gone;
	ddio_list_add(&job->link, &req->reactor->checks);
	if (first)
		check_start(job);
}

int serve_fsck(struct server_request *req, const void *payload)
{
	const struct ddio_iop *iop = req->reactor->iop;
	int ret;

	if (!obj_decode(req, payload, req->msg.length, true, &ret))
		return ret;
	if (check_names(req) && (!iop->ns || req->reactor->index))
		server_fail_names(req);
	else if (!check_names(req) && !req->disk)
		obj_fail_disk(req);
	else
		check_queue(req);
	return 0;
}
