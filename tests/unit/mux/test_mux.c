// SPDX-License-Identifier: GPL-2.0-only
/* Streams that a connection carries: their bytes, their windows, their ends; and what no honest end sends. */
#include "tests/unit/mux/mux_pair.h"

enum { MANY = DDIO_MUX_STREAMS };

static const struct ddio_sim_link chopped = { .latency_ns = 20000, .window = 3000, .chop = 700 };

static void run(struct mux_pair *p, uint64_t seconds)
{
	ddio_sim_run_for(p->conn.world, seconds * SECOND);
}

/*
 * What honest ends do
 */
static void both_ways(const struct ddio_sim_link *net, uint64_t there, uint64_t back)
{
	struct mux_user a = { .to_send = there, .seed = 1, .expects = 2 };
	struct mux_user b = { .to_send = back, .seed = 2, .expects = 1 };
	struct mux_pair p;

	mux_pair_open(&p, net);
	p.b.users = &b;
	user_open(&a, &p.a);
	CU_ASSERT_STRING_EQUAL(ddio_stream_peer(a.stream), "node:3");
	run(&p, 100);
	CU_ASSERT_EQUAL(p.b.opened, 1);
	CU_ASSERT_EQUAL(p.b.last.node, 1);
	CU_ASSERT_EQUAL(p.b.last.reactor, 2);
	CU_ASSERT_EQUAL(a.got, back);
	CU_ASSERT_EQUAL(b.got, there);
	CU_ASSERT_FALSE(a.wrong || b.wrong);
	CU_ASSERT_EQUAL(end_held(&p.a) + end_held(&p.b), 0);
	user_close(&a);
	run(&p, 1);
	CU_ASSERT_TRUE(b.eof);
	CU_ASSERT_EQUAL(end_streams(&p.a) + end_streams(&p.b), 0);
	mux_pair_end(&p);
}

static void test_bytes(void)
{
	both_ways(NULL, 1, 0);
	both_ways(NULL, 0, 0);
	both_ways(NULL, 5000000, 3000000);
	both_ways(&chopped, 700000, 1234567);
}

static void test_many(void)
{
	static struct mux_user a[MANY], b[MANY];
	struct ddio_stream *one;
	struct mux_pair p;
	uint32_t i, bad = 0;

	memset(a, 0, sizeof(a));
	memset(b, 0, sizeof(b));
	mux_pair_open(&p, NULL);
	p.b.users = b;
	for (i = 0; i < MANY; i++) {
		a[i] = (struct mux_user){ .to_send = 3000, .seed = (uint8_t)i };
		b[i] = (struct mux_user){ .to_send = 2000, .expects = (uint8_t)i };
		user_open(&a[i], &p.a);
	}
	CU_ASSERT_EQUAL(ddio_mux_open(p.a.mux, 1, 2, "node:3", &one), -EMFILE);
	run(&p, 20);
	for (i = 0; i < MANY; i++)
		bad += a[i].got != 2000 || b[i].got != 3000 || a[i].wrong || b[i].wrong;
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(p.b.opened, MANY);
	for (i = 0; i < MANY; i++)
		user_close(i % 2 ? &a[i] : &b[i]);
	run(&p, 20);
	CU_ASSERT_EQUAL(end_streams(&p.a) + end_streams(&p.b), 0);
	mux_pair_end(&p);
}

enum { SHORT = 200 };

/* As many streams write as many bytes each.  Return: how many messages that took. */
static uint32_t messages_of_short(uint32_t bytes)
{
	static struct mux_user a[SHORT], b[SHORT];
	struct mux_pair p;
	uint32_t i, bad = 0, before, took;

	memset(a, 0, sizeof(a));
	memset(b, 0, sizeof(b));
	mux_pair_open(&p, NULL);
	p.b.users = b;
	for (i = 0; i < SHORT; i++) {
		a[i] = (struct mux_user){ .seed = (uint8_t)i };
		b[i] = (struct mux_user){ .expects = (uint8_t)i };
		user_open(&a[i], &p.a);
	}
	run(&p, 1);
	before = p.b.messages;
	for (i = 0; i < SHORT; i++) {
		a[i].to_send = bytes;
		a[i].close_when_sent = i % 2;
		ddio_stream_want_write(a[i].stream, true);
	}
	run(&p, 10);
	took = p.b.messages - before;
	for (i = 0; i < SHORT; i++)
		bad += b[i].got != bytes || b[i].wrong || b[i].eof != i % 2;
	CU_ASSERT_EQUAL(bad, 0);
	for (i = 0; i < SHORT; i += 2)
		user_close(&a[i]);
	run(&p, 10);
	CU_ASSERT_EQUAL(end_streams(&p.a) + end_streams(&p.b), 0);
	mux_pair_end(&p);
	return took;
}

/* What is short goes together with what others write; what is long, by itself. */
static void test_short(void)
{
	/* Of the ends, each makes what is before it go. */
	CU_ASSERT_EQUAL(messages_of_short(100), SHORT);
	CU_ASSERT_EQUAL(messages_of_short(4095), SHORT);
	CU_ASSERT_EQUAL(messages_of_short(4096), SHORT + SHORT / 2);
}

/* One that reads nothing gets its window and no byte more, and holds up nobody. */
static void test_window(void)
{
	struct mux_user a[2] = { { .to_send = 3 << 20, .seed = 5 },
				 { .to_send = 3 << 20, .seed = 6 } };
	struct mux_user b[2] = { { .lazy = true, .expects = 5 }, { .expects = 6 } };
	struct mux_pair p;

	mux_pair_open(&p, NULL);
	p.b.users = b;
	user_open(&a[0], &p.a);
	user_open(&a[1], &p.a);
	run(&p, 10);
	CU_ASSERT_EQUAL(a[0].sent, DDIO_MUX_WINDOW);
	CU_ASSERT_EQUAL(end_held(&p.b), DDIO_MUX_WINDOW);
	CU_ASSERT_EQUAL(b[1].got, 3 << 20);
	b[0].lazy = false;
	ddio_stream_want_read(b[0].stream, true);
	run(&p, 10);
	CU_ASSERT_EQUAL(b[0].got, 3 << 20);
	CU_ASSERT_FALSE(b[0].wrong || b[1].wrong);
	user_close(&a[0]);
	user_close(&a[1]);
	run(&p, 1);
	mux_pair_end(&p);
}

/* What was written before the end comes before it, however slowly it is read. */
static void test_end_with_data(void)
{
	struct mux_user a = { .to_send = 200000, .seed = 9, .close_when_sent = true };
	struct mux_user b = { .lazy = true, .expects = 9 };
	struct mux_pair p;

	mux_pair_open(&p, &chopped);
	p.b.users = &b;
	user_open(&a, &p.a);
	run(&p, 10);
	CU_ASSERT_PTR_NULL(a.stream);
	CU_ASSERT_FALSE(b.eof);
	b.lazy = false;
	ddio_stream_want_read(b.stream, true);
	run(&p, 1);
	CU_ASSERT_EQUAL(b.got, 200000);
	CU_ASSERT_TRUE(b.eof && !b.wrong);
	run(&p, 1);
	CU_ASSERT_EQUAL(end_streams(&p.a) + end_streams(&p.b), 0);
	mux_pair_end(&p);
}

/* The end that takes closes while data are on their way to it, and in the middle of a message. */
static void test_end_against_data(void)
{
	uint64_t at;

	for (at = 100; at < 3000; at += 170) {
		struct mux_user a = { .to_send = 10 << 20, .seed = 9 };
		struct mux_user b = { .expects = 9 };
		struct mux_pair p;

		mux_pair_open(&p, &chopped);
		p.b.users = &b;
		user_open(&a, &p.a);
		ddio_sim_run_for(p.conn.world, at * 1000);
		user_close(&b);
		run(&p, 10);
		CU_ASSERT_TRUE(a.err == -EPIPE || a.eof);
		CU_ASSERT_EQUAL(end_streams(&p.a) + end_streams(&p.b), 0);
		CU_ASSERT_EQUAL(end_held(&p.a) + end_held(&p.b), 0);
		mux_pair_end(&p);
	}
}

static void test_refused(void)
{
	struct mux_user a = { .to_send = 100 };
	struct mux_pair p;

	mux_pair_open(&p, NULL);
	p.b.refuse = true;
	user_open(&a, &p.a);
	run(&p, 1);
	CU_ASSERT_EQUAL(a.err, -EOPNOTSUPP);
	CU_ASSERT_EQUAL(end_streams(&p.a) + end_streams(&p.b), 0);
	mux_pair_end(&p);
}

/* The process at the other end dies: all streams break, with a text, and outlive the mux. */
static void test_dies(void)
{
	struct mux_user a[3] = { { .to_send = 9 << 20 } }, b[3] = { { .lazy = true } };
	struct mux_pair p;
	int i;

	mux_pair_open(&p, NULL);
	p.b.users = b;
	for (i = 0; i < 3; i++)
		user_open(&a[i], &p.a);
	run(&p, 1);
	sim_kill(p.conn.iop.env);
	run(&p, 1);
	CU_ASSERT_TRUE(p.a.closed);
	for (i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(a[i].err, -ECONNRESET);
		CU_ASSERT_PTR_NULL(a[i].stream);
		CU_ASSERT_TRUE(a[i].why[0]);
	}
	mux_pair_end(&p);
}

/*
 * What no honest end sends
 */
static void say(struct mux_pair *p, uint16_t opcode, uint32_t first, uint32_t second, size_t len)
{
	const struct ddio_msg msg = { .opcode = opcode };
	uint32_t raw[4] = { first, second };
	static uint8_t bulk[DDIO_MAX_MUX_DATA];
	struct iovec iov = { bulk, len };

	if (opcode == DDIO_OP_MUX_DATA)
		CU_ASSERT_EQUAL(ddio_conn_send(p->conn.cp.conn, &msg, raw, 8, &iov, 1, NULL), 0)
	else
		CU_ASSERT_EQUAL(ddio_conn_send(p->conn.cp.conn, &msg, raw, len, NULL, 0, NULL), 0)
}

struct mux_lie {
	uint16_t opcode;
	uint32_t first, second;
	size_t len;
};

/* @n messages to an end whose streams read nothing; the last one ends the connection there. */
static void lie(const struct mux_lie *lies, size_t n)
{
	struct mux_user b[8] = { { .lazy = true } };
	struct mux_pair p;
	size_t i;

	mux_pair_open(&p, NULL);
	p.b.users = b;
	for (i = 0; i < 8; i++)
		b[i].lazy = true;
	for (i = 0; i < n; i++) {
		CU_ASSERT_FALSE(p.b.closed);
		say(&p, lies[i].opcode, lies[i].first, lies[i].second, lies[i].len);
		run(&p, 1);
	}
	CU_ASSERT_TRUE(p.b.closed);
	for (i = 0; i < p.b.opened; i++)
		CU_ASSERT_PTR_NULL(b[i].stream);
	mux_pair_end(&p);
}

#define LIES(...)                                               \
	do {                                                    \
		const struct mux_lie lies_[] = { __VA_ARGS__ }; \
		lie(lies_, sizeof(lies_) / sizeof(lies_[0]));   \
	} while (0)
#define OPEN(id)                            \
	{                                   \
		DDIO_OP_MUX_OPEN, id, 0, 16 \
	}
#define DATA(id, len)                        \
	{                                    \
		DDIO_OP_MUX_DATA, id, 0, len \
	}
#define WINDOW(id, bytes)                        \
	{                                        \
		DDIO_OP_MUX_WINDOW, id, bytes, 8 \
	}
#define END(id)                           \
	{                                 \
		DDIO_OP_MUX_END, id, 0, 8 \
	}
#define FULL DATA(1, DDIO_MAX_MUX_DATA)

static void test_lies(void)
{
	LIES(DATA(1, 1));
	LIES(WINDOW(1, 1));
	LIES(END(1));
	LIES(OPEN(0));
	LIES(OPEN(1), OPEN(1));
	LIES(OPEN(1), DATA(1, 0));
	LIES(OPEN(1), WINDOW(1, 1));
	LIES(OPEN(1), WINDOW(1, UINT32_MAX));
	LIES(OPEN(1), DATA(2, 1));
	LIES(OPEN(1), FULL, FULL, FULL, FULL, DATA(1, 1));
	LIES(OPEN(1), { DDIO_OP_MUX_OPEN, 2, 0, 3 });
	LIES(OPEN(1), { DDIO_OP_MUX_END, 1, DDIO_ST_MAX, 8 });
	LIES(OPEN(1), { DDIO_OP_PING, 0, 0, 0 });
}

static void part(uint8_t *payload, size_t *len, uint32_t id, uint32_t says, uint32_t bytes)
{
	const uint32_t record[2] = { id, says };

	memcpy(payload + *len, record, sizeof(record));
	*len += sizeof(record) + bytes;
}

/* Parts of two streams of which the last is none that an honest end sends. */
static void parts_lie(uint32_t id, uint32_t says, uint32_t bytes, int err)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_MUX_PARTS };
	static uint8_t payload[DDIO_MAX_MUX_PARTS];
	struct mux_user b[2] = { { .lazy = true }, { .lazy = true } };
	struct mux_pair p;
	size_t len = 0;

	mux_pair_open(&p, NULL);
	p.b.users = b;
	say(&p, DDIO_OP_MUX_OPEN, 1, 0, 16);
	say(&p, DDIO_OP_MUX_OPEN, 2, 0, 16);
	part(payload, &len, 1, 10, 10);
	part(payload, &len, id, says, bytes);
	CU_ASSERT_EQUAL(ddio_conn_send(p.conn.cp.conn, &msg, payload, len, NULL, 0, NULL), 0);
	run(&p, 1);
	CU_ASSERT_TRUE(p.b.closed);
	CU_ASSERT_EQUAL(p.b.err, err);
	mux_pair_end(&p);
}

static void test_parts_lies(void)
{
	parts_lie(3, 10, 10, -EPROTO);
	parts_lie(0, 10, 10, -EINVAL);
	parts_lie(2, 0, 0, -EINVAL);
	/* More than there is, or can be. */
	parts_lie(2, 11, 10, -EPROTO);
	parts_lie(2, UINT32_MAX, 10, -E2BIG);
	/* Less than a record is left. */
	parts_lie(2, 10, 13, -EPROTO);
}

/* Parts are no way around a window. */
static void test_parts_window(void)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_MUX_PARTS };
	static uint8_t payload[DDIO_MAX_MUX_PARTS];
	struct mux_user b = { .lazy = true };
	struct mux_pair p;
	uint32_t i;
	size_t len;

	mux_pair_open(&p, NULL);
	p.b.users = &b;
	say(&p, DDIO_OP_MUX_OPEN, 1, 0, 16);
	for (i = 0; i < DDIO_MUX_WINDOW / 32768; i++) {
		len = 0;
		part(payload, &len, 1, 16384, 16384);
		part(payload, &len, 1, 16384, 16384);
		CU_ASSERT_EQUAL(ddio_conn_send(p.conn.cp.conn, &msg, payload, len, NULL, 0, NULL),
				0);
		run(&p, 1);
	}
	CU_ASSERT_FALSE(p.b.closed);
	CU_ASSERT_EQUAL(end_held(&p.b), DDIO_MUX_WINDOW);
	len = 0;
	part(payload, &len, 1, 1, 1);
	CU_ASSERT_EQUAL(ddio_conn_send(p.conn.cp.conn, &msg, payload, len, NULL, 0, NULL), 0);
	run(&p, 1);
	CU_ASSERT_TRUE(p.b.closed);
	mux_pair_end(&p);
}

/* An end that opens streams takes none. */
static void test_wrong_way(void)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_MUX_OPEN };
	static const uint32_t raw[4] = { 1 };
	struct mux_pair p;

	mux_pair_open(&p, NULL);
	CU_ASSERT_EQUAL(ddio_conn_send(p.conn.iop.conn, &msg, raw, 16, NULL, 0, NULL), 0);
	run(&p, 1);
	CU_ASSERT_TRUE(p.a.closed);
	mux_pair_end(&p);
}

/* After an end of both sides the number is unknown; before, the other side's end may still be on its way. */
static void test_flood(void)
{
	struct mux_pair p;
	uint32_t i;

	mux_pair_open(&p, NULL);
	p.b.refuse = true;
	ddio_conn_pause(p.conn.cp.conn, true);
	for (i = 1; i <= DDIO_MUX_STREAMS; i++)
		say(&p, DDIO_OP_MUX_OPEN, i, 0, 16);
	run(&p, 1);
	CU_ASSERT_FALSE(p.b.closed);
	CU_ASSERT_EQUAL(end_streams(&p.b), DDIO_MUX_STREAMS);
	say(&p, DDIO_OP_MUX_OPEN, i, 0, 16);
	run(&p, 1);
	CU_ASSERT_TRUE(p.b.closed);
	mux_pair_end(&p);
}

/* Whoever asks for ends and reads none of them is given up. */
static void test_deaf(void)
{
	struct mux_pair p;
	uint32_t i;

	mux_pair_open(&p, NULL);
	p.b.refuse = true;
	ddio_conn_pause(p.conn.cp.conn, true);
	for (i = 1; i < 400000 && !p.b.closed; i++) {
		say(&p, DDIO_OP_MUX_OPEN, i, 0, 16);
		say(&p, DDIO_OP_MUX_END, i, 0, 8);
		if (!(i % 1000))
			run(&p, 1);
		if (!(i % 1000))
			CU_ASSERT_TRUE(p.b.closed || ddio_conn_copied(p.conn.iop.conn) < 5u << 20);
	}
	CU_ASSERT_TRUE(p.b.closed);
	mux_pair_end(&p);
}

static const struct ut_case honest_cases[] = {
	{ "bytes both ways", test_bytes },
	{ "4,096 streams", test_many },
	{ "short writes", test_short },
	{ "a window", test_window },
	{ "an end with data under way", test_end_with_data },
	{ "an end against data under way", test_end_against_data },
	{ "refused", test_refused },
	{ "the other process dies", test_dies },
	{ NULL, NULL },
};

static const struct ut_case lie_cases[] = {
	{ "lies", test_lies },
	{ "lies about parts", test_parts_lies },
	{ "parts beyond the window", test_parts_window },
	{ "the wrong way", test_wrong_way },
	{ "too many", test_flood },
	{ "one that does not read", test_deaf },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "honest ends", honest_cases },
		{ "others", lie_cases },
	};

	return ut_run("mux", suites, sizeof(suites) / sizeof(suites[0]));
}
