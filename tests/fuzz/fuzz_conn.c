// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing of a connection.  Input: one byte of options, then what the peer
 * says.  The user takes every message, sinks bulk in several ways, answers,
 * pauses, and closes in the middle of things, as the options and the tags of
 * the messages say.
 *
 * Options: bit 0: bytes come after a good opening exchange, else they are the
 * opening exchange; bit 1: the connector's end instead of the acceptor's;
 * bits 2-3: bytes of one read: any, 1, 7, 100; bit 4: the stream takes little;
 * bit 5: the user pauses now and then; bit 6: the user closes early; bit 7:
 * writing fails.
 */
#include "conn/conn.h"
#include "tests/fuzz/codecs.h"
#include "tests/fuzz/memenv.h"

#define SECOND 1000000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct conn_user {
	struct mem_env m;
	struct ddio_conn *conn;
	struct ddio_send sends[16];
	unsigned int sent, told;
	uint8_t options;
	bool closed, paused;
	unsigned int calls;
	uint64_t sum; /* of bytes that must be readable */
	uint8_t *sink;
	struct iovec iov[3];
};

static void check(bool ok)
{
	if (!ok)
		abort();
}

/* Return: true if the connection was closed here. */
static bool saw(struct conn_user *u)
{
	u->calls++;
	check(u->conn && !u->closed);
	if (!(u->options & 64) || u->calls % 5)
		return false;
	ddio_conn_close(u->conn, u->calls % 2);
	u->conn = NULL;
	return true;
}

static void on_done(struct ddio_send *send, int err)
{
	struct conn_user *u = send->arg;

	(void)err;
	u->told++;
}

static void answer(struct conn_user *u, const struct ddio_msg *msg)
{
	static uint8_t bulk[20000];
	const struct ddio_msg piece = { .opcode = DDIO_OP_COLL_PIECE, .tag = msg->tag };
	struct iovec iov = { bulk, msg->tag % sizeof(bulk) };
	uint8_t fixed[40] = { 1 };
	struct ddio_send *send;

	if (!(msg->flags & DDIO_WIRE_REPLY))
		ddio_conn_reply(u->conn, msg, msg->tag % 3 ? DDIO_ST_OK : DDIO_ST_IO, "text", 4);
	if (u->sent == 16 || msg->tag % 2)
		return;
	send = &u->sends[u->sent];
	send->done = on_done;
	send->arg = u;
	if (!ddio_conn_send(u->conn, &piece, fixed, sizeof(fixed), &iov, 1, send))
		u->sent++;
}

static void on_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	static const struct ddio_msg_welcome welcome = { .nreactors = 1 };
	struct conn_user *u = ctx;

	if (saw(u))
		return;
	if (hello->reactor % 2)
		ddio_conn_refuse(u->conn, DDIO_ST_BUSY, "busy");
	else
		check(!ddio_conn_welcome(u->conn, &welcome));
}

static void on_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	(void)welcome;
	saw(ctx);
}

static int on_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		   struct ddio_sink *sink)
{
	size_t len = msg->length - prefix_len, cut = len / 3;
	struct conn_user *u = ctx;

	check(ddio_msg_is_bulk(msg));
	check(prefix_len == ddio_opcode_bulk_prefix(msg->opcode, msg->flags & DDIO_WIRE_REPLY));
	u->sum += ((const uint8_t *)prefix)[prefix_len - 1];
	if (saw(u) || msg->tag % 4 == 0 || len > 100000)
		return 0;
	if (msg->tag % 16 == 7)
		return -EINVAL;
	free(u->sink);
	u->sink = malloc(len + 1);
	check(u->sink != NULL);
	u->iov[0] = (struct iovec){ u->sink, cut };
	u->iov[1] = (struct iovec){ NULL, 0 };
	u->iov[2] = (struct iovec){ u->sink + cut, len - cut };
	if (msg->tag % 4 == 1)
		u->iov[0] = (struct iovec){ u->sink, len };
	sink->iov = u->iov;
	sink->n = msg->tag % 4 == 1 ? 1 : 3;
	return 0;
}

static int on_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct conn_user *u = ctx;
	uint64_t sum = 0, i, len = msg->length;

	if (ddio_msg_is_bulk(msg))
		len = ddio_opcode_bulk_prefix(msg->opcode, msg->flags & DDIO_WIRE_REPLY);
	for (i = 0; i < len; i++)
		sum += ((const uint8_t *)payload)[i];
	if (saw(u))
		return 0;
	answer(u, msg);
	if (u->options & 32 && (msg->tag + sum) % 3 == 0) {
		ddio_conn_pause(u->conn, true);
		u->paused = true;
	}
	return sum % 64 == 63 ? -EPROTO : 0;
}

static void on_drained(void *ctx)
{
	saw(ctx);
}

static void on_closed(void *ctx, int err, const char *why)
{
	struct conn_user *u = ctx;

	(void)err;
	check(why[0] && !strchr(why, '\n'));
	if (!saw(u))
		check(u->told == u->sent);
	u->closed = true;
}

static const struct ddio_conn_ops user_ops = {
	.ready = on_ready,
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

/* Writes what an honest peer without a key sends first, to either end. */
static size_t good_opening(bool to_connector, uint8_t *buf)
{
	const struct ddio_msg_hello hello = { 1, 1, .role = DDIO_ROLE_CLIENT };
	const struct ddio_msg_challenge challenge = { .version = DDIO_WIRE_VERSION };
	const struct ddio_msg_welcome welcome = { .nreactors = 1 };
	const struct ddio_msg_proof proof = { { 0 } };
	uint8_t raw[512];
	size_t len = 0;

	if (to_connector) {
		add(buf, &len, DDIO_OP_CHALLENGE, raw,
		    ddio_put_challenge(raw, sizeof(raw), &challenge));
		add(buf, &len, DDIO_OP_WELCOME, raw, ddio_put_welcome(raw, sizeof(raw), &welcome));
	} else {
		add(buf, &len, DDIO_OP_HELLO, raw, ddio_put_hello(raw, sizeof(raw), &hello));
		add(buf, &len, DDIO_OP_PROOF, raw, ddio_put_proof(raw, sizeof(raw), &proof));
	}
	return len;
}

static int begin(struct conn_user *u, bool connector)
{
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT };
	const struct ddio_conn_opts opts = { .cluster = "fuzz" };
	int err;

	if (connector)
		err = ddio_conn_connect(&u->m.env, "node:1", &hello, &opts, &user_ops, u, &u->conn);
	else
		err = ddio_conn_accept(&u->m.env, &u->m.stream, &opts, &user_ops, u, &u->conn);
	mem_run(&u->m);
	return err;
}

static void feed(struct conn_user *u, const uint8_t *data, size_t size)
{
	unsigned int i;

	mem_feed(&u->m, data, size);
	for (i = 0; i < 100 && u->conn && u->paused; i++) {
		u->paused = false;
		ddio_conn_pause(u->conn, false);
		mem_run(&u->m);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t reads[] = { 0, 1, 7, 100 };
	struct conn_user u = { .options = size ? data[0] : 0 };
	uint8_t opening[1024];

	mem_init(&u.m);
	check(!begin(&u, u.options & 2));
	if (u.options & 1)
		feed(&u, opening, good_opening(u.options & 2, opening));
	u.m.in_most = reads[u.options >> 2 & 3];
	if (u.options & 16)
		u.m.out_most = 3;
	if (u.options & 16 && size > 200)
		u.m.out_room = size;
	if (u.options & 128)
		u.m.out_err = -EPIPE;
	if (size)
		feed(&u, data + 1, size - 1);
	u.m.in_end = true;
	mem_run(&u.m);
	mem_pass(&u.m, 11 * SECOND);
	mem_pass(&u.m, 11 * SECOND);
	if (u.conn)
		ddio_conn_close(u.conn, false);
	check(u.told == u.sent);
	check(!u.m.open);
	mem_fini(&u.m);
	free(u.sink);
	return 0;
}
