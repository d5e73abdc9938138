// SPDX-License-Identifier: LGPL-2.1-or-later
/* Locks that this mount holds.  Of each byte an owner has one type of lock at most. */
#include <stdlib.h>
#include "cp/fs/inode/locks.h"
#include "cp/fs/names/names.h"

static void lock_free(struct fsc_lock *lock)
{
	ddio_list_del(&lock->link);
	ddio_list_del(&lock->all);
	free(lock);
}

void fsc_locks_drop(struct fsc_inode *inode)
{
	while (!ddio_list_empty(&inode->locks))
		lock_free(ddio_list_first(&inode->locks, struct fsc_lock, link));
}

static void lock_add(struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg)
{
	struct fsc_lock *lock = calloc(1, sizeof(*lock));

	if (!lock) {
		fsc_log(inode->fs, DDIO_LOG_WARN,
			"no memory to remember a lock: it will be lost if the name server is restarted");
		return;
	}
	lock->inode = inode;
	lock->msg = *msg;
	ddio_list_add(&lock->link, &inode->locks);
	ddio_list_add(&lock->all, &inode->fs->names->locks);
}

static bool lock_same_owner(const struct ddio_msg_fs_lock *a, const struct ddio_msg_fs_lock *b)
{
	return a->ino == b->ino && a->owner == b->owner &&
	       !((a->flags ^ b->flags) & DDIO_FS_LOCK_FLOCK);
}

void fsc_locks_clear(struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg)
{
	struct fsc_lock *lock, *tmp;
	struct ddio_msg_fs_lock rest;

	ddio_list_for_each_entry_safe(lock, tmp, &inode->locks, link) {
		if (!lock_same_owner(&lock->msg, msg) || lock->msg.start > msg->end ||
		    lock->msg.end < msg->start)
			continue;
		rest = lock->msg;
		lock_free(lock);
		if (rest.start < msg->start) {
			struct ddio_msg_fs_lock left = rest;

			left.end = msg->start - 1;
			lock_add(inode, &left);
		}
		if (rest.end > msg->end) {
			rest.start = msg->end + 1;
			lock_add(inode, &rest);
		}
	}
}

void fsc_locks_apply(struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg)
{
	struct ddio_msg_fs_lock granted = *msg;

	fsc_locks_clear(inode, msg);
	granted.flags &= DDIO_FS_LOCK_FLOCK;
	granted.id = 0;
	if (msg->type != DDIO_FS_LOCK_NONE)
		lock_add(inode, &granted);
}

void fsc_locks_lost(struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg)
{
	fsc_log(inode->fs, DDIO_LOG_WARN,
		"a lock of inode %llu is lost: the name server was restarted and someone "
		"else holds the lock",
		(unsigned long long)inode->ino);
	fsc_locks_clear(inode, msg);
}

bool fsc_locks_held(const struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg)
{
	struct fsc_lock *lock;

	ddio_list_for_each_entry(lock, &inode->locks, link)
		if (lock_same_owner(&lock->msg, msg))
			return true;
	return false;
}
