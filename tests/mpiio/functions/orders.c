// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nonblocking and split collective calls of several files of one communicator, which ranks begin in orders of their own: the standard
 * has an order of them for each file only.
 */
#include "tests/mpiio/functions/functions.h"
#include <stdio.h>
#include <stdlib.h>

enum { FILES_MAX = 60, EACH = 100, PIECE = 40 };

/* An MPI's own need not bear this: theirs may wait for each other when a split one begins. */
static bool is_strict(void)
{
	if (!tst.strict)
		tst_skip("only with --ddio");
	return tst.strict;
}

/* One more after that for what comes between. */
static bool open_files(MPI_File *fh, int n)
{
	char name[32];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), ".orders%d", i);
		fh[i] = tst_create(name);
		if (fh[i] == MPI_FILE_NULL)
			return false;
	}
	return true;
}

static void close_files(MPI_File *fh, int n)
{
	while (n-- > 0)
		if (fh[n] != MPI_FILE_NULL)
			tst_close(&fh[n]);
}

static MPI_Offset place(int call)
{
	return (MPI_Offset)PIECE * (call * tst.size + tst.rank);
}

/* The file of this rank's next call, of those that have not had all. */
static int any_file(struct mpiio_rand *r, const int *had, int files)
{
	int f;

	do
		f = (int)tst_rand(r, (uint64_t)files);
	while (had[f] == EACH);
	return f;
}

static void begin(MPI_File fh, bool write, int f, int call, unsigned char *buf, MPI_Request *r)
{
	if (write) {
		tst_fill(buf, PIECE, (uint64_t)f, (uint64_t)place(call));
		OK(MPI_File_iwrite_at_all(fh, place(call), buf, PIECE, MPI_BYTE, r));
	} else {
		OK(MPI_File_iread_at_all(fh, place(call), buf, PIECE, MPI_BYTE, r));
	}
}

/* Ends all: at once, or some at a time. */
static void end_all(MPI_Request *r, int n, bool some)
{
	int *done = calloc((size_t)n, sizeof(*done)), count = 0;

	while (some && count != MPI_UNDEFINED)
		if (!OK(MPI_Testsome(n, r, &count, done, MPI_STATUSES_IGNORE)))
			break;
	OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
	free(done);
}

/* All calls of all files, in an order of this rank's own, with blocking calls of the last file between. */
static void pass(MPI_File *fh, int files, bool write, bool some)
{
	unsigned char(*buf)[PIECE] = calloc((size_t)files * EACH, PIECE), byte;
	MPI_Request *r = calloc((size_t)files * EACH, sizeof(MPI_Request));
	struct mpiio_rand rnd = { (uint64_t)tst.rank * 2 + write };
	int had[FILES_MAX] = { 0 }, i, f, all = files * EACH, blocked = 0;

	for (i = 0; i < all; i++) {
		f = any_file(&rnd, had, files);
		begin(fh[f], write, f, had[f]++, buf[i], &r[i]);
		if (blocked < 3 && (i == all - 1 || !tst_rand(&rnd, (uint64_t)all / 4))) {
			byte = (unsigned char)blocked;
			OK(MPI_File_write_at_all(fh[files], tst.rank + blocked * tst.size, &byte, 1,
						 MPI_BYTE, MPI_STATUS_IGNORE));
			blocked++;
		}
	}
	for (; blocked < 3; blocked++)
		OK(MPI_File_write_at_all(fh[files], tst.rank + blocked * tst.size, &byte, 1,
					 MPI_BYTE, MPI_STATUS_IGNORE));
	end_all(r, all, some);
	free(r);
	free(buf);
}

/* What all ranks wrote, as one reads it. */
static void look(MPI_File *fh, int files)
{
	size_t len = (size_t)PIECE * (size_t)tst.size * EACH;
	unsigned char *buf = malloc(len);
	int f;

	for (f = 0; f < files; f++) {
		tst_sync(fh[f]);
		OK(MPI_File_read_at(fh[f], 0, buf, (int)len, MPI_BYTE, MPI_STATUS_IGNORE));
		tst_same(buf, len, (uint64_t)f, 0, "a file");
	}
	free(buf);
}

static void with_files(int files)
{
	MPI_File fh[FILES_MAX + 1];
	int i;

	for (i = 0; i <= files; i++)
		fh[i] = MPI_FILE_NULL;
	if (open_files(fh, files + 1)) {
		pass(fh, files, true, false);
		look(fh, files);
		pass(fh, files, false, true);
	}
	close_files(fh, files + 1);
}

static void two_files(void)
{
	if (is_strict())
		with_files(2);
}

static void sixty_files(void)
{
	if (is_strict())
		with_files(FILES_MAX);
}

/* Split ones of two files, and nonblocking ones of a third, with what was gathered of each before. */
static void split(void)
{
	int mine = tst.rank & 1, k, v[2], w[2], x, got;
	MPI_Offset at;
	MPI_Request r;
	MPI_File fh[3];

	if (!is_strict() || !open_files(fh, 3))
		return;
	for (k = 0; k < 40; k++) {
		at = 4 * ((MPI_Offset)k * tst.size + tst.rank);
		v[0] = v[1] = x = 1000 * k + tst.rank;
		if (k < 20) {
			OK(MPI_File_write_at_all(fh[0], at, &x, 1, MPI_INT, MPI_STATUS_IGNORE));
			OK(MPI_File_write_at_all(fh[1], at, &x, 1, MPI_INT, MPI_STATUS_IGNORE));
		}
		if (mine)
			OK(MPI_File_iwrite_at_all(fh[2], at, &x, 1, MPI_INT, &r));
		OK(MPI_File_write_at_all_begin(fh[mine], at, &v[mine], 1, MPI_INT));
		if (!mine)
			OK(MPI_File_iwrite_at_all(fh[2], at, &x, 1, MPI_INT, &r));
		OK(MPI_File_write_at_all_begin(fh[!mine], at, &v[!mine], 1, MPI_INT));
		OK(MPI_File_write_at_all_end(fh[!mine], &v[!mine], MPI_STATUS_IGNORE));
		OK(MPI_File_write_at_all_end(fh[mine], &v[mine], MPI_STATUS_IGNORE));
		OK(MPI_File_read_at_all_begin(fh[!mine], at, &w[!mine], 1, MPI_INT));
		OK(MPI_File_read_at_all_begin(fh[mine], at, &w[mine], 1, MPI_INT));
		OK(MPI_File_read_at_all_end(fh[mine], &w[mine], MPI_STATUS_IGNORE));
		OK(MPI_File_read_at_all_end(fh[!mine], &w[!mine], MPI_STATUS_IGNORE));
		CHECK(w[0] == v[0] && w[1] == v[1], "read %d and %d for %d", w[0], w[1], v[0]);
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		OK(MPI_File_read_at(fh[2], at, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
		CHECK(got == x, "the nonblocking one: %d for %d", got, x);
	}
	close_files(fh, 3);
}

/* A blocking call of one file comes before or after more nonblocking ones of another than nodes take at a time. */
static void around_blocking(void)
{
	int v[EACH], one = tst.rank, i, k;
	MPI_Request r[EACH];
	MPI_File fh[2];

	if (!is_strict() || !open_files(fh, 2))
		return;
	for (k = 0; k < 2; k++) {
		if ((tst.rank & 1) == k)
			OK(MPI_File_write_at_all(fh[1], 4 * tst.rank, &one, 1, MPI_INT,
						 MPI_STATUS_IGNORE));
		for (i = 0; i < EACH; i++) {
			v[i] = 1000 * i + tst.rank;
			OK(MPI_File_iwrite_at_all(fh[0], 4 * ((MPI_Offset)i * tst.size + tst.rank),
						  &v[i], 1, MPI_INT, &r[i]));
		}
		if ((tst.rank & 1) != k)
			OK(MPI_File_write_at_all(fh[1], 4 * tst.rank, &one, 1, MPI_INT,
						 MPI_STATUS_IGNORE));
		OK(MPI_Waitall(EACH, r, MPI_STATUSES_IGNORE));
	}
	close_files(fh, 2);
}

/* Blocking ones of two files are still told apart, on all ranks. */
static void blocking_differ(void)
{
	MPI_File fh[2];
	int v = 1;

	if (!is_strict())
		return;
	/* With threads each file has an order of its own. */
	if (tst.size < 2 || tst.threads) {
		tst_skip("one rank, or threads");
		return;
	}
	if (!open_files(fh, 2))
		return;
	FAILS(MPI_File_read_at_all(fh[tst.rank & 1], 4 * tst.rank, &v, 1, MPI_INT,
				   MPI_STATUS_IGNORE),
	      MPI_ERR_NOT_SAME);
	OK(MPI_File_read_at_all(fh[0], 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	close_files(fh, 2);
}

/*
 * The same for all three files on all ranks, and blocking ones, as it must be among processes of several releases.  Open MPI's own finds at
 * times what was there before a split write that has ended.
 */
static void in_one(void)
{
	int v[4], w, k, n;
	MPI_Request r[2];
	MPI_Offset at;
	MPI_File fh[3];

	if (!is_strict() || !open_files(fh, 3))
		return;
	for (k = 0; k < 40; k++) {
		at = 4 * ((MPI_Offset)k * tst.size + tst.rank);
		for (n = 0; n < 4; n++)
			v[n] = 1000 * k + 100 * n + tst.rank;
		if (k < 20)
			OK(MPI_File_write_at_all(fh[0], at, &v[3], 1, MPI_INT, MPI_STATUS_IGNORE));
		OK(MPI_File_iwrite_at_all(fh[1], at, &v[1], 1, MPI_INT, &r[0]));
		OK(MPI_File_write_at_all_begin(fh[0], at, &v[0], 1, MPI_INT));
		OK(MPI_File_write_at_all(fh[2], at, &v[2], 1, MPI_INT, MPI_STATUS_IGNORE));
		OK(MPI_File_write_at_all_end(fh[0], &v[0], MPI_STATUS_IGNORE));
		OK(MPI_File_iread_at_all(fh[0], at, &w, 1, MPI_INT, &r[1]));
		OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
		CHECK(w == v[0], "the nonblocking one read %d for %d", w, v[0]);
		for (n = 1; n < 3; n++) {
			OK(MPI_File_read_at_all_begin(fh[n], at, &w, 1, MPI_INT));
			OK(MPI_File_read_at_all_end(fh[n], &w, MPI_STATUS_IGNORE));
			CHECK(w == v[n], "file %d has %d for %d", n, w, v[n]);
		}
	}
	close_files(fh, 3);
}

static const struct mpiio_case cases[] = {
	{ "orders/in_one", in_one },
	{ "orders/two_files", two_files },
	{ "orders/sixty_files", sixty_files },
	{ "orders/split", split },
	{ "orders/around_blocking", around_blocking },
	{ "orders/blocking_differ", blocking_differ },
};

void orders_cases(void)
{
	CASES(cases);
}
