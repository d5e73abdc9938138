/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The locks that are held.  Those of a file are in two sets for each of the two kinds, since locks for reading do not
 * conflict, and in one for each of their owners: whatever is asked for costs the logarithm of how many there are, and as
 * much again for each lock that it changes.
 */
#ifndef DDIO_LOCK_HELD_H
#define DDIO_LOCK_HELD_H

#include "iop/lock/rangeset.h"
#include "iop/lock/locks.h"

/**
 * struct lock_line - waits that are to be tried, in this order
 * @waits: struct lock_wait.file_link
 * @from, @to: each of them has a byte of these
 * @once: how many of them end if they cannot be granted
 */
struct lock_line {
	struct ddio_list waits;
	uint64_t from, to;
	uint32_t once;
};

/**
 * struct lock_file - the locks of an inode
 * @held: struct held_lock.range; of fcntl(2) and flock(2), for reading and for writing
 * @owners: how many have some
 * @line: of fcntl(2) and flock(2); @waking: in struct locks.waking, if there is something in them
 * @nwaits: how many wait for a lock on it, in a line or at a lock
 * @pinned: it stays, even if it is empty
 */
struct lock_file {
	struct ddio_hash_node node; /* struct locks.files */
	struct rangeset held[2][2];
	uint64_t ino;
	uint32_t owners;
	struct lock_line line[2];
	struct ddio_list waking;
	uint64_t nwaits;
	bool pinned;
};

/**
 * struct lock_mount - what a mount has; there is none without
 */
struct lock_mount {
	struct ddio_hash_node node; /* struct locks.mounts, by address */
	uint64_t locks, waits;
	struct ddio_list held;	  /* struct held_lock */
	struct ddio_list waiting; /* struct lock_wait */
};

/**
 * struct lock_owner - what one owner has of a file; there is none without
 * @held: struct held_lock.own
 */
struct lock_owner {
	struct ddio_hash_node node; /* struct locks.holders */
	const void *mount;
	uint64_t owner;
	bool flock;
	struct lock_file *file;
	struct rangeset held;
};

/**
 * struct held_lock - a lock
 * @range, @own: in the sets of its file and of its owner
 * @type: DDIO_FS_LOCK_READ or DDIO_FS_LOCK_WRITE
 * @waits: struct lock_wait.file_link: those that it is in the way of, and that are not tried while it is
 */
struct held_lock {
	struct range range, own;
	struct lock_owner *owner;
	struct ddio_list mount_link; /* struct lock_mount.held */
	struct ddio_list waits;
	uint32_t pid, type;
};

struct lock_file *lock_file_find(const struct locks *locks, uint64_t ino);
struct lock_file *lock_file_make(struct locks *locks, uint64_t ino);
void lock_file_drop_if_empty(struct locks *locks, struct lock_file *file);
struct lock_mount *lock_mount_find(const struct locks *locks, const void *mount);
struct lock_mount *lock_mount_make(struct locks *locks, const void *mount);
void lock_mount_drop_if_empty(struct locks *locks, struct lock_mount *m);

/* Returns the lock that is in the way of @want and begins first in the file, or NULL. */
struct held_lock *lock_conflict_lowest(struct locks *locks, uint64_t ino,
				       const struct file_lock *want);

/**
 * struct lock_conflicts - a walk over the locks that are in the way of another
 * @want, @file, @query: what is asked for
 * @type: of the set that the walk is in
 */
struct lock_conflicts {
	const struct file_lock *want;
	const struct lock_file *file;
	struct range_query query;
	uint32_t type;
};

/* Return the first lock, for writing before for reading, or the next one, that is in the way of @want, or NULL. */
struct held_lock *lock_conflict_first(struct locks *locks, struct lock_conflicts *walk,
				      uint64_t ino, const struct file_lock *want);
struct held_lock *lock_conflict_next(struct locks *locks, struct lock_conflicts *walk,
				     const struct held_lock *lock);

/* Has a wait stand in the file's line, at the end. */
void lock_line_add(struct locks *locks, struct lock_file *file, struct lock_wait *wait);

/*
 * Takes, changes or gives back a lock that conflicts with none: 0 or -ENOLCK.  @taken, unless NULL, becomes the lock.
 * Who waited for a lock that is less than before stands in the file's line then, here as below.
 */
int lock_apply(struct locks *locks, uint64_t ino, const struct file_lock *want,
	       struct held_lock **taken);
/* Gives up a lock, or all that an owner has of a file. */
void lock_release(struct locks *locks, struct held_lock *lock);
void lock_release_owner(struct locks *locks, uint64_t ino, const struct file_lock *owner);

#endif /* DDIO_LOCK_HELD_H */
