// SPDX-License-Identifier: GPL-2.0-only
/*
 * leaves FILE HOW: a program that does not close its file.  All processes write collectively, three times 8 bytes each, and
 * then leave: by "finalize", by "exit" without it, or by "abort", these two while a transfer of process 0 waits for the
 * others.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 3 };

static int rank, nprocs;

static void write_three(MPI_File fh)
{
	char text[32];
	int i;

	for (i = 0; i < CALLS; i++) {
		snprintf(text, sizeof(text), "%03d,%03d\n", rank, i);
		MPI_File_write_at_all(fh, 8 * (i * nprocs + rank), text, 8, MPI_BYTE,
				      MPI_STATUS_IGNORE);
	}
}

/* MPI's error handlers are variadic. */
static void abort_it(MPI_File *fh, int *code, ...)
{
	(void)fh;
	(void)code;
	MPI_Abort(MPI_COMM_WORLD, 7);
}

static void fail_in(MPI_File fh)
{
	MPI_Errhandler handler;

	MPI_File_create_errhandler(abort_it, &handler);
	MPI_File_set_errhandler(fh, handler);
	MPI_File_write_at(fh, 0, NULL, -1, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void leave(MPI_File fh, const char *how)
{
	static char buf[1 << 20];
	MPI_Request r;

	if (!strcmp(how, "finalize")) {
		MPI_Finalize();
		return;
	}
	if (!rank)
		MPI_File_iwrite_at_all(fh, 1000, buf, sizeof(buf), MPI_BYTE, &r);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(how, "abort"))
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (!strcmp(how, "handler"))
		fail_in(fh);
	exit(0);
}

int main(int argc, char **argv)
{
	MPI_File fh;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
	if (argc != 3 || MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
				       MPI_INFO_NULL, &fh))
		MPI_Abort(MPI_COMM_WORLD, 2);
	write_three(fh);
	leave(fh, argv[2]);
	return 0;
}
