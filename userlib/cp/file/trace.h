/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traces of collectives, for tools: one node is asked at a time. */
#ifndef DDIO_CP_TRACE_H
#define DDIO_CP_TRACE_H

#include "cp/node/session.h"

/**
 * struct ddio_node_trace - what a node has said
 * @error: 0, or the negative errno for which there is no answer; @reason: then why, in one line
 * @sent, @came: when it was asked and when it had answered, by this process's clock
 * @said: freed by ddio_trace_free()
 */
struct ddio_node_trace {
	int error;
	char reason[512];
	uint64_t sent, came;
	struct ddio_msg_trace said;
};

/* Asks node @node; returns 0, or a negative errno if the call itself fails.  What the node says is in *@answer. */
int ddio_trace_ask(struct ddio_session *session, uint32_t node,
		   const struct ddio_msg_trace_ask *ask, struct ddio_node_trace *answer);
/* Returns how many nodes the session's cluster has. */
uint32_t ddio_trace_nodes(const struct ddio_session *session);
/* Returns the name of a node, of a disk. */
const char *ddio_trace_node_name(const struct ddio_session *session, uint32_t node);
const char *ddio_trace_disk_name(const struct ddio_session *session, uint32_t disk);

#endif /* DDIO_CP_TRACE_H */
