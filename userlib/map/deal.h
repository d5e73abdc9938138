/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Dealing a block out like cards: the fast path where the innermost axis of
 * an array is cyclic in pieces shorter than a cache line.
 */
#ifndef DDIO_MAP_DEAL_H
#define DDIO_MAP_DEAL_H

#include "map/layout.h"

/**
 * struct deal - one range of the file and the messages for it
 * @block: the byte of the file at @block_off
 * @msg: by rank; NULL skips the process
 * @gather: from the block to the messages, which are then written and the
 *	block only read; else the other way round
 * @origin: begin of the messages
 */
struct deal {
	const struct ddio_map_layout *layout;
	char *block;
	uint64_t block_off;
	char *const *msg;
	bool gather;
	struct axis_mark origin;
};

/* Is the layout one that deal_tile() is made for? */
bool deal_suits(const struct ddio_map_layout *layout);

/* Bytes of the file to be dealt at a time. */
uint64_t deal_tile_size(const struct ddio_map_layout *layout);

/* All bytes of [lo, hi), which lies in the range. */
void deal_tile(const struct deal *deal, uint64_t lo, uint64_t hi);

#endif /* DDIO_MAP_DEAL_H */
