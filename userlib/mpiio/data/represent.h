/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How data look in a file: external32, and what programs register.  "native" and "internal" are none of these. */
#ifndef MPIIO_REPRESENT_H
#define MPIIO_REPRESENT_H

#include <mpi.h>
#include "mpiio/data/data.h"

/**
 * struct mpiio_rep - a data representation
 * @name: as MPI_File_set_view() is told
 * @bytes: how many bytes an element has in the file that was not constructed
 * @pack: fills a buffer with @count elements, in @bytes as they are in the file; NULL: they are there as in memory
 * @unpack: takes @count elements out of such a buffer; NULL: the same
 *
 * These return 0 or a negative errno: -EOPNOTSUPP: of a type that cannot be converted, -EILSEQ: the program's own function
 * has failed.
 */
struct mpiio_rep {
	char name[MPI_MAX_DATAREP_STRING];
	int (*bytes)(const struct mpiio_rep *rep, MPI_Datatype named, int *bytes);
	int (*pack)(const struct mpiio_rep *rep, const void *buf, MPI_Count count,
		    MPI_Datatype type, void *file, MPI_Count bytes);
	int (*unpack)(const struct mpiio_rep *rep, void *file, MPI_Count bytes, void *buf,
		      MPI_Count count, MPI_Datatype type);
};

/* external.c */
extern const struct mpiio_rep rep_external;

/* datarep.c: what the program has registered. */
typedef int rep_convert_c(void *buf, MPI_Datatype type, MPI_Count count, void *file,
			  MPI_Offset position, void *state); /* MPI 4's, which some MPIs lack */
/* In Fortran all arguments are references, and there is one more, for the result. */
typedef void rep_convert_f(void *buf, MPI_Fint *type, MPI_Fint *count, void *file,
			   MPI_Offset *position, void *state, MPI_Fint *err);
typedef void rep_convert_fc(void *buf, MPI_Fint *type, MPI_Count *count, void *file,
			    MPI_Offset *position, void *state, MPI_Fint *err);
typedef void rep_extent_f(MPI_Fint *type, MPI_Aint *extent, void *state, MPI_Fint *err);
/* Functions of the four kinds; @extent or @extent_f is always there. */
struct rep_functions {
	MPI_Datarep_conversion_function *read, *write;
	rep_convert_c *read_c, *write_c;
	rep_convert_f *read_f, *write_f;
	rep_convert_fc *read_fc, *write_fc;
	MPI_Datarep_extent_function *extent;
	rep_extent_f *extent_f;
	void *state;
};
/* 0, -EEXIST: the name is taken, -EINVAL: it is too long, or there is no extent, -ENOMEM */
int rep_register(const char *name, const struct rep_functions *fn);
/* Any that has a name; NULL: none. */
const struct mpiio_rep *rep_find(const char *name);

/*
 * represent.c: the type as it lies in the file, for PMPI_Type_free(): what is counted in elements is scaled, what is counted in
 * bytes is as it is.  rep_extent() gives its extent, rep_size() its bytes or a negative errno.
 */
int rep_type(const struct mpiio_rep *rep, MPI_Datatype type, MPI_Datatype *out);
int rep_extent(const struct mpiio_rep *rep, MPI_Datatype type, MPI_Aint *extent);
int64_t rep_size(const struct mpiio_rep *rep, MPI_Datatype type);

/**
 * rep_make - describes memory whose data have the representation in the file: mostly a buffer for them
 * @rep: the representation
 * @write: fill it with what is at @buf
 * @buf: the program's data
 * @count: elements
 * @type: of an element
 * @m: receives it
 *
 * Return: 0 or a negative errno.
 */
int rep_make(const struct mpiio_rep *rep, bool write, void *buf, MPI_Count count, MPI_Datatype type,
	     struct mpiio_memory *m);

/* Takes what was read out of the buffer, whole elements, to @buf if that is not NULL: how many bytes of memory, or an error. */
int64_t rep_taken(const struct mpiio_rep *rep, const struct mpiio_memory *m, uint64_t bytes,
		  void *buf, MPI_Datatype type);

#endif
