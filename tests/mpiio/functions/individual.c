// SPDX-License-Identifier: GPL-2.0-only
/* Blocking calls of one rank: explicit offsets, the individual pointer, short counts. */
#include "tests/mpiio/functions/functions.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 1000 };

/* Each rank writes its part of the file by write_at; the file is seen by all. */
static MPI_File filled(const char *suffix, uint64_t seed)
{
	MPI_File fh = tst_create(suffix);
	unsigned char buf[PART];
	MPI_Offset at = (MPI_Offset)PART * tst.rank;
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return fh;
	tst_fill(buf, PART, seed, at);
	OK(MPI_File_write_at(fh, at, buf, PART, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, PART, "write_at");
	tst_sync(fh);
	return fh;
}

static void explicit_offsets(void)
{
	MPI_File fh = filled(".at", 1);
	size_t all = (size_t)PART * tst.size;
	unsigned char *buf = malloc(all);
	MPI_Offset at = 77;
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		goto out;
	OK(MPI_File_read_at(fh, 0, buf, (int)all, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, (int)all, "read_at");
	tst_same(buf, all, 1, 0, "read_at");
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == 0, "explicit offsets moved the pointer to %lld", (long long)at);
	tst_close(&fh);
	tst_look(tst_file(".at"), buf, all);
out:
	free(buf);
}

static void pointer(void)
{
	MPI_File fh = tst_create(".ptr");
	MPI_Offset base = (MPI_Offset)PART * tst.rank, at = -1;
	unsigned char buf[PART];
	MPI_Status status;
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, PART, 2, base);
	OK(MPI_File_seek(fh, base, MPI_SEEK_SET));
	for (i = 0; i < 10; i++)
		OK(MPI_File_write(fh, buf + 100 * i, 100, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, 100, "write");
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == base + PART, "after writing the pointer is at %lld", (long long)at);
	tst_sync(fh);
	OK(MPI_File_seek(fh, -PART, MPI_SEEK_CUR));
	memset(buf, 0, PART);
	for (i = 0; i < 4; i++)
		OK(MPI_File_read(fh, buf + 250 * i, 250, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, 250, "read");
	tst_same(buf, PART, 2, base, "read");
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == base + PART, "after reading the pointer is at %lld", (long long)at);
	tst_close(&fh);
}

static void seeks(void)
{
	MPI_File fh = filled(".seek", 3);
	MPI_Offset all = (MPI_Offset)PART * tst.size, at = -1;
	unsigned char buf[10];

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_seek(fh, 0, MPI_SEEK_END));
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == all, "the end is at %lld, not %lld", (long long)at, (long long)all);
	OK(MPI_File_seek(fh, -10, MPI_SEEK_END));
	OK(MPI_File_read(fh, buf, 10, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_same(buf, 10, 3, all - 10, "the last bytes");
	OK(MPI_File_seek(fh, 5, MPI_SEEK_SET));
	OK(MPI_File_seek(fh, 7, MPI_SEEK_CUR));
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == 12, "5 and 7 make %lld", (long long)at);
	/* Beyond the end is a place, too. */
	OK(MPI_File_seek(fh, 1000, MPI_SEEK_END));
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == all + 1000, "beyond the end: %lld", (long long)at);
	OK(MPI_File_get_size(fh, &at));
	CHECK(at == all, "a seek changed the size to %lld", (long long)at);
	tst_close(&fh);
}

/* Open MPI's own says MPI_ERR_OTHER of some, and has moved the pointer by then. */
static void bad_seeks(void)
{
	int other = tst.strict ? MPI_ERR_ARG : MPI_ERR_OTHER;
	MPI_File fh = filled(".badseek", 3);
	MPI_Offset at = -1;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_seek(fh, 20, MPI_SEEK_SET));
	FAILS(MPI_File_seek(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG, other);
	FAILS(MPI_File_seek(fh, -21, MPI_SEEK_CUR), MPI_ERR_ARG, other);
	FAILS(MPI_File_seek(fh, -(MPI_Offset)PART * tst.size - 1, MPI_SEEK_END), MPI_ERR_ARG,
	      other);
	FAILS(MPI_File_seek(fh, 0, 12345), MPI_ERR_ARG, other);
	OK(MPI_File_get_position(fh, &at));
	if (tst.strict)
		CHECK(at == 20, "refused seeks moved the pointer to %lld", (long long)at);
	tst_close(&fh);
}

static void short_reads(void)
{
	MPI_File fh = filled(".short", 4);
	MPI_Offset all = (MPI_Offset)PART * tst.size, at = -1;
	unsigned char buf[100];
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	memset(buf, 0xee, sizeof(buf));
	OK(MPI_File_read_at(fh, all - 30, buf, 100, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, 30, "over the end");
	tst_same(buf, 30, 4, all - 30, "over the end");
	CHECK(buf[30] == 0xee && buf[99] == 0xee, "bytes after the end were touched");
	OK(MPI_File_read_at(fh, all, buf, 100, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, 0, "at the end");
	OK(MPI_File_read_at(fh, all + 12345, buf, 100, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, 0, "after the end");
	OK(MPI_File_seek(fh, -25, MPI_SEEK_END));
	OK(MPI_File_read(fh, buf, 60, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, 25, "by pointer");
	/*
	 * The standard has the pointer after what was asked for or after what there was: "the next data
	 * item after the last one that will be accessed".
	 */
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == all || at == all + 35, "the pointer is at %lld", (long long)(at - all));
	tst_close(&fh);
}

/* 7 integers are read as entries of 3: MPI_Get_count has no whole number, MPI_Get_elements has 7. */
static void part_of_an_entry(void)
{
	MPI_File fh = tst_create(".elements");
	int i, v[12] = { 0 }, n = -1;
	MPI_Datatype three;
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < 7; i++)
		v[i] = 10 + i;
	if (!tst.rank)
		OK(MPI_File_write_at(fh, 0, v, 7, MPI_INT, &status));
	tst_sync(fh);
	memset(v, 0, sizeof(v));
	MPI_Type_contiguous(3, MPI_INT, &three);
	MPI_Type_commit(&three);
	OK(MPI_File_read_at(fh, 0, v, 4, three, &status));
	tst_count(&status, three, MPI_UNDEFINED, "of 2 1/3 entries");
	MPI_Get_elements(&status, three, &n);
	CHECK(n == 7, "%d elements, not 7", n);
	for (i = 0; i < 12; i++)
		CHECK(v[i] == (i < 7 ? 10 + i : 0), "integer %d is %d", i, v[i]);
	MPI_Type_free(&three);
	tst_close(&fh);
}

static void nothing(void)
{
	MPI_File fh = tst_create(".nothing");
	MPI_Offset size = -1, at = -1;
	MPI_Status status;
	int v = 5;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_write_at(fh, 1000, &v, 0, MPI_INT, &status));
	tst_count(&status, MPI_INT, 0, "write_at of nothing");
	OK(MPI_File_write(fh, &v, 0, MPI_INT, &status));
	OK(MPI_File_write_at_all(fh, 5000, NULL, 0, MPI_INT, &status));
	OK(MPI_File_read(fh, &v, 0, MPI_INT, &status));
	tst_count(&status, MPI_INT, 0, "read of nothing");
	OK(MPI_File_read_at_all(fh, 5000, NULL, 0, MPI_INT, &status));
	tst_count(&status, MPI_INT, 0, "read_at_all of nothing");
	tst_barrier();
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == 0, "writing nothing made %lld bytes", (long long)size);
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == 0, "writing nothing moved the pointer to %lld", (long long)at);
	CHECK(v == 5, "reading nothing changed the buffer");
	tst_close(&fh);
}

static void holes(void)
{
	MPI_File fh = tst_create(".holes");
	unsigned char buf[3000], b = 0xff;
	MPI_Offset at = 100000 + 3000 * (MPI_Offset)tst.rank, size;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_write_at(fh, at + 1500, &b, 1, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	memset(buf, 0xee, sizeof(buf));
	OK(MPI_File_read_at(fh, at - 1499, buf, 2999, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK(buf[2999] == 0xee, "a byte too many");
	tst_zeros(buf, 2999, "a hole");
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == 100000 + 3000 * (MPI_Offset)tst.size - 1499, "size %lld", (long long)size);
	tst_close(&fh);
}

/* Offsets beyond 4 GB. */
static void far_away(void)
{
	MPI_File fh = tst_create(".far");
	MPI_Offset at = ((MPI_Offset)5 << 30) + 1234 + 8 * tst.rank, size = -1, where = -1;
	double d = 3.25 + tst.rank;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_write_at(fh, at, &d, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == ((MPI_Offset)5 << 30) + 1234 + 8 * tst.size, "size %lld", (long long)size);
	d = 0;
	OK(MPI_File_seek(fh, at, MPI_SEEK_SET));
	OK(MPI_File_read(fh, &d, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
	CHECK(d == 3.25 + tst.rank, "read %g", d);
	OK(MPI_File_get_position(fh, &where));
	CHECK(where == at + 8, "position %lld", (long long)where);
	d = 1;
	OK(MPI_File_read_at(fh, (MPI_Offset)3 << 30, &d, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
	CHECK(d == 0, "a hole has %g", d);
	tst_close(&fh);
	tst_remove(tst_file(".far"));
}

static void bad_arguments(void)
{
	MPI_File fh = filled(".badarg", 5);
	unsigned char buf[8] = { 0 };
	MPI_Datatype type;

	if (fh == MPI_FILE_NULL)
		return;
	/* Open MPI's own takes offsets below zero, does nothing, and says that all went well. */
	if (tst.strict) {
		FAILS(MPI_File_read_at(fh, -1, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
		FAILS(MPI_File_write_at(fh, -8, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
		FAILS(MPI_File_write_at_all(fh, -8, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE),
		      MPI_ERR_ARG);
	}
	FAILS(MPI_File_read_at(fh, 0, buf, -1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_COUNT,
	      MPI_ERR_ARG);
	FAILS(MPI_File_write(fh, buf, -1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_COUNT, MPI_ERR_ARG);
	FAILS(MPI_File_write(fh, buf, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
	MPI_Type_contiguous(2, MPI_BYTE, &type);
	FAILS(MPI_File_write(fh, buf, 1, type, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
	MPI_Type_free(&type);
	tst_close(&fh);
}

/* Many small pieces, back to front, then whole. */
static void many_small(void)
{
	enum { N = 300, PIECE = 7 };
	MPI_File fh = tst_create(".small");
	unsigned char buf[N * PIECE];
	MPI_Offset base = (MPI_Offset)N * PIECE * tst.rank;
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, sizeof(buf), 6, base);
	for (i = N - 1; i >= 0; i--)
		OK(MPI_File_write_at(fh, base + i * PIECE, buf + i * PIECE, PIECE, MPI_BYTE,
				     MPI_STATUS_IGNORE));
	tst_sync(fh);
	memset(buf, 0, sizeof(buf));
	base = (base + N * PIECE) % ((MPI_Offset)N * PIECE * tst.size);
	OK(MPI_File_read_at(fh, base, buf, sizeof(buf), MPI_BYTE, MPI_STATUS_IGNORE));
	tst_same(buf, sizeof(buf), 6, base, "the next rank's");
	tst_close(&fh);
}

void individual_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "individual/at", explicit_offsets },
		{ "individual/pointer", pointer },
		{ "individual/seek", seeks },
		{ "individual/bad_seek", bad_seeks },
		{ "individual/short", short_reads },
		{ "individual/elements", part_of_an_entry },
		{ "individual/nothing", nothing },
		{ "individual/holes", holes },
		{ "individual/far", far_away },
		{ "individual/bad_arguments", bad_arguments },
		{ "individual/many_small", many_small },
	};

	CASES(cases);
}
