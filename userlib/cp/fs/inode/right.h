/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The right to take back the end of a file after an append that failed: while a mount has it, no append is given a
 * place.  It is a lock that the name server keeps as it keeps those of programs: whoever wants it waits, it ends with its mount, and a
 * restarted name server is told of it again.  The lock's number is the inode's with DDIO_FS_LOCK_END.
 */
#ifndef DDIO_CP_FS_RIGHT_H
#define DDIO_CP_FS_RIGHT_H

#include "cp/fs/core/job.h"
#include "cp/fs/inode/size.h"

/**
 * struct fsc_right - the right, or on the way to it
 * @inode: with a reference
 * @link: in struct fsc_inode.rights, while another of this mount has it
 * @held: the name server has granted it
 * @sizer: if @error is none: the attributes then, of which the inode has learnt
 */
struct fsc_right {
	struct fsc_job job;
	struct fsc_inode *inode;
	struct ddio_list link;
	struct fsc_ask ask;
	struct ddio_msg_fs_lock msg;
	struct fsc_sizer sizer;
	struct fsc_error error;
	bool held;
	void (*done)(struct fsc_right *right);
	void *arg;
	uint8_t payload[80];
};

/*
 * The inode's reactor.
 */
/*
 * Asks for the right; @done is called when it is there, or has an error.  Returns -ENOMEM, and does not call it, if
 * there is no memory.  fsc_right_drop() is due in any case after @done.
 */
int fsc_right_take(struct fsc_inode *inode, void (*done)(struct fsc_right *right), void *arg);
/* Gives it back, and frees it; no one waits for that. */
void fsc_right_drop(struct fsc_right *right);

#endif /* DDIO_CP_FS_RIGHT_H */
