// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Transfers that nodes may keep until the end of the group's epoch.  What is started meanwhile does not wait for them to end, but must come to
 * every node behind them.  So each member asks those nodes that it has asked for one whether they have it.  Only then it comes to the next of
 * the group's order, which so begins when all have heard; and says so in a step, for what rank 0 starts in files' orders.
 */
#include <stdlib.h>
#include "cp/coll/starts.h"
#include "cp/group/fan/fan.h"

/**
 * struct stay - rank 0 waits until all nodes have the transfer of that turn
 */
struct stay {
	struct ddio_group *group;
	uint64_t number;
};

bool op_stays(const struct ddio_op *op)
{
	return op_is_dd(op) && !order_key(op->turn.number) && !op->within &&
	       epochs_know(op->group, op->file);
}

static void stayed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct stay *stay = arg;

	(void)error;
	(void)data;
	(void)len;
	if (!stay)
		return;
	start_arrived(stay->group, stay->number);
	group_put(stay->group);
	free(stay);
}

/* Without memory rank 0 waits until the transfer has ended. */
static struct stay *stay_new(struct ddio_group *group, uint64_t number)
{
	struct stay *stay = group->rank ? NULL : malloc(sizeof(*stay));

	if (!stay)
		return NULL;
	stay->group = group;
	stay->number = number;
	group->refs++;
	return stay;
}

void op_has_stayed(struct ddio_op *op)
{
	struct ddio_group *group = op->group;
	uint64_t number = op->turn.number;
	struct fan_in in = { .kind = FAN_KIND_STAYS, .done = stayed };

	if (!op->stays)
		return;
	op->stays = false;
	group->refs++;
	turn_pass(&op->turn);
	in.arg = stay_new(group, number);
	fan_begin(group, number, STEP_MIDDLE, &in);
	group_put(group);
}
