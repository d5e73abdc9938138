/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locks that this mount holds, so that the name server can be told of them again; reactor 0. */
#ifndef DDIO_CP_FS_LOCKS_H
#define DDIO_CP_FS_LOCKS_H

#include "cp/fs/inode/inode.h"

/**
 * struct fsc_lock - bytes of an inode that an owner has locked
 * @link: in struct fsc_inode.locks
 * @all: in struct fsc_names.locks, unless it is lost
 * @msg: as it was asked for, or what is left of that
 * @lost: others may have had it; it stays until its owner unlocks or closes the file
 */
struct fsc_lock {
	struct ddio_list link, all;
	struct fsc_inode *inode;
	struct ddio_msg_fs_lock msg;
	bool lost;
};

/* Notes that the name server has granted a lock, or has unlocked a range.  Returns true if a part of that was lost. */
bool fsc_locks_apply(struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg);
/* Forgets what @msg's owner holds of its range.  Returns true if a part of that was lost. */
bool fsc_locks_clear(struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg);
/* Notes that the name server did not give back a lock, and logs that. */
void fsc_locks_lost(struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg);
/* The name server does not answer, and may give locks to others soon: what a kernel keeps of their files is not believed. */
void fsc_locks_doubt(struct ddio_fs *fs);
/* Forgets every lock of an inode that is closed. */
void fsc_locks_drop(struct fsc_inode *inode);
/* Returns true if @msg's owner holds a lock of the inode, or has lost one. */
bool fsc_locks_held(const struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg);
/* Returns true if @msg's owner has lost a lock of the inode. */
bool fsc_locks_missed(const struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg);

#endif /* DDIO_CP_FS_LOCKS_H */
