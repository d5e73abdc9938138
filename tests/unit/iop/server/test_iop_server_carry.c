// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections that carry others: each of those is taken, counted and refused as if it had come by itself, on the reactor of the one that
 * carries it; and a broker that does what none does is closed with all that it carries.
 */
#include "iop/server/priv.h"
#include "mux/mux.h"
#include "tests/unit/iop/server/server_world.h"

enum { MANY = 40, BROKERS = 3 };

/**
 * struct carrier_end - a broker
 */
struct carrier_end {
	struct ddio_conn *conn;
	struct ddio_mux *mux;
	struct ddio_env *env;
	bool closed;
	int err;
};

static void end_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct carrier_end *b = ctx;

	(void)welcome;
	b->mux = ddio_mux_new(b->env, b->conn, NULL, b);
}

static int end_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t len,
		    struct ddio_sink *sink)
{
	struct carrier_end *b = ctx;

	return ddio_mux_bulk(b->mux, msg, prefix, len, sink);
}

static int end_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct carrier_end *b = ctx;

	return msg->opcode == DDIO_OP_PING ? 0 : ddio_mux_message(b->mux, msg, payload);
}

static void end_drained(void *ctx)
{
	struct carrier_end *b = ctx;

	ddio_mux_drained(b->mux);
}

static void end_over(struct carrier_end *b, int err)
{
	if (b->mux)
		ddio_mux_free(b->mux, err, NULL);
	if (b->conn)
		ddio_conn_close(b->conn, false);
	b->mux = NULL;
	b->conn = NULL;
}

static void end_closed(void *ctx, int err, const char *why)
{
	struct carrier_end *b = ctx;

	(void)why;
	b->closed = true;
	b->err = err;
	end_over(b, err);
}

static const struct ddio_conn_ops end_ops = {
	.ready = end_ready,
	.bulk = end_bulk,
	.message = end_message,
	.drained = end_drained,
	.closed = end_closed,
};

/* By a stream, or NULL: by itself. */
static void broker_by(struct carrier_end *b, struct sw *sw, struct ddio_stream *stream,
		      uint32_t reactor)
{
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_BROKER, .reactor = reactor };

	memset(b, 0, sizeof(*b));
	b->env = sw->client;
	CU_ASSERT_EQUAL_FATAL(ddio_conn_connect_by(sw->client, stream, SW_ADDR, &hello, NULL,
						   &end_ops, b, &b->conn),
			      0);
	sw_run(sw, 50 * MS);
}

static void broker_new(struct carrier_end *b, struct sw *sw, uint32_t reactor)
{
	broker_by(b, sw, NULL, reactor);
	CU_ASSERT_PTR_NOT_NULL_FATAL(b->mux);
}

/* A client by a stream of the broker's, to a reactor of a node. */
static struct sc *carried(struct sw *sw, struct carrier_end *b, uint32_t node, uint32_t reactor,
			  uint32_t wants)
{
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT, .reactor = wants };
	struct sc *c = calloc(1, sizeof(*c));
	struct ddio_stream *stream;

	c->sw = sw;
	CU_ASSERT_EQUAL_FATAL(ddio_mux_open(b->mux, node, reactor, SW_ADDR, &stream), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_conn_connect_by(sw->client, stream, SW_ADDR, &hello, NULL,
						   &sc_ops, c, &c->conn),
			      0);
	sw_run(sw, 50 * MS);
	return c;
}

static void asks(struct sc *c)
{
	uint32_t before = c->replies;

	sc_send(c, DDIO_OP_STATUS, NULL, 0, NULL, 0);
	sw_run(c->sw, 50 * MS);
	CU_ASSERT_EQUAL(c->replies, before + 1);
	CU_ASSERT_EQUAL(c->status, DDIO_ST_OK);
}

static void count(const struct reactor *reactor, struct bound *streams)
{
	struct bounds all;

	bounds_init(&all);
	server_carry_count(reactor, all.at);
	*streams = all.at[BOUND_CARRIED];
	CU_ASSERT_EQUAL(all.at[BOUND_HELD].now, 0);
	CU_ASSERT_EQUAL(all.at[BOUND_HELD_ALL].now, 0);
}

static void test_served(void)
{
	struct sw *sw = sw_new(NULL);
	struct carrier_end b[2];
	struct sc *c[2][MANY];
	struct bound streams;
	uint32_t r, i;

	for (r = 0; r < 2; r++) {
		broker_new(&b[r], sw, r);
		for (i = 0; i < MANY; i++) {
			c[r][i] = carried(sw, &b[r], 0, r, r);
			CU_ASSERT_TRUE_FATAL(c[r][i]->ready);
			CU_ASSERT_EQUAL(c[r][i]->welcome.reactor, r);
			asks(c[r][i]);
		}
		/* It and those that it carries. */
		CU_ASSERT_EQUAL(sw->iop->reactors[r].nclients, MANY + 1);
		CU_ASSERT_EQUAL(sw->iop->reactors[r].nprocs, MANY);
		count(&sw->iop->reactors[r], &streams);
		CU_ASSERT_EQUAL(streams.now, MANY);
	}
	/* One that ends ends alone. */
	sc_free(c[0][7]);
	sw_run(sw, 50 * MS);
	CU_ASSERT_EQUAL(sw->iop->reactors[0].nclients, MANY);
	count(&sw->iop->reactors[0], &streams);
	CU_ASSERT_EQUAL(streams.now, MANY - 1);
	CU_ASSERT_EQUAL(streams.most, MANY);
	asks(c[0][8]);
	/* A broker that ends ends all that it carries. */
	end_over(&b[0], -ECANCELED);
	sw_run(sw, 50 * MS);
	CU_ASSERT_EQUAL(sw->iop->reactors[0].nclients, 0);
	CU_ASSERT_EQUAL(sw->iop->reactors[0].nprocs, 0);
	CU_ASSERT_EQUAL(sw->iop->reactors[0].bounds.at[BOUND_CARRIED].most, MANY);
	asks(c[1][0]);
	for (r = 0; r < 2; r++)
		for (i = r ? 0 : 8; i < MANY; i++) {
			CU_ASSERT_EQUAL(c[r][i]->closed, !r);
			sc_free(c[r][i]);
		}
	for (i = 0; i < 7; i++)
		sc_free(c[0][i]);
	end_over(&b[1], -ECANCELED);
	sw_free(sw);
}

static void refused(struct sw *sw, struct carrier_end *b, uint32_t node, uint32_t reactor,
		    uint32_t wants)
{
	struct sc *c = carried(sw, b, node, reactor, wants);

	CU_ASSERT_FALSE(c->ready);
	CU_ASSERT_TRUE(c->closed);
	CU_ASSERT_FALSE(b->closed);
	sc_free(c);
}

/* To another reactor or node, or as what another reactor is to serve; the broker's others go on. */
static void test_refused(void)
{
	struct sw *sw = sw_new(NULL);
	struct carrier_end b, inner;
	struct ddio_stream *stream;
	struct sc *c;

	broker_new(&b, sw, 1);
	c = carried(sw, &b, 0, 1, 1);
	refused(sw, &b, 0, 0, 0);
	refused(sw, &b, 1, 1, 1);
	refused(sw, &b, 0, 7, 7);
	refused(sw, &b, 0, 1, 0);
	/* One inside another. */
	CU_ASSERT_EQUAL_FATAL(ddio_mux_open(b.mux, 0, 1, SW_ADDR, &stream), 0);
	broker_by(&inner, sw, stream, 1);
	CU_ASSERT_TRUE(inner.closed && !inner.mux);
	CU_ASSERT_EQUAL(inner.err, -EOPNOTSUPP);
	asks(c);
	sc_free(c);
	end_over(&b, -ECANCELED);
	sw_free(sw);
}

/* Whatever it says besides ends it, and all that it carries, and nobody else. */
static void test_lies(void)
{
	static const struct {
		uint16_t opcode;
		uint32_t id, second;
		size_t len;
	} lies[] = {
		{ DDIO_OP_STATUS, 0, 0, 0 },	 { DDIO_OP_MUX_LEAVE, 0, 0, 0 },
		{ DDIO_OP_MUX_END, 77, 0, 8 },	 { DDIO_OP_MUX_WINDOW, 1, DDIO_MUX_WINDOW, 8 },
		{ DDIO_OP_MUX_OPEN, 1, 0, 16 },	 { DDIO_OP_COLL_START, 0, 0, 16 },
		{ DDIO_OP_NS_REMOVE, 0, 0, 16 },
	};
	struct sw *sw = sw_new(NULL);
	struct sc *good = sc_new(sw, 0), *c;
	struct carrier_end b;
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		const struct ddio_msg msg = { .opcode = lies[i].opcode };
		const uint32_t raw[4] = { lies[i].id, lies[i].second };

		broker_new(&b, sw, 0);
		c = carried(sw, &b, 0, 0, 0);
		asks(c);
		CU_ASSERT_EQUAL(ddio_conn_send(b.conn, &msg, raw, lies[i].len, NULL, 0, NULL), 0);
		sw_run(sw, 50 * MS);
		CU_ASSERT_TRUE(b.closed);
		CU_ASSERT_TRUE(c->closed);
		sc_free(c);
		CU_ASSERT_EQUAL(sw->iop->reactors[0].nclients, 1);
		asks(good);
	}
	sc_free(good);
	sw_free(sw);
}

/* Nothing is read from those that are carried, as from clients that have asked for much. */
static void stop_reading(struct sw *sw, bool stop)
{
	struct client *client;

	ddio_list_for_each_entry(client, &sw->iop->reactors[0].clients, link)
		if (server_client_of(client)->carried)
			ddio_conn_pause(client->conn, stop);
}

/* So many bytes are sent by client @c, and not read. */
static void sends(struct sc *c, size_t len)
{
	static const uint8_t much[200000];

	CU_ASSERT_FATAL(len <= sizeof(much));
	sc_send(c, DDIO_OP_NS_LOOKUP, much, len, NULL, 0);
	sw_run(c->sw, 50 * MS);
}

/*
 * Of what waits to be read the brokers of a reactor may have so much together, and no more; then the one goes that has most, wherever it
 * stands among them and whoever came last, and those of the others are served.
 */
static void held_by(uint32_t fullest)
{
	struct sw *sw = sw_new(NULL);
	struct reactor *reactor = &sw->iop->reactors[0];
	struct bound *bound = &reactor->bounds.at[BOUND_HELD_ALL];
	struct carrier_end b[BROKERS];
	struct sc *c[BROKERS];
	uint32_t i, last = (fullest + 1) % BROKERS;

	bound->limit = 300000;
	for (i = 0; i < BROKERS; i++) {
		broker_new(&b[i], sw, 0);
		c[i] = carried(sw, &b[i], 0, 0, 0);
	}
	stop_reading(sw, true);
	sends(c[fullest], 120000);
	for (i = 0; i < BROKERS; i++)
		if (i != fullest && i != last)
			sends(c[i], 100000);
	CU_ASSERT_EQUAL(bound->hits, 0);
	for (i = 0; i < 3000; i++)
		sc_send(c[last], DDIO_OP_STATUS, NULL, 0, NULL, 0);
	sw_run(sw, 50 * MS);
	for (i = 0; i < BROKERS; i++) {
		CU_ASSERT_EQUAL(b[i].closed, i == fullest);
		CU_ASSERT_EQUAL(c[i]->closed, i == fullest);
	}
	CU_ASSERT_EQUAL(bound->hits, 1);
	CU_ASSERT_TRUE(bound->most > bound->limit && bound->most < bound->limit + 70000);
	stop_reading(sw, false);
	sw_run(sw, 2000 * MS);
	CU_ASSERT_EQUAL(c[last]->replies, 3000);
	CU_ASSERT_EQUAL(server_reactor(reactor)->carried, 0);
	for (i = 0; i < BROKERS; i++) {
		sc_free(c[i]);
		end_over(&b[i], -ECANCELED);
	}
	sw_free(sw);
}

static void test_held(void)
{
	uint32_t fullest;

	for (fullest = 0; fullest < BROKERS; fullest++)
		held_by(fullest);
}

/* A node that stops says to those that are carried what it says to others, and ends them. */
static void test_stop(void)
{
	struct sw *sw = sw_new(NULL);
	struct carrier_end b;
	struct sc *c;

	broker_new(&b, sw, 1);
	c = carried(sw, &b, 0, 1, 1);
	sw_stop(sw);
	CU_ASSERT_EQUAL(c->ended, 1);
	CU_ASSERT_TRUE(c->closed);
	CU_ASSERT_TRUE(b.closed);
	sc_free(c);
	sw_free(sw);
}

static const struct ut_case cases[] = {
	{ "served", test_served },	 { "refused", test_refused },
	{ "lies", test_lies },		 { "too much that is not read", test_held },
	{ "the node stops", test_stop }, { NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "carry", cases } };

	return ut_run("iop_server_carry", suites, 1);
}
