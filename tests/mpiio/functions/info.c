// SPDX-License-Identifier: GPL-2.0-only
/* Hints: any may be given, none changes what is in a file. */
#include "tests/mpiio/functions/functions.h"
#include <string.h>

static MPI_Info hints(void)
{
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "striping_unit", "65536");
	MPI_Info_set(info, "striping_factor", "2");
	MPI_Info_set(info, "cb_buffer_size", "1048576");
	MPI_Info_set(info, "romio_cb_write", "enable");
	MPI_Info_set(info, "access_style", "write_once,read_many");
	MPI_Info_set(info, "a_key_that_nobody_knows", "a value");
	return info;
}

/* Returns true if the key is there; every key has a value that can be read. */
static bool has_key(MPI_Info info, const char *key, char *value)
{
	char name[MPI_MAX_INFO_KEY + 1];
	int i, n = 0, flag, len = 0;
	bool found = false;

	MPI_Info_get_nkeys(info, &n);
	for (i = 0; i < n; i++) {
		MPI_Info_get_nthkey(info, i, name);
		MPI_Info_get_valuelen(info, name, &len, &flag);
		CHECK(flag && len >= 0, "key %s has no value", name);
		if (strcmp(name, key))
			continue;
		MPI_Info_get(info, name, MPI_MAX_INFO_VAL, value, &flag);
		found = flag;
	}
	return found;
}

static void with_hints(void)
{
	const char *name = tst_file(".hints");
	MPI_File fh = MPI_FILE_NULL;
	MPI_Info info = hints();
	int v = tst.rank;

	tst_remove(name);
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh));
	/* The object belongs to the caller. */
	MPI_Info_free(&info);
	if (!tst_all(fh != MPI_FILE_NULL))
		return;
	OK(MPI_File_write_at_all(fh, 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	v = -1;
	OK(MPI_File_read_at_all(fh, 4 * tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(v == tst.rank, "read %d", v);
	tst_close(&fh);
}

/* What get_info returns is a new object, each time. */
static void get_info(void)
{
	char value[MPI_MAX_INFO_VAL + 1] = "";
	MPI_File fh = tst_create(".getinfo");
	MPI_Info one = MPI_INFO_NULL, two = MPI_INFO_NULL;

	if (fh == MPI_FILE_NULL)
		return;
	OK(MPI_File_get_info(fh, &one));
	OK(MPI_File_get_info(fh, &two));
	CHECK(one != MPI_INFO_NULL && two != MPI_INFO_NULL, "MPI_INFO_NULL");
	if (one != MPI_INFO_NULL && two != MPI_INFO_NULL) {
		CHECK(one != two, "twice the same object");
		MPI_Info_set(one, "mine_alone", "1");
		CHECK(!has_key(two, "mine_alone", value), "a key went over to another object");
		MPI_Info_free(&one);
		MPI_Info_free(&two);
	}
	tst_close(&fh);
}

static void set_info(void)
{
	MPI_File fh = tst_create(".setinfo");
	MPI_Info info = hints();
	int v = 7;

	if (fh == MPI_FILE_NULL)
		goto out;
	OK(MPI_File_set_info(fh, info));
	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", info));
	OK(MPI_File_write_at(fh, tst.rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	tst_close(&fh);
out:
	MPI_Info_free(&info);
}

/* Keys that it does not know are kept and told; what the MPIs' own do about them differs. */
static void kept(void)
{
	char value[MPI_MAX_INFO_VAL + 1] = "";
	const char *name = tst_file(".kept");
	MPI_File fh = MPI_FILE_NULL;
	MPI_Info info, used = MPI_INFO_NULL;

	if (!tst.strict) {
		tst_skip("only with --ddio");
		return;
	}
	info = hints();
	tst_remove(name);
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh));
	MPI_Info_free(&info);
	if (!tst_all(fh != MPI_FILE_NULL))
		return;
	OK(MPI_File_get_info(fh, &used));
	CHECK(has_key(used, "a_key_that_nobody_knows", value) && !strcmp(value, "a value"),
	      "the unknown key is lost or has \"%s\"", value);
	CHECK(has_key(used, "striping_unit", value) && !strcmp(value, "65536"),
	      "striping_unit is lost, or has \"%s\"", value);
	CHECK(has_key(used, "striping_factor", value) && !strcmp(value, "2"),
	      "striping_factor is lost, or has \"%s\"", value);
	MPI_Info_free(&used);
	MPI_Info_create(&info);
	MPI_Info_set(info, "given_later", "too");
	OK(MPI_File_set_info(fh, info));
	MPI_Info_free(&info);
	OK(MPI_File_get_info(fh, &used));
	CHECK(has_key(used, "given_later", value) && !strcmp(value, "too"),
	      "a key of MPI_File_set_info is lost");
	CHECK(has_key(used, "a_key_that_nobody_knows", value), "MPI_File_set_info drops others");
	MPI_Info_free(&used);
	tst_close(&fh);
}

static void env(void)
{
	const char *name = tst_file(".env");
	MPI_File fh = MPI_FILE_NULL;

	tst_remove(name);
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_ENV, &fh));
	if (tst_all(fh != MPI_FILE_NULL))
		tst_close(&fh);
}

/* A new file with hints, which are freed: what is written in two ways is there. */
static void works_with(MPI_Info info, const char *what)
{
	const char *name = tst_file(".absurd");
	MPI_File fh = MPI_FILE_NULL;
	int v[2] = { tst.rank, tst.rank + 100 }, i;

	tst_remove(name);
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh));
	if (!tst_all(fh != MPI_FILE_NULL)) {
		CHECK(false, "%s: not opened", what);
		MPI_Info_free(&info);
		return;
	}
	OK(MPI_File_set_info(fh, info));
	OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", info));
	MPI_Info_free(&info);
	for (i = 0; i < 2; i++)
		OK(MPI_File_write_at_all(fh, i * tst.size + tst.rank, &v[i], 1, MPI_INT,
					 MPI_STATUS_IGNORE));
	v[0] = v[1] = -1;
	for (i = 0; i < 2; i++)
		OK(MPI_File_read_at_all(fh, i * tst.size + tst.rank, &v[i], 1, MPI_INT,
					MPI_STATUS_IGNORE));
	CHECK(v[0] == tst.rank && v[1] == tst.rank + 100, "%s: read %d, %d", what, v[0], v[1]);
	tst_close(&fh);
}

static bool applies(void)
{
	if (!tst.strict)
		tst_skip("only with --ddio");
	return tst.strict;
}

/* Values that mean nothing change nothing. */
static void absurd(void)
{
	static const char *const keys[] = { "striping_unit",   "striping_factor",
					    "start_iodevice",  "ddio_write_behind",
					    "ddio_close_sync", "ddio_report_bytes_share" };
	static const char *const values[] = { "0",
					      "-1",
					      "1",
					      "511",
					      "65537",
					      "1e6",
					      "0x10000",
					      " ",
					      "maybe",
					      "%n%s",
					      "4294967296",
					      "4294967297",
					      "18446744073709551615",
					      "18446744073709551616",
					      "999999999999999999999999999999999999999999999999" };
	char longest[MPI_MAX_INFO_VAL];
	MPI_Info info;
	size_t k, i;

	if (!applies())
		return;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		MPI_Info_create(&info);
		for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			MPI_Info_set(info, keys[k], values[i]);
		works_with(info, values[i]);
	}
	memset(longest, '9', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	MPI_Info_create(&info);
	for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
		MPI_Info_set(info, keys[k], longest);
	works_with(info, "the longest value");
}

/* Each process has its own: it is an error of the program at worst, and none waits. */
static void differing(void)
{
	static const char *const hint[][3] = {
		{ "ddio_write_behind", "true", "false" }, { "ddio_write_behind", "false", "true" },
		{ "ddio_close_sync", "true", "false" },	  { "ddio_atomic", "true", "false" },
		{ "ddio_atomic", "false", "true" },	  { "striping_unit", "4096", "65536" },
		{ "striping_factor", "1", "2" },
	};
	MPI_Info info;
	size_t i;

	if (!applies())
		return;
	for (i = 0; i < sizeof(hint) / sizeof(hint[0]); i++) {
		MPI_Info_create(&info);
		MPI_Info_set(info, hint[i][0], hint[i][1 + tst.rank % 2]);
		works_with(info, hint[i][0]);
	}
}

void info_cases(void)
{
	static const struct mpiio_case cases[] = {
		{ "info/hints", with_hints },
		{ "info/get", get_info },
		{ "info/set", set_info },
		{ "info/kept", kept },
		{ "info/env", env },
		{ "info/absurd", absurd },
		{ "info/differing", differing },
	};

	CASES(cases);
}
