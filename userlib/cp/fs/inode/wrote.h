/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Telling the name server of writes.  All of it on the inode's reactor. */
#ifndef DDIO_CP_FS_WROTE_H
#define DDIO_CP_FS_WROTE_H

#include "cp/fs/names/names.h"

struct fsc_inode;

/* Writes inside the file's end are told after this, and a size is trusted for as long. */
#define FSC_LAZY_NS 1000000000ull

/**
 * struct fsc_waiter - a job that waits until the name server has been told
 * @end: the size is to be at least this
 * @flags: DDIO_FS_WROTE_*
 * @whole: nothing was changed but that all bytes from @from to @end were written, or nothing at all
 * @late: it came when the request that serves it was under way
 * @sync: the name server is to answer when all is durable; while @fn is called: it has
 * @attr: while @fn is called: what the name server answered to a request sent after the waiter came; or NULL
 */
struct fsc_waiter {
	struct ddio_list link;
	uint64_t from, end;
	uint32_t flags;
	bool whole, late, sync;
	const struct ddio_fs_attr *attr;
	void (*fn)(struct fsc_waiter *waiter, const struct fsc_error *error);
};

/**
 * struct fsc_tell - FS_WROTE: one request at a time for each inode
 * @riding: struct fsc_waiter: those whom the request under way serves
 * @queued: those whom the next one will serve
 * @leased: it also says what was done under the lease @lease, up to @pend, at @mtime
 * @synced: and it is durable; @lost: some of what was answered before may be lost, and nobody had been told
 */
struct fsc_tell {
	struct fsc_ask ask;
	struct ddio_list riding, queued;
	struct ddio_fs_attr attr;
	bool busy, replied, leased, synced, lost;
	uint64_t pend, lease;
	struct timespec mtime;
	uint8_t payload[64];
};

/* Tells what @waiter says, whose end, flags, fn and, if it is whole, from are filled in. */
void fsc_inode_tell(struct fsc_inode *inode, struct fsc_waiter *waiter);
/*
 * Tells of everything that was written; @waiter's fn is called at once if there is nothing to tell, or, with its sync, which
 * is filled in, nothing that the name server must know before a loss of power.
 */
void fsc_inode_flush(struct fsc_inode *inode, struct fsc_waiter *waiter);
/* Tells that the file is about to have data for the first time; due before the first byte is written. */
void fsc_inode_mark_has_data(struct fsc_inode *inode, struct fsc_waiter *waiter,
			     void (*fn)(struct fsc_waiter *waiter, const struct fsc_error *error));
/*
 * Notes a change inside the file's end, of which @waiter says whether it is whole.  The name server is told later, or, with DDIO_FS_PROMPT,
 * before @waiter's fn is called.  What is told later never makes the file longer: it may have been cut since.
 */
void fsc_inode_wrote(struct fsc_inode *inode, struct fsc_waiter *waiter);
/* The same of a change that is noted already, by the lease. */
void fsc_inode_later(struct fsc_inode *inode);
/* Tells at once what would be told later. */
void fsc_inodes_hurry(struct fsc_reactor *r);
/* The file system ends; called on every reactor. */
void fsc_inodes_end(struct fsc_reactor *r);

#endif /* DDIO_CP_FS_WROTE_H */
