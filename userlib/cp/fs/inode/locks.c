// SPDX-License-Identifier: LGPL-2.1-or-later
/* Locks that this mount holds.  Of each byte an owner has one type of lock at most. */
#include <stdlib.h>
#include "cp/fs/inode/locks.h"
#include "cp/fs/names/names.h"

static void lock_free(struct fsc_lock *lock)
{
	atomic_fetch_sub(lock->lost ? &lock->inode->nlost : &lock->inode->nlocks, 1);
	ddio_list_del(&lock->link);
	ddio_list_del(&lock->all);
	free(lock);
}

void fsc_locks_drop(struct fsc_inode *inode)
{
	while (!ddio_list_empty(&inode->locks))
		lock_free(ddio_list_first(&inode->locks, struct fsc_lock, link));
}

static void lock_add(struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg, bool lost)
{
	struct fsc_lock *lock = calloc(1, sizeof(*lock));

	if (!lock) {
		fsc_log(inode->fs, DDIO_LOG_WARN,
			"no memory to remember a lock: it will be lost if the name server is restarted");
		return;
	}
	lock->inode = inode;
	lock->msg = *msg;
	lock->lost = lost;
	ddio_list_init(&lock->all);
	ddio_list_add(&lock->link, &inode->locks);
	if (!lost)
		ddio_list_add(&lock->all, &inode->fs->names->locks);
	atomic_fetch_add(lost ? &inode->nlost : &inode->nlocks, 1);
}

static bool lock_same_owner(const struct ddio_msg_fs_lock *a, const struct ddio_msg_fs_lock *b)
{
	return a->ino == b->ino && a->owner == b->owner &&
	       !((a->flags ^ b->flags) & DDIO_FS_LOCK_FLOCK);
}

bool fsc_locks_clear(struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg)
{
	struct fsc_lock *lock, *tmp;
	struct ddio_msg_fs_lock rest;
	bool lost, any = false;

	ddio_list_for_each_entry_safe(lock, tmp, &inode->locks, link) {
		if (!lock_same_owner(&lock->msg, msg) || lock->msg.start > msg->end ||
		    lock->msg.end < msg->start)
			continue;
		rest = lock->msg;
		lost = lock->lost;
		any |= lost;
		lock_free(lock);
		if (rest.start < msg->start) {
			struct ddio_msg_fs_lock left = rest;

			left.end = msg->start - 1;
			lock_add(inode, &left, lost);
		}
		if (rest.end > msg->end) {
			rest.start = msg->end + 1;
			lock_add(inode, &rest, lost);
		}
	}
	return any;
}

bool fsc_locks_apply(struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg)
{
	struct ddio_msg_fs_lock granted = *msg;
	bool lost = fsc_locks_clear(inode, msg);

	granted.flags &= DDIO_FS_LOCK_FLOCK;
	granted.id = 0;
	if (msg->type != DDIO_FS_LOCK_NONE)
		lock_add(inode, &granted, false);
	return lost;
}

static void doubt(struct fsc_inode *inode)
{
	struct ddio_fs *fs = inode->fs;

	if (fs->data_doubted)
		fs->data_doubted(fs->names_lost_arg, inode->ino);
}

void fsc_locks_lost(struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg)
{
	struct ddio_msg_fs_lock lost = *msg;

	fsc_log(inode->fs, DDIO_LOG_WARN,
		"a lock of inode %llu is lost: the name server had not heard of this mount for its "
		"timeout; the file fails with EIO until it is unlocked or closed",
		(unsigned long long)inode->ino);
	lost.flags &= DDIO_FS_LOCK_FLOCK;
	fsc_locks_clear(inode, &lost);
	lock_add(inode, &lost, true);
	doubt(inode);
}

void fsc_locks_doubt(struct ddio_fs *fs)
{
	struct fsc_inode *last = NULL;
	struct fsc_lock *lock;

	ddio_list_for_each_entry(lock, &fs->names->locks, all) {
		if (lock->inode != last)
			doubt(lock->inode);
		last = lock->inode;
	}
}

bool fsc_locks_held(const struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg)
{
	struct fsc_lock *lock;

	ddio_list_for_each_entry(lock, &inode->locks, link)
		if (lock_same_owner(&lock->msg, msg))
			return true;
	return false;
}

bool fsc_locks_missed(const struct fsc_inode *inode, const struct ddio_msg_fs_lock *msg)
{
	struct fsc_lock *lock;

	ddio_list_for_each_entry(lock, &inode->locks, link)
		if (lock->lost && lock_same_owner(&lock->msg, msg))
			return true;
	return false;
}
