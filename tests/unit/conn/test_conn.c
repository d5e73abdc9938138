// SPDX-License-Identifier: GPL-2.0-only
/* tsan */
/*
 * Messages over open connections: random traffic both ways through streams of every kind, in the simulated
 * world and over real TCP.  The contents of a message follow from its tag, so that the receiver knows each
 * byte.
 */
#include <sys/wait.h>
#include <unistd.h>
#include "conn/conn_priv.h"
#include "env/real/real.h"
#include "env/tls/priv.h"
#include "tests/unit/conn/conn_pair.h"

enum { MAX_IOV = 200, GUARD = 0x5a };

struct msg_shape {
	uint16_t opcode;
	size_t fixed, bulk; /* bytes */
};

/**
 * struct traffic - one direction
 * @count: messages to be sent; @most: bytes of the largest bulk
 * @sent, @got: so far
 * @bad: messages that were not what they should be, and were delivered (@wrong) or could not be sent
 * @early: senders told inside ddio_conn_send()
 */
struct traffic {
	uint64_t count, most, sent, got;
	int bad, wrong, early, errs, closes;
	bool sending;
	uint64_t told; /* tag of the next sender to be told */
	struct ddio_conn **conn;
	void (*all)(struct traffic *t);
	void *arg;
	uint8_t *sink;
	int pieces;
	struct iovec iov[MAX_IOV];
};

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x7fb5d329728ea185ull;
	x ^= x >> 27;
	x *= 0x81dadef4bc2dd44dull;
	return x ^ (x >> 33);
}

static struct msg_shape shape_of(const struct traffic *t, uint64_t tag)
{
	uint64_t x = mix(tag + 1);
	struct msg_shape s = { .opcode = DDIO_OP_PING };

	switch (x % 8) {
	case 0:
		s.opcode = DDIO_OP_FAN_IN; /* too large for a receive buffer now and then */
		s.fixed = (x >> 8) % (3 * t->most + 1);
		break;
	case 1:
	case 2:
		s.fixed = (x >> 8) % 200;
		break;
	case 3:
		break;
	default:
		s.opcode = DDIO_OP_COLL_DATA;
		s.fixed = ddio_opcode_bulk_prefix(s.opcode, false);
		s.bulk = x & 64 ? (x >> 8) % (t->most + 1) : (x >> 8) % 64;
		break;
	}
	return s;
}

static void fill(uint8_t *p, size_t len, uint64_t tag, size_t from)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)((tag + 1) * 131 + (from + i) * 7 + ((from + i) >> 8));
}

static bool same(const uint8_t *p, size_t len, uint64_t tag, size_t from)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != (uint8_t)((tag + 1) * 131 + (from + i) * 7 + ((from + i) >> 8)))
			return false;
	return true;
}

struct outgoing {
	struct ddio_send send;
	struct traffic *traffic;
	uint64_t tag;
	uint8_t data[];
};

static void out_done(struct ddio_send *send, int err)
{
	struct outgoing *out = ddio_container_of(send, struct outgoing, send);
	struct traffic *t = out->traffic;

	t->early += t->sending;
	t->errs += err != 0;
	t->bad += out->tag < t->told;
	t->told = out->tag + 1;
	free(out);
}

static int send_one(struct traffic *t, uint64_t tag)
{
	struct msg_shape s = shape_of(t, tag);
	struct ddio_msg msg = { .opcode = s.opcode, .tag = tag };
	struct outgoing *out = malloc(sizeof(*out) + s.bulk);
	uint8_t *fixed = malloc(s.fixed + 1);
	struct iovec iov[4] = { { 0 } };
	int err = -ENOMEM;
	size_t cut;

	if (!out || !fixed)
		goto free_both;
	out->send.done = out_done;
	out->traffic = t;
	out->tag = tag;
	fill(fixed, s.fixed, tag, 0);
	fill(out->data, s.bulk, tag, s.fixed);
	cut = s.bulk / 3;
	iov[0].iov_base = out->data;
	iov[0].iov_len = cut;
	iov[1].iov_base = out->data; /* empty */
	iov[2].iov_base = out->data + cut;
	iov[2].iov_len = s.bulk - cut;
	t->sending = true;
	err = ddio_conn_send(*t->conn, &msg, fixed, s.fixed, iov, 3, &out->send);
	t->sending = false;
	free(fixed);
	if (err)
		free(out);
	return err;

free_both:
	free(out);
	free(fixed);
	return err;
}

static void pump(struct traffic *t)
{
	while (t->sent < t->count && ddio_conn_queued(*t->conn) <= DDIO_CONN_HIGH) {
		if (send_one(t, t->sent)) {
			t->bad++;
			return;
		}
		t->sent++;
	}
}

/* Byte @at of piece @n of a sink: there is a guard between any two pieces. */
static uint8_t *sink_at(const struct traffic *t, size_t at, int n)
{
	return t->sink + at + n;
}

/* The sink: one piece, many pieces with guards and empty ones between, or none. */
static int take_bulk(struct traffic *t, const struct ddio_msg *msg, struct ddio_sink *sink)
{
	size_t len = shape_of(t, msg->tag).bulk, at = 0, part;
	uint64_t x = mix(msg->tag + 77);
	int n = 0;

	t->pieces = 0;
	if (x % 5 == 0)
		return 0;
	free(t->sink);
	t->sink = malloc(len + MAX_IOV);
	if (!t->sink)
		return -ENOMEM;
	memset(t->sink, GUARD, len + MAX_IOV);
	while (x % 5 < 4 && n < MAX_IOV - 1 && at < len) {
		part = n % 7 ? mix(x + n) % (len / (x % 5 < 3 ? 100 : 10) + 2) : 0;
		part = part < len - at ? part : len - at;
		t->iov[n].iov_base = sink_at(t, at, n);
		t->iov[n++].iov_len = part;
		at += part;
	}
	t->iov[n].iov_base = sink_at(t, at, n);
	t->iov[n++].iov_len = len - at;
	sink->iov = t->iov;
	sink->n = t->pieces = n;
	return 0;
}

/* Returns true if the pieces together are the bulk, and the guards are intact. */
static bool sunk_right(const struct traffic *t, uint64_t tag, const struct msg_shape *s)
{
	size_t at = 0;
	int n;

	for (n = 0; n < t->pieces; at += t->iov[n++].iov_len)
		if (!same(t->iov[n].iov_base, t->iov[n].iov_len, tag, s->fixed + at) ||
		    (n && ((uint8_t *)t->iov[n].iov_base)[-1] != GUARD))
			return false;
	return at == s->bulk;
}

static int take_message(struct traffic *t, const struct ddio_msg *msg, const uint8_t *payload)
{
	struct msg_shape s = shape_of(t, t->got);
	bool sunk = s.opcode == DDIO_OP_COLL_DATA && t->pieces;

	if (msg->tag != t->got || msg->opcode != s.opcode || msg->length != s.fixed + s.bulk ||
	    !same(payload, s.fixed, t->got, 0) || (sunk && !sunk_right(t, t->got, &s))) {
		t->bad++;
		t->wrong++;
	}
	t->got++;
	if (t->got == t->count && t->all)
		t->all(t);
	return 0;
}

/*
 * In the simulated world
 */
static int traffic_bulk(struct side *s, const struct ddio_msg *msg, struct ddio_sink *sink)
{
	return take_bulk(&((struct traffic *)s->arg)[1], msg, sink);
}

static int traffic_message(struct side *s, const struct ddio_msg *msg, const void *payload)
{
	return take_message(&((struct traffic *)s->arg)[1], msg, payload);
}

static void traffic_drained(struct side *s)
{
	pump(s->arg);
}

/* [0] is what this side sends, [1] what it receives. */
static void traffic_side(struct side *s, struct traffic t[2], uint64_t count, uint64_t most)
{
	memset(t, 0, 2 * sizeof(*t));
	t[0].count = t[1].count = count;
	t[0].most = t[1].most = most;
	t[0].conn = &s->conn;
	s->arg = t;
	s->on_bulk = traffic_bulk;
	s->on_message = traffic_message;
	s->on_drained = traffic_drained;
}

static void check_traffic(const struct traffic t[2], uint64_t count)
{
	CU_ASSERT_EQUAL(t[0].sent, count);
	CU_ASSERT_EQUAL(t[1].got, count);
	CU_ASSERT_EQUAL(t[0].bad + t[1].bad, 0);
	CU_ASSERT_EQUAL(t[0].early, 0);
	CU_ASSERT_EQUAL(t[0].errs, 0);
}

/* An idle connection has no memory but its own struct, since there may be very many. */
static void check_idle(const struct ddio_conn *c)
{
	CU_ASSERT_PTR_NULL(c->out.ring);
	CU_ASSERT_PTR_NULL(c->out.cur);
	CU_ASSERT_PTR_NULL(c->out.spare);
	CU_ASSERT_PTR_NULL(c->in.kept);
	CU_ASSERT_PTR_NULL(c->in.big);
	CU_ASSERT_PTR_NULL(c->opening);
	CU_ASSERT_PTR_NULL(c->why);
	CU_ASSERT(sizeof(*c) <= 512);
}

static void run_traffic(const struct ddio_sim_link *net, uint64_t count, uint64_t most)
{
	struct traffic cp[2], iop[2];
	struct conn_pair p;

	pair_open(&p, net);
	traffic_side(&p.cp, cp, count, most);
	traffic_side(&p.iop, iop, count, most);
	pump(&cp[0]);
	pump(&iop[0]);
	ddio_sim_run_for(p.world, 3600 * SECOND);
	check_traffic(cp, count);
	check_traffic(iop, count);
	CU_ASSERT_EQUAL(ddio_conn_queued(p.cp.conn), 0);
	CU_ASSERT_EQUAL(p.cp.closes + p.iop.closes, 0);
	CU_ASSERT(ddio_conn_last_rx(p.cp.conn) > 0 && ddio_conn_last_tx(p.cp.conn) > 0);
	check_idle(p.cp.conn);
	check_idle(p.iop.conn);
	pair_end(&p);
	free(cp[1].sink);
	free(iop[1].sink);
}

static void test_plain(void)
{
	run_traffic(NULL, ut_rounds(600), 100000);
}

static void test_large(void)
{
	struct ddio_sim_link net;

	ddio_sim_link_default(&net);
	net.window = 4u << 20;
	run_traffic(&net, ut_rounds(60), 3u << 20);
}

static void test_small_window(void)
{
	struct ddio_sim_link net;

	ddio_sim_link_default(&net);
	net.window = 1000;
	net.jitter_ns = 50000;
	run_traffic(&net, 200, 20000);
}

static void test_chopped(void)
{
	struct ddio_sim_link net;

	ddio_sim_link_default(&net);
	net.chop = 1;
	run_traffic(&net, 60, 300);
	net.chop = 13;
	net.window = 40;
	run_traffic(&net, 60, 2000);
}

/*
 * Wrong bits
 */
enum { FLIPPED = 6, FLIPPED_MOST = 700 };

/* Returns how many bytes a side sends of so many messages. */
static uint64_t bytes_of(const struct traffic *t, uint64_t count)
{
	uint64_t tag, all = 0;

	for (tag = 0; tag < count; tag++) {
		struct msg_shape s = shape_of(t, tag);

		all += DDIO_WIRE_HEADER_LEN + s.fixed + s.bulk + CONN_SUM_LEN;
	}
	return all;
}

/* Turns one bit of what one of the sides sends: nothing that it has changed may be delivered. */
static void flip_one(uint64_t n)
{
	struct traffic cp[2], iop[2];
	struct ddio_sim_link net;
	struct conn_pair p;

	pair_open(&p, NULL);
	traffic_side(&p.cp, cp, FLIPPED, FLIPPED_MOST);
	traffic_side(&p.iop, iop, FLIPPED, FLIPPED_MOST);
	ddio_sim_link_default(&net);
	if (n % 3 == 0)
		net.chop = 1 + mix(n) % 100;
	net.flip_after = 1 + mix(n + 5) % bytes_of(cp, FLIPPED);
	ddio_sim_set_link(n % 2 ? p.cp.env : p.iop.env, &net);
	pump(&cp[0]);
	pump(&iop[0]);
	ddio_sim_run_for(p.world, 10 * SECOND);
	CU_ASSERT_EQUAL(cp[1].wrong + iop[1].wrong, 0);
	CU_ASSERT((n % 2 ? iop : cp)[1].got < FLIPPED);
	pair_end(&p);
	free(cp[1].sink);
	free(iop[1].sink);
}

static void test_flips(void)
{
	uint64_t n, most = ut_rounds(10000);

	for (n = 0; n < most; n++)
		flip_one(n);
}

/* Returns the number of the first byte of a payload that is no bulk. */
static uint64_t payload_byte(const struct traffic *t)
{
	uint64_t tag, at = 1;

	for (tag = 0; tag < t->count; tag++) {
		struct msg_shape s = shape_of(t, tag);

		at += DDIO_WIRE_HEADER_LEN;
		if (s.opcode == DDIO_OP_PING && s.fixed)
			return at;
		at += s.fixed + s.bulk;
	}
	CU_FAIL("no payload");
	return 0;
}

/* One end that wants none is enough; then a wrong bit of bulk comes through. */
static void test_unsummed(void)
{
	const struct ddio_conn_opts opts = { .unsummed = true };
	struct traffic cp[2], iop[2];
	struct ddio_sim_link net;
	struct conn_pair p;

	pair_opts = &opts;
	pair_open(&p, NULL);
	pair_opts = NULL;
	CU_ASSERT_FALSE(ddio_conn_sums(p.cp.conn));
	traffic_side(&p.cp, cp, 40, FLIPPED_MOST);
	traffic_side(&p.iop, iop, 40, FLIPPED_MOST);
	ddio_sim_link_default(&net);
	net.flip_after = payload_byte(cp);
	ddio_sim_set_link(p.cp.env, &net);
	pump(&cp[0]);
	ddio_sim_run_for(p.world, 10 * SECOND);
	CU_ASSERT_EQUAL(iop[1].got, 40);
	CU_ASSERT_EQUAL(iop[1].wrong, 1);
	pair_end(&p);
	free(cp[1].sink);
	free(iop[1].sink);
}

/* Within a machine there are none, unless they are wanted there, too. */
static void test_near(void)
{
	struct ddio_conn_opts opts = { .near_unsummed = true };
	struct conn_pair p;
	int near;

	for (near = 0; near < 2; near++) {
		opts.near_unsummed = near;
		pair_iop_opts = &opts;
		pair_open(&p, NULL);
		pair_iop_opts = NULL;
		CU_ASSERT_EQUAL(!ddio_conn_sums(p.cp.conn), near);
		CU_ASSERT_EQUAL(p.cp.conn->options, p.iop.conn->options);
		pair_end(&p);
	}
}

/*
 * Over TCP, each end on a thread of its own
 */
struct tcp {
	struct ddio_env *cp_env, *iop_env;
	struct ddio_conn *cp, *iop;
	struct traffic to_iop, to_cp;
	struct ddio_gate iop_done, cp_done;
	int closes;
};

static void tcp_iop_all(struct traffic *t)
{
	struct tcp *x = t->arg;

	ddio_gate_open(x->iop_env, &x->iop_done);
}

static void tcp_cp_all(struct traffic *t)
{
	struct tcp *x = t->arg;

	ddio_gate_open(x->cp_env, &x->cp_done);
}

static void tcp_closed(void *ctx, int err, const char *why)
{
	(void)err;
	(void)why;
	__atomic_add_fetch(&((struct tcp *)ctx)->closes, 1, __ATOMIC_RELAXED);
}

static void tcp_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	static const struct ddio_msg_welcome welcome = { .nreactors = 1 };
	struct tcp *x = ctx;

	(void)hello;
	if (ddio_conn_welcome(x->iop, &welcome))
		x->to_cp.bad++;
	pump(&x->to_cp);
}

static int tcp_iop_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t len,
			struct ddio_sink *sink)
{
	(void)prefix;
	(void)len;
	return take_bulk(&((struct tcp *)ctx)->to_iop, msg, sink);
}

static int tcp_iop_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	return take_message(&((struct tcp *)ctx)->to_iop, msg, payload);
}

static void tcp_iop_drained(void *ctx)
{
	pump(&((struct tcp *)ctx)->to_cp);
}

static void tcp_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	(void)welcome;
	pump(&((struct tcp *)ctx)->to_iop);
}

static int tcp_cp_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t len,
		       struct ddio_sink *sink)
{
	(void)prefix;
	(void)len;
	return take_bulk(&((struct tcp *)ctx)->to_cp, msg, sink);
}

static int tcp_cp_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	return take_message(&((struct tcp *)ctx)->to_cp, msg, payload);
}

static void tcp_cp_drained(void *ctx)
{
	pump(&((struct tcp *)ctx)->to_iop);
}

static const struct ddio_conn_ops tcp_iop_ops = {
	.hello = tcp_hello,
	.bulk = tcp_iop_bulk,
	.message = tcp_iop_message,
	.drained = tcp_iop_drained,
	.closed = tcp_closed,
};

static const struct ddio_conn_ops tcp_cp_ops = {
	.ready = tcp_ready,
	.bulk = tcp_cp_bulk,
	.message = tcp_cp_message,
	.drained = tcp_cp_drained,
	.closed = tcp_closed,
};

static const struct ddio_key tcp_key = { .len = 32, .bytes = "a key of the test, 32 bytes long" };
static struct ddio_conn_opts tcp_opts = { .key = &tcp_key, .cluster = "test" };

static void tcp_accept(void *ctx, struct ddio_stream *stream)
{
	struct tcp *x = ctx;

	if (ddio_conn_accept(x->iop_env, stream, &tcp_opts, &tcp_iop_ops, x, &x->iop))
		x->to_iop.bad++;
}

static void tcp_traffic(struct traffic *t, struct tcp *x, struct ddio_conn **from,
			void (*all)(struct traffic *t))
{
	t->count = ut_rounds(1000);
	t->most = 200000;
	t->conn = from;
	t->arg = x;
	t->all = all;
}

static void move_both_ways(void)
{
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT };
	struct ddio_listener *listener;
	struct tcp x = { 0 };

	CU_ASSERT_EQUAL_FATAL(ddio_real_new(NULL, &x.cp_env), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_real_new(NULL, &x.iop_env), 0);
	ddio_gate_init(&x.cp_done);
	ddio_gate_init(&x.iop_done);
	tcp_traffic(&x.to_iop, &x, &x.cp, tcp_iop_all);
	tcp_traffic(&x.to_cp, &x, &x.iop, tcp_cp_all);
	CU_ASSERT_EQUAL_FATAL(ddio_listen(x.iop_env, "127.0.0.1:0", tcp_accept, &x, &listener), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_conn_connect(x.cp_env, ddio_listener_addr(listener), &hello,
						&tcp_opts, &tcp_cp_ops, &x, &x.cp),
			      0);
	CU_ASSERT_EQUAL_FATAL(ddio_real_start_thread(x.iop_env), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_real_start_thread(x.cp_env), 0);
	CU_ASSERT_EQUAL(
		ddio_gate_wait(x.iop_env, &x.iop_done, ddio_env_now(x.iop_env) + 200 * SECOND), 0);
	CU_ASSERT_EQUAL(ddio_gate_wait(x.cp_env, &x.cp_done, ddio_env_now(x.cp_env) + 200 * SECOND),
			0);
	ddio_real_join_thread(x.cp_env);
	ddio_real_join_thread(x.iop_env);
	CU_ASSERT_EQUAL(x.to_iop.bad + x.to_cp.bad, 0);
	CU_ASSERT_EQUAL(x.to_iop.early + x.to_cp.early, 0);
	CU_ASSERT_EQUAL(x.closes, 0);
	ddio_conn_close(x.cp, false);
	ddio_conn_close(x.iop, false);
	ddio_listener_close(listener);
	ddio_real_free(x.cp_env);
	ddio_real_free(x.iop_env);
	free(x.to_iop.sink);
	free(x.to_cp.sink);
}

static void test_tcp(void)
{
	move_both_ways();
}

/*
 * A process that ends in the middle of it, by exit(), which OpenSSL does, too: the threads of the reactors must not notice.
 */
static void end_in_the_middle(struct tcp *x, const char *addr)
{
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT };

	if (ddio_conn_connect(x->cp_env, addr, &hello, &tcp_opts, &tcp_cp_ops, x, &x->cp) ||
	    ddio_real_start_thread(x->iop_env) || ddio_real_start_thread(x->cp_env) ||
	    ddio_gate_wait(x->iop_env, &x->iop_done, ddio_env_now(x->iop_env) + SECOND / 20) == 0)
		_exit(3);
	exit(6);
}

static bool ends;

/* Registered first, so it comes after all others, OpenSSL's end among them. */
static void after_the_end(void)
{
	struct tls_errors *own;

	if (ends)
		_exit(tls_enter(&own) ? 5 : 7);
}

static void one_that_ends(void)
{
	struct ddio_listener *listener;
	struct tcp x = { 0 };

	alarm(200);
	ends = true;
	if (ddio_real_new(NULL, &x.cp_env) || ddio_real_new(NULL, &x.iop_env) ||
	    ddio_conn_tls_new(&tcp_key, false, &tcp_opts.tls) ||
	    ddio_listen(x.iop_env, "127.0.0.1:0", tcp_accept, &x, &listener))
		_exit(4);
	ddio_gate_init(&x.cp_done);
	ddio_gate_init(&x.iop_done);
	tcp_traffic(&x.to_iop, &x, &x.cp, tcp_iop_all);
	tcp_traffic(&x.to_cp, &x, &x.iop, tcp_cp_all);
	x.to_iop.count = x.to_cp.count = 100000000;
	end_in_the_middle(&x, ddio_listener_addr(listener));
}

static void test_exit(void)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < 20; i++) {
		fflush(NULL);
		pid = fork();
		if (!pid)
			one_that_ends();
		CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
		CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	}
}

/* The same, closed to strangers, by keys that are replaced now and then. */
static void test_tcp_tls(void)
{
	CU_ASSERT_EQUAL_FATAL(ddio_conn_tls_new(&tcp_key, false, &tcp_opts.tls), 0);
	tls_set_records(tcp_opts.tls, 1000);
	move_both_ways();
	ddio_tls_free(tcp_opts.tls);
	tcp_opts.tls = NULL;
}

/*
 * Single messages
 */

/* An error's reply is a text even if the opcode's successful reply has bulk. */
static int reply_error(struct side *s, const struct ddio_msg *msg, const void *payload)
{
	(void)payload;
	return ddio_conn_reply(s->conn, msg, DDIO_ST_IO, "disk d3: no answer", 18);
}

static int see_error(struct side *s, const struct ddio_msg *msg, const void *payload)
{
	char text[DDIO_MAX_TEXT];

	(void)s;
	CU_ASSERT_EQUAL(msg->opcode, DDIO_OP_OBJ_READ);
	CU_ASSERT_EQUAL(msg->flags, DDIO_WIRE_REPLY);
	CU_ASSERT_EQUAL(msg->status, DDIO_ST_IO);
	CU_ASSERT_EQUAL(ddio_get_text(payload, msg->length, text), 0);
	CU_ASSERT_STRING_EQUAL(text, "disk d3: no answer");
	return 0;
}

static void test_error_reply(void)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_OBJ_READ, .tag = 42 };
	struct conn_pair p;

	pair_open(&p, NULL);
	p.iop.on_message = reply_error;
	p.cp.on_message = see_error;
	CU_ASSERT_EQUAL(ddio_conn_send(p.cp.conn, &msg, NULL, 0, NULL, 0, NULL), 0);
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(p.cp.messages, 1);
	CU_ASSERT_EQUAL(p.cp.bulks, 0);
	CU_ASSERT_EQUAL(p.cp.last_tag, 42);
	pair_end(&p);
}

/* A message that the peer would refuse is refused here, and nothing is sent. */
static void test_bad_sends(void)
{
	struct ddio_send send = { .done = side_done };
	static uint8_t buf[DDIO_MAX_SMALL + 1];
	struct iovec huge = { buf, DDIO_MAX_BULK };
	struct ddio_msg msg = { .opcode = 999 };
	struct conn_pair p;

	pair_open(&p, NULL);
	send.arg = &p.cp;
	CU_ASSERT_EQUAL(ddio_conn_send(p.cp.conn, &msg, NULL, 0, NULL, 0, &send), -EOPNOTSUPP);
	msg.opcode = DDIO_OP_PING;
	CU_ASSERT_EQUAL(ddio_conn_send(p.cp.conn, &msg, buf, sizeof(buf), NULL, 0, &send),
			-EMSGSIZE);
	msg.opcode = DDIO_OP_COLL_DATA;
	CU_ASSERT_EQUAL(ddio_conn_send(p.cp.conn, &msg, buf, 41, &huge, 1, &send), -EMSGSIZE);
	CU_ASSERT_EQUAL(ddio_conn_send(p.cp.conn, &msg, buf, 39, NULL, 0, &send), -EPROTO);
	msg.opcode = DDIO_OP_HELLO;
	CU_ASSERT_EQUAL(ddio_conn_send(p.cp.conn, &msg, buf, 39, NULL, 0, &send), -EPROTO);
	msg.opcode = DDIO_OP_PING;
	msg.status = DDIO_ST_IO;
	CU_ASSERT_EQUAL(ddio_conn_send(p.cp.conn, &msg, NULL, 0, NULL, 0, &send), -EPROTO);
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(p.iop.messages, 0);
	CU_ASSERT_EQUAL(p.cp.dones, 0);
	CU_ASSERT_EQUAL(p.cp.closes + p.iop.closes, 0);
	pair_end(&p);
}

/* Work is charged for messages, but not for Memputs and Memgets. */
static void test_charges(void)
{
	uint8_t data[100] = { 0 };
	struct conn_pair p;

	pair_open(&p, NULL);
	CU_ASSERT_EQUAL(send_ping(&p.cp, 1), 0);
	CU_ASSERT_EQUAL(send_ping(&p.cp, 2), 0);
	CU_ASSERT_EQUAL(send_bulk(&p.cp, 3, data, sizeof(data), NULL), 0);
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(p.iop.messages, 3);
	CU_ASSERT_EQUAL(ddio_sim_charged(p.cp.env, DDIO_WORK_MSG_SEND), 2);
	CU_ASSERT_EQUAL(ddio_sim_charged(p.iop.env, DDIO_WORK_MSG_RECV), 2);
	pair_end(&p);
}

static const struct ut_case traffic_cases[] = {
	{ "plain", test_plain },
	{ "large", test_large },
	{ "small window", test_small_window },
	{ "chopped", test_chopped },
	{ "TCP", test_tcp },
	{ "TLS", test_tcp_tls },
	{ "an end in the middle", test_exit },
	{ "a bit is turned", test_flips },
	{ "no checksums", test_unsummed },
	{ "no checksums within a machine", test_near },
	{ NULL, NULL },
};

static const struct ut_case message_cases[] = {
	{ "error replies", test_error_reply },
	{ "bad sends", test_bad_sends },
	{ "charges", test_charges },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "traffic", traffic_cases },
		{ "messages", message_cases },
	};

	atexit(after_the_end);
	return ut_run("conn", suites, sizeof(suites) / sizeof(suites[0]));
}
