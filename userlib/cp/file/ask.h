/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The same question to every node, or about every disk, at once, for tools. */
#ifndef DDIO_CP_ASK_H
#define DDIO_CP_ASK_H

#include "cp/node/lane.h"

struct question;

/**
 * struct node_answer - what one node says, or says of one disk
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
		struct ddio_msg_scrub scrub;
		struct ddio_msg_disk_space space;
	} said;
};

/**
 * struct question - what is asked
 * @op: DDIO_OP_*
 * @disks: asked once for each disk, at the disk's node; otherwise once for each node
 * @put: writes the request's payload for the disk or node of that number, and returns 0 or a negative errno; NULL: it has none
 * @get: decodes a reply into @said of a node's answer; returns 0 or a negative errno
 * @free: frees what @get has allocated; NULL: nothing
 * @ended: called on the reactor when all have answered; NULL: nothing
 * @answer: by number of the node or disk
 */
struct question {
	uint16_t op;
	bool disks;
	int (*put)(const struct question *ask, uint32_t i, struct node_request *request);
	int (*get)(struct node_answer *answer, const struct reply *reply);
	void (*free)(struct node_answer *answer);
	void (*ended)(struct question *ask);
	struct session_call call;
	struct node_answer *answer;
	uint32_t left;
};

/* Asks, and returns 0 or a negative errno; ask_free() frees the answers in either case. */
int ask_all(struct ddio_session *session, struct question *ask);
void ask_free(struct ddio_session *session, struct question *ask);

#endif /* DDIO_CP_ASK_H */
