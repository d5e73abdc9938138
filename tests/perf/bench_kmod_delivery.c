// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the module's deliveries cost beside plain reads, on a disk that takes no time.
 *
 *	bench_kmod_delivery DISK [BLOCKS [LENGTH [DEPTH [ROUNDS]]]]
 *
 * Reads the same sorted random list of blocks in several ways, one after the other, ROUNDS times,
 * so that a busy machine slows all of them.  Per way: the median of its rounds' blocks per second,
 * processor time of the whole machine per block, system calls per block, and the rate in
 * relation to that of the plain reads that do the same.  Use a disk without contents (null_blk
 * without memory), or mostly its copying is measured.
 *
 * place, stream, read:	blocks reach the process's memory, and are not looked at
 * scatter, stream+copy, read+copy:	each block is dealt out to two members, 8 bytes to each in turn;
 *	by the module, and by the process
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <linux/fs.h>
#include <time.h>
#include <unistd.h>

#include "base/rand.h"
#include "env/kernel/kdev.h"
#include "runs.h"

#define MEMBERS 2
#define PIECE 8
#define MEMORY (16U << 20)
#define ROUNDS_MAX 99
#define EVENTS 1024

struct delivery_bench {
	struct ddio_kdev kdev;
	int fd;
	uint32_t disk;
	uint32_t buffer;
	unsigned char *memory;
	int joint;
	unsigned char *member[MEMBERS];
	struct ddio_block *place;
	struct ddio_block *stream;
	struct ddio_block *scatter;
	struct ddio_run *run;
	uint64_t nr;
	uint32_t length;
	uint32_t depth;
	uint64_t calls;
	uint32_t waiting; /* slots given back since the last kick, if one is due */
	bool copy;
};

struct way {
	const char *name;
	int (*run)(struct delivery_bench *b);
	bool copy;
	int twin; /* index of the plain reads that do the same */
	double rate[ROUNDS_MAX];
	double cpu[ROUNDS_MAX];
	double calls;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Seconds that all processors have been busy, interrupts and the kernel's threads included. */
static double busy(void)
{
	unsigned long long user = 0, nice = 0, sys = 0, idle = 0, wait = 0, irq = 0, soft = 0;
	FILE *f = fopen("/proc/stat", "re");

	if (!f)
		return 0;
	if (fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &sys, &idle, &wait,
		   &irq, &soft) != 7)
		user = 0;
	fclose(f);
	return (double)(user + nice + sys + irq + soft) / sysconf(_SC_CLK_TCK);
}

/* The process deals out block @i, which is at @at. */
static void deal(struct delivery_bench *b, uint64_t i, const void *at)
{
	const struct ddio_run *run = &b->run[i * MEMBERS];
	uint32_t m;

	for (m = 0; m < MEMBERS; m++)
		ddio_run_scatter(&run[m], at, b->member[m]);
}

static int run_read(struct delivery_bench *b)
{
	unsigned char *at = b->memory;
	uint64_t i;

	for (i = 0; i < b->nr; i++) {
		if (pread(b->fd, at, b->length, b->stream[i].offset) != (ssize_t)b->length)
			return -EIO;
		if (b->copy)
			deal(b, i, at);
	}
	b->calls += b->nr;
	return 0;
}

static void submit_init(struct delivery_bench *b, struct ddio_submit *s, uint32_t delivery,
			const struct ddio_block *blocks)
{
	memset(s, 0, sizeof(*s));
	s->op = DDIO_READ;
	s->delivery = delivery;
	s->blocks = (uintptr_t)blocks;
	s->nr_blocks = b->nr;
	s->depth = b->depth;
	s->joint_fd = -1;
	s->deadline = DDIO_FOREVER;
}

static int submit_and_wait(struct delivery_bench *b, struct ddio_submit *s)
{
	int ret;

	s->flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
	ret = ddio_kdev_submit(&b->kdev, s);
	b->calls++;
	if (ret)
		return ret;
	return s->out_state == DDIO_ENDED ? s->out_error : -EINTR;
}

static int run_place(struct delivery_bench *b)
{
	struct ddio_submit s;

	submit_init(b, &s, DDIO_PLACE, b->place);
	return submit_and_wait(b, &s);
}

static int run_scatter(struct delivery_bench *b)
{
	struct ddio_submit s;

	submit_init(b, &s, DDIO_SCATTER, b->scatter);
	s.runs = (uintptr_t)b->run;
	s.nr_runs = b->nr * MEMBERS;
	s.joint_fd = b->joint;
	return submit_and_wait(b, &s);
}

/* The disk is told of half of its slots at a time, or of all when there is nothing else to do. */
static int stream_kick(struct delivery_bench *b, uint32_t collective, uint32_t slot)
{
	if (2 * b->waiting < b->depth && ddio_kdev_event(&b->kdev))
		return 0;
	b->waiting = 0;
	b->calls++;
	return ddio_kdev_kick(&b->kdev, collective, slot);
}

static int stream_event(struct delivery_bench *b, const struct ddio_submit *s,
			const struct ddio_event *e)
{
	uint32_t slot = e->slot;

	if (b->copy)
		deal(b, e->index, b->memory + (uint64_t)(slot - s->out_first_slot) * b->length);
	ddio_kdev_event_done(&b->kdev);
	if (!ddio_kdev_release_quietly(&b->kdev, s->out_collective, slot))
		return 0;
	b->waiting++;
	return stream_kick(b, s->out_collective, slot);
}

static int run_stream(struct delivery_bench *b)
{
	const struct ddio_event *e;
	struct ddio_submit s;
	int ret, spins = 0;

	submit_init(b, &s, DDIO_STREAM, b->stream);
	s.slot_buffer = b->buffer;
	s.slot_length = b->length;
	s.flags = DDIO_SUBMIT_FORGET;
	b->waiting = 0;
	ret = ddio_kdev_submit(&b->kdev, &s);
	b->calls++;
	while (!ret) {
		e = ddio_kdev_event(&b->kdev);
		if (!e && ++spins < 1000)
			continue;
		spins = 0;
		if (!e) {
			b->calls++;
			ret = ddio_kdev_event_wait(&b->kdev, -1);
			continue;
		}
		if (e->kind == DDIO_EVENT_DONE) {
			ret = e->status;
			ddio_kdev_event_done(&b->kdev);
			return ret;
		}
		ret = stream_event(b, &s, e);
	}
	return ret;
}

static struct way ways[] = {
	{ .name = "read", .run = run_read, .twin = 0 },
	{ .name = "place", .run = run_place, .twin = 0 },
	{ .name = "stream", .run = run_stream, .twin = 0 },
	{ .name = "read+copy", .run = run_read, .copy = true, .twin = 3 },
	{ .name = "stream+copy", .run = run_stream, .copy = true, .twin = 3 },
	{ .name = "scatter", .run = run_scatter, .copy = true, .twin = 3 },
};

#define NR_WAYS (sizeof(ways) / sizeof(ways[0]))

static int by_offset(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int make_lists(struct delivery_bench *b, uint64_t disk_bytes)
{
	uint64_t *at = calloc(b->nr, sizeof(*at)), seed = 1994, i, m;
	uint64_t room = MEMORY / b->length * b->length;

	b->place = calloc(b->nr, sizeof(*b->place));
	b->stream = calloc(b->nr, sizeof(*b->stream));
	b->scatter = calloc(b->nr, sizeof(*b->scatter));
	b->run = calloc(b->nr * MEMBERS, sizeof(*b->run));
	if (!at || !b->place || !b->stream || !b->scatter || !b->run)
		return -ENOMEM;
	for (i = 0; i < b->nr; i++)
		at[i] = ddio_rand_below(&seed, disk_bytes / b->length) * b->length;
	qsort(at, b->nr, sizeof(*at), by_offset);
	for (i = 0; i < b->nr; i++) {
		b->stream[i].offset = at[i];
		b->stream[i].length = b->length;
		b->stream[i].disk = b->disk;
		b->place[i] = b->scatter[i] = b->stream[i];
		b->place[i].buffer = b->buffer;
		b->place[i].where = i * b->length % room;
		b->scatter[i].buffer = MEMBERS;
		b->scatter[i].where = i * MEMBERS;
		for (m = 0; m < MEMBERS; m++)
			b->run[i * MEMBERS + m] = (struct ddio_run){
				.memory = i * b->length / MEMBERS % (room / MEMBERS),
				.offset = m * PIECE,
				.length = PIECE,
				.member = m,
				.levels = 1,
				.level = { { b->length / PIECE / MEMBERS, PIECE * MEMBERS,
					     PIECE } },
			};
	}
	free(at);
	return 0;
}

static void *memory(size_t length)
{
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	memset(p, 1, length);
	return p;
}

static int prepare(struct delivery_bench *b, const char *path)
{
	struct ddio_disk_add disk;
	int ret, m;

	b->fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (b->fd < 0)
		return -errno;
	ret = ddio_kdev_open(&b->kdev, NULL);
	if (!ret)
		ret = ddio_kdev_disk_add(&b->kdev, b->fd, &disk);
	if (ret)
		return ret;
	b->disk = disk.out_disk;
	b->memory = memory(MEMORY);
	if (!b->memory)
		return -ENOMEM;
	ret = ddio_kdev_buffer_add(&b->kdev, b->memory, MEMORY, 0, &b->buffer);
	if (!ret)
		ret = ddio_kdev_ring_setup(&b->kdev, EVENTS, DDIO_DEPTH_MAX);
	if (ret)
		return ret;
	b->joint = ddio_kdev_joint_create(&b->kdev, MEMBERS);
	if (b->joint < 0)
		return b->joint;
	for (m = 0; m < MEMBERS; m++) {
		b->member[m] = memory(MEMORY / MEMBERS);
		if (!b->member[m])
			return -ENOMEM;
		ret = ddio_kdev_joint_join(b->joint, m, b->member[m], MEMORY / MEMBERS, 0);
		if (ret < 0)
			return ret;
	}
	return make_lists(b, disk.out_bytes);
}

static int measure(struct delivery_bench *b, struct way *way, uint32_t round)
{
	double begun, was_busy;
	int ret;

	b->copy = way->copy;
	b->calls = 0;
	was_busy = busy();
	begun = now();
	ret = way->run(b);
	way->rate[round] = b->nr / (now() - begun);
	way->cpu[round] = (busy() - was_busy) / b->nr;
	way->calls = (double)b->calls / b->nr;
	if (ret)
		fprintf(stderr, "%s: %s\n", way->name, strerror(-ret));
	return ret;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(const double *values, uint32_t n)
{
	double sorted[ROUNDS_MAX];

	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), by_value);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static void print(const struct delivery_bench *b, const char *path, uint32_t rounds)
{
	double ratio[ROUNDS_MAX];
	struct utsname os;
	uint32_t i, k;

	uname(&os);
	printf("# %s, %" PRIu64 " sorted random blocks of %u bytes, depth %u, %u rounds, %s\n",
	       path, b->nr, b->length, b->depth, rounds, os.release);
	printf("# %-12s %12s %12s %12s %12s %s\n", "way", "blocks/s", "us cpu/block", "MB/s",
	       "calls/block", "rate to the plain twin's");
	for (i = 0; i < NR_WAYS; i++) {
		double rate = median(ways[i].rate, rounds);

		for (k = 0; k < rounds; k++)
			ratio[k] = ways[i].rate[k] / ways[ways[i].twin].rate[k];
		printf("%-14s %12.0f %12.2f %12.0f %12.4f %.2f\n", ways[i].name, rate,
		       median(ways[i].cpu, rounds) * 1e6, rate * b->length / (1 << 20),
		       ways[i].calls, median(ratio, rounds));
	}
}

static uint32_t number(int argc, char **argv, int i, uint32_t otherwise)
{
	return argc > i ? strtoul(argv[i], NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
	struct delivery_bench b = { .kdev = { .fd = -1 } };
	uint32_t rounds, r, i;
	int ret;

	b.nr = number(argc, argv, 2, 100000);
	b.length = number(argc, argv, 3, 8192);
	b.depth = number(argc, argv, 4, DDIO_DEPTH_DEFAULT);
	rounds = number(argc, argv, 5, 5);
	if (argc < 2 || !b.nr || !b.length || b.length % 512 || b.depth > DDIO_DEPTH_MAX ||
	    b.length > MEMORY / DDIO_DEPTH_MAX || !rounds || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: %s DISK [BLOCKS [LENGTH [DEPTH [ROUNDS]]]]\n", argv[0]);
		return 2;
	}
	ret = prepare(&b, argv[1]);
	if (ret) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-ret));
		return 1;
	}
	for (r = 0; r < rounds; r++)
		for (i = 0; i < NR_WAYS; i++)
			if (measure(&b, &ways[i], r))
				return 1;
	print(&b, argv[1], rounds);
	return 0;
}
