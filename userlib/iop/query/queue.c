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

/* Frees all but the query itself and its sinks. */
static void query_release(struct iop_query *query)
{
	query_slots_free(query);
	ddio_query_accs_free(&query->accs);
	ddio_msg_query_free(&query->msg);
	free(query->place);
	free(query->text);
}

/* What was made of all records goes to the first; the others have nothing of that. */
static void answer(const struct iop_query *query, const struct query_sink *sink,
		   struct server_request *req, const void *made, size_t made_len)
{
	struct ddio_msg_answer x = { .part = query->part,
				     .part_next = query->part_next,
				     .disk_reqs = sink == query->sink ? query->disk_reqs : 0,
				     .nblocks = query->msg.nblocks,
				     .did = query->did,
				     .made = made,
				     .made_len = sink == query->sink ? (uint32_t)made_len : 0,
				     .items_len = sink->len,
				     .items = sink->items };
	ssize_t len = ddio_put_answer(NULL, 0, &x);
	uint8_t *buf = len < 0 ? NULL : malloc((size_t)len);

	if (buf) {
		ddio_put_answer(buf, (size_t)len, &x);
		server_reply(req, buf, (size_t)len);
	} else {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for an answer");
	}
	free(buf);
}

/* Tells all who have asked; one of them may be lost by that, and take others with it. */
static void query_tell(struct iop_query *query)
{
	size_t made_len = query->status ? 0 : ddio_query_accs_len(&query->shape);
	uint8_t *made = malloc(made_len ? made_len : 1);
	uint32_t i;

	if (!made)
		query_fail(query, DDIO_ST_NO_MEMORY, "no memory for an answer");
	if (!query->status)
		ddio_query_accs_put(&query->accs, made);
	for (i = 0; i < query->nsinks; i++) {
		struct server_request *req = query->sink[i].req;

		query->sink[i].req = NULL;
		if (req && query->status)
			server_fail(req, query->status, "%s", query->why);
		else if (req)
			answer(query, &query->sink[i], req, made, made_len);
	}
	free(made);
}

static void query_end(struct iop_query *query)
{
	query->over = true;
	ddio_timer_cancel(query_env(query), &query->timer);
	ddio_list_del(&query->link);
	query_tell(query);
	query_release(query);
	free(query->sink);
	free(query);
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
	if (query->queries->disk->reactor->stopping)
		query_fail(query, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
	else if (query->left)
		query_fail(query, DDIO_ST_MEMBER_LOST, "a process that has asked is gone");
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

/* Those of which members are missing need not wait any longer. */
static void stop_gathering(struct queries *queries)
{
	while (queries->disk->reactor->stopping && !ddio_list_empty(&queries->gathering)) {
		struct iop_query *query =
			ddio_list_first(&queries->gathering, struct iop_query, link);

		ddio_list_del(&query->link);
		query_fail(query, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
		query_end(query);
	}
}

static void turn(void *arg)
{
	struct queries *queries = arg;
	struct iop_query *query;

	queries->posted = false;
	stop_gathering(queries);
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

/**
 * struct query_asker - of a request, freed with it
 */
struct query_asker {
	struct query_sink *sink;
};

static void query_gone(struct server_request *req)
{
	struct query_asker *asker = req->data;
	struct query_sink *sink = asker->sink;
	struct iop_query *query = sink->query;

	if (query->queries->now == query) {
		query->left = true;
		query_kick(query->queries);
		return;
	}
	sink->req = NULL;
	server_request_end(req);
	if (query->over)
		return;
	query_fail(query, DDIO_ST_MEMBER_LOST, "a process that has asked is gone");
	query_end(query);
}

static void query_expired(void *arg)
{
	struct iop_query *query = arg;
	uint32_t i;

	for (i = 0; i < query->nsinks && query->sink[i].req; i++)
		;
	query_fail(query, DDIO_ST_TIMEOUT,
		   "member %u of %u has not asked about disk %s within the timeout", i,
		   query->nsinks, query->queries->disk->name);
	query_end(query);
}

static bool part_asked(const struct ddio_msg_query *x)
{
	const uint8_t *want = x->want;

	return x->part == DDIO_QUERY_NO_PART || want[x->part / 8] >> x->part % 8 & 1;
}

/* Checks what the decoder does not know. */
static int query_check(struct iop_query *query, const char **why)
{
	const struct ddio_msg_query *x = &query->msg;
	bool dealt = x->flags & DDIO_QUERY_DEALT;
	int err = ddio_query_shape_dealt(&x->q, dealt ? &x->deal : NULL, x->members, &query->shape,
					 why);

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
	query->text_len = req->msg.length;
	ddio_list_init(&query->link);
	return query;
}

/* Frees a query that nobody waits for. */
static void query_drop(struct iop_query *query)
{
	ddio_msg_query_free(&query->msg);
	free(query->sink);
	free(query->text);
	free(query);
}

static bool sinks_make(struct iop_query *query)
{
	uint32_t i;

	query->nsinks = query->msg.flags & DDIO_QUERY_DEALT ? query->msg.members : 1;
	query->sink = calloc(query->nsinks, sizeof(*query->sink));
	for (i = 0; query->sink && i < query->nsinks; i++) {
		query->sink[i].query = query;
		query->sink[i].last_at = UINT32_MAX;
	}
	return query->sink;
}

/* Finds the object; false: the request is over. */
static bool query_object(struct server_request *req)
{
	int err = obj_get(req, false);

	if (err && err != -ENOENT)
		return false;
	return !err || !obj_missing_fails(req);
}

/* Returns the one that the others of the group have made: all but the member is the same. */
static struct iop_query *query_of_others(const struct iop_query *query, struct queries *queries)
{
	struct ddio_list *l;

	/* Not by entry: what stands for the list's head would not be aligned as a question, with its 128-bit sums, is. */
	for (l = queries->gathering.next; l != &queries->gathering; l = l->next) {
		struct iop_query *other = ddio_container_of(l, struct iop_query, link);

		if (other->text_len == query->text_len &&
		    !memcmp(other->text, query->text, query->text_len - DDIO_QUERY_MEMBER_LEN))
			return other;
	}
	return NULL;
}

static uint32_t room_each(const struct iop_query *query)
{
	uint32_t each = QUERY_ROOM_ALL / query->nsinks;

	if (each > DDIO_QUERY_ROOM)
		return DDIO_QUERY_ROOM;
	return each < QUERY_ROOM_LEAST ? QUERY_ROOM_LEAST : each;
}

/* The request becomes one of the query's; false: it is over. */
static bool query_ask(struct iop_query *query, struct server_request *req, uint32_t member)
{
	struct query_asker *asker = malloc(sizeof(*asker));
	struct query_sink *sink = &query->sink[member];

	if (!asker || server_request_buf(req, room_each(query))) {
		free(asker);
		obj_fail(req, -ENOMEM, "looking at records");
		return false;
	}
	sink->req = req;
	sink->items = req->buf;
	sink->cap = room_each(query);
	asker->sink = sink;
	req->data = asker;
	req->gone = query_gone;
	query->came++;
	return true;
}

/* Has the query wait for its turn, or for members that are missing. */
static void query_wait(struct iop_query *query)
{
	struct queries *queries = query->queries;
	const struct ddio_iop *iop = queries->disk->reactor->iop;

	ddio_list_del(&query->link);
	if (query->came == query->nsinks) {
		ddio_timer_cancel(query_env(query), &query->timer);
		ddio_list_add(&query->link, &queries->waiting);
		query_kick(queries);
		return;
	}
	ddio_list_add(&query->link, &queries->gathering);
	if (ddio_timer_armed(&query->timer))
		return;
	query->timer.fn = query_expired;
	query->timer.arg = query;
	if (!ddio_timer_arm(query_env(query), &query->timer,
			    ddio_env_now(query_env(query)) + iop->conf->timeout_ns))
		return;
	query_fail(query, DDIO_ST_NO_MEMORY, "no memory to look at records");
	query_end(query);
}

/* The first request of a query. */
static bool query_begin(struct iop_query *query, struct server_request *req)
{
	if (!sinks_make(query)) {
		obj_fail(req, -ENOMEM, "looking at records");
		return false;
	}
	query->queries = req->disk->queries;
	query->obj = req->object;
	query->part = query->msg.part;
	query->part_next = query->msg.part_next;
	return query_ask(query, req, query->msg.member);
}

/* Adds the request to what others have asked; returns false if nobody has. */
static bool query_join(struct iop_query *query, struct server_request *req)
{
	struct iop_query *other = query->msg.flags & DDIO_QUERY_DEALT
					  ? query_of_others(query, req->disk->queries)
					  : NULL;

	if (!other)
		return false;
	if (other->sink[query->msg.member].req)
		obj_fail(req, -EINVAL, "this member has asked already");
	else if (query_ask(other, req, query->msg.member))
		query_wait(other);
	query_drop(query);
	return true;
}

static int serve_query(struct server_request *req, const void *payload)
{
	struct iop_query *query = query_new(req, payload);
	int ret = 0;

	if (!query) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for a request");
		return 0;
	}
	if (!query_decode(query, req, &ret) || !query_object(req)) {
		query_drop(query);
		return ret;
	}
	if (query_join(query, req))
		return 0;
	if (query_begin(query, req))
		query_wait(query);
	else
		query_drop(query);
	return 0;
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
			ddio_list_init(&queries->gathering);
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
		    (queries->now || queries->posted || !ddio_list_empty(&queries->waiting) ||
		     !ddio_list_empty(&queries->gathering)))
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
	{ .opcode = DDIO_OP_OBJ_QUERY,
	  .role = DDIO_ROLE_CLIENT,
	  .access = ACCESS_READ,
	  .serve = serve_query_fetched },
};

const struct server_service query_service = {
	.ops = handled,
	.nops = sizeof(handled) / sizeof(handled[0]),
	.node_start = queries_node_start,
	.reactor_stop = queries_reactor_stop,
	.reactor_idle = queries_reactor_idle,
	.disk_close = queries_disk_close,
};
