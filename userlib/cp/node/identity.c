// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Three steps, of which the common case needs none: bring up the lane to the name server, to learn its life
 * (PING); let the name space meet the node's disks (FS_DISKS); tell the node that they are known (DISKS_KNOWN).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/identity.h"
#include "cp/node/request.h"

/**
 * struct node_identity - what a node's WELCOME said of its disks
 * @active: @request is under way
 */
struct node_identity {
	struct cluster_node *node;
	struct node_request request;
	bool active;
	struct ddio_msg_disk_ids disks;
};

static struct lane *lane_of(const struct node_identity *id)
{
	return id->node->lanes[0];
}

static void identity_met(struct node_identity *id, const struct error *error)
{
	struct lane *lane = lane_of(id);

	id->active = false;
	if (lane->state == LANE_DOWN)
		return;
	if (error)
		lane_fail(lane, error);
	else if (lane->state == LANE_MEETING)
		lane_begin(lane);
}

static void met_reply(struct node_identity *id, const struct reply *reply)
{
	struct error error;

	reply_error(&error, reply, "");
	identity_met(id, &error);
}

/* Sends the request on a lane that is connected, even if it still waits itself. */
static void submit(struct node_identity *id, struct lane *lane)
{
	id->request.lane = lane;
	request_submit(lane, &id->request);
}

/*
 * The node
 */
/* Takes what a reply says of the disks; if it is malformed the meeting is over. */
static bool take_reply(struct node_identity *id, const struct reply *reply, const char *whose)
{
	struct ddio_msg_disk_ids x;
	struct error error;
	int err = ddio_get_disk_ids(reply->payload, reply->len, &x);

	if (err || x.n != id->disks.n) {
		error_set(&error, err ? err : -EPROTO, "malformed reply from %s", whose);
		ddio_msg_disk_ids_free(&x);
		identity_met(id, &error);
		return false;
	}
	ddio_msg_disk_ids_free(&id->disks);
	id->disks = x;
	return true;
}

static void told(struct node_request *request, const struct reply *reply)
{
	struct node_identity *id = request->arg;

	if (reply->status)
		met_reply(id, reply);
	else if (take_reply(id, reply, "the node"))
		identity_met(id, NULL);
}

static void send(struct node_identity *id, struct lane *lane, uint16_t opcode,
		 void (*done)(struct node_request *request, const struct reply *reply))
{
	struct error error;
	int err;

	request_init(&id->request, opcode, done, id);
	err = opcode == DDIO_OP_PING ? 0 : request_put(&id->request, disk_ids, &id->disks);
	if (err) {
		error_set(&error, err, "node %s (%s): out of memory", LANE_NAMES(lane));
		identity_met(id, &error);
	} else if (lane->state == LANE_MEETING) {
		submit(id, lane);
	} else {
		request_lane(lane, &id->request);
	}
}

static void tell(struct node_identity *id)
{
	id->disks.flags = 0;
	if (lane_of(id)->state == LANE_DOWN)
		id->active = false;
	else
		send(id, lane_of(id), DDIO_OP_DISKS_KNOWN, told);
}

/*
 * The name space
 */
static void met(struct node_request *request, const struct reply *reply)
{
	struct node_identity *id = request->arg;

	if (reply->status) {
		met_reply(id, reply);
		return;
	}
	if (!take_reply(id, reply, "the name server"))
		return;
	id->node->session->names = id->disks.names;
	tell(id);
}

/* Marks what somebody has said is to be accepted. */
static void mark_replaced(struct node_identity *id)
{
	const struct ddio_session *s = id->node->session;
	uint32_t i;

	id->disks.flags = s->replace_names ? DDIO_DISKS_NAMES : 0;
	for (i = 0; i < id->disks.n; i++) {
		const struct ddio_disk_id *d = &id->disks.ids[i];

		id->disks.ids[i].flags &= ~DDIO_DISK_REPLACE;
		if (d->disk < s->conf->ndisks && disk_look(s, d->disk)->replace)
			id->disks.ids[i].flags |= DDIO_DISK_REPLACE;
	}
}

static void meet(struct node_identity *id)
{
	mark_replaced(id);
	send(id, names_lane(id->node->session), DDIO_OP_FS_DISKS, met);
}

/* The lane to the name server is up. */
static void names_up(struct node_request *request, const struct reply *reply)
{
	struct node_identity *id = request->arg;

	if (reply->status)
		met_reply(id, reply);
	else
		meet(id);
}

static void start(struct node_identity *id)
{
	struct lane *names = names_lane(id->node->session);

	id->active = true;
	if (names == lane_of(id) || names->state >= LANE_MEETING)
		meet(id);
	else
		send(id, names, DDIO_OP_PING, names_up);
}

/* Have the disks and the name space met, in their present lives? */
static bool have_met(const struct node_identity *id)
{
	const struct ddio_session *s = id->node->session;
	uint32_t i;

	for (i = 0; i < id->disks.n; i++) {
		const struct ddio_disk_id *d = &id->disks.ids[i];

		if (!(d->flags & DDIO_DISK_KNOWN) || (s->names && s->names != d->names))
			return false;
		if (s->replace_names ||
		    (d->disk < s->conf->ndisks && disk_look(s, d->disk)->replace))
			return false;
	}
	return true;
}

/* The name space has begun a new life: nodes that are connected meet it, too. */
static void meet_others(struct ddio_session *s)
{
	uint32_t i;

	for (i = 0; i < s->conf->nnodes; i++) {
		struct node_identity *id = node_look(s, i)->identity;

		if (id && !id->active && lane_of(id)->state == LANE_READY && !have_met(id))
			start(id);
	}
}

static int take(struct node_identity *id, const struct ddio_msg_welcome *w)
{
	size_t len = w->ids.n * sizeof(*w->ids.ids);
	struct ddio_disk_id *ids = malloc(len + 1);

	if (!ids)
		return -ENOMEM;
	if (len)
		memcpy(ids, w->ids.ids, len);
	ddio_msg_disk_ids_free(&id->disks);
	id->disks = w->ids;
	id->disks.ids = ids;
	return 0;
}

int identity_hear(struct lane *lane, const struct ddio_msg_welcome *w, struct error *error)
{
	struct node_identity *id = lane->node->identity;
	int err = take(id, w);

	if (err)
		error_set(error, err, "node %s (%s): out of memory", LANE_NAMES(lane));
	return err;
}

bool identity_begin(struct lane *lane)
{
	struct cluster_node *node = lane->node;
	struct ddio_session *s = node->session;
	struct node_identity *id = node->identity;
	bool changed, waits;

	changed = id->disks.names && id->disks.names != s->names;
	if (changed)
		s->names = id->disks.names;
	waits = !have_met(id);
	if (waits) {
		lane->state = LANE_MEETING;
		start(id);
	}
	if (changed)
		meet_others(s);
	return waits;
}

int identity_new(struct cluster_node *node)
{
	node->identity = calloc(1, sizeof(*node->identity));
	if (!node->identity)
		return -ENOMEM;
	node->identity->node = node;
	return 0;
}

void identity_cancel(struct cluster_node *node)
{
	struct node_identity *id = node->identity;

	if (id && id->active && request_cancel(&id->request))
		id->active = false;
}

void identity_free(struct cluster_node *node)
{
	if (node->identity)
		ddio_msg_disk_ids_free(&node->identity->disks);
	free(node->identity);
}

uint64_t identity_lost(const struct ddio_session *s, uint32_t disk)
{
	const struct node_identity *id = disk_node_look(s, disk)->identity;
	uint32_t i;

	for (i = 0; id && i < id->disks.n; i++)
		if (id->disks.ids[i].disk == disk)
			return id->disks.ids[i].lost;
	return 0;
}
