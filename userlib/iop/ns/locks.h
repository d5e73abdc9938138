/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Locks of fcntl(2) and flock(2) across mounts.  Knows nothing of messages: whoever waits is told by a
 * function.  The two kinds do not see each other.
 */
#ifndef DDIO_FS_LOCK_H
#define DDIO_FS_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/list.h"
#include "proto/proto.h"

/**
 * struct file_lock - a lock that is held or wanted
 * @mount, @owner: together whose it is
 * @type: enum ddio_fs_lock_type
 * @end: the last byte
 */
struct file_lock {
	struct ddio_list link;
	const void *mount;
	uint64_t owner;
	uint64_t start, end;
	uint32_t pid;
	uint32_t type;
	bool flock;
};

/**
 * struct lock_wait - one that is not free yet; the caller owns the memory
 * @id: by which @want.mount cancels it
 * @once: only until what is settled is known, then it is granted or refused
 * @done: 0, -EAGAIN (@once), -EINTR (cancelled), or what the locks were stopped with; it is not
 *	waiting any more then
 */
struct lock_wait {
	struct ddio_list link; /* struct locks.waits */
	struct file_lock want;
	uint64_t ino, id;
	uint32_t seen;
	bool once;
	void (*done)(struct lock_wait *wait, int err);
	void *arg;
};

/**
 * struct locks - all locks
 * @files: struct lock_file by inode
 * @waits: in the order in which they came
 * @nwaits: how many those are
 * @seen: number of the last search for a circle
 * @held: until it is false again new locks wait, those told again do not
 */
struct locks {
	struct ddio_hash files;
	struct ddio_list waits;
	uint32_t nwaits;
	uint32_t seen;
	bool held;
};

void locks_init(struct locks *locks);
/* Nobody may wait any more. */
void locks_free(struct locks *locks);
/* One that stands in the way of @want, or NULL. */
const struct file_lock *locks_test(const struct locks *locks, uint64_t ino,
				   const struct file_lock *want);
/**
 * locks_set - take, change or give back a lock
 * @again: it was held before
 * @wait: with @want's inode, id, once and done set: if it is not free it waits, else NULL
 * Return: 0, -EAGAIN, -EDEADLK, -ENOLCK, or -EINPROGRESS: @wait is waiting.
 */
int locks_set(struct locks *locks, uint64_t ino, const struct file_lock *want, bool again,
	      struct lock_wait *wait);
/* Return: was there one? */
bool locks_cancel(struct locks *locks, const void *mount, uint64_t id);
/* No done() is called. */
void locks_forget(struct locks *locks, struct lock_wait *wait);
/* The locks of fcntl(2) of an owner. */
void locks_drop_owner(struct locks *locks, uint64_t ino, const void *mount, uint64_t owner);
/* All of a mount; those of it that wait are told @err. */
void locks_drop_mount(struct locks *locks, const void *mount, int err);
/* Everybody who waits is told @err. */
void locks_stop(struct locks *locks, int err);
/* New locks do not wait any more. */
void locks_settle(struct locks *locks);

#endif /* DDIO_FS_LOCK_H */
