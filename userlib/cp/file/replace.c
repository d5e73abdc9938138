// SPDX-License-Identifier: LGPL-2.1-or-later
/* Accepts disks, or the name space, that are not what the other side remembers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/lane.h"

/**
 * struct replace_call - a request to every node concerned, before which it meets the name space
 * @wanted: by node; @failed: what the first failure was
 */
struct replace_call {
	struct session_call call;
	struct node_request *requests;
	bool *wanted;
	uint32_t left;
	struct error failed;
};

static void replace_one(struct replace_call *rc)
{
	if (!--rc->left)
		call_end(&rc->call, &rc->failed);
}

static void replace_got(struct node_request *request, const struct reply *reply)
{
	struct replace_call *rc = request->arg;

	if (reply->status && !rc->failed.status)
		reply_error(&rc->failed, reply, "replace");
	replace_one(rc);
}

static void replace_run(struct session_call *call)
{
	struct replace_call *rc = ddio_container_of(call, struct replace_call, call);
	struct ddio_session *s = call->session;
	struct error again;
	uint32_t i;

	error_status(&again, DDIO_ST_NODE_LOST, "connected again");
	rc->left = 1;
	for (i = 0; i < s->conf->nnodes; i++) {
		if (!rc->wanted[i])
			continue;
		rc->left++;
		if (s->nodes[i] && s->nodes[i]->lanes[0]->state != LANE_DOWN)
			lane_fail(s->nodes[i]->lanes[0], &again);
		request_init(&rc->requests[i], DDIO_OP_PING, replace_got, rc);
		request_node(s, i, &rc->requests[i]);
	}
	replace_one(rc);
}

static int mark(struct ddio_session *s, const char *name, bool *wanted)
{
	struct cluster_disk *disk;
	uint32_t i;

	for (i = 0; i < s->conf->ndisks; i++) {
		if (strcmp(s->conf->disks[i].name, name))
			continue;
		disk = disk_get(s, i);
		if (!disk)
			return session_fail(s, -ENOMEM, "replace: out of memory");
		disk->replace = true;
		wanted[s->conf->disks[i].node] = true;
		return 0;
	}
	return session_fail(s, -ENODEV, "replace: there is no disk %s", name);
}

int ddio_replace(struct ddio_session *session, const char *const *disks, uint32_t n)
{
	struct replace_call rc = { .left = 0 };
	uint32_t i, nnodes;
	int err = 0;

	if (!session)
		return -EINVAL;
	nnodes = session->conf->nnodes;
	rc.requests = calloc(nnodes, sizeof(*rc.requests));
	rc.wanted = calloc(nnodes, sizeof(*rc.wanted));
	if (!rc.requests || !rc.wanted)
		err = session_fail(session, -ENOMEM, "replace: out of memory");
	for (i = 0; i < n && !err; i++)
		err = mark(session, disks[i], rc.wanted);
	session->replace_names = !err && !n;
	for (i = 0; i < nnodes && session->replace_names; i++)
		rc.wanted[i] = true;
	if (!err)
		err = call_run(session, &rc.call, replace_run);
	session->replace_names = false;
	for (i = 0; i < session->conf->ndisks; i++)
		if (session->disks[i])
			session->disks[i]->replace = false;
	free(rc.requests);
	free(rc.wanted);
	return err;
}
