// SPDX-License-Identifier: LGPL-2.1-or-later
/* Steps that are over: what children still say of them is dropped. */
#include <stdlib.h>
#include "cp/group/fan/priv.h"

/**
 * struct ended - a step that has ended without all children
 * @node: in the table, by the step's name
 * @link: in the order of their ends
 */
struct ended {
	struct ddio_hash_node node;
	struct ddio_list link;
};

/**
 * struct ended_all - a group's, once there is one
 */
struct ended_all {
	struct ddio_hash by_seq;
	struct ddio_list list;
};

static struct ended_all *ended_of(struct ddio_group *group)
{
	return *group_state(group, &fan_group_user);
}

/* Returns NULL without memory. */
static struct ended_all *ended_make(struct ddio_group *group)
{
	struct ended_all *all = ended_of(group);

	if (all)
		return all;
	all = calloc(1, sizeof(*all));
	if (all)
		ddio_list_init(&all->list);
	*group_state(group, &fan_group_user) = all;
	return all;
}

static void ended_del(struct ended_all *all, struct ended *ended)
{
	ddio_hash_del(&all->by_seq, &ended->node);
	ddio_list_del(&ended->link);
	free(ended);
}

static void ended_forget(struct ddio_group *group, struct ended_all *all)
{
	ended_del(all, ddio_list_first(&all->list, struct ended, link));
	group->nended--;
}

void ended_add(struct ddio_group *group, uint64_t seq)
{
	struct ended_all *all = ended_make(group);
	struct ended *ended;

	if (!all || ended_has(group, seq))
		return;
	ended = malloc(sizeof(*ended));
	if (!ended)
		return;
	if (group->nended == ENDED_MAX)
		ended_forget(group, all);
	group->nended++;
	ddio_list_add(&ended->link, &all->list);
	ddio_hash_add(&all->by_seq, &ended->node, seq);
}

bool ended_has(struct ddio_group *group, uint64_t seq)
{
	const struct ended_all *all = ended_of(group);

	group->looks++;
	return all && ddio_hash_find(&all->by_seq, seq);
}

void ended_free(void *state)
{
	struct ended_all *all = state;

	while (!ddio_list_empty(&all->list))
		ended_del(all, ddio_list_first(&all->list, struct ended, link));
	ddio_hash_fini(&all->by_seq);
	free(all);
}
