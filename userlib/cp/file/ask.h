/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The same question to every node at once, for tools. */
#ifndef DDIO_CP_ASK_H
#define DDIO_CP_ASK_H

#include "cp/node/lane.h"

struct question;

/**
 * struct node_answer - what one node says
 * @error: 0, or the negative errno for which there is no answer
 * @reason: then why, in one line, perhaps empty
 * @said: the reply, as the question's @get has left it
 */
struct node_answer {
	struct question *ask;
	struct node_request request;
	int error;
	char reason[512];
	union {
		struct ddio_msg_status status;
		struct ddio_msg_bounds bounds;
		struct ddio_msg_jobs jobs;
	} said;
};

/**
 * struct question - what is asked
 * @op: DDIO_OP_*; the request has no payload; @feature: DDIO_FEATURE_* that a node has that knows it, or 0
 * @get: decodes a reply into @said of a node's answer; returns 0 or a negative errno
 * @free: frees what @get has allocated
 * @answer: by number of the node
 */
struct question {
	uint16_t op;
	uint64_t feature;
	int (*get)(struct node_answer *answer, const struct reply *reply);
	void (*free)(struct node_answer *answer);
	struct session_call call;
	struct node_answer *answer;
	uint32_t left;
};

/* Asks every node, and returns 0 or a negative errno; ask_free() frees the answers in either case. */
int ask_nodes(struct ddio_session *session, struct question *ask);
void ask_free(struct ddio_session *session, struct question *ask);

#endif /* DDIO_CP_ASK_H */
