// SPDX-License-Identifier: GPL-2.0-only
/* Views in collectives: of different members, beyond the end, over one another, large, and at old nodes. */
#define CP_PROCS 512
#include "cp/group/group.h"
#include "cp/node/lane.h"
#include "conn/conn_priv.h"
#include "tests/unit/cp/cp_world.h"

#define PROCS 3

static const uint32_t methods[] = { DDIO_METHOD_TC, DDIO_METHOD_2P, DDIO_METHOD_DD,
				    DDIO_METHOD_DDS };

/* Records of 24 bytes, of which a view has 4 and the last 12. */
static const struct ddio_tree_node node[] = {
	{ .kind = DDIO_TREE_LEAF, .n = 4 },
	{ .kind = DDIO_TREE_LEAF, .n = 12 },
	{ .kind = DDIO_TREE_SEQUENCE, .n = 2 },
};
static const struct ddio_tree_child child[] = { { 0, 0 }, { 12, 1 } };
static const struct ddio_tree tree = { 3, node, 2, child };

#define RECORD 24
#define WANTED 16

/* Where byte @i of a view from offset 0 lies, if tiles are @extent apart. */
static uint64_t place(uint64_t extent, uint64_t i)
{
	uint64_t rest = i % WANTED;

	return i / WANTED * extent + (rest < 4 ? rest : 8 + rest);
}

struct call {
	struct ddio_view view;
	struct ddio_part part;
	struct ddio_report report;
	struct ddio_transfer t;
};

static void call_init(struct call *c, uint8_t *buf, uint64_t offset, uint64_t extent, uint64_t len)
{
	memset(c, 0, sizeof(*c));
	c->view = (struct ddio_view){ &tree, offset, extent, 0, len };
	c->part = (struct ddio_part){ .kind = DDIO_PART_VIEW, .n = 1, .view = &c->view };
	c->report.struct_size = sizeof(c->report);
	c->t = (struct ddio_transfer){
		.struct_size = sizeof(c->t), .part = &c->part, .buf = buf, .report = &c->report
	};
}

/* Every third record each; a whole file of 3 x 1000 records by each method. */
static void records(struct cp_proc *p)
{
	uint64_t len = 1000 * WANTED, i, m, bad = 0;
	struct ddio_group *g = cp_group(p);
	uint8_t *buf = malloc(len);
	struct ddio_file *f = NULL;
	uint8_t got;
	struct call c;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	call_init(&c, buf, RECORD * p->rank, RECORD * PROCS, len);
	for (m = 0; m < 4; m++) {
		c.t.method = methods[m];
		for (i = 0; i < len; i++)
			buf[i] = cp_byte(m, RECORD * p->rank + place(RECORD * PROCS, i));
		CP_OK(p, ddio_write_all(f, g, &c.t));
		memset(buf, 0, len);
		CP_OK(p, ddio_read_all(f, g, &c.t));
		for (i = 0; i < len; i++)
			bad += buf[i] != cp_byte(m, RECORD * p->rank + place(RECORD * PROCS, i));
		CU_ASSERT_EQUAL(c.report.bytes_share, len);
	}
	CU_ASSERT_EQUAL(ddio_pread(f, &got, 1, 8), 1); /* in a hole */
	CU_ASSERT(!got && !bad);
	ddio_close(f);
	ddio_group_free(g);
	free(buf);
}

/* A view that reaches beyond the end gets what is there. */
static void beyond(struct cp_proc *p)
{
	uint64_t len = 100 * WANTED, i, m, size = 1234, want = 0;
	struct ddio_group *g = cp_group(p);
	uint8_t *buf = malloc(len), *whole = calloc(1, size);
	struct ddio_file *f = NULL;
	struct call c;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	for (i = 0; i < size; i++)
		whole[i] = cp_byte(1, i);
	if (!p->rank)
		CU_ASSERT_EQUAL(ddio_pwrite(f, whole, size, 0), (ssize_t)size);
	CP_OK(p, ddio_group_barrier(g));
	for (i = 0; i < len; i++)
		want += RECORD * p->rank + place(RECORD * PROCS, i) < size;
	for (m = 0; m < 4; m++) {
		call_init(&c, buf, RECORD * p->rank, RECORD * PROCS, len);
		c.t.method = methods[m];
		c.t.flags = DDIO_XFER_SHORT;
		CP_OK(p, ddio_read_all(f, g, &c.t));
		CU_ASSERT_EQUAL(c.report.bytes_moved, want);
		for (i = 0; i < want; i++)
			if (buf[i] != cp_byte(1, RECORD * p->rank + place(RECORD * PROCS, i)))
				break;
		CU_ASSERT_EQUAL(i, want);
	}
	ddio_close(f);
	ddio_group_free(g);
	free(whole);
	free(buf);
}

/* All members write the same records, of which the lowest rank's stay. */
static void over(struct cp_proc *p)
{
	uint64_t len = 50 * WANTED, i, m, bad = 0;
	struct ddio_group *g = cp_group(p);
	uint8_t *buf = malloc(len);
	struct ddio_file *f = NULL;
	struct call c;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	call_init(&c, buf, 0, RECORD, len);
	CU_ASSERT_EQUAL(ddio_write_all(f, g, &c.t), -EBADSLT);
	c.t.flags = DDIO_XFER_OVERLAP;
	for (m = 0; m < 4; m++) {
		c.t.method = methods[m];
		memset(buf, (int)(16 * m + p->rank + 1), len);
		CP_OK(p, ddio_write_all(f, g, &c.t));
		CP_OK(p, ddio_read_all(f, g, &c.t));
		for (i = 0; i < len; i++)
			bad += buf[i] != 16 * m + 1;
	}
	CU_ASSERT_EQUAL(bad, 0);
	ddio_close(f);
	ddio_group_free(g);
	free(buf);
}

/* What is wrong is refused on all members, and the group goes on. */
static void refused(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	uint8_t buf[WANTED] = { 0 };
	struct ddio_file *f = NULL;
	struct ddio_extent e = { 8 * p->rank, 8 };
	struct call c;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	call_init(&c, buf, RECORD * p->rank, RECORD, WANTED);
	CP_OK(p, ddio_write_all(f, g, &c.t));
	c.view.tree = p->rank ? &tree : NULL;
	CU_ASSERT_EQUAL(cp_note(p, ddio_write_all(f, g, &c.t)), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "rank 0"));
	c.view.tree = &tree;
	if (!p->rank)
		c.part = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	CU_ASSERT_EQUAL(cp_note(p, ddio_write_all(f, g, &c.t)), -EBADE);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "gives a list"));
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "views"));
	call_init(&c, buf, RECORD * p->rank, RECORD, WANTED);
	c.t.method = DDIO_METHOD_DDS;
	CP_OK(p, ddio_read_all(f, g, &c.t));
	ddio_close(f);
	ddio_group_free(g);
}

/* Tiles of a matrix, of many members: what comes to rank 0, and over, does not grow with their number. */
static void many(struct cp_proc *p)
{
	uint64_t row = p->w->p.procs / 4 * 8, i, m, before, bad = 0;
	const struct ddio_tree_node nodes[] = {
		{ .kind = DDIO_TREE_LEAF, .n = 8 },
		{ .kind = DDIO_TREE_REPEAT, .n = 4, .stride = (int64_t)row, .child = 0 },
	};
	const struct ddio_tree tile = { 2, nodes, 0, NULL };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	uint8_t buf[32];
	struct call c;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	call_init(&c, buf, p->rank / (row / 8) * 4 * row + p->rank % (row / 8) * 8, 0, 32);
	c.view.tree = &tile;
	for (m = 0; m < 4; m++) {
		if (methods[m] == DDIO_METHOD_2P && p->w->p.procs > 64)
			continue;
		c.t.method = methods[m];
		memset(buf, (int)(p->rank * 3 + m), sizeof(buf));
		before = g->gathered;
		CP_OK(p, ddio_write_all(f, g, &c.t));
		CU_ASSERT(g->gathered - before <= 512);
		CU_ASSERT(g->gathered > before || p->rank % 2 || p->rank == p->w->p.procs - 1);
		memset(buf, 0, sizeof(buf));
		CP_OK(p, ddio_read_all(f, g, &c.t));
		for (i = 0; i < sizeof(buf); i++)
			bad += buf[i] != (uint8_t)(p->rank * 3 + m);
	}
	CU_ASSERT_EQUAL(bad, 0);
	ddio_close(f);
	ddio_group_free(g);
}

static void run(void (*body)(struct cp_proc *p), void *arg)
{
	static struct cp_world w;

	cp_world_begin(&w,
		       &(struct cp_params){ .procs = PROCS, .deep = true, .nodes = 2, .disks = 4 });
	CU_ASSERT_EQUAL(cp_run(&w, body, arg), 0);
	cp_world_end(&w);
}

static void test_records(void)
{
	run(records, NULL);
}

static void test_beyond(void)
{
	run(beyond, NULL);
}

static void test_over(void)
{
	run(over, NULL);
}

static void test_refused(void)
{
	run(refused, NULL);
}

static void test_many(void)
{
	static const uint32_t procs[] = { 4, 64, 512 };
	static struct cp_world w;
	uint32_t i;

	for (i = 0; i < (ut_rounds(30) < 30 ? 2 : 3); i++) {
		cp_world_begin(&w,
			       &(struct cp_params){
				       .procs = procs[i], .deep = true, .nodes = 1, .disks = 1 });
		CU_ASSERT_EQUAL(cp_run(&w, many, NULL), 0);
		cp_world_end(&w);
	}
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "interleaved records", test_records }, { "beyond the end", test_beyond },
		{ "over one another", test_over },	 { "refused", test_refused },
		{ "many members", test_many },		 { NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "views", cases } };

	return ut_run("test_cp_view", suites, 1);
}
