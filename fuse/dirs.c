// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directories.  A cookie stays good whatever is added and removed, so that a listing can go on from any entry.  What
 * is made while it goes on has greater cookies: a handle knows where its listing ends, so that it does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "ddiofs.h"

/* Bytes of a short entry, to estimate how many fit. */
#define ENTRY_BYTES 40
#define ENTRY_PLUS_BYTES 168
#define MAX_ENTRIES 4096

/**
 * struct dir_handle - an open directory; the kernel makes one request at a time
 * @next, @link: in mount.dirs: the next handle, and what points to this one
 * @ends: the listing ends with the entry whose cookie is @last
 * @seen: which losses of the name server its fsync's have told, see ddio_fs_sync_opened()
 */
struct dir_handle {
	struct dir_handle *next, **link;
	uint64_t last, seen;
	bool ends;
};

static struct dir_handle *dir_of(const struct fuse_file_info *fi)
{
	return (struct dir_handle *)(uintptr_t)fi->fh;
}

static struct dir_handle *dir_new(struct mount *m)
{
	struct dir_handle *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->seen = ddio_fs_dir_seen(m->fs);
	pthread_mutex_lock(&m->lock);
	d->next = m->dirs;
	d->link = &m->dirs;
	if (d->next)
		d->next->link = &d->next;
	m->dirs = d;
	pthread_mutex_unlock(&m->lock);
	return d;
}

static void dir_free(struct mount *m, struct dir_handle *d)
{
	pthread_mutex_lock(&m->lock);
	*d->link = d->next;
	if (d->next)
		d->next->link = d->link;
	pthread_mutex_unlock(&m->lock);
	free(d);
}

void dirs_free(struct mount *m)
{
	while (m->dirs)
		dir_free(m, m->dirs);
}

static void opendir_go(struct request *r)
{
	struct dir_handle *d = dir_new(r->m);

	if (!d) {
		request_end(r, -ENOMEM);
		return;
	}
	r->fi.fh = (uintptr_t)d;
	again_done(r->m->again, fuse_req_ctx(r->req)->pid);
	/* If the caller was interrupted, no one will release it. */
	if (fuse_reply_open(r->req, &r->fi) == -ENOENT)
		dir_free(r->m, d);
	request_free(r);
}

static void opendir_found(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err || !reply->attr->nlink)
		request_end_open(r, reply->err ? reply->err : -ESTALE);
	else
		opendir_go(r);
}

/*
 * The kernel may have the name of a directory that another mount has removed, and perhaps made anew.  One that a
 * program works in can be opened after it was removed, too.
 */
void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct request *r = request_new(req, ino);

	if (!r)
		return;
	r->fi = *fi;
	if (r->ino == DDIO_FS_ROOT || r->m->o->cache == CACHE_ALWAYS || request_opens_again(r))
		opendir_go(r);
	else
		ddio_fs_getattr(r->m->fs, r->ino, opendir_found, r);
}

void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	dir_free(mount_of(req), dir_of(fi));
	fuse_reply_err(req, 0);
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Returns the bytes that the entry takes; if they are more than @left, it was not added. */
static size_t entry_add(struct request *r, char *at, size_t left, const struct ddio_fs_dirent *d)
{
	struct fuse_entry_param e = { 0 };
	struct stat st = { .st_ino = nodeid_of(r->m, d->attr.ino), .st_mode = d->attr.mode };

	if (!r->plus)
		return fuse_add_direntry(r->req, at, left, d->name, &st, (off_t)d->cookie);
	if (is_dots(d->name)) {
		e.attr = st;
	} else {
		name_given(r->m, r->ino, d->name, &d->attr);
		entry_fill(r->m, &d->attr, &e);
	}
	if (is_dots(d->name))
		e.ino = 0;
	else if (d->bare)
		seen_bare(r->m->seen, &d->attr, r->xattr_changes,
			  clock_ns() + (uint64_t)(r->m->o->attr_timeout * 1e9));
	return fuse_add_direntry_plus(r->req, at, left, d->name, &e, (off_t)d->cookie);
}

static void list_empty(struct request *r)
{
	fuse_reply_buf(r->req, NULL, 0);
	request_free(r);
}

static void readdir_done(void *arg, const struct ddio_fs_reply *reply)
{
	const struct ddio_fs_dirent *d = reply->data;
	struct request *r = arg;
	struct dir_handle *h = dir_of(&r->fi);
	size_t used = 0, n, i;
	int err = reply->err;

	if (!err && !reply->value && reply->len && !h->ends) {
		h->ends = true;
		h->last = d[reply->len - 1].cookie;
	}
	for (i = 0; !err && i < reply->len && (!h->ends || d[i].cookie <= h->last); i++) {
		n = entry_add(r, (char *)r->buf + used, r->len - used, &d[i]);
		if (n > r->len - used) {
			if (!used)
				err = -EINVAL;
			break;
		}
		used += n;
	}
	if (err) {
		/* The directory is open, and was removed: there is no path to look up again. */
		request_end(r, err == -ESTALE ? -ENOENT : err);
		return;
	}
	fuse_reply_buf(r->req, r->buf, used);
	request_free(r);
}

static void list_go(struct request *r)
{
	size_t max = r->len / (r->plus ? ENTRY_PLUS_BYTES : ENTRY_BYTES) + 1;

	if (max > MAX_ENTRIES)
		max = MAX_ENTRIES;
	ddio_fs_readdir(r->m->fs, r->ino, (uint64_t)r->off, (uint32_t)max, r->plus, readdir_done,
			r);
}

static void list_bounded(void *arg, const struct ddio_fs_reply *reply)
{
	const struct ddio_fs_dirent *d = reply->data;
	struct request *r = arg;
	struct dir_handle *h = dir_of(&r->fi);

	/* A name server of an earlier version does not say; then the listing ends where it is empty. */
	if (!reply->err && reply->len) {
		h->ends = true;
		h->last = d->cookie;
	}
	list_go(r);
}

/* A listing that goes on after its first part asks where it will end. */
static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi,
		 bool plus)
{
	struct request *r = request_new(req, ino);
	struct dir_handle *h = dir_of(fi);

	if (!r)
		return;
	r->fi = *fi;
	r->off = off;
	r->plus = plus;
	r->xattr_changes = seen_xattr_changes(r->m->seen);
	if (!off)
		h->ends = false;
	if (h->ends && (uint64_t)off >= h->last) {
		list_empty(r);
		return;
	}
	r->buf = buffer_get(r->m, size);
	r->len = size;
	if (!r->buf) {
		request_end(r, -ENOMEM);
		return;
	}
	if (off && !h->ends)
		ddio_fs_readdir(r->m->fs, r->ino, 0, 0, false, list_bounded, r);
	else
		list_go(r);
}

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	list(req, ino, size, off, fi, false);
}

void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	list(req, ino, size, off, fi, true);
}

void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct request *r = request_new(req, ino);

	(void)datasync;
	if (r)
		ddio_fs_sync_opened(r->m->fs, r->ino, &dir_of(fi)->seen, request_done, r);
}
