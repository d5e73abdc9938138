/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The extents of an object: a sorted array, because look-ups are frequent, additions are mostly at the
 * end, and an object of 100,000 extents should stay small.  Neighbours that continue each other on the disk
 * are merged.
 */
#ifndef DDIO_EXTENT_H
#define DDIO_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks that are contiguous on the disk. */
struct extent {
	uint64_t block; /* first, of the object */
	uint64_t start; /* byte on the disk */
	uint64_t count; /* blocks */
};

struct extent_map {
	struct extent *v;
	size_t n, cap;
	uint64_t blocks; /* of all extents */
};

void extent_map_fini(struct extent_map *map);
/* Returns the index of the extent that holds @block, or of the first one after it (n: none). */
size_t extent_map_find(const struct extent_map *map, uint64_t block);
/* Returns one past the last block. */
uint64_t extent_map_end(const struct extent_map *map);
/* Makes room, so that the next extent_map_add() of @n cannot fail. */
int extent_map_reserve(struct extent_map *map, size_t n);
/**
 * extent_map_add - add extents
 * @ext: ascending; must not overlap each other or the map
 * @bs: bytes of a block
 * Return: 0 or -ENOMEM.
 */
int extent_map_add(struct extent_map *map, const struct extent *ext, size_t n, uint32_t bs);
/* Removes blocks [first, end); needs room for one more extent. */
void extent_map_cut(struct extent_map *map, uint64_t first, uint64_t end, uint32_t bs);

/* Returns what of [first, end) lies in the first extent of it; count 0: nothing. */
struct extent extent_map_part(const struct extent_map *map, uint64_t first, uint64_t end,
			      uint32_t bs);

#endif /* DDIO_EXTENT_H */
