// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests about records come, wait for the disk's turn, and end in one reply. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/query/priv.h"

static void turn(void *arg);

void query_kick(struct queries *queries)
{
	if (queries->posted)
		return;
	queries->posted = true;
	ddio_env_post(queries->disk->reactor->env, &queries->turn);
}

void query_fail(struct iop_query *query, uint32_t status, const char *fmt, ...)
{
	va_list ap;

	query->ending = true;
	if (query->status)
		return;
	query->status = status;
	va_start(ap, fmt);
	vsnprintf(query->why, sizeof(query->why), fmt, ap);
	va_end(ap);
}

/*
 * The end
 */

/* Frees all but the query itself, which the request owns. */
static void query_release(struct iop_query *query)
{
	ddio_list_del(&query->link);
	query_slots_free(query);
	ddio_query_accs_free(&query->accs);
	ddio_msg_query_free(&query->msg);
	free(query->place);
	free(query->text);
}

static void answer(struct iop_query *query)
{
	struct ddio_msg_answer x = { .part = query->part,
				     .part_next = query->part_next,
				     .disk_reqs = query->disk_reqs,
				     .nblocks = query->msg.nblocks,
				     .did = query->did,
				     .made_len = (uint32_t)ddio_query_accs_len(&query->shape),
				     .items_len = query->items_len,
				     .items = query->items };
	uint8_t *made = malloc(x.made_len);
	struct server_request *req = query->req;
	ssize_t len = made ? ddio_put_answer(NULL, 0, &x) : -ENOMEM;
	uint8_t *buf = len < 0 ? NULL : malloc((size_t)len);

	if (buf) {
		ddio_query_accs_put(&query->accs, made);
		x.made = made;
		ddio_put_answer(buf, (size_t)len, &x);
	}
	query_release(query);
	if (buf)
		server_reply(req, buf, (size_t)len);
	else
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for an answer");
	free(buf);
	free(made);
}

static void query_end(struct iop_query *query)
{
	struct server_request *req = query->req;
	char why[DDIO_MAX_TEXT];

	if (query->status) {
		memcpy(why, query->why, sizeof(why));
		query_release(query);
		server_fail(req, query->status, "%s", why);
	} else {
		answer(query);
	}
}

/*
 * A request under way
 */
static int query_start(struct iop_query *query)
{
	int err = query_slots_init(query);

	if (!err)
		err = ddio_query_accs_init(&query->accs, &query->shape);
	return err ? err : query_list(query);
}

/* Returns true if nothing is to be done for it any more. */
static bool given_up(struct iop_query *query)
{
	if (query->req->reactor->stopping)
		query_fail(query, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
	else if (!query->req->client)
		query_fail(query, DDIO_ST_CANCELLED, "the client is gone");
	return query->status;
}

static bool slots_idle(const struct iop_query *query)
{
	int i;

	for (i = 0; i < QUERY_SLOTS; i++)
		if (query->slot[i].state != QSLOT_IDLE)
			return false;
	return true;
}

/* Goes on with the request; returns true if it is over. */
static bool go_on(struct iop_query *query)
{
	struct queries *queries = query->queries;

	if (!ddio_list_empty(&queries->waiting) && query->ndid >= QUERY_SHARE)
		query->ending = true;
	if (given_up(query) || query->full)
		return query_slots_stop(query);
	query_slots_fill(query);
	if (query_scan(query))
		query_kick(queries);
	if (query->full || query->status)
		return query_slots_stop(query);
	return slots_idle(query) && (query->ending || query->next == query->nplaces);
}

static void next_start(struct queries *queries)
{
	struct iop_query *query = ddio_list_first(&queries->waiting, struct iop_query, link);

	ddio_list_del(&query->link);
	queries->now = query;
	if (query_start(query))
		query_fail(query, DDIO_ST_NO_MEMORY, "no memory to look at records");
}

static void turn(void *arg)
{
	struct queries *queries = arg;
	struct iop_query *query;

	queries->posted = false;
	if (!queries->now && !ddio_list_empty(&queries->waiting))
		next_start(queries);
	query = queries->now;
	if (!query || !go_on(query))
		return;
	queries->now = NULL;
	query_end(query);
	if (!ddio_list_empty(&queries->waiting))
		query_kick(queries);
}

/*
 * Requests that come
 */
static void query_gone(struct server_request *req)
{
	struct iop_query *query = req->data;

	if (query->queries->now == query) {
		query_kick(query->queries);
		return;
	}
	query_release(query);
	server_request_end(req);
}

static bool part_asked(const struct ddio_msg_query *x)
{
	const uint8_t *want = x->want;

	return x->part == DDIO_QUERY_NO_PART || want[x->part / 8] >> x->part % 8 & 1;
}

/* Checks what the decoder does not know. */
static int query_check(struct iop_query *query, const char **why)
{
	int err = ddio_query_shape(&query->msg.q, &query->shape, why);

	if (err)
		return err;
	if (query->msg.end > ddio_query_records(&query->msg.q, DDIO_MAX_FILE)) {
		*why = "records beyond the largest file";
		return -E2BIG;
	}
	if (!query->shape.used || !part_asked(&query->msg)) {
		*why = "nothing of the records is asked for, or a part of another block";
		return -EINVAL;
	}
	return 0;
}

/* Decodes the request, whose text @query takes over; on failure the request is over, and *@ret is to be returned. */
static bool query_decode(struct iop_query *query, struct server_request *req, int *ret)
{
	const char *why = "";
	int err = ddio_get_query(query->text, req->msg.length, &query->msg);

	*ret = 0;
	if (err) {
		*ret = server_fail_decode(req, err, "object, window or question");
		return false;
	}
	req->obj = query->msg.obj;
	req->disk = reactor_disk(req->reactor, req->obj.disk);
	if (!req->disk || !req->disk->queries) {
		ddio_msg_query_free(&query->msg);
		obj_fail_disk(req);
		return false;
	}
	err = query_check(query, &why);
	if (!err)
		return true;
	ddio_msg_query_free(&query->msg);
	server_fail(req, ddio_status_from_errno(err), "OBJ_QUERY: %s", why);
	return false;
}

static struct iop_query *query_new(struct server_request *req, const void *payload)
{
	struct iop_query *query = calloc(1, sizeof(*query));

	if (!query)
		return NULL;
	query->text = malloc(req->msg.length ? req->msg.length : 1);
	if (!query->text) {
		free(query);
		return NULL;
	}
	memcpy(query->text, payload, req->msg.length);
	query->req = req;
	ddio_list_init(&query->link);
	return query;
}

/* Finds the object; false: the request is over. */
static bool query_object(struct iop_query *query, struct server_request *req)
{
	int err = obj_get(req, false);

	if (err && err != -ENOENT)
		return false;
	if (err && store_lost(req->disk->store, req->obj.file.id)) {
		obj_fail_lost(req);
		return false;
	}
	query->obj = err ? NULL : req->object;
	if (!server_request_buf(req, DDIO_QUERY_ROOM))
		return true;
	obj_fail(req, -ENOMEM, "looking at records");
	return false;
}

static void query_wait(struct iop_query *query, struct server_request *req)
{
	query->queries = req->disk->queries;
	query->items = req->buf;
	query->items_cap = DDIO_QUERY_ROOM;
	query->part = query->msg.part;
	query->part_next = query->msg.part_next;
	req->data = query;
	req->gone = query_gone;
	ddio_list_add(&query->link, &query->queries->waiting);
	query_kick(query->queries);
}

static int serve_query(struct server_request *req, const void *payload)
{
	struct iop_query *query = query_new(req, payload);
	uint8_t *text;
	int ret = 0;

	if (!query) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for a request");
		return 0;
	}
	text = query->text;
	if (query_decode(query, req, &ret)) {
		if (query_object(query, req)) {
			query_wait(query, req);
			return 0;
		}
		ddio_msg_query_free(&query->msg);
	}
	free(text);
	free(query);
	return ret;
}

static int serve_query_fetched(struct server_request *req, const void *payload)
{
	return obj_fetched(req, payload, serve_query);
}

/*
 * Nodes
 */
static void queries_node_start(struct ddio_iop *iop)
{
	struct queries *queries;
	uint32_t i, k;

	for (i = 0; i < iop->nreactors; i++)
		for (k = 0; k < iop->reactors[i].ndisks; k++) {
			queries = calloc(1, sizeof(*queries));
			iop->reactors[i].disks[k].queries = queries;
			if (!queries)
				continue;
			queries->disk = &iop->reactors[i].disks[k];
			ddio_list_init(&queries->waiting);
			queries->turn.fn = turn;
			queries->turn.arg = queries;
		}
}

static void queries_reactor_stop(struct reactor *reactor)
{
	uint32_t i;

	for (i = 0; i < reactor->ndisks; i++)
		if (reactor->disks[i].queries)
			query_kick(reactor->disks[i].queries);
}

static bool queries_reactor_idle(const struct reactor *reactor)
{
	uint32_t i;

	for (i = 0; i < reactor->ndisks; i++) {
		const struct queries *queries = reactor->disks[i].queries;

		if (queries &&
		    (queries->now || queries->posted || !ddio_list_empty(&queries->waiting)))
			return false;
	}
	return true;
}

static void queries_disk_close(struct iop_disk *disk)
{
	free(disk->queries);
	disk->queries = NULL;
}

static const struct server_op handled[] = {
	{ .opcode = DDIO_OP_OBJ_QUERY, .role = DDIO_ROLE_CLIENT, .serve = serve_query_fetched },
};

const struct server_service query_service = {
	.ops = handled,
	.nops = sizeof(handled) / sizeof(handled[0]),
	.node_start = queries_node_start,
	.reactor_stop = queries_reactor_stop,
	.reactor_idle = queries_reactor_idle,
	.disk_close = queries_disk_close,
};
