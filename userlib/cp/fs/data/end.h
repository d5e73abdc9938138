/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What lies beyond a file's end.  Another mount, or this one, may have died when it had written there and before the name server
 * heard of it.  So a job that makes the file longer and leaves a gap, or writes nothing, has that cut off first, under a lease that the
 * name server gives only if nobody who lives can have bytes there.  Jobs of this mount that put some there are waited for
 * meanwhile, or wait.  All of it on the inode's reactor.
 */
#ifndef DDIO_CP_FS_END_H
#define DDIO_CP_FS_END_H

#include "cp/fs/inode/inode.h"

/**
 * struct fsc_end_wait - a job that is to make the file longer
 * @asked: it has waited for a cut once
 * @error: why there was none
 * @fn: called when it may try again, perhaps inside
 */
struct fsc_end_wait {
	struct ddio_list link;
	bool asked;
	struct fsc_error error;
	void (*fn)(struct fsc_end_wait *wait);
};

/*
 * Returns true if the job may go on, and put all bytes of [@at, @end) beyond the end; fsc_end_leave() must follow.  Otherwise it
 * waits.
 */
bool fsc_end_enter(struct fsc_inode *inode, struct fsc_end_wait *wait, uint64_t at, uint64_t end);
/* What it has put there has been told to the name server, or will be under the lease, or is left there: inode->tail. */
void fsc_end_leave(struct fsc_inode *inode);

#endif /* DDIO_CP_FS_END_H */
