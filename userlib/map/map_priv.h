/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The map inside.  Private to map. */
#ifndef DDIO_MAP_PRIV_H
#define DDIO_MAP_PRIV_H

#include "map/parts.h"

/**
 * struct ddio_map - see map.h
 * @end: nothing is wanted from here on, whatever the descriptions say
 */
struct ddio_map {
	uint32_t nprocs;
	bool is_array;
	uint64_t end;
	union {
		struct ddio_map_layout layout;
		struct parts parts;
	};
};

static inline uint64_t map_clip(const struct ddio_map *map, uint64_t x)
{
	return x < map->end ? x : map->end;
}

/* Returns how many of these bytes lie where the map has not been clipped. */
static inline uint64_t again_len(const struct ddio_map *map, const struct map_again *again)
{
	uint64_t end = map_clip(map, again->off + again->len);

	return end > again->off ? end - again->off : 0;
}

/*
 * Returns true if @proc delivers its bytes in a write; false if a lower rank holds the same
 * ones.
 */
bool map_delivers(const struct ddio_map *map, uint32_t proc);

/* Returns how many bytes of the share of @proc lie below @x in the file. */
uint64_t map_below(const struct ddio_map *map, uint32_t proc, uint64_t x);

/* As ddio_map_runs(), but the message may begin before the range. */
int map_walk(const struct ddio_map *map, const struct map_range *range, ddio_map_run_fn fn,
	     void *arg);

#endif /* DDIO_MAP_PRIV_H */
