// SPDX-License-Identifier: GPL-2.0-only
/*
 * darray - writes a matrix of doubles that is dealt to the processes in two dimensions, (BLOCK, CYCLIC), and reads it back.
 *
 *   mpicc -o darray darray.c
 *   ddio mpi mpiexec -n 4 ./darray /mnt/data/matrix
 *
 * Nothing in it is ddio's: with another path it is an MPI program like others.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 512
#define COLUMNS 512

static int check(int code, const char *what)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;

	if (code == MPI_SUCCESS)
		return 0;
	MPI_Error_string(code, text, &len);
	fprintf(stderr, "darray: %s: %s\n", what, text);
	return 1;
}

/* This process's part of the matrix, as a file type. */
static MPI_Datatype part_of(int rank, int nprocs)
{
	int sizes[2] = { ROWS, COLUMNS }, grid[2] = { 0, 0 };
	int how[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC };
	int args[2] = { MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG };
	MPI_Datatype type;

	MPI_Dims_create(nprocs, 2, grid);
	MPI_Type_create_darray(nprocs, rank, 2, sizes, how, args, grid, MPI_ORDER_C, MPI_DOUBLE,
			       &type);
	MPI_Type_commit(&type);
	return type;
}

static int write_and_read(const char *path, MPI_Datatype part, double *mine, double *back, int n)
{
	MPI_File file;
	int bad;

	if (check(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
				MPI_INFO_NULL, &file),
		  path))
		return 1;
	bad = check(MPI_File_set_view(file, 0, MPI_DOUBLE, part, "native", MPI_INFO_NULL), "view");
	if (!bad)
		bad = check(MPI_File_write_all(file, mine, n, MPI_DOUBLE, MPI_STATUS_IGNORE),
			    "write");
	if (!bad)
		bad = check(MPI_File_read_at_all(file, 0, back, n, MPI_DOUBLE, MPI_STATUS_IGNORE),
			    "read");
	MPI_File_close(&file);
	return bad;
}

int main(int argc, char **argv)
{
	int rank, nprocs, size, n, i, bad = 1;
	double *mine, *back;
	MPI_Datatype part;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
	part = part_of(rank, nprocs);
	MPI_Type_size(part, &size);
	n = size / (int)sizeof(double);
	mine = malloc((size_t)size + 1);
	back = calloc(1, (size_t)size + 1);
	if (argc == 2 && mine && back) {
		for (i = 0; i < n; i++)
			mine[i] = rank + i / 1e6;
		bad = write_and_read(argv[1], part, mine, back, n) ||
		      memcmp(mine, back, (size_t)size);
	}
	if (!rank)
		printf(bad ? "usage: darray FILE, or the matrix differs\n"
			   : "%d x %d doubles written and read\n",
		       ROWS, COLUMNS);
	free(mine);
	free(back);
	MPI_Type_free(&part);
	MPI_Finalize();
	return bad;
}
