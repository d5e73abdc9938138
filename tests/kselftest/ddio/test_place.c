// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placed collectives against plain pread() and pwrite(): random lists over several
 * kinds of disks, one and many at a time, in every way of submitting and waiting.
 *
 * DDIO_ROUNDS: lists for each kind of disk and direction (3)
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

#define DISK_MB 4
#define PLACE_BYTES (4ULL << 20)

enum disk_kind { NULL_512, NULL_4K, LOOP, LINEAR, PARTITION, HP97560, HP97560_4K, KINDS };

static struct kt_dev *devs[KINDS];
static uint64_t seed, rounds;

static struct kt_dev *make_linear(void)
{
	struct kt_dev *under = kt_dev_null(&(struct kt_null){ .megabytes = DISK_MB + 1 });
	char numbers[32], table[64];

	if (!under)
		return NULL;
	kt_dev_numbers(under, numbers, sizeof(numbers));
	snprintf(table, sizeof(table), "%s 1024", numbers);
	return kt_dev_dm(DISK_MB << 11, "linear", table);
}

static struct kt_dev *make_partition(void)
{
	struct kt_dev *whole = kt_dev_null(&(struct kt_null){ .megabytes = DISK_MB + 1 });

	return whole ? kt_dev_partition(whole, 1, 512 * 63, DISK_MB << 20) : NULL;
}

static void kt_prepare(void)
{
	seed = kt_seed();
	rounds = kt_env("DDIO_ROUNDS", 3);
	devs[NULL_512] = kt_dev_null(&(struct kt_null){ .megabytes = DDIO_BLOCK_LENGTH_MAX >> 20 });
	if (!devs[NULL_512])
		kt_skip_all("no null_blk disk: %s", strerror(errno));
	devs[NULL_4K] = kt_dev_null(&(struct kt_null){ .megabytes = DISK_MB, .block_size = 4096 });
	devs[LOOP] = kt_dev_loop(DISK_MB);
	devs[LINEAR] = make_linear();
	devs[PARTITION] = make_partition();
	devs[HP97560] = kt_dev_hp97560("size=8192 time_scale=0");
	devs[HP97560_4K] = kt_dev_hp97560("size=8192 time_scale=0 block_size=4096");
}

FIXTURE(disk)
{
	struct kt_rng rng;
	int ctx;
	struct kt_twin twin;
	struct kt_place place[3];
};

FIXTURE_VARIANT(disk)
{
	enum disk_kind kind;
};

FIXTURE_VARIANT_ADD(disk, null_512){
	.kind = NULL_512,
};
FIXTURE_VARIANT_ADD(disk, null_4k){
	.kind = NULL_4K,
};
FIXTURE_VARIANT_ADD(disk, loop){
	.kind = LOOP,
};
FIXTURE_VARIANT_ADD(disk, dm_linear){
	.kind = LINEAR,
};
FIXTURE_VARIANT_ADD(disk, partition){
	.kind = PARTITION,
};
FIXTURE_VARIANT_ADD(disk, hp97560){
	.kind = HP97560,
};

/* Makes the places; disks can only be written from the last one, a read-only buffer. */
static int make_places(struct kt_place *place, int ctx)
{
	int err = kt_place_init(&place[0], ctx, PLACE_BYTES, 0, 0);

	if (!err)
		err = kt_place_init(&place[1], ctx, PLACE_BYTES - 512, 512, 0);
	if (!err)
		err = kt_place_init(&place[2], ctx, PLACE_BYTES / 2, 0, DDIO_BUFFER_READONLY);
	return err;
}

FIXTURE_VARIANT_ADD(disk, hp97560_4k){
	.kind = HP97560_4K,
};

FIXTURE_SETUP(disk)
{
	self->rng.state = seed + variant->kind;
	self->ctx = -1;
	if (!devs[variant->kind])
		return;
	self->ctx = kt_open();
	ASSERT_LE(0, self->ctx);
	ASSERT_EQ(0, make_places(self->place, self->ctx));
	ASSERT_EQ(0, kt_twin_init(&self->twin, devs[variant->kind], self->ctx, &self->rng));
}

FIXTURE_TEARDOWN(disk)
{
	if (self->ctx < 0)
		return;
	close(self->ctx);
	kt_twin_fini(&self->twin);
}

#define NEED_DISK()                                                    \
	do {                                                           \
		if (self->ctx < 0)                                     \
			SKIP(return, "no such disk can be made here"); \
	} while (0)

static const uint32_t flags_of[] = {
	0,
	DDIO_SUBMIT_WAIT,
	DDIO_SUBMIT_ORDERED,
	DDIO_SUBMIT_ORDERED | DDIO_SUBMIT_WAIT,
	DDIO_SUBMIT_WAIT | DDIO_SUBMIT_KEEP_GOING,
	DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET,
};

static uint32_t some_flags(struct kt_rng *rng, uint32_t op)
{
	uint32_t flags = flags_of[kt_below(rng, KT_ARRAY_SIZE(flags_of))];

	if (op == DDIO_WRITE) {
		flags |= kt_below(rng, 4) ? 0 : DDIO_SUBMIT_FUA;
		flags |= kt_below(rng, 3) ? 0 : DDIO_SUBMIT_FLUSH;
	}
	return flags;
}

/* Submits, waits in the way that the flags say, and looks at every report. */
static void run(struct __test_metadata *_metadata, int ctx, struct kt_list *list, uint32_t op,
		uint32_t flags, uint32_t depth)
{
	struct ddio_wait wait = { .out_error = 1 };
	struct ddio_submit s;
	uint64_t i, bytes = 0;

	kt_submit_init(&s, op, DDIO_PLACE, list->block, list->nr);
	s.flags = flags;
	s.depth = depth;
	s.status = kt_ptr(list->status);
	ASSERT_EQ(0, kt_submit(ctx, &s));
	if (flags & DDIO_SUBMIT_WAIT) {
		EXPECT_EQ(DDIO_ENDED, s.out_state);
		EXPECT_EQ(0, s.out_error);
	}
	if (flags & DDIO_SUBMIT_FORGET) {
		EXPECT_EQ(0, s.out_collective);
	} else {
		ASSERT_EQ(0, kt_wait_status(ctx, s.out_collective, list->status, list->nr, &wait));
		for (i = 0; i < list->nr; i++)
			bytes += list->block[i].length;
		EXPECT_EQ(0, wait.out_error);
		EXPECT_EQ(~0ULL, wait.out_block);
		EXPECT_EQ(list->nr, wait.out_blocks);
		EXPECT_EQ(bytes, wait.out_bytes);
		EXPECT_EQ(0, kt_destroy(ctx, s.out_collective));
	}
	for (i = 0; i < list->nr; i++) {
		ASSERT_EQ(0, list->status[i]);
	}
}

static void one_round(struct __test_metadata *_metadata, int ctx, struct kt_shape *shape,
		      struct kt_rng *rng, uint32_t op)
{
	uint32_t flags = some_flags(rng, op), depth = kt_below(rng, 65), i;
	struct kt_list list;

	shape->apart = op == DDIO_WRITE;
	shape->nr = 1 + kt_below(rng, 300);
	shape->longest = 512U << kt_below(rng, 10);
	shape->dense = kt_below(rng, 2);
	shape->nr_places = op == DDIO_WRITE ? 3 : 2;
	for (i = 0; i < shape->nr_places; i++)
		kt_place_fill(&shape->place[i], rng);
	/* What others wrote, and has perhaps not been written out. */
	for (i = 0; i < shape->nr_twins; i++) {
		ASSERT_EQ(0, kt_twin_scribble(&shape->twin[i], rng, 8, kt_below(rng, 2)));
	}
	ASSERT_EQ(0, kt_list_random(&list, shape, rng));
	run(_metadata, ctx, &list, op, flags, depth);
	kt_list_expect_all(&list, shape, op);
	for (i = 0; i < shape->nr_places; i++) {
		ASSERT_EQ(-1, kt_place_check(&shape->place[i]))
		{
			TH_LOG("place %u, op %u, flags %#x, depth %u, %llu blocks", i, op, flags,
			       depth, (unsigned long long)list.nr);
		}
	}
	for (i = 0; op == DDIO_WRITE && i < shape->nr_twins; i++) {
		ASSERT_EQ(-1, kt_twin_check(&shape->twin[i], kt_below(rng, 2)))
		{
			TH_LOG("disk %u, flags %#x, depth %u, %llu blocks", i, flags, depth,
			       (unsigned long long)list.nr);
		}
	}
	kt_list_free(&list);
}

KT_TEST(disk, reads_as_pread)
{
	struct kt_shape shape = { .twin = &self->twin, .nr_twins = 1, .place = self->place };
	uint64_t i;

	NEED_DISK();
	for (i = 0; i < rounds; i++)
		one_round(_metadata, self->ctx, &shape, &self->rng, DDIO_READ);
	EXPECT_EQ(-1, kt_twin_check(&self->twin, true));
}

KT_TEST(disk, writes_as_pwrite)
{
	struct kt_shape shape = { .twin = &self->twin, .nr_twins = 1, .place = self->place };
	uint64_t i;

	NEED_DISK();
	for (i = 0; i < rounds; i++)
		one_round(_metadata, self->ctx, &shape, &self->rng, DDIO_WRITE);
}

KT_TEST(disk, flushes)
{
	struct ddio_block block = { .disk = self->twin.id };
	struct ddio_submit s;

	NEED_DISK();
	kt_submit_init(&s, DDIO_FLUSH, DDIO_PLACE, &block, 1);
	s.flags = DDIO_SUBMIT_WAIT;
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	EXPECT_EQ(DDIO_ENDED, s.out_state);
	EXPECT_EQ(0, s.out_error);
}

FIXTURE(disks)
{
	struct kt_rng rng;
	int ctx;
	struct kt_twin twin[KINDS];
	unsigned int nr;
	struct kt_place place[3];
};

FIXTURE_SETUP(disks)
{
	int i;

	self->rng.state = seed + 100;
	self->ctx = kt_open();
	ASSERT_LE(0, self->ctx);
	ASSERT_EQ(0, make_places(self->place, self->ctx));
	for (i = 0; i < KINDS; i++) {
		if (!devs[i])
			continue;
		ASSERT_EQ(0, kt_twin_init(&self->twin[self->nr], devs[i], self->ctx, &self->rng));
		self->nr++;
	}
}

FIXTURE_TEARDOWN(disks)
{
	close(self->ctx);
	while (self->nr--)
		kt_twin_fini(&self->twin[self->nr]);
}

KT_TEST(disks, all_in_one_list)
{
	struct kt_shape shape = { .twin = self->twin, .nr_twins = self->nr, .place = self->place };
	uint64_t i;

	for (i = 0; i < rounds; i++)
		one_round(_metadata, self->ctx, &shape, &self->rng, i % 2 ? DDIO_READ : DDIO_WRITE);
}

#define AT_ONCE 8

/* Several collectives under way, which are waited for in another order. */
KT_TEST(disks, several_at_once)
{
	struct kt_shape shape = {
		.twin = self->twin, .nr_twins = self->nr, .nr = 64, .nr_places = 1, .longest = 16384
	};
	struct kt_place place[AT_ONCE];
	struct kt_list list[AT_ONCE];
	uint32_t id[AT_ONCE];
	struct ddio_submit s;
	int i;

	for (i = 0; i < AT_ONCE; i++) {
		ASSERT_EQ(0, kt_place_init(&place[i], self->ctx, 1 << 20, 0, 0));
		kt_place_fill(&place[i], &self->rng);
		shape.place = &place[i];
		ASSERT_EQ(0, kt_list_random(&list[i], &shape, &self->rng));
		kt_submit_init(&s, DDIO_READ, DDIO_PLACE, list[i].block, list[i].nr);
		ASSERT_EQ(0, kt_submit(self->ctx, &s));
		id[i] = s.out_collective;
		kt_list_expect_all(&list[i], &shape, DDIO_READ);
	}
	for (i = AT_ONCE - 1; i >= 0; i--) {
		EXPECT_EQ(0, kt_wait(self->ctx, id[i], DDIO_FOREVER, NULL));
		EXPECT_EQ(-1, kt_place_check(&place[i]));
		/* What it used is free at once. */
		EXPECT_EQ(0, kt_destroy(self->ctx, place[i].id));
		kt_list_free(&list[i]);
	}
}

/* The longest block there is, and one that ends with the disk. */
KT_TEST(disks, longest_blocks)
{
	struct ddio_block block[2] = {
		{ .length = DDIO_BLOCK_LENGTH_MAX, .disk = self->twin[0].id },
		{ .length = 512, .where = DDIO_BLOCK_LENGTH_MAX, .disk = self->twin[0].id },
	};
	struct kt_place place;
	struct ddio_submit s;
	int i;

	ASSERT_EQ(DDIO_BLOCK_LENGTH_MAX, devs[NULL_512]->bytes);
	ASSERT_EQ(0, kt_place_init(&place, self->ctx, DDIO_BLOCK_LENGTH_MAX + 512, 0, 0));
	block[0].buffer = block[1].buffer = place.id;
	block[1].offset = devs[NULL_512]->bytes - 512;
	for (i = 0; i < 2; i++) {
		kt_submit_init(&s, DDIO_READ, DDIO_PLACE, block, 2);
		s.flags = DDIO_SUBMIT_WAIT;
		s.depth = i ? 64 : 1;
		memset(place.memory, 0, place.length);
		ASSERT_EQ(0, kt_submit(self->ctx, &s));
		EXPECT_EQ(0, s.out_error);
		EXPECT_EQ(0, memcmp(place.memory, self->twin[0].ref, DDIO_BLOCK_LENGTH_MAX));
		EXPECT_EQ(0, memcmp(place.memory + DDIO_BLOCK_LENGTH_MAX,
				    self->twin[0].ref + block[1].offset, 512));
	}
}

/* A long list of single sectors: one call, merged where neighbours are placed as neighbours. */
KT_TEST(disks, every_sector)
{
	uint64_t nr = devs[NULL_512]->bytes / 512, i;
	struct ddio_block *block = calloc(nr, sizeof(*block));
	struct kt_place place;
	struct ddio_submit s;

	ASSERT_NE(NULL, block);
	ASSERT_EQ(0, kt_place_init(&place, self->ctx, devs[NULL_512]->bytes, 0, 0));
	for (i = 0; i < nr; i++)
		block[i] = (struct ddio_block){ .offset = i * 512,
						.where = i * 512,
						.length = 512,
						.disk = self->twin[0].id,
						.buffer = place.id };
	kt_shuffle(&self->rng, block, nr, sizeof(*block));
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, block, nr);
	s.flags = DDIO_SUBMIT_WAIT;
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	EXPECT_EQ(0, s.out_error);
	EXPECT_EQ(0, memcmp(place.memory, self->twin[0].ref, place.length));
	free(block);
}

#define PAGES 256

/* Writes pages of odd numbers through the page cache until killed, each with what is there. */
static void dirty_odd_pages(const struct kt_twin *twin)
{
	uint64_t i;

	for (i = 1;; i = (i + 2) % PAGES)
		if (pwrite(twin->cached, twin->ref + i * 4096, 4096, i * 4096) != 4096)
			_exit(1);
}

/* Cached pages between the blocks belong to others: they are neither an obstacle nor lost. */
KT_TEST(disks, neighbours_in_the_page_cache)
{
	struct kt_shape shape = {
		.twin = self->twin, .nr_twins = 1, .place = self->place, .nr_places = 1
	};
	struct ddio_block block[PAGES / 2];
	struct kt_list list = { .block = block,
				.nr = PAGES / 2,
				.twin = calloc(PAGES, sizeof(*list.twin)),
				.place = calloc(PAGES, sizeof(*list.place)),
				.status = calloc(PAGES, sizeof(*list.status)) };
	int i, n, status;
	pid_t child;

	child = fork();
	if (!child)
		dirty_odd_pages(&self->twin[0]);
	for (n = 0; n < 20; n++) {
		kt_place_fill(&self->place[0], &self->rng);
		for (i = 0; i < PAGES / 2; i++)
			block[i] = (struct ddio_block){ .offset = i * 8192,
							.where = i * 4096,
							.length = 4096,
							.disk = self->twin[0].id,
							.buffer = self->place[0].id };
		run(_metadata, self->ctx, &list, DDIO_WRITE, n % 2 ? DDIO_SUBMIT_WAIT : 0, 0);
		kt_list_expect_all(&list, &shape, DDIO_WRITE);
	}
	kill(child, SIGKILL);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(true, WIFSIGNALED(status));
	EXPECT_EQ(-1, kt_twin_check(&self->twin[0], false));
	fsync(self->twin[0].cached);
	EXPECT_EQ(-1, kt_twin_check(&self->twin[0], true));
}

/* Runs children at once, with contexts of their own on the same disk, each in its part. */
KT_TEST(disks, processes_at_once)
{
	struct kt_shape shape = { .twin = &self->twin[0], .nr_twins = 1, .place = self->place };
	int i, status, failed = 0;
	uint64_t n;

	for (i = 0; i < 4; i++) {
		if (fork())
			continue;
		self->rng.state += i;
		self->ctx = kt_open();
		if (make_places(self->place, self->ctx) ||
		    kt_disk_open(self->ctx, devs[NULL_512]->path, O_RDWR, &self->twin[0].id))
			_exit(1);
		for (n = 0; n < rounds; n++) {
			struct kt_list list;

			shape.nr = 100;
			shape.longest = 65536;
			shape.nr_places = 2;
			kt_place_fill(&self->place[0], &self->rng);
			kt_place_fill(&self->place[1], &self->rng);
			if (kt_list_random(&list, &shape, &self->rng))
				_exit(1);
			run(_metadata, self->ctx, &list, DDIO_READ, DDIO_SUBMIT_WAIT, n);
			kt_list_expect_all(&list, &shape, DDIO_READ);
			if (kt_place_check(&self->place[0]) != -1 ||
			    kt_place_check(&self->place[1]) != -1)
				_exit(1);
			kt_list_free(&list);
		}
		_exit(0);
	}
	for (i = 0; i < 4; i++) {
		wait(&status);
		failed += !!status;
	}
	EXPECT_EQ(0, failed);
}
