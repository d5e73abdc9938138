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

static struct kt_dev *disk;

static void kt_prepare(void)
{
	disk = kt_dev_null(&(struct kt_null){ .megabytes = 32 });
	if (!disk)
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
static bool on_disk(unsigned char *page, __u64 offset)
{
	int fd = open(disk->path, O_RDONLY | O_DIRECT | O_CLOEXEC);
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
		ASSERT_EQ(true, on_disk(self->memory, 0));
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
		ASSERT_EQ(true, on_disk(super, 0));
		memset(self->memory, 0xee, PAGE);
		EXPECT_EQ(-EBUSY, move(self, DDIO_WRITE, 0, here));
		/* Nothing of it has been written. */
		ASSERT_EQ(true, on_disk(self->memory, 0));
		EXPECT_EQ(0, memcmp(super, self->memory, PAGE));
		/* It can be read, and what the file system does not hold can be written. */
		EXPECT_EQ(0, move(self, DDIO_READ, 0, here));
		EXPECT_EQ(0, memcmp(super, self->memory, PAGE));
		memset(self->memory, 0x77 + here, PAGE);
		EXPECT_EQ(0, move(self, DDIO_WRITE, end, here));
		ASSERT_EQ(true, on_disk(self->memory, end));
		EXPECT_EQ(true, is_all(self->memory, 0x77 + here));
	}
	EXPECT_EQ(0, umount(MOUNT));
	rmdir(MOUNT);
	memset(self->memory, 0xee, PAGE);
	EXPECT_EQ(0, move(self, DDIO_WRITE, 0, 1));
	munmap(super, PAGE);
}
