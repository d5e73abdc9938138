// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of what the file system asks about data: sizes, space, locks, objects. */
#include "proto/codec_fs.h"

#define WROTE_ALL (DDIO_FS_WROTE_DATA | DDIO_FS_WROTE_TIMES | DDIO_FS_WROTE_KILL_SUID)
#define LOCK_ALL (DDIO_FS_LOCK_FLOCK | DDIO_FS_LOCK_WAIT | DDIO_FS_LOCK_AGAIN | DDIO_FS_LOCK_OTHER)

ssize_t ddio_put_fs_wrote(void *buf, size_t cap, const struct ddio_msg_fs_wrote *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->ino);
	ddio_wr_u64(&w, x->end);
	ddio_wr_u32(&w, x->flags);
	return ddio_wr_end(&w);
}

int ddio_get_fs_wrote(const void *buf, size_t len, struct ddio_msg_fs_wrote *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->ino = ddio_rd_ino(&r);
	x->end = ddio_rd_u64(&r);
	x->flags = ddio_rd_flags(&r, WROTE_ALL);
	ddio_rd_check(&r, x->end <= DDIO_MAX_FILE, -EMSGSIZE);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_append(void *buf, size_t cap, const struct ddio_msg_fs_append *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_fs_seq(&w, &x->seq);
	ddio_wr_u64(&w, x->ino);
	ddio_wr_u64(&w, x->len);
	return ddio_wr_end(&w);
}

int ddio_get_fs_append(const void *buf, size_t len, struct ddio_msg_fs_append *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_fs_seq(&r, &x->seq);
	x->ino = ddio_rd_ino(&r);
	x->len = ddio_rd_u64(&r);
	ddio_rd_check(&r, x->len > 0, -EINVAL);
	ddio_rd_check(&r, x->len <= DDIO_MAX_FILE, -EMSGSIZE);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_place(void *buf, size_t cap, const struct ddio_msg_fs_place *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->offset);
	ddio_wr_fs_attr(&w, &x->attr);
	return ddio_wr_end(&w);
}

int ddio_get_fs_place(const void *buf, size_t len, struct ddio_msg_fs_place *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->offset = ddio_rd_u64(&r);
	ddio_rd_fs_attr(&r, &x->attr);
	ddio_rd_check(&r, x->offset <= DDIO_MAX_FILE, -EMSGSIZE);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_alloc(void *buf, size_t cap, const struct ddio_msg_fs_alloc *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->ino);
	ddio_wr_u64(&w, x->change);
	ddio_wr_u64(&w, x->alloc);
	return ddio_wr_end(&w);
}

int ddio_get_fs_alloc(const void *buf, size_t len, struct ddio_msg_fs_alloc *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->ino = ddio_rd_ino(&r);
	x->change = ddio_rd_u64(&r);
	x->alloc = ddio_rd_u64(&r);
	ddio_rd_check(&r, x->alloc <= DDIO_MAX_FILE, -EMSGSIZE);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_space(void *buf, size_t cap, const struct ddio_msg_fs_space *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->inodes);
	return ddio_wr_end(&w);
}

int ddio_get_fs_space(const void *buf, size_t len, struct ddio_msg_fs_space *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->inodes = ddio_rd_u64(&r);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_lock(void *buf, size_t cap, const struct ddio_msg_fs_lock *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->ino);
	ddio_wr_u64(&w, x->id);
	ddio_wr_u64(&w, x->start);
	ddio_wr_u64(&w, x->end);
	ddio_wr_u64(&w, x->owner);
	ddio_wr_u32(&w, x->pid);
	ddio_wr_u32(&w, x->type);
	ddio_wr_u32(&w, x->flags);
	return ddio_wr_end(&w);
}

int ddio_get_fs_lock(const void *buf, size_t len, struct ddio_msg_fs_lock *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->ino = ddio_rd_ino(&r);
	x->id = ddio_rd_u64(&r);
	x->start = ddio_rd_u64(&r);
	x->end = ddio_rd_u64(&r);
	x->owner = ddio_rd_u64(&r);
	x->pid = ddio_rd_u32(&r);
	x->type = ddio_rd_u32(&r);
	x->flags = ddio_rd_flags(&r, LOCK_ALL);
	ddio_rd_check(&r, x->type < DDIO_FS_LOCK_MAX && x->start <= x->end, -EINVAL);
	ddio_rd_check(&r, !(x->flags & DDIO_FS_LOCK_WAIT) || x->id, -EINVAL);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_owner(void *buf, size_t cap, const struct ddio_msg_fs_owner *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->ino);
	ddio_wr_u64(&w, x->owner);
	return ddio_wr_end(&w);
}

int ddio_get_fs_owner(const void *buf, size_t len, struct ddio_msg_fs_owner *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->ino = ddio_rd_ino(&r);
	x->owner = ddio_rd_u64(&r);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_obj_stat(void *buf, size_t cap, const struct ddio_msg_obj_stat *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->alloc);
	ddio_wr_u64(&w, x->end);
	return ddio_wr_end(&w);
}

int ddio_get_obj_stat(const void *buf, size_t len, struct ddio_msg_obj_stat *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->alloc = ddio_rd_u64(&r);
	x->end = ddio_rd_u64(&r);
	ddio_rd_check(&r, x->alloc <= DDIO_MAX_FILE && x->end <= DDIO_MAX_FILE, -EMSGSIZE);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_obj_copy(void *buf, size_t cap, const struct ddio_msg_obj_copy *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_file_ref(&w, &x->from);
	ddio_wr_file_ref(&w, &x->to);
	ddio_wr_u32(&w, x->disk);
	ddio_wr_u32(&w, x->flags);
	ddio_wr_u64(&w, x->from_offset);
	ddio_wr_u64(&w, x->to_offset);
	ddio_wr_u64(&w, x->len);
	return ddio_wr_end(&w);
}

int ddio_get_obj_copy(const void *buf, size_t len, struct ddio_msg_obj_copy *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_file_ref(&r, &x->from);
	ddio_rd_file_ref(&r, &x->to);
	x->disk = ddio_rd_u32(&r);
	x->flags = ddio_rd_flags(&r, 0);
	x->from_offset = ddio_rd_u64(&r);
	x->to_offset = ddio_rd_u64(&r);
	x->len = ddio_rd_u64(&r);
	ddio_rd_check(&r, ddio_file_ref_ok(&x->from) && ddio_file_ref_ok(&x->to), -EINVAL);
	ddio_rd_check(&r, x->len > 0, -EINVAL);
	ddio_rd_check(&r, x->len <= DDIO_MAX_BULK, -EMSGSIZE);
	ddio_rd_check(&r, x->from_offset <= DDIO_MAX_FILE - x->len, -EMSGSIZE);
	ddio_rd_check(&r, x->to_offset <= DDIO_MAX_FILE - x->len, -EMSGSIZE);
	return ddio_rd_end(&r);
}
