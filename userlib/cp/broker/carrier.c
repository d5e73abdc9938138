// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * At the broker: its connections to reactors of nodes.  Each is made when a lane first wants to go there.  If it cannot be made,
 * whoever waits for it connects by itself, and finds out why.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/broker/priv.h"

/**
 * struct carrier - the connection to a reactor
 * @mux: NULL until it is open
 * @streams: struct guest_stream: guests' that wait; @lanes: struct lane.waits: the broker's own
 */
struct carrier {
	struct ddio_list link;
	struct broker *broker;
	uint32_t node, reactor;
	struct ddio_conn *conn;
	struct ddio_mux *mux;
	struct ddio_alive alive;
	struct ddio_list streams, lanes;
};

struct guest_stream {
	struct ddio_list link;
	struct ddio_stream *stream;
};

static const char *node_addr(const struct carrier *c)
{
	return c->broker->session->conf->nodes[c->node].address;
}

static void relay(struct carrier *c, struct ddio_stream *stream)
{
	struct ddio_stream *on;

	if (ddio_mux_open(c->mux, c->node, c->reactor, node_addr(c), &on))
		ddio_mux_end(stream, -EOPNOTSUPP);
	else
		(void)ddio_mux_relay(stream, on);
}

/* Goes on with those that have waited: over the connection, or without it. */
static void waiters_go(struct carrier *c)
{
	struct guest_stream *w;

	while (!ddio_list_empty(&c->streams)) {
		w = ddio_list_first(&c->streams, struct guest_stream, link);
		ddio_list_del(&w->link);
		if (c->mux)
			relay(c, w->stream);
		else
			ddio_mux_end(w->stream, -EOPNOTSUPP);
		free(w);
	}
}

static void lanes_go(struct ddio_list *lanes, bool direct)
{
	struct lane *lane;

	while (!ddio_list_empty(lanes)) {
		lane = ddio_list_first(lanes, struct lane, waits);
		ddio_list_del(&lane->waits);
		lane->direct = direct;
		lane_dialed(lane);
	}
}

static void carrier_end(struct carrier *c)
{
	struct ddio_list lanes;
	struct ddio_mux *mux = c->mux;

	ddio_list_del(&c->link);
	c->mux = NULL;
	waiters_go(c);
	ddio_list_init(&lanes);
	ddio_list_splice(&c->lanes, &lanes);
	if (mux)
		ddio_mux_free(mux, -EHOSTDOWN, NULL);
	if (c->conn)
		ddio_conn_close(c->conn, false);
	free(c);
	lanes_go(&lanes, true);
}

static void carrier_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct carrier *c = ctx;
	struct ddio_list lanes;

	if (welcome->node == c->node)
		c->mux = ddio_mux_new(c->broker->session->env, c->conn, NULL, c);
	if (!c->mux) {
		carrier_end(c);
		return;
	}
	waiters_go(c);
	ddio_list_init(&lanes);
	ddio_list_splice(&c->lanes, &lanes);
	lanes_go(&lanes, false);
}

static int carrier_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix,
			size_t prefix_len, struct ddio_sink *sink)
{
	struct carrier *c = ctx;

	return ddio_mux_bulk(c->mux, msg, prefix, prefix_len, sink);
}

static int carrier_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct carrier *c = ctx;

	if (msg->opcode == DDIO_OP_PING)
		return broker_pinged(c->conn, msg);
	return ddio_mux_message(c->mux, msg, payload);
}

static void carrier_drained(void *ctx)
{
	struct carrier *c = ctx;

	if (c->mux)
		ddio_mux_drained(c->mux);
}

static void carrier_closed(void *ctx, int err, const char *why)
{
	(void)err;
	(void)why;
	carrier_end(ctx);
}

static const struct ddio_conn_ops carrier_ops = {
	.ready = carrier_ready,
	.bulk = carrier_bulk,
	.message = carrier_message,
	.drained = carrier_drained,
	.closed = carrier_closed,
};

static struct carrier *carrier_new(struct broker *b, uint32_t node, uint32_t reactor)
{
	struct ddio_msg_hello hello = { .role = DDIO_ROLE_BROKER, .reactor = reactor };
	struct carrier *c = calloc(1, sizeof(*c));
	struct ddio_conn_opts opts;

	if (!c)
		return NULL;
	c->broker = b;
	c->node = node;
	c->reactor = reactor;
	ddio_list_init(&c->streams);
	ddio_list_init(&c->lanes);
	session_conn_opts(b->session, &opts);
	/* Whoever waits must still have time to connect by itself. */
	opts.handshake_ns = b->session->timeout_ns / 2;
	if (ddio_conn_connect(b->session->env, node_addr(c), &hello, &opts, &carrier_ops, c,
			      &c->conn)) {
		free(c);
		return NULL;
	}
	ddio_list_add(&c->link, &b->carriers);
	session_watch(b->session);
	return c;
}

static struct carrier *carrier_get(struct broker *b, uint32_t node, uint32_t reactor)
{
	struct carrier *c;

	ddio_list_for_each_entry(c, &b->carriers, link)
		if (c->node == node && c->reactor == reactor)
			return c;
	return carrier_new(b, node, reactor);
}

void carrier_relay(struct broker *b, uint32_t node, uint32_t reactor, struct ddio_stream *stream)
{
	struct carrier *c = carrier_get(b, node, reactor);
	struct guest_stream *w;

	if (c && c->mux) {
		relay(c, stream);
		return;
	}
	w = c ? calloc(1, sizeof(*w)) : NULL;
	if (!w) {
		ddio_mux_end(stream, -EOPNOTSUPP);
		return;
	}
	w->stream = stream;
	ddio_list_add(&w->link, &c->streams);
}

int carrier_dial(struct broker *b, struct lane *lane, struct ddio_stream **stream)
{
	const struct ddio_session *s = b->session;
	struct carrier *c;

	/* Alone on its machine it needs no broker. */
	if (s->conf->broker != DDIO_CONF_BROKER_ALWAYS && ddio_list_empty(&b->guests))
		return 0;
	c = carrier_get(b, lane->node->index, lane->reactor);
	if (c && !c->mux) {
		ddio_list_add(&lane->waits, &c->lanes);
		return -EINPROGRESS;
	}
	if (!c || ddio_mux_open(c->mux, c->node, c->reactor, node_addr(c), stream))
		*stream = NULL;
	return 0;
}

bool carriers_check(struct broker *b)
{
	struct carrier *c, *tmp;
	struct ddio_mux_use use;
	bool owes = false;

	ddio_list_for_each_entry_safe(c, tmp, &b->carriers, link) {
		if (!c->mux)
			continue;
		ddio_mux_use(c->mux, &use);
		if (ddio_alive_check(b->session->env, b->session->timeout_ns, &c->alive, c->conn,
				     use.streams))
			carrier_end(c);
		else
			owes |= use.streams;
	}
	return owes;
}

bool carriers_queued(const struct broker *b)
{
	const struct carrier *c;

	ddio_list_for_each_entry(c, &b->carriers, link)
		if (c->mux && ddio_mux_queued(c->mux))
			return true;
	return false;
}

void carriers_close(struct broker *b)
{
	while (!ddio_list_empty(&b->carriers))
		carrier_end(ddio_list_first(&b->carriers, struct carrier, link));
}
