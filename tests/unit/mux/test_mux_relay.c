// SPDX-License-Identifier: GPL-2.0-only
/* A process in the middle: streams that come on one connection go on on another. */
#include "tests/unit/mux/mux_pair.h"

/**
 * struct chain - two connections; the acceptor of the first is the connector of the second
 * @member, @node: the ends
 */
struct chain {
	struct mux_pair first, second;
	struct ddio_env *env;
	bool refuse;
};

static struct chain *opened_in;

static void opened(void *ctx, struct ddio_stream *stream, const struct ddio_msg_mux_open *open)
{
	struct chain *c = opened_in;
	struct ddio_stream *on;
	int err;

	(void)ctx;
	err = c->second.a.mux
		      ? ddio_mux_open(c->second.a.mux, open->node, open->reactor, "node", &on)
		      : -ENOTCONN;
	if (err)
		ddio_mux_end(stream, err);
	else
		CU_ASSERT_EQUAL(ddio_mux_relay(stream, on), 0);
}

static struct chain chain;

/* Makes the second connection in the world of the first, from its acceptor's process. */
static void second_open(struct chain *c, const struct ddio_sim_link *net)
{
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT };
	struct conn_pair *p = &c->second.conn;

	p->world = c->first.conn.world;
	p->cp.pair = p->iop.pair = p;
	p->cp.env = c->first.conn.iop.env;
	p->iop.env = ddio_sim_env(p->world, "node");
	if (net)
		ddio_sim_set_link(p->iop.env, net);
	CU_ASSERT_EQUAL_FATAL(
		ddio_listen(p->iop.env, "127.0.0.1:7001", pair_accept, p, &p->listener), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_conn_connect(p->cp.env, "127.0.0.1:7001", &hello, NULL,
						&side_ops, &p->cp, &p->cp.conn),
			      0);
	ddio_sim_run_for(p->world, SECOND);
}

static void chain_open(const struct ddio_sim_link *net)
{
	struct chain *c = &chain;

	memset(c, 0, sizeof(*c));
	opened_in = c;
	pair_open(&c->first.conn, net);
	second_open(c, net);
	mux_end_begin(&c->first.a, &c->first.conn.cp, false);
	c->first.b.side = &c->first.conn.iop;
	c->first.b.mux = ddio_mux_new(c->first.conn.iop.env, c->first.conn.iop.conn, opened, c);
	ddio_conn_set_ops(c->first.conn.iop.conn, &end_ops, &c->first.b);
	mux_end_begin(&c->second.a, &c->second.conn.cp, false);
	mux_end_begin(&c->second.b, &c->second.conn.iop, true);
}

static void run(uint64_t seconds)
{
	ddio_sim_run_for(chain.first.conn.world, seconds * SECOND);
}

static void chain_end(void)
{
	struct mux_end *ends[] = { &chain.first.a, &chain.first.b, &chain.second.a,
				   &chain.second.b };
	size_t i;

	for (i = 0; i < 4; i++) {
		mux_end_free(ends[i]);
		side_close(ends[i]->side);
	}
	run(2);
	ddio_listener_close(chain.first.conn.listener);
	ddio_listener_close(chain.second.conn.listener);
	ddio_sim_free(chain.first.conn.world);
}

static uint64_t in_the_middle(void)
{
	return end_held(&chain.first.b) + end_held(&chain.second.a);
}

static void test_through(void)
{
	static const struct ddio_sim_link chopped = { .latency_ns = 20000,
						      .window = 3000,
						      .chop = 700 };
	struct mux_user a[40], b[40];
	uint32_t i, bad = 0;

	chain_open(&chopped);
	chain.second.b.users = b;
	memset(b, 0, sizeof(b));
	for (i = 0; i < 40; i++) {
		a[i] = (struct mux_user){ .to_send = 10000 + i * 1000, .seed = (uint8_t)i };
		b[i] = (struct mux_user){ .to_send = 300000, .expects = (uint8_t)i };
		user_open(&a[i], &chain.first.a);
	}
	run(300);
	for (i = 0; i < 40; i++)
		bad += a[i].got != 300000 || b[i].got != 10000 + i * 1000 || a[i].wrong ||
		       b[i].wrong;
	CU_ASSERT_EQUAL(bad, 0);
	for (i = 0; i < 40; i++)
		user_close(i % 2 ? &a[i] : &b[i]);
	run(10);
	CU_ASSERT_EQUAL(end_streams(&chain.first.a) + end_streams(&chain.first.b), 0);
	CU_ASSERT_EQUAL(end_streams(&chain.second.a) + end_streams(&chain.second.b), 0);
	for (i = 0; i < 40; i++)
		bad += !a[i].eof && !b[i].eof;
	CU_ASSERT_EQUAL(bad, 0);
	chain_end();
}

/* What nobody takes stays where it came from, but for a window or two; others go on. */
static void test_slow(void)
{
	struct mux_user a[2] = { { .to_send = 5 << 20, .seed = 1 },
				 { .to_send = 5 << 20, .seed = 2 } };
	struct mux_user b[2] = { { .lazy = true, .expects = 1 }, { .expects = 2 } };

	chain_open(NULL);
	chain.second.b.users = b;
	user_open(&a[0], &chain.first.a);
	user_open(&a[1], &chain.first.a);
	run(20);
	CU_ASSERT_TRUE(a[0].sent >= DDIO_MUX_WINDOW && a[0].sent <= 2 * DDIO_MUX_WINDOW);
	CU_ASSERT_TRUE(in_the_middle() <= DDIO_MUX_WINDOW);
	CU_ASSERT_EQUAL(b[1].got, 5 << 20);
	b[0].lazy = false;
	ddio_stream_want_read(b[0].stream, true);
	run(20);
	CU_ASSERT_EQUAL(b[0].got, 5 << 20);
	CU_ASSERT_EQUAL(in_the_middle(), 0);
	CU_ASSERT_FALSE(b[0].wrong || b[1].wrong);
	user_close(&a[0]);
	user_close(&a[1]);
	run(5);
	chain_end();
}

/* Its last bytes come before the end, though they wait in the middle when it comes there. */
static void test_last_bytes(void)
{
	struct mux_user a = { .to_send = 400000, .seed = 3, .close_when_sent = true };
	struct mux_user b = { .lazy = true, .expects = 3 };

	chain_open(NULL);
	chain.second.b.users = &b;
	user_open(&a, &chain.first.a);
	run(5);
	CU_ASSERT_PTR_NULL(a.stream);
	CU_ASSERT_FALSE(b.eof);
	b.lazy = false;
	ddio_stream_want_read(b.stream, true);
	run(5);
	CU_ASSERT_EQUAL(b.got, 400000);
	CU_ASSERT_TRUE(b.eof && !b.wrong);
	chain_end();
}

static void test_node_dies(void)
{
	struct mux_user a = { .to_send = 9 << 20 }, b = { .lazy = true };

	chain_open(NULL);
	chain.second.b.users = &b;
	user_open(&a, &chain.first.a);
	run(5);
	sim_kill(chain.second.conn.iop.env);
	run(5);
	CU_ASSERT_EQUAL(a.err, -EIO);
	CU_ASSERT_FALSE(chain.first.a.closed);
	CU_ASSERT_EQUAL(end_streams(&chain.first.a) + end_streams(&chain.first.b), 0);
	chain_end();
}

static void test_middle_dies(void)
{
	struct mux_user a = { .to_send = 9 << 20 }, b = { .lazy = true };

	chain_open(NULL);
	chain.second.b.users = &b;
	user_open(&a, &chain.first.a);
	run(5);
	/* As a process that is killed, but that its memory is freed. */
	ddio_sim_orphan(chain.first.conn.iop.env);
	run(5);
	CU_ASSERT_EQUAL(a.err, -ECONNRESET);
	CU_ASSERT_EQUAL(b.err, -ECONNRESET);
	CU_ASSERT_TRUE(chain.first.a.closed && chain.second.b.closed);
	chain_end();
}

static const struct ut_case cases[] = {
	{ "40 streams through a narrow network", test_through },
	{ "one that takes nothing", test_slow },
	{ "last bytes", test_last_bytes },
	{ "the node dies", test_node_dies },
	{ "the process in the middle dies", test_middle_dies },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "relay", cases },
	};

	return ut_run("mux_relay", suites, sizeof(suites) / sizeof(suites[0]));
}
