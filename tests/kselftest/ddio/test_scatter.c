// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scatter and gather against a twin that moves byte by byte between plain reads and writes
 * and the members' memory; members in this process and in others.
 */
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/spread.h"
#include "lib/world.h"

#define DISKS 2
#define DISK_USED (16U << 20)
#define BLOCK_MAX 65536U
#define NR 100U
#define RUNS_MAX (NR * 8)
#define LISTS 8
#define MEMBERS KT_SPREAD_MEMBERS
#define ROOM (512U << 10)
/* Members' memory may begin anywhere. */
#define ODD 13

static struct kt_dev *fast[DISKS], *slow, *bad;
static unsigned char before[MEMBERS][ROOM];
static uint64_t seed;

static void kt_prepare(void)
{
	int i;

	seed = kt_seed();
	for (i = 0; i < DISKS; i++)
		fast[i] = kt_dev_null(&(struct kt_null){ .megabytes = 40 });
	slow = kt_dev_null(&(struct kt_null){
		.megabytes = 16,
		.more = "irqmode=2 completion_nsec=2000000 submit_queues=1 hw_queue_depth=1" });
	bad = kt_dev_null(&(struct kt_null){ .megabytes = 16, .more = "badblocks=+64-95" });
	if (!fast[0] || !fast[1] || !slow || !bad)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
}

FIXTURE(scatter)
{
	struct kt_rig rig;
	struct kt_rng rng;
	struct kt_spread spread;
	int joint;
	int member[MEMBERS];
	unsigned char *memory[MEMBERS];
	bool in_others;
};

/* Allocates memory, visible to all processes, for what the members ought to hold. */
static unsigned char *shared(size_t length)
{
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int setup_spread(FIXTURE_DATA(scatter) * self)
{
	struct kt_spread *spread = &self->spread;
	int i;

	spread->rig = &self->rig;
	spread->room = ROOM;
	spread->nr_members = MEMBERS;
	spread->max_runs = RUNS_MAX;
	spread->block = calloc(NR, sizeof(*spread->block));
	spread->run = calloc(RUNS_MAX, sizeof(*spread->run));
	if (!spread->block || !spread->run)
		return -ENOMEM;
	for (i = 0; i < MEMBERS; i++) {
		spread->member[i] = shared(ROOM);
		if (!spread->member[i])
			return -ENOMEM;
		kt_fill(&self->rng, spread->member[i], ROOM);
	}
	return 0;
}

static int setup_members(FIXTURE_DATA(scatter) * self)
{
	int i;

	for (i = 0; i < MEMBERS; i++) {
		self->memory[i] = kt_memory(ROOM + ODD);
		if (!self->memory[i])
			return -ENOMEM;
		memcpy(self->memory[i] + ODD, self->spread.member[i], ROOM);
		self->member[i] =
			ddio_kdev_joint_join(self->joint, i, self->memory[i] + ODD, ROOM, 0);
		if (self->member[i] < 0)
			return self->member[i];
	}
	return 0;
}

static int setup(FIXTURE_DATA(scatter) * self, struct kt_dev *const *dev, __u32 nr, bool in_others)
{
	int err;

	self->rng.state = seed;
	self->in_others = in_others;
	err = kt_rig_init(&self->rig, dev, nr, DISK_USED, &self->rng);
	if (!err)
		err = setup_spread(self);
	if (err)
		return err;
	self->joint = ddio_kdev_joint_create(&self->rig.kdev, MEMBERS);
	if (self->joint < 0)
		return self->joint;
	return in_others ? 0 : setup_members(self);
}

FIXTURE_SETUP(scatter)
{
	self->rig.kdev.fd = -1;
	self->joint = -1;
}

FIXTURE_TEARDOWN(scatter)
{
	int i;

	for (i = 0; i < MEMBERS; i++) {
		if (self->memory[i]) {
			close(self->member[i]);
			munmap(self->memory[i], ROOM + ODD);
		}
		if (self->spread.member[i])
			munmap(self->spread.member[i], ROOM);
	}
	free(self->spread.block);
	free(self->spread.run);
	if (self->joint >= 0)
		close(self->joint);
	kt_rig_fini(&self->rig);
}

/* Submits the list; its id. */
static int submit(FIXTURE_DATA(scatter) * self, __u32 op, __u32 depth, __u32 flags, __u32 *id)
{
	struct ddio_submit s;
	int err;

	kt_spread_submit(&self->spread, &s, op, self->joint);
	s.depth = depth;
	s.flags = flags;
	err = ddio_kdev_submit(&self->rig.kdev, &s);
	*id = s.out_collective;
	return err;
}

static int transfer(FIXTURE_DATA(scatter) * self, __u32 op, __u32 depth, __u32 flags)
{
	__u32 id;
	int err = submit(self, op, depth, flags, &id);

	return err ? err : ddio_kdev_finish(&self->rig.kdev, id, NULL, 0);
}

static bool draw(FIXTURE_DATA(scatter) * self, __u32 op)
{
	const struct kt_draw how = { NR, BLOCK_MAX, op == DDIO_WRITE };

	return kt_spread_draw(&self->spread, &self->rng, &how, op);
}

static bool members_same(FIXTURE_DATA(scatter) * self)
{
	int i;

	for (i = 0; i < MEMBERS; i++)
		if (memcmp(self->memory[i] + ODD, self->spread.member[i], ROOM))
			return false;
	return true;
}

KT_TEST(scatter, lists)
{
	static const __u32 depth[] = { 0, 1, 2, 3, 16, 64 };
	static const __u32 flags[] = { 0, DDIO_SUBMIT_ORDERED, DDIO_SUBMIT_WAIT };
	__u32 i, op;

	ASSERT_EQ(0, setup(self, fast, DISKS, false));
	for (i = 0; i < 2 * LISTS; i++) {
		op = i & 1 ? DDIO_WRITE : DDIO_READ;
		ASSERT_TRUE(draw(self, op));
		kt_spread_move_all(&self->spread, op);
		ASSERT_EQ(0, transfer(self, op, depth[i % KT_ARRAY_SIZE(depth)], flags[i % 3]));
		ASSERT_TRUE(members_same(self));
		if (op == DDIO_WRITE)
			ASSERT_TRUE(kt_rig_same(&self->rig));
	}
}

/* Deals out long blocks, whose bounce buffers are not contiguous, in small pieces. */
KT_TEST(scatter, long_blocks)
{
	static const __u32 piece[] = { 1, 2, 4, 8, 16, 48 };
	struct kt_spread *spread = &self->spread;
	__u32 i, m, length = 1 << 20, share = ROOM / 4;

	ASSERT_EQ(0, setup(self, fast, DISKS, false));
	for (i = 0; i < KT_ARRAY_SIZE(piece); i++) {
		spread->nr = 1;
		spread->nr_runs = MEMBERS;
		memset(spread->block, 0, sizeof(*spread->block));
		spread->block[0].disk = self->rig.image[i % DISKS].id;
		spread->block[0].offset = i << 20;
		spread->block[0].length = length;
		spread->block[0].buffer = MEMBERS;
		for (m = 0; m < MEMBERS; m++)
			spread->run[m] = (struct ddio_run){
				.memory = m * 7,
				.offset = m * piece[i],
				.length = piece[i],
				.member = m,
				.levels = 1,
				.level = { { share / piece[i], MEMBERS * piece[i], piece[i] } },
			};
		kt_spread_move_all(spread, DDIO_READ);
		ASSERT_EQ(0, transfer(self, DDIO_READ, 2, 0));
		ASSERT_TRUE(members_same(self));
		kt_spread_move_all(spread, DDIO_WRITE);
		ASSERT_EQ(0, transfer(self, DDIO_WRITE, 2, 0));
		ASSERT_TRUE(kt_rig_same(&self->rig));
	}
}

/* Scatters the longest blocks that are possible. */
KT_TEST(scatter, longest_block)
{
	struct ddio_block block = { .length = DDIO_BLOCK_LENGTH_MAX, .buffer = 1 };
	struct ddio_run run = { .length = 4, .levels = 1 };
	struct kt_spread spread = { .block = &block, .nr = 1, .run = &run, .nr_runs = 1 };
	unsigned char *memory, *plain;
	struct ddio_submit s;
	int member, joint, i;

	ASSERT_EQ(0, setup(self, fast, 1, false));
	run.level[0] = (struct ddio_run_level){ DDIO_BLOCK_LENGTH_MAX / 4, 4, -4 };
	run.memory = DDIO_BLOCK_LENGTH_MAX - 4;
	block.disk = self->rig.image[0].id;
	memory = kt_memory(DDIO_BLOCK_LENGTH_MAX);
	plain = kt_memory(DDIO_BLOCK_LENGTH_MAX);
	ASSERT_TRUE(memory && plain);
	joint = ddio_kdev_joint_create(&self->rig.kdev, 1);
	ASSERT_LE(0, joint);
	member = ddio_kdev_joint_join(joint, 0, memory, DDIO_BLOCK_LENGTH_MAX, 0);
	ASSERT_LE(0, member);
	kt_spread_submit(&spread, &s, DDIO_READ, joint);
	ASSERT_EQ(0, ddio_kdev_submit(&self->rig.kdev, &s));
	EXPECT_EQ(0, ddio_kdev_finish(&self->rig.kdev, s.out_collective, NULL, 0));
	ASSERT_EQ(DDIO_BLOCK_LENGTH_MAX,
		  pread(self->rig.image[0].fd, plain, DDIO_BLOCK_LENGTH_MAX, 0));
	for (i = 0; i < (int)DDIO_BLOCK_LENGTH_MAX; i += 4)
		if (memcmp(memory + DDIO_BLOCK_LENGTH_MAX - 4 - i, plain + i, 4))
			break;
	EXPECT_EQ(DDIO_BLOCK_LENGTH_MAX, i);
	close(member);
	close(joint);
	munmap(memory, DDIO_BLOCK_LENGTH_MAX);
	munmap(plain, DDIO_BLOCK_LENGTH_MAX);
}

/* Bit by bit: nothing of the kernel's. */
static __u32 sum_of(const unsigned char *p, size_t n)
{
	__u32 crc = ~0U;
	int bit;

	while (n--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static void set_sums(FIXTURE_DATA(scatter) * self)
{
	struct kt_spread *spread = &self->spread;
	__u32 i;

	for (i = 0; i < spread->nr; i++)
		spread->block[i].sum =
			sum_of(kt_rig_at(&self->rig, &spread->block[i]), spread->block[i].length);
}

/* Turns one bit on the disk of one block in three; returns how many blocks have one that is wrong. */
static __u32 turn_bits(FIXTURE_DATA(scatter) * self)
{
	struct kt_spread *spread = &self->spread;
	__u32 i, n = 0;

	for (i = 0; i < spread->nr; i += 3) {
		struct ddio_block *b = &spread->block[i];
		unsigned char *at = kt_rig_at(&self->rig, b);
		__u32 bit = kt_below(&self->rng, b->length * 8);

		at[bit / 8] ^= 1 << bit % 8;
	}
	for (i = 0; i < self->rig.nr; i++)
		if (pwrite(self->rig.image[i].fd, self->rig.image[i].bytes, DISK_USED, 0) !=
		    DISK_USED)
			return 0;
	for (i = 0; i < spread->nr; i++)
		n += spread->block[i].sum !=
		     sum_of(kt_rig_at(&self->rig, &spread->block[i]), spread->block[i].length);
	return n;
}

/* A block that differs from its sum fails, and no byte of it comes to a member; all others come whole. */
KT_TEST(scatter, sums_of_what_is_read)
{
	struct kt_spread *spread = &self->spread;
	const struct kt_draw how = { NR, BLOCK_MAX, true };
	__s32 status[NR];
	__u32 i, k, id, bad, named;

	ASSERT_EQ(0, setup(self, fast, DISKS, false));
	for (k = 0; k < 4; k++) {
		ASSERT_TRUE(kt_spread_draw(spread, &self->rng, &how, DDIO_READ));
		set_sums(self);
		kt_spread_move_all(spread, DDIO_READ);
		ASSERT_EQ(0, transfer(self, DDIO_READ, 1 + k, DDIO_SUBMIT_SUMS));
		ASSERT_TRUE(members_same(self));

		ASSERT_TRUE(kt_spread_draw(spread, &self->rng, &how, DDIO_READ));
		set_sums(self);
		bad = turn_bits(self);
		ASSERT_EQ((NR + 2) / 3, bad);
		ASSERT_EQ(0, submit(self, DDIO_READ, 1 + k,
				    DDIO_SUBMIT_SUMS | DDIO_SUBMIT_KEEP_GOING, &id));
		EXPECT_EQ(-EBADMSG, ddio_kdev_finish(&self->rig.kdev, id, status, NR));
		for (i = 0, named = 0; i < NR; i++) {
			EXPECT_EQ(i % 3 ? 0 : -EBADMSG, status[i]);
			named += status[i] == -EBADMSG;
			if (!status[i])
				kt_spread_move(spread, i, DDIO_READ);
		}
		EXPECT_EQ(bad, named);
		EXPECT_TRUE(members_same(self));
	}
}

/* The events tell the sums of what is on the disk then. */
KT_TEST(scatter, sums_of_what_is_written)
{
	const struct ddio_event *event;
	struct kt_spread *spread = &self->spread;
	__u32 i, told;

	ASSERT_EQ(0, setup(self, fast, DISKS, false));
	ASSERT_EQ(0, ddio_kdev_ring_setup(&self->rig.kdev, 256, 0));
	for (i = 0; i < 8; i++) {
		__u32 flags = DDIO_SUBMIT_EVENTS | (i % 2 ? DDIO_SUBMIT_SUMS : 0);

		ASSERT_TRUE(draw(self, DDIO_WRITE));
		kt_spread_move_all(spread, DDIO_WRITE);
		ASSERT_EQ(0, transfer(self, DDIO_WRITE, 1 + i, flags));
		ASSERT_TRUE(kt_rig_same(&self->rig));
		for (told = 0; (event = ddio_kdev_event(&self->rig.kdev));
		     ddio_kdev_event_done(&self->rig.kdev)) {
			const struct ddio_block *b = &spread->block[event->index % NR];

			if (event->kind != DDIO_EVENT_BLOCK) {
				EXPECT_EQ(0, event->slot);
				continue;
			}
			EXPECT_EQ(i % 2 ? sum_of(kt_rig_at(&self->rig, b), b->length) : 0,
				  event->slot);
			told++;
		}
		EXPECT_EQ(NR, told);
	}
}

/* Blocks may share runs, or have none. */
KT_TEST(scatter, shared_runs)
{
	struct kt_spread *spread = &self->spread;
	struct ddio_run run = { .offset = 1, .length = 3, .levels = 2, .member = 2 };
	__u32 i, op;

	ASSERT_EQ(0, setup(self, fast, DISKS, false));
	run.level[0] = (struct ddio_run_level){ 7, 5, 4 };
	run.level[1] = (struct ddio_run_level){ 3, 40, 100 };
	for (op = DDIO_READ; op <= DDIO_WRITE; op++) {
		const struct kt_draw how = { 20, 512, op == DDIO_WRITE };

		ASSERT_TRUE(kt_rig_draw(&self->rig, &self->rng, &how, spread->block));
		spread->run[0] = run;
		spread->nr = 20;
		spread->nr_runs = 1;
		for (i = 0; i < spread->nr; i++)
			spread->block[i].buffer = op == DDIO_WRITE ? i % 3 != 0 : i == 5;
		kt_spread_move_all(spread, op);
		ASSERT_EQ(0, transfer(self, op, 2, 0));
		EXPECT_TRUE(members_same(self));
	}
	EXPECT_TRUE(kt_rig_same(&self->rig));
}

KT_TEST(scatter, bad_sectors)
{
	struct kt_dev *const dev[] = { bad };
	struct kt_spread *spread = &self->spread;
	__u32 i, nr_bad = 0, id;
	__s32 status[NR];

	kt_write("-64-95", "/sys/kernel/config/nullb/%s/badblocks", bad->name);
	ASSERT_EQ(0, setup(self, dev, 1, false));
	kt_write("+64-95", "/sys/kernel/config/nullb/%s/badblocks", bad->name);
	self->rig.image[0].length = 1 << 18;
	ASSERT_TRUE(draw(self, DDIO_READ));
	ASSERT_EQ(0, submit(self, DDIO_READ, 2, DDIO_SUBMIT_KEEP_GOING, &id));
	EXPECT_EQ(-EIO, ddio_kdev_finish(&self->rig.kdev, id, status, NR));
	for (i = 0; i < NR; i++) {
		bool is_bad = spread->block[i].offset < 96 * 512 &&
			      spread->block[i].offset + spread->block[i].length > 64 * 512;

		EXPECT_EQ(is_bad ? -EIO : 0, status[i]);
		nr_bad += is_bad;
		if (!is_bad)
			kt_spread_move(spread, i, DDIO_READ);
	}
	EXPECT_NE(0, nr_bad);
	/* Nothing of a block that could not be read is anywhere. */
	EXPECT_TRUE(members_same(self));
}

/* Blocks that were cancelled while they were read may have been copied in part: takes over the bytes that have been. */
static void take_over_parts(FIXTURE_DATA(scatter) * self, const __s32 *status)
{
	size_t m, at;
	__u32 k;

	for (m = 0; m < MEMBERS; m++)
		memcpy(before[m], self->spread.member[m], ROOM);
	for (k = 0; k < NR; k++)
		if (status[k])
			kt_spread_move(&self->spread, k, DDIO_READ);
	for (m = 0; m < MEMBERS; m++)
		for (at = 0; at < ROOM; at++)
			if (self->memory[m][ODD + at] == before[m][at])
				self->spread.member[m][at] = before[m][at];
}

KT_TEST(scatter, cancel)
{
	struct kt_dev *const dev[] = { slow };
	__s32 status[NR];
	__u32 i, k, id, ok;

	ASSERT_EQ(0, setup(self, dev, 1, false));
	for (i = 0; i < 6; i++) {
		__u32 op = i & 1 ? DDIO_WRITE : DDIO_READ;

		ASSERT_TRUE(draw(self, op));
		ASSERT_EQ(0, submit(self, op, 2, 0, &id));
		usleep(kt_below(&self->rng, 100000));
		EXPECT_EQ(0, ddio_kdev_cancel(&self->rig.kdev, id));
		EXPECT_EQ(-ECANCELED, ddio_kdev_finish(&self->rig.kdev, id, status, NR));
		for (k = 0, ok = 0; k < NR; k++) {
			EXPECT_TRUE(!status[k] || status[k] == -ECANCELED);
			ok += !status[k];
			if (!status[k])
				kt_spread_move(&self->spread, k, op);
		}
		if (op == DDIO_READ)
			take_over_parts(self, status);
		EXPECT_GT(NR, ok);
		EXPECT_TRUE(op == DDIO_READ ? members_same(self) : kt_rig_same(&self->rig));
	}
}

/* Runs a member's process: joins, and says after each collective whether it holds what it ought to. */
static void member_main(FIXTURE_DATA(scatter) * self, int nr, int to, int from)
{
	unsigned char *memory = malloc(ROOM + 4096), *at = memory + 11 * nr;
	struct ddio_joint_wait wait = { 0 };
	char word = 'n', ask;
	int fd = -1;

	if (memory) {
		memcpy(at, self->spread.member[nr], ROOM);
		fd = ddio_kdev_joint_join(self->joint, nr, at, ROOM, 0);
		word = fd < 0 ? 'n' : 'y';
	}
	while (write(to, &word, 1) == 1 && word == 'y' && read(from, &ask, 1) == 1) {
		if (ddio_kdev_joint_wait(fd, wait.out_ended, DDIO_FOREVER, &wait) || wait.out_error)
			word = 'w';
		else if (memcmp(at, self->spread.member[nr], ROOM))
			word = 'b';
	}
	_exit(0);
}

static bool all_say_yes(const int *from)
{
	bool yes = true;
	char word;
	int i;

	for (i = 0; i < MEMBERS; i++)
		yes = read(from[i], &word, 1) == 1 && word == 'y' && yes;
	return yes;
}

KT_TEST(scatter, processes)
{
	int to[MEMBERS], from[MEMBERS], pipes[4], i;
	__u32 k, op;

	ASSERT_EQ(0, setup(self, fast, DISKS, true));
	for (i = 0; i < MEMBERS; i++) {
		ASSERT_EQ(0, pipe(pipes) || pipe(pipes + 2));
		if (!fork()) {
			close(pipes[0]);
			close(pipes[3]);
			ddio_kdev_close(&self->rig.kdev);
			member_main(self, i, pipes[1], pipes[2]);
		}
		close(pipes[1]);
		close(pipes[2]);
		from[i] = pipes[0];
		to[i] = pipes[3];
	}
	ASSERT_TRUE(all_say_yes(from));
	for (k = 0; k < 2 * LISTS; k++) {
		op = k & 1 ? DDIO_WRITE : DDIO_READ;
		ASSERT_TRUE(draw(self, op));
		kt_spread_move_all(&self->spread, op);
		for (i = 0; i < MEMBERS; i++)
			ASSERT_EQ(1, write(to[i], "?", 1));
		ASSERT_EQ(0, transfer(self, op, 1 + k % 4, 0));
		ASSERT_TRUE(all_say_yes(from));
		if (op == DDIO_WRITE)
			ASSERT_TRUE(kt_rig_same(&self->rig));
	}
	for (i = 0; i < MEMBERS; i++) {
		close(to[i]);
		close(from[i]);
	}
	while (wait(NULL) > 0)
		;
}
