// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of fcntl(2) and flock(2).  A program that gets a lock must see what others wrote before they gave
 * it up, so the kernel's pages are dropped before the reply.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include "ddiofs.h"

/**
 * struct setlk_wait - a request that waits for a lock; a signal can cancel it
 * @refs: one for wait_start() while it runs, one for the library
 * @placed: @id is valid
 * @off: cancelled before it was placed
 * @over: the library has replied
 */
struct setlk_wait {
	pthread_mutex_t lock;
	struct request *r;
	struct ddio_fs *fs;
	uint64_t id;
	unsigned int refs;
	bool placed, off, over;
};

static struct ddio_fs_lock lock_of(fuse_req_t req, const struct fuse_file_info *fi,
				   const struct flock *lock)
{
	struct ddio_fs_lock l = { .type = (uint32_t)lock->l_type,
				  .start = (uint64_t)lock->l_start,
				  .end = UINT64_MAX,
				  .owner = fi->lock_owner,
				  .pid = (uint32_t)lock->l_pid };

	if (lock->l_len)
		l.end = l.start + (uint64_t)lock->l_len - 1;
	if (!l.pid)
		l.pid = (uint32_t)fuse_req_ctx(req)->pid;
	return l;
}

static void getlk_done(void *arg, const struct ddio_fs_reply *reply)
{
	const struct ddio_fs_lock *l = reply->data;
	struct flock lock = { .l_type = F_UNLCK, .l_whence = SEEK_SET };
	struct request *r = arg;

	if (reply->err) {
		request_end(r, reply->err);
		return;
	}
	if (l->type != F_UNLCK) {
		lock.l_type = (short)l->type;
		lock.l_start = (off_t)l->start;
		lock.l_len = l->end >= INT64_MAX ? 0 : (off_t)(l->end - l->start + 1);
		lock.l_pid = (pid_t)l->pid;
	}
	fuse_reply_lock(r->req, &lock);
	request_free(r);
}

void op_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock)
{
	struct ddio_fs_lock l = lock_of(req, fi, lock);
	struct request *r = request_new(req, ino);

	if (!r)
		return;
	request_hold(r, handle_of(fi));
	ddio_fs_lock_test(r->h->file, &l, getlk_done, r);
}

static void lock_dropped(struct request *r)
{
	request_end(r, 0);
}

static void lock_end(struct request *r, int err, bool taken)
{
	if (!err && taken && r->m->o->cache == CACHE_AUTO)
		pages_drop(r->m->drops, r, lock_dropped);
	else
		request_end(r, err);
}

static void set_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	lock_end(r, reply->err, r->mask != F_UNLCK);
}

/* Drops a reference; called with the lock held, which it releases. */
static void wait_put(struct setlk_wait *w)
{
	bool last = !--w->refs;

	pthread_mutex_unlock(&w->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&w->lock);
	free(w);
}

/* libfuse calls this on another thread, or from fuse_req_interrupt_func(). */
static void wait_interrupt(fuse_req_t req, void *arg)
{
	struct setlk_wait *w = arg;

	(void)req;
	pthread_mutex_lock(&w->lock);
	if (w->placed && !w->over)
		ddio_fs_lock_cancel(w->fs, w->id);
	w->off = true;
	pthread_mutex_unlock(&w->lock);
}

static void wait_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct setlk_wait *w = arg;
	struct request *r = w->r;

	/* After this no interrupt can reach @w. */
	fuse_req_interrupt_func(r->req, NULL, NULL);
	pthread_mutex_lock(&w->lock);
	w->over = true;
	wait_put(w);
	lock_end(r, reply->err, true);
}

static void wait_start(struct request *r, struct ddio_fs_file *file, const struct ddio_fs_lock *l)
{
	struct setlk_wait *w = calloc(1, sizeof(*w));
	struct ddio_fs *fs = r->m->fs;
	uint64_t id = 0;

	if (!w) {
		request_end(r, -ENOMEM);
		return;
	}
	pthread_mutex_init(&w->lock, NULL);
	w->r = r;
	w->fs = fs;
	w->refs = 2;
	fuse_req_interrupt_func(r->req, wait_interrupt, w);
	ddio_fs_lock_set(file, l, true, &id, wait_done, w);
	pthread_mutex_lock(&w->lock);
	w->id = id;
	w->placed = true;
	if (w->off && !w->over)
		ddio_fs_lock_cancel(fs, id);
	wait_put(w);
}

static void lock_set(fuse_req_t req, fuse_ino_t ino, const struct fuse_file_info *fi,
		     const struct ddio_fs_lock *l, bool sleep)
{
	struct request *r = request_new(req, ino);
	struct ddio_fs_file *file = handle_of(fi)->file;

	if (!r)
		return;
	request_hold(r, handle_of(fi));
	r->mask = l->type;
	if (!l->flock)
		marks_set(r->m->marks, r->ino, MARK_LOCKED);
	if (sleep && l->type != F_UNLCK)
		wait_start(r, file, l);
	else
		ddio_fs_lock_set(file, l, false, NULL, set_done, r);
}

void op_setlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock,
	      int sleep)
{
	struct ddio_fs_lock l = lock_of(req, fi, lock);

	if (l.type != F_UNLCK && owners_add(handle_of(fi), l.owner)) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	lock_set(req, ino, fi, &l, sleep);
}

void op_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int op)
{
	struct ddio_fs_lock l = { .flock = true,
				  .end = UINT64_MAX,
				  .owner = fi->lock_owner,
				  .pid = (uint32_t)fuse_req_ctx(req)->pid };

	switch (op & ~LOCK_NB) {
	case LOCK_SH:
		l.type = F_RDLCK;
		break;
	case LOCK_EX:
		l.type = F_WRLCK;
		break;
	case LOCK_UN:
		l.type = F_UNLCK;
		break;
	default:
		fuse_reply_err(req, EINVAL);
		return;
	}
	lock_set(req, ino, fi, &l, !(op & LOCK_NB));
}
