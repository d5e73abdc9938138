// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A large count as a type of so many elements.  It is made with ordinary counts: external32 is not converted for types that were made
 * with large ones.
 */
#include <limits.h>
#include "mpiio/data/data.h"

/* Elements of a block, of which there may be as many as an int counts. */
#define BLOCK ((int64_t)1 << 30)

/* Blocks, and what is left behind them, which begins so many bytes after their start. */
static int type_join(MPI_Datatype blocks, MPI_Datatype rest, MPI_Aint behind, MPI_Datatype *type)
{
	return PMPI_Type_create_struct(2, (const int[]){ 1, 1 }, (const MPI_Aint[]){ 0, behind },
				       (const MPI_Datatype[]){ blocks, rest }, type);
}

/* The program's type may be anything but none, and its elements not more than a file can have. */
static bool type_fits(int64_t count, MPI_Datatype type, MPI_Count *extent)
{
	MPI_Count lb, size;
	int64_t all;

	return type != MPI_DATATYPE_NULL && !PMPI_Type_get_extent_x(type, &lb, extent) &&
	       !PMPI_Type_size_x(type, &size) && !__builtin_mul_overflow(count, *extent, &all) &&
	       !__builtin_mul_overflow(count, size, &all) && all <= (int64_t)BYTES_MAX &&
	       count / BLOCK <= INT_MAX;
}

int type_of_many(int64_t count, MPI_Datatype type, MPI_Datatype *many)
{
	MPI_Datatype block = MPI_DATATYPE_NULL, blocks = MPI_DATATYPE_NULL;
	MPI_Datatype rest = MPI_DATATYPE_NULL;
	MPI_Count extent;
	int ret;

	if (!type_fits(count, type, &extent))
		return MPI_ERR_TYPE;
	ret = PMPI_Type_contiguous((int)BLOCK, type, &block);
	ret = ret ? ret : PMPI_Type_contiguous((int)(count / BLOCK), block, &blocks);
	ret = ret ? ret : PMPI_Type_contiguous((int)(count % BLOCK), type, &rest);
	ret = ret ? ret : type_join(blocks, rest, (MPI_Aint)(count / BLOCK * BLOCK * extent), many);
	ret = ret ? ret : PMPI_Type_commit(many);
	type_drop(&block);
	type_drop(&blocks);
	type_drop(&rest);
	return ret;
}
