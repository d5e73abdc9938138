// SPDX-License-Identifier: GPL-2.0-only
/* MPI_File_set_size, _get_size, _preallocate, _sync. */
#include "tests/mpiio/functions/functions.h"
#include <string.h>
#include <sys/stat.h>

enum { N = 10000 };

static void has_size(MPI_File fh, MPI_Offset want, const char *what)
{
	MPI_Offset size = -1;

	OK(MPI_File_get_size(fh, &size));
	CHECK(size == want, "%s: size is %lld, not %lld", what, (long long)size, (long long)want);
	tst_barrier();
}

static void contents(MPI_File fh, MPI_Offset at, int n, bool zeros, const char *what)
{
	unsigned char buf[N];
	MPI_Status status;

	memset(buf, 0xee, n);
	OK(MPI_File_read_at(fh, at, buf, n, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, n, what);
	if (zeros)
		tst_zeros(buf, n, what);
	else
		tst_same(buf, n, 61, at, what);
}

static MPI_File filled(const char *suffix)
{
	MPI_File fh = tst_create(suffix);
	unsigned char buf[N];

	if (fh == MPI_FILE_NULL)
		return fh;
	tst_fill(buf, N, 61, 0);
	if (!tst.rank)
		OK(MPI_File_write_at(fh, 0, buf, N, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	return fh;
}

static void grow(void)
{
	MPI_File fh = tst_create(".grow");

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_set_size(fh, N));
	has_size(fh, N, "grown from nothing");
	contents(fh, 0, N, true, "grown from nothing");
	tst_close(&fh);
	fh = filled(".grow");
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_set_size(fh, 3 * N));
	has_size(fh, 3 * N, "grown");
	contents(fh, 0, N, false, "before");
	contents(fh, N, N, true, "after");
	contents(fh, 2 * N, N, true, "the end");
	tst_close(&fh);
}

/* What was cut off does not come back. */
static void shrink(void)
{
	MPI_File fh = filled(".shrink");

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_set_size(fh, 5003));
	has_size(fh, 5003, "cut");
	contents(fh, 0, 5003, false, "what is left");
	tst_barrier();
	OK(MPI_File_set_size(fh, N));
	has_size(fh, N, "grown again");
	contents(fh, 0, 5003, false, "what was left");
	contents(fh, 5003, N - 5003, true, "what was cut");
	tst_barrier();
	OK(MPI_File_set_size(fh, 0));
	has_size(fh, 0, "emptied");
	tst_close(&fh);
}

/* Pointers and views stay as they are. */
static void pointers_stay(void)
{
	MPI_File fh = filled(".stay");
	MPI_Offset at = -1, byte = -1;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_set_view(fh, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	OK(MPI_File_seek(fh, 100, MPI_SEEK_SET));
	OK(MPI_File_set_size(fh, 20));
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == 100, "the pointer is at %lld", (long long)at);
	OK(MPI_File_get_byte_offset(fh, at, &byte));
	CHECK(byte == 408, "that is byte %lld", (long long)byte);
	tst_close(&fh);
}

static void preallocate(void)
{
	MPI_File fh = filled(".prealloc");

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_preallocate(fh, 100));
	has_size(fh, N, "less than there is");
	OK(MPI_File_preallocate(fh, 4 * N));
	has_size(fh, 4 * N, "more than there is");
	contents(fh, 0, N, false, "what there was");
	tst_close(&fh);
}

/* Writing beyond the end makes a file larger, with zeros between. */
static void by_writing(void)
{
	MPI_File fh = filled(".bywriting");
	unsigned char b = 1;

	if (fh == MPI_FILE_NULL)
		return;
	if (tst.rank == tst.size - 1)
		OK(MPI_File_write_at(fh, 2 * N - 1, &b, 1, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	has_size(fh, 2 * N, "after a write");
	contents(fh, N, N - 1, true, "between");
	tst_close(&fh);
	fh = tst_open(tst_file(".bywriting"), MPI_MODE_RDONLY);
	if (fh == MPI_FILE_NULL)
		return;
	has_size(fh, 2 * N, "opened again");
	tst_close(&fh);
}

/* A collective write's size is known to all at once, when it has returned everywhere. */
static void by_writing_together(void)
{
	MPI_File fh = tst_create(".together");
	unsigned char buf[123] = { 0 };
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 1; i <= 5; i++) {
		OK(MPI_File_write_all(fh, buf, 123, MPI_BYTE, MPI_STATUS_IGNORE));
		tst_sync(fh);
		has_size(fh, 123 * i, "after a collective write");
	}
	tst_close(&fh);
}

static void bad_sizes(void)
{
	MPI_File fh = filled(".badsize");

	if (fh == MPI_FILE_NULL)
		return;
	/* Open MPI's own lets ranks differ, says MPI_ERR_OTHER, and ignores a preallocation of -1. */
	FAILS(MPI_File_set_size(fh, -1), MPI_ERR_ARG, tst.strict ? MPI_ERR_ARG : MPI_ERR_OTHER);
	if (tst.strict)
		FAILS(MPI_File_preallocate(fh, -1), MPI_ERR_ARG);
	if (tst.strict && tst.size > 1) {
		FAILS(MPI_File_set_size(fh, 100 + tst.rank), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
		FAILS(MPI_File_preallocate(fh, 2 * N + tst.rank), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
	}
	has_size(fh, N, "after what was refused");
	tst_close(&fh);
}

static void sync_twice(void)
{
	MPI_File fh = filled(".sync");

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_sync(fh));
	OK(MPI_File_sync(fh));
	contents(fh, 0, N, false, "after syncs");
	tst_close(&fh);
}

/* A program that looks at a name's size, and again when the file was closed, sees what was written between. */
static void by_name(void)
{
	const char *name = tst_file(".byname");
	MPI_File fh = tst_create(".byname");
	unsigned char buf[N];
	struct stat st = { 0 };
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	tst_close(&fh);
	/* The kernel has asked for it, and keeps what it was told. */
	if (!tst_all(tst.rank || !stat(name, &st))) {
		tst_skip("it has no name that the system knows");
		return;
	}
	tst_fill(buf, N, 61, 0);
	for (i = 1; i <= 3; i++) {
		fh = tst_open(name, MPI_MODE_WRONLY | MPI_MODE_APPEND);
		if (fh == MPI_FILE_NULL)
			return;
		if (tst.rank == tst.size - 1)
			OK(MPI_File_write(fh, buf, N, MPI_BYTE, MPI_STATUS_IGNORE));
		tst_close(&fh);
		if (!tst.rank)
			CHECK(!stat(name, &st) && st.st_size == (off_t)i * N,
			      "after close %d its size is %lld", i, (long long)st.st_size);
		tst_barrier();
	}
}

void sizes_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "sizes/grow", grow },
		{ "sizes/shrink", shrink },
		{ "sizes/pointers_stay", pointers_stay },
		{ "sizes/preallocate", preallocate },
		{ "sizes/by_writing", by_writing },
		{ "sizes/by_writing_together", by_writing_together },
		{ "sizes/bad", bad_sizes },
		{ "sizes/sync", sync_twice },
		{ "sizes/by_name", by_name },
	};

	CASES(cases);
}
