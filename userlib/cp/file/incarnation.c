// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which incarnation of an I/O processor holds what was written.  A node that dies loses what was not
 * durable, and its next incarnation would answer a sync as if nothing had happened.  So a file
 * remembers the incarnation of each of its nodes to which it was first written; a sync that another
 * one answers fails, once, unless the first said when it ended that nothing was lost.
 */
#include "cp/file/file.h"
#include "cp/node/lane.h"

static struct cluster_node *file_node(const struct ddio_file *file, uint32_t i)
{
	struct ddio_session *s = file->session;

	return &s->nodes[s->conf->disks[file->rec.disks[i]].node];
}

void incarnations_note(struct ddio_file *file)
{
	uint32_t i;

	for (i = 0; i < file->rec.ndisks; i++)
		if (!file->boot[i] && file_node(file, i)->known)
			file->boot[i] = file_node(file, i)->boot;
}

void incarnations_ask(struct request_set *set, struct ddio_file *file,
		      void (*done)(struct request_set *set), void *arg)
{
	struct ddio_session *s = file->session;
	struct lane *lane;
	uint32_t i;

	incarnations_note(file);
	s->mark++;
	request_set_begin(set, s, file->rec.name, done, arg);
	for (i = 0; i < file->rec.ndisks; i++) {
		lane = file_node(file, i)->lanes[0];
		if (file->boot[i] || lane->mark == s->mark)
			continue;
		lane->mark = s->mark;
		request_set_lane(set, lane, DDIO_OP_PING, NULL, 0, 0);
	}
	request_set_end(set);
}

void incarnations_check(struct ddio_file *file, struct error *error)
{
	uint32_t i;

	if (error->status)
		return;
	for (i = 0; i < file->rec.ndisks; i++) {
		struct cluster_node *node = file_node(file, i);

		if (!node->known || file->boot[i] == node->boot)
			continue;
		if (file->boot[i] && !error->status &&
		    !disk_kept(file->session, file->rec.disks[i], file->boot[i]))
			error_status(error, DDIO_ST_NODE_LOST,
				     "%s: node %s was restarted: data written before that and "
				     "not synced may be lost",
				     file->rec.name, file->session->conf->nodes[node->index].name);
		file->boot[i] = node->boot;
	}
}
