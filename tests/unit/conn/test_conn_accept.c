// SPDX-License-Identifier: GPL-2.0-only
/* The opening exchange as the acceptor sees it, and bad bytes after it. */
#include "tests/unit/conn/conn_peer.h"

/* Plays the connector up to PROOF with @key, and checks the acceptor's proof. */
static void answer_challenge(struct peer_seen *s, const struct ddio_key *key, struct script *t)
{
	uint8_t hello[1024], proof[DDIO_PROOF_LEN];
	size_t hello_len = hello_bytes(hello, DDIO_WIRE_VERSION, DDIO_WIRE_VERSION, "lab"), len = 0;
	struct ddio_msg_challenge challenge;
	const uint8_t *raw;

	t->len = 0;
	add(t, DDIO_OP_HELLO, hello, hello_len);
	mem_feed(&s->m, t->bytes, t->len);
	raw = said(s, DDIO_OP_CHALLENGE, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(raw);
	CU_ASSERT_EQUAL(ddio_get_challenge(raw, len, &challenge), 0);
	CU_ASSERT_EQUAL(challenge.keyed, 1);
	CU_ASSERT_EQUAL(challenge.version, DDIO_WIRE_VERSION);
	proof_of(&right_key, "ddio acceptor  1", raw, hello, hello_len, proof);
	CU_ASSERT_EQUAL(memcmp(proof, challenge.proof, sizeof(proof)), 0);
	proof_of(key, "ddio connector 1", raw, hello, hello_len, proof);
	heard(s);
	t->len = 0;
	add(t, DDIO_OP_PROOF, proof, sizeof(proof));
}

static void test_accept(void)
{
	struct ddio_msg_welcome welcome;
	struct script t = { .len = 0 };
	const uint8_t *payload;
	struct peer_seen s;
	size_t len = 0;

	begin_accept(&s, &right_key, "lab", false, 1);
	answer_challenge(&s, &right_key, &t);
	CU_ASSERT_EQUAL(s.hellos, 0);
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_EQUAL(s.hellos, 1);
	CU_ASSERT_EQUAL(s.hello.role, DDIO_ROLE_ADMIN);
	CU_ASSERT_EQUAL(s.hello.rank, 9);
	CU_ASSERT_STRING_EQUAL(s.hello.cluster, "lab");
	CU_ASSERT_EQUAL(s.m.out_len, 0);
	CU_ASSERT_EQUAL(ddio_conn_send(s.conn, &(struct ddio_msg){ .opcode = DDIO_OP_PING }, NULL,
				       0, NULL, 0, NULL),
			-ENOTCONN);
	CU_ASSERT_EQUAL(ddio_conn_welcome(s.conn, &welcome_msg), 0);
	CU_ASSERT_EQUAL(ddio_conn_welcome(s.conn, &welcome_msg), -ENOTCONN);
	mem_run(&s.m);
	payload = said(&s, DDIO_OP_WELCOME, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(payload);
	CU_ASSERT_EQUAL_FATAL(ddio_get_welcome(payload, len, &welcome), 0);
	CU_ASSERT_EQUAL(welcome.node, 5);
	ddio_welcome_free(&welcome);
	mem_pass(&s.m, 3600 * SECOND);
	CU_ASSERT_EQUAL(s.closes, 0);
	finish(&s);
}

/* Of so many disks that WELCOME would be too long, it does not tell which incarnations ended in order. */
static void test_accept_many_disks(void)
{
	enum { DISKS = 6000 };
	struct ddio_ends of = { .known = true, .n = DDIO_ENDS };
	struct ddio_msg_welcome given = { .nreactors = 1, .ids = { .n = DISKS } }, got;
	struct script t = { .len = 0 };
	const uint8_t *payload;
	struct peer_seen s;
	size_t len = 0;
	uint32_t i;

	given.ids.ids = calloc(DISKS, sizeof(*given.ids.ids));
	given.ends = calloc(DISKS, sizeof(*given.ends));
	CU_ASSERT_FATAL(given.ids.ids && given.ends);
	for (i = 0; i < DDIO_ENDS; i++)
		of.boot[i] = i + 1;
	for (i = 0; i < DISKS; i++)
		given.ends[i] = of;
	given.names_ends = of;
	begin_accept(&s, &right_key, "lab", false, 1);
	answer_challenge(&s, &right_key, &t);
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_EQUAL(ddio_conn_welcome(s.conn, &given), 0);
	mem_run(&s.m);
	payload = said(&s, DDIO_OP_WELCOME, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(payload);
	CU_ASSERT_EQUAL_FATAL(ddio_get_welcome(payload, len, &got), 0);
	CU_ASSERT_EQUAL(got.ids.n, DISKS);
	for (i = 0; i < DISKS; i++)
		CU_ASSERT(!got.ends[i].known && !got.ends[i].n);
	ddio_welcome_free(&got);
	free(given.ids.ids);
	free(given.ends);
	finish(&s);
}

static void test_accept_wrong_key(void)
{
	struct script t = { .len = 0 };
	struct peer_seen s;

	begin_accept(&s, &right_key, "lab", true, 1);
	answer_challenge(&s, &wrong_key, &t);
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_AUTH, "key is not the node's");
	finish(&s);
}

/* Every bit of the proof counts. */
static void test_accept_forged(void)
{
	struct script t = { .len = 0 };
	struct peer_seen s;
	size_t i;

	for (i = 0; i < DDIO_PROOF_LEN; i++) {
		begin_accept(&s, &right_key, "lab", true, 1);
		answer_challenge(&s, &right_key, &t);
		t.bytes[DDIO_WIRE_HEADER_LEN + i] ^= (uint8_t)(1u << (i % 8));
		mem_feed(&s.m, t.bytes, t.len);
		check_refused(&s, DDIO_ST_AUTH, "proof is wrong");
		finish(&s);
	}
}

/* The acceptor's own proof is no proof of the connector. */
static void test_accept_reflected(void)
{
	struct script t = { .len = 0 };
	const uint8_t *raw;
	struct peer_seen s;
	size_t len = 0;

	begin_accept(&s, &right_key, "lab", true, 1);
	add_hello(&t, DDIO_WIRE_VERSION, DDIO_WIRE_VERSION, "lab");
	mem_feed(&s.m, t.bytes, t.len);
	raw = said(&s, DDIO_OP_CHALLENGE, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(raw);
	t.len = 0;
	add(&t, DDIO_OP_PROOF, raw + CHALLENGE_SIGNED, DDIO_PROOF_LEN);
	heard(&s);
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_AUTH, "proof is wrong");
	finish(&s);
}

/* A recorded exchange of an honest connector opens nothing when played again. */
static void test_accept_replayed(void)
{
	struct script first = { .len = 0 }, second = { .len = 0 };
	struct peer_seen s;

	begin_accept(&s, &right_key, "lab", true, 1);
	answer_challenge(&s, &right_key, &first);
	mem_feed(&s.m, first.bytes, first.len);
	CU_ASSERT_EQUAL(s.hellos, 1);
	finish(&s);
	begin_accept(&s, &right_key, "lab", true, 2);
	add_hello(&second, DDIO_WIRE_VERSION, DDIO_WIRE_VERSION, "lab");
	mem_feed(&s.m, second.bytes, second.len);
	heard(&s);
	mem_feed(&s.m, first.bytes, first.len);
	check_refused(&s, DDIO_ST_AUTH, "proof is wrong");
	finish(&s);
}

/* A HELLO changed on the way, after its proof was made. */
static void test_accept_tampered(void)
{
	uint8_t hello[1024], proof[DDIO_PROOF_LEN];
	struct script t = { .len = 0 };
	const uint8_t *raw;
	struct peer_seen s;
	size_t len = 0, hello_len = hello_bytes(hello, DDIO_WIRE_VERSION, DDIO_WIRE_VERSION, "lab");

	begin_accept(&s, &right_key, "lab", true, 1);
	add(&t, DDIO_OP_HELLO, hello, hello_len);
	t.bytes[DDIO_WIRE_HEADER_LEN + 20] ^= 1; /* the rank */
	mem_feed(&s.m, t.bytes, t.len);
	raw = said(&s, DDIO_OP_CHALLENGE, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(raw);
	proof_of(&right_key, "ddio connector 1", raw, hello, hello_len, proof);
	heard(&s);
	t.len = 0;
	add(&t, DDIO_OP_PROOF, proof, sizeof(proof));
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_AUTH, "proof is wrong");
	finish(&s);
}

static void test_accept_without_key(void)
{
	struct script t = { .len = 0 };
	const uint8_t zero[DDIO_PROOF_LEN] = { 0 };
	struct peer_seen s;

	add_hello(&t, DDIO_WIRE_VERSION, DDIO_WIRE_VERSION, "lab");
	begin_accept(&s, NULL, "lab", false, 1);
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_AUTH, "no key");
	finish(&s);
	begin_accept(&s, NULL, "lab", true, 1);
	add(&t, DDIO_OP_PROOF, zero, sizeof(zero));
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_EQUAL(s.hellos, 1);
	finish(&s);
}

static void refused_version(uint16_t min, uint16_t max, const char *what)
{
	struct script t = { .len = 0 };
	struct peer_seen s;

	begin_accept(&s, &right_key, "lab", true, 1);
	add_hello(&t, min, max, "lab");
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_VERSION, what);
	finish(&s);
}

static void test_accept_versions(void)
{
	struct script t = { .len = 0 };
	struct ddio_msg_challenge c;
	const uint8_t *raw;
	struct peer_seen s;
	size_t len = 0;

	refused_version(
		1, 1,
		"the connector speaks version 1 of the protocol, the node version 2: upgrade the connector");
	refused_version(
		9, 12,
		"the connector speaks version 9 of the protocol, the node version 2: upgrade the node");
	add_hello(&t, 1, 12, "lab");
	begin_accept(&s, &right_key, "lab", true, 1);
	mem_feed(&s.m, t.bytes, t.len);
	raw = said(&s, DDIO_OP_CHALLENGE, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(raw);
	CU_ASSERT_EQUAL(ddio_get_challenge(raw, len, &c), 0);
	CU_ASSERT_EQUAL(c.version, DDIO_WIRE_VERSION);
	finish(&s);
}

/* A connector of release 0.1.0, byte for byte, as nodes of every version understand it. */
static void test_accept_first(void)
{
	enum { HELLO_EMPTY = 74 };
	static const uint8_t first[HELLO_EMPTY] = { 1,	  0,	1,    0,    DDIO_ROLE_CLIENT,
						    0,	  0,	0,    0xff, 0xff,
						    0xff, 0xff, 0xff, 0x3f };
	const struct ddio_msg msg = { .version = 1,
				      .opcode = DDIO_OP_HELLO,
				      .length = HELLO_EMPTY };
	uint8_t bytes[DDIO_WIRE_HEADER_LEN + HELLO_EMPTY];
	struct peer_seen s;

	ddio_put_header(bytes, &msg);
	memcpy(bytes + DDIO_WIRE_HEADER_LEN, first, HELLO_EMPTY);
	begin_accept(&s, &right_key, "lab", true, 1);
	mem_feed(&s.m, bytes, sizeof(bytes));
	check_refused(&s, DDIO_ST_VERSION, "upgrade the connector");
	finish(&s);
}

static void test_accept_cluster(void)
{
	struct script t = { .len = 0 };
	struct peer_seen s;
	size_t len;

	begin_accept(&s, &right_key, "lab", true, 1);
	add_hello(&t, DDIO_WIRE_VERSION, DDIO_WIRE_VERSION, "farm\n2");
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_INVALID, "\"farm?2\"");
	finish(&s);
	t.len = 0;
	add_hello(&t, DDIO_WIRE_VERSION, DDIO_WIRE_VERSION, "");
	begin_accept(&s, &right_key, "lab", true, 1);
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_PTR_NOT_NULL(said(&s, DDIO_OP_CHALLENGE, &len));
	finish(&s);
}

static void refused_bytes(const void *bytes, size_t len, uint32_t status, const char *what)
{
	struct peer_seen s;

	begin_accept(&s, &right_key, "lab", true, 1);
	mem_feed(&s.m, bytes, len);
	check_refused(&s, status, what);
	finish(&s);
}

static void test_accept_garbage(void)
{
	const struct ddio_msg big = { .version = DDIO_WIRE_VERSION,
				      .opcode = DDIO_OP_HELLO,
				      .length = 1u << 30 };
	const struct ddio_msg unknown = { .version = DDIO_WIRE_VERSION, .opcode = 999 };
	static const char http[] = "GET / HTTP/1.1\r\nHost: nobody.example\r\n\r\n";
	uint8_t zero[4096] = { 0 }, header[DDIO_WIRE_HEADER_LEN];
	struct script t = { .len = 0 };

	refused_bytes(http, sizeof(http), DDIO_ST_PROTOCOL, "not a message of this protocol");
	refused_bytes(zero, sizeof(zero), DDIO_ST_PROTOCOL, "not a message of this protocol");
	ddio_put_header(header, &big);
	refused_bytes(header, sizeof(header), DDIO_ST_TOO_BIG, "message longer than its limit");
	ddio_put_header(header, &unknown);
	refused_bytes(header, sizeof(header), DDIO_ST_UNSUPPORTED, "unknown opcode");
	add(&t, DDIO_OP_HELLO, zero, 100);
	refused_bytes(t.bytes, t.len, DDIO_ST_PROTOCOL, "malformed HELLO");
}

static void test_accept_out_of_turn(void)
{
	static const uint16_t others[] = { DDIO_OP_CHALLENGE, DDIO_OP_PROOF,	 DDIO_OP_WELCOME,
					   DDIO_OP_PING,      DDIO_OP_STATUS,	 DDIO_OP_OBJ_WRITE,
					   DDIO_OP_FAN_IN,    DDIO_OP_COLL_START };
	struct script t = { .len = 0 };
	uint8_t zero[64] = { 0 };
	struct peer_seen s;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		t.len = 0;
		add(&t, others[i], zero, sizeof(zero));
		refused_bytes(t.bytes, t.len, DDIO_ST_PROTOCOL, "out of turn");
	}
	/* with the PROOF, before WELCOME */
	begin_accept(&s, &right_key, "lab", true, 1);
	answer_challenge(&s, &right_key, &t);
	add(&t, DDIO_OP_PING, NULL, 0);
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_PROTOCOL, "before WELCOME");
	finish(&s);
	/* after it */
	begin_accept(&s, &right_key, "lab", true, 1);
	answer_challenge(&s, &right_key, &t);
	mem_feed(&s.m, t.bytes, t.len);
	t.len = 0;
	add(&t, DDIO_OP_PING, NULL, 0);
	mem_feed(&s.m, t.bytes, t.len);
	s.hellos = 0;
	check_refused(&s, DDIO_ST_PROTOCOL, "out of turn");
	finish(&s);
}

static void test_accept_user_refuses(void)
{
	struct script t = { .len = 0 };
	struct peer_seen s;

	begin_accept(&s, &right_key, "lab", true, 1);
	answer_challenge(&s, &right_key, &t);
	s.refuse_at_once = true;
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_EQUAL(s.hellos, 1);
	s.hellos = 0;
	check_refused(&s, DDIO_ST_SHUTDOWN, "iop5 is stopping");
	finish(&s);
}

static void test_accept_timeouts(void)
{
	struct script t = { .len = 0 };
	struct peer_seen s;

	begin_accept(&s, &right_key, "lab", true, 1);
	mem_pass(&s.m, 9 * SECOND);
	CU_ASSERT_EQUAL(s.closes, 0);
	mem_pass(&s.m, 2 * SECOND);
	CU_ASSERT_EQUAL(s.closes, 1);
	CU_ASSERT_EQUAL(s.err, -ETIMEDOUT);
	CU_ASSERT_EQUAL(s.m.logs, 1);
	finish(&s);
	/* the user does not answer hello() */
	begin_accept(&s, &right_key, "lab", true, 1);
	answer_challenge(&s, &right_key, &t);
	mem_feed(&s.m, t.bytes, t.len);
	mem_pass(&s.m, 11 * SECOND);
	CU_ASSERT_EQUAL(s.err, -ETIMEDOUT);
	finish(&s);
	/* a peer that is refused and does not read */
	begin_accept(&s, &right_key, "lab", true, 1);
	s.m.out_room = 10;
	t.len = 0;
	add_hello(&t, 9, 9, "lab");
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_EQUAL(s.closes, 0);
	mem_pass(&s.m, 11 * SECOND);
	CU_ASSERT_EQUAL(s.closes, 1);
	CU_ASSERT_EQUAL(s.err, -EPROTONOSUPPORT);
	finish(&s);
}

/* One byte a read, one byte a write. */
static void test_accept_crawl(void)
{
	struct script t = { .len = 0 };
	struct peer_seen s;
	size_t len;

	begin_accept(&s, &right_key, "lab", true, 1);
	s.m.in_most = s.m.out_most = 1;
	s.welcome_at_once = true;
	answer_challenge(&s, &right_key, &t);
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_EQUAL(s.hellos, 1);
	CU_ASSERT_PTR_NOT_NULL(said(&s, DDIO_OP_WELCOME, &len));
	t.len = 0;
	add(&t, DDIO_OP_PING, NULL, 0);
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_EQUAL(s.messages, 1);
	finish(&s);
}

/* The peer closes after every possible number of bytes. */
static void test_accept_torn(void)
{
	struct script t = { .len = 0 };
	struct peer_seen s;
	size_t n;

	for (n = 0; n < DDIO_WIRE_HEADER_LEN + 80; n++) {
		begin_accept(&s, NULL, "lab", true, 1);
		t.len = 0;
		add_hello(&t, DDIO_WIRE_VERSION, DDIO_WIRE_VERSION, "lab");
		s.m.in_end = true;
		mem_feed(&s.m, t.bytes, n < t.len ? n : t.len);
		CU_ASSERT_EQUAL(s.closes, 1);
		CU_ASSERT_EQUAL(s.err, -ECONNRESET);
		CU_ASSERT_EQUAL(s.hellos, 0);
		finish(&s);
	}
}

/*
 * After WELCOME
 */
static void open_it(struct peer_seen *s)
{
	const uint8_t zero[DDIO_PROOF_LEN] = { 0 };
	struct script t = { .len = 0 };

	begin_accept(s, NULL, "lab", true, 1);
	s->welcome_at_once = true;
	add_hello(&t, DDIO_WIRE_VERSION, DDIO_WIRE_VERSION, "lab");
	add(&t, DDIO_OP_PROOF, zero, sizeof(zero));
	mem_feed(&s->m, t.bytes, t.len);
	CU_ASSERT_EQUAL_FATAL(s->hellos, 1);
	heard(s);
	heard(s);
	s->hellos = 0;
}

static void rejected_bytes(const void *bytes, size_t len, uint32_t status, const char *what)
{
	struct peer_seen s;

	open_it(&s);
	mem_feed(&s.m, bytes, len);
	check_refused(&s, status, what);
	finish(&s);
}

static void test_open_garbage(void)
{
	struct ddio_msg msg = { .version = DDIO_WIRE_VERSION,
				.opcode = DDIO_OP_FAN_IN,
				.length = 1ull << 40 };
	uint8_t bytes[256] = { 0 };
	struct script t = { .len = 0 };

	rejected_bytes(bytes, sizeof(bytes), DDIO_ST_PROTOCOL, "not a message of this protocol");
	ddio_put_header(bytes, &msg);
	rejected_bytes(bytes, sizeof(bytes), DDIO_ST_TOO_BIG, "message longer than its limit");
	msg = (struct ddio_msg){ .version = DDIO_WIRE_VERSION + 1, .opcode = DDIO_OP_PING };
	ddio_put_header(bytes, &msg);
	rejected_bytes(bytes, sizeof(bytes), DDIO_ST_VERSION, "another protocol version");
	msg = (struct ddio_msg){ .version = DDIO_WIRE_VERSION,
				 .opcode = DDIO_OP_COLL_DATA,
				 .length = 39 };
	ddio_put_header(bytes, &msg);
	rejected_bytes(bytes, sizeof(bytes), DDIO_ST_PROTOCOL, "not a message of this protocol");
	add_hello(&t, DDIO_WIRE_VERSION, DDIO_WIRE_VERSION, "lab");
	rejected_bytes(t.bytes, t.len, DDIO_ST_PROTOCOL, "HELLO out of turn");
	t.len = 0;
	add(&t, DDIO_OP_COLL_DATA, bytes, 200); /* this user accepts no bulk */
	rejected_bytes(t.bytes, t.len, DDIO_ST_UNSUPPORTED, "COLL_DATA");
}

/* The header of the longest allowed message, and nothing after it. */
static void test_open_patient(void)
{
	const struct ddio_msg msg = { DDIO_WIRE_VERSION, DDIO_OP_FAN_IN, 0, 0, 0, DDIO_MAX_PAYLOAD };
	uint8_t header[DDIO_WIRE_HEADER_LEN];
	struct peer_seen s;

	open_it(&s);
	ddio_put_header(header, &msg);
	mem_feed(&s.m, header, sizeof(header));
	CU_ASSERT_EQUAL(s.closes, 0);
	s.m.in_end = true;
	mem_run(&s.m);
	CU_ASSERT_EQUAL(s.closes, 1);
	CU_ASSERT_EQUAL(s.err, -ECONNRESET);
	CU_ASSERT_PTR_NOT_NULL(strstr(s.why, "middle of a message"));
	finish(&s);
}

/* After a failed write the peer's last message is still received; without one, the connection ends soon. */
static void test_open_write_fails(void)
{
	const struct ddio_msg ping = { .opcode = DDIO_OP_PING };
	const struct ddio_msg_refuse refuse = { .status = DDIO_ST_STALE, .text = "go away" };
	struct script t = { .len = 0 };
	uint8_t raw[1024];
	struct peer_seen s;

	open_it(&s);
	s.m.out_err = -EPIPE;
	CU_ASSERT_EQUAL(ddio_conn_send(s.conn, &ping, NULL, 0, NULL, 0, NULL), 0);
	mem_run(&s.m);
	CU_ASSERT_EQUAL(ddio_conn_send(s.conn, &ping, NULL, 0, NULL, 0, NULL), -ENOTCONN);
	CU_ASSERT_EQUAL(s.closes, 0);
	add(&t, DDIO_OP_REFUSE, raw, ddio_put_refuse(raw, sizeof(raw), &refuse));
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_EQUAL(s.closes, 1);
	CU_ASSERT_EQUAL(s.err, -ESTALE);
	CU_ASSERT_PTR_NOT_NULL(strstr(s.why, "go away"));
	finish(&s);

	open_it(&s);
	s.m.out_err = -EPIPE;
	CU_ASSERT_EQUAL(ddio_conn_send(s.conn, &ping, NULL, 0, NULL, 0, NULL), 0);
	mem_pass(&s.m, 2 * SECOND);
	CU_ASSERT_EQUAL(s.closes, 0);
	mem_pass(&s.m, 2 * SECOND);
	CU_ASSERT_EQUAL(s.closes, 1);
	CU_ASSERT_EQUAL(s.err, -EPIPE);
	finish(&s);
}

static void save_err(struct ddio_send *send, int err)
{
	*(int *)send->arg = err;
}

/* The peer's orderly end is an error for what was still to be sent. */
static void test_open_end(void)
{
	const struct ddio_msg ping = { .opcode = DDIO_OP_PING };
	int sent_err = 1;
	struct ddio_send send = { save_err, &sent_err };
	struct peer_seen s;

	open_it(&s);
	s.m.out_room = 5;
	CU_ASSERT_EQUAL(ddio_conn_send(s.conn, &ping, NULL, 0, NULL, 0, &send), 0);
	mem_run(&s.m);
	CU_ASSERT_EQUAL(sent_err, 1);
	s.m.in_end = true;
	mem_run(&s.m);
	CU_ASSERT_EQUAL(s.closes, 1);
	CU_ASSERT_EQUAL(s.err, 0);
	CU_ASSERT_EQUAL(sent_err, -ECONNRESET);
	finish(&s);
}

static const struct ut_case accept_cases[] = {
	{ "an honest connector", test_accept },
	{ "a node with many disks", test_accept_many_disks },
	{ "wrong key", test_accept_wrong_key },
	{ "forged proof", test_accept_forged },
	{ "reflected proof", test_accept_reflected },
	{ "replayed proof", test_accept_replayed },
	{ "tampered HELLO", test_accept_tampered },
	{ "without key", test_accept_without_key },
	{ "versions", test_accept_versions },
	{ "of the first release", test_accept_first },
	{ "clusters", test_accept_cluster },
	{ "garbage", test_accept_garbage },
	{ "out of turn", test_accept_out_of_turn },
	{ "the user refuses", test_accept_user_refuses },
	{ "bounded in time", test_accept_timeouts },
	{ "one byte at a time", test_accept_crawl },
	{ "torn at every byte", test_accept_torn },
	{ NULL, NULL },
};

static const struct ut_case open_cases[] = {
	{ "garbage", test_open_garbage },
	{ "announced, not sent", test_open_patient },
	{ "writing fails", test_open_write_fails },
	{ "the peer ends while we write", test_open_end },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "acceptor", accept_cases },
		{ "after WELCOME", open_cases },
	};

	return ut_run("conn_accept", suites, sizeof(suites) / sizeof(suites[0]));
}
