/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Irregular parts: every process names its own pieces of the file. */
#ifndef DDIO_MAP_PARTS_H
#define DDIO_MAP_PARTS_H

#include "map/layout.h"
#include "map/pieces/union.h"

/**
 * struct map_share - the bytes that one process wants
 * @items: sorted by file offset, disjoint; their nests belong to the share
 * @size: bytes
 * @monotone: file order is share order
 */
struct map_share {
	struct items items;
	uint64_t size;
	bool monotone;
};

struct parts {
	uint32_t nprocs;
	bool small; /* has pieces that are shorter than a cache line */
	struct map_share *share;
	struct item_union all;
};

int parts_init(struct parts *parts, const struct ddio_part *part, uint32_t nprocs,
	       const char **why);
void parts_destroy(struct parts *parts);

/*
 * Turns one strided description into a nest, which may not be monotone.  Strides may
 * be negative if @memory.  @span: one past the last byte.  Returns -ENODATA if it is empty.
 */
int nest_read(struct nest *nest, const struct ddio_strided *strided, bool memory, uint64_t *span,
	      const char **why);

/* Returns how many bytes of the share lie below file offset @x. */
uint64_t share_below(const struct map_share *share, uint64_t x);

int parts_runs(const struct parts *parts, const struct map_range *range, ddio_map_run_fn fn,
	       void *arg);
int parts_runs_of(const struct parts *parts, uint32_t proc, const struct map_range *range,
		  ddio_map_run_fn fn, void *arg);

#endif /* DDIO_MAP_PARTS_H */
