// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the wire grows: a bit, and a field that came with it.  Both ends know the bit or one of them is older, and whoever
 * says something and whoever hears it does not ask which: the codec alone does.
 */
#include "proto/coder.h"
#include "tests/unit/conn/conn_pair.h"

#define FEATURE_COLOUR 0x8u

enum { PLAIN = 7, WHAT = 4711, COLOUR = 12, THEN_LEN = 8, NOW_LEN = 12 };

/* The message as it was before. */
struct grown_then {
	uint64_t what;
};

static void code_grown_then(struct ddio_coder *c, struct grown_then *x)
{
	code_u64(c, &x->what);
}

ssize_t ddio_put_grown_then(void *buf, size_t cap, const struct grown_then *x);
int ddio_get_grown_then(const void *buf, size_t len, struct grown_then *x);
CODEC(grown_then, grown_then)

/* The same with a colour, which was always PLAIN before. */
struct grown {
	uint64_t what;
	uint32_t colour;
};

static void code_grown(struct ddio_coder *c, struct grown *x)
{
	code_u64(c, &x->what);
	if (code_since(c, FEATURE_COLOUR))
		code_u32(c, &x->colour);
	else if (c->reading)
		x->colour = PLAIN;
}

ssize_t ddio_put_grown(void *buf, size_t cap, const struct grown *x, uint32_t features);
int ddio_get_grown(const void *buf, size_t len, struct grown *x, uint32_t features);
CODEC_GROWN(grown, grown, NULL)

/* What a side knows, and has heard. */
struct hearer {
	bool older;
	uint64_t len;
	struct grown heard;
};

static int hear(struct side *s, const struct ddio_msg *msg, const void *payload)
{
	struct hearer *h = s->arg;
	struct grown_then then;

	h->len = msg->length;
	if (!h->older)
		return ddio_get_grown(payload, msg->length, &h->heard, conn_features(s->conn));
	CU_ASSERT_EQUAL(ddio_get_grown_then(payload, msg->length, &then), 0);
	h->heard = (struct grown){ then.what, 0 };
	return 0;
}

static void say(const struct side *s, bool older)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_JOB };
	const struct grown now = { WHAT, COLOUR };
	const struct grown_then then = { WHAT };
	uint8_t buf[16];
	ssize_t len = older ? ddio_put_grown_then(buf, sizeof(buf), &then)
			    : ddio_put_grown(buf, sizeof(buf), &now, conn_features(s->conn));

	CU_ASSERT_FATAL(len > 0);
	CU_ASSERT_EQUAL(ddio_conn_send(s->conn, &msg, buf, (size_t)len, NULL, 0, NULL), 0);
}

static void check(const struct hearer *h, bool both)
{
	CU_ASSERT_EQUAL(h->len, both ? NOW_LEN : THEN_LEN);
	CU_ASSERT_EQUAL(h->heard.what, WHAT);
	if (!h->older)
		CU_ASSERT_EQUAL(h->heard.colour, both ? COLOUR : PLAIN);
}

static void between(bool cp_older, bool iop_older)
{
	static const struct ddio_conn_opts newer = { .differs = FEATURE_COLOUR };
	struct hearer cp = { .older = cp_older }, iop = { .older = iop_older };
	bool both = !cp_older && !iop_older;
	struct conn_pair p;

	pair_opts = cp_older ? NULL : &newer;
	pair_iop_opts = iop_older ? NULL : &newer;
	pair_open(&p, NULL);
	pair_opts = pair_iop_opts = NULL;
	CU_ASSERT_EQUAL(conn_features(p.cp.conn), both ? FEATURE_COLOUR : 0);
	CU_ASSERT_EQUAL(conn_features(p.iop.conn), both ? FEATURE_COLOUR : 0);
	p.cp.on_message = p.iop.on_message = hear;
	p.cp.arg = &cp;
	p.iop.arg = &iop;
	say(&p.cp, cp_older);
	say(&p.iop, iop_older);
	ddio_sim_run_for(p.world, SECOND);
	check(&cp, both);
	check(&iop, both);
	CU_ASSERT_EQUAL(p.cp.closes + p.iop.closes, 0);
	pair_end(&p);
}

static void test_grown(void)
{
	between(false, false);
	between(true, false);
	between(false, true);
	between(true, true);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "a field that an older peer does not know", test_grown },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "features", cases } };

	return ut_run("conn_features", suites, 1);
}
