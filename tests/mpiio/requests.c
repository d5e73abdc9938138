// SPDX-License-Identifier: GPL-2.0-only
/*
 * requests FILE NUMBER BYTES: what nonblocking transfers of BYTES bytes each cost, of which every process has NUMBER under way at
 * once: microseconds each, from the first to the end of MPI_Waitall(), collective ones ("all") and those of each process ("own").
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_File file;
static MPI_Request *request;
static char *buf;
static int rank, nprocs, number, len;

static void must(int code, const char *what)
{
	char text[MPI_MAX_ERROR_STRING];
	int n;

	if (code == MPI_SUCCESS)
		return;
	MPI_Error_string(code, text, &n);
	fprintf(stderr, "requests: %s: %s\n", what, text);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int start(int i, int all, int writing)
{
	MPI_Offset at = ((MPI_Offset)i * nprocs + rank) * len;
	char *mine = buf + (size_t)i * (size_t)len;

	if (writing)
		return (all ? MPI_File_iwrite_at_all : MPI_File_iwrite_at)(file, at, mine, len,
									   MPI_BYTE, &request[i]);
	return (all ? MPI_File_iread_at_all : MPI_File_iread_at)(file, at, mine, len, MPI_BYTE,
								 &request[i]);
}

static void measure(int all, int writing)
{
	double took, most;
	int i;

	MPI_Barrier(MPI_COMM_WORLD);
	took = -MPI_Wtime();
	for (i = 0; i < number; i++)
		must(start(i, all, writing), "start");
	must(MPI_Waitall(number, request, MPI_STATUSES_IGNORE), "wait");
	took += MPI_Wtime();
	MPI_Reduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("%s %s: %.1f\n", all ? "all" : "own", writing ? "write" : "read",
		       most * 1e6 / number);
}

static void run(int all)
{
	size_t size = (size_t)number * (size_t)len, i;

	memset(buf, rank + 1, size);
	measure(all, 1);
	memset(buf, 0, size);
	measure(all, 0);
	for (i = 0; i < size; i++)
		if (buf[i] != (char)(rank + 1))
			must(MPI_ERR_IO, "what was read is not what was written");
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
	number = argc > 3 ? atoi(argv[2]) : 0;
	len = argc > 3 ? atoi(argv[3]) : 0;
	if (number < 1 || len < 1) {
		fprintf(stderr, "usage: requests FILE NUMBER BYTES\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	request = calloc((size_t)number, sizeof(MPI_Request));
	buf = malloc((size_t)number * (size_t)len);
	if (!request || !buf)
		MPI_Abort(MPI_COMM_WORLD, 1);
	must(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			   &file),
	     "open");
	must(MPI_File_set_size(file, (MPI_Offset)number * len * nprocs), "set_size");
	run(1);
	run(0);
	MPI_File_close(&file);
	free(request);
	free(buf);
	MPI_Finalize();
	return 0;
}
