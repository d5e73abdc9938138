// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directories.  A handle holds nothing: a cookie stays good whatever is added and removed, so that a
 * listing can go on from any entry.
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

void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->fh = 0;
	fuse_reply_open(req, fi);
}

void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	(void)fi;
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
	if (is_dots(d->name))
		e.attr = st;
	else
		entry_fill(r->m, &d->attr, &e);
	if (is_dots(d->name))
		e.ino = 0;
	return fuse_add_direntry_plus(r->req, at, left, d->name, &e, (off_t)d->cookie);
}

static void readdir_done(void *arg, const struct ddio_fs_reply *reply)
{
	const struct ddio_fs_dirent *d = reply->data;
	struct request *r = arg;
	size_t used = 0, n, i;
	int err = reply->err;

	for (i = 0; !err && i < reply->len; i++) {
		n = entry_add(r, (char *)r->buf + used, r->len - used, &d[i]);
		if (n > r->len - used) {
			if (!used)
				err = -EINVAL;
			break;
		}
		used += n;
	}
	if (err) {
		request_end(r, err);
		return;
	}
	fuse_reply_buf(r->req, r->buf, used);
	request_free(r);
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, bool plus)
{
	struct request *r = request_new(req, ino);
	size_t max = size / (plus ? ENTRY_PLUS_BYTES : ENTRY_BYTES) + 1;

	if (!r)
		return;
	r->plus = plus;
	r->buf = buffer_get(r->m, size);
	r->len = size;
	if (!r->buf) {
		request_end(r, -ENOMEM);
		return;
	}
	if (max > MAX_ENTRIES)
		max = MAX_ENTRIES;
	ddio_fs_readdir(r->m->fs, r->ino, (uint64_t)off, (uint32_t)max, plus, readdir_done, r);
}

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, off, false);
}

void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, off, true);
}

void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct request *r = request_new(req, ino);

	(void)datasync;
	(void)fi;
	if (r)
		ddio_fs_sync_names(r->m->fs, request_done, r);
}
