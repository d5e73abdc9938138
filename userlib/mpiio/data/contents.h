/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an MPI says of how a datatype was made. */
#ifndef MPIIO_CONTENTS_H
#define MPIIO_CONTENTS_H

#include <mpi.h>
#include <stdbool.h>

/**
 * struct contents - what a type was made of, in the widest numbers
 * @combiner: of its constructor
 * @ncounts: not 0 if it was made with large counts, which are @counts
 */
struct contents {
	int combiner;
	MPI_Count nints, naddrs, ncounts, ntypes;
	int *ints;
	MPI_Aint *addrs;
	MPI_Count *counts;
	MPI_Datatype *types;
};

/* 0 or a negative errno; one that is named has nothing to drop. */
int contents_get(MPI_Datatype type, struct contents *c);
void contents_drop(struct contents *c);

/* A combiner's type, or a type, that was not constructed. */
bool is_named(int combiner);
bool type_named(MPI_Datatype type);

#endif
