// SPDX-License-Identifier: GPL-2.0-only
/* tsan: threads meet here */
/* Connections that move into memory: two reactors of the real world, each on a thread of its own. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "conn/conn_priv.h"
#include "env/tls/tls.h"
#include "tests/unit/env/env_help.h"

enum { ROUNDS = 400, LARGE = 1 << 20, LARGES = 10 };

/**
 * struct mover_end - one end; touched by its reactor only, but for the counts
 * @answers: sends back what comes; the other end begins
 * @large: what the next large message is received into
 */
struct mover_end {
	struct ddio_env *env;
	struct ddio_conn *conn;
	struct ddio_conn_opts opts;
	struct ddio_listener *listener;
	struct mover_end *other;
	bool answers;
	uint8_t large[LARGE];
	struct iovec sink;
	struct ddio_send send;
	_Atomic uint32_t messages, larges, wrong, closes, readies;
	_Atomic int err, memory;
	uint16_t opcode;
	uint32_t status;
};

static int ping(struct mover_end *e, uint64_t tag)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_PING, .tag = tag };

	return ddio_conn_send(e->conn, &msg, NULL, 0, NULL, 0, NULL);
}

static int large(struct mover_end *e, uint64_t tag)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_COLL_DATA, .tag = tag };
	const struct ddio_msg_coll_data data = { .op = 1, .block = tag };
	struct iovec iov = { e->large, LARGE };
	uint8_t fixed[64];
	ssize_t n = ddio_put_coll_data(fixed, sizeof(fixed), &data);

	return ddio_conn_send(e->conn, &msg, fixed, (size_t)n, &iov, 1, &e->send);
}

static void mover_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	static const struct ddio_msg_welcome welcome = { .nreactors = 1 };
	struct mover_end *e = ctx;

	(void)hello;
	CU_ASSERT_EQUAL(ddio_conn_welcome(e->conn, &welcome), 0);
}

static void mover_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct mover_end *e = ctx;

	(void)welcome;
	e->readies++;
}

static int mover_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t len,
		      struct ddio_sink *sink)
{
	struct mover_end *e = ctx;

	(void)msg;
	(void)prefix;
	(void)len;
	e->sink = (struct iovec){ e->large, LARGE };
	sink->iov = &e->sink;
	sink->n = 1;
	return 0;
}

static void large_look(struct mover_end *e, uint8_t want)
{
	size_t i;

	for (i = 0; i < LARGE; i++)
		e->wrong += e->large[i] != (uint8_t)(want + i % 251);
}

static void large_fill(struct mover_end *e, uint8_t with)
{
	size_t i;

	for (i = 0; i < LARGE; i++)
		e->large[i] = (uint8_t)(with + i % 251);
}

/* A message with tag t is answered by t, which is followed by t + 1. */
static int mover_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct mover_end *e = ctx;
	uint64_t tag = msg->tag + !e->answers;

	(void)payload;
	e->memory = e->conn->memory;
	e->messages++;
	if (msg->opcode != DDIO_OP_COLL_DATA)
		return e->answers || tag < ROUNDS ? ping(e, tag) : 0;
	large_look(e, (uint8_t)msg->tag);
	e->larges++;
	if (!e->answers && tag == LARGES)
		return 0;
	large_fill(e, (uint8_t)tag);
	return large(e, tag);
}

static void mover_closed(void *ctx, int err, const char *why)
{
	struct mover_end *e = ctx;

	(void)why;
	e->err = err;
	e->closes++;
}

static const struct ddio_conn_ops mover_ops = {
	.hello = mover_hello,
	.ready = mover_ready,
	.bulk = mover_bulk,
	.message = mover_message,
	.closed = mover_closed,
};

static void mover_accept(void *ctx, struct ddio_stream *stream)
{
	struct mover_end *e = ctx;

	CU_ASSERT_EQUAL_FATAL(ddio_conn_accept(e->env, stream, &e->opts, &mover_ops, e, &e->conn),
			      0);
}

static void mover_listen(void *arg)
{
	struct mover_end *e = arg;

	CU_ASSERT_EQUAL_FATAL(ddio_listen(e->env, "127.0.0.1:0", mover_accept, e, &e->listener), 0);
}

static void mover_connect(void *arg)
{
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT };
	struct mover_end *e = arg;

	CU_ASSERT_EQUAL_FATAL(ddio_conn_connect(e->env, ddio_listener_addr(e->other->listener),
						&hello, &e->opts, &mover_ops, e, &e->conn),
			      0);
}

static void mover_close(void *arg)
{
	struct mover_end *e = arg;

	if (e->conn)
		ddio_conn_close(e->conn, false);
	e->conn = NULL;
	ddio_listener_close(e->listener);
	e->listener = NULL;
}

static void begin_pings(void *arg)
{
	CU_ASSERT_EQUAL(ping(arg, 0), 0);
}

static void begin_larges(void *arg)
{
	large_fill(arg, 0);
	CU_ASSERT_EQUAL(large(arg, 0), 0);
}

#define until(what)                                               \
	do {                                                      \
		uint64_t end_ = ddio_env_now(cp->env) + PATIENCE; \
                                                                  \
		while (!(what) && ddio_env_now(cp->env) < end_)   \
			usleep(200);                              \
		CU_ASSERT(what);                                  \
	} while (0)

static struct mover_end *cp, *iop;
static bool tls;
static const struct ddio_key mover_key = { .len = 16, .bytes = "sixteen bytes..." };

static void mover_free(struct mover_end *e)
{
	ddio_real_free(e->env);
	ddio_tls_free(e->opts.tls);
	free(e);
}

static struct mover_end *mover_new(bool memory, bool answers)
{
	struct mover_end *e = calloc(1, sizeof(*e));

	CU_ASSERT_PTR_NOT_NULL_FATAL(e);
	e->env = env_new();
	e->answers = answers;
	e->opts.memory = memory;
	if (tls) {
		e->opts.key = &mover_key;
		CU_ASSERT_EQUAL_FATAL(ddio_conn_tls_new(&mover_key, false, &e->opts.tls), 0);
	}
	CU_ASSERT_EQUAL_FATAL(ddio_real_start_thread(e->env), 0);
	return e;
}

static void begin(bool cp_memory, bool iop_memory)
{
	cp = mover_new(cp_memory, false);
	iop = mover_new(iop_memory, true);
	cp->other = iop;
	on_reactor(iop->env, mover_listen, iop);
	on_reactor(cp->env, mover_connect, cp);
	until(cp->readies == 1);
}

static void end(void)
{
	on_reactor(cp->env, mover_close, cp);
	on_reactor(iop->env, mover_close, iop);
	CU_ASSERT_EQUAL(cp->wrong + iop->wrong, 0);
	mover_free(cp);
	mover_free(iop);
}

static void test_moved(void)
{
	begin(true, true);
	on_reactor(cp->env, begin_pings, cp);
	until(cp->messages == ROUNDS);
	CU_ASSERT_EQUAL(cp->memory, MEMORY_MOVED);
	CU_ASSERT_EQUAL(iop->memory, MEMORY_MOVED);
	on_reactor(cp->env, begin_larges, cp);
	until(cp->larges == LARGES);
	CU_ASSERT_EQUAL(iop->larges, LARGES);
	/* Its end is heard of. */
	on_reactor(cp->env, mover_close, cp);
	until(iop->closes == 1);
	CU_ASSERT_EQUAL(iop->err, 0);
	end();
}

/* One that will not, or does not know how: all goes by TCP. */
static void test_not_moved(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		begin(i == 1, i == 2);
		on_reactor(cp->env, begin_pings, cp);
		until(cp->messages == ROUNDS);
		CU_ASSERT_NOT_EQUAL(cp->memory, MEMORY_MOVED);
		CU_ASSERT_NOT_EQUAL(iop->memory, MEMORY_MOVED);
		on_reactor(cp->env, begin_larges, cp);
		until(cp->larges == LARGES);
		end();
	}
}

/*
 * What a connector may say out of turn
 */
static void say(void *arg)
{
	const struct mover_end *e = arg;
	const struct ddio_msg msg = { .opcode = e->opcode,
				      .flags = e->status ? DDIO_WIRE_REPLY : 0,
				      .status = e->status > 1 ? e->status : 0 };
	const struct ddio_msg_memory memory = { .token = { 1 }, .name = "nobody's" };
	uint8_t raw[128];
	ssize_t len = e->opcode == DDIO_OP_MEMORY && !e->status
			      ? ddio_put_memory(raw, sizeof(raw), &memory)
			      : 0;

	/* Its own end is not to be surprised by the answer. */
	e->conn->memory = MEMORY_ASKED;
	CU_ASSERT_EQUAL(ddio_conn_send(e->conn, &msg, raw, (size_t)len, NULL, 0, NULL), 0);
}

static void saying(bool memory, uint16_t opcode, uint32_t status, int times)
{
	int i;

	begin(memory, true);
	cp->opcode = opcode;
	cp->status = status;
	for (i = 0; i < times; i++)
		on_reactor(cp->env, say, cp);
}

static void test_out_of_turn(void)
{
	static const struct {
		bool memory;
		uint16_t opcode;
		uint32_t status;
		int times;
	} bad[] = {
		{ true, DDIO_OP_MOVED, 0, 1 },	 /* nothing was offered */
		{ false, DDIO_OP_MOVED, 0, 1 },	 /* the feature was not agreed on */
		{ false, DDIO_OP_MEMORY, 0, 1 }, /* the same */
		{ true, DDIO_OP_MEMORY, 1, 1 },	 /* an answer to nothing */
		{ true, DDIO_OP_MEMORY, 0, 2 },	 /* a second question */
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		saying(bad[i].memory, bad[i].opcode, bad[i].status, bad[i].times);
		until(iop->closes == 1);
		CU_ASSERT_EQUAL(iop->err, -EPROTO);
		end();
	}
}

/* A mailbox that is not there: the connection goes on. */
static void test_no_mailbox(void)
{
	saying(true, DDIO_OP_MEMORY, 0, 1);
	on_reactor(cp->env, begin_pings, cp);
	until(cp->messages == ROUNDS);
	CU_ASSERT_EQUAL(iop->memory, MEMORY_NEVER);
	CU_ASSERT_EQUAL(cp->closes + iop->closes, 0);
	end();
}

/* By TLS nothing is offered, and a connector that asks nevertheless is sent away. */
static void test_tls(void)
{
	tls = true;
	begin(true, true);
	CU_ASSERT_EQUAL(cp->conn->options & DDIO_OPTION_MEMORY, 0);
	on_reactor(cp->env, begin_pings, cp);
	until(cp->messages == ROUNDS);
	CU_ASSERT_EQUAL(ddio_conn_way(cp->conn), CONN_TLS);
	cp->opcode = DDIO_OP_MEMORY;
	on_reactor(cp->env, say, cp);
	until(iop->closes == 1);
	CU_ASSERT_EQUAL(iop->err, -EPROTO);
	end();
	tls = false;
}

static const struct ut_case cases[] = {
	{ "moved", test_moved },
	{ "not moved", test_not_moved },
	{ "out of turn", test_out_of_turn },
	{ "no mailbox", test_no_mailbox },
	{ "TLS", test_tls },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "connections in memory", cases } };

	return ut_run("test_conn_memory", suites, 1);
}
