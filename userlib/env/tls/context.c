// SPDX-License-Identifier: LGPL-2.1-or-later
/* What OpenSSL is told once: one version, one cipher, one group, secrets instead of certificates, and how bytes go. */
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include "env/tls/priv.h"

/* An AES-GCM key is good for 2^24.5 full records (RFC 8446, 5.5). */
#define RECORDS (UINT64_C(1) << 23)

static const unsigned char cipher_id[] = { 0x13, 0x01 };
#define CIPHER_NAME "TLS_AES_128_GCM_SHA256"
#define GROUP_NAME "X25519"

static struct tls_stream *stream_of(SSL *ssl)
{
	return SSL_get_app_data(ssl);
}

static SSL_SESSION *session_of(SSL *ssl, const struct ddio_tls_secret *secret)
{
	const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, cipher_id);
	SSL_SESSION *session = SSL_SESSION_new();

	if (session && cipher &&
	    SSL_SESSION_set1_master_key(session, secret->bytes, sizeof(secret->bytes)) &&
	    SSL_SESSION_set_cipher(session, cipher) &&
	    SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION))
		return session;
	SSL_SESSION_free(session);
	return NULL;
}

static int offer(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *id_len,
		 SSL_SESSION **session)
{
	const struct ddio_tls *tls = stream_of(ssl)->tls;

	(void)md;
	*session = tls->nsecrets ? session_of(ssl, &tls->secrets[0]) : NULL;
	*id = (const unsigned char *)tls->secrets[0].name;
	*id_len = strlen(tls->secrets[0].name);
	return *session != NULL;
}

/* One that is unknown is no error yet for OpenSSL, but there is no certificate to go on with. */
static int find(SSL *ssl, const unsigned char *id, size_t id_len, SSL_SESSION **session)
{
	struct tls_stream *s = stream_of(ssl);
	const struct ddio_tls_secret *secret;
	unsigned int i;

	*session = NULL;
	for (i = 0; i < s->tls->nsecrets; i++) {
		secret = &s->tls->secrets[i];
		if (strlen(secret->name) != id_len || memcmp(secret->name, id, id_len))
			continue;
		*session = session_of(ssl, secret);
		return *session != NULL;
	}
	s->unknown = true;
	return 1;
}

static void learn(const SSL *ssl, const char *line)
{
	struct tls_stream *s = SSL_get_app_data(ssl);

	tls_kernel_learn(s, line);
}

static int bio_read(BIO *bio, char *buf, int len)
{
	bool again = false;
	int n = tls_bio_read(BIO_get_data(bio), buf, len, &again);

	BIO_clear_retry_flags(bio);
	if (again)
		BIO_set_retry_read(bio);
	return n;
}

static int bio_write(BIO *bio, const char *buf, int len)
{
	BIO_clear_retry_flags(bio);
	return tls_bio_write(BIO_get_data(bio), buf, len);
}

static long bio_ctrl(BIO *bio, int cmd, long num, void *ptr)
{
	const struct tls_stream *s = BIO_get_data(bio);

	(void)num;
	(void)ptr;
	if (cmd == BIO_CTRL_EOF)
		return s->ended;
	return cmd == BIO_CTRL_FLUSH;
}

static bool bio_method(struct ddio_tls *tls)
{
	tls->bio = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "ddio stream");
	return tls->bio && BIO_meth_set_read(tls->bio, bio_read) &&
	       BIO_meth_set_write(tls->bio, bio_write) && BIO_meth_set_ctrl(tls->bio, bio_ctrl);
}

/* The system's configuration may have changed what a new context begins with: all that matters is set. */
static bool settle(SSL_CTX *ctx)
{
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
					 SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_clear_options(ctx, SSL_OP_ALLOW_NO_DHE_KEX);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				      SSL_MODE_RELEASE_BUFFERS);
	/* A peer that sends records without data must not hold the reactor. */
	SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_default_read_buffer_len(ctx, TLS_BATCH);
	SSL_CTX_set_psk_use_session_callback(ctx, offer);
	SSL_CTX_set_psk_find_session_callback(ctx, find);
	return SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) &&
	       SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) &&
	       SSL_CTX_set_ciphersuites(ctx, CIPHER_NAME) &&
	       SSL_CTX_set1_groups_list(ctx, GROUP_NAME) && SSL_CTX_set_num_tickets(ctx, 0) &&
	       SSL_CTX_set_max_early_data(ctx, 0);
}

static bool context_new(struct ddio_tls *tls)
{
	bool ok;

	tls->lib = OSSL_LIB_CTX_new();
	tls->ctx = tls->lib ? SSL_CTX_new_ex(tls->lib, NULL, TLS_method()) : NULL;
	ok = tls->ctx && bio_method(tls) && settle(tls->ctx);
	return ok;
}

int ddio_tls_new(struct ddio_tls **result)
{
	struct tls_errors *own;
	struct ddio_tls *tls = calloc(1, sizeof(*tls));
	bool ok;

	if (!tls)
		return -ENOMEM;
	tls->limit = RECORDS;
	ok = tls_enter(&own);
	if (ok) {
		ok = context_new(tls);
		tls_leave(own);
	}
	if (!ok) {
		ddio_tls_free(tls);
		return -ENOTSUP;
	}
	*result = tls;
	return 0;
}

void ddio_tls_free(struct ddio_tls *tls)
{
	struct tls_errors *own;

	if (!tls)
		return;
	if (tls_enter(&own)) {
		SSL_CTX_free(tls->ctx);
		BIO_meth_free(tls->bio);
		OSSL_LIB_CTX_free(tls->lib);
		tls_leave(own);
	}
	OPENSSL_cleanse(tls->secrets, sizeof(tls->secrets));
	free(tls->answer);
	free(tls);
}

void ddio_tls_set_secrets(struct ddio_tls *tls, const struct ddio_tls_secret *secrets,
			  unsigned int n)
{
	OPENSSL_cleanse(tls->secrets, sizeof(tls->secrets));
	tls->nsecrets = n < DDIO_TLS_SECRETS ? n : DDIO_TLS_SECRETS;
	memcpy(tls->secrets, secrets, tls->nsecrets * sizeof(*secrets));
}

void tls_set_records(struct ddio_tls *tls, uint64_t records)
{
	tls->limit = records;
}

void ddio_tls_set_kernel(struct ddio_tls *tls, bool wanted)
{
	tls->kernel = wanted;
	SSL_CTX_set_keylog_callback(tls->ctx, wanted ? learn : NULL);
}

int ddio_tls_set_answer(struct ddio_tls *tls, const void *answer, size_t len)
{
	void *copy = malloc(len);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, answer, len);
	free(tls->answer);
	tls->answer = copy;
	tls->answer_len = len;
	return 0;
}

SSL *tls_ssl_new(struct tls_stream *s)
{
	SSL *ssl = SSL_new(s->tls->ctx);
	BIO *bio = BIO_new(s->tls->bio);

	if (!ssl || !bio) {
		SSL_free(ssl);
		BIO_free(bio);
		return NULL;
	}
	BIO_set_data(bio, s);
	BIO_set_init(bio, 1);
	SSL_set_bio(ssl, bio, bio);
	SSL_set_app_data(ssl, s);
	/* What comes after the handshake is left to the kernel. */
	if (tls_kernel_wanted(s))
		SSL_set_read_ahead(ssl, 0);
	if (s->acceptor) {
		SSL_set_accept_state(ssl);
	} else {
		SSL_set_connect_state(ssl);
		/* One that would go on without the secret, by a certificate, is refused: none is trusted. */
		SSL_set_verify(ssl, SSL_VERIFY_PEER, NULL);
	}
	return ssl;
}
