// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs whose processes make different collective calls on a file: each process has an error from the call that it is in, none
 * waits for ever, and the file can be used further.
 */
#include "tests/mpiio/functions/functions.h"
#include <stdlib.h>
#include <string.h>

static int size_call(MPI_File fh)
{
	return MPI_File_set_size(fh, 4000);
}

static int allocate_call(MPI_File fh)
{
	return MPI_File_preallocate(fh, 4000);
}

static int sync_call(MPI_File fh)
{
	return MPI_File_sync(fh);
}

static int view_call(MPI_File fh)
{
	return MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
}

static int info_call(MPI_File fh)
{
	return MPI_File_set_info(fh, MPI_INFO_NULL);
}

static int seek_call(MPI_File fh)
{
	return MPI_File_seek_shared(fh, 1, MPI_SEEK_SET);
}

static int atomicity_call(MPI_File fh)
{
	return MPI_File_set_atomicity(fh, 0);
}

static int ordered_call(MPI_File fh)
{
	return MPI_File_write_ordered(fh, &tst.rank, 1, MPI_INT, MPI_STATUS_IGNORE);
}

static int (*const calls[])(MPI_File fh) = {
	size_call, allocate_call, sync_call,	  view_call,
	info_call, seek_call,	  atomicity_call, ordered_call,
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

/* An MPI's own need not bear any of this. */
static bool applies(void)
{
	if (!tst.strict || tst.size < 2)
		tst_skip("only with --ddio, and two ranks or more");
	return tst.strict && tst.size > 1;
}

static void still_works(MPI_File fh, const char *after)
{
	int v = 40 + tst.rank;

	OK(view_call(fh));
	OK(MPI_File_write_at_all(fh, tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	v = 0;
	OK(MPI_File_read_at_all(fh, tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(v == 40 + tst.rank, "%s: afterwards %d is read", after, v);
}

static void each_with_each(void)
{
	MPI_File fh;
	int i, k;

	if (!applies())
		return;
	fh = tst_create(".each");
	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < CALLS; i++)
		for (k = 0; k < CALLS; k++)
			if (i != k)
				FAILS(calls[tst.rank ? k : i](fh), MPI_ERR_NOT_SAME);
	still_works(fh, "each with each");
	tst_close(&fh);
}

/* The same call, but of different files. */
static void of_two_files(void)
{
	MPI_File fh[2];

	if (!applies())
		return;
	fh[0] = tst_create(".differ0");
	fh[1] = tst_create(".differ1");
	if (fh[0] != MPI_FILE_NULL && fh[1] != MPI_FILE_NULL) {
		/* With threads each file has its own processes, who wait for each other. */
		if (!tst.threads)
			FAILS(sync_call(fh[tst.rank > 0]), MPI_ERR_NOT_SAME);
		still_works(fh[0], "of two files");
		still_works(fh[1], "of two files");
	}
	if (fh[0] != MPI_FILE_NULL)
		tst_close(&fh[0]);
	if (fh[1] != MPI_FILE_NULL)
		tst_close(&fh[1]);
}

/* Small writes are gathered: one process has made more of them than the others.  All that was written is in the file. */
static void gathered(void)
{
	enum { TURNS = 5, EARLY = 4 };
	int v[TURNS], i, n, one;
	MPI_File fh;

	if (!applies())
		return;
	fh = tst_create(".uneven");
	if (fh == MPI_FILE_NULL)
		return;
	OK(view_call(fh));
	/* After a few calls that go to the file they are gathered. */
	for (i = 0; i < EARLY; i++)
		OK(MPI_File_write_at_all(fh, tst.rank, &tst.rank, 1, MPI_INT, MPI_STATUS_IGNORE));
	for (n = 0; n < 2; n++) {
		int turns = TURNS - (n ? !!tst.rank : tst.rank == 0);

		for (i = 0; i < turns; i++) {
			one = 100 * n + 10 * i + tst.rank;
			OK(MPI_File_write_at_all(fh, i * tst.size + tst.rank, &one, 1, MPI_INT,
						 MPI_STATUS_IGNORE));
		}
		FAILS(sync_call(fh), MPI_ERR_NOT_SAME);
		for (i = 0; i < turns; i++) {
			OK(MPI_File_read_at(fh, i * tst.size + tst.rank, &v[i], 1, MPI_INT,
					    MPI_STATUS_IGNORE));
			CHECK(v[i] == 100 * n + 10 * i + tst.rank, "call %d wrote %d", i, v[i]);
		}
		for (i = 0; i < EARLY; i++)
			OK(MPI_File_write_at_all(fh, tst.rank, &tst.rank, 1, MPI_INT,
						 MPI_STATUS_IGNORE));
	}
	still_works(fh, "gathered");
	tst_close(&fh);
}

/* One closes the file: to the others it is of no further use, and they can only close it, too. */
static void closed(void)
{
	int i, v = tst.rank;
	MPI_File fh;

	if (!applies())
		return;
	for (i = 0; i < CALLS; i++) {
		fh = tst_create(".closed");
		if (fh == MPI_FILE_NULL)
			return;
		OK(MPI_File_write_at_all(fh, 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
		if (!tst.rank) {
			FAILS(MPI_File_close(&fh), MPI_ERR_NOT_SAME);
		} else {
			FAILS(calls[i](fh), MPI_ERR_NOT_SAME);
			FAILS(calls[(i + 1) % CALLS](fh), MPI_ERR_NOT_SAME);
			FAILS(MPI_File_read_at_all(fh, 0, &v, 1, MPI_INT, MPI_STATUS_IGNORE),
			      MPI_ERR_NOT_SAME);
			FAILS(MPI_File_write_shared(fh, &v, 1, MPI_INT, MPI_STATUS_IGNORE),
			      MPI_ERR_NOT_SAME);
			OK(MPI_File_read_at(fh, 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
			CHECK(v == tst.rank, "%d is read", v);
			FAILS(MPI_File_close(&fh), MPI_ERR_NOT_SAME);
		}
		CHECK(fh == MPI_FILE_NULL, "the file is still open");
		tst_barrier();
	}
	fh = tst_create(".closed");
	if (fh == MPI_FILE_NULL)
		return;
	still_works(fh, "closed");
	tst_close(&fh);
}

/* One has not ended its split collective when all begin another call. */
static void not_ended(void)
{
	int v = tst.rank, w = -1;
	MPI_Request r;
	MPI_File fh;

	if (!applies())
		return;
	fh = tst_create(".notended");
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_write_at_all_begin(fh, 4 * tst.rank, &v, 1, MPI_INT));
	if (tst.rank)
		OK(MPI_File_write_at_all_end(fh, &v, MPI_STATUS_IGNORE));
	FAILS(MPI_File_read_at_all(fh, 0, &w, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_OTHER,
	      MPI_ERR_ARG, MPI_ERR_IO);
	FAILS(MPI_File_read_ordered(fh, &w, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_OTHER,
	      MPI_ERR_ARG, MPI_ERR_IO);
	OK(MPI_File_iread_at_all(fh, 0, &w, 1, MPI_INT, &r));
	FAILS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_OTHER, MPI_ERR_ARG, MPI_ERR_IO);
	FAILS(view_call(fh), MPI_ERR_OTHER);
	FAILS(MPI_File_close(&fh), MPI_ERR_OTHER);
	CHECK(fh != MPI_FILE_NULL, "the file is closed");
	if (!tst.rank)
		OK(MPI_File_write_at_all_end(fh, &v, MPI_STATUS_IGNORE));
	still_works(fh, "not ended");
	tst_close(&fh);
}

/* Some write where others wait for all by other means: they hear of it after a while, and the communicator is of no further use. */
static void elsewhere(void)
{
	enum { LARGE = 1 << 20 };
	char *buf = calloc(1, LARGE);
	MPI_File fh = MPI_FILE_NULL;
	MPI_Comm comm;
	int ret;

	if (!applies() || !getenv("DDIO_MPIIO_TIMEOUT")) {
		free(buf);
		return tst_skip("only with --ddio and DDIO_MPIIO_TIMEOUT");
	}
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	OK(MPI_File_open(comm, tst_file(".elsewhere"), MPI_MODE_CREATE | MPI_MODE_RDWR,
			 MPI_INFO_NULL, &fh));
	if (tst_all(fh != MPI_FILE_NULL)) {
		if (tst.rank)
			ret = MPI_File_sync(fh);
		else
			ret = MPI_File_write_at_all(fh, 0, buf, LARGE, MPI_BYTE, MPI_STATUS_IGNORE);
		FAILS(ret, MPI_ERR_IO);
		FAILS(MPI_File_sync(fh), MPI_ERR_IO);
		FAILS(MPI_File_close(&fh), MPI_ERR_IO);
		CHECK(fh == MPI_FILE_NULL, "the file is still open");
	}
	MPI_Comm_free(&comm);
	free(buf);
}

static const struct mpiio_case cases[] = {
	{ "differ/each with each", each_with_each },
	{ "differ/of two files", of_two_files },
	{ "differ/gathered", gathered },
	{ "differ/closed", closed },
	{ "differ/not ended", not_ended },
	{ "differ/elsewhere", elsewhere },
};

void differ_cases(void)
{
	CASES(cases);
}
