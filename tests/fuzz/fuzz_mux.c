// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing of streams that a connection carries.  Input: one byte of options, then what the peer says after a
 * good opening exchange.  Users of streams read, write and close, as the options say.
 *
 * Options: bits 0-1: users read at once, a little, nothing, or close at the first bytes; bit 2: they write; bit 3: each second
 * stream is refused; bits 4-5: bytes of one read of the connection: any, 1, 7, 100; bit 6: the connection takes little; bit 7: the
 * mux goes before its streams.
 */
#define MEM_TIMERS 256
#include "mux/priv.h"
#include "tests/fuzz/codecs.h"
#include "tests/fuzz/memenv.h"

#define SECOND 1000000000ull
#define USERS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_user {
	struct fuzz_end *end;
	struct ddio_stream *stream;
	bool failed;
};

struct fuzz_end {
	struct mem_env m;
	struct ddio_conn *conn;
	struct ddio_mux *mux;
	uint8_t options;
	unsigned int opened;
	uint64_t sum; /* of bytes that must be readable */
	struct fuzz_user user[USERS];
};

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void user_close(struct fuzz_user *u)
{
	ddio_stream_close(u->stream);
	u->stream = NULL;
}

static void on_readable(void *ctx)
{
	struct fuzz_user *u = ctx;
	uint8_t buf[5000];
	struct iovec iov = { buf, u->end->options & 1 ? 3 : sizeof(buf) };
	ssize_t n, i;

	check(u->stream && !u->failed);
	if (u->end->options & 2 && u->end->options & 1) {
		user_close(u);
		return;
	}
	if (u->end->options & 2) {
		ddio_stream_want_read(u->stream, false);
		return;
	}
	n = ddio_stream_readv(u->stream, &iov, 1);
	for (i = 0; i < n; i++)
		u->end->sum += buf[i];
	if (n <= 0 && n != -EAGAIN)
		user_close(u);
}

static void on_writable(void *ctx)
{
	static uint8_t buf[30000];
	struct fuzz_user *u = ctx;
	struct iovec iov = { buf, sizeof(buf) };

	check(u->stream && !u->failed);
	ddio_stream_want_write(u->stream, ddio_stream_writev(u->stream, &iov, 1) == -EAGAIN);
}

static void on_failed(void *ctx, int err)
{
	struct fuzz_user *u = ctx;

	check(u->stream && !u->failed && err < 0);
	u->failed = true;
}

static const struct ddio_stream_ops stream_ops = {
	.readable = on_readable,
	.writable = on_writable,
	.failed = on_failed,
};

static void on_opened(void *ctx, struct ddio_stream *stream, const struct ddio_msg_mux_open *open)
{
	struct fuzz_end *e = ctx;
	struct fuzz_user *u;

	check(open->id);
	if (e->opened >= USERS || (e->options & 8 && e->opened % 2)) {
		e->opened++;
		ddio_mux_end(stream, -EBUSY);
		return;
	}
	u = &e->user[e->opened++];
	u->end = e;
	u->stream = stream;
	ddio_stream_set_ops(stream, &stream_ops, u);
	ddio_stream_want_write(stream, e->options & 4);
}

static void on_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	static const struct ddio_msg_welcome welcome = { .nreactors = 1 };
	struct fuzz_end *e = ctx;

	(void)hello;
	check(!ddio_conn_welcome(e->conn, &welcome));
	e->mux = ddio_mux_new(&e->m.env, e->conn, on_opened, e);
	check(e->mux);
}

static int on_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t len,
		   struct ddio_sink *sink)
{
	struct fuzz_end *e = ctx;

	return ddio_mux_bulk(e->mux, msg, prefix, len, sink);
}

static int on_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct fuzz_end *e = ctx;

	return ddio_mux_message(e->mux, msg, payload);
}

static void on_drained(void *ctx)
{
	struct fuzz_end *e = ctx;

	ddio_mux_drained(e->mux);
}

static void end_over(struct fuzz_end *e, int err)
{
	if (e->mux)
		ddio_mux_free(e->mux, err, "over");
	e->mux = NULL;
	if (e->conn)
		ddio_conn_close(e->conn, false);
	e->conn = NULL;
}

static void on_closed(void *ctx, int err, const char *why)
{
	check(why[0]);
	end_over(ctx, err);
}

static const struct ddio_conn_ops conn_ops = {
	.hello = on_hello,
	.bulk = on_bulk,
	.message = on_message,
	.drained = on_drained,
	.closed = on_closed,
};

static void add(uint8_t *buf, size_t *len, uint16_t opcode, const uint8_t *payload, size_t n)
{
	const struct ddio_msg msg = { .version = DDIO_WIRE_VERSION, .opcode = opcode, .length = n };

	ddio_put_header(buf + *len, &msg);
	memcpy(buf + *len + DDIO_WIRE_HEADER_LEN, payload, n);
	*len += DDIO_WIRE_HEADER_LEN + n;
}

static size_t good_opening(uint8_t *buf)
{
	const struct ddio_msg_hello hello = { DDIO_WIRE_VERSION, DDIO_WIRE_VERSION,
					      .role = DDIO_ROLE_BROKER };
	const struct ddio_msg_proof proof = { { 0 } };
	uint8_t raw[512];
	size_t len = 0;

	add(buf, &len, DDIO_OP_HELLO, raw, (size_t)ddio_put_hello(raw, sizeof(raw), &hello));
	add(buf, &len, DDIO_OP_PROOF, raw, (size_t)ddio_put_proof(raw, sizeof(raw), &proof));
	return len;
}

static void feed(struct fuzz_end *e, const uint8_t *data, size_t size)
{
	unsigned int i;

	mem_feed(&e->m, data, size);
	for (i = 0; i < 20; i++) {
		mem_run(&e->m);
		mem_pass(&e->m, 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t reads[] = { 0, 1, 7, 100 };
	static struct fuzz_end e;
	const struct ddio_conn_opts opts = { .cluster = "fuzz" };
	uint8_t opening[1024];
	unsigned int i;

	memset(&e, 0, sizeof(e));
	e.options = size ? data[0] : 0;
	mem_init(&e.m);
	check(!ddio_conn_accept(&e.m.env, &e.m.stream, &opts, &conn_ops, &e, &e.conn));
	feed(&e, opening, good_opening(opening));
	check(e.mux);
	e.m.in_most = reads[e.options >> 4 & 3];
	if (e.options & 64)
		e.m.out_most = 30;
	if (size)
		feed(&e, data + 1, size - 1);
	if (e.mux)
		for (i = 0; i < USERS; i++)
			check(!e.user[i].stream ||
			      mux_stream_of(e.user[i].stream)->in.used <= DDIO_MUX_WINDOW);
	if (e.options & 128)
		end_over(&e, -EPIPE);
	mem_pass(&e.m, SECOND);
	for (i = 0; i < USERS; i++)
		if (e.user[i].stream)
			user_close(&e.user[i]);
	end_over(&e, -ECANCELED);
	mem_pass(&e.m, SECOND);
	mem_fini(&e.m);
	return 0;
}
