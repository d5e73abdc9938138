// SPDX-License-Identifier: LGPL-2.1-or-later
/* A node, and what is known of it: its reactors, and which of them owns which disk. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/identity.h"
#include "cp/node/request.h"

/* Of what is not there yet. */
static const struct cluster_node nothing_of_node;
static const struct cluster_disk nothing_of_disk;

void node_free(struct cluster_node *node)
{
	uint32_t k;

	for (k = 0; k < node->nlanes; k++)
		if (node->lanes[k])
			lane_free(node->lanes[k]);
	free(node->lanes);
	identity_free(node);
	free(node);
}

static struct cluster_node *node_new(struct ddio_session *s, uint32_t index)
{
	struct cluster_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->session = s;
	node->index = index;
	ddio_list_init(&node->waiting);
	if (node_lane(node, 0) && !identity_new(node))
		return node;
	node_free(node);
	return NULL;
}

struct cluster_node *node_get(struct ddio_session *s, uint32_t index)
{
	if (!s->nodes[index])
		s->nodes[index] = node_new(s, index);
	return s->nodes[index];
}

const struct cluster_node *node_look(const struct ddio_session *s, uint32_t index)
{
	return s->nodes[index] ? s->nodes[index] : &nothing_of_node;
}

struct cluster_disk *disk_get(struct ddio_session *s, uint32_t disk)
{
	if (!s->disks[disk])
		s->disks[disk] = calloc(1, sizeof(*s->disks[disk]));
	return s->disks[disk];
}

const struct cluster_disk *disk_look(const struct ddio_session *s, uint32_t disk)
{
	return s->disks[disk] ? s->disks[disk] : &nothing_of_disk;
}

const struct cluster_node *disk_node_look(const struct ddio_session *s, uint32_t disk)
{
	return node_look(s, s->conf->disks[disk].node);
}

bool node_visit(struct ddio_session *s, uint32_t index, uint64_t mark)
{
	bool first = s->node_mark[index] != mark;

	s->node_mark[index] = mark;
	return first;
}

struct lane *names_lane(const struct ddio_session *s)
{
	return s->nodes[s->conf->ns_node]->lanes[0];
}

/*
 * What a WELCOME says
 */

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

static void learn_disk(struct cluster_disk *disk, const struct ddio_welcome_disk *w)
{
	disk->reactor = w->reactor;
	disk->size = w->size;
	disk->peak = w->peak;
	disk->scale_ppm = w->scale_ppm;
	disk->known = true;
}

/* Return: 0 or -ENOMEM. */
static int learn_disks(struct cluster_node *node, const struct ddio_msg_welcome *w)
{
	struct ddio_session *s = node->session;
	struct cluster_disk *disk;
	uint32_t i;

	for (i = 0; i < s->conf->ndisks; i++)
		if (s->conf->disks[i].node == node->index && s->disks[i])
			s->disks[i]->known = false;
	for (i = 0; i < w->ndisks; i++) {
		if (w->disks[i].disk >= s->conf->ndisks || w->disks[i].reactor >= w->nreactors ||
		    s->conf->disks[w->disks[i].disk].node != node->index)
			continue;
		disk = disk_get(s, w->disks[i].disk);
		if (!disk)
			return -ENOMEM;
		learn_disk(disk, &w->disks[i]);
	}
	return 0;
}

/*
 * What is recorded counts, and no longer what this process has heard: a disk, or the name space, may have been put back from a
 * backup since.
 */
static void learn_ends(struct cluster_node *node, const struct ddio_msg_welcome *w)
{
	struct ddio_session *s = node->session;
	uint32_t i, disk;

	if (node->index == s->conf->ns_node && w->names_ends.known)
		s->names_ended = w->names_ends;
	for (i = 0; i < w->ids.n; i++) {
		disk = w->ids.ids[i].disk;
		if (w->ends[i].known && disk < s->conf->ndisks && s->disks[disk] &&
		    s->conf->disks[disk].node == node->index)
			s->disks[disk]->ended = w->ends[i];
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
	err = learn_disks(node, w);
	if (err)
		error_set(error, err, "node %s (%s): out of memory", LANE_NAMES(lane));
	else
		learn_ends(node, w);
	return err;
}

/* Which disks the reactor has is known only of the node's current incarnation. */
void lane_ended(struct lane *lane)
{
	struct ddio_session *s = lane->node->session;
	struct cluster_disk *disk;
	uint32_t i;

	for (i = 0; i < s->conf->ndisks && lane->boot == lane->node->boot; i++) {
		disk = s->disks[i];
		if (disk && disk->known && s->conf->disks[i].node == lane->node->index &&
		    disk->reactor == lane->reactor)
			ddio_ends_add(&disk->ended, lane->boot);
	}
	if (!lane->reactor && lane->node->index == s->conf->ns_node)
		ddio_ends_add(&s->names_ended, lane->boot);
}

bool disk_kept(const struct ddio_session *s, uint32_t disk, uint64_t boot)
{
	return ddio_ends_has(&disk_look(s, disk)->ended, boot);
}

bool names_kept(const struct ddio_session *s, uint64_t boot)
{
	return ddio_ends_has(&s->names_ended, boot);
}

static uint64_t still_due(uint64_t earlier, uint64_t later, bool kept)
{
	return later && (!earlier || kept) ? later : earlier;
}

uint64_t disk_due(const struct ddio_session *s, uint32_t disk, uint64_t earlier, uint64_t later)
{
	return still_due(earlier, later, earlier != later && disk_kept(s, disk, earlier));
}

uint64_t names_due(const struct ddio_session *s, uint64_t earlier, uint64_t later)
{
	return still_due(earlier, later, earlier != later && names_kept(s, earlier));
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
