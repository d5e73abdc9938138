// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of what the file system asks about inodes and names. */
#include <stdlib.h>
#include <sys/stat.h>
#include "proto/codec_fs.h"

enum { NSEC = 1000000000 };

#define SET_ALL                                                                                  \
	(DDIO_FS_SET_MODE | DDIO_FS_SET_UID | DDIO_FS_SET_GID | DDIO_FS_SET_SIZE |               \
	 DDIO_FS_SET_ATIME | DDIO_FS_SET_MTIME | DDIO_FS_SET_ATIME_NOW | DDIO_FS_SET_MTIME_NOW | \
	 DDIO_FS_SET_CTIME | DDIO_FS_KILL_SUID | DDIO_FS_SET_ATIME_READ)
#define OPENED_ALL \
	(DDIO_FS_OPENED_MADE | DDIO_FS_OPENED_RECORD | DDIO_FS_OPENED_BARE | DDIO_FS_OPENED_DIR)
#define UNLINKED_ALL (DDIO_FS_UNLINKED_DIR | DDIO_FS_UNLINKED_LEFT)

void ddio_wr_fs_seq(struct ddio_wr *w, const struct ddio_fs_seq *seq)
{
	ddio_wr_u64(w, seq->seq);
	ddio_wr_u64(w, seq->upto);
}

void ddio_rd_fs_seq(struct ddio_rd *r, struct ddio_fs_seq *seq)
{
	seq->seq = ddio_rd_u64(r);
	seq->upto = ddio_rd_u64(r);
	ddio_rd_check(r, !seq->seq || seq->upto < seq->seq, -EINVAL);
}

uint64_t ddio_rd_ino(struct ddio_rd *r)
{
	uint64_t ino = ddio_rd_u64(r);

	ddio_rd_check(r, ino != 0, -EINVAL);
	return ino;
}

uint32_t ddio_rd_flags(struct ddio_rd *r, uint32_t known)
{
	uint32_t flags = ddio_rd_u32(r);

	ddio_rd_check(r, !(flags & ~known), -EPROTO);
	return flags;
}

void ddio_rd_fs_name(struct ddio_rd *r, char *name)
{
	ddio_rd_str(r, name, DDIO_MAX_NAME + 1);
	ddio_rd_check(r, name[0] && !strchr(name, '/'), -EINVAL);
}

void ddio_wr_time(struct ddio_wr *w, const struct timespec *t)
{
	ddio_wr_u64(w, (uint64_t)t->tv_sec);
	ddio_wr_u32(w, (uint32_t)t->tv_nsec);
}

void ddio_rd_time(struct ddio_rd *r, struct timespec *t)
{
	t->tv_sec = (time_t)ddio_rd_u64(r);
	t->tv_nsec = ddio_rd_u32(r);
	ddio_rd_check(r, t->tv_nsec < NSEC, -EINVAL);
}

bool ddio_mode_ok(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
	case S_IFLNK:
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
	case S_IFSOCK:
		return !(mode & ~(S_IFMT | 07777u));
	default:
		return false;
	}
}

void ddio_wr_fs_attr(struct ddio_wr *w, const struct ddio_fs_attr *a)
{
	ddio_wr_u64(w, a->ino);
	ddio_wr_u64(w, a->size);
	ddio_wr_u64(w, a->alloc);
	ddio_wr_u64(w, a->change);
	ddio_wr_u64(w, a->rdev);
	ddio_wr_time(w, &a->atime);
	ddio_wr_time(w, &a->mtime);
	ddio_wr_time(w, &a->ctime);
	ddio_wr_time(w, &a->btime);
	ddio_wr_u32(w, a->mode);
	ddio_wr_u32(w, a->nlink);
	ddio_wr_u32(w, a->uid);
	ddio_wr_u32(w, a->gid);
	ddio_wr_u32(w, a->block);
	ddio_wr_u32(w, a->ndisks);
}

void ddio_rd_fs_attr(struct ddio_rd *r, struct ddio_fs_attr *a)
{
	memset(a, 0, sizeof(*a));
	a->ino = ddio_rd_ino(r);
	a->size = ddio_rd_u64(r);
	a->alloc = ddio_rd_u64(r);
	a->change = ddio_rd_u64(r);
	a->rdev = ddio_rd_u64(r);
	ddio_rd_time(r, &a->atime);
	ddio_rd_time(r, &a->mtime);
	ddio_rd_time(r, &a->ctime);
	ddio_rd_time(r, &a->btime);
	a->mode = ddio_rd_u32(r);
	a->nlink = ddio_rd_u32(r);
	a->uid = ddio_rd_u32(r);
	a->gid = ddio_rd_u32(r);
	a->block = ddio_rd_u32(r);
	a->ndisks = ddio_rd_u32(r);
	ddio_rd_check(r, ddio_mode_ok(a->mode), -EINVAL);
	ddio_rd_check(r, !a->block == !S_ISREG(a->mode) && !a->ndisks == !a->block, -EINVAL);
	ddio_rd_check(r, !a->block || ddio_block_ok(a->block), -EINVAL);
	ddio_rd_check(r, a->size <= DDIO_MAX_FILE && a->ndisks <= DDIO_MAX_DISKS, -EMSGSIZE);
}

static void rd_dir_attr(struct ddio_rd *r, struct ddio_fs_attr *a)
{
	ddio_rd_fs_attr(r, a);
	ddio_rd_check(r, S_ISDIR(a->mode), -EINVAL);
}

ssize_t ddio_put_fs_attach(void *buf, size_t cap, const struct ddio_msg_fs_attach *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_bytes(&w, x->mount, sizeof(x->mount));
	ddio_wr_u32(&w, x->flags);
	return ddio_wr_end(&w);
}

int ddio_get_fs_attach(const void *buf, size_t len, struct ddio_msg_fs_attach *x)
{
	static const uint8_t none[DDIO_GROUP_ID_LEN];
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_bytes(&r, x->mount, sizeof(x->mount));
	x->flags = ddio_rd_flags(&r, DDIO_FS_ATTACH_TOLD);
	ddio_rd_check(&r, memcmp(x->mount, none, sizeof(none)) != 0, -EINVAL);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_attached(void *buf, size_t cap, const struct ddio_msg_fs_attached *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->boot);
	ddio_wr_u64(&w, x->grace_ns);
	ddio_wr_u64(&w, x->timeout_ns);
	ddio_wr_u32(&w, x->known);
	return ddio_wr_end(&w);
}

int ddio_get_fs_attached(const void *buf, size_t len, struct ddio_msg_fs_attached *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->boot = ddio_rd_u64(&r);
	x->grace_ns = ddio_rd_u64(&r);
	x->timeout_ns = ddio_rd_u64(&r);
	x->known = ddio_rd_u32(&r);
	ddio_rd_check(&r, x->known <= 1, -EINVAL);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_ino(void *buf, size_t cap, const struct ddio_msg_fs_ino *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->ino);
	return ddio_wr_end(&w);
}

int ddio_get_fs_ino(const void *buf, size_t len, struct ddio_msg_fs_ino *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->ino = ddio_rd_ino(&r);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_name(void *buf, size_t cap, const struct ddio_msg_fs_name *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_fs_seq(&w, &x->seq);
	ddio_wr_u64(&w, x->parent);
	ddio_wr_u32(&w, x->flags);
	ddio_wr_str(&w, x->name, sizeof(x->name));
	return ddio_wr_end(&w);
}

int ddio_get_fs_name(const void *buf, size_t len, struct ddio_msg_fs_name *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_fs_seq(&r, &x->seq);
	x->parent = ddio_rd_ino(&r);
	x->flags = ddio_rd_flags(&r, DDIO_FS_UNLINK_DIR);
	ddio_rd_fs_name(&r, x->name);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_attr(void *buf, size_t cap, const struct ddio_msg_fs_attr *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_fs_attr(&w, &x->attr);
	return ddio_wr_end(&w);
}

int ddio_get_fs_attr(const void *buf, size_t len, struct ddio_msg_fs_attr *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_fs_attr(&r, &x->attr);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_setattr(void *buf, size_t cap, const struct ddio_msg_fs_setattr *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->ino);
	ddio_wr_u32(&w, x->mask);
	ddio_wr_u32(&w, x->mode);
	ddio_wr_u32(&w, x->uid);
	ddio_wr_u32(&w, x->gid);
	ddio_wr_u64(&w, x->size);
	ddio_wr_time(&w, &x->atime);
	ddio_wr_time(&w, &x->mtime);
	ddio_wr_time(&w, &x->ctime);
	return ddio_wr_end(&w);
}

int ddio_get_fs_setattr(const void *buf, size_t len, struct ddio_msg_fs_setattr *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	memset(x, 0, sizeof(*x));
	x->ino = ddio_rd_ino(&r);
	x->mask = ddio_rd_flags(&r, SET_ALL);
	x->mode = ddio_rd_u32(&r);
	x->uid = ddio_rd_u32(&r);
	x->gid = ddio_rd_u32(&r);
	x->size = ddio_rd_u64(&r);
	ddio_rd_time(&r, &x->atime);
	ddio_rd_time(&r, &x->mtime);
	ddio_rd_time(&r, &x->ctime);
	/* beyond the largest file: -EFBIG to who asks, no broken message */
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_make(void *buf, size_t cap, const struct ddio_msg_fs_make *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_fs_seq(&w, &x->seq);
	ddio_wr_u64(&w, x->parent);
	ddio_wr_u32(&w, x->flags);
	ddio_wr_u32(&w, x->mode);
	ddio_wr_u32(&w, x->umask);
	ddio_wr_u32(&w, x->uid);
	ddio_wr_u32(&w, x->gid);
	ddio_wr_u64(&w, x->rdev);
	ddio_wr_str(&w, x->name, sizeof(x->name));
	ddio_wr_str(&w, x->target, sizeof(x->target));
	return ddio_wr_end(&w);
}

int ddio_get_fs_make(const void *buf, size_t len, struct ddio_msg_fs_make *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_fs_seq(&r, &x->seq);
	x->parent = ddio_rd_ino(&r);
	x->flags = ddio_rd_flags(&r, DDIO_FS_MAKE_EXCL | DDIO_FS_MAKE_OPEN);
	x->mode = ddio_rd_u32(&r);
	x->umask = ddio_rd_u32(&r);
	x->uid = ddio_rd_u32(&r);
	x->gid = ddio_rd_u32(&r);
	x->rdev = ddio_rd_u64(&r);
	ddio_rd_fs_name(&r, x->name);
	ddio_rd_str(&r, x->target, sizeof(x->target));
	ddio_rd_check(&r, ddio_mode_ok(x->mode) && !(x->umask & ~0777u), -EINVAL);
	ddio_rd_check(&r, !x->target[0] == !S_ISLNK(x->mode), -EINVAL);
	ddio_rd_check(&r, !(x->flags & DDIO_FS_MAKE_OPEN) || S_ISREG(x->mode), -EINVAL);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_open(void *buf, size_t cap, const struct ddio_msg_fs_open *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->ino);
	ddio_wr_u32(&w, x->flags);
	return ddio_wr_end(&w);
}

int ddio_get_fs_open(const void *buf, size_t len, struct ddio_msg_fs_open *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->ino = ddio_rd_ino(&r);
	x->flags = ddio_rd_flags(&r, DDIO_FS_OPEN_AGAIN | DDIO_FS_OPEN_LOOK);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_opened(void *buf, size_t cap, const struct ddio_msg_fs_opened *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u32(&w, x->flags);
	ddio_wr_fs_attr(&w, &x->attr);
	if (x->flags & DDIO_FS_OPENED_DIR)
		ddio_wr_fs_attr(&w, &x->dir);
	if (x->flags & DDIO_FS_OPENED_RECORD)
		ddio_wr_record(&w, &x->rec);
	return ddio_wr_end(&w);
}

int ddio_get_fs_opened(const void *buf, size_t len, struct ddio_msg_fs_opened *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	int err;

	memset(x, 0, sizeof(*x));
	x->flags = ddio_rd_flags(&r, OPENED_ALL);
	ddio_rd_fs_attr(&r, &x->attr);
	if (x->flags & DDIO_FS_OPENED_DIR)
		rd_dir_attr(&r, &x->dir);
	if (!r.err && x->flags & DDIO_FS_OPENED_RECORD)
		ddio_rd_record(&r, &x->rec);
	err = ddio_rd_end(&r);
	if (err)
		ddio_fs_opened_free(x);
	return err;
}

void ddio_fs_opened_free(struct ddio_msg_fs_opened *x)
{
	ddio_file_record_free(&x->rec);
}

ssize_t ddio_put_fs_unlinked(void *buf, size_t cap, const struct ddio_msg_fs_unlinked *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u32(&w, x->flags);
	if (x->flags & DDIO_FS_UNLINKED_DIR)
		ddio_wr_fs_attr(&w, &x->dir);
	if (x->flags & DDIO_FS_UNLINKED_LEFT)
		ddio_wr_record(&w, &x->rec);
	return ddio_wr_end(&w);
}

int ddio_get_fs_unlinked(const void *buf, size_t len, struct ddio_msg_fs_unlinked *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	int err;

	memset(x, 0, sizeof(*x));
	x->flags = ddio_rd_flags(&r, UNLINKED_ALL);
	if (x->flags & DDIO_FS_UNLINKED_DIR)
		rd_dir_attr(&r, &x->dir);
	if (!r.err && x->flags & DDIO_FS_UNLINKED_LEFT)
		ddio_rd_record(&r, &x->rec);
	err = ddio_rd_end(&r);
	if (err)
		ddio_fs_unlinked_free(x);
	return err;
}

void ddio_fs_unlinked_free(struct ddio_msg_fs_unlinked *x)
{
	ddio_file_record_free(&x->rec);
}

ssize_t ddio_put_fs_link(void *buf, size_t cap, const struct ddio_msg_fs_link *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_fs_seq(&w, &x->seq);
	ddio_wr_u64(&w, x->ino);
	ddio_wr_u64(&w, x->parent);
	ddio_wr_str(&w, x->name, sizeof(x->name));
	return ddio_wr_end(&w);
}

int ddio_get_fs_link(const void *buf, size_t len, struct ddio_msg_fs_link *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_fs_seq(&r, &x->seq);
	x->ino = ddio_rd_ino(&r);
	x->parent = ddio_rd_ino(&r);
	ddio_rd_fs_name(&r, x->name);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_rename(void *buf, size_t cap, const struct ddio_msg_fs_rename *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_fs_seq(&w, &x->seq);
	ddio_wr_u64(&w, x->parent);
	ddio_wr_u64(&w, x->new_parent);
	ddio_wr_u32(&w, x->flags);
	ddio_wr_str(&w, x->name, sizeof(x->name));
	ddio_wr_str(&w, x->new_name, sizeof(x->new_name));
	return ddio_wr_end(&w);
}

int ddio_get_fs_rename(const void *buf, size_t len, struct ddio_msg_fs_rename *x)
{
	const uint32_t both = DDIO_FS_RENAME_NOREPLACE | DDIO_FS_RENAME_EXCHANGE;
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_fs_seq(&r, &x->seq);
	x->parent = ddio_rd_ino(&r);
	x->new_parent = ddio_rd_ino(&r);
	x->flags = ddio_rd_flags(&r, both);
	ddio_rd_fs_name(&r, x->name);
	ddio_rd_fs_name(&r, x->new_name);
	ddio_rd_check(&r, x->flags != both, -EINVAL);
	return ddio_rd_end(&r);
}
