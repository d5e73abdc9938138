// SPDX-License-Identifier: GPL-2.0-only
/* Proofs of the key: beside OpenSSL's HMAC, and what they cost a process at its start. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>
#include "conn/conn_priv.h"
#include "tests/unit/lib/ut.h"

static uint8_t hello[CONN_HELLO_MAX];

static void opening_fill(struct conn_opening *o, const struct ddio_key *key, size_t hello_len)
{
	size_t i;

	memset(o, 0, sizeof(*o));
	for (i = 0; i < sizeof(hello); i++)
		hello[i] = (uint8_t)(i * 7);
	for (i = 0; i < sizeof(o->challenge_raw); i++)
		o->challenge_raw[i] = (uint8_t)(i * 5 + 1);
	o->key = key;
	o->hello_raw = hello;
	o->hello_len = hello_len;
}

/* The connector's proof as protocol.rst has it. */
static void proof_twin(const struct conn_opening *o, uint8_t proof[DDIO_PROOF_LEN])
{
	uint8_t text[16 + CONN_CHALLENGE_SIGNED + CONN_HELLO_MAX + DDIO_TLS_BINDING] =
		"ddio connector 1";
	unsigned int n;

	memcpy(text + 16, o->challenge_raw, CONN_CHALLENGE_SIGNED);
	memcpy(text + 16 + CONN_CHALLENGE_SIGNED, o->hello_raw, o->hello_len);
	memcpy(text + 16 + CONN_CHALLENGE_SIGNED + o->hello_len, o->binding, o->binding_len);
	HMAC(EVP_sha256(), o->key->bytes, (int)o->key->len, text,
	     16 + CONN_CHALLENGE_SIGNED + o->hello_len + o->binding_len, proof, &n);
}

static bool opened(int watch)
{
	char events[4096];

	return read(watch, events, sizeof(events)) > 0;
}

/* OpenSSL reads its configuration once in a process: so this comes first. */
static void test_no_configuration(void)
{
	struct ddio_key key = { .len = 32, .bytes = "the cluster's key, 32 bytes long" };
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;
	char name[] = "/tmp/ddio-key.XXXXXX";
	uint8_t proof[DDIO_PROOF_LEN];
	struct conn_opening o;

	fd = mkstemp(name);
	CU_ASSERT(fd >= 0 && watch >= 0);
	close(fd);
	CU_ASSERT(inotify_add_watch(watch, name, IN_OPEN) >= 0);
	setenv("OPENSSL_CONF", name, 1);
	opening_fill(&o, &key, 40);
	CU_ASSERT_EQUAL(conn_proof_make(&o, CONN_CONNECTOR, proof), 0);
	CU_ASSERT(conn_proof_ok(&o, CONN_CONNECTOR, proof));
	CU_ASSERT(!opened(watch));
	/* What the proof is computed by, the twin here, opens it. */
	proof_twin(&o, proof);
	CU_ASSERT(opened(watch));
	unlink(name);
	close(watch);
}

static void test_twin(void)
{
	uint8_t proof[DDIO_PROOF_LEN], twin[DDIO_PROOF_LEN];
	struct ddio_key key;
	struct conn_opening o;
	size_t i, len;

	for (len = 16; len <= sizeof(key.bytes); len++) {
		for (i = 0; i < sizeof(key.bytes); i++)
			key.bytes[i] = i < len ? (uint8_t)(i * 3 + len) : 0;
		key.len = len;
		opening_fill(&o, &key, len * 8);
		/* On every other stream, as below TLS. */
		o.binding_len = len % 2 * sizeof(o.binding);
		memset(o.binding, (int)len, sizeof(o.binding));
		CU_ASSERT_EQUAL(conn_proof_make(&o, CONN_CONNECTOR, proof), 0);
		proof_twin(&o, twin);
		CU_ASSERT(!memcmp(proof, twin, sizeof(proof)));
		CU_ASSERT(conn_proof_ok(&o, CONN_CONNECTOR, twin));
		CU_ASSERT(!conn_proof_ok(&o, CONN_ACCEPTOR, twin));
		twin[len % DDIO_PROOF_LEN] ^= 1;
		CU_ASSERT(!conn_proof_ok(&o, CONN_CONNECTOR, twin));
	}
}

static int load(const char *path, const void *bytes, size_t len, char err[300])
{
	FILE *f = fopen(path, "wb");
	struct ddio_key key;

	err[0] = '\0';
	if (!f || fwrite(bytes, 1, len, f) != len || fclose(f))
		abort();
	return ddio_key_load(path, false, &key, err, 300);
}

/* Files that have lost their contents are not taken for keys. */
static void test_no_key(void)
{
	static const char hex[] = "00000000000000000000000000000000";
	char path[] = "/tmp/ddio-key.XXXXXX", err[300];
	const char *text;
	uint8_t bytes[44];
	size_t i;
	int c;

	close(mkstemp(path));
	for (c = 0; c < 256; c++) {
		memset(bytes, c, sizeof(bytes));
		CU_ASSERT(load(path, bytes, 18, err) && strstr(err, "the same few bytes"));
	}
	for (text = "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"; text;
	     text = *text == '\n' ? " \t\r\n \t\r\n \t\r\n \t\r\n \t\r\n" : NULL)
		CU_ASSERT(load(path, text, strlen(text), err) && strstr(err, path));
	CU_ASSERT(load(path, hex, strlen(hex), err) && strstr(err, path));
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i % 4 + 'a');
	CU_ASSERT_EQUAL(load(path, bytes, sizeof(bytes), err), 0);
	CU_ASSERT(load(path, bytes, 15, err) && strstr(err, "15 bytes; at least 16"));
	unlink(path);
}

static const struct ut_case cases[] = {
	{ "a proof does without OpenSSL's configuration", test_no_configuration },
	{ "proofs are OpenSSL's HMAC, whatever the key's length", test_twin },
	{ "files that are no keys", test_no_key },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "keys", cases } };

	return ut_run("test_conn_key", suites, 1);
}
