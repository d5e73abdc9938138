/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MPI's datatypes: as trees, and as memory. */
#ifndef MPIIO_DATA_H
#define MPIIO_DATA_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <ddio/ddio.h>
#include "mpiio/core/shape.h"

/* types.c: a type as a tree.  0 or a negative errno. */
int type_shape(MPI_Datatype type, struct mpiio_shape *s);
bool type_plain(MPI_Datatype type); /* named, and without holes */
int type_copy(MPI_Datatype type, MPI_Datatype *copy);
void type_drop(MPI_Datatype *type);

/* A file of ddio has at most so many. */
#define BYTES_MAX ((uint64_t)1 << 62)

/* many.c: a committed type of so many elements of another, for PMPI_Type_free(); an error of the MPI, also if they are too many. */
int type_of_many(int64_t count, MPI_Datatype type, MPI_Datatype *many);

struct kept_shape;

/**
 * struct mpiio_memory - where data lie in a program's memory
 * @buf: address to give to ddio
 * @len: bytes
 * @packed: bytes follow each other
 * @staging: @buf, if it is this library's own, and @element, bytes of one of the program's elements in it
 * @memory: else where they are, by @view of @tree, which is of @shape or of @kept
 * @kept: the type's own
 */
struct mpiio_memory {
	void *buf;
	uint64_t len;
	bool packed;
	void *staging;
	uint64_t element;
	struct ddio_memory memory;
	struct ddio_view view;
	struct ddio_tree tree;
	struct mpiio_shape shape;
	struct kept_shape *kept;
};
int memory_of(void *buf, MPI_Count count, MPI_Datatype type, struct mpiio_memory *m);
void memory_pack(const struct mpiio_memory *m,
		 uint8_t *to); /* all of it, one byte after the other */
void memory_drop(struct mpiio_memory *m);

#endif
