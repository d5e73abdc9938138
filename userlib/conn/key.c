// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Proving knowledge of the cluster's key, and what TLS makes of it.
 *
 * The first call of OpenSSL's EVP functions, HMAC() among them, reads its configuration and loads what that names: a
 * millisecond of each process's start.  SHA-256 itself, which has been there since before them, does not.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>
#include "conn/conn_priv.h"

/**
 * struct secret - one of the keys
 */
struct secret {
	const uint8_t *bytes;
	size_t len;
};

static struct secret secret_of(const struct ddio_key *key, bool other)
{
	return other ? (struct secret){ key->other, key->other_len }
		     : (struct secret){ key->bytes, key->len };
}

/* Computes SHA-256 of a block, which is the key with each byte changed by @change, and then @len bytes. */
static bool keyed_hash(const struct secret *key, uint8_t change, const void *data, size_t len,
		       uint8_t hash[SHA256_DIGEST_LENGTH])
{
	uint8_t block[SHA256_CBLOCK];
	SHA256_CTX ctx;
	size_t i;
	bool ok;

	for (i = 0; i < sizeof(block); i++)
		block[i] = (i < key->len ? key->bytes[i] : 0) ^ change;
	ok = SHA256_Init(&ctx) && SHA256_Update(&ctx, block, sizeof(block)) &&
	     SHA256_Update(&ctx, data, len) && SHA256_Final(hash, &ctx);
	OPENSSL_cleanse(block, sizeof(block));
	OPENSSL_cleanse(&ctx, sizeof(ctx));
	return ok;
}

/* HMAC of RFC 2104 with SHA-256; no key is longer than a block of it. */
static bool hmac(const struct secret *key, const void *data, size_t len,
		 uint8_t mac[DDIO_PROOF_LEN])
{
	uint8_t inner[SHA256_DIGEST_LENGTH];

	_Static_assert(sizeof(((struct ddio_key *)0)->bytes) <= SHA256_CBLOCK,
		       "a key is one block");
	_Static_assert(DDIO_PROOF_LEN == SHA256_DIGEST_LENGTH, "a proof is one hash");
	return keyed_hash(key, 0x36, data, len, inner) &&
	       keyed_hash(key, 0x5c, inner, sizeof(inner), mac);
}

/*
 * Signs a label that differs between the two sides, so that neither proof can be played back as the
 * other, and then all that both sides have said so far, their nonces included, and what only they know of the stream.
 */
int conn_proof_make(const struct conn_opening *o, enum conn_side side,
		    uint8_t proof[DDIO_PROOF_LEN])
{
	static const char *const labels[] = { "ddio acceptor  1", "ddio connector 1",
					      "ddio tie       1" };
	uint8_t text[CONN_LABEL + CONN_HELLO_MAX + CONN_CHALLENGE_SIGNED + DDIO_TLS_BINDING];
	const struct secret key = o->key ? secret_of(o->key, o->other) : (struct secret){ 0 };
	size_t n = CONN_LABEL;

	memcpy(text, labels[side], CONN_LABEL);
	memcpy(text + n, o->challenge_raw, sizeof(o->challenge_raw));
	n += sizeof(o->challenge_raw);
	memcpy(text + n, o->hello_raw, o->hello_len);
	n += o->hello_len;
	memcpy(text + n, o->binding, o->binding_len);
	n += o->binding_len;
	return hmac(&key, text, n, proof) ? 0 : -ENOMEM;
}

bool conn_proof_ok(const struct conn_opening *o, enum conn_side side,
		   const uint8_t proof[DDIO_PROOF_LEN])
{
	uint8_t right[DDIO_PROOF_LEN];

	return !conn_proof_make(o, side, right) && !CRYPTO_memcmp(right, proof, sizeof(right));
}

int conn_tie_make(const struct conn_opening *o, uint8_t tie[DDIO_PROOF_LEN])
{
	return conn_proof_make(o, CONN_NEITHER, tie);
}

bool ddio_key_mac(const struct ddio_key *key, const void *data, size_t len,
		  uint8_t mac[DDIO_MAC_LEN])
{
	const struct secret one = secret_of(key, false);

	_Static_assert(DDIO_MAC_LEN == DDIO_PROOF_LEN, "both are one hash");
	return hmac(&one, data, len, mac);
}

bool ddio_mac_same(const uint8_t a[DDIO_MAC_LEN], const uint8_t b[DDIO_MAC_LEN])
{
	return !CRYPTO_memcmp(a, b, DDIO_MAC_LEN);
}

/* The secret of a key, and a name for it that tells nothing of it. */
static bool tls_secret(const struct secret *key, struct ddio_tls_secret *secret)
{
	static const char for_name[] = "ddio tls name 1", for_secret[] = "ddio tls secret 1";
	uint8_t mac[DDIO_PROOF_LEN];
	size_t i, n;

	_Static_assert(DDIO_TLS_SECRET == DDIO_PROOF_LEN, "a secret is one hash");
	if (!hmac(key, for_name, sizeof(for_name) - 1, mac) ||
	    !hmac(key, for_secret, sizeof(for_secret) - 1, secret->bytes))
		return false;
	n = (size_t)snprintf(secret->name, sizeof(secret->name), "ddio-");
	for (i = 0; i < 8; i++)
		n += (size_t)snprintf(secret->name + n, sizeof(secret->name) - n, "%02x", mac[i]);
	return true;
}

void ddio_conn_tls_keys(struct ddio_tls *tls, const struct ddio_key *key)
{
	struct ddio_tls_secret secrets[DDIO_TLS_SECRETS];
	struct secret one = secret_of(key, false), other = secret_of(key, true);
	unsigned int n = 0;

	n += one.len && tls_secret(&one, &secrets[n]);
	n += other.len && tls_secret(&other, &secrets[n]);
	ddio_tls_set_secrets(tls, secrets, n);
	OPENSSL_cleanse(secrets, sizeof(secrets));
}

bool ddio_key_name(const struct ddio_key *key, bool other, char name[DDIO_KEY_NAME])
{
	const struct secret one = secret_of(key, other);
	struct ddio_tls_secret secret;
	bool ok = one.len && tls_secret(&one, &secret);

	_Static_assert(DDIO_KEY_NAME == sizeof(secret.name), "the same name");
	if (ok)
		memcpy(name, secret.name, sizeof(secret.name));
	OPENSSL_cleanse(&secret, sizeof(secret));
	return ok;
}
