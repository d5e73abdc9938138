// SPDX-License-Identifier: LGPL-2.1-or-later
/* Connections from the listener to the reactor that serves them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "env/lines.h"
#include "iop/server/priv.h"
#include "mux/mux.h"

static const struct ddio_conn_ops client_ops;

static struct server_client *client_new(struct reactor *reactor)
{
	struct server_client *sc = calloc(1, sizeof(*sc));

	if (!sc)
		return NULL;
	sc->c.reactor = reactor;
	ddio_list_init(&sc->c.link);
	ddio_list_init(&sc->c.members);
	ddio_list_init(&sc->c.opened);
	ddio_list_init(&sc->requests);
	sc->end.fn = server_client_end_posted;
	sc->end.arg = sc;
	return sc;
}

static void client_closed(void *ctx, int err, const char *why)
{
	struct server_client *sc = ctx;
	struct reactor *reactor = sc->c.reactor;

	if (ddio_conn_mismatched(sc->c.conn))
		reactor->bounds.at[BOUND_WRONG_WIRE].hits++;
	if (sc->state == SERVER_CLIENT_SERVED)
		ddio_env_log(reactor->env, DDIO_LOG_DEBUG, "connection ended: %s", why);
	else if (sc->state == SERVER_CLIENT_OPENING && err)
		reactor->refused++;
	server_client_gone(sc);
}

static void welcome_disk(struct ddio_welcome_disk *to, const struct server_where *where,
			 uint32_t number)
{
	to->disk = number;
	to->reactor = (uint32_t)where->reactor;
	to->sector = where->info.sector;
	to->size = where->info.size;
	to->peak = where->info.peak;
	to->scale_ppm = (uint64_t)(where->info.time_scale * 1e6 + 0.5);
}

/* Reactor 0 tells which disks they are, whose name space it is, and which incarnations of the node ended in order. */
static int welcome_ids(const struct reactor *reactor, struct ddio_msg_welcome *w)
{
	const struct ddio_iop *iop = reactor->iop;
	uint32_t i;

	if (reactor->index)
		return 0;
	w->ids.names = iop->ns ? ns_life(iop->ns) : 0;
	w->ids.ids = calloc(w->ndisks + 1, sizeof(*w->ids.ids));
	w->ends = calloc(w->ndisks + 1, sizeof(*w->ends));
	if (!w->ids.ids || !w->ends)
		return -ENOMEM;
	if (iop->ns)
		w->names_ends = *ns_ends(iop->ns);
	for (i = 0; i < w->ndisks; i++) {
		w->ends[i] = server_of(iop)->where[w->disks[i].disk].ends;
		w->ids.ids[w->ids.n] = *iop_disk_id(iop, w->disks[i].disk);
		if (iop->users)
			disk_seal(&iop->servers_key, &w->ids.ids[w->ids.n]);
		w->ids.n++;
	}
	return 0;
}

static int welcome_make(const struct reactor *reactor, struct ddio_msg_welcome *w)
{
	const struct ddio_iop *iop = reactor->iop;
	const struct server_where *where = server_of(iop)->where;
	uint32_t i, n = 0;

	memset(w, 0, sizeof(*w));
	w->node = iop->node;
	w->nreactors = iop->nreactors;
	w->reactor = reactor->index;
	w->boot = iop->boot;
	snprintf(w->name, sizeof(w->name), "%s", iop_node_name(iop));
	for (i = 0; i < iop->nreactors; i++)
		w->ndisks += iop->reactors[i].ndisks;
	w->disks = calloc(w->ndisks + 1, sizeof(*w->disks));
	if (!w->disks)
		return -ENOMEM;
	for (i = 0; i < iop->conf->ndisks; i++)
		if (where[i].reactor >= 0)
			welcome_disk(&w->disks[n++], &where[i], i);
	return welcome_ids(reactor, w);
}

static void client_refuse(struct server_client *sc, uint32_t status, const char *text)
{
	sc->state = SERVER_CLIENT_REFUSED;
	sc->c.reactor->refused++;
	ddio_conn_refuse(sc->c.conn, status, text);
}

static void client_welcome(struct server_client *sc)
{
	struct reactor *reactor = sc->c.reactor;
	struct ddio_msg_welcome w;
	int err = welcome_make(reactor, &w);

	if (!err && sc->role == DDIO_ROLE_BROKER)
		err = server_carry_begin(sc);
	if (!err)
		err = ddio_conn_welcome(sc->c.conn, &w);
	ddio_welcome_free(&w);
	if (err) {
		client_refuse(sc, ddio_status_from_errno(err), "no memory for another connection");
		return;
	}
	sc->state = SERVER_CLIENT_SERVED;
	ddio_list_del(&sc->c.link);
	ddio_list_add(&sc->c.link, &reactor->clients);
	server_client_count(sc, 1);
}

static void held_look(void *arg);

/* Holds a client whose session's previous connection is still changing something until that is over. */
static void client_hold(struct server_client *sc)
{
	struct server_reactor *sr = server_reactor(sc->c.reactor);

	sc->held = true;
	sr->look.fn = held_look;
	sr->look.arg = sr;
}

/* Welcomes a client that has said who it is, now or later, or refuses it. */
static void client_serve(struct server_client *sc)
{
	sc->held = false;
	if (sc->c.reactor->stopping) {
		client_refuse(sc, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
		return;
	}
	switch (server_session_arrive(sc)) {
	case 0:
		client_welcome(sc);
		break;
	case -ESTALE:
		client_refuse(sc, DDIO_ST_STALE, "the client has opened a newer connection");
		break;
	case -EINPROGRESS:
		client_hold(sc);
		break;
	}
}

static void held_look(void *arg)
{
	struct server_reactor *sr = arg;
	struct client *client, *tmp;

	sr->looking = false;
	ddio_list_for_each_entry_safe(client, tmp, &sr->opening, link) {
		struct server_client *sc = server_client_of(client);

		if (sc->held && !server_session_changing(sr, sc->session))
			client_serve(sc);
	}
}

/* Runs on the reactor that the client asked for. */
static void client_arrive(void *arg)
{
	struct server_client *sc = arg;
	struct reactor *reactor = sc->c.reactor;
	int err = ddio_conn_attach(reactor->env, sc->c.conn, &client_ops, sc);

	if (err) {
		ddio_env_log_caused(reactor->env, DDIO_LOG_WARN, "connection with %s lost: %s",
				    ddio_conn_peer(sc->c.conn), strerror(-err));
		ddio_conn_close(sc->c.conn, false);
		free(sc);
		return;
	}
	sc->state = SERVER_CLIENT_OPENING;
	ddio_list_add(&sc->c.link, &server_reactor(reactor)->opening);
	client_serve(sc);
}

static void client_move(struct server_client *sc, struct reactor *to)
{
	ddio_list_del(&sc->c.link);
	ddio_conn_detach(sc->c.conn);
	sc->state = SERVER_CLIENT_MOVING;
	sc->c.reactor = to;
	sc->move.fn = client_arrive;
	sc->move.arg = sc;
	ddio_env_post(to->env, &sc->move);
}

static void client_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	struct server_client *sc = ctx;
	const struct ddio_iop *iop = sc->c.reactor->iop;
	char text[96];

	server_unproved_end(sc);
	sc->role = hello->role;
	if (hello->role == DDIO_ROLE_CLIENT)
		ddio_hello_session_get(hello, &sc->session, &sc->number);
	if (sc->c.reactor->stopping) {
		client_refuse(sc, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
	} else if (hello->role == DDIO_ROLE_PEER) {
		client_refuse(sc, DDIO_ST_UNSUPPORTED,
			      "this is an I/O processor, not a compute process");
	} else if (hello->role == DDIO_ROLE_BROKER && sc->carried) {
		/* One inside another would be carried by nobody's bound. */
		client_refuse(sc, DDIO_ST_UNSUPPORTED, "this connection cannot carry others");
	} else if (hello->reactor >= iop->nreactors) {
		snprintf(text, sizeof(text), "there is no reactor %u: this node has %u",
			 hello->reactor, iop->nreactors);
		client_refuse(sc, DDIO_ST_INVALID, text);
	} else if (hello->reactor == sc->c.reactor->index) {
		client_serve(sc);
	} else if (sc->carried) {
		client_refuse(sc, DDIO_ST_INVALID, "another reactor's connection carries this one");
	} else {
		client_move(sc, &iop->reactors[hello->reactor]);
	}
}

static int client_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		       struct ddio_sink *sink)
{
	struct server_client *sc = ctx;

	return sc->mux ? ddio_mux_bulk(sc->mux, msg, prefix, prefix_len, sink)
		       : server_bulk(sc, msg, prefix, prefix_len, sink);
}

static int client_large(void *ctx, const struct ddio_msg *msg)
{
	struct server_client *sc = ctx;

	return sc->mux ? -EPROTO : server_large(sc, msg);
}

static int client_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct server_client *sc = ctx;

	return sc->mux ? server_carry_message(sc, msg, payload) : server_message(sc, msg, payload);
}

static void client_drained(void *ctx)
{
	struct server_client *sc = ctx;

	if (sc->state != SERVER_CLIENT_SERVED)
		return;
	if (sc->mux) {
		ddio_mux_drained(sc->mux);
		return;
	}
	server_client_throttle(sc);
	server_tell_client_drained(&sc->c);
}

static const struct ddio_conn_ops client_ops = {
	.hello = client_hello,
	.bulk = client_bulk,
	.large = client_large,
	.message = client_message,
	.drained = client_drained,
	.closed = client_closed,
};

void server_take(struct reactor *reactor, struct ddio_stream *stream, const struct ddio_key *key,
		 struct ddio_tls *tls, bool carried)
{
	const struct ddio_iop *iop = reactor->iop;
	unsigned int sums = iop->conf->wire_checksums;
	struct ddio_conn_opts opts = { .key = key,
				       .cluster = iop->conf->cluster,
				       .unsummed = sums == DDIO_CONF_SUMS_NO,
				       .near_unsummed = sums == DDIO_CONF_SUMS_YES,
				       .memory = !carried && iop->conf->channels &&
						 sums != DDIO_CONF_SUMS_ALWAYS,
				       .users = iop->users,
				       .tls = tls };
	struct server_client *sc = client_new(reactor);
	int err = -ENOMEM;

	if (sc)
		err = ddio_conn_accept(reactor->env, stream, &opts, &client_ops, sc, &sc->c.conn);
	else
		ddio_stream_close(stream);
	if (err) {
		ddio_env_log_caused(reactor->env, DDIO_LOG_WARN, "cannot accept a connection: %s",
				    strerror(-err));
		free(sc);
		return;
	}
	sc->carried = carried;
	ddio_list_add(&sc->c.link, &server_reactor(reactor)->opening);
	/* Whoever brought it has proved the key. */
	if (!carried)
		server_unproved_begin(sc);
}

void server_accept(void *ctx, struct ddio_stream *stream)
{
	struct server *server = ctx;

	server_take(&server->iop.reactors[0], stream, &server->iop.key, server->tls, false);
}
