// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The connections of a client's session, one after the other.  A session that has given up a connection
 * repeats on the next one every request that got no answer, and what it asked for earlier must not happen
 * after that.  So the old connection is closed when the next one arrives, together with everything that was not
 * read from it yet, and the next one is served only once no request of the old one is still changing anything.
 */
#include <errno.h>
#include "iop/server/priv.h"

bool server_session_changing(const struct server_reactor *sr, uint64_t session)
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

	if (!sc->session)
		return 0;
	ddio_list_for_each_entry_safe(client, tmp, &reactor->clients, link) {
		struct server_client *old = server_client_of(client);

		if (old->session != sc->session)
			continue;
		if (old->number >= sc->number)
			return -ESTALE;
		ddio_env_log(reactor->env, DDIO_LOG_DEBUG,
			     "connection ended: its client has opened a newer one");
		server_client_gone(old);
	}
	return server_session_changing(server_reactor(reactor), sc->session) ? -EINPROGRESS : 0;
}
