// SPDX-License-Identifier: GPL-2.0-only
/* What a program frees, or never frees, while files and requests still need it. */
#include "tests/mpiio/functions/functions.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More requests than an implementation begins at once; each of every second int of a buffer. */
enum { MANY = 80, INTS = 32 };

static MPI_Datatype every_second(void)
{
	MPI_Datatype type;

	MPI_Type_vector(INTS, 1, 2, MPI_INT, &type);
	MPI_Type_commit(&type);
	return type;
}

static MPI_Offset part_of(int i)
{
	return (MPI_Offset)INTS * 4 * (i * tst.size + tst.rank);
}

static void many(MPI_File fh, int (*buf)[2 * INTS], bool write)
{
	MPI_Request r[MANY];
	int i;

	for (i = 0; i < MANY; i++) {
		MPI_Datatype type = every_second();

		if (write)
			OK(MPI_File_iwrite_at(fh, part_of(i), buf[i], 1, type, &r[i]));
		else
			OK(MPI_File_iread_at(fh, part_of(i), buf[i], 1, type, &r[i]));
		MPI_Type_free(&type);
	}
	OK(MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE));
}

/* MPI 4.0, section 5.1.9: freeing a type does not affect communication that is under way. */
static void type_freed(void)
{
	MPI_File fh = tst_create(".freed");
	static int buf[MANY][2 * INTS];
	int i, j;

	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < MANY; i++)
		for (j = 0; j < 2 * INTS; j++)
			buf[i][j] = j & 1 ? -1 : 1000 * i + j + tst.rank;
	many(fh, buf, true);
	memset(buf, 0, sizeof(buf));
	many(fh, buf, false);
	for (i = 0; i < MANY; i++)
		for (j = 0; j < 2 * INTS; j++)
			CHECK(buf[i][j] == (j & 1 ? 0 : 1000 * i + j + tst.rank),
			      "int %d of request %d is %d", j, i, buf[i][j]);
	tst_close(&fh);
}

/* What is converted when it has been read is converted by a type that is gone. */
static void type_freed_external(void)
{
	MPI_File fh;
	MPI_Datatype type;
	MPI_Request r;
	int in[2 * INTS] = { 0 }, out[INTS], i;

	if (!tst.strict)
		return tst_skip("only with --ddio");
	fh = tst_create(".freedx");
	if (fh == MPI_FILE_NULL)
		return;
	for (i = 0; i < INTS; i++)
		out[i] = i + 77 * tst.rank;
	OK(MPI_File_set_view(fh, (MPI_Offset)sizeof(out) * tst.rank, MPI_INT, MPI_INT, "external32",
			     MPI_INFO_NULL));
	OK(MPI_File_write(fh, out, INTS, MPI_INT, MPI_STATUS_IGNORE));
	type = every_second();
	OK(MPI_File_iread_at(fh, 0, in, 1, type, &r));
	MPI_Type_free(&type);
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	for (i = 0; i < INTS; i++)
		CHECK(in[2 * i] == out[i] && !in[2 * i + 1], "int %d is %d, then %d", i, in[2 * i],
		      in[2 * i + 1]);
	tst_close(&fh);
}

/* A file lives without the communicator that it was opened with. */
static void comm_freed(void)
{
	const char *name = tst_file(".comm");
	MPI_Comm comm;
	MPI_File fh[2];
	int i, v;

	tst_remove(name);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	for (i = 0; i < 2; i++)
		OK(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
				 &fh[i]));
	MPI_Comm_free(&comm);
	v = 5 + tst.rank;
	OK(MPI_File_write_at_all(fh[0], 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_close(&fh[0]));
	v = 0;
	OK(MPI_File_sync(fh[1]));
	OK(MPI_File_read_at_all(fh[1], 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(v == 5 + tst.rank, "read %d", v);
	OK(MPI_File_close(&fh[1]));
}

/* A request that is freed is done nevertheless, when the file is closed at the latest. */
static void request_freed(void)
{
	MPI_File fh;
	MPI_Request r;
	int out = 31 + tst.rank, in = 0;

	/* Open MPI's own forgets it. */
	if (!tst.strict)
		return tst_skip("only with --ddio");
	fh = tst_create(".rfree");
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_iwrite_at(fh, 4 * tst.rank, &out, 1, MPI_INT, &r));
	OK(MPI_Request_free(&r));
	tst_close(&fh);
	fh = tst_open(tst_file(".rfree"), MPI_MODE_RDONLY);
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_read_at(fh, 4 * tst.rank, &in, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(in == out, "read %d", in);
	tst_close(&fh);
}

enum { OPENINGS = 60, TOGETHER = 60 };

static int descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += lseek(fd, 0, SEEK_CUR) >= 0;
	return n;
}

/* Files of one process each, with nothing in common: open together, and then one after the other. */
static void many_files(void)
{
	MPI_File fh[TOGETHER];
	char name[1100];
	int i, before = 0, v;

	for (i = 0; i < TOGETHER + OPENINGS; i++) {
		MPI_File *f = &fh[i < TOGETHER ? i : 0];

		snprintf(name, sizeof(name), "%s.self.%d.%d", tst.path, tst.rank, i % TOGETHER);
		if (!OK(MPI_File_open(MPI_COMM_SELF, name,
				      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
				      MPI_INFO_NULL, f)))
			break;
		v = i;
		OK(MPI_File_write_all(*f, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
		if (i < TOGETHER - 1)
			continue;
		while (i == TOGETHER - 1 && v >= 0)
			OK(MPI_File_close(&fh[v--]));
		if (i >= TOGETHER)
			OK(MPI_File_close(f));
		if (i == TOGETHER)
			before = descriptors();
	}
	v = descriptors();
	CHECK(v == before, "%d files are open after %d openings, not %d", v, OPENINGS, before);
}

/* A folder for temporary files that only rank 0 has; handles of files that were closed may serve for a few. */
static void no_tmpdir(void)
{
	const char *was = getenv("TMPDIR");
	char *old = was ? strdup(was) : NULL;
	MPI_File fh[12];
	int i;

	if (tst.rank)
		setenv("TMPDIR", "/no/such/folder", 1);
	for (i = 0; i < 12; i++)
		fh[i] = tst_create(i & 1 ? ".tmp1" : ".tmp0");
	for (i = 0; i < 12; i++)
		if (fh[i] != MPI_FILE_NULL)
			tst_close(&fh[i]);
	if (old)
		setenv("TMPDIR", old, 1);
	else
		unsetenv("TMPDIR");
	free(old);
}

/* Where bytes of the view would have no 64 bits: not at the beginning of the file. */
static void far_away(void)
{
	MPI_File fh;
	double d = 1;
	MPI_Offset far = (MPI_Offset)1 << 61, size = -1, byte;

	if (!tst.strict)
		return tst_skip("only with --ddio");
	fh = tst_create(".far");
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_set_view(fh, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
	FAILS(MPI_File_write_at(fh, far, &d, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	FAILS(MPI_File_write_at_all(fh, far, &d, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	FAILS(MPI_File_get_byte_offset(fh, far, &byte), MPI_ERR_ARG, MPI_ERR_IO);
	OK(MPI_File_seek(fh, far, MPI_SEEK_SET));
	FAILS(MPI_File_write(fh, &d, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	OK(MPI_File_get_position(fh, &byte));
	CHECK(byte == far, "a write that failed moved the pointer to %lld", (long long)byte);
	OK(MPI_File_get_size(fh, &size));
	CHECK(!size, "%lld bytes were written somewhere", (long long)size);
	tst_close(&fh);
}

static const struct mpiio_case cases[] = {
	{ "lives: a type is freed while it is used", type_freed },
	{ "lives: a type is freed, external32", type_freed_external },
	{ "lives: the communicator is freed", comm_freed },
	{ "lives: a request is freed", request_freed },
	{ "lives: many files", many_files },
	{ "lives: no folder for temporary files", no_tmpdir },
	{ "lives: offsets beyond all files", far_away },
};

void lives_cases(void)
{
	CASES(cases);
}
