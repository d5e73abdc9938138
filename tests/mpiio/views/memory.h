/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that a random type describes, and what MPI_Pack() makes of it. */
#ifndef TESTS_MPIIO_MEMORY_H
#define TESTS_MPIIO_MEMORY_H

#include "tests/mpiio/views/types.h"

/**
 * struct mem_side - entries of a type in memory, with a buffer that has room for all of their bytes
 * @bytes: of the data; @place: where in @buf each of them is, in order
 * @low: the lowest byte's place, counted from the origin; at most 0
 */
struct mem_side {
	const struct random_type *type;
	int count;
	int64_t bytes, low, room;
	int64_t *place;
	unsigned char *buf;
};

void mem_begin(struct mem_side *m, const struct random_type *type, int64_t count);
void mem_end(struct mem_side *m);
/* What a program hands to the MPI. */
void *mem_origin(const struct mem_side *m);
/* No byte of memory is named twice. */
bool mem_distinct(const struct mem_side *m);

/* PACK_NOT_ASKED: Open MPI is known to be wrong there */
enum pack_verdict { PACK_RIGHT, PACK_NOT_ASKED, PACK_WRONG_SIZE, PACK_WRONG_ORDER };

/* Compares what MPI_Pack() takes of two entries with the type's pieces. */
enum pack_verdict pack_compare(const struct random_type *t, uint64_t seed);

#endif
