// SPDX-License-Identifier: GPL-2.0-only
/*
 * A byte that changes in the memory of an I/O processor, between the block's checksum and the message's, is in nobody's
 * data: readers of whole chunks get an error or, through the cache, what the disk has; writers learn of it, and what was written is
 * an error for readers until it is written again.
 */
#include "env/env_ops.h"
#include "iop/cache/priv.h"
#include "iop/coll/priv.h"
#include "iop/coll/slot/slot.h"
#include "iop/server/priv.h"
#include "tests/unit/cp/cp_world.h"

enum { BLOCK = 128 << 10, BLOCKS = 8, BYTES = BLOCKS * BLOCK, MEMBERS = 4 };

/**
 * struct memory_fault - what changes in memory
 * @work: the bytes change while a reactor charges that; @left: how often they still do
 * @find: returns the byte, or NULL: not now
 */
static struct memory_fault {
	enum ddio_work work;
	uint32_t left;
	uint8_t *(*find)(struct reactor *reactor);
} fault;

static struct ddio_env_ops hooked;
static const struct ddio_env_ops *plain;
static struct cp_world world;

static void fault_at(struct reactor *reactor)
{
	uint8_t *byte = fault.find(reactor);

	if (!byte)
		return;
	*byte ^= 0x10;
	fault.left--;
}

static void charge(struct ddio_env *env, enum ddio_work work, uint64_t n)
{
	uint32_t i, k;

	for (i = 0; i < world.p.nodes && fault.left && work == fault.work; i++)
		for (k = 0; k < world.p.reactors; k++)
			if (world.node[i].env[k] == env && world.node[i].iop)
				fault_at(&world.node[i].iop->reactors[k]);
	plain->charge(env, work, n);
}

static void plant(enum ddio_work work, uint32_t times, uint8_t *(*find)(struct reactor *reactor))
{
	fault = (struct memory_fault){ .work = work, .left = times, .find = find };
}

static void begin(void)
{
	const struct cp_params params = { .procs = MEMBERS,
					  .block = BLOCK,
					  .cluster = "wire_checksums = always\n" };
	uint32_t i, k;

	fault.left = 0;
	cp_world_begin(&world, &params);
	plain = world.node[0].env[0]->ops;
	hooked = *plain;
	hooked.charge = charge;
	for (i = 0; i < world.p.nodes; i++)
		for (k = 0; k < world.p.reactors; k++)
			world.node[i].env[k]->ops = &hooked;
}

static void end(void)
{
	CU_ASSERT_EQUAL(fault.left, 0);
	fault.left = 0;
	cp_world_end(&world);
}

/*
 * Where bytes change
 */
static uint8_t *slot_where(struct reactor *reactor, bool (*is)(const struct coll_slot *slot))
{
	struct coll *coll;
	uint32_t d, s;

	ddio_list_for_each_entry(coll, &reactor->colls, link)
		for (d = 0; d < coll->ndisks; d++)
			for (s = 0; s < coll->disk[d].nslots; s++)
				if (is(&coll->disk[d].slot[s]))
					return coll->disk[d].slot[s].buf + 1000;
	return NULL;
}

static bool slot_checked_now(const struct coll_slot *slot)
{
	return slot->checked;
}

static uint8_t *in_read_slot(struct reactor *reactor)
{
	return slot_where(reactor, slot_checked_now);
}

static bool slot_has_piece(const struct coll_slot *slot)
{
	return slot->ask == ASK_ASKED && slot_set_has(&slot->disk->straight, slot_place(slot)) &&
	       slot->part[0].owed == OWED_HERE;
}

static uint8_t *in_written_slot(struct reactor *reactor)
{
	return slot_where(reactor, slot_has_piece);
}

static uint8_t *in_reply(struct reactor *reactor)
{
	struct server_request *req;
	struct client *client;

	ddio_list_for_each_entry(client, &reactor->clients, link)
		ddio_list_for_each_entry(req, &server_client_of(client)->requests, link)
			if (req->msg.opcode == DDIO_OP_OBJ_READ && req->buf)
				return req->buf + 1000;
	return NULL;
}

static uint8_t *in_cache(struct reactor *reactor)
{
	struct cache_entry *e;
	uint32_t i;

	for (i = 0; i < reactor->ndisks; i++)
		ddio_list_for_each_entry(e, &reactor->disks[i].cache->all, all)
			if (e->buf && e->valid == e->size)
				return e->buf + 1000;
	return NULL;
}

static void change_caches(void)
{
	struct reactor *reactor;
	uint32_t i, k, n = 0;
	uint8_t *byte;

	for (i = 0; i < world.p.nodes; i++) {
		for (k = 0; k < world.p.reactors; k++) {
			reactor = &world.node[i].iop->reactors[k];
			byte = in_cache(reactor);
			if (!byte)
				continue;
			*byte ^= 1;
			n++;
		}
	}
	CU_ASSERT(n > 0);
}

/*
 * Transfers
 */
static struct ddio_file *open_file(struct cp_proc *p)
{
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, "file", DDIO_CREATE, NULL, &f));
	return f;
}

/* Each member has a quarter of the file: whole blocks. */
static int move(struct cp_proc *p, bool write, uint8_t *buf)
{
	struct ddio_array array = { .elem_size = 8, .ndims = 1 };
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = buf };
	struct ddio_file *f = open_file(p);
	struct ddio_group *g = cp_group(p);
	int ret;

	array.dim[0] = (struct ddio_dim){ .size = BYTES / 8, .dist = DDIO_BLOCK, .procs = MEMBERS };
	ret = cp_note(p, write ? ddio_write_all(f, g, &t) : ddio_read_all(f, g, &t));
	ddio_group_free(g);
	ddio_close(f);
	return ret;
}

static uint64_t wrong_of(const uint8_t *got, uint64_t off, uint64_t len)
{
	uint64_t i, wrong = 0;

	for (i = 0; i < len; i++)
		wrong += got[i] != cp_byte(5, off + i);
	return wrong;
}

static int rets[MEMBERS];

static void write_together(struct cp_proc *p)
{
	uint8_t *buf = malloc(BYTES / MEMBERS);
	uint64_t i, from = (uint64_t)p->rank * (BYTES / MEMBERS);

	for (i = 0; i < BYTES / MEMBERS; i++)
		buf[i] = cp_byte(5, from + i);
	rets[p->rank] = move(p, true, buf);
	free(buf);
}

static void read_together(struct cp_proc *p)
{
	uint8_t *buf = calloc(1, BYTES / MEMBERS);

	rets[p->rank] = move(p, false, buf);
	if (!rets[p->rank])
		CU_ASSERT_EQUAL(
			wrong_of(buf, (uint64_t)p->rank * (BYTES / MEMBERS), BYTES / MEMBERS), 0);
	free(buf);
}

static void check_all(bool failed)
{
	uint32_t i;

	for (i = 0; i < MEMBERS; i++)
		CU_ASSERT_EQUAL(rets[i] != 0, failed);
}

static void test_read_together(void)
{
	begin();
	CU_ASSERT_EQUAL(cp_run(&world, write_together, NULL), 0);
	check_all(false);
	plant(DDIO_WORK_RUNS, 1, in_read_slot);
	CU_ASSERT_EQUAL(cp_run(&world, read_together, NULL), 0);
	check_all(true);
	CU_ASSERT_EQUAL(cp_run(&world, read_together, NULL), 0);
	check_all(false);
	end();
}

static void test_write_together(void)
{
	begin();
	plant(DDIO_WORK_MEMGET, 1, in_written_slot);
	CU_ASSERT_EQUAL(cp_run(&world, write_together, NULL), 0);
	check_all(true);
	CU_ASSERT_PTR_NOT_NULL(strstr(world.proc[0].text, "changed in the node's memory"));
	CU_ASSERT_EQUAL(cp_run(&world, read_together, NULL), 0);
	check_all(true);
	CU_ASSERT_EQUAL(cp_run(&world, write_together, NULL), 0);
	check_all(false);
	CU_ASSERT_EQUAL(cp_run(&world, read_together, NULL), 0);
	check_all(false);
	end();
}

/*
 * One process, through the cache
 */
static int one_ret;

static void read_one(struct cp_proc *p)
{
	struct ddio_file *f;
	uint8_t *buf;

	if (p->rank)
		return;
	f = open_file(p);
	buf = calloc(1, BLOCK);
	one_ret = cp_note(p, (int)ddio_pread(f, buf, BLOCK, 0));
	if (one_ret == BLOCK)
		CU_ASSERT_EQUAL(wrong_of(buf, 0, BLOCK), 0);
	free(buf);
	ddio_close(f);
}

static void write_one(struct cp_proc *p)
{
	struct ddio_file *f;
	uint8_t *buf;
	uint32_t i;

	if (p->rank)
		return;
	f = open_file(p);
	buf = malloc(BLOCK);
	for (i = 0; i < BLOCK; i++)
		buf[i] = cp_byte(5, i);
	one_ret = (int)ddio_pwrite(f, buf, BLOCK, 0);
	CU_ASSERT_EQUAL(one_ret, BLOCK);
	one_ret = cp_note(p, ddio_sync(f));
	free(buf);
	ddio_close(f);
}

static void expect_one(void (*fn)(struct cp_proc *p), int ret)
{
	CU_ASSERT_EQUAL(cp_run(&world, fn, NULL), 0);
	CU_ASSERT_EQUAL(one_ret, ret);
}

static void test_cached(void)
{
	begin();
	expect_one(write_one, 0);
	expect_one(read_one, BLOCK);
	change_caches();
	expect_one(read_one, BLOCK);
	plant(DDIO_WORK_COPY, 1, in_reply);
	expect_one(read_one, BLOCK);
	CU_ASSERT_EQUAL(fault.left, 0);
	plant(DDIO_WORK_COPY, 2, in_reply);
	expect_one(read_one, -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(world.proc[0].text, "does not match its checksum"));
	expect_one(read_one, BLOCK);
	end();
}

static void test_dirty(void)
{
	begin();
	plant(DDIO_WORK_CACHE, 1, in_cache);
	expect_one(write_one, -EIO);
	expect_one(read_one, -EIO);
	expect_one(write_one, 0);
	expect_one(read_one, BLOCK);
	end();
}

static const struct ut_case cases[] = {
	{ "a block on its way to the members of a read", test_read_together },
	{ "a block that was written together, before it is on the disk", test_write_together },
	{ "a block in the cache, and on its way from there", test_cached },
	{ "a block that was written, before the cache writes it", test_dirty },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "sums' windows", cases } };

	return ut_run("test_sums_window", suites, 1);
}
