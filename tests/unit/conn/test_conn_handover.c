// SPDX-License-Identifier: GPL-2.0-only
/* tsan */
/* Handing connections over between the reactors of a node. */
#include "conn/conn_priv.h"
#include "env/real/real.h"
#include "tests/unit/conn/conn_pair.h"

struct handover {
	struct ddio_post post;
	struct side *side;
	struct ddio_env *to;
	int errs;
};

static void take_over(void *arg)
{
	static const struct ddio_msg_welcome welcome = { .nreactors = 2, .reactor = 1 };
	struct handover *h = arg;
	struct side *s = h->side;

	h->errs += ddio_conn_attach(h->to, s->conn, &side_ops, s) != 0;
	h->errs += s->conn->env != h->to;
	h->errs += ddio_conn_welcome(s->conn, &welcome) != 0;
}

static bool give_away(struct side *s)
{
	struct handover *h = s->arg;

	ddio_conn_detach(s->conn);
	ddio_env_post(h->to, &h->post);
	return false;
}

static void test_handover(void)
{
	struct handover h = { .post = { .fn = take_over, .arg = &h } };
	struct conn_pair p;
	int i;

	pair_start(&p, NULL);
	h.side = &p.iop;
	h.to = ddio_sim_env(p.world, "iop reactor 1");
	p.iop.arg = &h;
	p.iop.on_hello = give_away;
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(h.errs, 0);
	CU_ASSERT_EQUAL_FATAL(p.cp.readies, 1);
	for (i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(send_ping(&p.cp, i), 0);
		CU_ASSERT_EQUAL(send_ping(&p.iop, i), 0);
	}
	sim_kill(p.iop.env); /* the reactor that accepted is no longer needed */
	ddio_sim_run_for(p.world, 20 * SECOND);
	CU_ASSERT_EQUAL(p.cp.messages, 10);
	CU_ASSERT_EQUAL(p.iop.messages, 10);
	CU_ASSERT_EQUAL(p.cp.closes + p.iop.closes, 0);
	pair_end(&p);
}

/* The same between threads: nothing touches the connection after it was handed over. */
struct threads {
	struct ddio_env *env[3]; /* connector, acceptor, the one that takes over */
	struct ddio_gate done;
	struct side cp, iop;
	struct handover h;
	int errs;
};

static void threads_accept(void *ctx, struct ddio_stream *stream)
{
	struct threads *t = ctx;

	t->errs += ddio_conn_accept(t->env[1], stream, NULL, &side_ops, &t->iop, &t->iop.conn) != 0;
}

static int threads_echo(struct side *s, const struct ddio_msg *msg, const void *payload)
{
	(void)payload;
	return ddio_conn_reply(s->conn, msg, DDIO_ST_OK, NULL, 0);
}

static int threads_count(struct side *s, const struct ddio_msg *msg, const void *payload)
{
	struct threads *t = s->arg;

	(void)msg;
	(void)payload;
	if (s->messages == 1000)
		ddio_gate_open(s->env, &t->done);
	else if (send_ping(s, s->messages))
		t->errs++;
	return 0;
}

static void threads_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct threads *t = ((struct side *)ctx)->arg;

	t->errs += welcome->reactor != 1;
	t->errs += send_ping(&t->cp, 0) != 0;
}

static void test_handover_threads(void)
{
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT, .reactor = 1 };
	struct ddio_conn_ops cp_ops = side_ops;
	struct ddio_listener *listener;
	struct threads t = { 0 };
	int i;

	cp_ops.ready = threads_ready;
	ddio_gate_init(&t.done);
	for (i = 0; i < 3; i++)
		CU_ASSERT_EQUAL_FATAL(ddio_real_new(NULL, &t.env[i]), 0);
	t.h = (struct handover){ { take_over, &t.h, NULL }, &t.iop, t.env[2], 0 };
	t.cp.env = t.env[0];
	t.cp.arg = &t;
	t.cp.on_message = threads_count;
	t.iop.arg = &t.h;
	t.iop.on_hello = give_away;
	t.iop.on_message = threads_echo;
	CU_ASSERT_EQUAL_FATAL(ddio_listen(t.env[1], "127.0.0.1:0", threads_accept, &t, &listener),
			      0);
	CU_ASSERT_EQUAL_FATAL(ddio_conn_connect(t.env[0], ddio_listener_addr(listener), &hello,
						NULL, &cp_ops, &t.cp, &t.cp.conn),
			      0);
	for (i = 2; i >= 0; i--)
		CU_ASSERT_EQUAL_FATAL(ddio_real_start_thread(t.env[i]), 0);
	CU_ASSERT_EQUAL(ddio_gate_wait(t.env[0], &t.done, ddio_env_now(t.env[0]) + 100 * SECOND),
			0);
	for (i = 0; i < 3; i++)
		ddio_real_join_thread(t.env[i]);
	CU_ASSERT_EQUAL(t.errs + t.h.errs, 0);
	CU_ASSERT_EQUAL(t.iop.messages, 1000);
	ddio_conn_close(t.cp.conn, false);
	ddio_conn_close(t.iop.conn, false);
	ddio_listener_close(listener);
	for (i = 0; i < 3; i++)
		ddio_real_free(t.env[i]);
}

/* Within a reactor: a connection that is open gets another user, in the middle of what was read at once. */
static int pass_on(struct side *s, const struct ddio_msg *msg, const void *payload)
{
	(void)msg;
	(void)payload;
	ddio_conn_set_ops(s->conn, &side_ops, s->arg);
	return 0;
}

static void test_other_user(void)
{
	struct side other = { 0 };
	struct conn_pair p;
	int i;

	pair_open(&p, NULL);
	other.pair = &p;
	other.env = p.iop.env;
	other.conn = p.iop.conn;
	p.iop.arg = &other;
	p.iop.on_message = pass_on;
	for (i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(send_ping(&p.cp, i), 0);
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(p.iop.messages, 1);
	CU_ASSERT_EQUAL(other.messages, 2);
	CU_ASSERT_EQUAL(other.last_tag, 2);
	side_close(&p.cp);
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(other.closes, 1);
	CU_ASSERT_EQUAL(p.iop.closes, 0);
	pair_end(&p);
}

static const struct ut_case handover_cases[] = {
	{ "to another user", test_other_user },
	{ "between reactors", test_handover },
	{ "between threads", test_handover_threads },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "handover", handover_cases },
	};

	return ut_run("conn_handover", suites, sizeof(suites) / sizeof(suites[0]));
}
