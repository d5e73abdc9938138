// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A stream of TLS on a stream that carries it.  It is first shaking hands, then open, then broken once an error was seen.
 * What OpenSSL has read ahead makes no event below, so a timer that is due at once calls the user for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/crypto.h>
#include "env/tls/priv.h"

static const struct ddio_stream_vtable tls_stream_vt;
static const struct ddio_stream_ops plain_ops;

static struct tls_stream *stream_of(const struct ddio_stream *stream)
{
	return ddio_container_of(stream, struct tls_stream, base);
}

/* Calls the user.  Return: false if the stream is not this reactor's any more, or gone. */
static bool call(struct tls_stream *s, void (*fn)(void *ctx))
{
	bool gone = false;

	s->gone = &gone;
	fn(s->ctx);
	if (gone)
		return false;
	s->gone = NULL;
	return true;
}

static void gone(struct tls_stream *s)
{
	if (s->gone)
		*s->gone = true;
	s->gone = NULL;
	if (s->base.env)
		ddio_timer_cancel(s->base.env, &s->again);
}

/* The user hears one failed() and nothing else. */
static void tell(struct tls_stream *s)
{
	if (s->told || !s->ops)
		return;
	s->told = true;
	ddio_stream_want_read(s->plain, false);
	ddio_stream_want_write(s->plain, false);
	s->ops->failed(s->ctx, s->err);
}

/* Brings the stream below, and the timer, in line with what is wanted. */
static void update(struct tls_stream *s)
{
	struct ddio_env *env = s->base.env;
	bool due;

	if (!s->ops || !env || s->told)
		return;
	due = s->err || (s->open && s->want_read && tls_pending(s));
	if (due && !ddio_timer_armed(&s->again))
		ddio_timer_arm(env, &s->again, ddio_env_now(env));
	if (s->err)
		return;
	ddio_stream_want_read(s->plain, !s->open || s->want_read);
	ddio_stream_want_write(s->plain, s->open ? s->want_write : !s->begun || s->out.buf);
}

static void shake(struct tls_stream *s)
{
	int ret;

	s->begun = true;
	ret = tls_shake(s);
	if (ret < 0) {
		tell(s);
		return;
	}
	s->open = ret;
	update(s);
}

static void on_readable(void *ctx)
{
	struct tls_stream *s = ctx;

	if (s->err)
		return;
	if (!s->open)
		shake(s);
	else if (!s->want_read || call(s, s->ops->readable))
		update(s);
}

static void on_writable(void *ctx)
{
	struct tls_stream *s = ctx;

	if (s->err)
		return;
	if (!s->open)
		shake(s);
	else if (!s->want_write || call(s, s->ops->writable))
		update(s);
}

static void on_failed(void *ctx, int err)
{
	struct tls_stream *s = ctx;

	if (!s->err)
		s->err = err;
	tell(s);
}

static const struct ddio_stream_ops plain_ops = {
	.readable = on_readable,
	.writable = on_writable,
	.failed = on_failed,
};

static void on_again(void *arg)
{
	struct tls_stream *s = arg;

	if (s->err)
		tell(s);
	else if (!s->want_read || call(s, s->ops->readable))
		update(s);
}

/*
 * Operations
 */
static void tls_set_ops(struct ddio_stream *stream, const struct ddio_stream_ops *ops, void *ctx)
{
	struct tls_stream *s = stream_of(stream);
	bool first = !s->ops;

	s->ops = ops;
	s->ctx = ctx;
	if (first)
		ddio_stream_set_ops(s->plain, &plain_ops, s);
	update(s);
}

static ssize_t tls_readv(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	struct tls_stream *s = stream_of(stream);
	ssize_t got;

	if (s->err || !s->open)
		return s->err ? s->err : -EAGAIN;
	got = tls_get(s, iov, n);
	update(s);
	return got;
}

static ssize_t tls_writev(struct ddio_stream *stream, const struct iovec *iov, int n)
{
	struct tls_stream *s = stream_of(stream);
	ssize_t put;

	if (s->err || !s->open)
		return s->err ? s->err : -EAGAIN;
	put = tls_put(s, iov, n);
	if (s->err)
		update(s);
	return put;
}

static void tls_want_read(struct ddio_stream *stream, bool want)
{
	struct tls_stream *s = stream_of(stream);

	s->want_read = want;
	update(s);
}

static void tls_want_write(struct ddio_stream *stream, bool want)
{
	struct tls_stream *s = stream_of(stream);

	s->want_write = want;
	update(s);
}

static const char *tls_peer(const struct ddio_stream *stream)
{
	return ddio_stream_peer(stream_of(stream)->plain);
}

static const char *tls_local(struct ddio_stream *stream)
{
	return ddio_stream_local(stream_of(stream)->plain);
}

static bool tls_is_loopback(const struct ddio_stream *stream)
{
	return ddio_stream_is_loopback(stream_of(stream)->plain);
}

static const char *tls_why(const struct ddio_stream *stream)
{
	const struct tls_stream *s = stream_of(stream);

	return s->why[0] ? s->why : ddio_stream_why(s->plain);
}

static bool tls_binding(const struct ddio_stream *stream, void *secret, size_t len)
{
	struct tls_errors *own;
	static const char label[] = "EXPORTER-ddio-opening";
	struct tls_stream *s = stream_of(stream);
	bool ok;

	if (!s->open || !tls_enter(&own))
		return false;
	ok = SSL_export_keying_material(s->ssl, secret, len, label, sizeof(label) - 1, NULL, 0,
					0) == 1;
	tls_leave(own);
	return ok;
}

static void tls_detach(struct ddio_stream *stream)
{
	struct tls_stream *s = stream_of(stream);

	gone(s);
	ddio_stream_detach(s->plain);
	s->ops = NULL;
}

static int tls_attach(struct ddio_env *env, struct ddio_stream *stream)
{
	return ddio_stream_attach(env, stream_of(stream)->plain);
}

static void stream_free(struct tls_stream *s)
{
	struct tls_errors *own;

	if (tls_enter(&own)) {
		SSL_free(s->ssl);
		tls_leave(own);
	}
	tls_out_free(s);
	OPENSSL_cleanse(&s->kernel, sizeof(s->kernel));
	free(s);
}

static void tls_close(struct ddio_stream *stream)
{
	struct tls_stream *s = stream_of(stream);

	gone(s);
	ddio_stream_close(s->plain);
	stream_free(s);
}

static const struct ddio_stream_vtable tls_stream_vt = {
	.set_ops = tls_set_ops,
	.readv = tls_readv,
	.writev = tls_writev,
	.want_read = tls_want_read,
	.want_write = tls_want_write,
	.peer = tls_peer,
	.local = tls_local,
	.is_loopback = tls_is_loopback,
	.why = tls_why,
	.binding = tls_binding,
	.detach = tls_detach,
	.attach = tls_attach,
	.close = tls_close,
};

static struct tls_stream *stream_new(struct ddio_tls *tls, struct ddio_env *env, bool acceptor)
{
	struct tls_errors *own;
	struct tls_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->base.vt = &tls_stream_vt;
	s->base.env = env;
	s->tls = tls;
	s->acceptor = s->begun = acceptor;
	s->want_read = true;
	s->again.fn = on_again;
	s->again.arg = s;
	if (tls_enter(&own)) {
		s->ssl = tls_ssl_new(s);
		tls_leave(own);
	}
	if (s->ssl)
		return s;
	free(s);
	return NULL;
}

int ddio_tls_connect(struct ddio_tls *tls, struct ddio_env *env, const char *addr,
		     const struct ddio_stream_ops *ops, void *ctx, struct ddio_stream **stream)
{
	struct tls_stream *s = stream_new(tls, env, false);
	int ret;

	if (!s)
		return -ENOMEM;
	s->ops = ops;
	s->ctx = ctx;
	ret = ddio_stream_connect(env, addr, &plain_ops, s, &s->plain);
	if (ret) {
		stream_free(s);
		return ret;
	}
	update(s);
	*stream = &s->base;
	return 0;
}

/* Makes a stream of one that is there. */
static int stream_over(struct ddio_tls *tls, struct ddio_stream *plain, bool acceptor,
		       struct ddio_stream **stream)
{
	struct tls_stream *s = stream_new(tls, plain->env, acceptor);

	if (!s) {
		ddio_stream_close(plain);
		return -ENOMEM;
	}
	s->plain = plain;
	*stream = &s->base;
	return 0;
}

int ddio_tls_accept(struct ddio_tls *tls, struct ddio_stream *plain, struct ddio_stream **stream)
{
	return stream_over(tls, plain, true, stream);
}

int ddio_tls_begin(struct ddio_tls *tls, struct ddio_stream *plain, struct ddio_stream **stream)
{
	return stream_over(tls, plain, false, stream);
}
