// SPDX-License-Identifier: GPL-2.0-only
/* Files: opening, making, closing, syncing. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include "ddiofs.h"

#define DAY 86400

static void release_begin(struct handle *h);

/* The kernel maps no file shared that bypasses its pages, unless it was allowed to; only one open for both could be writable. */
static bool maps_refused(const struct mount *m, int flags)
{
	return m->o->no_shared_maps && (flags & O_ACCMODE) == O_RDWR;
}

static struct handle *handle_new(struct mount *m, int flags)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->m = m;
	h->flags = flags;
	atomic_store(&h->uses, 1);
	h->over = release_begin;
	atomic_store(&h->atimes, atomic_load(&m->atimes));
	pthread_mutex_init(&h->lock, NULL);
	/*
	 * Only the name server knows where an append goes, so it cannot go through the kernel's pages;
	 * except with cache=always, where there is only one mount.
	 */
	h->direct = m->o->cache == CACHE_NONE || maps_refused(m, flags) ||
		    (m->o->cache == CACHE_AUTO && flags & O_APPEND && flags & O_ACCMODE);
	pthread_mutex_lock(&m->lock);
	h->next = m->handles;
	h->link = &m->handles;
	if (h->next)
		h->next->link = &h->next;
	m->handles = h;
	pthread_mutex_unlock(&m->lock);
	return h;
}

static void handle_free(struct handle *h)
{
	struct mount *m = h->m;

	pthread_mutex_lock(&m->lock);
	*h->link = h->next;
	if (h->next)
		h->next->link = h->link;
	pthread_mutex_unlock(&m->lock);
	pthread_mutex_destroy(&h->lock);
	free(h->owner);
	free(h);
}

void handles_free(struct mount *m)
{
	while (m->handles)
		handle_free(m->handles);
}

/* Returns the flags that the library opens the file with. */
static int flags_for(const struct mount *m, int flags)
{
	flags &= O_ACCMODE | O_TRUNC | O_APPEND;
	if (m->o->cache != CACHE_ALWAYS)
		return flags;
	/* The kernel knows where the file ends, and reads the pages that it writes parts of. */
	flags &= ~O_APPEND;
	if ((flags & O_ACCMODE) == O_WRONLY)
		flags = (flags & ~O_ACCMODE) | O_RDWR;
	return flags;
}

/* Returns true if @a is not later than @b. */
static bool older(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec <= b->tv_nsec;
}

/* Returns true if reading must change the time of access, by the rule of relatime. */
static bool atime_stale(const struct ddio_fs_attr *attr)
{
	return older(&attr->atime, &attr->mtime) || older(&attr->atime, &attr->ctime) ||
	       time(NULL) - attr->atime.tv_sec >= DAY;
}

/* Sets what the kernel may keep of the file that was opened. */
static void open_cache(struct request *r, const struct ddio_fs_attr *attr, bool made)
{
	struct mount *m = r->m;
	bool attr_stale;

	r->fi.direct_io = r->h->direct;
	switch (m->o->cache) {
	case CACHE_ALWAYS:
		r->fi.keep_cache = 1;
		return;
	case CACHE_NONE:
		return;
	case CACHE_AUTO:
		r->fi.keep_cache = seen_open(m->seen, attr->ino, attr->change, &attr_stale);
		/* -1: attributes only, which does not wait; of a new file the kernel has none. */
		if (attr_stale && !made)
			fuse_lowlevel_notify_inval_inode(m->se, nodeid_of(m, attr->ino), -1, 0);
		return;
	}
}

static void handle_set(struct request *r, const struct ddio_fs_attr *attr, bool made)
{
	struct handle *h = r->h;

	h->ino = attr->ino;
	atomic_store(&h->special,
		     attr->mode & (S_ISUID | S_ISGID) ? UINT_MAX : atomic_load(&r->m->special));
	h->keeps_atime = !r->m->o->ro && !r->m->o->noatime && !(h->flags & O_NOATIME);
	atomic_store(&h->stale_atime, atime_stale(attr));
	r->fi.fh = (uintptr_t)h;
	open_cache(r, attr, made);
}

static void abandon_done(void *arg, const struct ddio_fs_reply *reply)
{
	(void)reply;
	request_free(arg);
}

/* @err: of sending the reply.  If the caller was interrupted, no one else will close the file. */
static void open_replied(struct request *r, int err)
{
	struct handle *h = r->h;

	if (err != -ENOENT) {
		request_free(r);
		return;
	}
	ddio_fs_file_close(h->file, abandon_done, r);
	handle_free(h);
}

static void open_reply(struct request *r)
{
	pid_t pid = fuse_req_ctx(r->req)->pid;
	struct mount *m = r->m;
	int err;

	if (r->fi.direct_io)
		err = reply_open_parallel(r->req, NULL, &r->fi);
	else
		err = fuse_reply_open(r->req, &r->fi);
	open_replied(r, err);
	again_done(m->again, pid);
}

static void open_failed(struct request *r, int err)
{
	handle_free(r->h);
	request_end_open(r, err);
}

static void open_undone(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	(void)reply;
	open_failed(r, r->err == -ENOENT ? -ESTALE : r->err);
}

/* A file that may have kept its bits beside new content is not opened. */
static void open_killed(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (!reply->err) {
		open_reply(r);
		return;
	}
	r->err = reply->err;
	ddio_fs_file_close(r->h->file, open_undone, r);
}

/*
 * True if the kernel believes the file to have another size, which it uses for mmap(2), splice(2) and their like
 * without asking.  ESTALE makes it look the file up again, and so learn the size; one thread is told it only once.
 */
static bool open_outdated(const struct request *r, const struct ddio_fs_attr *attr)
{
	pid_t pid = fuse_req_ctx(r->req)->pid;

	return r->m->o->cache == CACHE_AUTO && !(r->h->flags & O_TRUNC) && pid &&
	       !seen_size_is(r->m->seen, attr->ino, attr->size) &&
	       !again_is_opening(r->m->again, pid);
}

/* What was opened is kept for the next attempt. */
static void open_once_more(struct request *r)
{
	pid_t pid = fuse_req_ctx(r->req)->pid;

	again_mark(r->m->again, pid, r->ino, AGAIN_OPEN);
	again_keep(r->m->again, pid, r->h->file, r->ino);
	handle_free(r->h);
	fuse_reply_err(r->req, ESTALE);
	request_free(r);
}

static void open_done(void *arg, const struct ddio_fs_reply *reply)
{
	const struct ddio_fs_attr attr = { 0 };
	struct request *r = arg;

	if (reply->err) {
		/* The file has lost its last name: ESTALE makes the kernel look the path up again. */
		open_failed(r, reply->err == -ENOENT ? -ESTALE : reply->err);
		return;
	}
	if (open_outdated(r, reply->attr)) {
		open_once_more(r);
		return;
	}
	handle_set(r, reply->attr, false);
	if (r->mask && reply->attr->mode & (S_ISUID | S_ISGID))
		ddio_fs_setattr(r->m->fs, r->ino, r->mask, &attr, open_killed, r);
	else
		open_reply(r);
}

static void open_start(struct request *r)
{
	int flags = flags_for(r->m, r->h->flags);

	if (!known_nameless(r->m->known, r->ino) && !request_opens_again(r) && !r->again.kept)
		flags |= DDIO_FS_NAMED;
	ddio_fs_file_open(r->m->fs, r->ino, flags, &r->h->file, open_done, r);
}

void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct request *r = request_new(req, ino);
	bool cuts = fi->flags & O_TRUNC;

	if (!r)
		return;
	r->fi = *fi;
	r->h = handle_new(r->m, fi->flags);
	if (!r->h) {
		request_end(r, -ENOMEM);
		return;
	}
	if (cuts && r->m->killpriv && message_kills())
		r->mask = DDIO_FS_KILL_SUID;
	if (cuts)
		late_start(r, r->ino, LATE_CHANGES, open_start);
	else
		open_start(r);
}

static void create_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct fuse_entry_param e;
	struct request *r = arg;
	int err;

	if (reply->err) {
		open_failed(r, reply->err);
		return;
	}
	handle_set(r, reply->attr, reply->value);
	name_given(r->m, r->parent, r->buf, reply->attr);
	entry_fill(r->m, reply->attr, &e);
	if (r->fi.direct_io)
		err = reply_open_parallel(r->req, &e, &r->fi);
	else
		err = fuse_reply_create(r->req, &e, &r->fi);
	open_replied(r, err);
}

void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	       struct fuse_file_info *fi)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	struct ddio_fs_new new = { .mode = (mode & ~(mode_t)S_IFMT) | S_IFREG,
				   .umask = ctx->umask,
				   .uid = ctx->uid,
				   .gid = ctx->gid };
	int err = name_check(name);
	struct request *r;

	if (err) {
		fuse_reply_err(req, err);
		return;
	}
	r = request_new(req, parent);
	if (!r)
		return;
	r->fi = *fi;
	r->h = request_keep_name(r, r->ino, name) ? NULL : handle_new(r->m, fi->flags);
	if (!r->h) {
		request_end(r, -ENOMEM);
		return;
	}
	ddio_fs_file_create(r->m->fs, r->ino, name,
			    flags_for(r->m, fi->flags) | (fi->flags & O_EXCL), &new, &r->h->file,
			    create_done, r);
}

/* Replies with the result of the flush.  A failure to unlock is no error, but that the lock was lost before is. */
static void flush_unlocked(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	request_end(r, r->err || reply->err != -EIO ? r->err : reply->err);
}

/* With cache=always the kernel keeps sizes by itself: has it ask for the number of blocks after a write. */
static void blocks_changed(const struct request *r)
{
	if (r->m->o->cache == CACHE_ALWAYS && r->h->flags & O_ACCMODE)
		fuse_lowlevel_notify_inval_inode(r->m->se, nodeid_of(r->m, r->ino), -1, 0);
}

/* Returns what an fsync or close ends with: its own error, or one that nobody has been told. */
static int error_of(const struct request *r, const struct ddio_fs_reply *reply)
{
	if (reply->err || !(r->h->flags & O_ACCMODE))
		return reply->err;
	return late_error(r->m, r->ino);
}

/* Unlocks only after the flush, so that whoever gets the lock sees what was written. */
static void flush_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	r->err = error_of(r, reply);
	blocks_changed(r);
	if (marks_has(r->m->marks, r->ino, MARK_LOCKED))
		ddio_fs_unlock_owner(r->h->file, r->owner, flush_unlocked, r);
	else
		request_end(r, r->err);
}

static void flush_start(struct request *r)
{
	ddio_fs_flush(r->h->file, flush_done, r);
}

/* The kernel waits for this whatever happens to the process, and keeps others from looking at that if it runs a program. */
void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct mount *m = mount_of(req);
	struct request *r;

	if (!marks_has(m->marks, ino_of(m, ino), MARK_WRITTEN | MARK_LOCKED)) {
		fuse_reply_err(req, 0);
		return;
	}
	r = request_new(req, ino);
	if (!r)
		return;
	request_hold(r, handle_of(fi));
	r->told = true;
	r->owner = fi->lock_owner;
	owners_remove(r->h, r->owner);
	late_close_begins(r);
	late_start(r, r->ino, 0, flush_start);
}

/*
 * Releasing needs no memory, and begins when no request uses the file any more: one that was answered early may.
 */
static void release_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct handle *h = arg;
	struct mount *m = h->m;

	(void)reply;
	handle_free(h);
	mount_put(m);
}

static void release_unlocked(void *arg, const struct ddio_fs_reply *reply)
{
	struct handle *h = arg;
	uint64_t owner;

	(void)reply;
	if (owners_take(h, &owner))
		ddio_fs_unlock_owner(h->file, owner, release_unlocked, h);
	else
		ddio_fs_file_close(h->file, release_done, h);
}

static void release_begin(struct handle *h)
{
	const struct ddio_fs_lock none = {
		.type = F_UNLCK, .flock = true, .end = UINT64_MAX, .owner = h->flock_owner
	};

	if (h->flock)
		ddio_fs_lock_set(h->file, &none, false, NULL, release_unlocked, h);
	else
		release_unlocked(h, NULL);
}

/* The kernel makes nothing of the answer, but counts requests that have none. */
void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);

	(void)ino;
	h->flock = fi->flock_release;
	h->flock_owner = fi->lock_owner;
	mount_hold(h->m);
	fuse_reply_err(req, 0);
	handle_put(h);
}

static void fsync_done(void *arg, const struct ddio_fs_reply *reply)
{
	blocks_changed(arg);
	request_end(arg, error_of(arg, reply));
}

static void fsync_start(struct request *r)
{
	ddio_fs_sync(r->h->file, fsync_done, r);
}

void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct request *r = request_new(req, ino);

	(void)datasync;
	if (!r)
		return;
	request_hold(r, handle_of(fi));
	r->told = true;
	late_start(r, r->ino, 0, fsync_start);
}
