// SPDX-License-Identifier: LGPL-2.1-or-later
/* The connection of a lane: made, used, lost. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/dd.h"
#include "cp/node/lane.h"
#include "cp/node/request.h"

static struct ddio_session *lane_session(const struct ddio_lane *lane)
{
	return lane->node->session;
}

static void lane_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct ddio_lane *lane = ctx;
	struct ddio_error error;

	if (ddio_node_learn(lane, welcome, &error)) {
		ddio_lane_fail(lane, &error);
		return;
	}
	lane->state = DDIO_LANE_READY;
	ddio_requests_start(lane);
	if (!lane->reactor)
		ddio_requests_route(lane->node);
}

static int lane_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		     struct ddio_sink *sink)
{
	struct ddio_lane *lane = ctx;

	if (msg->flags & DDIO_WIRE_REPLY)
		return ddio_request_bulk(lane, msg, prefix, prefix_len, sink);
	if (msg->opcode == DDIO_OP_COLL_DATA)
		return ddio_dd_bulk(lane, msg, prefix, prefix_len, sink);
	return -EPROTO;
}

static int lane_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_lane *lane = ctx;

	if (msg->flags & DDIO_WIRE_REPLY)
		return ddio_request_reply(lane, msg, payload);
	switch (msg->opcode) {
	case DDIO_OP_COLL_DATA:
		return ddio_dd_data(lane);
	case DDIO_OP_COLL_WANT:
		return ddio_dd_want(lane, payload, msg->length);
	case DDIO_OP_COLL_DONE:
		return ddio_dd_done(lane, payload, msg->length);
	case DDIO_OP_ENDED:
		ddio_lane_ended(lane);
		return 0;
	case DDIO_OP_PING:
		return ddio_conn_reply(lane->conn, msg, DDIO_ST_OK, NULL, 0);
	default:
		return -EPROTO;
	}
}

static void lane_drained(void *ctx)
{
	ddio_dd_drained(ctx);
}

static void lane_closed(void *ctx, int err, const char *why)
{
	struct ddio_lane *lane = ctx;
	struct ddio_error error;
	uint32_t status = err ? ddio_status_from_errno(err) : DDIO_ST_NODE_LOST;

	/* A broken stream and a refused connection are the same to the caller. */
	if (status == DDIO_ST_IO || status == DDIO_ST_CANCELLED || status == DDIO_ST_TIMEOUT ||
	    status == DDIO_ST_MEMBER_LOST)
		status = DDIO_ST_NODE_LOST;
	if (err)
		ddio_error_status(&error, status, "node %s: %s",
				  lane_session(lane)->conf->nodes[lane->node->index].name, why);
	else
		ddio_error_status(&error, status, "node %s (%s) closed the connection",
				  DDIO_LANE_NAMES(lane));
	ddio_lane_fail(lane, &error);
}

static const struct ddio_conn_ops lane_ops = {
	.ready = lane_ready,
	.bulk = lane_bulk,
	.message = lane_message,
	.drained = lane_drained,
	.closed = lane_closed,
};

static int lane_connect(struct ddio_lane *lane)
{
	struct ddio_session *s = lane_session(lane);
	struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT, .reactor = lane->reactor };
	struct ddio_conn_opts opts;
	int err;

	ddio_session_conn_opts(s, &opts);
	ddio_hello_session_set(&hello, s->id, ++s->connects);
	err = ddio_conn_connect(s->env, s->conf->nodes[lane->node->index].address, &hello, &opts,
				&lane_ops, lane, &lane->conn);
	if (!err)
		lane->state = DDIO_LANE_CONNECTING;
	return err;
}

/**
 * ddio_lane_up - have the lane connected, or on its way
 * @lane: any
 * @error: why not
 *
 * Return: 0 or -errno.
 */
int ddio_lane_up(struct ddio_lane *lane, struct ddio_error *error)
{
	int err = 0;

	if (lane_session(lane)->closing)
		err = -ECANCELED;
	else if (lane->state == DDIO_LANE_DOWN)
		err = lane_connect(lane);
	/* No way to it, or a refusal that is known at once, is the same as one that comes later. */
	if (err == -ECANCELED || err == -ENOMEM)
		ddio_error_set(error, err, "node %s (%s): %s", DDIO_LANE_NAMES(lane),
			       err == -ECANCELED ? "the session is ending" : strerror(-err));
	else if (err)
		ddio_error_status(error, DDIO_ST_NODE_LOST, "node %s (%s): %s",
				  DDIO_LANE_NAMES(lane), strerror(-err));
	return err;
}

void ddio_lane_fail(struct ddio_lane *lane, const struct ddio_error *error)
{
	struct ddio_session *s = lane_session(lane);
	struct ddio_conn *conn = lane->conn;

	if (conn && s->lane_lost)
		s->lane_lost(s, lane);
	lane->conn = NULL;
	lane->state = DDIO_LANE_DOWN;
	memset(&lane->alive, 0, sizeof(lane->alive));
	lane->bulk_request = NULL;
	lane->bulk_op = NULL;
	/* Ends the sends, whose owners may be waiting for just that. */
	if (conn) {
		lane->messages += ddio_conn_messages(conn);
		ddio_conn_close(conn, false);
	}
	ddio_requests_fail(lane, error);
	ddio_dd_lane_lost(lane, error);
	if (!lane->reactor)
		ddio_node_forget(lane->node, error);
}

int ddio_lane_send(struct ddio_lane *lane, uint16_t opcode, uint64_t tag, const void *fixed,
		   size_t fixed_len, const struct iovec *iov, int n, struct ddio_send *send)
{
	struct ddio_msg msg = { .opcode = opcode, .tag = tag };

	if (lane->state != DDIO_LANE_READY)
		return -ENOTCONN;
	return ddio_conn_send(lane->conn, &msg, fixed, fixed_len, iov, n, send);
}

void *ddio_lane_scratch(struct ddio_lane *lane, size_t len)
{
	if (len <= lane->scratch_cap)
		return lane->scratch;
	free(lane->scratch);
	lane->scratch = malloc(len);
	lane->scratch_cap = lane->scratch ? len : 0;
	return lane->scratch;
}

uint64_t ddio_lane_messages(const struct ddio_lane *lane)
{
	return lane->messages + (lane->conn ? ddio_conn_messages(lane->conn) : 0);
}

int ddio_lane_new(struct ddio_node *node, uint32_t reactor, struct ddio_lane **result)
{
	struct ddio_lane *lane = calloc(1, sizeof(*lane));

	if (!lane)
		return -ENOMEM;
	lane->node = node;
	lane->reactor = reactor;
	lane->free_slot = UINT32_MAX;
	ddio_list_init(&lane->queued);
	ddio_list_init(&lane->attaches);
	ddio_list_init(&lane->wants);
	*result = lane;
	return 0;
}

void ddio_lane_free(struct ddio_lane *lane)
{
	free(lane->slots);
	free(lane->scratch);
	free(lane);
}
