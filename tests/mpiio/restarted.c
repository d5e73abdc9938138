// SPDX-License-Identifier: GPL-2.0-only
/*
 * restarted FILE MARK: writes FILE in collective calls, says "ready", and goes on with the same open file when a file MARK is
 * there: the nodes were restarted in between.  Rank 0 prints "told: " and the text of each call that has failed then.  If none
 * has, up to MPI_File_sync(), every byte must be there.  If one has, it has on all ranks, and the program writes all of it
 * again, with the same open file, until it is synced.  In the end it closes the file, and opens and reads it: "whole", or what is
 * wrong.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 300000, SMALL = 24, CALLS = 20, TRIES = 100, REGIONS = 4 };

static int rank, nprocs, failures;
static char buf[LARGE], got[LARGE];
static MPI_File fh;

/* What belongs into a region. */
static void fill(char *p, int region, int n)
{
	int i;

	for (i = 0; i < n; i++)
		p[i] = (char)(i * 7 + rank * 31 + region * 101 + 1);
}

/* Counts what has failed on some rank. */
static int judge_one(int ret, const char *what)
{
	int mine = ret != MPI_SUCCESS, most, len;
	char text[MPI_MAX_ERROR_STRING];

	MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (ret) {
		MPI_Error_string(ret, text, &len);
		if (!rank)
			printf("told: %s: %s\n", what, text);
	}
	fflush(stdout);
	failures += most;
	return most;
}

/* A collective call fails on all ranks, or on none. */
static int judge(int ret, const char *what)
{
	int mine = ret != MPI_SUCCESS, most = judge_one(ret, what);

	if (mine != most)
		printf("%s: rank %d succeeded, others differ\n", what, rank);
	fflush(stdout);
	return most;
}

static MPI_Offset place(int region)
{
	return ((MPI_Offset)region * nprocs + rank) * LARGE;
}

static int write_large(int region)
{
	fill(buf, region, LARGE);
	return MPI_File_write_at_all(fh, place(region), buf, LARGE, MPI_BYTE, MPI_STATUS_IGNORE);
}

/* So small that they are gathered. */
static int write_small(int region)
{
	int i, ret = MPI_SUCCESS, now;

	fill(buf, region, CALLS * SMALL);
	for (i = 0; i < CALLS; i++) {
		now = MPI_File_write_at_all(fh, place(region) + (MPI_Offset)i * SMALL,
					    buf + (size_t)i * SMALL, SMALL, MPI_BYTE,
					    MPI_STATUS_IGNORE);
		ret = ret ? ret : now;
	}
	return ret;
}

static int length(int region)
{
	return region % 2 ? CALLS * SMALL : LARGE;
}

static int read_back(const char *when)
{
	int region, n, bad = 0, all;

	for (region = 0; region < REGIONS; region++) {
		n = length(region);
		memset(got, 0, n);
		fill(buf, region, n);
		if (judge(MPI_File_read_at_all(fh, place(region), got, n, MPI_BYTE,
					       MPI_STATUS_IGNORE),
			  "read") ||
		    memcmp(buf, got, n)) {
			printf("%s: rank %d: region %d is lost\n", when, rank, region);
			bad = 1;
		}
	}
	MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return all;
}

static void write_second(void)
{
	MPI_Offset size;

	judge(write_large(2), "write");
	judge(write_small(3), "small writes");
	/* Is not collective: it fails where what was gathered could not be written. */
	judge_one(MPI_File_get_size(fh, &size), "get_size");
	judge(MPI_File_sync(fh), "sync");
}

/* Everything again, with the file that is open. */
static void recover(void)
{
	int i;

	for (i = 0, failures = 1; failures && i < TRIES; i++) {
		usleep(100000);
		failures = 0;
		judge(write_large(0), "again");
		judge(write_small(1), "again");
		write_second();
	}
	if (failures && !rank)
		printf("the open file is of no use any more\n");
}

static void wait_for(const char *mark)
{
	if (!rank) {
		printf("ready\n");
		fflush(stdout);
		while (access(mark, F_OK))
			usleep(20000);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int bad = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
	if (argc != 3 || MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
				       MPI_INFO_NULL, &fh))
		MPI_Abort(MPI_COMM_WORLD, 2);
	judge(write_large(0), "first write");
	judge(write_small(1), "first small writes");
	wait_for(argv[2]);
	write_second();
	if (failures)
		recover();
	else
		bad = read_back("nothing was told");
	judge(MPI_File_close(&fh), "close");
	if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &fh))
		MPI_Abort(MPI_COMM_WORLD, 3);
	bad |= read_back("opened again");
	MPI_File_close(&fh);
	if (!rank)
		printf("%s\n", bad ? "lost" : "whole");
	MPI_Finalize();
	return bad;
}
