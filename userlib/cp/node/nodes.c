// SPDX-License-Identifier: LGPL-2.1-or-later
/* All nodes of a session: their begin, their end, and the watch over their lanes. */
#include <errno.h>
#include <stdlib.h>
#include "base/bug.h"
#include "cp/node/identity.h"
#include "cp/node/request.h"

static int node_init(struct ddio_session *s, uint32_t index)
{
	struct cluster_node *node = &s->nodes[index];

	node->session = s;
	node->index = index;
	ddio_list_init(&node->waiting);
	return node_lane(node, 0) ? identity_new(node) : -ENOMEM;
}

int nodes_init(struct ddio_session *s, const struct lane_user *const *users)
{
	uint32_t i;
	int err = 0;

	for (i = 0; users[i]; i++)
		s->lane_users[i] = users[i];
	s->nodes = calloc(s->conf->nnodes, sizeof(*s->nodes));
	s->disks = calloc(s->conf->ndisks, sizeof(*s->disks));
	if (!s->nodes || !s->disks)
		return -ENOMEM;
	for (i = 0; i < s->conf->nnodes && !err; i++)
		err = node_init(s, i);
	for (i = 0; i < s->conf->ndisks; i++)
		s->disks[i].node = s->conf->disks[i].node;
	return err;
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

void nodes_close(struct ddio_session *s)
{
	struct error error;
	uint32_t i, k;

	error_status(&error, DDIO_ST_CANCELLED, "the session is ending");
	for (i = 0; i < s->conf->nnodes; i++) {
		requests_end(&s->nodes[i].waiting, &error);
		for (k = 0; k < s->nodes[i].nlanes; k++)
			if (s->nodes[i].lanes[k])
				lane_fail(s->nodes[i].lanes[k], &error);
	}
}

void nodes_free(struct ddio_session *s)
{
	uint32_t i, k;

	for (i = 0; s->nodes && i < s->conf->nnodes; i++) {
		for (k = 0; k < s->nodes[i].nlanes; k++)
			if (s->nodes[i].lanes[k])
				lane_free(s->nodes[i].lanes[k]);
		free(s->nodes[i].lanes);
		identity_free(&s->nodes[i]);
	}
	free(s->nodes);
	free(s->disks);
}

static bool lane_check(struct lane *lane)
{
	struct ddio_session *s = lane->node->session;
	bool owes = lane->owing || lane->expecting;
	struct error error;

	if (lane->state != LANE_READY && lane->state != LANE_MEETING)
		return false;
	if (alive_check(s, &lane->alive, lane->conn, owes)) {
		error_status(&error, DDIO_ST_NODE_LOST, "node %s (%s) has not answered for %g s",
			     LANE_NAMES(lane), (double)s->timeout_ns / 1e9);
		lane_fail(lane, &error);
		return false;
	}
	owed_check(lane);
	return owes;
}

bool nodes_check(struct ddio_session *s)
{
	bool owes = false;
	uint32_t i, k;

	for (i = 0; i < s->conf->nnodes; i++)
		for (k = 0; k < s->nodes[i].nlanes; k++)
			if (s->nodes[i].lanes[k])
				owes |= lane_check(s->nodes[i].lanes[k]);
	return owes;
}
