// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is known of the nodes: their reactors and which of them owns which disk. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/lane.h"
#include "cp/node/request.h"

/* More reactors than this no node has: a bound on what a WELCOME makes us allocate. */
enum { REACTORS_MAX = 4096 };

static int node_init(struct ddio_session *s, uint32_t index)
{
	struct cluster_node *node = &s->nodes[index];

	node->session = s;
	node->index = index;
	ddio_list_init(&node->waiting);
	return node_lane(node, 0) ? 0 : -ENOMEM;
}

int nodes_init(struct ddio_session *s)
{
	uint32_t i;
	int err = 0;

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
	}
	free(s->nodes);
	free(s->disks);
}

static int lanes_grow(struct cluster_node *node, uint32_t n)
{
	struct lane **lanes = realloc(node->lanes, n * sizeof(*lanes));

	if (!lanes)
		return -ENOMEM;
	memset(lanes + node->nlanes, 0, (n - node->nlanes) * sizeof(*lanes));
	node->lanes = lanes;
	node->nlanes = n;
	return 0;
}

struct lane *node_lane(struct cluster_node *node, uint32_t reactor)
{
	if (reactor >= node->nlanes && lanes_grow(node, reactor + 1))
		return NULL;
	if (!node->lanes[reactor] && lane_new(node, reactor, &node->lanes[reactor]))
		return NULL;
	return node->lanes[reactor];
}

static int welcome_check(struct lane *lane, const struct ddio_msg_welcome *w, struct error *error)
{
	struct cluster_node *node = lane->node;
	const char *name = node->session->conf->nodes[node->index].name;

	if (w->node != node->index || strcmp(w->name, name)) {
		error_status(error, DDIO_ST_INVALID,
			     "node %s (%s): there answers node %u \"%.200s\": the configurations "
			     "of client and daemon differ",
			     DDIO_LANE_NAMES(lane), w->node, w->name);
		return -EINVAL;
	}
	if (w->reactor != lane->reactor || !w->nreactors || w->nreactors > REACTORS_MAX) {
		error_status(error, DDIO_ST_NODE_LOST,
			     "node %s (%s) has no reactor %u: it was restarted",
			     DDIO_LANE_NAMES(lane), lane->reactor);
		return -EHOSTDOWN;
	}
	return 0;
}

static void learn_disks(struct cluster_node *node, const struct ddio_msg_welcome *w)
{
	struct ddio_session *s = node->session;
	struct cluster_disk *place;
	uint32_t i;

	for (i = 0; i < s->conf->ndisks; i++)
		if (s->disks[i].node == node->index)
			s->disks[i].known = false;
	for (i = 0; i < w->ndisks; i++) {
		if (w->disks[i].disk >= s->conf->ndisks || w->disks[i].reactor >= w->nreactors)
			continue;
		place = &s->disks[w->disks[i].disk];
		if (place->node != node->index)
			continue;
		place->reactor = w->disks[i].reactor;
		place->size = w->disks[i].size;
		place->peak = w->disks[i].peak;
		place->scale_ppm = w->disks[i].scale_ppm;
		place->known = true;
	}
}

int node_learn(struct lane *lane, const struct ddio_msg_welcome *w, struct error *error)
{
	struct cluster_node *node = lane->node;
	int err = welcome_check(lane, w, error);

	if (err)
		return err;
	if (lane->reactor && node->known && node->boot != w->boot) {
		error_status(error, DDIO_ST_NODE_LOST, "node %s (%s) was restarted",
			     DDIO_LANE_NAMES(lane));
		return -EHOSTDOWN;
	}
	lane->boot = w->boot;
	if (lane->reactor)
		return 0;
	node->boot = w->boot;
	node->nreactors = w->nreactors;
	learn_disks(node, w);
	node->known = true;
	return 0;
}

/* The disks as they are spread over reactors in the life that ends; of another one nothing is known. */
void lane_ended(struct lane *lane)
{
	struct ddio_session *s = lane->node->session;
	struct cluster_disk *place;
	uint32_t i;

	for (i = 0; i < s->conf->ndisks && lane->boot == lane->node->boot; i++) {
		place = &s->disks[i];
		if (place->known && place->node == lane->node->index &&
		    place->reactor == lane->reactor)
			place->ended[place->nended++ % DDIO_DISK_LIVES] = lane->boot;
	}
}

bool disk_kept(const struct ddio_session *s, uint32_t disk, uint64_t boot)
{
	uint32_t i;

	for (i = 0; i < DDIO_DISK_LIVES; i++)
		if (boot && s->disks[disk].ended[i] == boot)
			return true;
	return false;
}

void node_forget(struct cluster_node *node, const struct error *error)
{
	struct ddio_list waiting;

	node->known = false;
	ddio_list_init(&waiting);
	ddio_list_splice(&node->waiting, &waiting);
	requests_end(&waiting, error);
}

static bool lane_check(struct lane *lane)
{
	struct ddio_session *s = lane->node->session;
	bool owes = lane->owing || lane->colls;
	struct error error;

	if (lane->state != DDIO_LANE_READY)
		return false;
	if (alive_check(s, &lane->alive, lane->conn, owes)) {
		error_status(&error, DDIO_ST_NODE_LOST, "node %s (%s) has not answered for %g s",
			     DDIO_LANE_NAMES(lane), (double)s->timeout_ns / 1e9);
		lane_fail(lane, &error);
		return false;
	}
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
