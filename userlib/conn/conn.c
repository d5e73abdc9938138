// SPDX-License-Identifier: LGPL-2.1-or-later
/* A connection from its making to its freeing: calls from the loop, and calls of its user. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conn/conn_priv.h"
#include "env/lines.h"

/*
 * Entry and exit.  Not inlined: gcc 12 would take c->frame for a dangling pointer then, though a frame
 * that is gone does not touch it.
 */
__attribute__((noinline)) static void conn_enter(struct ddio_conn *c, struct conn_frame *f)
{
	f->gone = false;
	f->up = c->frame;
	c->frame = f;
}

static void conn_free(struct ddio_conn *c)
{
	conn_in_free(c);
	conn_out_free(c);
	conn_opening_free(c);
	conn_memory_free(c);
	free(c->why);
	free(c);
}

/* Frees a zombie as soon as no entry is on the stack and no post is due. */
static void conn_bury(struct ddio_conn *c)
{
	if (c->zombie && !c->frame && !c->posted)
		conn_free(c);
}

static void conn_leave(struct ddio_conn *c, struct conn_frame *f)
{
	if (f->gone)
		return;
	c->frame = f->up;
	conn_bury(c);
}

/*
 * Calls from the loop
 */

/* The peer is gone, but what it sent before may still be read for a moment. */
static void conn_write_failed(struct ddio_conn *c, struct conn_frame *f)
{
	if (c->state == CONN_OPEN &&
	    (ddio_timer_armed(&c->timer) || !conn_start_timer(c, CONN_LAST_WORDS_NS)))
		return;
	conn_fail(c, f, c->out.err, "%s", strerror(-c->out.err));
}

static void conn_output(struct ddio_conn *c, struct conn_frame *f)
{
	if (c->state == CONN_ENDING) {
		conn_try_end(c, f);
		return;
	}
	conn_out_flush(c);
	if (c->state == CONN_FLUSHING) {
		if (c->out.err || !c->out.queued)
			ddio_conn_close(c, false);
		return;
	}
	if (c->out.err)
		conn_write_failed(c, f);
	if (!conn_dead(c, f))
		conn_out_tell(c, f);
}

static void on_readable(void *ctx)
{
	struct ddio_conn *c = ctx;
	struct conn_frame f;

	conn_enter(c, &f);
	if (c->state == CONN_CONNECTING)
		conn_opening_connected(c, &f);
	conn_in_readable(c, &f);
	conn_leave(c, &f);
}

static void on_writable(void *ctx)
{
	struct ddio_conn *c = ctx;
	struct conn_frame f;

	conn_enter(c, &f);
	if (c->state == CONN_CONNECTING)
		conn_opening_connected(c, &f);
	else
		conn_output(c, &f);
	conn_leave(c, &f);
}

static void on_failed(void *ctx, int err)
{
	struct ddio_conn *c = ctx;
	struct conn_frame f;

	conn_enter(c, &f);
	if (c->state == CONN_FLUSHING)
		ddio_conn_close(c, false);
	else if (c->state == CONN_ENDING)
		conn_ended(c, &f);
	else
		conn_lost(c, &f, err, c->state == CONN_CONNECTING ? "cannot connect: " : "");
	conn_leave(c, &f);
}

static const struct ddio_stream_ops stream_ops = {
	.readable = on_readable,
	.writable = on_writable,
	.failed = on_failed,
};

static void on_timer(void *arg)
{
	struct ddio_conn *c = arg;
	struct conn_frame f;

	conn_enter(c, &f);
	if (c->state == CONN_FLUSHING) {
		ddio_conn_close(c, false);
	} else if (c->state == CONN_ENDING) {
		conn_ended(c, &f);
	} else if (c->state == CONN_OPEN) {
		conn_fail(c, &f, c->out.err, "%s", strerror(-c->out.err));
	} else {
		ddio_env_log_caused(c->env, DDIO_LOG_WARN, "%s: the opening exchange took too long",
				    c->peer);
		conn_fail(c, &f, -ETIMEDOUT, "the opening exchange took too long");
	}
	conn_leave(c, &f);
}

static void on_post(void *arg)
{
	struct ddio_conn *c = arg;
	struct conn_frame f;

	c->posted = false;
	conn_enter(c, &f);
	if (!c->zombie && c->state != CONN_CLOSED)
		conn_output(c, &f);
	if (!conn_dead(c, &f) && !c->paused && conn_in_pending(c))
		conn_in_resume(c, &f);
	conn_leave(c, &f);
}

/*
 * Making a connection
 */
static struct ddio_conn *conn_new(struct ddio_env *env, const char *peer,
				  const struct ddio_conn_opts *opts,
				  const struct ddio_conn_ops *ops, void *ctx)
{
	size_t len = strnlen(peer, DDIO_MAX_ADDR - 1);
	struct ddio_conn *c = calloc(1, sizeof(*c) + len + 1);
	struct conn_opening *o = calloc(1, sizeof(*o));

	if (!c || !o) {
		free(c);
		free(o);
		return NULL;
	}
	memcpy(c->peer, peer, len);
	c->env = env;
	c->ops = ops;
	c->ctx = ctx;
	c->version = DDIO_WIRE_VERSION;
	c->opening = o;
	c->timer.fn = on_timer;
	c->timer.arg = c;
	c->post.fn = on_post;
	c->post.arg = c;
	o->bound_ns = opts && opts->handshake_ns ? opts->handshake_ns : CONN_OPENING_NS;
	c->tls = opts && opts->tls;
	o->offered = DDIO_OPTION_SUMS;
	o->features = DDIO_WIRE_FEATURES;
	if (opts) {
		if (opts->unsummed || opts->tls)
			o->offered = 0;
		o->offered |= opts->memory && !opts->tls ? DDIO_OPTION_MEMORY : 0;
		o->offered |= opts->users ? DDIO_OPTION_USERS : 0;
		o->features ^= opts->differs;
		o->key = opts->key;
		o->cluster = opts->cluster;
	}
	return c;
}

static int conn_fill_hello(struct ddio_conn *c, const struct ddio_msg_hello *hello)
{
	struct conn_opening *o = c->opening;
	struct ddio_msg_hello full = *hello;
	uint8_t raw[CONN_HELLO_MAX];

	full.min_version = DDIO_WIRE_MIN_VERSION;
	full.max_version = DDIO_WIRE_VERSION;
	full.options = o->offered;
	full.features = o->features;
	ddio_env_random(c->env, full.nonce, sizeof(full.nonce));
	snprintf(full.cluster, sizeof(full.cluster), "%s", o->cluster ? o->cluster : "");
	return conn_opening_keep_hello(o, raw, ddio_put_hello(raw, sizeof(raw), &full));
}

/* Makes the stream of a connector, or takes the one that it has. */
static int conn_dial(struct ddio_conn *c, const char *addr, const struct ddio_conn_opts *opts,
		     struct ddio_stream *stream)
{
	struct ddio_tls *tls = opts ? opts->tls : NULL;
	int err;

	if (!stream)
		return tls ? ddio_tls_connect(tls, c->env, addr, &stream_ops, c, &c->stream)
			   : ddio_stream_connect(c->env, addr, &stream_ops, c, &c->stream);
	err = tls ? ddio_tls_begin(tls, stream, &stream) : 0;
	if (err)
		return err;
	c->stream = stream;
	ddio_stream_set_ops(stream, &stream_ops, c);
	return 0;
}

int ddio_conn_connect_by(struct ddio_env *env, struct ddio_stream *stream, const char *addr,
			 const struct ddio_msg_hello *hello, const struct ddio_conn_opts *opts,
			 const struct ddio_conn_ops *ops, void *ctx, struct ddio_conn **conn)
{
	struct ddio_conn *c = conn_new(env, addr, opts, ops, ctx);
	int err = -ENOMEM;

	if (!c)
		goto close_stream;
	c->state = CONN_CONNECTING;
	c->memory = MEMORY_LATER;
	err = conn_fill_hello(c, hello);
	if (!err)
		err = conn_start_timer(c, c->opening->bound_ns);
	if (err)
		goto free_conn;
	err = conn_dial(c, addr, opts, stream);
	stream = NULL;
	if (err)
		goto stop_timer;
	c->out.blocked = true;
	ddio_stream_want_write(c->stream, true);
	*conn = c;
	return 0;

stop_timer:
	conn_stop_timer(c);
free_conn:
	conn_free(c);
close_stream:
	if (stream)
		ddio_stream_close(stream);
	return err;
}

int ddio_conn_connect(struct ddio_env *env, const char *addr, const struct ddio_msg_hello *hello,
		      const struct ddio_conn_opts *opts, const struct ddio_conn_ops *ops, void *ctx,
		      struct ddio_conn **conn)
{
	return ddio_conn_connect_by(env, NULL, addr, hello, opts, ops, ctx, conn);
}

int ddio_conn_accept(struct ddio_env *env, struct ddio_stream *stream,
		     const struct ddio_conn_opts *opts, const struct ddio_conn_ops *ops, void *ctx,
		     struct ddio_conn **conn)
{
	struct ddio_conn *c = NULL;
	int err = opts && opts->tls ? ddio_tls_accept(opts->tls, stream, &stream) : 0;

	if (err)
		return err;
	c = conn_new(env, ddio_stream_peer(stream), opts, ops, ctx);
	err = -ENOMEM;
	if (!c)
		goto close_stream;
	c->state = CONN_WAIT_HELLO;
	if (opts && opts->near_unsummed && ddio_stream_is_loopback(stream))
		c->opening->offered &= ~DDIO_OPTION_SUMS;
	err = conn_start_timer(c, c->opening->bound_ns);
	if (err)
		goto free_conn;
	c->stream = stream;
	ddio_stream_set_ops(stream, &stream_ops, c);
	*conn = c;
	return 0;

free_conn:
	conn_free(c);
close_stream:
	ddio_stream_close(stream);
	return err;
}

void ddio_conn_refuse(struct ddio_conn *c, uint32_t status, const char *text)
{
	char clean[DDIO_MAX_TEXT];

	if (c->state >= CONN_ENDING)
		return;
	snprintf(clean, sizeof(clean), "%s", text);
	conn_clean_text(clean);
	ddio_env_log_caused(c->env, DDIO_LOG_WARN, "refused %s: %s", c->peer, clean);
	conn_begin_end(c, status, clean);
	conn_post(c);
}

void ddio_conn_set_ops(struct ddio_conn *c, const struct ddio_conn_ops *ops, void *ctx)
{
	c->ops = ops;
	c->ctx = ctx;
}

void ddio_conn_detach(struct ddio_conn *c)
{
	struct conn_frame *f;

	conn_stop_timer(c);
	ddio_stream_detach(c->stream);
	for (f = c->frame; f; f = f->up)
		f->gone = true;
	c->frame = NULL;
	c->env = NULL;
}

int ddio_conn_attach(struct ddio_env *env, struct ddio_conn *c, const struct ddio_conn_ops *ops,
		     void *ctx)
{
	int err = ddio_stream_attach(env, c->stream);

	if (err)
		return err;
	c->env = env;
	c->ops = ops;
	c->ctx = ctx;
	err = c->opening ? conn_start_timer(c, c->opening->bound_ns) : 0;
	ddio_stream_set_ops(c->stream, &stream_ops, c);
	return err;
}

/*
 * Using a connection
 */
static int send_msg(struct ddio_conn *c, const struct ddio_msg *msg, const void *fixed,
		    size_t fixed_len, const struct iovec *iov, int n, struct ddio_send *send,
		    const uint32_t *bulk)
{
	struct ddio_msg full = *msg;
	int i, err;

	if (c->state != CONN_OPEN || c->out.err)
		return -ENOTCONN;
	full.version = c->version;
	full.length = fixed_len;
	for (i = 0; i < n; i++)
		full.length += iov[i].iov_len;
	err = ddio_msg_check(&full);
	if (!err && full.opcode <= DDIO_OP_REFUSE)
		err = -EPROTO;
	if (!err)
		err = conn_out_push(c, &full, fixed, fixed_len, iov, n, send, bulk);
	if (err)
		return err;
	if (!conn_charged_elsewhere(full.opcode))
		ddio_env_charge(c->env, DDIO_WORK_MSG_SEND, 1);
	if (c->memory == MEMORY_LATER && ++c->said == CONN_MEMORY_AFTER)
		conn_memory_ask(c);
	if (c->out.blocked)
		return 0; /* writable() will come */
	if (c->out.queued >= CONN_TX_NOW)
		conn_out_flush(c);
	conn_post(c);
	return 0;
}

int ddio_conn_send(struct ddio_conn *c, const struct ddio_msg *msg, const void *fixed,
		   size_t fixed_len, const struct iovec *iov, int n, struct ddio_send *send)
{
	return send_msg(c, msg, fixed, fixed_len, iov, n, send, NULL);
}

int ddio_conn_send_summed(struct ddio_conn *c, const struct ddio_msg *msg, const void *fixed,
			  size_t fixed_len, const struct iovec *iov, int n, struct ddio_send *send,
			  uint32_t sum)
{
	return send_msg(c, msg, fixed, fixed_len, iov, n, send, &sum);
}

int ddio_conn_reply(struct ddio_conn *c, const struct ddio_msg *request, uint32_t status,
		    const void *fixed, size_t fixed_len)
{
	struct ddio_msg msg = {
		.opcode = request->opcode,
		.flags = DDIO_WIRE_REPLY,
		.status = status,
		.tag = request->tag,
	};

	if (status != DDIO_ST_OK && fixed_len >= DDIO_MAX_TEXT)
		fixed_len = DDIO_MAX_TEXT - 1;
	return ddio_conn_send(c, &msg, fixed, fixed_len, NULL, 0, NULL);
}

void ddio_conn_pause(struct ddio_conn *c, bool pause)
{
	if (c->paused == pause || c->state >= CONN_ENDING)
		return;
	c->paused = pause;
	ddio_stream_want_read(c->stream, !pause);
	/* Inside a callback the loop over the buffer usually goes on by itself, but it may have ended. */
	if (!pause && c->state == CONN_OPEN && conn_in_pending(c))
		conn_post(c);
}

size_t ddio_conn_queued(const struct ddio_conn *c)
{
	return c->out.queued;
}

uint32_t conn_features(const struct ddio_conn *c)
{
	return c->features;
}

bool ddio_conn_users(const struct ddio_conn *c)
{
	return c->options & DDIO_OPTION_USERS;
}

const uint8_t *ddio_conn_tie(const struct ddio_conn *c)
{
	return c->tie;
}

size_t ddio_conn_copied(const struct ddio_conn *c)
{
	return c->out.copied;
}

uint64_t ddio_conn_last_rx(const struct ddio_conn *c)
{
	return c->last_rx;
}

uint64_t ddio_conn_receiving(const struct ddio_conn *c)
{
	return c->in.have ? c->in.since : 0;
}

uint64_t ddio_conn_last_tx(const struct ddio_conn *c)
{
	return c->last_tx;
}

const char *ddio_conn_peer(const struct ddio_conn *c)
{
	return c->peer;
}

enum conn_way ddio_conn_way(const struct ddio_conn *c)
{
	return c->out.moved ? CONN_MEMORY : c->tls ? CONN_TLS : CONN_TCP;
}

const char *ddio_conn_local(const struct ddio_conn *c)
{
	return c->stream ? ddio_stream_local(c->stream) : "";
}

/* Returns true if the rest of the queue will be written without the user. */
static bool conn_flush_on(struct ddio_conn *c)
{
	if (c->state != CONN_OPEN && c->state != CONN_ENDING)
		return false;
	c->state = CONN_FLUSHING;
	conn_out_disown(c);
	conn_out_flush(c);
	if (!c->out.queued || c->out.err)
		return false;
	conn_stop_timer(c);
	if (conn_start_timer(c, CONN_LAST_WORDS_NS))
		return false;
	ddio_stream_want_read(c->stream, false);
	return true;
}

void ddio_conn_close(struct ddio_conn *c, bool flush)
{
	if (c->zombie || (flush && conn_flush_on(c)))
		return;
	c->state = CONN_CLOSED;
	c->zombie = true;
	if (c->env)
		conn_stop_timer(c);
	conn_drop_stream(c);
	conn_out_cancel(c, -ECANCELED);
	conn_bury(c);
}
