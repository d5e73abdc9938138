// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls that are one request to the name space each, made on reactor 0; and those about names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cp/fs/names/call.h"

/* Of renameat2(2), whose header not every system has complete. */
enum { FLAG_NOREPLACE = 1, FLAG_EXCHANGE = 2 };

void fsc_bad_answer(struct fsc_ask *ask)
{
	fsc_error_set(&ask->error, -EIO, "the name space sent what makes no sense");
}

static void name_done(struct fsc_ask *ask)
{
	struct fsc_call *call = fsc_call_of(ask);
	struct fsc_error error = ask->error;
	struct ddio_fs_reply reply = { 0 };
	void *room = call->room;

	if (!error.err && call->answer && !call->answer(call, &reply))
		return;
	fsc_job_end(&call->job, &error, &reply);
	free(room);
}

static void name_run(struct fsc_job *job)
{
	struct fsc_call *call = ddio_container_of(job, struct fsc_call, job);

	if (call->err)
		fsc_job_fail(job, call->err, strerror(-call->err));
	else
		fsc_ask(&call->ask);
}

struct fsc_call *fsc_call_new(struct ddio_fs *fs, uint16_t opcode, ssize_t len, ddio_fs_done done,
			      void *arg)
{
	size_t room = len > 0 ? (size_t)len : 0;
	struct fsc_call *call = fsc_job_new(fs, sizeof(*call) + room, done, arg);

	if (!call)
		return NULL;
	call->err = len < 0 ? (int)len : 0;
	fsc_ask_init(&call->ask, &fs->reactor[0], opcode, call->payload, room, name_done);
	return call;
}

void fsc_call_post(struct fsc_call *call, int err)
{
	if (!call->err)
		call->err = err;
	fsc_job_post(&call->job, &call->job.fs->reactor[0], name_run);
}

int fsc_name_set(char room[DDIO_MAX_NAME + 1], const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (len > DDIO_MAX_NAME)
		return -ENAMETOOLONG;
	if (!len || strchr(name, '/'))
		return len ? -EINVAL : -ENOENT;
	memcpy(room, name, len + 1);
	return 0;
}

/*
 * Those that give attributes
 */
static void attr_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct ddio_msg_fs_attr x;

	if (ddio_get_fs_attr(reply->payload, reply->len, &x)) {
		fsc_bad_answer(ask);
		return;
	}
	fsc_post_seen(ask, &x.attr);
	fsc_call_of(ask)->attr = x.attr;
}

bool fsc_attr_stale(struct ddio_fs *fs, const struct ddio_fs_attr *attr)
{
	struct fsc_inode *inode = S_ISREG(attr->mode) ? fsc_inode_find(fs, attr->ino) : NULL;

	return inode && fsc_inode_dirty(inode);
}

static bool attr_answer(struct fsc_call *call, struct ddio_fs_reply *reply)
{
	/* What was written here and not told yet is to be seen. */
	if (fsc_attr_stale(call->job.fs, &call->attr)) {
		fsc_getattr(call->job.fs, call->attr.ino, call->job.done, call->job.arg);
		fsc_job_drop(&call->job);
		return false;
	}
	reply->attr = &call->attr;
	return true;
}

static void attr_post(struct fsc_call *call, int err)
{
	call->ask.take = attr_take;
	call->answer = attr_answer;
	fsc_call_post(call, err);
}

void ddio_fs_lookup(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		    void *arg)
{
	struct ddio_msg_fs_name x = { .parent = parent };
	int err = fsc_name_set(x.name, name);
	struct fsc_call *call = FSC_CALL_NEW(fs, DDIO_OP_FS_LOOKUP, fs_name, &x, done, arg);

	if (call)
		attr_post(call, err);
}

int fsc_made(struct fsc_ask *ask, const struct reply *reply, struct ddio_msg_fs_opened *x)
{
	int err = ddio_get_fs_opened(reply->payload, reply->len, x);

	if (err)
		fsc_bad_answer(ask);
	fsc_post_dir(ask, !err && x->flags & DDIO_FS_OPENED_DIR ? &x->dir : NULL);
	return err;
}

/* The answer to MAKE has more than attributes. */
static void made_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct ddio_msg_fs_opened x;

	if (fsc_made(ask, reply, &x))
		return;
	fsc_call_of(ask)->attr = x.attr;
	ddio_fs_opened_free(&x);
}

int fsc_make_set(struct ddio_msg_fs_make *x, uint64_t parent, const char *name,
		 const struct ddio_fs_new *make)
{
	size_t len = make->target ? strlen(make->target) : 0;

	x->parent = parent;
	x->mode = make->mode;
	x->umask = make->umask & 0777;
	x->uid = make->uid;
	x->gid = make->gid;
	x->rdev = make->rdev;
	if (len > DDIO_FS_TARGET_MAX)
		return -ENAMETOOLONG;
	if (S_ISLNK(make->mode) && !len)
		return -ENOENT;
	if (S_ISLNK(make->mode))
		memcpy(x->target, make->target, len + 1);
	return fsc_name_set(x->name, name);
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
	call->ask.take = made_take;
	call->answer = attr_answer;
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
	attr_post(call, err);
}

/*
 * Those after which something may have to be removed
 */
static void unlinked_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct ddio_msg_fs_unlinked x;
	int err = ddio_get_fs_unlinked(reply->payload, reply->len, &x);

	fsc_post_dir(ask, !err && x.flags & DDIO_FS_UNLINKED_DIR ? &x.dir : NULL);
	if (err) {
		fsc_bad_answer(ask);
		return;
	}
	if (x.flags & DDIO_FS_UNLINKED_LEFT)
		fsc_remove_left(ask->home->fs, &x.rec);
	ddio_fs_unlinked_free(&x);
}

static void renamed_take(struct fsc_ask *ask, const struct reply *reply)
{
	fsc_remove_listed(ask->home->fs, reply);
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
	/* A directory that is removed is not only less in its own one. */
	call->ask.about = flags & DDIO_FS_UNLINK_DIR ? 0 : parent;
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

	if (flags & ~(uint32_t)(FLAG_NOREPLACE | FLAG_EXCHANGE))
		err = -EINVAL;
	if (flags & FLAG_NOREPLACE)
		x.flags |= DDIO_FS_RENAME_NOREPLACE;
	if (flags & FLAG_EXCHANGE)
		x.flags |= DDIO_FS_RENAME_EXCHANGE;
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

/* Of every name and attribute. */
void ddio_fs_sync_names(struct ddio_fs *fs, ddio_fs_done done, void *arg)
{
	struct fsc_call *call = fsc_call_new(fs, DDIO_OP_FS_SYNC, 0, done, arg);

	if (call)
		fsc_call_post(call, 0);
}
