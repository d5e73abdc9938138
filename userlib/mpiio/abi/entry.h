/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that are exported, numbered: the order in which a back end hands them to the stub. */
#ifndef MPIIO_ENTRY_H
#define MPIIO_ENTRY_H

#include <stdbool.h>
#include <stdint.h>
#include "mpiio/abi/functions.h"

#define ENTRIES_ALONE(N) \
	N(File_open)     \
	N(File_close)    \
	N(File_delete)   \
	N(File_get_type_extent_c) N(Error_string) N(Register_datarep) N(Register_datarep_c)

#define ENTRY_OF(n) ENTRY_##n,
#define ENTRY_FILE(n, params, args) ENTRY_File_##n,
#define ENTRY_DATA(n, form, write, from, all) ENTRY_File_##n, ENTRY_File_##n##_c,
#define ENTRY_END(n, write, from) ENTRY_File_##n,
#define ENTRY_REQUEST(n, params, args) ENTRY_##n,

enum mpiio_entry {
	ENTRIES_ALONE(ENTRY_OF) FILE_CALLS(ENTRY_FILE) DATA_CALLS(ENTRY_DATA) END_CALLS(ENTRY_END)
		REQUEST_CALLS(ENTRY_REQUEST) ENTRY_COUNT
};

/* Counts of Fortran that an int may not hold: the stub knows no MPI, so handles are Fortran's. */
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
