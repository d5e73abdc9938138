// SPDX-License-Identifier: GPL-2.0-only
/* Random operations on one file against a copy in memory; several processes at once. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "posix.h"

#define MAX_BYTES (600u << 10)
#define STEPS 400
#define WORKERS 4

static char said[256];

/**
 * struct model - a file as it should be
 * @bytes: what lies behind @size is zero
 */
struct model {
	unsigned char bytes[MAX_BYTES];
	size_t size;
	uint64_t random;
	unsigned int step;
	int fd;
};

static uint32_t random_next(struct model *m, uint32_t below)
{
	m->random = m->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(m->random >> 33) % below;
}

static void place(struct model *m, size_t *at, size_t *len)
{
	*at = random_next(m, MAX_BYTES - 1);
	*len = random_next(m, random_next(m, 4) ? 20000 : 200000) + 1;
	if (!random_next(m, 4))
		*at &= ~4095u;
	if (*len > MAX_BYTES - *at)
		*len = MAX_BYTES - *at;
}

static void grow(struct model *m, size_t size)
{
	if (size > m->size)
		m->size = size;
}

static bool step_write(struct model *m)
{
	size_t at, len, i;

	place(m, &at, &len);
	for (i = 0; i < len; i++)
		m->bytes[at + i] = (unsigned char)(m->step + i * 3 + 1);
	grow(m, at + len);
	return pwrite(m->fd, m->bytes + at, len, (off_t)at) == (ssize_t)len;
}

static bool step_read(struct model *m)
{
	static unsigned char back[MAX_BYTES];
	size_t at, len, want;
	ssize_t n;

	place(m, &at, &len);
	want = at >= m->size ? 0 : m->size - at < len ? m->size - at : len;
	n = pread(m->fd, back, len, (off_t)at);
	return n == (ssize_t)want && !memcmp(back, m->bytes + at, want);
}

static bool step_truncate(struct model *m)
{
	size_t size = random_next(m, MAX_BYTES);

	if (size < m->size)
		memset(m->bytes + size, 0, m->size - size);
	m->size = size;
	return !ftruncate(m->fd, (off_t)size);
}

static bool step_punch(struct model *m)
{
	size_t at, len;

	place(m, &at, &len);
	memset(m->bytes + at, 0, len);
	return !fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)len);
}

static bool step_allocate(struct model *m)
{
	size_t at, len;

	place(m, &at, &len);
	grow(m, at + len);
	return !fallocate(m->fd, 0, (off_t)at, (off_t)len);
}

static bool step_zero(struct model *m)
{
	size_t at, len;

	place(m, &at, &len);
	memset(m->bytes + at, 0, len);
	grow(m, at + len);
	return !fallocate(m->fd, FALLOC_FL_ZERO_RANGE, (off_t)at, (off_t)len) ||
	       (errno == EOPNOTSUPP &&
		pwrite(m->fd, m->bytes + at, len, (off_t)at) == (ssize_t)len);
}

static bool step_map(struct model *m)
{
	size_t at, len, i;
	unsigned char *map;

	place(m, &at, &len);
	if (at + len > m->size)
		return true;
	map = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (map == MAP_FAILED)
		return false;
	for (i = 0; i < len; i++)
		m->bytes[at + i] = (unsigned char)(m->step * 5 + i);
	memcpy(map + at, m->bytes + at, len);
	return !munmap(map, m->size);
}

static bool step_copy(struct model *m)
{
	size_t from, to, len, done = 0;
	loff_t a, b;
	ssize_t n;

	place(m, &from, &len);
	to = random_next(m, MAX_BYTES - (uint32_t)len);
	if (from + len > m->size || (from < to + len && to < from + len))
		return true;
	a = (loff_t)from;
	b = (loff_t)to;
	while (done < len) {
		n = copy_file_range(m->fd, &a, m->fd, &b, len - done, 0);
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	memcpy(m->bytes + to, m->bytes + from, len);
	grow(m, to + len);
	return true;
}

static bool step_again(struct model *m)
{
	struct stat st;

	if (fsync(m->fd) || close(m->fd))
		return false;
	m->fd = open("f", O_RDWR);
	return m->fd >= 0 && !fstat(m->fd, &st) && (size_t)st.st_size == m->size;
}

static const struct {
	const char *name;
	bool (*run)(struct model *m);
} steps[] = {
	{ "write", step_write },       { "write", step_write },		{ "read", step_read },
	{ "read", step_read },	       { "truncate", step_truncate },	{ "punch", step_punch },
	{ "allocate", step_allocate }, { "zero", step_zero },		{ "map", step_map },
	{ "copy", step_copy },	       { "close and open", step_again }
};

static const char *random_run(uint64_t seed)
{
	static struct model m;
	static unsigned char back[MAX_BYTES];
	uint32_t which = 0;

	memset(&m, 0, sizeof(m));
	m.random = seed;
	m.fd = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
	for (m.step = 0; m.step < STEPS; m.step++) {
		which = random_next(&m, sizeof(steps) / sizeof(steps[0]));
		errno = 0;
		if (!steps[which].run(&m)) {
			snprintf(said, sizeof(said), "seed %llu, step %u, %s: %s",
				 (unsigned long long)seed, m.step, steps[which].name,
				 errno ? strerror(errno) : "other bytes");
			return said;
		}
	}
	close(m.fd);
	m.fd = open("f", O_RDONLY);
	if (pread(m.fd, back, sizeof(back), 0) != (ssize_t)m.size || memcmp(back, m.bytes, m.size))
		return "the whole file has other bytes";
	return NULL;
}

static const char *random_1(void)
{
	return random_run(1);
}

static const char *random_2(void)
{
	return random_run(22);
}

static const char *random_3(void)
{
	return random_run(333);
}

static const char *random_4(void)
{
	return random_run(4444);
}

/* @work in WORKERS processes at once. */
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

/* Of those who make a name with O_EXCL exactly one succeeds. */
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

const struct px_case px_cases_programs[] = { PX_CODE("random operations 1", random_1),
					     PX_CODE("random operations 2", random_2),
					     PX_CODE("random operations 3", random_3),
					     PX_CODE("random operations 4", random_4),
					     PX_CODE("append", append_all),
					     PX_CODE("regions of one file", regions),
					     PX_CODE("names", names),
					     PX_CODE("exclusive creation", excl),
					     PX_CODE("directories come and go", mkdirs),
					     PX_END };
