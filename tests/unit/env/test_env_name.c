// SPDX-License-Identifier: GPL-2.0-only
/* Which directories are synced where something is made that must survive a loss of power. */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "env/name.h"
#include "tests/unit/env/env_rig.h"

/* The paths below the test's directory that were synced, each followed by a space. */
static char synced[1000];
static char top[PATH_MAX];
static bool unreadable;

/* Stands in the place of the C library's. */
int fsync(int fd)
{
	char link[32], path[PATH_MAX];
	size_t have = strlen(synced);
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	if (unreadable) {
		errno = EACCES;
		return -1;
	}
	if (!strncmp(path, top, strlen(top)))
		snprintf(synced + have, sizeof(synced) - have, "%s ", path + strlen(top));
	return 0;
}

static const char *in_top(const char *name)
{
	static char path[PATH_MAX + 100];

	snprintf(path, sizeof(path), "%s%s", top, name);
	synced[0] = '\0';
	return path;
}

static void directories_that_are_made_are_synced(void)
{
	CU_ASSERT_EQUAL(ddio_env_dirs_make(in_top("/a/b/c"), true), 0);
	CU_ASSERT_STRING_EQUAL(synced, " /a /a/b ");
	CU_ASSERT_EQUAL(ddio_env_dirs_make(in_top("/a/b/d"), true), 0);
	CU_ASSERT_STRING_EQUAL(synced, " /a /a/b ");
}

static void a_directory_that_is_there_may_not_have_been_synced(void)
{
	CU_ASSERT_EQUAL(mkdir(in_top("/there"), 0700), 0);
	CU_ASSERT_EQUAL(ddio_env_dirs_make(in_top("/there"), true), 0);
	CU_ASSERT_STRING_EQUAL(synced, " ");
	CU_ASSERT_EQUAL(ddio_env_dirs_make(in_top("/there//"), true), 0);
	CU_ASSERT_EQUAL(ddio_env_dirs_make(in_top("/there/unsynced/dirs"), false), 0);
	CU_ASSERT_STRING_EQUAL(synced, "");
	/* Nor those above it: a start was cut off behind its mkdir(). */
	CU_ASSERT_EQUAL(ddio_env_dirs_make(in_top("/there/unsynced/dirs"), true), 0);
	CU_ASSERT_STRING_EQUAL(synced, " /there /there/unsynced ");
	unreadable = true;
	CU_ASSERT_EQUAL(ddio_env_dirs_make(in_top("/there"), true), 0);
	CU_ASSERT_EQUAL(ddio_env_dirs_make(in_top("/there/new/one"), true), -EACCES);
	unreadable = false;
}

static void what_cannot_be_made_is_an_error(void)
{
	FILE *f = fopen(in_top("/file"), "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fclose(f);
	CU_ASSERT_EQUAL(ddio_env_dirs_make(in_top("/file/below"), true), -ENOTDIR);
	CU_ASSERT_EQUAL(ddio_env_dirs_make("", true), -ENOENT);
	CU_ASSERT_EQUAL(env_name_sync(in_top("/nowhere/x")), -ENOENT);
}

static void the_file_of_a_disk_is_there_with_its_name(void)
{
	static const char *const engines[] = { "aio", "mem" };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		const struct ddio_disk_spec spec = { .name = "d",
						     .engine = engines[i],
						     .path = in_top("/a/disk"),
						     .size = 2u << 20,
						     .create = true };
		struct env_rig rig;

		rig_begin(&rig);
		rig_open(&rig, &spec);
		CU_ASSERT_STRING_EQUAL(synced, "/a ");
		rig_end(&rig);
	}
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "directories that are made are synced", directories_that_are_made_are_synced },
		{ "a directory that is there may not have been synced",
		  a_directory_that_is_there_may_not_have_been_synced },
		{ "what cannot be made is an error", what_cannot_be_made_is_an_error },
		{ "the file of a disk is there with its name",
		  the_file_of_a_disk_is_there_with_its_name },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "env_name", cases } };

	const char *tmp = getenv("TMPDIR");
	char made[200];
	int ret;

	snprintf(made, sizeof(made), "%s/ddio-env-name-XXXXXX", tmp ? tmp : "/var/tmp");
	if (!mkdtemp(made) || !realpath(made, top))
		return 1;
	ret = ut_run("env_name", suites, 1);
	nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return ret;
}
