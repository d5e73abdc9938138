// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams against plain reads and writes: bytes, order, who has a slot when, what a slow, a
 * hasty and a lying process do to them, and how many system calls they need.
 */
#include <linux/types.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/rig.h"
#include "lib/world.h"

#define DISKS 2
#define DISK_USED (8U << 20)
#define BLOCK_MAX 16384U
#define NR 200U
#define LISTS 8
#define SLOTS_MAX 32U
#define EVENTS 128U
#define SLOT_BYTES (SLOTS_MAX * BLOCK_MAX + 4096)
#define SLOW_NS "2000000"

static struct kt_dev *fast[DISKS], *slow, *bad;
static uint64_t seed;

static void kt_prepare(void)
{
	int i;

	seed = kt_seed();
	for (i = 0; i < DISKS; i++)
		fast[i] = kt_dev_null(&(struct kt_null){ .megabytes = 16 });
	slow = kt_dev_null(&(struct kt_null){ .megabytes = 16,
					      .more = "irqmode=2 completion_nsec=" SLOW_NS
						      " submit_queues=1 hw_queue_depth=1" });
	bad = kt_dev_null(&(struct kt_null){ .megabytes = 16, .more = "badblocks=+64-95" });
	if (!fast[0] || !fast[1] || !slow || !bad)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
}

/**
 * struct stream - a stream under way, as its process sees it
 * @block, @nr: its list
 * @s: as submitted
 * @slots: memory of the slots
 * @seen: of each block, how many slot events
 * @ended: of each block, how many block events
 * @status: of each block by its event
 * @held: of each slot, the index of its block plus 1, or 0
 * @last: of each disk, the block that came last
 * @releases, @kicks: slots released, and with a call
 * @done: its last event was seen
 * @wrong: what ought not to be
 */
struct stream {
	struct ddio_block block[NR];
	__u64 nr;
	struct ddio_submit s;
	unsigned char *slots;
	__u8 seen[NR];
	__u8 ended[NR];
	__s32 status[NR];
	__u32 held[SLOTS_MAX];
	__u64 last[DISKS];
	__u32 releases;
	__u32 kicks;
	bool done;
	const char *wrong;
};

FIXTURE(stream)
{
	struct kt_rig rig;
	struct kt_rng rng;
	unsigned char *slots;
	__u32 buffer;
	struct stream *st;
};

static int setup(FIXTURE_DATA(stream) * self, struct kt_dev *const *dev, __u32 nr)
{
	int err;

	self->rng.state = seed;
	self->slots = kt_memory(SLOT_BYTES);
	self->st = calloc(1, sizeof(*self->st));
	if (!self->slots || !self->st)
		return -ENOMEM;
	err = kt_rig_init(&self->rig, dev, nr, DISK_USED, &self->rng);
	if (!err)
		err = ddio_kdev_buffer_add(&self->rig.kdev, self->slots, SLOT_BYTES, 0,
					   &self->buffer);
	if (!err)
		err = ddio_kdev_ring_setup(&self->rig.kdev, EVENTS, SLOTS_MAX);
	return err;
}

FIXTURE_SETUP(stream)
{
	self->rig.kdev.fd = -1;
}

static void undo(FIXTURE_DATA(stream) * self)
{
	kt_rig_fini(&self->rig);
	free(self->st);
	munmap(self->slots, SLOT_BYTES);
	memset(self, 0, sizeof(*self));
	self->rig.kdev.fd = -1;
}

FIXTURE_TEARDOWN(stream)
{
	undo(self);
}

/* The slot's own memory; slots begin at @slot_offset and are longer than they need be. */
static unsigned char *slot_memory(const struct stream *st, __u32 slot)
{
	return st->slots + st->s.slot_offset +
	       (__u64)(slot - st->s.out_first_slot) * st->s.slot_length;
}

/* Starts a list drawn at random. */
static int begin(FIXTURE_DATA(stream) * self, __u32 op, __u32 depth, __u32 flags)
{
	const struct kt_draw draw = { NR, BLOCK_MAX, op == DDIO_WRITE };
	struct stream *st = self->st;

	memset(st, 0, sizeof(*st));
	st->nr = NR;
	st->wrong = "";
	st->slots = self->slots;
	if (!kt_rig_draw(&self->rig, &self->rng, &draw, st->block))
		return -EDOM;
	kt_submit_init(&st->s, op, DDIO_STREAM, st->block, st->nr);
	st->s.flags = flags;
	st->s.depth = depth;
	st->s.slot_buffer = self->buffer;
	st->s.slot_offset = 512 * kt_below(&self->rng, 4);
	st->s.slot_length = BLOCK_MAX;
	st->s.user_data = ~0ULL;
	return ddio_kdev_submit(&self->rig.kdev, &st->s);
}

static void note(struct stream *st, const char *wrong)
{
	if (!*st->wrong)
		st->wrong = wrong;
}

/* The disk's blocks come in the order asked for. */
static void check_order(const struct kt_rig *rig, struct stream *st, __u64 index)
{
	__u32 d = st->block[index].disk == rig->image[0].id ? 0 : 1;
	__u64 at = st->s.flags & DDIO_SUBMIT_ORDERED ? index : st->block[index].offset;

	if (at < st->last[d])
		note(st, "not in order");
	st->last[d] = at;
}

/* Handles a slot: compares it when reading, fills it when writing. */
static void use_slot(FIXTURE_DATA(stream) * self, const struct ddio_event *e)
{
	struct stream *st = self->st;
	const struct ddio_block *block = &st->block[e->index];
	unsigned char *memory = slot_memory(st, e->slot), *image = kt_rig_at(&self->rig, block);

	if (st->s.op == DDIO_WRITE) {
		kt_fill(&self->rng, memory, block->length);
		memcpy(image, memory, block->length);
	} else if (!e->status && memcmp(memory, image, block->length)) {
		note(st, "wrong bytes");
	}
}

static void take_slot(FIXTURE_DATA(stream) * self, const struct ddio_event *e)
{
	struct stream *st = self->st;

	if (e->slot - st->s.out_first_slot >= DISKS * (st->s.depth ? st->s.depth : 2))
		return note(st, "a slot of somebody else");
	if (st->held[e->slot])
		note(st, "a slot that the process has already");
	if (st->seen[e->index]++)
		note(st, "a block twice");
	st->held[e->slot] = e->index + 1;
	st->status[e->index] = e->status;
	check_order(&self->rig, st, e->index);
	use_slot(self, e);
}

static void release(FIXTURE_DATA(stream) * self, __u32 slot)
{
	struct stream *st = self->st;
	int ret;

	st->held[slot] = 0;
	st->releases++;
	ret = ddio_kdev_release(&self->rig.kdev, st->s.out_collective, slot);
	if (ret < 0)
		note(st, "a kick failed");
	st->kicks += ret > 0;
}

/* Events that are not slots. */
static void other_event(struct stream *st, const struct ddio_event *e)
{
	if (e->kind == DDIO_EVENT_DONE) {
		st->done = true;
	} else if (e->kind == DDIO_EVENT_BLOCK && st->s.op == DDIO_WRITE && e->index < st->nr) {
		if (st->ended[e->index]++)
			note(st, "a block ended twice");
		st->status[e->index] = e->status;
	} else {
		note(st, "an event of another kind");
	}
}

/* Takes one event, waiting for it; true if it is a slot, which is then the caller's. */
static bool next_slot(FIXTURE_DATA(stream) * self, __u32 *slot)
{
	struct ddio_kdev *kdev = &self->rig.kdev;
	const struct ddio_event *p;
	struct ddio_event e;
	int spins = 0;

	while (!(p = ddio_kdev_event(kdev)))
		if (++spins > 100 && ddio_kdev_event_wait(kdev, 60000)) {
			note(self->st, "no event in a minute");
			self->st->done = true;
			return false;
		}
	e = *p;
	ddio_kdev_event_done(kdev);
	if (e.collective != self->st->s.out_collective || e.user_data != ~0ULL)
		note(self->st, "an event of something else");
	if (e.kind != DDIO_EVENT_SLOT || e.index >= self->st->nr) {
		other_event(self->st, &e);
		return false;
	}
	take_slot(self, &e);
	*slot = e.slot;
	return true;
}

/* Empties or fills every slot as it comes. */
static void run(FIXTURE_DATA(stream) * self)
{
	__u32 slot;

	while (!self->st->done)
		if (next_slot(self, &slot))
			release(self, slot);
}

/* Waits for the end, and checks that each block came once. */
static int finish(FIXTURE_DATA(stream) * self, __s32 *status)
{
	struct stream *st = self->st;

	return ddio_kdev_finish(&self->rig.kdev, st->s.out_collective, status, st->nr);
}

static void check_all(struct __test_metadata *_metadata, FIXTURE_DATA(stream) * self)
{
	const struct stream *st = self->st;
	__u64 i;

	EXPECT_STREQ("", st->wrong);
	for (i = 0; i < st->nr; i++) {
		EXPECT_EQ(1, st->seen[i]);
		EXPECT_EQ(0, st->status[i]);
		EXPECT_EQ(st->s.op == DDIO_WRITE, st->ended[i]);
	}
	EXPECT_EQ(st->nr, st->releases);
}

KT_TEST(stream, reading)
{
	static const __u32 depth[] = { 0, 1, 2, 3, 8, 16 };
	__s32 status[NR];
	__u32 i, k;

	ASSERT_EQ(0, setup(self, fast, DISKS));
	for (i = 0; i < LISTS; i++) {
		ASSERT_EQ(0, begin(self, DDIO_READ, depth[i % KT_ARRAY_SIZE(depth)],
				   i % 3 ? 0 : DDIO_SUBMIT_ORDERED));
		run(self);
		memset(status, 0xff, sizeof(status));
		EXPECT_EQ(0, finish(self, status));
		check_all(_metadata, self);
		for (k = 0; k < NR; k++)
			EXPECT_EQ(0, status[k]);
	}
}

KT_TEST(stream, writing)
{
	static const __u32 depth[] = { 0, 1, 2, 3, 8, 16 };
	static const __u32 flags[] = { 0, DDIO_SUBMIT_FUA, DDIO_SUBMIT_ORDERED, DDIO_SUBMIT_FLUSH };
	__u32 i;

	ASSERT_EQ(0, setup(self, fast, DISKS));
	for (i = 0; i < LISTS; i++) {
		ASSERT_EQ(0,
			  begin(self, DDIO_WRITE, depth[i % KT_ARRAY_SIZE(depth)], flags[i % 4]));
		run(self);
		EXPECT_EQ(0, finish(self, NULL));
		check_all(_metadata, self);
		ASSERT_TRUE(kt_rig_same(&self->rig));
	}
}

/* Slots come back in any order, and late: those that are out stay as they are. */
static void run_late(FIXTURE_DATA(stream) * self, __u32 depth)
{
	__u32 out[SLOTS_MAX], n = 0, slot, k;

	while (!self->st->done) {
		if (next_slot(self, &slot))
			out[n++] = slot;
		while (n && (n == DISKS * depth || kt_below(&self->rng, 3) == 0 ||
			     !ddio_kdev_event(&self->rig.kdev))) {
			if (kt_below(&self->rng, 16) == 0)
				usleep(3000);
			k = kt_below(&self->rng, n);
			release(self, out[k]);
			out[k] = out[--n];
		}
	}
}

KT_TEST(stream, slow_process)
{
	__u32 i;

	ASSERT_EQ(0, setup(self, fast, DISKS));
	for (i = 0; i < LISTS; i++) {
		ASSERT_EQ(0, begin(self, i & 1 ? DDIO_WRITE : DDIO_READ, 1 + i % 4, 0));
		run_late(self, 1 + i % 4);
		EXPECT_EQ(0, finish(self, NULL));
		check_all(_metadata, self);
	}
	EXPECT_TRUE(kt_rig_same(&self->rig));
}

/* A process that is faster than the disk makes no call for a block. */
KT_TEST(stream, calls)
{
	struct kt_dev *const dev[] = { slow };
	__u32 op;

	ASSERT_EQ(0, setup(self, dev, 1));
	for (op = DDIO_READ; op <= DDIO_WRITE; op++) {
		ASSERT_EQ(0, begin(self, op, 2, 0));
		run(self);
		EXPECT_EQ(0, finish(self, NULL));
		check_all(_metadata, self);
		TH_LOG("%s: %u blocks, %u kicks", op == DDIO_READ ? "reading" : "writing",
		       self->st->releases, self->st->kicks);
		EXPECT_GE(NR / 4, self->st->kicks);
	}
}

/* Takes a few slots and cancels with these in hand. */
static void cancel_some(struct __test_metadata *_metadata, FIXTURE_DATA(stream) * self, __u32 op)
{
	struct stream *st = self->st;
	__u32 slot, i, ok = 0, mine[SLOTS_MAX], n = 0;
	__u32 after = kt_below(&self->rng, 20);
	__s32 status[NR];

	ASSERT_EQ(0, begin(self, op, 4, 0));
	for (i = 0; i < after; i++)
		if (next_slot(self, &slot))
			release(self, slot);
	while (n < 3 && !st->done)
		if (next_slot(self, &slot))
			mine[n++] = slot;
	ASSERT_EQ(0, ddio_kdev_cancel(&self->rig.kdev, st->s.out_collective));
	ASSERT_EQ(0, ddio_kdev_cancel(&self->rig.kdev, st->s.out_collective));
	for (i = 0; i < n && op == DDIO_READ; i++)
		EXPECT_GE(0, ddio_kdev_release(&self->rig.kdev, st->s.out_collective, mine[i]) - 1);
	while (!st->done)
		next_slot(self, &slot);
	EXPECT_EQ(-ECANCELED, finish(self, status));
	EXPECT_STREQ("", st->wrong);
	for (i = 0; i < NR; i++) {
		EXPECT_TRUE(status[i] == 0 || status[i] == -ECANCELED);
		ok += !status[i];
	}
	EXPECT_GT(NR, ok);
	/* What was filled, but not written, is not there. */
	EXPECT_TRUE(kt_rig_reload(&self->rig));
}

KT_TEST(stream, cancel)
{
	__u32 i;

	ASSERT_EQ(0, setup(self, fast, DISKS));
	for (i = 0; i < 20; i++)
		cancel_some(_metadata, self, i & 1 ? DDIO_WRITE : DDIO_READ);
	/* Its slots and events are free again. */
	ASSERT_EQ(0, begin(self, DDIO_READ, 16, 0));
	run(self);
	EXPECT_EQ(0, finish(self, NULL));
}

static bool is_bad(const struct ddio_block *block)
{
	return block->offset < 96 * 512 && block->offset + block->length > 64 * 512;
}

KT_TEST(stream, bad_sectors)
{
	struct kt_dev *const dev[] = { bad };
	__u32 i, nr_bad = 0;
	__s32 status[NR];

	kt_write("-64-95", "/sys/kernel/config/nullb/%s/badblocks", bad->name);
	ASSERT_EQ(0, setup(self, dev, 1));
	kt_write("+64-95", "/sys/kernel/config/nullb/%s/badblocks", bad->name);
	self->rig.image[0].length = 1 << 18;
	ASSERT_EQ(0, begin(self, DDIO_READ, 2, DDIO_SUBMIT_KEEP_GOING));
	run(self);
	for (i = 0; i < NR; i++)
		nr_bad += is_bad(&self->st->block[i]);
	ASSERT_NE(0, nr_bad);
	EXPECT_EQ(-EIO, finish(self, status));
	for (i = 0; i < NR; i++) {
		EXPECT_EQ(is_bad(&self->st->block[i]) ? -EIO : 0, status[i]);
		EXPECT_EQ(status[i], self->st->status[i]);
		EXPECT_EQ(1, self->st->seen[i]);
	}
	EXPECT_STREQ("", self->st->wrong);
	/* The first bad block ends it otherwise. */
	ASSERT_EQ(0, begin(self, DDIO_READ, 2, 0));
	run(self);
	EXPECT_EQ(-EIO, finish(self, status));
	for (i = 0, nr_bad = 0; i < NR; i++)
		nr_bad += status[i] == -ECANCELED;
	EXPECT_NE(0, nr_bad);
	EXPECT_STREQ("", self->st->wrong);
}

static void *scribble(void *arg)
{
	FIXTURE_DATA(stream) *self = arg;
	struct ddio_kdev *kdev = &self->rig.kdev;
	struct kt_rng rng = { .state = seed + 1 };
	__u32 *words = (__u32 *)kdev->ring;

	while (!__atomic_load_n(&self->st->done, __ATOMIC_RELAXED))
		__atomic_store_n(&words[kt_below(&rng, kdev->length / 4)],
				 kt_below(&rng, 2) ? kt_random(&rng) : kt_below(&rng, 3),
				 __ATOMIC_RELAXED);
	return NULL;
}

/* Garbage in the ring harms only the process: a stream that is cancelled ends. */
KT_TEST(stream, lying_process)
{
	pthread_t thread;
	__u32 i;

	for (i = 0; i < 6; i++) {
		struct ddio_wait wait = { .deadline = 0 };

		ASSERT_EQ(0, setup(self, fast, DISKS));
		ASSERT_EQ(0, begin(self, i & 1 ? DDIO_WRITE : DDIO_READ, 1 + i % 4, 0));
		ASSERT_EQ(0, pthread_create(&thread, NULL, scribble, self));
		usleep(20000);
		ddio_kdev_kick(&self->rig.kdev, self->st->s.out_collective,
			       self->st->s.out_first_slot);
		EXPECT_EQ(0, ddio_kdev_cancel(&self->rig.kdev, self->st->s.out_collective));
		wait.collective = self->st->s.out_collective;
		wait.deadline = kt_now() + 60 * KT_SECOND;
		EXPECT_EQ(0, ddio_kdev_wait(&self->rig.kdev, &wait));
		__atomic_store_n(&self->st->done, true, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
		EXPECT_EQ(0, ddio_kdev_destroy(&self->rig.kdev, self->st->s.out_collective));
		undo(self);
	}
}

/* A stream of three blocks of a disk through one slot. */
static int begin_small(FIXTURE_DATA(stream) * self, struct ddio_submit *s)
{
	struct ddio_block block[3] = { { 0 } };
	size_t i;

	for (i = 0; i < KT_ARRAY_SIZE(block); i++) {
		block[i].offset = i * 4096;
		block[i].length = 4096;
		block[i].disk = self->rig.image[0].id;
	}
	kt_submit_init(s, DDIO_READ, DDIO_STREAM, block, KT_ARRAY_SIZE(block));
	s->depth = 1;
	s->slot_buffer = self->buffer;
	s->slot_length = 4096;
	return ddio_kdev_submit(&self->rig.kdev, s);
}

/* Consumes events up to one of a kind; false if none comes. */
static bool event_of(struct ddio_kdev *kdev, __u32 kind)
{
	const struct ddio_event *e;
	__u32 got;

	do {
		if (ddio_kdev_event_wait(kdev, 10000))
			return false;
		e = ddio_kdev_event(kdev);
		if (!e)
			return false;
		got = e->kind;
		ddio_kdev_event_done(kdev);
	} while (got != kind);
	return true;
}

/* A release that comes when the slot is another stream's takes nothing from that one. */
KT_TEST(stream, late_release)
{
	struct ddio_submit old, new;
	struct ddio_kdev *kdev;

	ASSERT_EQ(0, setup(self, fast, 1));
	kdev = &self->rig.kdev;
	ASSERT_EQ(0, begin_small(self, &old));
	ASSERT_EQ(true, event_of(kdev, DDIO_EVENT_SLOT));
	ASSERT_EQ(0, ddio_kdev_cancel(kdev, old.out_collective));
	ASSERT_EQ(true, event_of(kdev, DDIO_EVENT_DONE));
	ASSERT_EQ(0, begin_small(self, &new));
	ASSERT_EQ(old.out_first_slot, new.out_first_slot);
	ASSERT_EQ(true, event_of(kdev, DDIO_EVENT_SLOT));
	ddio_kdev_release_quietly(kdev, old.out_collective, old.out_first_slot);
	ASSERT_EQ(0, ddio_kdev_kick(kdev, new.out_collective, new.out_first_slot));
	EXPECT_EQ(-ETIMEDOUT, ddio_kdev_event_wait(kdev, 200));
	EXPECT_EQ(new.out_collective, kdev->slot[new.out_first_slot].holder);
	/* Its own release does. */
	EXPECT_LE(0, ddio_kdev_release(kdev, new.out_collective, new.out_first_slot));
	EXPECT_EQ(true, event_of(kdev, DDIO_EVENT_SLOT));
	EXPECT_EQ(0, ddio_kdev_cancel(kdev, new.out_collective));
	EXPECT_EQ(true, event_of(kdev, DDIO_EVENT_DONE));
}

/* A process that never reads its events gets an error in the end, and holds up no other. */
KT_TEST(stream, deaf_process)
{
	struct ddio_wait wait = { 0 };
	__u32 i;

	ASSERT_EQ(0, setup(self, fast, DISKS));
	ASSERT_EQ(0, begin(self, DDIO_READ, 2, 0));
	wait.collective = self->st->s.out_collective;
	do {
		for (i = 0; i < 2 * DISKS; i++)
			ddio_kdev_release(&self->rig.kdev, wait.collective,
					  self->st->s.out_first_slot + i);
		wait.deadline = kt_now() + KT_SECOND / 100;
	} while (ddio_kdev_wait(&self->rig.kdev, &wait) == -ETIMEDOUT);
	EXPECT_NE(0, wait.out_error);
	EXPECT_GT(NR, wait.out_blocks);
}

/* Nothing is left when a process goes away with slots in hand. */
KT_TEST(stream, closed_in_the_middle)
{
	struct kt_usage before;
	__u32 i, slot;

	kt_usage(&before);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, setup(self, fast, DISKS));
		ASSERT_EQ(0, begin(self, i & 1 ? DDIO_WRITE : DDIO_READ, 4, 0));
		if (next_slot(self, &slot))
			release(self, slot);
		undo(self);
	}
	EXPECT_TRUE(kt_usage_settled(&before, 30));
}
