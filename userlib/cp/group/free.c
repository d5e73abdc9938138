// SPDX-License-Identifier: LGPL-2.1-or-later
/* Freeing a group, and giving it up on all its members. */
#include <errno.h>
#include "cp/group/peer.h"

struct free_call {
	struct session_call call;
	struct ddio_group *group;
	struct ddio_timer timer;
	uint64_t until;
};

/* Waits a little for the output queues: other members may need what is in them. */
static void free_try(void *arg)
{
	struct free_call *fc = arg;
	struct ddio_env *env = fc->call.session->env;

	if (peers_queued(fc->group) && ddio_env_now(env) < fc->until) {
		ddio_timer_arm(env, &fc->timer, ddio_env_now(env) + GROUP_LINGER_STEP_NS);
		return;
	}
	group_close(fc->group);
	call_end(&fc->call, NULL);
}

static void free_run(struct session_call *call)
{
	struct free_call *fc = ddio_container_of(call, struct free_call, call);

	fc->until = ddio_env_now(call->session->env) + GROUP_LINGER_NS;
	fc->timer.fn = free_try;
	fc->timer.arg = fc;
	free_try(fc);
}

void ddio_group_free(struct ddio_group *group)
{
	struct free_call fc = { .group = group };

	if (group)
		call_run(group->session, &fc.call, free_run);
}

struct abort_call {
	struct session_call call;
	struct ddio_group *group;
	const char *why;
};

static void abort_run(struct session_call *call)
{
	struct abort_call *ac = ddio_container_of(call, struct abort_call, call);
	struct ddio_group *g = ac->group;
	struct error error;

	error_status(&error, DDIO_ST_MEMBER_LOST, "rank %u has given up the group: %s", g->rank,
		     ac->why);
	group_break(g, &error, g->rank, true);
	call_end(&ac->call, NULL);
}

int ddio_group_abort(struct ddio_group *group, const char *why)
{
	struct abort_call ac = { .group = group, .why = why ? why : "it did not say why" };

	return group ? call_run(group->session, &ac.call, abort_run) : -EINVAL;
}
