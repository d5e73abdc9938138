// SPDX-License-Identifier: LGPL-2.1-or-later
/* At the broker: those that it brokers for, its guests.  The name is the user's own, see env.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/broker/priv.h"

/**
 * struct guest - a member's connection
 * @mux: NULL until it has proved the key
 */
struct guest {
	struct ddio_list link;
	struct broker *broker;
	struct ddio_conn *conn;
	struct ddio_mux *mux;
};

static void guest_end(struct guest *g, int err)
{
	ddio_list_del(&g->link);
	ddio_env_serve(g->broker->session->env, false);
	if (g->mux)
		ddio_mux_free(g->mux, err, NULL);
	ddio_conn_close(g->conn, false);
	free(g);
}

static void guest_opened(void *ctx, struct ddio_stream *stream,
			 const struct ddio_msg_mux_open *open)
{
	struct guest *g = ctx;

	if (open->node < g->broker->session->conf->nnodes)
		carrier_relay(g->broker, open->node, open->reactor, stream);
	else
		ddio_mux_end(stream, -EINVAL);
}

static void guest_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	struct guest *g = ctx;
	struct broker *b = g->broker;
	struct ddio_msg_welcome welcome = { .node = b->rank };

	if (hello->role != DDIO_ROLE_BROKER || memcmp(hello->group, b->group, sizeof(b->group))) {
		ddio_conn_refuse(g->conn, DDIO_ST_UNSUPPORTED, "this is a group's broker");
		return;
	}
	g->mux = ddio_mux_new(b->session->env, g->conn, guest_opened, g);
	if (!g->mux || ddio_conn_welcome(g->conn, &welcome))
		ddio_conn_refuse(g->conn, DDIO_ST_NO_MEMORY, "no memory for another process");
}

static int guest_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		      struct ddio_sink *sink)
{
	struct guest *g = ctx;

	return ddio_mux_bulk(g->mux, msg, prefix, prefix_len, sink);
}

static int guest_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct guest *g = ctx;

	if (msg->opcode == DDIO_OP_PING)
		return broker_pinged(g->conn, msg);
	return ddio_mux_message(g->mux, msg, payload);
}

static void guest_drained(void *ctx)
{
	struct guest *g = ctx;

	if (g->mux)
		ddio_mux_drained(g->mux);
}

/* It is dead, or done: so are its streams, and the nodes read their end. */
static void guest_closed(void *ctx, int err, const char *why)
{
	(void)why;
	guest_end(ctx, err);
}

static const struct ddio_conn_ops guest_ops = {
	.hello = guest_hello,
	.bulk = guest_bulk,
	.message = guest_message,
	.drained = guest_drained,
	.closed = guest_closed,
};

static void serve_accept(void *ctx, struct ddio_stream *stream)
{
	struct broker *b = ctx;
	struct guest *g = calloc(1, sizeof(*g));
	struct ddio_conn_opts opts;

	if (!g) {
		ddio_stream_close(stream);
		return;
	}
	g->broker = b;
	session_conn_opts(b->session, &opts);
	opts.tls = NULL;
	if (ddio_conn_accept(b->session->env, stream, &opts, &guest_ops, g, &g->conn)) {
		free(g);
		return;
	}
	ddio_list_add(&g->link, &b->guests);
	ddio_env_serve(b->session->env, true);
}

int serve_begin(struct broker *b)
{
	return ddio_listen(b->session->env, b->name, serve_accept, b, &b->listener);
}

static void stop_listening(struct broker *b)
{
	if (b->listener)
		ddio_listener_close(b->listener);
	b->listener = NULL;
}

bool serve_leave(struct broker *b)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_MUX_LEAVE };
	struct guest *g;

	if (b->listener)
		ddio_list_for_each_entry(g, &b->guests, link)
			if (g->mux)
				ddio_conn_send(g->conn, &msg, NULL, 0, NULL, 0, NULL);
	stop_listening(b);
	return !ddio_list_empty(&b->guests);
}

void serve_end(struct broker *b)
{
	stop_listening(b);
	while (!ddio_list_empty(&b->guests))
		guest_end(ddio_list_first(&b->guests, struct guest, link), -ECONNRESET);
}
