// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes data durable, or drops it from the cache: of one file or of all, on every disk of a reactor.
 *
 * An object that was synced each time after as many writes as the times before (a data base's log, mostly after one) is expected
 * to be so again: the last of these writes has the disk begin before its client hears of it.  Nobody is told how that ends;
 * whoever syncs then finds it done, or under way, or does it.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/ns/ns.h"
#include "iop/ops/fs_reply.h"
#include "iop/ops/handlers.h"
#include "iop/ops/object.h"

/* So many times in succession must there have been as many writes before a sync as before the one before it. */
#define HABIT_TIMES 2

/**
 * struct sync_part - one disk's part of a request
 * @object: NULL for all of the disk's
 */
struct sync_part {
	struct server_request *req;
	struct iop_disk *disk;
	struct object *object;
	struct cache_flush flush;
	struct commit commit;
};

static void sync_one_less(struct server_request *req)
{
	struct sync_part *parts = req->data;
	uint32_t i;

	if (--req->pending)
		return;
	for (i = 0; i < req->reactor->ndisks; i++)
		if (parts[i].object)
			object_put(parts[i].object);
	if (!req->err)
		server_reply(req, NULL, 0);
	else if (req->disk)
		obj_fail(req, req->err, "writing back");
	else
		server_fail_errno(req, req->err, "committing the name space");
}

/* Notes the first error and its disk; NULL stands for the name space. */
static void sync_failed(struct server_request *req, struct iop_disk *disk, int err)
{
	if (req->err)
		return;
	req->err = err;
	req->disk = disk;
}

static void sync_committed(struct commit *commit, int err)
{
	struct sync_part *part = commit->arg;

	if (err)
		sync_failed(part->req, part->disk, err);
	sync_one_less(part->req);
}

static void sync_commit(struct sync_part *part)
{
	part->commit.done = sync_committed;
	part->commit.arg = part;
	store_commit(part->disk->store, &part->commit);
}

static void sync_flushed(struct cache_flush *flush, int status)
{
	struct sync_part *part = flush->arg;

	if (status)
		sync_failed(part->req, part->disk, status);
	if (part->req->msg.opcode == DDIO_OP_DROP_CACHE)
		sync_one_less(part->req);
	else
		sync_commit(part);
}

static void sync_names_committed(struct commit *commit, int err)
{
	struct server_request *req = commit->arg;

	if (err)
		sync_failed(req, NULL, err);
	sync_one_less(req);
}

/* Returns 0, 1 if the disk has nothing of the file, or -errno. */
static int sync_find(struct server_request *req, struct sync_part *part)
{
	int err;

	if (req->obj.flags & DDIO_OBJ_ALL)
		return 0;
	err = store_get(part->disk->store, &req->obj.file, false, &part->object);
	if (err)
		part->object = NULL;
	return err == -ENOENT ? 1 : err;
}

/*
 * The disk has nothing of the file: a removal may not be durable yet, or the disk has stopped, and nobody knows what
 * is on it.  Only the disk that the request names answers for that: the others may have no part of the file at all.
 */
static void sync_nothing(struct server_request *req, struct sync_part *part)
{
	struct store *store = part->disk->store;

	if (req->msg.opcode == DDIO_OP_DROP_CACHE || req->obj.disk != part->disk->number ||
	    !(store_stopped(store) || store_dirty(store)))
		return;
	req->pending++;
	sync_commit(part);
}

static void habit_note(struct object_habit *h)
{
	h->times = h->writes == h->usual ? h->times + (h->times < HABIT_TIMES) : 0;
	h->usual = h->writes;
	h->writes = 0;
}

static void sync_disk(struct server_request *req, struct iop_disk *disk, struct sync_part *part)
{
	int err;

	part->req = req;
	part->disk = disk;
	err = sync_find(req, part);
	if (err < 0)
		sync_failed(req, disk, err);
	if (err > 0)
		sync_nothing(req, part);
	if (err)
		return;
	req->pending++;
	if (part->object && req->msg.opcode == DDIO_OP_OBJ_SYNC)
		habit_note(object_habit(part->object));
	part->flush.obj = part->object;
	part->flush.drop = req->msg.opcode == DDIO_OP_DROP_CACHE;
	part->flush.done = sync_flushed;
	part->flush.arg = part;
	cache_flush(disk->cache, &part->flush);
}

static bool sync_begin(struct server_request *req, const void *payload, int *ret)
{
	if (!obj_decode(req, payload, req->msg.length, true, ret))
		return false;
	req->disk = NULL;
	req->data = calloc(req->reactor->ndisks + 1, sizeof(struct sync_part));
	if (!req->data) {
		obj_fail(req, -ENOMEM, "writing back");
		return false;
	}
	if (!(req->obj.flags & DDIO_OBJ_ALL) && !req->obj.file.id) {
		server_fail(req, DDIO_ST_INVALID, "%s names neither a file nor all",
			    ddio_opcode_name(req->msg.opcode));
		return false;
	}
	req->pending = 1;
	return true;
}

static void sync_disks(struct server_request *req)
{
	struct sync_part *parts = req->data;
	uint32_t i;

	for (i = 0; i < req->reactor->ndisks; i++)
		sync_disk(req, &req->reactor->disks[i], &parts[i]);
}

int serve_obj_sync(struct server_request *req, const void *payload)
{
	struct reactor *reactor = req->reactor;
	int ret;

	if (!sync_begin(req, payload, &ret))
		return ret;
	ddio_env_await(reactor->env);
	sync_disks(req);
	if (reactor->iop->ns && !reactor->index) {
		req->pending++;
		req->commit.done = sync_names_committed;
		/* A check that follows a sync of all reads what is committed. */
		if (req->obj.flags & DDIO_OBJ_ALL)
			ns_commit(reactor->iop->ns, &req->commit);
		else
			ns_flush(reactor->iop->ns, &req->commit);
	}
	sync_one_less(req);
	return 0;
}

int serve_drop_cache(struct server_request *req, const void *payload)
{
	int ret;

	if (!sync_begin(req, payload, &ret))
		return ret;
	sync_disks(req);
	sync_one_less(req);
	return 0;
}

static void expected_committed(struct commit *commit, int err)
{
	(void)err; /* who syncs is told: the disk stops, or the records are still to be committed */
	server_request_end(commit->arg);
}

static void expected_flushed(struct cache_flush *flush, int status)
{
	struct server_request *req = flush->arg;

	(void)status;
	store_commit(req->disk->store, &req->commit);
}

static bool sync_expected(const struct server_request *req)
{
	struct object_habit *h = object_habit(req->object);

	return ++h->writes == h->usual && h->times >= HABIT_TIMES && !req->reactor->stopping;
}

void obj_wrote(struct server_request *req)
{
	if (!req->client || !sync_expected(req)) {
		server_reply(req, NULL, 0);
		return;
	}
	req->changes = false;
	req->flush.obj = req->object;
	req->flush.quiet = true;
	req->flush.done = expected_flushed;
	req->commit.done = expected_committed;
	ddio_env_await(req->reactor->env);
	/* The disk is at work while the client hears of the write. */
	cache_flush(req->disk->cache, &req->flush);
	server_reply_early(req);
}
