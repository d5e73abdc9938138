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
#define DISK_USED (4U << 20)
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
	slow = kt_dev_null(
		&(struct kt_null){ .megabytes = 16, .more = "irqmode=2 completion_nsec=" SLOW_NS });
	bad = kt_dev_null(&(struct kt_null){ .megabytes = 16, .more = "badblocks=+64-71" });
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

static int setup(struct _test_data_stream *self, struct kt_dev *const *dev, __u32 nr)
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
