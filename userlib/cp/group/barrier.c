// SPDX-License-Identifier: LGPL-2.1-or-later
/* Barriers. */
#include <errno.h>
#include "cp/group/fan.h"

struct barrier_call {
	struct session_call call;
	struct ddio_group *group;
	struct turn turn;
};

static void barrier_agreed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct barrier_call *bc = arg;

	(void)data;
	(void)len;
	turn_pass(bc->group, &bc->turn);
	call_end(&bc->call, error);
}

static void barrier_begin(struct turn *turn)
{
	struct barrier_call *bc = ddio_container_of(turn, struct barrier_call, turn);
	const struct fan_in in = { .kind = FAN_KIND_BARRIER, .done = barrier_agreed, .arg = bc };

	fan_begin(bc->group, turn->number, STEP_FIRST, &in);
}

static void barrier_run(struct session_call *call)
{
	struct barrier_call *bc = ddio_container_of(call, struct barrier_call, call);

	bc->turn.begin = barrier_begin;
	turn_take(bc->group, &bc->turn);
}

int ddio_group_barrier(struct ddio_group *group)
{
	struct barrier_call bc = { .group = group };

	return group ? call_run(group->session, &bc.call, barrier_run) : -EINVAL;
}
