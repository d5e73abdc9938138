// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that are killed while disks read into their memory or write from it: a
 * member of a joint, or the submitter.  The others get what they were to get, and of
 * the dead nothing is left.
 *
 * DDIO_KILLS: how many are killed in each way (20); DDIO_SEED
 */
#include <fcntl.h>
#include <linux/types.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/kt.h"
#include "lib/world.h"

#define MEMBERS 4
#define BLOCKS 64
#define BLOCK 4096U
#define PIECE 256U
#define SHARE (BLOCKS * BLOCK / MEMBERS)
#define LONGEST_US 30000
/* Between two looks at what is left behind. */
#define LOOK 20

static struct kt_dev *disk;
static struct kt_rng rng;
static uint64_t rounds;

static void kt_prepare(void)
{
	rng.state = kt_seed();
	rounds = kt_env("DDIO_KILLS", 20);
	printf("# DDIO_KILLS=%llu\n", (unsigned long long)rounds);
	disk = kt_dev_null(
		&(struct kt_null){ .megabytes = 8, .more = "irqmode=2 completion_nsec=400000" });
	if (!disk)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
}

/**
 * struct kill_shared - what all processes of a case see
 * @share: the members' memory
 * @joined: members that have joined, or failed to
 * @failed: failures in children
 * @begun: the submitter has submitted
 */
struct kill_shared {
	unsigned char share[MEMBERS][SHARE];
	int joined;
	int failed;
	int begun;
};

FIXTURE(kill)
{
	struct kt_usage before;
	struct kt_usage open;
	struct kill_shared *shared;
	unsigned char *content;
	int fd;
	int ctx;
	__u32 disk;
	int joint;
	pid_t member[MEMBERS];
	struct ddio_block block[BLOCKS];
	struct ddio_run run[BLOCKS * MEMBERS];
	__s32 status[BLOCKS];
};

static void *shared_memory(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

FIXTURE_SETUP(kill)
{
	kt_usage(&self->before);
	self->shared = shared_memory(sizeof(*self->shared));
	self->content = kt_memory(BLOCKS * BLOCK);
	ASSERT_NE(MAP_FAILED, (void *)self->shared);
	self->fd = open(disk->path, O_RDWR | O_DIRECT);
	self->ctx = kt_open();
	ASSERT_LE(0, self->ctx);
	ASSERT_EQ(0, kt_disk_open(self->ctx, disk->path, O_RDWR, &self->disk));
	kt_fill(&rng, self->content, BLOCKS * BLOCK);
	ASSERT_EQ(BLOCKS * BLOCK, pwrite(self->fd, self->content, BLOCKS * BLOCK, 0));
	/* The case's own context and disk, but no collective, no memory, no joint. */
	kt_usage(&self->open);
}

FIXTURE_TEARDOWN(kill)
{
	close(self->fd);
	close(self->ctx);
	EXPECT_EQ(true, kt_usage_settled(&self->before, 20));
}

/* CYCLIC(PIECE) over the members: the n-th piece of the file is of member n % MEMBERS. */
static void fill_list(FIXTURE_DATA(kill) * self)
{
	__u32 i, m;

	for (i = 0; i < BLOCKS; i++) {
		self->block[i] = (struct ddio_block){ .offset = i * BLOCK,
						      .where = i * MEMBERS,
						      .length = BLOCK,
						      .disk = self->disk,
						      .buffer = MEMBERS };
		for (m = 0; m < MEMBERS; m++)
			self->run[i * MEMBERS + m] = (struct ddio_run){
				.memory = i * BLOCK / MEMBERS,
				.offset = m * PIECE,
				.length = PIECE,
				.member = m,
				.levels = 1,
				.level[0] = { .count = BLOCK / PIECE / MEMBERS,
					      .block_stride = MEMBERS * PIECE,
					      .memory_stride = PIECE },
			};
	}
	kt_shuffle(&rng, self->block, BLOCKS, sizeof(self->block[0]));
}

/* Returns where byte @at of the file is in the members' memory. */
static unsigned char *place_of(struct kill_shared *shared, __u32 at)
{
	__u32 piece = at / PIECE;

	return &shared->share[piece % MEMBERS][piece / MEMBERS * PIECE + at % PIECE];
}

static void count(int *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

static bool reached(int *counter, int value)
{
	__u64 end = kt_now() + 20 * KT_SECOND;

	while (__atomic_load_n(counter, __ATOMIC_SEQ_CST) < value) {
		if (kt_now() > end)
			return false;
		sched_yield();
	}
	return true;
}

/* Runs a member: joins its memory, waits for the end, and lives until it is killed. */
static void member(FIXTURE_DATA(kill) * self, int m, bool private)
{
	struct ddio_joint_wait arg = { .size = sizeof(arg), .deadline = DDIO_FOREVER };
	void *memory = private ? kt_memory(SHARE) : self->shared->share[m];
	int fd;

	close(self->ctx);
	fd = kt_joint_join(self->joint, m, memory, SHARE, 0);
	if (fd < 0)
		count(&self->shared->failed);
	count(&self->shared->joined);
	if (kt_call(fd, DDIO_JOINT_WAIT, &arg) ||
	    (arg.out_error && arg.out_error != -EOWNERDEAD && arg.out_error != -ECANCELED))
		count(&self->shared->failed);
	for (;;)
		pause();
}

static void members_begin(FIXTURE_DATA(kill) * self, int private)
{
	int m;

	self->shared->joined = 0;
	for (m = 0; m < MEMBERS; m++) {
		self->member[m] = fork();
		if (!self->member[m])
			member(self, m, m == private);
	}
}

static void members_end(FIXTURE_DATA(kill) * self)
{
	int m;

	for (m = 0; m < MEMBERS; m++)
		kill(self->member[m], SIGKILL);
	for (m = 0; m < MEMBERS; m++)
		waitpid(self->member[m], NULL, 0);
}

static int submit(FIXTURE_DATA(kill) * self, int ctx, __u32 op, struct ddio_submit *s)
{
	fill_list(self);
	kt_submit_init(s, op, DDIO_SCATTER, self->block, BLOCKS);
	s->runs = kt_ptr(self->run);
	s->nr_runs = BLOCKS * MEMBERS;
	s->joint_fd = self->joint;
	s->depth = kt_below(&rng, 5);
	return kt_submit(ctx, s);
}

/* Every block without error is in the memory of all members but @dead, or on the disk. */
static void right(struct __test_metadata *_metadata, FIXTURE_DATA(kill) * self, __u32 op, int dead)
{
	unsigned char *p;
	__u32 b, i, at;
	int m;

	if (op == DDIO_WRITE) {
		ASSERT_EQ(BLOCKS * BLOCK, pread(self->fd, self->content, BLOCKS * BLOCK, 0));
	}
	for (b = 0; b < BLOCKS; b++) {
		if (self->status[b])
			continue;
		for (i = 0; i < BLOCK; i += PIECE) {
			at = self->block[b].offset + i;
			p = place_of(self->shared, at);
			m = (p - self->shared->share[0]) / SHARE;
			if (m == dead)
				continue;
			ASSERT_EQ(0, memcmp(p, self->content + at, PIECE))
			{
				TH_LOG("block %u, member %d, op %u", b, m, op);
			}
		}
	}
}

static void kill_member(struct __test_metadata *_metadata, FIXTURE_DATA(kill) * self, __u32 op)
{
	int victim = kt_below(&rng, MEMBERS);
	/* Private memory is gone with its process; what was gathered from it cannot be told. */
	int private = kt_below(&rng, 2) ? victim : -1;
	struct ddio_wait wait;
	struct ddio_submit s;

	self->joint = kt_joint_create(self->ctx, MEMBERS);
	ASSERT_LE(0, self->joint);
	kt_fill(&rng, self->shared->share, sizeof(self->shared->share));
	members_begin(self, private);
	ASSERT_EQ(true, reached(&self->shared->joined, MEMBERS));
	ASSERT_EQ(0, submit(self, self->ctx, op, &s));
	usleep(kt_below(&rng, LONGEST_US));
	kill(self->member[victim], SIGKILL);
	ASSERT_EQ(0, kt_wait(self->ctx, s.out_collective, kt_now() + 20 * KT_SECOND, &wait));
	EXPECT_TRUE(!wait.out_error || wait.out_error == -EOWNERDEAD);
	ASSERT_EQ(0, kt_wait_status(self->ctx, s.out_collective, self->status, BLOCKS, &wait));
	right(_metadata, self, op, private);
	EXPECT_EQ(0, kt_destroy(self->ctx, s.out_collective));
	waitpid(self->member[victim], NULL, 0);
	/* Without it nothing goes any more. */
	EXPECT_EQ(-ENOENT, submit(self, self->ctx, op, &s));
	members_end(self);
	EXPECT_EQ(0, self->shared->failed);
	close(self->joint);
}

static void look(struct __test_metadata *_metadata, FIXTURE_DATA(kill) * self, uint64_t i)
{
	if (i % LOOK)
		return;
	ASSERT_EQ(true, kt_usage_settled(&self->open, 20))
	{
		TH_LOG("after %llu rounds", (unsigned long long)i);
	}
}

KT_TEST(kill, member_scatter)
{
	uint64_t i;

	for (i = 1; i <= rounds; i++) {
		kill_member(_metadata, self, DDIO_READ);
		look(_metadata, self, i);
	}
}

KT_TEST(kill, member_gather)
{
	uint64_t i;

	for (i = 1; i <= rounds; i++) {
		kill_member(_metadata, self, DDIO_WRITE);
		look(_metadata, self, i);
	}
}

/* The process that submitted to a joint is killed: the members learn of the end, and live. */
static void joint_submitter(FIXTURE_DATA(kill) * self)
{
	struct ddio_submit s;

	if (kt_disk_open(self->ctx, disk->path, O_RDWR, &self->disk) ||
	    submit(self, self->ctx, DDIO_READ, &s))
		count(&self->shared->failed);
	count(&self->shared->begun);
	for (;;)
		kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL);
}

KT_TEST(kill, submitter_of_a_joint)
{
	struct ddio_joint_wait arg = { .size = sizeof(arg) };
	unsigned char *mine = kt_memory(SHARE);
	int m, fd, ctx = self->ctx;
	uint64_t i;
	pid_t child;

	for (i = 1; i <= rounds; i++) {
		/* The joint's context is to be the child's alone. */
		self->ctx = kt_open();
		self->joint = kt_joint_create(self->ctx, MEMBERS + 1);
		ASSERT_LE(0, self->joint);
		/* One more, to see what members see. */
		fd = kt_joint_join(self->joint, MEMBERS, mine, SHARE, 0);
		ASSERT_LE(0, fd);
		members_begin(self, kt_below(&rng, MEMBERS));
		ASSERT_EQ(true, reached(&self->shared->joined, MEMBERS));
		self->shared->begun = 0;
		rng.state++;
		child = fork();
		if (!child)
			joint_submitter(self);
		close(self->ctx);
		self->ctx = ctx;
		ASSERT_EQ(true, reached(&self->shared->begun, 1));
		usleep(kt_below(&rng, LONGEST_US));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		arg.deadline = kt_now() + 20 * KT_SECOND;
		arg.ended = 0;
		ASSERT_EQ(0, kt_call(fd, DDIO_JOINT_WAIT, &arg));
		EXPECT_EQ(1, arg.out_ended);
		EXPECT_TRUE(!arg.out_error || arg.out_error == -ECANCELED);
		for (m = 0; m < MEMBERS; m++) {
			EXPECT_EQ(0, waitpid(self->member[m], NULL, WNOHANG));
		}
		members_end(self);
		EXPECT_EQ(0, self->shared->failed);
		close(fd);
		close(self->joint);
		look(_metadata, self, i);
	}
}

/* Empties a stream's slots until the end, or until killed. */
static void drain(int ctx, struct ddio_ring *ring, __u32 coll)
{
	struct ddio_event *event = (void *)((char *)ring + ring->events_offset);
	struct ddio_slot *slot = (void *)((char *)ring + ring->slots_offset);
	struct ddio_kick kick = { .size = sizeof(kick), .collective = coll };
	__u32 head = 0, id;

	for (;;) {
		while (__atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) == head)
			sched_yield();
		kick.slot = event[head % ring->events].slot;
		if (event[head % ring->events].kind == DDIO_EVENT_DONE)
			return;
		__atomic_store_n(&ring->head, ++head, __ATOMIC_RELEASE);
		id = coll;
		__atomic_compare_exchange_n(&slot[kick.slot].holder, &id, 0, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&slot[kick.slot].asleep, __ATOMIC_SEQ_CST))
			kt_call(ctx, DDIO_KICK, &kick);
	}
}

/* Reads or writes by one delivery or another until it is killed. */
static void submitter(FIXTURE_DATA(kill) * self, __u32 op, __u32 delivery, __u32 flags)
{
	unsigned char *memory = kt_memory(BLOCKS * BLOCK);
	struct ddio_ring *ring;
	struct ddio_submit s;
	__u32 id, i, buffer;
	int ctx = kt_open();
	size_t length;

	memcpy(memory, self->content, BLOCKS * BLOCK);
	if (kt_disk_open(ctx, disk->path, O_RDWR, &id) ||
	    kt_buffer_add(ctx, memory, BLOCKS * BLOCK, 0, &buffer) ||
	    kt_ring_setup(ctx, 128, 64, &ring, &length))
		count(&self->shared->failed);
	for (i = 0; i < BLOCKS; i++)
		self->block[i] = (struct ddio_block){ .offset = i * BLOCK,
						      .where = i * BLOCK,
						      .length = BLOCK,
						      .disk = id,
						      .buffer = delivery ? 0 : buffer };
	kt_submit_init(&s, op, delivery, self->block, BLOCKS);
	s.slot_buffer = delivery ? buffer : 0;
	s.slot_length = delivery ? BLOCK : 0;
	s.flags = flags;
	s.depth = kt_below(&rng, 9);
	if (!(flags & DDIO_SUBMIT_WAIT) && kt_submit(ctx, &s))
		count(&self->shared->failed);
	count(&self->shared->begun);
	if (flags & DDIO_SUBMIT_WAIT)
		kt_submit(ctx, &s);
	if (delivery)
		drain(ctx, ring, s.out_collective);
	for (;;)
		pause();
}

static void kill_submitter(struct __test_metadata *_metadata, FIXTURE_DATA(kill) * self, __u32 op,
			   __u32 delivery)
{
	static const __u32 flags[] = { 0, DDIO_SUBMIT_WAIT, DDIO_SUBMIT_FORGET,
				       DDIO_SUBMIT_ORDERED };
	__u32 flag = delivery ? 0 : flags[kt_below(&rng, KT_ARRAY_SIZE(flags))];
	pid_t child;

	self->shared->begun = 0;
	rng.state++;
	child = fork();
	if (!child)
		submitter(self, op, delivery, flag);
	ASSERT_EQ(true, reached(&self->shared->begun, 1));
	usleep(kt_below(&rng, LONGEST_US));
	kill(child, SIGKILL);
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	EXPECT_EQ(0, self->shared->failed);
}

KT_TEST(kill, submitter_reading)
{
	uint64_t i;

	for (i = 1; i <= rounds; i++) {
		kill_submitter(_metadata, self, DDIO_READ, i % 2 ? DDIO_PLACE : DDIO_STREAM);
		look(_metadata, self, i);
	}
}

/* Writes the bytes that are on the disk already: whatever was begun, the disk must not change. */
KT_TEST(kill, submitter_writing)
{
	unsigned char *now = kt_memory(BLOCKS * BLOCK);
	uint64_t i;

	for (i = 1; i <= rounds; i++) {
		kill_submitter(_metadata, self, DDIO_WRITE, DDIO_PLACE);
		look(_metadata, self, i);
	}
	look(_metadata, self, 0);
	ASSERT_EQ(BLOCKS * BLOCK, pread(self->fd, now, BLOCKS * BLOCK, 0));
	EXPECT_EQ(0, memcmp(now, self->content, BLOCKS * BLOCK));
}

/* Kills the owner of a shared context and all members together. */
KT_TEST(kill, everybody)
{
	struct ddio_submit s;
	uint64_t i;
	pid_t child;

	/* Orphans come here. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (i = 1; i <= rounds; i++) {
		self->shared->begun = 0;
		rng.state++;
		child = fork();
		if (!child) {
			setpgid(0, 0);
			close(self->ctx);
			self->ctx = kt_open();
			if (kt_disk_open(self->ctx, disk->path, O_RDWR, &self->disk))
				count(&self->shared->failed);
			self->joint = kt_joint_create(self->ctx, MEMBERS);
			members_begin(self, kt_below(&rng, MEMBERS));
			if (!reached(&self->shared->joined, MEMBERS) ||
			    submit(self, self->ctx, i % 2 ? DDIO_READ : DDIO_WRITE, &s))
				count(&self->shared->failed);
			count(&self->shared->begun);
			for (;;)
				pause();
		}
		setpgid(child, child);
		ASSERT_EQ(true, reached(&self->shared->begun, 1));
		usleep(kt_below(&rng, LONGEST_US));
		kill(-child, SIGKILL);
		while (waitpid(-1, NULL, 0) > 0)
			;
		EXPECT_EQ(0, self->shared->failed);
		look(_metadata, self, i);
	}
}

/* Thousands of deaths leave almost nothing in the kernel's own memory. */
KT_TEST(kill, memory_of_the_kernel)
{
	struct kt_usage first, after;
	uint64_t i;

	for (i = 0; i < rounds; i++)
		kill_submitter(_metadata, self, DDIO_READ, DDIO_PLACE);
	look(_metadata, self, 0);
	kt_write("2", "/proc/sys/vm/drop_caches");
	kt_usage(&first);
	for (i = 0; i < 4 * rounds; i++)
		kill_submitter(_metadata, self, DDIO_READ, DDIO_PLACE);
	look(_metadata, self, 0);
	kt_write("2", "/proc/sys/vm/drop_caches");
	kt_usage(&after);
	printf("# unreclaimable slabs: %lld kB more after %llu rounds\n",
	       (long long)(after.slab_kb - first.slab_kb), (unsigned long long)(4 * rounds));
	EXPECT_GT(4096, (int64_t)(after.slab_kb - first.slab_kb));
}
