// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds out that the other end of a connection is silent. */
#include <string.h>
#include "conn/alive.h"
#include "proto/proto.h"

/* A message that has not come whole after so many timeouts does not come. */
#define CRAWL_TIMES 16

/* Returns true if a message comes, but so slowly that it is as good as none. */
static bool is_crawling(uint64_t timeout, const struct ddio_alive *alive,
			const struct ddio_conn *conn, uint64_t now)
{
	uint64_t since = ddio_conn_receiving(conn);

	if (!since)
		return false;
	if (since < alive->since)
		since = alive->since;
	return now - since >= timeout * CRAWL_TIMES + alive->unseen;
}

/*
 * Counts silence.  Of a time without a check most does not count: this process was stopped, or had no processor, and has
 * not taken yet what may have come meanwhile.
 */
static void silence_count(uint64_t timeout, struct ddio_alive *alive, const struct ddio_conn *conn,
			  uint64_t heard, uint64_t now)
{
	uint64_t since = heard >= alive->checked ? heard : alive->checked;
	uint64_t more = now - since, most = timeout / 3;

	if (heard >= alive->checked)
		alive->silent = 0;
	if (!ddio_conn_receiving(conn))
		alive->unseen = 0;
	if (more > most) {
		alive->unseen += more - most;
		more = most;
	}
	alive->silent += more;
	alive->checked = now;
}

bool ddio_alive_check(struct ddio_env *env, uint64_t timeout, struct ddio_alive *alive,
		      struct ddio_conn *conn, bool owes)
{
	struct ddio_msg ping = { .opcode = DDIO_OP_PING };
	uint64_t now = ddio_env_now(env), heard;

	if (!owes) {
		memset(alive, 0, sizeof(*alive));
		return false;
	}
	if (!alive->since)
		alive->since = now;
	heard = ddio_conn_last_rx(conn);
	if (heard < alive->since)
		heard = alive->since;
	silence_count(timeout, alive, conn, heard, now);
	if (alive->silent >= timeout || is_crawling(timeout, alive, conn, now))
		return true;
	if (alive->silent >= timeout / 3 && alive->pinged < heard) {
		ddio_conn_send(conn, &ping, NULL, 0, NULL, 0, NULL);
		alive->pinged = now;
	}
	return false;
}
