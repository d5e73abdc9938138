// SPDX-License-Identifier: LGPL-2.1-or-later
/* Groups as a reactor knows them: which connection is which rank. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include "iop/coll/core/group.h"
#include "iop/coll/core/pool.h"

/* Of at least so many groups at once memory is given back when no more than one of so many is left. */
#define COLL_GROUPS_MANY 1024u
#define COLL_GROUPS_LEFT 4u

struct coll_group *coll_group_find(struct reactor *reactor, const uint8_t *id)
{
	struct coll_group *group;

	ddio_hash_for_each_match(group, &reactor->groups_by_id,
				 ddio_hash_bytes(id, DDIO_GROUP_ID_LEN), node)
		if (!memcmp(group->id, id, DDIO_GROUP_ID_LEN))
			return group;
	return NULL;
}

static uint64_t member_key(const struct client *client, const uint8_t *id)
{
	return ddio_hash_pair(ddio_hash_bytes(id, DDIO_GROUP_ID_LEN), (uintptr_t)client);
}

static uint64_t rank_key(const struct coll_group *group, uint32_t rank)
{
	return ddio_hash_pair(group->key, rank);
}

struct coll_member *coll_client_member(const struct client *client, const uint8_t *id)
{
	struct coll_member *m;

	ddio_hash_for_each_match(m, &client->reactor->members, member_key(client, id), node)
		if (m->client == client && !memcmp(m->group->id, id, DDIO_GROUP_ID_LEN))
			return m;
	return NULL;
}

struct coll_member *coll_group_member(const struct coll_group *group, uint32_t rank)
{
	struct coll_member *m;

	ddio_hash_for_each_match(m, &group->reactor->members_by_rank, rank_key(group, rank),
				 by_rank)
		if (m->group == group && m->rank == rank)
			return m;
	return NULL;
}

int coll_group_new(struct reactor *reactor, const uint8_t *id, uint32_t size,
		   struct coll_group **made)
{
	struct bound *bound = &reactor->bounds.at[BOUND_GROUPS_ALL];
	struct coll_group *group;

	if (!bound_take(bound, &reactor->ngroups))
		return -EUSERS;
	group = calloc(1, sizeof(*group));
	if (!group) {
		bound_put(bound, &reactor->ngroups, 1);
		return -ENOMEM;
	}
	if (reactor->ngroups > reactor->groups_most)
		reactor->groups_most = reactor->ngroups;
	group->reactor = reactor;
	memcpy(group->id, id, DDIO_GROUP_ID_LEN);
	group->key = ddio_hash_bytes(id, DDIO_GROUP_ID_LEN);
	group->size = size;
	group->lost = COLL_NOBODY;
	ddio_list_init(&group->colls);
	ddio_list_init(&group->spreads);
	ddio_list_push(&group->link, &reactor->groups);
	ddio_hash_add(&reactor->groups_by_id, &group->node, group->key);
	*made = group;
	return 0;
}

/* A group has gone.  What is freed in the middle of a heap stays the process's without malloc_trim(). */
static void group_gone(struct reactor *reactor)
{
	if (!reactor->ngroups) {
		coll_buffers_drop(reactor);
		ddio_hash_fini(&reactor->groups_by_id);
		ddio_hash_fini(&reactor->members);
		ddio_hash_fini(&reactor->members_by_rank);
	}
	if (reactor->groups_most < COLL_GROUPS_MANY ||
	    reactor->ngroups > reactor->groups_most / COLL_GROUPS_LEFT)
		return;
	reactor->groups_most = reactor->ngroups;
	malloc_trim(0);
}

void coll_group_release(struct coll_group *group)
{
	struct reactor *reactor = group->reactor;

	if (group->n || group->running)
		return;
	ddio_list_del(&group->link);
	ddio_hash_del(&reactor->groups_by_id, &group->node);
	ddio_joint_put(group->joint);
	coll_share_free(group->share[0]);
	coll_share_free(group->share[1]);
	free(group);
	bound_put(&reactor->bounds.at[BOUND_GROUPS_ALL], &reactor->ngroups, 1);
	group_gone(reactor);
}

bool coll_group_complete(const struct coll_group *group, bool some, struct verdict *v)
{
	uint32_t r;

	if (group->n == group->size)
		return true;
	if (group->lost != COLL_NOBODY && !coll_group_member(group, group->lost)) {
		verdict_set(v, DDIO_ST_MEMBER_LOST, group->lost, "rank %u of %u has gone away",
			    group->lost, group->size);
		return false;
	}
	if (some)
		return true;
	for (r = 0; r < group->size && coll_group_member(group, r);)
		r++;
	/* A library sends no request before all are attached: since then this node was restarted, or has lost connections. */
	verdict_set(
		v, DDIO_ST_NODE_LOST, COLL_NOBODY,
		"only %u of the group's %u members are attached to reactor %u; rank %u is not any more",
		group->n, group->size, group->reactor->index, r);
	return false;
}

int coll_member_new(struct coll_group *group, struct client *client,
		    const struct ddio_msg_attach *at)
{
	struct bound *bound = &group->reactor->bounds.at[BOUND_GROUPS];
	struct coll_member *m;

	if (client->ngroups >= bound->limit) {
		bound->hits++;
		return -EBUSY;
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->client = client;
	m->group = group;
	m->rank = at->rank;
	m->handle = at->handle;
	group->n++;
	ddio_list_add(&m->client_link, &client->members);
	ddio_hash_add(&group->reactor->members, &m->node, member_key(client, group->id));
	ddio_hash_add(&group->reactor->members_by_rank, &m->by_rank, rank_key(group, m->rank));
	bound_take(bound, &client->ngroups);
	return 0;
}

void coll_member_free(struct coll_member *m)
{
	struct coll_group *group = m->group;
	int i;

	for (i = 0; i < 2; i++)
		if (m->shares[i])
			group->share[i]->takers--;
	group->n--;
	ddio_list_del(&m->client_link);
	ddio_hash_del(&group->reactor->members, &m->node);
	ddio_hash_del(&group->reactor->members_by_rank, &m->by_rank);
	bound_put(&group->reactor->bounds.at[BOUND_GROUPS], &m->client->ngroups, 1);
	free(m);
	coll_group_release(group);
}

void coll_group_discard(const struct coll_group *group, uint32_t rank)
{
	struct coll_member *m = coll_group_member(group, rank);

	if (m)
		ddio_conn_discard(m->client->conn);
}

/*
 * Operations that were aborted before this reactor heard of them
 */
const struct early *coll_group_early(const struct coll_group *group, uint64_t op)
{
	uint32_t i;

	for (i = 0; i < COLL_EARLY; i++)
		if (group->early[i].op == op)
			return &group->early[i];
	return NULL;
}

void coll_group_early_add(struct coll_group *group, const struct ddio_msg_coll_abort *abort)
{
	struct early *e;

	if (coll_group_early(group, abort->op))
		return;
	e = &group->early[group->nearly++ % COLL_EARLY];
	e->op = abort->op;
	e->status = abort->status;
	e->rank = abort->rank;
}
