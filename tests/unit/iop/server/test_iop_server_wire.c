// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients that have the key and send what is no message, half of one, or one byte a second: each is refused or waited for, others
 * are answered within 100 ms, and nothing is left of them.
 */
#include <malloc.h>
#include "tests/fuzz/codecs.h"
#include "tests/unit/iop/server/raw.h"

enum { ANSWER_MS = 100, SILENT = 64, OPCODES = 256, SENT_MAX = 4096 };

/**
 * struct wire - a node, and somebody else who wants something of it
 * @before: bytes of memory when there was nobody but this one
 */
struct wire {
	struct sw *sw;
	struct sc *good;
	size_t before;
};

static size_t held(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/* Somebody else asks. */
static void others(struct wire *w, uint16_t opcode)
{
	uint32_t i, want = w->good->replies + 1;

	sc_send(w->good, opcode, NULL, 0, NULL, 0);
	for (i = 0; i < ANSWER_MS && w->good->replies < want; i++)
		sw_run(w->sw, MS);
	CU_ASSERT_FATAL(w->good->replies == want && !w->good->closed);
	CU_ASSERT_EQUAL(w->good->status, DDIO_ST_OK);
}

static void wire_new(struct wire *w)
{
	w->sw = sw_new(NULL);
	w->good = sc_new(w->sw, 0);
	others(w, DDIO_OP_STATUS);
	w->before = held();
}

static void wire_free(struct wire *w)
{
	sw_run(w->sw, 10 * MS);
	others(w, DDIO_OP_STATUS);
	CU_ASSERT_EQUAL(w->sw->iop->reactors[0].nclients, 1);
	/* What is kept for the next requests is less. */
	CU_ASSERT(held() < w->before + (4u << 20));
	sc_free(w->good);
	sw_free(w->sw);
}

static void header_put(uint8_t *to, const struct ddio_msg *msg)
{
	ddio_put_header(to, msg);
}

/* Sends one header, and zeros behind it if @more; returns what was said to it: a status, or -1 for nothing. */
static int told(struct wire *w, const uint8_t *header, size_t more)
{
	struct raw *r = raw_new(w->sw);
	uint8_t *bytes = calloc(1, DDIO_WIRE_HEADER_LEN + more);
	struct ddio_msg msg;
	int ret;

	memcpy(bytes, header, DDIO_WIRE_HEADER_LEN);
	raw_say(r, bytes, DDIO_WIRE_HEADER_LEN + more, 0);
	sw_run(w->sw, 3 * MS + more / 1000 * 1000);
	ret = r->messages ? (int)r->head.status : -1;
	/* Whoever is refused is rid of its connection; whoever is answered has the answer to what it asked. */
	if (r->messages && r->head.opcode == DDIO_OP_REFUSE) {
		ret += 1000;
		CU_ASSERT(r->closed);
		CU_ASSERT(r->text[0]);
	} else if (r->messages && !ddio_get_header(header, &msg)) {
		CU_ASSERT_EQUAL(r->head.tag, msg.tag);
		CU_ASSERT_EQUAL(r->head.opcode, msg.opcode);
		CU_ASSERT_EQUAL(r->head.flags, DDIO_WIRE_REPLY);
		CU_ASSERT(!r->closed);
	}
	raw_free(r);
	free(bytes);
	return ret;
}

static int told_msg(struct wire *w, const struct ddio_msg *msg, size_t more)
{
	uint8_t header[DDIO_WIRE_HEADER_LEN];

	header_put(header, msg);
	return told(w, header, more);
}

#define REFUSED(st) (1000 + DDIO_ST_##st)

/* Each four bytes of a header, and each bit of the flags. */
static void fields(void)
{
	static const uint32_t versions[] = { 0, 1, 3, 255, 65535 };
	static const uint32_t statuses[] = { 1, DDIO_ST_MAX - 1, DDIO_ST_MAX, 1u << 31,
					     UINT32_MAX };
	static const uint64_t tags[] = { 0, 1, INT64_MAX, 1ull << 63, UINT64_MAX };
	struct ddio_msg ping = { .version = DDIO_WIRE_VERSION, .opcode = DDIO_OP_PING, .tag = 5 },
			msg;
	uint8_t header[DDIO_WIRE_HEADER_LEN];
	struct wire w;
	size_t i;

	wire_new(&w);
	for (i = 0; i < 4; i++) {
		header_put(header, &ping);
		header[i] ^= 1;
		CU_ASSERT_EQUAL(told(&w, header, 0), REFUSED(PROTOCOL));
	}
	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		msg = ping;
		msg.version = (uint16_t)versions[i];
		CU_ASSERT_EQUAL(told_msg(&w, &msg, 0), REFUSED(VERSION));
	}
	for (i = 1; i < 32; i++) {
		msg = ping;
		msg.flags = 1u << i;
		CU_ASSERT_EQUAL(told_msg(&w, &msg, 0), REFUSED(UNSUPPORTED));
	}
	for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		msg = ping;
		msg.status = statuses[i];
		CU_ASSERT_EQUAL(told_msg(&w, &msg, 0), REFUSED(PROTOCOL));
	}
	for (i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		msg = ping;
		msg.tag = tags[i];
		CU_ASSERT_EQUAL(told_msg(&w, &msg, 0), DDIO_ST_OK);
	}
	wire_free(&w);
}

static bool is_opening(uint32_t opcode)
{
	return opcode && opcode <= DDIO_OP_REFUSE;
}

/* Each opcode there is and some that there are not, as a request and as a reply that nobody asked for. */
static void opcodes(void)
{
	static const uint32_t others_of[] = { 0, OPCODES, 32767, 32768, 65535 };
	struct wire w;
	uint32_t op;
	int ret;

	wire_new(&w);
	for (op = 0; op < OPCODES + 5; op++) {
		struct ddio_msg msg = {
			.version = DDIO_WIRE_VERSION,
			.opcode = (uint16_t)(op < OPCODES ? op : others_of[op - OPCODES]),
			.tag = 7
		};
		bool known = ddio_opcode_limit(msg.opcode, false);

		ret = told_msg(&w, &msg, 0);
		if (!known)
			CU_ASSERT_EQUAL(ret, REFUSED(UNSUPPORTED))
		else if (msg.opcode == DDIO_OP_REFUSE)
			CU_ASSERT_EQUAL(ret, -1) /* it says that it ends */
		else if (is_opening(msg.opcode))
			CU_ASSERT_EQUAL(ret, REFUSED(PROTOCOL))
		msg.flags = DDIO_WIRE_REPLY;
		ret = told_msg(&w, &msg, 0);
		CU_ASSERT(known ? ret == REFUSED(PROTOCOL) || is_opening(msg.opcode)
				: ret == REFUSED(UNSUPPORTED));
	}
	wire_free(&w);
}

/* Each opcode's lengths: none, one, the largest and one more, and the ends of numbers. */
static void lengths(void)
{
	static const uint64_t more[] = { 1ull << 31, 1ull << 32, 1ull << 63, UINT64_MAX };
	struct ddio_msg msg = { .version = DDIO_WIRE_VERSION, .tag = 9 };
	struct wire w;
	uint64_t limit;
	uint32_t op;
	size_t i;

	wire_new(&w);
	for (op = DDIO_OP_REFUSE + 1; op < OPCODES; op++) {
		limit = ddio_opcode_limit(op, false);
		if (!limit)
			continue;
		msg.opcode = (uint16_t)op;
		msg.length = limit + 1;
		CU_ASSERT_EQUAL(told_msg(&w, &msg, 0), REFUSED(TOO_BIG));
		for (i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
			msg.length = more[i];
			CU_ASSERT_EQUAL(told_msg(&w, &msg, 0), REFUSED(TOO_BIG));
		}
		msg.length = 1;
		told_msg(&w, &msg, 0);
		told_msg(&w, &msg, 1);
		/* Longer ones are for members only, see not_for_us(). */
		msg.length = limit;
		CU_ASSERT_EQUAL(told_msg(&w, &msg, 0) >= 1000, limit == DDIO_MAX_PAYLOAD);
		if (limit == DDIO_MAX_SMALL)
			told_msg(&w, &msg, limit);
		others(&w, DDIO_OP_PING);
		CU_ASSERT_FATAL(held() < w.before + (64u << 20));
	}
	wire_free(&w);
}

/* What only members send to one another is refused by its header, not when all of it is there. */
static void not_for_us(void)
{
	static const uint16_t ops[] = { DDIO_OP_FAN_IN,	    DDIO_OP_FAN_AGAIN,	DDIO_OP_FAN_OUT,
					DDIO_OP_COLL_START, DDIO_OP_COLL_AGAIN, DDIO_OP_COLL_TOLD };
	struct ddio_msg msg = { .version = DDIO_WIRE_VERSION, .length = DDIO_MAX_PAYLOAD };
	struct wire w;
	size_t i;

	wire_new(&w);
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		msg.opcode = ops[i];
		CU_ASSERT(told_msg(&w, &msg, 0) > 1000);
	}
	wire_free(&w);
}

static size_t sample(uint8_t *to, size_t i, struct rnd *r)
{
	union any_message *x = calloc(1, sizeof(*x));
	const struct codec *codec = codec_find(carried[i].request);
	struct ddio_msg msg = { .version = DDIO_WIRE_VERSION,
				.opcode = carried[i].opcode,
				.tag = 3 };
	ssize_t len = 0;

	if (codec) {
		codec->gen(r, x);
		len = codec->put(to + DDIO_WIRE_HEADER_LEN, SENT_MAX - DDIO_WIRE_HEADER_LEN, x);
		codec->free(x);
		if (len < 0)
			len = 200; /* It does not matter then what is in it. */
	}
	free(x);
	if (carried[i].opcode == DDIO_OP_OBJ_WRITE || carried[i].opcode == DDIO_OP_COLL_PIECE)
		len += 512;
	msg.length = (uint64_t)len;
	ddio_put_header(to, &msg);
	return DDIO_WIRE_HEADER_LEN + (size_t)len;
}

/* Every beginning of each message: they who said it are silent for a minute, then they go. */
static void halves(void)
{
	uint8_t bytes[SENT_MAX] = { 0 };
	struct rnd rnd = { .x = 5 };
	struct raw *r[SILENT];
	uint32_t n = 0, stride = ut_stride(16);
	struct wire w;
	size_t i, len, at;

	wire_new(&w);
	for (i = 0; i < NCARRIED; i++) {
		if (is_opening(carried[i].opcode))
			continue;
		len = sample(bytes, i, &rnd);
		for (at = 1 + i % stride; at < len; at += stride + (at > 200 ? 31 : 0)) {
			r[n] = raw_new(w.sw);
			raw_say(r[n++], bytes, at, 0);
			sw_run(w.sw, MS);
			if (n < SILENT)
				continue;
			others(&w, DDIO_OP_STATUS);
			sw_run(w.sw, 60000 * MS);
			others(&w, DDIO_OP_STATUS);
			while (n)
				raw_free(r[--n]);
			CU_ASSERT_FATAL(held() < w.before + (8u << 20));
		}
	}
	while (n)
		raw_free(r[--n]);
	wire_free(&w);
}

static void second(struct wire *w, struct raw *r)
{
	sw_run(w->sw, 1000 * MS);
	raw_on(r);
}

/* A byte a second: a question, and a write whose bytes crawl.  Others write to the same block meanwhile, sync, and check. */
static void crawls(void)
{
	enum { DATA = 300 };
	uint8_t bytes[DDIO_WIRE_HEADER_LEN + 48 + DATA], data[4096];
	struct ddio_msg msg = { .version = DDIO_WIRE_VERSION, .opcode = DDIO_OP_STATUS, .tag = 1 };
	struct ddio_msg_obj obj;
	struct raw *r[2];
	struct wire w;
	uint32_t disk = 0, i;
	uint64_t t;

	wire_new(&w);
	while (sw_reactor(w.sw, disk))
		disk++;
	obj = sc_obj(7, disk, 100, DATA);
	header_put(bytes, &msg);
	r[0] = raw_new(w.sw);
	raw_say(r[0], bytes, DDIO_WIRE_HEADER_LEN, 1);
	for (i = 0; i < DDIO_WIRE_HEADER_LEN; i++)
		second(&w, r[0]);
	CU_ASSERT_EQUAL(r[0]->messages, 1);
	CU_ASSERT_EQUAL(r[0]->head.status, DDIO_ST_OK);
	msg.opcode = DDIO_OP_OBJ_WRITE;
	msg.length = 48 + DATA;
	header_put(bytes, &msg);
	CU_ASSERT_EQUAL(ddio_put_obj(bytes + DDIO_WIRE_HEADER_LEN, 48, &obj), 48);
	memset(bytes + DDIO_WIRE_HEADER_LEN + 48, 9, DATA);
	r[1] = raw_new(w.sw);
	raw_say(r[1], bytes, sizeof(bytes), 1);
	for (i = 0; i < sizeof(bytes); i++) {
		second(&w, r[1]);
		t = ddio_sim_elapsed(w.sw->world);
		memset(data, (int)i, sizeof(data));
		if (i + 2 < sizeof(bytes))
			CU_ASSERT_EQUAL(sc_write(w.good, 7, disk, 0, data, sizeof(data)),
					DDIO_ST_OK);
		if (!(i % 16))
			CU_ASSERT_EQUAL(sc_sync(w.good, 7), DDIO_ST_OK);
		CU_ASSERT(ddio_sim_elapsed(w.sw->world) - t < ANSWER_MS * MS);
	}
	sw_run(w.sw, 10 * MS);
	CU_ASSERT_EQUAL(r[1]->messages, 1);
	CU_ASSERT_EQUAL(r[1]->head.status, DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_read(w.good, 7, disk, 0, sizeof(data)), DDIO_ST_OK);
	CU_ASSERT(w.good->bulk_len == sizeof(data) && sw_all(w.good->bulk + 100, DATA, 9));
	raw_free(r[0]);
	raw_free(r[1]);
	wire_free(&w);
}

static const struct ut_case cases[] = {
	{ "fields", fields },
	{ "opcodes", opcodes },
	{ "lengths", lengths },
	{ "not for us", not_for_us },
	{ "halves", halves },
	{ "crawls", crawls },
	{ 0 },
};

int main(void)
{
	const struct ut_suite suites[] = { { "wire", cases } };

	return ut_run("iop_server_wire", suites, 1);
}
