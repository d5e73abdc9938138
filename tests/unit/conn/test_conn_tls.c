// SPDX-License-Identifier: GPL-2.0-only
/* Connections that are closed to strangers, and what both sides say if they differ, or have not the same key. */
#include "tests/unit/conn/conn_pair.h"

static const struct ddio_key old = { .len = 32, .bytes = "the cluster's key, 32 bytes long" };
static const struct ddio_key new = { .len = 32, .bytes = "the key after it, 32 bytes long " };
static const struct ddio_key old_new = { .len = 32,
					 .bytes = "the cluster's key, 32 bytes long",
					 .other_len = 32,
					 .other = "the key after it, 32 bytes long " };
static const struct ddio_key new_old = { .len = 32,
					 .bytes = "the key after it, 32 bytes long ",
					 .other_len = 32,
					 .other = "the cluster's key, 32 bytes long" };

static struct ddio_conn_opts cp_opts, iop_opts;

static void opts_set(struct ddio_conn_opts *opts, const struct ddio_key *key, bool tls)
{
	memset(opts, 0, sizeof(*opts));
	opts->key = key;
	opts->cluster = "lab";
	if (tls)
		CU_ASSERT_EQUAL_FATAL(ddio_conn_tls_new(key, false, &opts->tls), 0);
}

static void opening(struct conn_pair *p, const struct ddio_key *cp, bool cp_tls,
		    const struct ddio_key *iop, bool iop_tls)
{
	opts_set(&cp_opts, cp, cp_tls);
	opts_set(&iop_opts, iop, iop_tls);
	pair_opts = &cp_opts;
	pair_iop_opts = &iop_opts;
	pair_start(p, NULL);
	/* Nobody waits for a bound: this is said at once. */
	ddio_sim_run_for(p->world, SECOND);
}

static void closing(struct conn_pair *p)
{
	pair_end(p);
	ddio_tls_free(cp_opts.tls);
	ddio_tls_free(iop_opts.tls);
	pair_opts = pair_iop_opts = NULL;
}

static void refused(struct conn_pair *p, int err, const char *cp_says, const char *iop_says)
{
	CU_ASSERT_EQUAL(p->cp.readies + p->iop.hellos, 0);
	CU_ASSERT_EQUAL(p->cp.closes, 1);
	CU_ASSERT_EQUAL(p->iop.closes, 1);
	CU_ASSERT_EQUAL(p->cp.err, err);
	CU_ASSERT(strstr(p->cp.why, cp_says) != NULL);
	CU_ASSERT(strstr(p->iop.why, iop_says) != NULL);
	CU_ASSERT(ddio_sim_logged(p->world, iop_says));
	closing(p);
}

static void test_opened(void)
{
	struct conn_pair p;

	opening(&p, &old, true, &old, true);
	CU_ASSERT_EQUAL(p.cp.readies, 1);
	CU_ASSERT_EQUAL(p.iop.hellos, 1);
	CU_ASSERT_EQUAL(send_ping(&p.cp, 7), 0);
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(p.iop.messages, 1);
	/* Records are authenticated: no second sum. */
	CU_ASSERT_FALSE(ddio_conn_sums(p.cp.conn));
	closing(&p);
}

static void test_differ(void)
{
	struct conn_pair p;

	opening(&p, &old, false, &old, true);
	refused(&p, -EKEYREJECTED,
		"refused: the node speaks TLS only (security = tls), and the connector does not",
		"the connector does not speak TLS, and the node speaks nothing else (security = tls)");
	opening(&p, &old, true, &old, false);
	refused(&p, -EPROTONOSUPPORT,
		"the node does not speak TLS, and the connector speaks nothing else (security = tls)",
		"the connector speaks TLS, and the node does not: security = none holds here");
}

static void test_wrong_key(void)
{
	struct conn_pair p;

	opening(&p, &old, true, &new, true);
	refused(&p, -EKEYREJECTED, "the node refuses the connector's key: it is none of the node's",
		"the connector's key is none of the node's");
}

/* Each step of a change of keys, while others have not taken it yet. */
static void test_change(void)
{
	const struct ddio_key *steps[] = { &old, &old_new, &new_old, &new };
	struct conn_pair p;
	int i, from, to, tls;

	for (tls = 0; tls < 2; tls++)
		for (i = 0; i < 7; i++) {
			from = i / 2;
			to = (i + 1) / 2;
			opening(&p, steps[from], tls, steps[to], tls);
			CU_ASSERT_EQUAL(p.cp.readies, 1);
			closing(&p);
			opening(&p, steps[to], tls, steps[from], tls);
			CU_ASSERT_EQUAL(p.cp.readies, 1);
			closing(&p);
		}
	/* Two steps apart they do not fit. */
	opening(&p, &new, false, &old_new, false);
	CU_ASSERT_EQUAL(p.cp.err, -EKEYREJECTED);
	closing(&p);
	opening(&p, &old_new, true, &new, true);
	CU_ASSERT_EQUAL(p.cp.err, -EKEYREJECTED);
	closing(&p);
}

/* Who knocks and says nothing is shown out as where there is no TLS. */
static void test_silent(void)
{
	struct ddio_stream *stream;
	struct ddio_env *stranger;
	struct conn_pair p;
	static const struct ddio_stream_ops deaf;

	opening(&p, &old, true, &old, true);
	side_close(&p.iop);
	p.iop = (struct side){ .pair = &p, .env = p.iop.env };
	stranger = ddio_sim_env(p.world, "stranger");
	CU_ASSERT_EQUAL_FATAL(ddio_stream_connect(stranger, "127.0.0.1:7000", &deaf, NULL, &stream),
			      0);
	ddio_stream_want_read(stream, false);
	ddio_sim_run_for(p.world, 9 * SECOND);
	CU_ASSERT_EQUAL(p.iop.closes, 0);
	ddio_sim_run_for(p.world, 2 * SECOND);
	CU_ASSERT_EQUAL(p.iop.closes, 1);
	CU_ASSERT_EQUAL(p.iop.err, -ETIMEDOUT);
	ddio_stream_close(stream);
	closing(&p);
}

static const struct ut_case cases[] = {
	{ "opened", test_opened },
	{ "the sides differ", test_differ },
	{ "a wrong key", test_wrong_key },
	{ "keys are changed", test_change },
	{ "a silent stranger", test_silent },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "TLS", cases } };

	return ut_run("test_conn_tls", suites, 1);
}
