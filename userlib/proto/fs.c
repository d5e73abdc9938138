// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of the file system's messages about inodes and names. */
#include <sys/stat.h>
#include "proto/codec_fs.h"

#define SET_ALL                                                                                  \
	(DDIO_FS_SET_MODE | DDIO_FS_SET_UID | DDIO_FS_SET_GID | DDIO_FS_SET_SIZE |               \
	 DDIO_FS_SET_ATIME | DDIO_FS_SET_MTIME | DDIO_FS_SET_ATIME_NOW | DDIO_FS_SET_MTIME_NOW | \
	 DDIO_FS_SET_CTIME | DDIO_FS_KILL_SUID | DDIO_FS_SET_ATIME_READ | DDIO_FS_SET_NAMED)
#define OPENED_ALL \
	(DDIO_FS_OPENED_MADE | DDIO_FS_OPENED_RECORD | DDIO_FS_OPENED_BARE | DDIO_FS_OPENED_DIR)
#define UNLINKED_ALL (DDIO_FS_UNLINKED_DIR | DDIO_FS_UNLINKED_LEFT)
#define RENAME_ALL (DDIO_FS_RENAME_NOREPLACE | DDIO_FS_RENAME_EXCHANGE | DDIO_FS_RENAME_WHITEOUT)

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

static void code_dir_attr(struct ddio_coder *c, struct ddio_fs_attr *a)
{
	code_attr(c, a);
	code_check(c, S_ISDIR(a->mode), -EINVAL);
}

static inline void code_fs_attach(struct ddio_coder *c, struct ddio_msg_fs_attach *x)
{
	static const uint8_t none[DDIO_GROUP_ID_LEN];

	code_bytes(c, x->mount, sizeof(x->mount));
	code_flags(c, &x->flags, DDIO_FS_ATTACH_TOLD);
	code_padding(c);
	code_u64(c, &x->life);
	code_u64(c, &x->answered);
	code_u64(c, &x->durable);
	code_check(c, memcmp(x->mount, none, sizeof(none)) != 0, -EINVAL);
}
CODEC(fs_attach, ddio_msg_fs_attach)

static inline void code_fs_attached(struct ddio_coder *c, struct ddio_msg_fs_attached *x)
{
	code_u64(c, &x->boot);
	code_u64(c, &x->grace_ns);
	code_u64(c, &x->timeout_ns);
	code_u32(c, &x->known);
	code_check(c, x->known <= 1, -EINVAL);
	code_flags(c, &x->lost, DDIO_FS_LOST_ALL);
	code_u64(c, &x->life);
}
CODEC(fs_attached, ddio_msg_fs_attached)

bool ddio_opcode_numbered(uint32_t opcode)
{
	switch (opcode) {
	case DDIO_OP_FS_SETATTR:
	case DDIO_OP_FS_MAKE:
	case DDIO_OP_FS_LINK:
	case DDIO_OP_FS_UNLINK:
	case DDIO_OP_FS_RENAME:
	case DDIO_OP_FS_SETXATTR:
	case DDIO_OP_FS_REMOVEXATTR:
	case DDIO_OP_FS_WROTE:
	case DDIO_OP_FS_APPEND:
	case DDIO_OP_FS_ALLOC:
		return true;
	default:
		return false;
	}
}

void ddio_put_change(uint8_t buf[DDIO_CHANGE_LEN], uint64_t change)
{
	struct ddio_wr w = ddio_wr_begin(buf, DDIO_CHANGE_LEN);

	ddio_wr_u64(&w, change);
}

int ddio_get_change(const void *payload, size_t *len, uint64_t *change)
{
	struct ddio_rd r;

	if (*len < DDIO_CHANGE_LEN)
		return -EPROTO;
	*len -= DDIO_CHANGE_LEN;
	r = ddio_rd_begin((const uint8_t *)payload + *len, DDIO_CHANGE_LEN);
	*change = ddio_rd_u64(&r);
	return 0;
}

static inline void code_fs_ino(struct ddio_coder *c, struct ddio_msg_fs_ino *x)
{
	code_ino(c, &x->ino);
}
CODEC(fs_ino, ddio_msg_fs_ino)

static inline void code_fs_name(struct ddio_coder *c, struct ddio_msg_fs_name *x)
{
	code_fs_seq(c, &x->seq);
	code_ino(c, &x->parent);
	code_flags(c, &x->flags, DDIO_FS_UNLINK_DIR);
	code_entry_name(c, x->name);
}
CODEC(fs_name, ddio_msg_fs_name)

static inline void code_fs_attr(struct ddio_coder *c, struct ddio_msg_fs_attr *x)
{
	code_attr(c, &x->attr);
}
CODEC(fs_attr, ddio_msg_fs_attr)

/* A size beyond the largest file is -EFBIG for the caller, not a malformed message. */
static inline void code_fs_setattr(struct ddio_coder *c, struct ddio_msg_fs_setattr *x)
{
	code_ino(c, &x->ino);
	code_flags(c, &x->mask, SET_ALL);
	code_u32(c, &x->mode);
	code_u32(c, &x->uid);
	code_u32(c, &x->gid);
	code_u64(c, &x->size);
	code_time(c, &x->atime);
	code_time(c, &x->mtime);
	code_time(c, &x->ctime);
}
CODEC(fs_setattr, ddio_msg_fs_setattr)

static inline void code_fs_make(struct ddio_coder *c, struct ddio_msg_fs_make *x)
{
	code_fs_seq(c, &x->seq);
	code_ino(c, &x->parent);
	code_flags(c, &x->flags, DDIO_FS_MAKE_EXCL | DDIO_FS_MAKE_OPEN);
	code_u32(c, &x->mode);
	code_u32(c, &x->umask);
	code_u32(c, &x->uid);
	code_u32(c, &x->gid);
	code_u64(c, &x->rdev);
	code_entry_name(c, x->name);
	code_str(c, x->target, sizeof(x->target));
	code_check(c, ddio_mode_ok(x->mode) && !(x->umask & ~0777u), -EINVAL);
	code_check(c, !x->target[0] == !S_ISLNK(x->mode), -EINVAL);
	code_check(c, !(x->flags & DDIO_FS_MAKE_OPEN) || S_ISREG(x->mode), -EINVAL);
}
CODEC(fs_make, ddio_msg_fs_make)

static inline void code_fs_open(struct ddio_coder *c, struct ddio_msg_fs_open *x)
{
	code_ino(c, &x->ino);
	code_flags(c, &x->flags, DDIO_FS_OPEN_AGAIN | DDIO_FS_OPEN_LOOK);
}
CODEC(fs_open, ddio_msg_fs_open)

static inline void code_fs_opened(struct ddio_coder *c, struct ddio_msg_fs_opened *x)
{
	code_flags(c, &x->flags, OPENED_ALL);
	code_attr(c, &x->attr);
	if (x->flags & DDIO_FS_OPENED_DIR)
		code_dir_attr(c, &x->dir);
	if (x->flags & DDIO_FS_OPENED_RECORD)
		code_record(c, &x->rec);
}
CODEC_OWNING(fs_opened, ddio_msg_fs_opened, ddio_fs_opened_free)

void ddio_fs_opened_free(struct ddio_msg_fs_opened *x)
{
	ddio_file_record_free(&x->rec);
}

static inline void code_fs_unlinked(struct ddio_coder *c, struct ddio_msg_fs_unlinked *x)
{
	code_flags(c, &x->flags, UNLINKED_ALL);
	if (x->flags & DDIO_FS_UNLINKED_DIR)
		code_dir_attr(c, &x->dir);
	if (x->flags & DDIO_FS_UNLINKED_LEFT)
		code_record(c, &x->rec);
}
CODEC_OWNING(fs_unlinked, ddio_msg_fs_unlinked, ddio_fs_unlinked_free)

void ddio_fs_unlinked_free(struct ddio_msg_fs_unlinked *x)
{
	ddio_file_record_free(&x->rec);
}

static inline void code_fs_link(struct ddio_coder *c, struct ddio_msg_fs_link *x)
{
	code_fs_seq(c, &x->seq);
	code_ino(c, &x->ino);
	code_ino(c, &x->parent);
	code_entry_name(c, x->name);
}
CODEC(fs_link, ddio_msg_fs_link)

static inline void code_fs_rename(struct ddio_coder *c, struct ddio_msg_fs_rename *x)
{
	code_fs_seq(c, &x->seq);
	code_ino(c, &x->parent);
	code_ino(c, &x->new_parent);
	code_flags(c, &x->flags, RENAME_ALL);
	code_entry_name(c, x->name);
	code_entry_name(c, x->new_name);
	code_check(c, !(x->flags & DDIO_FS_RENAME_EXCHANGE) || x->flags == DDIO_FS_RENAME_EXCHANGE,
		   -EINVAL);
}
CODEC(fs_rename, ddio_msg_fs_rename)
