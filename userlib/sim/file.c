// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The simulated world: files that its processes flush.  They are real ones; what the world adds is what the last flush of each
 * has left, which is all that a loss of power must leave.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sim/priv.h"

#define SECTOR 512u

/**
 * struct sim_file - a file that was flushed
 * @link: in the world's list
 * @dev, @ino: which one
 * @bytes, @len: as of its last flush
 */
struct sim_file {
	struct ddio_list link;
	dev_t dev;
	ino_t ino;
	uint8_t *bytes;
	size_t len;
};

/* Reads a whole file; *@bytes is the caller's. */
static int file_read(int fd, uint8_t **bytes, size_t *len)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	*len = (size_t)st.st_size;
	*bytes = malloc(*len + 1);
	if (!*bytes)
		return -ENOMEM;
	n = pread(fd, *bytes, *len, 0);
	if (n == (ssize_t)*len)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return n < 0 ? -errno : -EIO;
}

static struct sim_file *file_find(struct ddio_sim *sim, const struct stat *st)
{
	struct sim_file *f;

	ddio_list_for_each_entry(f, &sim->files, link)
		if (f->dev == st->st_dev && f->ino == st->st_ino)
			return f;
	return NULL;
}

static struct sim_file *file_get(struct ddio_sim *sim, const struct stat *st)
{
	struct sim_file *f = file_find(sim, st);

	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		abort();
	f->dev = st->st_dev;
	f->ino = st->st_ino;
	ddio_list_add(&f->link, &sim->files);
	return f;
}

void sim_file_flushed(struct ddio_env *env, int fd)
{
	struct sim_file *f;
	struct stat st;

	if (fstat(fd, &st))
		abort();
	f = file_get(sim_proc_of(env)->sim, &st);
	free(f->bytes);
	if (file_read(fd, &f->bytes, &f->len))
		abort();
}

static uint8_t byte_at(const struct sim_file *f, size_t at)
{
	return f && at < f->len ? f->bytes[at] : 0;
}

/* Makes the sector at @at of @now what it was at the last flush.  Returns true if it was anything else. */
static bool sector_lose(uint8_t *now, size_t len, size_t at, const struct sim_file *was)
{
	bool lost = false;
	size_t end = at + SECTOR;

	for (; at < end && at < len; at++) {
		lost = lost || now[at] != byte_at(was, at);
		now[at] = byte_at(was, at);
	}
	return lost;
}

static int file_write(int fd, const uint8_t *bytes, size_t len)
{
	ssize_t n = pwrite(fd, bytes, len, 0);

	if (n != (ssize_t)len)
		return n < 0 ? -errno : -EIO;
	return ftruncate(fd, (off_t)len) ? -errno : 0;
}

/* Returns how many sectors are lost, or -errno. */
static int64_t crash(struct ddio_sim *sim, const struct sim_file *was, int fd, uint32_t lose)
{
	size_t is, stable = was ? was->len : 0, len, at;
	uint8_t *now, *all;
	int64_t lost = 0;
	int err = file_read(fd, &now, &is);

	if (err)
		return err;
	len = is > stable ? is : stable;
	all = calloc(1, len + 1);
	if (!all)
		abort();
	memcpy(all, now, is);
	free(now);
	for (at = 0; at < len; at += SECTOR)
		if (sim_random(sim) % 1000 < lose)
			lost += sector_lose(all, len, at, was);
	err = file_write(fd, all, sim_random(sim) % 1000 < lose ? stable : is);
	free(all);
	return err ? err : lost;
}

int64_t ddio_sim_file_crash(struct ddio_sim *sim, const char *file, const char *copy, uint32_t lose)
{
	struct stat st;
	int64_t ret;
	int fd;

	if (stat(file, &st))
		return -errno;
	fd = open(copy, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = crash(sim, file_find(sim, &st), fd, lose);
	close(fd);
	return ret;
}

void sim_files_free(struct ddio_sim *sim)
{
	struct sim_file *f, *tmp;

	ddio_list_for_each_entry_safe(f, tmp, &sim->files, link) {
		ddio_list_del(&f->link);
		free(f->bytes);
		free(f);
	}
}
