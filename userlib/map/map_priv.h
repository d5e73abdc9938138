/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stands behind the opaque struct ddio_map. */
#ifndef DDIO_MAP_PRIV_H
#define DDIO_MAP_PRIV_H

#include "map/parts.h"

struct ddio_map {
	uint32_t nprocs;
	bool is_array;
	union {
		struct ddio_map_layout layout;
		struct parts parts;
	};
};

/* Does @proc deliver its bytes in a write, or does a lower rank hold the same ones? */
bool map_delivers(const struct ddio_map *map, uint32_t proc);

/* Bytes of the share of @proc that lie below @x in the file. */
uint64_t map_below(const struct ddio_map *map, uint32_t proc, uint64_t x);

/* The walks, with the begin of the message apart from that of the range. */
int map_walk(const struct ddio_map *map, const struct map_range *range, ddio_map_run_fn fn,
	     void *arg);

#endif /* DDIO_MAP_PRIV_H */
