// SPDX-License-Identifier: LGPL-2.1-or-later
/* Accepts disks, or the name space, that are not what the other side remembers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/lane.h"

/**
 * struct replace_call - a request to every node concerned, before which it meets the name space
 * @disks: names of @n disks; none: the name space
 * @wanted: by node; @failed: what the first failure was
 */
struct replace_call {
	struct session_call call;
	const char *const *disks;
	uint32_t n;
	struct node_request *requests;
	bool *wanted;
	uint32_t left;
	struct error failed;
};

static void replace_end(struct replace_call *rc)
{
	struct ddio_session *s = rc->call.session;
	uint32_t i;

	s->replace_names = false;
	for (i = 0; i < s->conf->ndisks; i++)
		if (s->disks[i])
			s->disks[i]->replace = false;
	call_end(&rc->call, &rc->failed);
}

static void replace_one(struct replace_call *rc)
{
	if (!--rc->left)
		replace_end(rc);
}

static void replace_got(struct node_request *request, const struct reply *reply)
{
	struct replace_call *rc = request->arg;

	if (reply->status && !rc->failed.status)
		reply_error(&rc->failed, reply, "replace");
	replace_one(rc);
}

/* Return: 0, or -errno with @rc->failed. */
static int mark(struct replace_call *rc, const char *name)
{
	struct ddio_session *s = rc->call.session;
	struct cluster_disk *disk;
	uint32_t i;

	for (i = 0; i < s->conf->ndisks; i++) {
		if (strcmp(s->conf->disks[i].name, name))
			continue;
		disk = disk_get(s, i);
		if (!disk) {
			error_set(&rc->failed, -ENOMEM, "replace: out of memory");
			return -ENOMEM;
		}
		disk->replace = true;
		rc->wanted[s->conf->disks[i].node] = true;
		return 0;
	}
	error_set(&rc->failed, -ENODEV, "replace: there is no disk %s", name);
	return -ENODEV;
}

static int mark_all(struct replace_call *rc)
{
	struct ddio_session *s = rc->call.session;
	uint32_t i;
	int err = 0;

	for (i = 0; i < rc->n && !err; i++)
		err = mark(rc, rc->disks[i]);
	s->replace_names = !err && !rc->n;
	for (i = 0; i < s->conf->nnodes && s->replace_names; i++)
		rc->wanted[i] = true;
	return err;
}

static void replace_run(struct session_call *call)
{
	struct replace_call *rc = ddio_container_of(call, struct replace_call, call);
	struct ddio_session *s = call->session;
	struct error again;
	uint32_t i;

	if (mark_all(rc)) {
		replace_end(rc);
		return;
	}
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

int ddio_replace(struct ddio_session *session, const char *const *disks, uint32_t n)
{
	struct replace_call rc = { .disks = disks, .n = n };
	uint32_t nnodes;
	int err;

	if (!session)
		return -EINVAL;
	nnodes = session->conf->nnodes;
	rc.requests = calloc(nnodes, sizeof(*rc.requests));
	rc.wanted = calloc(nnodes, sizeof(*rc.wanted));
	if (rc.requests && rc.wanted)
		err = call_run(session, &rc.call, replace_run);
	else
		err = session_fail(session, -ENOMEM, "replace: out of memory");
	free(rc.requests);
	free(rc.wanted);
	return err;
}
