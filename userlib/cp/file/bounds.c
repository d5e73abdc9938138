// SPDX-License-Identifier: LGPL-2.1-or-later
/* The bounds of nodes, for tools. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cp/file/ask.h"

static int bounds_get(struct node_answer *a, const struct reply *reply)
{
	return ddio_get_bounds(reply->payload, reply->len, &a->said.bounds);
}

static void bounds_free(struct node_answer *a)
{
	free(a->said.bounds.bound);
}

static int bounds_tell(const struct node_answer *a, const char *name,
		       int (*fn)(void *arg, const struct ddio_bound_state *st), void *arg)
{
	struct ddio_bound_state st = { .error = a->error };
	uint32_t i;
	int ret;

	snprintf(st.node, sizeof(st.node), "%s", name);
	snprintf(st.reason, sizeof(st.reason), "%s", a->reason);
	if (a->error)
		return fn(arg, &st);
	for (i = 0, ret = 0; i < a->said.bounds.n && !ret; i++) {
		const struct ddio_bound_status *b = &a->said.bounds.bound[i];

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
	struct question ask = { .op = DDIO_OP_BOUNDS, .get = bounds_get, .free = bounds_free };
	uint32_t i;
	int ret;

	if (!session)
		return -EINVAL;
	if (!fn)
		return session_fail(session, -EINVAL, "ddio_bounds: fn is NULL");
	ret = ask_all(session, &ask);
	for (i = 0; i < session->conf->nnodes && !ret; i++)
		ret = bounds_tell(&ask.answer[i], session->conf->nodes[i].name, fn, arg);
	ask_free(session, &ask);
	return ret;
}
