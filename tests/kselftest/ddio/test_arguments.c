// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arguments of every ioctl but for the list of DDIO_SUBMIT, which has
 * test_submit.c; and that every errno of the interface's table is seen.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/probe.h"
#include "lib/world.h"

static struct kt_dev *disk, *spare, *coarse;

static void kt_prepare(void)
{
	disk = kt_dev_null(&(struct kt_null){ .megabytes = 64 });
	spare = kt_dev_null(&(struct kt_null){ .megabytes = 64 });
	coarse = kt_dev_null(&(struct kt_null){ .megabytes = 8, .block_size = 4096 });
	if (!disk || !spare)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
	kt_seen_begin();
	kt_world_prepare(disk);
}

FIXTURE(arguments)
{
	struct kt_world w;
};

FIXTURE_SETUP(arguments)
{
	ASSERT_EQ(0, kt_world_init(&self->w, disk, NULL));
}

FIXTURE_TEARDOWN(arguments)
{
	kt_world_fini(&self->w);
}

KT_TEST(arguments, info)
{
	struct ddio_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, kt_call(self->w.ctx, DDIO_INFO, &info));
	EXPECT_EQ(DDIO_ABI_VERSION, info.out_abi);
	EXPECT_EQ(7, info.out_deliveries);
	EXPECT_EQ(255, info.out_submit_flags);
	EXPECT_EQ(DDIO_BLOCK_LENGTH_MAX, info.out_block_length_max);
	EXPECT_EQ(DDIO_LIST_MAX, info.out_list_max);
	EXPECT_EQ(DDIO_RUNS_MAX, info.out_runs_max);
	EXPECT_EQ(DDIO_DEPTH_MAX, info.out_depth_max);
	EXPECT_EQ(DDIO_DISKS_MAX, info.out_disks_max);
	EXPECT_EQ(DDIO_RING_MAX, info.out_ring_max);
	EXPECT_EQ(DDIO_MEMBERS_MAX, info.out_members_max);
}

static int disk_add(struct __test_metadata *_metadata, int ctx, int fd)
{
	struct ddio_disk_add arg = { .size = sizeof(arg), .fd = fd };

	return probe(_metadata, ctx, DDIO_DISK_ADD, &arg, sizeof(arg));
}

KT_TEST(arguments, disk_descriptors)
{
	int ctx = self->w.ctx, p[2], fd;

	ASSERT_EQ(0, pipe(p));
	EXPECT_EQ(EBADF, disk_add(_metadata, ctx, -1));
	EXPECT_EQ(EBADF, disk_add(_metadata, ctx, 1000000));
	EXPECT_EQ(EBADF, disk_add(_metadata, ctx, 0x7fffffff));
	EXPECT_EQ(ENOTBLK, disk_add(_metadata, ctx, p[0]));
	EXPECT_EQ(ENOTBLK, disk_add(_metadata, ctx, open("/dev/zero", O_RDWR)));
	EXPECT_EQ(ENOTBLK, disk_add(_metadata, ctx, open("/", O_RDONLY)));
	EXPECT_EQ(ENOTBLK, disk_add(_metadata, ctx, memfd_create("kt", 0)));
	EXPECT_EQ(ENOTBLK, disk_add(_metadata, ctx, ctx));
	EXPECT_EQ(ENOTBLK, disk_add(_metadata, ctx, self->w.joint));
	EXPECT_EQ(EBADF, disk_add(_metadata, ctx, open(disk->path, O_PATH)));
	/* For ioctls only: neither for reading nor for writing. */
	EXPECT_EQ(EACCES, disk_add(_metadata, ctx, open(disk->path, O_ACCMODE)));
	fd = open(disk->path, O_RDWR);
	close(fd);
	EXPECT_EQ(EBADF, disk_add(_metadata, ctx, fd));
}

KT_TEST(arguments, disk_described)
{
	static const struct {
		int flags;
		__u32 access;
	} mode[] = {
		{ O_RDONLY, DDIO_ACCESS_READ },
		{ O_WRONLY, DDIO_ACCESS_WRITE },
		{ O_RDWR, DDIO_ACCESS_READ | DDIO_ACCESS_WRITE },
	};
	struct ddio_disk_add arg;
	size_t i;

	for (i = 0; i < KT_ARRAY_SIZE(mode); i++) {
		arg = (struct ddio_disk_add){ .size = sizeof(arg),
					      .fd = open(spare->path, mode[i].flags) };
		ASSERT_EQ(0, kt_call(self->w.ctx, DDIO_DISK_ADD, &arg));
		EXPECT_EQ(mode[i].access, arg.out_access);
		EXPECT_NE(0, arg.out_disk);
		EXPECT_EQ(512, arg.out_logical);
		EXPECT_EQ(spare->bytes, arg.out_bytes);
		EXPECT_LE(512, arg.out_physical);
		EXPECT_LE(arg.out_logical, arg.out_align);
		EXPECT_LE(4096, arg.out_io_max);
		/* The descriptor is not needed any more, and the disk goes at once. */
		close(arg.fd);
		EXPECT_EQ(0, kt_destroy(self->w.ctx, arg.out_disk));
		EXPECT_EQ(-ENOENT, kt_destroy(self->w.ctx, arg.out_disk));
	}
}

/* Also where the driver says that it needs less, and moves wrong bytes then. */
KT_TEST(arguments, alignment_of_a_sector)
{
	struct ddio_disk_add arg = { .size = sizeof(arg) };

	if (!coarse)
		SKIP(return, "no null_blk disk with such sectors");
	arg.fd = open(coarse->path, O_RDWR);
	ASSERT_EQ(0, kt_call(self->w.ctx, DDIO_DISK_ADD, &arg));
	EXPECT_EQ(4096, arg.out_logical);
	EXPECT_LE(4096, arg.out_align);
	close(arg.fd);
	EXPECT_EQ(0, kt_destroy(self->w.ctx, arg.out_disk));
}

/* One thread of the kernel's for a device: however often it is asked for. */
KT_TEST(arguments, disk_twice)
{
	int fd = open(disk->path, O_RDONLY);
	int ctx = kt_open();
	__u32 id = 0;

	ASSERT_EQ(0, kt_disk_add(ctx, fd, &id));
	EXPECT_EQ(EEXIST, disk_add(_metadata, ctx, fd));
	EXPECT_EQ(0, kt_destroy(ctx, id));
	EXPECT_EQ(0, disk_add(_metadata, ctx, fd));
	close(fd);
	close(ctx);
}

static int buffer_add(struct __test_metadata *_metadata, int ctx, __u64 address, __u64 length)
{
	struct ddio_buffer_add arg = { .size = sizeof(arg), .address = address, .length = length };

	return probe(_metadata, ctx, DDIO_BUFFER_ADD, &arg, sizeof(arg));
}

KT_TEST(arguments, buffer_ranges)
{
	__u64 memory = kt_ptr(self->w.memory);
	int ctx = self->w.ctx;

	EXPECT_EQ(EINVAL, buffer_add(_metadata, ctx, memory, 0));
	EXPECT_EQ(EFAULT, buffer_add(_metadata, ctx, 0, 1));
	EXPECT_EQ(EFAULT, buffer_add(_metadata, ctx, memory, 64ULL << 20));
	EXPECT_EQ(EOVERFLOW, buffer_add(_metadata, ctx, 65536, 1ULL << 45));
	EXPECT_EQ(EFAULT, buffer_add(_metadata, ctx, 0xffff888000000000ULL, 4096));
	EXPECT_EQ(EOVERFLOW, buffer_add(_metadata, ctx, memory, ~0ULL));
	EXPECT_EQ(EOVERFLOW, buffer_add(_metadata, ctx, ~0ULL, 4096));
	EXPECT_EQ(EOVERFLOW, buffer_add(_metadata, ctx, 4096, -4096ULL));
	EXPECT_EQ(0, buffer_add(_metadata, ctx, memory + 4095, 2));
	EXPECT_EQ(0, buffer_add(_metadata, ctx, memory + 1, 1));
}

static int ring_setup(struct __test_metadata *_metadata, int ctx, __u32 events, __u32 slots)
{
	struct ddio_ring_setup arg = { .size = sizeof(arg), .events = events, .slots = slots };

	return probe(_metadata, ctx, DDIO_RING_SETUP, &arg, sizeof(arg));
}

KT_TEST(arguments, ring_sizes)
{
	int ctx = kt_open();

	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, ctx, 0));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(EINVAL, ring_setup(_metadata, ctx, 0, 0));
	EXPECT_EQ(EINVAL, ring_setup(_metadata, ctx, 3, 0));
	EXPECT_EQ(EINVAL, ring_setup(_metadata, ctx, 0xffffffff, 0));
	EXPECT_EQ(EOVERFLOW, ring_setup(_metadata, ctx, DDIO_RING_MAX * 2, 0));
	EXPECT_EQ(EOVERFLOW, ring_setup(_metadata, ctx, 1U << 31, 0));
	EXPECT_EQ(EOVERFLOW, ring_setup(_metadata, ctx, 8, DDIO_RING_MAX + 1));
	EXPECT_EQ(EOVERFLOW, ring_setup(_metadata, ctx, 8, 0xffffffff));
	EXPECT_EQ(0, ring_setup(_metadata, ctx, 1, 0));
	EXPECT_EQ(EEXIST, ring_setup(_metadata, ctx, 1, 0));
	close(ctx);
	ctx = kt_open();
	EXPECT_EQ(0, ring_setup(_metadata, ctx, DDIO_RING_MAX, DDIO_RING_MAX));
	close(ctx);
}

KT_TEST(arguments, ring_mapping)
{
	struct ddio_ring_setup arg = { .size = sizeof(arg), .events = 256, .slots = 3 };
	struct ddio_ring *ring;
	int ctx = kt_open();

	ASSERT_EQ(0, kt_call(ctx, DDIO_RING_SETUP, &arg));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, arg.out_length, PROT_READ, MAP_PRIVATE, ctx, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, arg.out_length, PROT_READ, MAP_SHARED, ctx, 4096));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, arg.out_length + 4096, PROT_READ, MAP_SHARED, ctx, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, arg.out_length, PROT_READ | PROT_EXEC, MAP_SHARED, ctx, 0));
	EXPECT_EQ(EPERM, errno);
	ring = mmap(NULL, arg.out_length, PROT_READ | PROT_WRITE, MAP_SHARED, ctx, 0);
	ASSERT_NE(MAP_FAILED, ring);
	EXPECT_EQ(-1, mprotect(ring, arg.out_length, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(256, ring->events);
	EXPECT_EQ(3, ring->slots);
	EXPECT_EQ(DDIO_ABI_VERSION, ring->abi);
	EXPECT_EQ(0, ring->head | ring->tail);
	EXPECT_LE(sizeof(*ring), ring->events_offset);
	EXPECT_LE(ring->events_offset + 256 * sizeof(struct ddio_event), ring->slots_offset);
	EXPECT_LE(ring->slots_offset + 3 * sizeof(struct ddio_slot), arg.out_length);
	/* It outlives the descriptor. */
	close(ctx);
	EXPECT_EQ(256, ring->events);
	ring->head = 7;
	EXPECT_EQ(0, munmap(ring, arg.out_length));
}

static int destroy(struct __test_metadata *_metadata, int ctx, __u32 id)
{
	struct ddio_destroy arg = { .size = sizeof(arg), .id = id };

	return probe(_metadata, ctx, DDIO_DESTROY, &arg, sizeof(arg));
}

KT_TEST(arguments, destroy)
{
	struct kt_world *w = &self->w;
	int ctx = w->ctx;

	EXPECT_EQ(ENOENT, destroy(_metadata, ctx, 0));
	EXPECT_EQ(ENOENT, destroy(_metadata, ctx, 123456));
	EXPECT_EQ(ENOENT, destroy(_metadata, ctx, 0xffffffff));
	EXPECT_EQ(EBUSY, destroy(_metadata, ctx, w->stream));
	EXPECT_EQ(EBUSY, destroy(_metadata, ctx, w->disk));
	EXPECT_EQ(EBUSY, destroy(_metadata, ctx, w->buffer));
	EXPECT_EQ(0, destroy(_metadata, ctx, w->buffer_ro));
	EXPECT_EQ(0, destroy(_metadata, ctx, w->disk_ro));
	EXPECT_EQ(0, destroy(_metadata, ctx, w->ended));
	EXPECT_EQ(ENOENT, destroy(_metadata, ctx, w->ended));
	ASSERT_EQ(0, kt_cancel(ctx, w->stream));
	EXPECT_EQ(-ECANCELED, kt_wait(ctx, w->stream, DDIO_FOREVER, NULL));
	EXPECT_EQ(0, destroy(_metadata, ctx, w->disk));
	EXPECT_EQ(0, destroy(_metadata, ctx, w->buffer));
	EXPECT_EQ(0, destroy(_metadata, ctx, w->stream));
}

static int wait_for(struct __test_metadata *_metadata, int ctx, __u32 coll, __u64 deadline,
		    const void *status, __u64 nr)
{
	struct ddio_wait arg = {
		.size = sizeof(arg),
		.collective = coll,
		.deadline = deadline,
		.status = kt_ptr(status),
		.nr_status = nr,
	};

	return probe(_metadata, ctx, DDIO_WAIT, &arg, sizeof(arg));
}

static void ignore(int signal)
{
	(void)signal;
}

KT_TEST(arguments, wait)
{
	struct sigaction action = { .sa_handler = ignore };
	struct kt_world *w = &self->w;
	int ctx = w->ctx;
	__u64 begin;
	__s32 status;

	EXPECT_EQ(ENOENT, wait_for(_metadata, ctx, 0, 0, NULL, 0));
	EXPECT_EQ(ENOENT, wait_for(_metadata, ctx, w->disk, 0, NULL, 0));
	EXPECT_EQ(ENOENT, wait_for(_metadata, ctx, 0xffffffff, DDIO_FOREVER, NULL, 0));
	EXPECT_EQ(EINVAL, wait_for(_metadata, ctx, w->ended, 0, &status, 2));
	EXPECT_EQ(EINVAL, wait_for(_metadata, ctx, w->ended, 0, &status, 0));
	EXPECT_EQ(EINVAL, wait_for(_metadata, ctx, w->ended, 0, NULL, 1));
	EXPECT_EQ(EFAULT, wait_for(_metadata, ctx, w->ended, 0, (void *)-4096L, 1));
	EXPECT_EQ(EFAULT, wait_for(_metadata, ctx, w->ended, 0, (void *)8, 1));
	status = -1;
	EXPECT_EQ(0, wait_for(_metadata, ctx, w->ended, 0, &status, 1));
	EXPECT_EQ(0, status);
	EXPECT_EQ(ETIMEDOUT, wait_for(_metadata, ctx, w->stream, 0, NULL, 0));
	EXPECT_EQ(ETIMEDOUT, wait_for(_metadata, ctx, w->stream, 1, NULL, 0));
	begin = kt_now();
	EXPECT_EQ(ETIMEDOUT, wait_for(_metadata, ctx, w->stream, begin + KT_SECOND / 20, NULL, 0));
	EXPECT_LE(begin + KT_SECOND / 20, kt_now());
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	if (!fork()) {
		usleep(100000);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	EXPECT_EQ(EINTR, wait_for(_metadata, ctx, w->stream, DDIO_FOREVER, NULL, 0));
	wait(NULL);
}

KT_TEST(arguments, cancel_and_kick)
{
	struct kt_world *w = &self->w;
	static const struct {
		int cancel, kick;
		bool good_id;
		__u32 slot;
	} t[] = {
		{ ENOENT, ENOENT, false, 0 },
		{ 0, ENOENT, true, 8 },
		{ 0, ENOENT, true, 0xffffffff },
	};
	size_t i;

	for (i = 0; i < KT_ARRAY_SIZE(t); i++) {
		struct ddio_cancel cancel = { .size = sizeof(cancel) };
		struct ddio_kick kick = { .size = sizeof(kick), .slot = t[i].slot };

		cancel.collective = t[i].good_id ? w->ended : w->buffer;
		kick.collective = t[i].good_id ? w->stream : w->disk;
		EXPECT_EQ(t[i].cancel,
			  probe(_metadata, w->ctx, DDIO_CANCEL, &cancel, sizeof(cancel)));
		EXPECT_EQ(t[i].kick, probe(_metadata, w->ctx, DDIO_KICK, &kick, sizeof(kick)))
		{
			TH_LOG("slot %u", t[i].slot);
		}
	}
}

static int create(struct __test_metadata *_metadata, int ctx, __u32 members)
{
	struct ddio_joint_create arg = { .size = sizeof(arg), .members = members };
	int err = probe(_metadata, ctx, DDIO_JOINT_CREATE, &arg, sizeof(arg));

	if (!err)
		close(arg.out_fd);
	return err;
}

static int join(struct __test_metadata *_metadata, int joint, __u32 member, __u64 address,
		__u64 length)
{
	struct ddio_joint_join arg = {
		.size = sizeof(arg), .address = address, .length = length, .member = member
	};
	int err = probe(_metadata, joint, DDIO_JOINT_JOIN, &arg, sizeof(arg));

	if (!err)
		close(arg.out_fd);
	return err;
}

KT_TEST(arguments, joints)
{
	__u64 memory = kt_ptr(self->w.memory);
	struct kt_world *w = &self->w;

	EXPECT_EQ(EINVAL, create(_metadata, w->ctx, 0));
	EXPECT_EQ(EOVERFLOW, create(_metadata, w->ctx, DDIO_MEMBERS_MAX + 1));
	EXPECT_EQ(EOVERFLOW, create(_metadata, w->ctx, 0xffffffff));
	EXPECT_EQ(0, create(_metadata, w->ctx, DDIO_MEMBERS_MAX));
	EXPECT_EQ(EEXIST, join(_metadata, w->joint, 0, memory, 4096));
	EXPECT_EQ(EEXIST, join(_metadata, w->joint, 1, memory, 4096));
	EXPECT_EQ(ENOENT, join(_metadata, w->joint, 3, memory, 4096));
	EXPECT_EQ(ENOENT, join(_metadata, w->joint, 0xffffffff, memory, 4096));
	EXPECT_EQ(EINVAL, join(_metadata, w->joint, 2, memory, 0));
	EXPECT_EQ(EFAULT, join(_metadata, w->joint, 2, 0, 4096));
	EXPECT_EQ(EOVERFLOW, join(_metadata, w->joint, 2, memory, ~0ULL));
	/* Its place is free again when a member has left. */
	EXPECT_EQ(0, join(_metadata, w->joint, 2, memory, 4096));
	EXPECT_EQ(0, join(_metadata, w->joint, 2, memory, 4096));
}

KT_TEST(arguments, descriptors_run_out)
{
	struct rlimit limit = { .rlim_cur = self->w.member[1] + 1, .rlim_max = 4096 };
	struct kt_usage before, after;
	int fd;

	/* Holes are filled first. */
	while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd < self->w.member[1])
		;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	kt_write("1", "/proc/sys/vm/stat_refresh");
	limit.rlim_cur = 4096;
	kt_usage(&before);
	EXPECT_NE(0, create(_metadata, self->w.ctx, 1));
	EXPECT_NE(0, join(_metadata, self->w.joint, 2, kt_ptr(self->w.memory), 4096));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	kt_usage(&after);
	EXPECT_EQ(0, join(_metadata, self->w.joint, 2, kt_ptr(self->w.memory), 4096));
	EXPECT_EQ(0, create(_metadata, self->w.ctx, 1));
}

static void unprivileged_limit(struct __test_metadata *_metadata, struct kt_world *w)
{
	struct rlimit limit = { .rlim_cur = 0, .rlim_max = 0 };

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	EXPECT_EQ(ENOMEM, buffer_add(_metadata, w->ctx, kt_ptr(w->memory), 4096));
	EXPECT_EQ(ENOMEM, join(_metadata, w->joint, 2, kt_ptr(w->memory), 4096));
}

KT_TEST(arguments, memory_lock_limit)
{
	unprivileged_limit(_metadata, &self->w);
}

static int submit_one(struct __test_metadata *_metadata, struct kt_world *w, __u32 op, __u64 offset,
		      __u32 disk_id, int nr)
{
	struct ddio_block block[2] = {
		{ .offset = offset, .length = 512, .disk = disk_id, .buffer = w->buffer },
		{ .offset = offset, .length = 512, .disk = disk_id, .buffer = w->buffer },
	};
	struct ddio_submit s;

	kt_submit_init(&s, op, DDIO_PLACE, block, nr);
	s.flags = DDIO_SUBMIT_WAIT;
	return probe(_metadata, w->ctx, DDIO_SUBMIT, &s, sizeof(s));
}

KT_TEST(arguments, struct_itself)
{
	struct {
		struct ddio_info info;
		__u32 more;
	} arg = { .info.size = sizeof(arg), .more = 1 };

	EXPECT_EQ(E2BIG, probe(_metadata, self->w.ctx, DDIO_INFO, &arg, sizeof(arg)));
	EXPECT_EQ(ENOTTY, probe(_metadata, self->w.joint, DDIO_INFO, &arg, sizeof(arg)));
	arg.info.size = sizeof(arg.info);
	arg.info.flags = 1;
	EXPECT_EQ(EOPNOTSUPP, probe(_metadata, self->w.ctx, DDIO_INFO, &arg, sizeof(arg)));
}

KT_TEST(arguments, submissions)
{
	struct kt_world *w = &self->w;

	EXPECT_EQ(ERANGE, submit_one(_metadata, w, DDIO_READ, disk->bytes, w->disk, 1));
	EXPECT_EQ(EOVERFLOW, submit_one(_metadata, w, DDIO_READ, -512ULL, w->disk, 1));
	EXPECT_EQ(EACCES, submit_one(_metadata, w, DDIO_WRITE, 0, w->disk_ro, 1));
	EXPECT_EQ(EEXIST, submit_one(_metadata, w, DDIO_WRITE, 0, w->disk, 2));
	EXPECT_EQ(0, submit_one(_metadata, w, DDIO_READ, 0, w->disk, 2));
}

/* Must be the last: every errno of the header's table has been seen by now. */
KT_TEST(arguments, every_errno)
{
	static const int table[] = { E2BIG, EINVAL,  EOPNOTSUPP, ENOTTY,   EFAULT,    ENOENT,
				     EBADF, ENOTBLK, EACCES,	 ERANGE,   EOVERFLOW, EEXIST,
				     EBUSY, ENOMEM,  EINTR,	 ETIMEDOUT };
	size_t i, known = 0;
	int e;

	for (i = 0; i < KT_ARRAY_SIZE(table); i++) {
		EXPECT_EQ(1, kt_seen[table[i]])
		{
			TH_LOG("%s was not provoked", strerror(table[i]));
		}
	}
	for (e = 1; e < 256; e++) {
		for (i = 0; i < KT_ARRAY_SIZE(table) && table[i] != e; i++)
			;
		known = i < KT_ARRAY_SIZE(table) || e == EMFILE;
		EXPECT_TRUE(known || !kt_seen[e])
		{
			TH_LOG("%s is not in the table", strerror(e));
		}
	}
}
