// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Data in the file as external32 (MPI 4.0, section 14.5.2): big-endian, of the standard's sizes.  They are converted in
 * a buffer of this library's, by MPI_Pack_external().
 */
#include <errno.h>
#include <stdlib.h>
#include "mpiio/data/contents.h"
#include "mpiio/data/data.h"

#define REPRESENTATION "external32"
#define NEST_MAX 1000 /* as types.c has it */

#define NAMED_MOST 64 /* bytes of an element that was not constructed, in memory and in the file */

/*
 * Bytes of such an element, as the MPI packs it: Open MPI packs a long in 4, and says that it has 8.  What has none by the
 * MPI's own word it cannot convert, and MPICH ends the program if it is told to: pairs of a value and an index.
 */
static int named_bytes(MPI_Datatype type, int *bytes)
{
	char element[NAMED_MOST] = "", file[NAMED_MOST];
	MPI_Aint at = 0, lb, extent = 0, said = 0;
	int memory = 0;

	if (PMPI_Type_size(type, &memory) || PMPI_Type_get_extent(type, &lb, &extent) ||
	    PMPI_Pack_external_size(REPRESENTATION, 1, type, &said))
		return -EINVAL;
	if (memory &&
	    (!said || extent > NAMED_MOST ||
	     PMPI_Pack_external(REPRESENTATION, element, 1, type, file, sizeof(file), &at) || !at))
		return -EOPNOTSUPP;
	*bytes = (int)at;
	return 0;
}

/* The same constructor, of other types, whose extents MPI scales what is counted in. */
static int construct(const struct contents *c, MPI_Datatype *types, MPI_Datatype *out)
{
	const int *ints = c->ints;
	int n = ints[0];

	switch (c->combiner) {
	case MPI_COMBINER_DUP:
		return PMPI_Type_dup(types[0], out);
	case MPI_COMBINER_RESIZED:
		return PMPI_Type_create_resized(types[0], c->addrs[0], c->addrs[1], out);
	case MPI_COMBINER_CONTIGUOUS:
		return PMPI_Type_contiguous(n, types[0], out);
	case MPI_COMBINER_VECTOR:
		return PMPI_Type_vector(n, ints[1], ints[2], types[0], out);
	case MPI_COMBINER_HVECTOR:
		return PMPI_Type_create_hvector(n, ints[1], c->addrs[0], types[0], out);
	case MPI_COMBINER_INDEXED:
		return PMPI_Type_indexed(n, ints + 1, ints + 1 + n, types[0], out);
	case MPI_COMBINER_HINDEXED:
		return PMPI_Type_create_hindexed(n, ints + 1, c->addrs, types[0], out);
	case MPI_COMBINER_INDEXED_BLOCK:
		return PMPI_Type_create_indexed_block(n, ints[1], ints + 2, types[0], out);
	case MPI_COMBINER_HINDEXED_BLOCK:
		return PMPI_Type_create_hindexed_block(n, ints[1], c->addrs, types[0], out);
	case MPI_COMBINER_STRUCT:
		return PMPI_Type_create_struct(n, ints + 1, c->addrs, types, out);
	case MPI_COMBINER_SUBARRAY:
		return PMPI_Type_create_subarray(n, ints + 1, ints + 1 + n, ints + 1 + 2 * n,
						 ints[1 + 3 * n], types[0], out);
	case MPI_COMBINER_DARRAY:
		n = ints[2];
		return PMPI_Type_create_darray(ints[0], ints[1], n, ints + 3, ints + 3 + n,
					       ints + 3 + 2 * n, ints + 3 + 3 * n, ints[3 + 4 * n],
					       types[0], out);
	default:
		return MPI_ERR_TYPE;
	}
}

static int in_file(MPI_Datatype type, unsigned int depth, MPI_Datatype *out);

/* Entries of the same type become one type again. */
static int constructed(const struct contents *c, unsigned int depth, MPI_Datatype *types,
		       MPI_Datatype *out)
{
	MPI_Count i;
	int ret;

	if (c->ncounts)
		return -EOPNOTSUPP;
	for (i = 0; i < c->ntypes; i++) {
		bool again = i && c->types[i] == c->types[i - 1];

		ret = again ? 0 : in_file(c->types[i], depth + 1, &types[i]);
		if (again)
			types[i] = types[i - 1];
		if (ret)
			return ret;
	}
	return construct(c, types, out) ? -EOPNOTSUPP : 0;
}

static void types_drop(const struct contents *c, MPI_Datatype *types)
{
	MPI_Datatype last = MPI_DATATYPE_NULL;
	MPI_Count i;

	for (i = 0; types && i < c->ntypes; i++) {
		MPI_Datatype t = types[i];

		if (t != MPI_DATATYPE_NULL && t != last)
			PMPI_Type_free(&types[i]);
		last = t;
	}
	free(types);
}

/* Bytes instead of elements: the type as it lies in the file. */
static int in_file(MPI_Datatype type, unsigned int depth, MPI_Datatype *out)
{
	MPI_Datatype *types;
	struct contents c;
	int ret = depth > NEST_MAX ? -E2BIG : contents_get(type, &c), bytes;
	MPI_Count i;

	if (ret)
		return ret;
	if (is_named(c.combiner)) {
		ret = named_bytes(type, &bytes);
		return !ret && PMPI_Type_contiguous(bytes, MPI_BYTE, out) ? -ENOMEM : ret;
	}
	types = calloc((size_t)c.ntypes + 1, sizeof(*types));
	for (i = 0; types && i < c.ntypes; i++)
		types[i] = MPI_DATATYPE_NULL;
	ret = types ? constructed(&c, depth, types, out) : -ENOMEM;
	types_drop(&c, types);
	contents_drop(&c);
	return ret;
}

int external_type(MPI_Datatype type, MPI_Datatype *out)
{
	*out = MPI_DATATYPE_NULL;
	return in_file(type, 0, out);
}

/* Bytes of an element in the file. */
static int64_t size_of(MPI_Datatype type)
{
	MPI_Datatype file = MPI_DATATYPE_NULL;
	MPI_Count size = 0;
	int ret, bytes = 0;

	if (type_named(type)) {
		ret = named_bytes(type, &bytes);
		return ret ? ret : bytes;
	}
	ret = external_type(type, &file);
	if (ret)
		return ret;
	PMPI_Type_size_x(file, &size);
	PMPI_Type_free(&file);
	return size;
}

int external_of(bool write, const void *buf, MPI_Count count, MPI_Datatype type,
		struct mpiio_memory *m)
{
	MPI_Aint at = 0;
	int64_t one = count > INT32_MAX ? -EOVERFLOW : size_of(type), size;

	*m = (struct mpiio_memory){ .packed = true };
	if (one < 0)
		return (int)one;
	if (__builtin_mul_overflow(one, count, &size))
		return -EOVERFLOW;
	m->element = (uint64_t)one;
	m->buf = m->staging = malloc(size ? (size_t)size : 1);
	if (!m->buf)
		return -ENOMEM;
	m->len = (uint64_t)size;
	if (write && PMPI_Pack_external(REPRESENTATION, buf, (int)count, type, m->buf, size, &at))
		return -EINVAL;
	return at == (write ? size : 0) ? 0 : -EINVAL;
}

uint64_t external_taken(const struct mpiio_memory *m, uint64_t bytes, void *buf, MPI_Datatype type)
{
	MPI_Count size = 0;
	MPI_Aint at = 0;
	int n = m->element ? (int)(bytes / m->element) : 0;

	PMPI_Type_size_x(type, &size);
	if (buf && n)
		PMPI_Unpack_external(REPRESENTATION, m->staging, (MPI_Aint)bytes, &at, buf, n,
				     type);
	return (uint64_t)n * (uint64_t)size;
}

int external_extent(MPI_Datatype type, MPI_Aint *extent)
{
	MPI_Datatype file;
	MPI_Aint lb;
	int ret = external_type(type, &file);

	if (ret)
		return ret;
	PMPI_Type_get_extent(file, &lb, extent);
	PMPI_Type_free(&file);
	return 0;
}
