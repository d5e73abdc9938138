// SPDX-License-Identifier: GPL-2.0-only
/* Listings: many entries, while others come and go. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "posix.h"

#define MANY 3000

static char said[256];

static const char *fill(int from, int to, int step)
{
	char name[64];
	int i, fd;

	for (i = from; i < to; i += step) {
		snprintf(name, sizeof(name), "d/a name that is not short %d", i);
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
		if (fd < 0)
			return "cannot create";
		close(fd);
	}
	return NULL;
}

static int number_of(const char *name)
{
	const char *space = strrchr(name, ' ');

	return space ? atoi(space) : -1;
}

static const char *seen_check(const unsigned char *seen, int from, int to, int step)
{
	int i;

	for (i = from; i < to; i += step) {
		if (seen[i] != 1) {
			snprintf(said, sizeof(said), "entry %d is listed %d times", i, seen[i]);
			return said;
		}
	}
	return NULL;
}

/* @half: while listing, remove what is odd that was seen and what was not, and make more. */
static const char *list_all(bool change)
{
	static unsigned char seen[2 * MANY];
	char name[64];
	struct dirent *e;
	int n = 0, i, fd;
	DIR *dir = opendir("d");

	while (dir && (e = readdir(dir))) {
		i = number_of(e->d_name);
		if (i >= 0 && i < 2 * MANY)
			seen[i]++;
		if (!change || n >= MANY || n++ % 3)
			continue;
		snprintf(name, sizeof(name), "d/a name that is not short %d", (n * 7 % MANY) | 1);
		unlink(name);
		snprintf(name, sizeof(name), "d/a name that is not short %d", MANY + n);
		fd = open(name, O_CREAT | O_WRONLY, 0644);
		if (fd >= 0)
			close(fd);
	}
	if (!dir || closedir(dir))
		return "cannot list";
	return seen_check(seen, 0, MANY, change ? 2 : 1);
}

static const char *many(void)
{
	const char *err = mkdir("d", 0755) ? "mkdir" : fill(0, MANY, 1);

	return err ? err : list_all(false);
}

static const char *many_changing(void)
{
	const char *err = mkdir("d", 0755) ? "mkdir" : fill(0, MANY, 1);

	return err ? err : list_all(true);
}

static const char *rewound(void)
{
	const char *err = mkdir("d", 0755) ? "mkdir" : fill(0, 200, 1);
	int round, n = 0;
	DIR *dir = opendir("d");

	for (round = 0; !err && dir && round < 3; round++) {
		n = 0;
		while (readdir(dir))
			n++;
		rewinddir(dir);
	}
	if (dir)
		closedir(dir);
	if (!err && n != 202) {
		snprintf(said, sizeof(said), "%d entries after rewinding", n);
		err = said;
	}
	return err;
}

/* Every place can be gone back to. */
static const char *seeked(void)
{
	const char *err = mkdir("d", 0755) ? "mkdir" : fill(0, 300, 1);
	char names[302][64];
	struct dirent *e;
	long at[302];
	int n = 0, i;
	DIR *dir = opendir("d");

	while (!err && dir && n < 302) {
		at[n] = telldir(dir);
		e = readdir(dir);
		if (!e)
			break;
		snprintf(names[n++], 64, "%.63s", e->d_name);
	}
	for (i = n - 1; !err && i >= 0; i -= 7) {
		seekdir(dir, at[i]);
		e = readdir(dir);
		if (!e || strcmp(e->d_name, names[i]))
			err = "another entry is at a place that was remembered";
	}
	if (dir)
		closedir(dir);
	return err ? err : n == 302 ? NULL : "entries are missing";
}

/* What is removed between telldir and seekdir does not matter to what stays. */
static const char *seeked_removed(void)
{
	const char *err = mkdir("d", 0755) ? "mkdir" : fill(0, 300, 1);
	static unsigned char seen[300];
	char name[64];
	struct dirent *e;
	int n = 0, i;
	long at;
	DIR *dir = opendir("d");

	while (!err && dir && n++ < 100 && (e = readdir(dir)))
		if (number_of(e->d_name) >= 0)
			seen[number_of(e->d_name)]++;
	at = telldir(dir);
	for (i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "d/a name that is not short %d", i);
		if (seen[i])
			unlink(name);
	}
	seekdir(dir, at);
	while (!err && (e = readdir(dir)))
		if (number_of(e->d_name) >= 0)
			seen[number_of(e->d_name)]++;
	closedir(dir);
	return err ? err : seen_check(seen, 0, 300, 1);
}

/* Removes everything while listing, as "rm -r" does. */
static const char *emptied(void)
{
	const char *err = mkdir("d", 0755) ? "mkdir" : fill(0, MANY, 1);
	char name[300];
	struct dirent *e;
	DIR *dir = opendir("d");

	while (!err && dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "d/%s", e->d_name);
		if (unlink(name))
			err = "what is listed cannot be removed";
	}
	if (dir)
		closedir(dir);
	if (!err && rmdir("d"))
		err = "it is not empty";
	return err;
}

static const char *types(void)
{
	struct dirent *e;
	int good = 0;
	DIR *dir;

	if (mkdir("s", 0755) || mkdir("s/d", 0755) || mkfifo("s/p", 0644) || symlink("x", "s/l") ||
	    mknod("s/f", S_IFREG | 0644, 0))
		return "cannot make";
	dir = opendir("s");
	while (dir && (e = readdir(dir))) {
		good += e->d_name[0] == 'd' && e->d_type == DT_DIR;
		good += e->d_name[0] == 'p' && e->d_type == DT_FIFO;
		good += e->d_name[0] == 'l' && e->d_type == DT_LNK;
		good += e->d_name[0] == 'f' && e->d_type == DT_REG;
		good += e->d_name[0] == '.' && e->d_type == DT_DIR;
	}
	if (dir)
		closedir(dir);
	return good == 6 ? NULL : "a type is wrong";
}

static const char *numbers(void)
{
	struct dirent *e;
	struct stat st;
	char name[300];
	DIR *dir;

	if (mkdir("d", 0755) || fill(0, 100, 1) || link("d/a name that is not short 3", "d/link"))
		return "cannot make";
	dir = opendir("d");
	while (dir && (e = readdir(dir))) {
		snprintf(name, sizeof(name), "d/%s", e->d_name);
		if (lstat(name, &st) || st.st_ino != e->d_ino) {
			snprintf(said, sizeof(said), "the number of %.200s differs", e->d_name);
			return said;
		}
	}
	if (dir)
		closedir(dir);
	return NULL;
}

const struct px_case px_cases_dirs[] = {
	PX_CODE("thousands", many),
	PX_CODE("thousands, while they change", many_changing),
	PX_CODE("rewinding", rewound),
	PX_CODE("seeking", seeked),
	PX_CODE("seeking to where things were removed", seeked_removed),
	PX_CODE("emptied while listing", emptied),
	PX_CODE("types", types),
	PX_CODE("numbers", numbers),
	PX("empty", "mkdir d; list d"),
	PX("all kinds",
	   "mkdir d; create d/f; mkdir d/d; symlink x d/s; mkfifo d/p; mknod d/u sock 600; list d f d s p u"),
	PX("after removing", "mkdir d; create d/a; create d/b; create d/c; unlink d/b; list d a c"),
	PX("after renaming", "mkdir d; create d/a; create d/b; rename d/a d/c; list d b c"),
	PX("of a file", "create f; ENOTDIR list f"),
	PX("missing", "ENOENT list d"),
	PX("not readable", "mkdir d 711; 1: EACCES list d"),
	PX("long names",
	   "mkdir d; create d/{n255}; create d/{n254}; create d/{n253}; list d {n255} {n254} {n253}"),
	PX_END
};
