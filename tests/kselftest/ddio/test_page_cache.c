// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page cache of a disk: what others have written there is read and not lost, what has been
 * written past it is not hidden by it, and where that is impossible nothing is written.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/world.h"

#define PAGE 4096U
#define MOUNT "/tmp/kt_page_cache"
#define TRACING "/sys/kernel/tracing/"
#define DONE TRACING "events/ddio/ddio_block_done/enable"

/* Transfers of the second end in the call that submits them. */
static struct kt_dev *disk, *direct;

static void kt_prepare(void)
{
	disk = kt_dev_null(&(struct kt_null){ .megabytes = 32 });
	direct = kt_dev_null(&(struct kt_null){ .megabytes = 32, .more = "irqmode=0" });
	if (!disk || !direct)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
}

FIXTURE(cache)
{
	struct kt_usage before;
	int ctx;
	__u32 disk;
	__u32 buffer;
	unsigned char *memory;
};

FIXTURE_SETUP(cache)
{
	kt_usage(&self->before);
	self->memory = kt_memory(PAGE);
	self->ctx = kt_open();
	ASSERT_LE(0, self->ctx);
	ASSERT_EQ(0, kt_disk_open(self->ctx, disk->path, O_RDWR, &self->disk));
	ASSERT_EQ(0, kt_buffer_add(self->ctx, self->memory, PAGE, 0, &self->buffer));
}

FIXTURE_TEARDOWN(cache)
{
	close(self->ctx);
	EXPECT_EQ(true, kt_usage_settled(&self->before, 30));
}

/* Moves a page at @offset of the disk; @here: by the calling thread. */
static int move(FIXTURE_DATA(cache) * self, __u32 op, __u64 offset, bool here)
{
	struct ddio_block block = {
		.offset = offset, .length = PAGE, .disk = self->disk, .buffer = self->buffer
	};
	struct ddio_submit s;
	int err;

	kt_submit_init(&s, op, DDIO_PLACE, &block, 1);
	s.flags = here ? DDIO_SUBMIT_WAIT : 0;
	err = kt_submit(self->ctx, &s);
	if (!err)
		err = kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL);
	return err;
}

/* Reads a page of the disk past the page cache. */
static bool on_disk(const struct kt_dev *dev, unsigned char *page, __u64 offset)
{
	int fd = open(dev->path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	bool ok = pread(fd, page, PAGE, offset) == (ssize_t)PAGE;

	close(fd);
	return ok;
}

static bool is_all(const unsigned char *page, unsigned char byte)
{
	return *page == byte && !memcmp(page, page + 1, PAGE - 1);
}

/* Before blocks are moved, what the cache has is written out; what is written, it has no more. */
KT_TEST(cache, agrees)
{
	int fd = open(disk->path, O_RDWR | O_CLOEXEC), here;
	unsigned char page[PAGE];

	for (here = 0; here < 2; here++) {
		memset(page, 0x11 + here, PAGE);
		ASSERT_EQ((ssize_t)PAGE, pwrite(fd, page, PAGE, 0));
		ASSERT_EQ(0, move(self, DDIO_READ, 0, here));
		EXPECT_EQ(true, is_all(self->memory, 0x11 + here));
		memset(self->memory, 0x21 + here, PAGE);
		ASSERT_EQ(0, move(self, DDIO_WRITE, 0, here));
		ASSERT_EQ((ssize_t)PAGE, pread(fd, page, PAGE, 0));
		EXPECT_EQ(true, is_all(page, 0x21 + here));
		/* A page that is not clean does not come after what was written. */
		memset(page, 0x31, PAGE);
		ASSERT_EQ((ssize_t)PAGE, pwrite(fd, page, PAGE, 0));
		memset(self->memory, 0x41 + here, PAGE);
		ASSERT_EQ(0, move(self, DDIO_WRITE, 0, here));
		ASSERT_EQ(0, fsync(fd));
		ASSERT_EQ(true, on_disk(disk, self->memory, 0));
		EXPECT_EQ(true, is_all(self->memory, 0x41 + here));
	}
	close(fd);
}

/* A file system on the disk holds the page of its superblock: that page is not written. */
KT_TEST(cache, held_by_a_file_system)
{
	const __u64 end = disk->bytes - PAGE;
	unsigned char *super = kt_memory(PAGE);
	char command[160];
	int here;

	snprintf(command, sizeof(command),
		 "mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0 %s 8000k >/dev/null 2>&1",
		 disk->path);
	if (system(command))
		SKIP(return, "no mkfs.ext4 here");
	mkdir(MOUNT, 0755);
	if (mount(disk->path, MOUNT, "ext4", 0, NULL))
		SKIP(return, "no ext4 here: %s", strerror(errno));
	sync();
	for (here = 0; here < 2; here++) {
		ASSERT_EQ(true, on_disk(disk, super, 0));
		memset(self->memory, 0xee, PAGE);
		EXPECT_EQ(-EBUSY, move(self, DDIO_WRITE, 0, here));
		/* Nothing of it has been written. */
		ASSERT_EQ(true, on_disk(disk, self->memory, 0));
		EXPECT_EQ(0, memcmp(super, self->memory, PAGE));
		/* It can be read, and what the file system does not hold can be written. */
		EXPECT_EQ(0, move(self, DDIO_READ, 0, here));
		EXPECT_EQ(0, memcmp(super, self->memory, PAGE));
		memset(self->memory, 0x77 + here, PAGE);
		EXPECT_EQ(0, move(self, DDIO_WRITE, end, here));
		ASSERT_EQ(true, on_disk(disk, self->memory, end));
		EXPECT_EQ(true, is_all(self->memory, 0x77 + here));
	}
	EXPECT_EQ(0, umount(MOUNT));
	rmdir(MOUNT);
	memset(self->memory, 0xee, PAGE);
	EXPECT_EQ(0, move(self, DDIO_WRITE, 0, 1));
	munmap(super, PAGE);
}

/* Returns how many blocks have ended, as tracepoints tell, in @own thread or in others. */
static int ended(bool own)
{
	FILE *f = fopen(TRACING "trace", "re");
	char line[512], pid[24];
	int n = 0;

	snprintf(pid, sizeof(pid), "-%d ", getpid());
	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, "ddio_block_done:") && !!strstr(line, pid) == own;
	if (f)
		fclose(f);
	return n;
}

/* Writes a page at each place, and waits in the call; traced. */
static int write_both(FIXTURE_DATA(cache) * self, __u64 first, __u64 second)
{
	struct ddio_block block[2] = {
		{ .offset = first, .length = PAGE, .disk = self->disk, .buffer = self->buffer },
		{ .offset = second, .length = PAGE, .disk = self->disk, .buffer = self->buffer },
	};
	struct ddio_submit s;
	int err;

	kt_submit_init(&s, DDIO_WRITE, DDIO_PLACE, block, 2);
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
	err = kt_empty(TRACING "trace");
	if (!err)
		err = kt_write("1", DONE);
	if (err)
		return err;
	err = kt_submit(self->ctx, &s);
	kt_write("0", DONE);
	return err ? err : s.out_error;
}

/*
 * Where a file system holds pages between the blocks, the cache is gone through block by block; that
 * may be long, so that the disk's thread does it, and the caller can be killed meanwhile.
 */
KT_TEST(cache, by_the_thread)
{
	/* Room for more descriptors of groups, which is not in use; its journal's head, in use, comes behind. */
	const __u64 unused = 2 * PAGE, end = direct->bytes - PAGE;
	char command[160];

	if (access(DONE, W_OK))
		SKIP(return, "no " DONE);
	snprintf(
		command, sizeof(command),
		"mkfs.ext4 -q -F -b 4096 -O resize_inode -E lazy_itable_init=0 %s 16000k >/dev/null 2>&1",
		direct->path);
	if (system(command))
		SKIP(return, "no mkfs.ext4 here");
	mkdir(MOUNT, 0755);
	ASSERT_EQ(0, kt_disk_open(self->ctx, direct->path, O_RDWR, &self->disk));
	/* By the caller, if nobody holds anything. */
	EXPECT_EQ(0, write_both(self, unused, end));
	EXPECT_EQ(2, ended(true));
	if (mount(direct->path, MOUNT, "ext4", 0, NULL))
		SKIP(return, "no ext4 here: %s", strerror(errno));
	sync();
	memset(self->memory, 0x55, PAGE);
	EXPECT_EQ(0, write_both(self, unused, end));
	EXPECT_EQ(2, ended(false));
	EXPECT_EQ(0, ended(true));
	ASSERT_EQ(true, on_disk(direct, self->memory, end));
	EXPECT_EQ(true, is_all(self->memory, 0x55));
	EXPECT_EQ(0, umount(MOUNT));
	rmdir(MOUNT);
}
