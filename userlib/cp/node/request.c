// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests and their replies. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cp/node/grants.h"
#include "cp/node/request.h"

void request_init(struct node_request *request, uint16_t opcode,
		  void (*done)(struct node_request *request, const struct reply *reply), void *arg)
{
	memset(request, 0, offsetof(struct node_request, inl));
	ddio_list_init(&request->link);
	request->opcode = opcode;
	request->done = done;
	request->arg = arg;
}

void *request_room(struct node_request *request, size_t len)
{
	void *room = request->inl;

	if (len > sizeof(request->inl)) {
		room = malloc(len);
		request->fixed_alloc = room;
	}
	request->fixed = room;
	request->fixed_len = room ? len : 0;
	return room;
}

static void request_done(struct node_request *request, const struct reply *reply)
{
	request->state = REQUEST_IDLE;
	request->lane = NULL;
	free(request->fixed_alloc);
	request->fixed_alloc = NULL;
	request->done(request, reply);
}

void request_fail(struct node_request *request, const struct error *error)
{
	struct reply reply = { .status = error->status, .text = error->text };

	reply.altered = request->lane && request->lane->altered == request;
	request_done(request, &reply);
}

void requests_end(struct ddio_list *list, const struct error *error)
{
	struct node_request *request;

	while (!ddio_list_empty(list)) {
		request = ddio_list_first(list, struct node_request, link);
		ddio_list_del(&request->link);
		request_fail(request, error);
	}
}

/*
 * Sending
 */
static void request_sent(struct ddio_send *send, int err)
{
	struct node_request *request = ddio_container_of(send, struct node_request, send);
	struct error none = { .status = request->end_status }, *end = request->end;

	(void)err;
	request->sending = false;
	if (request->state != REQUEST_ENDING)
		return;
	request->end = NULL;
	request_fail(request, end ? end : &none);
	free(end);
}

static bool request_sends_bulk(const struct node_request *request)
{
	return request->n && !request->in;
}

static int request_send(struct lane *lane, struct node_request *request)
{
	struct ddio_msg msg = { .opcode = request->opcode };
	bool bulk = request_sends_bulk(request);
	int err;

	/* The number of the file that it is about comes first, if it is about one. */
	if (lane->node->session->grants && request->fixed_len >= 8)
		grant_show(lane, bytes_get64(request->fixed) & ~DDIO_FS_LOCK_END);
	err = tag_take(lane, request, &msg.tag);
	if (err)
		return err;
	request->send.done = request_sent;
	err = ddio_conn_send(lane->conn, &msg, request->fixed, request->fixed_len,
			     bulk ? request->iov : NULL, bulk ? request->n : 0,
			     bulk ? &request->send : NULL);
	if (err) {
		tag_put(lane, request->tag);
		return err;
	}
	request->sending = bulk;
	request->state = REQUEST_SENT;
	session_watch(lane->node->session);
	return 0;
}

void request_submit(struct lane *lane, struct node_request *request)
{
	struct error error;
	int err = request_send(lane, request);

	if (!err)
		return;
	error_set(&error, err, "node %s (%s): cannot send %s: %s", LANE_NAMES(lane),
		  ddio_opcode_name(request->opcode), strerror(-err));
	/* The connection is lost; the lane will be told next. */
	if (err == -ENOTCONN) {
		error.status = DDIO_ST_NODE_LOST;
		error.err = ddio_status_to_errno(error.status);
	}
	request_fail(request, &error);
}

void requests_start(struct lane *lane)
{
	struct node_request *request;

	while (lane->state == LANE_READY && !ddio_list_empty(&lane->queued)) {
		request = ddio_list_first(&lane->queued, struct node_request, link);
		ddio_list_del(&request->link);
		request_submit(lane, request);
	}
}

/*
 * Replies
 */
int request_bulk(struct lane *lane, const struct ddio_msg *msg, const void *prefix,
		 size_t prefix_len, struct ddio_sink *sink)
{
	struct lane_tag *entry = tag_find(lane, msg->tag);
	struct node_request *request = entry ? entry->request : NULL;
	struct ddio_msg_obj_data data;

	if (!entry || msg->opcode != DDIO_OP_OBJ_READ ||
	    ddio_get_obj_data(prefix, prefix_len, &data) || data.len != msg->length - prefix_len)
		return -EPROTO;
	if (!request)
		return 0;
	if (request->opcode != msg->opcode || data.len != request->bulk)
		return -EPROTO;
	lane->bulk_request = request;
	sink->iov = request->iov;
	sink->n = request->n;
	return 0;
}

/* Keeps the answer until the request's own bulk has been sent. */
static void request_keep(struct node_request *request, const struct error *error)
{
	request->state = REQUEST_ENDING;
	request->end_status = error->status;
	request->end = error->status ? malloc(sizeof(*error)) : NULL;
	if (request->end)
		*request->end = *error;
}

static void reply_text(struct lane *lane, const struct ddio_msg *msg, const void *payload,
		       struct error *error)
{
	char text[DDIO_MAX_TEXT];

	if (ddio_get_text(payload, msg->length, text) || !text[0])
		snprintf(text, sizeof(text), "%s", ddio_status_text(msg->status));
	error_status(error, msg->status, "node %s: %.350s",
		     lane->node->session->conf->nodes[lane->node->index].name, text);
}

int request_reply(struct lane *lane, const struct ddio_msg *msg, const void *payload)
{
	struct lane_tag *entry = tag_find(lane, msg->tag);
	struct node_request *request;
	struct reply reply = { 0 };
	struct error error = { 0 };

	if (!msg->tag && msg->opcode == DDIO_OP_PING)
		return 0;
	if (!msg->tag && msg->opcode == DDIO_OP_OWED)
		return owed_reply(lane, msg, payload);
	if (!entry)
		return -EPROTO;
	request = entry->request;
	/* It stays under way then, and fails with the lane. */
	if (request && msg->opcode != request->opcode)
		return -EPROTO;
	lane->bulk_request = NULL;
	tag_put(lane, (uint32_t)msg->tag - 1);
	if (!request)
		return 0;
	request->boot = lane->boot;
	if (msg->status)
		reply_text(lane, msg, payload, &error);
	if (request->sending) {
		request_keep(request, &error);
		return 0;
	}
	reply.status = error.status;
	reply.text = error.text;
	reply.payload = payload;
	reply.len = ddio_msg_is_bulk(msg) ? ddio_opcode_bulk_prefix(msg->opcode, true)
					  : msg->length;
	request_done(request, &reply);
	return 0;
}

void requests_fail(struct lane *lane, const struct error *error)
{
	struct ddio_list over, queued;
	uint32_t i;

	ddio_list_init(&over);
	ddio_list_init(&queued);
	ddio_list_splice(&lane->queued, &queued);
	for (i = 0; i < lane->ntags; i++) {
		if (!lane->tags[i].busy)
			continue;
		if (lane->tags[i].request)
			ddio_list_add(&lane->tags[i].request->link, &over);
		tag_put(lane, i);
	}
	requests_end(&over, error);
	requests_end(&queued, error);
}

bool request_left(const struct node_request *request)
{
	return request->state == REQUEST_SENT || request->sending;
}

bool request_cancel(struct node_request *request)
{
	struct lane *lane = request->lane;
	struct error error;

	if (request->state == REQUEST_ENDING)
		return false;
	if (request->state == REQUEST_SENT) {
		lane->tags[request->tag].request = NULL;
		if (lane->bulk_request == request) {
			ddio_conn_discard(lane->conn);
			lane->bulk_request = NULL;
		}
	}
	ddio_list_del(&request->link);
	if (request->sending) {
		error_status(&error, DDIO_ST_CANCELLED, "cancelled");
		request_keep(request, &error);
		return false;
	}
	request->state = REQUEST_IDLE;
	free(request->fixed_alloc);
	request->fixed_alloc = NULL;
	return true;
}

/* Returns true if the text has the name in quotes. */
static bool text_names(const char *text, const char *name)
{
	const size_t len = strlen(name);
	const char *at = text;

	while ((at = strchr(at, '"')))
		if (!strncmp(++at, name, len) && at[len] == '"')
			return true;
	return false;
}

void reply_error(struct error *error, const struct reply *reply, const char *what)
{
	const char *text = reply->text ? reply->text : ddio_status_text(reply->status);

	if (!what[0] || text_names(text, what))
		error_status(error, reply->status, "%s", text);
	else
		error_status(error, reply->status, "%s: %s", what, text);
}

void reply_malformed(struct error *error, int err, const char *what)
{
	error_set(error, err, "%s: malformed reply from the name server", what);
}
