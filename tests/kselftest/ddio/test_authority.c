// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may do what, at whose cost: disks that may no longer be written to, memory that counts for the
 * user, joints that others hold, deadlines in other time namespaces, disks whose sectors change.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <linux/types.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/world.h"

#define PAGE 4096UL
#define SMALL 4096U
#define BYTES (1U << 20)
#define NR 16U

static struct kt_dev *fast, *slow, *loop, *coarse;

static void kt_prepare(void)
{
	fast = kt_dev_null(&(struct kt_null){ .megabytes = 32 });
	slow = kt_dev_null(&(struct kt_null){
		.megabytes = 32, .more = "irqmode=2 completion_nsec=300000000 hw_queue_depth=1" });
	loop = kt_dev_loop(8);
	coarse = kt_dev_null(&(struct kt_null){ .megabytes = 32, .block_size = 4096 });
	if (!fast || !slow)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
}

FIXTURE(authority)
{
	struct kt_usage before;
	int ctx;
	__u32 fast;
	__u32 slow;
	__u32 buffer;
	unsigned char *memory;
	struct ddio_block block[NR];
};

FIXTURE_SETUP(authority)
{
	kt_usage(&self->before);
	self->memory = kt_memory(BYTES);
	self->ctx = kt_open();
	ASSERT_LE(0, self->ctx);
	ASSERT_EQ(0, kt_disk_open(self->ctx, fast->path, O_RDWR, &self->fast));
	ASSERT_EQ(0, kt_disk_open(self->ctx, slow->path, O_RDWR, &self->slow));
	ASSERT_EQ(0, kt_buffer_add(self->ctx, self->memory, BYTES, 0, &self->buffer));
}

FIXTURE_TEARDOWN(authority)
{
	close(self->ctx);
	EXPECT_EQ(true, kt_usage_settled(&self->before, 30));
}

static void list_fill(FIXTURE_DATA(authority) * self, __u32 disk, __u32 nr)
{
	__u32 i;

	for (i = 0; i < nr; i++)
		self->block[i] = (struct ddio_block){ .offset = 2 * i * SMALL,
						      .where = i * SMALL,
						      .length = SMALL,
						      .disk = disk,
						      .buffer = self->buffer };
}

static int move(FIXTURE_DATA(authority) * self, __u32 disk, __u32 op)
{
	struct ddio_submit s;
	int err;

	list_fill(self, disk, 1);
	kt_submit_init(&s, op, DDIO_PLACE, self->block, 1);
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
	err = kt_submit(self->ctx, &s);
	return err ? err : s.out_error;
}

/* Reads the first page of the disk to @where of the buffer. */
static int read_at(FIXTURE_DATA(authority) * self, __u32 disk, __u64 where)
{
	struct ddio_submit s;
	int err;

	list_fill(self, disk, 1);
	self->block[0].where = where;
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, self->block, 1);
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
	err = kt_submit(self->ctx, &s);
	return err ? err : s.out_error;
}

/* A swap area as mkswap makes it. */
static int make_swap(const struct kt_dev *dev)
{
	__u32 *page = calloc(1, PAGE);
	int fd = open(dev->path, O_RDWR), err;

	page[256] = 1;
	page[257] = dev->bytes / PAGE - 1;
	memcpy((char *)page + PAGE - 10, "SWAPSPACE2", 10);
	err = pwrite(fd, page, PAGE, 0) == (ssize_t)PAGE && !fsync(fd) ? 0 : -errno;
	close(fd);
	free(page);
	return err;
}

KT_TEST(authority, swap)
{
	struct ddio_disk_add add = { .size = sizeof(add) };
	int ctx = kt_open();

	ASSERT_EQ(0, make_swap(fast));
	EXPECT_EQ(0, move(self, self->fast, DDIO_READ));
	if (swapon(fast->path, 0))
		SKIP(return, "swapon: %s", strerror(errno));
	EXPECT_EQ(-EACCES, move(self, self->fast, DDIO_WRITE));
	EXPECT_EQ(0, move(self, self->fast, DDIO_READ));
	add.fd = open(fast->path, O_RDWR);
	EXPECT_EQ(0, kt_call(ctx, DDIO_DISK_ADD, &add));
	EXPECT_EQ(DDIO_ACCESS_READ, add.out_access);
	close(add.fd);
	close(ctx);
	EXPECT_EQ(0, swapoff(fast->path));
	EXPECT_EQ(0, move(self, self->fast, DDIO_WRITE));
}

static int set_read_only(const struct kt_dev *dev, int on)
{
	int fd = open(dev->path, O_RDONLY), err;

	err = ioctl(fd, BLKROSET, &on) ? -errno : 0;
	close(fd);
	return err;
}

/* A disk that becomes read-only gets no further block, whatever was submitted before. */
KT_TEST(authority, read_only_meanwhile)
{
	struct ddio_wait wait;
	struct ddio_submit s;
	__s32 status[NR];

	list_fill(self, self->slow, NR);
	kt_submit_init(&s, DDIO_WRITE, DDIO_PLACE, self->block, NR);
	s.flags = DDIO_SUBMIT_KEEP_GOING;
	s.depth = 1;
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	usleep(100000);
	ASSERT_EQ(0, set_read_only(slow, 1));
	EXPECT_EQ(0, kt_wait_status(self->ctx, s.out_collective, status, NR, &wait));
	EXPECT_EQ(-EACCES, wait.out_error);
	EXPECT_EQ(0, status[0]);
	EXPECT_EQ(-EACCES, status[NR - 1]);
	EXPECT_GT(NR, wait.out_blocks);
	EXPECT_EQ(-EACCES, move(self, self->slow, DDIO_WRITE));
	ASSERT_EQ(0, set_read_only(slow, 0));
	EXPECT_EQ(0, move(self, self->slow, DDIO_WRITE));
}

/* So does one that becomes swap space. */
KT_TEST(authority, swap_meanwhile)
{
	struct ddio_wait wait;
	struct ddio_submit s;
	__s32 status[NR];

	ASSERT_EQ(0, make_swap(slow));
	list_fill(self, self->slow, NR);
	kt_submit_init(&s, DDIO_WRITE, DDIO_PLACE, self->block, NR);
	s.flags = DDIO_SUBMIT_KEEP_GOING;
	s.depth = 1;
	/* The swap area's head is in the first block. */
	self->block[0].offset = (2 * NR + 2) * SMALL;
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	if (swapon(slow->path, 0)) {
		kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL);
		SKIP(return, "swapon: %s", strerror(errno));
	}
	EXPECT_EQ(0, kt_wait_status(self->ctx, s.out_collective, status, NR, &wait));
	EXPECT_EQ(-EACCES, wait.out_error);
	EXPECT_EQ(-EACCES, status[NR - 1]);
	EXPECT_GT(NR, wait.out_blocks);
	EXPECT_EQ(0, swapoff(slow->path));
	EXPECT_EQ(0, move(self, self->slow, DDIO_WRITE));
}

/* Returns how many bytes of events there are. */
static ssize_t events(int watch)
{
	char buf[4096];
	ssize_t n = read(watch, buf, sizeof(buf));

	return n < 0 && errno == EAGAIN ? 0 : n;
}

/* Who watches the device hears of reads and writes, and of transfers nothing. */
KT_TEST(authority, watched)
{
	int watch = inotify_init1(IN_NONBLOCK), fd = open(fast->path, O_RDWR);
	char byte;

	ASSERT_LE(0, inotify_add_watch(watch, fast->path, IN_ACCESS | IN_MODIFY));
	EXPECT_EQ(0, move(self, self->fast, DDIO_READ));
	EXPECT_EQ(0, move(self, self->fast, DDIO_WRITE));
	EXPECT_EQ(0, events(watch));
	EXPECT_EQ(1, pread(fd, &byte, 1, 0));
	EXPECT_LT(0, events(watch));
	close(fd);
	close(watch);
}

static int drop_to(__u64 pages)
{
	struct rlimit limit = { .rlim_cur = pages * PAGE, .rlim_max = pages * PAGE };

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		return -errno;
	return setresuid(65534, 65534, 65534) ? -errno : 0;
}

/* The limit is the user's: children have no other. */
KT_TEST(authority, limit_of_the_user)
{
	__u32 id, other;
	pid_t child;
	int status;

	ASSERT_EQ(0, kt_destroy(self->ctx, self->buffer));
	ASSERT_EQ(0, drop_to(64));
	ASSERT_EQ(0, kt_buffer_add(self->ctx, self->memory, 40 * PAGE, 0, &id));
	child = fork();
	if (!child)
		_exit(-kt_buffer_add(self->ctx, kt_memory(BYTES), 25 * PAGE, 0, &other));
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(ENOMEM, WEXITSTATUS(status));
	EXPECT_EQ(0, kt_destroy(self->ctx, id));
	child = fork();
	if (!child)
		_exit(-kt_buffer_add(self->ctx, kt_memory(BYTES), 25 * PAGE, 0, &other));
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

#define LONG_LIST 100000U
#define SORTED_LIST 5000U

/* Lists, statuses, bounce buffers, rings and joints count as well. */
KT_TEST(authority, limit_of_the_modules_memory)
{
	struct ddio_block *block = calloc(LONG_LIST, sizeof(*block));
	int joint = kt_joint_create(self->ctx, 1), ctx = kt_open();
	struct ddio_ring *ring;
	struct ddio_submit s;
	size_t length;
	__u32 i;

	ASSERT_EQ(0, drop_to(64));
	for (i = 0; i < LONG_LIST; i++)
		block[i] = (struct ddio_block){ .length = SMALL,
						.disk = self->fast,
						.buffer = self->buffer };
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, block, LONG_LIST);
	EXPECT_EQ(-ENOMEM, kt_submit(self->ctx, &s));
	/* Sorting takes as much again. */
	for (i = 0; i < SORTED_LIST; i++)
		block[i].offset = i * 512;
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, block, SORTED_LIST);
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
	EXPECT_EQ(0, kt_submit(self->ctx, &s));
	block[0].offset = SMALL;
	EXPECT_EQ(-ENOMEM, kt_submit(self->ctx, &s));
	for (i = 0; i < 2; i++)
		block[i] = (struct ddio_block){ .length = BYTES, .disk = self->fast };
	kt_submit_init(&s, DDIO_READ, DDIO_SCATTER, block, 2);
	s.joint_fd = joint;
	EXPECT_EQ(-ENOMEM, kt_submit(self->ctx, &s));
	EXPECT_EQ(-ENOMEM, kt_ring_setup(ctx, 1U << 16, 0, &ring, &length));
	EXPECT_EQ(-ENOMEM, kt_joint_create(ctx, DDIO_MEMBERS_MAX));
	/* What is refused leaves nothing behind: a list that fits still does. */
	for (i = 0; i < 1000; i++) {
		list_fill(self, self->fast, NR);
		kt_submit_init(&s, DDIO_READ, DDIO_PLACE, self->block, NR);
		s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
		ASSERT_EQ(0, kt_submit(self->ctx, &s));
	}
	close(joint);
	close(ctx);
	free(block);
}

/* Moves a block by @ctx over the joint. */
static int move_over(int ctx, __u32 disk, int joint, __u32 op)
{
	struct ddio_block block = { .length = SMALL, .disk = disk, .buffer = 1 };
	struct ddio_run run = { .length = SMALL };
	struct ddio_submit s;
	int err;

	kt_submit_init(&s, op, DDIO_SCATTER, &block, 1);
	s.runs = kt_ptr(&run);
	s.nr_runs = 1;
	s.joint_fd = joint;
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
	err = kt_submit(ctx, &s);
	return err ? err : s.out_error;
}

static void stranger(int joint, __u32 op)
{
	int ctx = kt_open(), err;
	__u32 disk;

	err = kt_disk_open(ctx, fast->path, O_RDWR, &disk);
	_exit(err ? 1 : -move_over(ctx, disk, joint, op));
}

/* A joint's descriptor lets other processes join, and no more. */
KT_TEST(authority, joint_of_another)
{
	int joint = kt_joint_create(self->ctx, 1), ctx = kt_open(), member, status;
	__u32 disk, op;
	pid_t child;

	member = kt_joint_join(joint, 0, self->memory, BYTES, 0);
	ASSERT_LE(0, member);
	ASSERT_EQ(0, kt_disk_open(ctx, fast->path, O_RDWR, &disk));
	for (op = DDIO_READ; op <= DDIO_WRITE; op++) {
		child = fork();
		if (!child)
			stranger(joint, op);
		EXPECT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(EACCES, WEXITSTATUS(status));
		EXPECT_EQ(0, move_over(self->ctx, self->fast, joint, op));
		/* Another context of the same process. */
		EXPECT_EQ(0, move_over(ctx, disk, joint, op));
	}
	close(member);
	close(joint);
	close(ctx);
}

/* In a time namespace whose clock is @offset seconds off: waits @wait seconds for a slow block. */
static int wait_elsewhere(FIXTURE_DATA(authority) * self, int offset, __u64 wait)
{
	struct ddio_submit s;
	char text[32];
	pid_t child;
	int status, err;

	snprintf(text, sizeof(text), "monotonic %d 0", offset);
	if (unshare(CLONE_NEWTIME) || kt_write(text, "/proc/self/timens_offsets"))
		return -EOPNOTSUPP;
	child = fork();
	if (!child) {
		alarm(30);
		list_fill(self, self->slow, 1);
		kt_submit_init(&s, DDIO_READ, DDIO_PLACE, self->block, 1);
		if (!wait)
			s.flags = DDIO_SUBMIT_WAIT;
		s.deadline = kt_now() + 20 * KT_SECOND;
		err = kt_submit(self->ctx, &s);
		if (!err && !wait)
			err = s.out_state == DDIO_ENDED ? 0 : -EBUSY;
		if (!err && wait)
			err = kt_wait(self->ctx, s.out_collective, kt_now() + wait, NULL);
		_exit(-err);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

KT_TEST(authority, time_namespace)
{
	int back = (int)(kt_now() / KT_SECOND / 2), err;

	err = wait_elsewhere(self, -back, 0);
	if (err == -EOPNOTSUPP)
		SKIP(return, "no time namespaces");
	EXPECT_EQ(0, err);
}

KT_TEST(authority, time_namespace_behind)
{
	int back = (int)(kt_now() / KT_SECOND / 2), err;

	err = wait_elsewhere(self, -back, 20 * KT_SECOND);
	if (err == -EOPNOTSUPP)
		SKIP(return, "no time namespaces");
	EXPECT_EQ(0, err);
}

KT_TEST(authority, time_namespace_ahead)
{
	int err = wait_elsewhere(self, 100000, 1);

	if (err == -EOPNOTSUPP)
		SKIP(return, "no time namespaces");
	EXPECT_EQ(-ETIMEDOUT, err);
}

/* A disk's sectors are those that it has when the list is submitted. */
KT_TEST(authority, sectors_that_grow)
{
	struct ddio_submit s;
	__u32 disk;
	int fd;

	if (!loop)
		SKIP(return, "no loop device");
	fd = open(loop->path, O_RDWR);
	ASSERT_EQ(0, kt_disk_open(self->ctx, loop->path, O_RDWR, &disk));
	list_fill(self, disk, 1);
	self->block[0].length = 512;
	self->block[0].offset = 512;
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, self->block, 1);
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
	EXPECT_EQ(0, kt_submit(self->ctx, &s));
	EXPECT_EQ(0, s.out_error);
	if (ioctl(fd, LOOP_SET_BLOCK_SIZE, 4096UL))
		SKIP(return, "this loop device keeps its sectors");
	EXPECT_EQ(-EINVAL, kt_submit(self->ctx, &s));
	EXPECT_EQ(0, s.out_block);
	EXPECT_EQ(0, ioctl(fd, LOOP_SET_BLOCK_SIZE, 512UL));
	EXPECT_EQ(0, kt_submit(self->ctx, &s));
	EXPECT_EQ(0, s.out_error);
	close(fd);
}

/* A table by which a map asks for memory that is aligned to the sectors of @under: its writes are logged, of which there are none. */
static void aligned_as(char *table, size_t size, const struct kt_dev *under,
		       const struct kt_dev *log)
{
	char data[32], other[32];

	kt_dev_numbers(under, data, sizeof(data));
	kt_dev_numbers(log, other, sizeof(other));
	snprintf(table, size, "%s %s", data, other);
}

/* Zones want their blocks in order: such a disk is read, and not written. */
KT_TEST(authority, zoned)
{
	struct kt_dev *zoned =
		kt_dev_null(&(struct kt_null){ .megabytes = 32, .more = "zoned=1 zone_size=4" });
	struct ddio_disk_add arg = { .size = sizeof(arg) };

	if (!zoned)
		SKIP(return, "no zoned null_blk disk: %s", strerror(errno));
	arg.fd = open(zoned->path, O_RDWR);
	ASSERT_EQ(0, kt_call(self->ctx, DDIO_DISK_ADD, &arg));
	EXPECT_EQ(DDIO_ACCESS_READ, arg.out_access);
	EXPECT_EQ(0, move(self, arg.out_disk, DDIO_READ));
	EXPECT_EQ(-EACCES, move(self, arg.out_disk, DDIO_WRITE));
	close(arg.fd);
	EXPECT_EQ(0, kt_destroy(self->ctx, arg.out_disk));
	kt_dev_free(zoned);
}

/* So is what the disk demands of memory: of a block that suits its sectors before and after. */
KT_TEST(authority, alignment_that_grows)
{
	const __u64 sectors = fast->bytes / 512;
	struct kt_dev *map;
	char table[80];
	__u32 disk;

	if (!coarse)
		SKIP(return, "no null_blk disk with such sectors");
	aligned_as(table, sizeof(table), fast, slow);
	map = kt_dev_dm(sectors, "log-writes", table);
	if (!map)
		SKIP(return, "no log-writes of the device mapper: %s", strerror(errno));
	ASSERT_EQ(0, kt_disk_open(self->ctx, map->path, O_RDWR, &disk));
	EXPECT_EQ(0, read_at(self, disk, 512));
	EXPECT_EQ(0, read_at(self, disk, PAGE));
	aligned_as(table, sizeof(table), coarse, slow);
	ASSERT_EQ(0, kt_dm_reload(map, sectors, "log-writes", table));
	EXPECT_EQ(-EINVAL, read_at(self, disk, 512));
	EXPECT_EQ(0, read_at(self, disk, PAGE));
	aligned_as(table, sizeof(table), fast, slow);
	ASSERT_EQ(0, kt_dm_reload(map, sectors, "log-writes", table));
	EXPECT_EQ(0, read_at(self, disk, 512));
	/* A context that is still open would keep it. */
	close(self->ctx);
	self->ctx = kt_open();
	kt_dev_free(map);
}

/* What a file system, or the page cache of a disk, writes back cannot be given away for writing. */
KT_TEST(authority, mapped_file)
{
	int fd = open(fast->path, O_RDWR);
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	__u32 id;

	ASSERT_NE(MAP_FAILED, p);
	*(volatile char *)p = 1;
	EXPECT_EQ(-EFAULT, kt_buffer_add(self->ctx, p, BYTES, 0, &id));
	EXPECT_EQ(0, kt_buffer_add(self->ctx, p, BYTES, DDIO_BUFFER_READONLY, &id));
	EXPECT_EQ(0, kt_destroy(self->ctx, id));
	munmap(p, BYTES);
	close(fd);
}

static __u64 io_of(const char *key)
{
	return kt_keyed("/proc/self/io", key);
}

KT_TEST(authority, counted_as_the_callers)
{
	__u64 read = io_of("read_bytes"), written = io_of("write_bytes");
	struct ddio_submit s;
	__u32 op;

	if (read == ~0ULL)
		SKIP(return, "no /proc/self/io");
	for (op = DDIO_READ; op <= DDIO_WRITE; op++) {
		list_fill(self, self->fast, NR);
		kt_submit_init(&s, op, DDIO_PLACE, self->block, NR);
		ASSERT_EQ(0, kt_submit(self->ctx, &s));
		EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	}
	EXPECT_EQ(read + NR * SMALL, io_of("read_bytes"));
	EXPECT_EQ(written + NR * SMALL, io_of("write_bytes"));
}

/* Moves a block of each of the two disks, the slow one's last. */
static int move_both(FIXTURE_DATA(authority) * self, __u32 op)
{
	struct ddio_submit s;
	int err;

	list_fill(self, self->fast, 2);
	self->block[1].disk = self->slow;
	kt_submit_init(&s, op, DDIO_PLACE, self->block, 2);
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
	err = kt_submit(self->ctx, &s);
	return err ? err : s.out_error;
}

/* A security module is asked about each disk, and what it refuses is refused as a whole. */
KT_TEST(authority, security_module)
{
	static const unsigned int mask[] = {
		[DDIO_READ] = KT_MAY_READ, [DDIO_WRITE] = KT_MAY_WRITE
	};
	__u32 op;
	int fd;

	for (op = DDIO_READ; op <= DDIO_WRITE; op++) {
		fd = kt_lsm_refuse(slow, mask[op]);
		if (fd < 0)
			SKIP(return, "no security modules in BPF here: %s", strerror(-fd));
		EXPECT_EQ(0, move(self, self->fast, op));
		EXPECT_EQ(-EPERM, move(self, self->slow, op));
		EXPECT_EQ(-EPERM, move_both(self, op));
		EXPECT_EQ(0, move_both(self, DDIO_READ + DDIO_WRITE - op));
		close(fd);
		EXPECT_EQ(0, move_both(self, op));
	}
}

#define FIRMWARE "ddio_kselftest"
#define FIRMWARE_DIR "/lib/firmware/"
#define FIRMWARE_TEST "/sys/devices/virtual/misc/test_firmware/"

/* A thread of the kernel has no memory that could own a context; one that loads firmware opens any path. */
KT_TEST(authority, thread_of_the_kernel)
{
	struct kt_usage before;

	if (kt_modprobe("test_firmware", ""))
		SKIP(return, "no module test_firmware");
	kt_usage(&before);
	mkdir(FIRMWARE_DIR, 0755);
	unlink(FIRMWARE_DIR FIRMWARE);
	ASSERT_EQ(0, symlink("/dev/ddio", FIRMWARE_DIR FIRMWARE));
	/* Whatever goes wrong there is said as ENOMEM. */
	EXPECT_EQ(-ENOMEM, kt_write(FIRMWARE, FIRMWARE_TEST "trigger_async_request"));
	EXPECT_EQ(true, kt_usage_settled(&before, 30));
	unlink(FIRMWARE_DIR FIRMWARE);
	kt_modprobe("-r test_firmware", "");
}
