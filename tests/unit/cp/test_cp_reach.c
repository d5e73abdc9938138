// SPDX-License-Identifier: GPL-2.0-only
/* A collective asks the I/O processors that have something of what is wanted, and no others. */
#include "base/rand.h"
#include "tests/unit/cp/cp_world.h"

enum {
	PROCS = 4,
	NODES = 3,
	DISKS = 6,
	REACTORS = 2,
	BLOCK = 1024,
	SIZE = 13 * BLOCK + 77,
	ROUNDS = 120
};

struct reach {
	uint64_t lo, hi;
	uint8_t model[SIZE];
};

/* What the description says: it, and what it consists of. */
struct reach_wanted {
	struct ddio_part part;
	struct ddio_strided strided;
	struct ddio_array array;
};

/* Nodes with a block of [lo, hi), one by one. */
static uint32_t nodes_naive(uint64_t lo, uint64_t hi)
{
	bool has[NODES] = { false };
	uint32_t n = 0, i;
	uint64_t at;

	for (at = lo; at < hi; at++)
		has[at / BLOCK % DISKS % NODES] = true;
	for (i = 0; i < NODES; i++)
		n += has[i];
	return n;
}

static int count_collectives(void *arg, const struct ddio_node_state *st)
{
	*(uint64_t *)arg += st->collectives;
	return 0;
}

static uint64_t collectives(struct cp_proc *p)
{
	uint64_t n = 0;

	CP_OK(p, ddio_nodes(p->session, count_collectives, &n));
	return n;
}

/* The rank's part of [lo, hi): a range of it, or as elements dealt one by one. */
static uint64_t share(struct reach_wanted *w, uint32_t rank, const struct reach *r, bool dealt,
		      uint64_t *first)
{
	uint64_t n = r->hi - r->lo, from = n * rank / PROCS, to = n * (rank + 1) / PROCS;

	memset(w, 0, sizeof(*w));
	*first = from;
	if (!dealt) {
		w->strided = (struct ddio_strided){ .offset = r->lo + from, .len = to - from };
		w->part = (struct ddio_part){ .kind = DDIO_PART_STRIDED,
					      .n = 1,
					      .strided = &w->strided };
		return to - from;
	}
	w->array = (struct ddio_array){ .elem_size = 1, .ndims = 1 };
	w->array.dim[0].size = SIZE;
	w->array.dim[0].start = r->lo;
	w->array.dim[0].count = n;
	w->array.dim[0].dist = DDIO_CYCLIC;
	w->array.dim[0].procs = PROCS;
	w->part = (struct ddio_part){ .kind = DDIO_PART_ARRAY, .array = &w->array };
	return n / PROCS + (rank < n % PROCS);
}

static uint64_t place(const struct reach *r, uint32_t rank, bool dealt, uint64_t first, uint64_t i)
{
	return r->lo + (dealt ? i * PROCS + rank : first + i);
}

static void transfer(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, struct reach *r,
		     uint32_t round)
{
	bool dealt = round & 1, writing = round & 2;
	struct ddio_report report = { .struct_size = sizeof(report) };
	struct ddio_transfer t = { .struct_size = sizeof(t), .report = &report };
	uint64_t n, i, first, before, wrong = 0;
	uint8_t *buf = malloc(SIZE);
	struct reach_wanted w;

	n = share(&w, p->rank, r, dealt, &first);
	t.part = &w.part;
	t.buf = buf;
	t.method = round & 4 ? DDIO_METHOD_DD : DDIO_METHOD_DDS;
	if (writing && round & 8)
		t.flags = DDIO_XFER_SYNC;
	for (i = 0; i < n; i++)
		buf[i] = writing ? cp_byte(round, place(r, p->rank, dealt, first, i)) : 0xaa;
	before = p->rank ? 0 : collectives(p);
	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, writing ? ddio_write_all(f, g, &t) : ddio_read_all(f, g, &t));
	for (i = 0; i < n; i++) {
		uint64_t at = place(r, p->rank, dealt, first, i);

		if (writing)
			r->model[at] = buf[i];
		wrong += r->model[at] != buf[i];
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(report.requests, nodes_naive(r->lo, r->hi));
	CU_ASSERT_EQUAL(report.iops, report.requests);
	CP_OK(p, ddio_group_barrier(g));
	if (!p->rank)
		/* Each reactor of such a node has one. */
		CU_ASSERT_EQUAL(collectives(p) - before, REACTORS * nodes_naive(r->lo, r->hi));
	free(buf);
}

static void reaching(struct cp_proc *p)
{
	struct reach *r = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	uint64_t rand = 4711;
	uint32_t round;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	/* Bytes never written are zeros. */
	if (!p->rank)
		CP_OK(p, ddio_set_size(f, SIZE));
	for (round = 0; round < ROUNDS; round++) {
		CP_OK(p, ddio_group_barrier(g));
		if (!p->rank) {
			uint64_t len = 1 + ddio_rand_below(&rand, round % 3 ? 2 * BLOCK : SIZE - 1);

			if (round % 20 == 7)
				len = 0;
			r->lo = ddio_rand_below(&rand, SIZE - len + 1);
			r->hi = r->lo + len;
		}
		CP_OK(p, ddio_group_barrier(g));
		transfer(p, g, f, r, round);
	}
	ddio_close(f);
	ddio_group_free(g);
}

static void only_those_that_have_some(void)
{
	struct reach r = { .lo = 0 };
	struct cp_world w;

	cp_world_begin(&w,
		       &(struct cp_params){
			       .procs = PROCS, .nodes = NODES, .disks = DISKS, .block = BLOCK });
	CU_ASSERT_EQUAL(cp_run(&w, reaching, &r), 0);
	cp_world_end(&w);
}

/* A read that goes beyond the end of the file asks nobody for what is there. */
static void reading_short(struct cp_proc *p)
{
	struct ddio_strided s = { .offset = (2 + p->rank) * BLOCK, .len = BLOCK };
	struct ddio_part part = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &s };
	struct ddio_report report = { .struct_size = sizeof(report) };
	uint8_t buf[BLOCK];
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .method = DDIO_METHOD_DDS,
				   .part = &part,
				   .buf = buf,
				   .flags = DDIO_XFER_SHORT,
				   .report = &report };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	if (!p->rank)
		CP_OK(p, ddio_set_size(f, 2 * BLOCK + 10));
	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_read_all(f, g, &t));
	CU_ASSERT_EQUAL(report.requests, 1);
	CU_ASSERT_EQUAL(report.bytes_moved, p->rank ? 0 : 10);
	ddio_close(f);
	ddio_group_free(g);
}

static void at_the_end_of_the_file(void)
{
	struct cp_world w;

	cp_world_begin(&w,
		       &(struct cp_params){
			       .procs = PROCS, .nodes = NODES, .disks = DISKS, .block = BLOCK });
	CU_ASSERT_EQUAL(cp_run(&w, reading_short, NULL), 0);
	cp_world_end(&w);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "only those that have some", only_those_that_have_some },
		{ "at the end of the file", at_the_end_of_the_file },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "who is asked", cases } };

	return ut_run("test_cp_reach", suites, 1);
}
