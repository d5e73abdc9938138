// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Data in the file in another representation than in memory (MPI 4.0, section 14.5): what types become there, and a buffer in
 * which data are converted.
 */
#include <errno.h>
#include <stdlib.h>
#include "mpiio/data/contents.h"
#include "mpiio/data/data.h"
#include "mpiio/data/represent.h"

#define NEST_MAX 1000 /* as types.c has it */

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

static int in_file(const struct mpiio_rep *rep, MPI_Datatype type, unsigned int depth,
		   MPI_Datatype *out);

/* Entries of the same type become one type again. */
static int constructed(const struct mpiio_rep *rep, const struct contents *c, unsigned int depth,
		       MPI_Datatype *types, MPI_Datatype *out)
{
	MPI_Count i;
	int ret;

	if (c->ncounts)
		return -EOPNOTSUPP;
	for (i = 0; i < c->ntypes; i++) {
		bool again = i && c->types[i] == c->types[i - 1];

		ret = again ? 0 : in_file(rep, c->types[i], depth + 1, &types[i]);
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
static int in_file(const struct mpiio_rep *rep, MPI_Datatype type, unsigned int depth,
		   MPI_Datatype *out)
{
	MPI_Datatype *types;
	struct contents c;
	int ret = depth > NEST_MAX ? -E2BIG : contents_get(type, &c), bytes;
	MPI_Count i;

	if (ret)
		return ret;
	if (is_named(c.combiner)) {
		ret = rep->bytes(rep, type, &bytes);
		return !ret && PMPI_Type_contiguous(bytes, MPI_BYTE, out) ? -ENOMEM : ret;
	}
	types = calloc((size_t)c.ntypes + 1, sizeof(*types));
	for (i = 0; types && i < c.ntypes; i++)
		types[i] = MPI_DATATYPE_NULL;
	ret = types ? constructed(rep, &c, depth, types, out) : -ENOMEM;
	types_drop(&c, types);
	contents_drop(&c);
	return ret;
}

int rep_type(const struct mpiio_rep *rep, MPI_Datatype type, MPI_Datatype *out)
{
	*out = MPI_DATATYPE_NULL;
	return in_file(rep, type, 0, out);
}

int64_t rep_size(const struct mpiio_rep *rep, MPI_Datatype type)
{
	MPI_Datatype file = MPI_DATATYPE_NULL;
	MPI_Count size = 0;
	int ret, bytes = 0;

	if (type_named(type)) {
		ret = rep->bytes(rep, type, &bytes);
		return ret ? ret : bytes;
	}
	ret = rep_type(rep, type, &file);
	if (ret)
		return ret;
	PMPI_Type_size_x(file, &size);
	PMPI_Type_free(&file);
	return size;
}

/* Nothing is converted: elements have the same size in the file. */
static int rep_plain(void *buf, MPI_Count count, MPI_Datatype type, uint64_t size,
		     struct mpiio_memory *m)
{
	int ret = memory_of(buf, count, type, m);

	return ret || m->len == size ? ret : -EILSEQ;
}

int rep_make(const struct mpiio_rep *rep, bool write, void *buf, MPI_Count count, MPI_Datatype type,
	     struct mpiio_memory *m)
{
	int64_t one = rep_size(rep, type), size;

	*m = (struct mpiio_memory){ .packed = true };
	if (one < 0)
		return (int)one;
	if (__builtin_mul_overflow(one, count, &size))
		return -EOVERFLOW;
	if (write ? !rep->pack : !rep->unpack)
		return rep_plain(buf, count, type, (uint64_t)size, m);
	m->element = (uint64_t)one;
	m->buf = m->staging = malloc(size ? (size_t)size : 1);
	if (!m->buf)
		return -ENOMEM;
	m->len = (uint64_t)size;
	return write && size ? rep->pack(rep, buf, count, type, m->buf, size) : 0;
}

int64_t rep_taken(const struct mpiio_rep *rep, const struct mpiio_memory *m, uint64_t bytes,
		  void *buf, MPI_Datatype type)
{
	MPI_Count size = 0, n = m->element ? (MPI_Count)(bytes / m->element) : 0;
	int ret = 0;

	PMPI_Type_size_x(type, &size);
	if (buf && n)
		ret = rep->unpack(rep, m->staging, (MPI_Count)((uint64_t)n * m->element), buf, n,
				  type);
	return ret ? ret : n * size;
}

int rep_extent(const struct mpiio_rep *rep, MPI_Datatype type, MPI_Aint *extent)
{
	MPI_Datatype file;
	MPI_Aint lb;
	int ret = rep_type(rep, type, &file);

	if (ret)
		return ret;
	PMPI_Type_get_extent(file, &lb, extent);
	PMPI_Type_free(&file);
	return 0;
}
