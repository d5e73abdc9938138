// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What comes in.  One read fills the rest of the current bulk's sink and then the receive buffer, from
 * which as many messages are taken as it holds.  Bulk that is in the buffer is copied to its sink; the
 * rest of it is read straight into the sink.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/crc32c.h"
#include "conn/conn_priv.h"
#include "env/lines.h"

/*
 * The body: the part of a message that does not stay in the buffer
 */

/*
 * Makes room for a payload larger than the buffer.  Never allocates on the peer's claim alone: the room
 * grows with what has arrived.
 */
static int big_grow(struct conn_in *in)
{
	size_t old = in->big_cap, cap = old ? old * 2 : 2 * CONN_RX_CAP;
	uint8_t *big;

	if (cap > in->msg.length)
		cap = in->msg.length;
	big = realloc(in->big, cap);
	if (!big)
		return -ENOMEM;
	in->big = big;
	in->big_cap = cap;
	in->big_iov.iov_base = big + old;
	in->big_iov.iov_len = cap - old;
	in->iov = &in->big_iov;
	in->niov = 1;
	in->iov_off = 0;
	return 0;
}

static int body_spans(const struct conn_in *in, struct iovec *v, int max, size_t *total)
{
	size_t off = in->iov_off;
	int i, n = 0;

	*total = 0;
	for (i = 0; i < in->niov && n < max; i++, off = 0) {
		if (in->iov[i].iov_len == off)
			continue;
		v[n].iov_base = (uint8_t *)in->iov[i].iov_base + off;
		v[n].iov_len = in->iov[i].iov_len - off;
		*total += v[n++].iov_len;
	}
	return n;
}

/* Notes that @n bytes of the body have arrived: 0 or -ENOMEM. */
static int body_advance(struct conn_in *in, size_t n)
{
	size_t part;

	in->left -= n;
	while (in->niov) {
		part = in->iov->iov_len - in->iov_off;
		if (n < part) {
			in->iov_off += n;
			return 0;
		}
		n -= part;
		in->iov++;
		in->niov--;
		in->iov_off = 0;
	}
	return in->left && in->big ? big_grow(in) : 0;
}

static size_t sum_len(const struct ddio_conn *c)
{
	return conn_sum_len(c, c->in.msg.opcode, c->in.moved);
}

/* Adds what has come of a message to its checksum. */
static void sum_add(struct ddio_conn *c, const void *data, size_t len)
{
	if (sum_len(c))
		c->in.sum = ddio_crc32c(c->in.sum, data, len);
}

/* The same of the first @len bytes that were read into the body's places. */
static void sum_add_spans(struct ddio_conn *c, const struct iovec *v, size_t len)
{
	size_t part;

	for (; len; v++, len -= part) {
		part = v->iov_len < len ? v->iov_len : len;
		sum_add(c, v->iov_base, part);
	}
}

/* Takes the checksum from the buffer.  Returns false if the message differs: the connection is given up. */
static bool sum_take(struct ddio_conn *c, struct conn_frame *f)
{
	struct conn_in *in = &c->in;
	size_t len = sum_len(c), i;
	const uint8_t *at = in->buf + in->head;
	uint32_t sum = 0;

	for (i = 0; i < len; i++)
		sum |= (uint32_t)at[i] << 8 * i;
	in->head += len;
	if (!len || sum == in->sum)
		return true;
	in->wrong = true;
	ddio_env_log_caused(
		c->env, DDIO_LOG_WARN,
		"%s: a message (%s) does not match its checksum: the connection is given up",
		c->peer, ddio_opcode_name(in->msg.opcode));
	/* As one that breaks: it is made anew, and what was not answered is asked again. */
	conn_fail(c, f, -ECONNRESET, "a message does not match its checksum");
	return false;
}

bool ddio_conn_bulk_sum(const struct ddio_conn *c, uint32_t *sum)
{
	const struct conn_in *in = &c->in;
	size_t front = ddio_opcode_bulk_prefix(in->msg.opcode, in->msg.flags & DDIO_WIRE_REPLY);

	if (!sum_len(c))
		return false;
	*sum = ddio_crc32c_join(in->front, in->sum, in->msg.length - front);
	return true;
}

bool ddio_conn_mismatched(const struct ddio_conn *c)
{
	return c && c->in.wrong;
}

/* Copies from the buffer to the sink: 0 or -ENOMEM. */
static int body_copy(struct ddio_conn *c)
{
	struct conn_in *in = &c->in;
	size_t have = in->tail - in->head, n, off;
	const uint8_t *src;
	int err = 0;

	while (have && in->left && !err) {
		src = in->buf + in->head;
		n = have < in->left ? have : in->left;
		if (in->niov) {
			off = in->iov->iov_len - in->iov_off;
			n = n < off ? n : off;
			memcpy((uint8_t *)in->iov->iov_base + in->iov_off, src, n);
		}
		sum_add(c, src, n);
		in->head += n;
		have -= n;
		err = body_advance(in, n);
	}
	return err;
}

/*
 * Messages
 */
static void deliver(struct ddio_conn *c, struct conn_frame *f, const void *payload)
{
	const struct ddio_msg msg = c->in.msg;
	uint32_t status;
	int err;

	c->in.have = false;
	if (c->state != CONN_OPEN || msg.opcode == DDIO_OP_REFUSE) {
		conn_opening_message(c, f, &msg, payload);
		return;
	}
	if (msg.opcode == DDIO_OP_MEMORY || msg.opcode == DDIO_OP_MOVED) {
		conn_memory_message(c, f, &msg, payload);
		return;
	}
	if (!conn_charged_elsewhere(msg.opcode))
		ddio_env_charge(c->env, DDIO_WORK_MSG_RECV, 1);
	err = c->ops->message(c->ctx, &msg, payload);
	if (err >= 0 || conn_dead(c, f))
		return;
	status = ddio_status_from_errno(err);
	conn_reject(c, f, status, "%s: %s", ddio_opcode_name(msg.opcode), ddio_status_text(status));
}

/* @raw: where the header should be */
static const char *header_fault(int err, const uint8_t *raw)
{
	/* A record of TLS with a handshake begins so. */
	if (raw[0] == 0x16 && raw[1] == 0x03)
		return "the connector speaks TLS, and the node does not: security = none holds here";
	switch (err) {
	case -EPROTONOSUPPORT:
		return "message of another protocol version";
	case -EOPNOTSUPP:
		return "unknown opcode or flag";
	case -EMSGSIZE:
		return "message longer than its limit";
	default:
		return "not a message of this protocol";
	}
}

/* Takes the header at the front of the buffer, or rejects it. */
static bool header_take(struct ddio_conn *c, struct conn_frame *f)
{
	struct conn_in *in = &c->in;
	struct ddio_msg *msg = &in->msg;
	int err = ddio_get_header(in->buf + in->head, msg);
	bool opening = c->state != CONN_OPEN, allowed;

	if (!err && !opening && msg->version != c->version && msg->opcode != DDIO_OP_REFUSE)
		err = -EPROTONOSUPPORT;
	if (err) {
		conn_reject(c, f, ddio_status_from_errno(err), "%s",
			    header_fault(err, in->buf + in->head));
		return false;
	}
	if (msg->opcode == DDIO_OP_REFUSE)
		allowed = true;
	else if (opening)
		allowed = msg->opcode == conn_opening_expected(c);
	else
		allowed = msg->opcode > DDIO_OP_REFUSE;
	if (!allowed) {
		conn_reject(c, f, DDIO_ST_PROTOCOL, "%s out of turn",
			    ddio_opcode_name(msg->opcode));
		return false;
	}
	in->sum = 0;
	sum_add(c, in->buf + in->head, DDIO_WIRE_HEADER_LEN);
	in->head += DDIO_WIRE_HEADER_LEN;
	in->have = true;
	in->since = ddio_env_now(c->env);
	return true;
}

static bool sink_fits(const struct ddio_sink *sink, uint64_t len)
{
	int i;

	for (i = 0; i < sink->n; i++) {
		if (sink->iov[i].iov_len > len)
			return false;
		len -= sink->iov[i].iov_len;
	}
	return !sink->n || !len;
}

static void bulk_begin(struct ddio_conn *c, struct conn_frame *f, size_t prefix_len)
{
	struct conn_in *in = &c->in;
	struct ddio_sink sink = { 0 };
	uint32_t status;
	int err;

	memcpy(in->prefix, in->buf + in->head, prefix_len);
	sum_add(c, in->prefix, prefix_len);
	in->front = in->sum;
	in->head += prefix_len;
	in->left = in->msg.length - prefix_len;
	in->narrow = in->left >= CONN_RX_LARGE;
	err = c->ops->bulk ? c->ops->bulk(c->ctx, &in->msg, in->prefix, prefix_len, &sink)
			   : -EOPNOTSUPP;
	if (conn_dead(c, f))
		return;
	if (!err && !sink_fits(&sink, in->left))
		err = -EINVAL;
	if (err < 0) {
		status = ddio_status_from_errno(err);
		conn_reject(c, f, status, "%s of %llu bytes: %s", ddio_opcode_name(in->msg.opcode),
			    (unsigned long long)in->left, ddio_status_text(status));
		return;
	}
	in->body = true;
	in->iov = sink.iov;
	in->niov = sink.n;
	in->iov_off = 0;
}

static void body_end(struct ddio_conn *c, struct conn_frame *f)
{
	struct conn_in *in = &c->in;

	in->body = false;
	deliver(c, f, in->big ? in->big : in->prefix);
	if (f->gone || !in->big)
		return;
	free(in->big);
	in->big = NULL;
	in->big_cap = 0;
}

static bool no_memory(struct ddio_conn *c, struct conn_frame *f)
{
	conn_reject(c, f, DDIO_ST_NO_MEMORY, "out of memory for a message of %llu bytes",
		    (unsigned long long)c->in.msg.length);
	return false;
}

/* Receives a payload into memory of its own, if the user wants it. */
static bool big_begin(struct ddio_conn *c, struct conn_frame *f)
{
	struct conn_in *in = &c->in;
	bool large = in->msg.length > DDIO_MAX_SMALL;
	int err = large && c->ops->large ? c->ops->large(c->ctx, &in->msg) : 0;
	uint32_t status;

	if (conn_dead(c, f))
		return false;
	if (err < 0) {
		status = ddio_status_from_errno(err);
		conn_reject(c, f, status, "%s of %llu bytes: %s", ddio_opcode_name(in->msg.opcode),
			    (unsigned long long)in->msg.length, ddio_status_text(status));
		return false;
	}
	in->body = true;
	in->left = in->msg.length;
	return big_grow(in) ? no_memory(c, f) : true;
}

/* Takes one step with what is in the buffer.  Returns false if that is too little. */
static bool step(struct ddio_conn *c, struct conn_frame *f)
{
	struct conn_in *in = &c->in;
	const uint8_t *payload;
	size_t need, tail;

	if (in->body) {
		if (body_copy(c))
			return no_memory(c, f);
		if (in->left || in->tail - in->head < sum_len(c))
			return false;
		if (sum_take(c, f))
			body_end(c, f);
		return f->gone || !in->body;
	}
	if (!in->have && (in->tail - in->head < DDIO_WIRE_HEADER_LEN || !header_take(c, f)))
		return false;
	if (ddio_msg_is_bulk(&in->msg)) {
		need = ddio_opcode_bulk_prefix(in->msg.opcode, in->msg.flags & DDIO_WIRE_REPLY);
		if (in->tail - in->head < need)
			return false;
		bulk_begin(c, f, need);
		return true;
	}
	in->narrow = false;
	tail = sum_len(c);
	if (in->msg.length + tail > CONN_RX_CAP)
		return big_begin(c, f);
	if (in->tail - in->head < in->msg.length + tail)
		return false;
	payload = in->buf + in->head;
	sum_add(c, payload, in->msg.length);
	in->head += in->msg.length;
	if (sum_take(c, f))
		deliver(c, f, payload);
	return true;
}

static void parse(struct ddio_conn *c, struct conn_frame *f)
{
	while (!conn_dead(c, f) && !c->paused && step(c, f))
		;
}

/*
 * Reading.  The receive buffer is the reactor's: connections use it in turn, so that memory does not
 * grow with their number.  The connection keeps what is left of a message between two turns, which is
 * nearly always a few bytes.
 */
static bool buffer_borrow(struct ddio_conn *c)
{
	struct conn_in *in = &c->in;
	uint8_t *buf = ddio_env_scratch(c->env, CONN_RX_CAP);
	size_t n = in->tail - in->head;

	if (!buf)
		return false;
	if (n)
		memcpy(buf, in->buf + in->head, n);
	free(in->kept);
	in->kept = NULL;
	in->buf = buf;
	in->head = 0;
	in->tail = n;
	return true;
}

static bool buffer_return(struct ddio_conn *c)
{
	struct conn_in *in = &c->in;
	size_t n = in->tail - in->head;
	bool kept = true;

	if (n) {
		in->kept = malloc(n);
		kept = in->kept;
	}
	if (in->kept)
		memcpy(in->kept, in->buf + in->head, n);
	in->buf = in->kept;
	in->head = 0;
	in->tail = kept ? n : 0;
	return kept;
}

/* The buffer may be used from here until buffer_end(). */
static bool buffer_begin(struct ddio_conn *c, struct conn_frame *f)
{
	if (buffer_borrow(c))
		return true;
	conn_fail(c, f, -ENOMEM, "out of memory for received bytes");
	return false;
}

static void buffer_end(struct ddio_conn *c, struct conn_frame *f)
{
	if (!f->gone && !buffer_return(c) && !conn_dead(c, f))
		conn_fail(c, f, -ENOMEM, "out of memory for received bytes");
}

static void buffer_compact(struct conn_in *in)
{
	if (in->head)
		memmove(in->buf, in->buf + in->head, in->tail - in->head);
	in->tail -= in->head;
	in->head = 0;
}

/* Reads go to the body first, then to the buffer unless the body's end is too far away. */
static int read_places(struct conn_in *in, struct iovec *v, size_t *body, size_t *all)
{
	size_t room = CONN_RX_CAP - in->tail;
	int n = 0;

	*body = 0;
	if (in->body)
		n = body_spans(in, v, CONN_RX_IOV, body);
	*all = *body;
	if (n && *body < in->left)
		return n;
	if (in->narrow && (in->body || !in->have) && room > CONN_RX_NARROW)
		room = CONN_RX_NARROW;
	v[n].iov_base = in->buf + in->tail;
	v[n].iov_len = room;
	*all += room;
	return n + 1;
}

static void read_ended(struct ddio_conn *c, struct conn_frame *f, ssize_t n)
{
	struct conn_in *in = &c->in;

	if (n < 0)
		conn_lost(c, f, (int)n, "");
	else if (c->state != CONN_OPEN)
		conn_fail(c, f, -ECONNRESET, "closed by the peer in the opening exchange");
	else if (in->have || in->head != in->tail)
		conn_fail(c, f, -ECONNRESET, "closed by the peer in the middle of a message");
	else
		conn_fail(c, f, c->out.err, "closed by the peer");
}

/* Returns true if there may be more to read. */
static bool read_some(struct ddio_conn *c, struct conn_frame *f)
{
	struct iovec v[CONN_RX_IOV + 1];
	struct conn_in *in = &c->in;
	size_t body, all, part;
	ssize_t n;
	int nv;

	buffer_compact(in);
	nv = read_places(in, v, &body, &all);
	n = ddio_stream_readv(c->stream, v, nv);
	if (n == -EAGAIN)
		return false;
	if (n <= 0) {
		read_ended(c, f, n);
		return false;
	}
	c->last_rx = ddio_env_now(c->env);
	in->turn += n;
	part = (size_t)n < body ? (size_t)n : body;
	in->tail += n - part;
	sum_add_spans(c, v, part);
	if (part && body_advance(in, part))
		return no_memory(c, f);
	parse(c, f);
	return (size_t)n == all;
}

void conn_in_readable(struct ddio_conn *c, struct conn_frame *f)
{
	bool more = true;

	if (!buffer_begin(c, f))
		return;
	c->in.turn = 0;
	while (more && !conn_dead(c, f) && !c->paused && c->in.turn < CONN_RX_BUDGET)
		more = read_some(c, f);
	buffer_end(c, f);
}

void conn_in_resume(struct ddio_conn *c, struct conn_frame *f)
{
	if (!buffer_begin(c, f))
		return;
	parse(c, f);
	buffer_end(c, f);
}

void ddio_conn_discard(struct ddio_conn *c)
{
	struct conn_in *in = &c->in;

	/* A payload that grows in memory of its own has no sink. */
	if (!in->body || in->big)
		return;
	in->iov = NULL;
	in->niov = 0;
	in->iov_off = 0;
}

void conn_in_free(struct ddio_conn *c)
{
	free(c->in.kept);
	free(c->in.big);
	memset(&c->in, 0, sizeof(c->in));
}
