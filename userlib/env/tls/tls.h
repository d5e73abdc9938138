/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams that are closed to strangers: TLS 1.3 over any stream of any world, with a secret that both ends have, and no
 * certificates.  Such a stream keeps the rules of env.h; what a stranger may learn from it is when bytes go and how many.
 */
#ifndef DDIO_TLS_H
#define DDIO_TLS_H

#include "env/env.h"

#define DDIO_TLS_SECRET 32u  /* bytes */
#define TLS_NAME 32u	     /* of a secret, with its end */
#define DDIO_TLS_SECRETS 2u  /* valid at a time */
#define DDIO_TLS_BINDING 32u /* bytes that only the two ends of a stream know */

struct ddio_tls;

/**
 * struct ddio_tls_secret - what both ends must have
 * @name: sent in the clear, so that an acceptor knows which of its secrets is meant
 */
struct ddio_tls_secret {
	char name[TLS_NAME];
	uint8_t bytes[DDIO_TLS_SECRET];
};

/* Return: 0, -ENOMEM, or -ENOTSUP if this OpenSSL cannot do it.  It must outlive its streams; ddio_tls_free(NULL) is harmless. */
int ddio_tls_new(struct ddio_tls **tls);
void ddio_tls_free(struct ddio_tls *tls);
/* For handshakes to come: the first is offered, each is accepted.  On the reactor where these are made. */
void ddio_tls_set_secrets(struct ddio_tls *tls, const struct ddio_tls_secret *secrets,
			  unsigned int n);
/* Whether the kernel is to make the records of streams to come, where it can; else OpenSSL does.  By default it is not. */
void ddio_tls_set_kernel(struct ddio_tls *tls, bool wanted);
/* So many records are sent with one key at most: for tests; the default suits AES-GCM. */
void tls_set_records(struct ddio_tls *tls, uint64_t records);

/* What connectors get to see that do not speak TLS: 0 or -ENOMEM. */
int ddio_tls_set_answer(struct ddio_tls *tls, const void *answer, size_t len);

/* As ddio_stream_connect(); the stream is connected once both ends have shown that they have the secret. */
int ddio_tls_connect(struct ddio_tls *tls, struct ddio_env *env, const char *addr,
		     const struct ddio_stream_ops *ops, void *ctx, struct ddio_stream **stream);
/* Makes a stream that was just accepted one that is closed to strangers.  @plain is taken over, even if that fails. */
int ddio_tls_accept(struct ddio_tls *tls, struct ddio_stream *plain, struct ddio_stream **stream);
/* The same at the end that connects, of a stream that is connected. */
int ddio_tls_begin(struct ddio_tls *tls, struct ddio_stream *plain, struct ddio_stream **stream);

#endif /* DDIO_TLS_H */
