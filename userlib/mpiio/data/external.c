// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Data in the file as external32 (MPI 4.0, section 14.5.2): big-endian, of the standard's sizes.  They are converted in
 * a buffer of this library's, by MPI_Pack_external().
 */
#include <errno.h>
#include <stdlib.h>
#include "mpiio/data/data.h"

#define REPRESENTATION "external32"

/* Bytes of so many elements in the file. */
static int64_t size_of(MPI_Datatype type, int count)
{
	MPI_Aint size = 0;

	return PMPI_Pack_external_size(REPRESENTATION, count, type, &size) ? -EINVAL : size;
}

int external_of(bool write, const void *buf, MPI_Count count, MPI_Datatype type,
		struct mpiio_memory *m)
{
	MPI_Aint at = 0;
	int64_t size = count > INT32_MAX ? -EOVERFLOW : size_of(type, (int)count);

	*m = (struct mpiio_memory){ .packed = true };
	if (size < 0)
		return (int)size;
	m->buf = m->staging = malloc(size ? (size_t)size : 1);
	if (!m->buf)
		return -ENOMEM;
	m->len = (uint64_t)size;
	if (write && PMPI_Pack_external(REPRESENTATION, buf, (int)count, type, m->buf, size, &at))
		return -EINVAL;
	return 0;
}

uint64_t external_taken(const struct mpiio_memory *m, uint64_t bytes, void *buf, MPI_Datatype type)
{
	int64_t one = size_of(type, 1);
	MPI_Count size = 0;
	MPI_Aint at = 0;
	int n = one > 0 ? (int)(bytes / (uint64_t)one) : 0;

	PMPI_Type_size_x(type, &size);
	if (buf && n)
		PMPI_Unpack_external(REPRESENTATION, m->staging, (MPI_Aint)bytes, &at, buf, n,
				     type);
	return (uint64_t)n * (uint64_t)size;
}

/* File views take their places from memory, which is right where no element has another size in the file. */
bool external_same_sizes(MPI_Datatype type)
{
	MPI_Count size = 0;

	PMPI_Type_size_x(type, &size);
	return size_of(type, 1) == size;
}

MPI_Aint external_extent(MPI_Datatype type)
{
	MPI_Aint lb, extent;

	PMPI_Type_get_extent(type, &lb, &extent);
	return type_plain(type) ? (MPI_Aint)size_of(type, 1) : extent;
}
