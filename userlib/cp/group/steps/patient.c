// SPDX-License-Identifier: LGPL-2.1-or-later
/* Groups that wait for their members as long as they live. */
#include <errno.h>
#include "cp/group/fan/fan.h"

struct patient_call {
	struct session_call call;
	struct ddio_group *group;
	struct turn turn;
};

/*
 * Takes effect with the next turn.  No neighbour can send anything of that before its own verdict on this one,
 * which comes from here or has come from where this member's came from.
 */
static void patient_agreed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct patient_call *pc = arg;
	struct ddio_group *g = pc->group;

	(void)data;
	(void)len;
	if (!error->status && !g->patient_from)
		g->patient_from = pc->turn.number + 1;
	turn_pass(&pc->turn);
	call_end(&pc->call, error);
}

static void patient_begin(struct turn *turn)
{
	struct patient_call *pc = ddio_container_of(turn, struct patient_call, turn);
	const struct fan_in in = { .kind = FAN_KIND_PATIENT, .done = patient_agreed, .arg = pc };

	fan_begin(pc->group, turn->number, STEP_FIRST, &in);
}

static void patient_run(struct session_call *call)
{
	struct patient_call *pc = ddio_container_of(call, struct patient_call, call);

	pc->turn.begin = patient_begin;
	turn_take(pc->group, &pc->turn);
}

int ddio_group_set_patient(struct ddio_group *group)
{
	struct patient_call pc = { .group = group };

	return group ? call_run(group->session, &pc.call, patient_run) : -EINVAL;
}

int ddio_group_awaited(const struct ddio_group *group)
{
	return group ? group->own.awaited > group->own.last : -EINVAL;
}
