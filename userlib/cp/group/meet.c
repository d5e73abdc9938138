// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ports, and those who connect to them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/meet.h"

struct ddio_port {
	struct ddio_list link;
	struct ddio_session *session;
	struct ddio_listener *listener;
	uint32_t refs;
	char wanted[DDIO_MAX_ADDR];
};

/*
 * Addresses
 */
bool ddio_addr_is_any(const char *addr)
{
	return !strncmp(addr, "0.0.0.0:", 8) || !strncmp(addr, "[::]:", 5) ||
	       !strncmp(addr, "*:", 2);
}

void ddio_addr_settle(char addr[DDIO_MAX_ADDR], const char *seen)
{
	const char *host_end = strrchr(seen, ':');
	char port[16];

	if (!ddio_addr_is_any(addr) || !host_end)
		return;
	snprintf(port, sizeof(port), "%s", strrchr(addr, ':'));
	snprintf(addr, DDIO_MAX_ADDR, "%.*s%s", (int)(host_end - seen), seen, port);
}

/*
 * Strangers
 */
static void stranger_free(struct ddio_stranger *st)
{
	ddio_timer_cancel(st->session->env, &st->timer);
	ddio_list_del(&st->link);
	free(st);
}

static void stranger_closed(void *ctx, int err, const char *why)
{
	struct ddio_stranger *st = ctx;

	(void)err;
	(void)why;
	if (st->guest && st->session->meeting)
		ddio_meeting_left(st->session->meeting, st);
	ddio_conn_close(st->conn, false);
	stranger_free(st);
}

static int stranger_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_stranger *st = ctx;

	if (msg->opcode != DDIO_OP_GROUP_JOIN || !st->guest || !st->session->meeting)
		return -EPROTO;
	return ddio_meeting_join(st->session->meeting, st, msg, payload);
}

/* Those who wait for a group in vain; also those who were served and did not leave. */
static void stranger_late(void *arg)
{
	struct ddio_stranger *st = arg;

	if (st->greeted && !st->guest)
		ddio_conn_refuse(st->conn, DDIO_ST_NOT_FOUND, "there is no such group here");
	else
		stranger_closed(st, 0, "");
}

static bool stranger_is_expected(const struct ddio_stranger *st)
{
	static const uint8_t none[DDIO_GROUP_ID_LEN];
	const struct ddio_meeting *m = st->session->meeting;

	return m && !m->over && !memcmp(st->hello.group, m->by_addr ? none : m->id, sizeof(none));
}

/* True if it has found its place, or none. */
static bool stranger_admit(struct ddio_stranger *st)
{
	struct ddio_group *group = ddio_group_by_id(st->session, st->hello.group);
	struct ddio_msg_welcome welcome = { 0 };
	struct ddio_conn *conn = st->conn;

	if (group && ddio_peer_adopt(group, st->hello.rank, conn)) {
		stranger_free(st);
		return true;
	}
	if (group) {
		ddio_conn_refuse(conn, DDIO_ST_INVALID, "not a member of the group");
		return true;
	}
	if (!stranger_is_expected(st))
		return false;
	st->guest = true;
	ddio_conn_welcome(conn, &welcome);
	return true;
}

static void stranger_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	struct ddio_stranger *st = ctx;
	struct ddio_env *env = st->session->env;

	if (hello->role != DDIO_ROLE_PEER) {
		ddio_conn_refuse(st->conn, DDIO_ST_UNSUPPORTED,
				 "this is a compute process, not an I/O processor");
		return;
	}
	st->hello = *hello;
	st->greeted = true;
	if (!stranger_admit(st))
		ddio_timer_arm(env, &st->timer, ddio_env_now(env) + st->session->timeout_ns);
}

static const struct ddio_conn_ops stranger_ops = {
	.hello = stranger_hello,
	.message = stranger_message,
	.closed = stranger_closed,
};

static void port_accept(void *ctx, struct ddio_stream *stream)
{
	struct ddio_port *port = ctx;
	struct ddio_session *s = port->session;
	struct ddio_stranger *st = calloc(1, sizeof(*st));
	struct ddio_conn_opts opts;

	if (!st) {
		ddio_stream_close(stream);
		return;
	}
	st->session = s;
	st->timer.fn = stranger_late;
	st->timer.arg = st;
	ddio_session_conn_opts(s, &opts);
	if (ddio_conn_accept(s->env, stream, &opts, &stranger_ops, st, &st->conn)) {
		ddio_stream_close(stream);
		free(st);
		return;
	}
	ddio_list_add(&st->link, &s->strangers);
}

void ddio_strangers_admit(struct ddio_session *session, struct ddio_group *group)
{
	struct ddio_stranger *st, *tmp;

	ddio_list_for_each_entry_safe(st, tmp, &session->strangers, link)
		if (st->greeted && !st->guest &&
		    !memcmp(st->hello.group, group->id, DDIO_GROUP_ID_LEN))
			stranger_admit(st);
}

/*
 * Ports
 */
static bool all_nodes_loopback(const struct ddio_session *s)
{
	uint32_t i;

	for (i = 0; i < s->conf->nnodes; i++)
		if (!ddio_addr_is_loopback(s->conf->nodes[i].address))
			return false;
	return true;
}

static void port_name(const struct ddio_session *s, const char *wanted, char name[DDIO_MAX_ADDR])
{
	const char *bracket, *colon;

	if (!wanted) {
		wanted = !s->key.len || all_nodes_loopback(s) ? "127.0.0.1:0" : "*:0";
		snprintf(name, DDIO_MAX_ADDR, "%s", wanted);
		return;
	}
	bracket = strrchr(wanted, ']');
	colon = strrchr(bracket ? bracket : wanted, ':');
	snprintf(name, DDIO_MAX_ADDR, "%s%s", wanted, colon ? "" : ":0");
}

static int port_listen(struct ddio_port *port, struct ddio_error *error)
{
	struct ddio_session *s = port->session;
	int err;

	if (!s->key.len && !ddio_addr_is_loopback(port->wanted)) {
		ddio_error_set(error, -EACCES,
			       "%s: without a key a group can only meet on a loopback address",
			       port->wanted);
		return -EACCES;
	}
	err = ddio_listen(s->env, port->wanted, port_accept, port, &port->listener);
	if (err)
		ddio_error_set(error, err, "cannot listen at %s: %s", port->wanted, strerror(-err));
	return err;
}

int ddio_port_open(struct ddio_session *session, const char *wanted, struct ddio_port **result,
		   struct ddio_error *error)
{
	char name[DDIO_MAX_ADDR];
	struct ddio_port *port;
	int err;

	port_name(session, wanted, name);
	ddio_list_for_each_entry(port, &session->ports, link)
		if (!strcmp(port->wanted, name)) {
			port->refs++;
			*result = port;
			return 0;
		}
	port = calloc(1, sizeof(*port));
	if (!port) {
		ddio_error_set(error, -ENOMEM, "out of memory");
		return -ENOMEM;
	}
	port->session = session;
	port->refs = 1;
	strcpy(port->wanted, name);
	err = port_listen(port, error);
	if (err) {
		free(port);
		return err;
	}
	ddio_list_add(&port->link, &session->ports);
	*result = port;
	return 0;
}

const char *ddio_port_addr(const struct ddio_port *port)
{
	return ddio_listener_addr(port->listener);
}

static void port_free(struct ddio_port *port)
{
	ddio_listener_close(port->listener);
	ddio_list_del(&port->link);
	free(port);
}

void ddio_port_close(struct ddio_port *port)
{
	if (!--port->refs)
		port_free(port);
}

void ddio_session_unlisten(struct ddio_session *session)
{
	while (!ddio_list_empty(&session->ports))
		port_free(ddio_list_first(&session->ports, struct ddio_port, link));
	while (!ddio_list_empty(&session->strangers))
		stranger_closed(ddio_list_first(&session->strangers, struct ddio_stranger, link), 0,
				"");
}
