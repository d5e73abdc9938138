// SPDX-License-Identifier: GPL-2.0-only
/* The server when clients misbehave or vanish, disks fail, and the node is stopped or cannot start. */
#include <errno.h>
#include "iop/server/priv.h"
#include "tests/unit/iop/server/server_world.h"

static uint8_t big[4u << 20];

static void settle(struct sw *sw)
{
	sw_run(sw, 200 * MS);
}

/*
 * Messages that are not requests
 */
static void what_is_not_answered_is_said(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0);

	CU_ASSERT_EQUAL(sc_call(c, DDIO_OP_GROUP_JOIN, "x", 1, NULL, 0), DDIO_ST_UNSUPPORTED);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "GROUP_JOIN"));
	CU_ASSERT_EQUAL(sc_call(c, DDIO_OP_PING, NULL, 0, NULL, 0), DDIO_ST_OK);
	sc_free(c);
	sw_free(sw);
}

/* Each such message ends its own connection, with a log line, and no other. */
static void violations_end_the_connection(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *witness = sc_new(sw, 0);
	static const uint8_t zeros[64];
	static const struct {
		uint16_t opcode;
		uint32_t flags;
		size_t fixed, bulk;
	} cases[] = {
		{ DDIO_OP_OBJ_READ, 0, 3, 0 },	/* shorter than its record */
		{ DDIO_OP_OBJ_SYNC, 0, 60, 0 }, /* longer */
		{ DDIO_OP_NS_CREATE, 0, 5, 0 },		 { DDIO_OP_NS_LIST, 0, 0, 0 },
		{ DDIO_OP_PING, DDIO_WIRE_REPLY, 0, 0 }, { DDIO_OP_EXCHANGE, 0, 48, 8 },
		{ DDIO_OP_COLL_DATA, 0, 40, 8 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sc *c = sc_new(sw, 0);
		struct ddio_msg msg = { .opcode = cases[i].opcode, .flags = cases[i].flags };
		struct iovec iov = { big, cases[i].bulk };

		CU_ASSERT_EQUAL(ddio_conn_send(c->conn, &msg, zeros, cases[i].fixed, &iov,
					       cases[i].bulk ? 1 : 0, NULL),
				0);
		settle(sw);
		CU_ASSERT(c->closed);
		CU_ASSERT_EQUAL(c->replies, 0);
		CU_ASSERT_EQUAL(ddio_sim_logged(sw->world, "refused 127.0.0.1"), i + 1);
		sc_free(c);
	}
	CU_ASSERT_EQUAL(sc_call(witness, DDIO_OP_PING, NULL, 0, NULL, 0), DDIO_ST_OK);
	sc_free(witness);
	sw_free(sw);
}

/*
 * Clients that vanish
 */
static uint64_t memory_of(struct sc *c)
{
	struct ddio_msg_status st;
	uint64_t memory;

	CU_ASSERT_EQUAL(sc_status(c, &st), DDIO_ST_OK);
	CU_ASSERT_EQUAL(st.connections, 1);
	memory = st.memory_bytes;
	ddio_status_free(&st);
	return memory;
}

static void a_client_that_vanishes_harms_nobody(void)
{
	struct sw *sw = sw_prepare(SW_ADDR, NULL);
	struct sc *witness, *c;
	struct ddio_msg_obj obj = sc_obj(1, 0, 0, sizeof(big));
	uint8_t buf[64];
	ssize_t n = ddio_put_obj(buf, sizeof(buf), &obj);
	uint64_t ns;
	uint32_t r;

	ddio_conf_free(sw->conf);
	sw->disk_options = "delay_us=500";
	sw->disk_size = 16 * MIB;
	CU_ASSERT_EQUAL_FATAL(sw_conf(sw, SW_ADDR, sw->err, sizeof(sw->err)), 0);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
	r = sw_reactor(sw, 0);
	witness = sc_new(sw, r);
	memset(big, 7, sizeof(big));
	CU_ASSERT_EQUAL(sc_write(witness, 1, 0, 0, big, sizeof(big)), DDIO_ST_OK);
	/* At every stage of a large write, and of a large read. */
	for (ns = 0; ns < 60 * MS; ns += 700000) {
		c = sc_new(sw, r);
		sc_send(c, DDIO_OP_OBJ_WRITE, buf, n, big, sizeof(big));
		sw_run(sw, ns);
		sc_free(c);
		c = sc_new(sw, r);
		sc_send(c, DDIO_OP_OBJ_READ, buf, n, NULL, 0);
		sc_send(c, DDIO_OP_OBJ_SYNC, buf, n, NULL, 0);
		sw_run(sw, ns);
		sc_free(c);
	}
	settle(sw);
	/* The cache of 64 KB a disk, and buffers kept for the next request. */
	CU_ASSERT(memory_of(witness) <= (3 * 64 << 10) + (16 << 20));
	CU_ASSERT_EQUAL(sc_read(witness, 1, 0, 0, sizeof(big)), DDIO_ST_OK);
	CU_ASSERT(sw_all(witness->bulk, sizeof(big), 7));
	CU_ASSERT_EQUAL(sc_sync(witness, 1), DDIO_ST_OK);
	sc_free(witness);
	sw_free(sw);
}

/* A thousand requests at once: the memory for them is bounded, and all are answered. */
static void a_flood_of_requests_is_bounded(void)
{
	struct sw *sw = sw_prepare(SW_ADDR, NULL);
	struct sc *witness, *c;
	uint8_t buf[64];
	uint64_t most = 0;
	uint32_t i, r;

	ddio_conf_free(sw->conf);
	sw->disk_options = "delay_us=100";
	sw->disk_size = 256 * MIB;
	CU_ASSERT_EQUAL_FATAL(sw_conf(sw, SW_ADDR, sw->err, sizeof(sw->err)), 0);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
	r = sw_reactor(sw, 0);
	witness = sc_open(sw, r, DDIO_ROLE_ADMIN);
	c = sc_new(sw, r);
	for (i = 0; i < 1000; i++) {
		struct ddio_msg_obj obj = sc_obj(1, 0, (uint64_t)i * 65536, 65536);
		ssize_t n = ddio_put_obj(buf, sizeof(buf), &obj);

		if (i % 2)
			sc_send(c, DDIO_OP_OBJ_WRITE, buf, n, big, 65536);
		else
			sc_send(c, DDIO_OP_OBJ_READ, buf, n, NULL, 0);
	}
	for (i = 0; i < 2000 && c->replies < 1000; i++) {
		struct ddio_msg_status st;

		CU_ASSERT_EQUAL(sc_status(witness, &st), DDIO_ST_OK);
		if (st.memory_bytes > most)
			most = st.memory_bytes;
		ddio_status_free(&st);
		sw_run(sw, MS);
	}
	CU_ASSERT_EQUAL(c->replies, 1000);
	CU_ASSERT(most <= 26u << 20);
	sc_free(c);
	sc_free(witness);
	sw_free(sw);
}

/* A client is told which of its requests will get no answer: those that are not under way on its connection. */
static void the_unknown_is_told(void)
{
	struct sw *sw = sw_prepare(SW_ADDR, NULL);
	uint64_t tags[3] = { 1, 2, 77 };
	struct ddio_msg_tags x = { .n = 3, .tags = tags }, y;
	struct ddio_msg_obj obj = sc_obj(1, 0, 0, 4096);
	uint8_t buf[64];
	ssize_t n;
	struct sc *c, *other;

	ddio_conf_free(sw->conf);
	sw->disk_options = "delay_us=100000";
	CU_ASSERT_EQUAL_FATAL(sw_conf(sw, SW_ADDR, sw->err, sizeof(sw->err)), 0);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
	c = sc_new(sw, sw_reactor(sw, 0));
	other = sc_new(sw, sw_reactor(sw, 0));
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, big, 4096), DDIO_ST_OK);
	CU_ASSERT_EQUAL(c->tags, 1);
	n = ddio_put_obj(buf, sizeof(buf), &obj);
	sc_send(c, DDIO_OP_OBJ_SYNC, buf, n, NULL, 0);
	CU_ASSERT_EQUAL(SC_CALL(c, OWED, tags, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_tags(c->data, c->len, &y), 0);
	CU_ASSERT_FATAL(y.n == 2);
	CU_ASSERT(y.tags[0] == 1 && y.tags[1] == 77);
	ddio_msg_tags_free(&y);
	/* Another connection's are unknown. */
	tags[0] = 2;
	tags[1] = 5;
	CU_ASSERT_EQUAL(SC_CALL(other, OWED, tags, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_tags(other->data, other->len, &y), 0);
	CU_ASSERT_EQUAL(y.n, 3);
	ddio_msg_tags_free(&y);
	x.n = 0;
	CU_ASSERT_EQUAL(SC_CALL(other, OWED, tags, &x), DDIO_ST_OK);
	CU_ASSERT(sc_wait(c, 3));
	sc_free(other);
	sc_free(c);
	sw_free(sw);
}

/*
 * Disks that fail
 */
static void a_disk_error_names_disk_file_and_byte(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, sw_reactor(sw, 0));
	struct ddio_msg_obj obj = sc_obj(1, 0, 0, 0);

	memset(big, 3, sizeof(big));
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, big, 8192), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_DROP_CACHE, &obj), DDIO_ST_OK);
	disk_inject(sw_disk(sw, 0), DDIO_DISK_READ, 1, -EIO);
	CU_ASSERT_EQUAL(sc_read(c, 1, 0, 4096, 10), DDIO_ST_IO);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "disk d0: file 1, byte 4096"));
	CU_ASSERT_EQUAL(sc_read(c, 1, 0, 4096, 10), DDIO_ST_OK);
	/* Writing: the error is reported to the sync, once, and to nobody before that. */
	disk_inject(sw_disk(sw, 0), DDIO_DISK_WRITE, 1, -EIO);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, big, 4096), DDIO_ST_OK);
	settle(sw);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_IO);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "disk d0: file 1"));
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	CU_ASSERT(ddio_sim_logged(sw->world, "disk d0: block 0 of file 1") >= 1);
	sc_free(c);
	sw_free(sw);
}

/* Who looks after the name server reads of a disk that was exchanged, even if no client says what it was told. */
static void another_disk_is_said(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0);
	struct ddio_disk_id id = { .disk = 0, .uuid = { 1 }, .life = 5 };
	struct ddio_msg_disk_ids x = { .n = 1, .ids = &id };
	uint8_t buf[128];
	ssize_t n = ddio_put_disk_ids(buf, sizeof(buf), &x);

	CU_ASSERT_EQUAL(sc_call(c, DDIO_OP_FS_DISKS, buf, n, NULL, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_sim_logged(sw->world, "disk d0"), 0);
	id.uuid[0] = 2;
	n = ddio_put_disk_ids(buf, sizeof(buf), &x);
	CU_ASSERT_EQUAL(sc_call(c, DDIO_OP_FS_DISKS, buf, n, NULL, 0), DDIO_ST_IO);
	CU_ASSERT_EQUAL(ddio_sim_logged(sw->world, "disk d0 of node io0 is not the one"), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "disk d0 of node io0 is not the one"));
	sc_free(c);
	sw_free(sw);
}

static uint32_t tell_known(struct sc *c, const struct ddio_disk_id *id, uint64_t names)
{
	struct ddio_disk_id one = *id;
	struct ddio_msg_disk_ids x = { .names = names, .n = 1, .ids = &one };
	uint8_t buf[128];
	ssize_t n = ddio_put_disk_ids(buf, sizeof(buf), &x);

	return sc_call(c, DDIO_OP_DISKS_KNOWN, buf, n, NULL, 0);
}

/* A DISKS_KNOWN that comes when the disk knows a later life of the name space does not take it back. */
static void a_late_message_is_refused(void)
{
	const uint64_t one = UINT64_C(1) << DDIO_LIFE_RANDOM;
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0);
	const struct ddio_disk_id *now = iop_disk_id(sw->iop, 0);
	struct ddio_disk_id first = *now, second;

	CU_ASSERT_EQUAL(tell_known(c, &first, 4 * one), DDIO_ST_OK);
	second = *now;
	CU_ASSERT_EQUAL(second.names, 4 * one);
	CU_ASSERT_EQUAL(tell_known(c, &first, 4 * one), DDIO_ST_OK);
	CU_ASSERT_EQUAL(tell_known(c, &second, 6 * one), DDIO_ST_OK);
	CU_ASSERT_EQUAL(tell_known(c, &first, 4 * one), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(tell_known(c, &first, 5 * one), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(tell_known(c, &first, 6 * one + 1), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(now->names, 6 * one);
	/* Older news of a later life, and an older life that has seen what the disk knows: it was put back. */
	CU_ASSERT_EQUAL(tell_known(c, &first, 7 * one), DDIO_ST_OK);
	second = *now;
	CU_ASSERT_EQUAL(tell_known(c, &second, 5 * one + 1), DDIO_ST_OK);
	CU_ASSERT_EQUAL(now->names, 5 * one + 1);
	sc_free(c);
	sw_free(sw);
}

/* Which incarnations have ended in order, as a client is told of the disk. */
static const struct ddio_ends *sw_ends(const struct sw *sw, uint32_t disk)
{
	return &server_of(sw->iop)->where[disk].ends;
}

/* A write, or a flush, that fails at the very end: neither the node nor the next one says that it ended in order. */
static void a_failed_end_is_not_recorded(void)
{
	static const uint8_t ops[] = { DDIO_DISK_WRITE, DDIO_DISK_FLUSH };
	struct sw *sw = sw_new(NULL);
	struct sc *c;
	uint64_t boot;
	size_t i;

	memset(big, 3, sizeof(big));
	for (i = 0; i < 2; i++) {
		boot = sw->iop->boot;
		c = sc_new(sw, sw_reactor(sw, 0));
		CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, big, 1000), DDIO_ST_OK);
		disk_inject(sw_disk(sw, 0), ops[i], 1000, -EIO);
		sw_stop(sw);
		CU_ASSERT_EQUAL(c->ended, 0);
		sc_free(c);
		CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
		CU_ASSERT(!ddio_ends_has(sw_ends(sw, 0), boot));
		CU_ASSERT(ddio_ends_has(sw_ends(sw, 1), boot));
	}
	boot = sw->iop->boot;
	sw_restart(sw);
	CU_ASSERT(ddio_ends_has(sw_ends(sw, 0), boot));
	sw_free(sw);
}

/*
 * The background's flush fails when nobody waits for it.  Whoever syncs later must hear of it, however often,
 * and whatever the disk says then.
 */
static void a_failed_flush_stops_the_disk(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, sw_reactor(sw, 0)), *other;
	struct ddio_msg_obj obj = sc_obj(1, 0, 0, 0), none = sc_obj(2, 0, 0, 0);
	uint64_t boot = sw->iop->boot;
	int i;

	memset(big, 3, sizeof(big));
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, big, 8192), DDIO_ST_OK);
	disk_inject(sw_disk(sw, 0), DDIO_DISK_FLUSH, 1, -EIO);
	sw_run(sw, 6000 * MS);
	CU_ASSERT_EQUAL(ddio_sim_logged(sw->world, "disk d0: a flush failed"), 1);
	other = sc_new(sw, sw_reactor(sw, 0));
	for (i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_IO);
		CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "disk d0: file 1"));
		CU_ASSERT_EQUAL(sc_sync(other, 1), DDIO_ST_IO);
		/* Of a file that has nothing there, the disk that is named answers, and no other. */
		CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_SYNC, &none), DDIO_ST_IO);
		CU_ASSERT_EQUAL(sc_sync(c, 2), DDIO_ST_OK);
		CU_ASSERT_EQUAL(sc_write(other, 1, 0, 0, big, 512), DDIO_ST_IO);
		CU_ASSERT_EQUAL(sc_read(c, 1, 0, 0, 8192), DDIO_ST_OK);
	}
	/* A removal that failed is not over: whoever repeats it, or cuts, hears so, too. */
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_REMOVE, &obj), DDIO_ST_IO);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_REMOVE, &obj), DDIO_ST_IO);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_TRUNCATE, &obj), DDIO_ST_IO);
	/* It is logged once, not at every attempt. */
	sw_run(sw, 200000 * MS);
	CU_ASSERT_EQUAL(ddio_sim_logged(sw->world, "a flush failed"), 1);
	sc_free(other);
	sw_stop(sw);
	/* Clients hear no good news: they assume that what they had not synced is lost. */
	CU_ASSERT_EQUAL(c->ended, 0);
	sc_free(c);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
	/* The next one does not say so either, but of the other disks. */
	CU_ASSERT(!ddio_ends_has(sw_ends(sw, 0), boot));
	CU_ASSERT(ddio_ends_has(sw_ends(sw, 1), boot));
	CU_ASSERT(ddio_ends_has(ns_ends(sw->iop->ns), boot));
	c = sc_new(sw, sw_reactor(sw, 0));
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, big, 8192), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	sc_free(c);
	sw_free(sw);
}

static void a_full_disk_is_told_to_the_writer(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, sw_reactor(sw, 0));
	uint32_t i, status = 0;

	for (i = 0; i < 64 && !status; i++)
		status = sc_write(c, 1, 0, (uint64_t)i * 65536, big, 65536);
	CU_ASSERT_EQUAL(i, 64);
	CU_ASSERT_EQUAL(status, DDIO_ST_NO_SPACE);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "disk d0: file 1"));
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, big, 65536), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	sc_free(c);
	sw_free(sw);
}

/*
 * Stopping
 */
static void a_stop_answers_and_then_closes(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0), *d = sc_new(sw, 1);
	struct ddio_msg_obj obj = sc_obj(1, sw->iop->reactors[0].disks[0].number, 0, 4096);
	uint8_t buf[64];
	ssize_t n = ddio_put_obj(buf, sizeof(buf), &obj);

	ddio_iop_stop(sw->iop);
	ddio_iop_stop(sw->iop); /* twice is once */
	sw_run(sw, MS / 10);
	sc_send(c, DDIO_OP_OBJ_WRITE, buf, n, big, 4096);
	sc_send(c, DDIO_OP_OBJ_READ, buf, n, NULL, 0);
	CU_ASSERT(sc_wait(c, 2));
	CU_ASSERT_EQUAL(c->status, DDIO_ST_SHUTDOWN);
	settle(sw);
	CU_ASSERT(c->closed);
	CU_ASSERT(d->closed);
	CU_ASSERT_EQUAL(sw->stopped, 1);
	sc_free(c);
	sc_free(d);
	ddio_iop_free(sw->iop);
	sw->iop = NULL;
	sw_free(sw);
}

/* A client that asked for much and reads nothing does not keep the node from stopping. */
static void a_deaf_client_does_not_hold_up_a_stop(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, sw_reactor(sw, 0));
	struct ddio_msg_obj obj = sc_obj(1, 0, 0, sizeof(big));
	uint8_t buf[64];
	ssize_t n = ddio_put_obj(buf, sizeof(buf), &obj);
	uint64_t begin;

	ddio_conn_pause(c->conn, true);
	sc_send(c, DDIO_OP_OBJ_READ, buf, n, NULL, 0);
	sc_send(c, DDIO_OP_OBJ_READ, buf, n, NULL, 0);
	settle(sw);
	begin = ddio_sim_elapsed(sw->world);
	sw_stop(sw);
	CU_ASSERT(ddio_sim_elapsed(sw->world) - begin < 2500 * MS);
	sc_free(c);
	sw_free(sw);
}

/* One in the middle of the opening exchange, or of a message, does not either. */
static void half_a_client_does_not_hold_up_a_stop(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, sw_reactor(sw, 0));
	struct ddio_msg_obj obj = sc_obj(1, 0, 0, sizeof(big));
	struct ddio_sim_link net;
	struct ddio_stream *stream;
	static const struct ddio_stream_ops ops;
	uint8_t buf[64];
	ssize_t n = ddio_put_obj(buf, sizeof(buf), &obj);

	CU_ASSERT_EQUAL_FATAL(ddio_stream_connect(sw->client, SW_ADDR, &ops, NULL, &stream), 0);
	ddio_stream_want_read(stream, false);
	sw_run(sw, 10 * MS);
	ddio_sim_link_default(&net);
	net.stall_after = 100000;
	ddio_sim_set_link(sw->client, &net);
	sc_send(c, DDIO_OP_OBJ_WRITE, buf, n, big, sizeof(big));
	settle(sw);
	CU_ASSERT_EQUAL(c->replies, 0);
	sw_stop(sw);
	ddio_stream_close(stream);
	sc_free(c);
	sw_free(sw);
}

/* A client that has written learns at the end whether it is durable, from each reactor separately. */
static void the_end_is_told(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c[2], *tool = sc_open(sw, 0, DDIO_ROLE_ADMIN);
	uint8_t data[512] = { 7 };
	int disk = -1, i;

	for (i = 0; i < 2; i++)
		c[i] = sc_new(sw, i);
	sw_stop(sw);
	for (i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(c[i]->ended, 1);
		CU_ASSERT(c[i]->closed);
		sc_free(c[i]);
	}
	CU_ASSERT_EQUAL(tool->ended, 0);
	sc_free(tool);
	/* Disk 0 cannot store the data: its reactor says nothing. */
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
	for (i = 0; i < 2; i++) {
		c[i] = sc_new(sw, i);
		if (i == (int)sw_reactor(sw, 0))
			disk = i;
	}
	CU_ASSERT_EQUAL_FATAL(disk >= 0, true);
	CU_ASSERT_EQUAL(sc_write(c[disk], 1, 0, 0, data, sizeof(data)), DDIO_ST_OK);
	disk_inject(sw_disk(sw, 0), DDIO_DISK_WRITE, 1000, -EIO);
	sw_stop(sw);
	for (i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(c[i]->ended, i != disk);
		sc_free(c[i]);
	}
	sw_free(sw);
}

/*
 * Not starting
 */
static void a_node_that_cannot_start_says_why(void)
{
	struct sw *sw = sw_prepare("192.0.2.1:7400", NULL);
	char *name;

	CU_ASSERT_EQUAL(sw_start_node(sw), -EACCES);
	CU_ASSERT_PTR_NOT_NULL(strstr(sw->err, "192.0.2.1:7400 without a key"));
	sw_free(sw);
	sw = sw_new(NULL);
	/* The address is taken, or the disks are: by the node that runs. */
	{
		struct ddio_iop *first = sw->iop;

		CU_ASSERT_NOT_EQUAL(sw_start_node(sw), 0);
		CU_ASSERT_NOT_EQUAL(sw->err[0], 0);
		sw->iop = first;
	}
	sw_stop(sw);
	name = sw->conf->disks[1].name;
	sw->conf->disks[1].name = "ns";
	CU_ASSERT_EQUAL(sw_start_node(sw), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(sw->err, "\"ns\""));
	sw->conf->disks[1].name = name;
	name = sw->conf->disks[1].engine;
	sw->conf->disks[1].engine = "tape";
	CU_ASSERT_NOT_EQUAL(sw_start_node(sw), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(sw->err, "disk d1: unknown engine \"tape\""));
	sw->conf->disks[1].engine = name;
	CU_ASSERT_EQUAL(sw_start_node(sw), 0);
	sw_free(sw);
}

/* As many as have disks, and one for names, which no disk shares if there are so many. */
static void reactors_are_as_many_as_have_work(void)
{
	struct sw *sw = sw_prepare(SW_ADDR, NULL);
	char bus[] = "b";

	CU_ASSERT_EQUAL(ddio_iop_reactors(sw->conf, 0, 16), 4);
	CU_ASSERT_EQUAL(ddio_iop_reactors(sw->conf, 0, 2), 2);
	CU_ASSERT_EQUAL(ddio_iop_reactors(sw->conf, 1, 16), 1);
	sw->conf->nodes[0].reactors = 1;
	CU_ASSERT_EQUAL(ddio_iop_reactors(sw->conf, 0, 16), 1);
	sw->conf->nodes[0].reactors = 9;
	CU_ASSERT_EQUAL(ddio_iop_reactors(sw->conf, 0, 16), 4);
	sw->conf->disks[0].bus = bus;
	sw->conf->disks[2].bus = bus;
	CU_ASSERT_EQUAL(ddio_iop_reactors(sw->conf, 0, 16), 3);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
	CU_ASSERT_EQUAL(sw_reactor(sw, 0), sw_reactor(sw, 2));
	CU_ASSERT_NOT_EQUAL(sw_reactor(sw, 0), sw_reactor(sw, 1));
	CU_ASSERT_EQUAL(iop_disk_reactor(sw->iop, 3), -ENOENT);
	CU_ASSERT_EQUAL(iop_disk_reactor(sw->iop, 4), -ENOENT);
	sw->conf->disks[0].bus = NULL;
	sw->conf->disks[2].bus = NULL;
	sw_free(sw);
}

/* There are two reactors, and all disks share a bus. */
static void names_have_their_own_reactor(void)
{
	struct sw *sw = sw_prepare(SW_ADDR, NULL);
	char bus[] = "b";
	uint32_t i;

	for (i = 0; i < 3; i++)
		sw->conf->disks[i].bus = bus;
	CU_ASSERT_EQUAL(ddio_iop_reactors(sw->conf, 0, 16), SW_REACTORS);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
	for (i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(iop_disk_reactor(sw->iop, i), 1);
		sw->conf->disks[i].bus = NULL;
	}
	sw_free(sw);
}

static const struct ut_case clients[] = {
	{ "what is not answered", what_is_not_answered_is_said },
	{ "violations", violations_end_the_connection },
	{ "a client vanishes", a_client_that_vanishes_harms_nobody },
	{ "a flood", a_flood_of_requests_is_bounded },
	{ NULL, NULL },
};

static const struct ut_case disks[] = {
	{ "errors", a_disk_error_names_disk_file_and_byte },
	{ "the unknown is told", the_unknown_is_told },
	{ "another disk", another_disk_is_said },
	{ "a late message", a_late_message_is_refused },
	{ "a failed end", a_failed_end_is_not_recorded },
	{ "a failed flush", a_failed_flush_stops_the_disk },
	{ "full", a_full_disk_is_told_to_the_writer },
	{ NULL, NULL },
};

static const struct ut_case life[] = {
	{ "a stop answers", a_stop_answers_and_then_closes },
	{ "a deaf client", a_deaf_client_does_not_hold_up_a_stop },
	{ "half a client", half_a_client_does_not_hold_up_a_stop },
	{ "the end is told", the_end_is_told },
	{ "not starting", a_node_that_cannot_start_says_why },
	{ "reactors", reactors_are_as_many_as_have_work },
	{ "the reactor of names", names_have_their_own_reactor },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "clients", clients },
		{ "disks", disks },
		{ "life", life },
	};

	return ut_run("iop_server_faults", suites, 3);
}
