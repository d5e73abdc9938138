// SPDX-License-Identifier: GPL-2.0-only
/* tsan */
/* Streams of TLS: whoever has the secret gets its bytes, and nobody else gets or changes any. */
#include <openssl/err.h>
#include "tests/unit/env/tls_pair.h"

/* The simulated world has one thread: ThreadSanitizer learns nothing from many rounds of it. */
#ifdef __SANITIZE_THREAD__
#define rounds_of(n) ut_rounds((n) / 20)
#else
#define rounds_of(n) ut_rounds(n)
#endif

static uint64_t mix(uint64_t x)
{
	x = (x + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
	return x ^ x >> 31;
}

static struct tls_stream *inside(struct ddio_stream *stream)
{
	return ddio_container_of(stream, struct tls_stream, base);
}

static void check_moved(const struct tls_pair *p, uint64_t there, uint64_t back)
{
	CU_ASSERT_EQUAL(p->cp.sent, there);
	CU_ASSERT_EQUAL(p->iop.got, there);
	CU_ASSERT_EQUAL(p->iop.sent, back);
	CU_ASSERT_EQUAL(p->cp.got, back);
	CU_ASSERT_EQUAL(p->cp.wrong + p->iop.wrong, 0);
	CU_ASSERT_EQUAL(p->cp.fails + p->iop.fails, 0);
}

/* Pieces of all sizes: of a byte, of one that no record holds, of one that no batch holds. */
static void test_bytes(void)
{
	static const size_t sizes[][2] = { { 1, 1 },	     { 7, 20000 },   { 16255, 3 },
					   { 16257, 16384 }, { 50000, 100 }, { 0, 0 } };
	struct tls_pair *p = pair_new();
	uint64_t there, back;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		there = sizes[i][0] == 1 ? 1000 : 1000003;
		back = there / 3;
		p->cp.to_send = there;
		p->iop.to_send = back;
		p->cp.put_most = p->iop.put_most = sizes[i][0];
		p->cp.get_most = p->iop.get_most = sizes[i][1];
		pair_connect(p);
		ddio_sim_run_for(p->world, 600 * SECOND);
		check_moved(p, there, back);
		pair_disconnect(p);
	}
	pair_free(p);
}

/* A reader that pauses holds up the writer, and gets all of it afterwards, also what had come already. */
static void test_pause(void)
{
	struct tls_pair *p = pair_new();
	uint64_t got, sent;

	p->cp.to_send = 20000000;
	p->iop.get_most = 5000;
	pair_connect(p);
	while (p->iop.got < 40000)
		ddio_sim_run_for(p->world, SECOND / 10000);
	ddio_stream_want_read(p->iop.stream, false);
	ddio_sim_run_for(p->world, 10 * SECOND);
	got = p->iop.got;
	sent = p->cp.sent;
	CU_ASSERT(sent < p->cp.to_send);
	CU_ASSERT(p->cp.write_blocked);
	ddio_sim_run_for(p->world, 10 * SECOND);
	CU_ASSERT_EQUAL(p->iop.got, got);
	CU_ASSERT_EQUAL(p->cp.sent, sent);
	ddio_stream_want_read(p->iop.stream, true);
	ddio_sim_run_for(p->world, 600 * SECOND);
	check_moved(p, 20000000, 0);
	pair_free(p);
}

/* Nobody is called for a record of which a part is missing, however long that takes. */
static void test_by_byte(void)
{
	struct tls_pair *p = pair_new();

	p->cp.to_send = 3000;
	p->there.by_byte = p->back.by_byte = true;
	pair_connect(p);
	ddio_sim_run_for(p->world, 600 * SECOND);
	check_moved(p, 3000, 0);
	CU_ASSERT(p->iop.wakes < 3 * 3000);
	pair_disconnect(p);
	/* A record that never ends. */
	p->cp.to_send = 3000;
	p->there.keep_at = 2000;
	pair_connect(p);
	ddio_sim_run_for(p->world, 600 * SECOND);
	CU_ASSERT(p->cp.opened);
	CU_ASSERT_EQUAL(p->iop.got, 0);
	CU_ASSERT(p->iop.wakes < 10);
	pair_free(p);
}

static void test_no_plaintext(void)
{
	struct tls_pair *p = pair_new();
	char marker[17];
	int i, plain;

	for (i = 0; i < 16; i++)
		marker[i] = (char)pair_byte((uint64_t)i + 5000);
	marker[16] = '\0';
	for (plain = 1; plain >= 0; plain--) {
		p->marker = marker;
		p->plain_cp = p->plain_iop = plain;
		p->cp.to_send = 100000;
		pair_connect(p);
		ddio_sim_run_for(p->world, 10 * SECOND);
		CU_ASSERT_EQUAL(p->iop.got, 100000);
		CU_ASSERT(p->there.passed >= 100000);
		CU_ASSERT_EQUAL(p->there.marked, plain);
		pair_disconnect(p);
	}
	pair_free(p);
}

static bool ended(const struct tls_pair *p)
{
	return p->cp.err || p->cp.over || p->iop.err || p->iop.over;
}

/* A length that has become larger is noticed once so many bytes have come. */
static void send_more(struct tls_end *e)
{
	e->to_send += 20000;
	if (e->stream)
		ddio_stream_want_write(e->stream, true);
}

static void one_flip(struct tls_pair *p, uint64_t x, uint64_t *waiting)
{
	struct wire_way *w = x % 2 ? &p->there : &p->back;

	p->cp.to_send = p->iop.to_send = 4000;
	p->cp.put_most = p->iop.put_most = 500;
	/* Some 600 bytes of handshake, and each 500 bytes in a record. */
	w->flip_at = 1 + (x / 2) % (8 * 4200);
	pair_connect(p);
	ddio_sim_run_for(p->world, SECOND);
	CU_ASSERT_EQUAL(p->cp.wrong + p->iop.wrong, 0);
	CU_ASSERT(p->cp.got < 4000 || p->iop.got < 4000);
	if (!ended(p)) {
		send_more(&p->cp);
		send_more(&p->iop);
		ddio_sim_run_for(p->world, SECOND);
	}
	/* A handshake that waits for what will not come has its bound from whoever wants the connection. */
	CU_ASSERT(ended(p) || !p->cp.opened || !p->iop.opened);
	*waiting += !ended(p);
	CU_ASSERT_EQUAL(p->cp.wrong + p->iop.wrong, 0);
	pair_disconnect(p);
}

/* Whichever bit is turned, of the handshake or of a record: the connection ends, and no wrong byte has come. */
static void test_flips(void)
{
	struct tls_pair *p = pair_new();
	uint64_t n, rounds = rounds_of(10000), waiting = 0;

	for (n = 0; n < rounds; n++)
		one_flip(p, mix(n), &waiting);
	CU_ASSERT(waiting <= rounds / 100 + 1);
	pair_free(p);
}

static void shake_hands(struct tls_pair *p)
{
	pair_connect(p);
	ddio_sim_run_for(p->world, SECOND);
}

static void test_wrong_secret(void)
{
	struct tls_pair *p = pair_new();
	struct ddio_tls_secret secret;

	pair_secret(&secret, "wrong");
	ddio_tls_set_secrets(p->cp.tls, &secret, 1);
	shake_hands(p);
	CU_ASSERT(!p->cp.opened && !p->iop.opened);
	CU_ASSERT_EQUAL(p->cp.err, -EKEYREJECTED);
	CU_ASSERT_EQUAL(p->iop.err, -EKEYREJECTED);
	CU_ASSERT_EQUAL(p->cp.fails + p->iop.fails, 2);
	CU_ASSERT_STRING_EQUAL(p->cp.why,
			       "the node refuses the connector's key: it is none of the node's");
	CU_ASSERT_STRING_EQUAL(p->iop.why, "the connector's key is none of the node's");
	pair_disconnect(p);
	/* The right name does not help. */
	memcpy(secret.name, "right", sizeof("right"));
	ddio_tls_set_secrets(p->cp.tls, &secret, 1);
	shake_hands(p);
	CU_ASSERT(!p->cp.opened && !p->iop.opened);
	CU_ASSERT_EQUAL(p->cp.err, -EKEYREJECTED);
	CU_ASSERT_EQUAL(p->iop.err, -EKEYREJECTED);
	pair_disconnect(p);
	/* Without one there is no handshake. */
	ddio_tls_set_secrets(p->cp.tls, &secret, 0);
	shake_hands(p);
	CU_ASSERT(!p->cp.opened && !p->iop.opened);
	pair_free(p);
}

static void test_two_secrets(void)
{
	struct tls_pair *p = pair_new();
	struct ddio_tls_secret secrets[2];
	uint8_t one[DDIO_TLS_BINDING] = { 0 }, other[DDIO_TLS_BINDING] = { 1 };

	pair_secret(&secrets[0], "new");
	pair_secret(&secrets[1], "right");
	ddio_tls_set_secrets(p->iop.tls, secrets, 2);
	shake_hands(p);
	CU_ASSERT(p->cp.opened && p->iop.opened);
	CU_ASSERT(ddio_stream_binding(p->cp.stream, one, sizeof(one)));
	CU_ASSERT(ddio_stream_binding(p->iop.stream, other, sizeof(other)));
	CU_ASSERT(!memcmp(one, other, sizeof(one)));
	pair_disconnect(p);
	ddio_tls_set_secrets(p->cp.tls, secrets, 2);
	shake_hands(p);
	CU_ASSERT(p->cp.opened && p->iop.opened);
	CU_ASSERT(ddio_stream_binding(p->cp.stream, other, sizeof(other)));
	CU_ASSERT(memcmp(one, other, sizeof(one)));
	pair_disconnect(p);
	/* The first is dropped. */
	ddio_tls_set_secrets(p->iop.tls, &secrets[1], 1);
	shake_hands(p);
	CU_ASSERT_EQUAL(p->cp.err, -EKEYREJECTED);
	pair_free(p);
}

static void test_plain_connector(void)
{
	static const char answer[] = "speak TLS";
	struct tls_pair *p = pair_new();

	CU_ASSERT_EQUAL(ddio_tls_set_answer(p->iop.tls, answer, sizeof(answer)), 0);
	p->plain_cp = true;
	p->cp.to_send = 100;
	p->there.by_byte = true;
	shake_hands(p);
	end_close(&p->iop);
	ddio_sim_run_for(p->world, SECOND);
	CU_ASSERT_EQUAL(p->iop.err, -EPROTONOSUPPORT);
	CU_ASSERT_EQUAL(p->iop.got, 0);
	CU_ASSERT_EQUAL(p->cp.got, sizeof(answer));
	CU_ASSERT(strstr(p->iop.why, "the connector does not speak TLS") == p->iop.why);
	pair_free(p);
}

static void test_plain_acceptor(void)
{
	struct tls_pair *p = pair_new();

	p->plain_iop = true;
	p->iop.to_send = 100;
	shake_hands(p);
	CU_ASSERT(!p->cp.opened);
	CU_ASSERT_EQUAL(p->cp.err, -EPROTONOSUPPORT);
	CU_ASSERT(strstr(p->cp.why, "the node does not speak TLS") == p->cp.why);
	pair_free(p);
}

/* A key is replaced before it has been used for too much, and nothing is lost meanwhile. */
static void test_records(void)
{
	struct tls_pair *p = pair_new();
	uint64_t records = rounds_of(1000000);

	tls_set_records(p->cp.tls, 1000);
	tls_set_records(p->iop.tls, 1000);
	p->cp.to_send = records * 10;
	p->iop.to_send = records / 100 * 10;
	p->cp.put_most = p->iop.put_most = 10;
	pair_connect(p);
	ddio_sim_limit(p->world, UINT64_MAX / 2);
	while (p->iop.got < records * 10 && !p->iop.err)
		ddio_sim_run_for(p->world, SECOND);
	ddio_sim_run_for(p->world, SECOND);
	check_moved(p, records * 10, records / 100 * 10);
	CU_ASSERT(inside(p->cp.stream)->records <= 1000);
	CU_ASSERT(inside(p->cp.stream)->replaced >= records / 1000 - 1);
	CU_ASSERT_EQUAL(inside(p->iop.stream)->replaced, records / 100000 - !(records % 100000));
	pair_free(p);
}

/* Handed to another reactor with bytes that have been read ahead, as connections are once they are open. */
static void test_handover(void)
{
	struct tls_pair *p = pair_new();
	struct ddio_env *other = ddio_sim_env(p->world, "other");

	p->cp.to_send = 60000;
	p->iop.stop_at = 1;
	p->iop.get_most = 30;
	pair_connect(p);
	ddio_sim_run_for(p->world, SECOND);
	CU_ASSERT(tls_pending(inside(p->iop.stream)));
	/* Would be called for it at once. */
	p->iop.stop_at = 0;
	ddio_stream_want_read(p->iop.stream, true);
	ddio_stream_detach(p->iop.stream);
	ddio_sim_run_for(p->world, SECOND);
	CU_ASSERT_EQUAL(p->iop.got, 30);
	CU_ASSERT_EQUAL(ddio_stream_attach(other, p->iop.stream), 0);
	ddio_stream_set_ops(p->iop.stream, &end_ops, &p->iop);
	ddio_stream_want_read(p->iop.stream, true);
	ddio_sim_run_for(p->world, 10 * SECOND);
	check_moved(p, 60000, 0);
	pair_free(p);
}

/* Whoever waits in a call may run the loop: errors of its own with OpenSSL are there before and after, and no others. */
static void test_own_errors(void)
{
	struct tls_pair *p = pair_new();
	struct ddio_tls_secret secret;
	unsigned long own;

	ERR_clear_error();
	ERR_raise(ERR_LIB_USER, 77);
	own = ERR_peek_error();
	p->cp.to_send = 100000;
	p->iop.to_send = 1000;
	pair_connect(p);
	ddio_sim_run_for(p->world, SECOND);
	check_moved(p, 100000, 1000);
	pair_disconnect(p);
	pair_secret(&secret, "wrong");
	ddio_tls_set_secrets(p->cp.tls, &secret, 1);
	shake_hands(p);
	CU_ASSERT_EQUAL(p->cp.err, -EKEYREJECTED);
	pair_free(p);
	CU_ASSERT_EQUAL(ERR_get_error(), own);
	CU_ASSERT_EQUAL(ERR_get_error(), 0);
}

static const struct ut_case cases[] = {
	{ "bytes of all sizes", test_bytes },
	{ "a reader pauses", test_pause },
	{ "byte by byte", test_by_byte },
	{ "no plaintext", test_no_plaintext },
	{ "bits are turned", test_flips },
	{ "a wrong secret", test_wrong_secret },
	{ "two secrets", test_two_secrets },
	{ "a plain connector", test_plain_connector },
	{ "a plain acceptor", test_plain_acceptor },
	{ "keys are replaced", test_records },
	{ "handed over", test_handover },
	{ "errors of the program's own", test_own_errors },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "streams of TLS", cases } };

	return ut_run("test_env_tls", suites, 1);
}
