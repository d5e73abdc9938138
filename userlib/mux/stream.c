// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A stream of a mux, as its user sees it.  It is open; then its user has left it, or the other end has ended it; it is gone when both
 * have.  What has happened makes no event below, so a timer that is due at once calls the user.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mux/priv.h"

static const struct ddio_stream_vtable mux_stream_vt;

/* Calls the user.  Return: false if the stream is gone. */
static bool call(struct mux_stream *s, void (*fn)(void *ctx))
{
	bool gone = false;

	s->gone = &gone;
	fn(s->ctx);
	if (gone)
		return false;
	s->gone = NULL;
	return true;
}

static bool readable(const struct mux_stream *s)
{
	return s->want_read && (s->in.used || s->ended);
}

static bool writable(const struct mux_stream *s)
{
	return s->want_write && (s->ended || (s->room && mux_has_room(s->mux)));
}

void mux_stream_plan(struct mux_stream *s)
{
	bool waits = s->mux && !s->ended && s->want_write && s->room && !mux_has_room(s->mux);

	if (waits && ddio_list_empty(&s->blocked))
		ddio_list_add(&s->blocked, &s->mux->blocked);
	else if (!waits)
		ddio_list_del(&s->blocked);
	if (!s->ops || s->told || ddio_timer_armed(&s->due))
		return;
	if (s->err || readable(s) || writable(s))
		(void)ddio_timer_arm(s->base.env, &s->due, ddio_env_now(s->base.env));
}

static void on_due(void *arg)
{
	struct mux_stream *s = arg;

	if (s->err) {
		s->told = true;
		s->ops->failed(s->ctx, s->err);
		return;
	}
	if (readable(s) && !call(s, s->ops->readable))
		return;
	if (!s->err && writable(s) && !call(s, s->ops->writable))
		return;
	mux_stream_plan(s);
}

struct mux_stream *mux_stream_new(struct ddio_mux *mux, uint32_t id, const char *peer)
{
	size_t len = strlen(peer) + 1;
	struct mux_stream *s = calloc(1, sizeof(*s) + len);

	if (!s)
		return NULL;
	s->base.vt = &mux_stream_vt;
	s->base.env = mux->env;
	s->mux = mux;
	s->id = id;
	s->want_read = true;
	s->room = s->expect = DDIO_MUX_WINDOW;
	s->due.fn = on_due;
	s->due.arg = s;
	ddio_list_init(&s->blocked);
	memcpy(s->peer, peer, len);
	ddio_hash_add(&mux->streams, &s->node, id);
	mux->use.streams++;
	if (mux->use.streams > mux->use.most)
		mux->use.most = mux->use.streams;
	return s;
}

static void drop_input(struct mux_stream *s)
{
	struct ddio_mux *mux = s->mux;

	if (mux)
		mux_holds(mux, -(int64_t)s->in.used);
	if (mux && mux->taking == s) {
		mux->taking = NULL;
		ddio_conn_discard(mux->conn);
	}
	mux_ring_free(&s->in);
}

void mux_stream_free(struct mux_stream *s)
{
	drop_input(s);
	ddio_timer_cancel(s->base.env, &s->due);
	ddio_list_del(&s->blocked);
	if (s->mux) {
		ddio_hash_del(&s->mux->streams, &s->node);
		s->mux->use.streams--;
	}
	free(s->why);
	free(s);
}

void mux_stream_break(struct mux_stream *s, int err, const char *why)
{
	if (s->err || s->left)
		return;
	s->err = err;
	s->why = why ? strdup(why) : NULL;
	drop_input(s);
	mux_stream_plan(s);
}

void mux_stream_consume(struct mux_stream *s, uint32_t len)
{
	struct ddio_msg_mux_window x = { .id = s->id };
	uint8_t raw[16];

	s->owed += len;
	if (s->mux)
		mux_holds(s->mux, -(int64_t)len);
	mux_ring_drop(&s->in, len, s->mux && s->mux->taking == s);
	if (!s->mux || s->ended || s->owed < MUX_GIVE_BACK)
		return;
	x.bytes = s->owed;
	if (mux_say(s->mux, DDIO_OP_MUX_WINDOW, raw,
		    (size_t)ddio_put_mux_window(raw, sizeof(raw), &x))) {
		/* The other end would wait for ever. */
		mux_stream_break(s, -ENOMEM, NULL);
		return;
	}
	s->expect += s->owed;
	s->owed = 0;
}

/*
 * Operations
 */
static void stream_set_ops(struct ddio_stream *stream, const struct ddio_stream_ops *ops, void *ctx)
{
	struct mux_stream *s = mux_stream_of(stream);

	s->ops = ops;
	s->ctx = ctx;
	mux_stream_plan(s);
}

static ssize_t stream_readv(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	struct mux_stream *s = mux_stream_of(stream);
	struct iovec from[2];
	uint32_t got = 0, part;
	size_t done;
	int i;

	if (s->err)
		return s->err;
	if (!s->in.used)
		return s->ended ? 0 : -EAGAIN;
	for (i = 0; i < n; i++) {
		for (done = 0; done < iov[i].iov_len && s->in.used; done += part) {
			if (!mux_ring_look(&s->in, UINT32_MAX, from))
				break;
			part = (uint32_t)(from[0].iov_len < iov[i].iov_len - done
						  ? from[0].iov_len
						  : iov[i].iov_len - done);
			memcpy((uint8_t *)iov[i].iov_base + done, from[0].iov_base, part);
			got += part;
			mux_stream_consume(s, part);
		}
	}
	ddio_env_charge(s->base.env, DDIO_WORK_COPY, got);
	return got;
}

static ssize_t stream_writev(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	struct mux_stream *s = mux_stream_of(stream);
	uint64_t len = 0;
	int i, err;

	if (s->err)
		return s->err;
	if (s->ended)
		return -EPIPE;
	if (!s->room || !mux_has_room(s->mux))
		return -EAGAIN;
	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	if (len > s->room)
		len = s->room;
	if (len > DDIO_MAX_MUX_DATA)
		len = DDIO_MAX_MUX_DATA;
	if (!len)
		return 0;
	err = mux_out_write(s, iov, (uint32_t)len);
	if (err)
		return err;
	s->room -= (uint32_t)len;
	ddio_env_charge(s->base.env, DDIO_WORK_COPY, len);
	return (ssize_t)len;
}

static void stream_want_read(struct ddio_stream *stream, bool want)
{
	struct mux_stream *s = mux_stream_of(stream);

	s->want_read = want;
	mux_stream_plan(s);
}

static void stream_want_write(struct ddio_stream *stream, bool want)
{
	struct mux_stream *s = mux_stream_of(stream);

	s->want_write = want;
	mux_stream_plan(s);
}

static const char *stream_peer(const struct ddio_stream *stream)
{
	return mux_stream_of(stream)->peer;
}

static bool stream_is_loopback(const struct ddio_stream *stream)
{
	return ddio_addr_is_loopback(mux_stream_of(stream)->peer);
}

static const char *stream_why(const struct ddio_stream *stream)
{
	const char *why = mux_stream_of(stream)->why;

	return why ? why : "";
}

/* It stays on the connection's reactor: there is no other place for it. */
static void stream_detach(struct ddio_stream *stream)
{
	struct mux_stream *s = mux_stream_of(stream);

	ddio_timer_cancel(s->base.env, &s->due);
	if (s->gone)
		*s->gone = true;
	s->gone = NULL;
	s->ops = NULL;
}

static int stream_attach(struct ddio_env *env, struct ddio_stream *stream)
{
	return env == stream->env ? 0 : -EXDEV;
}

void ddio_mux_end(struct ddio_stream *stream, int why)
{
	struct mux_stream *s = mux_stream_of(stream);
	struct ddio_msg_mux_end x = { .id = s->id };
	struct ddio_mux *mux = s->mux;
	uint8_t raw[16];

	if (!why)
		why = s->err;
	x.status = why ? ddio_status_from_errno(why) : DDIO_ST_OK;
	stream_detach(stream);
	drop_input(s);
	/* Without memory the other end is never told: it hears when the connection ends. */
	if (mux && !mux_out_flush(mux))
		mux_say(mux, DDIO_OP_MUX_END, raw, (size_t)ddio_put_mux_end(raw, sizeof(raw), &x));
	s->left = true;
	s->want_read = s->want_write = false;
	ddio_list_del(&s->blocked);
	if (!mux || s->ended)
		mux_stream_free(s);
}

static void stream_close(struct ddio_stream *stream)
{
	ddio_mux_end(stream, 0);
}

static const struct ddio_stream_vtable mux_stream_vt = {
	.set_ops = stream_set_ops,
	.readv = stream_readv,
	.writev = stream_writev,
	.want_read = stream_want_read,
	.want_write = stream_want_write,
	.peer = stream_peer,
	.is_loopback = stream_is_loopback,
	.why = stream_why,
	.detach = stream_detach,
	.attach = stream_attach,
	.close = stream_close,
};
