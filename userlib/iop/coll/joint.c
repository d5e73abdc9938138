// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Joints of groups: how members on this machine give their memory.  A member asks for the joint once, and then
 * says for each operation, before that is started, that its memory is in the joint.  The joint and its members
 * go with the request to all reactors, read only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/coll/priv.h"

/* Any reactor may ask: open disks do not change. */
bool coll_some_disk_scatters(const struct ddio_iop *iop)
{
	uint32_t r, d;

	for (r = 0; r < iop->nreactors; r++)
		for (d = 0; d < iop->reactors[r].ndisks; d++)
			if (ddio_disk_info(iop->reactors[r].disks[d].disk)->scatters)
				return true;
	return false;
}

static uint32_t joint_send(struct client *client, const struct ddio_msg_joint *joint, char *text,
			   size_t len)
{
	struct reactor *reactor = client->reactor;
	struct coll_member *m = coll_client_member(client, joint->group);
	int err = 0;

	if (!m || reactor->index) {
		snprintf(text, len, "the connection is no member of the group at reactor 0");
		return DDIO_ST_INVALID;
	}
	if (!coll_some_disk_scatters(reactor->iop)) {
		snprintf(text, len, "no disk of the node can scatter");
		return DDIO_ST_UNSUPPORTED;
	}
	if (!m->group->joint)
		err = ddio_joint_new(reactor->env, m->group->size, &m->group->joint);
	if (!err)
		err = ddio_joint_send(m->group->joint, joint->name, joint->token);
	if (!err)
		return DDIO_ST_OK;
	snprintf(text, len, "cannot give the member a joint: %s", strerror(-err));
	return DDIO_ST_UNSUPPORTED;
}

/**
 * coll_joint - send its group's joint to a member that may be on this machine
 * @client: the connection
 * @msg: JOINT; is replied to, after the joint is in the mailbox
 * @payload: struct ddio_msg_joint
 */
int coll_joint(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_joint joint;
	char text[DDIO_MAX_TEXT] = "";
	uint32_t status;
	int err;

	err = ddio_get_joint(payload, msg->length, &joint);
	if (err)
		return err;
	status = joint_send(client, &joint, text, sizeof(text));
	return ddio_conn_reply(client->conn, msg, status, text, strlen(text));
}

/**
 * coll_join - note that a member's memory is in the joint for one operation
 * @client: the connection
 * @msg: COLL_JOIN; is replied to: from then on the operation may be started
 * @payload: struct ddio_msg_coll_join
 */
int coll_join(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	static const char no_member[] = "the connection is no member of the group at reactor 0";
	static const char no_joint[] = "the group has no joint";
	static const char too_late[] = "the operation has already been started";
	struct ddio_msg_coll_join join;
	const char *text = NULL;
	struct coll_member *m;
	int err;

	err = ddio_get_coll_join(payload, msg->length, &join);
	if (err)
		return err;
	m = coll_client_member(client, join.group);
	if (!m || client->reactor->index)
		text = no_member;
	else if (!m->group->joint)
		text = no_joint;
	else if (join.op <= m->group->last_start)
		text = too_late;
	else
		m->joined_op = join.op;
	return ddio_conn_reply(client->conn, msg, text ? DDIO_ST_INVALID : DDIO_ST_OK, text,
			       text ? strlen(text) : 0);
}

void coll_req_join(struct coll_req *req, struct coll_group *group)
{
	const struct coll_member *m;
	bool any = false;
	uint32_t r;

	if (!group->joint)
		return;
	req->joined = calloc(group->size / 8 + 1, 1);
	for (r = 0; req->joined && r < group->size; r++) {
		m = coll_group_member(group, r);
		if (!m || m->joined_op != req->start.op)
			continue;
		req->joined[r / 8] |= (uint8_t)(1u << r % 8);
		any = true;
	}
	if (!any)
		return;
	req->joint = group->joint;
	ddio_joint_get(req->joint);
}
