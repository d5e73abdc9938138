// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a member keeps of steps that it has not come to. */
#include <stdlib.h>
#include <string.h>
#include "cp/group/fan/priv.h"

void fan_await(struct fan *fan, struct order *order)
{
	fan->group->nahead++;
	ddio_list_init(&fan->ahead);
	if (order)
		ddio_list_add(&fan->ahead, &order->ahead);
}

static void weight_drop(struct fan *fan)
{
	fan->group->ahead_bytes -= fan->weight;
	fan->weight = 0;
}

void fan_come(struct fan *fan)
{
	if (!fan->mine)
		fan->group->nahead--;
	fan->mine = true;
	ddio_list_del(&fan->ahead);
	weight_drop(fan);
}

void fans_full(struct ddio_group *group, const struct error *error)
{
	group_break(group, error, group->rank, true);
}

/* Without memory it is that. */
static struct fan_why no_memory = { .status = DDIO_ST_NO_MEMORY, .text = "out of memory" };

static size_t why_len(const struct fan_why *why)
{
	return why && why != &no_memory ? sizeof(*why) + strlen(why->text) + 1 : 0;
}

void fan_why_set(struct fan *fan, uint32_t status, const char *text)
{
	size_t len = strnlen(text, DDIO_MAX_TEXT - 1);
	struct fan_why *why = malloc(sizeof(*why) + len + 1);

	fan_why_free(fan);
	fan->why = &no_memory;
	if (!why)
		return;
	why->status = status;
	memcpy(why->text, text, len);
	why->text[len] = '\0';
	fan->why = why;
}

void fan_why_get(const struct fan *fan, struct error *error)
{
	error_clear(error);
	if (fan->why)
		error_status(error, fan->why->status, "%s", fan->why->text);
}

void fan_why_free(struct fan *fan)
{
	if (fan->why != &no_memory)
		free(fan->why);
	fan->why = NULL;
}

/*
 * Who calls what it should has said by then, of each order, one step that has not lent its turn, of those that have less than TURNS_LENT_BYTES, and
 * one more.  The group's own order is not among those of files.
 */
static uint64_t ahead_most(const struct ddio_group *group)
{
	return (group->orders.n + 2) * group->session->groups->step_most +
	       (uint64_t)FANS_AHEAD_BYTES * group->size;
}

bool fan_weigh(struct fan *fan)
{
	struct ddio_group *g = fan->group;
	struct error error;

	if (fan->mine)
		return true;
	g->ahead_bytes -= fan->weight;
	fan->weight = fan->compare_len + fan->gather_cap + why_len(fan->why);
	g->ahead_bytes += fan->weight;
	if (g->ahead_bytes <= ahead_most(g))
		return true;
	error_status(
		&error, DDIO_ST_TOO_BIG,
		"rank %u is too far behind the others: they have said %llu MB of %u steps that it has not come to",
		g->rank, (unsigned long long)(g->ahead_bytes >> 20), g->nahead);
	fans_full(g, &error);
	return false;
}

void fan_lighten(struct fan *fan)
{
	weight_drop(fan);
	free(fan->compare);
	ddio_env_spare_put(fan->group->session->env, DDIO_ENV_SPARE_GATHER, fan->gather,
			   fan->gather_cap);
	fan->compare = NULL;
	fan->gather = NULL;
	fan->compare_len = fan->gather_len = fan->gather_cap = 0;
}
