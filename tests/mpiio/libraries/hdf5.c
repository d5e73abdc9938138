// SPDX-License-Identifier: GPL-2.0-only
/* hdf5 [--ddio] FILE: datasets written by all ranks, and verified after the file is opened again. */
#include "tests/mpiio/common.h"
#include <hdf5.h>
#include <stdlib.h>

enum { ROWS = 60, COLS = 12 };

static bool collective_metadata;

static hid_t access_list(void)
{
	hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);

	H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
	H5Pset_coll_metadata_write(fapl, collective_metadata);
	H5Pset_all_coll_metadata_ops(fapl, collective_metadata);
	return fapl;
}

static hid_t create_file(void)
{
	hid_t fapl = access_list(), file;

	file = H5Fcreate(tst_file(".h5"), H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
	H5Pclose(fapl);
	CHECK(file >= 0, "H5Fcreate");
	return file;
}

static hid_t open_file(void)
{
	hid_t fapl = access_list(), file;

	file = H5Fopen(tst_file(".h5"), H5F_ACC_RDONLY, fapl);
	H5Pclose(fapl);
	CHECK(file >= 0, "H5Fopen");
	return file;
}

static hid_t transfer_list(bool together)
{
	hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);

	H5Pset_dxpl_mpio(dxpl, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
	return dxpl;
}

/* A matrix of ROWS times the ranks by COLS times the ranks. */
static hid_t matrix_space(void)
{
	hsize_t dims[2] = { ROWS, (hsize_t)COLS * tst.size };

	return H5Screate_simple(2, dims, NULL);
}

static double element(hsize_t row, hsize_t col)
{
	return 1000.0 * (double)row + (double)col;
}

/* This rank's share of the matrix: a block of columns, or every so many rows. */
static void select_share(hid_t space, bool by_columns)
{
	hsize_t size = tst.size, rank = tst.rank;
	hsize_t start[2] = { by_columns ? 0 : rank, by_columns ? rank * COLS : 0 };
	hsize_t stride[2] = { by_columns ? 1 : size, 1 };
	hsize_t count[2] = { by_columns ? ROWS : (ROWS - rank + size - 1) / size,
			     by_columns ? COLS : COLS * size };

	CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL) >= 0,
	      "H5Sselect_hyperslab");
}

/* Writes or verifies a share of a dataset. */
static void transfer(hid_t set, bool writing, bool by_columns, bool together)
{
	hid_t space = matrix_space(), mem, dxpl = transfer_list(together);
	hsize_t n, i, width = by_columns ? COLS : (hsize_t)COLS * tst.size, row, col;
	double *v;

	select_share(space, by_columns);
	n = (hsize_t)H5Sget_select_npoints(space);
	v = calloc(n, sizeof(*v));
	mem = H5Screate_simple(1, &n, NULL);
	if (!writing)
		CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, mem, space, dxpl, v) >= 0, "H5Dread");
	for (i = 0; i < n; i++) {
		row = by_columns ? i / width : i / width * tst.size + tst.rank;
		col = by_columns ? (hsize_t)tst.rank * COLS + i % width : i % width;
		if (writing)
			v[i] = element(row, col);
		else
			CHECK(v[i] == element(row, col), "element %d,%d is %g", (int)row, (int)col,
			      v[i]);
	}
	if (writing)
		CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, mem, space, dxpl, v) >= 0, "H5Dwrite");
	free(v);
	H5Sclose(mem);
	H5Sclose(space);
	H5Pclose(dxpl);
}

static void write_matrix(hid_t file, const char *name, hid_t dcpl, bool together)
{
	hid_t space = matrix_space(), set;

	set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
	CHECK(set >= 0, "H5Dcreate2 %s", name);
	transfer(set, true, true, together);
	H5Dclose(set);
	H5Sclose(space);
}

static void read_matrix(hid_t file, const char *name)
{
	hid_t set = H5Dopen2(file, name, H5P_DEFAULT);

	CHECK(set >= 0, "H5Dopen2 %s", name);
	transfer(set, false, false, true);
	transfer(set, false, true, false);
	H5Dclose(set);
}

static void contiguous(void)
{
	hid_t file = create_file();

	write_matrix(file, "together", H5P_DEFAULT, true);
	write_matrix(file, "alone", H5P_DEFAULT, false);
	CHECK(H5Fclose(file) >= 0, "H5Fclose");
	file = open_file();
	read_matrix(file, "together");
	read_matrix(file, "alone");
	CHECK(H5Fclose(file) >= 0, "H5Fclose");
}

/* Chunks that belong to more than one rank. */
static void chunked(void)
{
	hsize_t chunk[2] = { 7, 10 };
	hid_t file = create_file(), dcpl = H5Pcreate(H5P_DATASET_CREATE);

	H5Pset_chunk(dcpl, 2, chunk);
	write_matrix(file, "chunked", dcpl, true);
	H5Pclose(dcpl);
	CHECK(H5Fclose(file) >= 0, "H5Fclose");
	file = open_file();
	read_matrix(file, "chunked");
	CHECK(H5Fclose(file) >= 0, "H5Fclose");
}

/* Groups and attributes, and a dataset that all ranks make larger. */
static void structure(void)
{
	enum { SETS = 10 };
	hid_t file = create_file(), group, space, attr;
	char name[16];
	int i, v;

	group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	space = H5Screate(H5S_SCALAR);
	for (i = 0; i < SETS; i++) {
		name[0] = (char)('a' + i);
		name[1] = 0;
		attr = H5Acreate2(group, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
		CHECK(H5Awrite(attr, H5T_NATIVE_INT, &i) >= 0, "H5Awrite");
		H5Aclose(attr);
		write_matrix(group, name, H5P_DEFAULT, true);
	}
	H5Sclose(space);
	H5Gclose(group);
	CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "H5Fflush");
	CHECK(H5Fclose(file) >= 0, "H5Fclose");
	file = open_file();
	group = H5Gopen2(file, "group", H5P_DEFAULT);
	for (i = 0; i < SETS; i++) {
		name[0] = (char)('a' + i);
		name[1] = 0;
		attr = H5Aopen(group, name, H5P_DEFAULT);
		v = -1;
		CHECK(H5Aread(attr, H5T_NATIVE_INT, &v) >= 0 && v == i, "attribute %d is %d", i, v);
		H5Aclose(attr);
		read_matrix(group, name);
	}
	H5Gclose(group);
	CHECK(H5Fclose(file) >= 0, "H5Fclose");
}

static void extended(void)
{
	hsize_t dims = 0, most = H5S_UNLIMITED, chunk = 100, mine = 50, start, i;
	hid_t file = create_file(), dcpl = H5Pcreate(H5P_DATASET_CREATE), space, mem, set, dxpl;
	int v[50];

	H5Pset_chunk(dcpl, 1, &chunk);
	space = H5Screate_simple(1, &dims, &most);
	set = H5Dcreate2(file, "growing", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
	H5Sclose(space);
	H5Pclose(dcpl);
	mem = H5Screate_simple(1, &mine, NULL);
	dxpl = transfer_list(true);
	for (dims = mine * tst.size; dims <= 3 * mine * tst.size; dims += mine * tst.size) {
		CHECK(H5Dset_extent(set, &dims) >= 0, "H5Dset_extent");
		space = H5Dget_space(set);
		start = dims - mine * (tst.rank + 1);
		H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &mine, NULL);
		for (i = 0; i < mine; i++)
			v[i] = (int)(start + i);
		CHECK(H5Dwrite(set, H5T_NATIVE_INT, mem, space, dxpl, v) >= 0, "H5Dwrite");
		H5Sclose(space);
	}
	H5Dclose(set);
	CHECK(H5Fclose(file) >= 0, "H5Fclose");
	file = open_file();
	set = H5Dopen2(file, "growing", H5P_DEFAULT);
	space = H5Dget_space(set);
	start = mine * tst.rank + mine * tst.size;
	H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &mine, NULL);
	CHECK(H5Dread(set, H5T_NATIVE_INT, mem, space, dxpl, v) >= 0, "H5Dread");
	for (i = 0; i < mine; i++)
		CHECK(v[i] == (int)(start + i), "element %d is %d", (int)(start + i), v[i]);
	H5Sclose(space);
	H5Sclose(mem);
	H5Pclose(dxpl);
	H5Dclose(set);
	CHECK(H5Fclose(file) >= 0, "H5Fclose");
}

int main(int argc, char **argv)
{
	static const struct mpiio_case plain[] = { { "hdf5/contiguous", contiguous },
						   { "hdf5/chunked", chunked },
						   { "hdf5/structure", structure },
						   { "hdf5/extended", extended } };
	static const struct mpiio_case together[] = { { "hdf5/metadata/contiguous", contiguous },
						      { "hdf5/metadata/chunked", chunked },
						      { "hdf5/metadata/structure", structure },
						      { "hdf5/metadata/extended", extended } };

	tst_begin(argc, argv);
	tst_run(plain, 4);
	collective_metadata = true;
	tst_run(together, 4);
	return tst_finish();
}
