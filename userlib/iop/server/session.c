// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Connections of a client's session, one after the other.  A session that has given up a connection makes by
 * the next one again what had no answer.  What it had asked for by the one before must not be done
 * after that: that connection is closed when the next one arrives, with all that has not been read from it, and the
 * next is served when nothing is under way any more that the one before had begun to change.
 */
#include <errno.h>
#include "iop/server/priv.h"

static bool changing(const struct server_reactor *sr, uint64_t session)
{
	const struct server_request *req;

	ddio_list_for_each_entry(req, &sr->orphans, link)
		if (req->session == session)
			return true;
	return false;
}

int server_session_arrive(struct server_client *sc)
{
	struct reactor *reactor = sc->c.reactor;
	struct client *client, *tmp;

	sc->held = false;
	if (!sc->session)
		return 0;
	ddio_list_for_each_entry_safe(client, tmp, &reactor->clients, link) {
		struct server_client *old = server_client_of(client);

		if (old->session != sc->session)
			continue;
		if (old->number >= sc->number)
			return -ESTALE;
		ddio_env_log(reactor->env, DDIO_LOG_DEBUG,
			     "connection ended: its client has made another one");
		server_client_gone(old);
	}
	sc->held = changing(server_reactor(reactor), sc->session);
	return sc->held ? -EINPROGRESS : 0;
}

static void held_look(void *arg)
{
	struct server_reactor *sr = arg;
	struct client *client, *tmp;

	sr->looking = false;
	ddio_list_for_each_entry_safe(client, tmp, &sr->opening, link) {
		struct server_client *sc = server_client_of(client);

		if (sc->held && !changing(sr, sc->session))
			server_client_serve(sc);
	}
}

void server_session_orphan(struct server_request *req)
{
	struct server_reactor *sr = server_reactor(req->reactor);

	if (!req->changes || !req->client->session)
		return;
	req->session = req->client->session;
	ddio_list_add(&req->link, &sr->orphans);
}

void server_session_over(struct server_request *req)
{
	struct server_reactor *sr = server_reactor(req->reactor);

	ddio_list_del(&req->link);
	if (!req->session || sr->looking)
		return;
	sr->looking = true;
	sr->look.fn = held_look;
	sr->look.arg = sr;
	ddio_env_post(sr->reactor->env, &sr->look);
}
