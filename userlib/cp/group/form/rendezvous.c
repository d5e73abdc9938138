// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Making a group.  Rank 0 holds a meeting; the others come as guests with their
 * addresses and get those of their neighbours.  Then all connect.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/form/form.h"
#include "cp/node/lane.h"
#include "cp/group/form/meeting.h"
#include "cp/group/form/port.h"
#include "cp/node/whose.h"

/*
 * A guest whom rank 0 does not hear yet tries again after a quarter of the time that it has waited so far: soon, where
 * the ranks of a job start together, and seldom, where rank 0 is late.  But an attempt takes processor time, which rank 0 lacks
 * where many of them are on its machine.
 */
#define RETRY_SHARE 4
#define RETRY_EACH_NS 30000
#define RETRY_LEAST_NS 200000
#define RETRY_MOST_NS 20000000

/**
 * struct create_call - one ddio_group_create()
 * @target: the address of rank 0
 * @listen: this process's own address as the caller gave it, or NULL
 * @own: this process's own address as it turned out
 * @meeting_port: rank 0, by address: where the meeting is held; or NULL
 * @conn: a guest's, to rank 0, until the addresses have come
 * @vouching: somebody is asked to vouch for this process, or whether rank 0 is of this process's user
 * @same: rank 0 has shown that it is this process's user's
 * @begun: a guest's first attempt
 * @retry: the next attempt, none of which begins after @until; or the limit of the wait for rank 0
 * @ping: to an I/O processor, to learn the address by which this process reaches it
 */
struct create_call {
	struct session_call call;
	uint32_t rank, size;
	bool by_addr;
	uint8_t id[DDIO_GROUP_ID_LEN];
	char target[DDIO_MAX_ADDR];
	const char *listen;
	char own[DDIO_MAX_ADDR];
	struct group_meeting *meeting;
	struct port *meeting_port;
	struct ddio_conn *conn;
	struct vouching *vouching;
	bool same;
	struct ddio_timer retry;
	uint64_t begun, until;
	struct error error;
	struct node_request ping;
	struct form form;
};

static void create_end(struct create_call *cc)
{
	call_end(&cc->call, &cc->error);
}

static void create_formed(struct form *form)
{
	struct create_call *cc = form->arg;

	cc->error = form->error;
	create_end(cc);
}

static void create_form(struct create_call *cc, const uint8_t id[DDIO_GROUP_ID_LEN],
			struct addrs *addrs)
{
	cc->form.session = cc->call.session;
	cc->form.done = create_formed;
	cc->form.arg = cc;
	form_begin(&cc->form, id, cc->rank, cc->size, addrs);
}

/*
 * Guests
 */
static void guest_drop(struct create_call *cc)
{
	struct ddio_conn *conn = cc->conn;

	cc->conn = NULL;
	ddio_timer_cancel(cc->call.session->env, &cc->retry);
	vouching_forget(cc->vouching);
	cc->vouching = NULL;
	if (conn)
		ddio_conn_close(conn, false);
}

static void guest_fail(struct create_call *cc, int err, const char *why)
{
	guest_drop(cc);
	error_set(&cc->error, err, "rank 0 of the group (%s): %s", cc->target, why);
	create_end(cc);
}

/* Rank 0 itself gives up after the timeout and says so; a guest waits a little longer. */
static void guest_silent(void *arg)
{
	guest_fail(arg, -ETIMEDOUT, "it has not sent the addresses of the other members");
}

static void guest_join(struct create_call *cc)
{
	struct ddio_msg_group_join join = { .rank = cc->rank, .size = cc->size };
	struct ddio_msg msg = { .opcode = DDIO_OP_GROUP_JOIN };
	uint8_t buf[sizeof(join)];
	ssize_t len;
	int err;

	memcpy(join.group, cc->id, sizeof(join.group));
	memcpy(join.addr, cc->own, sizeof(join.addr));
	len = ddio_put_group_join(buf, sizeof(buf), &join);
	err = len < 0 ? (int)len : ddio_conn_send(cc->conn, &msg, buf, (size_t)len, NULL, 0, NULL);
	if (err) {
		guest_fail(cc, err, strerror(-err));
		return;
	}
	cc->retry.fn = guest_silent;
	ddio_timer_arm(cc->call.session->env, &cc->retry,
		       ddio_env_now(cc->call.session->env) + cc->call.session->timeout_ns * 3 / 2);
}

static void guest_vouched(void *arg, int err, const char *cred, const char *why)
{
	struct create_call *cc = arg;

	cc->vouching = NULL;
	if (!err) {
		err = whose_show(cc->conn, cred);
		why = strerror(-err);
	}
	if (err)
		guest_fail(cc, err, why);
	else
		guest_join(cc);
}

static void guest_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct create_call *cc = ctx;
	int err;

	(void)welcome;
	if (!whose_matters(cc->conn, cc->by_addr)) {
		guest_join(cc);
		return;
	}
	err = whose_make(cc->call.session, cc->conn, WHOSE_GUEST, guest_vouched, cc, &cc->vouching);
	if (err)
		guest_fail(cc, err, strerror(-err));
}

/* Rank 0 cannot know which of its addresses reaches it. */
static int guest_addrs(struct create_call *cc, struct ddio_msg_group_table *table,
		       struct addrs *addrs)
{
	uint32_t i;
	int err = table->size == cc->size ? 0 : -EPROTO;

	for (i = 0; i < table->n && !err; i++) {
		if (!table->entry[i].rank)
			addr_settle(table->entry[i].addr, cc->target);
		err = addrs_add(addrs, table->entry[i].rank, table->entry[i].addr);
	}
	if (!err && !cc->form.flat && !addrs_suffice(addrs, cc->rank, cc->size))
		err = -EPROTO;
	return err;
}

/* The connection becomes the one with the parent. */
static void guest_stay(struct create_call *cc)
{
	ddio_timer_cancel(cc->call.session->env, &cc->retry);
	cc->form.conn = cc->conn;
	cc->conn = NULL;
}

static int guest_table(struct create_call *cc, const void *payload, size_t len)
{
	struct ddio_msg_group_table table;
	struct addrs addrs = { 0 };
	int err = ddio_get_group_table(payload, len, &table);

	if (err)
		return err;
	/* Who is told its own address stays: in a binomial tree nobody is. */
	cc->form.flat = table.n == 2 && !table.entry[0].rank && table.entry[1].rank == cc->rank;
	err = guest_addrs(cc, &table, &addrs);
	free(table.entry);
	if (err) {
		addrs_free(&addrs);
		return err;
	}
	if (cc->form.flat)
		guest_stay(cc);
	else
		guest_drop(cc);
	create_form(cc, table.group, &addrs);
	return 0;
}

/* Whoever has the key may have been there first. */
static void guest_checked(void *arg, int err, const char *cred, const char *why)
{
	struct create_call *cc = arg;

	(void)cred;
	cc->vouching = NULL;
	cc->same = !err;
	if (!err)
		ddio_conn_pause(cc->conn, false);
	else
		guest_fail(cc, err, err == -EACCES ? "it is another user's" : why);
}

static int guest_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct create_call *cc = ctx;
	char text[DDIO_MAX_TEXT];
	bool matters = whose_matters(cc->conn, cc->by_addr);

	if (msg->opcode == DDIO_OP_USER && matters && !cc->same && !cc->vouching)
		return whose_check(cc->call.session, cc->conn, WHOSE_HOST, payload, msg->length,
				   guest_checked, cc, &cc->vouching);
	if (msg->opcode == DDIO_OP_GROUP_TABLE && (cc->same || !matters))
		return guest_table(cc, payload, msg->length);
	if (msg->opcode != DDIO_OP_GROUP_JOIN || !msg->status ||
	    ddio_get_text(payload, msg->length, text))
		return -EPROTO;
	guest_fail(cc, ddio_status_to_errno(msg->status), text);
	return 0;
}

static void guest_try(void *arg);

static void guest_again(struct create_call *cc)
{
	struct ddio_env *env = cc->call.session->env;
	uint64_t now = ddio_env_now(env), pause = (now - cc->begun) / RETRY_SHARE;

	if (pause < RETRY_EACH_NS * (uint64_t)cc->size)
		pause = RETRY_EACH_NS * (uint64_t)cc->size;
	if (pause < RETRY_LEAST_NS)
		pause = RETRY_LEAST_NS;
	if (pause > RETRY_MOST_NS)
		pause = RETRY_MOST_NS;
	cc->retry.fn = guest_try;
	ddio_timer_arm(env, &cc->retry, now + pause);
}

static void guest_closed(void *ctx, int err, const char *why)
{
	struct create_call *cc = ctx;
	struct ddio_env *env = cc->call.session->env;
	bool final = err == -EKEYREJECTED || err == -EPROTONOSUPPORT || err == -EACCES;

	guest_drop(cc);
	if (final || ddio_env_now(env) >= cc->until)
		guest_fail(cc, final ? err : -ETIMEDOUT, why);
	else
		guest_again(cc);
}

static const struct ddio_conn_ops guest_ops = {
	.ready = guest_ready,
	.message = guest_message,
	.closed = guest_closed,
};

static void guest_try(void *arg)
{
	struct create_call *cc = arg;
	struct ddio_session *s = cc->call.session;
	struct ddio_msg_hello hello = { .role = DDIO_ROLE_PEER, .rank = cc->rank };
	struct ddio_conn_opts opts;
	int err;

	cc->same = false;
	memcpy(hello.group, cc->id, sizeof(hello.group));
	session_conn_opts(s, &opts);
	err = ddio_conn_connect(s->env, cc->target, &hello, &opts, &guest_ops, cc, &cc->conn);
	if (err)
		guest_fail(cc, err, strerror(-err));
}

static void guest_begin(struct create_call *cc)
{
	struct ddio_session *s = cc->call.session;
	struct port *port;

	cc->begun = ddio_env_now(s->env);
	cc->until = cc->begun + s->timeout_ns;
	cc->retry.arg = cc;
	if (port_open(s, cc->listen, &port, &cc->error)) {
		create_end(cc);
		return;
	}
	snprintf(cc->own, sizeof(cc->own), "%s", port_addr(port));
	guest_try(cc);
}

/*
 * Rank 0
 */
static void host_end(struct create_call *cc)
{
	meeting_free(cc->meeting);
	cc->meeting = NULL;
	if (cc->meeting_port)
		port_close(cc->meeting_port);
	cc->meeting_port = NULL;
}

/* Rank 0 keeps the addresses of all members. */
static void host_met(struct group_meeting *m)
{
	struct create_call *cc = m->arg;
	struct addrs addrs = { 0 };
	uint8_t id[DDIO_GROUP_ID_LEN];
	uint32_t r;
	int err = 0;

	cc->error = m->error;
	memcpy(id, m->id, sizeof(id));
	cc->form.flat = m->flat;
	for (r = 0; r < m->size && !cc->error.status && !err; r++)
		err = addrs_add(&addrs, r, m->addr[r]);
	if (err)
		error_set(&cc->error, err, "out of memory");
	host_end(cc);
	if (!cc->error.status) {
		create_form(cc, id, &addrs);
		return;
	}
	addrs_free(&addrs);
	create_end(cc);
}

/* By address the meeting has a port of its own, which is closed when all have come. */
static int host_open(struct create_call *cc)
{
	struct ddio_session *s = cc->call.session;
	struct port *port;
	int err;

	err = port_open(s, cc->listen, &port, &cc->error);
	if (!err && cc->by_addr)
		err = port_open(s, cc->target, &cc->meeting_port, &cc->error);
	if (err)
		return err;
	snprintf(cc->own, sizeof(cc->own), "%s", port_addr(port));
	err = meeting_begin(s, cc->size, cc->by_addr, cc->own, &cc->meeting, &cc->error);
	if (err && cc->meeting_port) {
		port_close(cc->meeting_port);
		cc->meeting_port = NULL;
	}
	return err;
}

static void host_begin(struct create_call *cc)
{
	if (!cc->meeting && host_open(cc))
		create_end(cc);
	else
		meeting_wait(cc->meeting, host_met, cc);
}

static void create_run(struct session_call *call)
{
	struct create_call *cc = ddio_container_of(call, struct create_call, call);
	uint8_t id[DDIO_GROUP_ID_LEN];

	error_clear(&cc->error);
	if (cc->size == 1) {
		ddio_env_random(call->session->env, id, sizeof(id));
		create_form(cc, id, NULL);
	} else if (cc->rank) {
		guest_begin(cc);
	} else {
		host_begin(cc);
	}
}

static int create_check(struct ddio_session *s, uint32_t rank, uint32_t size, bool complete)
{
	if (!complete)
		return session_fail(s, -EINVAL,
				    "creating a group: address or bcast, or group, is NULL");
	if (!size || size > DDIO_MAX_MEMBERS || rank >= size)
		return session_fail(s, -EINVAL, "a group of %u members has no rank %u", size, rank);
	return 0;
}

int ddio_group_create(struct ddio_session *session, uint32_t rank, uint32_t size,
		      const char *address, struct ddio_group **group)
{
	struct create_call cc = { .rank = rank, .size = size, .by_addr = true };
	int err;

	if (!session)
		return -EINVAL;
	err = create_check(session, rank, size, address && group);
	if (err)
		return err;
	*group = NULL;
	if (strlen(address) >= DDIO_MAX_ADDR)
		return session_fail(session, -EINVAL, "%.64s...: the address is too long", address);
	strcpy(cc.target, address);
	err = call_run(session, &cc.call, create_run);
	*group = cc.form.group;
	return err;
}

/*
 * By broadcast
 */

/* What rank 0 tells the others; only bytes, which all hosts read the same. */
struct invitation {
	uint8_t ok;
	uint8_t id[DDIO_GROUP_ID_LEN];
	char addr[DDIO_MAX_ADDR];
	char text[DDIO_MAX_TEXT];
};

/* Takes this end's address of the lane to an I/O processor; it will do for the peers too. */
static void invite_seen(struct node_request *request, const struct reply *reply)
{
	struct create_call *cc = request->arg;
	const struct cluster_node *node = node_look(cc->call.session, 0);
	const struct lane *lane = node->nlanes ? node->lanes[0] : NULL;

	if (!reply->status && lane && lane->conn)
		addr_settle(cc->own, ddio_conn_local(lane->conn));
	if (addr_is_any(cc->own)) {
		host_end(cc);
		error_set(&cc->error, -EADDRNOTAVAIL,
			  "rank 0 cannot tell which of its addresses the others reach (%s): "
			  "pass one as listen",
			  reply->status ? reply->text : "unknown");
	}
	call_end(&cc->call, &cc->error);
}

static void invite_run(struct session_call *call)
{
	struct create_call *cc = ddio_container_of(call, struct create_call, call);

	error_clear(&cc->error);
	if (host_open(cc) || !addr_is_any(cc->own)) {
		call_end(call, &cc->error);
		return;
	}
	request_init(&cc->ping, DDIO_OP_PING, invite_seen, cc);
	request_node(call->session, 0, &cc->ping);
}

static void uninvite_run(struct session_call *call)
{
	struct create_call *cc = ddio_container_of(call, struct create_call, call);

	host_end(cc);
	call_end(call, NULL);
}

static void invite_write(const struct create_call *cc, struct invitation *inv)
{
	inv->ok = !cc->error.status;
	memcpy(inv->text, cc->error.text, sizeof(inv->text));
	if (!inv->ok)
		return;
	memcpy(inv->id, cc->meeting->id, sizeof(inv->id));
	memcpy(inv->addr, cc->own, sizeof(inv->addr));
}

static int invite(struct create_call *cc, struct ddio_session *session, ddio_bcast_fn bcast,
		  void *arg)
{
	struct invitation inv = { 0 };
	int err;

	if (!cc->rank) {
		call_run(session, &cc->call, invite_run);
		invite_write(cc, &inv);
	}
	err = bcast(arg, &inv, sizeof(inv), 0);
	if (err) {
		if (cc->meeting)
			call_run(session, &cc->call, uninvite_run);
		return session_fail(session, err < 0 ? err : -EIO, "the caller's broadcast failed");
	}
	if (!cc->rank && !inv.ok)
		return session_fail(session, cc->error.err, "%s", cc->error.text);
	inv.text[sizeof(inv.text) - 1] = '\0';
	inv.addr[sizeof(inv.addr) - 1] = '\0';
	if (!inv.ok)
		return session_fail(session, -ECONNABORTED, "rank 0: %s", inv.text);
	memcpy(cc->id, inv.id, sizeof(cc->id));
	memcpy(cc->target, inv.addr, sizeof(cc->target));
	return 0;
}

int ddio_group_create_bcast(struct ddio_session *session, uint32_t rank, uint32_t size,
			    ddio_bcast_fn bcast, void *arg, const char *listen,
			    struct ddio_group **group)
{
	struct create_call cc = { .rank = rank, .size = size, .listen = listen };
	int err;

	if (!session)
		return -EINVAL;
	err = create_check(session, rank, size, bcast && group);
	if (err)
		return err;
	*group = NULL;
	if (listen && strlen(listen) >= DDIO_MAX_ADDR - 2)
		return session_fail(session, -EINVAL, "%.64s...: the address is too long", listen);
	if (size > 1)
		err = invite(&cc, session, bcast, arg);
	if (err)
		return err;
	err = call_run(session, &cc.call, create_run);
	*group = cc.form.group;
	return err;
}
