// SPDX-License-Identifier: GPL-2.0-only
/* Connections of one session, one after the other: a request on an old one takes no effect later. */
#include <errno.h>
#include "tests/unit/iop/server/server_world.h"

enum { LEN = 256 << 10 };

static uint8_t old[LEN], new[LEN];

static struct sw *slow_world(void)
{
	struct sw *sw = sw_prepare(SW_ADDR, NULL);

	ddio_conf_free(sw->conf);
	sw->disk_options = "delay_us=3000";
	sw->disk_size = 16 * MIB;
	CU_ASSERT_EQUAL_FATAL(sw_conf(sw, SW_ADDR, sw->err, sizeof(sw->err)), 0);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
	memset(old, 1, sizeof(old));
	memset(new, 2, sizeof(new));
	return sw;
}

/* Says HELLO as connection @number of @session; whether it is served shows later. */
static struct sc *session_open(struct sw *sw, uint32_t reactor, uint64_t session, uint64_t number)
{
	struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT, .reactor = reactor };
	struct ddio_conn_opts opts = { .cluster = "t" };
	struct sc *c = calloc(1, sizeof(*c));

	ddio_hello_session_set(&hello, session, number);
	c->sw = sw;
	if (ddio_conn_connect(sw->client, SW_ADDR, &hello, &opts, &sc_ops, c, &c->conn))
		abort();
	return c;
}

static bool session_served(struct sc *c)
{
	int i;

	for (i = 0; i < 5000 && !c->ready && !c->closed; i++)
		sw_run(c->sw, MS / 10);
	return c->ready;
}

static void send_write(struct sc *c, const uint8_t *data)
{
	struct ddio_msg_obj obj = sc_obj(1, 0, 0, LEN);
	uint8_t buf[64];
	ssize_t n = ddio_put_obj(buf, sizeof(buf), &obj);

	sc_send(c, DDIO_OP_OBJ_WRITE, buf, n, data, LEN);
}

/*
 * A client that hears nothing for a while gives up its connection, without the server knowing, repeats the write
 * on another one, and then writes something newer.  At every stage of the first write.
 */
static void a_late_write_does_not_land(void)
{
	struct sw *sw = slow_world();
	uint32_t r = sw_reactor(sw, 0);
	struct sc *first, *second;
	uint64_t ns;

	for (ns = 0; ns < 40 * MS; ns += 500000) {
		first = session_open(sw, r, 77, 2 * ns);
		CU_ASSERT_FATAL(session_served(first));
		send_write(first, old);
		sw_run(sw, ns);
		second = session_open(sw, r, 77, 2 * ns + 1);
		CU_ASSERT_FATAL(session_served(second));
		CU_ASSERT_EQUAL(sc_write(second, 1, 0, 0, new, LEN), DDIO_ST_OK);
		sw_run(sw, 100 * MS);
		CU_ASSERT_EQUAL(sc_read(second, 1, 0, 0, LEN), DDIO_ST_OK);
		CU_ASSERT(sw_all(second->bulk, LEN, 2));
		CU_ASSERT(first->closed);
		sc_free(first);
		sc_free(second);
	}
	sw_free(sw);
}

/* Does the same, if the connection's end has reached the server before. */
static void a_write_without_a_client_is_waited_for(void)
{
	struct sw *sw = slow_world();
	uint32_t r = sw_reactor(sw, 0);
	struct sc *first, *second;
	uint64_t ns, held = 0;

	for (ns = 0; ns < 40 * MS; ns += 500000) {
		first = session_open(sw, r, 77, 2 * ns);
		CU_ASSERT_FATAL(session_served(first));
		send_write(first, old);
		sw_run(sw, ns);
		sc_free(first);
		second = session_open(sw, r, 77, 2 * ns + 1);
		sw_run(sw, MS);
		held += !second->ready;
		CU_ASSERT_FATAL(session_served(second));
		CU_ASSERT_EQUAL(sc_write(second, 1, 0, 0, new, LEN), DDIO_ST_OK);
		sw_run(sw, 100 * MS);
		CU_ASSERT_EQUAL(sc_read(second, 1, 0, 0, LEN), DDIO_ST_OK);
		CU_ASSERT(sw_all(second->bulk, LEN, 2));
		sc_free(second);
	}
	CU_ASSERT(held > 0);
	sw_free(sw);
}

static void others_are_left_alone(void)
{
	struct sw *sw = slow_world();
	uint32_t r = sw_reactor(sw, 0);
	struct sc *mine = session_open(sw, r, 77, 5), *other = session_open(sw, r, 78, 1),
		  *elsewhere = session_open(sw, !r, 77, 6), *nobody[2], *late;

	nobody[0] = session_open(sw, r, 0, 0);
	nobody[1] = session_open(sw, r, 0, 0);
	CU_ASSERT(session_served(mine) && session_served(other) && session_served(elsewhere));
	CU_ASSERT(session_served(nobody[0]) && session_served(nobody[1]));
	/* A connection that was made earlier and arrives late. */
	late = session_open(sw, r, 77, 4);
	CU_ASSERT(!session_served(late));
	CU_ASSERT(late->closed);
	CU_ASSERT_PTR_NOT_NULL(strstr(late->why, "a newer connection"));
	CU_ASSERT_EQUAL(sc_call(mine, DDIO_OP_PING, NULL, 0, NULL, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_call(other, DDIO_OP_PING, NULL, 0, NULL, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_call(elsewhere, DDIO_OP_PING, NULL, 0, NULL, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_call(nobody[0], DDIO_OP_PING, NULL, 0, NULL, 0), DDIO_ST_OK);
	sc_free(late);
	sc_free(mine);
	sc_free(other);
	sc_free(elsewhere);
	sc_free(nobody[0]);
	sc_free(nobody[1]);
	sw_free(sw);
}

/* A connection that waits for a write goes away, or the node is stopped meanwhile. */
static void held_may_go(void)
{
	struct sw *sw = slow_world();
	uint32_t r = sw_reactor(sw, 0);
	struct sc *first = session_open(sw, r, 77, 1), *second, *third;

	CU_ASSERT_FATAL(session_served(first));
	send_write(first, old);
	sw_run(sw, 3 * MS);
	second = session_open(sw, r, 77, 2);
	sw_run(sw, MS);
	CU_ASSERT(!second->ready && !second->closed);
	sc_free(second);
	third = session_open(sw, r, 77, 3);
	CU_ASSERT(session_served(third));
	send_write(third, old);
	sw_run(sw, 3 * MS);
	second = session_open(sw, r, 77, 4);
	sw_run(sw, MS);
	sw_stop(sw);
	CU_ASSERT(!second->ready && second->closed);
	sc_free(first);
	sc_free(second);
	sc_free(third);
	sw_free(sw);
}

static const struct ut_case cases[] = {
	{ "a late write", a_late_write_does_not_land },
	{ "a write without a client", a_write_without_a_client_is_waited_for },
	{ "others", others_are_left_alone },
	{ "a held connection may go", held_may_go },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "sessions", cases } };

	return ut_run("iop_server_session", suites, 1);
}
