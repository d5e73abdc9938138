// SPDX-License-Identifier: LGPL-2.1-or-later
/* Inodes in memory: frees and copies them, and makes attributes and records of them.  Pure. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/inode.h"

void inode_free(struct inode *inode)
{
	free(inode->stripe.disks);
	free(inode->target);
	memset(inode, 0, sizeof(*inode));
}

void inode_attr(const struct inode *inode, struct ddio_fs_attr *attr)
{
	bool regular = S_ISREG(inode->mode);
	bool counted = !(inode->flags & INODE_DATA) ||
		       (inode->alloc_change == inode->change && inode->alloc);

	*attr = (struct ddio_fs_attr){
		.ino = inode->ino,
		.size = S_ISDIR(inode->mode) ? inode->entries : inode->size,
		.alloc = !regular  ? 0
			 : counted ? inode->alloc
				   : DDIO_FS_ALLOC_UNKNOWN,
		.change = inode->change,
		.rdev = inode->rdev,
		.atime = inode->atime,
		.mtime = inode->mtime,
		.ctime = inode->ctime,
		.btime = inode->btime,
		.mode = inode->mode,
		.nlink = inode->nlink,
		.uid = inode->uid,
		.gid = inode->gid,
		.block = regular ? inode->stripe.block : 0,
		.ndisks = regular ? inode->stripe.ndisks : 0,
	};
}

static uint64_t to_ns(const struct timespec *t)
{
	return t->tv_sec < 0 ? 0 : (uint64_t)t->tv_sec * 1000000000ull + (uint64_t)t->tv_nsec;
}

int inode_record(const struct inode *inode, struct ddio_file_record *rec)
{
	const struct stripe *s = &inode->stripe;
	uint32_t i;

	*rec = (struct ddio_file_record){
		.ref = { .id = inode->ino, .seed = s->seed, .block = s->block, .layout = s->layout },
		.size = inode->size,
		.ctime_ns = to_ns(&inode->btime),
		.mtime_ns = to_ns(&inode->mtime),
		.dying = !inode->nlink,
		.ndisks = s->ndisks,
	};
	rec->disks = malloc(s->ndisks * sizeof(*rec->disks));
	if (!rec->disks) {
		rec->ndisks = 0;
		return -ENOMEM;
	}
	for (i = 0; i < s->ndisks; i++)
		rec->disks[i] = s->disks ? s->disks[i] : i;
	return 0;
}

int stripe_copy(struct stripe *to, const struct stripe *from)
{
	*to = *from;
	if (!from->disks)
		return 0;
	to->disks = malloc(from->ndisks * sizeof(*to->disks));
	if (!to->disks)
		return -ENOMEM;
	memcpy(to->disks, from->disks, from->ndisks * sizeof(*to->disks));
	return 0;
}
