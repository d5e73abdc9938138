/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside streams of TLS: events and the vtable (stream.c), bytes in and out (records.c), the same where the kernel makes the records
 * (kernel.c), what OpenSSL is told once (context.c), the process's end (end.c), and errors (errors.c).  Each of these calls only
 * those after it, but for context.c, which hands over to records.c and kernel.c.
 */
#ifndef ENV_TLS_PRIV_H
#define ENV_TLS_PRIV_H

#include <openssl/ssl.h>
#include "env/env_ops.h"
#include "env/tls/tls.h"

/*
 * What a record carries: four of these and their frames, the message that replaces the key included, go into a batch, which
 * the reactor keeps for the next stream.
 */
#define TLS_PIECE (16384u - 128)
#define TLS_FRAME 22u
#define TLS_KEY_UPDATE 32u
#define TLS_BATCH ENV_SPARE_MAX
#define TLS_WHY 160u
#define TLS_TRAFFIC 32u /* bytes of a secret from which keys follow: those of the cipher's hash */

/**
 * struct ddio_tls - what OpenSSL is told once
 * @lib: OpenSSL's state, apart from what the program does with OpenSSL itself
 * @bio: how it reads and writes
 * @secrets: @nsecrets that are valid, the one that is offered first
 * @limit: records with one key
 * @kernel: wanted to make the records
 * @answer: for connectors that do not speak TLS
 */
struct ddio_tls {
	OSSL_LIB_CTX *lib;
	SSL_CTX *ctx;
	BIO_METHOD *bio;
	struct ddio_tls_secret secrets[DDIO_TLS_SECRETS];
	unsigned int nsecrets;
	uint64_t limit;
	bool kernel;
	void *answer;
	size_t answer_len;
};

/**
 * struct tls_out - records on their way out
 * @buf: TLS_BATCH bytes, [head, tail) of which have not left; NULL if all have
 * @owed: bytes of the user's in it, which are not said to be written before all of it has left
 */
struct tls_out {
	uint8_t *buf;
	size_t head, tail, owed;
};

/**
 * struct tls_kernel - what the kernel needs to make records, by direction: [1] is out
 * @on: it does
 */
struct tls_kernel {
	bool known[2], on;
	uint8_t secret[2][TLS_TRAFFIC];
};

/**
 * struct tls_stream - one stream
 * @base: what the user sees
 * @plain: what carries it
 * @ops, @ctx: the user's; NULL: no events
 * @want_read, @want_write: by the user
 * @acceptor: which end this is
 * @begun: the stream below is connected, so that the handshake can go on
 * @open: the handshake is over
 * @heard: the first byte has come
 * @starved: all that has come was used, but for a part of a record
 * @ended: the other end has ended
 * @unknown: the connector has offered a secret that is none of these
 * @alien: the other end speaks something else
 * @told: the user knows of @err
 * @plain_err: of the stream below; @err: of this one
 * @gone: where a call of the user's is under way: to be told that the stream is closed or detached
 * @records: sent with this key
 * @replaced: keys, so far
 * @again: calls the user for what has come already
 * @why: what @err means, "" if nothing but that
 */
struct tls_stream {
	struct ddio_stream base;
	struct ddio_stream *plain;
	struct ddio_tls *tls;
	SSL *ssl;
	const struct ddio_stream_ops *ops;
	void *ctx;
	bool want_read, want_write, acceptor, begun, open, heard, starved, ended;
	bool unknown, alien, told;
	int plain_err, err;
	bool *gone;
	uint64_t records, replaced;
	struct tls_out out;
	struct tls_kernel kernel;
	struct ddio_timer again;
	char why[TLS_WHY];
};

/* records.c */
/* Goes on with the handshake.  Return: 1 when it is over and all of it has left, 0 if it waits, or -errno. */
int tls_shake(struct tls_stream *s);
ssize_t tls_get(struct tls_stream *s, const struct iovec *iov, int n);
ssize_t tls_put(struct tls_stream *s, const struct iovec *iov, int n);
/* Returns whether bytes have come that the user can have without another one from below. */
bool tls_pending(const struct tls_stream *s);
void tls_out_free(struct tls_stream *s);

/* kernel.c */
bool tls_kernel_wanted(const struct tls_stream *s);
/* Hands over to it, if it can, a stream whose handshake is over.  Return: 0, or -errno and the stream is over. */
int tls_kernel_begin(struct tls_stream *s);
ssize_t tls_kernel_get(struct tls_stream *s, const struct iovec *iov, int n);
ssize_t tls_kernel_put(struct tls_stream *s, const struct iovec *iov, int n);
void tls_kernel_learn(struct tls_stream *s, const char *line);
/* What RFC 8446 calls HKDF-Expand-Label; @len is TLS_TRAFFIC at most. */
bool tls_expand(OSSL_LIB_CTX *lib, const uint8_t secret[TLS_TRAFFIC], const char *label,
		uint8_t *out, size_t len);
bool tls_record_key(OSSL_LIB_CTX *lib, const uint8_t secret[TLS_TRAFFIC],
		    struct env_record_key *key);

/* errors.c: notes why the stream is over.  Return: @err. */
int tls_fail(struct tls_stream *s, int err, const char *why);
extern const char tls_bad_record[];

/* context.c */
/* Return: an SSL with the stream below it, or NULL. */
SSL *tls_ssl_new(struct tls_stream *s);
/* Hands over to tls_bio_read() and tls_bio_write() of records.c. */
int tls_bio_read(struct tls_stream *s, char *buf, int len, bool *again);
int tls_bio_write(struct tls_stream *s, const char *buf, int len);

/*
 * end.c: calls of OpenSSL stand between these, which keep errors that the thread has of its own.  False: the process ends, and
 * there must be none any more.
 */
struct tls_errors;
bool tls_enter(struct tls_errors **own);
void tls_leave(struct tls_errors *own);

/* errors.c: takes the thread's errors, NULL: none; and puts them back in place of those that are there. */
struct tls_errors *tls_errors_take(void);
void tls_errors_put(struct tls_errors *own);

#endif /* ENV_TLS_PRIV_H */
