// SPDX-License-Identifier: LGPL-2.1-or-later
/* How connections end. */
#include <stdlib.h>
#include "env/lines.h"
#include "iop/server/priv.h"

static void client_free(struct server_client *sc)
{
	free(sc->why);
	free(sc);
}

void server_client_gone(struct server_client *sc)
{
	struct server_request *req, *tmp, *incoming = sc->incoming;
	bool served = sc->state == SERVER_CLIENT_SERVED;

	sc->c.closing = true;
	sc->state = SERVER_CLIENT_GONE;
	server_unproved_end(sc);
	ddio_timer_cancel(sc->c.reactor->env, &sc->alive);
	server_tell_client_gone(&sc->c);
	user_free(sc->c.user);
	sc->c.user = NULL;
	ddio_list_del(&sc->c.link);
	if (served)
		server_client_count(sc, -1);
	ddio_list_for_each_entry_safe(req, tmp, &sc->requests, link) {
		server_request_orphan(req);
		if (req->gone)
			req->gone(req);
	}
	server_carry_end(sc);
	ddio_conn_close(sc->c.conn, false);
	if (incoming)
		server_request_end(incoming);
	if (!sc->posted)
		client_free(sc);
}

void server_client_end_posted(void *arg)
{
	struct server_client *sc = arg;
	struct reactor *reactor = sc->c.reactor;

	sc->posted = false;
	if (sc->state == SERVER_CLIENT_GONE) {
		client_free(sc);
		return;
	}
	ddio_env_log_caused(reactor->env, DDIO_LOG_WARN, "connection with %s closed: %s",
			    ddio_conn_peer(sc->c.conn), sc->why ? sc->why : "");
	server_client_gone(sc);
}

static void clients_end(struct ddio_list *list)
{
	struct server_client *sc, *tmp;

	ddio_list_for_each_entry_safe(sc, tmp, list, c.link)
		server_client_gone(sc);
}

void server_opening_close(struct reactor *reactor)
{
	clients_end(&server_reactor(reactor)->opening);
}

void server_clients_close(struct reactor *reactor)
{
	server_opening_close(reactor);
	clients_end(&reactor->clients);
}
