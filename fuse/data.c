// SPDX-License-Identifier: GPL-2.0-only
/* File data: any number of requests at a time, and no thread waits. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include "ddiofs.h"

/* Up to so many bytes are copied out of the message; more are sent from where they are. */
#define COPY_MAX (32u << 10)

static void atime_done(void *arg, const struct ddio_fs_reply *reply)
{
	(void)reply;
	request_free(arg);
}

/* Returns true if this read has to change the time of access. */
static bool atime_stale(const struct mount *m, struct handle *h)
{
	unsigned int now = atomic_load(&m->atimes);

	return h->keeps_atime &&
	       (atomic_exchange(&h->stale_atime, false) || atomic_exchange(&h->atimes, now) != now);
}

static void read_done(void *arg, const struct ddio_fs_reply *reply)
{
	const struct ddio_fs_attr attr = { 0 };
	struct request *r = arg;
	bool stale;

	if (reply->err) {
		request_end(r, reply->err);
		return;
	}
	/* After the reply the handle may be gone. */
	stale = reply->value && atime_stale(r->m, r->h);
	fuse_reply_buf(r->req, r->buf, reply->value);
	if (stale)
		ddio_fs_setattr(r->m->fs, r->ino, DDIO_FS_SET_ATIME_READ, &attr, atime_done, r);
	else
		request_free(r);
}

/* Returns true if reading without a message is enough: the time of access need not change. */
static bool atime_kept(const struct mount *m, const struct handle *h)
{
	return !h->keeps_atime || (!atomic_load(&h->stale_atime) &&
				   atomic_load(&h->atimes) == atomic_load(&m->atimes));
}

/* Answers a read from the memory of nodes on this machine, if that can be done. */
static bool read_near(fuse_req_t req, size_t size, off_t off, struct handle *h)
{
	struct mount *m = fuse_req_userdata(req);
	void *buf;
	bool read;

	if (!atime_kept(m, h) || late_is_busy(m, h->ino))
		return false;
	buf = buffer_get(m, size);
	read = buf && ddio_fs_read_near(h->file, buf, size, (uint64_t)off);
	if (read)
		fuse_reply_buf(req, buf, size);
	buffer_put(m, buf, size);
	return read;
}

static void read_start(struct request *r)
{
	ddio_fs_read(r->h->file, r->buf, r->len, (uint64_t)r->off, read_done, r);
}

void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct request *r;

	if (read_near(req, size, off, handle_of(fi)))
		return;
	r = request_new(req, ino);

	if (!r)
		return;
	request_hold(r, handle_of(fi));
	r->off = off;
	r->len = size;
	r->buf = buffer_get(r->m, size);
	if (!r->buf)
		request_end(r, -ENOMEM);
	else
		late_start(r, r->ino, 0, read_start);
}

/* The kernel has been asked nothing, and would show the bits for as long as it keeps attributes; -1: these only, without a wait. */
static void bits_gone(const struct request *r)
{
	if (r->mask)
		fuse_lowlevel_notify_inval_inode(r->m->se, nodeid_of(r->m, r->ino), -1, 0);
}

static void write_synced(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err) {
		request_end(r, reply->err);
		return;
	}
	seen_grew(r->m->seen, r->ino, (uint64_t)r->off + r->written);
	bits_gone(r);
	fuse_reply_write(r->req, r->written);
	request_free(r);
}

static void write_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	r->written = reply->value;
	if (!reply->err && r->sync)
		ddio_fs_sync(r->h->file, write_synced, r);
	else
		write_synced(r, reply);
}

/* Ends a request that could not clear setuid and setgid bits; the next one tries again. */
static void kill_failed(struct request *r, int err)
{
	atomic_store(&r->h->special, UINT_MAX);
	request_end(r, err);
}

static void write_killed(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err)
		kill_failed(r, reply->err);
	else
		ddio_fs_write(r->h->file, r->data, r->len, (uint64_t)r->off, write_done, r);
}

/* Returns true if this write has to clear setuid and setgid bits; once for each chmod that may have set them. */
static bool write_kills(struct request *r)
{
	unsigned int now = atomic_load(&r->m->special);

	if (r->m->killpriv ? !message_kills() : !r->h->direct || !fuse_req_ctx(r->req)->uid)
		return false;
	return atomic_exchange(&r->h->special, now) != now;
}

/* Keeps the bytes to be written beyond the handler: 0 or -ENOMEM. */
static int write_keep(struct request *r, const char *buf, size_t size)
{
	r->len = size;
	if (size > COPY_MAX) {
		r->message = true;
		r->buf = message_take();
		r->data = buf;
		return 0;
	}
	r->buf = buffer_get(r->m, size);
	if (!r->buf)
		return -ENOMEM;
	memcpy(r->buf, buf, size);
	r->data = r->buf;
	return 0;
}

static void write_start(struct request *r)
{
	const struct ddio_fs_attr attr = { 0 };

	if (r->mask)
		ddio_fs_setattr(r->m->fs, r->ino, r->mask, &attr, write_killed, r);
	else
		ddio_fs_write(r->h->file, r->data, r->len, (uint64_t)r->off, write_done, r);
}

void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
	      struct fuse_file_info *fi)
{
	struct request *r = request_new(req, ino);

	if (!r)
		return;
	request_hold(r, handle_of(fi));
	r->told = true;
	r->off = off;
	/* The kernel syncs only what goes through its pages. */
	r->sync = r->h->direct && fi->flags & (O_DSYNC | O_SYNC);
	marks_set(r->m->marks, r->ino, MARK_WRITTEN);
	if (write_keep(r, buf, size)) {
		request_end(r, -ENOMEM);
		return;
	}
	if (write_kills(r))
		r->mask = DDIO_FS_KILL_SUID;
	late_start(r, r->ino, LATE_CHANGES | (fi->writepage ? LATE_PAGE : 0), write_start);
}

static void fallocate_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (!reply->err && !(r->whence & FALLOC_FL_KEEP_SIZE))
		seen_grew(r->m->seen, r->ino, (uint64_t)r->off + r->len);
	bits_gone(r);
	request_end(r, reply->err);
}

static void fallocate_go(struct request *r)
{
	ddio_fs_allocate(r->h->file, r->whence, (uint64_t)r->off, r->len, fallocate_done, r);
}

static void fallocate_cleared(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err)
		kill_failed(r, reply->err);
	else
		fallocate_go(r);
}

/* A setgid bit without group execution goes, too, unless the caller is of the group. */
static void fallocate_killed(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;
	struct ddio_fs_attr attr = { 0 };

	if (reply->err || !(reply->attr->mode & S_ISGID)) {
		fallocate_cleared(r, reply);
		return;
	}
	atomic_store(&r->h->special, UINT_MAX);
	if (caller_in_group(r, reply->attr->gid)) {
		fallocate_go(r);
		return;
	}
	attr.mode = reply->attr->mode & 07777 & ~(uint32_t)S_ISGID;
	ddio_fs_setattr(r->m->fs, r->ino, DDIO_FS_SET_MODE, &attr, fallocate_cleared, r);
}

/* The kernel leaves it to us to clear setuid and setgid bits, and does not say when. */
static bool fallocate_kills(struct request *r)
{
	unsigned int now = atomic_load(&r->m->special);

	return fuse_req_ctx(r->req)->uid && atomic_exchange(&r->h->special, now) != now;
}

static void fallocate_start(struct request *r)
{
	const struct ddio_fs_attr none = { 0 };

	if (r->mask)
		ddio_fs_setattr(r->m->fs, r->ino, r->mask, &none, fallocate_killed, r);
	else
		fallocate_go(r);
}

void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t len,
		  struct fuse_file_info *fi)
{
	struct request *r;

	if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) {
		fuse_reply_err(req, EOPNOTSUPP);
		return;
	}
	r = request_new(req, ino);
	if (!r)
		return;
	marks_set(r->m->marks, r->ino, MARK_WRITTEN);
	request_hold(r, handle_of(fi));
	r->told = true;
	r->whence = mode;
	r->off = off;
	r->len = (size_t)len;
	if (fallocate_kills(r))
		r->mask = DDIO_FS_KILL_SUID;
	late_start(r, r->ino, LATE_CHANGES, fallocate_start);
}

static void lseek_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err) {
		request_end(r, reply->err);
		return;
	}
	fuse_reply_lseek(r->req, (off_t)reply->value);
	request_free(r);
}

static void lseek_go(struct request *r)
{
	ddio_fs_seek(r->h->file, (uint64_t)r->off, r->whence, lseek_done, r);
}

static void lseek_start(struct request *r)
{
	late_start(r, r->ino, 0, lseek_go);
}

void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi)
{
	struct request *r;

	if (off < 0 || (whence != SEEK_DATA && whence != SEEK_HOLE)) {
		fuse_reply_err(req, off < 0 ? ENXIO : EINVAL);
		return;
	}
	r = request_new(req, ino);
	if (!r)
		return;
	request_hold(r, handle_of(fi));
	r->off = off;
	r->whence = whence;
	/* Pages that the kernel has not written back yet are not holes. */
	if (r->m->o->cache == CACHE_ALWAYS)
		pages_drop(r->m->drops, r, lseek_start);
	else
		lseek_start(r);
}

static void copy_go(struct request *r)
{
	ddio_fs_copy(r->held[1]->file, r->owner, r->h->file, (uint64_t)r->off, r->len, write_done,
		     r);
}

/* Both files are looked at one after the other: what is answered meanwhile is none of this request's. */
static void copy_start(struct request *r)
{
	late_start(r, r->ino, LATE_CHANGES, copy_go);
}

void op_copy(fuse_req_t req, fuse_ino_t ino_in, off_t off_in, struct fuse_file_info *fi_in,
	     fuse_ino_t ino_out, off_t off_out, struct fuse_file_info *fi_out, size_t len,
	     int flags)
{
	struct request *r;

	(void)ino_in;
	if (flags) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	r = request_new(req, ino_out);
	if (!r)
		return;
	marks_set(r->m->marks, r->ino, MARK_WRITTEN);
	request_hold(r, handle_of(fi_out));
	request_hold(r, handle_of(fi_in));
	r->told = true;
	r->off = off_out;
	r->owner = (uint64_t)off_in;
	r->len = len;
	late_start(r, r->held[1]->ino, 0, copy_start);
}
