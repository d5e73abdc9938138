// SPDX-License-Identifier: GPL-2.0-only
/* What the file system needs of objects: space, holes, allocation, copies, and a disk that is full. */
#include "tests/unit/iop/server/server_world.h"

#define BS 4096u
#define FREE (4 * MIB - 4096) /* of an empty disk */
#define ROOM (FREE / BS)

static uint8_t pattern[64 * BS];

static void pattern_init(void)
{
	size_t i;

	for (i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(1 + i % 251);
}

static struct ddio_msg_obj_stat stat_of(struct sc *c, uint64_t id)
{
	struct ddio_msg_obj obj = sc_obj(id, 0, 0, 0);
	struct ddio_msg_obj_stat st = { 0 };

	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_STAT, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_obj_stat(c->data, c->len, &st), 0);
	return st;
}

static uint32_t punch(struct sc *c, uint64_t id, uint64_t offset, uint64_t len)
{
	struct ddio_msg_obj obj = sc_obj(id, 0, offset, len);

	return sc_object(c, DDIO_OP_OBJ_PUNCH, &obj);
}

static uint32_t allocate(struct sc *c, uint64_t id, uint64_t offset, uint64_t len, bool zero)
{
	struct ddio_msg_obj obj = sc_obj(id, 0, offset, len);

	obj.flags = zero ? DDIO_OBJ_ZERO : 0;
	return sc_object(c, DDIO_OP_OBJ_ALLOCATE, &obj);
}

/* Returns true if bytes [from, to) of the object are as before, with zeros in [zero, end). */
static bool reads(struct sc *c, uint64_t id, uint64_t to, uint64_t zero, uint64_t end)
{
	uint64_t i;

	if (sc_read(c, id, 0, 0, to))
		return false;
	for (i = 0; i < to; i++)
		if (c->bulk[i] != (i >= zero && i < end ? 0 : pattern[i]))
			return false;
	return true;
}

static uint64_t free_bytes(struct sc *c, uint64_t *blocks)
{
	struct ddio_msg_obj obj = { .disk = 0 };
	struct ddio_msg_fsck check;

	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_FSCK, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_fsck(c->data, c->len, &check), 0);
	CU_ASSERT_EQUAL(check.problems, 0);
	*blocks = check.blocks;
	return check.free_bytes;
}

static void begin(struct sw **sw, struct sc **c)
{
	pattern_init();
	*sw = sw_new(NULL);
	*c = sc_new(*sw, sw_reactor(*sw, 0));
}

static void again(struct sw *sw, struct sc **c)
{
	sc_free(*c);
	sw_restart(sw);
	*c = sc_new(sw, sw_reactor(sw, 0));
}

static void counts_what_is_allocated(void)
{
	struct sw *sw;
	struct sc *c;

	begin(&sw, &c);
	CU_ASSERT_EQUAL(stat_of(c, 1).alloc, 0);
	CU_ASSERT_EQUAL(stat_of(c, 1).end, 0);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 5 * BS + 7, pattern, 2 * BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(stat_of(c, 1).alloc, 3 * BS);
	CU_ASSERT_EQUAL(stat_of(c, 1).end, 8 * BS);
	CU_ASSERT_EQUAL(allocate(c, 1, 20 * BS, 1, false), DDIO_ST_OK);
	CU_ASSERT_EQUAL(stat_of(c, 1).alloc, 4 * BS);
	CU_ASSERT_EQUAL(stat_of(c, 1).end, 21 * BS);
	sc_free(c);
	sw_free(sw);
}

static void holes_are_made(void)
{
	uint64_t blocks;
	struct sw *sw;
	struct sc *c;

	begin(&sw, &c);
	CU_ASSERT_EQUAL(punch(c, 1, 0, 1 << 20), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, 10 * BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	/* Nothing whole; within one block; over an edge. */
	CU_ASSERT_EQUAL(punch(c, 1, 100, 50), DDIO_ST_OK);
	CU_ASSERT(reads(c, 1, 10 * BS, 100, 150));
	CU_ASSERT_EQUAL(stat_of(c, 1).alloc, 10 * BS);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, 10 * BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(punch(c, 1, 2 * BS - 9, 5 * BS + 20), DDIO_ST_OK);
	CU_ASSERT(reads(c, 1, 10 * BS, 2 * BS - 9, 7 * BS + 11));
	CU_ASSERT_EQUAL(stat_of(c, 1).alloc, 5 * BS);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	CU_ASSERT_EQUAL(free_bytes(c, &blocks), FREE - 5 * BS);
	again(sw, &c);
	CU_ASSERT(reads(c, 1, 10 * BS, 2 * BS - 9, 7 * BS + 11));
	CU_ASSERT_EQUAL(punch(c, 1, 0, 1 << 20), DDIO_ST_OK);
	CU_ASSERT_EQUAL(stat_of(c, 1).alloc, 0);
	CU_ASSERT_EQUAL(free_bytes(c, &blocks), FREE);
	sc_free(c);
	sw_free(sw);
}

static void allocated_space_is_kept(void)
{
	uint64_t blocks, i;
	struct sw *sw;
	struct sc *c;

	begin(&sw, &c);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(allocate(c, 1, 10, 63 * BS, false), DDIO_ST_OK);
	CU_ASSERT(reads(c, 1, 64 * BS, BS, 64 * BS));
	/* The rest of the disk. */
	CU_ASSERT_EQUAL(allocate(c, 2, 0, FREE - 64 * BS + 1, false), DDIO_ST_NO_SPACE);
	CU_ASSERT_EQUAL(stat_of(c, 2).alloc, 0);
	CU_ASSERT_EQUAL(allocate(c, 2, 0, 1ull << 50, false), DDIO_ST_NO_SPACE);
	CU_ASSERT_EQUAL(allocate(c, 2, 0, FREE - 64 * BS, false), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	again(sw, &c);
	CU_ASSERT(reads(c, 1, 64 * BS, BS, 64 * BS));
	CU_ASSERT_EQUAL(free_bytes(c, &blocks), FREE % BS);
	CU_ASSERT_EQUAL(blocks, ROOM);
	/* Nothing more fits, but what was allocated does. */
	CU_ASSERT_EQUAL(sc_write(c, 3, 0, 0, pattern, 1), DDIO_ST_NO_SPACE);
	for (i = 1; i < 64; i += 21)
		CU_ASSERT_EQUAL(sc_write(c, 1, 0, i * BS, pattern + i * BS, 21 * BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	again(sw, &c);
	CU_ASSERT(reads(c, 1, 64 * BS, 0, 0));
	sc_free(c);
	sw_free(sw);
}

/* In place, so it works on a full disk, too. */
static void zeroing_needs_no_space(void)
{
	uint64_t blocks;
	struct sw *sw;
	struct sc *c;

	begin(&sw, &c);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, 20 * BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(allocate(c, 2, 0, FREE - 20 * BS, false), DDIO_ST_OK);
	CU_ASSERT_EQUAL(allocate(c, 1, 3 * BS + 5, 9 * BS, true), DDIO_ST_OK);
	CU_ASSERT(reads(c, 1, 20 * BS, 3 * BS + 5, 12 * BS + 5));
	CU_ASSERT_EQUAL(allocate(c, 1, 19 * BS + 5, BS, true), DDIO_ST_NO_SPACE);
	CU_ASSERT(reads(c, 1, 20 * BS, 3 * BS + 5, 12 * BS + 5));
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	again(sw, &c);
	CU_ASSERT(reads(c, 1, 20 * BS, 3 * BS + 5, 12 * BS + 5));
	CU_ASSERT_EQUAL(free_bytes(c, &blocks), FREE % BS);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, 20 * BS), DDIO_ST_OK);
	CU_ASSERT(reads(c, 1, 20 * BS, 0, 0));
	/* Within one block, at its beginning, at its end. */
	CU_ASSERT_EQUAL(allocate(c, 1, BS + 5, 50, true), DDIO_ST_OK);
	CU_ASSERT(reads(c, 1, 20 * BS, BS + 5, BS + 55));
	CU_ASSERT_EQUAL(allocate(c, 1, BS, 80, true), DDIO_ST_OK);
	CU_ASSERT(reads(c, 1, 20 * BS, BS, BS + 80));
	CU_ASSERT_EQUAL(allocate(c, 1, BS + 60, BS - 60, true), DDIO_ST_OK);
	CU_ASSERT(reads(c, 1, 20 * BS, BS, 2 * BS));
	sc_free(c);
	sw_free(sw);
}

/* A write that does not fit is refused at once; everything accepted can be written back. */
static void a_full_disk_loses_nothing(void)
{
	struct ddio_msg_obj_stat before;
	uint64_t n = 0, i, blocks;
	struct sw *sw;
	struct sc *c;

	begin(&sw, &c);
	while (sc_write(c, 1, 0, n * BS, pattern + n % 64 * BS, BS) == DDIO_ST_OK)
		n++;
	CU_ASSERT_EQUAL(c->status, DDIO_ST_NO_SPACE);
	CU_ASSERT_EQUAL(n, ROOM);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	CU_ASSERT_EQUAL(punch(c, 1, 8 * BS, 4 * BS), DDIO_ST_OK);
	before = stat_of(c, 1);
	/* Room for four: five, with blocks that are there between them, change nothing. */
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, (ROOM - 3) * BS, pattern, 8 * BS), DDIO_ST_NO_SPACE);
	CU_ASSERT_EQUAL(stat_of(c, 1).alloc, before.alloc);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 8 * BS, pattern + 8 * BS, 4 * BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_write(c, 2, 0, 0, pattern, 1), DDIO_ST_NO_SPACE);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	again(sw, &c);
	for (i = 0; i < n; i++) {
		CU_ASSERT_EQUAL(sc_read(c, 1, 0, i * BS, BS), DDIO_ST_OK);
		CU_ASSERT_EQUAL(memcmp(c->bulk, pattern + i % 64 * BS, BS), 0);
	}
	CU_ASSERT_EQUAL(free_bytes(c, &blocks), FREE % BS);
	sc_free(c);
	sw_free(sw);
}

static uint32_t extents(struct sc *c, uint64_t id, struct ddio_msg_extents *x)
{
	struct ddio_msg_obj obj = sc_obj(id, 0, 0, 100);

	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_EXTENTS, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_extents(c->data, c->len, x), 0);
	return x->n;
}

static void is_extent(const struct ddio_msg_extents *x, uint32_t i, uint64_t block, uint64_t count,
		      uint32_t flags)
{
	CU_ASSERT_FATAL(i < x->n);
	CU_ASSERT_EQUAL(x->ext[i].block, block);
	CU_ASSERT_EQUAL(x->ext[i].count, count);
	CU_ASSERT_EQUAL(x->ext[i].flags, flags);
}

/* Where there is data: what the cache holds is data, what was only allocated is not. */
static void extents_tell_data_from_space(void)
{
	struct ddio_msg_extents x;
	struct sw *sw;
	struct sc *c;

	begin(&sw, &c);
	CU_ASSERT_EQUAL(allocate(c, 1, 2 * BS, 10 * BS, false), DDIO_ST_OK);
	CU_ASSERT_EQUAL(extents(c, 1, &x), 1);
	is_extent(&x, 0, 2, 10, DDIO_EXTENT_UNWRITTEN);
	free(x.ext);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 5 * BS + 9, pattern, 100), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 20 * BS, pattern, 5), DDIO_ST_OK);
	CU_ASSERT_EQUAL(extents(c, 1, &x), 4);
	is_extent(&x, 0, 2, 3, DDIO_EXTENT_UNWRITTEN);
	is_extent(&x, 1, 5, 1, 0);
	is_extent(&x, 2, 6, 6, DDIO_EXTENT_UNWRITTEN);
	is_extent(&x, 3, 20, 1, 0);
	free(x.ext);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	again(sw, &c);
	CU_ASSERT_EQUAL(extents(c, 1, &x), 4);
	is_extent(&x, 1, 5, 1, 0);
	is_extent(&x, 2, 6, 6, DDIO_EXTENT_UNWRITTEN);
	free(x.ext);
	CU_ASSERT_EQUAL(punch(c, 1, 3 * BS, 2 * BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(extents(c, 1, &x), 4);
	is_extent(&x, 0, 2, 1, DDIO_EXTENT_UNWRITTEN);
	is_extent(&x, 1, 5, 1, 0);
	free(x.ext);
	sc_free(c);
	sw_free(sw);
}

/* What was never written is looked for in the cache: after so many blocks of it the list ends, and there are more. */
static void extents_in_parts(void)
{
	struct ddio_msg_extents x;
	struct bound *probed;
	struct sw *sw;
	struct sc *c;

	begin(&sw, &c);
	probed = &sw->iop->reactors[sw_reactor(sw, 0)].bounds.at[BOUND_PROBED];
	probed->limit = 4;
	CU_ASSERT_EQUAL(sc_write(c, 2, 0, 0, pattern, 10 * BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(allocate(c, 1, 0, 3 * BS, false), DDIO_ST_OK);
	CU_ASSERT_EQUAL(allocate(c, 1, 5 * BS, 3 * BS, false), DDIO_ST_OK);
	CU_ASSERT_EQUAL(allocate(c, 1, 10 * BS, 3 * BS, false), DDIO_ST_OK);
	CU_ASSERT_EQUAL(extents(c, 1, &x), 2);
	CU_ASSERT_EQUAL(x.more, 1);
	is_extent(&x, 1, 5, 3, DDIO_EXTENT_UNWRITTEN);
	free(x.ext);
	CU_ASSERT_EQUAL(probed->hits, 1);
	CU_ASSERT_EQUAL(probed->most, 6);
	/* One is always told. */
	probed->limit = 1;
	CU_ASSERT_EQUAL(extents(c, 1, &x), 1);
	CU_ASSERT_EQUAL(x.more, 1);
	free(x.ext);
	sc_free(c);
	sw_free(sw);
}

static void copies_keep_holes(void)
{
	struct ddio_msg_extents x;
	struct sw *sw;
	struct sc *c;

	begin(&sw, &c);
	/* Data on the disk, a hole, space only, data in the cache only. */
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, 10 * BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	CU_ASSERT_EQUAL(allocate(c, 1, 15 * BS, 5 * BS, false), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 17 * BS, pattern + 17 * BS, BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_copy(c, 1, 0, 2, 0, 64 * BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(extents(c, 2, &x), 2);
	is_extent(&x, 0, 0, 10, 0);
	is_extent(&x, 1, 17, 1, 0);
	free(x.ext);
	CU_ASSERT(reads(c, 2, 17 * BS, 10 * BS, 17 * BS));
	/* Onto data, not at a block's beginning: the holes clear. */
	CU_ASSERT_EQUAL(sc_write(c, 3, 0, 0, pattern, 40 * BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_copy(c, 1, 8 * BS + 100, 3, 8 * BS + 100, 9 * BS), DDIO_ST_OK);
	CU_ASSERT(reads(c, 3, 40 * BS, 10 * BS, 17 * BS));
	CU_ASSERT_EQUAL(sc_copy(c, 1, 5, 4, BS - 3, 7000), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_read(c, 4, 0, BS - 3, 7000), DDIO_ST_OK);
	CU_ASSERT_EQUAL(memcmp(c->bulk, pattern + 5, 7000), 0);
	CU_ASSERT_EQUAL(sc_copy(c, 99, 0, 3, 2 * BS, 3 * BS), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_read(c, 3, 0, 2 * BS, 3 * BS), DDIO_ST_OK);
	CU_ASSERT(sw_all(c->bulk, 3 * BS, 0));
	CU_ASSERT_EQUAL(stat_of(c, 99).alloc, 0);
	CU_ASSERT_EQUAL(sc_copy(c, 3, 0, 3, 100, 200), DDIO_ST_INVALID);
	CU_ASSERT_EQUAL(sc_copy(c, 3, 0, 3, 200, 200), DDIO_ST_OK);
	sc_free(c);
	sw_free(sw);
}

/* Larger than its buffer and than the cache; between different block sizes; onto a full disk. */
static void large_copies(void)
{
	struct ddio_msg_obj_copy x = { .from_offset = 77, .to_offset = 5, .len = 300 * BS };
	struct sw *sw;
	struct sc *c;
	uint64_t i;

	begin(&sw, &c);
	for (i = 0; i < 320; i += 64)
		CU_ASSERT_EQUAL(sc_write(c, 1, 0, i * BS, pattern, 64 * BS), DDIO_ST_OK);
	x.from = sc_obj(1, 0, 0, 0).file;
	x.to = sc_obj(2, 0, 0, 0).file;
	x.to.block = 16384;
	CU_ASSERT_EQUAL(SC_CALL(c, OBJ_COPY, obj_copy, &x), DDIO_ST_OK);
	for (i = 0; i < 290; i += 10) {
		struct ddio_msg_obj obj = sc_obj(2, 0, 5 + i * BS, 10 * BS);
		uint64_t k, wrong = 0;

		obj.file.block = 16384;
		CU_ASSERT_EQUAL(SC_CALL(c, OBJ_READ, obj, &obj), DDIO_ST_OK);
		for (k = 0; k < 10 * BS; k++)
			wrong += c->bulk[k] != pattern[(77 + i * BS + k) % sizeof(pattern)];
		CU_ASSERT_EQUAL(wrong, 0);
	}
	CU_ASSERT_EQUAL(allocate(c, 3, 0, 300 * BS, false), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_copy(c, 1, 0, 4, 5, 300 * BS), DDIO_ST_NO_SPACE);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "writing a copy"));
	CU_ASSERT_EQUAL(sc_sync(c, 4), DDIO_ST_OK);
	sc_free(c);
	sw_free(sw);
}

static uint64_t dirty_blocks(struct sc *c)
{
	struct ddio_msg_status st;
	uint64_t n = 0;
	uint32_t i;

	CU_ASSERT_EQUAL(sc_status(c, &st), DDIO_ST_OK);
	CU_ASSERT(st.ndisks > 0);
	for (i = 0; i < st.ndisks; i++)
		n += st.disks[i].cache_dirty;
	ddio_status_free(&st);
	return n;
}

/* Writes back unasked, after a while, and the records with it, so that a check of committed records sees it. */
static void written_back_in_a_while(void)
{
	uint64_t blocks, i;
	struct sw *sw;
	struct sc *c;

	begin(&sw, &c);
	for (i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(sc_write(c, 1, 0, i * BS, pattern, 100), DDIO_ST_OK);
	sw_run(sw, 4000 * MS);
	CU_ASSERT_EQUAL(dirty_blocks(c), 3);
	sw_run(sw, 1500 * MS);
	CU_ASSERT_EQUAL(dirty_blocks(c), 0);
	CU_ASSERT_EQUAL(free_bytes(c, &blocks), FREE - 3 * BS);
	CU_ASSERT_EQUAL(blocks, 3);
	/* On a failing disk it is tried again, ever more rarely; fsync reports it, and nothing is lost. */
	disk_inject(sw_disk(sw, 0), -1, 1000, -EIO);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 3 * BS, pattern, 100), DDIO_ST_OK);
	sw_run(sw, 60000 * MS);
	CU_ASSERT_EQUAL(dirty_blocks(c), 1);
	CU_ASSERT(ddio_sim_logged(sw->world, "could not be written") <= 5);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_IO);
	disk_inject(sw_disk(sw, 0), -1, 0, 0);
	sw_run(sw, 61000 * MS);
	CU_ASSERT_EQUAL(dirty_blocks(c), 0);
	sc_free(c);
	sw_free(sw);
	sw = sw_new("write_back = 0s");
	c = sc_new(sw, sw_reactor(sw, 0));
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, 100), DDIO_ST_OK);
	sw_run(sw, 60000 * MS);
	CU_ASSERT_EQUAL(dirty_blocks(c), 1);
	sc_free(c);
	sw_free(sw);
}

static void bad_requests(void)
{
	struct ddio_msg_obj obj = sc_obj(1, 3, 0, 10);
	struct ddio_msg_obj_copy x = { .len = 1 };
	struct sw *sw;
	struct sc *c;

	begin(&sw, &c);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_STAT, &obj), DDIO_ST_INVALID);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_PUNCH, &obj), DDIO_ST_INVALID);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_ALLOCATE, &obj), DDIO_ST_INVALID);
	x.from = x.to = obj.file;
	x.to.id = 2;
	x.disk = 3;
	CU_ASSERT_EQUAL(SC_CALL(c, OBJ_COPY, obj_copy, &x), DDIO_ST_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "belongs to node io1"));
	x.disk = 0;
	x.from.block = 8192;
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, 1), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(c, OBJ_COPY, obj_copy, &x), DDIO_ST_STALE);
	x.from.block = 4096;
	x.to.id = 1;
	x.to.block = 8192;
	x.to_offset = 100;
	CU_ASSERT_EQUAL(SC_CALL(c, OBJ_COPY, obj_copy, &x), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(c->closed, false);
	sc_free(c);
	sw_free(sw);
}

/* Returns whether who asks meanwhile is answered before the space has been taken, or zeroed. */
static bool others_are_first(struct sc *c, uint16_t opcode, const struct ddio_msg_obj *obj)
{
	uint32_t asked = c->replies;
	uint8_t buf[256];
	ssize_t len = ddio_put_obj(buf, sizeof(buf), obj);

	CU_ASSERT_FATAL(len > 0);
	sc_send(c, opcode, buf, (size_t)len, NULL, 0);
	sc_send(c, DDIO_OP_PING, NULL, 0, NULL, 0);
	CU_ASSERT_FATAL(sc_wait(c, asked + 2));
	CU_ASSERT_EQUAL(c->status, DDIO_ST_OK);
	return c->opcode == opcode;
}

/* Space for many blocks, each of which has a place of its own, is taken in turns; it is zeroed in turns, too. */
static void space_in_turns(void)
{
	enum { BLOCKS = 60 };
	struct ddio_msg_obj obj = sc_obj(1, 0, 0, BLOCKS * BS);
	struct ddio_msg_obj all = sc_obj(2, 0, 0, BLOCKS);
	struct bound *placed;
	uint64_t hits;
	struct sw *sw;
	struct sc *c;

	begin(&sw, &c);
	placed = &sw->iop->reactors[sw_reactor(sw, 0)].bounds.at[BOUND_PLACED];
	placed->limit = 2;
	obj.file.layout = DDIO_LAYOUT_RANDOM_BLOCKS_W;
	all.file.layout = DDIO_LAYOUT_RANDOM_BLOCKS_W;
	CU_ASSERT(others_are_first(c, DDIO_OP_OBJ_ALLOCATE, &obj));
	CU_ASSERT_EQUAL(placed->hits, BLOCKS / 2 - 1);
	CU_ASSERT(others_are_first(c, DDIO_OP_OBJ_RESERVE, &all));
	CU_ASSERT_EQUAL(placed->hits, 2 * (BLOCKS / 2 - 1));
	hits = placed->hits;
	obj.flags = DDIO_OBJ_ZERO;
	CU_ASSERT(others_are_first(c, DDIO_OP_OBJ_ALLOCATE, &obj));
	/* Looked at, zeroed, and looked at once more. */
	CU_ASSERT(placed->hits - hits >= 3 * (BLOCKS / 4));
	sc_free(c);
	sw_free(sw);
}

static const struct ut_case cases[] = {
	{ "counts what is allocated", counts_what_is_allocated },
	{ "holes are made", holes_are_made },
	{ "allocated space is kept", allocated_space_is_kept },
	{ "zeroing needs no space", zeroing_needs_no_space },
	{ "space in turns", space_in_turns },
	{ "a full disk loses nothing", a_full_disk_loses_nothing },
	{ "extents tell data from space", extents_tell_data_from_space },
	{ "extents, in parts", extents_in_parts },
	{ "copies keep holes", copies_keep_holes },
	{ "large copies", large_copies },
	{ "written back in a while", written_back_in_a_while },
	{ "bad requests", bad_requests },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "space", cases } };

	return ut_run("iop_server_space", suites, 1);
}
