// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Connections that carry others: a broker's.  What it opens is taken as what comes to the listener, but on the reactor that the
 * broker's connection belongs to, where it stays.  Keys are reactor 0's, so each other reactor has a copy for these handshakes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "env/lines.h"
#include "iop/server/priv.h"
#include "mux/mux.h"

/**
 * struct carry_keys - new keys on their way to a reactor
 */
struct carry_keys {
	struct ddio_post post;
	struct server_reactor *sr;
	struct ddio_key key;
};

void server_keys_begin(struct server *server)
{
	uint32_t i;

	for (i = 0; i < server->iop.nreactors; i++)
		server->per[i].key = server->iop.key;
}

static void keys_take(void *arg)
{
	struct carry_keys *kp = arg;

	kp->sr->key = kp->key;
	if (kp->sr->tls)
		ddio_conn_tls_keys(kp->sr->tls, &kp->key);
	explicit_bzero(kp, sizeof(*kp));
	free(kp);
}

static void keys_tell(struct server_reactor *sr, const struct ddio_key *key)
{
	struct carry_keys *kp = calloc(1, sizeof(*kp));

	if (!kp) {
		ddio_env_log(sr->server->iop.reactors[0].env, DDIO_LOG_ERR,
			     "out of memory: reactor %u keeps the old keys for brokers",
			     sr->reactor->index);
		return;
	}
	kp->sr = sr;
	kp->key = *key;
	kp->post.fn = keys_take;
	kp->post.arg = kp;
	ddio_env_post(sr->reactor->env, &kp->post);
}

void server_keys_set(struct server *server, const struct ddio_key *key)
{
	uint32_t i;

	server->iop.key = *key;
	if (server->tls)
		ddio_conn_tls_keys(server->tls, key);
	/* Reactors that stop take no connections, and may run no more. */
	for (i = 0; i < server->iop.nreactors && !server->stopping; i++)
		keys_tell(&server->per[i], key);
}

/* Returns 0, or what ddio_conn_tls_new() says. */
static int carry_secure(struct server_reactor *sr)
{
	if (!sr->server->iop.conf->tls || sr->tls)
		return 0;
	/* Inside another stream the kernel makes no records. */
	return ddio_conn_tls_new(&sr->key, false, &sr->tls);
}

void server_carry_free(struct server_reactor *sr)
{
	ddio_tls_free(sr->tls);
	sr->tls = NULL;
	explicit_bzero(&sr->key, sizeof(sr->key));
}

static void carry_opened(void *ctx, struct ddio_stream *stream,
			 const struct ddio_msg_mux_open *open)
{
	struct server_client *sc = ctx;
	struct reactor *reactor = sc->c.reactor;
	struct server_reactor *sr = server_reactor(reactor);
	int err;

	if (reactor->stopping || sc->c.closing)
		err = -ESHUTDOWN;
	else if (open->reactor != reactor->index || open->node != reactor->iop->node)
		err = -EINVAL;
	else
		err = carry_secure(sr);
	if (err)
		ddio_mux_end(stream, err);
	else
		server_take(reactor, stream, &sr->key, sr->tls, true);
}

int server_carry_begin(struct server_client *sc)
{
	sc->mux = ddio_mux_new(sc->c.reactor->env, sc->c.conn, carry_opened, sc);
	if (!sc->mux)
		return -ENOMEM;
	ddio_mux_count(sc->mux, &server_reactor(sc->c.reactor)->carried);
	return 0;
}

void server_carry_end(struct server_client *sc)
{
	struct bound *at = sc->c.reactor->bounds.at;
	struct ddio_mux_use use;

	if (!sc->mux)
		return;
	ddio_mux_use(sc->mux, &use);
	bound_seen(&at[BOUND_CARRIED], use.most);
	ddio_mux_free(sc->mux, -ECONNRESET, NULL);
	sc->mux = NULL;
}

static uint64_t carry_held(const struct server_client *sc)
{
	struct ddio_mux_use use = { 0 };

	if (sc->mux && !sc->c.closing)
		ddio_mux_use(sc->mux, &use);
	return use.held;
}

/* The broker's connection of which most waits to be read; @sc is one. */
static struct server_client *carry_fullest(struct server_client *sc)
{
	struct client *client;

	ddio_list_for_each_entry(client, &sc->c.reactor->clients, link)
		if (carry_held(server_client_of(client)) > carry_held(sc))
			sc = server_client_of(client);
	return sc;
}

/* Holds all of them to their bound: the one that holds most goes, and with it all that it carries. */
static void carry_bound(struct server_client *sc)
{
	struct bound *bound = &sc->c.reactor->bounds.at[BOUND_HELD_ALL];
	uint64_t all = server_reactor(sc->c.reactor)->carried;

	bound_seen(bound, all);
	if (all <= bound->limit)
		return;
	bound->hits++;
	client_end(&carry_fullest(sc)->c, "of all brokers' connections this one has most that its "
					  "processes sent and cannot be served yet");
}

int server_carry_message(struct server_client *sc, const struct ddio_msg *msg, const void *payload)
{
	int err;

	if (msg->opcode == DDIO_OP_PING && !(msg->flags & DDIO_WIRE_REPLY))
		return ddio_conn_reply(sc->c.conn, msg, DDIO_ST_OK, NULL, 0);
	err = ddio_mux_message(sc->mux, msg, payload);
	if (!err)
		carry_bound(sc);
	return err;
}

void server_carry_count(const struct reactor *reactor, struct bound *at)
{
	struct bound *streams = &at[BOUND_CARRIED], *held = &at[BOUND_HELD];
	const struct client *client;
	struct ddio_mux_use use;

	at[BOUND_HELD_ALL].now = server_reactor(reactor)->carried;
	streams->now = held->now = 0;
	ddio_list_for_each_entry(client, &reactor->clients, link) {
		if (!server_client_of(client)->mux)
			continue;
		ddio_mux_use(server_client_of(client)->mux, &use);
		streams->now += use.streams;
		bound_seen(streams, use.most);
		held->now += use.held;
		bound_seen(held, use.held);
	}
}
