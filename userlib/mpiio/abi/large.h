/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts of Fortran that are too large for an int, for the stub, which knows no MPI: handles are Fortran's. */
#ifndef MPIIO_LARGE_H
#define MPIIO_LARGE_H

#include <stdbool.h>
#include <stdint.h>

/* As many bytes, counted by an int; @made: the type is the library's. */
struct mpiio_large {
	int count, type;
	bool made;
};

/*
 * mpiio_large_take() returns whether the file is one of ddio; if so mpiio_large_done() is called when that has been transferred, or begun.
 * A count that nothing can be is -1, and a type of which there cannot be so many MPI_DATATYPE_NULL.
 */
typedef bool (*large_take_fn)(int fh, int64_t count, int type, struct mpiio_large *l);
typedef void (*large_done_fn)(struct mpiio_large *l);

#endif
