// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading directories and symbolic links. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/attr.h"
#include "cp/fs/inode/inode.h"
#include "cp/fs/names/ahead.h"
#include "cp/fs/names/call.h"
#include "cp/fs/names/dirattr.h"

/*
 * Symbolic links
 */
static void target_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct fsc_call *call = fsc_call_of(ask);
	struct ddio_msg_fs_target *x = malloc(sizeof(*x));

	if (!x) {
		fsc_error_set(&ask->error, -ENOMEM, "out of memory");
	} else if (ddio_get_fs_target(reply->payload, reply->len, x)) {
		fsc_ask_malformed(ask);
		free(x);
	} else {
		call->room = x;
	}
}

static bool target_answer(struct fsc_call *call, struct ddio_fs_reply *reply)
{
	const struct ddio_msg_fs_target *x = call->room;

	reply->data = x->target;
	reply->len = strlen(x->target);
	return true;
}

void ddio_fs_readlink(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg)
{
	struct ddio_msg_fs_ino x = { .ino = ino };
	struct fsc_call *call = FSC_CALL_NEW(fs, DDIO_OP_FS_READLINK, fs_ino, &x, done, arg);

	if (!call)
		return;
	call->ask.take = target_take;
	call->answer = target_answer;
	fsc_call_post(call, 0);
}

/*
 * Directories.  A reply with whole attributes may list inodes that were written here and of which the name
 * server has not been told.  Then it is told first, and the directory is read once more.
 */

/**
 * struct dir_job - one ddio_fs_readdir()
 * @x: the entries
 * @inode: the inode that the name server is being told of
 * @at: the next entry to be looked at
 * @plus, @last: what is asked for
 * @flushed: the name server was told of something
 */
struct dir_job {
	struct fsc_job job;
	struct fsc_ask ask;
	struct ddio_msg_fs_entries x;
	struct fsc_waiter waiter;
	struct fsc_inode *inode;
	bool plus, flushed;
	uint32_t at;
	uint8_t payload[32];
};

static void dir_end(struct dir_job *dj)
{
	struct ddio_fs_reply reply = { .data = dj->x.ents, .len = dj->x.n, .value = dj->x.more };
	struct fsc_error error = dj->ask.error;
	void *ents = dj->x.ents;

	fsc_job_end(&dj->job, &error, &reply);
	free(ents);
}

static void dir_ask(struct dir_job *dj);
static void dir_flush(struct fsc_job *job);

static void dir_told(struct fsc_waiter *waiter, const struct fsc_error *error)
{
	struct dir_job *dj = ddio_container_of(waiter, struct dir_job, waiter);

	(void)error;
	fsc_job_go(&dj->job, dj->inode->r, &dj->job.fs->reactor[0], dir_flush);
}

static void dir_tell(struct fsc_job *job)
{
	struct dir_job *dj = ddio_container_of(job, struct dir_job, job);

	dj->waiter.fn = dir_told;
	fsc_inode_flush(dj->inode, &dj->waiter);
}

/* One inode after another: there are few, if any. */
static void dir_flush(struct fsc_job *job)
{
	struct dir_job *dj = ddio_container_of(job, struct dir_job, job);

	if (dj->inode)
		fsc_inode_put(dj->inode);
	dj->inode = NULL;
	while (dj->at < dj->x.n && !fsc_attr_stale(job->fs, &dj->x.ents[dj->at].attr))
		dj->at++;
	if (dj->at < dj->x.n && !fsc_closing(job->fs)) {
		dj->flushed = true;
		dj->inode = fsc_inode_get(job->fs, dj->x.ents[dj->at++].attr.ino);
		fsc_job_go(job, &job->fs->reactor[0], dj->inode->r, dir_tell);
	} else if (dj->flushed) {
		free(dj->x.ents);
		memset(&dj->x, 0, sizeof(dj->x));
		dir_ask(dj);
	} else {
		dir_end(dj);
	}
}

static void attr_seen(struct fsc_ask *ask, const struct ddio_fs_attr *attr)
{
	fsc_dirattr_seen(ask, attr);
	fsc_ahead_seen(ask, attr);
}

static void dir_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct dir_job *dj = ddio_container_of(ask, struct dir_job, ask);
	uint32_t i;

	if (ddio_get_fs_entries(reply->payload, reply->len, &dj->x)) {
		fsc_ask_malformed(ask);
		return;
	}
	for (i = 0; dj->plus && i < dj->x.n; i++)
		attr_seen(ask, &dj->x.ents[i].attr);
}

static void dir_done(struct fsc_ask *ask)
{
	struct dir_job *dj = ddio_container_of(ask, struct dir_job, ask);

	if (ask->error.err || !dj->plus || dj->flushed)
		dir_end(dj);
	else
		dir_flush(&dj->job);
}

static void dir_ask(struct dir_job *dj)
{
	fsc_ask_init(&dj->ask, &dj->job.fs->reactor[0], DDIO_OP_FS_READDIR, dj->payload,
		     dj->ask.len, dir_done);
	dj->ask.take = dir_take;
	fsc_ask(&dj->ask);
}

static void dir_run(struct fsc_job *job)
{
	dir_ask(ddio_container_of(job, struct dir_job, job));
}

void ddio_fs_readdir(struct ddio_fs *fs, uint64_t ino, uint64_t cookie, uint32_t max, bool plus,
		     ddio_fs_done done, void *arg)
{
	struct ddio_msg_fs_readdir x = { .ino = ino, .cookie = cookie, .max = max };
	struct dir_job *dj = fsc_job_new(fs, sizeof(*dj), done, arg);

	if (!dj)
		return;
	if (!max || max > DDIO_MAX_BATCH)
		x.max = max ? DDIO_MAX_BATCH : 1;
	dj->plus = plus && max;
	x.flags = !max ? DDIO_FS_READDIR_LAST : plus ? DDIO_FS_READDIR_PLUS : 0;
	dj->ask.len = (size_t)ddio_put_fs_readdir(dj->payload, sizeof(dj->payload), &x);
	fsc_job_post(&dj->job, &fs->reactor[0], dir_run);
}
