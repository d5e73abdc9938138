/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening and releasing inodes at the name server.  All of it on reactor 0. */
#ifndef DDIO_CP_FS_OPEN_H
#define DDIO_CP_FS_OPEN_H

#include "cp/fs/inode/inode.h"

/**
 * struct fsc_opening - FS_OPEN, sent as soon as it may be
 * @inode: with a reference, which stays the caller's
 * @look: only to learn how the file is spread
 * @flags, @attr: the answer; DDIO_FS_OPENED_*
 *
 * Success counts in inode->opens, unless it was only a look; fsc_release() takes it back.
 */
struct fsc_opening {
	struct fsc_ask ask;
	struct ddio_list link;
	struct fsc_inode *inode;
	bool look;
	uint32_t flags;
	struct ddio_fs_attr attr;
	struct fsc_error error;
	uint8_t payload[16];
	void (*done)(struct fsc_opening *opening);
};

void fsc_open(struct fsc_opening *opening);
/*
 * Takes over the reply of a name server that has opened the inode for us; inode->opens counts that
 * already.  Returns 0 or -errno.
 */
int fsc_opened(struct fsc_inode *inode, struct ddio_msg_fs_opened *x);
/* Sets the error of a reply whose record fsc_opened() could not take over. */
void fsc_opened_bad(struct fsc_error *error, int err);

/**
 * struct fsc_release - the end of one opening
 * @done: called when the name server knows
 */
struct fsc_release {
	struct fsc_ask ask;
	struct fsc_inode *inode;
	uint8_t payload[16];
	void (*done)(struct fsc_release *release);
};

/* Takes one from inode->opens, and the caller's reference. */
void fsc_release(struct fsc_release *release);
/* The same if no one waits for the end. */
void fsc_release_quietly(struct fsc_inode *inode);

#endif /* DDIO_CP_FS_OPEN_H */
