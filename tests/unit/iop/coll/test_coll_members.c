// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collective executor when members go wrong: every collective ends on every member that is
 * left, with the error named, within a bounded time, and the node serves others afterwards.
 */
#include "tests/unit/iop/coll/coll_fault.h"

/* Returns true if the fault happened while the operation ran. */
static bool lost_at(uint64_t byte, uint32_t rank, uint32_t flags, uint32_t nreactors)
{
	struct w_params p = {
		.seed = byte, .ndisks = 2, .nreactors = nreactors, .options = "delay_us=100"
	};
	struct ddio_sim_link net;
	struct fault x;
	uint32_t status, i;

	fault_new(&x, &p, flags);
	ddio_sim_link_default(&net);
	net.break_after = byte;
	net.chop = 700;
	ddio_sim_set_link(x.g->m[rank].env, &net);
	x.op = w_start(&x.job);
	status = w_wait(x.g, x.op, 60 * SEC);
	w_run(x.w, 50 * MS);
	if (status != DDIO_ST_OK) {
		CU_ASSERT(x.g->m[rank].gone);
		CU_ASSERT_EQUAL(status, DDIO_ST_MEMBER_LOST);
		CU_ASSERT(says(&x, "gone away"));
		for (i = 0; i < 4; i++)
			if (i != rank)
				CU_ASSERT_EQUAL(m_op(&x.g->m[i], x.op)->lost, rank);
	}
	if (x.g->m[rank].gone && rank) {
		x.op = w_start(&x.job);
		CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_MEMBER_LOST);
	}
	fault_free(&x);
	return status != DDIO_ST_OK;
}

static void lost_sweep(uint32_t flags, uint32_t nreactors, uint64_t last, uint64_t step)
{
	uint32_t lost = 0, fine = 0;
	uint64_t k;

	for (k = 1; k < last; k += step) {
		if (lost_at(k, 1 + k % 3, flags, nreactors))
			lost++;
		else
			fine++;
	}
	printf("%u lost, %u too late; ", lost, fine);
	if (flags & DDIO_COLL_WRITE)
		CU_ASSERT(lost > 0);
}

/* A write's member breaks while it sends its pieces: at every part of them. */
static void test_writer_lost(void)
{
	printf("\n  ");
	lost_sweep(DDIO_COLL_WRITE | DDIO_COLL_SORT, 1, 8000, 113);
	lost_sweep(DDIO_COLL_WRITE | DDIO_COLL_SYNC, 2, 8000, 197);
}

static void test_killed(void)
{
	uint32_t n[2] = { 0 };
	uint64_t us;

	for (us = 0; us < 2500; us += 40) {
		n[0] += killed_at(us, DDIO_COLL_SORT);
		n[1] += killed_at(us, DDIO_COLL_WRITE);
	}
	printf("\n  %u reads and %u writes of 63 each were hit ", n[0], n[1]);
	CU_ASSERT(n[0] > 5);
	CU_ASSERT(n[1] > 5);
}

static void test_detached(void)
{
	struct w_params p = { .seed = 1, .ndisks = 2, .options = "delay_us=300" };
	struct ddio_msg msg = { .opcode = DDIO_OP_DETACH, .tag = 4 };
	struct ddio_msg_attach at = { .rank = 3, .size = 4 };
	struct fault x;
	uint8_t buf[64];
	ssize_t len;

	fault_new(&x, &p, 0);
	memcpy(at.group, x.g->id, sizeof(at.group));
	len = ddio_put_attach(buf, sizeof(buf), &at);
	x.op = w_start(&x.job);
	w_run(x.w, 500000);
	ddio_conn_send(x.g->m[3].lane[0].conn, &msg, buf, len, NULL, 0, NULL);
	x.g->m[3].gone = true;
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_MEMBER_LOST);
	CU_ASSERT(says(&x, "has left the group"));
	CU_ASSERT_EQUAL(x.g->m[3].lane[0].status, DDIO_ST_OK);
	ddio_conn_send(x.g->m[3].lane[0].conn, &msg, buf, len, NULL, 0, NULL);
	w_run(x.w, MS);
	CU_ASSERT_EQUAL(x.g->m[3].lane[0].status, DDIO_ST_NOT_FOUND);
	fault_free(&x);
}

static void test_mute(void)
{
	struct w_params p = { .seed = 2, .ndisks = 2, .nreactors = 2 };
	struct fault x;
	uint64_t t;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.g->m[2].mute = true;
	t = ddio_sim_elapsed(x.w->dw);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_TIMEOUT);
	t = ddio_sim_elapsed(x.w->dw) - t;
	CU_ASSERT(t >= TIMEOUT_MS * MS);
	CU_ASSERT(t < TIMEOUT_MS * MS * 3 / 2);
	CU_ASSERT(says(&x, "rank 2"));
	CU_ASSERT_EQUAL(m_op(&x.g->m[0], x.op)->lost, 2);
	w_run(x.w, 10 * MS);
	CU_ASSERT(x.g->m[2].gone);
	fault_free(&x);
}

/* Its own bound, shorter than the node's. */
static void test_mute_own_bound(void)
{
	struct w_params p = { .seed = 2, .ndisks = 2 };
	struct fault x;
	uint64_t t;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.g->m[0].mute = true;
	x.job.timeout_ns = 200 * MS;
	t = ddio_sim_elapsed(x.w->dw);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_TIMEOUT);
	t = ddio_sim_elapsed(x.w->dw) - t;
	CU_ASSERT(t >= 200 * MS);
	CU_ASSERT(t < 320 * MS);
	fault_free(&x);
}

static void narrow(struct coll_world *w, uint64_t window, uint64_t latency)
{
	struct ddio_sim_link net;

	ddio_sim_link_default(&net);
	net.window = window;
	net.latency_ns = latency;
	ddio_sim_set_link(w->reactor[0].env, &net);
}

static void test_deaf(void)
{
	struct w_params p = { .seed = 3, .ndisks = 2 };
	struct fault x;
	uint64_t t;

	fault_new(&x, &p, 0);
	narrow(x.w, 1000, 50000);
	ddio_conn_pause(x.g->m[1].lane[0].conn, true);
	t = ddio_sim_elapsed(x.w->dw);
	x.op = w_start(&x.job);
	w_run(x.w, TIMEOUT_MS * MS / 2);
	CU_ASSERT(!m_op(&x.g->m[0], x.op)->ended);
	CU_ASSERT_EQUAL(x.w->disk[0].coll_buffers, 2);
	x.g->m[1].gone = true;
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_TIMEOUT);
	t = ddio_sim_elapsed(x.w->dw) - t;
	CU_ASSERT(t < TIMEOUT_MS * MS * 3 / 2);
	CU_ASSERT(says(&x, "rank 1"));
	w_run(x.w, 10 * MS);
	CU_ASSERT(x.g->m[1].lane[0].closed || ddio_list_empty(&x.w->reactor[0].colls));
	narrow(x.w, 1 << 16, 50000);
	fault_free(&x);
}

/* The whole takes longer than the bound, but it moves. */
static void test_slow_is_not_deaf(void)
{
	struct w_params p = { .seed = 4, .ndisks = 2, .timeout_ns = 500 * MS };
	struct fault x;
	uint64_t t;

	fault_new(&x, &p, 0);
	narrow(x.w, 700, 90 * MS);
	t = ddio_sim_elapsed(x.w->dw);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 600 * SEC), DDIO_ST_OK);
	CU_ASSERT(ddio_sim_elapsed(x.w->dw) - t > 1000 * MS);
	CU_ASSERT_EQUAL(w_read_wrong(x.g, x.op, &x.f), 0);
	narrow(x.w, 1 << 16, 50000);
	fault_free(&x);
}

/* A piece of which a byte comes now and then is not waited for without end: its block is locked, and others wait. */
static void test_crawls(void)
{
	struct w_params p = { .seed = 25, .ndisks = 1, .timeout_ns = SEC };
	struct ddio_sim_link net;
	struct fault x;
	uint64_t t;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.job.buffers = 1;
	ddio_sim_link_default(&net);
	/* Its header, and some bytes of it, at once; the rest byte by byte. */
	net.window = DDIO_WIRE_HEADER_LEN + 48;
	net.latency_ns = SEC / 2;
	ddio_sim_set_link(x.g->m[1].env, &net);
	t = ddio_sim_elapsed(x.w->dw);
	x.op = w_start(&x.job);
	w_run(x.w, 300 * MS);
	net.window = 1;
	ddio_sim_set_link(x.g->m[1].env, &net);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 4000 * SEC), DDIO_ST_TIMEOUT);
	t = ddio_sim_elapsed(x.w->dw) - t;
	CU_ASSERT(t >= 16 * SEC);
	CU_ASSERT(t < 18 * SEC);
	CU_ASSERT(says(&x, "rank 1 of 4 has not sent what was asked of it"));
	w_run(x.w, 10 * MS);
	CU_ASSERT(coll_idle(&x.w->reactor[0]));
	fault_free(&x);
}

/* The question waits behind data for longer than the bound; the answer comes at once. */
static void test_question_on_its_way(void)
{
	struct w_params p = { .seed = 24, .ndisks = 2, .timeout_ns = 240 * MS };
	struct w_job write;
	struct fault x;
	uint64_t op, t;

	fault_new(&x, &p, 0);
	x.job.buffers = 12;
	narrow(x.w, 700, 90 * MS);
	x.op = w_start(&x.job);
	w_run(x.w, 50 * MS);
	write = x.job;
	write.flags = DDIO_COLL_WRITE;
	write.buffers = 1;
	write.seed = 1;
	t = ddio_sim_elapsed(x.w->dw);
	op = w_start(&write);
	CU_ASSERT_EQUAL(w_wait(x.g, op, 600 * SEC), DDIO_ST_OK);
	CU_ASSERT(ddio_sim_elapsed(x.w->dw) - t > SEC);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 600 * SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(w_read_wrong(x.g, x.op, &x.f), 0);
	narrow(x.w, 1 << 16, 50000);
	fault_free(&x);
}

static void twisted(int twist)
{
	struct w_params p = { .seed = 5, .ndisks = 2, .options = "delay_us=50" };
	struct fault x;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.g->m[2].twist = twist;
	x.op = w_start(&x.job);
	x.g->m[2].gone = true; /* soon */
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_MEMBER_LOST);
	CU_ASSERT_EQUAL(m_op(&x.g->m[0], x.op)->lost, 2);
	w_run(x.w, 10 * MS);
	CU_ASSERT(x.g->m[2].lane[0].closed);
	CU_ASSERT(ddio_sim_logged(x.w->dw, "piece of block") > 0);
	fault_free(&x);
}

static void test_wrong_pieces(void)
{
	int t;

	for (t = W_SHORT; t <= W_OTHER_OP; t++)
		twisted(t);
}

/* The members have given up, but one of them still answers. */
static void test_late_piece(void)
{
	struct w_params p = { .seed = 6, .ndisks = 2, .options = "delay_us=50" };
	struct ddio_msg_coll_data d = { 0 };
	struct fault x;
	uint8_t data[4096] = { 0 };

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.g->m[3].mute = true;
	x.op = w_start(&x.job);
	w_run(x.w, 5 * MS);
	m_abort(&x.g->m[1], x.op, DDIO_ST_NODE_LOST);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_CANCELLED);
	CU_ASSERT(says(&x, "rank 1 gave up"));
	d.op = x.op;
	d.handle = 3;
	memcpy(d.group, x.g->id, sizeof(d.group));
	m_piece_send(&x.g->m[3].lane[0], &d, data, 256);
	w_run(x.w, 5 * MS);
	CU_ASSERT(!x.g->m[3].gone);
	x.g->m[3].mute = false;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	fault_free(&x);
}

static bool aborted_at(uint64_t us, uint32_t flags)
{
	struct w_params p = {
		.seed = us, .ndisks = 2, .nreactors = 1 + us / 40 % 2, .options = "delay_us=100"
	};
	struct fault x;
	uint32_t status;

	fault_new(&x, &p, flags);
	if (!us)
		m_abort(&x.g->m[3], x.g->ops + 1, DDIO_ST_CANCELLED);
	x.op = w_start(&x.job);
	w_run(x.w, us * 1000);
	m_abort(&x.g->m[3], x.op, DDIO_ST_CANCELLED);
	status = w_wait(x.g, x.op, 60 * SEC);
	CU_ASSERT(status == DDIO_ST_OK || status == DDIO_ST_CANCELLED);
	/* The group can go on. */
	x.job.flags = 0;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	fault_free(&x);
	return status != DDIO_ST_OK;
}

static void test_aborted(void)
{
	uint32_t n = 0;
	uint64_t us;

	for (us = 0; us < 2000; us += 40) {
		n += aborted_at(us, DDIO_COLL_SORT);
		n += aborted_at(us, DDIO_COLL_WRITE);
	}
	printf("\n  %u of 100 were hit ", n);
	CU_ASSERT(n > 10);
	CU_ASSERT(aborted_at(0, 0));
}

/* Operations under way end, and nothing else happens. */
static void test_nothing_new(void)
{
	static const uint32_t flags[] = { DDIO_COLL_SORT, DDIO_COLL_WRITE };
	uint32_t i;

	for (i = 0; i < 2; i++) {
		struct w_params p = { .seed = 30, .ndisks = 2, .options = "delay_us=20000" };
		struct w_totals before, after;
		struct fault x;

		fault_new(&x, &p, flags[i]);
		x.op = w_start(&x.job);
		w_run(x.w, 50 * MS);
		before = w_totals(x.w);
		m_abort(&x.g->m[0], x.op, DDIO_ST_CANCELLED);
		CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_CANCELLED);
		w_run(x.w, SEC);
		after = w_totals(x.w);
		CU_ASSERT(after.reads + after.writes <= before.reads + before.writes + 2 * 2);
		CU_ASSERT(after.reads + after.writes > before.reads + before.writes);
		fault_free(&x);
	}
}

/*
 * Everything at once
 */
static void chaos_net(struct fault *x)
{
	struct ddio_sim_link net;
	uint32_t i;

	ddio_sim_link_default(&net);
	net.jitter_ns = 20000;
	net.chop = 900;
	for (i = 0; i < 4; i++)
		ddio_sim_set_link(x->g->m[i].env, &net);
}

static void chaos(uint64_t seed)
{
	struct w_params p = { .seed = seed,
			      .ndisks = 2 + 2 * (seed % 2),
			      .nreactors = 1 + seed / 2 % 2,
			      .options = "delay_us=80" };
	struct fault x;
	struct w_job second;
	uint64_t op[2];
	uint32_t i, k;

	fault_new(&x, &p, seed % 3 ? DDIO_COLL_WRITE | DDIO_COLL_SORT : DDIO_COLL_ROTATE);
	second = x.job;
	second.flags ^= DDIO_COLL_WRITE;
	x.job.timeout_ns = 100 * MS;
	second.timeout_ns = 100 * MS;
	chaos_net(&x);
	op[0] = w_start(&x.job);
	op[1] = w_start(&second);
	for (k = 0; k < 3; k++) {
		struct w_member *m = &x.g->m[w_random(x.w) % 4];

		w_run(x.w, w_random(x.w) % 900 * 1000);
		switch (w_random(x.w) % 7) {
		case 0:
			m_leave(m);
			break;
		case 1:
			ddio_sim_cut(m->env);
			break;
		case 2:
			m->mute = true;
			break;
		case 3:
			m_abort(m, op[w_random(x.w) % 2], DDIO_ST_CANCELLED);
			break;
		case 4:
			disk_inject(x.w->disk[w_random(x.w) % 2].disk, -1, 1, -EIO);
			break;
		case 5:
			m->twist = W_SHORT + w_random(x.w) % W_OTHER_OP;
			break;
		case 6:
			for (i = 0; i < x.w->p.nreactors && m->lane[i].conn; i++)
				ddio_conn_pause(m->lane[i].conn, true);
			m->gone = true;
			break;
		}
	}
	for (i = 0; i < 2; i++) {
		struct w_ended e = { x.g, op[i] };

		CU_ASSERT(w_until(x.w, w_all_ended, &e, 10 * SEC));
	}
	for (i = 0; i < x.w->p.ndisks; i++)
		disk_inject(x.w->disk[i].disk, -1, 0, 0);
	w_run(x.w, 500 * MS);
	for (i = 0; i < x.w->p.nreactors; i++)
		CU_ASSERT(coll_idle(&x.w->reactor[i]));
	fault_free(&x);
}

static void test_chaos(void)
{
	uint64_t seed;

	printf("\n  seeds 1 to 300 ");
	for (seed = 1; seed <= ut_rounds(300); seed++)
		chaos(seed);
}

static const struct ut_case member_cases[] = {
	{ "a writer's connection breaks at any byte", test_writer_lost },
	{ "a member dies at any time", test_killed },
	{ "a member leaves in the middle", test_detached },
	{ "a member that does not answer", test_mute },
	{ "a request's own bound", test_mute_own_bound },
	{ "a member that does not read", test_deaf },
	{ "a member that is only slow", test_slow_is_not_deaf },
	{ "a member that crawls", test_crawls },
	{ "a question that is long on its way", test_question_on_its_way },
	{ "pieces that were not asked for", test_wrong_pieces },
	{ "a piece that is late", test_late_piece },
	{ "a member gives up at any time", test_aborted },
	{ "nothing new begins after a failure", test_nothing_new },
	{ NULL, NULL },
};

static const struct ut_case chaos_cases[] = {
	{ "random faults, several at once", test_chaos },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "members", member_cases },
		{ "chaos", chaos_cases },
	};

	return w_ut_run("test_coll_members", suites, sizeof(suites) / sizeof(suites[0]));
}
