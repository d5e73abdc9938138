// SPDX-License-Identifier: GPL-2.0-only
/* Names: looking up, making, removing, renaming. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include "ddiofs.h"

/* How often a name is looked up that is replaced all the time. */
enum { LOOKUP_TRIES = 1000 };

/*
 * The kernel knows inodes by their own numbers: no lookups are counted, so there is nothing to forget.
 */
void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
	(void)ino;
	(void)n;
	fuse_reply_none(req);
}

void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	(void)count;
	(void)forgets;
	fuse_reply_none(req);
}

static void lookup_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;
	const struct fuse_entry_param none = { .entry_timeout = r->m->o->negative_timeout };

	if (reply->err == -ENOENT && none.entry_timeout > 0) {
		fuse_reply_entry(r->req, &none);
		request_free(r);
		return;
	}
	request_done_entry(r, reply);
}

/*
 * A thread that was told ESTALE looks a name up once more, and may not be told so again.  So what is found is opened
 * before the answer: then it cannot go.  A name that is replaced meanwhile is looked up again.
 */
static void lookup_kept(struct request *r);

static void kept_opened(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;
	bool gone = reply->err == -ENOENT || reply->err == -ESTALE;

	if (gone && r->tries++ < LOOKUP_TRIES) {
		lookup_kept(r);
		return;
	}
	if (!reply->err)
		again_keep(r->m->again, fuse_req_ctx(r->req)->pid, r->file);
	request_done_entry(r, reply);
}

static void kept_found(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err || !S_ISREG(reply->attr->mode))
		lookup_done(r, reply);
	else
		ddio_fs_file_open(r->m->fs, reply->attr->ino, O_RDONLY, &r->file, kept_opened, r);
}

static void lookup_kept(struct request *r)
{
	ddio_fs_lookup(r->m->fs, r->ino, r->buf, kept_found, r);
}

/* Copies a name that is needed beyond the handler: 0 or -ENOMEM. */
static int name_keep(struct request *r, const char *name)
{
	r->len = strlen(name) + 1;
	r->buf = buffer_get(r->m, r->len);
	if (!r->buf)
		return -ENOMEM;
	memcpy(r->buf, name, r->len);
	return 0;
}

/* The kernel looks up "." and ".." for file handles whose inode it has forgotten (open_by_handle_at(2), NFS). */
static void handle_done(void *arg, const struct ddio_fs_reply *reply)
{
	if (reply->err == -ENOENT)
		request_end(arg, -ESTALE);
	else
		request_done_entry(arg, reply);
}

/* Returns how old what the kernel caches may be: a name with its attributes. */
static uint64_t lookup_age(const struct mount_opts *o)
{
	return cached_ns(o->attr_timeout < o->entry_timeout ? o->attr_timeout : o->entry_timeout);
}

void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	bool dots = !strcmp(name, ".") || !strcmp(name, "..");
	int err = name_check(name);
	struct request *r;

	if (err) {
		fuse_reply_err(req, err);
		return;
	}
	r = request_new(req, parent);
	if (!r)
		return;
	if (dots)
		ddio_fs_lookup(r->m->fs, r->ino, name, handle_done, r);
	else if (!again_is(r->m->again, fuse_req_ctx(req)->pid))
		ddio_fs_lookup_within(r->m->fs, r->ino, name, lookup_age(r->m->o), lookup_done, r);
	else if (name_keep(r, name))
		request_end(r, -ENOMEM);
	else
		lookup_kept(r);
}

static void make(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev,
		 const char *target)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	struct ddio_fs_new new = { .mode = mode,
				   .umask = ctx->umask,
				   .uid = ctx->uid,
				   .gid = ctx->gid,
				   .rdev = rdev,
				   .target = target };
	int err = name_check(name);
	struct request *r;

	if (!err && target && strlen(target) > DDIO_FS_TARGET_MAX)
		err = ENAMETOOLONG;
	if (err) {
		fuse_reply_err(req, err);
		return;
	}
	r = request_new(req, parent);
	if (r)
		ddio_fs_make(r->m->fs, r->ino, name, &new, request_done_entry, r);
}

void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	make(req, parent, name, mode & S_IFMT ? mode : mode | S_IFREG, rdev, NULL);
}

void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	make(req, parent, name, (mode & ~(mode_t)S_IFMT) | S_IFDIR, 0, NULL);
}

void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	make(req, parent, name, S_IFLNK | 0777, 0, target);
}

void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	int err = name_check(name);
	struct request *r;

	if (err) {
		fuse_reply_err(req, err);
		return;
	}
	r = request_new(req, ino);
	if (r)
		ddio_fs_link(r->m->fs, r->ino, ino_of(r->m, parent), name, request_done_entry, r);
}

void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct request *r = request_new(req, parent);

	if (r)
		ddio_fs_unlink(r->m->fs, r->ino, name, request_done, r);
}

static void rmdir_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (!reply->err && r->owner)
		seen_gone(r->m->seen, r->owner);
	request_end(r, reply->err);
}

static void rmdir_found(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	r->owner = reply->err ? 0 : reply->attr->ino;
	ddio_fs_rmdir(r->m->fs, r->ino, r->buf, rmdir_done, r);
}

/* Programs may still work in the directory, and ask for it: so its number is noted first. */
void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct request *r = request_new(req, parent);

	if (!r)
		return;
	if (name_keep(r, name)) {
		request_end(r, -ENOMEM);
		return;
	}
	ddio_fs_lookup(r->m->fs, r->ino, r->buf, rmdir_found, r);
}

void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
	       const char *new_name, unsigned int flags)
{
	int err = name_check(new_name);
	struct request *r;

	if (err) {
		fuse_reply_err(req, err);
		return;
	}
	r = request_new(req, parent);
	if (r)
		ddio_fs_rename(r->m->fs, r->ino, name, ino_of(r->m, new_parent), new_name, flags,
			       request_done, r);
}

static void readlink_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err) {
		request_end(r, reply->err);
		return;
	}
	fuse_reply_readlink(r->req, reply->data);
	request_free(r);
}

void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct request *r = request_new(req, ino);

	if (r)
		ddio_fs_readlink(r->m->fs, r->ino, readlink_done, r);
}
