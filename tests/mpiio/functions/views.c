// SPDX-License-Identifier: GPL-2.0-only
/* MPI_File_set_view, _get_view, _get_byte_offset, _get_type_extent. */
#include "tests/mpiio/functions/functions.h"
#include <sys/resource.h>
#include <stdlib.h>
#include <string.h>

static bool is_named(MPI_Datatype type)
{
	int ni, na, nt, combiner;

	MPI_Type_get_envelope(type, &ni, &na, &nt, &combiner);
	return combiner == MPI_COMBINER_NAMED;
}

/* What get_view returns: sizes and extents of types, which are copies if they are not named. */
static void same_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype)
{
	char datarep[MPI_MAX_DATAREP_STRING + 1] = "";
	MPI_Datatype want[2] = { etype, filetype },
		     have[2] = { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL };
	MPI_Aint lb[2], extent[2];
	MPI_Offset at = -1;
	int i, size[2];

	if (!OK(MPI_File_get_view(fh, &at, &have[0], &have[1], datarep)))
		return;
	CHECK(at == disp, "displacement %lld, not %lld", (long long)at, (long long)disp);
	CHECK(!strcmp(datarep, "native"), "data representation \"%s\"", datarep);
	for (i = 0; i < 2; i++) {
		MPI_Type_size(have[i], &size[0]);
		MPI_Type_size(want[i], &size[1]);
		MPI_Type_get_extent(have[i], &lb[0], &extent[0]);
		MPI_Type_get_extent(want[i], &lb[1], &extent[1]);
		CHECK(size[0] == size[1] && lb[0] == lb[1] && extent[0] == extent[1],
		      "%s: size %d, from %lld on, extent %lld", i ? "file type" : "etype", size[0],
		      (long long)lb[0], (long long)extent[0]);
		if (!is_named(have[i]))
			MPI_Type_free(&have[i]);
		else
			CHECK(have[i] == want[i] || !is_named(want[i]), "another named type");
	}
}

static void at_first(void)
{
	MPI_File fh = tst_create(".view0");

	if (fh == MPI_FILE_NULL)
		return;
	same_view(fh, 0, MPI_BYTE, MPI_BYTE);
	tst_close(&fh);
}

static void told(void)
{
	MPI_File fh = tst_create(".view1");
	MPI_Datatype two, file;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_set_view(fh, 1000, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	same_view(fh, 1000, MPI_INT, MPI_INT);
	MPI_Type_contiguous(2, MPI_INT, &two);
	MPI_Type_vector(3, 2, 5, two, &file);
	MPI_Type_commit(&two);
	MPI_Type_commit(&file);
	OK(MPI_File_set_view(fh, 16, two, file, "native", MPI_INFO_NULL));
	same_view(fh, 16, two, file);
	same_view(fh, 16, two, file);
	MPI_Type_free(&two);
	MPI_Type_free(&file);
	tst_close(&fh);
}

static void byte_offsets(void)
{
	static const int blocks[] = { 0, 1, 5, 6, 10, 11 };
	MPI_File fh = tst_create(".view2");
	MPI_Offset byte = -1;
	MPI_Datatype file;
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	MPI_Type_vector(3, 2, 5, MPI_INT, &file);
	MPI_Type_commit(&file);
	OK(MPI_File_set_view(fh, 100, MPI_INT, file, "native", MPI_INFO_NULL));
	for (i = 0; i < 24; i++) {
		/* The extent is 12 integers. */
		MPI_Offset want = 100 + 4 * (12 * (i / 6) + blocks[i % 6]);

		OK(MPI_File_get_byte_offset(fh, i, &byte));
		CHECK(byte == want, "entry %d is at %lld, not %lld", i, (long long)byte,
		      (long long)want);
	}
	MPI_Type_free(&file);
	tst_close(&fh);
}

/* A new view puts both pointers back. */
static void pointers(void)
{
	MPI_File fh = tst_create(".view3");
	MPI_Offset at = -1;
	int v = 3;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_seek(fh, 50, MPI_SEEK_SET));
	OK(MPI_File_seek_shared(fh, 60, MPI_SEEK_SET));
	OK(MPI_File_set_view(fh, 8 + 4 * tst.rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == 0, "the individual pointer is at %lld", (long long)at);
	OK(MPI_File_get_position_shared(fh, &at));
	CHECK(at == 0, "the shared pointer is at %lld", (long long)at);
	OK(MPI_File_write(fh, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == 1, "after an integer the pointer is at %lld", (long long)at);
	tst_close(&fh);
}

/* Types may be freed as soon as they are set. */
static void freed(void)
{
	MPI_File fh = tst_create(".view4");
	MPI_Datatype etype, file;
	int i, v[10], back[30];
	MPI_Status status;

	if (fh == MPI_FILE_NULL)
		return;
	MPI_Type_contiguous(1, MPI_INT, &etype);
	MPI_Type_commit(&etype);
	MPI_Type_create_resized(etype, 0, 12, &file);
	MPI_Type_commit(&file);
	OK(MPI_File_set_view(fh, 4096 * tst.rank, etype, file, "native", MPI_INFO_NULL));
	MPI_Type_free(&file);
	MPI_Type_free(&etype);
	for (i = 0; i < 10; i++)
		v[i] = 100 * tst.rank + i + 1;
	OK(MPI_File_write_all(fh, v, 10, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_set_view(fh, 4096 * tst.rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	OK(MPI_File_read_at(fh, 0, back, 28, MPI_INT, &status));
	tst_count(&status, MPI_INT, 28, "back");
	/* MPICH's own puts whatever its buffer held into the holes. */
	for (i = 0; i < 28; i += tst.strict ? 1 : 3)
		CHECK(back[i] == (i % 3 ? 0 : v[i / 3]), "integer %d is %d", i, back[i]);
	tst_close(&fh);
}

/* Through a file type, its holes in the file stay as they were. */
static void holes_stay(void)
{
	enum { N = 999 };
	MPI_File fh = tst_create(".view5");
	unsigned char all[N], mine[333];
	MPI_Datatype file;
	int i, third = tst.rank % 3;

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(all, N, 71, 0);
	if (!tst.rank)
		OK(MPI_File_write_at(fh, 0, all, N, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	MPI_Type_create_resized(MPI_BYTE, 0, 3, &file);
	MPI_Type_commit(&file);
	OK(MPI_File_set_view(fh, third, MPI_BYTE, file, "native", MPI_INFO_NULL));
	for (i = 0; i < 333; i++)
		mine[i] = tst_byte(72, 3 * i + third);
	OK(MPI_File_write_all(fh, mine, 333, MPI_BYTE, MPI_STATUS_IGNORE));
	OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	tst_sync(fh);
	OK(MPI_File_read_at_all(fh, 0, all, N, MPI_BYTE, MPI_STATUS_IGNORE));
	for (i = 0; i < N; i++)
		CHECK(all[i] == tst_byte(i % 3 < tst.size ? 72 : 71, i), "byte %d is 0x%02x", i,
		      all[i]);
	MPI_Type_free(&file);
	tst_close(&fh);
	tst_look(tst_file(".view5"), all, N);
}

/* A matrix is written by rows and read by columns. */
static void transposed(void)
{
	enum { ROWS = 24 };
	MPI_File fh = tst_create(".view6");
	int i, k, cols = 5 * tst.size, v[ROWS * 5], *row = malloc(cols * sizeof(*row));
	MPI_Datatype stripe;

	if (fh == MPI_FILE_NULL)
		goto out;
	for (i = tst.rank; i < ROWS; i += tst.size) {
		for (k = 0; k < cols; k++)
			row[k] = 1000 * i + k;
		OK(MPI_File_write_at(fh, (MPI_Offset)4 * cols * i, row, cols, MPI_INT,
				     MPI_STATUS_IGNORE));
	}
	tst_sync(fh);
	MPI_Type_vector(ROWS, 5, cols, MPI_INT, &stripe);
	MPI_Type_commit(&stripe);
	OK(MPI_File_set_view(fh, 20 * tst.rank, MPI_INT, stripe, "native", MPI_INFO_NULL));
	OK(MPI_File_read_all(fh, v, ROWS * 5, MPI_INT, MPI_STATUS_IGNORE));
	for (i = 0; i < ROWS * 5; i++)
		CHECK(v[i] == 1000 * (i / 5) + 5 * tst.rank + i % 5, "element %d is %d", i, v[i]);
	MPI_Type_free(&stripe);
	tst_close(&fh);
out:
	free(row);
}

/* An etype of several members, and a file type of several etypes. */
static void members(void)
{
	static const int len[] = { 1, 2 }, at[] = { 0, 2, 3 };
	static const MPI_Aint where[] = { 0, 8 };
	MPI_Datatype types[] = { MPI_DOUBLE, MPI_INT }, etype, file, wide;
	MPI_File fh = tst_create(".view7");
	MPI_Offset byte = -1;
	unsigned char buf[6 * 16], back[6 * 16];
	int i;

	if (fh == MPI_FILE_NULL)
		return;
	MPI_Type_create_struct(2, len, where, types, &etype);
	MPI_Type_create_indexed_block(3, 1, at, etype, &file);
	MPI_Type_create_resized(file, 0, 16 * 5 * tst.size, &wide);
	MPI_Type_commit(&etype);
	MPI_Type_commit(&wide);
	OK(MPI_File_set_view(fh, 16 * 5 * tst.rank, etype, wide, "native", MPI_INFO_NULL));
	OK(MPI_File_get_byte_offset(fh, 5, &byte));
	CHECK(byte == 16 * (5 * tst.rank + 5 * tst.size + 3), "entry 5 is at %lld",
	      (long long)byte);
	tst_fill(buf, sizeof(buf), 73, 1000 * tst.rank);
	OK(MPI_File_write_at_all(fh, 0, buf, 6, etype, MPI_STATUS_IGNORE));
	tst_settle(fh);
	for (i = 0; i < 6; i++)
		OK(MPI_File_read_at(fh, i, back + 16 * i, 1, etype, MPI_STATUS_IGNORE));
	tst_bytes(back, buf, sizeof(buf), "entry by entry");
	OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	tst_sync(fh);
	OK(MPI_File_read_at(fh, byte, back, 16, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_bytes(back, buf + 80, 16, "entry 5");
	MPI_Type_free(&etype);
	MPI_Type_free(&file);
	MPI_Type_free(&wide);
	tst_close(&fh);
}

/* A lower bound above zero, and one below: the first byte is at the displacement and its own place. */
static void lower_bounds(void)
{
	MPI_File fh = tst_create(".view8");
	MPI_Offset byte = -1, base = 1000 * (MPI_Offset)tst.rank;
	static const int at[] = { 3, 4 };
	MPI_Datatype two, below;
	int i, v[6] = { 1, 2, 3, 4, 5, 6 }, back[6] = { 0 };

	if (fh == MPI_FILE_NULL)
		return;
	MPI_Type_create_indexed_block(2, 1, at, MPI_INT, &two);
	MPI_Type_create_resized(two, -8, 40, &below);
	MPI_Type_commit(&below);
	MPI_Type_commit(&two);
	/* The extent of "two" is that of its data: tiles lie side by side from byte 12 on. */
	OK(MPI_File_set_view(fh, base, MPI_INT, two, "native", MPI_INFO_NULL));
	OK(MPI_File_get_byte_offset(fh, 3, &byte));
	CHECK(byte == base + 24, "above: entry 3 is at %lld", (long long)(byte - base));
	/* MPICH's own shifts all by the lower bound below zero. */
	if (!tst.strict && !TST_OPEN_MPI)
		goto out;
	OK(MPI_File_set_view(fh, base, MPI_INT, below, "native", MPI_INFO_NULL));
	OK(MPI_File_get_byte_offset(fh, 3, &byte));
	CHECK(byte == base + 56, "below: entry 3 is at %lld", (long long)(byte - base));
	OK(MPI_File_write_all(fh, v, 6, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	for (i = 0; i < 6; i++)
		OK(MPI_File_read_at(fh, base + 12 + 40 * (i / 2) + 4 * (i % 2), &back[i], 1,
				    MPI_INT, MPI_STATUS_IGNORE));
	tst_bytes(back, v, sizeof(v), "below");
out:
	MPI_Type_free(&two);
	MPI_Type_free(&below);
	tst_close(&fh);
}

/* The end, as a view counts it. */
static void the_end(void)
{
	MPI_File fh;
	int i, v[20], back[10];
	MPI_Offset at = -1;
	MPI_Datatype file;
	MPI_Status status;

	if (!tst.strict && TST_OPEN_MPI) {
		tst_skip("Open MPI's own counts another end");
		return;
	}
	fh = tst_create(".view9");
	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < 20; i++)
		v[i] = i;
	if (!tst.rank)
		OK(MPI_File_write_at(fh, 0, v, 80, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	MPI_Type_create_resized(MPI_INT, 0, 16, &file);
	MPI_Type_commit(&file);
	OK(MPI_File_set_view(fh, 4 * (tst.rank % 4), MPI_INT, file, "native", MPI_INFO_NULL));
	OK(MPI_File_seek(fh, 0, MPI_SEEK_END));
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == 5, "the end is at %lld", (long long)at);
	OK(MPI_File_seek(fh, -2, MPI_SEEK_END));
	OK(MPI_File_read(fh, back, 2, MPI_INT, &status));
	tst_count(&status, MPI_INT, 2, "the last two");
	CHECK(back[0] == 12 + tst.rank % 4 && back[1] == 16 + tst.rank % 4, "read %d and %d",
	      back[0], back[1]);
	/* MPICH's own counts all 10, and Open MPI's never returns. */
	if (tst.strict) {
		OK(MPI_File_read_at(fh, 3, back, 10, MPI_INT, &status));
		tst_count(&status, MPI_INT, 2, "over the end");
		OK(MPI_File_read_at_all(fh, 3 + tst.rank, back, 10, MPI_INT, &status));
		tst_count(&status, MPI_INT, tst.rank < 2 ? 2 - tst.rank : 0, "together");
	}
	MPI_Type_free(&file);
	tst_close(&fh);
}

/* In sequential files a view may begin where the file's pointer is. */
static void displacement_current(void)
{
	MPI_File fh;
	int v = 1 + tst.rank, w = -1;

	if (!tst.strict && TST_OPEN_MPI) {
		tst_skip("Open MPI's own refuses it");
		return;
	}
	fh = tst_create(".view10");
	if (fh == MPI_FILE_NULL)
		return;
	FAILS(MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
				MPI_INFO_NULL),
	      MPI_ERR_ARG, MPI_ERR_UNSUPPORTED_OPERATION);
	OK(MPI_File_write_ordered(fh, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_write_ordered(fh, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	tst_close(&fh);
	fh = tst_open(tst_file(".view10"), MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_read_ordered(fh, &w, 4, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_barrier();
	OK(MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
			     MPI_INFO_NULL));
	w = -1;
	OK(MPI_File_read_ordered(fh, &w, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(w == v, "read %d", w);
	tst_close(&fh);
}

static void bad_views(void)
{
	MPI_File fh = tst_create(".view11");
	MPI_Datatype three;

	if (fh == MPI_FILE_NULL)
		return;
	/* Open MPI's own has other classes for these. */
	FAILS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "no such representation", MPI_INFO_NULL),
	      MPI_ERR_UNSUPPORTED_DATAREP,
	      tst.strict ? MPI_ERR_UNSUPPORTED_DATAREP : MPI_ERR_OTHER);
	FAILS(MPI_File_set_view(fh, 0, MPI_INT, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL),
	      MPI_ERR_TYPE, MPI_ERR_ARG);
	FAILS(MPI_File_set_view(fh, 0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_INFO_NULL),
	      MPI_ERR_TYPE, MPI_ERR_ARG);
	if (tst.strict) {
		MPI_Type_contiguous(3, MPI_BYTE, &three);
		MPI_Type_commit(&three);
		FAILS(MPI_File_set_view(fh, -5, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
		      MPI_ERR_ARG);
		/* A file type is made of whole etypes, which have one size on all ranks. */
		FAILS(MPI_File_set_view(fh, 0, MPI_INT, three, "native", MPI_INFO_NULL),
		      MPI_ERR_TYPE, MPI_ERR_ARG);
		if (tst.size > 1)
			FAILS(MPI_File_set_view(fh, 0, tst.rank ? MPI_BYTE : MPI_INT, MPI_INT,
						"native", MPI_INFO_NULL),
			      MPI_ERR_NOT_SAME, MPI_ERR_TYPE, MPI_ERR_ARG);
		same_view(fh, 0, MPI_BYTE, MPI_BYTE);
		MPI_Type_free(&three);
	}
	tst_close(&fh);
}

/* "Displacements are not negative and do not decrease; in a file to be written nothing overlaps" (MPI 4.0, 14.1.1). */
static void refused_types(void)
{
	static const struct {
		int len[2], at[2], may_be_read;
	} list[] = {
		{ { 1, 1 }, { -2, 2 }, 0 },
		{ { 1, 1 }, { 3, 0 }, 0 },
		{ { 3, 1 }, { 0, 1 }, 1 },
	};
	char text[MPI_MAX_ERROR_STRING] = "";
	MPI_File fh;
	MPI_Datatype t;
	int mode, i, n, err;

	if (!tst.strict) {
		tst_skip("MPICH's own does not survive it, Open MPI's has other classes or none");
		return;
	}
	fh = tst_create(".view15");
	for (mode = 0; mode < 2 && fh != MPI_FILE_NULL; mode++) {
		for (i = 0; i < 3; i++) {
			MPI_Type_indexed(2, list[i].len, list[i].at, MPI_INT, &t);
			MPI_Type_commit(&t);
			if (mode && list[i].may_be_read) {
				OK(MPI_File_set_view(fh, 0, MPI_INT, t, "native", MPI_INFO_NULL));
			} else {
				FAILS(MPI_File_set_view(fh, 0, MPI_INT, t, "native", MPI_INFO_NULL),
				      MPI_ERR_IO);
				FAILS(MPI_File_set_view(fh, 0, t, t, "native", MPI_INFO_NULL),
				      MPI_ERR_IO);
			}
			MPI_Type_free(&t);
		}
		tst_close(&fh);
		if (!mode)
			fh = tst_open(tst_file(".view15"), MPI_MODE_RDONLY);
	}
	fh = tst_create(".view16");
	if (fh == MPI_FILE_NULL)
		return;
	err = MPI_File_set_view(fh, -1, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
	MPI_Error_string(err, text, &n);
	CHECK(strstr(text, "displacement"), "\"%s\" does not say what is wrong", text);
	tst_close(&fh);
}

static void type_extents(void)
{
	MPI_File fh = tst_create(".view12");
	MPI_Aint extent = -1;
	MPI_Datatype t;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_get_type_extent(fh, MPI_DOUBLE, &extent));
	CHECK(extent == 8, "a double's is %lld", (long long)extent);
	MPI_Type_vector(3, 1, 4, MPI_INT, &t);
	MPI_Type_commit(&t);
	OK(MPI_File_get_type_extent(fh, t, &extent));
	CHECK(extent == 36, "a vector's is %lld", (long long)extent);
	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
	OK(MPI_File_get_type_extent(fh, t, &extent));
	CHECK(extent == 36, "a vector's is %lld in external32", (long long)extent);
	MPI_Type_free(&t);
	tst_close(&fh);
}

/* Big-endian in the file. */
static void external32(void)
{
	static const unsigned char want[] = { 1,    2,	  3,	4,    0x40, 0x09,
					      0x21, 0xfb, 0x54, 0x44, 0x2d, 0x18 };
	MPI_File fh;
	unsigned char buf[12] = { 0 };
	int v = 0x01020304, w = 0;
	double d = 0x1.921fb54442d18p+1, e = 0;

	fh = tst_create(".view13");
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_set_view(fh, 12 * tst.rank, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
	OK(MPI_File_write_all(fh, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_write_all(fh, &d, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
	OK(MPI_File_read_at_all(fh, 0, &w, 1, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_read_at(fh, 4, &e, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
	CHECK(w == v && e == d, "read 0x%x and %a", w, e);
	OK(MPI_File_set_view(fh, 12 * tst.rank, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	OK(MPI_File_read_at_all(fh, 0, buf, 12, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_bytes(buf, want, 12, "in the file");
	tst_close(&fh);
}

/* A long has 4 bytes in external32: the view is made of what it has there. */
static void external32_sizes(void)
{
	long v[4] = { 0x01020304 + tst.rank, -2, 7, -0x7fffffff }, back[4] = { 0 };
	MPI_Aint one = 0, extent = 0;
	MPI_Offset size = 0, byte = 0;
	MPI_Datatype every, mixed;
	MPI_Status status;
	MPI_File fh;
	char rep[MPI_MAX_DATAREP_STRING] = "";
	unsigned char first = 0, packed[16];

	if (!tst.strict)
		return tst_skip("only with --ddio");
	fh = tst_create(".view15");
	if (fh == MPI_FILE_NULL)
		return;
	/* Open MPI says 8 and packs 4. */
	MPI_Pack_external("external32", v, 1, MPI_LONG, packed, sizeof(packed), &one);
	/* Each rank every so manieth long: counted in longs, and so in what they have in the file. */
	MPI_Type_vector(4, 1, tst.size, MPI_LONG, &every);
	MPI_Type_commit(&every);
	OK(MPI_File_set_view(fh, one * tst.rank, MPI_LONG, every, "external32", MPI_INFO_NULL));
	OK(MPI_File_get_type_extent(fh, every, &extent));
	CHECK(extent == one * (3 * tst.size + 1), "the extent is %lld", (long long)extent);
	OK(MPI_File_write_at_all(fh, 0, v, 4, MPI_LONG, &status));
	tst_count(&status, MPI_LONG, 4, "written");
	OK(MPI_File_sync(fh));
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == one * 4 * tst.size, "the size is %lld", (long long)size);
	OK(MPI_File_get_byte_offset(fh, 2, &byte));
	CHECK(byte == one * (tst.rank + 2 * tst.size), "the third is at %lld", (long long)byte);
	OK(MPI_File_read_at_all(fh, 0, back, 4, MPI_LONG, &status));
	tst_count(&status, MPI_LONG, 4, "read");
	tst_bytes(back, v, sizeof(v), "in memory");
	OK(MPI_File_get_view(fh, &byte, &mixed, &every, rep));
	CHECK(mixed == MPI_LONG && !strcmp(rep, "external32"), "the view is in %s", rep);
	/* Byte displacements are as they are. */
	MPI_Type_create_struct(2, (int[2]){ 1, 1 }, (MPI_Aint[2]){ 0, 100 },
			       (MPI_Datatype[2]){ MPI_LONG, MPI_INT }, &mixed);
	MPI_Type_commit(&mixed);
	OK(MPI_File_get_type_extent(fh, mixed, &extent));
	CHECK(extent == 104, "the extent of a structure is %lld", (long long)extent);
	OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	OK(MPI_File_read_at_all(fh, one - 1, &first, 1, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK(first == 4, "the last byte of the first is %d", first);
	MPI_Type_free(&mixed);
	MPI_Type_free(&every);
	tst_close(&fh);
}

/* What an MPI cannot convert is an error, not nothing. */
static void external32_pairs(void)
{
	struct {
		double d;
		int i;
	} v = { 1.5, 2 }, back = { 0 };
	MPI_Aint one = 0;
	MPI_File fh;

	if (!tst.strict)
		return tst_skip("only with --ddio");
	fh = tst_create(".view16");
	if (fh == MPI_FILE_NULL)
		return;
	MPI_Pack_external_size("external32", 1, MPI_DOUBLE_INT, &one);
	OK(MPI_File_set_view(fh, 12 * tst.rank, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
	if (!one) {
		FAILS(MPI_File_write_at_all(fh, 0, &v, 1, MPI_DOUBLE_INT, MPI_STATUS_IGNORE),
		      MPI_ERR_TYPE);
	} else {
		OK(MPI_File_write_at_all(fh, 0, &v, 1, MPI_DOUBLE_INT, MPI_STATUS_IGNORE));
		OK(MPI_File_read_at_all(fh, 0, &back, 1, MPI_DOUBLE_INT, MPI_STATUS_IGNORE));
		CHECK(back.d == v.d && back.i == v.i, "read %g and %d", back.d, back.i);
	}
	tst_close(&fh);
}

/* How much memory the process has had at once, in megabytes. */
static long most_memory(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_maxrss >> 10;
}

/* 1 GB of 8-byte pieces: who lists them needs more memory than the view is worth. */
static void many_pieces(void)
{
	enum { LITTLE = 64 };
	MPI_File fh;
	long before;
	MPI_Offset byte = -1;
	double d[3] = { 1.5 + tst.rank, 2.5, 3.5 }, back[3] = { 0 };
	MPI_Datatype file;

	if (!tst.strict) {
		tst_skip("only with --ddio");
		return;
	}
	fh = tst_create(".view14");
	if (fh == MPI_FILE_NULL)
		return;
	MPI_Type_vector(1 << 27, 1, 2 * tst.size, MPI_DOUBLE, &file);
	MPI_Type_commit(&file);
	before = most_memory();
	OK(MPI_File_set_view(fh, 8 * tst.rank, MPI_DOUBLE, file, "native", MPI_INFO_NULL));
	OK(MPI_File_get_byte_offset(fh, 100000000, &byte));
	CHECK(byte == 8 * tst.rank + (MPI_Offset)1600000000 * tst.size, "at %lld", (long long)byte);
	OK(MPI_File_write_at_all(fh, 100000000, d, 3, MPI_DOUBLE, MPI_STATUS_IGNORE));
	OK(MPI_File_read_at_all(fh, 100000000, back, 3, MPI_DOUBLE, MPI_STATUS_IGNORE));
	tst_bytes(back, d, sizeof(d), "read");
	CHECK(most_memory() < before + LITTLE, "it takes %ld MB", most_memory() - before);
	MPI_Type_free(&file);
	tst_close(&fh);
	tst_remove(tst_file(".view14"));
}

/* Views that all differ, one after the other: nobody but the processes hears of them. */
static void set_often(void)
{
	MPI_File fh = tst_create(".often");
	MPI_Datatype t;
	int i;

	for (i = 1; i <= 300 && fh != MPI_FILE_NULL; i++) {
		MPI_Type_vector(i, 1, tst.size + i, MPI_INT, &t);
		MPI_Type_commit(&t);
		OK(MPI_File_set_view(fh, 4 * tst.rank, MPI_INT, t, "native", MPI_INFO_NULL));
		MPI_Type_free(&t);
	}
	tst_close(&fh);
}

void views_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "views/at_first", at_first },
		{ "views/told", told },
		{ "views/byte_offsets", byte_offsets },
		{ "views/pointers", pointers },
		{ "views/freed", freed },
		{ "views/holes_stay", holes_stay },
		{ "views/transposed", transposed },
		{ "views/members", members },
		{ "views/lower_bounds", lower_bounds },
		{ "views/the_end", the_end },
		{ "views/displacement_current", displacement_current },
		{ "views/bad", bad_views },
		{ "views/refused types", refused_types },
		{ "views/type_extents", type_extents },
		{ "views/set_often", set_often },
		{ "views/external32", external32 },
		{ "views/external32_sizes", external32_sizes },
		{ "views/external32_pairs", external32_pairs },
		{ "views/many_pieces", many_pieces },
	};

	CASES(cases);
}
