// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pinned memory: what counts against the limit and until when, which memory can be
 * pinned, and what a process may do to its memory while a disk writes into it.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/kt.h"
#include "lib/world.h"

#define PAGE 4096UL
#define HUGE (2UL << 20)
#define BYTES (1UL << 20)
#define BLOCK 65536U

static struct kt_dev *slow;
static struct kt_rng rng;
/* What the disk holds in its first HUGE * 2 bytes. */
static unsigned char *content;

static void kt_prepare(void)
{
	int fd;

	rng.state = kt_seed();
	slow = kt_dev_null(
		&(struct kt_null){ .megabytes = 16, .more = "irqmode=2 completion_nsec=20000000" });
	if (!slow)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
	content = kt_memory(2 * HUGE);
	kt_fill(&rng, content, 2 * HUGE);
	fd = open(slow->path, O_RDWR | O_DIRECT);
	if (pwrite(fd, content, 2 * HUGE, 0) != 2 * HUGE)
		kt_skip_all("cannot write to %s", slow->path);
	close(fd);
}

FIXTURE(buffer)
{
	int ctx;
	__u32 disk;
	struct kt_usage before;
};

FIXTURE_SETUP(buffer)
{
	kt_usage(&self->before);
	self->ctx = kt_open();
	ASSERT_LE(0, self->ctx);
	ASSERT_EQ(0, kt_disk_open(self->ctx, slow->path, O_RDWR, &self->disk));
}

FIXTURE_TEARDOWN(buffer)
{
	close(self->ctx);
	EXPECT_EQ(true, kt_usage_settled(&self->before, 10));
}

static __u64 pinned_kb(void)
{
	return kt_keyed("/proc/self/status", "VmPin");
}

/* Moves @length bytes between the disk's beginning and the buffer's, in blocks. */
static int begin(int ctx, __u32 disk, __u32 buffer, __u64 length, __u32 op, __u32 *coll)
{
	__u64 nr = (length + BLOCK - 1) / BLOCK, i;
	struct ddio_block *block = calloc(nr, sizeof(*block));
	struct ddio_submit s;
	int err;

	for (i = 0; i < nr; i++)
		block[i] = (struct ddio_block){ .offset = i * BLOCK,
						.where = i * BLOCK,
						.length = BLOCK,
						.disk = disk,
						.buffer = buffer };
	block[nr - 1].length = length - (nr - 1) * BLOCK;
	kt_submit_init(&s, op, DDIO_PLACE, block, nr);
	err = kt_submit(ctx, &s);
	*coll = s.out_collective;
	free(block);
	return err;
}

static int transfer(int ctx, __u32 disk, __u32 buffer, __u64 length, __u32 op)
{
	__u32 coll;
	int err = begin(ctx, disk, buffer, length, op, &coll);

	return err ? err : kt_wait(ctx, coll, DDIO_FOREVER, NULL);
}

KT_TEST(buffer, counted)
{
	unsigned char *p = kt_memory(BYTES);
	__u32 a, b;

	EXPECT_EQ(0, pinned_kb());
	ASSERT_EQ(0, kt_buffer_add(self->ctx, p, BYTES, 0, &a));
	EXPECT_EQ(BYTES / 1024, pinned_kb());
	/* From within a page to within another: both count. */
	ASSERT_EQ(0, kt_buffer_add(self->ctx, p + PAGE - 1, 2, 0, &b));
	EXPECT_EQ(BYTES / 1024 + 8, pinned_kb());
	EXPECT_EQ(0, kt_destroy(self->ctx, b));
	EXPECT_EQ(BYTES / 1024, pinned_kb());
	EXPECT_EQ(0, kt_destroy(self->ctx, a));
	EXPECT_EQ(0, pinned_kb());
	ASSERT_EQ(0, kt_buffer_add(self->ctx, p, BYTES, DDIO_BUFFER_READONLY, &a));
	EXPECT_EQ(BYTES / 1024, pinned_kb());
	close(self->ctx);
	EXPECT_EQ(0, pinned_kb());
	self->ctx = kt_open();
}

/* Closing with I/O in flight: the pages stay until it has ended, and then they go. */
KT_TEST(buffer, counted_until_in_flight_ends)
{
	unsigned char *p = kt_memory(BYTES);
	__u32 buffer, coll;
	int i;

	ASSERT_EQ(0, kt_buffer_add(self->ctx, p, BYTES, 0, &buffer));
	ASSERT_EQ(0, begin(self->ctx, self->disk, buffer, BYTES, DDIO_READ, &coll));
	EXPECT_EQ(-EBUSY, kt_destroy(self->ctx, buffer));
	close(self->ctx);
	for (i = 0; i < 500 && pinned_kb(); i++)
		usleep(10000);
	EXPECT_EQ(0, pinned_kb());
	self->ctx = kt_open();
}

static int drop_to(__u64 pages)
{
	struct rlimit limit = { .rlim_cur = pages * PAGE, .rlim_max = pages * PAGE };

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		return -errno;
	return setresuid(65534, 65534, 65534) ? -errno : 0;
}

KT_TEST(buffer, limit)
{
	unsigned char *p = kt_memory(BYTES);
	int joint = kt_joint_create(self->ctx, 2), member;
	__u32 a, b;

	ASSERT_EQ(0, drop_to(64));
	EXPECT_EQ(-ENOMEM, kt_buffer_add(self->ctx, p, 65 * PAGE, 0, &a));
	EXPECT_EQ(-ENOMEM, kt_buffer_add(self->ctx, p + 1, 64 * PAGE, 0, &a));
	EXPECT_EQ(0, pinned_kb());
	ASSERT_EQ(0, kt_buffer_add(self->ctx, p, 40 * PAGE, 0, &a));
	EXPECT_EQ(-ENOMEM, kt_buffer_add(self->ctx, p, 25 * PAGE, 0, &b));
	/* Members' memory is of the same purse. */
	EXPECT_EQ(-ENOMEM, kt_joint_join(joint, 0, p, 25 * PAGE, 0));
	member = kt_joint_join(joint, 0, p, 24 * PAGE, 0);
	ASSERT_LE(0, member);
	EXPECT_EQ(-ENOMEM, kt_buffer_add(self->ctx, p, 1, 0, &b));
	close(member);
	EXPECT_EQ(0, kt_buffer_add(self->ctx, p, 24 * PAGE, 0, &b));
	EXPECT_EQ(256, pinned_kb());
	EXPECT_EQ(0, kt_destroy(self->ctx, a));
	EXPECT_EQ(0, kt_buffer_add(self->ctx, p, 40 * PAGE, DDIO_BUFFER_READONLY, &a));
	close(joint);
}

KT_TEST(buffer, holes)
{
	unsigned char *p = kt_memory(BYTES);
	struct kt_usage before, after;
	__u32 id;

	munmap(p + BYTES / 2, PAGE);
	mprotect(p + BYTES / 4, PAGE, PROT_NONE);
	kt_usage(&before);
	EXPECT_EQ(-EFAULT, kt_buffer_add(self->ctx, p + BYTES / 4 + PAGE, BYTES / 2, 0, &id));
	EXPECT_EQ(-EFAULT, kt_buffer_add(self->ctx, p, BYTES / 2, 0, &id));
	EXPECT_EQ(-EFAULT, kt_buffer_add(self->ctx, p + BYTES / 2 - 1, 2, 0, &id));
	EXPECT_EQ(-EFAULT,
		  kt_buffer_add(self->ctx, p + BYTES / 2 - 1, 2, DDIO_BUFFER_READONLY, &id));
	EXPECT_EQ(0, pinned_kb());
	kt_usage(&after);
	EXPECT_EQ(before.pinned, after.pinned);
	EXPECT_EQ(0, kt_buffer_add(self->ctx, p, BYTES / 4, 0, &id));
}

KT_TEST(buffer, read_only_memory)
{
	unsigned char *p = kt_memory(BYTES), *back = malloc(BYTES);
	int fd = open(slow->path, O_RDWR | O_DIRECT);
	unsigned char *aligned = kt_memory(BYTES);
	__u32 id;

	kt_fill(&rng, p, BYTES);
	memcpy(back, p, BYTES);
	ASSERT_EQ(0, mprotect(p, BYTES, PROT_READ));
	EXPECT_EQ(-EFAULT, kt_buffer_add(self->ctx, p, BYTES, 0, &id));
	ASSERT_EQ(0, kt_buffer_add(self->ctx, p, BYTES, DDIO_BUFFER_READONLY, &id));
	EXPECT_EQ(0, transfer(self->ctx, self->disk, id, BYTES, DDIO_WRITE));
	ASSERT_EQ(BYTES, pread(fd, aligned, BYTES, 0));
	EXPECT_EQ(0, memcmp(aligned, back, BYTES));
	EXPECT_EQ(0, memcmp(p, back, BYTES));
	memcpy(aligned, content, BYTES);
	ASSERT_EQ(BYTES, pwrite(fd, aligned, BYTES, 0));
	close(fd);
}

/* What is written later goes to the disk as well: the pages are the process's, not a copy. */
KT_TEST(buffer, read_only_sees_changes)
{
	unsigned char *p = kt_memory(BLOCK), *aligned = kt_memory(BLOCK);
	int fd = open(slow->path, O_RDWR | O_DIRECT);
	__u32 id;

	/* Not touched so far: there is no page of its own yet. */
	ASSERT_EQ(0, kt_buffer_add(self->ctx, p, BLOCK, DDIO_BUFFER_READONLY, &id));
	memset(p, 0x5a, BLOCK);
	EXPECT_EQ(0, transfer(self->ctx, self->disk, id, BLOCK, DDIO_WRITE));
	ASSERT_EQ(BLOCK, pread(fd, aligned, BLOCK, 0));
	EXPECT_EQ(0, memcmp(aligned, p, BLOCK));
	memcpy(aligned, content, BLOCK);
	ASSERT_EQ(BLOCK, pwrite(fd, aligned, BLOCK, 0));
	close(fd);
}

static int piece_of(int ctx, void *p, size_t length, __u32 *id, __u32 *piece)
{
	struct ddio_buffer_add arg = { .size = sizeof(arg),
				       .address = kt_ptr(p),
				       .length = length };
	int err = kt_call(ctx, DDIO_BUFFER_ADD, &arg);

	*id = arg.out_buffer;
	*piece = arg.out_piece;
	return err;
}

KT_TEST(buffer, shared_memory_file)
{
	int fd = memfd_create("kt", MFD_CLOEXEC);
	unsigned char *p, *back = malloc(BYTES);
	__u32 id;

	ASSERT_EQ(0, ftruncate(fd, BYTES));
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_EQ(0, kt_buffer_add(self->ctx, p, BYTES, 0, &id));
	EXPECT_EQ(0, transfer(self->ctx, self->disk, id, BYTES, DDIO_READ));
	ASSERT_EQ(BYTES, pread(fd, back, BYTES, 0));
	EXPECT_EQ(0, memcmp(back, content, BYTES));
	/* Beyond the file's end there is nothing to pin. */
	EXPECT_EQ(0, kt_destroy(self->ctx, id));
	ASSERT_EQ(0, ftruncate(fd, BYTES / 2));
	EXPECT_EQ(-EFAULT, kt_buffer_add(self->ctx, p, BYTES, 0, &id));
	close(fd);
}

static void *huge_pages(size_t length)
{
	void *p;

	kt_write("8", "/proc/sys/vm/nr_hugepages");
	p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
		 -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

KT_TEST(buffer, huge_pages)
{
	unsigned char *p = huge_pages(2 * HUGE);
	__u32 id, piece;

	if (!p)
		SKIP(return, "no huge pages here");
	ASSERT_EQ(0, piece_of(self->ctx, p, 2 * HUGE, &id, &piece));
	EXPECT_EQ(HUGE, piece);
	EXPECT_EQ(2 * HUGE / 1024, pinned_kb());
	EXPECT_EQ(0, transfer(self->ctx, self->disk, id, 2 * HUGE, DDIO_READ));
	EXPECT_EQ(0, memcmp(p, content, 2 * HUGE));
	EXPECT_EQ(0, kt_destroy(self->ctx, id));
	EXPECT_EQ(0, pinned_kb());
	/* From within the first to within the second. */
	memset(p, 0, 2 * HUGE);
	ASSERT_EQ(0, piece_of(self->ctx, p + HUGE / 2 + 512, HUGE, &id, &piece));
	EXPECT_EQ(HUGE, piece);
	EXPECT_EQ(HUGE / 1024 + 4, pinned_kb());
	EXPECT_EQ(0, transfer(self->ctx, self->disk, id, HUGE, DDIO_READ));
	EXPECT_EQ(0, memcmp(p + HUGE / 2 + 512, content, HUGE));
	EXPECT_EQ(0, p[HUGE / 2 + 511]);
	EXPECT_EQ(0, p[HUGE / 2 + 512 + HUGE]);
	EXPECT_EQ(0, kt_destroy(self->ctx, id));
	munmap(p, 2 * HUGE);
	kt_write("0", "/proc/sys/vm/nr_hugepages");
}

/* Transparent ones: in one piece or not, the bytes are the same. */
KT_TEST(buffer, transparent_huge_pages)
{
	unsigned char *p = kt_memory(5 * HUGE);
	__u32 id, piece, mixed;

	p += HUGE - kt_ptr(p) % HUGE;
	if (madvise(p, 2 * HUGE, MADV_HUGEPAGE))
		SKIP(return, "no transparent huge pages here");
	memset(p, 1, 2 * HUGE);
	ASSERT_EQ(0, piece_of(self->ctx, p, 2 * HUGE, &id, &piece));
	EXPECT_TRUE(piece == HUGE || piece == PAGE);
	EXPECT_EQ(0, transfer(self->ctx, self->disk, id, 2 * HUGE, DDIO_READ));
	EXPECT_EQ(0, memcmp(p, content, 2 * HUGE));
	/* One huge page, followed by small ones. */
	madvise(p + 2 * HUGE, HUGE, MADV_NOHUGEPAGE);
	memset(p + 2 * HUGE, 2, PAGE);
	ASSERT_EQ(0, piece_of(self->ctx, p + HUGE, HUGE + PAGE, &mixed, &piece));
	EXPECT_EQ(PAGE, piece);
	EXPECT_EQ(0, transfer(self->ctx, self->disk, mixed, HUGE + PAGE, DDIO_READ));
	EXPECT_EQ(0, memcmp(p + HUGE, content, HUGE + PAGE));
	EXPECT_EQ(0, memcmp(p, content, HUGE));
}

KT_TEST(buffer, unmapped_while_read_into)
{
	int fd = memfd_create("kt", MFD_CLOEXEC);
	unsigned char *p, *back = malloc(BYTES);
	__u32 id, coll;

	ASSERT_EQ(0, ftruncate(fd, BYTES));
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_EQ(0, kt_buffer_add(self->ctx, p, BYTES, 0, &id));
	ASSERT_EQ(0, begin(self->ctx, self->disk, id, BYTES, DDIO_READ, &coll));
	ASSERT_EQ(0, munmap(p, BYTES));
	EXPECT_EQ(0, kt_wait(self->ctx, coll, DDIO_FOREVER, NULL));
	ASSERT_EQ(BYTES, pread(fd, back, BYTES, 0));
	EXPECT_EQ(0, memcmp(back, content, BYTES));
	EXPECT_EQ(BYTES / 1024, pinned_kb());
	close(fd);
}

KT_TEST(buffer, moved_while_read_into)
{
	unsigned char *p = kt_memory(BYTES), *q = kt_memory(BYTES);
	__u32 id, coll;

	ASSERT_EQ(0, kt_buffer_add(self->ctx, p, BYTES, 0, &id));
	ASSERT_EQ(0, begin(self->ctx, self->disk, id, BYTES, DDIO_READ, &coll));
	q = mremap(p, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, q);
	ASSERT_NE(MAP_FAILED, q);
	/* What comes to lie at the old address is not the buffer. */
	p = mmap(p, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memset(p, 0x77, BYTES);
	EXPECT_EQ(0, kt_wait(self->ctx, coll, DDIO_FOREVER, NULL));
	EXPECT_EQ(0, memcmp(q, content, BYTES));
	EXPECT_EQ(0x77, p[0]);
	EXPECT_EQ(0, memcmp(p, p + 1, BYTES - 1));
}

KT_TEST(buffer, given_up_while_read_into)
{
	unsigned char *p = kt_memory(BYTES);
	__u32 id, coll;

	ASSERT_EQ(0, kt_buffer_add(self->ctx, p, BYTES, 0, &id));
	ASSERT_EQ(0, begin(self->ctx, self->disk, id, BYTES, DDIO_READ, &coll));
	ASSERT_EQ(0, madvise(p, BYTES, MADV_DONTNEED));
	memset(p, 0x33, BYTES);
	ASSERT_EQ(0, mprotect(p, BYTES, PROT_NONE));
	EXPECT_EQ(0, kt_wait(self->ctx, coll, DDIO_FOREVER, NULL));
	ASSERT_EQ(0, mprotect(p, BYTES, PROT_READ));
	EXPECT_EQ(0x33, p[0]);
	EXPECT_EQ(0, memcmp(p, p + 1, BYTES - 1));
}

/* Parent and child both write to what they have in common; the buffer stays the parent's. */
KT_TEST(buffer, fork_while_read_into)
{
	unsigned char *p = kt_memory(BYTES);
	__u32 id, coll;
	int status, i;
	pid_t child;

	memset(p, 0x44, BYTES);
	ASSERT_EQ(0, kt_buffer_add(self->ctx, p, BYTES, 0, &id));
	for (i = 0; i < 2; i++) {
		if (i) {
			ASSERT_EQ(0, begin(self->ctx, self->disk, id, BYTES, DDIO_READ, &coll));
		}
		child = fork();
		if (!child) {
			usleep(50000);
			memset(p + BYTES / 2, 0x55, BYTES / 2);
			usleep(300000);
			for (i = BYTES / 2; i < (int)BYTES; i++)
				if (p[i] != 0x55)
					_exit(1);
			_exit(0);
		}
		if (!i) {
			ASSERT_EQ(0, begin(self->ctx, self->disk, id, BYTES, DDIO_READ, &coll));
		}
		EXPECT_EQ(0, kt_wait(self->ctx, coll, DDIO_FOREVER, NULL));
		EXPECT_EQ(0, memcmp(p, content, BYTES));
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(0, status);
		EXPECT_EQ(0, memcmp(p, content, BYTES));
		memset(p, 0x44, BYTES);
	}
}

/* A child's buffer in the common context outlives the child, its memory lock does not. */
KT_TEST(buffer, of_a_dead_child)
{
	unsigned char *p = kt_memory(BYTES), *back = kt_memory(BLOCK);
	int fd = open(slow->path, O_RDWR | O_DIRECT);
	__u32 *id = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	if (!fork()) {
		memset(p, 0x66, BYTES);
		_exit(-kt_buffer_add(self->ctx, p, BYTES, 0, id));
	}
	ASSERT_LT(0, wait(&status));
	ASSERT_EQ(0, status);
	EXPECT_EQ(0, pinned_kb());
	EXPECT_EQ(0, transfer(self->ctx, self->disk, *id, BLOCK, DDIO_WRITE));
	ASSERT_EQ(BLOCK, pread(fd, back, BLOCK, 0));
	EXPECT_EQ(0x66, back[0]);
	EXPECT_EQ(0, memcmp(back, back + 1, BLOCK - 1));
	memcpy(back, content, BLOCK);
	ASSERT_EQ(BLOCK, pwrite(fd, back, BLOCK, 0));
	EXPECT_EQ(0, transfer(self->ctx, self->disk, *id, BYTES, DDIO_READ));
	EXPECT_EQ(0, kt_destroy(self->ctx, *id));
	EXPECT_EQ(0, pinned_kb());
	close(fd);
}

KT_TEST(buffer, exec_while_read_into)
{
	struct kt_usage before;
	__u32 id, coll;
	int status, ctx;

	kt_usage(&before);
	if (!fork()) {
		unsigned char *p = kt_memory(BYTES);

		ctx = kt_open();
		if (kt_disk_open(ctx, slow->path, O_RDWR, &self->disk) ||
		    kt_buffer_add(ctx, p, BYTES, 0, &id) ||
		    begin(ctx, self->disk, id, BYTES, DDIO_READ, &coll))
			_exit(1);
		/* The new program inherits the context: it stays, and so do the pages. */
		fcntl(ctx, F_SETFD, 0);
		execlp("sleep", "sleep", "0.3", NULL);
		_exit(2);
	}
	ASSERT_LT(0, wait(&status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(true, kt_usage_settled(&before, 10));
}

/* Many small buffers: each counts, all go. */
KT_TEST(buffer, many)
{
	unsigned char *p = kt_memory(BYTES);
	__u32 id[1000];
	int i;

	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(0, kt_buffer_add(self->ctx, p + i * 512, 512, 0, &id[i]));
	}
	EXPECT_EQ(4000, pinned_kb());
	for (i = 0; i < 1000; i += 2) {
		EXPECT_EQ(0, kt_destroy(self->ctx, id[i]));
	}
	EXPECT_EQ(2000, pinned_kb());
	for (i = 1; i < 1000; i++) {
		EXPECT_NE(id[i - 1], id[i]);
	}
}
