/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of the opening exchange: one end is the code under test, the other is played byte by byte, with
 * proofs computed as the document says.
 */
#ifndef DDIO_TEST_CONN_PEER_H
#define DDIO_TEST_CONN_PEER_H

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include "conn/conn.h"
#include "tests/fuzz/memenv.h"
#include "tests/unit/lib/ut.h"

#define SECOND 1000000000ull

enum { CHALLENGE_SIGNED = 44 };

/* What the user of the connection under test saw. */
struct peer_seen {
	struct mem_env m;
	struct ddio_conn *conn;
	int hellos, readies, closes, messages;
	int err;
	char why[1024];
	struct ddio_msg_hello hello;
	uint32_t node;
	bool welcome_at_once, refuse_at_once;
};

static const struct ddio_key right_key = { .len = 32, .bytes = "the cluster's key, 32 bytes long" };
static const struct ddio_key wrong_key = { .len = 32, .bytes = "another cluster's, 32 bytes long" };
static const struct ddio_msg_welcome welcome_msg = { .node = 5, .nreactors = 1, .name = "iop5" };

static inline void on_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	struct peer_seen *s = ctx;

	s->hellos++;
	s->hello = *hello;
	if (s->welcome_at_once)
		CU_ASSERT_EQUAL(ddio_conn_welcome(s->conn, &welcome_msg), 0);
	if (s->refuse_at_once)
		ddio_conn_refuse(s->conn, DDIO_ST_SHUTDOWN, "node iop5 is stopping");
}

static inline void on_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct peer_seen *s = ctx;

	s->readies++;
	s->node = welcome->node;
}

static inline int on_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	(void)msg;
	(void)payload;
	((struct peer_seen *)ctx)->messages++;
	return 0;
}

static inline void on_closed(void *ctx, int err, const char *why)
{
	struct peer_seen *s = ctx;

	s->closes++;
	s->err = err;
	snprintf(s->why, sizeof(s->why), "%s", why);
}

static const struct ddio_conn_ops conn_ops = {
	.hello = on_hello,
	.ready = on_ready,
	.message = on_message,
	.closed = on_closed,
};

static inline void begin_accept(struct peer_seen *s, const struct ddio_key *key,
				const char *cluster, bool loopback, uint8_t random)
{
	const struct ddio_conn_opts opts = { .key = key, .cluster = cluster };

	memset(s, 0, sizeof(*s));
	mem_init(&s->m);
	s->m.loopback = loopback;
	s->m.random = random;
	CU_ASSERT_EQUAL_FATAL(
		ddio_conn_accept(&s->m.env, &s->m.stream, &opts, &conn_ops, s, &s->conn), 0);
}

static inline void begin_connect(struct peer_seen *s, const struct ddio_key *key, bool loopback)
{
	const struct ddio_conn_opts opts = { .key = key, .cluster = "lab" };
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT, .reactor = 3 };

	memset(s, 0, sizeof(*s));
	mem_init(&s->m);
	s->m.loopback = loopback;
	s->m.random = 77;
	CU_ASSERT_EQUAL_FATAL(
		ddio_conn_connect(&s->m.env, "node:1", &hello, &opts, &conn_ops, s, &s->conn), 0);
	mem_run(&s->m);
}

static inline void finish(struct peer_seen *s)
{
	ddio_conn_close(s->conn, false);
	CU_ASSERT_FALSE(s->m.open);
	mem_fini(&s->m);
}

/* The peer's part. */
struct script {
	uint8_t bytes[4096];
	size_t len;
};

static inline void add(struct script *t, uint16_t opcode, const void *payload, size_t len)
{
	const struct ddio_msg msg = { .version = DDIO_WIRE_VERSION,
				      .opcode = opcode,
				      .length = len };

	ddio_put_header(t->bytes + t->len, &msg);
	if (len)
		memcpy(t->bytes + t->len + DDIO_WIRE_HEADER_LEN, payload, len);
	t->len += DDIO_WIRE_HEADER_LEN + len;
}

static inline size_t hello_bytes(uint8_t *buf, uint16_t min, uint16_t max, const char *cluster)
{
	struct ddio_msg_hello h = {
		.min_version = min, .max_version = max, .role = DDIO_ROLE_ADMIN, .rank = 9
	};

	memset(h.nonce, 0xab, sizeof(h.nonce));
	snprintf(h.cluster, sizeof(h.cluster), "%s", cluster);
	return ddio_put_hello(buf, 1024, &h);
}

static inline void add_hello(struct script *t, uint16_t min, uint16_t max, const char *cluster)
{
	uint8_t buf[1024];
	size_t len = hello_bytes(buf, min, max, cluster);

	add(t, DDIO_OP_HELLO, buf, len);
}

/* HMAC-SHA256(key, label, CHALLENGE but for its proof, HELLO) */
static inline void proof_of(const struct ddio_key *key, const char *label, const uint8_t *challenge,
			    const uint8_t *hello, size_t hello_len, uint8_t proof[DDIO_PROOF_LEN])
{
	uint8_t text[2048];
	unsigned int n;

	memcpy(text, label, 16);
	memcpy(text + 16, challenge, CHALLENGE_SIGNED);
	memcpy(text + 16 + CHALLENGE_SIGNED, hello, hello_len);
	HMAC(EVP_sha256(), key->bytes, (int)key->len, text, 16 + CHALLENGE_SIGNED + hello_len,
	     proof, &n);
}

/* Returns the payload of the first message that was written, if it has that opcode. */
static const uint8_t *said(const struct peer_seen *s, uint16_t opcode, size_t *len)
{
	struct ddio_msg msg;

	if (s->m.out_len < DDIO_WIRE_HEADER_LEN || ddio_get_header(s->m.out, &msg) ||
	    msg.opcode != opcode || s->m.out_len < DDIO_WIRE_HEADER_LEN + msg.length)
		return NULL;
	*len = msg.length;
	return s->m.out + DDIO_WIRE_HEADER_LEN;
}

/* Forgets the first message written. */
static inline void heard(struct peer_seen *s)
{
	struct ddio_msg msg;
	size_t len;

	CU_ASSERT_EQUAL_FATAL(ddio_get_header(s->m.out, &msg), 0);
	len = DDIO_WIRE_HEADER_LEN + msg.length;
	memmove(s->m.out, s->m.out + len, s->m.out_len - len);
	s->m.out_len -= len;
}

/* Checks that the connection was closed with @status, and that peer and log were told, each naming @what. */
static inline void check_refused(struct peer_seen *s, uint32_t status, const char *what)
{
	struct ddio_msg_refuse refuse;
	const uint8_t *payload;
	size_t len = 0;

	CU_ASSERT_EQUAL(s->closes, 1);
	CU_ASSERT_EQUAL(s->err, ddio_status_to_errno(status));
	CU_ASSERT_PTR_NOT_NULL(strstr(s->why, what));
	CU_ASSERT_EQUAL(s->m.logs, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(s->m.log, what));
	CU_ASSERT_PTR_NOT_NULL(strstr(s->m.log, ddio_conn_peer(s->conn)));
	payload = said(s, DDIO_OP_REFUSE, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(payload);
	CU_ASSERT_EQUAL(ddio_get_refuse(payload, len, &refuse), 0);
	CU_ASSERT_EQUAL(refuse.status, status);
	CU_ASSERT_PTR_NOT_NULL(strstr(refuse.text, what));
	CU_ASSERT_EQUAL(s->hellos + s->readies + s->messages, 0);
}

#endif /* DDIO_TEST_CONN_PEER_H */
