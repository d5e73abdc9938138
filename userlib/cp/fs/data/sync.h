/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Syncs that are begun before they are asked for.  A program that syncs a file after each write, or each time after as
 * many, does so again: so its disks are asked as soon as the nodes have such a write, and while the program is
 * told of that, and asks for the sync, they are at work.
 */
#ifndef DDIO_CP_FS_SYNC_H
#define DDIO_CP_FS_SYNC_H

#include "cp/fs/inode/inode.h"

/* A write to the inode is about to be answered.  On its reactor, where the inode is open.  Returns true if a sync has been begun. */
bool fsc_sync_expect(struct fsc_inode *inode);

#endif /* DDIO_CP_FS_SYNC_H */
