/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Has blocks of an object lie side by side again: plan.c says which are worth moving, and where to; move.c takes the new place,
 * and gives it to the object when the blocks have been written there.
 *
 * An object is gone through once, from its first block to its last.  Nothing is moved but for one extent less, and no block
 * twice.
 */
#ifndef DDIO_STORE_MEND_H
#define DDIO_STORE_MEND_H

#include "iop/store/store.h"

/**
 * struct store_mend - how far one is, and what comes next
 * @at: the block that comes next; blocks before it stay where they are
 * @longest: extents of so many bytes stay where they are; 0: none for that reason
 * @most: blocks of a move
 * @first, @count, @start: the next move, and its place
 * @shared, @reserved, @space: extents that stay apart since others have blocks of them, too; since blocks of them were
 *	never written; since there is no place beside their neighbours, nor one for several
 */
struct store_mend {
	uint64_t at, longest, most;
	uint64_t first, count, start;
	uint64_t shared, reserved, space;
};

enum store_mend_next {
	MEND_OVER, /* all has been looked at */
	MEND_MORE, /* to be called again, in another turn */
	MEND_MOVE,
};

/* Returns what comes next. */
enum store_mend_next store_mend_next(struct object *obj, struct store_mend *mend);

/**
 * struct store_move - blocks that are being moved; the caller's, who has locked them in the cache
 * @place: where they go; @first, @count: of @obj
 */
struct store_move {
	struct store_taken place;
	struct object *obj;
	uint64_t first, count;
};

/**
 * store_move_begin - take the place that blocks will have
 * Nobody else sees it.
 * Return: 0; -EAGAIN: it is not free any more; -ENOSPC: there is no room for records; -ESTALE: some of the blocks are not such as can be
 * moved; or -ENOMEM.  After 0 store_move_end() must follow.
 */
int store_move_begin(struct store_move *move, struct object *obj, uint64_t first, uint64_t count,
		     uint64_t start);
/**
 * store_move_end - the first blocks have their new places from now on
 * @count: so many of them, which the disk has there; 0: none
 * @data: their bytes, which match their checksums
 * The next commit records it, and frees the old places.  New places that are not needed are free again.
 * Return: 0 or -errno with nothing moved, or -ENOMEM, with some: the next commit fails, too, then.
 */
int store_move_end(struct store_move *move, uint64_t count, const void *data);

/* Returns how much free space there is, in how many ranges, and the longest of them. */
struct store_space {
	uint64_t free, ranges, longest;
};
struct store_space store_space(const struct store *store);

#endif /* DDIO_STORE_MEND_H */
