// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every ioctl with what is wrong with its struct, its descriptor or its pointer.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/probe.h"
#include "lib/world.h"

static struct kt_dev *disk, *disk_4k;

static void kt_prepare(void)
{
	disk = kt_dev_null(&(struct kt_null){ .megabytes = 64 });
	if (!disk)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
	disk_4k = kt_dev_null(&(struct kt_null){ .megabytes = 16, .block_size = 4096 });
	kt_world_prepare(disk);
}

FIXTURE(calls)
{
	struct kt_world w;
};

FIXTURE_SETUP(calls)
{
	ASSERT_EQ(0, kt_world_init(&self->w, disk, disk_4k));
}

FIXTURE_TEARDOWN(calls)
{
	kt_world_fini(&self->w);
}

enum file_kind { CONTEXT, JOINT, MEMBER, KINDS };

/**
 * struct ioctl_call - an ioctl with arguments that do
 * @expect: what it returns with them
 * @known: flags that it knows
 * @reserved: offset of the reserved member, or 0
 * @in_only: nothing is written back
 */
struct ioctl_call {
	const char *name;
	unsigned int cmd;
	enum file_kind on;
	size_t size;
	int expect;
	__u32 known;
	size_t reserved;
	bool has_flags;
	bool in_only;
};

#define CALL(_name, _type, ...)                                                           \
	{                                                                                 \
		.name = #_name, .cmd = _name, .size = sizeof(struct _type), ##__VA_ARGS__ \
	}
#define FLAGS(_known) .has_flags = true, .known = _known
#define RESERVED(_type) .reserved = offsetof(struct _type, __reserved)

static const struct ioctl_call calls[] = {
	CALL(DDIO_INFO, ddio_info, FLAGS(0)),
	CALL(DDIO_DISK_ADD, ddio_disk_add, FLAGS(0), RESERVED(ddio_disk_add), .expect = EEXIST),
	CALL(DDIO_BUFFER_ADD, ddio_buffer_add, FLAGS(DDIO_BUFFER_READONLY)),
	CALL(DDIO_RING_SETUP, ddio_ring_setup, FLAGS(0), RESERVED(ddio_ring_setup),
	     .expect = EEXIST),
	CALL(DDIO_DESTROY, ddio_destroy, .in_only = true),
	CALL(DDIO_SUBMIT, ddio_submit, FLAGS(255)),
	CALL(DDIO_WAIT, ddio_wait, FLAGS(0)),
	CALL(DDIO_CANCEL, ddio_cancel, FLAGS(0), RESERVED(ddio_cancel), .in_only = true),
	CALL(DDIO_KICK, ddio_kick, FLAGS(0), .in_only = true),
	CALL(DDIO_JOINT_CREATE, ddio_joint_create, FLAGS(0)),
	CALL(DDIO_JOINT_JOIN, ddio_joint_join, FLAGS(DDIO_BUFFER_READONLY), .on = JOINT),
	CALL(DDIO_JOINT_WAIT, ddio_joint_wait, FLAGS(0), RESERVED(ddio_joint_wait), .on = MEMBER,
	     .expect = ETIMEDOUT),
};

union ioctl_arg {
	struct ddio_info info;
	struct ddio_disk_add disk;
	struct ddio_buffer_add buffer;
	struct ddio_ring_setup ring;
	struct ddio_destroy destroy;
	struct ddio_submit submit;
	struct ddio_wait wait;
	struct ddio_cancel cancel;
	struct ddio_kick kick;
	struct ddio_joint_create create;
	struct ddio_joint_join join;
	struct ddio_joint_wait joint_wait;
	unsigned char byte[256];
	__u32 word[64];
};

/* Fills in a struct that succeeds; descriptors and memory that it makes last until the case ends. */
static void fill(const struct ioctl_call *c, struct kt_world *w, union ioctl_arg *a)
{
	static struct ddio_block block;

	memset(a, 0, sizeof(*a));
	switch (c->cmd) {
	case DDIO_DISK_ADD:
		a->disk.fd = open(disk->path, O_RDWR | O_CLOEXEC);
		break;
	case DDIO_BUFFER_ADD:
		a->buffer.address = kt_ptr(w->memory);
		a->buffer.length = 4096;
		break;
	case DDIO_RING_SETUP:
		a->ring.events = 8;
		break;
	case DDIO_DESTROY:
		kt_buffer_add(w->ctx, w->memory, 4096, 0, &a->destroy.id);
		break;
	case DDIO_SUBMIT:
		block = (struct ddio_block){ .length = 512, .disk = w->disk, .buffer = w->buffer };
		kt_submit_init(&a->submit, DDIO_READ, DDIO_PLACE, &block, 1);
		a->submit.flags = DDIO_SUBMIT_WAIT;
		break;
	case DDIO_WAIT:
		a->wait.collective = w->ended;
		break;
	case DDIO_CANCEL:
		a->cancel.collective = w->ended;
		break;
	case DDIO_KICK:
		a->kick.collective = w->stream;
		a->kick.slot = w->slot;
		break;
	case DDIO_JOINT_CREATE:
		a->create.members = 1;
		break;
	case DDIO_JOINT_JOIN:
		a->join.address = kt_ptr(w->member_memory);
		a->join.length = 4096;
		a->join.member = 0;
		break;
	}
	a->info.size = c->size;
}

/* The descriptor that @c is for; a joint of its own where joining twice would be an error. */
static int on(const struct ioctl_call *c, struct kt_world *w)
{
	if (c->on == JOINT)
		return kt_joint_create(w->ctx, 1);
	return c->on == MEMBER ? w->member[0] : w->ctx;
}

static int with_size(struct __test_metadata *_metadata, const struct ioctl_call *c,
		     struct kt_world *w, __u32 size, int garbage_at)
{
	union ioctl_arg a;

	fill(c, w, &a);
	a.info.size = size;
	if (garbage_at >= 0)
		a.byte[garbage_at] = 1;
	return probe(_metadata, on(c, w), c->cmd, &a, c->size);
}

KT_TEST(calls, size_word)
{
	size_t i, n;

	for (i = 0; i < KT_ARRAY_SIZE(calls); i++) {
		const struct ioctl_call *c = &calls[i];

		for (n = 0; n < c->size; n += n < 8 ? 1 : 4) {
			EXPECT_EQ(EINVAL, with_size(_metadata, c, &self->w, n, -1))
			{
				TH_LOG("%s of %zu bytes", c->name, n);
			}
		}
		EXPECT_EQ(c->expect, with_size(_metadata, c, &self->w, c->size, -1));
		EXPECT_EQ(c->expect, with_size(_metadata, c, &self->w, c->size + 8, -1))
		{
			TH_LOG("%s, longer with zeroes", c->name);
		}
		EXPECT_EQ(E2BIG, with_size(_metadata, c, &self->w, c->size + 8, c->size));
		EXPECT_EQ(E2BIG, with_size(_metadata, c, &self->w, c->size + 8, c->size + 7));
		/* Bytes beyond the size that the caller gave are ignored. */
		EXPECT_EQ(c->expect, with_size(_metadata, c, &self->w, c->size, c->size));
	}
}

static void enormous(struct __test_metadata *_metadata, const struct ioctl_call *c,
		     struct kt_world *w)
{
	static const __u32 size[] = { 4097, 1U << 20, 0x7fffffff, 0xfffffff8, 0xffffffff };
	size_t i;

	for (i = 0; i < KT_ARRAY_SIZE(size); i++) {
		EXPECT_EQ(E2BIG, with_size(_metadata, c, w, size[i], 250))
		{
			TH_LOG("%s of %u bytes", c->name, size[i]);
		}
	}
}

KT_TEST(calls, size_word_enormous)
{
	size_t i;

	for (i = 0; i < KT_ARRAY_SIZE(calls); i++)
		enormous(_metadata, &calls[i], &self->w);
}

KT_TEST(calls, flags_unknown)
{
	union ioctl_arg a;
	size_t i;
	int bit;

	for (i = 0; i < KT_ARRAY_SIZE(calls); i++) {
		if (!calls[i].has_flags)
			continue;
		for (bit = 0; bit < 32; bit++) {
			if (calls[i].known & 1U << bit)
				continue;
			fill(&calls[i], &self->w, &a);
			a.info.flags |= 1U << bit;
			EXPECT_EQ(EOPNOTSUPP, probe(_metadata, on(&calls[i], &self->w),
						    calls[i].cmd, &a, calls[i].size))
			{
				TH_LOG("%s, bit %d", calls[i].name, bit);
			}
			if (calls[i].cmd == DDIO_DISK_ADD)
				close(a.disk.fd);
		}
	}
}

KT_TEST(calls, reserved_must_be_zero)
{
	union ioctl_arg a;
	size_t i;
	int bit;

	for (i = 0; i < KT_ARRAY_SIZE(calls); i++)
		for (bit = 0; calls[i].reserved && bit < 32; bit += 31) {
			fill(&calls[i], &self->w, &a);
			a.word[calls[i].reserved / 4] |= 1U << bit;
			EXPECT_EQ(EINVAL, probe(_metadata, on(&calls[i], &self->w), calls[i].cmd,
						&a, calls[i].size))
			{
				TH_LOG("%s, bit %d", calls[i].name, bit);
			}
		}
}

KT_TEST(calls, wrong_descriptor)
{
	static const unsigned int others[] = {
		0,
		_IO(DDIO_IOC_TYPE, DDIO_CMD_BASE - 1),
		_IO(DDIO_IOC_TYPE, DDIO_CMD_BASE + 12),
		_IO(DDIO_IOC_TYPE, 0xff),
		_IO(0xdc, DDIO_CMD_INFO),
		0xffffffff,
		_IOWR(DDIO_IOC_TYPE, DDIO_CMD_INFO, struct ddio_info),
	};
	const int fd[KINDS] = { self->w.ctx, self->w.joint, self->w.member[0] };
	union ioctl_arg a;
	size_t i;
	int k;

	for (k = 0; k < KINDS; k++) {
		for (i = 0; i < KT_ARRAY_SIZE(calls); i++) {
			if ((int)calls[i].on == k)
				continue;
			fill(&calls[i], &self->w, &a);
			EXPECT_EQ(ENOTTY, probe(_metadata, fd[k], calls[i].cmd, &a, calls[i].size))
			{
				TH_LOG("%s on descriptor kind %d", calls[i].name, k);
			}
		}
		for (i = 0; i < KT_ARRAY_SIZE(others); i++) {
			fill(&calls[0], &self->w, &a);
			EXPECT_EQ(ENOTTY, probe(_metadata, fd[k], others[i], &a, sizeof(a)));
		}
	}
}

/* The module's descriptors are not files, and cannot be mistaken for files. */
KT_TEST(calls, other_system_calls)
{
	const int fd[KINDS] = { self->w.ctx, self->w.joint, self->w.member[0] };
	char byte = 0;
	int k;

	for (k = 0; k < KINDS; k++) {
		EXPECT_EQ(-1, read(fd[k], &byte, 1));
		EXPECT_EQ(EINVAL, errno);
		EXPECT_EQ(-1, write(fd[k], &byte, 1));
		EXPECT_EQ(EINVAL, errno);
		EXPECT_NE(0, fcntl(fd[k], F_GETFD) & FD_CLOEXEC);
	}
	for (k = JOINT; k < KINDS; k++) {
		EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd[k], 0));
		EXPECT_EQ(ENODEV, errno);
	}
}

KT_TEST(calls, pointers)
{
	unsigned char *page = kt_memory(8192);
	union ioctl_arg a;
	size_t i;
	int fd;

	ASSERT_EQ(0, mprotect(page + 4096, 4096, PROT_NONE));
	for (i = 0; i < KT_ARRAY_SIZE(calls); i++) {
		const struct ioctl_call *c = &calls[i];

		fill(c, &self->w, &a);
		fd = on(c, &self->w);
		EXPECT_EQ(-EFAULT, kt_call(fd, c->cmd, NULL));
		EXPECT_EQ(-EFAULT, kt_call(fd, c->cmd, page + 4096));
		EXPECT_EQ(-EFAULT, kt_call(fd, c->cmd, (void *)-4096L));
		EXPECT_EQ(-EFAULT, kt_call(fd, c->cmd, (void *)(1L << 63)));
		/* The size word is there, the end is not. */
		memcpy(page + 4096 - c->size + 4, &a, c->size - 4);
		EXPECT_EQ(-EFAULT, kt_call(fd, c->cmd, page + 4096 - c->size + 4))
		{
			TH_LOG("%s", c->name);
		}
		/* At any alignment, up to the very end. */
		memcpy(page + 4096 - c->size, &a, c->size);
		EXPECT_EQ(-c->expect, kt_call(fd, c->cmd, page + 4096 - c->size));
		fill(c, &self->w, &a);
		fd = on(c, &self->w);
		memcpy(page + 1, &a, c->size);
		EXPECT_EQ(-c->expect, kt_call(fd, c->cmd, page + 1));
	}
}

/* A call that cannot store its result must not have done anything. */
KT_TEST(calls, read_only_struct)
{
	unsigned char *page = kt_memory(4096);
	struct kt_usage before, after;
	union ioctl_arg a;
	size_t i;
	int fd;

	for (i = 0; i < KT_ARRAY_SIZE(calls); i++) {
		const struct ioctl_call *c = &calls[i];

		if (c->in_only)
			continue;
		fd = on(c, &self->w);
		fill(c, &self->w, &a);
		kt_usage(&before);
		ASSERT_EQ(0, mprotect(page, 4096, PROT_READ | PROT_WRITE));
		memcpy(page, &a, c->size);
		ASSERT_EQ(0, mprotect(page, 4096, PROT_READ));
		EXPECT_EQ(-EFAULT, kt_call(fd, c->cmd, page))
		{
			TH_LOG("%s", c->name);
		}
		kt_usage(&after);
		EXPECT_EQ(before.pinned, after.pinned);
		EXPECT_EQ(before.users, after.users);
	}
}
