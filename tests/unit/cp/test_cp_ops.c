// SPDX-License-Identifier: GPL-2.0-only
/* Asynchronous operations, what they report, and how they end when nobody waits. */
#include "tests/unit/cp/cp_world.h"

enum { PROCS = 4, ELEMS = 16384, BYTES = ELEMS * 8, SHARE = BYTES / PROCS };

static const struct ddio_array cyclic = {
	.elem_size = 8,
	.ndims = 1,
	.dim = { { .size = ELEMS, .dist = DDIO_CYCLIC, .procs = PROCS } },
};
static const struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &cyclic };

static struct ddio_transfer transfer(void *buf, uint32_t method)
{
	return (struct ddio_transfer){ .struct_size = sizeof(struct ddio_transfer),
				       .part = &part,
				       .buf = buf,
				       .method = method };
}

static void fill(uint8_t *buf, uint32_t rank, uint64_t salt)
{
	uint64_t i;

	for (i = 0; i < SHARE; i++)
		buf[i] = cp_byte(salt, (i / 8 * PROCS + rank) * 8 + i % 8);
}

static struct ddio_file *make(struct cp_proc *p, struct ddio_group *g, const char *name)
{
	struct ddio_file *f = NULL;
	uint8_t *buf = malloc(SHARE);
	struct ddio_transfer t = transfer(buf, DDIO_METHOD_DDS);

	CP_OK(p, ddio_open_all(g, name, DDIO_CREATE, NULL, &f));
	fill(buf, p->rank, name[0]);
	CP_OK(p, ddio_write_all(f, g, &t));
	free(buf);
	return f;
}

/*
 * Several at once, waited for in another order
 */
static void many(struct cp_proc *p)
{
	enum { OPS = 8 };
	static const char *const names[2] = { "a", "b" };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f[2] = { make(p, g, "a"), make(p, g, "b") };
	uint8_t *buf[OPS], *want = malloc(SHARE);
	struct ddio_op *op[OPS] = { NULL };
	uint32_t i, busy = 0;

	for (i = 0; i < OPS; i++) {
		struct ddio_transfer t;

		buf[i] = malloc(SHARE);
		t = transfer(buf[i], 1 + i % 4);
		CP_OK(p, ddio_start_read_all(f[i & 1], g, &t, &op[i]));
		busy += ddio_test(op[i]) == -EINPROGRESS;
	}
	CU_ASSERT_EQUAL(busy, OPS);
	for (i = OPS; i-- > 0;) {
		CP_OK(p, ddio_wait(op[i]));
		fill(want, p->rank, names[i & 1][0]);
		CU_ASSERT_EQUAL(memcmp(buf[i], want, SHARE), 0);
		free(buf[i]);
	}
	free(want);
	ddio_close(f[0]);
	ddio_close(f[1]);
	ddio_group_free(g);
}

static void several_at_once(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .options = "delay_us=500" });
	CU_ASSERT_EQUAL(cp_run(&w, many, NULL), 0);
	cp_world_end(&w);
}

/* I/O goes on while the program computes. */
static void compute(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = make(p, g, "a");
	uint8_t *buf = malloc(SHARE);
	struct ddio_transfer t = transfer(buf, DDIO_METHOD_DDS);
	struct ddio_op *op = NULL;
	uint64_t before, took, again;

	CP_OK(p, ddio_drop_cache(f));
	CP_OK(p, ddio_group_barrier(g));
	before = ddio_sim_elapsed(p->w->dw);
	CP_OK(p, ddio_read_all(f, g, &t));
	took = ddio_sim_elapsed(p->w->dw) - before;
	CP_OK(p, ddio_start_read_all(f, g, &t, &op));
	ddio_sim_sleep(p->env, 2 * took);
	CU_ASSERT_EQUAL(ddio_test(op), 0);
	again = ddio_sim_elapsed(p->w->dw);
	CP_OK(p, ddio_wait(op));
	CU_ASSERT_EQUAL(ddio_sim_elapsed(p->w->dw), again);
	CU_ASSERT_EQUAL(ddio_test(NULL), 0);
	CU_ASSERT_EQUAL(ddio_wait(NULL), -EINVAL);
	ddio_close(f);
	ddio_group_free(g);
	free(buf);
}

static void io_while_computing(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .options = "delay_us=500" });
	CU_ASSERT_EQUAL(cp_run(&w, compute, NULL), 0);
	cp_world_end(&w);
}

/* Runs several independent operations of one process at once. */
static void independent(struct cp_proc *p)
{
	struct ddio_strided s[2] = {
		{ .offset = 0, .len = 100, .nlevels = 1, .level = { { 50, 300 } } },
		{ .offset = 100, .len = 50, .nlevels = 1, .level = { { 50, 300 } } }
	};
	struct ddio_part parts[2] = { { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &s[0] },
				      { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &s[1] } };
	struct ddio_file *f = NULL;
	struct ddio_op *op[4];
	uint8_t buf[4][5000];
	struct ddio_transfer t = { .struct_size = sizeof(t) };
	int i;

	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	for (i = 0; i < 2; i++) {
		memset(buf[i], i + 1, sizeof(buf[i]));
		t.part = &parts[i];
		t.buf = buf[i];
		CP_OK(p, ddio_start_write(f, &t, &op[i]));
	}
	CP_OK(p, ddio_wait(op[1]));
	CP_OK(p, ddio_wait(op[0]));
	for (i = 0; i < 4; i++) {
		t.part = &parts[i & 1];
		t.buf = buf[i];
		t.method = i < 2 ? DDIO_METHOD_TC : DDIO_METHOD_DD;
		memset(buf[i], 0, sizeof(buf[i]));
		CP_OK(p, ddio_start_read(f, &t, &op[i]));
	}
	for (i = 0; i < 4; i++) {
		CP_OK(p, ddio_wait(op[i]));
		CU_ASSERT_EQUAL(buf[i][0], i % 2 + 1);
		CU_ASSERT_EQUAL(buf[i][i & 1 ? 2499 : 4999], i % 2 + 1);
	}
	ddio_close(f);
}

static void independent_ones(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1 });
	CU_ASSERT_EQUAL(cp_run(&w, independent, NULL), 0);
	cp_world_end(&w);
}

/*
 * Reports
 */
static void check_dd(struct cp_proc *p, const struct ddio_report *r, bool writing, bool sorted)
{
	CU_ASSERT_EQUAL(r->bytes_share, SHARE);
	CU_ASSERT_EQUAL(r->bytes_needed, BYTES);
	CU_ASSERT_EQUAL(r->disk_read, writing ? 0 : BYTES);
	CU_ASSERT_EQUAL(r->disk_written, writing ? BYTES : 0);
	CU_ASSERT_EQUAL(r->disk_requests, BYTES / 1024);
	CU_ASSERT_EQUAL(r->requests, p->w->p.nodes);
	CU_ASSERT_EQUAL(r->iops, p->w->p.nodes);
	CU_ASSERT_EQUAL(r->sorted, sorted);
	CU_ASSERT(r->buffers <= 2);
	/* A message a block, one from each reactor, and the tree's. */
	CU_ASSERT(r->messages >= BYTES / 1024);
	CU_ASSERT(r->messages <= BYTES / 1024 * 2 + 4 * 2 + 16);
	CU_ASSERT(r->elapsed_ns >= r->wait_io_ns + r->wait_join_ns + r->wait_end_ns);
}

static void reports(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = make(p, g, "a");
	uint8_t *buf = malloc(SHARE);
	struct ddio_report r;
	struct ddio_transfer t;
	uint32_t m, round;

	for (round = 0; round < 8; round++) {
		m = round % 4 + 1;
		memset(&r, 0xee, sizeof(r));
		r.struct_size = sizeof(r);
		t = transfer(buf, m);
		t.report = &r;
		CP_OK(p, ddio_drop_cache(f));
		CP_OK(p, ddio_group_barrier(g));
		CP_OK(p, round < 4 ? ddio_read_all(f, g, &t) : ddio_write_all(f, g, &t));
		CU_ASSERT_EQUAL(r.method, m);
		CU_ASSERT_EQUAL(r.peak_share, 0);
		if (m >= DDIO_METHOD_DD)
			check_dd(p, &r, round >= 4, m == DDIO_METHOD_DDS);
		if (m == DDIO_METHOD_TC) {
			/* Every chunk is a request of its own; never more than four a disk. */
			CU_ASSERT_EQUAL(r.requests, SHARE / 8);
			CU_ASSERT_EQUAL(r.buffers, 4);
		}
		if (m == DDIO_METHOD_2P) {
			CU_ASSERT_EQUAL(r.requests, BYTES / 1024 / PROCS);
			CU_ASSERT(r.buffers <= 4);
		}
	}
	/* A caller of an older version gets what it knows. */
	memset(&r, 0xee, sizeof(r));
	r.struct_size = offsetof(struct ddio_report, disk_read);
	CP_OK(p, ddio_read_all(f, g, &t));
	CU_ASSERT_EQUAL(r.bytes_needed, BYTES);
	CU_ASSERT_EQUAL(r.disk_read, 0xeeeeeeeeeeeeeeeeull);
	ddio_close(f);
	ddio_group_free(g);
	free(buf);
}

static void what_reports_say(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .nodes = 3, .disks = 5 });
	CU_ASSERT_EQUAL(cp_run(&w, reports, NULL), 0);
	cp_world_end(&w);
}

/*
 * Ends that nobody waits for
 */
static void leave(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = make(p, g, "a");
	uint8_t *buf = malloc(SHARE);
	struct ddio_transfer t = transfer(buf, DDIO_METHOD_DDS);
	struct ddio_op *op[3];
	int i;

	for (i = 0; i < 3; i++)
		CP_OK(p, ddio_start_read_all(f, g, &t, &op[i]));
	if (*(int *)p->w->arg) {
		ddio_group_free(g);
		ddio_close(f);
		for (i = 0; i < 3; i++)
			CU_ASSERT_NOT_EQUAL(ddio_wait(op[i]), 0);
	}
	/* The library has let go of the buffer when the session is over. */
	ddio_disconnect(p->session);
	p->session = NULL;
	free(buf);
}

static void nobody_waits(void)
{
	struct cp_world w;
	int freed;

	for (freed = 0; freed < 2; freed++) {
		cp_world_begin(&w,
			       &(struct cp_params){ .procs = PROCS, .options = "delay_us=500" });
		CU_ASSERT_EQUAL(cp_run(&w, leave, &freed), 0);
		cp_world_end(&w);
	}
}

/*
 * A group is freed at any step of its first transfer: while I/O processors are being told of it, for one.  Nothing is left of it, here or
 * there.
 */
struct early_free {
	uint64_t after;
	bool hit;
};

static void free_early(struct cp_proc *p)
{
	struct early_free *early = p->w->arg;
	struct ddio_group *g = cp_group(p);
	uint8_t *buf = malloc(SHARE);
	struct ddio_transfer t = transfer(buf, DDIO_METHOD_DDS);
	struct ddio_file *f = NULL;
	struct ddio_op *op = NULL;

	fill(buf, p->rank, 'a');
	CP_OK(p, ddio_open_all(g, "a", DDIO_CREATE, NULL, &f));
	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_start_write_all(f, g, &t, &op));
	ddio_sim_sleep(p->env, early->after);
	early->hit |= ddio_test(op) == -EINPROGRESS;
	ddio_group_free(g);
	ddio_wait(op);
	ddio_close(f);
	/* Long enough for what is still on its way to come, and short of the session's end. */
	ddio_sim_sleep(p->env, CP_SEC);
	free(buf);
}

/* Returns true if some I/O processor knows a group. */
static bool groups_are_known(const struct cp_world *w)
{
	uint32_t i, r;

	for (i = 0; i < w->p.nodes; i++)
		for (r = 0; r < w->p.reactors; r++)
			if (!ddio_list_empty(&w->node[i].iop->reactors[r].groups))
				return true;
	return false;
}

static void freed_at_each_step(void)
{
	struct early_free early = { .hit = true };
	struct cp_world w;
	uint64_t step;

	for (step = 0; early.hit; step += ut_stride(5)) {
		early = (struct early_free){ .after = step * 20000 };
		cp_world_begin(&w, &(struct cp_params){ .procs = PROCS });
		CU_ASSERT_EQUAL(cp_run(&w, free_early, &early), 0);
		CU_ASSERT(!groups_are_known(&w));
		cp_world_end(&w);
	}
	CU_ASSERT(step > 10);
}

/* Beyond the end, an empty transfer, ranks that the grid does not have. */
static void edges(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct ddio_array small = { .elem_size = 8,
				    .ndims = 1,
				    .dim = { { .size = 100, .dist = DDIO_BLOCK, .procs = 2 } } };
	struct ddio_array none = { .elem_size = 8,
				   .ndims = 1,
				   .dim = { { .size = 100, .stride = 1, .dist = DDIO_BLOCK } } };
	struct ddio_part sp = { .kind = DDIO_PART_ARRAY, .array = &small };
	struct ddio_part np = { .kind = DDIO_PART_ARRAY, .array = &none };
	struct ddio_transfer t = { .struct_size = sizeof(t) };
	struct ddio_file_stat st;
	uint8_t buf[400];
	uint32_t m;

	for (m = 1; m <= 4; m++) {
		t.method = m;
		CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE | DDIO_TRUNCATE, NULL, &f));
		t.part = &np;
		t.buf = NULL;
		CP_OK(p, ddio_read_all(f, g, &t));
		CP_OK(p, ddio_write_all(f, g, &t));
		CP_OK(p, ddio_fstat(f, &st));
		CU_ASSERT_EQUAL(st.size, 0);
		t.part = &sp;
		t.buf = p->rank < 2 ? buf : NULL;
		CU_ASSERT_EQUAL(ddio_read_all(f, g, &t), -ENODATA);
		CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(p->session), "read of f reaches"));
		memset(buf, 40 + (int)p->rank, sizeof(buf));
		CP_OK(p, ddio_write_all(f, g, &t));
		CP_OK(p, ddio_fstat(f, &st));
		CU_ASSERT_EQUAL(st.size, 800);
		memset(buf, 0, sizeof(buf));
		CP_OK(p, ddio_read_all(f, g, &t));
		if (p->rank < 2)
			CU_ASSERT(buf[0] == 40 + p->rank && buf[399] == 40 + p->rank);
		ddio_close(f);
	}
	ddio_group_free(g);
}

static void edges_of_files_and_groups(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 5 });
	CU_ASSERT_EQUAL(cp_run(&w, edges, NULL), 0);
	cp_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "several at once", several_at_once },
	{ "I/O while computing", io_while_computing },
	{ "independent ones", independent_ones },
	{ "what reports say", what_reports_say },
	{ "nobody waits", nobody_waits },
	{ "freed at each step", freed_at_each_step },
	{ "edges of files and groups", edges_of_files_and_groups },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "ops", cases } };

	return ut_run("cp_ops", suites, 1);
}
