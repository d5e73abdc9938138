// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which ways a session's data and messages go: for people who want to know whether it is the way they expect. */
#include <stdio.h>
#include "cp/cp.h"
#include "cp/node/lane.h"

enum { WAY_BROKER = CONN_MEMORY + 1, WAYS };

/* Counts the connections to nodes that there are now, by their ways. */
static void connections_count(const struct ddio_session *s, uint32_t ways[WAYS])
{
	const struct cluster_node *node;
	const struct lane *lane;
	uint32_t i, r;

	for (i = 0; i < s->conf->nnodes; i++) {
		node = s->nodes[i];
		for (r = 0; node && r < node->nlanes; r++) {
			lane = node->lanes[r];
			if (lane && lane->state == LANE_READY)
				ways[lane->carried ? WAY_BROKER : ddio_conn_way(lane->conn)]++;
		}
	}
}

void ways_say(const struct ddio_session *s)
{
	uint32_t ways[WAYS] = { 0 };

	connections_count(s, ways);
	fprintf(stderr,
		"ddio: collective transfers moved %llu bytes by shared buffers, %llu by the kernel module, %llu in messages;"
		" connections to nodes: %u by TCP, %u by TLS, %u by shared memory, %u through a broker\n",
		(unsigned long long)s->moved.shared, (unsigned long long)s->moved.scattered,
		(unsigned long long)s->moved.sent, ways[CONN_TCP], ways[CONN_TLS],
		ways[CONN_MEMORY], ways[WAY_BROKER]);
}
