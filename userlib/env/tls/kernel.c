// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bytes where the kernel makes the records: once OpenSSL has done the handshake, the kernel of each end that can gets the keys, and
 * only keys that are replaced are left to do here.  The other end cannot tell.
 */
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include "env/tls/priv.h"

#define RECORD_ALERT 21
#define RECORD_HANDSHAKE 22
#define KEY_UPDATE 24 /* a message of the handshake, RFC 8446, 4.6.3 */
/* Records without data that are taken in one turn. */
#define SPECIAL_RECORDS 16
/* The kernel makes records of 16 KB, and smaller ones of data in many pieces: how small they are at least, so that none is missed. */
#define RECORD_LEAST 256u

static const uint8_t key_update[] = { KEY_UPDATE, 0, 0, 1, 0 };

bool tls_expand(OSSL_LIB_CTX *lib, const uint8_t secret[TLS_TRAFFIC], const char *label,
		uint8_t *out, size_t len)
{
	uint8_t info[32], all[TLS_TRAFFIC];
	size_t n, got = 0;
	bool ok;

	/* HKDF-Expand-Label of RFC 8446, 7.1, of no more than one hash: length, label, no context, and the first block's number. */
	n = (size_t)snprintf((char *)info + 3, sizeof(info) - 5, "tls13 %s", label);
	info[0] = 0;
	info[1] = (uint8_t)len;
	info[2] = (uint8_t)n;
	info[3 + n] = 0;
	info[4 + n] = 1;
	ok = EVP_Q_mac(lib, "HMAC", NULL, "SHA256", NULL, secret, TLS_TRAFFIC, info, n + 5, all,
		       sizeof(all), &got) &&
	     got == sizeof(all);
	if (ok)
		memcpy(out, all, len);
	OPENSSL_cleanse(all, sizeof(all));
	return ok;
}

bool tls_record_key(OSSL_LIB_CTX *lib, const uint8_t secret[TLS_TRAFFIC],
		    struct env_record_key *key)
{
	return tls_expand(lib, secret, "key", key->key, sizeof(key->key)) &&
	       tls_expand(lib, secret, "iv", key->iv, sizeof(key->iv));
}

static int seal(struct tls_stream *s, bool out)
{
	struct env_record_key key;
	int err = -EKEYREJECTED;

	if (tls_record_key(s->tls->lib, s->kernel.secret[out], &key))
		err = s->plain->vt->seal(s->plain, out, &key);
	OPENSSL_cleanse(&key, sizeof(key));
	return err;
}

/* The key that follows the present one. */
static int reseal(struct tls_stream *s, bool out)
{
	uint8_t *secret = s->kernel.secret[out];

	if (!tls_expand(s->tls->lib, secret, "traffic upd", secret, TLS_TRAFFIC))
		return -EKEYREJECTED;
	return seal(s, out);
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes the secret from a line "LABEL RANDOM SECRET", which OpenSSL says of each that it makes. */
void tls_kernel_learn(struct tls_stream *s, const char *line)
{
	static const char *const labels[] = { "CLIENT_TRAFFIC_SECRET_0 ",
					      "SERVER_TRAFFIC_SECRET_0 " };
	const char *text = strrchr(line, ' ');
	bool server = !strncmp(line, labels[1], strlen(labels[1])), out = server == s->acceptor;
	int i, hi, lo;

	if ((!server && strncmp(line, labels[0], strlen(labels[0]))) || !text ||
	    strlen(text + 1) != 2 * TLS_TRAFFIC)
		return;
	for (i = 0; i < (int)TLS_TRAFFIC; i++) {
		hi = hex(text[1 + 2 * i]);
		lo = hex(text[2 + 2 * i]);
		if (hi < 0 || lo < 0)
			return;
		s->kernel.secret[out][i] = (uint8_t)(hi << 4 | lo);
	}
	s->kernel.known[out] = true;
}

bool tls_kernel_wanted(const struct tls_stream *s)
{
	return s->tls->kernel && s->base.env && ddio_env_seals(s->base.env);
}

int tls_kernel_begin(struct tls_stream *s)
{
	int err;

	if (!tls_kernel_wanted(s) || !s->plain->vt->seal || !s->kernel.known[0] ||
	    !s->kernel.known[1])
		return 0;
	err = seal(s, true);
	if (!err)
		err = seal(s, false);
	if (err)
		return tls_fail(s, err, "the kernel does not take the keys of the connection");
	s->kernel.on = s->starved = true;
	return 0;
}

static int replace_key(struct tls_stream *s)
{
	ssize_t n = s->plain->vt->special_put(s->plain, RECORD_HANDSHAKE, key_update,
					      sizeof(key_update));

	if (n == -EAGAIN)
		return -EAGAIN;
	if (n != sizeof(key_update) || reseal(s, true))
		return tls_fail(s, -ECONNRESET, "the key of the connection cannot be replaced");
	s->records = 0;
	s->replaced++;
	return 0;
}

ssize_t tls_kernel_put(struct tls_stream *s, const struct iovec *iov, int n)
{
	int err = s->records >= s->tls->limit ? replace_key(s) : 0;
	ssize_t put;

	if (err)
		return err;
	put = ddio_stream_writev(s->plain, iov, n);
	if (put > 0)
		s->records += 1 + (uint64_t)put / RECORD_LEAST;
	return put;
}

/* A record that carries none of the user's bytes. */
static int special(struct tls_stream *s)
{
	uint8_t buf[64], type = 0;
	ssize_t n = s->plain->vt->special_get(s->plain, &type, buf, sizeof(buf));

	if (n < 0)
		return n == -EAGAIN ? -EAGAIN : tls_fail(s, -ECONNRESET, tls_bad_record);
	if (type == RECORD_ALERT)
		return tls_fail(s, -ECONNRESET, "the peer has given up the connection");
	if (type != RECORD_HANDSHAKE || n != sizeof(key_update) ||
	    memcmp(buf, key_update, (size_t)n))
		return tls_fail(s, -ECONNRESET, tls_bad_record);
	return reseal(s, false) ? tls_fail(s, -ECONNRESET, "the peer's key cannot be replaced") : 0;
}

/* Reads on after @at bytes, into the first place that is not full.  Return: as ddio_stream_readv(), 0: all are full. */
static ssize_t read_on(struct tls_stream *s, const struct iovec *iov, int n, size_t at, bool *full)
{
	struct iovec v;
	int i;

	for (i = 0; i < n && at >= iov[i].iov_len; i++)
		at -= iov[i].iov_len;
	*full = i == n;
	if (*full)
		return 0;
	v.iov_base = (uint8_t *)iov[i].iov_base + at;
	v.iov_len = iov[i].iov_len - at;
	return ddio_stream_readv(s->plain, at ? &v : iov + i, at ? 1 : n - i);
}

/*
 * Goes on until there is nothing more, or no room: the kernel stops before a record that replaces the key, and does not say that there is
 * something to read while it waits for the next one.
 */
static ssize_t read_all(struct tls_stream *s, const struct iovec *iov, int n, size_t *done)
{
	int specials = 0, err;
	bool full;
	ssize_t got;

	for (;;) {
		got = read_on(s, iov, n, *done, &full);
		if (full)
			return 1;
		if (got > 0) {
			*done += (size_t)got;
			continue;
		}
		if (got != -ENOMSG)
			return got;
		err = special(s);
		if (err || ++specials == SPECIAL_RECORDS)
			return err ? err : -EAGAIN;
	}
}

ssize_t tls_kernel_get(struct tls_stream *s, const struct iovec *iov, int n)
{
	size_t done = 0;
	ssize_t got = read_all(s, iov, n, &done);

	if (got == -EBADMSG)
		tls_fail(s, -ECONNRESET, tls_bad_record);
	else if (got < 0 && got != -EAGAIN && !s->err)
		s->err = (int)got;
	if (done)
		return (ssize_t)done;
	return s->err ? s->err : got;
}
