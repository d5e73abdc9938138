/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Syncs that are begun before they are asked for.  A program that syncs a file after each write, or each time after as
 * many, does so again: so its disks are asked as soon as the nodes have such a write, and while the program is
 * told of that, and asks for the sync, they are at work.
 */
#ifndef DDIO_CP_FS_SYNC_H
#define DDIO_CP_FS_SYNC_H

#include "cp/fs/inode/inode.h"

struct sync_job;

/* A write to the inode is about to be answered.  On its reactor, where the inode is open.  Returns NULL, or a sync to be begun now. */
struct sync_job *fsc_sync_expect(struct fsc_inode *inode);
void fsc_sync_expected(struct sync_job *sj);

#endif /* DDIO_CP_FS_SYNC_H */
