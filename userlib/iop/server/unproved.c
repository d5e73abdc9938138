// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Connections that have not proved the cluster's key.  They have a share of the node's descriptors, and one
 * address a part of it: the oldest makes room for a newer one, so that who has the key gets in however many
 * others knock.
 */
#include <stdlib.h>
#include <string.h>
#include "env/lines.h"
#include "iop/server/priv.h"

#define SHARE 4		  /* of the descriptors */
#define SHARE_LEAST 8u	  /* enough to open a connection at all */
#define SHARE_MOST 65536u /* two bursts of a job of 16,384 processes */

/**
 * struct server_from - an address with connections that have not proved the key
 * @clients: struct server_client.from_link, the oldest first; @n of them
 * @addr: without its port
 */
struct server_from {
	struct ddio_hash_node node; /* struct server.unproved_from */
	struct ddio_list clients;
	uint64_t n;
	char addr[DDIO_MAX_ADDR];
};

void server_unproved_init(struct server *server, uint64_t descriptors)
{
	uint64_t share = descriptors / SHARE;
	uint32_t i;

	ddio_list_init(&server->unproved);
	if (!descriptors)
		return;
	share = share < SHARE_LEAST ? SHARE_LEAST : share > SHARE_MOST ? SHARE_MOST : share;
	/* Reactor 0 has all of them; the others' limits are reported, too. */
	for (i = 0; i < server->iop.nreactors; i++) {
		struct bound *at = server->iop.reactors[i].bounds.at;

		at[BOUND_UNPROVED].limit = share;
		at[BOUND_UNPROVED_FROM].limit = share - share / 4;
	}
}

static struct server_from *from_get(struct server *server, const char *peer)
{
	const char *port = strrchr(peer, ':');
	size_t len = port ? (size_t)(port - peer) : strlen(peer);
	uint64_t key = ddio_hash_bytes(peer, len);
	struct server_from *from;

	ddio_hash_for_each_match(from, &server->unproved_from, key, node)
		if (!strncmp(from->addr, peer, len) && !from->addr[len])
			return from;
	if (len >= sizeof(from->addr))
		return NULL;
	from = calloc(1, sizeof(*from));
	if (!from)
		return NULL;
	memcpy(from->addr, peer, len);
	ddio_list_init(&from->clients);
	ddio_hash_add(&server->unproved_from, &from->node, key);
	return from;
}

void server_unproved_end(struct server_client *sc)
{
	struct reactor *reactor = sc->c.reactor;
	struct server *server = server_of(reactor->iop);
	struct server_from *from = sc->from;

	if (!from)
		return;
	sc->from = NULL;
	ddio_list_del(&sc->from_link);
	ddio_list_del(&sc->unproved_link);
	reactor->bounds.at[BOUND_UNPROVED].now--;
	reactor->bounds.at[BOUND_UNPROVED_FROM].now--;
	if (--from->n)
		return;
	ddio_hash_del(&server->unproved_from, &from->node);
	free(from);
}

/* The connection makes room for a newer one. */
static void shed(struct server_client *sc, struct bound *bound)
{
	struct reactor *reactor = sc->c.reactor;

	bound->hits++;
	reactor->refused++;
	ddio_env_log_caused(
		reactor->env, DDIO_LOG_WARN,
		"connection with %s closed: it has not proved the key, and newer ones wait",
		ddio_conn_peer(sc->c.conn));
	server_client_gone(sc);
}

void server_unproved_begin(struct server_client *sc)
{
	struct server *server = server_of(sc->c.reactor->iop);
	struct bound *at = sc->c.reactor->bounds.at;
	struct server_from *from = from_get(server, ddio_conn_peer(sc->c.conn));

	/* Without memory it is not counted; nor will it get far. */
	if (!from)
		return;
	sc->from = from;
	ddio_list_add(&sc->from_link, &from->clients);
	ddio_list_add(&sc->unproved_link, &server->unproved);
	from->n++;
	at[BOUND_UNPROVED].now++;
	at[BOUND_UNPROVED_FROM].now++;
	if (from->n > at[BOUND_UNPROVED_FROM].limit)
		shed(ddio_list_first(&from->clients, struct server_client, from_link),
		     &at[BOUND_UNPROVED_FROM]);
	else if (at[BOUND_UNPROVED].now > at[BOUND_UNPROVED].limit)
		shed(ddio_list_first(&server->unproved, struct server_client, unproved_link),
		     &at[BOUND_UNPROVED]);
	bound_seen(&at[BOUND_UNPROVED], at[BOUND_UNPROVED].now);
	bound_seen(&at[BOUND_UNPROVED_FROM], from->n);
}
