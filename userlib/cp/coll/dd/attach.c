// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/attach.h"
#include "cp/coll/dd/dd.h"

/* Returns the attaches of a group; NULL: there never was one. */
static struct ddio_list *group_attaches(struct ddio_group *group)
{
	return *group_state(group, &dd_attach_group_user);
}

/* Does what group_attaches() does, but makes the list; returns NULL without memory. */
static struct ddio_list *group_attaches_get(struct ddio_group *group)
{
	void **state = group_state(group, &dd_attach_group_user);

	if (!*state) {
		*state = malloc(sizeof(struct ddio_list));
		if (*state)
			ddio_list_init(*state);
	}
	return *state;
}

struct attach *attach_find(struct ddio_group *group, struct lane *lane)
{
	struct ddio_list *attaches = group_attaches(group);
	struct attach *at;

	if (!attaches)
		return NULL;
	ddio_list_for_each_entry(at, attaches, link)
		if (at->lane == lane)
			return at;
	return NULL;
}

void attach_box_close(struct ddio_mailbox **box)
{
	if (*box)
		ddio_mailbox_close(*box);
	free(*box);
	*box = NULL;
}

static void attach_free(struct attach *at)
{
	int i;

	ddio_list_del(&at->link);
	attach_box_close(&at->box);
	ddio_joint_put(at->joint);
	for (i = 0; i < 2; i++) {
		attach_box_close(&at->share[i].box);
		ddio_shared_free(at->share[i].mem);
	}
	free(at);
}

static void job_end(struct attach_job *job)
{
	if (job->error.status) {
		free(job->lanes);
		job->lanes = NULL;
		job->nlanes = 0;
	}
	job->done(job);
}

static uint32_t job_node(const struct attach_job *job, uint32_t i)
{
	return job->group->session->conf->disks[job->rec->disks[i]].node;
}

/* Returns the lane to reactor 0 of the node, which the first step has made. */
static struct lane *job_first(const struct attach_job *job, uint32_t i)
{
	return job->group->session->nodes[job_node(job, i)]->lanes[0];
}

static bool job_wants(const struct attach_job *job, uint32_t i)
{
	return job->places[i / 8] >> i % 8 & 1;
}

/* Returns the place whose node is asked what it knows: a member that wants none asks one all the same. */
static uint32_t job_probe(const struct attach_job *job)
{
	uint32_t i;

	for (i = 0; i < job->rec->ndisks; i++)
		if (job_wants(job, i))
			return i;
	return job->group->rank % job->rec->ndisks;
}

/*
 * The second step: tell the reactors
 */
static void detached(struct node_request *request, const struct reply *reply)
{
	(void)reply;
	free(request);
}

static void detach_send(const struct ddio_group *group, struct lane *lane)
{
	struct ddio_msg_attach msg = { .rank = group->rank,
				       .size = group->size,
				       .handle = group->handle };
	struct node_request *request = malloc(sizeof(*request));

	/* A reactor that is not told finds out when the connection ends. */
	if (!request)
		return;
	memcpy(msg.group, group->id, sizeof(msg.group));
	request_init(request, DDIO_OP_DETACH, detached, NULL);
	if (request_put(request, attach, &msg))
		free(request);
	else
		request_lane(lane, request);
}

static void attach_check(struct request_set *set)
{
	struct attach_job *job = set->arg;
	uint32_t i;

	job->error = set->error;
	for (i = 0; i < job->nlanes && !job->error.status; i++)
		if (!attach_find(job->group, job->lanes[i]))
			error_status(&job->error, DDIO_ST_NODE_LOST,
				     "node %s (%s): the connection was lost again",
				     LANE_NAMES(job->lanes[i]));
	job_end(job);
}

static void attach_taken(struct request_set *set, uint64_t key, const struct reply *reply,
			 struct error *error)
{
	struct attach_job *job = set->arg;
	struct ddio_list *attaches;
	struct attach *at;

	(void)reply;
	/* Freed meanwhile: nobody drops what it takes now, or hears of the lane's end. */
	if (job->group->closed) {
		if (!job->group->session->closing)
			detach_send(job->group, job->lanes[key]);
		return;
	}
	attaches = group_attaches_get(job->group);
	at = attaches ? calloc(1, sizeof(*at)) : NULL;
	if (!at) {
		error_set(error, -ENOMEM, "out of memory");
		return;
	}
	at->group = job->group;
	at->lane = job->lanes[key];
	ddio_list_add(&at->link, attaches);
}

static void attach_tell(struct attach_job *job)
{
	struct ddio_group *g = job->group;
	struct ddio_msg_attach msg = { .rank = g->rank, .size = g->size, .handle = g->handle };
	uint8_t buf[REQUEST_INLINE];
	ssize_t len;
	uint32_t i;

	memcpy(msg.group, g->id, sizeof(msg.group));
	len = ddio_put_attach(buf, sizeof(buf), &msg);
	request_set_begin(&job->set, g->session, "attach to the I/O processors", attach_check, job);
	job->set.reply = attach_taken;
	if (len < 0)
		request_set_fail(&job->set, (int)len, strerror((int)-len));
	for (i = 0; len > 0 && i < job->nlanes; i++)
		if (!attach_find(g, job->lanes[i]))
			request_set_lane(&job->set, job->lanes[i], DDIO_OP_ATTACH, buf, (size_t)len,
					 i);
	request_set_end(&job->set);
}

/* Takes the lane once. */
static void lane_collect(struct attach_job *job, struct lane *lane)
{
	uint64_t mark = job->group->session->mark;

	if (lane->mark != mark)
		job->lanes[job->nlanes++] = lane;
	lane->mark = mark;
}

/* Collects each lane once, those of reactors 0 first. */
static int lanes_collect(struct attach_job *job)
{
	struct ddio_session *s = job->group->session;
	struct lane *lane;
	uint32_t i;

	s->mark++;
	for (i = 0; i < job->rec->ndisks; i++)
		if (job_wants(job, i))
			lane_collect(job, job_first(job, i));
	job->nnodes = job->nlanes;
	for (i = 0; i < job->rec->ndisks; i++) {
		const struct cluster_disk *disk = disk_look(s, job->rec->disks[i]);

		if (!job_wants(job, i))
			continue;
		if (!disk->known) {
			error_status(&job->error, DDIO_ST_STALE, "node %s does not serve disk %s",
				     s->conf->nodes[job_node(job, i)].name,
				     s->conf->disks[job->rec->disks[i]].name);
			return -ESTALE;
		}
		lane = node_lane(s->nodes[job_node(job, i)], disk->reactor);
		if (!lane) {
			error_set(&job->error, -ENOMEM, "out of memory");
			return -ENOMEM;
		}
		lane_collect(job, lane);
	}
	return 0;
}

static void nodes_known(struct request_set *set)
{
	struct attach_job *job = set->arg;

	job->error = set->error;
	if (!job->error.status) {
		/* At most one lane to the owner, and one to a reactor 0, for each disk. */
		job->lanes = calloc(2 * (size_t)job->rec->ndisks, sizeof(*job->lanes));
		if (!job->lanes)
			error_set(&job->error, -ENOMEM, "out of memory");
	}
	if (job->error.status || lanes_collect(job))
		job_end(job);
	else
		attach_tell(job);
}

/* Takes the first step: pings the nodes that are not known yet, since their WELCOMEs tell. */
void attach_begin(struct attach_job *job)
{
	struct ddio_session *s = job->group->session;
	uint32_t probe = job_probe(job), i;
	uint64_t mark = ++s->mark;

	job->lanes = NULL;
	job->nlanes = 0;
	error_clear(&job->error);
	request_set_begin(&job->set, s, "reach the I/O processors", nodes_known, job);
	for (i = 0; i < job->rec->ndisks; i++) {
		struct cluster_node *node;

		if ((!job_wants(job, i) && i != probe) || !node_visit(s, job_node(job, i), mark))
			continue;
		node = node_get(s, job_node(job, i));
		if (!node)
			request_set_fail(&job->set, -ENOMEM, "out of memory");
		else if (!node->known)
			request_set_lane(&job->set, node->lanes[0], DDIO_OP_PING, NULL, 0, 0);
	}
	request_set_end(&job->set);
}

/* The reactor has forgotten the groups with the connection. */
static void attaches_lost(struct lane *lane, const struct error *error)
{
	struct groups *groups = lane->node->session->groups;
	struct attach *at;
	uint32_t i;

	(void)error;
	for (i = 0; i < groups->n; i++) {
		at = groups->group[i] ? attach_find(groups->group[i], lane) : NULL;
		if (at)
			attach_free(at);
	}
}

static void attaches_drop(struct ddio_group *group)
{
	struct ddio_list *attaches = group_attaches(group);
	struct attach *at;

	while (attaches && !ddio_list_empty(attaches)) {
		at = ddio_list_first(attaches, struct attach, link);
		if (!group->session->closing && at->lane->state == LANE_READY)
			detach_send(group, at->lane);
		attach_free(at);
	}
}

const struct lane_user dd_attach_lane_user = { .lost = attaches_lost };

const struct group_user dd_attach_group_user = { .closed = attaches_drop, .free = free };
