// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrays that are dealt out by MPI_Type_create_darray and _subarray, against an owner that is computed
 * element by element: the file must hold 0, 1, 2... when each rank has written its own elements' places.
 */
#include "tests/mpiio/functions/functions.h"
#include <stdlib.h>
#include <string.h>

enum { DIMS = 3 };

struct dealt_array {
	int ndims, order;
	int size[DIMS], dist[DIMS], arg[DIMS], procs[DIMS];
};

static int elements(const struct dealt_array *a)
{
	int i, n = 1;

	for (i = 0; i < a->ndims; i++)
		n *= a->size[i];
	return n;
}

/* The coordinates of an element by its place in the file. */
static void coordinates(const struct dealt_array *a, int place, int c[DIMS])
{
	int i, d;

	for (i = 0; i < a->ndims; i++) {
		d = a->order == MPI_ORDER_C ? a->ndims - 1 - i : i;
		c[d] = place % a->size[d];
		place /= a->size[d];
	}
}

static int owner_in(const struct dealt_array *a, int d, int c)
{
	int arg = a->arg[d];

	switch (a->dist[d]) {
	case MPI_DISTRIBUTE_BLOCK:
		if (arg == MPI_DISTRIBUTE_DFLT_DARG)
			arg = (a->size[d] + a->procs[d] - 1) / a->procs[d];
		return c / arg;
	case MPI_DISTRIBUTE_CYCLIC:
		return c / (arg == MPI_DISTRIBUTE_DFLT_DARG ? 1 : arg) % a->procs[d];
	default:
		return 0;
	}
}

/* The grid of ranks is in C's order, whatever the array's. */
static int owner(const struct dealt_array *a, int place)
{
	int c[DIMS], d, rank = 0;

	coordinates(a, place, c);
	for (d = 0; d < a->ndims; d++)
		rank = rank * a->procs[d] + owner_in(a, d, c[d]);
	return rank;
}

/* The places of this rank's elements, in the file's order; returns how many. */
static int places(const struct dealt_array *a, int *place)
{
	int i, n = 0, all = elements(a);

	for (i = 0; i < all; i++) {
		if (owner(a, i) == tst.rank)
			place[n++] = i;
	}
	return n;
}

static void set_array_view(MPI_File fh, const struct dealt_array *a)
{
	MPI_Datatype t;

	MPI_Type_create_darray(tst.size, tst.rank, a->ndims, a->size, a->dist, a->arg, a->procs,
			       a->order, MPI_INT, &t);
	MPI_Type_commit(&t);
	OK(MPI_File_set_view(fh, 40, MPI_INT, t, "native", MPI_INFO_NULL));
	MPI_Type_free(&t);
}

/* Written as one array, read as the other, by which the same elements are dealt in another way. */
static void try_arrays(const struct dealt_array *out, const struct dealt_array *in)
{
	MPI_File fh = tst_create(".array");
	int all = elements(out), i, n;
	int *v = malloc(all * sizeof(*v)), *w = malloc(all * sizeof(*w));
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		goto out;
	set_array_view(fh, out);
	n = places(out, v);
	OK(MPI_File_write_all(fh, v, n, MPI_INT, &status));
	tst_count(&status, MPI_INT, n, "written");
	tst_sync(fh);
	OK(MPI_File_set_view(fh, 40, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	OK(MPI_File_read_at_all(fh, 0, w, all, MPI_INT, MPI_STATUS_IGNORE));
	for (i = 0; i < all; i++)
		CHECK(w[i] == i, "element %d is %d", i, w[i]);
	set_array_view(fh, in);
	n = places(in, v);
	memset(w, 0, all * sizeof(*w));
	OK(MPI_File_read_all(fh, w, n, MPI_INT, &status));
	tst_count(&status, MPI_INT, n, "read");
	for (i = 0; i < n; i++)
		CHECK(w[i] == v[i], "my element %d is %d, not %d", i, w[i], v[i]);
	tst_close(&fh);
out:
	free(v);
	free(w);
}

/* The number of ranks in a row of a grid of two dimensions. */
static int wide(void)
{
	int dims[2] = { 0, 0 };

	MPI_Dims_create(tst.size, 2, dims);
	return dims[1];
}

static void block_and_cyclic(int order)
{
	int w = wide(), dflt = MPI_DISTRIBUTE_DFLT_DARG;
	struct dealt_array out = { 2,		order,
				   { 13, 17 },	{ MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC },
				   { dflt, 3 }, { tst.size / w, w } };
	struct dealt_array in = { 2,
				  order,
				  { 13, 17 },
				  { MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK },
				  { dflt, dflt },
				  { w, tst.size / w } };

	try_arrays(&out, &in);
}

static void two_c(void)
{
	block_and_cyclic(MPI_ORDER_C);
}

static void two_fortran(void)
{
	block_and_cyclic(MPI_ORDER_FORTRAN);
}

static void one_dimension(void)
{
	int dflt = MPI_DISTRIBUTE_DFLT_DARG;
	struct dealt_array out = { 1,	     MPI_ORDER_C, { 101 }, { MPI_DISTRIBUTE_BLOCK },
				   { dflt }, { tst.size } };
	struct dealt_array in = { 1,	 MPI_ORDER_C, { 101 }, { MPI_DISTRIBUTE_CYCLIC },
				  { 7 }, { tst.size } };

	try_arrays(&out, &in);
}

static void three_dimensions(int order)
{
	int w = wide(), dflt = MPI_DISTRIBUTE_DFLT_DARG;
	struct dealt_array out = { 3,
				   order,
				   { 7, 6, 5 },
				   { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE,
				     MPI_DISTRIBUTE_BLOCK },
				   { dflt, dflt, dflt },
				   { tst.size / w, 1, w } };
	struct dealt_array in = { 3,
				  order,
				  { 7, 6, 5 },
				  { MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC,
				    MPI_DISTRIBUTE_NONE },
				  { 2, dflt, dflt },
				  { w, tst.size / w, 1 } };

	try_arrays(&out, &in);
}

static void three_c(void)
{
	three_dimensions(MPI_ORDER_C);
}

static void three_fortran(void)
{
	three_dimensions(MPI_ORDER_FORTRAN);
}

/* More ranks than blocks: some have nothing. */
static void few_elements(void)
{
	int dflt = MPI_DISTRIBUTE_DFLT_DARG;
	struct dealt_array out = { 1,	  MPI_ORDER_C, { 5 }, { MPI_DISTRIBUTE_BLOCK },
				   { 5 }, { tst.size } };
	struct dealt_array in = { 1,	    MPI_ORDER_C, { 5 }, { MPI_DISTRIBUTE_CYCLIC },
				  { dflt }, { tst.size } };

	try_arrays(&out, &in);
}

/* Slabs of a box in either order, in memory with a border that is not written. */
static void box(int order)
{
	int size[3] = { 4, 6, 5 }, slab[3] = { 4, 6, 5 }, at[3] = { 0, 0, 0 };
	int padded[3], inner[3] = { 1, 1, 1 }, i, n = 4 * 6 * 5, all, d = 1, *v, *w;
	MPI_Datatype file, mem;
	MPI_File fh = tst_create(".box");

	size[d] *= tst.size;
	at[d] = slab[d] * tst.rank;
	for (i = 0; i < 3; i++)
		padded[i] = slab[i] + 2;
	all = padded[0] * padded[1] * padded[2];
	v = malloc(all * sizeof(*v));
	w = malloc(all * sizeof(*w));
	MPI_Type_create_subarray(3, size, slab, at, order, MPI_INT, &file);
	MPI_Type_create_subarray(3, padded, slab, inner, order, MPI_INT, &mem);
	MPI_Type_commit(&file);
	MPI_Type_commit(&mem);
	if (fh != MPI_FILE_NULL) {
		for (i = 0; i < all; i++)
			v[i] = 10000 * tst.rank + i;
		OK(MPI_File_set_view(fh, 0, MPI_INT, file, "native", MPI_INFO_NULL));
		OK(MPI_File_write_all(fh, v, 1, mem, MPI_STATUS_IGNORE));
		memset(w, 0xff, all * sizeof(*w));
		OK(MPI_File_read_at_all(fh, 0, w, 1, mem, MPI_STATUS_IGNORE));
		for (i = 0; i < all; i++)
			n -= w[i] == v[i];
		CHECK(!n, "%d elements of the slab are missing", n);
		for (i = 0; i < all; i++)
			CHECK(w[i] == v[i] || w[i] == -1, "element %d is %d", i, w[i]);
		tst_close(&fh);
	}
	MPI_Type_free(&file);
	MPI_Type_free(&mem);
	free(v);
	free(w);
}

static void box_c(void)
{
	box(MPI_ORDER_C);
}

static void box_fortran(void)
{
	box(MPI_ORDER_FORTRAN);
}

void arrays_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "arrays/one", one_dimension },
		{ "arrays/two_c", two_c },
		{ "arrays/two_fortran", two_fortran },
		{ "arrays/three_c", three_c },
		{ "arrays/three_fortran", three_fortran },
		{ "arrays/few", few_elements },
		{ "arrays/box_c", box_c },
		{ "arrays/box_fortran", box_fortran },
	};

	CASES(cases);
}
