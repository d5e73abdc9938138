// SPDX-License-Identifier: GPL-2.0-only
/* A kernel that counts the answers to each request, and parts of the mount that its tests do without. */
#include <errno.h>
#include <stdlib.h>
#include "tests/unit/fuse/mount_kernel.h"

/*
 * The kernel
 */
void *fuse_req_userdata(fuse_req_t req)
{
	return req->m;
}

const struct fuse_ctx *fuse_req_ctx(fuse_req_t req)
{
	return &req->ctx;
}

int fuse_reply_err(fuse_req_t req, int err)
{
	if (req->early)
		return -ENOENT;
	req->answers++;
	req->err = err;
	return 0;
}

uint64_t message_unique(fuse_req_t req)
{
	req->requests++;
	return (uintptr_t)req;
}

void reply_early(const struct mount *m, uint64_t unique, int err, uint32_t written)
{
	fuse_req_t req = (fuse_req_t)(uintptr_t)unique;

	(void)m;
	req->written = written;
	fuse_reply_err(req, -err);
	req->early = true;
}

void fuse_reply_none(fuse_req_t req)
{
	fuse_reply_err(req, 0);
}

int fuse_reply_open(fuse_req_t req, const struct fuse_file_info *fi)
{
	req->fh = fi->fh;
	if (fuse_reply_err(req, 0))
		return -ENOENT;
	return req->gone ? -ENOENT : 0;
}

int fuse_reply_create(fuse_req_t req, const struct fuse_entry_param *e,
		      const struct fuse_file_info *fi)
{
	(void)e;
	return fuse_reply_open(req, fi);
}

int fuse_reply_attr(fuse_req_t req, const struct stat *st, double timeout)
{
	(void)st;
	req->timeout = timeout;
	return fuse_reply_err(req, 0);
}

int fuse_reply_entry(fuse_req_t req, const struct fuse_entry_param *e)
{
	req->ino = e->ino;
	req->size = (uint64_t)e->attr.st_size;
	return fuse_reply_err(req, 0);
}

int fuse_reply_readlink(fuse_req_t req, const char *link)
{
	(void)link;
	return fuse_reply_err(req, 0);
}

int fuse_lowlevel_notify_inval_inode(struct fuse_session *se, fuse_ino_t ino, off_t off, off_t len)
{
	(void)ino;
	(void)len;
	if (se && off < 0)
		++*(int *)se;
	return 0;
}

/*
 * Parts of the mount
 */
int reply_open_parallel(fuse_req_t req, const struct fuse_entry_param *e,
			const struct fuse_file_info *fi)
{
	(void)e;
	return fuse_reply_open(req, fi);
}

bool message_kills(void)
{
	return true;
}

void message_free(struct mount *m, void *mem)
{
	(void)m;
	free(mem);
}

void *buffer_get(struct mount *m, size_t len)
{
	(void)m;
	return malloc(len);
}

void buffer_put(struct mount *m, void *buf, size_t len)
{
	(void)m;
	(void)len;
	free(buf);
}
