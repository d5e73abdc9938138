// SPDX-License-Identifier: GPL-2.0-only
/*
 * speed FILE RECORD BYTES [HINT=VALUE...]: how fast an MPI program writes and reads an array of records in the papers'
 * distributions (TOCS 1997, section 4: NONE, BLOCK, CYCLIC in each dimension), by collective calls.  The file is there
 * already, and what is written overwrites it.  Rank 0 prints a line for each: "PATTERN write|read MB/s".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, nprocs;

/* Dimensions of the array: of one, or of two that are as equal as can be. */
static void shape_of(long records, int ndims, int *sizes)
{
	int low = 1, i;

	for (i = 1; ndims == 2 && (long)i * i <= records; i++)
		if (!(records % i))
			low = i;
	sizes[0] = ndims == 2 ? (int)(records / low) : (int)records;
	sizes[1] = low;
}

static int how_of(char c)
{
	return c == 'b'	  ? MPI_DISTRIBUTE_BLOCK
	       : c == 'c' ? MPI_DISTRIBUTE_CYCLIC
			  : MPI_DISTRIBUTE_NONE;
}

static MPI_Datatype part_of(const char *pattern, int record, long bytes)
{
	int ndims = (int)strlen(pattern), sizes[2], how[2], args[2], grid[2], i;
	MPI_Datatype element, part;

	shape_of(bytes / record, ndims, sizes);
	for (i = 0; i < ndims; i++) {
		how[i] = how_of(pattern[i]);
		args[i] = MPI_DISTRIBUTE_DFLT_DARG;
		grid[i] = how[i] == MPI_DISTRIBUTE_NONE ? 1 : 0;
	}
	MPI_Dims_create(nprocs, ndims, grid);
	MPI_Type_contiguous(record, MPI_BYTE, &element);
	MPI_Type_create_darray(nprocs, rank, ndims, sizes, how, args, grid, MPI_ORDER_C, element,
			       &part);
	MPI_Type_commit(&part);
	MPI_Type_free(&element);
	return part;
}

static void must(int code, const char *what)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;

	if (code == MPI_SUCCESS)
		return;
	MPI_Error_string(code, text, &len);
	fprintf(stderr, "speed: %s: %s\n", what, text);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* From the moment at which all are there to that at which all are done. */
static double timed(MPI_File file, int write, void *buf, int n)
{
	double t;

	MPI_Barrier(MPI_COMM_WORLD);
	t = MPI_Wtime();
	must(write ? MPI_File_write_at_all(file, 0, buf, n, MPI_BYTE, MPI_STATUS_IGNORE)
		   : MPI_File_read_at_all(file, 0, buf, n, MPI_BYTE, MPI_STATUS_IGNORE),
	     write ? "write" : "read");
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Wtime() - t;
}

/* The first of each is not counted: it makes the file, and what the MPI keeps. */
static void measure(MPI_File file, const char *pattern, int record, long bytes)
{
	MPI_Datatype part = part_of(pattern, record, bytes);
	double write, read;
	char *buf;
	int n;

	MPI_Type_size(part, &n);
	buf = malloc((size_t)n + 1);
	if (!buf)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(buf, rank + 1, (size_t)n);
	must(MPI_File_set_view(file, 0, MPI_BYTE, part, "native", MPI_INFO_NULL), "view");
	timed(file, 1, buf, n);
	write = timed(file, 1, buf, n);
	timed(file, 0, buf, n);
	read = timed(file, 0, buf, n);
	if (!rank)
		printf("%s write %.1f\n%s read %.1f\n", pattern, (double)bytes / 1e6 / write,
		       pattern, (double)bytes / 1e6 / read);
	free(buf);
	MPI_Type_free(&part);
}

int main(int argc, char **argv)
{
	static const char *const patterns[] = { "b",  "c",  "nb", "nc", "bn",
						"cn", "bb", "bc", "cb", "cc" };
	MPI_Info info;
	MPI_File file;
	size_t i;
	int a;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
	if (argc < 4) {
		fprintf(stderr, "usage: speed FILE RECORD BYTES [HINT=VALUE...]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	MPI_Info_create(&info);
	for (a = 4; a < argc; a++) {
		char *equals = strchr(argv[a], '=');

		if (equals)
			*equals = '\0';
		MPI_Info_set(info, argv[a], equals ? equals + 1 : "");
	}
	must(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file),
	     argv[1]);
	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		measure(file, patterns[i], atoi(argv[2]), atol(argv[3]));
	MPI_File_close(&file);
	MPI_Info_free(&info);
	MPI_Finalize();
	return 0;
}
