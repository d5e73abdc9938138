/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The extents of a disk in the order of their places, as they are recorded.  A disk may have more of them than memory
 * should hold, so they come in portions: each walks through all records and keeps those that come next.
 */
#ifndef DDIO_STORE_PLACES_H
#define DDIO_STORE_PLACES_H

#include "iop/store/store.h"

/**
 * struct store_place - blocks of an object that were written and lie side by side
 * @start: byte on the disk; @count: blocks of @bs bytes, from @block on of object @id
 */
struct store_place {
	uint64_t start, count;
	uint64_t id, block;
	uint32_t bs;
};

struct store_places;

/* Begins to look for the first @most extents that reach beyond byte @from.  0 or -ENOMEM. */
int store_places_begin(struct store *store, uint64_t from, size_t most,
		       struct store_places **places);
/* Takes up to @steps records, or as many steps of sorting.  Returns false when there is nothing more to do. */
bool store_places_step(struct store_places *places, uint32_t steps);
/*
 * Frees @places.  @v receives them, ascending, @n of them, for the caller to free; NULL: they are not wanted.  Returns 0
 * or -errno.
 */
int store_places_end(struct store_places *places, struct store_place **v, size_t *n);

#endif /* DDIO_STORE_PLACES_H */
