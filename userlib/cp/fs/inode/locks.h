/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locks that are had; reactor 0. */
#ifndef DDIO_CP_FS_LOCK_H
#define DDIO_CP_FS_LOCK_H

#include "cp/fs/inode/inode.h"

/**
 * struct fsc_lock - bytes of an inode that an owner has
 * @link: in struct fsc_inode.locks
 * @all: in struct fsc_names.locks
 * @msg: as it was asked for, or what is left of that
 */
struct fsc_lock {
	struct ddio_list link, all;
	struct fsc_inode *inode;
	struct ddio_msg_fs_lock msg;
};

/* The name space has not given it again. */
void fsc_lock_lost(struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg);

#endif /* DDIO_CP_FS_LOCK_H */
