// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of 47,008 bytes, one of each process in turn, written by successive collectives, whose ends are in the
 * middle of blocks: what moves to and from the disks.
 */
#include "tests/unit/cp/cp_world.h"

enum { PROCS = 16, RECORD = 47008, STEPS = 12, BLOCK = 64 << 10, UNIT = 4096 };

static const uint64_t bytes = (uint64_t)PROCS * RECORD * STEPS;

struct moved {
	uint64_t reads, read_bytes, writes, write_bytes;
};

static int add_disk(void *arg, const struct ddio_disk_state *st)
{
	struct moved *m = arg;

	CU_ASSERT_EQUAL(st->error, 0);
	m->reads += st->reads;
	m->read_bytes += st->read_bytes;
	m->writes += st->writes;
	m->write_bytes += st->write_bytes;
	return 0;
}

static struct moved disks_moved(struct cp_proc *p)
{
	struct moved m = { 0 };

	CP_OK(p, ddio_disks(p->session, add_disk, &m));
	return m;
}

static void record_fill(uint8_t *buf, uint64_t seed, uint64_t offset)
{
	uint32_t i;

	for (i = 0; i < RECORD; i++)
		buf[i] = cp_byte(seed, offset + i);
}

static void steps(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, uint64_t seed)
{
	uint8_t *buf = malloc(RECORD);
	struct ddio_extent e = { .len = RECORD };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = buf };
	uint32_t i;

	for (i = 0; i < STEPS; i++) {
		e.offset = ((uint64_t)i * PROCS + p->rank) * RECORD;
		record_fill(buf, seed, e.offset);
		CP_OK(p, ddio_write_all(f, g, &t));
	}
	free(buf);
}

/* Each process reads what another one has written. */
static void verify(struct cp_proc *p, struct ddio_file *f, uint64_t seed)
{
	uint8_t *buf = malloc(RECORD), *right = malloc(RECORD);
	uint64_t at;
	uint32_t i;

	for (i = 0; i < STEPS; i++) {
		at = ((uint64_t)i * PROCS + (p->rank + 1) % PROCS) * RECORD;
		record_fill(right, seed, at);
		CU_ASSERT_EQUAL(ddio_pread(f, buf, RECORD, at), RECORD);
		CU_ASSERT_EQUAL(memcmp(buf, right, RECORD), 0);
	}
	free(right);
	free(buf);
}

/* A new file, and the same one again. */
static void write_twice(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	uint64_t blocks = (bytes + BLOCK - 1) / BLOCK, seed;
	struct moved before, after;
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	for (seed = 1; seed <= 2; seed++) {
		before = disks_moved(p);
		CP_OK(p, ddio_group_barrier(g));
		steps(p, g, f, seed);
		CP_OK(p, ddio_group_barrier(g));
		if (!p->rank)
			CP_OK(p, ddio_sync(f));
		CP_OK(p, ddio_group_barrier(g));
		after = disks_moved(p);
		/* Each block goes to its disk once, the last one whole as long as it is new. */
		CU_ASSERT_EQUAL(after.reads - before.reads, 0);
		CU_ASSERT_EQUAL(after.writes - before.writes, blocks);
		CU_ASSERT_EQUAL(after.write_bytes - before.write_bytes,
				seed == 1 ? blocks * BLOCK : (bytes + UNIT - 1) / UNIT * UNIT);
		CP_OK(p, ddio_group_barrier(g));
		verify(p, f, seed);
		CP_OK(p, ddio_group_barrier(g));
	}
	ddio_close(f);
	ddio_group_free(g);
}

static void records(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .block = BLOCK });
	CU_ASSERT_EQUAL(cp_run(&w, write_twice, NULL), 0);
	cp_world_end(&w);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "records of 47,008 bytes", records },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "steps", cases } };

	return ut_run("test_cp_steps", suites, 1);
}
