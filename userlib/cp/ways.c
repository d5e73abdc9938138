// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which ways a session's data and messages go: for people who want to know whether it is the way they expect. */
#include <stdio.h>
#include "cp/cp.h"
#include "cp/node/session.h"

void ways_say(const struct ddio_session *s)
{
	const uint32_t *made = s->connected;

	fprintf(stderr,
		"ddio: collective transfers moved %llu bytes by shared buffers, %llu by the kernel module, %llu in messages;"
		" connections to nodes: %u by TCP, %u by TLS, %u by shared memory, %u through a broker\n",
		(unsigned long long)s->moved.shared, (unsigned long long)s->moved.scattered,
		(unsigned long long)s->moved.sent, made[CONN_TCP], made[CONN_TLS],
		made[CONN_MEMORY], made[SESSION_BROKERED]);
}
