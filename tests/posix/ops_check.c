// SPDX-License-Identifier: GPL-2.0-only
/* What is compared: attributes, times, listings. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include "posix.h"

/* Longer than the clock of files' times stands still. */
#define TICK_NS 15000000

static int any_stat(struct px *p, const char *word, bool follow, struct stat *st)
{
	if (word[0] == '#')
		return fstat(px_fd(p, word), st);
	return fstatat(AT_FDCWD, word, st, follow ? 0 : AT_SYMLINK_NOFOLLOW);
}

static const char *type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "reg";
	case S_IFDIR:
		return "dir";
	case S_IFLNK:
		return "lnk";
	case S_IFIFO:
		return "fifo";
	case S_IFSOCK:
		return "sock";
	case S_IFCHR:
		return "chr";
	}
	return "blk";
}

static void field(const struct stat *st, const char *name, char out[64])
{
	if (!strcmp(name, "type"))
		snprintf(out, 64, "%s", type_of(st->st_mode));
	else if (!strcmp(name, "mode"))
		snprintf(out, 64, "%o", (unsigned int)st->st_mode & 07777);
	else if (!strcmp(name, "nlink"))
		snprintf(out, 64, "%lu", (unsigned long)st->st_nlink);
	else if (!strcmp(name, "uid"))
		snprintf(out, 64, "%u", st->st_uid);
	else if (!strcmp(name, "gid"))
		snprintf(out, 64, "%u", st->st_gid);
	else if (!strcmp(name, "size"))
		snprintf(out, 64, "%lld", (long long)st->st_size);
	else if (!strcmp(name, "blocks"))
		snprintf(out, 64, "%lld", (long long)st->st_blocks);
	else if (!strcmp(name, "dev"))
		snprintf(out, 64, "%u,%u", major(st->st_rdev), minor(st->st_rdev));
	else if (!strcmp(name, "atime"))
		snprintf(out, 64, "%lld.%09ld", (long long)st->st_atime, st->st_atim.tv_nsec);
	else if (!strcmp(name, "mtime"))
		snprintf(out, 64, "%lld.%09ld", (long long)st->st_mtime, st->st_mtim.tv_nsec);
	else
		snprintf(out, 64, "?");
}

/* stat PATH|#N NAME=VALUE...; "<" and ">" compare numbers */
static long op_stat(struct px *p, int argc, char **argv)
{
	char name[32], have[64];
	struct stat st;
	size_t len;
	bool good;
	int i;

	if (any_stat(p, argv[1], strcmp(argv[0], "lstat"), &st))
		return -1;
	for (i = 2; i < argc; i++) {
		len = strcspn(argv[i], "=<>");
		snprintf(name, sizeof(name), "%.*s", (int)len, argv[i]);
		field(&st, name, have);
		if (argv[i][len] == '<')
			good = atoll(have) < atoll(argv[i] + len + 1);
		else if (argv[i][len] == '>')
			good = atoll(have) > atoll(argv[i] + len + 1);
		else
			good = !strcmp(have, argv[i] + len + 1);
		if (!good)
			return px_wrong(p, "%s is %s", name, have);
	}
	return 0;
}

/* same PATH PATH: one inode */
static long op_same(struct px *p, int argc, char **argv)
{
	struct stat a, b;

	(void)argc;
	if (any_stat(p, argv[1], false, &a) || any_stat(p, argv[2], false, &b))
		return -1;
	return a.st_ino == b.st_ino && a.st_dev == b.st_dev ? 0 : px_wrong(p, "two inodes");
}

static long op_differ(struct px *p, int argc, char **argv)
{
	long ret = op_same(p, argc, argv);

	if (ret == PX_WRONG)
		return 0;
	return ret < 0 ? ret : px_wrong(p, "one inode");
}

static void tick(void)
{
	const struct timespec ts = { .tv_nsec = TICK_NS };

	nanosleep(&ts, NULL);
}

/* mark PATH...: remembers times, to be compared by changed */
static long op_mark(struct px *p, int argc, char **argv)
{
	int i;

	p->nmarks = 0;
	for (i = 1; i < argc && i <= PX_MARKS; i++) {
		struct px_mark *m = &p->mark[p->nmarks++];

		snprintf(m->path, sizeof(m->path), "%s", argv[i]);
		if (any_stat(p, argv[i], false, &m->st))
			return -1;
	}
	tick();
	return 0;
}

static bool differ(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec || a->tv_nsec != b->tv_nsec;
}

/*
 * changed PATH amc[+] [NOW]: exactly these times, or with "+" at least, have changed since the mark; NOW:
 * PATH's name by now
 */
static long op_changed(struct px *p, int argc, char **argv)
{
	char have[4] = "";
	struct stat st;
	unsigned int i;

	for (i = 0; i < p->nmarks && strcmp(p->mark[i].path, argv[1]); i++)
		;
	if (i == p->nmarks)
		return px_wrong(p, "the script has no mark of %s", argv[1]);
	if (any_stat(p, argc > 3 ? argv[3] : argv[1], false, &st))
		return -1;
	if (differ(&st.st_atim, &p->mark[i].st.st_atim))
		strcat(have, "a");
	if (differ(&st.st_mtim, &p->mark[i].st.st_mtim))
		strcat(have, "m");
	if (differ(&st.st_ctim, &p->mark[i].st.st_ctim))
		strcat(have, "c");
	if (argv[2][strlen(argv[2]) - 1] == '+' && strspn(argv[2], have) == strlen(argv[2]) - 1)
		return 0;
	if (strcmp(have, strcmp(argv[2], "-") ? argv[2] : ""))
		return px_wrong(p, "of the times of %s these have changed: \"%s\"", argv[1], have);
	return 0;
}

/* recent PATH amc: these times are of the last minute */
static long op_recent(struct px *p, int argc, char **argv)
{
	time_t now = time(NULL);
	struct stat st;

	(void)argc;
	if (any_stat(p, argv[1], false, &st))
		return -1;
	if ((strchr(argv[2], 'a') && llabs(now - st.st_atime) > 60) ||
	    (strchr(argv[2], 'm') && llabs(now - st.st_mtime) > 60) ||
	    (strchr(argv[2], 'c') && llabs(now - st.st_ctime) > 60))
		return px_wrong(p, "a time is not of now");
	return 0;
}

static bool among(const char *name, int argc, char **argv)
{
	int i;

	for (i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return false;
}

/* list PATH [NAME...]: exactly these, besides "." and ".." */
static long op_list(struct px *p, int argc, char **argv)
{
	DIR *dir = opendir(argv[1]);
	int found = 0, dots = 0;
	struct dirent *e;

	if (!dir)
		return -1;
	while ((e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) {
			dots++;
		} else if (among(e->d_name, argc, argv)) {
			found++;
		} else {
			px_wrong(p, "\"%.100s\" is listed", e->d_name);
			closedir(dir);
			return PX_WRONG;
		}
	}
	closedir(dir);
	if (dots != 2)
		return px_wrong(p, "%d of . and ..", dots);
	return found == argc - 2 ? 0 : px_wrong(p, "%d names are listed", found);
}

static long op_tick(struct px *p, int argc, char **argv)
{
	(void)p;
	(void)argc;
	(void)argv;
	tick();
	return 0;
}

const struct px_op px_ops_check[] = { { "stat", 1, op_stat },	  { "lstat", 1, op_stat },
				      { "same", 2, op_same },	  { "differ", 2, op_differ },
				      { "mark", 1, op_mark },	  { "changed", 2, op_changed },
				      { "recent", 2, op_recent }, { "list", 1, op_list },
				      { "tick", 0, op_tick },	  { NULL, 0, NULL } };
