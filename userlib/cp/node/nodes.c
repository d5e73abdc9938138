// SPDX-License-Identifier: LGPL-2.1-or-later
/* All nodes of a session: their begin, their end, and the watch over their lanes. */
#include <errno.h>
#include <stdlib.h>
#include "base/bug.h"
#include "cp/node/identity.h"
#include "cp/node/request.h"

int nodes_init(struct ddio_session *s, const struct lane_user *const *users)
{
	uint32_t i;

	for (i = 0; users[i]; i++)
		s->lane_users[i] = users[i];
	s->nodes = calloc(s->conf->nnodes, sizeof(*s->nodes));
	s->disks = calloc(s->conf->ndisks + 1, sizeof(*s->disks));
	s->node_mark = calloc(s->conf->nnodes, sizeof(*s->node_mark));
	if (!s->nodes || !s->disks || !s->node_mark)
		return -ENOMEM;
	return node_get(s, s->conf->ns_node) ? 0 : -ENOMEM;
}

void lane_user_add(struct ddio_session *s, const struct lane_user *user, void *owner)
{
	uint32_t i = 0;

	while (s->lane_users[i])
		i++;
	if (bug_on(i == LANE_USERS, "lanes lack room for another user"))
		return;
	s->lane_users[i] = user;
	s->owner = owner;
}

static void node_close(struct cluster_node *node, const struct error *error)
{
	uint32_t k;

	requests_end(&node->waiting, error);
	for (k = 0; k < node->nlanes; k++)
		if (node->lanes[k])
			lane_fail(node->lanes[k], error);
}

void nodes_close(struct ddio_session *s)
{
	struct error error;
	uint32_t i;

	error_status(&error, DDIO_ST_CANCELLED, "the session is ending");
	for (i = 0; i < s->conf->nnodes; i++)
		if (s->nodes[i])
			node_close(s->nodes[i], &error);
}

void nodes_free(struct ddio_session *s)
{
	uint32_t i;

	for (i = 0; s->nodes && i < s->conf->nnodes; i++)
		if (s->nodes[i])
			node_free(s->nodes[i]);
	for (i = 0; s->disks && i < s->conf->ndisks; i++)
		free(s->disks[i]);
	free(s->nodes);
	free(s->disks);
	free(s->node_mark);
}

/* What is known of the way to a node that does not answer goes with the error: it tells a stalled node from a stalled connection. */
static void lane_silent(struct lane *lane)
{
	static const char *const way[] = {
		[CONN_TCP] = "TCP", [CONN_TLS] = "TLS", [CONN_MEMORY] = "memory"
	};
	struct error error;

	error_status(
		&error, DDIO_ST_NODE_LOST,
		"node %s (%s) has not answered for %g s (by %s; %u answers are due, %zu bytes are not sent%s)",
		LANE_NAMES(lane), (double)lane->node->session->timeout_ns / 1e9,
		lane->carried ? "the broker of this machine" : way[ddio_conn_way(lane->conn)],
		lane->owing, ddio_conn_queued(lane->conn),
		ddio_conn_receiving(lane->conn) ? ", and a part of a message has come" : "");
	lane_fail(lane, &error);
}

static bool lane_check(struct lane *lane)
{
	struct ddio_session *s = lane->node->session;
	bool owes = lane->owing || !ddio_list_empty(&lane->expecting);

	if (lane->state != LANE_READY && lane->state != LANE_MEETING)
		return false;
	if (ddio_alive_check(s->env, s->timeout_ns, &lane->alive, lane->conn, owes)) {
		lane_silent(lane);
		return false;
	}
	owed_check(lane);
	return owes;
}

bool nodes_check(struct ddio_session *s)
{
	struct cluster_node *node;
	bool owes = false;
	uint32_t i, k;

	for (i = 0; i < s->conf->nnodes; i++) {
		node = s->nodes[i];
		for (k = 0; node && k < node->nlanes; k++)
			if (node->lanes[k])
				owes |= lane_check(node->lanes[k]);
	}
	return owes;
}
