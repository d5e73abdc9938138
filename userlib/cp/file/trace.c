// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cp/file/trace.h"
#include "cp/node/lane.h"

struct trace_call {
	struct session_call call;
	struct node_request request;
	uint32_t node;
	const struct ddio_msg_trace_ask *ask;
	struct ddio_node_trace *answer;
};

/* The time by this process's clock, real or virtual. */
static uint64_t now(const struct ddio_session *session)
{
	return ddio_env_now(session->env);
}

static void trace_got(struct node_request *request, const struct reply *reply)
{
	struct trace_call *t = request->arg;
	struct ddio_node_trace *a = t->answer;

	a->came = now(t->call.session);
	if (reply->status) {
		a->error = ddio_status_to_errno(reply->status);
		snprintf(a->reason, sizeof(a->reason), "%s", reply->text ? reply->text : "");
	} else {
		a->error = ddio_get_trace(reply->payload, reply->len, &a->said);
	}
	call_end(&t->call, NULL);
}

static void trace_run(struct session_call *call)
{
	struct trace_call *t = ddio_container_of(call, struct trace_call, call);

	request_init(&t->request, DDIO_OP_TRACE, trace_got, t);
	t->answer->sent = now(call->session);
	t->answer->error = request_put(&t->request, trace_ask, t->ask);
	if (t->answer->error)
		call_end(call, NULL);
	else
		request_node(call->session, t->node, &t->request);
}

int ddio_trace_ask(struct ddio_session *session, uint32_t node,
		   const struct ddio_msg_trace_ask *ask, struct ddio_node_trace *answer)
{
	struct trace_call t = { .node = node, .ask = ask, .answer = answer };

	memset(answer, 0, sizeof(*answer));
	return call_run(session, &t.call, trace_run);
}

uint32_t ddio_trace_nodes(const struct ddio_session *session)
{
	return session->conf->nnodes;
}

const char *ddio_trace_node_name(const struct ddio_session *session, uint32_t node)
{
	return session->conf->nodes[node].name;
}

const char *ddio_trace_disk_name(const struct ddio_session *session, uint32_t disk)
{
	return disk < session->conf->ndisks ? session->conf->disks[disk].name : "?";
}
