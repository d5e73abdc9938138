// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes that are durable by themselves.  Kernel and disk are ours here: the disk keeps in a cache what was written until it is
 * flushed, and when a flush fails it drops what it has there and says so once.  A flush of ours that ends well
 * promises that whatever had ended well before it is kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "tests/unit/env/env_rig.h"
#include "tests/unit/iop/store/ut_store.h"

enum { SLOTS = 16, UNIT = 4096, QUEUE = 64, BATCH_MAX = 5 };

/**
 * struct kernel - what stands in the place of the kernel's asynchronous I/O, and of the disk
 * @queue: submitted and not ended, @n of them
 * @now, @kept: of each slot what was written last, and what is on stable storage
 * @magic: the file system's; @unknown: RWF_DSYNC is
 * @fails: so many of 1000 flushes fail
 * @synced, @flushed: how many requests were of these kinds
 */
static struct kernel {
	struct iocb *queue[QUEUE];
	long n;
	uint64_t now[SLOTS], kept[SLOTS];
	long magic;
	bool unknown;
	uint32_t fails;
	uint64_t rand, synced, flushed;
} kernel;

int open(const char *path, int flags, ...)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags & ~O_DIRECT, 0600);
}

int fstatfs(int fd, struct statfs *fs)
{
	(void)fd;
	memset(fs, 0, sizeof(*fs));
	fs->f_type = kernel.magic;
	return 0;
}

int io_setup(int n, io_context_t *ctx)
{
	(void)n;
	*ctx = (io_context_t)&kernel;
	return 0;
}

int io_destroy(io_context_t ctx)
{
	(void)ctx;
	return 0;
}

static void ring(const struct iocb *iocb)
{
	uint64_t one = 1;

	CU_ASSERT_EQUAL(write((int)iocb->u.c.resfd, &one, sizeof(one)), sizeof(one));
}

int io_submit(io_context_t ctx, long n, struct iocb **iocbs)
{
	(void)ctx;
	(void)n;
	if (kernel.unknown && iocbs[0]->aio_rw_flags == RWF_DSYNC)
		return -EOPNOTSUPP;
	kernel.queue[kernel.n++] = iocbs[0];
	ring(iocbs[0]);
	return 1;
}

/* Returns 0 or -EIO. */
static long disk_flush(void)
{
	bool fails = rnd(&kernel.rand) % 1000 < kernel.fails;

	if (fails)
		memcpy(kernel.now, kernel.kept, sizeof(kernel.now));
	else
		memcpy(kernel.kept, kernel.now, sizeof(kernel.now));
	return fails ? -EIO : 0;
}

static long execute(const struct iocb *iocb)
{
	long ret = 0;

	if (iocb->aio_lio_opcode == IO_CMD_FDSYNC) {
		kernel.flushed++;
		return disk_flush();
	}
	if (iocb->aio_lio_opcode != IO_CMD_PWRITE)
		return (long)iocb->u.c.nbytes;
	kernel.now[iocb->u.c.offset / UNIT] = *(uint64_t *)iocb->u.c.buf;
	if (iocb->aio_rw_flags == RWF_DSYNC) {
		kernel.synced++;
		ret = disk_flush();
	}
	return ret ? ret : (long)iocb->u.c.nbytes;
}

/* Ends one, any of them. */
int io_getevents(io_context_t ctx, long min, long n, struct io_event *events, struct timespec *wait)
{
	long at = (long)(rnd(&kernel.rand) % (uint64_t)kernel.n);
	struct iocb *iocb = kernel.queue[at];

	(void)ctx;
	(void)min;
	(void)n;
	(void)wait;
	kernel.queue[at] = kernel.queue[--kernel.n];
	events[0] = (struct io_event){ .data = iocb->data,
				       .obj = iocb,
				       .res = (unsigned long)execute(iocb) };
	if (kernel.n)
		ring(kernel.queue[0]);
	return 1;
}

/**
 * struct durable - a disk and its requests
 * @ended: of each slot what was last written and ended well
 */
struct durable {
	struct env_rig rig;
	char dir[200], path[260];
	uint64_t ended[SLOTS], version;
	struct ddio_disk_req req[BATCH_MAX];
	uint64_t *buf;
};

static void begin(struct durable *d, uint64_t seed)
{
	struct ddio_disk_spec spec = {
		.name = "a", .engine = "aio", .size = SLOTS * UNIT, .path = d->path, .create = true
	};

	kernel = (struct kernel){ .magic = EXT4_SUPER_MAGIC, .rand = seed };
	memset(d, 0, sizeof(*d));
	ut_temp_dir(d->dir, sizeof(d->dir));
	snprintf(d->path, sizeof(d->path), "%s/disk", d->dir);
	rig_begin(&d->rig);
	rig_open(&d->rig, &spec);
	d->buf = aligned_alloc(UNIT, BATCH_MAX * UNIT);
	memset(d->buf, 0, BATCH_MAX * UNIT);
}

static void end(struct durable *d)
{
	rig_end(&d->rig);
	free(d->buf);
	ut_remove_tree(d->dir);
}

static void prepare_write(struct durable *d, uint32_t i, uint32_t slot, bool durable)
{
	uint64_t *buf = d->buf + i * (UNIT / sizeof(*d->buf));

	*buf = ++d->version;
	d->req[i] = (struct ddio_disk_req){ .op = DDIO_DISK_WRITE,
					    .offset = slot * UNIT,
					    .len = UNIT,
					    .buf = buf,
					    .durable = durable };
}

static int write_one(struct durable *d, uint32_t slot, bool durable)
{
	prepare_write(d, 0, slot, durable);
	rig_submit(&d->rig, &d->req[0]);
	rig_wait(&d->rig, true);
	return d->req[0].status;
}

static int flush(struct durable *d)
{
	return rig_do(&d->rig, DDIO_DISK_FLUSH, 0, 0, NULL);
}

/* Counts what kinds of requests the kernel has had since the last call. */
static void expect(uint64_t synced, uint64_t flushed)
{
	CU_ASSERT_EQUAL(kernel.synced, synced);
	CU_ASSERT_EQUAL(kernel.flushed, flushed);
	kernel.synced = 0;
	kernel.flushed = 0;
}

static void one_at_a_time(void)
{
	struct durable d;

	begin(&d, 1);
	/* What was written before the start may not be on the disk. */
	CU_ASSERT_EQUAL(write_one(&d, 0, true), 0);
	CU_ASSERT_EQUAL(flush(&d), 0);
	expect(0, 1);
	CU_ASSERT_EQUAL(write_one(&d, 0, true), 0);
	CU_ASSERT_EQUAL(flush(&d), 0);
	expect(1, 0);
	CU_ASSERT_EQUAL(flush(&d), 0);
	expect(0, 0);
	CU_ASSERT_EQUAL(write_one(&d, 0, true), 0);
	CU_ASSERT_EQUAL(write_one(&d, 1, false), 0);
	CU_ASSERT_EQUAL(write_one(&d, 2, true), 0);
	CU_ASSERT_EQUAL(flush(&d), 0);
	expect(1, 1);
	/* It fails alone: nothing else can be lost. */
	kernel.fails = 1000;
	CU_ASSERT_EQUAL(write_one(&d, 0, true), -EIO);
	kernel.fails = 0;
	CU_ASSERT_EQUAL(write_one(&d, 0, true), 0);
	CU_ASSERT_EQUAL(flush(&d), 0);
	expect(1, 1);
	end(&d);
}

/* It fails beside another write: the disk may have dropped that, and says so only once. */
static void fails_beside(void)
{
	struct durable d;

	begin(&d, 1);
	CU_ASSERT_EQUAL(flush(&d), 0);
	kernel.fails = 1000;
	prepare_write(&d, 0, 0, true);
	prepare_write(&d, 1, 1, false);
	rig_submit(&d.rig, &d.req[0]);
	rig_submit(&d.rig, &d.req[1]);
	rig_wait(&d.rig, true);
	CU_ASSERT_EQUAL(d.req[0].status, -EIO);
	CU_ASSERT_EQUAL(d.req[1].status, 0);
	kernel.fails = 0;
	CU_ASSERT_EQUAL(flush(&d), -EIO);
	CU_ASSERT_EQUAL(write_one(&d, 0, true), 0);
	CU_ASSERT_EQUAL(flush(&d), -EIO);
	end(&d);
}

/* A kernel that does not know it, and a file system that is not known to keep what it says. */
static void where_it_cannot_be(void)
{
	struct durable d;
	int i;

	begin(&d, 1);
	CU_ASSERT_EQUAL(flush(&d), 0);
	kernel.unknown = true;
	for (i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(write_one(&d, 0, true), 0);
		CU_ASSERT_EQUAL(kernel.now[0], d.version);
		CU_ASSERT_EQUAL(flush(&d), 0);
		kernel.unknown = false;
	}
	expect(0, 3);
	end(&d);
	begin(&d, 1);
	rig_end(&d.rig);
	kernel.magic = FUSE_SUPER_MAGIC;
	rig_begin(&d.rig);
	rig_open(&d.rig,
		 &(struct ddio_disk_spec){
			 .name = "a", .engine = "aio", .size = SLOTS * UNIT, .path = d.path });
	CU_ASSERT_EQUAL(flush(&d), 0);
	CU_ASSERT_EQUAL(write_one(&d, 0, true), 0);
	CU_ASSERT_EQUAL(flush(&d), 0);
	expect(0, 2);
	end(&d);
}

/* Some requests at once; a flush, if there is one, comes last.  Returns false if that failed. */
static bool batch(struct durable *d)
{
	uint32_t n = 1 + (uint32_t)(rnd(&kernel.rand) % (BATCH_MAX - 1)), i, first;
	uint64_t promised[SLOTS];

	first = (uint32_t)(rnd(&kernel.rand) % SLOTS);
	for (i = 0; i < n; i++) {
		prepare_write(d, i, (first + i) % SLOTS, rnd(&kernel.rand) % 2);
		rig_submit(&d->rig, &d->req[i]);
		if (rnd(&kernel.rand) % 2)
			ddio_disk_commit(d->rig.disk);
	}
	rig_wait(&d->rig, true);
	for (i = 0; i < n; i++)
		if (!d->req[i].status)
			d->ended[d->req[i].offset / UNIT] = *(uint64_t *)d->req[i].buf;
	if (rnd(&kernel.rand) % 2)
		return true;
	memcpy(promised, d->ended, sizeof(promised));
	if (flush(d))
		return false;
	for (i = 0; i < SLOTS; i++)
		CU_ASSERT(kernel.kept[i] >= promised[i]);
	return true;
}

static void nothing_is_lost(void)
{
	uint64_t seed, synced = 0, ended = 0, i;
	struct durable d;

	for (seed = 1; seed <= ut_rounds(200); seed++) {
		begin(&d, seed);
		kernel.fails = 50;
		for (i = 0; i < 60 && batch(&d); i++)
			;
		ended += i < 60;
		synced += kernel.synced;
		end(&d);
	}
	CU_ASSERT(synced > seed);
	CU_ASSERT(ended > seed / 4);
}

static const struct ut_case cases[] = {
	{ "one at a time", one_at_a_time },
	{ "one fails beside others", fails_beside },
	{ "where it cannot be", where_it_cannot_be },
	{ "nothing is lost", nothing_is_lost },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "durable writes", cases } };

	return ut_run("env_durable", suites, 1);
}
