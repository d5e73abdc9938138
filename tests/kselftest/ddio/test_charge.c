// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who pays: the control groups and the I/O priority of the process that asks, not those of the
 * thread that does the work; and what the capability to lock memory is for.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <linux/types.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/world.h"

#define PAGE 4096UL
#define SMALL 4096U
#define NR 32U
#define BYTES (1U << 20)
#define GROUPS "/tmp/kt_charge"
#define ADDS GROUPS "/adds"
#define SUBMITS GROUPS "/submits"
/* What the kernel may not have added up yet, on a machine of few processors. */
#define VAGUE (1U << 20)

static struct kt_dev *fast, *dead;

static void kt_prepare(void)
{
	fast = kt_dev_null(&(struct kt_null){ .megabytes = 32 });
	if (!fast)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
	dead = kt_dev_hp97560(NULL);
}

FIXTURE(charge)
{
	struct kt_usage before;
	int ctx;
	__u32 disk;
	__u32 buffer;
	unsigned char *memory;
	struct ddio_block block[NR];
	bool groups;
};

/* Two control groups, one for a process that adds a disk, one for what it then is. */
static bool groups_make(void)
{
	mkdir(GROUPS, 0755);
	if (mount("none", GROUPS, "cgroup2", 0, NULL))
		return false;
	if (kt_write("+io +memory", GROUPS "/cgroup.subtree_control")) {
		umount(GROUPS);
		return false;
	}
	mkdir(ADDS, 0755);
	mkdir(SUBMITS, 0755);
	return true;
}

static bool group_remove(const char *path)
{
	int i;

	/* Threads of disks have gone when the contexts are closed, or a little later. */
	for (i = 0; i < 1000 && rmdir(path); i++)
		usleep(10000);
	return i < 1000;
}

FIXTURE_SETUP(charge)
{
	__u32 i;

	kt_usage(&self->before);
	self->groups = groups_make();
	self->memory = kt_memory(BYTES);
	self->ctx = kt_open();
	ASSERT_LE(0, self->ctx);
	ASSERT_EQ(0, kt_buffer_add(self->ctx, self->memory, BYTES, 0, &self->buffer));
	for (i = 0; i < NR; i++)
		self->block[i] = (struct ddio_block){ .offset = 2 * i * SMALL,
						      .where = i * SMALL,
						      .length = SMALL,
						      .buffer = self->buffer };
}

FIXTURE_TEARDOWN(charge)
{
	close(self->ctx);
	if (self->groups) {
		kt_write("0", GROUPS "/cgroup.procs");
		EXPECT_EQ(true, group_remove(ADDS));
		EXPECT_EQ(true, group_remove(SUBMITS));
		umount(GROUPS);
	}
	rmdir(GROUPS);
	EXPECT_EQ(true, kt_usage_settled(&self->before, 30));
}

static int join(const char *group)
{
	return kt_write("0", "%s/cgroup.procs", group);
}

static void use_disk(FIXTURE_DATA(charge) * self)
{
	__u32 i;

	for (i = 0; i < NR; i++)
		self->block[i].disk = self->disk;
}

/* Moves the list by the disk's thread, since nobody waits in the call. */
static int move(FIXTURE_DATA(charge) * self, __u32 op)
{
	struct ddio_submit s;
	int err;

	kt_submit_init(&s, op, DDIO_PLACE, self->block, NR);
	err = kt_submit(self->ctx, &s);
	return err ? err : kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL);
}

/* Returns what a group's io.stat says of a disk: "rbytes=" or "wbytes="; 0 if it says nothing. */
static __u64 io_of(const char *group, const struct kt_dev *dev, const char *key)
{
	char path[96], number[32], line[512], *at;
	__u64 value = 0;
	FILE *f;

	kt_dev_numbers(dev, number, sizeof(number));
	snprintf(path, sizeof(path), "%s/io.stat", group);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, number, strlen(number)) || line[strlen(number)] != ' ')
			continue;
		at = strstr(line, key);
		value = at ? strtoull(at + strlen(key), NULL, 10) : 0;
	}
	if (f)
		fclose(f);
	return value;
}

/* The control group, below cgroup2, of the thread that looks after a disk. */
static bool group_of_thread(const struct kt_dev *dev, char *group, size_t size)
{
	DIR *proc = opendir("/proc");
	char comm[64], name[32];
	struct dirent *entry;
	bool found = false;

	/* A kernel may cut the names of threads. */
	snprintf(name, sizeof(name), "ddio/%.10s", strrchr(dev->path, '/') + 1);
	while (!found && (entry = readdir(proc)))
		found = !kt_read(comm, sizeof(comm), "/proc/%s/comm", entry->d_name) &&
			!strncmp(comm, name, strlen(name)) &&
			!kt_read(group, size, "/proc/%s/cgroup", entry->d_name);
	closedir(proc);
	return found;
}

/*
 * Transfers count for the group that the submitter is in; the thread stays where the first list for
 * its disk was submitted, and before there is none.
 */
KT_TEST(charge, io_of_the_submitter)
{
	const __u64 bytes = NR * SMALL;
	char group[128] = "";

	if (!self->groups)
		SKIP(return, "no cgroup2 with io and memory here: %s", strerror(errno));
	ASSERT_EQ(0, join(ADDS));
	ASSERT_EQ(0, kt_disk_open(self->ctx, fast->path, O_RDWR, &self->disk));
	use_disk(self);
	EXPECT_EQ(false, group_of_thread(fast, group, sizeof(group)));
	ASSERT_EQ(0, join(SUBMITS));
	ASSERT_EQ(0, move(self, DDIO_READ));
	ASSERT_EQ(0, move(self, DDIO_WRITE));
	EXPECT_EQ(bytes, io_of(SUBMITS, fast, "rbytes="));
	EXPECT_EQ(bytes, io_of(SUBMITS, fast, "wbytes="));
	EXPECT_EQ(0, io_of(ADDS, fast, "rbytes="));
	EXPECT_EQ(0, io_of(ADDS, fast, "wbytes="));
	EXPECT_EQ(true, group_of_thread(fast, group, sizeof(group)));
	EXPECT_EQ(0, strcmp("0::/submits", group));
	ASSERT_EQ(0, join(ADDS));
	ASSERT_EQ(0, move(self, DDIO_READ));
	EXPECT_EQ(bytes, io_of(ADDS, fast, "rbytes="));
	EXPECT_EQ(true, group_of_thread(fast, group, sizeof(group)));
	EXPECT_EQ(0, strcmp("0::/submits", group));
}

#define STAYS GROUPS "/stays"
#define GOES STAYS "/goes"

/* A child in a group of its own moves blocks in each way, and ends; the context lives on. */
static int move_in_a_group(FIXTURE_DATA(charge) * self)
{
	struct ddio_submit s;
	int err, i;

	if (join(GOES))
		return 1;
	for (i = 0; i < 10; i++) {
		if (move(self, DDIO_READ) || move(self, DDIO_WRITE))
			return 2;
		kt_submit_init(&s, DDIO_WRITE, DDIO_PLACE, self->block, NR);
		s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET | DDIO_SUBMIT_FLUSH;
		err = kt_submit(self->ctx, &s);
		if (err || s.out_error)
			return 3;
	}
	return 0;
}

static __u64 dying(void)
{
	return kt_keyed(STAYS "/cgroup.stat", "nr_dying_descendants");
}

/* Nothing of a transfer that is over keeps the control group that it counted for. */
KT_TEST(charge, groups_go)
{
	__u64 end = kt_now() + 30 * KT_SECOND;
	pid_t child;
	int status;

	if (!self->groups)
		SKIP(return, "no cgroup2 with io and memory here");
	/* Without memory's: pages of a group keep that one for long. */
	ASSERT_EQ(true, group_remove(ADDS) && group_remove(SUBMITS));
	ASSERT_EQ(0, kt_write("-memory", GROUPS "/cgroup.subtree_control"));
	ASSERT_EQ(0, mkdir(STAYS, 0755));
	ASSERT_EQ(0, kt_write("+io", STAYS "/cgroup.subtree_control"));
	ASSERT_EQ(0, mkdir(GOES, 0755));
	ASSERT_EQ(0, kt_disk_open(self->ctx, fast->path, O_RDWR, &self->disk));
	use_disk(self);
	/* Hires the disk's thread, which stays. */
	ASSERT_EQ(0, move(self, DDIO_READ));
	ASSERT_EQ(0, dying());
	child = fork();
	if (!child)
		_exit(move_in_a_group(self));
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(true, group_remove(GOES));
	while (dying() && kt_now() < end)
		usleep(20000);
	EXPECT_EQ(0, dying());
	EXPECT_EQ(true, group_remove(STAYS));
	mkdir(ADDS, 0755);
	mkdir(SUBMITS, 0755);
}

static __u64 memory_of(const char *group)
{
	char text[32];

	return kt_read(text, sizeof(text), "%s/memory.current", group) ? 0
								       : strtoull(text, NULL, 10);
}

#define LONG_LIST 200000U
#define RING_EVENTS (1U << 17)

/* A list that runs without end on the dead disk: its entries and statuses stay. */
static int long_list(FIXTURE_DATA(charge) * self, __u32 *id)
{
	struct ddio_block *block = calloc(LONG_LIST, sizeof(*block));
	struct ddio_submit s;
	int err;
	__u32 i;

	for (i = 0; i < LONG_LIST; i++)
		block[i] = (struct ddio_block){ .length = 512,
						.offset = (i % 1024) * 512,
						.disk = self->disk,
						.buffer = self->buffer };
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, block, LONG_LIST);
	err = kt_submit(self->ctx, &s);
	*id = s.out_collective;
	free(block);
	return err;
}

/* Blocks of a megabyte, @depth of which have a buffer of the module. */
static int bounced(FIXTURE_DATA(charge) * self, int joint, __u32 depth, __u32 *id)
{
	struct ddio_block block[16];
	struct ddio_submit s;
	int err;
	__u32 i;

	for (i = 0; i < depth; i++)
		block[i] = (struct ddio_block){ .length = BYTES,
						.offset = (__u64)i * BYTES,
						.disk = self->disk };
	kt_submit_init(&s, DDIO_READ, DDIO_SCATTER, block, depth);
	s.joint_fd = joint;
	s.depth = depth;
	err = kt_submit(self->ctx, &s);
	*id = s.out_collective;
	return err;
}

/* What the module takes for a process counts in the memory of its control group, and goes again. */
KT_TEST(charge, memory_of_the_group)
{
	struct ddio_ring_setup ring = { .size = sizeof(ring), .events = RING_EVENTS };
	__u64 first, ringed, listed, buffered;
	__u32 list, bounce;
	int joint;

	if (!self->groups || !dead)
		SKIP(return, "no cgroup2 with io and memory, or no hp97560 disk here");
	ASSERT_EQ(0, join(SUBMITS));
	ASSERT_EQ(0, kt_disk_open(self->ctx, dead->path, O_RDWR, &self->disk));
	joint = kt_joint_create(self->ctx, 1);
	ASSERT_LE(0, joint);
	ASSERT_EQ(0, kt_write("1", "/sys/kernel/config/hp97560/%s/stall", dead->name));
	first = memory_of(SUBMITS);
	ASSERT_EQ(0, kt_call(self->ctx, DDIO_RING_SETUP, &ring));
	ringed = memory_of(SUBMITS);
	EXPECT_LE(first + ring.out_length, ringed + VAGUE);
	ASSERT_EQ(0, long_list(self, &list));
	listed = memory_of(SUBMITS);
	EXPECT_LE(ringed + LONG_LIST * sizeof(struct ddio_block), listed + VAGUE);
	ASSERT_EQ(0, bounced(self, joint, 8, &bounce));
	buffered = memory_of(SUBMITS);
	EXPECT_LE(listed + 8 * BYTES, buffered + VAGUE);
	kt_cancel(self->ctx, list);
	kt_cancel(self->ctx, bounce);
	ASSERT_EQ(0, kt_write("0", "/sys/kernel/config/hp97560/%s/stall", dead->name));
	close(joint);
	close(self->ctx);
	EXPECT_EQ(true, kt_usage_settled(&self->before, 30));
	EXPECT_LE(memory_of(SUBMITS), first + VAGUE);
	self->ctx = kt_open();
}

/* In a group whose limit is reached: every call whose memory the process chooses fails. */
static int at_the_limit(FIXTURE_DATA(charge) * self)
{
	struct ddio_ring_setup ring = { .size = sizeof(ring), .events = DDIO_RING_MAX };
	int joint = kt_joint_create(self->ctx, 1);
	__u64 end = kt_now() + 30 * KT_SECOND;
	__u32 id;
	int err;

	if (kt_call(self->ctx, DDIO_RING_SETUP, &ring) != -ENOMEM)
		return 1;
	if (bounced(self, joint, 16, &id) != -ENOMEM)
		return 2;
	/* What fits still does, once the kernel has freed what did not: a thread of its own may do that. */
	while ((err = move(self, DDIO_READ)) == -ENOMEM && kt_now() < end)
		usleep(20000);
	return err ? 3 : 0;
}

/* A limit of the group makes calls fail; nobody is killed for what the module would take. */
KT_TEST(charge, limit_of_the_group)
{
	pid_t child;
	int status;

	if (!self->groups)
		SKIP(return, "no cgroup2 with io and memory here");
	ASSERT_EQ(0, kt_disk_open(self->ctx, fast->path, O_RDWR, &self->disk));
	use_disk(self);
	child = fork();
	if (!child) {
		memset(self->memory, 1, BYTES);
		if (join(SUBMITS) || kt_write("12M", SUBMITS "/memory.max"))
			_exit(4);
		_exit(at_the_limit(self));
	}
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, kt_keyed(SUBMITS "/memory.events", "oom_kill"));
	EXPECT_LT(0, kt_keyed(SUBMITS "/memory.events", "max"));
}

#define TRACING "/sys/kernel/tracing/"
#define PAGES TRACING "events/kmem/mm_page_alloc/"
/* 2 MB of entries: more than a page of any size that is always there, less than what the allocator never has. */
#define GREAT_LIST 50000U

/* Traces the allocations of this process that are greater than those at which the kernel tries hard, and are no faults. */
static int trace_begin(void)
{
	char filter[64];
	int err;

	snprintf(filter, sizeof(filter), "order > 3 && common_pid == %d", getpid());
	err = kt_empty(TRACING "trace");
	if (!err)
		err = kt_write(filter, PAGES "filter");
	return err ? err : kt_write("1", PAGES "enable");
}

/*
 * Counts those that would press others for the sake of contiguous memory; *@easy: those that would
 * not.
 */
static unsigned int trace_end(unsigned int *easy)
{
	FILE *f = fopen(TRACING "trace", "re");
	unsigned int hard = 0;
	char line[512];

	kt_write("0", PAGES "enable");
	kt_write("0", PAGES "filter");
	*easy = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "mm_page_alloc:"))
			continue;
		if (strstr(line, "__GFP_NORETRY") ||
		    !(strstr(line, "GFP_KERNEL") || strstr(line, "__GFP_RECLAIM") ||
		      strstr(line, "__GFP_DIRECT_RECLAIM")))
			++*easy;
		else if (!hard++)
			printf("# %s", line);
	}
	if (f)
		fclose(f);
	return hard;
}

/* Long lists take contiguous memory only where it lies ready, and otherwise pages. */
KT_TEST(charge, long_lists_press_nobody)
{
	struct ddio_block *block = calloc(GREAT_LIST, sizeof(*block));
	unsigned int easy, hard;
	struct ddio_submit s;
	__u32 i;

	if (access(PAGES "enable", W_OK))
		SKIP(return, "no " PAGES);
	ASSERT_EQ(0, kt_disk_open(self->ctx, fast->path, O_RDWR, &self->disk));
	for (i = 0; i < GREAT_LIST; i++)
		block[i] = (struct ddio_block){ .length = 512,
						.offset = (i * 7 % GREAT_LIST) * 512,
						.disk = self->disk,
						.buffer = self->buffer };
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, block, GREAT_LIST);
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
	ASSERT_EQ(0, trace_begin());
	EXPECT_EQ(0, kt_submit(self->ctx, &s));
	EXPECT_EQ(0, s.out_error);
	hard = trace_end(&easy);
	EXPECT_EQ(0, hard);
	/* Or nothing was tried. */
	EXPECT_LT(0, easy);
	free(block);
}

static int ioprio_set(int class, int level)
{
	return syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(class, level));
}

/* Waits until the scheduler has handed the dead disk @nr transfers of class @class, 0 to 2, and no others. */
static bool owned(int class, int nr)
{
	char text[64];
	int n[3], i;

	for (i = 0; i < 500; i++) {
		if (kt_read(text, sizeof(text), "/sys/kernel/debug/block/%s/sched/owned_by_driver",
			    strrchr(dead->path, '/') + 1) ||
		    sscanf(text, "%d %d %d", &n[0], &n[1], &n[2]) != 3)
			return false;
		if (n[class] == nr && n[0] + n[1] + n[2] == nr)
			return true;
		usleep(20000);
	}
	printf("# the disk has %s; of class %d it should have %d\n", text, class, nr);
	return false;
}

static bool has_deadline_scheduler(void)
{
	char text[64];
	const char *name = strrchr(dead->path, '/') + 1;

	kt_modprobe("mq-deadline", "");
	return !kt_write("mq-deadline", "/sys/block/%s/queue/scheduler", name) &&
	       !kt_read(text, sizeof(text), "/sys/kernel/debug/block/%s/sched/owned_by_driver",
			name);
}

/* The disk is told the submitter's class, whoever makes the transfers, and whatever the class is later. */
KT_TEST(charge, ioprio)
{
	static const struct {
		int class;
		int index;
	} class[] = { { IOPRIO_CLASS_RT, 0 }, { IOPRIO_CLASS_BE, 1 }, { IOPRIO_CLASS_IDLE, 2 } };
	struct ddio_submit s;
	size_t i;

	if (!dead || !has_deadline_scheduler())
		SKIP(return, "no hp97560 disk, or its scheduler does not tell of classes");
	ASSERT_EQ(0, kt_disk_open(self->ctx, dead->path, O_RDWR, &self->disk));
	use_disk(self);
	for (i = 0; i < KT_ARRAY_SIZE(class); i++) {
		ASSERT_EQ(0, kt_write("1", "/sys/kernel/config/hp97560/%s/stall", dead->name));
		kt_submit_init(&s, DDIO_READ, DDIO_PLACE, self->block, NR);
		s.depth = 5;
		ASSERT_EQ(0, ioprio_set(class[i].class, 0));
		ASSERT_EQ(0, kt_submit(self->ctx, &s));
		ASSERT_EQ(0, ioprio_set(IOPRIO_CLASS_NONE, 0));
		EXPECT_EQ(true, owned(class[i].index, 5));
		EXPECT_EQ(0, kt_cancel(self->ctx, s.out_collective));
		ASSERT_EQ(0, kt_write("0", "/sys/kernel/config/hp97560/%s/stall", dead->name));
		EXPECT_EQ(-ECANCELED, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	}
	kt_write("none", "/sys/block/%s/queue/scheduler", strrchr(dead->path, '/') + 1);
}

static int drop_capability(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return -errno;
	data[0].effective &= ~(1U << CAP_IPC_LOCK);
	data[0].permitted &= ~(1U << CAP_IPC_LOCK);
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

static int flush(int ctx, __u32 disk)
{
	struct ddio_block block = { .disk = disk };
	struct ddio_submit s;

	kt_submit_init(&s, DDIO_FLUSH, DDIO_PLACE, &block, 1);
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
	s.deadline = DDIO_FOREVER;
	return kt_submit(ctx, &s);
}

/* Returns the lowest limit, in pages, with which a disk can be flushed. */
static __u64 pages_to_flush(int ctx, __u32 disk)
{
	struct rlimit limit = { .rlim_max = 256 * PAGE };
	__u64 n;

	for (n = 1; n <= 256; n++) {
		limit.rlim_cur = n * PAGE;
		if (setrlimit(RLIMIT_MEMLOCK, &limit) || !flush(ctx, disk))
			break;
	}
	return n;
}

/* With CAP_IPC_LOCK there is no limit; without it a disk's thread, too, counts. */
KT_TEST(charge, capability)
{
	struct rlimit limit = { .rlim_cur = PAGE, .rlim_max = PAGE };
	int fd = open(fast->path, O_RDWR), ctx = kt_open();
	__u32 id, disk, new_disk;

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	EXPECT_EQ(0, kt_buffer_add(self->ctx, self->memory, 2 * PAGE, 0, &id));
	EXPECT_EQ(0, kt_disk_add(self->ctx, fd, &disk));
	EXPECT_EQ(0, flush(self->ctx, disk));
	ASSERT_EQ(0, drop_capability());
	EXPECT_EQ(-ENOMEM, kt_buffer_add(ctx, self->memory, 2 * PAGE, 0, &id));
	EXPECT_EQ(0, kt_disk_add(ctx, fd, &new_disk));
	EXPECT_EQ(-ENOMEM, flush(ctx, new_disk));
	/* What was taken with it counts for nobody: the limit still has room for its one page. */
	EXPECT_EQ(0, kt_buffer_add(ctx, self->memory, PAGE, 0, &id));
	EXPECT_EQ(0, kt_destroy(ctx, id));
	/* A stack has four pages or more. */
	EXPECT_LE(pages_to_flush(self->ctx, disk) + 4, pages_to_flush(ctx, new_disk));
	close(ctx);
	close(fd);
}
