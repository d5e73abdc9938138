// SPDX-License-Identifier: LGPL-2.1-or-later
/* The same question to every node at once, for tools. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/ask.h"

static void ask_one(struct question *ask)
{
	if (!--ask->left)
		call_end(&ask->call, NULL);
}

static void ask_got(struct node_request *request, const struct reply *reply)
{
	struct node_answer *a = request->arg;

	if (reply->status) {
		a->error = ddio_status_to_errno(reply->status);
		snprintf(a->reason, sizeof(a->reason), "%s", reply->text ? reply->text : "");
	} else {
		a->error = a->ask->get(a, reply);
	}
	if (a->error)
		memset(&a->said, 0, sizeof(a->said));
	ask_one(a->ask);
}

static void ask_run(struct session_call *call)
{
	struct question *ask = ddio_container_of(call, struct question, call);
	struct ddio_session *s = call->session;
	uint32_t i;

	/* One more, so that a node that fails at once does not end the call before the rest is asked. */
	ask->left = s->conf->nnodes + 1;
	for (i = 0; i < s->conf->nnodes; i++) {
		ask->answer[i].ask = ask;
		request_init(&ask->answer[i].request, ask->op, ask_got, &ask->answer[i]);
		ask->answer[i].request.feature = ask->feature;
		request_node(s, i, &ask->answer[i].request);
	}
	ask_one(ask);
}

int ask_nodes(struct ddio_session *session, struct question *ask)
{
	ask->answer = calloc(session->conf->nnodes, sizeof(*ask->answer));
	if (!ask->answer)
		return session_fail(session, -ENOMEM, "state of the nodes: out of memory");
	return call_run(session, &ask->call, ask_run);
}

void ask_free(struct ddio_session *session, struct question *ask)
{
	uint32_t i;

	for (i = 0; ask->answer && i < session->conf->nnodes; i++)
		ask->free(&ask->answer[i]);
	free(ask->answer);
}
