/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DDIO_CONN_ALIVE_H
#define DDIO_CONN_ALIVE_H

#include "conn/conn.h"

/**
 * struct ddio_alive - the liveness of one connection
 * @since: time from which something is owed, 0 if nothing is
 * @pinged: time of the last ping, 0 if none was needed
 * @checked: time of the last check
 * @silent: the time without a word from the peer, as of then, but for what passed while this process did not look
 * @unseen: how much of that there was while a message has been coming
 */
struct ddio_alive {
	uint64_t since, pinged, checked, silent, unseen;
};

/**
 * ddio_alive_check - check a connection, some six times a timeout
 * @env: of the connection
 * @timeout: nanoseconds; the peer is pinged after a third of it in which something was owed and nothing was heard
 * @alive: zeros before the first check
 * @conn: the connection
 * @owes: the peer owes something, if only an answer to a ping
 *
 * Return: true if the connection must be dropped.
 */
bool ddio_alive_check(struct ddio_env *env, uint64_t timeout, struct ddio_alive *alive,
		      struct ddio_conn *conn, bool owes);

#endif /* DDIO_CONN_ALIVE_H */
