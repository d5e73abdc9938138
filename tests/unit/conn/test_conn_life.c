// SPDX-License-Identifier: GPL-2.0-only
/*
 * How connections pause, drain, fail and end; their users may end them anywhere.
 */
#include "tests/unit/conn/conn_pair.h"

static uint8_t data[3u << 20], sink_data[3u << 20];
static struct iovec sink_iov;

static int sink_all(struct side *s, const struct ddio_msg *msg, struct ddio_sink *sink)
{
	(void)s;
	sink_iov.iov_base = sink_data;
	sink_iov.iov_len = msg->length - ddio_opcode_bulk_prefix(msg->opcode, false);
	sink->iov = &sink_iov;
	sink->n = 1;
	return 0;
}

/*
 * Closing inside callbacks
 */
static void busy(struct side *s, struct ddio_send *sends, int n)
{
	int i, err = 0;

	for (i = 0; i < n && !s->gone && !err; i++) {
		sends[i].done = side_done;
		sends[i].arg = s;
		err = send_ping(s, i);
		if (!err)
			err = send_bulk(s, i, data, 100000, &sends[i]);
	}
	CU_ASSERT_EQUAL(err, 0);
}

/* @who closes in @event; the other must see one clean end, and neither any callback after it. */
static void close_in(enum event event, bool who, const struct ddio_sim_link *net)
{
	struct ddio_send cp_sends[30], iop_sends[30];
	struct side *s, *peer;
	struct conn_pair p;

	if (event == HELLO || event == READY)
		pair_start(&p, net);
	else
		pair_open(&p, net);
	s = who ? &p.cp : &p.iop;
	peer = who ? &p.iop : &p.cp;
	s->close_in = event;
	p.cp.on_bulk = p.iop.on_bulk = sink_all;
	if (event == HELLO || event == READY) {
		ddio_sim_run_for(p.world, SECOND);
	} else if (event == CLOSED) {
		side_close(peer);
	} else {
		busy(&p.cp, cp_sends, 30);
		busy(&p.iop, iop_sends, 30);
	}
	ddio_sim_run_for(p.world, 100 * SECOND);
	CU_ASSERT_TRUE(s->gone);
	if (event != CLOSED)
		CU_ASSERT_EQUAL(peer->closes, 1);
	if (event >= BULK && event != CLOSED)
		CU_ASSERT_EQUAL(s->dones, 30);
	CU_ASSERT_EQUAL(s->closes, event == CLOSED);
	pair_end(&p);
}

static void test_close_anywhere(void)
{
	static const enum event events[] = { BULK, MESSAGE, DONE, DRAINED, CLOSED };
	struct ddio_sim_link net;
	size_t i;

	ddio_sim_link_default(&net);
	net.window = 70000;
	close_in(HELLO, false, NULL);
	close_in(READY, true, NULL);
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		close_in(events[i], false, NULL);
		close_in(events[i], true, NULL);
		close_in(events[i], false, &net);
		close_in(events[i], true, &net);
	}
}

/* Senders that wait are told inside the call. */
static void test_close_cancels(void)
{
	struct ddio_send sends[10];
	struct ddio_sim_link net;
	struct conn_pair p;

	ddio_sim_link_default(&net);
	net.window = 1000;
	pair_open(&p, &net);
	busy(&p.cp, sends, 10);
	CU_ASSERT_EQUAL(p.cp.dones, 0);
	CU_ASSERT(ddio_conn_queued(p.cp.conn) > 990000);
	ddio_conn_close(p.cp.conn, false);
	CU_ASSERT_EQUAL(p.cp.dones, 10);
	CU_ASSERT_EQUAL(p.cp.done_errs, 10);
	CU_ASSERT_EQUAL(p.cp.done_err, -ECANCELED);
	p.cp.gone = true;
	pair_end(&p);
}

/*
 * Pausing and draining
 */
static int pause_now(struct side *s, const struct ddio_msg *msg, const void *payload)
{
	(void)msg;
	(void)payload;
	ddio_conn_pause(s->conn, true);
	return 0;
}

static int pause_at_bulk(struct side *s, const struct ddio_msg *msg, struct ddio_sink *sink)
{
	ddio_conn_pause(s->conn, true);
	return sink_all(s, msg, sink);
}

/* Resuming delivers one message each time, though all of them were received long ago. */
static void test_pause_messages(void)
{
	struct conn_pair p;
	int i;

	pair_open(&p, NULL);
	p.iop.on_message = pause_now;
	for (i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(send_ping(&p.cp, i), 0);
	for (i = 1; i <= 20; i++) {
		ddio_sim_run_for(p.world, SECOND);
		CU_ASSERT_EQUAL(p.iop.messages, i);
		ddio_conn_pause(p.iop.conn, false);
		CU_ASSERT_EQUAL(p.iop.messages, i);
	}
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(p.iop.messages, 20);
	pair_end(&p);
}

static void pause_bulk(int followed)
{
	static const size_t lens[] = { 0, 1, 5000, 1000000 };
	struct conn_pair p;
	size_t i;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		pair_open(&p, NULL);
		p.iop.on_bulk = pause_at_bulk;
		memset(data, (int)i + 1, sizeof(data));
		memset(sink_data, 0, sizeof(sink_data));
		CU_ASSERT_EQUAL(send_bulk(&p.cp, 1, data, lens[i], NULL), 0);
		if (followed)
			CU_ASSERT_EQUAL(send_ping(&p.cp, 2), 0);
		ddio_sim_run_for(p.world, SECOND);
		CU_ASSERT_EQUAL(p.iop.bulks, 1);
		CU_ASSERT_EQUAL(p.iop.messages, 0);
		ddio_conn_pause(p.iop.conn, false);
		ddio_sim_run_for(p.world, SECOND);
		CU_ASSERT_EQUAL(p.iop.messages, 1 + followed);
		CU_ASSERT_EQUAL(memcmp(data, sink_data, lens[i]), 0);
		pair_end(&p);
	}
}

static void test_pause_bulk(void)
{
	pause_bulk(0);
	pause_bulk(1);
}

static int sink_own(struct side *s, const struct ddio_msg *msg, struct ddio_sink *sink)
{
	size_t len = msg->length - ddio_opcode_bulk_prefix(msg->opcode, false);

	s->arg = malloc(len);
	sink_iov.iov_base = s->arg;
	sink_iov.iov_len = len;
	sink->iov = &sink_iov;
	sink->n = 1;
	return s->arg ? 0 : -ENOMEM;
}

/* The sink may be freed while its bulk is half received; message() is called all the same. */
static void test_discard(void)
{
	struct ddio_sim_link net;
	struct conn_pair p;

	ddio_sim_link_default(&net);
	net.window = 10000;
	net.latency_ns = MS;
	pair_open(&p, &net);
	p.iop.on_bulk = sink_own;
	CU_ASSERT_EQUAL(send_bulk(&p.cp, 1, data, 1000000, NULL), 0);
	CU_ASSERT_EQUAL(send_ping(&p.cp, 2), 0);
	ddio_sim_run_for(p.world, 20 * MS);
	CU_ASSERT_EQUAL(p.iop.bulks, 1);
	CU_ASSERT_EQUAL(p.iop.messages, 0);
	ddio_conn_discard(p.iop.conn);
	free(p.iop.arg);
	ddio_conn_discard(p.iop.conn);
	ddio_sim_run_for(p.world, 10 * SECOND);
	CU_ASSERT_EQUAL(p.iop.messages, 2);
	CU_ASSERT_EQUAL(p.iop.last_tag, 2);
	ddio_conn_discard(p.iop.conn);
	pair_end(&p);
}

/* A peer that does not read fills our queue, not its memory; then all of it arrives. */
static void test_back_pressure(void)
{
	struct conn_pair p;
	int i;

	pair_open(&p, NULL);
	p.iop.on_bulk = sink_all;
	ddio_conn_pause(p.iop.conn, true);
	for (i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(send_bulk(&p.cp, i, data, 1u << 20, NULL), 0);
	ddio_sim_run_for(p.world, 10 * SECOND);
	CU_ASSERT_EQUAL(p.iop.bulks, 0);
	CU_ASSERT(ddio_conn_queued(p.cp.conn) > DDIO_CONN_HIGH);
	CU_ASSERT_EQUAL(p.cp.draineds, 0);
	ddio_conn_pause(p.iop.conn, false);
	ddio_sim_run_for(p.world, 10 * SECOND);
	CU_ASSERT_EQUAL(p.iop.messages, 10);
	CU_ASSERT_EQUAL(p.cp.draineds, 1);
	CU_ASSERT_EQUAL(ddio_conn_queued(p.cp.conn), 0);
	pair_end(&p);
}

static void see_drained(struct side *s)
{
	CU_ASSERT(ddio_conn_queued(s->conn) < CONN_LOW);
	if (s->draineds < 3)
		CU_ASSERT_EQUAL(send_bulk(s, 9, data, 3u << 20, NULL), 0);
}

/* The user is told once each time the queue exceeds the high mark, never below it. */
static void test_drained(void)
{
	struct conn_pair p;
	int i;

	pair_open(&p, NULL);
	p.iop.on_bulk = sink_all;
	p.cp.on_drained = see_drained;
	for (i = 0; i < 9; i++) {
		CU_ASSERT_EQUAL(send_bulk(&p.cp, i, data, 1000000, NULL), 0);
		ddio_sim_run_for(p.world, SECOND);
	}
	CU_ASSERT_EQUAL(p.cp.draineds, 0);
	CU_ASSERT_EQUAL(send_bulk(&p.cp, 9, data, 3u << 20, NULL), 0);
	CU_ASSERT_EQUAL(p.cp.draineds, 0);
	ddio_sim_run_for(p.world, 100 * SECOND);
	CU_ASSERT_EQUAL(p.cp.draineds, 3);
	CU_ASSERT_EQUAL(p.iop.messages, 12);
	pair_end(&p);
}

/*
 * Failing
 */
static int say_stale(struct side *s, const struct ddio_msg *msg, const void *payload)
{
	(void)s;
	(void)payload;
	return msg->tag == 5 ? -ESTALE : 0;
}

static int no_bulk(struct side *s, const struct ddio_msg *msg, struct ddio_sink *sink)
{
	(void)s;
	(void)msg;
	(void)sink;
	return -ENOMEM;
}

static int short_sink(struct side *s, const struct ddio_msg *msg, struct ddio_sink *sink)
{
	int err = sink_all(s, msg, sink);

	sink_iov.iov_len--;
	return err;
}

static int long_sink(struct side *s, const struct ddio_msg *msg, struct ddio_sink *sink)
{
	int err = sink_all(s, msg, sink);

	sink_iov.iov_len++;
	return err;
}

/* Both ends learn of it, and one end logs one line. */
static void check_rejected(struct conn_pair *p, int err, const char *what)
{
	ddio_sim_run_for(p->world, 10 * SECOND);
	CU_ASSERT_EQUAL(p->iop.closes, 1);
	CU_ASSERT_EQUAL(p->iop.err, err);
	CU_ASSERT_EQUAL(p->cp.closes, 1);
	CU_ASSERT_EQUAL(p->cp.err, err);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->iop.why, what));
	CU_ASSERT_PTR_NOT_NULL(strstr(p->cp.why, what));
	CU_ASSERT_EQUAL(ddio_sim_logged(p->world, what), 1);
	CU_ASSERT_EQUAL(send_ping(&p->cp, 1), -ENOTCONN);
	CU_ASSERT_EQUAL(send_ping(&p->iop, 1), -ENOTCONN);
	pair_end(p);
}

static void test_bad_messages(void)
{
	struct conn_pair p;
	int i;

	pair_open(&p, NULL);
	p.iop.on_message = say_stale;
	for (i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(send_ping(&p.cp, i), 0);
	check_rejected(&p, -ESTALE, "PING: the file was removed");
	CU_ASSERT_EQUAL(p.iop.messages, 6);

	pair_open(&p, NULL);
	p.iop.on_bulk = no_bulk;
	CU_ASSERT_EQUAL(send_bulk(&p.cp, 1, data, 1234, NULL), 0);
	check_rejected(&p, -ENOMEM, "COLL_DATA of 1234 bytes");

	pair_open(&p, NULL);
	p.iop.on_bulk = short_sink;
	CU_ASSERT_EQUAL(send_bulk(&p.cp, 1, data, 1234, NULL), 0);
	check_rejected(&p, -EINVAL, "COLL_DATA of 1234 bytes");

	pair_open(&p, NULL);
	p.iop.on_bulk = long_sink;
	CU_ASSERT_EQUAL(send_bulk(&p.cp, 1, data, 1234, NULL), 0);
	check_rejected(&p, -EINVAL, "COLL_DATA of 1234 bytes");
}

/* An open connection can be refused with a reason, too. */
static void test_refuse_open(void)
{
	struct ddio_send sends[3];
	struct conn_pair p;

	pair_open(&p, NULL);
	busy(&p.iop, sends, 3);
	ddio_conn_refuse(p.iop.conn, DDIO_ST_SHUTDOWN, "node iop is stopping");
	CU_ASSERT_EQUAL(p.iop.closes, 0);
	check_rejected(&p, -ESHUTDOWN, "node iop is stopping");
	CU_ASSERT_EQUAL(p.iop.dones, 3);
	CU_ASSERT_EQUAL(p.cp.messages, 6);
}

/* Senders are told before the user hears that it is over. */
static void test_peer_dies(void)
{
	struct ddio_send sends[10];
	struct ddio_sim_link net;
	struct conn_pair p;
	int cut;

	ddio_sim_link_default(&net);
	net.window = 1000;
	for (cut = 0; cut < 2; cut++) {
		pair_open(&p, &net);
		busy(&p.cp, sends, 10);
		if (cut)
			ddio_sim_cut(p.iop.env);
		else
			sim_kill(p.iop.env);
		ddio_sim_run_for(p.world, 10 * SECOND);
		CU_ASSERT_EQUAL(p.cp.closes, 1);
		CU_ASSERT_NOT_EQUAL(p.cp.err, 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(p.cp.why, "127.0.0.1:7000"));
		CU_ASSERT_EQUAL(p.cp.dones_at_close, 10);
		CU_ASSERT_EQUAL(p.cp.done_errs, 10);
		pair_end(&p);
	}
}

static void test_peer_ends(void)
{
	struct conn_pair p;

	pair_open(&p, NULL);
	side_close(&p.iop);
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(p.cp.closes, 1);
	CU_ASSERT_EQUAL(p.cp.err, 0);
	pair_end(&p);
}

static void test_nobody_listens(void)
{
	struct conn_pair p;

	pair_start(&p, NULL);
	ddio_listener_close(p.listener);
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(p.cp.closes, 1);
	CU_ASSERT_EQUAL(p.cp.err, -ECONNREFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(p.cp.why, "cannot connect"));
	CU_ASSERT_EQUAL_FATAL(
		ddio_listen(p.iop.env, "127.0.0.1:7000", pair_accept, &p, &p.listener), 0);
	pair_end(&p);
}

/*
 * Closing with queued bytes
 */
static void test_flush(void)
{
	struct ddio_send send = { .done = side_done };
	struct ddio_sim_link net;
	struct conn_pair p;
	int i;

	ddio_sim_link_default(&net);
	net.window = 3000;
	pair_open(&p, &net);
	p.iop.on_bulk = sink_all;
	for (i = 0; i < 500; i++)
		CU_ASSERT_EQUAL(send_ping(&p.cp, i), 0);
	send.arg = &p.cp;
	CU_ASSERT_EQUAL(send_bulk(&p.cp, i, data, 50000, &send), 0);
	ddio_conn_close(p.cp.conn, true);
	CU_ASSERT_EQUAL(p.cp.dones, 1);
	CU_ASSERT_EQUAL(p.cp.done_err, -ECANCELED);
	p.cp.gone = true;
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(p.iop.messages, 501);
	CU_ASSERT_EQUAL(p.iop.closes, 1);
	CU_ASSERT_EQUAL(p.iop.err, 0);
	pair_end(&p);
}

/* The time for flushing at the end is bounded. */
static void test_flush_bounded(void)
{
	struct conn_pair p;

	pair_open(&p, NULL);
	ddio_conn_pause(p.iop.conn, true);
	CU_ASSERT_EQUAL(send_bulk(&p.cp, 1, data, sizeof(data), NULL), 0);
	ddio_conn_close(p.cp.conn, true);
	p.cp.gone = true;
	ddio_sim_run_for(p.world, 2 * SECOND);
	ddio_conn_pause(p.iop.conn, false);
	ddio_sim_run_for(p.world, SECOND);
	CU_ASSERT_EQUAL(p.iop.closes, 1);
	CU_ASSERT_EQUAL(p.iop.err, -ECONNRESET);
	CU_ASSERT_EQUAL(p.iop.messages, 0);
	pair_end(&p);
}

static const struct ut_case close_cases[] = {
	{ "inside any callback", test_close_anywhere },
	{ "cancels what waits", test_close_cancels },
	{ "with what is queued", test_flush },
	{ "with what is queued, bounded in time", test_flush_bounded },
	{ NULL, NULL },
};

static const struct ut_case flow_cases[] = {
	{ "pause between messages", test_pause_messages },
	{ "pause at bulk", test_pause_bulk },
	{ "discarded bulk", test_discard },
	{ "back-pressure", test_back_pressure },
	{ "drained", test_drained },
	{ NULL, NULL },
};

static const struct ut_case fail_cases[] = {
	{ "messages the user cannot take", test_bad_messages },
	{ "refused while open", test_refuse_open },
	{ "the peer dies", test_peer_dies },
	{ "the peer ends", test_peer_ends },
	{ "nobody listens", test_nobody_listens },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "closing", close_cases },
		{ "flow", flow_cases },
		{ "failing", fail_cases },
	};

	return ut_run("conn_life", suites, sizeof(suites) / sizeof(suites[0]));
}
