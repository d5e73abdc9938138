// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placed delivery against libaio and against io_uring with registered buffers
 * and files: the same shuffled list of blocks of one block device, the same
 * addresses, the same depth, O_DIRECT, in alternating rounds of one run.
 *
 * Each engine is given the blocks' offsets and addresses and builds its own list within the time
 * measured.  CPU time is that of the process and, since work may be done by others on its behalf,
 * that of the whole machine, in which nothing else should run.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libaio.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <linux/fs.h>

#include "base/rand.h"
#include "include/uapi/linux/ddio.h"

#define ROUNDS_MAX 64

/* Shared by all measurements. */
struct kmod_bench {
	const char *path;
	uint64_t nr;
	uint32_t size;
	uint32_t depth;
	uint32_t rounds;
	uint64_t seed;
	uint64_t memory;
	uint64_t apart;
	int write;
	int fd;
	char *mem;
	uint64_t *offset; /* of each block, shuffled */
	uint64_t calls;	  /* system calls of the round that runs */
};

struct sample {
	double seconds;
	double self; /* CPU seconds */
	double all;
	uint64_t calls;
};

struct engine {
	const char *name;
	int (*open)(struct kmod_bench *b);
	int (*run)(struct kmod_bench *b);
	void (*close)(struct kmod_bench *b);
	struct sample sample[ROUNDS_MAX];
};

static char *address(const struct kmod_bench *b, uint64_t i)
{
	return b->mem + i * b->size % b->memory;
}

static int fail(const char *what, int err)
{
	fprintf(stderr, "bench_kmod: %s: %s\n", what, strerror(err));
	return -err;
}

/*
 * /dev/ddio
 */
static struct {
	int fd;
	uint32_t disk;
	uint32_t buffer;
	struct ddio_block *block;
} dd;

static int dd_open(struct kmod_bench *b)
{
	struct ddio_disk_add disk = { .size = sizeof(disk), .fd = b->fd };
	struct ddio_buffer_add buffer = { .size = sizeof(buffer),
					  .address = (uintptr_t)b->mem,
					  .length = b->memory };

	dd.fd = open("/dev/ddio", O_RDWR | O_CLOEXEC);
	if (dd.fd < 0)
		return fail("/dev/ddio", errno);
	if (ioctl(dd.fd, DDIO_DISK_ADD, &disk) || ioctl(dd.fd, DDIO_BUFFER_ADD, &buffer))
		return fail("ddio: disk or buffer", errno);
	dd.disk = disk.out_disk;
	dd.buffer = buffer.out_buffer;
	dd.block = calloc(b->nr, sizeof(*dd.block));
	return dd.block ? 0 : fail("ddio", ENOMEM);
}

static int dd_run(struct kmod_bench *b)
{
	struct ddio_submit arg = {
		.size = sizeof(arg),
		.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET,
		.op = b->write ? DDIO_WRITE : DDIO_READ,
		.delivery = DDIO_PLACE,
		.blocks = (uintptr_t)dd.block,
		.nr_blocks = b->nr,
		.depth = b->depth,
		.joint_fd = -1,
		.deadline = DDIO_FOREVER,
	};
	uint64_t i;

	for (i = 0; i < b->nr; i++)
		dd.block[i] = (struct ddio_block){ .offset = b->offset[i],
						   .where = address(b, i) - b->mem,
						   .length = b->size,
						   .disk = dd.disk,
						   .buffer = dd.buffer };
	b->calls++;
	if (ioctl(dd.fd, DDIO_SUBMIT, &arg))
		return fail("ddio: submit", errno);
	if (arg.out_state != DDIO_ENDED)
		return fail("ddio: not ended", EINTR);
	return arg.out_error ? fail("ddio: a block", -arg.out_error) : 0;
}

static void dd_close(struct kmod_bench *b)
{
	(void)b;
	free(dd.block);
	close(dd.fd);
}

/*
 * libaio: what has ended is replaced by one call, as many at a time as there are
 */
static struct {
	io_context_t ctx;
	struct iocb *iocb;
	struct iocb **batch;
	struct io_event *event;
} aio;

static int aio_open(struct kmod_bench *b)
{
	int err = io_setup(b->depth, &aio.ctx);

	if (err)
		return fail("libaio", -err);
	aio.iocb = calloc(b->depth, sizeof(*aio.iocb));
	aio.batch = calloc(b->depth, sizeof(*aio.batch));
	aio.event = calloc(b->depth, sizeof(*aio.event));
	return aio.iocb && aio.batch && aio.event ? 0 : fail("libaio", ENOMEM);
}

static void aio_prepare(struct kmod_bench *b, struct iocb *iocb, uint64_t i)
{
	if (b->write)
		io_prep_pwrite(iocb, b->fd, address(b, i), b->size, b->offset[i]);
	else
		io_prep_pread(iocb, b->fd, address(b, i), b->size, b->offset[i]);
}

static int aio_submit_batch(struct kmod_bench *b, uint32_t n)
{
	uint32_t at = 0;
	int ret;

	while (at < n) {
		b->calls++;
		ret = io_submit(aio.ctx, n - at, aio.batch + at);
		if (ret <= 0)
			return fail("libaio: submit", -ret);
		at += ret;
	}
	return 0;
}

static int aio_run(struct kmod_bench *b)
{
	uint64_t next = 0, done = 0;
	uint32_t n;
	int ret, i;

	for (n = 0; n < b->depth && next < b->nr; n++) {
		aio.batch[n] = &aio.iocb[n];
		aio_prepare(b, aio.batch[n], next++);
	}
	while (done < b->nr) {
		ret = aio_submit_batch(b, n);
		if (ret)
			return ret;
		b->calls++;
		ret = io_getevents(aio.ctx, 1, b->depth, aio.event, NULL);
		if (ret < 0)
			return fail("libaio: wait", -ret);
		done += ret;
		for (n = 0, i = 0; i < ret; i++) {
			if (aio.event[i].res != b->size)
				return fail("libaio: a block", EIO);
			if (next == b->nr)
				continue;
			aio.batch[n] = aio.event[i].obj;
			aio_prepare(b, aio.batch[n++], next++);
		}
	}
	return 0;
}

static void aio_close(struct kmod_bench *b)
{
	(void)b;
	io_destroy(aio.ctx);
	free(aio.iocb);
	free(aio.batch);
	free(aio.event);
}

/*
 * io_uring: registered buffer and file, submission and waiting in one call, completions run in
 * that call
 */
static struct io_uring ring;

static int uring_open(struct kmod_bench *b)
{
	struct io_uring_params p = { .flags = IORING_SETUP_SINGLE_ISSUER |
					      IORING_SETUP_DEFER_TASKRUN };
	struct iovec iov = { .iov_base = b->mem, .iov_len = b->memory };
	int err = io_uring_queue_init_params(b->depth, &ring, &p);

	if (err == -EINVAL)
		err = io_uring_queue_init(b->depth, &ring, 0);
	if (!err)
		err = io_uring_register_buffers(&ring, &iov, 1);
	if (!err)
		err = io_uring_register_files(&ring, &b->fd, 1);
	if (!err)
		err = io_uring_register_ring_fd(&ring) == 1 ? 0 : -EINVAL;
	return err ? fail("io_uring", -err) : 0;
}

static void uring_prepare(struct kmod_bench *b, uint64_t i)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (b->write)
		io_uring_prep_write_fixed(sqe, 0, address(b, i), b->size, b->offset[i], 0);
	else
		io_uring_prep_read_fixed(sqe, 0, address(b, i), b->size, b->offset[i], 0);
	sqe->flags |= IOSQE_FIXED_FILE;
}

static int uring_run(struct kmod_bench *b)
{
	uint64_t next = 0, done = 0;
	struct io_uring_cqe *cqe;
	unsigned int head, n;
	int ret;

	while (next < b->depth && next < b->nr)
		uring_prepare(b, next++);
	while (done < b->nr) {
		b->calls++;
		ret = io_uring_submit_and_wait(&ring, 1);
		if (ret < 0)
			return fail("io_uring: submit", -ret);
		n = 0;
		io_uring_for_each_cqe(&ring, head, cqe)
		{
			if (cqe->res != (int)b->size)
				return fail("io_uring: a block", cqe->res < 0 ? -cqe->res : EIO);
			n++;
		}
		io_uring_cq_advance(&ring, n);
		done += n;
		while (n-- && next < b->nr)
			uring_prepare(b, next++);
	}
	return 0;
}

static void uring_close(struct kmod_bench *b)
{
	(void)b;
	io_uring_queue_exit(&ring);
}

static struct engine engines[] = {
	{ .name = "ddio", .open = dd_open, .run = dd_run, .close = dd_close },
	{ .name = "io_uring", .open = uring_open, .run = uring_run, .close = uring_close },
	{ .name = "libaio", .open = aio_open, .run = aio_run, .close = aio_close },
};
#define NR_ENGINES (sizeof(engines) / sizeof(engines[0]))

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static double cpu_self(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return r.ru_utime.tv_sec + r.ru_stime.tv_sec +
	       (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
}

/* Returns the time of all processors that was neither idle nor waiting for I/O. */
static double cpu_all(void)
{
	unsigned long long t[8] = { 0 };
	FILE *f = fopen("/proc/stat", "re");
	int n = 0;

	if (f) {
		n = fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
			   &t[4], &t[5], &t[6]);
		fclose(f);
	}
	if (n != 7)
		return 0;
	return (double)(t[0] + t[1] + t[2] + t[5] + t[6]) / sysconf(_SC_CLK_TCK);
}

static int measure(struct kmod_bench *b, struct engine *e, struct sample *s)
{
	double self, all;
	int ret;

	b->calls = 0;
	all = cpu_all();
	self = cpu_self();
	s->seconds = now();
	ret = e->run(b);
	s->seconds = now() - s->seconds;
	s->self = cpu_self() - self;
	s->all = cpu_all() - all;
	s->calls = b->calls;
	return ret;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, uint32_t n)
{
	qsort(v, n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

#define MEDIAN(e, b, what)                                         \
	({                                                         \
		double v_[ROUNDS_MAX];                             \
		uint32_t r_;                                       \
		for (r_ = 0; r_ < (b)->rounds; r_++) {             \
			const struct sample *s = &(e)->sample[r_]; \
			v_[r_] = (what);                           \
		}                                                  \
		median(v_, (b)->rounds);                           \
	})

static void print(const struct kmod_bench *b)
{
	const struct engine *e;
	struct utsname u;

	uname(&u);
	printf("bench_kmod: %s, %s, %llu blocks of %u, depth %u, %u rounds, seed %llu, "
	       "memory %llu MiB, one block in %llu of the disk at most, kernel %s\n",
	       b->path, b->write ? "write" : "read", (unsigned long long)b->nr, b->size, b->depth,
	       b->rounds, (unsigned long long)b->seed, (unsigned long long)b->memory >> 20,
	       (unsigned long long)b->apart, u.release);
	printf("%-9s %10s %10s %14s %14s %12s %12s\n", "engine", "blocks/s", "MB/s", "us CPU/block",
	       "  whole machine", "calls", "ddio faster");
	for (e = engines; e < engines + NR_ENGINES; e++) {
		double rate = MEDIAN(e, b, b->nr / s->seconds);

		printf("%-9s %10.0f %10.1f %14.2f %14.2f %12llu %11.2fx\n", e->name, rate,
		       rate * b->size / (1 << 20), MEDIAN(e, b, s->self * 1e6 / b->nr),
		       MEDIAN(e, b, s->all * 1e6 / b->nr), (unsigned long long)e->sample[0].calls,
		       MEDIAN(e, b, s->seconds / engines[0].sample[r_].seconds));
	}
}

/* One block in @apart at most: with 2, no two blocks are neighbours. */
static int make_list(struct kmod_bench *b)
{
	uint64_t bytes, places, i, j, t, *all;

	if (ioctl(b->fd, BLKGETSIZE64, &bytes))
		return fail(b->path, errno);
	places = bytes / ((uint64_t)b->size * b->apart);
	if (places < b->nr)
		return fail("the disk is too small for the list", EINVAL);
	all = calloc(places, sizeof(*all));
	b->offset = calloc(b->nr, sizeof(*b->offset));
	if (!all || !b->offset)
		return fail("list", ENOMEM);
	for (i = 0; i < places; i++)
		all[i] = i * b->size * b->apart;
	for (i = 0; i < b->nr; i++) {
		j = i + ddio_rand_below(&b->seed, places - i);
		t = all[i];
		all[i] = all[j];
		all[j] = t;
		b->offset[i] = all[i];
	}
	free(all);
	return 0;
}

static int parse(struct kmod_bench *b, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:b:d:r:s:m:a:w")) != -1) {
		switch (c) {
		case 'n':
			b->nr = strtoull(optarg, NULL, 0);
			break;
		case 'b':
			b->size = strtoul(optarg, NULL, 0);
			break;
		case 'd':
			b->depth = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			b->rounds = strtoul(optarg, NULL, 0);
			break;
		case 's':
			b->seed = strtoull(optarg, NULL, 0);
			break;
		case 'm':
			b->memory = strtoull(optarg, NULL, 0) << 20;
			break;
		case 'a':
			b->apart = strtoull(optarg, NULL, 0);
			break;
		case 'w':
			b->write = 1;
			break;
		default:
			return -EINVAL;
		}
	}
	if (optind != argc - 1 || !b->nr || !b->size || !b->depth || !b->rounds || !b->apart ||
	    b->rounds > ROUNDS_MAX)
		return -EINVAL;
	b->path = argv[optind];
	return 0;
}

static int run(struct kmod_bench *b)
{
	uint64_t seed = b->seed;
	uint32_t r, i;
	int ret;

	ret = make_list(b);
	b->seed = seed;
	for (i = 0; !ret && i < NR_ENGINES; i++)
		ret = engines[i].open(b);
	/* Once unmeasured, then in an order that alternates. */
	for (i = 0; !ret && i < NR_ENGINES; i++)
		ret = measure(b, &engines[i], &engines[i].sample[0]);
	for (r = 0; !ret && r < b->rounds; r++)
		for (i = 0; !ret && i < NR_ENGINES; i++) {
			uint32_t k = r % 2 ? NR_ENGINES - 1 - i : i;

			ret = measure(b, &engines[k], &engines[k].sample[r]);
		}
	if (ret)
		return ret;
	print(b);
	for (i = 0; i < NR_ENGINES; i++)
		engines[i].close(b);
	return 0;
}

int main(int argc, char **argv)
{
	struct kmod_bench b = { .nr = 100000,
				.size = 8192,
				.depth = 32,
				.rounds = 5,
				.seed = 1994,
				.memory = 64ULL << 20,
				.apart = 2 };

	if (parse(&b, argc, argv)) {
		fprintf(stderr, "usage: bench_kmod [-n BLOCKS] [-b BYTES] [-d DEPTH] [-r ROUNDS] "
				"[-s SEED] [-m MEMORY-MIB] [-a APART] [-w] DEVICE\n"
				"-w overwrites the device\n");
		return 2;
	}
	b.memory -= b.memory % b.size;
	b.fd = open(b.path, (b.write ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC);
	if (b.fd < 0)
		return -fail(b.path, errno);
	b.mem = mmap(NULL, b.memory, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (b.mem == MAP_FAILED)
		return -fail("memory", errno);
	return run(&b) ? 1 : 0;
}
