/* SPDX-License-Identifier: GPL-2.0-only */
/* A client that has opened its connection as it should, and says byte by byte what it likes from then on. */
#ifndef DDIO_TEST_RAW_H
#define DDIO_TEST_RAW_H

#include "tests/unit/iop/server/server_world.h"

/**
 * struct raw - the client
 * @in: what it was told after WELCOME, @head the last whole header of that, @messages so many, @text behind a REFUSE
 * @out: what it has to say, as far as @sent; @step: so many bytes at once, 0 for all, each time that raw_on() is called
 */
struct raw {
	struct sw *sw;
	struct ddio_stream *stream;
	bool connected, closed;
	uint8_t in[1 << 16];
	size_t len;
	struct ddio_msg head;
	uint32_t messages;
	char text[DDIO_MAX_TEXT];
	const uint8_t *out;
	size_t out_len, sent, step;
};

/* Takes whole messages out of what has come. */
static void raw_take(struct raw *r)
{
	struct ddio_msg_refuse refuse;
	size_t all;

	while (r->len >= DDIO_WIRE_HEADER_LEN) {
		CU_ASSERT_EQUAL_FATAL(ddio_get_header(r->in, &r->head), 0);
		all = DDIO_WIRE_HEADER_LEN + r->head.length;
		CU_ASSERT_FATAL(all <= sizeof(r->in));
		if (r->len < all)
			return;
		if (r->head.opcode == DDIO_OP_REFUSE &&
		    !ddio_get_refuse(r->in + DDIO_WIRE_HEADER_LEN, r->head.length, &refuse)) {
			r->head.status = refuse.status;
			snprintf(r->text, sizeof(r->text), "%s", refuse.text);
		}
		r->messages++;
		r->len -= all;
		memmove(r->in, r->in + all, r->len);
	}
}

static void raw_readable(void *ctx)
{
	struct raw *r = ctx;
	struct iovec v = { r->in + r->len, sizeof(r->in) - r->len };
	ssize_t n = ddio_stream_readv(r->stream, &v, 1);

	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		r->closed = true;
		ddio_stream_want_read(r->stream, false);
		return;
	}
	r->len += (size_t)n;
	raw_take(r);
}

/* Says the next of what it has to say. */
static void raw_on(struct raw *r)
{
	size_t left = r->out_len - r->sent;
	struct iovec v = { (void *)(r->out + r->sent), r->step && r->step < left ? r->step : left };
	ssize_t n;

	if (!r->connected || r->closed || !v.iov_len)
		return;
	n = ddio_stream_writev(r->stream, &v, 1);
	if (n > 0)
		r->sent += (size_t)n;
	ddio_stream_want_write(r->stream, !r->step && r->sent < r->out_len);
}

static void raw_writable(void *ctx)
{
	struct raw *r = ctx;

	r->connected = true;
	ddio_stream_want_write(r->stream, false);
	raw_on(r);
}

static void raw_failed(void *ctx, int err)
{
	(void)err;
	((struct raw *)ctx)->closed = true;
}

static const struct ddio_stream_ops raw_ops = { raw_readable, raw_writable, raw_failed };

/* Begins to say something, which must live until it is said; @step as in struct raw. */
static inline void raw_say(struct raw *r, const void *bytes, size_t len, size_t step)
{
	r->out = bytes;
	r->out_len = len;
	r->sent = 0;
	r->step = step;
	raw_on(r);
}

static inline size_t raw_opening(uint8_t *to, size_t max)
{
	struct ddio_msg_hello hello = {
		.min_version = DDIO_WIRE_VERSION,
		.max_version = DDIO_WIRE_VERSION,
		.role = DDIO_ROLE_CLIENT,
		/* No options: checksums are ddio_conn's, which this end is not. */
		.nonce = { 1 },
		.cluster = "t"
	};
	ssize_t len = ddio_put_hello(to + DDIO_WIRE_HEADER_LEN, max, &hello);
	struct ddio_msg msg = { .version = DDIO_WIRE_VERSION,
				.opcode = DDIO_OP_HELLO,
				.length = (uint64_t)len };
	uint8_t *proof = to + DDIO_WIRE_HEADER_LEN + len;

	CU_ASSERT_FATAL(len > 0 && (size_t)len + 96 < max);
	ddio_put_header(to, &msg);
	msg.opcode = DDIO_OP_PROOF;
	msg.length = 32;
	ddio_put_header(proof, &msg);
	memset(proof + DDIO_WIRE_HEADER_LEN, 0, 32);
	return (size_t)len + 2 * DDIO_WIRE_HEADER_LEN + 32;
}

static inline struct raw *raw_new(struct sw *sw)
{
	struct raw *r = calloc(1, sizeof(*r));
	uint8_t opening[512];
	int i;

	r->sw = sw;
	CU_ASSERT_EQUAL_FATAL(ddio_stream_connect(sw->client, SW_ADDR, &raw_ops, r, &r->stream), 0);
	ddio_stream_want_write(r->stream, true);
	raw_say(r, opening, raw_opening(opening, sizeof(opening)), 0);
	for (i = 0; i < 100 && r->head.opcode != DDIO_OP_WELCOME; i++)
		sw_run(sw, MS);
	CU_ASSERT_EQUAL_FATAL(r->head.opcode, DDIO_OP_WELCOME);
	r->messages = 0;
	memset(&r->head, 0, sizeof(r->head));
	return r;
}

static inline void raw_free(struct raw *r)
{
	ddio_stream_close(r->stream);
	sw_run(r->sw, MS);
	free(r);
}

#endif /* DDIO_TEST_RAW_H */
