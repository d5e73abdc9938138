// SPDX-License-Identifier: LGPL-2.1-or-later
/* By which lane a request goes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/request.h"

static int lanes_grow(struct cluster_node *node, uint32_t n)
{
	struct lane **lanes = realloc(node->lanes, n * sizeof(*lanes));

	if (!lanes)
		return -ENOMEM;
	memset(lanes + node->nlanes, 0, (n - node->nlanes) * sizeof(*lanes));
	node->lanes = lanes;
	node->nlanes = n;
	return 0;
}

struct lane *node_lane(struct cluster_node *node, uint32_t reactor)
{
	if (reactor >= node->nlanes && lanes_grow(node, reactor + 1))
		return NULL;
	if (!node->lanes[reactor] && lane_new(node, reactor, &node->lanes[reactor]))
		return NULL;
	return node->lanes[reactor];
}

void request_lane(struct lane *lane, struct node_request *request)
{
	struct error error;

	request->lane = lane;
	if (lane->state == LANE_READY) {
		request_submit(lane, request);
	} else if (lane_up(lane, &error)) {
		request_fail(request, &error);
	} else {
		request->state = REQUEST_WAITING;
		ddio_list_add(&request->link, &lane->queued);
	}
}

static void request_no_memory(struct node_request *request)
{
	struct error error;

	error_set(&error, -ENOMEM, "out of memory");
	request_fail(request, &error);
}

void request_node(struct ddio_session *session, uint32_t index, struct node_request *request)
{
	struct cluster_node *node = node_get(session, index);

	if (node)
		request_lane(node->lanes[0], request);
	else
		request_no_memory(request);
}

void request_names(struct ddio_session *session, struct node_request *request)
{
	request_lane(names_lane(session), request);
}

static void request_no_disk(struct ddio_session *session, uint32_t disk,
			    struct node_request *request)
{
	struct error error;

	if (disk < session->conf->ndisks)
		error_status(&error, DDIO_ST_STALE, "node %s does not serve disk %s",
			     session->conf->nodes[session->conf->disks[disk].node].name,
			     session->conf->disks[disk].name);
	else
		error_status(&error, DDIO_ST_STALE, "disk %u is not in the configuration %s", disk,
			     session->conf->path ? session->conf->path : "");
	request_fail(request, &error);
}

void request_disk(struct ddio_session *session, uint32_t disk, struct node_request *request)
{
	struct cluster_node *node;
	struct lane *lane;
	struct error error;

	request->disk = disk;
	if (disk >= session->conf->ndisks) {
		request_no_disk(session, disk, request);
		return;
	}
	node = node_get(session, session->conf->disks[disk].node);
	if (!node) {
		request_no_memory(request);
	} else if (!node->known) {
		if (lane_up(node->lanes[0], &error)) {
			request_fail(request, &error);
			return;
		}
		request->state = REQUEST_WAITING;
		ddio_list_add(&request->link, &node->waiting);
	} else if (!disk_look(session, disk)->known) {
		request_no_disk(session, disk, request);
	} else {
		lane = node_lane(node, disk_look(session, disk)->reactor);
		if (lane)
			request_lane(lane, request);
		else
			request_no_memory(request);
	}
}

static void requests_route(struct cluster_node *node)
{
	struct node_request *request;

	while (node->known && !ddio_list_empty(&node->waiting)) {
		request = ddio_list_first(&node->waiting, struct node_request, link);
		ddio_list_del(&request->link);
		request_disk(node->session, request->disk, request);
	}
}

/* A node tells which reactor owns which disk in the WELCOME of its reactor 0. */
static void route_ready(struct lane *lane)
{
	if (!lane->reactor)
		requests_route(lane->node);
}

const struct lane_user route_lane_user = { .ready = route_ready };
