// SPDX-License-Identifier: GPL-2.0-only
/* TRACE: one at a time, its owner's, and gone with it. */
#include <errno.h>
#include "iop/server/priv.h"
#include "tests/unit/iop/server/server_world.h"

static uint32_t call(struct sc *c, struct ddio_msg_trace_ask ask)
{
	uint8_t buf[512];
	ssize_t n = ddio_put_trace_ask(buf, sizeof(buf), &ask);

	CU_ASSERT_FATAL(n > 0);
	return sc_call(c, DDIO_OP_TRACE, buf, n, NULL, 0);
}

static uint32_t begin(struct sc *c)
{
	return call(c, (struct ddio_msg_trace_ask){ .action = DDIO_TRACE_BEGIN, .most = 1 });
}

static uint32_t read_of(struct sc *c, uint32_t reactor)
{
	return call(c,
		    (struct ddio_msg_trace_ask){ .action = DDIO_TRACE_READ, .reactor = reactor });
}

static uint32_t end(struct sc *c)
{
	return call(c, (struct ddio_msg_trace_ask){ .action = DDIO_TRACE_END });
}

/* Returns how many reactors record, and checks that their memory is counted. */
static uint32_t recording(struct sw *sw)
{
	uint32_t i, n = 0;

	for (i = 0; i < SW_REACTORS; i++) {
		n += sw->iop->reactors[i].trace != NULL;
		CU_ASSERT_EQUAL(sw->iop->reactors[i].memory >= 65536 * 40,
				sw->iop->reactors[i].trace != NULL);
	}
	return n;
}

static void begins_tells_and_ends(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0);
	struct ddio_msg_trace got;

	CU_ASSERT_EQUAL(read_of(c, 0), DDIO_ST_NOT_FOUND);
	CU_ASSERT_EQUAL(end(c), DDIO_ST_NOT_FOUND);
	CU_ASSERT_EQUAL(begin(c), DDIO_ST_OK);
	CU_ASSERT_EQUAL(recording(sw), SW_REACTORS);
	CU_ASSERT_EQUAL(read_of(c, 1), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_trace(c->data, c->len, &got), 0);
	CU_ASSERT_EQUAL(got.nreactors, SW_REACTORS);
	CU_ASSERT_EQUAL(got.ncolls + got.total + got.n, 0);
	ddio_trace_free(&got);
	/* A reactor that is not there has recorded nothing. */
	CU_ASSERT_EQUAL(read_of(c, 1000), DDIO_ST_OK);
	CU_ASSERT_EQUAL(end(c), DDIO_ST_OK);
	CU_ASSERT_EQUAL(recording(sw), 0);
	CU_ASSERT_EQUAL(read_of(c, 0), DDIO_ST_NOT_FOUND);
	sc_free(c);
	sw_free(sw);
}

static void only_its_owner(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *a = sc_new(sw, 0), *b = sc_new(sw, 0), *other = sc_new(sw, 1);

	CU_ASSERT_EQUAL(begin(other), DDIO_ST_INVALID);
	CU_ASSERT_EQUAL(begin(a), DDIO_ST_OK);
	CU_ASSERT_EQUAL(begin(a), DDIO_ST_BUSY);
	CU_ASSERT_EQUAL(begin(b), DDIO_ST_BUSY);
	CU_ASSERT_EQUAL(read_of(b, 0), DDIO_ST_NOT_FOUND);
	CU_ASSERT_EQUAL(end(b), DDIO_ST_NOT_FOUND);
	CU_ASSERT_EQUAL(recording(sw), SW_REACTORS);
	sc_free(a);
	sw_run(sw, 10 * MS);
	CU_ASSERT_EQUAL(recording(sw), 0);
	CU_ASSERT_EQUAL(begin(b), DDIO_ST_OK);
	sc_free(b);
	sc_free(other);
	sw_free(sw);
}

/* The connection breaks while the reactors are being asked, at every moment: nothing is left. */
static void its_owner_goes_at_any_time(void)
{
	struct ddio_msg_trace_ask ask = { .action = DDIO_TRACE_BEGIN, .most = 1 };
	struct sw *sw = sw_new(NULL);
	uint64_t ns;
	struct sc *c;
	uint8_t buf[512];
	ssize_t n = ddio_put_trace_ask(buf, sizeof(buf), &ask);

	for (ns = 0; ns < MS; ns += 20000) {
		c = sc_new(sw, 0);
		sc_send(c, DDIO_OP_TRACE, buf, n, NULL, 0);
		sw_run(sw, ns);
		sc_free(c);
		sw_run(sw, 10 * MS);
		CU_ASSERT_EQUAL(recording(sw), 0);
	}
	sw_free(sw);
}

/* The node stops in order, at once, although somebody traces. */
static void a_node_stops_under_it(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0);

	CU_ASSERT_EQUAL(begin(c), DDIO_ST_OK);
	ddio_iop_stop(sw->iop);
	sw_run(sw, 500 * MS);
	CU_ASSERT_EQUAL(sw->stopped, 1);
	ddio_iop_free(sw->iop);
	sw->iop = NULL;
	sc_free(c);
	sw_free(sw);
}

static void malformed_ones(void)
{
	static const struct ddio_msg_trace_ask bad[] = {
		{ .action = 0, .most = 1 },
		{ .action = 4, .most = 1 },
		{ .action = DDIO_TRACE_BEGIN, .most = 0 },
		{ .action = DDIO_TRACE_BEGIN, .most = DDIO_TRACE_COLLS + 1 },
	};
	struct sw *sw = sw_new(NULL);
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sc *c = sc_new(sw, 0);

		CU_ASSERT_NOT_EQUAL(call(c, bad[i]), DDIO_ST_OK);
		CU_ASSERT_EQUAL(recording(sw), 0);
		sc_free(c);
	}
	sw_free(sw);
}

static const struct ut_case cases[] = {
	{ "it begins, tells and ends", begins_tells_and_ends },
	{ "one at a time, and only its owner's", only_its_owner },
	{ "its owner goes at any time", its_owner_goes_at_any_time },
	{ "a node stops under it", a_node_stops_under_it },
	{ "malformed ones", malformed_ones },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "trace", cases } };

	return ut_run("test_iop_server_trace", suites, 1);
}
