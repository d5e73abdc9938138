// SPDX-License-Identifier: LGPL-2.1-or-later
/* The connection of a lane: made, used, lost. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/grants.h"
#include "cp/node/identity.h"
#include "cp/node/request.h"
#include "cp/node/whose.h"

static struct ddio_session *lane_session(const struct lane *lane)
{
	return lane->node->session;
}

static const struct lane_user *const *lane_users(const struct lane *lane)
{
	return lane_session(lane)->lane_users;
}

void **lane_state(struct lane *lane, const struct lane_user *user)
{
	const struct lane_user *const *u = lane_users(lane);

	while (*u != user)
		u++;
	return &lane->user[u - lane_users(lane)];
}

static const struct lane_handler *lane_handler(const struct lane *lane, uint16_t opcode)
{
	const struct lane_user *const *u;
	const struct lane_handler *h;

	for (u = lane_users(lane); *u; u++)
		for (h = (*u)->handlers; h && h->opcode; h++)
			if (h->opcode == opcode)
				return h;
	return NULL;
}

/* If it cannot be said, what the lane brings is counted as nobody's. */
static void job_say(struct lane *lane)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_JOB };
	uint8_t buf[sizeof(struct ddio_msg_job) + 8];
	struct ddio_msg_job x;
	ssize_t len;

	if (!lane_session(lane)->job[0])
		return;
	memcpy(x.name, lane_session(lane)->job, sizeof(x.name));
	len = ddio_put_job(buf, sizeof(buf), &x);
	if (len > 0)
		ddio_conn_send(lane->conn, &msg, buf, (size_t)len, NULL, 0, NULL);
}

/* Tells the node of what came from it and did not match its checksum. */
static void wrong_say(struct lane *lane)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_WRONG };
	uint8_t buf[sizeof(struct ddio_msg_wrong) + 8];
	ssize_t len;

	if (!lane->wrong.count)
		return;
	len = ddio_put_wrong(buf, sizeof(buf), &lane->wrong);
	if (len > 0 && !ddio_conn_send(lane->conn, &msg, buf, (size_t)len, NULL, 0, NULL))
		memset(&lane->wrong, 0, sizeof(lane->wrong));
}

/* Finds out what it was that did not match: a reply's data, or those of a lane's user. */
static void wrong_note(struct lane *lane)
{
	const struct lane_user *const *u;
	struct ddio_msg_wrong *x = &lane->wrong;
	struct ddio_msg_obj obj;

	x->count++;
	x->flags = 0;
	lane->altered = lane->bulk_request;
	if (lane->bulk_request &&
	    !ddio_get_obj(lane->bulk_request->fixed, lane->bulk_request->fixed_len, &obj)) {
		x->flags = DDIO_WRONG_PLACE;
		x->disk = obj.disk;
		x->file = obj.file.id;
		x->block = obj.file.block ? obj.offset / obj.file.block : 0;
	}
	for (u = lane_users(lane); *u && !lane->altered; u++)
		if ((*u)->receiving)
			lane->altered = (*u)->receiving(lane, x);
}

/*
 * Returns true if the lane is to be connected only to tell the node: nobody may want it any more.  One that sends nothing right is
 * told once in a timeout, or when somebody wants it.
 */
static bool wrong_tells(struct lane *lane)
{
	const struct ddio_session *s = lane_session(lane);
	uint64_t now = ddio_env_now(s->env);

	if (lane->state != LANE_READY || (lane->telling && now - lane->telling < s->timeout_ns))
		return false;
	lane->telling = now;
	return true;
}

void lane_begin(struct lane *lane)
{
	const struct lane_user *const *u;

	lane->state = LANE_READY;
	lane_session(lane)
		->connected[lane->carried ? SESSION_BROKERED : ddio_conn_way(lane->conn)]++;
	job_say(lane);
	wrong_say(lane);
	if (!lane->reactor) {
		lane->node->known = true;
		lane->node->met = lane->boot;
	}
	requests_start(lane);
	for (u = lane_users(lane); *u; u++)
		if ((*u)->ready)
			(*u)->ready(lane);
}

/* The node was restarted: so the connection with reactor 0, if it is of before, is gone as well. */
static void lane_stale(struct lane *lane, uint64_t boot, const struct error *error)
{
	struct lane *first = lane->node->lanes[0];

	lane_fail(lane, error);
	if (first->state >= LANE_MEETING && first->boot != boot)
		lane_fail(first, error);
}

/* The node knows, or has been told, whose the connection is. */
static void lane_meet(struct lane *lane)
{
	if (lane->reactor || !identity_begin(lane))
		lane_begin(lane);
}

static void lane_vouched(void *arg, int err, const char *cred, const char *why)
{
	struct lane *lane = arg;
	struct error error;

	lane->vouching = NULL;
	if (!err) {
		err = whose_show(lane->conn, cred);
		why = strerror(-err);
	}
	if (!err) {
		lane_meet(lane);
		return;
	}
	/* Whoever has not answered may do so later. */
	error_status(&error, err == -ETIMEDOUT ? DDIO_ST_NODE_LOST : DDIO_ST_PERMISSION,
		     "node %s (%s) wants to know users: %s", LANE_NAMES(lane), why);
	lane_fail(lane, &error);
}

/* Says on a new connection whose it is, if that matters: lane_meet() follows once @lane->vouching is over.  Return: 0, or -errno with @error. */
static int user_say(struct lane *lane, struct error *error)
{
	int err;

	if (!ddio_conn_users(lane->conn))
		return 0;
	err = vouching_make(lane->node->session, ddio_conn_tie(lane->conn), DDIO_PROOF_LEN,
			    lane_vouched, lane, &lane->vouching);
	if (err)
		error_set(error, err, "node %s (%s) wants to know users: %s", LANE_NAMES(lane),
			  strerror(-err));
	return err;
}

static void lane_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct lane *lane = ctx;
	uint64_t boot = welcome->boot;
	struct error error;
	int err = node_learn(lane, welcome, &error);

	if (!err && !lane->reactor)
		err = identity_hear(lane, welcome, &error);
	if (!err)
		err = user_say(lane, &error);
	if (err == -EHOSTDOWN)
		lane_stale(lane, boot, &error);
	else if (err)
		lane_fail(lane, &error);
	else if (!lane->vouching)
		lane_meet(lane);
}

static int lane_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		     struct ddio_sink *sink)
{
	struct lane *lane = ctx;
	const struct lane_handler *h;

	if (msg->flags & DDIO_WIRE_REPLY)
		return request_bulk(lane, msg, prefix, prefix_len, sink);
	h = lane_handler(lane, msg->opcode);
	if (!h || !h->bulk)
		return -EPROTO;
	return h->bulk(lane, prefix, prefix_len, msg->length - prefix_len, sink);
}

static int lane_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct lane *lane = ctx;
	const struct lane_handler *h;

	if (msg->flags & DDIO_WIRE_REPLY)
		return request_reply(lane, msg, payload);
	switch (msg->opcode) {
	case DDIO_OP_GRANT:
		return grant_take(lane, payload, msg->length);
	case DDIO_OP_ENDED:
		lane_ended(lane);
		return 0;
	case DDIO_OP_PING:
		return ddio_conn_reply(lane->conn, msg, DDIO_ST_OK, NULL, 0);
	}
	h = lane_handler(lane, msg->opcode);
	return h ? h->message(lane, payload, msg->length) : -EPROTO;
}

static void lane_drained(void *ctx)
{
	struct lane *lane = ctx;
	const struct lane_user *const *u;

	for (u = lane_users(lane); *u; u++)
		if ((*u)->drained)
			(*u)->drained(lane);
}

/* The broker cannot reach the node, as it would an older one: it may be that this process can. */
static bool carried_retry(struct lane *lane, int err)
{
	if (!lane->carried || lane->state != LANE_CONNECTING || lane->vouching ||
	    err != -EOPNOTSUPP)
		return false;
	ddio_conn_close(lane->conn, false);
	lane->conn = NULL;
	lane->direct = true;
	lane_dialed(lane);
	return true;
}

static void lane_closed(void *ctx, int err, const char *why)
{
	struct lane *lane = ctx;
	struct error error;
	uint32_t status = err ? ddio_status_from_errno(err) : DDIO_ST_NODE_LOST;
	bool wrong = lane->conn && ddio_conn_mismatched(lane->conn);
	bool tell = wrong && wrong_tells(lane);

	if (shed_retry(lane, err) || carried_retry(lane, err))
		return;
	/* To the caller a broken stream and a refused connection are the same. */
	if (status == DDIO_ST_IO || status == DDIO_ST_CANCELLED || status == DDIO_ST_TIMEOUT ||
	    status == DDIO_ST_MEMBER_LOST)
		status = DDIO_ST_NODE_LOST;
	if (err)
		error_status(&error, status, "node %s: %s",
			     lane_session(lane)->conf->nodes[lane->node->index].name, why);
	else
		error_status(&error, status, "node %s (%s) closed the connection",
			     LANE_NAMES(lane));
	if (wrong)
		wrong_note(lane);
	lane_fail(lane, &error);
	lane->altered = NULL;
	if (tell && lane->state == LANE_DOWN)
		(void)lane_up(lane, &error);
}

static const struct ddio_conn_ops lane_ops = {
	.ready = lane_ready,
	.bulk = lane_bulk,
	.message = lane_message,
	.drained = lane_drained,
	.closed = lane_closed,
};

static int connect_begin(struct lane *lane)
{
	struct ddio_session *s = lane_session(lane);
	struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT, .reactor = lane->reactor };
	struct ddio_stream *stream = NULL;
	struct ddio_conn_opts opts;
	uint64_t passed;
	int err;

	lane->state = LANE_CONNECTING;
	err = s->dial && !lane->direct ? s->dial(lane, &stream) : 0;
	if (err)
		return err == -EINPROGRESS ? 0 : err;
	session_conn_opts(s, &opts);
	/* All tries together, and waiting for a broker, are bounded as one is. */
	passed = ddio_env_now(s->env) - lane->begun;
	opts.handshake_ns = passed < opts.handshake_ns ? opts.handshake_ns - passed : 1;
	opts.memory &= !stream;
	lane->carried = stream;
	ddio_hello_session_set(&hello, s->id, ++s->connects);
	err = ddio_conn_connect_by(s->env, stream, s->conf->nodes[lane->node->index].address,
				   &hello, &opts, &lane_ops, lane, &lane->conn);
	if (err)
		lane->state = LANE_DOWN;
	return err;
}

static int lane_connect(struct lane *lane, struct error *error)
{
	struct ddio_session *s = lane_session(lane);
	int err = -ECANCELED;

	if (!s->closing)
		err = connect_begin(lane);
	/* Failing at once is the same as failing later. */
	if (err == -ECANCELED || err == -ENOMEM)
		error_set(error, err, "node %s (%s): %s", LANE_NAMES(lane),
			  err == -ECANCELED ? "the session is ending" : strerror(-err));
	else if (err)
		error_status(error, DDIO_ST_NODE_LOST, "node %s (%s): %s", LANE_NAMES(lane),
			     strerror(-err));
	return err;
}

int lane_up(struct lane *lane, struct error *error)
{
	if (lane->state != LANE_DOWN && !lane_session(lane)->closing)
		return 0;
	lane->begun = ddio_env_now(lane_session(lane)->env);
	lane->shed = 0;
	lane->direct = false;
	return lane_connect(lane, error);
}

void lane_fail(struct lane *lane, const struct error *error)
{
	struct ddio_conn *conn = lane->conn;
	const struct lane_user *const *u;

	for (u = lane_users(lane); conn && *u; u++)
		if ((*u)->losing)
			(*u)->losing(lane);
	shed_cancel(lane);
	vouching_forget(lane->vouching);
	lane->vouching = NULL;
	ddio_list_del(&lane->waits);
	lane->carried = false;
	memset(lane->shown, 0, sizeof(lane->shown));
	lane->conn = NULL;
	lane->state = LANE_DOWN;
	memset(&lane->alive, 0, sizeof(lane->alive));
	lane->bulk_request = NULL;
	/* Ends the sends, for which their owners may be waiting. */
	if (conn)
		ddio_conn_close(conn, false);
	requests_fail(lane, error);
	for (u = lane_users(lane); *u; u++)
		if ((*u)->lost)
			(*u)->lost(lane, error);
	if (!lane->reactor)
		node_forget(lane->node, error);
}

int lane_send(struct lane *lane, uint16_t opcode, uint64_t tag, const void *fixed, size_t fixed_len,
	      const struct iovec *iov, int n, struct ddio_send *send)
{
	struct ddio_msg msg = { .opcode = opcode, .tag = tag };

	if (lane->state != LANE_READY)
		return -ENOTCONN;
	return ddio_conn_send(lane->conn, &msg, fixed, fixed_len, iov, n, send);
}

void lane_dialed(struct lane *lane)
{
	struct error error;

	if (lane_connect(lane, &error))
		lane_fail(lane, &error);
}

static void lane_again(void *arg)
{
	lane_dialed(arg);
}

int lane_new(struct cluster_node *node, uint32_t reactor, struct lane **result)
{
	struct lane *lane = calloc(1, sizeof(*lane));

	if (!lane)
		return -ENOMEM;
	lane->node = node;
	lane->reactor = reactor;
	lane->free_tag = UINT32_MAX;
	ddio_list_init(&lane->queued);
	ddio_list_init(&lane->waits);
	ddio_list_init(&lane->expecting);
	lane->again.fn = lane_again;
	lane->again.arg = lane;
	*result = lane;
	return 0;
}

void lane_free(struct lane *lane)
{
	const struct lane_user *const *u = lane_users(lane);
	uint32_t i;

	for (i = 0; u[i]; i++)
		if (lane->user[i])
			u[i]->free(lane->user[i]);
	free(lane->tags);
	free(lane);
}
