// SPDX-License-Identifier: LGPL-2.1-or-later
/* Groups: their life, their order, their end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/attach.h"
#include "cp/group/fan.h"
#include "cp/group/group.h"
#include "cp/group/meet.h"
#include "cp/coll/op.h"

/*
 * Handles
 */
static int handle_take(struct ddio_session *s, struct ddio_group *group)
{
	struct ddio_group **table;
	uint32_t i, n;

	for (i = 0; i < s->ngroups && s->group[i]; i++)
		;
	if (i == s->ngroups) {
		n = s->ngroups ? 2 * s->ngroups : 8;
		table = realloc(s->group, n * sizeof(*table));
		if (!table)
			return -ENOMEM;
		memset(table + s->ngroups, 0, (n - s->ngroups) * sizeof(*table));
		s->group = table;
		s->ngroups = n;
	}
	s->group[i] = group;
	group->handle = i;
	return 0;
}

struct ddio_group *group_by_handle(struct ddio_session *session, uint32_t handle)
{
	return handle < session->ngroups ? session->group[handle] : NULL;
}

struct ddio_group *group_by_id(struct ddio_session *session, const uint8_t id[DDIO_GROUP_ID_LEN])
{
	uint32_t i;

	for (i = 0; i < session->ngroups; i++)
		if (session->group[i] && !memcmp(session->group[i]->id, id, DDIO_GROUP_ID_LEN))
			return session->group[i];
	return NULL;
}

/*
 * Life
 */
static void group_free(void *arg)
{
	struct ddio_group *group = arg;

	peers_free(group);
	addrs_free(&group->addrs);
	free(group->ended);
	free(group);
}

void group_put(struct ddio_group *group)
{
	if (--group->refs)
		return;
	group->free_post.fn = group_free;
	group->free_post.arg = group;
	ddio_env_post(group->session->env, &group->free_post);
}

int group_new(struct ddio_session *session, const uint8_t id[DDIO_GROUP_ID_LEN], uint32_t rank,
	      uint32_t size, struct addrs *addrs, struct ddio_group **result)
{
	struct ddio_group *group = calloc(1, sizeof(*group));

	if (!group) {
		if (addrs)
			addrs_free(addrs);
		return -ENOMEM;
	}
	group->session = session;
	memcpy(group->id, id, sizeof(group->id));
	group->rank = rank;
	group->size = size;
	if (addrs) {
		group->addrs = *addrs;
		memset(addrs, 0, sizeof(*addrs));
	}
	group->refs = 1;
	group->blame = UINT32_MAX;
	ddio_list_init(&group->turns);
	ddio_list_init(&group->fans);
	ddio_list_init(&group->ops);
	ddio_list_init(&group->attaches);
	if (handle_take(session, group)) {
		group_free(group);
		return -ENOMEM;
	}
	*result = group;
	return 0;
}

void group_close(struct ddio_group *group)
{
	struct error error;

	if (group->closed)
		return;
	group->closed = true;
	error_status(&error, DDIO_ST_CANCELLED, "the group was freed");
	group_break(group, &error, group->rank, false);
	attaches_drop(group);
	peers_close(group);
	group->session->group[group->handle] = NULL;
	if (group->session->solo == group)
		group->session->solo = NULL;
	group_put(group);
}

void groups_close(struct ddio_session *session)
{
	uint32_t i;

	for (i = 0; i < session->ngroups; i++)
		if (session->group[i])
			group_close(session->group[i]);
	session_unlisten(session);
}

size_t groups_queued(const struct ddio_session *session)
{
	size_t queued = 0;
	uint32_t i;

	for (i = 0; i < session->ngroups; i++)
		if (session->group[i])
			queued += group_queued(session->group[i]);
	return queued;
}

struct ddio_group *group_solo(struct ddio_session *session)
{
	uint8_t id[DDIO_GROUP_ID_LEN];

	/* A group whose operation went wrong at an I/O processor is as good as before. */
	if (session->solo)
		return session->solo;
	ddio_env_random(session->env, id, sizeof(id));
	if (group_new(session, id, 0, 1, NULL, &session->solo))
		session->solo = NULL;
	return session->solo;
}

/*
 * Failure
 */
static void turns_run(struct ddio_group *group)
{
	struct turn *turn;

	while (!group->turn && !ddio_list_empty(&group->turns)) {
		turn = ddio_list_first(&group->turns, struct turn, link);
		ddio_list_del(&turn->link);
		group->turn = turn;
		turn->begin(turn);
	}
}

static void tell_neighbours(struct ddio_group *group)
{
	struct ddio_msg_fan msg = { .kind = DDIO_FAN_END,
				    .rank = group->rank,
				    .status = group->broken.status,
				    .blame = group->blame };
	uint8_t buf[1024];
	uint32_t other;
	unsigned int k;
	ssize_t len;

	memcpy(msg.group, group->id, sizeof(msg.group));
	memcpy(msg.text, group->broken.text, sizeof(msg.text));
	len = ddio_put_fan(buf, sizeof(buf), &msg);
	if (len < 0)
		return;
	if (group->rank)
		peer_send(group, tree_parent(group->rank), DDIO_OP_GROUP_ABORT, buf, (size_t)len);
	for (k = 0; (other = tree_child(group->rank, group->size, k)) != UINT32_MAX; k++)
		peer_send(group, other, DDIO_OP_GROUP_ABORT, buf, (size_t)len);
}

void group_ready(struct ddio_group *group)
{
	void (*on_ready)(struct ddio_group *, void *) = group->on_ready;

	group->on_ready = NULL;
	if (on_ready)
		on_ready(group, group->ready_arg);
}

void group_break(struct ddio_group *group, const struct error *error, uint32_t blame, bool flood)
{
	if (group->broken.status)
		return;
	group->broken = *error;
	group->blame = blame;
	if (flood)
		tell_neighbours(group);
	fans_fail(group, &group->broken);
	ops_fail(group, &group->broken);
	group_ready(group);
	/* Those that wait for their turn find the group broken. */
	turns_run(group);
}

void group_lost(struct ddio_group *group, uint32_t rank, const char *why)
{
	const char *addr = addrs_find(&group->addrs, rank);
	struct error error;

	error_status(&error, DDIO_ST_MEMBER_LOST, "rank %u of the group (%s) is lost: %s", rank,
		     addr ? addr : "", why);
	group_break(group, &error, rank, true);
}

bool groups_check(struct ddio_session *session)
{
	struct ddio_group *group;
	bool owes = false, mine;
	uint32_t i;

	for (i = 0; i < session->ngroups; i++) {
		group = session->group[i];
		if (!group || group->broken.status)
			continue;
		mine = fans_waiting(group) || !ddio_list_empty(&group->ops);
		peers_check(group, mine);
		owes |= mine;
	}
	return owes;
}

/*
 * Order
 */
void turn_take(struct ddio_group *group, struct turn *turn)
{
	turn->number = ++group->last_number;
	ddio_list_add(&turn->link, &group->turns);
	turns_run(group);
}

void turn_pass(struct ddio_group *group, struct turn *turn)
{
	if (group->turn != turn)
		return;
	group->turn = NULL;
	turns_run(group);
}

/*
 * What the user sees
 */
struct free_call {
	struct session_call call;
	struct ddio_group *group;
	struct ddio_timer timer;
	uint64_t until;
};

/* What others wait for may still be on its way out. */
static void free_try(void *arg)
{
	struct free_call *fc = arg;
	struct ddio_env *env = fc->call.session->env;

	if (group_queued(fc->group) && ddio_env_now(env) < fc->until) {
		ddio_timer_arm(env, &fc->timer, ddio_env_now(env) + DDIO_LINGER_STEP_NS);
		return;
	}
	group_close(fc->group);
	call_end(&fc->call, NULL);
}

static void free_run(struct session_call *call)
{
	struct free_call *fc = ddio_container_of(call, struct free_call, call);

	fc->until = ddio_env_now(call->session->env) + DDIO_LINGER_NS;
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

uint32_t ddio_group_rank(const struct ddio_group *group)
{
	return group->rank;
}

uint32_t ddio_group_size(const struct ddio_group *group)
{
	return group->size;
}
