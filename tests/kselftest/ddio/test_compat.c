// SPDX-License-Identifier: GPL-2.0-only
/*
 * 32-bit callers: a process of 32 bits (compat32.c), and the call of 32-bit processes made by
 * one of 64 bits, whose pointers to structs lie below 4 GB and whose memory does not.
 */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/types.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/kt.h"
#include "lib/world.h"

#define NR_IOCTL_32 54
#define BYTES 65536

static struct kt_dev *disk;

/* Fills sector n with bytes n. */
static void kt_prepare(void)
{
	unsigned char *p = kt_memory(BYTES);
	int fd, i;

	disk = kt_dev_null(&(struct kt_null){ .megabytes = 8 });
	if (!disk)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
	for (i = 0; i < BYTES; i++)
		p[i] = i / 512;
	fd = open(disk->path, O_RDWR | O_DIRECT);
	if (pwrite(fd, p, BYTES, 0) != BYTES)
		kt_skip_all("cannot write to %s", disk->path);
	close(fd);
}

FIXTURE(compat)
{
	struct kt_usage before;
};

FIXTURE_SETUP(compat)
{
	kt_usage(&self->before);
}

FIXTURE_TEARDOWN(compat)
{
	EXPECT_EQ(true, kt_usage_settled(&self->before, 10));
}

KT_TEST(compat, process_of_32_bits)
{
	char path[PATH_MAX + 16] = "";
	int status;

	ASSERT_LT(0, readlink("/proc/self/exe", path, PATH_MAX - 1));
	strcat(dirname(path), "/compat32");
	if (access(path, X_OK))
		SKIP(return, "compat32 could not be built: no 32-bit compiler");
	if (!fork()) {
		execl(path, "compat32", disk->path, NULL);
		_exit(errno == ENOEXEC ? 126 : 127);
	}
	ASSERT_LT(0, wait(&status));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 126)
		SKIP(return, "this kernel runs no 32-bit programs");
	EXPECT_EQ(0, status);
}

static sigjmp_buf no_call;

static void no_call_here(int signal)
{
	(void)signal;
	siglongjmp(no_call, 1);
}

/* Calls ioctl() as a 32-bit process does; @arg is below 4 GB. */
static int ioctl32(int fd, unsigned int cmd, void *arg)
{
	int ret = NR_IOCTL_32;

#ifdef __x86_64__
	__asm__ volatile("int $0x80"
			 : "+a"(ret)
			 : "b"(fd), "c"(cmd), "d"((unsigned int)(uintptr_t)arg)
			 : "memory", "r8", "r9", "r10", "r11");
#else
	ret = -ENOSYS;
#endif
	return ret;
}

KT_TEST(compat, call_of_32_bits)
{
	unsigned char *memory = kt_memory(BYTES);
	struct low {
		struct ddio_info info;
		struct ddio_disk_add disk;
		struct ddio_buffer_add buffer;
		struct ddio_submit submit;
		struct ddio_block block;
	} * low;
	int ctx = kt_open(), i;

	low = mmap(NULL, sizeof(*low), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)low);
	signal(SIGSEGV, no_call_here);
	if (sigsetjmp(no_call, 1))
		SKIP(return, "no 32-bit calls here");
	low->info.size = sizeof(low->info);
	i = ioctl32(ctx, DDIO_INFO, &low->info);
	if (i == -ENOSYS)
		SKIP(return, "no 32-bit calls here");
	signal(SIGSEGV, SIG_DFL);
	ASSERT_EQ(0, i);
	EXPECT_EQ(DDIO_MEMBERS_MAX, low->info.out_members_max);
	low->disk.size = sizeof(low->disk);
	low->disk.fd = open(disk->path, O_RDWR);
	ASSERT_EQ(0, ioctl32(ctx, DDIO_DISK_ADD, &low->disk));
	low->buffer.size = sizeof(low->buffer);
	low->buffer.address = kt_ptr(memory);
	low->buffer.length = BYTES;
	EXPECT_LT(1ULL << 32, low->buffer.address);
	ASSERT_EQ(0, ioctl32(ctx, DDIO_BUFFER_ADD, &low->buffer));
	low->block = (struct ddio_block){ .length = BYTES,
					  .disk = low->disk.out_disk,
					  .buffer = low->buffer.out_buffer };
	kt_submit_init(&low->submit, DDIO_READ, DDIO_PLACE, &low->block, 1);
	low->submit.flags = DDIO_SUBMIT_WAIT;
	ASSERT_EQ(0, ioctl32(ctx, DDIO_SUBMIT, &low->submit));
	EXPECT_EQ(DDIO_ENDED, low->submit.out_state);
	for (i = 0; i < BYTES; i++) {
		ASSERT_EQ((i / 512) & 255, memory[i]);
	}
	EXPECT_EQ(-EFAULT, ioctl32(ctx, DDIO_INFO, NULL));
	EXPECT_EQ(-ENOTTY, ioctl32(ctx, DDIO_JOINT_JOIN, &low->info));
	close(low->disk.fd);
	close(ctx);
}
