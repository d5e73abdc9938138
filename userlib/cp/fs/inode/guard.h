/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests for data of files that are locked here.  The name server gives a lock to others when it has not heard of this
 * mount for its timeout.  So the data of a file that has a lock are neither read nor written on the word of a name server
 * that has not answered lately: it is asked first, and answers only after the mount has told it again what is locked.  The data of a
 * file that has lost a lock are not at all, until whoever had it unlocks or closes the file.
 *
 * The fence against a write that was sent before the lock was lost, and arrives later, is the order of events at the
 * name server: it waits a whole timeout, of which the mount uses three quarters.
 */
#ifndef DDIO_CP_FS_GUARD_H
#define DDIO_CP_FS_GUARD_H

#include "cp/fs/core/job.h"
#include "cp/fs/inode/inode.h"

#define FSC_LOCK_LOST \
	"a lock of this file was lost, and others may have changed it: unlock it or close the file"

/* Has @run called on the inode's reactor, or ends the job with an error.  The job's owner keeps the inode. */
void fsc_guard(struct fsc_job *job, struct fsc_inode *inode, void (*run)(struct fsc_job *job));
/* Any thread: returns true if the inode has lost no lock, and those that it has cannot have been given to others. */
bool fsc_guard_sure(const struct fsc_inode *inode);

/* Of a file that is gone nobody can have had a lock. */
static inline bool fsc_guard_lost(const struct fsc_inode *inode)
{
	return atomic_load(&inode->nlost) && !fsc_inode_gone(inode);
}

#endif /* DDIO_CP_FS_GUARD_H */
