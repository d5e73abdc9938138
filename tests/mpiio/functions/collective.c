// SPDX-License-Identifier: GPL-2.0-only
/* Collective calls and split ones. */
#include "tests/mpiio/functions/functions.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART = 3001 };

/* All ranks have written PART bytes each, of a seed. */
static MPI_File filled(const char *suffix, uint64_t seed)
{
	MPI_File fh = tst_create(suffix);
	unsigned char buf[PART];
	MPI_Offset at = (MPI_Offset)PART * tst.rank;
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return fh;
	tst_fill(buf, PART, seed, at);
	OK(MPI_File_write_at_all(fh, at, buf, PART, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, PART, "write_at_all");
	tst_sync(fh);
	return fh;
}

static void everything(MPI_File fh, uint64_t seed)
{
	size_t all = (size_t)PART * tst.size;
	unsigned char *buf = calloc(1, all);
	MPI_Status status;

	OK(MPI_File_read_at_all(fh, 0, buf, (int)all, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, (int)all, "all ranks read all");
	tst_same(buf, all, seed, 0, "all ranks read all");
	free(buf);
}

static void at_all(void)
{
	MPI_File fh = filled(".atall", 21);
	MPI_Offset at = -1;

	if (fh == MPI_FILE_NULL)
		return;
	everything(fh, 21);
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == 0, "explicit offsets moved the pointer to %lld", (long long)at);
	tst_close(&fh);
}

static void by_pointer(void)
{
	MPI_File fh = tst_create(".all");
	MPI_Offset base = (MPI_Offset)PART * tst.rank, at = -1;
	unsigned char buf[PART];
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, PART, 22, base);
	OK(MPI_File_seek(fh, base, MPI_SEEK_SET));
	for (i = 0; i < 3; i++)
		OK(MPI_File_write_all(fh, buf + 1000 * i, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
	OK(MPI_File_write_all(fh, buf + 3000, 1, MPI_BYTE, MPI_STATUS_IGNORE));
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == base + PART, "the pointer is at %lld", (long long)at);
	tst_sync(fh);
	everything(fh, 22);
	OK(MPI_File_seek(fh, base, MPI_SEEK_SET));
	memset(buf, 0, PART);
	OK(MPI_File_read_all(fh, buf, 1001, MPI_BYTE, MPI_STATUS_IGNORE));
	OK(MPI_File_read_all(fh, buf + 1001, 2000, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_same(buf, PART, 22, base, "read_all");
	tst_close(&fh);
}

/* Every rank another amount, the first one nothing. */
static void uneven(void)
{
	MPI_File fh = tst_create(".uneven");
	int n = 500 * tst.rank, i;
	MPI_Offset at = 0;
	unsigned char *buf = malloc(n + 1);
	MPI_Status status;

	for (i = 0; i < tst.rank; i++)
		at += 500 * i;
	if (fh == MPI_FILE_NULL)
		goto out;
	tst_fill(buf, n, 23, at);
	OK(MPI_File_write_at_all(fh, at, buf, n, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, n, "written");
	memset(buf, 0, n);
	OK(MPI_File_read_at_all(fh, at, buf, n, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, n, "read");
	tst_same(buf, n, 23, at, "read");
	tst_close(&fh);
out:
	free(buf);
}

/* Only one rank has something to do, each in turn. */
static void one_works(void)
{
	MPI_File fh = tst_create(".one");
	int i, v, n;
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < tst.size; i++) {
		n = i == tst.rank;
		v = 100 + i;
		OK(MPI_File_write_at_all(fh, 4 * i, &v, n, MPI_INT, &status));
		tst_count(&status, MPI_INT, n, "written");
	}
	tst_sync(fh);
	for (i = 0; i < tst.size; i++) {
		n = i != tst.rank;
		v = -1;
		OK(MPI_File_read_at_all(fh, 4 * i, &v, n, MPI_INT, &status));
		tst_count(&status, MPI_INT, n, "read");
		CHECK(v == (n ? 100 + i : -1), "of rank %d: %d", i, v);
	}
	tst_close(&fh);
}

static void nobody_works(void)
{
	MPI_File fh = tst_create(".nobody");
	MPI_Offset size = -1;
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_write_at_all(fh, 100, NULL, 0, MPI_INT, &status));
	tst_count(&status, MPI_INT, 0, "written");
	OK(MPI_File_write_all(fh, NULL, 0, MPI_INT, &status));
	OK(MPI_File_read_all(fh, NULL, 0, MPI_INT, &status));
	tst_count(&status, MPI_INT, 0, "read");
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == 0, "size is %lld", (long long)size);
	tst_close(&fh);
}

/* The last rank's piece is cut by the end, and there are ranks beyond it. */
static void over_the_end(void)
{
	MPI_File fh = filled(".overend", 24);
	MPI_Offset all = (MPI_Offset)PART * tst.size, at = all - 40 + 100 * tst.rank;
	int due = tst.rank ? 0 : 40;
	unsigned char buf[100];
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	memset(buf, 0xee, 100);
	OK(MPI_File_read_at_all(fh, at, buf, 100, MPI_BYTE, &status));
	tst_same(buf, due, 24, at, "over the end");
	/* Open MPI's own brings zeros from beyond the end, and from three ranks on counts them. */
	if (tst.strict || !TST_OPEN_MPI)
		tst_count(&status, MPI_BYTE, due, "over the end");
	if (tst.strict)
		CHECK(buf[due] == 0xee && buf[99] == 0xee, "bytes after the end were touched");
	tst_close(&fh);
}

/* Of pieces that interlock, both MPIs' own count what was asked for, not what was there. */
static void empty_file(void)
{
	MPI_File fh = tst_create(".empty");
	unsigned char buf[100] = { 0 };
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_read_at_all(fh, 10 * tst.rank, buf, 100, MPI_BYTE, &status));
	if (tst.strict)
		tst_count(&status, MPI_BYTE, 0, "of an empty file");
	OK(MPI_File_read_all(fh, buf, 100, MPI_BYTE, &status));
	if (tst.strict)
		tst_count(&status, MPI_BYTE, 0, "of an empty file, by pointer");
	tst_close(&fh);
}

/* All ranks write the same bytes to the same place: common, and well defined. */
static void same_place(void)
{
	MPI_File fh = tst_create(".same");
	unsigned char buf[PART];
	MPI_Offset size = -1;
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, PART, 25, 0);
	OK(MPI_File_write_at_all(fh, 0, buf, PART, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, PART, "written");
	tst_settle(fh);
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == PART, "size is %lld", (long long)size);
	memset(buf, 0, PART);
	OK(MPI_File_read_at_all(fh, 0, buf, PART, MPI_BYTE, &status));
	tst_same(buf, PART, 25, 0, "read");
	tst_close(&fh);
	tst_look(tst_file(".same"), buf, PART);
}

/* Neighbours overlap by half, with the same bytes. */
static void half_the_same(void)
{
	MPI_File fh = tst_create(".halfsame");
	unsigned char buf[2000];
	MPI_Offset at = 1000 * (MPI_Offset)tst.rank;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, 2000, 26, at);
	OK(MPI_File_write_at_all(fh, at, buf, 2000, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	at = 1000 * (MPI_Offset)(tst.size - 1 - tst.rank);
	OK(MPI_File_read_at_all(fh, at, buf, 2000, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_same(buf, 2000, 26, at, "read");
	tst_close(&fh);
}

/* Different bytes at the same place: one of the ranks wins each byte. */
static void conflict(void)
{
	MPI_File fh = tst_create(".conflict");
	unsigned char buf[PART];
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	memset(buf, 100 + tst.rank, PART);
	OK(MPI_File_write_at_all(fh, 0, buf, PART, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	OK(MPI_File_read_at_all(fh, 0, buf, PART, MPI_BYTE, MPI_STATUS_IGNORE));
	for (i = 0; i < PART; i++)
		CHECK(buf[i] >= 100 && buf[i] < 100 + tst.size, "byte %d is %d", i, buf[i]);
	tst_close(&fh);
}

/* Ranks are dealt single integers, like cards. */
static void dealt(void)
{
	enum { N = 500 };
	MPI_File fh = tst_create(".dealt");
	MPI_Datatype every;
	int i, v[N], next = (tst.rank + 1) % tst.size;

	if (fh == MPI_FILE_NULL)
		return;
	MPI_Type_create_resized(MPI_INT, 0, 4 * tst.size, &every);
	MPI_Type_commit(&every);
	OK(MPI_File_set_view(fh, 4 * tst.rank, MPI_INT, every, "native", MPI_INFO_NULL));
	for (i = 0; i < N; i++)
		v[i] = i * tst.size + tst.rank;
	OK(MPI_File_write_all(fh, v, N, MPI_INT, MPI_STATUS_IGNORE));
	tst_sync(fh);
	OK(MPI_File_set_view(fh, 4 * next, MPI_INT, every, "native", MPI_INFO_NULL));
	memset(v, 0, sizeof(v));
	OK(MPI_File_read_at_all(fh, 100, v + 100, N - 100, MPI_INT, MPI_STATUS_IGNORE));
	for (i = 100; i < N; i++)
		CHECK(v[i] == i * tst.size + next, "integer %d is %d", i, v[i]);
	MPI_Type_free(&every);
	tst_close(&fh);
}

/* One rank comes late. */
static void late(void)
{
	MPI_File fh = filled(".late", 27);

	if (fh == MPI_FILE_NULL)
		return;
	if (tst.rank == tst.size - 1)
		usleep(200000);
	everything(fh, 27);
	tst_close(&fh);
}

/* Between the halves of a split call each rank goes its own way. */
static void split_at(void)
{
	MPI_File fh = tst_create(".splitat");
	MPI_Offset at = (MPI_Offset)PART * tst.rank, size = -1;
	unsigned char buf[PART], back[PART];
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, PART, 28, at);
	OK(MPI_File_write_at_all_begin(fh, at, buf, PART, MPI_BYTE));
	OK(MPI_File_get_size(fh, &size));
	OK(MPI_File_write_at_all_end(fh, buf, &status));
	tst_count(&status, MPI_BYTE, PART, "write_at_all_end");
	tst_sync(fh);
	OK(MPI_File_read_at_all_begin(fh, at, back, PART, MPI_BYTE));
	OK(MPI_File_read_at(fh, at, buf, 100, MPI_BYTE, MPI_STATUS_IGNORE));
	OK(MPI_File_read_at_all_end(fh, back, &status));
	tst_count(&status, MPI_BYTE, PART, "read_at_all_end");
	tst_same(back, PART, 28, at, "read_at_all_begin");
	tst_same(buf, 100, 28, at, "an individual read between");
	everything(fh, 28);
	tst_close(&fh);
}

static void split_pointer(void)
{
	MPI_File fh = tst_create(".split");
	MPI_Offset base = (MPI_Offset)PART * tst.rank, at = -1;
	unsigned char buf[PART];
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, PART, 29, base);
	OK(MPI_File_seek(fh, base, MPI_SEEK_SET));
	OK(MPI_File_write_all_begin(fh, buf, 3000, MPI_BYTE));
	OK(MPI_File_write_all_end(fh, buf, &status));
	tst_count(&status, MPI_BYTE, 3000, "write_all_end");
	OK(MPI_File_write_all_begin(fh, buf + 3000, 1, MPI_BYTE));
	OK(MPI_File_write_all_end(fh, buf + 3000, MPI_STATUS_IGNORE));
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == base + PART, "the pointer is at %lld", (long long)at);
	tst_sync(fh);
	OK(MPI_File_seek(fh, base, MPI_SEEK_SET));
	memset(buf, 0, PART);
	OK(MPI_File_read_all_begin(fh, buf, PART, MPI_BYTE));
	OK(MPI_File_read_all_end(fh, buf, &status));
	tst_count(&status, MPI_BYTE, PART, "read_all_end");
	tst_same(buf, PART, 29, base, "read_all_begin");
	tst_close(&fh);
}

/* A file has one split call at a time. */
static void split_twice(void)
{
	MPI_File fh = filled(".split2", 30);
	unsigned char buf[10], other[10];

	if (fh == MPI_FILE_NULL)
		return;
	if (!tst.strict && TST_OPEN_MPI) {
		tst_skip("Open MPI's own never returns");
		goto out;
	}
	FAILS(MPI_File_read_all_end(fh, buf, MPI_STATUS_IGNORE), MPI_ERR_OTHER, MPI_ERR_IO,
	      MPI_ERR_REQUEST);
	OK(MPI_File_read_at_all_begin(fh, 0, buf, 10, MPI_BYTE));
	FAILS(MPI_File_read_at_all_begin(fh, 0, other, 10, MPI_BYTE), MPI_ERR_OTHER, MPI_ERR_IO,
	      MPI_ERR_REQUEST);
	OK(MPI_File_read_at_all_end(fh, buf, MPI_STATUS_IGNORE));
	tst_same(buf, 10, 30, 0, "read");
out:
	tst_close(&fh);
}

/* More than fits in any buffer that an implementation may have. */
static void large(void)
{
	enum { MINE = 6 << 20 };
	MPI_File fh = tst_create(".large");
	unsigned char *buf = malloc(MINE);
	MPI_Offset at = (MPI_Offset)MINE * tst.rank + 13;
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		goto out;
	tst_fill(buf, MINE, 31, at);
	OK(MPI_File_write_at_all(fh, at, buf, MINE, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, MINE, "written");
	tst_sync(fh);
	at = (MPI_Offset)MINE * (tst.size - 1 - tst.rank) + 13;
	memset(buf, 0, MINE);
	OK(MPI_File_read_at_all(fh, at, buf, MINE, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, MINE, "read");
	tst_same(buf, MINE, 31, at, "read");
	tst_close(&fh);
	tst_remove(tst_file(".large"));
out:
	free(buf);
}

/* Which rank has a cell: no rule says it. */
static int cell_owner(unsigned int cell)
{
	return (int)((cell * 2654435761u >> 7) % (unsigned int)tst.size);
}

/* A file type of the cells that a rank has. */
static MPI_Datatype cells_of(int rank, int cells, int cell, int *n)
{
	MPI_Aint *at = malloc(cells * sizeof(*at));
	MPI_Datatype type;
	int i;

	*n = 0;
	for (i = 0; i < cells; i++)
		if (cell_owner((unsigned int)i) == rank)
			at[(*n)++] = (MPI_Aint)i * cell;
	MPI_Type_create_hindexed_block(*n, cell, at, MPI_BYTE, &type);
	MPI_Type_commit(&type);
	free(at);
	return type;
}

static void cells_fill(unsigned char *buf, int rank, int cells, int cell)
{
	int i, k = 0;

	for (i = 0; i < cells; i++)
		if (cell_owner((unsigned int)i) == rank)
			tst_fill(buf + (size_t)cell * k++, cell, 33, (uint64_t)i * cell);
}

/* All write those of rank 0, each with bytes of its own: each cell is one rank's. */
static void irregular_over(MPI_File fh, int cells, int cell, unsigned char *buf,
			   unsigned char *want)
{
	MPI_Datatype type;
	int i, n, bad = 0;

	type = cells_of(0, cells, cell, &n);
	memset(buf, 'a' + tst.rank, (size_t)n * cell);
	OK(MPI_File_set_view(fh, 1000, MPI_BYTE, type, "native", MPI_INFO_NULL));
	OK(MPI_File_write_at_all(fh, 0, buf, n * cell, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	OK(MPI_File_read_at_all(fh, 0, want, n * cell, MPI_BYTE, MPI_STATUS_IGNORE));
	for (i = 0; i < n * cell; i++)
		bad += want[i] < 'a' || want[i] >= 'a' + tst.size || want[i] != want[i - i % cell];
	CHECK(!bad, "%d bytes of cells that all have written are wrong", bad);
	MPI_Type_free(&type);
}

/* Cells that follow no rule, so many that no rank should have to know all of them; those of another are read. */
static void irregular(void)
{
	enum { CELL = 24, EACH = 12000 };
	int cells = EACH * tst.size, other = (tst.rank + 1) % tst.size, n, m;
	unsigned char *buf = calloc(cells, CELL), *want = calloc(cells, CELL);
	MPI_Datatype mine = cells_of(tst.rank, cells, CELL, &n);
	MPI_Datatype theirs = cells_of(other, cells, CELL, &m);
	MPI_File fh = tst_create(".irregular");
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		goto out;
	cells_fill(buf, tst.rank, cells, CELL);
	OK(MPI_File_set_view(fh, 1000, MPI_BYTE, mine, "native", MPI_INFO_NULL));
	OK(MPI_File_write_all(fh, buf, n * CELL, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, n * CELL, "written");
	tst_sync(fh);
	cells_fill(want, other, cells, CELL);
	OK(MPI_File_set_view(fh, 1000, MPI_BYTE, theirs, "native", MPI_INFO_NULL));
	memset(buf, 0, (size_t)cells * CELL);
	OK(MPI_File_read_all(fh, buf, m * CELL, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, m * CELL, "read");
	CHECK(!memcmp(buf, want, (size_t)m * CELL), "another's cells are not what it wrote");
	/* Rank 0 alone has something to write. */
	OK(MPI_File_write_at_all(fh, 0, want, (tst.rank ? 0 : m) * CELL, MPI_BYTE, &status));
	OK(MPI_File_set_view(fh, 1000, MPI_BYTE, mine, "native", MPI_INFO_NULL));
	tst_sync(fh);
	cells_fill(want, tst.rank, cells, CELL);
	OK(MPI_File_read_at_all(fh, 0, buf, n * CELL, MPI_BYTE, &status));
	CHECK(!memcmp(buf, want, (size_t)n * CELL), "cells are not what was written last");
	/* All write the same cells: what was refused by some node was written by none, and is written in an order. */
	irregular_over(fh, cells, CELL, buf, want);
	tst_close(&fh);
out:
	MPI_Type_free(&mine);
	MPI_Type_free(&theirs);
	free(buf);
	free(want);
}

void collective_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "collective/at", at_all },
		{ "collective/pointer", by_pointer },
		{ "collective/uneven", uneven },
		{ "collective/one_works", one_works },
		{ "collective/nobody_works", nobody_works },
		{ "collective/over_the_end", over_the_end },
		{ "collective/empty", empty_file },
		{ "collective/same_place", same_place },
		{ "collective/half_the_same", half_the_same },
		{ "collective/conflict", conflict },
		{ "collective/dealt", dealt },
		{ "collective/late", late },
		{ "collective/split_at", split_at },
		{ "collective/split_pointer", split_pointer },
		{ "collective/split_twice", split_twice },
		{ "collective/large", large },
		{ "collective/irregular", irregular },
	};

	CASES(cases);
}
