/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deals a block out like cards: the fast path for arrays whose innermost axis
 * is cyclic in pieces shorter than a cache line.
 */
#ifndef DDIO_MAP_DEAL_H
#define DDIO_MAP_DEAL_H

#include "map/layout.h"

/**
 * struct deal - one range of the file and the messages for it
 * @block: the byte of the file at @block_off
 * @msg: by rank; NULL skips the process
 * @gather: from the block to the messages, which are then written and the
 *	block only read; else the reverse
 * @origin: where the messages begin
 */
struct deal {
	const struct ddio_map_layout *layout;
	char *block;
	uint64_t block_off;
	char *const *msg;
	bool gather;
	struct axis_mark origin;
};

/* Returns true if deal_tile() suits the layout. */
bool deal_suits(const struct ddio_map_layout *layout);

/* Returns how many bytes of the file to deal at a time. */
uint64_t deal_tile_size(const struct ddio_map_layout *layout);

/* Deals all bytes of [lo, hi), which lies in the range. */
void deal_tile(const struct deal *deal, uint64_t lo, uint64_t hi);

#endif /* DDIO_MAP_DEAL_H */
