/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers by numbers: a hash table.  Zero-initialise. */
#ifndef DDIO_U64MAP_H
#define DDIO_U64MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct ddio_u64map - pairs; key 0 is a free place
 */
struct ddio_u64map {
	struct u64pair {
		uint64_t key, value;
	} * v;
	size_t n, cap;
};

/* NULL: there is none.  Good until the next change. */
uint64_t *ddio_u64map_find(const struct ddio_u64map *map, uint64_t key);
/* Found, or made with value 0; NULL: no memory. */
uint64_t *ddio_u64map_make(struct ddio_u64map *map, uint64_t key);
void ddio_u64map_drop(struct ddio_u64map *map, uint64_t key);
void ddio_u64map_free(struct ddio_u64map *map);

#endif /* DDIO_U64MAP_H */
