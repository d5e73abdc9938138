// SPDX-License-Identifier: GPL-2.0-only
/* Copies the records of an I/O processor as they are at this moment. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "run.h"

static int copy_file(const char *from, const char *to)
{
	char buf[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	ssize_t n = -1;

	if (in < 0)
		return -errno;
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out >= 0) {
		while ((n = read(in, buf, sizeof(buf))) > 0)
			if (write(out, buf, n) != n)
				break;
		close(out);
	}
	close(in);
	return n ? -EIO : 0;
}

/* Copies one directory's records: LMDB's file, and journals if there are any. */
static int copy_files(const char *from, const char *to)
{
	static const char *const files[] = { "data.mdb", "journal.0", "journal.1" };
	char a[400], b[400];
	size_t i;
	int ret = 0;

	for (i = 0; i < sizeof(files) / sizeof(files[0]) && !ret; i++) {
		snprintf(a, sizeof(a), "%.300s/%s", from, files[i]);
		snprintf(b, sizeof(b), "%.300s/%s", to, files[i]);
		if (!i || !access(a, F_OK))
			ret = copy_file(a, b);
	}
	return ret;
}

/* Copies one level of directories; lock files belong to the dead process and are left out. */
int faults_copy_records(const char *from, const char *to)
{
	DIR *dir = opendir(from);
	struct dirent *e;
	char a[300], b[300];
	int ret = dir && !mkdir(to, 0700) ? 0 : -errno;

	while (!ret && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(a, sizeof(a), "%s/%.200s", from, e->d_name);
		snprintf(b, sizeof(b), "%s/%.200s", to, e->d_name);
		ret = mkdir(b, 0700) ? -errno : copy_files(a, b);
	}
	if (dir)
		closedir(dir);
	return ret;
}
