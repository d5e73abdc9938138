// SPDX-License-Identifier: GPL-2.0-only
/* Each sender of several small messages that wait in one chunk is told once, in order. */
#include "tests/unit/conn/conn_pair.h"

enum { MESSAGES = 5 };

struct small_send {
	struct ddio_send send;
	uint32_t number;
};

static uint32_t told[MESSAGES], ntold;

static void small_done(struct ddio_send *send, int err)
{
	CU_ASSERT_EQUAL(err, 0);
	if (ntold < MESSAGES)
		told[ntold] = ddio_container_of(send, struct small_send, send)->number;
	ntold++;
}

static void senders_without_bulk(void)
{
	struct small_send out[MESSAGES];
	struct ddio_msg msg = { .opcode = DDIO_OP_PING };
	struct conn_pair p;
	uint32_t i;

	pair_open(&p, NULL);
	ntold = 0;
	for (i = 0; i < MESSAGES; i++) {
		out[i].send.done = small_done;
		out[i].number = i;
		msg.tag = i;
		CU_ASSERT_EQUAL(ddio_conn_send(p.cp.conn, &msg, NULL, 0, NULL, 0, &out[i].send), 0);
	}
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(ntold, MESSAGES);
	for (i = 0; i < MESSAGES; i++)
		CU_ASSERT_EQUAL(told[i], i);
	CU_ASSERT_EQUAL(p.iop.messages, MESSAGES);
	pair_end(&p);
}

static const struct ut_case cases[] = {
	{ "senders without bulk", senders_without_bulk },
	{ .name = NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "conn sender", cases } };

	return ut_run("conn_sender", suites, 1);
}
