// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ports, and the strangers that connect to them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/form/meeting.h"
#include "cp/group/peer.h"
#include "cp/group/form/port.h"
#include "cp/node/whose.h"

struct port {
	struct ddio_list link;
	struct ddio_session *session;
	struct ddio_listener *listener;
	uint32_t refs;
	char wanted[DDIO_MAX_ADDR];
};

/*
 * Strangers
 */
static void stranger_free(struct stranger *st)
{
	ddio_timer_cancel(st->session->env, &st->timer);
	vouching_forget(st->vouching);
	ddio_list_del(&st->link);
	free(st);
}

static void stranger_closed(void *ctx, int err, const char *why)
{
	struct stranger *st = ctx;

	(void)err;
	(void)why;
	if (st->meeting)
		meeting_left(st);
	ddio_conn_close(st->conn, false);
	stranger_free(st);
}

/* Without it the guest does not stay. */
static void stranger_shown(void *arg, int err, const char *cred, const char *why)
{
	struct stranger *st = arg;

	(void)why;
	st->vouching = NULL;
	if (!err)
		(void)whose_show(st->conn, cred);
	ddio_conn_pause(st->conn, false);
}

static void stranger_checked(void *arg, int err, const char *cred, const char *why)
{
	struct stranger *st = arg;

	(void)cred;
	(void)why;
	st->vouching = NULL;
	st->same = !err;
	if (err || whose_make(st->session, st->conn, WHOSE_HOST, stranger_shown, st, &st->vouching))
		ddio_conn_pause(st->conn, false);
}

/* Once: each costs a question to munge. */
static int stranger_user(struct stranger *st, const struct ddio_msg *msg, const void *payload)
{
	if (!whose_matters(st->conn, true) || st->asked)
		return -EPROTO;
	st->asked = true;
	return whose_check(st->session, st->conn, WHOSE_GUEST, payload, msg->length,
			   stranger_checked, st, &st->vouching);
}

static int stranger_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct stranger *st = ctx;

	if (msg->opcode == DDIO_OP_USER && st->meeting)
		return stranger_user(st, msg, payload);
	if (msg->opcode != DDIO_OP_GROUP_JOIN || !st->meeting)
		return -EPROTO;
	return meeting_arrive(st, msg, payload);
}

/* Its group did not come in time; or it was sent what it came for and did not leave. */
static void stranger_late(void *arg)
{
	struct stranger *st = arg;

	if (st->greeted && !st->meeting)
		ddio_conn_refuse(st->conn, DDIO_ST_NOT_FOUND, "there is no such group here");
	else
		stranger_closed(st, 0, "");
}

/* Returns true if the stranger needs no more waiting: admitted or refused. */
static bool stranger_admit(struct stranger *st)
{
	struct ddio_group *group = group_by_id(st->session, st->hello.group);
	struct ddio_msg_welcome welcome = { 0 };
	struct ddio_conn *conn = st->conn;

	if (group && peer_adopt(group, st->hello.rank, conn, true)) {
		stranger_free(st);
		return true;
	}
	if (group) {
		ddio_conn_refuse(conn, DDIO_ST_INVALID, "not a member of the group");
		return true;
	}
	st->meeting = meeting_of(st->session->groups, st->hello.group);
	if (!st->meeting)
		return false;
	ddio_conn_welcome(conn, &welcome);
	return true;
}

static void stranger_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	struct stranger *st = ctx;
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
	struct port *port = ctx;
	struct ddio_session *s = port->session;
	struct stranger *st = calloc(1, sizeof(*st));
	struct ddio_conn_opts opts;

	if (!st) {
		ddio_stream_close(stream);
		return;
	}
	st->session = s;
	st->timer.fn = stranger_late;
	st->timer.arg = st;
	session_conn_opts(s, &opts);
	if (ddio_conn_accept(s->env, stream, &opts, &stranger_ops, st, &st->conn)) {
		ddio_stream_close(stream);
		free(st);
		return;
	}
	ddio_list_add(&st->link, &s->groups->strangers);
}

void strangers_admit(struct ddio_session *session, struct ddio_group *group)
{
	struct stranger *st, *tmp;

	ddio_list_for_each_entry_safe(st, tmp, &session->groups->strangers, link) {
		if (memcmp(st->hello.group, group->id, DDIO_GROUP_ID_LEN))
			continue;
		if (st->stays && peer_adopt(group, st->rank, st->conn, false))
			stranger_free(st);
		else if (st->greeted && !st->meeting)
			stranger_admit(st);
	}
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

static int port_listen(struct port *port, struct error *error)
{
	struct ddio_session *s = port->session;
	int err;

	if (!s->key.len && !ddio_addr_is_loopback(port->wanted)) {
		error_set(error, -EACCES,
			  "%s: a group without a key can only meet at a loopback address: set "
			  "key_file in the configuration, or listen on 127.0.0.1",
			  port->wanted);
		return -EACCES;
	}
	err = ddio_listen(s->env, port->wanted, port_accept, port, &port->listener);
	if (err)
		error_set(error, err, "cannot listen at %s: %s", port->wanted, strerror(-err));
	return err;
}

int port_open(struct ddio_session *session, const char *wanted, struct port **result,
	      struct error *error)
{
	char name[DDIO_MAX_ADDR];
	struct port *port;
	int err;

	port_name(session, wanted, name);
	ddio_list_for_each_entry(port, &session->groups->ports, link)
		if (!strcmp(port->wanted, name)) {
			port->refs++;
			*result = port;
			return 0;
		}
	port = calloc(1, sizeof(*port));
	if (!port) {
		error_set(error, -ENOMEM, "out of memory");
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
	ddio_list_add(&port->link, &session->groups->ports);
	*result = port;
	return 0;
}

const char *port_addr(const struct port *port)
{
	return ddio_listener_addr(port->listener);
}

static void port_free(struct port *port)
{
	ddio_listener_close(port->listener);
	ddio_list_del(&port->link);
	free(port);
}

void port_close(struct port *port)
{
	if (!--port->refs)
		port_free(port);
}

void ports_close(struct ddio_session *session)
{
	while (!ddio_list_empty(&session->groups->ports))
		port_free(ddio_list_first(&session->groups->ports, struct port, link));
	while (!ddio_list_empty(&session->groups->strangers))
		stranger_closed(ddio_list_first(&session->groups->strangers, struct stranger, link),
				0, "");
}
