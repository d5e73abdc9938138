// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Groups as a reactor knows them: which connection is which rank.  Members
 * attach on each of their lanes before the first collective of the group; a
 * connection that ends takes its members with it, and ends what they ran.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/coll/coll.h"

static uint32_t chunks(uint32_t size)
{
	return size / COLL_CHUNK + (size % COLL_CHUNK != 0);
}

struct coll_group *coll_group_find(struct reactor *reactor, const uint8_t *id)
{
	struct coll_group *group;

	ddio_list_for_each_entry(group, &reactor->groups, link)
		if (!memcmp(group->id, id, DDIO_GROUP_ID_LEN))
			return group;
	return NULL;
}

struct coll_member *coll_client_member(const struct client *client, const uint8_t *id)
{
	struct coll_member *m;

	ddio_list_for_each_entry(m, &client->members, client_link)
		if (!memcmp(m->group->id, id, DDIO_GROUP_ID_LEN))
			return m;
	return NULL;
}

struct coll_member *coll_group_member(const struct coll_group *group, uint32_t rank)
{
	struct coll_member **chunk;

	if (rank >= group->size)
		return NULL;
	chunk = group->chunk[rank / COLL_CHUNK];
	return chunk ? chunk[rank % COLL_CHUNK] : NULL;
}

static struct coll_group *group_new(struct reactor *reactor, const uint8_t *id, uint32_t size)
{
	struct coll_group *group;

	group = calloc(1, sizeof(*group) + chunks(size) * sizeof(group->chunk[0]));
	if (!group)
		return NULL;
	group->reactor = reactor;
	memcpy(group->id, id, DDIO_GROUP_ID_LEN);
	group->size = size;
	group->lost = COLL_NOBODY;
	ddio_list_init(&group->colls);
	ddio_list_push(&group->link, &reactor->groups);
	return group;
}

void coll_group_release(struct coll_group *group)
{
	struct reactor *reactor = group->reactor;
	uint32_t i;

	if (group->n || group->running)
		return;
	ddio_list_del(&group->link);
	if (ddio_list_empty(&reactor->groups))
		coll_buffers_drop(reactor);
	for (i = 0; i < chunks(group->size); i++)
		free(group->chunk[i]);
	ddio_joint_put(group->joint);
	free(group);
}

bool coll_group_complete(const struct coll_group *group, struct verdict *v)
{
	uint32_t r;

	if (group->n == group->size)
		return true;
	if (group->lost != COLL_NOBODY && !coll_group_member(group, group->lost)) {
		verdict_set(v, DDIO_ST_MEMBER_LOST, group->lost, "rank %u of %u has gone away",
			    group->lost, group->size);
		return false;
	}
	for (r = 0; r < group->size && coll_group_member(group, r);)
		r++;
	verdict_set(v, DDIO_ST_INVALID, COLL_NOBODY,
		    "only %u of the group's %u members are attached to reactor %u; rank %u is not",
		    group->n, group->size, group->reactor->index, r);
	return false;
}

/*
 * Operations that were given up before this reactor heard of them
 */
const struct early *coll_group_early(const struct coll_group *group, uint64_t op)
{
	uint32_t i;

	for (i = 0; i < COLL_EARLY; i++)
		if (group->early[i].op == op)
			return &group->early[i];
	return NULL;
}

static void early_add(struct coll_group *group, const struct ddio_msg_coll_abort *abort)
{
	struct early *e;

	if (coll_group_early(group, abort->op))
		return;
	e = &group->early[group->nearly++ % COLL_EARLY];
	e->op = abort->op;
	e->status = abort->status;
	e->rank = abort->rank;
}

/*
 * Attach and detach
 */
static int member_put(struct coll_group *group, struct client *client,
		      const struct ddio_msg_attach *at)
{
	struct coll_member ***chunk = &group->chunk[at->rank / COLL_CHUNK];
	struct coll_member *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	if (!*chunk)
		*chunk = calloc(COLL_CHUNK, sizeof(**chunk));
	if (!*chunk) {
		free(m);
		return -ENOMEM;
	}
	m->client = client;
	m->group = group;
	m->rank = at->rank;
	m->handle = at->handle;
	(*chunk)[at->rank % COLL_CHUNK] = m;
	group->n++;
	ddio_list_add(&m->client_link, &client->members);
	return 0;
}

static void member_free(struct coll_member *m)
{
	struct coll_group *group = m->group;

	group->chunk[m->rank / COLL_CHUNK][m->rank % COLL_CHUNK] = NULL;
	group->n--;
	ddio_list_del(&m->client_link);
	free(m);
	coll_group_release(group);
}

static void member_gone(struct coll_member *m, uint32_t status, const char *how)
{
	struct coll *coll, *tmp;

	ddio_list_for_each_entry_safe(coll, tmp, &m->group->colls, group_link)
		coll_fail_here(coll, status, m->rank, "rank %u of %u %s (%s)", m->rank,
			       m->group->size, how, ddio_conn_peer(m->client->conn));
}

/*
 * A member that has given up its connection comes back by another one, and what ended the old one
 * has not come through: it is the same process, since nobody else knows the group.
 */
static void member_replaced(struct coll_member *m)
{
	struct client *old = m->client;

	member_gone(m, DDIO_ST_MEMBER_LOST, "has come back by another connection");
	m->group->lost = m->rank;
	member_free(m);
	client_end(old, "its member of a group has come back by another connection");
}

/* Status of the reply, and its text. */
static uint32_t attach(struct client *client, const struct ddio_msg_attach *at, char *text,
		       size_t len)
{
	struct reactor *reactor = client->reactor;
	struct coll_group *group = coll_group_find(reactor, at->group);

	if (reactor->stopping) {
		snprintf(text, len, SERVER_STOPPING);
		return DDIO_ST_SHUTDOWN;
	}
	if (group && group->size != at->size) {
		snprintf(text, len, "rank %u says the group has %u members, others say %u",
			 at->rank, at->size, group->size);
		return DDIO_ST_MISMATCH;
	}
	if (coll_client_member(client, at->group)) {
		snprintf(text, len, "the connection is a rank of the group already");
		return DDIO_ST_EXISTS;
	}
	if (group && coll_group_member(group, at->rank)) {
		member_replaced(coll_group_member(group, at->rank));
		group = coll_group_find(reactor, at->group);
	}
	if (!group)
		group = group_new(reactor, at->group, at->size);
	if (!group || member_put(group, client, at)) {
		if (group)
			coll_group_release(group);
		snprintf(text, len, "no memory for a group of %u members", at->size);
		return DDIO_ST_NO_MEMORY;
	}
	return DDIO_ST_OK;
}

/**
 * coll_attach - a connection becomes a member of a group
 * @client: the connection
 * @msg: ATTACH; is replied to
 * @payload: struct ddio_msg_attach
 */
int coll_attach(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_attach at;
	char text[DDIO_MAX_TEXT] = "";
	uint32_t status;
	int err;

	err = ddio_get_attach(payload, msg->length, &at);
	if (err)
		return err;
	status = attach(client, &at, text, sizeof(text));
	if (status != DDIO_ST_OK)
		client->reactor->refused++;
	return ddio_conn_reply(client->conn, msg, status, text, strlen(text));
}

/**
 * coll_detach - a member leaves its group
 * @client: the connection
 * @msg: DETACH; is replied to
 * @payload: struct ddio_msg_attach
 *
 * Leaving a collective that runs ends it for the others as if the member had been lost.
 */
int coll_detach(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_attach at;
	struct coll_member *m;
	int err;

	err = ddio_get_attach(payload, msg->length, &at);
	if (err)
		return err;
	m = coll_client_member(client, at.group);
	if (!m) {
		static const char text[] = "the connection is no member of the group";

		return ddio_conn_reply(client->conn, msg, DDIO_ST_NOT_FOUND, text,
				       sizeof(text) - 1);
	}
	member_gone(m, DDIO_ST_MEMBER_LOST, "has left the group");
	member_free(m);
	return ddio_conn_reply(client->conn, msg, DDIO_ST_OK, NULL, 0);
}

/**
 * coll_client_lost - a connection is over
 * @client: its members are lost, and what their groups run ends with MEMBER_LOST
 */
void coll_client_lost(struct client *client)
{
	struct coll_member *m, *tmp;

	ddio_list_for_each_entry_safe(m, tmp, &client->members, client_link) {
		member_gone(m, DDIO_ST_MEMBER_LOST, "has gone away");
		m->group->lost = m->rank;
		member_free(m);
	}
}

/**
 * coll_client_drained - a connection's output queue has drained
 * @client: its members made progress, whatever the watch saw last
 */
void coll_client_drained(struct client *client)
{
	struct coll_member *m;

	ddio_list_for_each_entry(m, &client->members, client_link)
		m->tx_since = ddio_env_now(client->reactor->env);
}

/**
 * coll_abort - a member gives an operation up
 * @client: the connection
 * @msg: COLL_ABORT; no reply
 * @payload: struct ddio_msg_coll_abort
 *
 * May come before the reactor has heard of the operation's start, which arrives by way of
 * another one, and after its end.
 */
int coll_abort(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_coll_abort abort;
	struct coll_member *m;
	struct coll *coll;
	uint32_t lost, why;
	int err;

	err = ddio_get_coll_abort(payload, msg->length, &abort);
	if (err)
		return err;
	/* The others hear of the cause from the member itself at the end, with all it knows. */
	why = abort.status;
	if (why != DDIO_ST_MEMBER_LOST)
		abort.status = DDIO_ST_CANCELLED;
	m = coll_client_member(client, abort.group);
	if (!m)
		return 0;
	if (abort.op > m->group->last_op) {
		early_add(m->group, &abort);
		return 0;
	}
	coll = coll_find(m->group, abort.op);
	lost = abort.status == DDIO_ST_MEMBER_LOST ? abort.rank : COLL_NOBODY;
	if (coll)
		coll_fail_here(coll, abort.status, lost, "rank %u gave up: %s", m->rank,
			       ddio_status_text(why));
	return 0;
}
