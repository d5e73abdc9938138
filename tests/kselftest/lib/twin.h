/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Disks with a plain twin: what a disk must hold is kept in memory, and put there and
 * read back by pwrite() and pread(); block lists over them, and what these must do.
 */
#ifndef KT_TWIN_H
#define KT_TWIN_H

#include "lib/kt.h"

/**
 * struct kt_twin - a disk and what it must hold
 * @dev: the device
 * @id: of the disk in the context
 * @align: of memory
 * @ref: what it must hold, of dev->bytes
 * @direct: descriptor that goes past the page cache
 * @cached: descriptor that goes through it
 * @bounce: aligned memory of dev->bytes
 */
struct kt_twin {
	const struct kt_dev *dev;
	uint32_t id;
	uint32_t align;
	unsigned char *ref;
	int direct;
	int cached;
	unsigned char *bounce;
};

/* Adds the disk to @ctx, and fills it with random bytes. */
int kt_twin_init(struct kt_twin *twin, const struct kt_dev *dev, int ctx, struct kt_rng *rng);
void kt_twin_fini(struct kt_twin *twin);
/* Reads all of the disk; -1 if it is as it must be, else where it first is not. */
int64_t kt_twin_check(const struct kt_twin *twin, bool direct);
/* Writes random bytes in random places, by pwrite(), cached or direct. */
int kt_twin_scribble(struct kt_twin *twin, struct kt_rng *rng, unsigned int writes, bool direct);

/**
 * struct kt_place - memory of blocks and what it must hold
 * @memory: what is pinned, at any alignment
 * @expect: what it must hold
 * @length: bytes of both
 * @id: of the buffer
 */
struct kt_place {
	unsigned char *memory;
	unsigned char *expect;
	uint64_t length;
	uint32_t id;
};

/* @skew: bytes from a page's beginning. */
int kt_place_init(struct kt_place *place, int ctx, uint64_t length, uint32_t skew, uint32_t flags);
/* Fills memory with fresh bytes, which are expected from now on. */
void kt_place_fill(struct kt_place *place, struct kt_rng *rng);
/* Returns -1 if the memory is as expected, else where it first is not. */
int64_t kt_place_check(const struct kt_place *place);

/**
 * struct kt_list - a random list
 * @block, @nr: the blocks
 * @twin: of each
 * @place: of each
 * @status: room for the status of each
 */
struct kt_list {
	struct ddio_block *block;
	uint64_t nr;
	uint16_t *twin;
	uint16_t *place;
	int32_t *status;
};

/**
 * struct kt_shape - what a random list is like
 * @twin, @nr_twins: over these disks
 * @place, @nr_places: in these places; blocks do not share any byte of them
 * @nr: blocks wanted; there may be fewer
 * @longest: block, bytes
 * @apart: the blocks do not overlap on the disk
 * @dense: neighbours on the disk follow each other
 */
struct kt_shape {
	struct kt_twin *twin;
	unsigned int nr_twins;
	struct kt_place *place;
	unsigned int nr_places;
	uint64_t nr;
	uint32_t longest;
	bool apart;
	bool dense;
};

/* At least one block.  To be freed by kt_list_free(). */
int kt_list_random(struct kt_list *list, const struct kt_shape *shape, struct kt_rng *rng);
void kt_list_free(struct kt_list *list);
/* Copies block @i as the transfer must: from disk to place when reading, else back. */
void kt_list_expect(const struct kt_list *list, const struct kt_shape *shape, uint64_t i,
		    uint32_t op);
void kt_list_expect_all(const struct kt_list *list, const struct kt_shape *shape, uint32_t op);

/**
 * struct kt_tally - how the blocks of a list ended
 * @ok: without error
 * @canceled: -ECANCELED
 * @failed: with another error
 * @undone: status untouched
 */
struct kt_tally {
	uint64_t ok;
	uint64_t canceled;
	uint64_t failed;
	uint64_t undone;
};

/*
 * What each block must have done by its status: moved, or not been begun; what a block with another
 * error has left is taken as it is.
 */
void kt_list_expect_status(const struct kt_list *list, const struct kt_shape *shape, uint32_t op,
			   struct kt_tally *tally);

#endif /* KT_TWIN_H */
