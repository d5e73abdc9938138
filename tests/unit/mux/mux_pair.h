/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests of muxes: two ends over a connection in a simulated world, and users of streams that count what comes. */
#ifndef DDIO_TEST_MUX_PAIR_H
#define DDIO_TEST_MUX_PAIR_H

#include "mux/mux.h"
#include "tests/unit/conn/conn_pair.h"

struct mux_end;

/**
 * struct mux_user - who has one end of a stream
 * @to_send: bytes that are still to be written; @seed: of what they are
 * @got: bytes that came; @wrong: they are not what the other end's seed says
 * @eof, @err: how it ended
 * @lazy: reads nothing
 * @close_when_sent: closes then
 */
struct mux_user {
	struct mux_end *end;
	struct ddio_stream *stream;
	uint64_t to_send, sent, got;
	uint8_t seed, expects;
	bool lazy, eof, wrong, close_when_sent, answers;
	int err;
	char why[128];
};

struct mux_end {
	struct ddio_mux *mux;
	struct side *side;
	struct mux_user *users; /* that streams which are opened here get, one after the other */
	uint32_t opened, messages;
	struct ddio_msg_mux_open last;
	int err;
	bool closed, refuse;
};

struct mux_pair {
	struct conn_pair conn;
	struct mux_end a, b;
};

static inline uint8_t mux_byte(uint8_t seed, uint64_t at)
{
	return (uint8_t)(seed + at * 7 + (at >> 8));
}

static inline void user_close(struct mux_user *u)
{
	if (u->stream)
		ddio_stream_close(u->stream);
	u->stream = NULL;
}

static inline void user_readable(void *ctx)
{
	static uint8_t buf[100000];
	struct mux_user *u = ctx;
	struct iovec iov[2] = { { buf, 33333 }, { buf + 33333, sizeof(buf) - 33333 } };
	ssize_t n, i;

	if (u->lazy) {
		ddio_stream_want_read(u->stream, false);
		return;
	}
	while ((n = ddio_stream_readv(u->stream, iov, 2)) > 0) {
		for (i = 0; i < n; i++)
			u->wrong |= buf[i] != mux_byte(u->expects, u->got + (uint64_t)i);
		u->got += (uint64_t)n;
	}
	if (n == -EAGAIN)
		return;
	u->eof = !n;
	u->err = (int)n;
	user_close(u);
}

static inline void user_writable(void *ctx)
{
	static uint8_t buf[70000];
	struct mux_user *u = ctx;
	struct iovec iov = { buf, 0 };
	ssize_t n = 0;
	size_t i;

	while (u->to_send) {
		iov.iov_len = u->to_send < sizeof(buf) ? u->to_send : sizeof(buf);
		for (i = 0; i < iov.iov_len; i++)
			buf[i] = mux_byte(u->seed, u->sent + i);
		n = ddio_stream_writev(u->stream, &iov, 1);
		if (n <= 0)
			break;
		u->to_send -= (uint64_t)n;
		u->sent += (uint64_t)n;
	}
	ddio_stream_want_write(u->stream, u->to_send);
	if (!u->to_send && u->close_when_sent)
		user_close(u);
}

static inline void user_failed(void *ctx, int err)
{
	struct mux_user *u = ctx;

	CU_ASSERT_EQUAL(u->err, 0);
	u->err = err;
	snprintf(u->why, sizeof(u->why), "%s", ddio_stream_why(u->stream));
	user_close(u);
}

static const struct ddio_stream_ops user_ops = {
	.readable = user_readable,
	.writable = user_writable,
	.failed = user_failed,
};

static inline void user_begin(struct mux_user *u, struct mux_end *end, struct ddio_stream *stream)
{
	u->end = end;
	u->stream = stream;
	ddio_stream_set_ops(stream, &user_ops, u);
	ddio_stream_want_write(stream, u->to_send);
}

static inline void end_opened(void *ctx, struct ddio_stream *stream,
			      const struct ddio_msg_mux_open *open)
{
	struct mux_end *end = ctx;
	uint32_t i = end->opened++;

	end->last = *open;
	if (end->refuse || !end->users)
		ddio_mux_end(stream, -EOPNOTSUPP);
	else
		user_begin(&end->users[i], end, stream);
}

static inline int end_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t len,
			   struct ddio_sink *sink)
{
	struct mux_end *end = ctx;

	return ddio_mux_bulk(end->mux, msg, prefix, len, sink);
}

static inline int end_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct mux_end *end = ctx;

	end->messages++;
	return ddio_mux_message(end->mux, msg, payload);
}

static inline void end_drained(void *ctx)
{
	struct mux_end *end = ctx;

	ddio_mux_drained(end->mux);
}

static inline void end_closed(void *ctx, int err, const char *why)
{
	struct mux_end *end = ctx;

	end->closed = true;
	end->err = err;
	ddio_mux_free(end->mux, err, why);
	end->mux = NULL;
}

static const struct ddio_conn_ops end_ops = {
	.bulk = end_bulk,
	.message = end_message,
	.drained = end_drained,
	.closed = end_closed,
};

static inline void mux_end_begin(struct mux_end *end, struct side *side, bool takes)
{
	end->side = side;
	end->mux = ddio_mux_new(side->env, side->conn, takes ? end_opened : NULL, end);
	CU_ASSERT_PTR_NOT_NULL_FATAL(end->mux);
	ddio_conn_set_ops(side->conn, &end_ops, end);
}

/* The connector opens, the acceptor takes. */
static inline void mux_pair_open(struct mux_pair *p, const struct ddio_sim_link *net)
{
	memset(p, 0, sizeof(*p));
	pair_open(&p->conn, net);
	mux_end_begin(&p->a, &p->conn.cp, false);
	mux_end_begin(&p->b, &p->conn.iop, true);
}

static inline void mux_end_free(struct mux_end *end)
{
	uint32_t i;

	ddio_mux_free(end->mux, -ECANCELED, NULL);
	end->mux = NULL;
	/* Those of a process that was killed, or that was told nothing yet. */
	for (i = 0; end->users && i < end->opened; i++)
		user_close(&end->users[i]);
}

static inline void mux_pair_end(struct mux_pair *p)
{
	mux_end_free(&p->a);
	mux_end_free(&p->b);
	side_close(&p->conn.cp);
	side_close(&p->conn.iop);
	ddio_sim_run_for(p->conn.world, SECOND);
	ddio_listener_close(p->conn.listener);
	ddio_sim_free(p->conn.world);
}

/* Opens a stream at the connector. */
static inline void user_open(struct mux_user *u, struct mux_end *end)
{
	struct ddio_stream *stream;

	CU_ASSERT_EQUAL_FATAL(ddio_mux_open(end->mux, 1, 2, "node:3", &stream), 0);
	user_begin(u, end, stream);
}

static inline uint32_t end_streams(const struct mux_end *end)
{
	struct ddio_mux_use use;

	ddio_mux_use(end->mux, &use);
	return use.streams;
}

static inline uint64_t end_held(const struct mux_end *end)
{
	struct ddio_mux_use use;

	ddio_mux_use(end->mux, &use);
	return use.held;
}

#endif /* DDIO_TEST_MUX_PAIR_H */
