// SPDX-License-Identifier: LGPL-2.1-or-later
/* The bounds of nodes, for tools: asks every node at once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/lane.h"

struct bounds_node {
	struct bounds_call *bc;
	struct node_request request;
	struct ddio_msg_bounds bounds;
	int error;
};

struct bounds_call {
	struct session_call call;
	struct bounds_node *nodes;
	uint32_t left;
};

static void bounds_one(struct bounds_call *bc)
{
	if (!--bc->left)
		call_end(&bc->call, NULL);
}

static void bounds_got(struct node_request *request, const struct reply *reply)
{
	struct bounds_node *n = request->arg;

	if (reply->status)
		n->error = ddio_status_to_errno(reply->status);
	else
		n->error = ddio_get_bounds(reply->payload, reply->len, &n->bounds);
	bounds_one(n->bc);
}

static void bounds_run(struct session_call *call)
{
	struct bounds_call *bc = ddio_container_of(call, struct bounds_call, call);
	struct ddio_session *s = call->session;
	uint32_t i;

	/* One more, so that a node that fails at once does not end the call before the rest is asked. */
	bc->left = s->conf->nnodes + 1;
	for (i = 0; i < s->conf->nnodes; i++) {
		bc->nodes[i].bc = bc;
		request_init(&bc->nodes[i].request, DDIO_OP_BOUNDS, bounds_got, &bc->nodes[i]);
		request_node(&s->nodes[i], &bc->nodes[i].request);
	}
	bounds_one(bc);
}

static int bounds_tell(const struct bounds_node *n, const char *name,
		       int (*fn)(void *arg, const struct ddio_bound_state *st), void *arg)
{
	struct ddio_bound_state st = { .error = n->error };
	uint32_t i;
	int ret;

	snprintf(st.node, sizeof(st.node), "%s", name);
	if (n->error)
		return fn(arg, &st);
	for (i = 0, ret = 0; i < n->bounds.n && !ret; i++) {
		const struct ddio_bound_status *b = &n->bounds.bound[i];

		snprintf(st.name, sizeof(st.name), "%s", b->name);
		st.limit = b->limit;
		st.now = b->now;
		st.most = b->most;
		st.hits = b->hits;
		ret = fn(arg, &st);
	}
	return ret;
}

int ddio_bounds(struct ddio_session *session,
		int (*fn)(void *arg, const struct ddio_bound_state *st), void *arg)
{
	struct bounds_call bc = { .left = 0 };
	uint32_t i;
	int ret;

	if (!session)
		return -EINVAL;
	if (!fn)
		return session_fail(session, -EINVAL, "ddio_bounds: fn is NULL");
	bc.nodes = calloc(session->conf->nnodes, sizeof(*bc.nodes));
	if (!bc.nodes)
		return session_fail(session, -ENOMEM, "bounds of the nodes: out of memory");
	ret = call_run(session, &bc.call, bounds_run);
	for (i = 0; i < session->conf->nnodes; i++) {
		if (!ret)
			ret = bounds_tell(&bc.nodes[i], session->conf->nodes[i].name, fn, arg);
		free(bc.nodes[i].bounds.bound);
	}
	free(bc.nodes);
	return ret;
}
