/* SPDX-License-Identifier: GPL-2.0-only */
/* What fsload finds afterwards, and whether it can be. */
#ifndef FSLOAD_LOOK_H
#define FSLOAD_LOOK_H

#include <dirent.h>
#include <sys/stat.h>
#include "tests/helpers/fsload_ops.h"

struct fsload_seen {
	int what; /* NAME_*, 1: a file */
	uint8_t *bytes;
	uint32_t len;
};

static inline int look(const struct proc *p, struct fsload_seen *seen)
{
	struct stat st;
	int i, fd;

	for (i = 0; i < NAMES; i++) {
		memset(&seen[i], 0, sizeof(seen[i]));
		if (lstat(path_of(p, i), &st)) {
			if (errno == ENOENT)
				continue;
			fprintf(stderr, "fsload: %s: %s\n", path_of(p, i), strerror(errno));
			return 1;
		}
		seen[i].what = S_ISDIR(st.st_mode) ? NAME_DIR : S_ISLNK(st.st_mode) ? NAME_LINK : 1;
		if (seen[i].what != 1)
			continue;
		seen[i].bytes = need(malloc(FILE_MAX + 1));
		fd = open(path_of(p, i), O_RDONLY);
		seen[i].len = 0;
		while (fd >= 0) {
			ssize_t n =
				read(fd, seen[i].bytes + seen[i].len, FILE_MAX + 1 - seen[i].len);

			if (n < 0)
				fd = -1;
			if (n <= 0)
				break;
			seen[i].len += (uint32_t)n;
		}
		if (fd < 0) {
			fprintf(stderr, "fsload: %s: %s\n", path_of(p, i), strerror(errno));
			return 1;
		}
		close(fd);
	}
	return 0;
}

/* Returns true if the file is as the model has it; with @say prints what is not. */
static inline bool possible(const struct proc *p, const struct names *names,
			    const struct fsload_seen *seen, bool say)
{
	int i;

	for (i = 0; i < NAMES; i++) {
		int want = names->what[i] > 0 ? 1 : names->what[i];
		const struct file *f = want == 1 ? p->file[names->what[i] % OPEN_FILES] : NULL;
		uint32_t at;

		if (seen[i].what != want) {
			if (say)
				printf("%s: is %d, should be %d\n", path_of(p, i), seen[i].what,
				       names->what[i]);
			return false;
		}
		if (want != 1)
			continue;
		if (seen[i].len < f->min || seen[i].len > f->max) {
			if (say)
				printf("%s (%d): %u bytes, should be %u to %u\n", path_of(p, i),
				       names->what[i], seen[i].len, f->min, f->max);
			return false;
		}
		at = file_check(f, seen[i].bytes, seen[i].len);
		if (at == seen[i].len)
			continue;
		if (say)
			printf("%s (%d): byte %u of %u is %02x, was synced as %02x\n",
			       path_of(p, i), names->what[i], at, seen[i].len, seen[i].bytes[at],
			       f->synced[at]);
		return false;
	}
	return true;
}

/* Looks for names that no operation made. */
static inline int strangers(const struct proc *p, const struct fsload_seen *seen)
{
	int i, found = 0, expected = 0;
	char path[4100];

	for (i = 0; i < NAMES; i++)
		expected += seen[i].what != NAME_NONE;
	for (i = 0; i < DIRS; i++) {
		struct dirent *e;
		DIR *d;

		snprintf(path, sizeof(path), "%s/d%d", p->dir, i);
		d = opendir(path);
		while (d && (e = readdir(d)))
			found += e->d_name[0] != '.';
		if (d)
			closedir(d);
	}
	if (found != expected)
		printf("%s: %d entries are listed, %d are there\n", p->dir, found, expected);
	return found != expected;
}

#endif /* FSLOAD_LOOK_H */
