// SPDX-License-Identifier: GPL-2.0-only
/* Several processes at once. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "posix.h"

#define WORKERS 4

/* Runs @work in WORKERS processes at once. */
static const char *workers(bool (*work)(int me))
{
	int i, status, bad = 0;
	pid_t pid[WORKERS];

	for (i = 0; i < WORKERS; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(work(i) ? 0 : 1);
	}
	for (i = 0; i < WORKERS; i++) {
		waitpid(pid[i], &status, 0);
		bad += !WIFEXITED(status) || WEXITSTATUS(status);
	}
	return bad ? "a process failed" : NULL;
}

static bool append_work(int me)
{
	int fd = open("f", O_WRONLY | O_APPEND), i;
	char line[40];
	bool good = fd >= 0;

	for (i = 0; good && i < 100; i++) {
		snprintf(line, sizeof(line), "%03d %03d .......\n", me, i);
		good = write(fd, line, 16) == 16;
	}
	return !close(fd) && good;
}

static const char *append_all(void)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644), next[WORKERS] = { 0 }, me, n;
	const char *err = workers(append_work);
	char line[17] = "";

	while (!err && read(fd, line, 16) == 16) {
		if (sscanf(line, "%d %d", &me, &n) != 2 || me < 0 || me >= WORKERS ||
		    next[me]++ != n)
			err = "a line is torn, missing or twice";
	}
	for (me = 0; !err && me < WORKERS; me++)
		if (next[me] != 100)
			err = "lines are missing";
	return err;
}

static bool region_work(int me)
{
	static unsigned char buf[50000];
	int fd = open("f", O_RDWR), i;
	bool good = fd >= 0;

	memset(buf, me + 1, sizeof(buf));
	/* Neighbours share blocks. */
	for (i = 0; good && i < 20; i++)
		good = pwrite(fd, buf, 2500, (off_t)(i * WORKERS + me) * 2500) == 2500;
	return !close(fd) && good;
}

static const char *regions(void)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644), i;
	const char *err = workers(region_work);
	unsigned char byte;

	for (i = 0; !err && i < 20 * WORKERS * 2500; i += 100)
		if (pread(fd, &byte, 1, i) != 1 || byte != i / 2500 % WORKERS + 1)
			err = "a region has another's bytes";
	return err;
}

static bool names_work(int me)
{
	char a[32], b[32];
	int i, fd;

	for (i = 0; i < 100; i++) {
		snprintf(a, sizeof(a), "%d-%d", me, i);
		snprintf(b, sizeof(b), "%d-%d.moved", me, i);
		fd = open(a, O_CREAT | O_EXCL | O_WRONLY, 0644);
		if (fd < 0 || close(fd) || rename(a, b) || (i % 2 && unlink(b)))
			return false;
	}
	return true;
}

static const char *names(void)
{
	const char *err = workers(names_work);
	struct stat st;
	char name[32];
	int me, i;

	for (me = 0; !err && me < WORKERS; me++) {
		for (i = 0; i < 100; i++) {
			snprintf(name, sizeof(name), "%d-%d.moved", me, i);
			if (!stat(name, &st) != !(i % 2))
				err = "a name is missing or left over";
		}
	}
	return err;
}

static bool excl_work(int me)
{
	int i, fd, mine = 0, tally;
	char name[32];

	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "lock-%d", i);
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
		if (fd >= 0) {
			mine++;
			close(fd);
		} else if (errno != EEXIST) {
			return false;
		}
	}
	(void)me;
	tally = open("tally", O_WRONLY | O_APPEND);
	while (mine--)
		if (write(tally, "x", 1) != 1)
			return false;
	return !close(tally);
}

/* Of several processes that make one name with O_EXCL exactly one succeeds. */
static const char *excl(void)
{
	int fd = open("tally", O_CREAT | O_RDWR, 0644);
	const char *err = workers(excl_work);
	struct stat st;

	if (!err && (fstat(fd, &st) || st.st_size != 100))
		err = "a name was made by two, or by nobody";
	return err;
}

static bool mkdir_work(int me)
{
	char name[32];
	int i;

	(void)me;
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "d%d", i % 5);
		if (mkdir(name, 0755) && errno != EEXIST)
			return false;
		if (rmdir(name) && errno != ENOENT && errno != ENOTEMPTY)
			return false;
	}
	return true;
}

static const char *mkdirs(void)
{
	const char *err = workers(mkdir_work);
	struct stat st;

	return err ? err : stat("d0", &st) ? NULL : "a directory is left over";
}

const struct px_case px_cases_programs[] = { PX_CODE("append", append_all),
					     PX_CODE("regions of one file", regions),
					     PX_CODE("names", names),
					     PX_CODE("exclusive creation", excl),
					     PX_CODE("directories come and go", mkdirs),
					     PX_END };
