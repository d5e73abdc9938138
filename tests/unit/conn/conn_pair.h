/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of open connections: both ends, in a simulated world, with what each end's user saw and a hook
 * for every callback.
 */
#ifndef DDIO_TEST_CONN_PAIR_H
#define DDIO_TEST_CONN_PAIR_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "conn/conn.h"
#include "sim/sim.h"
#include "tests/unit/lib/ut.h"

#define MS 1000000ull
#define SECOND 1000000000ull

enum event { NOTHING, HELLO, READY, BULK, MESSAGE, DONE, DRAINED, CLOSED };

struct side {
	struct conn_pair *pair;
	struct ddio_env *env;
	struct ddio_conn *conn;
	bool closing, gone; /* closed by its user: no callback may follow */
	enum event close_in;
	int hellos, readies, bulks, messages, dones, done_errs, draineds, closes, late;
	int err, done_err, dones_at_close;
	char why[1024];
	uint64_t last_tag;
	bool (*on_hello)(struct side *s); /* false: the user answers later */
	int (*on_bulk)(struct side *s, const struct ddio_msg *msg, struct ddio_sink *sink);
	int (*on_message)(struct side *s, const struct ddio_msg *msg, const void *payload);
	void (*on_drained)(struct side *s);
	void *arg;
};

struct conn_pair {
	struct ddio_sim *world;
	struct side cp, iop;
	struct ddio_listener *listener;
};

/* Senders are told inside the call, and no callback follows it. */
static inline void side_close(struct side *s)
{
	if (s->closing || s->gone || !s->conn)
		return;
	s->closing = true;
	ddio_conn_close(s->conn, false);
	s->gone = true;
}

/* Counts an event and closes if the test wants that here.  Returns true if closed. */
static inline bool side_saw(struct side *s, enum event event, int *count)
{
	(*count)++;
	s->late += s->gone;
	if (s->close_in != event || s->closing)
		return s->closing;
	side_close(s);
	return true;
}

static inline void side_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	static const struct ddio_msg_welcome welcome = { .nreactors = 1 };
	struct side *s = ctx;

	(void)hello;
	if (side_saw(s, HELLO, &s->hellos))
		return;
	if (!s->on_hello || s->on_hello(s))
		CU_ASSERT_EQUAL(ddio_conn_welcome(s->conn, &welcome), 0);
}

static inline void side_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct side *s = ctx;

	(void)welcome;
	side_saw(s, READY, &s->readies);
}

static inline int side_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t len,
			    struct ddio_sink *sink)
{
	struct side *s = ctx;

	(void)prefix;
	(void)len;
	if (side_saw(s, BULK, &s->bulks))
		return 0;
	return s->on_bulk ? s->on_bulk(s, msg, sink) : 0;
}

static inline int side_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct side *s = ctx;

	s->last_tag = msg->tag;
	if (side_saw(s, MESSAGE, &s->messages))
		return 0;
	return s->on_message ? s->on_message(s, msg, payload) : 0;
}

static inline void side_drained(void *ctx)
{
	struct side *s = ctx;

	if (!side_saw(s, DRAINED, &s->draineds) && s->on_drained)
		s->on_drained(s);
}

static inline void side_closed(void *ctx, int err, const char *why)
{
	struct side *s = ctx;

	s->err = err;
	s->dones_at_close = s->dones;
	snprintf(s->why, sizeof(s->why), "%s", why);
	side_saw(s, CLOSED, &s->closes);
}

static const struct ddio_conn_ops side_ops = {
	.hello = side_hello,
	.ready = side_ready,
	.bulk = side_bulk,
	.message = side_message,
	.drained = side_drained,
	.closed = side_closed,
};

/* For struct ddio_send: arg is the side. */
static inline void side_done(struct ddio_send *send, int err)
{
	struct side *s = send->arg;

	s->done_err = err;
	s->done_errs += err != 0;
	side_saw(s, DONE, &s->dones);
}

/* Of the acceptor. */
static const struct ddio_conn_opts *pair_iop_opts;

static inline void pair_accept(void *ctx, struct ddio_stream *stream)
{
	struct conn_pair *p = ctx;

	CU_ASSERT_EQUAL_FATAL(ddio_conn_accept(p->iop.env, stream, pair_iop_opts, &side_ops,
					       &p->iop, &p->iop.conn),
			      0);
}

/* Of the connector. */
static const struct ddio_conn_opts *pair_opts;

static inline void pair_start(struct conn_pair *p, const struct ddio_sim_link *net)
{
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT };

	memset(p, 0, sizeof(*p));
	p->world = ddio_sim_new(1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p->world);
	p->cp.pair = p->iop.pair = p;
	p->cp.env = ddio_sim_env(p->world, "cp");
	p->iop.env = ddio_sim_env(p->world, "iop");
	if (net) {
		ddio_sim_set_link(p->cp.env, net);
		ddio_sim_set_link(p->iop.env, net);
	}
	CU_ASSERT_EQUAL_FATAL(
		ddio_listen(p->iop.env, "127.0.0.1:7000", pair_accept, p, &p->listener), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_conn_connect(p->cp.env, "127.0.0.1:7000", &hello, pair_opts,
						&side_ops, &p->cp, &p->cp.conn),
			      0);
}

static inline void pair_open(struct conn_pair *p, const struct ddio_sim_link *net)
{
	pair_start(p, net);
	ddio_sim_run_for(p->world, SECOND);
	CU_ASSERT_EQUAL_FATAL(p->cp.readies, 1);
	CU_ASSERT_EQUAL_FATAL(p->iop.hellos, 1);
}

static inline void pair_end(struct conn_pair *p)
{
	side_close(&p->cp);
	side_close(&p->iop);
	ddio_sim_run_for(p->world, SECOND);
	CU_ASSERT_EQUAL(p->cp.late + p->iop.late, 0);
	ddio_listener_close(p->listener);
	ddio_sim_free(p->world);
}

static inline int send_ping(struct side *s, uint64_t tag)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_PING, .tag = tag };

	return ddio_conn_send(s->conn, &msg, NULL, 0, NULL, 0, NULL);
}

/* Fills @buf with bulk of @len bytes. */
static inline int send_bulk(struct side *s, uint64_t tag, void *buf, size_t len,
			    struct ddio_send *send)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_COLL_DATA, .tag = tag };
	const struct ddio_msg_coll_data data = { .op = 1, .block = tag };
	struct iovec iov = { buf, len };
	uint8_t fixed[64];
	ssize_t n = ddio_put_coll_data(fixed, sizeof(fixed), &data);

	return ddio_conn_send(s->conn, &msg, fixed, n, &iov, 1, send);
}

#endif /* DDIO_TEST_CONN_PAIR_H */
