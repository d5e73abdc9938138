// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disks that fail, vanish, stall and come back while a collective is under way: every
 * block ends, with a status that is true, and nothing stays behind.
 *
 * DDIO_ROUNDS: of each accident (4)
 */
#include <fcntl.h>
#include <linux/types.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/twin.h"
#include "lib/world.h"

#define DISK_MB 16
#define SECTORS (DISK_MB << 11)
#define HP_DIR "/sys/kernel/config/hp97560/%s/"

static struct kt_dev *slow, *map, *bad, *hp;
static char linear[64];
static uint64_t seed, rounds;

static void kt_prepare(void)
{
	char numbers[32];

	seed = kt_seed();
	rounds = kt_env("DDIO_ROUNDS", 4);
	slow = kt_dev_null(&(struct kt_null){ .megabytes = DISK_MB,
					      .more = "irqmode=2 completion_nsec=2000000" });
	bad = kt_dev_null(&(struct kt_null){ .megabytes = DISK_MB });
	if (!slow || !bad)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
	kt_dev_numbers(slow, numbers, sizeof(numbers));
	snprintf(linear, sizeof(linear), "%s 0", numbers);
	map = kt_dev_dm(SECTORS, "linear", linear);
	/* 5 real milliseconds for a second of the drive's: fast, but not at once. */
	hp = kt_dev_hp97560("size=32768 time_scale=5000");
}

FIXTURE(faults)
{
	struct kt_rng rng;
	struct kt_usage before;
	int ctx;
	struct kt_twin twin;
	struct kt_place place;
	struct kt_shape shape;
	struct kt_list list;
};

FIXTURE_SETUP(faults)
{
	kt_usage(&self->before);
	self->rng.state = seed;
	self->ctx = kt_open();
	ASSERT_LE(0, self->ctx);
	ASSERT_EQ(0, kt_place_init(&self->place, self->ctx, 8 << 20, 0, 0));
	self->shape = (struct kt_shape){ .twin = &self->twin,
					 .nr_twins = 1,
					 .place = &self->place,
					 .nr_places = 1,
					 .nr = 400,
					 .longest = 16384,
					 .apart = true };
}

FIXTURE_TEARDOWN(faults)
{
	close(self->ctx);
	EXPECT_EQ(true, kt_usage_settled(&self->before, 20));
}

#define NEED(dev)                                                                    \
	do {                                                                         \
		if (!(dev))                                                          \
			SKIP(return, "no such disk can be made here");               \
		ASSERT_EQ(0, kt_twin_init(&self->twin, dev, self->ctx, &self->rng)); \
	} while (0)

/* Makes and submits a new list; the caller handles errors of the call. */
static int begin(FIXTURE_DATA(faults) * self, __u32 op, __u32 flags, __u32 *coll)
{
	struct ddio_submit s;
	int err;

	self->shape.dense = kt_below(&self->rng, 2);
	kt_place_fill(&self->place, &self->rng);
	err = kt_list_random(&self->list, &self->shape, &self->rng);
	if (err)
		return err;
	kt_submit_init(&s, op, DDIO_PLACE, self->list.block, self->list.nr);
	s.flags = flags;
	s.depth = kt_below(&self->rng, 9);
	err = kt_submit(self->ctx, &s);
	*coll = s.out_collective;
	return err;
}

/* Waits for the end, compares what has been moved, and forgets it all. */
static void end(struct __test_metadata *_metadata, FIXTURE_DATA(faults) * self, __u32 op,
		__u32 coll, struct kt_tally *tally, struct ddio_wait *wait)
{
	struct kt_list *list = &self->list;
	uint64_t i;
	int64_t at;

	ASSERT_EQ(0, kt_wait(self->ctx, coll, kt_now() + 30 * KT_SECOND, wait))
	{
		TH_LOG("the collective does not end");
	}
	ASSERT_EQ(0, kt_wait_status(self->ctx, coll, list->status, list->nr, wait));
	kt_list_expect_status(list, &self->shape, op, tally);
	EXPECT_EQ(0, tally->undone);
	EXPECT_EQ(tally->ok, wait->out_blocks);
	EXPECT_EQ(tally->ok == list->nr, !wait->out_error);
	if (wait->out_error) {
		ASSERT_GT(list->nr, wait->out_block);
		EXPECT_EQ(list->status[wait->out_block], wait->out_error);
	} else {
		EXPECT_EQ(~0ULL, wait->out_block);
	}
	at = kt_place_check(&self->place);
	for (i = 0; at >= 0 && i < list->nr; i++)
		if (list->block[i].where <= (__u64)at &&
		    (__u64)at < list->block[i].where + list->block[i].length)
			TH_LOG("block %lu of status %d is not as it must be", (unsigned long)i,
			       list->status[i]);
	EXPECT_EQ(-1, at);
	EXPECT_EQ(0, kt_destroy(self->ctx, coll));
	kt_list_free(list);
}

static void disk_is_right(struct __test_metadata *_metadata, FIXTURE_DATA(faults) * self)
{
	EXPECT_EQ(-1, kt_twin_check(&self->twin, true));
}

KT_TEST(faults, cancelled_at_random)
{
	struct kt_tally tally;
	struct ddio_wait wait;
	__u32 coll, op;
	uint64_t i;

	NEED(slow);
	for (i = 0; i < 2 * rounds; i++) {
		op = i % 2 ? DDIO_READ : DDIO_WRITE;
		ASSERT_EQ(0, begin(self, op, 0, &coll));
		usleep(kt_below(&self->rng, 200000));
		EXPECT_EQ(0, kt_cancel(self->ctx, coll));
		end(_metadata, self, op, coll, &tally, &wait);
		EXPECT_EQ(0, tally.failed);
		disk_is_right(_metadata, self);
	}
}

/* Replaces the map underneath by one that returns errors, and then restores it. */
KT_TEST(faults, error_target)
{
	struct kt_tally tally;
	struct ddio_wait wait;
	__u32 coll, op, flags;
	uint64_t i;

	NEED(map);
	for (i = 0; i < 2 * rounds; i++) {
		op = i % 2 ? DDIO_READ : DDIO_WRITE;
		flags = i & 2 ? DDIO_SUBMIT_KEEP_GOING : 0;
		ASSERT_EQ(0, begin(self, op, flags, &coll));
		usleep(kt_below(&self->rng, 100000));
		EXPECT_EQ(0, kt_dm_reload(map, SECTORS, "error", ""));
		ASSERT_EQ(0, kt_wait(self->ctx, coll, kt_now() + 30 * KT_SECOND, &wait));
		EXPECT_EQ(0, kt_dm_reload(map, SECTORS, "linear", linear));
		end(_metadata, self, op, coll, &tally, &wait);
		EXPECT_TRUE(!wait.out_error || wait.out_error == -EIO);
		if (flags) {
			EXPECT_EQ(0, tally.canceled);
		}
		disk_is_right(_metadata, self);
	}
	/* As if nothing had been. */
	ASSERT_EQ(0, begin(self, DDIO_WRITE, 0, &coll));
	end(_metadata, self, DDIO_WRITE, coll, &tally, &wait);
	EXPECT_EQ(0, wait.out_error);
	disk_is_right(_metadata, self);
}

/* Notes which blocks of a list touch [@from, @to). */
static void exactly(struct __test_metadata *_metadata, FIXTURE_DATA(faults) * self, __u64 from,
		    __u64 to)
{
	uint64_t i;

	for (i = 0; i < self->list.nr; i++) {
		const struct ddio_block *b = &self->list.block[i];
		bool touched = b->offset < to && b->offset + b->length > from;

		ASSERT_EQ(touched ? -EIO : 0, self->list.status[i])
		{
			TH_LOG("block %llu at %llu", (unsigned long long)i,
			       (unsigned long long)b->offset);
		}
	}
}

/* Bad sectors: exactly the blocks that touch them fail, also where neighbours share a transfer. */
KT_TEST(faults, bad_sectors)
{
	struct ddio_wait wait;
	__u64 from = 4 << 20, to = from + 65536;
	uint64_t i;
	__u32 coll;

	NEED(bad);
	if (kt_write("+8192-8319", "/sys/kernel/config/nullb/%s/badblocks", bad->name))
		SKIP(return, "null_blk has no bad blocks here");
	for (i = 0; i < 2 * rounds; i++) {
		__u32 op = i % 2 ? DDIO_READ : DDIO_WRITE;

		self->shape.nr = 1500;
		ASSERT_EQ(0, begin(self, op, DDIO_SUBMIT_KEEP_GOING, &coll));
		ASSERT_EQ(0,
			  kt_wait_status(self->ctx, coll, self->list.status, self->list.nr, &wait));
		exactly(_metadata, self, from, to);
		EXPECT_EQ(0, kt_destroy(self->ctx, coll));
		kt_list_free(&self->list);
	}
	kt_write("-8192-8319", "/sys/kernel/config/nullb/%s/badblocks", bad->name);
}

/* The first error ends the collective: no further transfers begin. */
KT_TEST(faults, first_error)
{
	struct ddio_block block[64];
	struct ddio_wait wait;
	struct ddio_submit s;
	__s32 status[64];
	int i;

	NEED(bad);
	if (kt_write("+80-80", "/sys/kernel/config/nullb/%s/badblocks", bad->name))
		SKIP(return, "null_blk has no bad blocks here");
	for (i = 0; i < 64; i++)
		block[i] = (struct ddio_block){ .offset = i * 8192,
						.where = i * 4096,
						.length = 4096,
						.disk = self->twin.id,
						.buffer = self->place.id };
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, block, 64);
	s.depth = 1;
	s.flags = DDIO_SUBMIT_WAIT;
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	EXPECT_EQ(-EIO, s.out_error);
	ASSERT_EQ(0, kt_wait_status(self->ctx, s.out_collective, status, 64, &wait));
	EXPECT_EQ(5, wait.out_block);
	EXPECT_EQ(5, wait.out_blocks);
	EXPECT_EQ(5 * 4096, wait.out_bytes);
	for (i = 0; i < 64; i++) {
		EXPECT_EQ(i < 5 ? 0 : i == 5 ? -EIO : -ECANCELED, status[i]);
	}
	kt_write("-80-80", "/sys/kernel/config/nullb/%s/badblocks", bad->name);
}

/* dm-flakey: errors for a second of every two. */
KT_TEST(faults, flakey)
{
	struct kt_tally tally;
	struct ddio_wait wait;
	struct kt_dev *dev;
	char table[96];
	uint64_t i, n = 0;
	__u32 coll;

	snprintf(table, sizeof(table), "%s 1 1", linear);
	dev = kt_dev_dm(SECTORS, "flakey", table);
	if (!dev)
		SKIP(return, "no flakey target here");
	/* Filled through the map below, which does not fail. */
	NEED(slow);
	EXPECT_EQ(0, kt_destroy(self->ctx, self->twin.id));
	for (n = 0; n < 100 && kt_disk_open(self->ctx, dev->path, O_RDWR, &self->twin.id); n++)
		usleep(50000);
	for (i = 0; i < rounds; i++) {
		ASSERT_EQ(0, begin(self, i % 2 ? DDIO_READ : DDIO_WRITE, DDIO_SUBMIT_KEEP_GOING,
				   &coll));
		end(_metadata, self, i % 2 ? DDIO_READ : DDIO_WRITE, coll, &tally, &wait);
		EXPECT_EQ(0, tally.canceled);
		disk_is_right(_metadata, self);
	}
	EXPECT_EQ(0, kt_destroy(self->ctx, self->twin.id));
	kt_dev_free(dev);
}

/*
 * A disk that goes away with everything in flight.  What ended well before is right.  A thousand
 * blocks, two at a time, last for seconds on the disks that are taken, however late the word comes.
 */
static void vanish(struct __test_metadata *_metadata, FIXTURE_DATA(faults) * self, const char *word,
		   const char *path)
{
	struct ddio_block block = { .length = 4096,
				    .disk = self->twin.id,
				    .buffer = self->place.id };
	struct ddio_submit s;
	struct kt_tally tally;
	struct ddio_wait wait;
	__u32 coll;

	self->shape.nr = 1000;
	ASSERT_EQ(0, begin(self, DDIO_READ, 0, &coll));
	usleep(kt_below(&self->rng, 50000));
	EXPECT_EQ(0, kt_write(word, "%s", path));
	end(_metadata, self, DDIO_READ, coll, &tally, &wait);
	EXPECT_NE(0, wait.out_error);
	/* It cannot be used any more, and can be let go. */
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, &block, 1);
	s.flags = DDIO_SUBMIT_WAIT;
	if (!kt_submit(self->ctx, &s)) {
		EXPECT_EQ(DDIO_ENDED, s.out_state);
		EXPECT_GT(0, s.out_error);
	}
	EXPECT_EQ(0, kt_destroy(self->ctx, self->twin.id));
}

KT_TEST(faults, hp97560_power_off)
{
	struct kt_dev *dev = kt_dev_hp97560("size=8192 time_scale=200000");
	char path[128];
	uint64_t i;

	for (i = 0; i < rounds; i++) {
		NEED(dev);
		snprintf(path, sizeof(path), HP_DIR "power", dev->name);
		vanish(_metadata, self, "0", path);
		kt_twin_fini(&self->twin);
		EXPECT_EQ(0, kt_write("1", "%s", path));
	}
	kt_dev_free(dev);
}

KT_TEST(faults, null_blk_power_off)
{
	struct kt_dev *dev;
	char path[128];

	dev = kt_dev_null(&(struct kt_null){ .megabytes = DISK_MB,
					     .more = "irqmode=2 completion_nsec=10000000" });
	NEED(dev);
	snprintf(path, sizeof(path), "/sys/kernel/config/nullb/%s/power", dev->name);
	vanish(_metadata, self, "0", path);
	kt_twin_fini(&self->twin);
	kt_dev_free(dev);
}

KT_TEST(faults, scsi_disk_deleted)
{
	struct kt_dev *dev = kt_dev_scsi_debug("dev_size_mb=16 ndelay=10000000");
	char path[128];

	NEED(dev);
	snprintf(path, sizeof(path), "/sys/block/%s/device/delete", dev->name);
	vanish(_metadata, self, "1", path);
	kt_twin_fini(&self->twin);
	close(self->ctx);
	self->ctx = kt_open();
	kt_dev_free(dev);
	EXPECT_NE(0, access("/sys/bus/pseudo/drivers/scsi_debug", F_OK));
}

/* Makes every nth request fail; in the end, all of them. */
KT_TEST(faults, hp97560_injected_errors)
{
	static const char *const every[] = { "17", "3", "2", "1" };
	struct kt_tally tally;
	struct ddio_wait wait;
	uint64_t i;
	__u32 coll;

	NEED(hp);
	for (i = 0; i < 8; i++) {
		__u32 op = i % 2 ? DDIO_READ : DDIO_WRITE;

		self->shape.nr = 100;
		ASSERT_EQ(0, kt_write(every[i / 2], HP_DIR "fail_every", hp->name));
		ASSERT_EQ(0, begin(self, op, DDIO_SUBMIT_KEEP_GOING, &coll));
		ASSERT_EQ(0, kt_wait(self->ctx, coll, kt_now() + 30 * KT_SECOND, &wait));
		ASSERT_EQ(0, kt_write("0", HP_DIR "fail_every", hp->name));
		end(_metadata, self, op, coll, &tally, &wait);
		EXPECT_EQ(0, tally.canceled);
		EXPECT_TRUE(i < 6 || !tally.ok);
		disk_is_right(_metadata, self);
	}
}

static const struct {
	const char *name;
	int error;
} kinds[] = {
	{ "io", -EIO },
	{ "medium", -ENODATA },
	{ "nospc", -ENOSPC },
	{ "notsupp", -EOPNOTSUPP },
	{ "protection", -EILSEQ },
	{ "target", -EREMOTEIO },
	{ "timeout", -ETIMEDOUT },
	{ "transport", -ENOLINK },
};

/* Each kind of error that a disk may give comes through as what it is. */
KT_TEST(faults, hp97560_kinds_of_error)
{
	struct ddio_block block = { .length = 4096, .buffer = self->place.id };
	struct ddio_submit s;
	size_t i;

	NEED(hp);
	block.disk = self->twin.id;
	ASSERT_EQ(0, kt_write("1", HP_DIR "fail_every", hp->name));
	for (i = 0; i < KT_ARRAY_SIZE(kinds); i++) {
		ASSERT_EQ(0, kt_write(kinds[i].name, HP_DIR "fail_status", hp->name));
		kt_submit_init(&s, DDIO_READ, DDIO_PLACE, &block, 1);
		s.flags = DDIO_SUBMIT_WAIT;
		ASSERT_EQ(0, kt_submit(self->ctx, &s));
		EXPECT_EQ(kinds[i].error, s.out_error)
		{
			TH_LOG("%s", kinds[i].name);
		}
	}
	EXPECT_EQ(0, kt_write("io", HP_DIR "fail_status", hp->name));
	EXPECT_EQ(0, kt_write("0", HP_DIR "fail_every", hp->name));
}

/* No process hangs on a disk that does not answer; once it answers, everything is released. */
KT_TEST(faults, stalled)
{
	struct kt_tally tally;
	struct ddio_wait wait;
	__u64 start;
	__u32 coll;
	pid_t child;
	int status;

	NEED(hp);
	ASSERT_EQ(0, kt_write("1", HP_DIR "stall", hp->name));
	ASSERT_EQ(0, begin(self, DDIO_READ, 0, &coll));
	EXPECT_EQ(-ETIMEDOUT, kt_wait(self->ctx, coll, kt_now() + KT_SECOND / 10, &wait));
	EXPECT_EQ(0, kt_cancel(self->ctx, coll));
	EXPECT_EQ(-ETIMEDOUT, kt_wait(self->ctx, coll, kt_now() + KT_SECOND / 10, &wait));
	/* One who waits can be killed. */
	child = fork();
	if (!child) {
		kt_wait(self->ctx, coll, DDIO_FOREVER, &wait);
		_exit(1);
	}
	usleep(50000);
	start = kt_now();
	kill(child, SIGKILL);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(true, WIFSIGNALED(status));
	EXPECT_GT(start + 5 * KT_SECOND, kt_now());
	ASSERT_EQ(0, kt_write("0", HP_DIR "stall", hp->name));
	end(_metadata, self, DDIO_READ, coll, &tally, &wait);
	EXPECT_LE(1, tally.canceled);
}

/* Closing does not wait for the disk; what is in flight ends by itself. */
KT_TEST(faults, closed_while_stalled)
{
	struct kt_usage now;
	__u64 start;
	__u32 coll;

	NEED(hp);
	ASSERT_EQ(0, kt_write("1", HP_DIR "stall", hp->name));
	ASSERT_EQ(0, begin(self, DDIO_WRITE, 0, &coll));
	usleep(20000);
	start = kt_now();
	close(self->ctx);
	EXPECT_GT(start + 5 * KT_SECOND, kt_now());
	kt_usage(&now);
	EXPECT_LT(self->before.pinned, now.pinned);
	EXPECT_LT(self->before.users, now.users);
	ASSERT_EQ(0, kt_write("0", HP_DIR "stall", hp->name));
	EXPECT_EQ(true, kt_usage_settled(&self->before, 20));
	self->ctx = kt_open();
}

KT_TEST(faults, closed_in_flight)
{
	struct kt_tally tally;
	struct ddio_wait wait;
	uint64_t i;
	__u32 coll;

	for (i = 0; i < rounds; i++) {
		NEED(slow);
		ASSERT_EQ(0, begin(self, i % 2 ? DDIO_READ : DDIO_WRITE, 0, &coll));
		usleep(kt_below(&self->rng, 50000));
		close(self->ctx);
		EXPECT_EQ(true, kt_usage_settled(&self->before, 20));
		kt_twin_fini(&self->twin);
		kt_list_free(&self->list);
		self->ctx = kt_open();
		ASSERT_EQ(0, kt_place_init(&self->place, self->ctx, 8 << 20, 0, 0));
	}
	NEED(slow);
	ASSERT_EQ(0, begin(self, DDIO_READ, 0, &coll));
	end(_metadata, self, DDIO_READ, coll, &tally, &wait);
	EXPECT_EQ(0, wait.out_error);
}

static int flush_fails(FIXTURE_DATA(faults) * self, __u32 op, const char *attribute,
		       struct ddio_wait *wait)
{
	struct ddio_block block = { .disk = self->twin.id };
	struct ddio_submit s;
	int err;

	if (op == DDIO_WRITE) {
		block.length = 4096;
		block.buffer = self->place.id;
	}
	kt_submit_init(&s, op, DDIO_PLACE, &block, 1);
	s.flags = DDIO_SUBMIT_WAIT | (op == DDIO_WRITE ? DDIO_SUBMIT_FLUSH : 0);
	kt_write("1", HP_DIR "%s", hp->name, attribute);
	err = kt_submit(self->ctx, &s);
	kt_write("0", HP_DIR "%s", hp->name, attribute);
	if (err)
		return err;
	err = kt_wait(self->ctx, s.out_collective, 0, wait);
	return err ? err : wait->out_error;
}

/* If a flush fails, the blocks succeed but the collective fails. */
KT_TEST(faults, failing_flush)
{
	struct ddio_wait wait;

	NEED(hp);
	EXPECT_EQ(-EIO, flush_fails(self, DDIO_FLUSH, "fail_every", &wait));
	EXPECT_EQ(0, wait.out_block);
	EXPECT_EQ(0, wait.out_blocks);
	/* The first command, which writes, does not fail; the second, which flushes, does. */
	EXPECT_EQ(-EIO, flush_fails(self, DDIO_WRITE, "fail_after", &wait));
	EXPECT_EQ(~0ULL, wait.out_block);
	EXPECT_EQ(1, wait.out_blocks);
}
