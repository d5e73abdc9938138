// SPDX-License-Identifier: GPL-2.0-only
/* Types in memory: what is written is MPI_Pack's string of bytes, what is read is its MPI_Unpack. */
#include "tests/mpiio/functions/functions.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { ROOM = 16384 };

struct mem_buf {
	unsigned char bytes[ROOM], packed[ROOM], back[ROOM], want[ROOM];
};

/* Where a type's entries begin in the room, for those with negative bounds. */
enum { ORIGIN = ROOM / 2 };

static int pack(struct mem_buf *m, int count, MPI_Datatype type)
{
	int n = 0;

	MPI_Pack(m->bytes + ORIGIN, count, type, m->packed, ROOM, &n, MPI_COMM_SELF);
	return n;
}

static void unpack(struct mem_buf *m, int n, int count, MPI_Datatype type)
{
	int at = 0;

	memset(m->want, 0xee, ROOM);
	MPI_Unpack(m->packed, n, &at, m->want + ORIGIN, count, type, MPI_COMM_SELF);
}

/* Writes entries of a type collectively or alone, reads them as bytes, and by the type again. */
static void there_and_back(MPI_File fh, struct mem_buf *m, int count, MPI_Datatype type,
			   bool together)
{
	MPI_Offset at = (MPI_Offset)ROOM * tst.rank;
	MPI_Status status;
	int n;

	tst_fill(m->bytes, ROOM, 11 + tst.rank, 0);
	n = pack(m, count, type);
	if (together)
		OK(MPI_File_write_at_all(fh, at, m->bytes + ORIGIN, count, type, &status));
	else
		OK(MPI_File_write_at(fh, at, m->bytes + ORIGIN, count, type, &status));
	tst_count(&status, type, count, "written");
	tst_settle(fh);
	OK(MPI_File_read_at(fh, at, m->back, n, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, n, "bytes in the file");
	tst_bytes(m->back, m->packed, n, "bytes in the file");
	unpack(m, n, count, type);
	memset(m->back, 0xee, ROOM);
	if (together)
		OK(MPI_File_read_at_all(fh, at, m->back + ORIGIN, count, type, &status));
	else
		OK(MPI_File_read_at(fh, at, m->back + ORIGIN, count, type, &status));
	tst_count(&status, type, count, "read");
	tst_bytes(m->back, m->want, ROOM, "memory");
}

/* Takes the type. */
static void try_type(int count, MPI_Datatype type)
{
	struct mem_buf *m = malloc(sizeof(*m));
	MPI_File fh = tst_create(".mem");

	MPI_Type_commit(&type);
	if (m && fh != MPI_FILE_NULL) {
		there_and_back(fh, m, count, type, false);
		there_and_back(fh, m, count, type, true);
	}
	if (fh != MPI_FILE_NULL)
		tst_close(&fh);
	MPI_Type_free(&type);
	free(m);
}

static void vector(void)
{
	MPI_Datatype t;

	MPI_Type_vector(20, 3, 7, MPI_INT, &t);
	try_type(4, t);
}

static void backwards(void)
{
	MPI_Datatype t;

	MPI_Type_vector(20, 3, -7, MPI_SHORT, &t);
	try_type(3, t);
}

static void hvector_backwards(void)
{
	MPI_Datatype t;

	MPI_Type_create_hvector(9, 2, -33, MPI_DOUBLE, &t);
	try_type(1, t);
}

static void indexed(void)
{
	static const int len[] = { 3, 0, 1, 5 }, at[] = { 40, 2, 9, 20 };
	MPI_Datatype t;

	MPI_Type_indexed(4, len, at, MPI_FLOAT, &t);
	try_type(5, t);
}

static void hindexed_block(void)
{
	static const MPI_Aint at[] = { 101, -77, 350 };
	MPI_Datatype t;

	MPI_Type_create_hindexed_block(3, 5, at, MPI_SHORT, &t);
	try_type(4, t);
}

/* Holes within, and another after the last member. */
static void struct_with_holes(void)
{
	static const int len[] = { 1, 3, 2 };
	static const MPI_Aint at[] = { 0, 9, 32 };
	MPI_Datatype types[] = { MPI_CHAR, MPI_SHORT, MPI_DOUBLE }, t, padded;

	MPI_Type_create_struct(3, len, at, types, &t);
	MPI_Type_create_resized(t, 0, 64, &padded);
	MPI_Type_free(&t);
	try_type(17, padded);
}

/* A pair type: MPI_SHORT_INT has two bytes that are no data; MPICH's own writes them. */
static void pairs(void)
{
	MPI_Datatype t;

	if (!tst.strict && !TST_OPEN_MPI) {
		tst_skip("MPICH's own is wrong");
		return;
	}
	MPI_Type_contiguous(6, MPI_SHORT_INT, &t);
	try_type(10, t);
}

/* Entries that follow each other more closely than their data reach. */
static void interlocked(void)
{
	MPI_Datatype t, close;

	MPI_Type_vector(8, 1, 4, MPI_INT, &t);
	MPI_Type_create_resized(t, 0, 4, &close);
	MPI_Type_free(&t);
	try_type(4, close);
}

static void backwards_entries(void)
{
	MPI_Datatype t;

	MPI_Type_create_resized(MPI_INT, 0, -12, &t);
	try_type(30, t);
}

static void subarrays(int order)
{
	static const int size[] = { 6, 10, 8 }, sub[] = { 3, 4, 5 }, at[] = { 2, 1, 3 };
	MPI_Datatype t;

	MPI_Type_create_subarray(3, size, sub, at, order, MPI_INT, &t);
	try_type(2, t);
}

static void subarray_c(void)
{
	subarrays(MPI_ORDER_C);
}

static void subarray_fortran(void)
{
	subarrays(MPI_ORDER_FORTRAN);
}

/* A type of so many in one another that all are the same bytes. */
static MPI_Datatype tower(int levels)
{
	MPI_Datatype below = MPI_INT, type;
	int i;

	for (i = 0; i < levels; i++) {
		if (i % 3 == 0)
			MPI_Type_contiguous(1, below, &type);
		else if (i % 3 == 1)
			MPI_Type_dup(below, &type);
		else
			MPI_Type_create_resized(below, 0, 4, &type);
		if (below != MPI_INT)
			MPI_Type_free(&below);
		below = type;
	}
	MPI_Type_commit(&below);
	return below;
}

/* Hundreds of constructors are no more than one, if they say no more. */
static void towers(void)
{
	MPI_File fh = tst_create(".towers");
	MPI_Datatype flat;
	int out[7], in[7] = { 0 }, i;

	if (fh == MPI_FILE_NULL)
		return;
	flat = tower(500);
	for (i = 0; i < 7; i++)
		out[i] = 100 * tst.rank + i;
	OK(MPI_File_set_view(fh, (MPI_Offset)sizeof(out) * tst.rank, MPI_INT, flat, "native",
			     MPI_INFO_NULL));
	OK(MPI_File_write_at_all(fh, 0, out, 7, flat, MPI_STATUS_IGNORE));
	OK(MPI_File_read_at_all(fh, 0, in, 7, flat, MPI_STATUS_IGNORE));
	tst_bytes((unsigned char *)in, (unsigned char *)out, sizeof(out), "through 500 types");
	MPI_Type_free(&flat);
	tst_close(&fh);
}

static void nested(void)
{
	static const MPI_Aint at[] = { 700, 0 };
	MPI_Datatype a, b, c;

	MPI_Type_vector(3, 2, 5, MPI_BYTE, &a);
	MPI_Type_create_hvector(4, 2, 100, a, &b);
	MPI_Type_create_hindexed_block(2, 1, at, b, &c);
	MPI_Type_free(&a);
	MPI_Type_free(&b);
	try_type(3, c);
}

/* Every other of many numbers, by rows: nobody makes a copy of them all. */
static void no_copy(void)
{
	enum { ROWS = 512, COLUMNS = 1 << 14, MEGABYTES = ROWS * COLUMNS * 8 >> 20 };
	double *a = calloc(2 * ROWS * COLUMNS, sizeof(*a));
	MPI_Offset at = (MPI_Offset)ROWS * COLUMNS * 8 * tst.rank;
	MPI_File fh = tst.strict ? tst_create(".nocopy") : MPI_FILE_NULL;
	struct rusage before, after;
	MPI_Datatype row, t;
	long i, wrong = 0;

	MPI_Type_vector(COLUMNS, 1, 2, MPI_DOUBLE, &row);
	MPI_Type_create_hvector(ROWS, 1, 2 * COLUMNS * 8, row, &t);
	MPI_Type_commit(&t);
	for (i = 0; i < 2 * ROWS * COLUMNS; i++)
		a[i] = (double)i;
	getrusage(RUSAGE_SELF, &before);
	if (fh != MPI_FILE_NULL) {
		OK(MPI_File_write_at_all(fh, at, a, 1, t, MPI_STATUS_IGNORE));
		for (i = 0; i < ROWS * COLUMNS; i++)
			a[2 * i] = 0;
		OK(MPI_File_read_at_all(fh, at, a, 1, t, MPI_STATUS_IGNORE));
		getrusage(RUSAGE_SELF, &after);
		for (i = 0; i < 2 * ROWS * COLUMNS; i++)
			wrong += a[i] != (double)i;
		CHECK(!wrong, "%ld numbers differ", wrong);
		CHECK((after.ru_maxrss - before.ru_maxrss) >> 10 < MEGABYTES,
		      "%d MB take %ld MB more", MEGABYTES,
		      (after.ru_maxrss - before.ru_maxrss) >> 10);
		tst_close(&fh);
		tst_remove(tst_file(".nocopy"));
	}
	MPI_Type_free(&row);
	MPI_Type_free(&t);
	free(a);
}

/* Absolute addresses. */
static void bottom(void)
{
	int a[5], b[3], i, len[] = { 3, 5 }, back[8] = { 0 };
	MPI_File fh = tst_create(".bottom");
	MPI_Aint at[2];
	MPI_Datatype t;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < 8; i++)
		*(i < 3 ? &b[i] : &a[i - 3]) = 100 * tst.rank + i;
	MPI_Get_address(b, &at[0]);
	MPI_Get_address(a, &at[1]);
	MPI_Type_create_hindexed(2, len, at, MPI_INT, &t);
	MPI_Type_commit(&t);
	OK(MPI_File_write_at_all(fh, 32 * tst.rank, MPI_BOTTOM, 1, t, MPI_STATUS_IGNORE));
	tst_settle(fh);
	OK(MPI_File_read_at(fh, 32 * tst.rank, back, 8, MPI_INT, MPI_STATUS_IGNORE));
	for (i = 0; i < 8; i++)
		CHECK(back[i] == 100 * tst.rank + i, "integer %d is %d", i, back[i]);
	memset(a, 0, sizeof(a));
	memset(b, 0, sizeof(b));
	OK(MPI_File_read_at_all(fh, 32 * tst.rank, MPI_BOTTOM, 1, t, MPI_STATUS_IGNORE));
	for (i = 0; i < 8; i++)
		CHECK((i < 3 ? b[i] : a[i - 3]) == 100 * tst.rank + i, "integer %d, back", i);
	MPI_Type_free(&t);
	tst_close(&fh);
}

/* The same memory may be written from more than once. */
static void repeated(void)
{
	static const int at[] = { 0, 0, 1, 0 };
	MPI_File fh = tst_create(".repeated");
	int v[2] = { 7, 8 }, back[4] = { 0 };
	MPI_Datatype t;

	if (fh == MPI_FILE_NULL)
		return;
	MPI_Type_create_indexed_block(4, 1, at, MPI_INT, &t);
	MPI_Type_commit(&t);
	OK(MPI_File_write_at(fh, 16 * tst.rank, v, 1, t, MPI_STATUS_IGNORE));
	OK(MPI_File_read_at(fh, 16 * tst.rank, back, 4, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(back[0] == 7 && back[1] == 7 && back[2] == 8 && back[3] == 7, "%d %d %d %d", back[0],
	      back[1], back[2], back[3]);
	MPI_Type_free(&t);
	tst_close(&fh);
}

/*
 * The end of the file cuts an entry: its bytes before the cut arrive, those after it are untouched.
 * MPICH's own counts what was asked for, and brings whatever its buffer held.
 */
static void cut(void)
{
	MPI_File fh = tst_create(".cut");
	unsigned char buf[400];
	MPI_Datatype t;
	MPI_Status status;
	int i, n = -1;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, 50, 12, 0);
	if (!tst.rank)
		OK(MPI_File_write_at(fh, 0, buf, 50, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	MPI_Type_vector(10, 2, 4, MPI_BYTE, &t);
	MPI_Type_commit(&t);
	memset(buf, 0xee, sizeof(buf));
	OK(MPI_File_read_at(fh, 0, buf, 5, t, &status));
	MPI_Get_elements(&status, t, &n);
	CHECK(n == 50 || !(tst.strict || TST_OPEN_MPI), "%d elements, not 50", n);
	for (i = 0; i < (tst.strict || TST_OPEN_MPI ? 100 : 50); i++) {
		/* An entry has an extent of 38. */
		int at = 38 * (i / 20) + i % 20 / 2 * 4 + i % 2;

		CHECK(buf[at] == (i < 50 ? tst_byte(12, i) : 0xee), "byte %d is 0x%02x", i,
		      buf[at]);
	}
	MPI_Type_free(&t);
	tst_close(&fh);
}

void memory_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "memory/vector", vector },
		{ "memory/backwards", backwards },
		{ "memory/hvector_backwards", hvector_backwards },
		{ "memory/indexed", indexed },
		{ "memory/hindexed_block", hindexed_block },
		{ "memory/struct", struct_with_holes },
		{ "memory/pairs", pairs },
		{ "memory/interlocked", interlocked },
		{ "memory/backwards_entries", backwards_entries },
		{ "memory/subarray_c", subarray_c },
		{ "memory/subarray_fortran", subarray_fortran },
		{ "memory/nested", nested },
		{ "memory/no_copy", no_copy },
		{ "memory/towers", towers },
		{ "memory/bottom", bottom },
		{ "memory/repeated", repeated },
		{ "memory/cut", cut },
	};

	CASES(cases);
}
