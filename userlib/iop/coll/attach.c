// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How members come and go.  Members attach on each of their lanes before the first collective of the
 * group; a connection that ends takes its members with it, and ends what they ran.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/coll/priv.h"
#include "proto/past/past.h"

static void member_gone(struct coll_member *m, uint32_t status, const char *how)
{
	struct coll *coll, *tmp;
	struct verdict v;

	verdict_set(&v, status, m->rank, "rank %u of %u %s (%s)", m->rank, m->group->size, how,
		    ddio_conn_peer(m->client->conn));
	coll_spreads_end(m->group, 0, &v);
	ddio_list_for_each_entry_safe(coll, tmp, &m->group->colls, group_link)
		coll_fail_here(coll, status, m->rank, "rank %u of %u %s (%s)", m->rank,
			       m->group->size, how, ddio_conn_peer(m->client->conn));
}

/*
 * A member that gave up its connection has come back on another one before the end of the old one was
 * noticed.  It is the same process, since nobody else knows the group.
 */
static void member_replaced(struct coll_member *m)
{
	struct client *old = m->client;

	member_gone(m, DDIO_ST_MEMBER_LOST, "has come back on another connection");
	m->group->lost = m->rank;
	coll_member_free(m);
	client_end(old, "a member of a group has left it for another connection");
}

/* Writes the text, and returns the status. */
static uint32_t attach_refused(const struct client *client, const struct ddio_msg_attach *at,
			       int err, char *text, size_t len)
{
	switch (err) {
	case -EBUSY:
		snprintf(text, len,
			 "the connection is a member of %" PRIu64 " groups, as many as it may be: "
			 "free groups that are not used any more",
			 client->ngroups);
		return DDIO_ST_BUSY;
	case -EUSERS:
		snprintf(text, len,
			 "reactor %u has %" PRIu64 " groups of all programs, as many as it may: "
			 "free groups that are not used any more",
			 client->reactor->index, client->reactor->ngroups);
		return DDIO_ST_BUSY;
	default:
		snprintf(text, len, "no memory for a group of %u members", at->size);
		return DDIO_ST_NO_MEMORY;
	}
}

/* Attaches the client; returns the status of the reply, and writes its text. */
static uint32_t attach(struct client *client, const struct ddio_msg_attach *at, char *text,
		       size_t len)
{
	struct reactor *reactor = client->reactor;
	struct coll_group *group = coll_group_find(reactor, at->group);
	int err;

	if (reactor->stopping) {
		snprintf(text, len, SERVER_STOPPING);
		return DDIO_ST_SHUTDOWN;
	}
	if (group && group->size != at->size) {
		snprintf(text, len, "rank %u says that the group has %u members, others say %u",
			 at->rank, at->size, group->size);
		return DDIO_ST_MISMATCH;
	}
	if (group && client->user && group->uid != client->user->who.uid) {
		snprintf(text, len, "the group is another user's");
		return DDIO_ST_PERMISSION;
	}
	if (coll_client_member(client, at->group)) {
		snprintf(text, len, "the connection is already attached to the group");
		return DDIO_ST_EXISTS;
	}
	if (group && coll_group_member(group, at->rank)) {
		member_replaced(coll_group_member(group, at->rank));
		group = coll_group_find(reactor, at->group);
	}
	err = group ? 0 : coll_group_new(reactor, at->group, at->size, &group);
	if (!err) {
		if (client->user)
			group->uid = client->user->who.uid;
		err = coll_member_new(group, client, at);
		if (err)
			coll_group_release(group);
	}
	return err ? attach_refused(client, at, err, text, len) : DDIO_ST_OK;
}

/**
 * coll_attach - make a connection a member of a group
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
 * coll_detach - let a member leave its group
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
	coll_member_free(m);
	return ddio_conn_reply(client->conn, msg, DDIO_ST_OK, NULL, 0);
}

static void past_free(struct ddio_past **past)
{
	if (*past)
		ddio_past_clear(*past);
	free(*past);
	*past = NULL;
}

/**
 * coll_client_lost - end the memberships of a connection that has ended
 * @client: what its groups run ends with MEMBER_LOST
 */
void coll_client_lost(struct client *client)
{
	struct coll_member *m, *tmp;

	ddio_list_for_each_entry_safe(m, tmp, &client->members, client_link) {
		member_gone(m, DDIO_ST_MEMBER_LOST, "has gone away");
		m->group->lost = m->rank;
		coll_member_free(m);
	}
	past_free(&client->starts);
	past_free(&client->told);
}

/**
 * coll_client_drained - note that a connection's output queue has drained
 * @client: its members have made progress, whatever the watch saw last
 */
void coll_client_drained(struct client *client)
{
	struct coll_member *m;

	ddio_list_for_each_entry(m, &client->members, client_link)
		m->tx_since = ddio_env_now(client->reactor->env);
}

/**
 * coll_abort - end an operation that a member gives up
 * @client: the connection
 * @msg: COLL_ABORT; no reply
 * @payload: struct ddio_msg_coll_abort
 *
 * May come before the reactor has heard of the operation's start, which reaches it through another reactor,
 * and after its end.
 */
int coll_abort(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_coll_abort abort;
	struct coll_member *m;
	struct verdict v;
	struct coll *coll;
	uint32_t lost, why;
	int err;

	err = ddio_get_coll_abort(payload, msg->length, &abort);
	if (err)
		return err;
	/* The others learn the cause from the member itself, at the end. */
	why = abort.status;
	if (why != DDIO_ST_MEMBER_LOST)
		abort.status = DDIO_ST_CANCELLED;
	m = coll_client_member(client, abort.group);
	if (!m)
		return 0;
	lost = abort.status == DDIO_ST_MEMBER_LOST ? abort.rank : COLL_NOBODY;
	verdict_set(&v, abort.status, lost, "rank %u gave up: %s", m->rank, ddio_status_text(why));
	coll_spreads_end(m->group, abort.op, &v);
	coll = coll_find(m->group, abort.op);
	/* Which of those below the last one are over, and which were spread and have not begun, is not known here. */
	if (coll)
		coll_fail(coll, &v);
	else
		coll_group_early_add(m->group, &abort);
	return 0;
}
