// SPDX-License-Identifier: LGPL-2.1-or-later
/* A connection that is being served: how much is read from it, and ending it. */
#include <string.h>
#include "iop/server/priv.h"

/* The papers' cache grows with the compute processes; tools that only look are none. */
void server_client_count(struct server_client *sc, int change)
{
	struct reactor *reactor = sc->c.reactor;
	uint32_t i;

	reactor->nclients += change;
	if (change > 0)
		sc->c.job = &reactor->jobs.none;
	sc->c.job->st.connections += (uint64_t)change;
	if (sc->role != DDIO_ROLE_CLIENT)
		return;
	reactor->nprocs += change;
	for (i = 0; i < reactor->ndisks; i++)
		cache_set_clients(reactor->disks[i].cache, reactor->nprocs);
}

/**
 * client_end - end a connection soon, from the loop
 * @client: the connection; nothing more is read from it
 * @why: one line for the log
 */
void client_end(struct client *client, const char *why)
{
	struct server_client *sc = server_client_of(client);

	if (client->closing)
		return;
	client->closing = true;
	sc->why = strdup(why);
	sc->posted = true;
	ddio_env_post(client->reactor->env, &sc->end);
}

/* Returns true if the client must read replies before it may ask for more. */
static bool unread_much(struct server_client *sc)
{
	struct bound *bound = &sc->c.reactor->bounds.at[BOUND_UNREAD];
	uint64_t held = ddio_conn_copied(sc->c.conn);

	bound_seen(bound, held);
	bound->hits += held > bound->limit && !sc->unread;
	sc->unread = held > bound->limit;
	return sc->unread;
}

void server_clients_unread(struct reactor *reactor)
{
	const struct client *client;
	uint64_t sum = 0;

	ddio_list_for_each_entry(client, &reactor->clients, link)
		sum += ddio_conn_copied(client->conn);
	reactor->bounds.at[BOUND_UNREAD].now = sum;
}

/*
 * Whoever is not listened to hears nothing if it asks whether the node is there, and would take it for dead.  So it is told, unless
 * there is more for it to read anyhow.
 */
static void client_tell_alive(void *arg);

static void alive_later(struct server_client *sc)
{
	struct reactor *reactor = sc->c.reactor;

	sc->alive.fn = client_tell_alive;
	sc->alive.arg = sc;
	/* Without memory for a timer it hears of the next request that ends. */
	(void)ddio_timer_arm(reactor->env, &sc->alive,
			     ddio_env_now(reactor->env) + reactor->iop->conf->timeout_ns / 6);
}

static void client_tell_alive(void *arg)
{
	static const struct ddio_msg alive = { .opcode = DDIO_OP_PING, .flags = DDIO_WIRE_REPLY };
	struct server_client *sc = arg;

	if (!ddio_conn_queued(sc->c.conn))
		ddio_conn_send(sc->c.conn, &alive, NULL, 0, NULL, 0, NULL);
	alive_later(sc);
}

static void client_pause(struct server_client *sc, bool pause)
{
	sc->paused = pause;
	ddio_conn_pause(sc->c.conn, pause);
	if (pause)
		alive_later(sc);
	else
		ddio_timer_cancel(sc->c.reactor->env, &sc->alive);
}

void server_client_throttle(struct server_client *sc)
{
	bool much, few;

	if (sc->c.closing || sc->state != SERVER_CLIENT_SERVED)
		return;
	much = unread_much(sc) || sc->c.asking || sc->c.requests >= SERVER_CLIENT_REQUESTS ||
	       sc->bytes >= SERVER_CLIENT_BYTES;
	/* Below the bound the connection need not tell when its output has drained. */
	few = !sc->unread && !sc->c.asking && sc->c.requests <= SERVER_CLIENT_REQUESTS / 2 &&
	      sc->bytes <= SERVER_CLIENT_BYTES / 2;
	/* Bulk that is being received must be able to end. */
	if (sc->paused ? !few : !much || sc->incoming)
		return;
	client_pause(sc, !sc->paused);
}

bool client_paused(const struct client *client)
{
	return ddio_container_of(client, struct server_client, c)->paused;
}

void client_go_on(struct client *client)
{
	server_client_throttle(server_client_of(client));
}
