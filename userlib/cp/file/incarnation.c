// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which incarnation of an I/O processor holds what was written.  A node that dies loses what was not
 * durable, and its next incarnation would answer a sync as if nothing had happened.  So a file
 * remembers the incarnation of each of its nodes to which it was first written, and that of the name
 * server, which holds its name and its size; a sync that another one answers fails, once, unless the
 * first said when it ended that nothing was lost; then it is the next one that was written to which counts.
 */
#include <errno.h>
#include "cp/file/file.h"
#include "cp/node/lane.h"

static const struct cluster_node *file_node(const struct ddio_file *file, uint32_t i)
{
	return disk_node_look(file->session, file->rec.disks[i]);
}

static const struct cluster_node *names_node(const struct ddio_file *file)
{
	return names_lane(file->session)->node;
}

static uint64_t boot_of(const struct cluster_node *node, bool lost)
{
	return node->known || lost ? node->boot : 0;
}

void incarnation_told(struct ddio_file *file, uint32_t i, uint64_t boot)
{
	file->boot[i] = disk_due(file->session, file->rec.disks[i], file->boot[i], boot);
}

void incarnation_told_names(struct ddio_file *file, uint64_t boot)
{
	file->names = names_due(file->session, file->names, boot);
}

/* Notes the incarnations that are connected; those whose connection was @lost, too. */
static void note_all(struct ddio_file *file, bool lost)
{
	uint32_t i;

	for (i = 0; i < file->rec.ndisks; i++)
		incarnation_told(file, i, boot_of(file_node(file, i), lost));
	incarnation_told_names(file, boot_of(names_node(file), lost));
}

/* The connection may be gone again; what was answered was answered by the incarnation last known. */
void incarnations_note(struct ddio_file *file)
{
	note_all(file, true);
}

void incarnations_begin(struct ddio_file *file)
{
	note_all(file, false);
}

void incarnations_opened(struct ddio_file *file, unsigned int flags)
{
	if (flags & DDIO_TRUNCATE)
		incarnations_note(file);
	else if (flags & DDIO_CREATE)
		file->names = names_node(file)->boot;
}

void incarnations_ask(struct request_set *set, struct ddio_file *file,
		      void (*done)(struct request_set *set), void *arg)
{
	struct ddio_session *s = file->session;
	struct cluster_node *node;
	uint32_t i;

	incarnations_begin(file);
	s->mark++;
	request_set_begin(set, s, file->rec.name, done, arg);
	for (i = 0; i < file->rec.ndisks; i++) {
		node = file->boot[i] ? NULL : node_get(s, s->conf->disks[file->rec.disks[i]].node);
		if (!file->boot[i] && !node)
			request_set_fail(set, -ENOMEM, "out of memory");
		if (node && node_visit(s, node->index, s->mark))
			request_set_lane(set, node->lanes[0], DDIO_OP_PING, NULL, 0, 0);
	}
	request_set_end(set);
}

static void lost_say(const struct ddio_file *file, const struct cluster_node *node,
		     struct error *error)
{
	if (!error->status)
		error_status(error, DDIO_ST_NODE_LOST,
			     "%s: node %s was restarted: data written before that and "
			     "not synced may be lost",
			     file->rec.name, file->session->conf->nodes[node->index].name);
}

void incarnations_check(struct ddio_file *file, struct error *error)
{
	const struct ddio_session *s = file->session;
	const struct cluster_node *node = names_node(file);
	uint32_t i;

	if (error->status)
		return;
	if (file->names && file->names != node->boot && !names_kept(s, file->names))
		lost_say(file, node, error);
	if (file->names)
		file->names = node->boot;
	for (i = 0; i < file->rec.ndisks; i++) {
		node = file_node(file, i);
		if (file->boot[i] && file->boot[i] != node->boot &&
		    !disk_kept(s, file->rec.disks[i], file->boot[i]))
			lost_say(file, node, error);
		file->boot[i] = node->boot;
	}
}
