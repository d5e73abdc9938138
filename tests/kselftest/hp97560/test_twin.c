// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random reads, writes, discards and writes of zeroes, by several threads at once, each on its own
 * part of a disk and beside a copy in memory; with power cycles between the rounds.
 *
 * DDIO_SEED=n, DDIO_ROUNDS=n (default 5).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/kt.h"

#define THREADS 4
#define PART_BYTES (4 << 20)
#define MOST_BYTES (256 << 10)
#define STEPS 300

static const char *const disks[] = {
	"time_scale=0",
	"time_scale=0 block_size=4096 size=400000",
	"time_scale=1000 immediate_report=0",
	"time_scale=1000 bus=twin queue_depth=2",
};

/**
 * struct twin_part - a thread's part of a disk
 * @fd: the disk, past the page cache
 * @offset: of the part
 * @block: logical block
 * @rng: choices
 * @twin: what the part has to be
 * @buffer: of a request
 * @err: what went wrong
 */
struct twin_part {
	int fd;
	uint64_t offset;
	uint32_t block;
	struct kt_rng rng;
	unsigned char *twin;
	unsigned char *buffer;
	int err;
	pthread_t thread;
};

static int result_of(ssize_t n, size_t length)
{
	if (n < 0)
		return -errno;
	return n == (ssize_t)length ? 0 : -EIO;
}

static int part_write(struct twin_part *p, size_t at, size_t length)
{
	struct iovec v = { .iov_base = p->buffer, .iov_len = length };
	int flags = kt_below(&p->rng, 8) ? 0 : RWF_DSYNC;

	kt_fill(&p->rng, p->buffer, length);
	memcpy(p->twin + at, p->buffer, length);
	return result_of(pwritev2(p->fd, &v, 1, (off_t)(p->offset + at), flags), length);
}

static int part_read(struct twin_part *p, size_t at, size_t length)
{
	int err;

	memset(p->buffer, 0xa5, length);
	err = result_of(pread(p->fd, p->buffer, length, (off_t)(p->offset + at)), length);
	if (!err && memcmp(p->buffer, p->twin + at, length))
		err = -EILSEQ;
	return err;
}

static int part_zero(struct twin_part *p, size_t at, size_t length, unsigned long request)
{
	uint64_t range[2] = { p->offset + at, length };

	memset(p->twin + at, 0, length);
	return ioctl(p->fd, request, range) ? -errno : 0;
}

static int part_step(struct twin_part *p)
{
	size_t blocks = PART_BYTES / p->block, most = MOST_BYTES / p->block;
	size_t first = kt_below(&p->rng, blocks), n = 1 + kt_below(&p->rng, most);
	size_t at, length;

	if (!kt_below(&p->rng, 3))
		n = 1 + n % 8;
	if (n > blocks - first)
		n = blocks - first;
	at = first * p->block;
	length = n * p->block;
	switch (kt_below(&p->rng, 10)) {
	case 0:
		return part_zero(p, at, length, BLKDISCARD);
	case 1:
		return part_zero(p, at, length, BLKZEROOUT);
	case 2:
		return fdatasync(p->fd) ? -errno : 0;
	case 3:
	case 4:
	case 5:
		return part_write(p, at, length);
	default:
		return part_read(p, at, length);
	}
}

static int part_compare(struct twin_part *p)
{
	size_t at;
	int err = 0;

	for (at = 0; !err && at < PART_BYTES; at += MOST_BYTES)
		err = part_read(p, at, MOST_BYTES);
	return err;
}

static void *part_thread(void *arg)
{
	struct twin_part *p = arg;
	size_t i;

	for (i = 0; i < STEPS && !p->err; i++)
		p->err = part_step(p);
	if (!p->err)
		p->err = part_compare(p);
	return NULL;
}

static int parts_make(struct twin_part *parts, uint32_t block, uint64_t seed)
{
	size_t i;

	for (i = 0; i < THREADS; i++) {
		parts[i] = (struct twin_part){
			.offset = (uint64_t)i * PART_BYTES * 7,
			.block = block,
			.rng.state = seed + i,
			.twin = calloc(1, PART_BYTES),
		};
		if (!parts[i].twin || posix_memalign((void **)&parts[i].buffer, 4096, MOST_BYTES))
			return -ENOMEM;
	}
	return 0;
}

/* All threads, once.  What they find must be there after a power cycle, too. */
static int round_run(struct twin_part *parts, const struct kt_dev *dev)
{
	int fd = open(dev->path, O_RDWR | O_DIRECT | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;
	size_t i;

	for (i = 0; i < THREADS && !err; i++) {
		parts[i].fd = fd;
		err = part_compare(&parts[i]);
	}
	for (i = 0; i < THREADS && !err; i++)
		if (pthread_create(&parts[i].thread, NULL, part_thread, &parts[i]))
			return -EAGAIN;
	for (i = 0; i < THREADS && !err; i++) {
		pthread_join(parts[i].thread, NULL);
		if (parts[i].err)
			printf("# thread %zu: %s\n", i, strerror(-parts[i].err));
	}
	for (i = 0; i < THREADS && !err; i++)
		err = parts[i].err;
	if (fd >= 0)
		close(fd);
	return err;
}

static int power_cycle(struct kt_dev *dev)
{
	int err = kt_write("0", "/sys/kernel/config/hp97560/%s/power", dev->name);

	if (!err)
		err = kt_write("1", "/sys/kernel/config/hp97560/%s/power", dev->name);
	return err ? err : kt_dev_probe(dev);
}

static int disk_run(const char *how, uint64_t seed)
{
	uint64_t i, rounds = kt_env("DDIO_ROUNDS", 5);
	struct kt_dev *dev = kt_dev_hp97560(how);
	struct twin_part parts[THREADS] = { 0 };
	int err;

	if (!dev)
		return -errno;
	err = parts_make(parts, dev->logical, seed);
	for (i = 0; i < rounds && !err; i++) {
		err = round_run(parts, dev);
		if (!err)
			err = power_cycle(dev);
	}
	kt_dev_free(dev);
	for (i = 0; i < THREADS; i++) {
		free(parts[i].twin);
		free(parts[i].buffer);
	}
	return err;
}

int main(void)
{
	bool good = true;
	uint64_t seed;
	size_t i;
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (geteuid())
		kt_skip_all("only root may make disks");
	kt_modprobe("hp97560", "");
	if (access("/sys/kernel/config/hp97560", F_OK))
		kt_skip_all("no hp97560 module here");
	kt_devs_begin();
	atexit(kt_devs_free);
	seed = kt_seed();
	printf("TAP version 13\n1..%zu\n", KT_ARRAY_SIZE(disks));
	for (i = 0; i < KT_ARRAY_SIZE(disks); i++) {
		err = disk_run(disks[i], seed);
		if (err)
			printf("# %s\n", strerror(-err));
		printf("%sok %zu %s\n", err ? "not " : "", i + 1, disks[i]);
		good &= !err;
	}
	return good ? 0 : 1;
}
