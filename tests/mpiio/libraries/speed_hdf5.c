// SPDX-License-Identifier: GPL-2.0-only
/*
 * speed_hdf5 FILE BYTES [HINT=VALUE...]: how fast HDF5 writes and reads a matrix of doubles by collective calls, distributed
 * (BLOCK, CYCLIC), "hbc", and in columns of one element, "hnc".  Rank 0 prints "hbc write MB/s", "hbc cold MB/s" (the kernel's
 * pages of the file have been dropped), "hbc hot MB/s".
 */
#include <hdf5.h>
#include "tests/mpiio/speed.h"

enum { COLUMNS = 1024 };

/* What this process has: rows one after the other, of the columns each @step-th from @first on. */
static hid_t part_of(hid_t space, const int *grid, hsize_t rows, hsize_t *elements)
{
	hsize_t row = (hsize_t)(rank / grid[1]), column = (hsize_t)(rank % grid[1]);
	hsize_t each = rows / (hsize_t)grid[0], step = (hsize_t)grid[1];
	hsize_t start[2] = { row * each, column };
	hsize_t stride[2] = { 1, step }, count[2] = { each, COLUMNS / step };

	H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
	*elements = count[0] * count[1];
	return H5Screate_simple(1, elements, NULL);
}

struct speed_set {
	hid_t file, set, memory, space, how;
	const char *name;
	double *buf;
	int write;
};

static void call(void *arg)
{
	const struct speed_set *s = arg;
	herr_t err;

	err = s->write ? H5Dwrite(s->set, H5T_NATIVE_DOUBLE, s->memory, s->space, s->how, s->buf)
		       : H5Dread(s->set, H5T_NATIVE_DOUBLE, s->memory, s->space, s->how, s->buf);
	if (err < 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static void chill(void *arg)
{
	const struct speed_set *s = arg;

	H5Fflush(s->file, H5F_SCOPE_GLOBAL);
	speed_drop_pages(s->name);
}

/* The first of each kind is not counted. */
static void measure(hid_t file, const char *name, const char *pattern, const int *grid,
		    hsize_t rows)
{
	hsize_t dims[2] = { rows, COLUMNS }, elements, bytes = rows * COLUMNS * sizeof(double), i;
	struct speed_set s = { .file = file, .name = name, .write = 1 };

	s.space = H5Screate_simple(2, dims, NULL);
	s.how = H5Pcreate(H5P_DATASET_XFER);
	s.set = H5Dcreate2(file, pattern, H5T_NATIVE_DOUBLE, s.space, H5P_DEFAULT, H5P_DEFAULT,
			   H5P_DEFAULT);
	s.memory = part_of(s.space, grid, rows, &elements);
	s.buf = malloc(elements * sizeof(*s.buf));
	if (s.set < 0 || !s.buf)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (i = 0; i < elements; i++)
		s.buf[i] = rank + 1;
	H5Pset_dxpl_mpio(s.how, H5FD_MPIO_COLLECTIVE);
	call(&s);
	speed_say(pattern, "write", (double)bytes, speed_timed(NULL, call, &s));
	s.write = 0;
	call(&s);
	speed_say(pattern, "cold", (double)bytes, speed_timed(chill, call, &s));
	speed_say(pattern, "hot", (double)bytes, speed_timed(NULL, call, &s));
	free(s.buf);
	H5Dclose(s.set);
	H5Sclose(s.memory);
	H5Sclose(s.space);
	H5Pclose(s.how);
}

int main(int argc, char **argv)
{
	int grid[2] = { 0, 0 }, columns[2] = { 1, 0 };
	hid_t access, file;
	MPI_Info info;
	hsize_t rows;

	speed_begin(&argc, &argv);
	if (argc < 3 || COLUMNS % nprocs) {
		fprintf(stderr,
			"usage: speed_hdf5 FILE BYTES [HINT=VALUE...], on 2, 4, 8 ... processes\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	info = speed_hints(argc, argv, 3);
	MPI_Dims_create(nprocs, 2, grid);
	columns[1] = nprocs;
	rows = (hsize_t)(atol(argv[2]) / (long)(COLUMNS * sizeof(double)) / grid[0] * grid[0]);
	access = H5Pcreate(H5P_FILE_ACCESS);
	H5Pset_fapl_mpio(access, MPI_COMM_WORLD, info);
	file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
	if (file < 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	measure(file, argv[1], "hbc", grid, rows);
	measure(file, argv[1], "hnc", columns, rows);
	H5Fclose(file);
	H5Pclose(access);
	MPI_Info_free(&info);
	MPI_Finalize();
	return 0;
}
