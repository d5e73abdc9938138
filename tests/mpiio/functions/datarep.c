// SPDX-License-Identifier: GPL-2.0-only
/* Data representations of programs (MPI 4.0, section 14.5.3), which the MPIs' own I/O refuses. */
#include <string.h>
#include "tests/mpiio/functions/functions.h"

/* What the functions were called with. */
static int reads, writes, extents, wrong;
static int state_of_it = 4711;
static bool broken, no_extent;

/* Elements of the types that are used here, in memory. */
static int bytes_of(MPI_Datatype type)
{
	int n = 0;

	MPI_Type_size(type, &n);
	return n;
}

/* Every element has 3 bytes more in the file than in memory: they stand before it. */
enum { MORE = 3 };

static int extent_more(MPI_Datatype type, MPI_Aint *extent, void *state)
{
	extents++;
	wrong += state != &state_of_it;
	*extent = bytes_of(type) + MORE;
	return no_extent ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int extent_same(MPI_Datatype type, MPI_Aint *extent, void *state)
{
	(void)state;
	*extent = bytes_of(type);
	return MPI_SUCCESS;
}

/* The place in memory of a data item: all types here are ints, or vectors of every other one, or a double and an int. */
static MPI_Datatype every_other, mixed;
struct item_at {
	size_t at;
	int bytes;
};

static struct item_at item_of(MPI_Datatype type, MPI_Offset item)
{
	MPI_Aint lb, extent;

	MPI_Type_get_extent(type, &lb, &extent);
	if (extent == 4)
		return (struct item_at){ (size_t)(item * extent), 4 };
	if (extent == 20) /* every_other: 3 of 5 ints */
		return (struct item_at){ (size_t)(item / 3 * extent + item % 3 * 8), 4 };
	return (struct item_at){ (size_t)(item / 2 * extent + item % 2 * 16), item % 2 ? 4 : 8 };
}

static int move(bool reading, void *buf, MPI_Datatype type, int64_t count, void *file, int64_t from)
{
	char *f = file;
	int64_t i;
	int b;

	for (i = from; i < from + count; i++) {
		struct item_at it = item_of(type, i);
		char *m = (char *)buf + it.at;

		if (!reading)
			memset(f, 'm', MORE);
		wrong += reading && memcmp(f, "mmm", MORE);
		for (b = 0, f += MORE; b < it.bytes; b++, f++) {
			if (reading)
				m[b] = (char)~*f;
			else
				*f = (char)~m[b];
		}
	}
	return broken ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int read_more(void *buf, MPI_Datatype type, int count, void *file, MPI_Offset position,
		     void *state)
{
	reads++;
	wrong += state != &state_of_it;
	return move(true, buf, type, count, file, position);
}

static int write_more(void *buf, MPI_Datatype type, int count, void *file, MPI_Offset position,
		      void *state)
{
	writes++;
	wrong += state != &state_of_it;
	return move(false, buf, type, count, file, position);
}

static void begin(void)
{
	static bool registered;
	int lens[2] = { 1, 1 };
	MPI_Aint at[2] = { 0, 16 };
	MPI_Datatype types[2] = { MPI_DOUBLE, MPI_INT };

	reads = writes = extents = wrong = 0;
	broken = no_extent = false;
	MPI_Type_vector(3, 1, 2, MPI_INT, &every_other);
	MPI_Type_commit(&every_other);
	MPI_Type_create_struct(2, lens, at, types, &mixed);
	MPI_Type_commit(&mixed);
	if (registered)
		return;
	registered = true;
	OK(MPI_Register_datarep("test_more", read_more, write_more, extent_more, &state_of_it));
}

static void end(MPI_File *fh)
{
	tst_close(fh);
	MPI_Type_free(&every_other);
	MPI_Type_free(&mixed);
	CHECK(!wrong, "%d calls of the functions were wrong", wrong);
}

/* What every process writes with a type in memory is converted item by item, to where elements have the file's size. */
static void converted(void)
{
	enum { N = 30, ONE = 4 + MORE };
	MPI_File fh = tst_create(".datarep");
	int out[5 * N], in[5 * N], i;
	char rep[MPI_MAX_DATAREP_STRING], bytes[ONE * 3 * N];
	MPI_Datatype etype, filetype;
	MPI_Offset disp, size;
	MPI_Status status;
	MPI_Aint extent;

	begin();
	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "test_more", MPI_INFO_NULL));
	OK(MPI_File_get_type_extent(fh, MPI_INT, &extent));
	CHECK(extent == ONE, "an int has an extent of %lld", (long long)extent);
	OK(MPI_File_get_view(fh, &disp, &etype, &filetype, rep));
	CHECK(!strcmp(rep, "test_more"), "the view is in %s", rep);
	for (i = 0; i < 5 * N; i++) {
		out[i] = 1000 * tst.rank + i;
		in[i] = -1;
	}
	OK(MPI_File_write_at_all(fh, (MPI_Offset)3 * N * tst.rank, out, N, every_other, &status));
	tst_count(&status, every_other, N, "written");
	tst_settle(fh);
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == (MPI_Offset)ONE * 3 * N * tst.size, "the file has %lld bytes",
	      (long long)size);
	OK(MPI_File_read_at_all(fh, (MPI_Offset)3 * N * tst.rank, in, N, every_other, &status));
	tst_count(&status, every_other, N, "read");
	for (i = 0; i < 5 * N; i++)
		CHECK(in[i] == (i % 5 % 2 || i >= 5 * N ? -1 : out[i]), "int %d is %d", i, in[i]);
	CHECK(writes == 1 && reads == 1, "%d conversions to write, %d to read", writes, reads);
	/* Independent, of plain elements; the last two are not there any more. */
	OK(MPI_File_read_at(fh, (MPI_Offset)3 * N * tst.size - 1, in, 3, MPI_INT, &status));
	tst_count(&status, MPI_INT, 1, "read at the end");
	OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	OK(MPI_File_read_at(fh, (MPI_Offset)sizeof(bytes) * tst.rank, bytes, sizeof(bytes),
			    MPI_BYTE, &status));
	for (i = 0; i < 3 * N; i++) {
		int v = ~(1000 * tst.rank + i / 3 * 5 + i % 3 * 2);

		CHECK(!memcmp(bytes + ONE * i, "mmm", MORE) &&
			      !memcmp(bytes + ONE * i + MORE, &v, 4),
		      "int %d is wrong in the file", i);
	}
	end(&fh);
}

/* Items of several sizes; a file type with holes, which scale; nonblocking and split calls, whose type is gone at the end. */
static void mixed_sizes(void)
{
	enum { N = 20 };
	MPI_File fh = tst_create(".datarep2");
	struct {
		double d, hole;
		int i, end;
	} out[N], in[N];
	MPI_Datatype copy, every;
	MPI_Request r;
	MPI_Status status;
	int i;

	begin();
	/* Each process has its own of tst.size elements. */
	MPI_Type_create_resized(mixed, 0, (MPI_Aint)sizeof(out[0]) * tst.size, &every);
	MPI_Type_commit(&every);
	OK(MPI_File_set_view(fh, (MPI_Offset)sizeof(out[0]) * tst.rank, mixed, every, "test_more",
			     MPI_INFO_NULL));
	memset(out, 0, sizeof(out));
	memset(in, 0, sizeof(in));
	for (i = 0; i < N; i++) {
		out[i].d = tst.rank + i / 100.0;
		out[i].i = i;
	}
	MPI_Type_dup(mixed, &copy);
	OK(MPI_File_iwrite_at_all(fh, 0, out, N, copy, &r));
	MPI_Type_free(&copy);
	OK(MPI_Wait(&r, &status));
	tst_count(&status, mixed, N, "written");
	tst_settle(fh);
	OK(MPI_File_read_all_begin(fh, in, N, mixed));
	OK(MPI_File_read_all_end(fh, in, &status));
	tst_count(&status, mixed, N, "read");
	CHECK(!memcmp(in, out, sizeof(in)), "what was read differs");
	memset(in, 0, sizeof(in));
	OK(MPI_File_iread_at(fh, 0, in, N, mixed, &r));
	OK(MPI_Wait(&r, &status));
	CHECK(!memcmp(in, out, sizeof(in)), "what was read alone differs");
	MPI_Type_free(&every);
	end(&fh);
}

/* Without functions nothing is converted, and nothing copied. */
static void identity(void)
{
	MPI_File fh = tst_create(".datarep3");
	int out[8], in[8] = { 0 }, i;
	static bool registered;
	MPI_Status status;

	begin();
	if (!registered)
		OK(MPI_Register_datarep("test_same", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
					extent_same, NULL));
	registered = true;
	for (i = 0; i < 8; i++)
		out[i] = 10 * tst.rank + i;
	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "test_same", MPI_INFO_NULL));
	OK(MPI_File_write_at_all(fh, 8 * tst.rank, out, 8, MPI_INT, &status));
	tst_settle(fh);
	OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	OK(MPI_File_read_at_all(fh, 32 * tst.rank, in, 32, MPI_BYTE, &status));
	CHECK(!memcmp(in, out, sizeof(in)), "the bytes differ");
	end(&fh);
}

/* Functions for one direction only; elements of another size cannot go without. */
static void one_way(void)
{
	MPI_File fh = tst_create(".datarep4");
	static bool registered;
	int v = tst.rank, in = 0;

	begin();
	if (!registered)
		OK(MPI_Register_datarep("test_writes", MPI_CONVERSION_FN_NULL, write_more,
					extent_more, &state_of_it));
	registered = true;
	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "test_writes", MPI_INFO_NULL));
	OK(MPI_File_write_at_all(fh, tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	tst_settle(fh);
	FAILS(MPI_File_read_at_all(fh, tst.rank, &in, 1, MPI_INT, MPI_STATUS_IGNORE),
	      MPI_ERR_CONVERSION, MPI_ERR_ARG);
	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "test_more", MPI_INFO_NULL));
	OK(MPI_File_read_at_all(fh, tst.rank, &in, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(in == v, "%d was read for %d", in, v);
	end(&fh);
}

/* A function that fails makes the call fail, of a write on all processes; and the next one passes. */
static void failing(void)
{
	MPI_File fh = tst_create(".datarep5");
	int v = tst.rank, in = -1;

	begin();
	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "test_more", MPI_INFO_NULL));
	OK(MPI_File_write_at_all(fh, tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	tst_settle(fh);
	broken = tst.rank == tst.size - 1;
	CHECK(MPI_File_write_at_all(fh, tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS,
	      "a write whose conversion fails on the last rank succeeded");
	if (broken)
		FAILS(MPI_File_read_at(fh, tst.rank, &in, 1, MPI_INT, MPI_STATUS_IGNORE),
		      MPI_ERR_CONVERSION);
	tst_barrier();
	no_extent = broken;
	CHECK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "test_more", MPI_INFO_NULL) != MPI_SUCCESS,
	      "a view without extents succeeded");
	broken = no_extent = false;
	OK(MPI_File_read_at_all(fh, tst.rank, &in, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(in == v, "%d was read for %d", in, v);
	end(&fh);
}

/* What is refused: names that are taken or too long, no extents, and views of what nobody registered. */
static void refused(void)
{
	char name[2 * MPI_MAX_DATAREP_STRING] = "";
	MPI_File fh = tst_create(".datarep6");
	MPI_Datatype pair = MPI_DOUBLE_INT;

	begin();
	memset(name, 'n', sizeof(name) - 1);
	FAILS(MPI_Register_datarep("test_more", read_more, write_more, extent_more, NULL),
	      MPI_ERR_DUP_DATAREP);
	FAILS(MPI_Register_datarep("external32", read_more, write_more, extent_more, NULL),
	      MPI_ERR_DUP_DATAREP);
	FAILS(MPI_Register_datarep(name, read_more, write_more, extent_more, NULL), MPI_ERR_ARG);
	FAILS(MPI_Register_datarep("test_none", read_more, write_more, NULL, NULL), MPI_ERR_ARG);
	FAILS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "test_none", MPI_INFO_NULL),
	      MPI_ERR_UNSUPPORTED_DATAREP);
	FAILS(MPI_File_set_view(fh, 0, pair, pair, "test_more", MPI_INFO_NULL),
	      MPI_ERR_UNSUPPORTED_OPERATION);
	if (tst.size > 1)
		FAILS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, tst.rank ? "test_same" : "native",
					MPI_INFO_NULL),
		      MPI_ERR_NOT_SAME);
	end(&fh);
}

#if MPI_VERSION >= 4
static int read_c(void *buf, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position,
		  void *state)
{
	return read_more(buf, type, (int)count, file, position, state);
}

static int write_c(void *buf, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position,
		   void *state)
{
	return write_more(buf, type, (int)count, file, position, state);
}

static void large_counts(void)
{
	MPI_File fh = tst_create(".datarep7");
	static bool registered;
	int out[6], in[6], i;

	begin();
	if (!registered)
		OK(MPI_Register_datarep_c("test_large", read_c, write_c, extent_more,
					  &state_of_it));
	registered = true;
	for (i = 0; i < 6; i++)
		out[i] = in[i] = 100 * tst.rank + i;
	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "test_large", MPI_INFO_NULL));
	OK(MPI_File_write_at_all(fh, 3 * tst.rank, out, 1, every_other, MPI_STATUS_IGNORE));
	tst_settle(fh);
	in[0] = in[2] = in[4] = -1;
	OK(MPI_File_read_at_all(fh, 3 * tst.rank, in, 1, every_other, MPI_STATUS_IGNORE));
	CHECK(!memcmp(in, out, sizeof(in)), "what was read differs");
	CHECK(reads == 1 && writes == 1, "%d and %d conversions", reads, writes);
	end(&fh);
}
#endif

void datarep_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "datarep/converted", converted },
		{ "datarep/mixed sizes", mixed_sizes },
		{ "datarep/identity", identity },
		{ "datarep/one way", one_way },
		{ "datarep/failing", failing },
		{ "datarep/refused", refused },
#if MPI_VERSION >= 4
		{ "datarep/large counts", large_counts },
#endif
	};

	/* The MPIs' own have none. */
	if (tst.strict)
		CASES(cases);
}
