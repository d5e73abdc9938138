// SPDX-License-Identifier: GPL-2.0-only
/* Names: looking up, making, removing, renaming. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

/*
 * A directory in which a name is looked up is gone.  ESTALE makes the kernel look its path up again, but not if it is about
 * to make the name (mkdir(2), mknod(2), symlink(2), link(2)).  So if the directory that has the path now lacks the name, or
 * there is none, the kernel hears that; what it makes then is told ESTALE.  It also hears that the name is missing if it has
 * come to the directory without a path.
 */
static void lookup_end(struct request *r, int err)
{
	if (err == -ESTALE)
		again_mark(r->m->again, fuse_req_ctx(r->req)->pid, r->ino, AGAIN_LOOKUP);
	fuse_reply_err(r->req, -err);
	request_free(r);
}

/**
 * struct stale_way - the way to the name as it is now
 * @dir: the directory that it has come to
 * @at: the next of the @names, up to @end
 */
struct stale_way {
	struct request *r;
	uint64_t dir;
	char *at, *end;
	char names[4096];
};

static void stale_step(void *arg, const struct ddio_fs_reply *reply)
{
	struct stale_way *way = arg;
	struct request *r = way->r;
	int err = reply->err;

	way->at += strlen(way->at) + 1;
	if (!err && way->at < way->end) {
		way->dir = reply->attr->ino;
		ddio_fs_lookup(r->m->fs, way->dir, way->at, stale_step, way);
		return;
	}
	free(way);
	if (err == -ESTALE || err == -ENOTDIR)
		err = -ENOENT;
	lookup_end(r, err ? err : -ESTALE);
}

static void lookup_stale(struct request *r)
{
	pid_t pid = fuse_req_ctx(r->req)->pid;
	struct mount *m = r->m;
	struct stale_way *way;
	size_t len;

	if (again_looked(m->again, pid, r->ino) || seen_is_gone(m->seen, r->ino)) {
		lookup_end(r, -ENOENT);
		return;
	}
	way = malloc(sizeof(*way));
	len = way ? known_path(m->known, m->root, r->ino, r->buf, way->names, sizeof(way->names))
		  : 0;
	if (!len) {
		free(way);
		lookup_end(r, -ESTALE);
		return;
	}
	way->r = r;
	way->dir = m->root;
	way->at = way->names;
	way->end = way->names + len;
	ddio_fs_lookup(m->fs, way->dir, way->at, stale_step, way);
}

static void lookup_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;
	const struct fuse_entry_param none = { .entry_timeout = r->m->o->negative_timeout };

	if (reply->err == -ESTALE) {
		lookup_stale(r);
		return;
	}
	if (reply->err == -ENOENT) {
		known_lost(r->m->known, known_name(r->ino, r->buf));
		again_lacks(r->m->again, fuse_req_ctx(r->req)->pid);
	}
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
		again_keep(r->m->again, fuse_req_ctx(r->req)->pid, r->file, reply->attr->ino);
	request_done_entry(r, reply);
}

static void kept_found(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err || !S_ISREG(reply->attr->mode))
		lookup_done(r, reply);
	else
		ddio_fs_file_open(r->m->fs, reply->attr->ino, O_RDONLY | DDIO_FS_NAMED, &r->file,
				  kept_opened, r);
}

static void lookup_kept(struct request *r)
{
	ddio_fs_lookup(r->m->fs, r->ino, r->buf, kept_found, r);
}

/*
 * The kernel looks up "." and ".." for file handles whose inode it has forgotten (open_by_handle_at(2), NFS): "." of
 * an inode of any type, on whichever mount the handle was made.
 */
static void handle_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err == -ENOENT || (!reply->err && !reply->attr->nlink)) {
		fuse_reply_err(r->req, ESTALE);
		request_free(r);
	} else {
		request_done_entry(r, reply);
	}
}

static void handle_find(struct request *r, const char *name)
{
	if (strcmp(name, "."))
		ddio_fs_lookup(r->m->fs, r->ino, name, handle_done, r);
	else
		ddio_fs_getattr(r->m->fs, r->ino, handle_done, r);
}

/* Returns how old what the kernel caches may be: a name with its attributes. */
static uint64_t lookup_age(const struct mount_opts *o)
{
	return cached_ns(o->attr_timeout < o->entry_timeout ? o->attr_timeout : o->entry_timeout);
}

void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	bool dots = !strcmp(name, ".") || !strcmp(name, "..");
	pid_t pid = fuse_req_ctx(req)->pid;
	int err = name_check(name);
	struct request *r;

	if (err) {
		fuse_reply_err(req, err);
		return;
	}
	r = request_walk(req, parent);
	if (!r)
		return;
	if (dots) {
		handle_find(r, name);
		return;
	}
	again_looks(r->m->again, pid, r->ino);
	if (request_keep_name(r, r->ino, name))
		request_end(r, -ENOMEM);
	else if (again_is(r->m->again, pid))
		lookup_kept(r);
	else
		ddio_fs_lookup_within(r->m->fs, r->ino, name, lookup_age(r->m->o), lookup_done, r);
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
	if (!r)
		return;
	if (request_keep_name(r, r->ino, name))
		request_end(r, -ENOMEM);
	else
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
	if (!r)
		return;
	if (request_keep_name(r, ino_of(r->m, parent), name))
		request_end(r, -ENOMEM);
	else
		ddio_fs_link(r->m->fs, r->ino, r->parent, name, request_done_entry, r);
}

/* The kernel drops the name. */
static void unlinked(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (!reply->err)
		known_lost(r->m->known, r->known);
	request_done(r, reply);
}

void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct request *r = request_new(req, parent);

	if (!r)
		return;
	r->known = known_name(r->ino, name);
	ddio_fs_unlink(r->m->fs, r->ino, name, unlinked, r);
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
	if (request_keep_name(r, r->ino, name)) {
		request_end(r, -ENOMEM);
		return;
	}
	ddio_fs_lookup(r->m->fs, r->ino, r->buf, rmdir_found, r);
}

static void renamed(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (!reply->err)
		known_moved(r->m->known, r->known, r->new_known, r->mask & RENAME_EXCHANGE);
	request_done(r, reply);
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
	if (!r)
		return;
	r->known = known_name(r->ino, name);
	r->new_known = known_name(ino_of(r->m, new_parent), new_name);
	r->mask = flags;
	ddio_fs_rename(r->m->fs, r->ino, name, ino_of(r->m, new_parent), new_name, flags, renamed,
		       r);
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
	struct request *r = request_walk(req, ino);

	if (r)
		ddio_fs_readlink(r->m->fs, r->ino, readlink_done, r);
}
