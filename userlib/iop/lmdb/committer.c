// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>
#include "iop/lmdb/committer.h"
#include "iop/lmdb/room.h"

static void commit_begin(struct committer *c);

static void commit_end(struct committer *c, int err)
{
	struct ddio_list told;
	struct commit *commit;

	ddio_list_init(&told);
	ddio_list_splice(&c->running, &told);
	c->active = false;
	if (err)
		c->flushed = UINT64_MAX;
	if (c->any)
		c->ops->ended(c->ctx, err);
	/* A callback may commit again. */
	while (!ddio_list_empty(&told)) {
		commit = ddio_list_first(&told, struct commit, link);
		ddio_list_del(&commit->link);
		commit->done(commit, err);
	}
	if (!c->active && !ddio_list_empty(&c->waiting))
		commit_begin(c);
}

/* Runs in the worker. */
static void commit_work(void *arg)
{
	struct committer *c = arg;

	c->err = lmdb_write_once(c->db, c->ops->apply, c->ctx);
	if (lmdb_no_room(c->err) && c->ops->parts)
		c->err = c->ops->parts(c->ctx);
}

static void commit_worked(void *arg)
{
	struct committer *c = arg;
	int err = c->err;

	/* On the reactor, where nobody reads now; and the worker is idle. */
	if (err == LMDB_FULL) {
		err = lmdb_grow(c->db);
		if (!err) {
			ddio_env_offload(c->env, &c->job);
			return;
		}
	}
	if (err && err != c->said)
		ddio_env_log(c->env, DDIO_LOG_ERR, "%s: a commit of records failed: %s", c->db->dir,
			     mdb_strerror(-err));
	if (!err && c->said)
		ddio_env_log(c->env, DDIO_LOG_INFO, "%s: records are committed again", c->db->dir);
	c->said = err;
	commit_end(c, err);
}

/*
 * A disk that failed to flush may have dropped what it was to keep, and would report success next time
 * (Linux forgets a failed write back, too).  Which blocks that concerns is not known: they have left the
 * cache.  So nothing may be recorded, and no sync may succeed, until the records are read again.
 */
static void commit_stop(struct committer *c, int err)
{
	ddio_env_log(
		c->env, DDIO_LOG_ERR,
		"disk %s: a flush failed: %s; what was written since the last one may be lost: the disk takes no more writes until ddiod is started again",
		ddio_disk_name(c->disk), strerror(-err));
	c->stopped = err;
}

static void commit_flushed(struct ddio_disk_req *req)
{
	struct committer *c = req->arg;

	if (req->status)
		commit_stop(c, req->status);
	if (req->status || !c->any)
		commit_end(c, req->status);
	else
		ddio_env_offload(c->env, &c->job);
}

/* There is nothing to write and no disk to flush; only the callbacks must come from the loop. */
static void commit_posted(void *arg)
{
	struct committer *c = arg;

	commit_end(c, c->stopped);
}

/* Returns true if the disk is to be flushed before the transaction. */
static bool commit_flushes(struct committer *c)
{
	const struct commit *commit;

	if (!c->disk || !c->any || !c->ops->early || !c->ops->early(c->ctx) ||
	    ddio_list_empty(&c->running))
		return c->disk;
	ddio_list_for_each_entry(commit, &c->running, link)
		if (!commit->early)
			return true;
	return false;
}

static void commit_begin(struct committer *c)
{
	c->active = true;
	ddio_list_splice(&c->waiting, &c->running);
	c->any = !c->stopped && c->ops->seal(c->ctx);
	if (c->stopped) {
		ddio_env_post(c->env, &c->post);
	} else if (commit_flushes(c)) {
		c->flushed = ddio_disk_written(c->disk);
		c->flush.op = DDIO_DISK_FLUSH;
		c->flush.done = commit_flushed;
		c->flush.arg = c;
		ddio_disk_submit(c->disk, &c->flush);
		ddio_disk_commit(c->disk);
	} else if (c->any) {
		ddio_env_offload(c->env, &c->job);
	} else {
		ddio_env_post(c->env, &c->post);
	}
}

/*
 * No record has changed since the last commit set them aside, and nothing was written since one had the disk flushed: whoever
 * asks now asks for what these make durable, or have made.
 */
static bool commit_same(const struct committer *c)
{
	return c->disk && c->ops->same && !c->stopped && c->flushed == ddio_disk_written(c->disk) &&
	       c->ops->same(c->ctx);
}

static void commit_repeated(void *arg)
{
	struct committer *c = arg;
	struct ddio_list told;
	struct commit *commit;

	ddio_list_init(&told);
	ddio_list_splice(&c->again, &told);
	while (!ddio_list_empty(&told)) {
		commit = ddio_list_first(&told, struct commit, link);
		ddio_list_del(&commit->link);
		commit->done(commit, 0);
	}
}

static void commit_repeat(struct committer *c, struct commit *commit)
{
	if (ddio_list_empty(&c->again))
		ddio_env_post(c->env, &c->repeat);
	ddio_list_add(&commit->link, &c->again);
}

void committer_init(struct committer *c, struct ddio_env *env, struct lmdb *db,
		    struct ddio_disk *disk, const struct committer_ops *ops, void *ctx)
{
	*c = (struct committer){
		.env = env,
		.db = db,
		.disk = disk,
		.ops = ops,
		.ctx = ctx,
		.job = { .work = commit_work, .done = commit_worked, .arg = c },
		.post = { .fn = commit_posted, .arg = c },
		.repeat = { .fn = commit_repeated, .arg = c },
		.flushed = UINT64_MAX,
	};
	ddio_list_init(&c->again);
	ddio_list_init(&c->waiting);
	ddio_list_init(&c->running);
}

void committer_commit(struct committer *c, struct commit *commit)
{
	bool same = commit && commit_same(c);

	if (same && c->active) {
		ddio_list_add(&commit->link, &c->running);
		return;
	}
	if (same) {
		commit_repeat(c, commit);
		return;
	}
	if (commit)
		ddio_list_add(&commit->link, &c->waiting);
	if (!c->active)
		commit_begin(c);
}
