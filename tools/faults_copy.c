// SPDX-License-Identifier: GPL-2.0-only
/* The records of an I/O processor as they are at this moment. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "faults.h"

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

int faults_copy_records(const char *from, const char *to)
{
	DIR *dir = opendir(from);
	struct dirent *e;
	char a[400], b[400];
	int ret = dir && !mkdir(to, 0700) ? 0 : -errno;

	while (!ret && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(b, sizeof(b), "%s/%.200s", to, e->d_name);
		if (mkdir(b, 0700))
			ret = -errno;
		snprintf(a, sizeof(a), "%s/%.200s/data.mdb", from, e->d_name);
		strcat(b, "/data.mdb");
		if (!ret)
			ret = copy_file(a, b);
	}
	if (dir)
		closedir(dir);
	return ret;
}
