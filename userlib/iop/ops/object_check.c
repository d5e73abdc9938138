// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks the records of a disk, or of the name space.  They are repaired only while no change waits to
 * be recorded: so everything is written back and committed first, and again if something changes meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/ns/ns.h"
#include "iop/ops/handlers.h"
#include "iop/ops/object.h"

#define CHECK_TRIES 50

static void check_try(struct server_request *req);

static bool check_names(const struct server_request *req)
{
	return req->obj.disk == DDIO_FSCK_NAMES;
}

static void check_fail(struct server_request *req, int err)
{
	if (check_names(req))
		server_fail_errno(req, err, "checking the name space");
	else
		obj_fail(req, err, "checking its records");
}

static void check_committed(struct commit *commit, int err)
{
	struct server_request *req = commit->arg;

	if (err)
		check_fail(req, err);
	else
		check_try(req);
}

static void check_flushed(struct cache_flush *flush, int status)
{
	struct server_request *req = flush->arg;

	if (status)
		check_fail(req, status);
	else
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
	cache_flush(req->disk->cache, &req->flush);
}

static void check_try(struct server_request *req)
{
	bool repair = req->obj.flags & DDIO_OBJ_REPAIR;
	struct ddio_msg_fsck x = { 0 };
	int err = check_names(req) ? ns_check(req->reactor->iop->ns, repair, &x)
				   : store_check(req->disk->store, repair, &x);

	if (err == -EBUSY && req->tries++ < CHECK_TRIES)
		check_commit(req);
	else if (err)
		check_fail(req, err);
	else
		SERVER_REPLY(req, fsck, &x);
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
	else if (req->obj.flags & DDIO_OBJ_REPAIR)
		check_commit(req);
	else
		check_try(req);
	return 0;
}
