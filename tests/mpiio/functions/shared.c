// SPDX-License-Identifier: GPL-2.0-only
/* The shared pointer, and calls in the ranks' order. */
#include "tests/mpiio/functions/functions.h"
#include <stdlib.h>
#include <string.h>

enum { TURNS = 8 };

/* The entries from "from" on: each rank has so many of its own, in its own order. */
static void all_there(MPI_File fh, MPI_Offset from, int turns, int factor)
{
	int n = turns * tst.size, i, rank, turn;
	int *v = calloc(n, sizeof(*v)), *next = calloc(tst.size, sizeof(*next));
	MPI_Status status;

	OK(MPI_File_read_at_all(fh, from * (MPI_Offset)sizeof(int), v, n, MPI_INT, &status));
	tst_count(&status, MPI_INT, n, "all entries");
	for (i = 0; i < n; i++) {
		rank = v[i] / factor;
		turn = v[i] % factor;
		if (rank < 0 || rank >= tst.size)
			tst_fail("entry %d is %d", i, v[i]);
		else if (turn != next[rank]++)
			tst_fail("entry %d is turn %d of rank %d, not %d", i, turn, rank,
				 next[rank] - 1);
	}
	free(next);
	free(v);
}

static void writes(void)
{
	MPI_File fh = tst_create(".shw");
	MPI_Offset at = -1;
	MPI_Status status;
	int i, v;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < TURNS; i++) {
		v = 1000 * tst.rank + i;
		OK(MPI_File_write_shared(fh, &v, 1, MPI_INT, &status));
		tst_count(&status, MPI_INT, 1, "write_shared");
	}
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == 0, "the individual pointer is at %lld", (long long)at);
	tst_sync(fh);
	OK(MPI_File_get_position_shared(fh, &at));
	CHECK(at == 4 * (MPI_Offset)TURNS * tst.size, "the shared pointer is at %lld",
	      (long long)at);
	all_there(fh, 0, TURNS, 1000);
	tst_close(&fh);
}

/* Every entry is read by one rank. */
static void reads(void)
{
	int n = TURNS * tst.size, i, v, *mine = calloc(n, sizeof(*mine));
	MPI_File fh = tst_create(".shr");
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		goto out;
	for (i = 0; i < n && !tst.rank; i++)
		OK(MPI_File_write_at(fh, 4 * i, &i, 1, MPI_INT, MPI_STATUS_IGNORE));
	tst_sync(fh);
	for (i = 0; i < TURNS; i++) {
		v = -1;
		OK(MPI_File_read_shared(fh, &v, 1, MPI_INT, &status));
		tst_count(&status, MPI_INT, 1, "read_shared");
		if (v >= 0 && v < n)
			mine[v]++;
		else
			tst_fail("read %d", v);
	}
	MPI_Allreduce(MPI_IN_PLACE, mine, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		CHECK(mine[i] == 1, "entry %d was read %d times", i, mine[i]);
	tst_close(&fh);
out:
	free(mine);
}

/* Requests take their place when they begin. */
static void nonblocking(void)
{
	MPI_File fh = tst_create(".shi");
	int i, v[TURNS], w[TURNS], sum = 0;
	MPI_Request r[TURNS];

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < TURNS; i++) {
		v[i] = 1000 * tst.rank + i;
		OK(MPI_File_iwrite_shared(fh, &v[i], 1, MPI_INT, &r[i]));
	}
	OK(MPI_Waitall(TURNS, r, MPI_STATUSES_IGNORE));
	tst_sync(fh);
	all_there(fh, 0, TURNS, 1000);
	OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
	memset(w, 0, sizeof(w));
	for (i = 0; i < TURNS; i++)
		OK(MPI_File_iread_shared(fh, &w[i], 1, MPI_INT, &r[i]));
	OK(MPI_Waitall(TURNS, r, MPI_STATUSES_IGNORE));
	for (i = 0; i < TURNS; i++)
		sum += w[i];
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	v[0] = 1000 * TURNS * tst.size * (tst.size - 1) / 2 + tst.size * TURNS * (TURNS - 1) / 2;
	CHECK(sum == v[0], "what was read adds up to %d, not %d", sum, v[0]);
	tst_close(&fh);
}

/* Where a rank's part begins if rank r has r + 1 entries. */
static int before(int rank)
{
	return rank * (rank + 1) / 2;
}

static void ordered(void)
{
	int n = tst.rank + 1, i, all = before(tst.size), *v = malloc(n * sizeof(*v));
	MPI_File fh = tst_create(".ord");
	MPI_Offset at = -1;
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		goto out;
	for (i = 0; i < n; i++)
		v[i] = before(tst.rank) + i;
	OK(MPI_File_write_ordered(fh, v, n, MPI_INT, &status));
	tst_count(&status, MPI_INT, n, "write_ordered");
	tst_barrier();
	OK(MPI_File_get_position_shared(fh, &at));
	CHECK(at == 4 * all, "the shared pointer is at %lld", (long long)at);
	tst_barrier();
	for (i = 0; i < n; i++)
		v[i] = all + before(tst.rank) + i;
	OK(MPI_File_write_ordered(fh, v, n, MPI_INT, &status));
	tst_sync(fh);
	OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
	memset(v, 0, n * sizeof(*v));
	OK(MPI_File_read_ordered(fh, v, n, MPI_INT, &status));
	tst_count(&status, MPI_INT, n, "read_ordered");
	for (i = 0; i < n; i++)
		CHECK(v[i] == before(tst.rank) + i, "entry %d is %d", i, v[i]);
	OK(MPI_File_read_ordered(fh, v, n, MPI_INT, &status));
	for (i = 0; i < n; i++)
		CHECK(v[i] == all + before(tst.rank) + i, "then entry %d is %d", i, v[i]);
	tst_close(&fh);
out:
	free(v);
}

static void split_ordered(void)
{
	MPI_File fh = tst_create(".ordered");
	int v[2] = { 2 * tst.rank, 2 * tst.rank + 1 };
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_write_ordered_begin(fh, v, 2, MPI_INT));
	OK(MPI_File_write_ordered_end(fh, v, &status));
	tst_count(&status, MPI_INT, 2, "write_ordered_end");
	tst_sync(fh);
	OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
	memset(v, 0, sizeof(v));
	OK(MPI_File_read_ordered_begin(fh, v, 2, MPI_INT));
	OK(MPI_File_read_ordered_end(fh, v, &status));
	tst_count(&status, MPI_INT, 2, "read_ordered_end");
	CHECK(v[0] == 2 * tst.rank && v[1] == 2 * tst.rank + 1, "read %d and %d", v[0], v[1]);
	tst_close(&fh);
}

static void at_place(MPI_File fh, MPI_Offset want, const char *what)
{
	MPI_Offset at = -1;

	OK(MPI_File_get_position_shared(fh, &at));
	CHECK(at == want, "%s: the shared pointer is at %lld, not %lld", what, (long long)at,
	      (long long)want);
	tst_barrier();
}

static void seeks(void)
{
	MPI_File fh = tst_create(".shseek");
	unsigned char buf[100] = { 0 };

	if (fh == MPI_FILE_NULL)
		return;
	if (!tst.rank)
		OK(MPI_File_write_at(fh, 0, buf, 100, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	OK(MPI_File_seek_shared(fh, 10, MPI_SEEK_SET));
	at_place(fh, 10, "set");
	OK(MPI_File_seek_shared(fh, 7, MPI_SEEK_CUR));
	at_place(fh, 17, "current");
	OK(MPI_File_seek_shared(fh, -20, MPI_SEEK_END));
	at_place(fh, 80, "end");
	/* Open MPI's own fails on the first rank alone. */
	if (tst.strict)
		FAILS(MPI_File_seek_shared(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
	tst_barrier();
	tst_close(&fh);
}

/* In a view (the same on all ranks) the pointer counts its entries. */
static void views(void)
{
	MPI_File fh = tst_create(".shview");
	MPI_Datatype other;
	int v, i, *all = calloc(4 * tst.size + 4, sizeof(*all));
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		goto out;
	MPI_Type_create_resized(MPI_INT, 0, 8, &other);
	MPI_Type_commit(&other);
	OK(MPI_File_set_view(fh, 4, MPI_INT, other, "native", MPI_INFO_NULL));
	for (i = 0; i < 2; i++) {
		v = 1 + tst.rank + tst.size * i;
		OK(MPI_File_write_ordered(fh, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	}
	at_place(fh, 2 * tst.size, "of a view");
	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	at_place(fh, 0, "of a new view");
	tst_sync(fh);
	OK(MPI_File_read_at_all(fh, 0, all, 4 * tst.size, MPI_INT, &status));
	tst_count(&status, MPI_INT, 4 * tst.size, "all");
	/* Open MPI's own puts whatever its buffer held into the holes. */
	for (i = !tst.strict; i < 4 * tst.size; i += tst.strict ? 1 : 2)
		CHECK(all[i] == (i % 2 ? i / 2 + 1 : 0), "integer %d is %d", i, all[i]);
	MPI_Type_free(&other);
	tst_close(&fh);
out:
	free(all);
}

/* The end of the file is met by a shared read. */
static void over_the_end(void)
{
	MPI_File fh = tst_create(".shend");
	unsigned char buf[100] = { 0 };
	MPI_Status status;
	int n = 0;

	if (fh == MPI_FILE_NULL)
		return;
	if (!tst.rank)
		OK(MPI_File_write_at(fh, 0, buf, 70, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	OK(MPI_File_read_shared(fh, buf, 100, MPI_BYTE, &status));
	MPI_Get_count(&status, MPI_BYTE, &n);
	MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK(n == 70, "all ranks together read %d bytes, not 70", n);
	tst_close(&fh);
}

/* Two handles of a file have a shared pointer each: it belongs to an opening. */
static void per_opening(void)
{
	MPI_File one = tst_create(".sh2"), two;
	int v = tst.rank;

	if (one == MPI_FILE_NULL)
		return;
	two = tst.strict ? tst_open(tst_file(".sh2"), MPI_MODE_RDWR) : MPI_FILE_NULL;
	if (two != MPI_FILE_NULL) {
		OK(MPI_File_write_ordered(one, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
		at_place(one, 4 * tst.size, "of the first");
		at_place(two, 0, "of the second");
		tst_close(&two);
	} else {
		tst_skip("only with --ddio");
	}
	tst_close(&one);
}

void shared_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "shared/write", writes },
		{ "shared/read", reads },
		{ "shared/nonblocking", nonblocking },
		{ "shared/ordered", ordered },
		{ "shared/split_ordered", split_ordered },
		{ "shared/seek", seeks },
		{ "shared/view", views },
		{ "shared/over_the_end", over_the_end },
		{ "shared/per_opening", per_opening },
	};

	CASES(cases);
}
