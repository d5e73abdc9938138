// SPDX-License-Identifier: LGPL-2.1-or-later
/* Entries of directories: looking up, making, linking, removing, renaming. */
#include <errno.h>
#include <string.h>
#include "cp/fs/attr.h"
#include "cp/fs/inode/inode.h"
#include "cp/fs/inode/remove.h"
#include "cp/fs/names/ahead.h"
#include "cp/fs/names/call.h"
#include "cp/fs/names/dirattr.h"

/* Of renameat2(2); not every system has them in a header. */
enum { FLAG_NOREPLACE = 1, FLAG_EXCHANGE = 2, FLAG_WHITEOUT = 4 };

/*
 * Calls that give attributes
 */
static void entry_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct ddio_msg_fs_attr x;

	if (ddio_get_fs_attr(reply->payload, reply->len, &x)) {
		fsc_ask_malformed(ask);
		return;
	}
	fsc_dirattr_seen(ask, &x.attr);
	fsc_ahead_seen(ask, &x.attr);
	fsc_call_of(ask)->attr = x.attr;
}

static bool entry_answer(struct fsc_call *call, struct ddio_fs_reply *reply)
{
	/* Writes that the name server has not been told of must show. */
	if (fsc_attr_stale(call->job.fs, &call->attr)) {
		fsc_getattr(call->job.fs, call->attr.ino, call->job.done, call->job.arg);
		fsc_job_drop(&call->job);
		return false;
	}
	reply->attr = &call->attr;
	return true;
}

static void entry_post(struct fsc_call *call, int err)
{
	call->ask.take = entry_take;
	call->answer = entry_answer;
	fsc_call_post(call, err);
}

void ddio_fs_lookup(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		    void *arg)
{
	struct ddio_msg_fs_name x = { .parent = parent };
	int err = fsc_name_set(x.name, name);
	struct fsc_call *call = FSC_CALL_NEW(fs, DDIO_OP_FS_LOOKUP, fs_name, &x, done, arg);

	if (call)
		entry_post(call, err);
}

/**
 * struct look_job - one ddio_fs_lookup_within()
 */
struct look_job {
	struct fsc_job job;
	struct fsc_ask ask;
	struct ddio_fs_attr attr;
	uint64_t parent, max_age;
	char name[DDIO_MAX_NAME + 1];
	uint8_t payload[];
};

static void look_end(struct look_job *lj, uint64_t age)
{
	struct fsc_error error = lj->ask.error;
	struct ddio_fs_reply reply = { .attr = error.err ? NULL : &lj->attr, .age_ns = age };

	fsc_job_end(&lj->job, &error, &reply);
}

static void look_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct look_job *lj = ddio_container_of(ask, struct look_job, ask);
	struct ddio_msg_fs_attr x;

	if (ddio_get_fs_attr(reply->payload, reply->len, &x)) {
		fsc_ask_malformed(ask);
		return;
	}
	fsc_dirattr_seen(ask, &x.attr);
	fsc_ahead_seen(ask, &x.attr);
	fsc_ahead_looked(lj->job.fs, lj->parent);
	lj->attr = x.attr;
}

static void look_done(struct fsc_ask *ask)
{
	struct look_job *lj = ddio_container_of(ask, struct look_job, ask);

	if (ask->error.err || !fsc_attr_stale(lj->job.fs, &lj->attr)) {
		look_end(lj, 0);
		return;
	}
	fsc_getattr(lj->job.fs, lj->attr.ino, lj->job.done, lj->job.arg);
	fsc_job_drop(&lj->job);
}

/* What is in use here may be changing: only the name server knows. */
static bool in_use(struct ddio_fs *fs, uint64_t ino)
{
	const struct fsc_inode *inode = fsc_inode_find(fs, ino);

	return inode && (inode->refs || fsc_inode_dirty(inode));
}

static void look_run(struct fsc_job *job)
{
	struct look_job *lj = ddio_container_of(job, struct look_job, job);
	struct ddio_fs *fs = job->fs;
	uint64_t age;

	if (lj->ask.error.err) {
		look_end(lj, 0);
	} else if (fsc_ahead_find(fs, lj->parent, lj->name, lj->max_age, &lj->attr, &age) &&
		   !in_use(fs, lj->attr.ino)) {
		look_end(lj, age);
	} else {
		fsc_ask(&lj->ask);
		if (lj->max_age)
			fsc_ahead_missed(fs, lj->parent);
	}
}

void ddio_fs_lookup_within(struct ddio_fs *fs, uint64_t parent, const char *name,
			   uint64_t max_age_ns, ddio_fs_done done, void *arg)
{
	struct ddio_msg_fs_name x = { .parent = parent };
	int err = fsc_name_set(x.name, name);
	ssize_t len = ddio_put_fs_name(NULL, 0, &x);
	struct look_job *lj = fsc_job_new(fs, sizeof(*lj) + (size_t)(len > 0 ? len : 0), done, arg);

	if (!lj)
		return;
	if (!err && len < 0)
		err = (int)len;
	fsc_ask_init(&lj->ask, &fs->reactor[0], DDIO_OP_FS_LOOKUP, lj->payload,
		     len > 0 ? (size_t)len : 0, look_done);
	if (err)
		fsc_error_set(&lj->ask.error, err, strerror(-err));
	else
		ddio_put_fs_name(lj->payload, (size_t)len, &x);
	lj->ask.take = look_take;
	lj->parent = parent;
	lj->max_age = max_age_ns;
	memcpy(lj->name, x.name, sizeof(x.name));
	fsc_job_post(&lj->job, &fs->reactor[0], look_run);
}

static void made_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct ddio_msg_fs_opened x;

	if (fsc_made(ask, reply, &x))
		return;
	fsc_call_of(ask)->attr = x.attr;
	ddio_fs_opened_free(&x);
}

void ddio_fs_make(struct ddio_fs *fs, uint64_t parent, const char *name,
		  const struct ddio_fs_new *make, ddio_fs_done done, void *arg)
{
	struct ddio_msg_fs_make x = { .flags = DDIO_FS_MAKE_EXCL };
	int err = fsc_make_set(&x, parent, name, make);
	struct fsc_call *call = FSC_CALL_NEW(fs, DDIO_OP_FS_MAKE, fs_make, &x, done, arg);

	if (!call)
		return;
	call->ask.numbered = true;
	call->ask.about = parent;
	call->ask.name = err ? 0 : fsc_ahead_name(parent, name);
	call->ask.take = made_take;
	call->answer = entry_answer;
	fsc_call_post(call, err);
}

void ddio_fs_link(struct ddio_fs *fs, uint64_t ino, uint64_t parent, const char *name,
		  ddio_fs_done done, void *arg)
{
	struct ddio_msg_fs_link x = { .ino = ino, .parent = parent };
	int err = fsc_name_set(x.name, name);
	struct fsc_call *call = FSC_CALL_NEW(fs, DDIO_OP_FS_LINK, fs_link, &x, done, arg);

	if (!call)
		return;
	call->ask.numbered = true;
	call->ask.about = parent;
	entry_post(call, err);
}

/*
 * Calls after which objects may have to be removed
 */
static void unlinked_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct ddio_msg_fs_unlinked x;
	int err = ddio_get_fs_unlinked(reply->payload, reply->len, &x);

	fsc_dirattr_dir(ask, !err && x.flags & DDIO_FS_UNLINKED_DIR ? &x.dir : NULL);
	if (err) {
		fsc_ask_malformed(ask);
		return;
	}
	if (x.flags & DDIO_FS_UNLINKED_LEFT)
		fsc_remove_left(ask, &x.rec);
	ddio_fs_unlinked_free(&x);
}

static void renamed_take(struct fsc_ask *ask, const struct reply *reply)
{
	fsc_remove_listed(ask, reply);
}

static void unlink_post(struct ddio_fs *fs, uint64_t parent, const char *name, uint32_t flags,
			ddio_fs_done done, void *arg)
{
	struct ddio_msg_fs_name x = { .parent = parent, .flags = flags };
	int err = fsc_name_set(x.name, name);
	struct fsc_call *call = FSC_CALL_NEW(fs, DDIO_OP_FS_UNLINK, fs_name, &x, done, arg);

	if (!call)
		return;
	call->ask.numbered = true;
	/* Removing a directory also changes the directory itself. */
	call->ask.about = flags & DDIO_FS_UNLINK_DIR ? 0 : parent;
	call->ask.name = err ? 0 : fsc_ahead_name(parent, name);
	call->ask.take = unlinked_take;
	fsc_call_post(call, err);
}

void ddio_fs_unlink(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		    void *arg)
{
	unlink_post(fs, parent, name, 0, done, arg);
}

void ddio_fs_rmdir(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		   void *arg)
{
	unlink_post(fs, parent, name, DDIO_FS_UNLINK_DIR, done, arg);
}

void ddio_fs_rename(struct ddio_fs *fs, uint64_t parent, const char *name, uint64_t new_parent,
		    const char *new_name, uint32_t flags, ddio_fs_done done, void *arg)
{
	struct ddio_msg_fs_rename x = { .parent = parent, .new_parent = new_parent };
	struct fsc_call *call;
	int err = 0;

	if (flags & ~(uint32_t)(FLAG_NOREPLACE | FLAG_EXCHANGE | FLAG_WHITEOUT))
		err = -EINVAL;
	if (flags & FLAG_NOREPLACE)
		x.flags |= DDIO_FS_RENAME_NOREPLACE;
	if (flags & FLAG_EXCHANGE)
		x.flags |= DDIO_FS_RENAME_EXCHANGE;
	if (flags & FLAG_WHITEOUT)
		x.flags |= DDIO_FS_RENAME_WHITEOUT;
	if (!err)
		err = fsc_name_set(x.name, name);
	if (!err)
		err = fsc_name_set(x.new_name, new_name);
	call = FSC_CALL_NEW(fs, DDIO_OP_FS_RENAME, fs_rename, &x, done, arg);
	if (!call)
		return;
	call->ask.numbered = true;
	call->ask.take = renamed_take;
	fsc_call_post(call, err);
}

static void synced_take(struct fsc_ask *ask, const struct reply *reply)
{
	(void)reply;
	fsc_ask_losses(ask, fsc_call_of(ask)->attr.ino, fsc_call_of(ask)->seen);
}

/* @ino: whose losses are to be told; 0: anybody's.  @seen: what an opening has seen of them; may be NULL */
static void sync_post(struct ddio_fs *fs, uint64_t ino, uint64_t *seen, ddio_fs_done done,
		      void *arg)
{
	struct fsc_call *call = fsc_call_new(fs, DDIO_OP_FS_SYNC, 0, done, arg);

	if (!call)
		return;
	call->attr.ino = ino;
	call->seen = seen;
	call->ask.take = synced_take;
	fsc_call_post(call, 0);
}

void ddio_fs_sync_names(struct ddio_fs *fs, ddio_fs_done done, void *arg)
{
	sync_post(fs, 0, NULL, done, arg);
}

void ddio_fs_sync_dir(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg)
{
	sync_post(fs, ino, NULL, done, arg);
}

uint64_t ddio_fs_dir_seen(const struct ddio_fs *fs)
{
	return fsc_unsynced_now(&fs->names->unsynced);
}

void ddio_fs_sync_opened(struct ddio_fs *fs, uint64_t ino, uint64_t *seen, ddio_fs_done done,
			 void *arg)
{
	sync_post(fs, ino, seen, done, arg);
}
