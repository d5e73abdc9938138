// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random operations on one file against a copy in memory.  PX_SEED and PX_STEPS in the environment make a
 * case of another seed, and longer.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "posix.h"

#define MAX_BYTES (600u << 10)
#define STEPS 400
#define PAGE 4096u
#define SECTOR 4096u

static char said[256];
static unsigned char back[MAX_BYTES] __attribute__((aligned(PAGE)));

/**
 * struct model - a file as it should be
 * @bytes: what lies behind @size is zero
 * @direct: the file opened once more, with O_DIRECT
 */
struct model {
	unsigned char bytes[MAX_BYTES] __attribute__((aligned(PAGE)));
	size_t size;
	uint64_t random;
	unsigned int step;
	int fd, direct;
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
		*at &= ~(size_t)(PAGE - 1);
	if (*len > MAX_BYTES - *at)
		*len = MAX_BYTES - *at;
}

static void grow(struct model *m, size_t size)
{
	if (size > m->size)
		m->size = size;
}

static void scribble(struct model *m, size_t at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		m->bytes[at + i] = (unsigned char)(m->step * 7 + i * 3 + 1);
	grow(m, at + len);
}

static bool step_write(struct model *m)
{
	size_t at, len;

	place(m, &at, &len);
	scribble(m, at, len);
	return pwrite(m->fd, m->bytes + at, len, (off_t)at) == (ssize_t)len;
}

/* Writes in pieces of odd lengths. */
static bool step_writev(struct model *m)
{
	struct iovec iov[8];
	size_t at, len, i, n = 0;

	place(m, &at, &len);
	scribble(m, at, len);
	for (i = 0; i < 8; i++) {
		iov[i].iov_base = m->bytes + at + n;
		iov[i].iov_len = i < 7 ? len / 9 + i : len - n;
		if (n + iov[i].iov_len > len)
			iov[i].iov_len = len - n;
		n += iov[i].iov_len;
	}
	return pwritev(m->fd, iov, 8, (off_t)at) == (ssize_t)len;
}

static bool step_append(struct model *m)
{
	size_t len = random_next(m, 9000) + 1, at = m->size;
	int fd = open("f", O_WRONLY | O_APPEND);
	bool good;

	if (len > MAX_BYTES - at)
		len = MAX_BYTES - at;
	scribble(m, at, len);
	good = fd >= 0 && write(fd, m->bytes + at, len) == (ssize_t)len;
	return !close(fd) && good;
}

static bool same_read(struct model *m, int fd, size_t at, size_t len)
{
	size_t want = at >= m->size ? 0 : m->size - at < len ? m->size - at : len;
	ssize_t n = pread(fd, back, len, (off_t)at);

	return n == (ssize_t)want && !memcmp(back, m->bytes + at, want);
}

static bool step_read(struct model *m)
{
	size_t at, len;

	place(m, &at, &len);
	return same_read(m, m->fd, at, len);
}

static void place_direct(struct model *m, size_t *at, size_t *len)
{
	place(m, at, len);
	*at &= ~(size_t)(SECTOR - 1);
	*len = (*len + SECTOR - 1) & ~(size_t)(SECTOR - 1);
	if (*len > MAX_BYTES - *at)
		*len = MAX_BYTES - *at;
}

static bool step_write_direct(struct model *m)
{
	size_t at, len;

	if (m->direct < 0)
		return true;
	place_direct(m, &at, &len);
	scribble(m, at, len);
	return pwrite(m->direct, m->bytes + at, len, (off_t)at) == (ssize_t)len;
}

static bool step_read_direct(struct model *m)
{
	size_t at, len;

	if (m->direct < 0)
		return true;
	place_direct(m, &at, &len);
	return same_read(m, m->direct, at, len);
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
	int keep = random_next(m, 2) ? FALLOC_FL_KEEP_SIZE : 0;
	size_t at, len;

	place(m, &at, &len);
	if (!keep)
		grow(m, at + len);
	return !fallocate(m->fd, keep, (off_t)at, (off_t)len);
}

static bool step_zero(struct model *m)
{
	int keep = random_next(m, 2) ? FALLOC_FL_KEEP_SIZE : 0;
	size_t at, len;

	place(m, &at, &len);
	if (fallocate(m->fd, FALLOC_FL_ZERO_RANGE | keep, (off_t)at, (off_t)len))
		return errno == EOPNOTSUPP;
	memset(m->bytes + at, 0, len);
	if (!keep)
		grow(m, at + len);
	return true;
}

/* Collapses a range, unless the file system refuses that. */
static bool step_collapse(struct model *m)
{
	size_t at, len;

	place_direct(m, &at, &len);
	if (at + len >= m->size)
		return true;
	if (fallocate(m->fd, FALLOC_FL_COLLAPSE_RANGE, (off_t)at, (off_t)len))
		return errno == EOPNOTSUPP;
	memmove(m->bytes + at, m->bytes + at + len, m->size - at - len);
	memset(m->bytes + m->size - len, 0, len);
	m->size -= len;
	return true;
}

static bool step_map_write(struct model *m)
{
	size_t at, len;
	unsigned char *map;

	place(m, &at, &len);
	if (at + len > m->size)
		return true;
	map = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (map == MAP_FAILED)
		return false;
	scribble(m, at, len);
	memcpy(map + at, m->bytes + at, len);
	if (random_next(m, 2) && msync(map, m->size, MS_SYNC))
		return false;
	return !munmap(map, m->size);
}

/* The last page is zero beyond the end, and bytes put there do not stay. */
static bool step_map_read(struct model *m)
{
	size_t at, len, i, end;
	unsigned char *map;
	bool good;

	place(m, &at, &len);
	if (at + len > m->size)
		return true;
	end = (m->size + PAGE - 1) & ~(size_t)(PAGE - 1);
	map = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (map == MAP_FAILED)
		return false;
	good = !memcmp(map + at, m->bytes + at, len);
	for (i = m->size; i < end; i++)
		good = good && !map[i];
	return !munmap(map, m->size) && good;
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

/* Nothing but zeros is called a hole. */
static bool step_holes(struct model *m)
{
	off_t at = random_next(m, MAX_BYTES), data, i;

	data = lseek(m->fd, at, SEEK_DATA);
	if (data < 0 && errno != ENXIO)
		return false;
	if (data < 0)
		data = at > (off_t)m->size ? at : (off_t)m->size;
	for (i = at; i < data; i++)
		if (m->bytes[i])
			return false;
	data = lseek(m->fd, at, SEEK_HOLE);
	if (at >= (off_t)m->size)
		return data < 0 && errno == ENXIO;
	return data >= at && data <= (off_t)m->size;
}

static bool step_forget(struct model *m)
{
	return !fdatasync(m->fd) && !posix_fadvise(m->fd, 0, 0, POSIX_FADV_DONTNEED);
}

static bool step_stat(struct model *m)
{
	struct stat st, by_name;

	return !fstat(m->fd, &st) && !stat("f", &by_name) && (size_t)st.st_size == m->size &&
	       by_name.st_size == st.st_size;
}

static bool both_open(struct model *m, int flags)
{
	m->fd = open("f", O_RDWR | flags, 0644);
	m->direct = open("f", O_RDWR | O_DIRECT);
	return m->fd >= 0;
}

static bool step_again(struct model *m)
{
	if (random_next(m, 2) && fsync(m->fd))
		return false;
	if (close(m->fd) || (m->direct >= 0 && close(m->direct)))
		return false;
	return both_open(m, 0) && step_stat(m);
}

struct step {
	const char *name;
	bool (*run)(struct model *m);
};

static const struct step data_steps[] = {
	{ "write", step_write },
	{ "writev", step_writev },
	{ "append", step_append },
	{ "read", step_read },
	{ "read", step_read },
	{ "truncate", step_truncate },
	{ "map to write", step_map_write },
	{ "map to read", step_map_read },
	{ "close and open", step_again },
	{ "forget", step_forget },
	{ "stat", step_stat },
};

static const struct step space_steps[] = {
	{ "write", step_write },
	{ "read", step_read },
	{ "truncate", step_truncate },
	{ "punch", step_punch },
	{ "allocate", step_allocate },
	{ "zero", step_zero },
	{ "map to write", step_map_write },
	{ "map to read", step_map_read },
	{ "copy", step_copy },
	{ "collapse", step_collapse },
	{ "holes", step_holes },
	{ "close and open", step_again },
	{ "stat", step_stat },
};

static const struct step direct_steps[] = {
	{ "write", step_write },
	{ "direct write", step_write_direct },
	{ "direct write", step_write_direct },
	{ "read", step_read },
	{ "direct read", step_read_direct },
	{ "direct read", step_read_direct },
	{ "truncate", step_truncate },
	{ "punch", step_punch },
	{ "map to write", step_map_write },
	{ "map to read", step_map_read },
	{ "append", step_append },
	{ "close and open", step_again },
	{ "stat", step_stat },
};

static uint64_t number_from(const char *name, uint64_t without)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : without;
}

static const char *steps_run(struct model *m, const struct step *steps, uint32_t nsteps)
{
	unsigned int end = (unsigned int)number_from("PX_STEPS", STEPS);
	uint64_t seed = m->random;
	uint32_t which;

	for (m->step = 0; m->step < end; m->step++) {
		which = random_next(m, nsteps);
		errno = 0;
		if (steps[which].run(m))
			continue;
		snprintf(said, sizeof(said), "seed %llu, step %u, %s: %s", (unsigned long long)seed,
			 m->step, steps[which].name,
			 errno ? strerror(errno) : "not as it should be");
		return said;
	}
	return NULL;
}

static const char *random_run(const struct step *steps, size_t nsteps, uint64_t seed)
{
	static struct model m;
	const char *wrong;

	memset(&m, 0, sizeof(m));
	m.random = number_from("PX_SEED", seed);
	if (!both_open(&m, O_CREAT | O_TRUNC))
		return "cannot create";
	wrong = steps_run(&m, steps, (uint32_t)nsteps);
	if (wrong)
		return wrong;
	close(m.fd);
	m.fd = open("f", O_RDONLY);
	return same_read(&m, m.fd, 0, sizeof(back)) ? NULL : "the whole file has other bytes";
}

#define RANDOM(name, kind, seed)                                                                   \
	static const char *name(void)                                                              \
	{                                                                                          \
		return random_run(kind##_steps, sizeof(kind##_steps) / sizeof(struct step), seed); \
	}
RANDOM(data_1, data, 1)
RANDOM(data_2, data, 22)
RANDOM(space_1, space, 333)
RANDOM(space_2, space, 4444)
RANDOM(direct_1, direct, 55555)
RANDOM(direct_2, direct, 666666)

const struct px_case px_cases_random[] = { PX_CODE("data 1", data_1),
					   PX_CODE("data 2", data_2),
					   PX_CODE("space 1", space_1),
					   PX_CODE("space 2", space_2),
					   PX_CODE("direct 1", direct_1),
					   PX_CODE("direct 2", direct_2),
					   PX_END };
