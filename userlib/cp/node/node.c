// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is known of a node: its reactors, and which of them owns which disk. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/identity.h"
#include "cp/node/request.h"

/* No node has more reactors: bounds what a WELCOME makes us allocate. */
enum { REACTORS_MAX = 4096 };

static int welcome_check(struct lane *lane, const struct ddio_msg_welcome *w, struct error *error)
{
	struct cluster_node *node = lane->node;
	const char *name = node->session->conf->nodes[node->index].name;

	if (w->node != node->index || strcmp(w->name, name)) {
		error_status(error, DDIO_ST_INVALID,
			     "node %s (%s): node %u \"%.200s\" answers there: give client and "
			     "daemon the same configuration",
			     LANE_NAMES(lane), w->node, w->name);
		return -EINVAL;
	}
	if (w->reactor != lane->reactor || !w->nreactors || w->nreactors > REACTORS_MAX) {
		error_status(error, DDIO_ST_NODE_LOST,
			     "node %s (%s) has no reactor %u: it was restarted", LANE_NAMES(lane),
			     lane->reactor);
		return -EHOSTDOWN;
	}
	return 0;
}

static void learn_disks(struct cluster_node *node, const struct ddio_msg_welcome *w)
{
	struct ddio_session *s = node->session;
	struct cluster_disk *disk;
	uint32_t i;

	for (i = 0; i < s->conf->ndisks; i++)
		if (s->disks[i].node == node->index)
			s->disks[i].known = false;
	for (i = 0; i < w->ndisks; i++) {
		if (w->disks[i].disk >= s->conf->ndisks || w->disks[i].reactor >= w->nreactors)
			continue;
		disk = &s->disks[w->disks[i].disk];
		if (disk->node != node->index)
			continue;
		disk->reactor = w->disks[i].reactor;
		disk->size = w->disks[i].size;
		disk->peak = w->disks[i].peak;
		disk->scale_ppm = w->disks[i].scale_ppm;
		disk->known = true;
	}
}

int node_learn(struct lane *lane, const struct ddio_msg_welcome *w, struct error *error)
{
	struct cluster_node *node = lane->node;
	int err = welcome_check(lane, w, error);

	if (err)
		return err;
	/* Requests came here when another incarnation was known; of this one reactor 0 is asked first. */
	if (lane->reactor && node->met != w->boot) {
		error_status(error, DDIO_ST_NODE_LOST, "node %s (%s) was restarted",
			     LANE_NAMES(lane));
		return -EHOSTDOWN;
	}
	lane->boot = w->boot;
	if (lane->reactor)
		return 0;
	node->boot = w->boot;
	node->nreactors = w->nreactors;
	learn_disks(node, w);
	return 0;
}

static void ended_note(struct ended *ended, uint64_t boot)
{
	ended->boot[ended->n++ % ENDED_KEPT] = boot;
}

static bool ended_has(const struct ended *ended, uint64_t boot)
{
	uint32_t i;

	for (i = 0; i < ENDED_KEPT; i++)
		if (boot && ended->boot[i] == boot)
			return true;
	return false;
}

/* Which disks the reactor has is known only of the node's current incarnation. */
void lane_ended(struct lane *lane)
{
	struct ddio_session *s = lane->node->session;
	struct cluster_disk *disk;
	uint32_t i;

	for (i = 0; i < s->conf->ndisks && lane->boot == lane->node->boot; i++) {
		disk = &s->disks[i];
		if (disk->known && disk->node == lane->node->index &&
		    disk->reactor == lane->reactor)
			ended_note(&disk->ended, lane->boot);
	}
	if (!lane->reactor && lane->node->index == s->conf->ns_node)
		ended_note(&s->names_ended, lane->boot);
}

bool disk_kept(const struct ddio_session *s, uint32_t disk, uint64_t boot)
{
	return ended_has(&s->disks[disk].ended, boot);
}

bool names_kept(const struct ddio_session *s, uint64_t boot)
{
	return ended_has(&s->names_ended, boot);
}

void node_forget(struct cluster_node *node, const struct error *error)
{
	struct ddio_list waiting;

	node->known = false;
	identity_cancel(node);
	ddio_list_init(&waiting);
	ddio_list_splice(&node->waiting, &waiting);
	requests_end(&waiting, error);
}
