// SPDX-License-Identifier: GPL-2.0-only
/*
 * huge FILE: more than 2^31 bytes in one call, collective, by one process, nonblocking, and with a large count, each of which
 * writes something else and is read by another way.  One rank, with as much memory twice, as its file is in memory, too.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = (1 << 28) + 513 };

static const MPI_Offset bytes = (MPI_Offset)WORDS * 8, at = 4093;
static uint64_t *buf;
static MPI_File fh;
static int failed;

static void fill(uint64_t seed)
{
	uint64_t i;

	for (i = 0; i < WORDS; i++)
		buf[i] = i * UINT64_C(0x9e3779b97f4a7c15) + seed;
}

static void check(int ret, MPI_Status *status, const char *what)
{
	MPI_Count n = -1;

	if (!ret)
		MPI_Get_elements_x(status, MPI_UINT64_T, &n);
	if (ret || n != WORDS) {
		printf("%s: error %d, %lld of %d words\n", what, ret, (long long)n, WORDS);
		failed = 1;
	}
}

static void compare(uint64_t seed, const char *what)
{
	uint64_t i;

	for (i = 0; i < WORDS && buf[i] == i * UINT64_C(0x9e3779b97f4a7c15) + seed; i++)
		;
	if (i < WORDS) {
		printf("%s: word %llu is wrong\n", what, (unsigned long long)i);
		failed = 1;
	}
	memset(buf, 0, (size_t)bytes);
}

static void nonblocking(int writing, MPI_Status *status)
{
	MPI_Request r;
	int ret = writing ? MPI_File_iwrite_at(fh, at, buf, WORDS, MPI_UINT64_T, &r)
			  : MPI_File_iread_at(fh, at, buf, WORDS, MPI_UINT64_T, &r);

	check(ret ? ret : MPI_Wait(&r, status), status, writing ? "iwrite_at" : "iread_at");
}

int main(int argc, char **argv)
{
	MPI_Offset size = 0;
	MPI_Status status;

	MPI_Init(&argc, &argv);
	buf = malloc((size_t)bytes);
	if (argc != 2 || !buf ||
	    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			  &fh))
		MPI_Abort(MPI_COMM_WORLD, 2);
	fill(1);
	check(MPI_File_write_at_all(fh, at, buf, WORDS, MPI_UINT64_T, &status), &status,
	      "write_at_all");
	memset(buf, 0, (size_t)bytes);
	check(MPI_File_read_at(fh, at, buf, WORDS, MPI_UINT64_T, &status), &status, "read_at");
	compare(1, "read_at");
	fill(2);
	nonblocking(1, &status);
	memset(buf, 0, (size_t)bytes);
#if MPI_VERSION >= 4
	check(MPI_File_read_at_all_c(fh, at, buf, bytes, MPI_BYTE, &status), &status,
	      "read_at_all_c");
#else
	check(MPI_File_read_at_all(fh, at, buf, WORDS, MPI_UINT64_T, &status), &status,
	      "read_at_all");
#endif
	compare(2, "read_at_all");
	fill(3);
	check(MPI_File_write_at(fh, at, buf, WORDS, MPI_UINT64_T, &status), &status, "write_at");
	memset(buf, 0, (size_t)bytes);
	nonblocking(0, &status);
	compare(3, "iread_at");
	if (MPI_File_get_size(fh, &size) || size != at + bytes) {
		printf("size is %lld\n", (long long)size);
		failed = 1;
	}
	MPI_File_close(&fh);
	printf("%s\n", failed ? "failed" : "huge");
	MPI_Finalize();
	return failed;
}
