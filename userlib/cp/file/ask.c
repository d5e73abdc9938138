// SPDX-License-Identifier: LGPL-2.1-or-later
/* The same question to every node, or about every disk, at once: one that hangs delays no other. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/ask.h"

static void ask_one(struct question *ask)
{
	if (--ask->left)
		return;
	if (ask->ended)
		ask->ended(ask);
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

static uint32_t ask_count(const struct ddio_session *session, const struct question *ask)
{
	return ask->disks ? session->conf->ndisks : session->conf->nnodes;
}

static void ask_send(struct question *ask, uint32_t i)
{
	struct node_answer *a = &ask->answer[i];

	a->ask = ask;
	request_init(&a->request, ask->op, ask_got, a);
	a->error = ask->put ? ask->put(ask, i, &a->request) : 0;
	if (a->error)
		ask_one(ask);
	else if (ask->disks)
		request_disk(ask->call.session, i, &a->request);
	else
		request_node(ask->call.session, i, &a->request);
}

static void ask_run(struct session_call *call)
{
	struct question *ask = ddio_container_of(call, struct question, call);
	const uint32_t n = ask_count(call->session, ask);
	uint32_t i;

	/* One more, so that one that fails at once does not end the call before the rest is asked. */
	ask->left = n + 1;
	for (i = 0; i < n; i++)
		ask_send(ask, i);
	ask_one(ask);
}

int ask_all(struct ddio_session *session, struct question *ask)
{
	ask->answer = calloc(ask_count(session, ask), sizeof(*ask->answer));
	if (!ask->answer)
		return session_fail(session, -ENOMEM, "state of the %s: out of memory",
				    ask->disks ? "disks" : "nodes");
	return call_run(session, &ask->call, ask_run);
}

void ask_free(struct ddio_session *session, struct question *ask)
{
	uint32_t i;

	for (i = 0; ask->answer && ask->free && i < ask_count(session, ask); i++)
		ask->free(&ask->answer[i]);
	free(ask->answer);
}
