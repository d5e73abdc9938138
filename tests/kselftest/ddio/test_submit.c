// SPDX-License-Identifier: GPL-2.0-only
/*
 * DDIO_SUBMIT with everything that can be wrong with it: a table of valid
 * submissions with one or two members changed, the errno that this must give, and the
 * block that must be named.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <string.h>
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

FIXTURE(submit)
{
	struct kt_world w;
};

FIXTURE_SETUP(submit)
{
	ASSERT_EQ(0, kt_world_init(&self->w, disk, disk_4k));
}

FIXTURE_TEARDOWN(submit)
{
	kt_world_fini(&self->w);
}

#define BLOCKS 4
#define RUNS 3
#define UNTOUCHED 0x5eedULL
#define DISK_BYTES (64ULL << 20)

/* What a patch may write that is not known before. */
enum id {
	ID = 1 << 20,
	ID_DISK,
	ID_DISK_RO,
	ID_DISK_WO,
	ID_DISK_4K,
	ID_BUFFER,
	ID_BUFFER_RO,
	ID_COLL,
	ID_JOINT,
	ID_MEMBER,
	ID_CONTEXT,
	ID_HOLE, /* an address where nothing is */
	ID_LAST,
};

enum base { PLACE_READ, PLACE_WRITE, FLUSH, STREAM_READ, STREAM_WRITE, SCATTER, GATHER };

enum where { NOTHING, ARG, BLOCK, RUN };

/**
 * struct patch - a member of the submission, of a block or of a run
 * @where: of what
 * @at: index of the block or run
 * @offset, @size: of the member
 * @value: or an enum id
 */
struct patch {
	enum where where;
	int at;
	size_t offset;
	size_t size;
	__u64 value;
};

/**
 * struct bad - a submission that is refused
 * @base: what is changed
 * @err: errno
 * @block: that is named, or -1
 * @patch: changes
 */
struct bad {
	const char *what;
	enum base base;
	int err;
	int block;
	struct patch patch[4];
};

#define P(_where, _type, _at, _member, _value)                                \
	{                                                                     \
		_where, _at, offsetof(struct _type, _member),                 \
			sizeof(((struct _type *)0)->_member), (__u64)(_value) \
	}
#define A(_member, _value) P(ARG, ddio_submit, 0, _member, _value)
#define B(_at, _member, _value) P(BLOCK, ddio_block, _at, _member, _value)
#define R(_at, _member, _value) P(RUN, ddio_run, _at, _member, _value)

static const struct bad bads[] = {
	/* The submission itself */
	{ "op 0", PLACE_READ, EINVAL, -1, { A(op, 0) } },
	{ "op 4", PLACE_READ, EINVAL, -1, { A(op, 4) } },
	{ "op of 2^31", PLACE_READ, EINVAL, -1, { A(op, 1U << 31) } },
	{ "delivery 3", PLACE_READ, EINVAL, -1, { A(delivery, 3) } },
	{ "delivery ~0", PLACE_READ, EINVAL, -1, { A(delivery, ~0U) } },
	{ "no blocks", PLACE_READ, EINVAL, -1, { A(nr_blocks, 0) } },
	{ "too many blocks", PLACE_READ, EOVERFLOW, -1, { A(nr_blocks, DDIO_LIST_MAX + 1) } },
	{ "2^63 blocks", PLACE_READ, EOVERFLOW, -1, { A(nr_blocks, 1ULL << 63) } },
	{ "2^64-1 blocks", PLACE_READ, EOVERFLOW, -1, { A(nr_blocks, ~0ULL) } },
	{ "list at 0", PLACE_READ, EFAULT, -1, { A(blocks, 0) } },
	{ "list in a hole", PLACE_READ, EFAULT, -1, { A(blocks, ID_HOLE) } },
	{ "list in the kernel", PLACE_READ, EFAULT, -1, { A(blocks, 0xffff888000000000ULL) } },
	{ "list that wraps", PLACE_READ, EFAULT, -1, { A(blocks, -16ULL) } },
	{ "status in the kernel", PLACE_READ, EFAULT, -1, { A(status, 0xffff888000000000ULL) } },
	{ "sums without scatter", PLACE_READ, EINVAL, -1, { A(flags, DDIO_SUBMIT_SUMS) } },
	{ "sums of a stream", STREAM_READ, EINVAL, -1, { A(flags, DDIO_SUBMIT_SUMS) } },
	{ "sums of a flush", FLUSH, EINVAL, -1, { A(flags, DDIO_SUBMIT_SUMS) } },
	{ "depth 65", PLACE_READ, EOVERFLOW, -1, { A(depth, 65) } },
	{ "depth ~0", PLACE_READ, EOVERFLOW, -1, { A(depth, ~0U) } },
	{ "FUA when reading", PLACE_READ, EINVAL, -1, { A(flags, DDIO_SUBMIT_FUA) } },
	{ "FLUSH when reading", PLACE_READ, EINVAL, -1, { A(flags, DDIO_SUBMIT_FLUSH) } },
	{ "runs without scatter", PLACE_READ, EINVAL, -1, { A(nr_runs, 1) } },
	{ "run list without scatter", PLACE_READ, EINVAL, -1, { A(runs, 8) } },
	{ "slot buffer without stream", PLACE_READ, EINVAL, -1, { A(slot_buffer, ID_BUFFER) } },
	{ "slot offset without stream", PLACE_READ, EINVAL, -1, { A(slot_offset, 4096) } },
	{ "slot length without stream", PLACE_READ, EINVAL, -1, { A(slot_length, 4096) } },
	{ "joint without scatter", PLACE_READ, EINVAL, -1, { A(joint_fd, ID_JOINT) } },
	{ "joint 0 without scatter", PLACE_READ, EINVAL, -1, { A(joint_fd, 0) } },
	/* Blocks */
	{ "no such disk", PLACE_READ, ENOENT, 2, { B(2, disk, 99999) } },
	{ "disk 0", PLACE_READ, ENOENT, 0, { B(0, disk, 0) } },
	{ "a buffer as disk", PLACE_READ, ENOENT, 3, { B(3, disk, ID_BUFFER) } },
	{ "a collective as disk", PLACE_READ, ENOENT, 1, { B(1, disk, ID_COLL) } },
	{ "no such buffer", PLACE_READ, ENOENT, 1, { B(1, buffer, 99999) } },
	{ "a disk as buffer", PLACE_READ, ENOENT, 1, { B(1, buffer, ID_DISK) } },
	{ "buffer 0", PLACE_READ, ENOENT, 1, { B(1, buffer, 0) } },
	{ "a sum without sums", PLACE_READ, EINVAL, 1, { B(1, sum, 1) } },
	{ "a sum of a scattered block without sums", SCATTER, EINVAL, 1, { B(1, sum, 1) } },
	{ "a sum of what is written",
	  GATHER,
	  EINVAL,
	  1,
	  { A(flags, DDIO_SUBMIT_SUMS), B(1, sum, 1) } },
	{ "length 0", PLACE_READ, EINVAL, 1, { B(1, length, 0) } },
	{ "length 1", PLACE_READ, EINVAL, 1, { B(1, length, 1) } },
	{ "length 513", PLACE_READ, EINVAL, 1, { B(1, length, 513) } },
	{ "length over the limit",
	  PLACE_READ,
	  EOVERFLOW,
	  1,
	  { B(1, length, DDIO_BLOCK_LENGTH_MAX + 512) } },
	{ "length of 2^32-512", PLACE_READ, EOVERFLOW, 1, { B(1, length, 0xfffffe00) } },
	{ "offset not at a sector", PLACE_READ, EINVAL, 1, { B(1, offset, 4097) } },
	{ "sector of the other disk",
	  PLACE_READ,
	  EINVAL,
	  1,
	  { B(1, disk, ID_DISK_4K), B(1, length, 512) } },
	{ "offset at sector of the other disk",
	  PLACE_READ,
	  EINVAL,
	  1,
	  { B(1, disk, ID_DISK_4K), B(1, offset, 512) } },
	{ "beyond the disk", PLACE_READ, ERANGE, 1, { B(1, offset, DISK_BYTES) } },
	{ "across the disk's end", PLACE_READ, ERANGE, 1, { B(1, offset, DISK_BYTES - 2048) } },
	{ "far beyond the disk", PLACE_READ, ERANGE, 3, { B(3, offset, 1ULL << 60) } },
	{ "offset of 2^63", PLACE_READ, ERANGE, 3, { B(3, offset, 1ULL << 63) } },
	{ "end at 2^64", PLACE_READ, EOVERFLOW, 3, { B(3, offset, -4096ULL) } },
	{ "end beyond 2^64", PLACE_READ, EOVERFLOW, 3, { B(3, offset, -512ULL) } },
	{ "place beyond the buffer", PLACE_READ, ERANGE, 2, { B(2, where, KT_WORLD_BUFFER) } },
	{ "place across its end", PLACE_READ, ERANGE, 2, { B(2, where, KT_WORLD_BUFFER - 512) } },
	{ "place beyond 2^64", PLACE_READ, EOVERFLOW, 2, { B(2, where, -512ULL) } },
	{ "odd place", PLACE_READ, EINVAL, 2, { B(2, where, 1) } },
	{ "writing to a disk for reading", PLACE_WRITE, EACCES, 2, { B(2, disk, ID_DISK_RO) } },
	{ "reading of a disk for writing", PLACE_READ, EACCES, 2, { B(2, disk, ID_DISK_WO) } },
	{ "reading into read-only", PLACE_READ, EACCES, 2, { B(2, buffer, ID_BUFFER_RO) } },
	{ "the first of two wrong ones",
	  PLACE_READ,
	  EINVAL,
	  1,
	  { B(1, length, 0), B(2, length, 0) } },
	{ "the first of different ones",
	  PLACE_READ,
	  ENOENT,
	  0,
	  { B(3, length, 0), B(0, disk, 0), B(1, buffer, 0) } },
	/* Overlap */
	{ "the same block twice", PLACE_WRITE, EEXIST, 1, { B(1, offset, 0) } },
	{ "overlap by a sector", PLACE_WRITE, EEXIST, 2, { B(2, offset, 4096 + 3584) } },
	{ "one within another", PLACE_WRITE, EEXIST, 1, { B(1, length, 512), B(1, offset, 1024) } },
	{ "overlap, not in order",
	  PLACE_WRITE,
	  EEXIST,
	  3,
	  { B(0, offset, 65536), B(3, offset, 65536 + 512) } },
	{ "overlap in the caller's order",
	  PLACE_WRITE,
	  EEXIST,
	  1,
	  { A(flags, DDIO_SUBMIT_ORDERED), B(1, offset, 512) } },
	/* Flush */
	{ "a flush with an offset", FLUSH, EINVAL, 0, { B(0, offset, 512) } },
	{ "a flush with a length", FLUSH, EINVAL, 0, { B(0, length, 512) } },
	{ "a flush with a place", FLUSH, EINVAL, 0, { B(0, where, 512) } },
	{ "a flush with a buffer", FLUSH, EINVAL, 0, { B(0, buffer, ID_BUFFER) } },
	{ "a flush of nothing", FLUSH, ENOENT, 0, { B(0, disk, 0) } },
	{ "a flush as stream", FLUSH, EINVAL, -1, { A(delivery, DDIO_STREAM) } },
	{ "a flush as scatter", FLUSH, EINVAL, -1, { A(delivery, DDIO_SCATTER) } },
	{ "a flush with FUA", FLUSH, EINVAL, -1, { A(flags, DDIO_SUBMIT_FUA) } },
	{ "a disk flushed twice", FLUSH, EEXIST, 1, { A(nr_blocks, 2), B(1, disk, ID_DISK) } },
	/* Streams */
	{ "no slot buffer", STREAM_READ, ENOENT, -1, { A(slot_buffer, 0) } },
	{ "a disk as slot buffer", STREAM_READ, ENOENT, -1, { A(slot_buffer, ID_DISK) } },
	{ "slots read-only", STREAM_READ, EACCES, -1, { A(slot_buffer, ID_BUFFER_RO) } },
	{ "slots shorter than a block", STREAM_READ, ERANGE, -1, { A(slot_length, 3584) } },
	{ "slot length 0", STREAM_READ, EINVAL, -1, { A(slot_length, 0) } },
	{ "slots beyond the buffer", STREAM_READ, ERANGE, -1, { A(slot_offset, KT_WORLD_BUFFER) } },
	{ "last slot across its end",
	  STREAM_READ,
	  ERANGE,
	  -1,
	  { A(slot_offset, KT_WORLD_BUFFER - 8192 + 512) } },
	{ "slots beyond 2^64", STREAM_READ, EOVERFLOW, -1, { A(slot_offset, -4096ULL) } },
	{ "odd slots", STREAM_READ, EINVAL, -1, { A(slot_offset, 1) } },
	{ "odd distance of slots", STREAM_READ, EINVAL, -1, { A(slot_length, 4097) } },
	{ "more slots than the ring has", STREAM_READ, EBUSY, -1, { A(depth, 9) } },
	{ "a stream's block with a buffer", STREAM_READ, EINVAL, 1, { B(1, buffer, ID_BUFFER) } },
	{ "a stream with a joint", STREAM_READ, EINVAL, -1, { A(joint_fd, ID_JOINT) } },
	{ "a stream with runs", STREAM_READ, EINVAL, -1, { A(nr_runs, 1) } },
	{ "a writing stream's overlap", STREAM_WRITE, EEXIST, 1, { B(1, offset, 0) } },
	{ "a writing stream's disk", STREAM_WRITE, EACCES, 1, { B(1, disk, ID_DISK_RO) } },
	/* Scatter */
	{ "no joint", SCATTER, EBADF, -1, { A(joint_fd, -1) } },
	{ "a context as joint", SCATTER, EBADF, -1, { A(joint_fd, ID_CONTEXT) } },
	{ "a membership as joint", SCATTER, EBADF, -1, { A(joint_fd, ID_MEMBER) } },
	{ "runs in a hole", SCATTER, EFAULT, -1, { A(runs, ID_HOLE) } },
	{ "runs in the kernel", SCATTER, EFAULT, -1, { A(runs, 0xffff888000000000ULL) } },
	{ "too many runs", SCATTER, EOVERFLOW, -1, { A(nr_runs, DDIO_RUNS_MAX + 1) } },
	{ "2^64-1 runs", SCATTER, EOVERFLOW, -1, { A(nr_runs, ~0ULL) } },
	{ "runs of a block beyond the list", SCATTER, ERANGE, 1, { B(1, where, RUNS) } },
	{ "more runs than the list has", SCATTER, ERANGE, 1, { B(1, buffer, RUNS) } },
	{ "runs beyond 2^64", SCATTER, EOVERFLOW, 1, { B(1, where, ~0ULL) } },
	{ "a member that has not joined", SCATTER, ENOENT, 1, { R(1, member, 2) } },
	{ "no such member", SCATTER, ENOENT, 1, { R(1, member, 3) } },
	{ "member ~0", SCATTER, ENOENT, 1, { R(1, member, ~0U) } },
	{ "scatter to a read-only member", SCATTER, EACCES, 1, { R(1, member, 1) } },
	{ "run of length 0", SCATTER, EINVAL, 1, { R(1, length, 0) } },
	{ "run longer than the block", SCATTER, ERANGE, 1, { R(1, length, 4097) } },
	{ "run beyond the block", SCATTER, ERANGE, 1, { R(1, offset, 4096) } },
	{ "run across the block's end", SCATTER, ERANGE, 1, { R(1, offset, 4033) } },
	{ "run of 2^32-1", SCATTER, ERANGE, 1, { R(1, length, ~0U), R(1, offset, ~0U) } },
	{ "run beyond the memory", SCATTER, ERANGE, 1, { R(1, memory, KT_WORLD_MEMBER) } },
	{ "run across the memory's end",
	  SCATTER,
	  ERANGE,
	  1,
	  { R(1, memory, KT_WORLD_MEMBER - 63) } },
	{ "run beyond 2^64", SCATTER, EOVERFLOW, 1, { R(1, memory, -32ULL) } },
	{ "levels 4", SCATTER, EINVAL, 1, { R(1, levels, 4) } },
	{ "levels ~0", SCATTER, EINVAL, 1, { R(1, levels, ~0U) } },
	{ "unused level not zero", SCATTER, EINVAL, 1, { R(1, level[2].count, 1) } },
	{ "unused stride not zero", SCATTER, EINVAL, 1, { R(1, level[0].block_stride, 1) } },
	{ "count 0", SCATTER, EINVAL, 1, { R(1, levels, 1) } },
	{ "count too large for the block",
	  SCATTER,
	  ERANGE,
	  1,
	  { R(1, levels, 1), R(1, level[0].count, 65), R(1, level[0].block_stride, 64) } },
	{ "stride too large for the memory",
	  SCATTER,
	  ERANGE,
	  1,
	  { R(1, levels, 1), R(1, level[0].count, 2),
	    R(1, level[0].memory_stride, KT_WORLD_MEMBER) } },
	{ "negative stride out of the memory",
	  SCATTER,
	  ERANGE,
	  1,
	  { R(1, levels, 1), R(1, level[0].count, 2), R(1, level[0].memory_stride, -65) } },
	{ "stride of 2^63-1",
	  SCATTER,
	  EOVERFLOW,
	  1,
	  { R(1, levels, 1), R(1, level[0].count, ~0U),
	    R(1, level[0].memory_stride, ~0ULL >> 1) } },
	{ "stride of -2^63",
	  SCATTER,
	  EOVERFLOW,
	  1,
	  { R(1, levels, 1), R(1, level[0].count, ~0U),
	    R(1, level[0].memory_stride, 1ULL << 63) } },
	{ "the first offending run's block",
	  SCATTER,
	  EINVAL,
	  0,
	  { R(2, length, 0), R(0, length, 0) } },
	{ "scatter with a slot buffer", SCATTER, EINVAL, -1, { A(slot_buffer, ID_BUFFER) } },
	{ "gather, overlap", GATHER, EEXIST, 1, { B(1, offset, 0) } },
	{ "gather, disk for reading", GATHER, EACCES, 1, { B(1, disk, ID_DISK_RO) } },
};

struct list {
	struct ddio_submit s;
	struct ddio_block block[BLOCKS];
	struct ddio_run run[RUNS];
};

static void fill_blocks(struct list *l, const struct kt_world *w, enum base base)
{
	int i;

	for (i = 0; i < BLOCKS; i++) {
		struct ddio_block *b = &l->block[i];

		*b = (struct ddio_block){ .offset = i * 4096, .length = 4096, .disk = w->disk };
		if (base <= PLACE_WRITE) {
			b->where = i * 4096;
			b->buffer = w->buffer;
		} else if (base >= SCATTER) {
			b->where = i < RUNS ? i : 0;
			b->buffer = i < RUNS;
		} else if (base == FLUSH) {
			*b = (struct ddio_block){ .disk = w->disk };
		}
	}
}

static void fill(struct list *l, const struct kt_world *w, enum base base)
{
	static const __u32 op[] = { DDIO_READ,	DDIO_WRITE, DDIO_FLUSH, DDIO_READ,
				    DDIO_WRITE, DDIO_READ,  DDIO_WRITE };
	static const __u32 delivery[] = { DDIO_PLACE,  DDIO_PLACE,   DDIO_PLACE,  DDIO_STREAM,
					  DDIO_STREAM, DDIO_SCATTER, DDIO_SCATTER };
	int i;

	memset(l, 0, sizeof(*l));
	kt_submit_init(&l->s, op[base], delivery[base], l->block, base == FLUSH ? 1 : BLOCKS);
	fill_blocks(l, w, base);
	l->s.out_block = UNTOUCHED;
	if (delivery[base] == DDIO_STREAM) {
		l->s.slot_buffer = w->buffer;
		l->s.slot_length = 4096;
		return;
	}
	l->s.flags = DDIO_SUBMIT_WAIT;
	if (delivery[base] != DDIO_SCATTER)
		return;
	l->s.runs = kt_ptr(l->run);
	l->s.nr_runs = RUNS;
	l->s.joint_fd = w->joint;
	for (i = 0; i < RUNS; i++)
		l->run[i] = (struct ddio_run){ .memory = i * 64, .offset = i * 64, .length = 64 };
}

static __u64 resolve(const struct kt_world *w, const void *hole, __u64 value)
{
	switch (value) {
	case ID_DISK:
		return w->disk;
	case ID_DISK_RO:
		return w->disk_ro;
	case ID_DISK_WO:
		return w->disk_wo;
	case ID_DISK_4K:
		return w->disk_4k;
	case ID_BUFFER:
		return w->buffer;
	case ID_BUFFER_RO:
		return w->buffer_ro;
	case ID_COLL:
		return w->ended;
	case ID_JOINT:
		return w->joint;
	case ID_MEMBER:
		return w->member[0];
	case ID_CONTEXT:
		return w->ctx;
	case ID_HOLE:
		return kt_ptr(hole);
	}
	return value;
}

static void apply(struct list *l, const struct kt_world *w, const void *hole, const struct patch *p)
{
	unsigned char *at = (unsigned char *)&l->s;
	__u64 value = resolve(w, hole, p->value);

	if (p->where == BLOCK)
		at = (unsigned char *)&l->block[p->at];
	else if (p->where == RUN)
		at = (unsigned char *)&l->run[p->at];
	if (p->where != NOTHING)
		memcpy(at + p->offset, &value, p->size);
}

static bool needs_4k(const struct bad *bad)
{
	return bad->patch[0].value == ID_DISK_4K;
}

static void refuse(struct __test_metadata *_metadata, struct kt_world *w, const struct bad *bad)
{
	unsigned char *hole = kt_memory(4096);
	struct list l;
	size_t i;

	munmap(hole, 4096);
	fill(&l, w, bad->base);
	for (i = 0; i < KT_ARRAY_SIZE(bad->patch); i++)
		apply(&l, w, hole, &bad->patch[i]);
	EXPECT_EQ(bad->err, probe(_metadata, w->ctx, DDIO_SUBMIT, &l.s, sizeof(l.s)))
	{
		TH_LOG("%s", bad->what);
	}
	EXPECT_EQ(bad->block < 0 ? UNTOUCHED : (__u64)bad->block, l.s.out_block)
	{
		TH_LOG("%s: the block named", bad->what);
	}
}

KT_TEST(submit, refused)
{
	size_t i;

	for (i = 0; i < KT_ARRAY_SIZE(bads); i++)
		if (!needs_4k(&bads[i]) || self->w.disk_4k)
			refuse(_metadata, &self->w, &bads[i]);
}

/* If no events are read, some submission finds no room, and leaves no trace. */
KT_TEST(submit, ring_without_room)
{
	struct list l;
	int i, err = 0;

	for (i = 0; i < 64 && !err; i++) {
		fill(&l, &self->w, PLACE_READ);
		l.s.flags = DDIO_SUBMIT_EVENTS | DDIO_SUBMIT_WAIT;
		err = probe(_metadata, self->w.ctx, DDIO_SUBMIT, &l.s, sizeof(l.s));
	}
	EXPECT_EQ(EBUSY, err);
	EXPECT_EQ(UNTOUCHED, l.s.out_block);
	fill(&l, &self->w, PLACE_READ);
	EXPECT_EQ(0, kt_submit(self->w.ctx, &l.s));
}

/* The submissions that the table's rows change succeed as they are. */
KT_TEST(submit, bases)
{
	int base;
	struct list l;

	for (base = PLACE_READ; base <= GATHER; base++) {
		fill(&l, &self->w, base);
		ASSERT_EQ(0, kt_submit(self->w.ctx, &l.s))
		{
			TH_LOG("base %d", base);
		}
		EXPECT_NE(0, l.s.out_collective);
		if (l.s.delivery == DDIO_STREAM) {
			EXPECT_EQ(DDIO_RUNNING, l.s.out_state);
			EXPECT_EQ(0, kt_cancel(self->w.ctx, l.s.out_collective));
			kt_wait(self->w.ctx, l.s.out_collective, DDIO_FOREVER, NULL);
		} else {
			EXPECT_EQ(DDIO_ENDED, l.s.out_state);
			EXPECT_EQ(0, l.s.out_error);
		}
		EXPECT_EQ(UNTOUCHED, l.s.out_block);
		EXPECT_EQ(0, kt_destroy(self->w.ctx, l.s.out_collective));
	}
}

/* What looks wrong and is not. */
static const struct bad goods[] = {
	{ "reads may overlap", PLACE_READ, 0, -1, { B(1, offset, 0), B(2, offset, 512) } },
	{ "blocks that touch", PLACE_WRITE, 0, -1, { B(1, length, 512), B(2, offset, 4608) } },
	{ "same range of two disks",
	  PLACE_WRITE,
	  0,
	  -1,
	  { B(1, disk, ID_DISK_4K), B(1, offset, 0) } },
	{ "writing from read-only", PLACE_WRITE, 0, -1, { B(1, buffer, ID_BUFFER_RO) } },
	{ "the disk's last sector",
	  PLACE_READ,
	  0,
	  -1,
	  { B(1, offset, DISK_BYTES - 512), B(1, length, 512) } },
	{ "the buffer's last sector",
	  PLACE_READ,
	  0,
	  -1,
	  { B(1, where, KT_WORLD_BUFFER - 512), B(1, length, 512) } },
	{ "depth 64", PLACE_READ, 0, -1, { A(depth, 64) } },
	{ "FUA and a flush",
	  PLACE_WRITE,
	  0,
	  -1,
	  { A(flags, DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FUA | DDIO_SUBMIT_FLUSH) } },
	/* As fsync() does. */
	{ "a flush of a disk for reading", FLUSH, 0, -1, { B(0, disk, ID_DISK_RO) } },
	{ "a block without runs", SCATTER, 0, -1, { B(1, buffer, 0), B(1, where, 0) } },
	{ "no runs at all",
	  SCATTER,
	  0,
	  -1,
	  { A(nr_blocks, 1), B(0, buffer, 0), A(nr_runs, 0), A(runs, 0) } },
	{ "gather from a read-only member", GATHER, 0, -1, { R(1, member, 1) } },
	{ "stride 0", SCATTER, 0, -1, { R(1, levels, 1), R(1, level[0].count, 64) } },
	{ "a run that fills the block", SCATTER, 0, -1, { R(1, offset, 0), R(1, length, 4096) } },
	{ "negative stride",
	  SCATTER,
	  0,
	  -1,
	  { R(1, memory, 4096), R(1, levels, 1), R(1, level[0].count, 2),
	    R(1, level[0].memory_stride, -4096) } },
};

KT_TEST(submit, accepted)
{
	struct list l;
	size_t i, j;

	for (i = 0; i < KT_ARRAY_SIZE(goods); i++) {
		if (needs_4k(&goods[i]) && !self->w.disk_4k)
			continue;
		fill(&l, &self->w, goods[i].base);
		for (j = 0; j < KT_ARRAY_SIZE(goods[i].patch); j++)
			apply(&l, &self->w, NULL, &goods[i].patch[j]);
		EXPECT_EQ(0, probe(_metadata, self->w.ctx, DDIO_SUBMIT, &l.s, sizeof(l.s)))
		{
			TH_LOG("%s", goods[i].what);
		}
		EXPECT_EQ(DDIO_ENDED, l.s.out_state);
		EXPECT_EQ(0, l.s.out_error);
	}
}

/* A refused list has moved nothing. */
KT_TEST(submit, refused_moves_nothing)
{
	unsigned char *disk_bytes = kt_memory(BLOCKS * 4096);
	int fd = open(disk->path, O_RDWR | O_DIRECT);
	struct list l;

	/* The stream of this world reads into the same memory. */
	ASSERT_EQ(0, kt_cancel(self->w.ctx, self->w.stream));
	kt_wait(self->w.ctx, self->w.stream, DDIO_FOREVER, NULL);
	memset(disk_bytes, 0x11, BLOCKS * 4096);
	ASSERT_EQ(BLOCKS * 4096, pwrite(fd, disk_bytes, BLOCKS * 4096, 0));
	memset(self->w.memory, 0x22, KT_WORLD_BUFFER);
	fill(&l, &self->w, PLACE_WRITE);
	l.block[3].length = 0;
	EXPECT_EQ(-EINVAL, kt_submit(self->w.ctx, &l.s));
	fill(&l, &self->w, PLACE_READ);
	l.block[3].length = 0;
	EXPECT_EQ(-EINVAL, kt_submit(self->w.ctx, &l.s));
	ASSERT_EQ(BLOCKS * 4096, pread(fd, disk_bytes, BLOCKS * 4096, 0));
	EXPECT_EQ(0x11, disk_bytes[0]);
	EXPECT_EQ(0, memcmp(disk_bytes, disk_bytes + 1, BLOCKS * 4096 - 1));
	EXPECT_EQ(0x22, self->w.memory[0]);
	EXPECT_EQ(0, memcmp(self->w.memory, self->w.memory + 1, KT_WORLD_BUFFER - 1));
	close(fd);
}
