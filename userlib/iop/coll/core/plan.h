/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Block lists. */
#ifndef DDIO_COLL_PLAN_H
#define DDIO_COLL_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include "env/disk/disk.h"

/**
 * struct plan_span - blocks of an object at a constant distance, within one extent
 * @block: the first, a number in the object
 * @count: blocks, at least 1
 * @sector: where the first lies on the disk, in units of 512 bytes; SPAN_HOLE: nowhere
 * @stride: distance in blocks; 1 where there is only one
 */
struct plan_span {
	uint64_t block : 54;
	uint64_t count : 10;
	uint64_t sector : 54;
	uint64_t stride : 10;
};
_Static_assert(sizeof(struct plan_span) == 16, "a block list may hold millions of these");

#define SPAN_SECTOR 512u
#define SPAN_HOLE ((1ull << 54) - 1)
#define SPAN_MAX 1023u /* count and stride */

/**
 * struct plan_blocks - consecutive blocks of an object that are adjacent on the disk
 * @block: the first; above all that were added before
 * @sector: its place, or SPAN_HOLE
 * @same: it lies in the same extent as what was added before
 */
struct plan_blocks {
	uint64_t block;
	uint64_t count;
	uint64_t sector;
	bool same;
};

/**
 * struct plan - the block list of one disk
 * @sectors: of a block
 * @most: spans that the list may have, 0: any number
 * @blocks: in all spans
 * @at, @in: the next block to be handed out: index of a span, and of a block in it
 * @left: blocks not handed out yet
 * @near: what is needed to hand them out by shortest access time (near.c), or NULL
 */
struct plan {
	uint32_t sectors;
	struct plan_span *span;
	uint64_t n, cap, most;
	uint64_t blocks;
	uint64_t at, left;
	uint32_t in;
	struct near *near;
};

/* Adds blocks at the end of the list: 0, -ENOMEM, or -E2BIG. */
int plan_add(struct plan *plan, const struct plan_blocks *blocks);
/* Sorts by place on the disk; holes come last. */
void plan_sort(struct plan *plan);
/* Starts to hand out @skip blocks further on; the skipped ones come last. */
void plan_rotate(struct plan *plan, uint64_t skip);
/* Hands out the next block, with its place when the list was made; false at the end. */
bool plan_next(struct plan *plan, struct plan_blocks *blocks);
/* Returns where the next block that plan_next() will hand out lies; SPAN_HOLE: nowhere, or there is none. */
uint64_t plan_peek(const struct plan *plan);
/* Returns how many blocks of span @i lie before @sector, as its first one does. */
uint64_t plan_before(const struct plan *plan, uint64_t i, uint64_t sector);
void plan_free(struct plan *plan);

/* From here on blocks are handed out by shortest access time: 0, or -1 without memory.  The list is
 * sorted, and none of it was handed out. */
int plan_near_begin(struct plan *plan);
bool plan_next_near(struct plan *plan, const struct ddio_disk *disk, struct plan_blocks *blocks,
		    uint64_t *asked);
void plan_near_free(struct near *near);

#endif /* DDIO_COLL_PLAN_H */
