// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Shared buffers: how members on this machine get them.  A member asks each reactor once for each direction, tells
 * it when they have come, and from then on copies its bytes itself.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "iop/coll/priv.h"

static int share_send(struct coll_group *group, const struct ddio_msg_share *msg)
{
	struct reactor *reactor = group->reactor;
	int err = 0;

	if (!group->share[msg->writing])
		err = coll_share_new(reactor, msg->writing, &group->share[msg->writing]);
	return err ? err
		   : ddio_shared_send(reactor->env, group->share[msg->writing]->mem, msg->name,
				      msg->token);
}

static uint32_t share(struct client *client, const struct ddio_msg_share *msg, char *text,
		      size_t len)
{
	struct reactor *reactor = client->reactor;
	struct coll_member *m = coll_client_member(client, msg->group);
	int err;

	if (!m) {
		snprintf(text, len, "the connection is no member of the group");
		return DDIO_ST_INVALID;
	}
	if (!reactor->iop->conf->share || coll_some_disk_scatters(reactor->iop)) {
		snprintf(text, len, "the node shares no buffers");
		return DDIO_ST_UNSUPPORTED;
	}
	err = share_send(m->group, msg);
	if (!err)
		return DDIO_ST_OK;
	snprintf(text, len, "cannot share buffers with the member: %s", strerror(-err));
	return DDIO_ST_UNSUPPORTED;
}

/**
 * coll_share - send its group's shared buffers to a member that may be on this machine
 * @client: the connection
 * @msg: SHARE; is replied to, after they are in the mailbox
 * @payload: struct ddio_msg_share
 */
int coll_share(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_share x;
	char text[DDIO_MAX_TEXT] = "";
	uint32_t status;
	int err;

	err = ddio_get_share(payload, msg->length, &x);
	if (err)
		return err;
	status = share(client, &x, text, sizeof(text));
	return ddio_conn_reply(client->conn, msg, status, text, strlen(text));
}

/**
 * coll_share_taken - note that a member has the shared buffers
 * @client: the connection
 * @msg: SHARE_TAKEN; is replied to
 * @payload: struct ddio_msg_share_taken
 */
int coll_share_taken(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	static const char refused[] = "the connection was sent no shared buffers";
	struct ddio_msg_share_taken x;
	struct coll_member *m;
	struct coll_share *share;
	int err;

	err = ddio_get_share_taken(payload, msg->length, &x);
	if (err)
		return err;
	m = coll_client_member(client, x.group);
	share = m ? m->group->share[x.writing] : NULL;
	if (!share || m->shares[x.writing])
		return ddio_conn_reply(client->conn, msg, DDIO_ST_INVALID, refused,
				       sizeof(refused) - 1);
	m->shares[x.writing] = true;
	share->takers++;
	return ddio_conn_reply(client->conn, msg, DDIO_ST_OK, NULL, 0);
}

void coll_share_use(struct coll *coll)
{
	struct coll_share *share = coll->group->share[coll_writes(coll)];

	/* Bytes of a block that nobody sends are read into its buffer before it is written. */
	if (!coll->req->may_read)
		return;
	/* With a joint the blocks need no buffers. */
	if (share && share->takers && !share->spoiled && !coll->req->joint &&
	    !coll_req_flag(coll->req, DDIO_COLL_NO_SHARE | DDIO_COLL_NO_BATCH))
		coll->share = share;
}
