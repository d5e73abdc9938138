// SPDX-License-Identifier: GPL-2.0-only
/*
 * Works in a directory as a user does, and looks at all that it is told.
 *
 *	honest DIR SECONDS SEED
 *
 * writes, replaces, appends to, reads, lists and removes up to 64 files of DIR, which must be empty.  What is in them, and which
 * there are, it knows.  It prints
 *	N operations, N bytes read, longest N ms (WHAT)
 * Status: 0; 1 if something failed or was not as it should be, which it names, 2 bad usage.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 64, SIZE_MAX_FILE = 256 << 10 };

/**
 * struct honest_file - what a file is
 * @version: which its bytes tell; 0: it is not there
 */
struct honest_file {
	uint32_t version;
	size_t size;
};

static struct honest_file files[FILES];
static uint64_t rnd, operations, bytes_read;
static uint32_t versions;
static uint8_t want[SIZE_MAX_FILE], got[SIZE_MAX_FILE + 1];

static uint64_t draw(uint64_t n)
{
	rnd ^= rnd << 13;
	rnd ^= rnd >> 7;
	rnd ^= rnd << 17;
	return rnd % n;
}

static int failed(const char *what, uint32_t n)
{
	fprintf(stderr, "honest: file %u: %s: %s\n", n, what, errno ? strerror(errno) : "not so");
	return -1;
}

/* The bytes of a version: its number and the place, in each eight. */
static void fill(uint32_t n, uint32_t version, size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to; i++)
		want[i] = (uint8_t)((version * 64 + n) >> i % 4 * 8) ^ (uint8_t)(i >> 3);
}

static void name_of(uint32_t n, char name[16])
{
	snprintf(name, 16, "file%u", n);
}

static int write_all(int fd, size_t from, size_t to)
{
	ssize_t n;

	for (; from < to; from += (size_t)n) {
		n = pwrite(fd, want + from, to - from, (off_t)from);
		if (n <= 0)
			return -1;
	}
	return 0;
}

/* Writes another version beside it, and puts that in its place. */
static int replace(uint32_t n)
{
	struct honest_file to = { ++versions, draw(SIZE_MAX_FILE) };
	int fd = open("new", O_CREAT | O_EXCL | O_WRONLY, 0644);
	char name[16];

	errno = fd < 0 ? errno : 0;
	fill(n, to.version, 0, to.size);
	name_of(n, name);
	if (fd < 0)
		return failed("create", n);
	if (write_all(fd, 0, to.size) || (!draw(4) && fsync(fd)) || close(fd))
		return failed("write", n);
	if (rename("new", name))
		return failed("rename", n);
	files[n] = to;
	return 0;
}

static int append(uint32_t n)
{
	size_t more = draw(8192), size = files[n].size;
	char name[16];
	int fd;

	if (size + more > SIZE_MAX_FILE)
		return 0;
	name_of(n, name);
	fd = open(name, O_WRONLY | O_APPEND);
	fill(n, files[n].version, size, size + more);
	if (fd < 0 || write(fd, want + size, more) != (ssize_t)more || close(fd))
		return failed("append", n);
	files[n].size += more;
	return 0;
}

static int read_back(uint32_t n)
{
	size_t size = files[n].size, len = 0;
	ssize_t i = 1;
	char name[16];
	int fd;

	name_of(n, name);
	fd = open(name, O_RDONLY);
	if (fd < 0)
		return failed("open", n);
	for (; i > 0 && len<sizeof(got); len += i> 0 ? (size_t)i : 0)
		i = read(fd, got + len, sizeof(got) - len);
	if (i < 0 || close(fd))
		return failed("read", n);
	errno = 0;
	fill(n, files[n].version, 0, size);
	if (len != size || memcmp(want, got, size))
		return failed("its bytes", n);
	bytes_read += len;
	return 0;
}

static int drop(uint32_t n)
{
	char name[16];

	name_of(n, name);
	if (unlink(name))
		return failed("unlink", n);
	files[n].version = 0;
	return 0;
}

static int look(uint32_t n)
{
	struct stat st;
	char name[16];
	bool there;

	name_of(n, name);
	errno = 0;
	there = !stat(name, &st);
	if (there != (files[n].version != 0) || (!there && errno != ENOENT))
		return failed("whether it is there", n);
	errno = 0;
	return there && (size_t)st.st_size != files[n].size ? failed("its size", n) : 0;
}

static int list(uint32_t n)
{
	bool seen[FILES] = { false };
	DIR *dir = opendir(".");
	struct dirent *e;
	unsigned int i;
	char end;

	if (!dir)
		return failed("opendir", n);
	for (errno = 0; (e = readdir(dir));)
		if (sscanf(e->d_name, "file%u%c", &i, &end) == 1 && i < FILES)
			seen[i] = true;
	if (errno || closedir(dir))
		return failed("readdir", n);
	for (i = 0; i < FILES; i++)
		if (seen[i] != (files[i].version != 0))
			return failed("in the listing", i);
	return 0;
}

static int one(uint32_t n, const char **what)
{
	static const struct {
		const char *what;
		int (*fn)(uint32_t n);
		bool there;
	} ops[] = {
		{ "replace", replace, false }, { "replace", replace, false },
		{ "append", append, true },    { "append", append, true },
		{ "read", read_back, true },   { "read", read_back, true },
		{ "read", read_back, true },   { "unlink", drop, true },
		{ "stat", look, false },       { "list", list, false },
	};
	size_t i = draw(sizeof(ops) / sizeof(ops[0]));

	*what = ops[i].what;
	return ops[i].there && !files[n].version ? 0 : ops[i].fn(n);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	const char *what, *worst = "none";
	double until, begun, took, longest = 0;
	int err = 0;

	if (argc != 4 || chdir(argv[1])) {
		fprintf(stderr, "usage: honest DIR SECONDS SEED\n");
		return 2;
	}
	rnd = strtoull(argv[3], NULL, 10) << 1 | 1;
	until = now() + strtod(argv[2], NULL) * 1e3;
	for (begun = now(); begun < until && !err; begun = now()) {
		err = one((uint32_t)draw(FILES), &what);
		operations++;
		took = now() - begun;
		if (took > longest) {
			longest = took;
			worst = what;
		}
	}
	printf("%llu operations, %llu bytes read, longest %.1f ms (%s)\n",
	       (unsigned long long)operations, (unsigned long long)bytes_read, longest, worst);
	return err != 0;
}
