// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one process may do to others: by long copies, by disks that do not answer, by many
 * collectives.  Copies here would take minutes; nobody waits for them.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/types.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/world.h"

#define BLOCK (1U << 20)
#define SMALL 4096U
/* Copies of BLOCK bytes each. */
#define LONG_RUNS 65536U
#define STATS "/sys/kernel/debug/ddio/stats"

static struct kt_dev *fast, *slow, *dead;

static void kt_prepare(void)
{
	fast = kt_dev_null(&(struct kt_null){ .megabytes = 32 });
	slow = kt_dev_null(&(struct kt_null){ .megabytes = 32,
					      .more = "irqmode=2 completion_nsec=900000000" });
	if (!fast || !slow)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
	dead = kt_dev_hp97560(NULL);
}

/**
 * struct limits_shared - what a case and its children see
 * @begun: a child has done what it had to do first
 */
struct limits_shared {
	int begun;
};

FIXTURE(limits)
{
	struct kt_usage before;
	struct limits_shared *shared;
	int ctx;
	__u32 fast;
	__u32 slow;
	int joint;
	unsigned char *memory;
	struct ddio_run *run;
};

FIXTURE_SETUP(limits)
{
	kt_usage(&self->before);
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->shared);
	self->memory = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->memory);
	memset(self->memory, 1, BLOCK);
	self->run = calloc(LONG_RUNS, sizeof(*self->run));
	self->ctx = kt_open();
	ASSERT_LE(0, self->ctx);
	ASSERT_EQ(0, kt_disk_open(self->ctx, fast->path, O_RDWR, &self->fast));
	ASSERT_EQ(0, kt_disk_open(self->ctx, slow->path, O_RDWR, &self->slow));
	self->joint = kt_joint_create(self->ctx, 2);
	ASSERT_LE(0, self->joint);
}

FIXTURE_TEARDOWN(limits)
{
	close(self->joint);
	close(self->ctx);
	EXPECT_EQ(true, kt_usage_settled(&self->before, 60));
}

static bool reached(int *counter)
{
	__u64 end = kt_now() + 60 * KT_SECOND;

	while (!__atomic_load_n(counter, __ATOMIC_SEQ_CST)) {
		if (kt_now() > end)
			return false;
		usleep(1000);
	}
	return true;
}

static void reach(int *counter)
{
	__atomic_store_n(counter, 1, __ATOMIC_SEQ_CST);
}

/* One block, which a member gets @runs times, one over the other. */
static void long_copy(FIXTURE_DATA(limits) * self, struct ddio_submit *s, struct ddio_block *block,
		      __u32 op, __u32 runs)
{
	__u32 i;

	for (i = 0; i < runs; i++)
		self->run[i] = (struct ddio_run){ .length = BLOCK };
	*block = (struct ddio_block){ .length = BLOCK, .disk = self->fast, .buffer = runs };
	kt_submit_init(s, op, DDIO_SCATTER, block, 1);
	s->runs = kt_ptr(self->run);
	s->nr_runs = runs;
	s->joint_fd = self->joint;
}

/* Waits until bytes of the disk, which are zero, are being copied to the memory. */
static bool copying(FIXTURE_DATA(limits) * self)
{
	__u64 end = kt_now() + 60 * KT_SECOND;

	while (*(volatile unsigned char *)self->memory) {
		if (kt_now() > end)
			return false;
		usleep(1000);
	}
	return true;
}

/* One small block of the slow disk for member 1. */
static int slow_read(FIXTURE_DATA(limits) * self, __u32 *id)
{
	struct ddio_block block = { .length = SMALL, .disk = self->slow, .buffer = 1 };
	struct ddio_run run = { .length = SMALL, .member = 1 };
	struct ddio_submit s;
	int err;

	kt_submit_init(&s, DDIO_READ, DDIO_SCATTER, &block, 1);
	s.runs = kt_ptr(&run);
	s.nr_runs = 1;
	s.joint_fd = self->joint;
	err = kt_submit(self->ctx, &s);
	*id = s.out_collective;
	return err;
}

static pid_t member(FIXTURE_DATA(limits) * self)
{
	pid_t child = fork();

	if (child)
		return child;
	close(self->ctx);
	if (kt_joint_join(self->joint, 1, self->memory, SMALL, 0) >= 0)
		reach(&self->shared->begun);
	for (;;)
		pause();
}

/* A member that is killed does not wait for copies that are none of its business. */
KT_TEST(limits, leaving_during_a_copy)
{
	int fd = kt_joint_join(self->joint, 0, self->memory, BLOCK, 0);
	struct ddio_block block;
	struct ddio_submit s;
	__u32 id;
	pid_t child = member(self);

	ASSERT_LE(0, fd);
	ASSERT_EQ(true, reached(&self->shared->begun));
	long_copy(self, &s, &block, DDIO_READ, LONG_RUNS);
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	ASSERT_EQ(true, copying(self));
	ASSERT_EQ(0, slow_read(self, &id));
	kill(child, SIGKILL);
	EXPECT_EQ(child, waitpid(child, NULL, 0));
	/* The copy goes on. */
	EXPECT_EQ(-ETIMEDOUT, kt_wait(self->ctx, s.out_collective, 0, NULL));
	EXPECT_EQ(-EOWNERDEAD, kt_wait(self->ctx, id, DDIO_FOREVER, NULL));
	EXPECT_EQ(0, kt_cancel(self->ctx, s.out_collective));
	EXPECT_EQ(-ECANCELED, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	close(fd);
}

/*
 * Nor for a copy of its own bytes, which ends in the middle: the last run, which is for memory of its
 * own, is never begun, neither while the member leaves nor later.
 */
KT_TEST(limits, leaving_during_its_copy)
{
	unsigned char *memory =
		mmap(NULL, 2 * BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	__u64 before = kt_keyed(STATS, "scattered_bytes");
	struct ddio_block block;
	struct ddio_submit s;
	int fd;

	ASSERT_NE(MAP_FAILED, (void *)memory);
	memset(memory, 1, 2 * BLOCK);
	self->memory = memory;
	fd = kt_joint_join(self->joint, 0, memory, 2 * BLOCK, 0);
	ASSERT_LE(0, fd);
	long_copy(self, &s, &block, DDIO_READ, LONG_RUNS);
	self->run[LONG_RUNS - 1].memory = BLOCK;
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	ASSERT_EQ(true, copying(self));
	close(fd);
	EXPECT_EQ(1, memory[BLOCK]);
	EXPECT_EQ(0, memcmp(memory + BLOCK, memory + BLOCK + 1, BLOCK - 1));
	memset(memory, 0xa5, 2 * BLOCK);
	EXPECT_EQ(-EOWNERDEAD, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	EXPECT_EQ(before, kt_keyed(STATS, "scattered_bytes"));
	EXPECT_EQ(0xa5, memory[0]);
	EXPECT_EQ(0, memcmp(memory, memory + 1, 2 * BLOCK - 1));
}

/* A deadline ends the call, and the collective goes on without it; and so does a signal. */
KT_TEST(limits, deadline_during_a_copy)
{
	int fd = kt_joint_join(self->joint, 0, self->memory, BLOCK, 0), op;
	struct ddio_block block;
	struct ddio_submit s;

	ASSERT_LE(0, fd);
	for (op = DDIO_READ; op <= DDIO_WRITE; op++) {
		long_copy(self, &s, &block, op, LONG_RUNS);
		s.flags = DDIO_SUBMIT_WAIT;
		s.deadline = kt_now() + KT_SECOND;
		ASSERT_EQ(0, kt_submit(self->ctx, &s));
		EXPECT_EQ(DDIO_RUNNING, s.out_state);
		EXPECT_EQ(-ETIMEDOUT, kt_wait(self->ctx, s.out_collective, 0, NULL));
		EXPECT_EQ(0, kt_cancel(self->ctx, s.out_collective));
		EXPECT_EQ(-ECANCELED, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	}
	close(fd);
}

/* The only process of a context is killed while it waits: the block is never whole. */
KT_TEST(limits, killed_during_a_copy)
{
	__u64 before = kt_keyed(STATS, "scattered_bytes");
	struct ddio_block block;
	struct ddio_submit s;
	struct kt_usage usage;
	pid_t child;

	kt_usage(&usage);
	child = fork();
	if (!child) {
		close(self->ctx);
		self->ctx = kt_open();
		if (kt_disk_open(self->ctx, fast->path, O_RDWR, &self->fast))
			_exit(1);
		self->joint = kt_joint_create(self->ctx, 1);
		kt_joint_join(self->joint, 0, self->memory, BLOCK, 0);
		long_copy(self, &s, &block, DDIO_READ, LONG_RUNS);
		s.flags = DDIO_SUBMIT_WAIT;
		kt_submit(self->ctx, &s);
		_exit(0);
	}
	ASSERT_EQ(true, copying(self));
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));
	kill(child, SIGKILL);
	EXPECT_EQ(child, waitpid(child, NULL, 0));
	EXPECT_EQ(true, kt_usage_settled(&usage, 60));
	EXPECT_EQ(before, kt_keyed(STATS, "scattered_bytes"));
}

/* A kernel may cut the names of threads. */
#define COMM 15

/* Finds what /proc says of the thread that looks after a disk, from its state on. */
static bool stat_of_thread(const struct kt_dev *dev, char *text, size_t size)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;
	char name[96], *at;

	snprintf(name, sizeof(name), "(ddio/%s)", strrchr(dev->path, '/') + 1);
	while (!found && (entry = readdir(proc))) {
		if (kt_read(text, size, "/proc/%s/stat", entry->d_name))
			continue;
		at = strchr(text, '(');
		found = at && (!strncmp(at, name, strlen(name)) ||
			       (at[COMM + 1] == ')' && !strncmp(at, name, COMM + 1)));
	}
	closedir(proc);
	if (found)
		memmove(text, strrchr(text, ')') + 2, strlen(strrchr(text, ')') + 2) + 1);
	return found;
}

/* The nice value of the thread that looks after a disk, or -100. */
static int nice_of_thread(const struct kt_dev *dev)
{
	char text[256];
	long nice;

	if (!stat_of_thread(dev, text, sizeof(text)) ||
	    sscanf(text,
		   "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
		   "%*d %ld",
		   &nice) != 1)
		return -100;
	return nice;
}

/* The kernel's, of a thread that runs on while the machine is suspended. */
#define PF_NOFREEZE 0x8000U

/* A machine that sleeps has no disk written behind its back. */
KT_TEST(limits, frozen_with_the_machine)
{
	unsigned int flags = PF_NOFREEZE;
	struct ddio_block block;
	struct ddio_submit s;
	char text[256];
	int i;

	long_copy(self, &s, &block, DDIO_READ, 0);
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	ASSERT_EQ(0, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	/* It says so when it first runs. */
	for (i = 0; i < 1000 && flags & PF_NOFREEZE; i++, usleep(10000)) {
		ASSERT_EQ(true, stat_of_thread(fast, text, sizeof(text)));
		ASSERT_EQ(1, sscanf(text, "%*c %*d %*d %*d %*d %*d %u", &flags));
	}
	EXPECT_EQ(0, flags & PF_NOFREEZE);
}

#define GROUP "/tmp/kt_cgroup"

/* In a control group of its own and nice: reads without waiting for it in the call. */
static int nice_copy(FIXTURE_DATA(limits) * self)
{
	struct ddio_block block;
	struct ddio_submit s;
	int err, fd;

	if (kt_write("0", GROUP "/limits/cgroup.procs") || nice(19) != 19)
		return 1;
	close(self->ctx);
	self->ctx = kt_open();
	self->joint = kt_joint_create(self->ctx, 1);
	fd = kt_joint_join(self->joint, 0, self->memory, BLOCK, 0);
	if (fd < 0 || kt_disk_open(self->ctx, fast->path, O_RDWR, &self->fast))
		return 2;
	long_copy(self, &s, &block, DDIO_READ, 1024);
	err = kt_submit(self->ctx, &s);
	if (err)
		return 3;
	if (nice_of_thread(fast) != 19)
		return 4;
	return kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL) ? 5 : 0;
}

/* The copying counts for the control group of the process that asked for it, at its nice value. */
KT_TEST(limits, charged)
{
	struct rusage own;
	__u64 group, self_us;
	pid_t child;
	int status;

	mkdir(GROUP, 0755);
	if (mount("none", GROUP, "cgroup2", 0, NULL))
		SKIP(return, "no cgroup2 here: %s", strerror(errno));
	mkdir(GROUP "/limits", 0755);
	close(self->ctx);
	self->ctx = open("/dev/null", O_RDONLY);
	child = fork();
	if (!child)
		_exit(nice_copy(self));
	EXPECT_EQ(child, wait4(child, &status, 0, &own));
	EXPECT_EQ(0, status);
	group = kt_keyed(GROUP "/limits/cpu.stat", "usage_usec");
	self_us = (own.ru_utime.tv_sec + own.ru_stime.tv_sec) * 1000000ULL + own.ru_utime.tv_usec +
		  own.ru_stime.tv_usec;
	TH_LOG("%llu us for the group, %llu us of these for the process", (unsigned long long)group,
	       (unsigned long long)self_us);
	EXPECT_LT(2 * self_us, group);
	for (status = 0; status < 500 && rmdir(GROUP "/limits"); status++)
		usleep(10000);
	EXPECT_GT(500, status);
	umount(GROUP);
	rmdir(GROUP);
}

/* The disk takes 64, and a work queue of the kernel runs at most 512. */
#define MANY 700

/* Many collectives on a disk that does not answer are nobody else's business. */
KT_TEST(limits, dead_disk)
{
	unsigned char *memory = kt_memory(SMALL);
	struct ddio_block block = { .length = SMALL };
	__u32 id[MANY], disk, buffer, i;
	struct ddio_submit s;
	int ctx = kt_open();

	if (!dead)
		SKIP(return, "no hp97560 disk");
	ASSERT_EQ(0, kt_disk_open(ctx, dead->path, O_RDWR, &block.disk));
	ASSERT_EQ(0, kt_disk_open(ctx, fast->path, O_RDWR, &disk));
	ASSERT_EQ(0, kt_buffer_add(ctx, memory, SMALL, 0, &block.buffer));
	ASSERT_EQ(0, kt_buffer_add(self->ctx, memory, SMALL, 0, &buffer));
	ASSERT_EQ(0, kt_write("1", "/sys/kernel/config/hp97560/%s/stall", dead->name));
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, &block, 1);
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(0, kt_submit(ctx, &s));
		id[i] = s.out_collective;
	}
	usleep(300000);
	/* Another context, and another disk of this one. */
	block = (struct ddio_block){ .length = SMALL, .disk = self->fast, .buffer = buffer };
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, kt_now() + 20 * KT_SECOND, NULL));
	ASSERT_EQ(0, kt_buffer_add(ctx, memory, SMALL, 0, &block.buffer));
	block.disk = disk;
	ASSERT_EQ(0, kt_submit(ctx, &s));
	EXPECT_EQ(0, kt_wait(ctx, s.out_collective, kt_now() + 20 * KT_SECOND, NULL));
	for (i = 0; i < MANY; i++)
		kt_cancel(ctx, id[i]);
	ASSERT_EQ(0, kt_write("0", "/sys/kernel/config/hp97560/%s/stall", dead->name));
	for (i = 0; i < MANY; i++) {
		int err = kt_wait(ctx, id[i], DDIO_FOREVER, NULL);

		ASSERT_TRUE(!err || err == -ECANCELED);
	}
	close(ctx);
}

/* Ends the stall of the dead disk after a minute, or a case would never end where the call waits. */
static pid_t rescuer(void)
{
	pid_t child = fork();

	if (child)
		return child;
	sleep(60);
	kt_write("0", "/sys/kernel/config/hp97560/%s/stall", dead->name);
	_exit(0);
}

/* Reads from the dead disk, whose page cache has a page to be written, or, if @under_way, being written. */
static void read_beside_a_page(struct __test_metadata *_metadata, FIXTURE_DATA(limits) * self,
			       bool under_way)
{
	struct ddio_block block = { .length = SMALL };
	int ctx = kt_open(), fd;
	struct ddio_submit s;
	pid_t child;

	fd = open(dead->path, O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_disk_open(ctx, dead->path, O_RDWR, &block.disk));
	ASSERT_EQ(0, kt_buffer_add(ctx, kt_memory(SMALL), SMALL, 0, &block.buffer));
	ASSERT_EQ(0, kt_write("1", "/sys/kernel/config/hp97560/%s/stall", dead->name));
	child = rescuer();
	ASSERT_EQ(SMALL, pwrite(fd, self->memory, SMALL, 0));
	if (under_way)
		ASSERT_EQ(0, sync_file_range(fd, 0, SMALL, SYNC_FILE_RANGE_WRITE));
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, &block, 1);
	s.flags = DDIO_SUBMIT_WAIT;
	s.deadline = 1;
	ASSERT_EQ(0, kt_submit(ctx, &s));
	EXPECT_EQ(DDIO_RUNNING, s.out_state);
	kill(child, SIGKILL);
	EXPECT_EQ(child, waitpid(child, NULL, 0));
	ASSERT_EQ(0, kt_write("0", "/sys/kernel/config/hp97560/%s/stall", dead->name));
	EXPECT_EQ(0, kt_wait(ctx, s.out_collective, DDIO_FOREVER, NULL));
	close(fd);
	close(ctx);
}

/* What others have left in the page cache of a disk that does not answer holds up no caller. */
KT_TEST(limits, page_cache_of_others)
{
	if (!dead)
		SKIP(return, "no hp97560 disk");
	read_beside_a_page(_metadata, self, false);
}

KT_TEST(limits, page_cache_being_written)
{
	if (!dead)
		SKIP(return, "no hp97560 disk");
	read_beside_a_page(_metadata, self, true);
}

static char state_of(pid_t pid)
{
	char text[256], *end;

	if (kt_read(text, sizeof(text), "/proc/%d/stat", pid))
		return '?';
	end = strrchr(text, ')');
	return end ? end[2] : '?';
}

/* Looks for twenty times in a row who waits for the disk: 'c' the caller, 't' the thread, '?' neither. */
static char who_waits(pid_t caller)
{
	char text[256], who, last = '?';
	int same = 0, i;

	for (i = 0; i < 3000 && same < 20; i++) {
		if (state_of(caller) == 'D')
			who = 'c';
		else if (stat_of_thread(dead, text, sizeof(text)) && *text == 'D')
			who = 't';
		else
			who = '?';
		same = who == last && who != '?' ? same + 1 : 0;
		last = who;
		usleep(10000);
	}
	return same == 20 ? last : '?';
}

/*
 * While the caller gathers the bytes of collective @id, which takes it minutes: puts a page into the
 * page cache, cancels, and tells who writes that page out.
 */
static char dirty_and_cancel(int ctx, __u32 id, const void *page)
{
	pid_t caller = getppid();
	int fd = open(dead->path, O_RDWR);
	char who = '?';

	while (kt_wait(ctx, id, 0, NULL) != -ETIMEDOUT)
		usleep(1000);
	/* A collective that only begins would find the page, and be the thread's from the start. */
	usleep(500000);
	if (pwrite(fd, page, SMALL, 0) == SMALL && !kt_cancel(ctx, id))
		who = who_waits(caller);
	kt_write("0", "/sys/kernel/config/hp97560/%s/stall", dead->name);
	return who;
}

/* What others leave there while the caller is at work is written out by the disk's thread. */
KT_TEST(limits, page_cache_at_the_end)
{
	int fd = kt_joint_join(self->joint, 0, self->memory, BLOCK, 0), status;
	struct ddio_block block;
	struct ddio_submit s;
	__u32 disk;
	pid_t child;

	if (!dead)
		SKIP(return, "no hp97560 disk");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_disk_open(self->ctx, dead->path, O_RDWR, &disk));
	ASSERT_EQ(0, kt_write("1", "/sys/kernel/config/hp97560/%s/stall", dead->name));
	long_copy(self, &s, &block, DDIO_WRITE, LONG_RUNS);
	block.disk = disk;
	s.flags = DDIO_SUBMIT_WAIT;
	child = fork();
	if (!child)
		_exit(dirty_and_cancel(self->ctx, disk + 1, self->memory));
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	EXPECT_EQ(disk + 1, s.out_collective);
	EXPECT_EQ(-ECANCELED, s.out_error);
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ('t', WEXITSTATUS(status));
	close(fd);
}

/* A quarter of their bytes is what a round may copy: to clear one takes a round. */
#define CLEARED (4U << 20)
#define GATHERED 12U

/*
 * Once the first block has failed, no buffer is cleared for the others, which are not gathered any
 * more: the rounds of the disk's thread tell.
 */
KT_TEST(limits, stopped_before_it_gathers)
{
	struct ddio_run run[2 * GATHERED];
	struct ddio_block block[GATHERED];
	int ctx = kt_open(), joint, fd;
	__u64 works = kt_keyed(STATS, "works");
	struct kt_dev *bad;
	struct ddio_submit s;
	__u32 disk, i;

	bad = kt_dev_null(&(struct kt_null){ .megabytes = CLEARED * GATHERED >> 20,
					     .more = "irqmode=0 badblocks=+0-7" });
	if (!bad)
		SKIP(return, "no null_blk disk with bad sectors");
	ASSERT_EQ(0, kt_disk_open(ctx, bad->path, O_RDWR, &disk));
	joint = kt_joint_create(ctx, 1);
	fd = kt_joint_join(joint, 0, self->memory, SMALL, 0);
	ASSERT_LE(0, fd);
	for (i = 0; i < GATHERED; i++) {
		block[i] = (struct ddio_block){ .offset = (__u64)i * CLEARED,
						.length = i ? CLEARED : SMALL,
						.disk = disk,
						.where = 2 * i,
						.buffer = 2 };
		run[2 * i] = (struct ddio_run){ .length = 512 };
		run[2 * i + 1] = (struct ddio_run){ .offset = 1024, .length = 512 };
	}
	kt_submit_init(&s, DDIO_WRITE, DDIO_SCATTER, block, GATHERED);
	s.runs = kt_ptr(run);
	s.nr_runs = 2 * GATHERED;
	s.joint_fd = joint;
	s.depth = GATHERED;
	ASSERT_EQ(0, kt_submit(ctx, &s));
	EXPECT_EQ(-EIO, kt_wait(ctx, s.out_collective, DDIO_FOREVER, NULL));
	EXPECT_GE(works + 4, kt_keyed(STATS, "works"));
	close(fd);
	close(joint);
	close(ctx);
	kt_dev_free(bad);
}
