/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of a node that are damaged: a bit, a page, an end, a length, or a page of an earlier time. */
#ifndef DDIO_DAMAGE_FILES_H
#define DDIO_DAMAGE_FILES_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "base/rand.h"
#include "tests/unit/iop/store/ut_store.h"

enum { DAMAGE_PAGE = 4096 };

/* Copies a file; what is zeros may become a hole. */
static inline void damage_copy_file(const char *from, const char *to)
{
	static const uint8_t zeros[DAMAGE_PAGE];
	uint8_t buf[DAMAGE_PAGE];
	int in = open(from, O_RDONLY), out = open(to, O_RDWR | O_CREAT | O_TRUNC, 0600);
	off_t at = 0;
	ssize_t n;

	if (in < 0 || out < 0)
		abort();
	while ((n = pread(in, buf, sizeof(buf), at)) > 0) {
		if (memcmp(buf, zeros, (size_t)n) && pwrite(out, buf, (size_t)n, at) != n)
			abort();
		at += n;
	}
	if (ftruncate(out, at))
		abort();
	close(in);
	close(out);
}

/* Makes @to a copy of a directory as it is now, which is what a kill leaves of it. */
static inline void damage_copy(const char *from, const char *to)
{
	char a[600], b[600];
	struct dirent *e;
	struct stat st;
	DIR *dir;

	mkdir(to, 0700);
	dir = opendir(from);
	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.' || !strcmp(e->d_name, "lock.mdb"))
			continue;
		snprintf(a, sizeof(a), "%.300s/%.200s", from, e->d_name);
		snprintf(b, sizeof(b), "%.300s/%.200s", to, e->d_name);
		if (stat(a, &st))
			abort();
		if (S_ISDIR(st.st_mode))
			damage_copy(a, b);
		else
			damage_copy_file(a, b);
	}
	if (dir)
		closedir(dir);
}

/**
 * struct damage - one damage
 * @path: of the file; @old: the same file at an earlier time
 * @from, @end: the bytes of it that may be hit; @end 0: to the end of what it has
 * @text: it is lines
 * @rand: draws
 * @what: says what was done
 */
struct damage {
	const char *path, *old;
	uint64_t from, end;
	bool text;
	uint64_t *rand;
	char what[200];
};

/* Returns the bytes up to the last one that is not zero. */
static inline uint64_t damage_used(int fd, uint64_t size)
{
	uint8_t buf[DAMAGE_PAGE];
	uint64_t at = (size + DAMAGE_PAGE - 1) / DAMAGE_PAGE * DAMAGE_PAGE;
	ssize_t n;

	while (at) {
		at -= DAMAGE_PAGE;
		n = pread(fd, buf, sizeof(buf), (off_t)at);
		while (n > 0 && !buf[n - 1])
			n--;
		if (n > 0)
			return at + (uint64_t)n;
	}
	return 0;
}

static inline void damage_bit(struct damage *d, int fd, uint64_t end)
{
	uint64_t bit = d->from * 8 + ddio_rand_below(d->rand, (end - d->from) * 8);
	uint8_t byte = 0;

	if (pread(fd, &byte, 1, (off_t)(bit / 8)) != 1)
		abort();
	byte ^= (uint8_t)(1 << bit % 8);
	if (pwrite(fd, &byte, 1, (off_t)(bit / 8)) != 1)
		abort();
	snprintf(d->what, sizeof(d->what), "bit %llu", (unsigned long long)bit);
}

/* A page, or what there is of it, becomes zeros, ones or noise. */
static inline void damage_page(struct damage *d, int fd, uint64_t end)
{
	uint64_t pages = (end - d->from + DAMAGE_PAGE - 1) / DAMAGE_PAGE;
	uint64_t at = d->from + ddio_rand_below(d->rand, pages) * DAMAGE_PAGE;
	uint64_t n = end - at < DAMAGE_PAGE ? end - at : DAMAGE_PAGE, i, how;
	uint8_t buf[DAMAGE_PAGE];

	how = ddio_rand_below(d->rand, 3);
	for (i = 0; i < n; i++)
		buf[i] = how == 2 ? (uint8_t)ddio_rand_below(d->rand, 256) : how ? 255 : 0;
	if (pwrite(fd, buf, n, (off_t)at) != (ssize_t)n)
		abort();
	snprintf(d->what, sizeof(d->what), "page at %llu becomes %s", (unsigned long long)at,
		 how == 2 ? "noise"
		 : how	  ? "ones"
			  : "zeros");
}

static inline void damage_cut(struct damage *d, int fd, uint64_t end)
{
	uint64_t to = ddio_rand_below(d->rand, end);

	if (!ddio_rand_below(d->rand, 3))
		to = to / DAMAGE_PAGE * DAMAGE_PAGE;
	if (ftruncate(fd, (off_t)to))
		abort();
	snprintf(d->what, sizeof(d->what), "cut to %llu", (unsigned long long)to);
}

/* It becomes longer, by zeros or noise. */
static inline void damage_longer(struct damage *d, int fd, uint64_t size)
{
	uint8_t buf[3 * DAMAGE_PAGE] = { 0 };
	uint64_t n = 1 + ddio_rand_below(d->rand, sizeof(buf)), i;
	bool noise = ddio_rand_below(d->rand, 2);

	for (i = 0; noise && i < n; i++)
		buf[i] = (uint8_t)ddio_rand_below(d->rand, 256);
	if (pwrite(fd, buf, n, (off_t)size) != (ssize_t)n)
		abort();
	snprintf(d->what, sizeof(d->what), "longer by %llu bytes of %s", (unsigned long long)n,
		 noise ? "noise" : "zeros");
}

/* A page is what it was at an earlier time. */
static inline void damage_stale(struct damage *d, int fd, uint64_t end)
{
	uint64_t at, n = 0, pages = (end - d->from + DAMAGE_PAGE - 1) / DAMAGE_PAGE;
	uint64_t first = ddio_rand_below(d->rand, pages);
	uint8_t was[DAMAGE_PAGE], is[DAMAGE_PAGE];
	int old = open(d->old, O_RDONLY);
	ssize_t a = 0, b;

	for (; old >= 0 && n < pages; n++) {
		at = d->from + (first + n) % pages * DAMAGE_PAGE;
		a = pread(old, was, sizeof(was), (off_t)at);
		b = pread(fd, is, sizeof(is), (off_t)at);
		if (a > 0 && (a != b || memcmp(was, is, (size_t)a)))
			break;
	}
	if (old >= 0)
		close(old);
	if (old < 0 || n == pages) {
		damage_page(d, fd, end);
		return;
	}
	if (pwrite(fd, was, (size_t)a, (off_t)at) != a)
		abort();
	snprintf(d->what, sizeof(d->what), "page at %llu as it was earlier",
		 (unsigned long long)at);
}

/* A line goes, or all that are behind it do. */
static inline void damage_line(struct damage *d, int fd, uint64_t size)
{
	char buf[DAMAGE_PAGE], *line, *next;
	ssize_t n = pread(fd, buf, sizeof(buf) - 1, 0);
	bool rest = ddio_rand_below(d->rand, 2);

	if (n < 0 || (uint64_t)n != size)
		abort();
	buf[n] = '\0';
	line = buf + ddio_rand_below(d->rand, size);
	while (line > buf && line[-1] != '\n')
		line--;
	next = strchr(line, '\n');
	snprintf(d->what, sizeof(d->what), "without '%.*s'%s", (int)strcspn(line, "\n"), line,
		 rest ? " and what follows" : "");
	n = next && !rest ? buf + n - (next + 1) : 0;
	if ((n && pwrite(fd, next + 1, (size_t)n, line - buf) != n) ||
	    ftruncate(fd, line - buf + n))
		abort();
}

/* Damages the file in one of the ways. */
static inline void damage_do(struct damage *d)
{
	int fd = open(d->path, O_RDWR);
	uint64_t end;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		abort();
	end = d->end ? d->end : damage_used(fd, (uint64_t)st.st_size);
	if (end <= d->from)
		end = d->from + 1;
	switch (ddio_rand_below(d->rand, d->text ? 9 : 6)) {
	case 0:
	case 1:
		damage_bit(d, fd, end);
		break;
	case 2:
		damage_page(d, fd, end);
		break;
	case 3:
		damage_cut(d, fd, end);
		break;
	case 4:
		damage_longer(d, fd, (uint64_t)st.st_size);
		break;
	case 5:
		damage_stale(d, fd, end);
		break;
	default:
		damage_line(d, fd, (uint64_t)st.st_size);
	}
	close(fd);
}

#endif /* DDIO_DAMAGE_FILES_H */
