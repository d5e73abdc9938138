/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One block that goes straight between the disk and the memory of members; see scatter.c. */
#ifndef DDIO_COLL_SCATTER_BLOCK_H
#define DDIO_COLL_SCATTER_BLOCK_H

#include "iop/coll/slot/slot.h"

/**
 * struct scatter_block - a block of a batch
 * @held: the lock is held
 * @begun: write: object_write_end() has to follow
 */
struct scatter_block {
	struct coll_block at;
	struct block_lock lock;
	bool held, begun;
};

/**
 * struct scatter_ops - what scattering does when reading, or when writing
 * @op: of the disk; @doing: in errors
 * @may: returns true if the block may be scattered, before it is locked and looked up
 * @fits: the same once it is; @written: the block was
 * @summed: 1: the disk is to compare the block with *@sum, or to tell its sum; 0: neither; or -errno: it may not go past us
 * @moved: the disk has moved the block, and told its sum; NULL: it has not.  0 or -ENOMEM
 * @stale: returns true if the cache is to forget what it has of a block that ended with @status
 */
struct scatter_ops {
	enum ddio_disk_op op;
	const char *doing;
	bool (*may)(const struct coll_disk *cd, const struct coll_block *at);
	bool (*fits)(const struct block_lock *lock, bool written);
	int (*summed)(const struct coll_disk *cd, const struct coll_block *at, uint32_t *sum);
	int (*moved)(struct coll_disk *cd, const struct coll_block *at, const uint32_t *sum);
	bool (*stale)(const struct block_lock *lock, int status);
};

/*
 * Locks a block of the disk's list and adds it to @list; returns false, with nothing changed, if it must go
 * through the slots.  @all: every member has joined.
 */
bool scatter_block_take(struct coll_disk *cd, struct scatter_block *b,
			struct ddio_disk_scatter *list, const struct plan_blocks *placed, bool all);
/* @stale: what the cache has of the block is forgotten. */
void scatter_block_unlock(const struct coll_disk *cd, struct scatter_block *b, bool stale);
/* The disk has moved the block, whose sum is @sum, or failed: accounts for it and unlocks it.  Return: how it ended. */
int scatter_block_end(struct coll_disk *cd, struct scatter_block *b, int status,
		      const uint32_t *sum);

#endif /* DDIO_COLL_SCATTER_BLOCK_H */
