// SPDX-License-Identifier: GPL-2.0-only
/* needs: tests/kselftest/ddio/random_calls.c */
/*
 * Random calls on shared contexts, by several processes of several threads each.
 * Half of the structs are well-formed, with ids, descriptors and memory that exist or
 * existed a moment ago; in the others some members are changed.  Between the calls,
 * contexts are closed, rings scribbled on, memory moved, children forked and killed.
 *
 *   fuzz_ioctl [CALLS [SEED]]     or DDIO_CALLS (6000) and DDIO_SEED
 *
 * Checked: a call that fails gives an errno of the interface's table and leaves its struct
 * alone; a disk and memory that may not be written to are unchanged; nothing is left behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ddio/random_calls.h"
#include "lib/world.h"

#define PROCESSES 3
#define THREADS 2
#define LOCKED (24U << 20)
#define DISK_MB 4
#define DISK_BYTES (DISK_MB << 20)

static struct process self = { .joint = { -1, -1, -1, -1 },
			       .member = { -1, -1, -1, -1, -1, -1, -1, -1 } };

/*
 * What goes on beside the calls
 */
static void reopen(struct call_worker *w)
{
	struct context *ctx = some_ctx(w);
	int fd = kt_open();

	if (fd < 0)
		return;
	drop_ring(ctx);
	close(__atomic_exchange_n(&ctx->fd, fd, __ATOMIC_RELAXED));
	memset(ctx->id, 0, sizeof(ctx->id));
	first_calls(w, ctx);
}

static void scribble(struct call_worker *w)
{
	struct context *ctx = some_ctx(w);
	uint32_t *ring = (uint32_t *)ctx->ring;
	uint64_t length = ctx->ring_length, i;

	for (i = 0; ring && i < 16; i++)
		ring[BELOW(length / 4 < 1024 ? length / 4 : 1024)] = kt_random(&w->rng);
}

/* Unmaps memory under pins, and maps other memory there. */
static void move(struct call_worker *w)
{
	unsigned char *p = w->process->arena + BELOW(ARENA / 4096 - 16) * 4096;

	switch (BELOW(3)) {
	case 0:
		mmap(p, 4096 * (1 + BELOW(16)), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	case 1:
		madvise(p, 4096 * (1 + BELOW(16)), MADV_DONTNEED);
		break;
	default:
		kt_fill(&w->rng, p, 4096);
	}
}

/* A child with all the descriptors: it waits for something without end, and is killed. */
static void child(struct call_worker *w)
{
	struct context *ctx = some_ctx(w);
	uint32_t id = some_id(w, ctx, COLL);
	pid_t pid = fork();

	if (!pid) {
		kt_wait(ctx->fd, id, DDIO_FOREVER, NULL);
		_exit(0);
	}
	if (pid < 0)
		return;
	usleep(BELOW(5000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void look(struct call_worker *w)
{
	struct pollfd p[2] = { { .fd = some_ctx(w)->fd, .events = POLLIN },
			       { .fd = w->process->member[BELOW(FDS)], .events = POLLIN } };

	poll(p, 2, BELOW(3));
}

static void disturb(struct call_worker *w)
{
	switch (BELOW(8)) {
	case 0:
		if (ONE_IN(8))
			reopen(w);
		break;
	case 1:
	case 2:
		scribble(w);
		break;
	case 3:
	case 4:
		move(w);
		break;
	case 5:
		if (ONE_IN(4))
			child(w);
		break;
	default:
		look(w);
	}
}

static void *work(void *arg)
{
	struct call_worker *w = arg;
	int i;

	for (i = 0; i < CONTEXTS; i++)
		first_calls(w, &w->process->ctx[i]);
	while (w->calls--) {
		some_call(w);
		if (ONE_IN(8))
			disturb(w);
	}
	return NULL;
}

/* Drops the privilege that would make the memory-lock limit meaningless. */
static void restrain(void)
{
	struct rlimit lock = { LOCKED, LOCKED }, files = { 1024, 1024 };
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	setrlimit(RLIMIT_MEMLOCK, &lock);
	setrlimit(RLIMIT_NOFILE, &files);
	if (syscall(SYS_capget, &head, data))
		exit(1);
	data[0].effective &= ~(1U << CAP_IPC_LOCK);
	data[0].permitted &= ~(1U << CAP_IPC_LOCK);
	if (syscall(SYS_capset, &head, data))
		exit(1);
}

/* Returns how many bytes a process may pin, of those that the limit allows; less if the user has some already. */
static uint64_t most_pinned(void)
{
	uint64_t low = 0, high = LOCKED + 4096, middle;
	void *memory = kt_memory(LOCKED);
	int fd = kt_open();
	uint32_t id;

	while (high - low > 4096) {
		middle = low + (high - low) / 8192 * 4096;
		if (kt_buffer_add(fd, memory, middle, 0, &id)) {
			high = middle;
			continue;
		}
		kt_destroy(fd, id);
		low = middle;
	}
	close(fd);
	munmap(memory, LOCKED);
	return low;
}

/* The same, of a process without the privilege. */
static uint64_t most_pinned_by_child(uint64_t *shared)
{
	pid_t pid = fork();

	if (!pid) {
		restrain();
		*shared = most_pinned();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return *shared;
}

static bool all_equal(const unsigned char *p, size_t length, unsigned char value)
{
	return *p == value && !memcmp(p, p + 1, length - 1);
}

/* Runs a process; it exits with 2 if memory has changed that must not. */
static int process_run(struct call_tally *tally, uint64_t seed, uint64_t calls)
{
	static struct call_worker w[THREADS];
	pthread_t thread[THREADS];
	int i;

	restrain();
	/* Half of the contexts are those of all processes. */
	for (i = CONTEXTS / 2; i < CONTEXTS; i++)
		self.ctx[i].fd = kt_open();
	self.arena = kt_memory(ARENA);
	self.guard = kt_memory(GUARD);
	memset(self.guard, 0x5c, GUARD);
	for (i = 0; i < THREADS; i++) {
		w[i].process = &self;
		w[i].tally = tally;
		w[i].rng.state = seed * THREADS + i;
		w[i].calls = calls / THREADS + 1;
		if (pthread_create(&thread[i], NULL, work, &w[i]))
			return 1;
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return all_equal(self.guard, GUARD, 0x5c) ? 0 : 2;
}

static int failed, number;

static void result(bool ok, const char *what)
{
	printf("%sok %d %s\n", ok ? "" : "not ", ++number, what);
	failed += !ok;
}

/* Return: how many processes ended in another way than they should. */
static int run(struct call_tally *tally, uint64_t seed, uint64_t calls)
{
	pid_t pid[PROCESSES];
	int i, status, bad = 0;

	for (i = 0; i < CONTEXTS / 2; i++)
		self.ctx[i].fd = kt_open();
	for (i = 0; i < PROCESSES; i++) {
		fflush(stdout);
		pid[i] = fork();
		if (!pid[i]) {
			status = process_run(tally, seed * PROCESSES + i, calls / PROCESSES);
			fflush(stdout);
			_exit(status);
		}
	}
	for (i = 0; i < PROCESSES; i++) {
		waitpid(pid[i], &status, 0);
		if (status)
			printf("# process %d: status %#x\n", i, status);
		bad += !!status;
	}
	for (i = 0; i < CONTEXTS / 2; i++)
		close(self.ctx[i].fd);
	return bad;
}

static void tally_print(const struct call_tally *tally)
{
	static const char *const name[] = { "info",    "disk_add",     "buffer_add", "ring_setup",
					    "destroy", "submit",       "wait",	     "cancel",
					    "kick",    "joint_create", "joint_join", "joint_wait" };
	int e;

	printf("# of these went well:");
	for (e = 0; e < 12; e++)
		printf(" %s %llu", name[e], (unsigned long long)tally->well[e]);
	printf("\n# %llu calls:", (unsigned long long)tally->calls);
	for (e = 0; e < 256; e++)
		if (tally->errnos[e])
			printf(" %s %llu", e ? strerrorname_np(e) : "well",
			       (unsigned long long)tally->errnos[e]);
	printf("\n");
}

/* The disk that is only read: full of one byte; or whether it still is. */
static bool read_only_disk(bool check)
{
	unsigned char *p = kt_memory(DISK_BYTES);
	int fd = open(self.disk[DISKS - 1]->path, O_RDWR | O_DIRECT | O_CLOEXEC);
	bool ok;

	memset(p, 0xa6, DISK_BYTES);
	if (check)
		ok = pread(fd, p, DISK_BYTES, 0) == DISK_BYTES && all_equal(p, DISK_BYTES, 0xa6);
	else
		ok = pwrite(fd, p, DISK_BYTES, 0) == DISK_BYTES;
	close(fd);
	munmap(p, DISK_BYTES);
	return ok;
}

static void disks_make(void)
{
	struct kt_null null = { .megabytes = DISK_MB };

	self.disk[0] = kt_dev_null(&null);
	self.disk[1] = kt_dev_hp97560("size=8192 time_scale=1000");
	self.disk[DISKS - 1] = kt_dev_null(&null);
	null.more = "irqmode=2 completion_nsec=1000000";
	self.disk[2] = kt_dev_null(&null);
	if (!self.disk[0] || !self.disk[DISKS - 1] || !read_only_disk(false))
		kt_skip_all("no null_blk disk: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	uint64_t calls, seed, pinned, *shared;
	struct kt_usage before;
	struct call_tally *tally;
	int bad;

	setvbuf(stdout, NULL, _IOLBF, 0);
	kt_begin();
	calls = argc > 1 ? strtoull(argv[1], NULL, 0) : kt_env("DDIO_CALLS", 6000);
	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : kt_seed();
	disks_make();
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	pinned = most_pinned_by_child(shared);
	kt_usage(&before);
	printf("TAP version 13\n1..7\n# %llu calls, seed %llu, %d processes of %d threads\n",
	       (unsigned long long)calls, (unsigned long long)seed, PROCESSES, THREADS);
	bad = run(tally, seed, calls);
	tally_print(tally);
	result(!bad, "the processes live, and memory given for reading only is as it was");
	result(!tally->strange, "every errno is one of the interface");
	result(!tally->changed, "a call that fails leaves its struct alone");
	result(tally->well[5] > tally->calls / 100, "some of the submissions do something");
	result(read_only_disk(true), "the disk opened for reading only is as it was");
	result(kt_usage_settled(&before, 30), "nothing is left behind");
	result(pinned && most_pinned_by_child(shared) == pinned,
	       "as much memory may be pinned as before");
	return failed ? 1 : 0;
}
