// SPDX-License-Identifier: GPL-2.0-only
/* ddio bench --mount: file data. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "mount.h"

#define MB 1048576.0
#define SMALL 4096u

static int file_open(const struct mount_job *job, int flags)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%s/data", job->dir);
	fd = open(path, flags | O_CLOEXEC, 0644);
	return fd < 0 ? -errno : fd;
}

/* Passes through the file once, in one thread.  Return: 0 or -errno. */
static int pass(int fd, const struct mount_job *job, char *buf, bool writing)
{
	uint64_t at;
	ssize_t n;

	for (at = 0; at < job->size; at += (uint64_t)n) {
		n = writing ? write(fd, buf, job->request) : read(fd, buf, job->request);
		if (n <= 0)
			return n ? -errno : -ENODATA;
	}
	return 0;
}

static double sequential(const struct mount_job *job, bool writing, int flags)
{
	char *buf = aligned_alloc(4096, job->request);
	double t;
	int fd, err;

	if (!buf)
		return -ENOMEM;
	memset(buf, 0x5a, job->request);
	fd = file_open(job, flags);
	err = fd < 0 ? fd : 0;
	/* Drops the file's pages from the kernel's memory. */
	if (!err && !writing)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	t = mount_now();
	if (!err)
		err = pass(fd, job, buf, writing);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	t = mount_now() - t;
	free(buf);
	return err ? err : (double)job->size / MB / t;
}

/* Makes a new file each time, and syncs it: no write-back is left to the next measurement. */
static double write_new(const struct mount_job *job, int flags)
{
	char path[4200];
	double rate;
	int fd;

	snprintf(path, sizeof(path), "%s/data", job->dir);
	unlink(path);
	rate = sequential(job, true, O_WRONLY | O_CREAT | flags);
	fd = file_open(job, O_RDWR);
	if (fd < 0 || fsync(fd))
		rate = rate < 0 ? rate : -errno;
	if (fd >= 0)
		close(fd);
	return rate;
}

static double run_write(const struct mount_job *job)
{
	return write_new(job, 0);
}

static double run_read(const struct mount_job *job)
{
	return sequential(job, false, O_RDONLY);
}

static double run_write_direct(const struct mount_job *job)
{
	return write_new(job, O_DIRECT);
}

static double run_read_direct(const struct mount_job *job)
{
	return sequential(job, false, O_RDONLY | O_DIRECT);
}

struct small {
	double until;
	atomic_ulong n;
};

static int small_reads(const struct mount_job *job, uint32_t me, void *arg)
{
	char *buf = aligned_alloc(4096, SMALL);
	int fd = file_open(job, O_RDONLY | O_DIRECT), err = 0;
	uint64_t rand = me * 7919ull + 1, at, n = 0;
	struct small *s = arg;

	if (!buf || fd < 0)
		err = buf ? fd : -ENOMEM;
	while (!err && mount_now() < s->until) {
		rand = rand * 6364136223846793005ull + 1442695040888963407ull;
		at = (rand >> 33) % (job->size / SMALL) * SMALL;
		if (pread(fd, buf, SMALL, (off_t)at) != SMALL)
			err = -EIO;
		n++;
	}
	if (fd >= 0)
		close(fd);
	free(buf);
	atomic_fetch_add(&s->n, n);
	return err;
}

/* Reads a file that its server has read before, with O_DIRECT. */
static double run_small(const struct mount_job *job)
{
	struct small s = { 0 };
	double t = run_read_direct(job);

	if (t < 0)
		return t;
	s.until = mount_now() + job->seconds;
	t = mount_threads(job, small_reads, &s);
	return t < 0 ? t : (double)atomic_load(&s.n) / t;
}

const struct mount_work mount_data_works[] = {
	{ "write", "MB/s", run_write, "data" },
	{ "read", "MB/s", run_read, "data" },
	{ "write-direct", "MB/s", run_write_direct, "data" },
	{ "read-direct", "MB/s", run_read_direct, "data" },
	{ "small-read", "/s", run_small, "data" },
	{ 0 },
};
