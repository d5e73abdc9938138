// SPDX-License-Identifier: GPL-2.0-only
/* The collective executor with malformed requests and messages, and when the node stops. */
#include "tests/unit/iop/coll/coll_fault.h"

static void refused(struct fault *x, uint32_t status, const char *text)
{
	uint64_t requests = x->w->reactor[0].refused;

	CU_ASSERT_EQUAL(w_wait(x->g, x->op, SEC), status);
	CU_ASSERT(says(x, text));
	CU_ASSERT_EQUAL(x->w->reactor[0].refused, requests + 1);
	CU_ASSERT_EQUAL(x->w->reactor[0].collectives, 0);
}

static void test_refused(void)
{
	struct w_params p = { .seed = 11, .ndisks = 2 };
	struct ddio_extent e[2] = { { 100, 50 }, { 149, 10 } };
	struct ddio_part part[4] = { { .kind = DDIO_PART_LIST, .n = 1, .list = &e[0] },
				     { .kind = DDIO_PART_LIST },
				     { .kind = DDIO_PART_LIST },
				     { .kind = DDIO_PART_LIST, .n = 1, .list = &e[1] } };
	struct fault x;
	uint64_t size;

	fault_new(&x, &p, 0);
	x.op = (x.job.buffers = 129, w_start(&x.job));
	refused(&x, DDIO_ST_TOO_BIG, "129 buffers");
	x.job.buffers = 0;
	size = x.f.rec.size;
	x.f.rec.size = size - 1;
	x.op = w_start(&x.job);
	refused(&x, DDIO_ST_RANGE, "reach to byte 24576 of file \"file1\", which has 24575");
	x.f.rec.size = size;
	x.f.disks[0] = 17;
	x.f.disks[1] = 18;
	x.op = w_start(&x.job);
	refused(&x, DDIO_ST_NOT_FOUND, "node io0 has no disk of file");
	x.f.disks[0] = 1;
	x.f.disks[1] = 0;
	x.job.array = NULL;
	x.job.parts = part;
	x.job.flags = DDIO_COLL_WRITE;
	x.op = w_start(&x.job);
	refused(&x, DDIO_ST_OVERLAP, "both write byte 149");
	x.job.array = &x.a;
	x.w->reactor[0].stopping = true;
	x.op = w_start(&x.job);
	refused(&x, DDIO_ST_SHUTDOWN, "stopping");
	x.w->reactor[0].stopping = false;
	fault_free(&x);
}

static bool raw_done(struct fault *x, uint64_t number, uint32_t nprocs)
{
	struct w_ended e = { x->g, number };

	w_start_raw(&x->job, number, nprocs);
	return w_until(x->w, w_all_ended, &e, SEC);
}

static void test_refused_numbers(void)
{
	struct w_params p = { .seed = 12, .ndisks = 2 };
	struct ddio_map *map;
	struct fault x;
	uint32_t i;

	fault_new(&x, &p, 0);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	/* Another number of processes than the group has. */
	CU_ASSERT_EQUAL_FATAL(w_map(&x.job, &map), 0);
	x.op = ++x.g->ops;
	for (i = 0; i < 4; i++)
		m_op_begin(&x.g->m[i], &x.job, x.op, map);
	CU_ASSERT(raw_done(&x, x.op, 5));
	CU_ASSERT_EQUAL(m_op(&x.g->m[3], x.op)->status, DDIO_ST_MISMATCH);
	/* The same number again: only the sender is told. */
	for (i = 0; i < 4; i++)
		m_op_begin(&x.g->m[i], &x.job, x.op, map);
	CU_ASSERT(!raw_done(&x, x.op, 4));
	CU_ASSERT_EQUAL(m_op(&x.g->m[0], x.op)->status, DDIO_ST_INVALID);
	CU_ASSERT(!m_op(&x.g->m[1], x.op)->ended);
	for (i = 0; i < 4; i++)
		m_op_free(&x.g->m[i].op[x.op % W_OPS]);
	ddio_map_free(map);
	fault_free(&x);
}

static void test_attach_refused(void)
{
	struct w_params p = { .seed = 13 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_bare(w, 3);
	struct w_job job = { .g = g };
	struct ddio_array a = { .elem_size = 1,
				.ndims = 1,
				.dim = { { .size = 10, .procs = 3, .dist = DDIO_BLOCK } } };
	struct w_file f;
	uint64_t op;

	w_file_init(w, &f, 1, 512, DDIO_LAYOUT_CONTIGUOUS_W);
	job.f = &f;
	job.array = &a;
	job.flags = DDIO_COLL_WRITE;
	CU_ASSERT_EQUAL(m_attach(&g->m[0].lane[0], 3), DDIO_ST_OK);
	CU_ASSERT_EQUAL(m_attach(&g->m[0].lane[0], 3), DDIO_ST_EXISTS);
	CU_ASSERT_EQUAL(m_attach(&g->m[1].lane[0], 4), DDIO_ST_MISMATCH);
	w->reactor[0].stopping = true;
	CU_ASSERT_EQUAL(m_attach(&g->m[1].lane[0], 3), DDIO_ST_SHUTDOWN);
	w->reactor[0].stopping = false;
	g->m[0].rank = 1;
	CU_ASSERT_EQUAL(m_attach(&g->m[0].lane[0], 3), DDIO_ST_EXISTS);
	g->m[0].rank = 0;
	CU_ASSERT_EQUAL(m_attach(&g->m[1].lane[0], 3), DDIO_ST_OK);
	g->m[2].gone = true; /* nobody tells it */
	op = w_start(&job);
	CU_ASSERT_EQUAL(w_wait(g, op, SEC), DDIO_ST_NODE_LOST);
	CU_ASSERT_PTR_NOT_NULL(strstr(m_op(&g->m[0], op)->text, "rank 2 is not"));
	g->m[2].gone = false;
	CU_ASSERT_EQUAL(m_attach(&g->m[2].lane[0], 3), DDIO_ST_OK);
	op = w_start(&job);
	CU_ASSERT_EQUAL(w_wait(g, op, SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(w->reactor[0].refused, 5);
	w_file_free(&f);
	w_free(w);
}

/*
 * A member has given up its connection and comes back, but the end of the old one is lost on its way: the new
 * one takes its place.
 */
static void test_attach_again(void)
{
	struct w_params p = { .seed = 14 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_bare(w, 2);

	CU_ASSERT_EQUAL(m_attach(&g->m[0].lane[0], 2), DDIO_ST_OK);
	g->m[1].rank = 0;
	CU_ASSERT_EQUAL(m_attach(&g->m[1].lane[0], 2), DDIO_ST_OK);
	ddio_sim_run_for(w->dw, SEC);
	CU_ASSERT(g->m[0].lane[0].closed);
	CU_ASSERT(!g->m[1].lane[0].closed);
	CU_ASSERT_EQUAL(w->reactor[0].refused, 0);
	w_free(w);
}

/* A client starts more collectives than are allowed. */
static void test_too_many(void)
{
	struct w_params p = {
		.seed = 14, .ndisks = 2, .options = "delay_us=20000", .disk_size = 8 << 20
	};
	struct fault x;
	uint32_t i;

	fault_new(&x, &p, 0);
	for (i = 0; i < COLL_MAX_RUNNING + 6; i++)
		w_start_raw(&x.job, ++x.g->ops, 4);
	w_run(x.w, 10 * MS);
	CU_ASSERT_EQUAL(x.w->reactor[0].collectives, COLL_MAX_RUNNING);
	CU_ASSERT_EQUAL(x.w->reactor[0].refused, 6);
	CU_ASSERT_EQUAL(ddio_sim_logged(x.w->dw, "collectives running"), 6);
	w_run(x.w, 60 * SEC);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 5 * SEC), DDIO_ST_OK);
	fault_free(&x);
}

static void test_stopped(void)
{
	uint64_t us;

	for (us = 0; us < 3000; us += 250) {
		struct w_params p = {
			.seed = 15, .ndisks = 2, .nreactors = 2, .options = "delay_us=200"
		};
		struct fault x;
		uint32_t i, status;

		fault_new(&x, &p, us / 250 % 2 ? DDIO_COLL_WRITE : 0);
		x.op = w_start(&x.job);
		w_run(x.w, us * 1000);
		for (i = 0; i < 2; i++) {
			x.w->reactor[i].stopping = true;
			coll_stop(&x.w->reactor[i]);
		}
		status = w_wait(x.g, x.op, SEC);
		CU_ASSERT(status == DDIO_ST_SHUTDOWN || (status == DDIO_ST_OK && us > 1000));
		w_run(x.w, MS);
		for (i = 0; i < 2; i++) {
			CU_ASSERT(coll_idle(&x.w->reactor[i]));
			x.w->reactor[i].stopping = false;
		}
		fault_free(&x);
	}
}

/*
 * What reactor 0 cannot see
 */
static void begin_refused(struct fault *x, uint32_t status, const char *text)
{
	uint32_t i;

	x->op = w_start(&x->job);
	CU_ASSERT_EQUAL(w_wait(x->g, x->op, SEC), status);
	CU_ASSERT(says(x, text));
	w_run(x->w, 5 * MS);
	for (i = 0; i < 2; i++)
		CU_ASSERT(coll_idle(&x->w->reactor[i]));
}

static void test_other_reactor_stops(void)
{
	struct w_params p = { .seed = 40, .ndisks = 2, .nreactors = 2, .options = "delay_us=100" };
	struct fault x;

	fault_new(&x, &p, 0);
	x.w->reactor[1].stopping = true;
	begin_refused(&x, DDIO_ST_SHUTDOWN, "stopping");
	CU_ASSERT_EQUAL(m_op(&x.g->m[1], x.op)->done[0].status, DDIO_ST_SHUTDOWN);
	x.w->reactor[1].stopping = false;
	fault_free(&x);
}

/* @size: of the group as members tell reactor 1; the first @n tell it. */
static void half_attached(uint32_t size, uint32_t n, uint32_t status, const char *text)
{
	struct w_params p = { .seed = 41, .ndisks = 2, .nreactors = 2, .options = "delay_us=100" };
	struct fault x;
	uint32_t i;

	fault_new(&x, &p, 0);
	x.g = w_group_bare(x.w, 4);
	x.job.g = x.g;
	for (i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(m_attach(&x.g->m[i].lane[0], 4), DDIO_ST_OK);
		if (i < n)
			CU_ASSERT_EQUAL(m_attach(&x.g->m[i].lane[1], size), DDIO_ST_OK);
	}
	begin_refused(&x, status, text);
	fault_free(&x);
}

static void test_half_attached(void)
{
	half_attached(4, 0, DDIO_ST_MEMBER_LOST, "no member of the group is attached to reactor 1");
	half_attached(5, 4, DDIO_ST_MISMATCH, "4 processes in a group of 5");
	/* A restart while the members attach leaves those that had done so before: they have made no mistake. */
	half_attached(4, 3, DDIO_ST_NODE_LOST, "only 3 of the group's 4 members are attached");
}

/* The disk has the file with blocks of another size. */
static void test_stale(void)
{
	struct w_params p = { .seed = 42, .ndisks = 2 };
	struct fault x;

	fault_new(&x, &p, 0);
	x.f.rec.ref.block = 2 * BLOCK;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_STALE);
	CU_ASSERT(says(&x, "cannot be used"));
	x.f.rec.ref.block = BLOCK;
	fault_free(&x);
}

static void test_bad_parts(void)
{
	struct w_params p = { .seed = 43, .ndisks = 2 };
	struct ddio_array bad = { .elem_size = 8, .ndims = 1 };
	struct ddio_map *map;
	struct fault x;
	uint32_t i, round;

	fault_new(&x, &p, 0);
	/* The members act as if they had a map. */
	CU_ASSERT_EQUAL_FATAL(w_map(&x.job, &map), 0);
	bad.dim[0] = (struct ddio_dim){ .size = 10, .procs = 5, .dist = DDIO_CYCLIC };
	for (round = 0; round < 2; round++) {
		x.op = ++x.g->ops;
		for (i = 0; i < 4; i++)
			m_op_begin(&x.g->m[i], &x.job, x.op, map);
		x.job.array = &bad;
		CU_ASSERT(raw_done(&x, x.op, 4));
		CU_ASSERT_EQUAL(m_op(&x.g->m[2], x.op)->status,
				round ? DDIO_ST_RANGE : DDIO_ST_INVALID);
		CU_ASSERT(says(&x, round ? "beyond the largest file" : "description of the parts"));
		x.job.array = &x.a;
		bad.dim[0].procs = 4;
		bad.file_offset = DDIO_MAX_FILE - 40;
		for (i = 0; i < 4; i++)
			m_op_free(&x.g->m[i].op[x.op % W_OPS]);
	}
	ddio_map_free(map);
	fault_free(&x);
}

/* A client says that a file is very long; lists cost what the disks hold all the same. */
static void test_far(void)
{
	struct w_params p = { .seed = 48, .ndisks = 2 };
	struct ddio_extent all = { 0, 1ull << 61 };
	struct ddio_strided some = {
		.offset = 8, .len = 8, .nlevels = 1, .level = { { 1ull << 44, 14 * BLOCK } }
	};
	struct ddio_part list[4] = { { .kind = DDIO_PART_LIST, .n = 1, .list = &all },
				     { .kind = DDIO_PART_LIST },
				     { .kind = DDIO_PART_LIST },
				     { .kind = DDIO_PART_LIST } };
	struct ddio_part strided[4] = { { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &some },
					{ .kind = DDIO_PART_STRIDED },
					{ .kind = DDIO_PART_STRIDED },
					{ .kind = DDIO_PART_STRIDED } };
	struct ddio_map *map;
	struct fault x;
	uint32_t i, round;

	fault_new(&x, &p, 0);
	CU_ASSERT_EQUAL_FATAL(w_map(&x.job, &map), 0);
	x.job.file_size = DDIO_MAX_FILE;
	for (round = 0; round < 4; round++) {
		x.job.flags = round / 2 ? DDIO_COLL_WRITE : 0;
		x.op = ++x.g->ops;
		for (i = 0; i < 4; i++)
			m_op_begin(&x.g->m[i], &x.job, x.op, map);
		x.job.array = NULL;
		x.job.parts = round % 2 ? strided : list;
		CU_ASSERT(raw_done(&x, x.op, 4));
		CU_ASSERT_EQUAL(m_op(&x.g->m[2], x.op)->status,
				round / 2 ? DDIO_ST_NO_SPACE : DDIO_ST_TOO_BIG);
		CU_ASSERT(says(&x, round / 2 ? "no space" : "never written"));
		x.job.array = &x.a;
		for (i = 0; i < 4; i++)
			m_op_free(&x.g->m[i].op[x.op % W_OPS]);
		w_run(x.w, MS);
		CU_ASSERT(coll_idle(&x.w->reactor[0]));
	}
	ddio_map_free(map);
	fault_free(&x);
}

/* A connection may be in many groups, but not in any number. */
static void test_many_groups(void)
{
	struct w_params p = { .seed = 49, .ndisks = 2 };
	struct coll_world *w = w_new(&p);
	struct bound *bound = &w->reactor[0].bounds.at[BOUND_GROUPS];
	struct w_group *g = w_group_bare(w, 2);
	uint32_t i;

	CU_ASSERT(bound->limit >= 1024);
	for (i = 0; i < bound->limit; i++) {
		memcpy(g->id, &i, sizeof(i));
		CU_ASSERT_EQUAL(m_attach(&g->m[0].lane[0], 2), DDIO_ST_OK);
	}
	g->id[6]++;
	CU_ASSERT_EQUAL(m_attach(&g->m[0].lane[0], 2), DDIO_ST_BUSY);
	CU_ASSERT_EQUAL(m_attach(&g->m[1].lane[0], 2), DDIO_ST_OK);
	CU_ASSERT_EQUAL(bound->hits, 1);
	CU_ASSERT_EQUAL(bound->most, bound->limit);
	CU_ASSERT_EQUAL(bound->now, bound->limit + 1);
	ddio_conn_close(g->m[0].lane[0].conn, false);
	g->m[0].lane[0].conn = NULL;
	g->m[0].lane[0].closed = true;
	w_run(w, 5 * MS);
	CU_ASSERT_EQUAL(bound->now, 1);
	w_free(w);
}

/* Nor may all connections of a reactor together; whoever is in no new group is served. */
static void test_many_groups_of_all(void)
{
	struct w_params p = { .seed = 51, .ndisks = 2 };
	struct coll_world *w = w_new(&p);
	struct bound *bound = &w->reactor[0].bounds.at[BOUND_GROUPS_ALL];
	struct w_group *g = w_group_bare(w, 3);
	uint32_t i;

	bound->limit = 4;
	for (i = 0; i < 4; i++) {
		g->id[0] = (uint8_t)i;
		CU_ASSERT_EQUAL(m_attach(&g->m[i / 2].lane[0], 3), DDIO_ST_OK);
	}
	CU_ASSERT_EQUAL(m_attach(&g->m[2].lane[0], 3), DDIO_ST_OK);
	CU_ASSERT_EQUAL(bound->hits, 0);
	g->id[0] = 9;
	CU_ASSERT_EQUAL(m_attach(&g->m[2].lane[0], 3), DDIO_ST_BUSY);
	CU_ASSERT_EQUAL(bound->hits, 1);
	CU_ASSERT_EQUAL(bound->now, 4);
	ddio_conn_close(g->m[0].lane[0].conn, false);
	g->m[0].lane[0].conn = NULL;
	g->m[0].lane[0].closed = true;
	w_run(w, 5 * MS);
	CU_ASSERT_EQUAL(bound->now, 2);
	CU_ASSERT_EQUAL(m_attach(&g->m[2].lane[0], 3), DDIO_ST_OK);
	w_free(w);
}

/* A client's wish for time is bounded by the node's. */
static void test_patience(void)
{
	struct w_params p = { .seed = 50, .ndisks = 2, .timeout_ns = 500 * MS };
	struct fault x;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.job.timeout_ns = UINT64_MAX;
	x.g->m[1].mute = true;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_TIMEOUT);
	fault_free(&x);
}

/*
 * Messages that end a connection
 */
static bool cut_off(struct w_lane *lane, uint16_t opcode, const void *buf, size_t len)
{
	struct ddio_msg msg = { .opcode = opcode, .tag = 9 };

	ddio_conn_send(lane->conn, &msg, buf, len, NULL, 0, NULL);
	w_run(lane->m->w, 5 * MS);
	return lane->closed;
}

static void test_malformed(void)
{
	static const uint16_t op[] = { DDIO_OP_ATTACH, DDIO_OP_DETACH, DDIO_OP_COLL_START,
				       DDIO_OP_COLL_ABORT, DDIO_OP_COLL_AGAIN };
	struct w_params p = { .seed = 44, .ndisks = 2, .nreactors = 2 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_bare(w, 7);
	uint8_t junk[40];
	uint32_t i;

	memset(junk, 0xee, sizeof(junk));
	for (i = 0; i < 5; i++)
		CU_ASSERT(cut_off(&g->m[i].lane[0], op[i], junk, sizeof(junk)));
	/* An abort by a client that is not, or no longer, a member does nothing. */
	m_abort(&g->m[5], 3, DDIO_ST_CANCELLED);
	w_run(w, 5 * MS);
	CU_ASSERT(!g->m[5].gone);
	w_free(w);
}

/* To the wrong reactor, and from a client that is not a member. */
static void test_start_astray(void)
{
	struct w_params p = { .seed = 45, .ndisks = 2, .nreactors = 2 };
	struct fault x;
	struct w_group *stranger;
	struct ddio_conn *conn;

	fault_new(&x, &p, 0);
	stranger = w_group_bare(x.w, 1);
	x.job.g = stranger;
	w_start_raw(&x.job, 1, 1);
	w_run(x.w, 5 * MS);
	CU_ASSERT(stranger->m[0].lane[0].closed);
	x.job.g = x.g;
	conn = x.g->m[0].lane[0].conn;
	x.g->m[0].lane[0].conn = x.g->m[0].lane[1].conn;
	w_start_raw(&x.job, 1, 4);
	x.g->m[0].lane[0].conn = conn;
	w_run(x.w, 5 * MS);
	CU_ASSERT(x.g->m[0].lane[1].closed);
	CU_ASSERT(!x.g->m[0].lane[0].closed);
	fault_free(&x);
}

static void test_piece_of_stranger(void)
{
	struct w_params p = { .seed = 46, .ndisks = 2 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_bare(w, 1);
	struct ddio_msg_coll_data d = { .op = 1 };
	uint8_t data[16] = { 0 };

	m_piece_send(&g->m[0].lane[0], &d, data, sizeof(data));
	w_run(w, 5 * MS);
	CU_ASSERT(g->m[0].lane[0].closed);
	CU_ASSERT_EQUAL(ddio_sim_logged(w->dw, "the sender is not a member of the group"), 1);
	w_free(w);
}

/* A list so long that it is made in several turns. */
static void test_long_list(void)
{
	enum { WANTED = 9000 };
	struct w_params p = { .seed = 47, .ndisks = 2 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 2);
	struct ddio_strided s = {
		.offset = 3, .len = 8, .nlevels = 1, .level = { { WANTED, 1536 } }
	};
	struct ddio_part part[2] = { { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &s },
				     { .kind = DDIO_PART_STRIDED } };
	struct w_file f;
	struct w_job job = {
		.g = g, .f = &f, .parts = part, .file_size = 1ull << 40, .flags = DDIO_COLL_SORT
	};
	uint64_t op, i;
	uint8_t *share;

	w_file_init(w, &f, 1, 512, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, &f, 512, 5);
	op = w_start(&job);
	CU_ASSERT_EQUAL(w_wait(g, op, 60 * SEC), DDIO_ST_OK);
	share = m_op(&g->m[0], op)->share;
	CU_ASSERT_EQUAL(memcmp(share, f.image + 3, 8), 0);
	for (i = 8; i < WANTED * 8 && !share[i]; i++)
		continue;
	CU_ASSERT_EQUAL(i, WANTED * 8);
	CU_ASSERT_EQUAL(m_op(&g->m[0], op)->done[0].disk_requests, 1);
	CU_ASSERT_EQUAL(m_op(&g->m[0], op)->datas, WANTED);
	w_file_free(&f);
	w_free(w);
}

static const struct ut_case refused_cases[] = {
	{ "malformed requests", test_refused },
	{ "numbers of operations and of processes", test_refused_numbers },
	{ "members that do not fit", test_attach_refused },
	{ "a member that comes back", test_attach_again },
	{ "too many at once", test_too_many },
	{ "farther than anything is", test_far },
	{ "too many groups", test_many_groups },
	{ "too many groups of all connections", test_many_groups_of_all },
	{ "too much patience", test_patience },
	{ "the node stops", test_stopped },
	{ "another reactor stops", test_other_reactor_stops },
	{ "members that are attached to one reactor only", test_half_attached },
	{ "a file that the disk knows otherwise", test_stale },
	{ "malformed parts", test_bad_parts },
	{ "malformed messages", test_malformed },
	{ "requests that went astray", test_start_astray },
	{ "a piece of a stranger", test_piece_of_stranger },
	{ "a long list", test_long_list },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "refused", refused_cases } };

	return w_ut_run("test_coll_refused", suites, 1);
}
