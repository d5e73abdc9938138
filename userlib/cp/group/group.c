// SPDX-License-Identifier: LGPL-2.1-or-later
/* Groups: their life, their order, their end. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/kinds.h"
#include "cp/group/peer.h"

/*
 * Handles
 */
static int handle_take(struct groups *groups, struct ddio_group *group)
{
	struct ddio_group **table;
	uint32_t i, n;

	for (i = 0; i < groups->n && groups->group[i]; i++)
		;
	if (i == groups->n) {
		n = groups->n ? 2 * groups->n : 8;
		table = realloc(groups->group, n * sizeof(*table));
		if (!table)
			return -ENOMEM;
		memset(table + groups->n, 0, (n - groups->n) * sizeof(*table));
		groups->group = table;
		groups->n = n;
	}
	groups->group[i] = group;
	group->handle = i;
	return 0;
}

struct ddio_group *group_by_handle(struct ddio_session *session, uint32_t handle)
{
	return handle < session->groups->n ? session->groups->group[handle] : NULL;
}

struct ddio_group *group_by_id(struct ddio_session *session, const uint8_t id[DDIO_GROUP_ID_LEN])
{
	const struct groups *groups = session->groups;
	uint32_t i;

	for (i = 0; i < groups->n; i++)
		if (groups->group[i] && !memcmp(groups->group[i]->id, id, DDIO_GROUP_ID_LEN))
			return groups->group[i];
	return NULL;
}

/*
 * Life
 */
static void group_free(void *arg)
{
	struct ddio_group *group = arg;
	const struct group_user *const *u = group_users(group);
	uint32_t i;

	peers_free(group);
	orders_drop(group);
	ddio_hash_fini(&group->fans_by_seq);
	for (i = 0; u[i]; i++)
		if (group->user[i])
			u[i]->free(group->user[i]);
	addrs_free(&group->addrs);
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
	order_init(&group->own, group, 0);
	ddio_list_init(&group->fans);
	if (handle_take(session->groups, group)) {
		group_free(group);
		return -ENOMEM;
	}
	*result = group;
	return 0;
}

void group_close(struct ddio_group *group)
{
	struct groups *groups = group->session->groups;
	const struct group_user *const *u;
	struct error error;

	if (group->closed)
		return;
	group->closed = true;
	error_status(&error, DDIO_ST_CANCELLED, "the group was freed");
	group_break(group, &error, group->rank, false);
	for (u = groups->users; *u; u++)
		if ((*u)->closed)
			(*u)->closed(group);
	peers_close(group);
	groups->group[group->handle] = NULL;
	if (groups->solo == group)
		groups->solo = NULL;
	group_put(group);
}

struct ddio_group *group_solo(struct ddio_session *session)
{
	struct groups *groups = session->groups;
	uint8_t id[DDIO_GROUP_ID_LEN];

	/* An operation that an I/O processor failed leaves the group as good as before. */
	if (groups->solo)
		return groups->solo;
	ddio_env_random(session->env, id, sizeof(id));
	if (group_new(session, id, 0, 1, NULL, &groups->solo))
		groups->solo = NULL;
	return groups->solo;
}

/*
 * Failure
 */
static void tell_neighbours(struct ddio_group *group)
{
	struct ddio_msg_fan msg = { .kind = FAN_KIND_END,
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
		peer_send(group, group_parent(group, group->rank), DDIO_OP_GROUP_ABORT, buf,
			  (size_t)len);
	for (k = 0; (other = group_child(group, k)) != UINT32_MAX; k++)
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
	const struct group_user *const *u;

	if (group->broken.status)
		return;
	group->broken = *error;
	group->blame = blame;
	atomic_store_explicit(&group->lost, true, memory_order_release);
	if (flood)
		tell_neighbours(group);
	for (u = group_users(group); *u; u++)
		if ((*u)->broken)
			(*u)->broken(group, &group->broken);
	group_ready(group);
}

int ddio_group_check(const struct ddio_group *group)
{
	if (!group)
		return -EINVAL;
	if (!atomic_load_explicit(&group->lost, memory_order_acquire))
		return 0;
	return session_fail(group->session, group->broken.err, "%s", group->broken.text);
}

void group_lost(struct ddio_group *group, uint32_t rank, const char *why)
{
	const char *addr = addrs_find(&group->addrs, rank);
	struct error error;

	error_status(&error, DDIO_ST_MEMBER_LOST, "rank %u of the group (%s) is lost: %s", rank,
		     addr ? addr : "", why);
	group_break(group, &error, rank, true);
}

static int abort_message(struct link *link, const void *payload, size_t len)
{
	struct ddio_group *group = link->peer->group;
	struct ddio_msg_fan msg;
	struct error error;
	int err = ddio_get_fan(payload, len, &msg);

	if (err || !msg.status || memcmp(msg.group, group->id, sizeof(msg.group)))
		return -EPROTO;
	error_status(&error, msg.status, "%s", msg.text);
	group_break(group, &error, msg.blame, true);
	return 0;
}

static void link_is_ready(struct link *link)
{
	group_ready(link->peer->group);
}

static const struct link_handler group_handlers[] = {
	{ .opcode = DDIO_OP_GROUP_ABORT, .message = abort_message },
	{ .opcode = 0 },
};

const struct group_user group_own_user = {
	.handlers = group_handlers,
	.ready = link_is_ready,
	.lost = group_lost,
};

/*
 * All groups of a session
 */
int groups_init(struct ddio_session *session, const struct group_user *const *users)
{
	struct groups *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	groups->users = users;
	groups->flat_most = FLAT_MOST;
	groups->step_most = DDIO_MAX_PAYLOAD;
	ddio_list_init(&groups->ports);
	ddio_list_init(&groups->strangers);
	ddio_list_init(&groups->meetings);
	session->groups = groups;
	return 0;
}

void groups_free(struct ddio_session *session)
{
	if (session->groups)
		free(session->groups->group);
	free(session->groups);
}

void groups_cancel(struct ddio_session *session)
{
	struct groups *groups = session->groups;
	struct error error;
	uint32_t i;

	error_status(&error, DDIO_ST_CANCELLED, "the session is ending");
	for (i = 0; i < groups->n; i++)
		if (groups->group[i])
			group_break(groups->group[i], &error, groups->group[i]->rank, false);
}

void groups_close(struct ddio_session *session)
{
	struct groups *groups = session->groups;
	uint32_t i;

	for (i = 0; i < groups->n; i++)
		if (groups->group[i])
			group_close(groups->group[i]);
}

static bool group_busy(struct ddio_group *group)
{
	const struct group_user *const *u;

	for (u = group_users(group); *u; u++)
		if ((*u)->busy && (*u)->busy(group))
			return true;
	return false;
}

bool groups_check(struct ddio_session *session)
{
	struct groups *groups = session->groups;
	struct ddio_group *group;
	bool owes = false, busy;
	uint32_t i;

	for (i = 0; i < groups->n; i++) {
		group = groups->group[i];
		if (!group || group->broken.status)
			continue;
		busy = group_busy(group);
		peers_check(group, busy);
		owes |= busy;
	}
	return owes;
}

size_t groups_queued(const struct ddio_session *session)
{
	const struct groups *groups = session->groups;
	size_t queued = 0;
	uint32_t i;

	for (i = 0; i < groups->n; i++)
		if (groups->group[i])
			queued += peers_queued(groups->group[i]);
	return queued;
}

uint32_t ddio_group_rank(const struct ddio_group *group)
{
	return group->rank;
}

uint32_t ddio_group_size(const struct ddio_group *group)
{
	return group->size;
}
