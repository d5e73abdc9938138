// SPDX-License-Identifier: LGPL-2.1-or-later
/* external32 (MPI 4.0, section 14.5.2): big-endian, of the standard's sizes; by the MPI's own packing. */
#include <errno.h>
#include "mpiio/data/represent.h"

#define NAMED_MOST 64 /* bytes of an element that was not constructed, in memory and in the file */

/*
 * Bytes of such an element, as the MPI packs it: Open MPI packs a long in 4, and says that it has 8.  What has none by the
 * MPI's own word it cannot convert, and MPICH ends the program if it is told to: pairs of a value and an index.
 */
static int external_bytes(const struct mpiio_rep *rep, MPI_Datatype type, int *bytes)
{
	char element[NAMED_MOST] = "", file[NAMED_MOST];
	MPI_Aint at = 0, lb, extent = 0, said = 0;
	int memory = 0;

	if (PMPI_Type_size(type, &memory) || PMPI_Type_get_extent(type, &lb, &extent) ||
	    PMPI_Pack_external_size(rep->name, 1, type, &said))
		return -EINVAL;
	if (memory &&
	    (!said || extent > NAMED_MOST ||
	     PMPI_Pack_external(rep->name, element, 1, type, file, sizeof(file), &at) || !at))
		return -EOPNOTSUPP;
	*bytes = (int)at;
	return 0;
}

static int external_pack(const struct mpiio_rep *rep, const void *buf, MPI_Count count,
			 MPI_Datatype type, void *file, MPI_Count bytes)
{
	MPI_Aint at = 0;

	if (count > INT32_MAX)
		return -EOVERFLOW;
	if (PMPI_Pack_external(rep->name, buf, (int)count, type, file, bytes, &at))
		return -EINVAL;
	return at == bytes ? 0 : -EINVAL;
}

static int external_unpack(const struct mpiio_rep *rep, void *file, MPI_Count bytes, void *buf,
			   MPI_Count count, MPI_Datatype type)
{
	MPI_Aint at = 0;

	if (count > INT32_MAX)
		return -EOVERFLOW;
	return PMPI_Unpack_external(rep->name, file, bytes, &at, buf, (int)count, type) ? -EINVAL
											: 0;
}

const struct mpiio_rep rep_external = {
	.name = "external32",
	.bytes = external_bytes,
	.pack = external_pack,
	.unpack = external_unpack,
};
