/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pieces of the file system's messages that several codecs share.  Private to proto. */
#ifndef DDIO_PROTO_CODEC_FS_H
#define DDIO_PROTO_CODEC_FS_H

#include <sys/stat.h>
#include "proto/codec.h"

static inline void code_fs_seq(struct ddio_coder *c, struct ddio_fs_seq *seq)
{
	code_u64(c, &seq->seq);
	code_u64(c, &seq->upto);
	code_check(c, !seq->seq || seq->upto < seq->seq, -EINVAL);
}

/* Codes the number of an inode, which is not 0. */
static inline void code_ino(struct ddio_coder *c, uint64_t *ino)
{
	code_u64(c, ino);
	code_check(c, *ino != 0, -EINVAL);
}

/* Codes the name of a directory's entry, in DDIO_MAX_NAME + 1 bytes. */
static inline void code_entry_name(struct ddio_coder *c, char *name)
{
	code_str(c, name, DDIO_MAX_NAME + 1);
	if (c->reading)
		code_check(c, name[0] && !strchr(name, '/'), -EINVAL);
}

static inline void code_attr(struct ddio_coder *c, struct ddio_fs_attr *a)
{
	code_ino(c, &a->ino);
	code_u64(c, &a->size);
	code_u64(c, &a->alloc);
	code_u64(c, &a->change);
	code_u64(c, &a->rdev);
	code_time(c, &a->atime);
	code_time(c, &a->mtime);
	code_time(c, &a->ctime);
	code_time(c, &a->btime);
	code_u32(c, &a->mode);
	code_u32(c, &a->nlink);
	code_u32(c, &a->uid);
	code_u32(c, &a->gid);
	code_u32(c, &a->block);
	code_u32(c, &a->ndisks);
	code_check(c, ddio_mode_ok(a->mode), -EINVAL);
	code_check(c, !a->block == !S_ISREG(a->mode) && !a->ndisks == !a->block, -EINVAL);
	code_check(c, !a->block || ddio_block_ok(a->block), -EINVAL);
	code_check(c, a->size <= DDIO_MAX_FILE && a->ndisks <= DDIO_MAX_DISKS, -EMSGSIZE);
}

#endif /* DDIO_PROTO_CODEC_FS_H */
