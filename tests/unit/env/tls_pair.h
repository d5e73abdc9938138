/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of streams of TLS: both ends in a simulated world, with a wire between them that sees every byte, and can turn a
 * bit of it, pass it on byte by byte, or keep it.
 */
#ifndef DDIO_TEST_TLS_PAIR_H
#define DDIO_TEST_TLS_PAIR_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "env/tls/priv.h"
#include "sim/sim.h"
#include "tests/unit/lib/ut.h"

#define SECOND 1000000000ull
#define WIRE_CAP 65536u

/* One direction of the wire: what came of @from and has not gone to @to. */
struct wire_way {
	struct tls_pair *p;
	struct ddio_stream *from;
	struct wire_way *back;
	uint8_t buf[WIRE_CAP];
	size_t head, tail;
	uint64_t passed;
	uint64_t flip_at; /* bit; 0: none */
	uint64_t keep_at; /* passes on only so many bytes; 0: all */
	bool by_byte, marked, ended;
	size_t matched;
};

struct tls_end {
	struct tls_pair *p;
	struct ddio_env *env;
	struct ddio_tls *tls;
	struct ddio_stream *stream;
	uint64_t to_send, sent, got;
	uint64_t stop_at; /* reads no more once it has so many bytes; 0: goes on */
	unsigned int wrong, wakes;
	size_t put_most, get_most; /* of one call; 0: much */
	int err, fails;
	bool over, opened, write_blocked;
	char why[256];
};

struct tls_pair {
	struct ddio_sim *world;
	struct tls_end cp, iop; /* connector, acceptor */
	struct wire_way there, back;
	struct ddio_env *wire_env;
	struct ddio_listener *listener, *wire_listener;
	const char *marker;
	bool plain_iop, plain_cp;
};

static inline uint8_t pair_byte(uint64_t at)
{
	return (uint8_t)((at * 2654435761u) >> 13);
}

/* The wire */
static inline void wire_cut(struct tls_pair *p)
{
	ddio_stream_close(p->there.from);
	ddio_stream_close(p->back.from);
	p->there.from = p->back.from = NULL;
}

static inline void wire_look(struct wire_way *w, uint8_t *data, size_t len)
{
	const char *mark = w->p->marker;
	size_t i;

	if (w->flip_at / 8 >= w->passed && w->flip_at / 8 < w->passed + len && w->flip_at)
		data[w->flip_at / 8 - w->passed] ^= (uint8_t)(1 << w->flip_at % 8);
	w->passed += len;
	for (i = 0; mark && i < len; i++) {
		w->matched = data[i] == (uint8_t)mark[w->matched] ? w->matched + 1
								  : data[i] == (uint8_t)mark[0];
		if (mark[w->matched])
			continue;
		w->marked = true;
		w->matched = 0;
	}
}

static inline void wire_pass(struct wire_way *w)
{
	struct iovec v;
	ssize_t n;

	while (w->head < w->tail && w->back->from) {
		v.iov_base = w->buf + w->head;
		v.iov_len = w->by_byte ? 1 : w->tail - w->head;
		n = ddio_stream_writev(w->back->from, &v, 1);
		if (n <= 0)
			break;
		w->head += (size_t)n;
		if (w->by_byte)
			break;
	}
	if (w->head == w->tail)
		w->head = w->tail = 0;
	if (w->back->from)
		ddio_stream_want_write(w->back->from, w->head < w->tail);
	if (w->from)
		ddio_stream_want_read(w->from, w->head == w->tail);
	if (w->ended && w->head == w->tail)
		wire_cut(w->p);
}

static inline void wire_readable(void *ctx)
{
	struct wire_way *w = ctx;
	struct iovec v = { w->buf, WIRE_CAP };
	ssize_t n = ddio_stream_readv(w->from, &v, 1);

	if (n == -EAGAIN)
		return;
	w->ended = n <= 0;
	w->head = 0;
	w->tail = n > 0 ? (size_t)n : 0;
	wire_look(w, w->buf, w->tail);
	if (w->keep_at && w->passed > w->keep_at)
		w->tail = 0;
	wire_pass(w);
}

static inline void wire_writable(void *ctx)
{
	wire_pass(((struct wire_way *)ctx)->back);
}

static inline void wire_failed(void *ctx, int err)
{
	(void)err;
	wire_cut(((struct wire_way *)ctx)->p);
}

static const struct ddio_stream_ops wire_ops = { wire_readable, wire_writable, wire_failed };

static inline void wire_accept(void *ctx, struct ddio_stream *stream)
{
	struct tls_pair *p = ctx;

	p->there.from = stream;
	CU_ASSERT_EQUAL_FATAL(ddio_stream_connect(p->wire_env, "127.0.0.1:7000", &wire_ops,
						  &p->back, &p->back.from),
			      0);
	ddio_stream_set_ops(stream, &wire_ops, &p->there);
}

/* The ends */
static inline void end_readable(void *ctx)
{
	struct tls_end *e = ctx;
	uint8_t buf[20000];
	size_t most = e->get_most ? e->get_most : sizeof(buf);
	struct iovec v[2] = { { buf, most / 3 }, { buf + most / 3, most - most / 3 } };
	ssize_t n = ddio_stream_readv(e->stream, v, 2), i;

	e->wakes++;
	if (n == -EAGAIN)
		return;
	for (i = 0; i < n; i++)
		e->wrong += buf[i] != pair_byte(e->got + (uint64_t)i);
	if (n > 0) {
		e->got += (uint64_t)n;
		if (e->stop_at && e->got >= e->stop_at)
			ddio_stream_want_read(e->stream, false);
		return;
	}
	e->over = !n;
	e->err = (int)n;
	snprintf(e->why, sizeof(e->why), "%s", ddio_stream_why(e->stream));
	ddio_stream_want_read(e->stream, false);
}

static inline void end_writable(void *ctx)
{
	struct tls_end *e = ctx;
	uint8_t buf[50000];
	size_t most = e->put_most ? e->put_most : sizeof(buf), len, i;
	struct iovec v[3];
	ssize_t n;

	e->opened = true;
	len = e->to_send - e->sent < most ? e->to_send - e->sent : most;
	for (i = 0; i < len; i++)
		buf[i] = pair_byte(e->sent + i);
	v[0] = (struct iovec){ buf, len / 7 };
	v[1] = (struct iovec){ buf + len / 7, 0 };
	v[2] = (struct iovec){ buf + len / 7, len - len / 7 };
	n = ddio_stream_writev(e->stream, v, 3);
	e->write_blocked |= n == -EAGAIN;
	if (n > 0)
		e->sent += (uint64_t)n;
	if (e->sent == e->to_send)
		ddio_stream_want_write(e->stream, false);
}

static inline void end_failed(void *ctx, int err)
{
	struct tls_end *e = ctx;

	e->fails++;
	e->err = err;
	snprintf(e->why, sizeof(e->why), "%s", ddio_stream_why(e->stream));
}

static const struct ddio_stream_ops end_ops = { end_readable, end_writable, end_failed };

static inline void end_close(struct tls_end *e)
{
	ddio_stream_close(e->stream);
	e->stream = NULL;
}

static inline void iop_accept(void *ctx, struct ddio_stream *stream)
{
	struct tls_pair *p = ctx;

	p->iop.stream = stream;
	if (!p->plain_iop) {
		CU_ASSERT_EQUAL_FATAL(ddio_tls_accept(p->iop.tls, stream, &p->iop.stream), 0);
	}
	ddio_stream_set_ops(p->iop.stream, &end_ops, &p->iop);
	ddio_stream_want_write(p->iop.stream, true);
}

static inline void pair_secret(struct ddio_tls_secret *secret, const char *name)
{
	memset(secret, 0, sizeof(*secret));
	snprintf(secret->name, sizeof(secret->name), "%s", name);
	memset(secret->bytes, name[0], sizeof(secret->bytes));
}

static inline void end_init(struct tls_end *e, struct tls_pair *p, const char *name)
{
	struct ddio_tls_secret secret;

	e->p = p;
	e->env = ddio_sim_env(p->world, name);
	CU_ASSERT_EQUAL_FATAL(ddio_tls_new(&e->tls), 0);
	pair_secret(&secret, "right");
	ddio_tls_set_secrets(e->tls, &secret, 1);
}

static inline struct tls_pair *pair_new(void)
{
	struct tls_pair *p = calloc(1, sizeof(*p));

	p->world = ddio_sim_new(1);
	end_init(&p->cp, p, "cp");
	end_init(&p->iop, p, "iop");
	p->wire_env = ddio_sim_env(p->world, "wire");
	p->there.p = p->back.p = p;
	p->there.back = &p->back;
	p->back.back = &p->there;
	CU_ASSERT_EQUAL_FATAL(
		ddio_listen(p->iop.env, "127.0.0.1:7000", iop_accept, p, &p->listener), 0);
	CU_ASSERT_EQUAL_FATAL(
		ddio_listen(p->wire_env, "127.0.0.1:7001", wire_accept, p, &p->wire_listener), 0);
	return p;
}

static inline void pair_connect(struct tls_pair *p)
{
	struct tls_end *e = &p->cp;
	int ret;

	if (p->plain_cp)
		ret = ddio_stream_connect(e->env, "127.0.0.1:7001", &end_ops, e, &e->stream);
	else
		ret = ddio_tls_connect(e->tls, e->env, "127.0.0.1:7001", &end_ops, e, &e->stream);
	CU_ASSERT_EQUAL_FATAL(ret, 0);
	ddio_stream_want_write(e->stream, true);
}

/* Makes the pair as it was before it was connected. */
static inline void pair_disconnect(struct tls_pair *p)
{
	struct wire_way *ways[] = { &p->there, &p->back };
	struct tls_end *ends[] = { &p->cp, &p->iop };
	int i;

	wire_cut(p);
	for (i = 0; i < 2; i++) {
		end_close(ends[i]);
		memset(&ends[i]->to_send, 0, sizeof(*ends[i]) - offsetof(struct tls_end, to_send));
		memset(&ways[i]->head, 0, sizeof(*ways[i]) - offsetof(struct wire_way, head));
	}
	ddio_sim_run_for(p->world, SECOND);
}

static inline void pair_free(struct tls_pair *p)
{
	pair_disconnect(p);
	ddio_listener_close(p->listener);
	ddio_listener_close(p->wire_listener);
	ddio_tls_free(p->cp.tls);
	ddio_tls_free(p->iop.tls);
	ddio_sim_free(p->world);
	free(p);
}

#endif /* DDIO_TEST_TLS_PAIR_H */
