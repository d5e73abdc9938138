// SPDX-License-Identifier: GPL-2.0-only
/* MPI_File_open, _close, _delete, _get_amode, _get_group: modes, and what they refuse. */
#include "tests/mpiio/functions/functions.h"
#include <stdio.h>
#include <string.h>

enum { CREATE = MPI_MODE_CREATE | MPI_MODE_RDWR };

/* Opens and expects a failure of one of two classes on every rank. */
static void refused(const char *name, int amode, int class, int other)
{
	MPI_File fh = MPI_FILE_NULL;
	int rc = MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &fh);

	FAILS(rc, class, other);
	if (tst_all(rc == MPI_SUCCESS))
		MPI_File_close(&fh);
}

static bool exists(const char *name)
{
	MPI_File fh;
	bool there = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh) ==
		     MPI_SUCCESS;

	there = tst_all(there);
	if (there)
		MPI_File_close(&fh);
	return there;
}

/* Makes a file of so many bytes, with the contents of seed 7. */
static void make(const char *suffix, int bytes)
{
	unsigned char buf[64];
	MPI_File fh = tst_create(suffix);

	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, sizeof(buf), 7, 0);
	if (!tst.rank)
		OK(MPI_File_write_at(fh, 0, buf, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_close(&fh);
}

static void create_new(void)
{
	MPI_File fh = tst_create(".new");
	MPI_Offset size = -1, at = -1;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == 0, "a new file has %lld bytes", (long long)size);
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == 0, "its position is %lld", (long long)at);
	tst_close(&fh);
	CHECK(exists(tst_file(".new")), "it does not exist after its closing");
	tst_remove(tst_file(".new"));
}

/* CREATE without EXCL opens what exists and keeps its contents. */
static void create_existing(void)
{
	MPI_File fh;
	unsigned char buf[64];
	MPI_Status status;

	make(".old", 64);
	fh = tst_open(tst_file(".old"), CREATE);
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_read_at(fh, 0, buf, 64, MPI_BYTE, &status));
	tst_count(&status, MPI_BYTE, 64, "read_at");
	tst_same(buf, 64, 7, 0, "contents");
	tst_close(&fh);
}

static void no_such_file(void)
{
	static const int modes[] = { MPI_MODE_RDONLY, MPI_MODE_RDWR, MPI_MODE_WRONLY,
				     MPI_MODE_WRONLY | MPI_MODE_APPEND };
	const char *name = tst_file(".none");
	size_t i;

	tst_remove(name);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		refused(name, modes[i], MPI_ERR_NO_SUCH_FILE, MPI_ERR_NO_SUCH_FILE);
	CHECK(!exists(name), "a refused open made the file");
}

static void no_such_directory(void)
{
	const char *name = tst_file(".none/file");

	refused(name, MPI_MODE_RDONLY, MPI_ERR_NO_SUCH_FILE, MPI_ERR_BAD_FILE);
	refused(name, CREATE, MPI_ERR_NO_SUCH_FILE, MPI_ERR_BAD_FILE);
}

static void excl(void)
{
	const char *name = tst_file(".excl");
	MPI_File fh;

	tst_remove(name);
	fh = tst_open(name, CREATE | MPI_MODE_EXCL);
	if (fh == MPI_FILE_NULL)
		return;
	tst_close(&fh);
	refused(name, CREATE | MPI_MODE_EXCL, MPI_ERR_FILE_EXISTS, MPI_ERR_FILE_EXISTS);
	CHECK(exists(name), "a refused open took the file away");
}

static void delete_on_close(void)
{
	const char *name = tst_file(".doc");
	unsigned char b = 1;
	MPI_File fh;

	tst_remove(name);
	fh = tst_open(name, CREATE | MPI_MODE_DELETE_ON_CLOSE);
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_write_at(fh, tst.rank, &b, 1, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_close(&fh);
	CHECK(!exists(name), "the file is still there");
}

/* Both pointers begin at the end. */
static void append(void)
{
	MPI_Offset at = -1, shared = -1, size;
	unsigned char buf[64];
	MPI_File fh;

	make(".app", 40);
	fh = tst_open(tst_file(".app"), MPI_MODE_RDWR | MPI_MODE_APPEND);
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_get_position(fh, &at));
	CHECK(at == 40, "the individual pointer is at %lld, not 40", (long long)at);
	OK(MPI_File_get_position_shared(fh, &shared));
	CHECK(shared == 40, "the shared pointer is at %lld, not 40", (long long)shared);
	tst_barrier();
	tst_fill(buf, 24, 7, 40);
	if (!tst.rank)
		OK(MPI_File_write(fh, buf, 24, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == 64, "size is %lld, not 64", (long long)size);
	OK(MPI_File_read_at_all(fh, 0, buf, 64, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_same(buf, 64, 7, 0, "contents");
	tst_close(&fh);
}

static void read_only(void)
{
	unsigned char buf[8] = { 0 };
	MPI_File fh;

	make(".ro", 64);
	fh = tst_open(tst_file(".ro"), MPI_MODE_RDONLY);
	if (fh == MPI_FILE_NULL)
		return;
	FAILS(MPI_File_write_at(fh, 0, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY,
	      MPI_ERR_ACCESS);
	/* With three ranks Open MPI's own does nothing, and says that all went well. */
	if (tst.strict || !TST_OPEN_MPI)
		FAILS(MPI_File_write_at_all(fh, 0, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE),
		      MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
	FAILS(MPI_File_write(fh, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY,
	      MPI_ERR_ACCESS);
	/* MPICH's own asks the file system, and says MPI_ERR_IO. */
	FAILS(MPI_File_write_shared(fh, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY,
	      MPI_ERR_ACCESS, tst.strict ? MPI_ERR_ACCESS : MPI_ERR_IO);
	OK(MPI_File_read_at(fh, 0, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_same(buf, 8, 7, 0, "contents");
	tst_close(&fh);
}

/* Sizes cannot be changed either.  MPICH's own says MPI_ERR_IO, Open MPI's MPI_ERR_OTHER. */
static void read_only_sizes(void)
{
	MPI_File fh;
	MPI_Offset size = -1;

	make(".ro", 64);
	fh = tst_open(tst_file(".ro"), MPI_MODE_RDONLY);
	if (fh == MPI_FILE_NULL)
		return;
	FAILS(MPI_File_set_size(fh, 8), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS,
	      tst.strict ? MPI_ERR_ACCESS : MPI_ERR_OTHER,
	      tst.strict ? MPI_ERR_ACCESS : MPI_ERR_IO);
	/* MPICH's own fails on the first rank alone. */
	if (tst.strict)
		FAILS(MPI_File_preallocate(fh, 4096), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == 64, "size is %lld, not 64", (long long)size);
	tst_close(&fh);
}

static void write_only(void)
{
	unsigned char buf[8] = { 0 };
	MPI_File fh;

	make(".wo", 64);
	fh = tst_open(tst_file(".wo"), MPI_MODE_WRONLY);
	if (fh == MPI_FILE_NULL)
		return;
	FAILS(MPI_File_read_at(fh, 0, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
	/* With three ranks Open MPI's own does nothing, and says that all went well. */
	if (tst.strict || !TST_OPEN_MPI)
		FAILS(MPI_File_read_at_all(fh, 0, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE),
		      MPI_ERR_ACCESS);
	FAILS(MPI_File_read(fh, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
	OK(MPI_File_write_at(fh, 8 * tst.rank, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_close(&fh);
}

static void bad_modes(void)
{
	static const int modes[] = {
		MPI_MODE_RDONLY | MPI_MODE_RDWR,   MPI_MODE_RDONLY | MPI_MODE_WRONLY,
		MPI_MODE_RDWR | MPI_MODE_WRONLY,   MPI_MODE_RDONLY | MPI_MODE_CREATE,
		MPI_MODE_RDONLY | MPI_MODE_EXCL,   MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
		MPI_MODE_CREATE | MPI_MODE_APPEND,
	};
	size_t i;

	make(".modes", 8);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		refused(tst_file(".modes"), modes[i], MPI_ERR_AMODE, MPI_ERR_AMODE);
}

/* Ranks that differ: an error on every rank. */
static void modes_differ(void)
{
	int amode = MPI_MODE_CREATE | (tst.rank ? MPI_MODE_WRONLY : MPI_MODE_RDWR);

	if (tst.size == 1) {
		tst_skip("needs two ranks");
		return;
	}
	if (!tst.strict && TST_OPEN_MPI) {
		tst_skip("Open MPI's own does not compare");
		return;
	}
	refused(tst_file(".differ"), amode, MPI_ERR_NOT_SAME, MPI_ERR_AMODE);
}

static void get_amode(void)
{
	static const int modes[] = { MPI_MODE_RDONLY,
				     MPI_MODE_WRONLY,
				     MPI_MODE_RDWR,
				     CREATE,
				     MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_APPEND,
				     MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN,
				     MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL };
	int have = -1;
	size_t i;

	make(".amode", 8);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		MPI_File fh = tst_open(tst_file(".amode"), modes[i]);

		if (fh == MPI_FILE_NULL)
			return;
		OK(MPI_File_get_amode(fh, &have));
		CHECK(have == modes[i], "opened with 0x%x, told 0x%x", modes[i], have);
		tst_close(&fh);
	}
}

/* Explicit offsets and seeks are not for sequential files. */
static void sequential(void)
{
	unsigned char b = 'a';
	MPI_File fh;

	tst_remove(tst_file(".seq"));
	fh = tst_open(tst_file(".seq"), MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
	if (fh == MPI_FILE_NULL)
		return;
	/* Open MPI's own lets explicit offsets pass. */
	if (tst.strict)
		FAILS(MPI_File_write_at(fh, 0, &b, 1, MPI_BYTE, MPI_STATUS_IGNORE),
		      MPI_ERR_UNSUPPORTED_OPERATION);
	OK(MPI_File_write_ordered(fh, &b, 1, MPI_BYTE, MPI_STATUS_IGNORE));
	OK(MPI_File_write_shared(fh, &b, 1, MPI_BYTE, MPI_STATUS_IGNORE));
	if (tst.strict) {
		FAILS(MPI_File_seek(fh, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
		FAILS(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
	}
	tst_close(&fh);
	fh = tst_open(tst_file(".seq"), MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
	if (fh == MPI_FILE_NULL)
		return;
	b = 0;
	OK(MPI_File_read_ordered(fh, &b, 1, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK(b == 'a', "read 0x%02x", b);
	tst_close(&fh);
}

static void get_group(void)
{
	MPI_Group group, world;
	MPI_File fh = tst_create(".group");
	int same = -1;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_get_group(fh, &group));
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_compare(group, world, &same);
	CHECK(same == MPI_IDENT, "the group is not MPI_COMM_WORLD's");
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	tst_close(&fh);
}

/* Ranks in reverse order, on a communicator that is freed while the file is open. */
static void reversed(void)
{
	int rank = tst.rank, i, other = -1;
	const char *name = tst_file(".rev");
	MPI_File fh = MPI_FILE_NULL;
	MPI_Group group;
	MPI_Comm comm;
	int *all;

	tst_remove(name);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
	OK(MPI_File_open(comm, name, CREATE, MPI_INFO_NULL, &fh));
	MPI_Comm_free(&comm);
	if (!tst_all(fh != MPI_FILE_NULL))
		return;
	OK(MPI_File_get_group(fh, &group));
	MPI_Group_rank(group, &other);
	CHECK(other == tst.size - 1 - rank, "rank %d in the file's group", other);
	MPI_Group_free(&group);
	OK(MPI_File_write_ordered(fh, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
	tst_sync(fh);
	MPI_Alloc_mem(tst.size * (int)sizeof(int), MPI_INFO_NULL, &all);
	OK(MPI_File_read_at_all(fh, 0, all, tst.size, MPI_INT, MPI_STATUS_IGNORE));
	for (i = 0; i < tst.size; i++)
		CHECK(all[i] == tst.size - 1 - i, "place %d has rank %d's", i, all[i]);
	MPI_Free_mem(all);
	tst_close(&fh);
}

/* Each rank a file of its own. */
static void alone(void)
{
	char suffix[32];
	const char *name;
	MPI_File fh = MPI_FILE_NULL;
	unsigned char buf[100], back[100];

	snprintf(suffix, sizeof(suffix), ".self.%d", tst.rank);
	name = tst_file(suffix);
	MPI_File_delete(name, MPI_INFO_NULL);
	OK(MPI_File_open(MPI_COMM_SELF, name, CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &fh));
	if (fh == MPI_FILE_NULL)
		return;
	tst_fill(buf, sizeof(buf), tst.rank, 0);
	OK(MPI_File_write_all(fh, buf, 100, MPI_BYTE, MPI_STATUS_IGNORE));
	OK(MPI_File_read_at_all(fh, 0, back, 100, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_same(back, 100, tst.rank, 0, "contents");
	tst_close(&fh);
	OK(MPI_File_delete(name, MPI_INFO_NULL));
}

/* Halves of the ranks, each with its own file, at the same time. */
static void halves(void)
{
	int half = tst.rank % 2, rank;
	MPI_File fh = MPI_FILE_NULL;
	unsigned char buf[16];
	MPI_Comm comm;

	tst_remove(tst_file(".half0"));
	tst_remove(tst_file(".half1"));
	MPI_Comm_split(MPI_COMM_WORLD, half, tst.rank, &comm);
	MPI_Comm_rank(comm, &rank);
	OK(MPI_File_open(comm, tst_file(half ? ".half1" : ".half0"), CREATE, MPI_INFO_NULL, &fh));
	if (fh != MPI_FILE_NULL) {
		tst_fill(buf, 16, half, 16 * rank);
		OK(MPI_File_write_at_all(fh, 16 * rank, buf, 16, MPI_BYTE, MPI_STATUS_IGNORE));
		OK(MPI_File_sync(fh));
		MPI_Barrier(comm);
		OK(MPI_File_sync(fh));
		OK(MPI_File_read_at_all(fh, 0, buf, 16, MPI_BYTE, MPI_STATUS_IGNORE));
		tst_same(buf, 16, half, 0, "contents");
		tst_close(&fh);
	}
	MPI_Comm_free(&comm);
}

static void many(void)
{
	enum { FILES = 12 };
	MPI_File fh[FILES];
	char suffix[32];
	int i, n, v;

	for (n = 0; n < FILES; n++) {
		snprintf(suffix, sizeof(suffix), ".many%d", n);
		fh[n] = tst_create(suffix);
		if (fh[n] == MPI_FILE_NULL)
			break;
		v = 100 * n + tst.rank;
		OK(MPI_File_write_at_all(fh[n], 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	}
	for (i = 0; i < n; i++) {
		v = -1;
		OK(MPI_File_read_at(fh[i], 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
		CHECK(v == 100 * i + tst.rank, "file %d has %d", i, v);
		tst_close(&fh[i]);
		snprintf(suffix, sizeof(suffix), ".many%d", i);
		tst_remove(tst_file(suffix));
	}
}

/* The same file by two handles. */
static void twice(void)
{
	MPI_File one = tst_create(".twice"), two;
	int v = tst.rank + 5;

	if (one == MPI_FILE_NULL)
		return;
	/* Opened for writing, as MPI_File_sync refuses others in both MPIs. */
	two = tst_open(tst_file(".twice"), MPI_MODE_RDWR);
	if (two != MPI_FILE_NULL) {
		OK(MPI_File_write_at_all(one, 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
		tst_sync(one);
		OK(MPI_File_sync(two));
		v = -1;
		OK(MPI_File_read_at_all(two, 4 * (tst.size - 1 - tst.rank), &v, 1, MPI_INT,
					MPI_STATUS_IGNORE));
		CHECK(v == tst.size - 1 - tst.rank + 5, "read %d", v);
		tst_close(&two);
	}
	tst_close(&one);
}

static void deleting(void)
{
	const char *name = tst_file(".gone");

	make(".gone", 8);
	tst_barrier();
	if (!tst.rank) {
		OK(MPI_File_delete(name, MPI_INFO_NULL));
		FAILS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
	}
	tst_barrier();
	CHECK(!exists(name), "it is still there");
}

/* A file made after the deletion of one with the same name is empty. */
static void made_again(void)
{
	MPI_Offset size = -1;
	MPI_File fh;

	make(".again", 64);
	fh = tst_create(".again");
	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_get_size(fh, &size));
	CHECK(size == 0, "it has %lld bytes of the deleted one", (long long)size);
	tst_close(&fh);
}

/* Names that no file can have. */
static void long_names(void)
{
	const char *slash = strrchr(tst.path, '/'), *colon = strchr(tst.path, ':');
	int folder = (int)(slash ? slash - tst.path + 1 : colon ? colon - tst.path + 1 : 0);
	char name[8000];
	MPI_File fh;

	if (!tst.strict)
		return tst_skip("only with --ddio");
	snprintf(name, sizeof(name), "%.*s%0256d", folder, tst.path, 1);
	FAILS(MPI_File_open(MPI_COMM_WORLD, name, CREATE, MPI_INFO_NULL, &fh), MPI_ERR_BAD_FILE);
	FAILS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_BAD_FILE, MPI_ERR_NO_SUCH_FILE);
	snprintf(name, sizeof(name), "%.*s%0255d", folder, tst.path, 1);
	OK(MPI_File_open(MPI_COMM_WORLD, name, CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
			 &fh));
	OK(MPI_File_close(&fh));
	/* Longer ones are nobody's, but for this prefix: Open MPI crashes with them. */
	if (!colon || slash)
		return;
	snprintf(name, sizeof(name), "%s%06000d", tst.path, 1);
	FAILS(MPI_File_open(MPI_COMM_WORLD, name, CREATE, MPI_INFO_NULL, &fh), MPI_ERR_BAD_FILE);
	FAILS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_BAD_FILE);
	snprintf(name, sizeof(name), "%.*s", folder, tst.path);
	FAILS(MPI_File_open(MPI_COMM_WORLD, name, CREATE, MPI_INFO_NULL, &fh),
	      MPI_ERR_NO_SUCH_FILE);
}

void open_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "open/new", create_new },
		{ "open/existing", create_existing },
		{ "open/no_such_file", no_such_file },
		{ "open/no_such_directory", no_such_directory },
		{ "open/excl", excl },
		{ "open/delete_on_close", delete_on_close },
		{ "open/append", append },
		{ "open/read_only", read_only },
		{ "open/read_only_sizes", read_only_sizes },
		{ "open/write_only", write_only },
		{ "open/bad_modes", bad_modes },
		{ "open/modes_differ", modes_differ },
		{ "open/get_amode", get_amode },
		{ "open/sequential", sequential },
		{ "open/get_group", get_group },
		{ "open/reversed", reversed },
		{ "open/alone", alone },
		{ "open/halves", halves },
		{ "open/many", many },
		{ "open/twice", twice },
		{ "open/delete", deleting },
		{ "open/made_again", made_again },
		{ "open/long_names", long_names },
	};

	CASES(cases);
}
