/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Locks of fcntl(2) and flock(2) across mounts.  Independent of messages: a waiter is told by a callback.
 * The two kinds do not conflict with each other.
 *
 * Who waits waits for one lock that is in the way, and is not looked at before that becomes less.  Then it stands in line with
 * the others who waited for it; some of the line are tried in each turn, and go on or wait for another lock that is in the way.
 * While there is a line at a file, whoever wants a lock of it stands in it, so that nobody is overtaken.
 */
#ifndef DDIO_LOCKS_H
#define DDIO_LOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/list.h"
#include "iop/bound/bound.h"
#include "proto/proto.h"

/**
 * struct file_lock - a lock that is held or wanted
 * @mount, @owner: together with @flock its owner
 * @type: enum ddio_fs_lock_type
 * @end: the last byte
 */
struct file_lock {
	const void *mount;
	uint64_t owner;
	uint64_t start, end;
	uint32_t pid;
	uint32_t type;
	bool flock;
};

/**
 * struct lock_wait - a request for a lock that is not free; the caller owns the memory
 * @file_link, @mount_link: in the lists of its file, or of a lock of it, and of its mount; @owner: by the owner of @want
 * @id: @want.mount cancels it by this number, by which it is in struct locks.ids, too
 * @seen, @follow: of the search for a deadlock: the last that saw it, and what that looks at next
 * @once: wait only until the locks of before a restart are known, then take it or give up
 * @done: called when it no longer waits: 0, -EAGAIN (@once), -EINTR (cancelled), or the error that the
 *	locks were stopped with
 */
struct lock_wait {
	struct ddio_list link; /* struct locks.waits */
	struct ddio_list file_link, mount_link;
	struct ddio_hash_node owner; /* struct locks.owners */
	struct ddio_hash_node by_id; /* struct locks.ids */
	struct file_lock want;
	uint64_t ino, id;
	uint32_t seen;
	struct lock_wait *follow;
	bool once;
	void (*done)(struct lock_wait *wait, int err);
	void *arg;
};

/**
 * struct locks - all locks
 * @files: struct lock_file by inode; @holders: struct lock_owner by owner and inode; @shares: struct lock_share by mount
 *	and inode
 * @waits: struct lock_wait, in the order in which they came; @nwaits: how many; @owners: by owner; @ids: by mount and number
 * @waking: struct lock_file, at which somebody stands in line
 * @mounts: struct lock_mount; @bounds: what one of them may have, the reactor's or @own
 * @seen: number of the last search for a deadlock
 * @looked: locks that were looked at for others that were wanted; @tried: waits that were tried
 * @more: has locks_go_on() called with @arg's locks in another turn; NULL: all is done in one
 * @busy: waits are being tried, or it is to be called
 * @held: new locks wait; those taken before a restart and reported again do not
 */
struct locks {
	struct ddio_hash files, holders, shares;
	struct ddio_list waits, waking;
	struct ddio_hash owners, ids, mounts;
	struct bounds *bounds, own;
	uint32_t nwaits;
	uint32_t seen;
	uint64_t looked, tried;
	void (*more)(void *arg);
	void *arg;
	bool held, busy;
};

void locks_init(struct locks *locks);
/* Nobody may be waiting. */
void locks_free(struct locks *locks);
/* Returns true if a lock conflicts with @want, and in @first the one that begins first in the file. */
bool locks_test(struct locks *locks, uint64_t ino, const struct file_lock *want,
		struct file_lock *first);
/* Returns true if the mount holds a lock or waits for one. */
bool locks_any(const struct locks *locks, const void *mount);
/* Returns true if nobody may take a lock of that kind on the file without standing in line. */
bool locks_line(const struct locks *locks, uint64_t ino, bool flock);
/**
 * locks_set - take, change or give back a lock
 * @again: it was held before a restart
 * @wait: with id, once and done set; waits if the lock is not free, or if there is a line.  NULL: do not wait
 * Return: 0, -EAGAIN, -EDEADLK, -ENOLCK, or -EINPROGRESS: @wait is waiting.
 */
int locks_set(struct locks *locks, uint64_t ino, const struct file_lock *want, bool again,
	      struct lock_wait *wait);
/* Returns whether there was one. */
bool locks_cancel(struct locks *locks, const void *mount, uint64_t id);
/* Ends a wait without calling done(). */
void locks_forget(struct locks *locks, struct lock_wait *wait);
/* Drops the fcntl(2) locks of an owner on an inode. */
void locks_drop_owner(struct locks *locks, uint64_t ino, const void *mount, uint64_t owner);
/*
 * Drops all locks of a mount, or *@steps at most, which is less then; its waiters are told @err.  Returns true if nothing of
 * it is left.
 */
bool locks_drop_mount(struct locks *locks, const void *mount, int err, uint64_t *steps);
/* Tells all waiters @err. */
void locks_stop(struct locks *locks, int err);
/* The locks of before the restart are known: new locks need not wait any longer. */
void locks_settle(struct locks *locks);
/* Tries some more of those who stand in line. */
void locks_go_on(struct locks *locks);

#endif /* DDIO_LOCKS_H */
