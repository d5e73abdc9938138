// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bytes in and out.  Several records are made and then written at once; what they carry counts as written when all of them
 * have left, so that nothing is left behind when the user has no more to write or closes.  Until then the user offers the
 * same bytes again, as after any short write.
 */
#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "env/tls/priv.h"

#define RECORD_HANDSHAKE 22
#define RECORD_ALERT 21
/* Records without data that are taken in one turn. */
#define EMPTY_RECORDS 16

/* What goes out */

static int out_reserve(struct tls_stream *s)
{
	size_t len;

	if (s->out.buf)
		return 0;
	s->out.buf = ddio_env_spare_get(s->base.env, ENV_SPARE_RECORDS, TLS_BATCH, &len);
	if (!s->out.buf)
		s->out.buf = malloc(TLS_BATCH);
	s->out.head = s->out.tail = 0;
	return s->out.buf ? 0 : -ENOMEM;
}

int tls_bio_write(struct tls_stream *s, const char *buf, int len)
{
	if (len < 0 || out_reserve(s) || TLS_BATCH - s->out.tail < (size_t)len)
		return -1;
	memcpy(s->out.buf + s->out.tail, buf, (size_t)len);
	s->out.tail += (size_t)len;
	return len;
}

void tls_out_free(struct tls_stream *s)
{
	if (s->out.buf && s->base.env)
		ddio_env_spare_put(s->base.env, ENV_SPARE_RECORDS, s->out.buf, TLS_BATCH);
	else
		free(s->out.buf);
	s->out.buf = NULL;
	s->out.head = s->out.tail = 0;
}

/* Writes what is there.  Return: 0 if all of it has left, -EAGAIN, or another -errno. */
static int out_flush(struct tls_stream *s)
{
	struct iovec v;
	ssize_t n;

	while (s->out.buf && s->out.head < s->out.tail) {
		v.iov_base = s->out.buf + s->out.head;
		v.iov_len = s->out.tail - s->out.head;
		n = ddio_stream_writev(s->plain, &v, 1);
		if (n < 0)
			return (int)n;
		if (!n)
			return -EAGAIN;
		s->out.head += (size_t)n;
	}
	tls_out_free(s);
	return 0;
}

/**
 * struct tls_place - a place in the user's bytes
 * @off: in the first of @n
 */
struct tls_place {
	const struct iovec *iov;
	int n;
	size_t off;
};

static void place_move(struct tls_place *at, size_t len)
{
	size_t part;

	while (at->n) {
		part = at->iov->iov_len - at->off;
		if (len < part) {
			at->off += len;
			return;
		}
		len -= part;
		at->iov++;
		at->n--;
		at->off = 0;
	}
	bug_on(len, "a stream: %zu bytes that were to be written again are not there", len);
}

/* Finds what the next record carries, and copies it to @copy unless it is in one place.  Return: its bytes. */
static size_t piece(const struct tls_place *from, uint8_t *copy, const uint8_t **data)
{
	struct tls_place at = *from;
	size_t len = 0, part;

	*data = at.n ? (uint8_t *)at.iov->iov_base + at.off : NULL;
	if (at.n && (at.n == 1 || at.iov->iov_len - at.off >= TLS_PIECE)) {
		part = at.iov->iov_len - at.off;
		return part < TLS_PIECE ? part : TLS_PIECE;
	}
	*data = copy;
	while (at.n && len < TLS_PIECE) {
		part = at.iov->iov_len - at.off;
		part = part < TLS_PIECE - len ? part : TLS_PIECE - len;
		memcpy(copy + len, (uint8_t *)at.iov->iov_base + at.off, part);
		len += part;
		place_move(&at, part);
	}
	return len;
}

static int record_put(struct tls_stream *s, const uint8_t *data, size_t len)
{
	size_t put = 0;

	if (s->records++ >= s->tls->limit) {
		if (SSL_key_update(s->ssl, SSL_KEY_UPDATE_NOT_REQUESTED) != 1)
			return tls_fail(s, -ECONNRESET,
					"the key of the connection cannot be replaced");
		s->records = 1;
		s->replaced++;
	}
	if (SSL_write_ex(s->ssl, data, len, &put) == 1 && put == len)
		return 0;
	return tls_fail(s, -ECONNRESET, "a record cannot be made");
}

/* Makes records of the user's bytes until the batch is full. */
static int out_fill(struct tls_stream *s, struct tls_place *at)
{
	uint8_t copy[TLS_PIECE];
	const uint8_t *data;
	size_t len;
	int err = out_reserve(s);

	_Static_assert(4 * (TLS_PIECE + TLS_FRAME) + TLS_KEY_UPDATE <= TLS_BATCH, "four records");
	while (!err && TLS_BATCH - s->out.tail >= TLS_PIECE + TLS_FRAME + TLS_KEY_UPDATE) {
		len = piece(at, copy, &data);
		if (!len)
			break;
		err = record_put(s, data, len);
		if (err)
			break;
		s->out.owed += len;
		place_move(at, len);
	}
	return err;
}

static ssize_t put(struct tls_stream *s, const struct iovec *iov, int n)
{
	struct tls_place at = { iov, n, 0 };
	size_t done = 0;
	bool behind = true; /* @at stands before what is owed */
	int err = 0;

	do {
		err = out_flush(s);
		if (err)
			break;
		if (behind)
			place_move(&at, s->out.owed);
		behind = false;
		done += s->out.owed;
		s->out.owed = 0;
		err = out_fill(s, &at);
	} while (!err && s->out.owed);
	if (!err)
		tls_out_free(s);
	return done ? (ssize_t)done : err;
}

/* What comes in */

/* A connection that begins otherwise is none of TLS. */
static bool begins_well(const struct tls_stream *s, uint8_t first)
{
	return first == RECORD_HANDSHAKE || (!s->acceptor && first == RECORD_ALERT);
}

int tls_bio_read(struct tls_stream *s, char *buf, int len, bool *again)
{
	struct iovec v = { buf, len > 0 ? (size_t)len : 0 };
	ssize_t n = s->alien ? -EPROTO : ddio_stream_readv(s->plain, &v, 1);

	s->starved = n == -EAGAIN;
	s->ended = !n;
	*again = s->starved;
	if (n < 0 && !s->starved)
		s->plain_err = (int)n;
	if (n > 0 && !s->heard) {
		s->heard = true;
		s->alien = !begins_well(s, *(uint8_t *)buf);
	}
	return n < 0 || s->alien ? -1 : (int)n;
}

/* Whether OpenSSL has only to be called again; SSL_get_error() would look at errors that are none of its own. */
static bool waits(const struct tls_stream *s)
{
	return SSL_want_read(s->ssl) && BIO_should_retry(SSL_get_rbio(s->ssl));
}

/* What it means that OpenSSL could not go on: -EAGAIN, 0 at the end, or that the stream is over. */
static int stuck(struct tls_stream *s)
{
	if (waits(s))
		return -EAGAIN;
	if (s->plain_err && !s->alien)
		return s->err = s->plain_err;
	if (s->ended)
		return 0;
	if (SSL_get_shutdown(s->ssl) & SSL_RECEIVED_SHUTDOWN)
		return tls_fail(s, -ECONNRESET, "the peer has given up the connection");
	out_flush(s); /* says why, if it can */
	return tls_fail(s, -ECONNRESET, tls_bad_record);
}

/* Return: bytes, 0 at the end, or -errno. */
static ssize_t get(struct tls_stream *s, void *buf, size_t len)
{
	size_t got;
	int i, err = -EAGAIN;

	for (i = 0; i < EMPTY_RECORDS && err == -EAGAIN; i++) {
		if (SSL_read_ex(s->ssl, buf, len, &got) == 1)
			return (ssize_t)got;
		err = stuck(s);
		if (s->starved)
			break;
	}
	return err;
}

static ssize_t get_all(struct tls_stream *s, const struct iovec *iov, int n)
{
	size_t off, done = 0;
	ssize_t got;
	int i;

	for (i = 0; i < n; i++)
		for (off = 0; off < iov[i].iov_len; off += (size_t)got) {
			got = get(s, (uint8_t *)iov[i].iov_base + off, iov[i].iov_len - off);
			if (got <= 0)
				return done ? (ssize_t)done : got;
			done += (size_t)got;
		}
	return (ssize_t)done;
}

bool tls_pending(const struct tls_stream *s)
{
	return !s->kernel.on && !s->starved && SSL_has_pending(s->ssl);
}

/* The handshake */

static int shake_failed(struct tls_stream *s)
{
	static const char refused[] =
		"the node refuses the connector's key: it is none of the node's";
	struct iovec v = { s->tls->answer, s->tls->answer_len };
	unsigned long code = ERR_peek_last_error();

	if (s->alien) {
		if (s->acceptor && v.iov_len)
			ddio_stream_writev(s->plain, &v, 1);
		return tls_fail(
			s, -EPROTONOSUPPORT,
			s->acceptor
				? "the connector does not speak TLS, and the node speaks nothing else "
				  "(security = tls)"
				: "the node does not speak TLS, and the connector speaks nothing else "
				  "(security = tls)");
	}
	if (s->plain_err || s->ended)
		return s->err = s->plain_err ? s->plain_err : -ECONNRESET;
	out_flush(s);
	if (s->unknown)
		return tls_fail(s, -EKEYREJECTED, "the connector's key is none of the node's");
	if (ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET)
		return tls_fail(s, -EKEYREJECTED,
				s->acceptor ? "the connector has given up the handshake of TLS"
					    : refused);
	tls_fail(s, -EKEYREJECTED, "");
	snprintf(s->why, sizeof(s->why), "the handshake of TLS has failed: %s",
		 ERR_reason_error_string(code) ? ERR_reason_error_string(code) : "no reason given");
	return s->err;
}

static int shake(struct tls_stream *s)
{
	bool over = SSL_is_init_finished(s->ssl);
	int err;

	if (!over && SSL_do_handshake(s->ssl) == 1)
		over = true;
	else if (!over && !waits(s))
		return shake_failed(s);
	err = out_flush(s);
	if (err && err != -EAGAIN)
		return s->err = err;
	if (err || !over)
		return 0;
	/* Only who has the secret can have gone on with it. */
	if (!SSL_session_reused(s->ssl))
		return tls_fail(s, -EKEYREJECTED, "the peer has not shown that it has the key");
	SSL_set_read_ahead(s->ssl, 1);
	err = tls_kernel_begin(s);
	return err ? err : 1;
}

int tls_shake(struct tls_stream *s)
{
	struct tls_errors *own;
	int ret;

	if (!tls_enter(&own))
		return s->err = -ESHUTDOWN;
	ret = shake(s);
	tls_leave(own);
	return ret;
}

ssize_t tls_get(struct tls_stream *s, const struct iovec *iov, int n)
{
	struct tls_errors *own;
	ssize_t ret;

	if (!tls_enter(&own))
		return s->err = -ESHUTDOWN;
	ret = s->kernel.on ? tls_kernel_get(s, iov, n) : get_all(s, iov, n);
	tls_leave(own);
	return ret;
}

ssize_t tls_put(struct tls_stream *s, const struct iovec *iov, int n)
{
	struct tls_errors *own;
	ssize_t ret;

	if (!tls_enter(&own))
		return s->err = -ESHUTDOWN;
	ret = s->kernel.on ? tls_kernel_put(s, iov, n) : put(s, iov, n);
	tls_leave(own);
	return ret;
}
