// SPDX-License-Identifier: LGPL-2.1-or-later
/* A member's connection to the broker of its machine. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cp/broker/priv.h"

/* How often one whose broker is leaving looks which of its lanes are idle. */
#define LEAVE_STEP_NS 2000000ull

/* Calls @fn with each lane that the broker carries. */
static bool carried_lanes(struct broker *b, bool (*fn)(struct lane *lane))
{
	const struct ddio_session *s = b->session;
	struct cluster_node *node;
	bool any = false;
	uint32_t i, k;

	for (i = 0; i < s->conf->nnodes; i++) {
		node = s->nodes[i];
		for (k = 0; node && k < node->nlanes; k++)
			if (node->lanes[k] && node->lanes[k]->carried)
				any |= fn(node->lanes[k]);
	}
	return any;
}

static bool lane_owes(struct lane *lane)
{
	return lane->owing || !ddio_list_empty(&lane->expecting) || lane->state == LANE_CONNECTING;
}

/* The lane is made again when it is needed, by itself. */
static bool lane_leaves(struct lane *lane)
{
	struct error error;

	if (lane_owes(lane) || lane->state != LANE_READY || !ddio_list_empty(&lane->queued) ||
	    ddio_conn_queued(lane->conn))
		return true;
	error_status(&error, DDIO_ST_NODE_LOST, "node %s (%s): the broker of this machine has left",
		     LANE_NAMES(lane));
	lane_fail(lane, &error);
	return false;
}

void member_fail(struct broker *b, int err, const char *why)
{
	struct ddio_conn *conn = b->conn;
	struct ddio_mux *mux = b->mux;

	b->conn = NULL;
	b->mux = NULL;
	memset(&b->alive, 0, sizeof(b->alive));
	if (mux)
		ddio_mux_free(mux, err, why);
	if (conn)
		ddio_conn_close(conn, false);
}

static void broker_lost(struct broker *b, const char *how)
{
	char why[DDIO_MAX_TEXT];

	snprintf(why, sizeof(why), "the broker of this machine (rank %u of the group) %s", b->rank,
		 how);
	b->state = BROKER_NONE;
	/* As a connection that breaks. */
	member_fail(b, -ECONNRESET, why);
}

static void member_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct broker *b = ctx;

	b->rank = welcome->node;
	b->mux = ddio_mux_new(b->session->env, b->conn, NULL, b);
	if (!b->mux) {
		member_fail(b, -ENOMEM, NULL);
		broker_not_there(b, -ENOMEM);
		return;
	}
	b->state = BROKER_JOINED;
	broker_wake(b);
}

static int member_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		       struct ddio_sink *sink)
{
	struct broker *b = ctx;

	return ddio_mux_bulk(b->mux, msg, prefix, prefix_len, sink);
}

static void look_again(struct broker *b)
{
	struct ddio_env *env = b->session->env;

	/* Without a timer the watchdog looks, or the broker ends. */
	(void)ddio_timer_arm(env, &b->again, ddio_env_now(env) + LEAVE_STEP_NS);
}

static int member_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct broker *b = ctx;

	if (msg->opcode == DDIO_OP_PING)
		return broker_pinged(b->conn, msg);
	if (msg->opcode != DDIO_OP_MUX_LEAVE)
		return ddio_mux_message(b->mux, msg, payload);
	if (b->state == BROKER_JOINED) {
		b->state = BROKER_LEAVING;
		look_again(b);
	}
	return 0;
}

static void member_drained(void *ctx)
{
	struct broker *b = ctx;

	ddio_mux_drained(b->mux);
}

static void member_closed(void *ctx, int err, const char *why)
{
	struct broker *b = ctx;
	bool there = b->mux;

	(void)why;
	if (there) {
		broker_lost(b, "has ended");
		return;
	}
	member_fail(b, err, NULL);
	broker_not_there(b, err);
}

static const struct ddio_conn_ops member_ops = {
	.ready = member_ready,
	.bulk = member_bulk,
	.message = member_message,
	.drained = member_drained,
	.closed = member_closed,
};

void member_join(struct broker *b)
{
	struct ddio_session *s = b->session;
	struct ddio_msg_hello hello = { .role = DDIO_ROLE_BROKER, .rank = b->rank };
	struct ddio_conn_opts opts;
	int err;

	memcpy(hello.group, b->group, sizeof(hello.group));
	session_conn_opts(s, &opts);
	/* Messages there are sealed already. */
	opts.tls = NULL;
	opts.handshake_ns = broker_patience(s);
	err = ddio_conn_connect(s->env, b->name, &hello, &opts, &member_ops, b, &b->conn);
	if (err)
		broker_not_there(b, err);
}

/* The last of its lanes has left. */
static void left(struct broker *b)
{
	b->state = BROKER_NONE;
	member_fail(b, -ECANCELED, NULL);
}

bool member_check(struct broker *b)
{
	char how[64];
	bool owes;

	if (b->state == BROKER_LEAVING) {
		if (carried_lanes(b, lane_leaves))
			look_again(b);
		else
			left(b);
	}
	if (!b->mux)
		return false;
	owes = carried_lanes(b, lane_owes);
	if (!ddio_alive_check(b->session->env, b->session->timeout_ns, &b->alive, b->conn, owes))
		return owes;
	snprintf(how, sizeof(how), "has not answered for %g s",
		 (double)b->session->timeout_ns / 1e9);
	broker_lost(b, how);
	return false;
}
