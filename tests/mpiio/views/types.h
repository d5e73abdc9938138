/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random MPI types, and where their bytes are: each constructor's effect is computed here from its
 * definition, piece by piece, while the type is made.
 */
#ifndef TESTS_MPIIO_TYPES_H
#define TESTS_MPIIO_TYPES_H

#include "tests/mpiio/common.h"

enum { TYPE_TEXT = 320, TYPE_LEVELS = 5 };

/* Bytes that lie side by side. */
struct type_piece {
	int64_t at, len;
};

/* A type and its pieces, in the order in which data go through it; text is how it was made. */
struct random_type {
	MPI_Datatype mpi;
	bool named;
	int n, room;
	struct type_piece *piece;
	int64_t size, lb, extent;
	char text[TYPE_TEXT];
};

/*
 * basic: of what it is made, so many bytes each; file: ascending pieces that do not overlap, also when
 * the type is repeated, none below zero.
 */
struct type_rules {
	MPI_Datatype basic;
	int bytes;
	bool file;
};

/* Makes a committed type of at least one byte, of up to so many levels. */
void random_type_make(struct random_type *t, struct mpiio_rand *r, const struct type_rules *rules,
		      int levels);
/* The only entry's copy with another extent, from 0 on; takes t. */
void random_type_resize(struct random_type *t, int64_t extent);
void random_type_free(struct random_type *t);

/* Where the bytes of "count" entries are: the lowest place, and one after the highest. */
void random_type_bounds(const struct random_type *t, int64_t count, int64_t *low, int64_t *high);
/* The places of bytes [from, from + n) of the type, repeated as often as is needed. */
void random_type_places(const struct random_type *t, int64_t from, int64_t n, int64_t *place);

#endif
