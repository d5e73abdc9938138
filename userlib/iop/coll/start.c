// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A collective request at a node: reactor 0 gets it, checks it, computes the
 * map once, and hands both, read only from then on, to every reactor that owns
 * disks of the file.  The first of them that fails tells the others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "env/lines.h"
#include "iop/coll/priv.h"
#include "proto/past/past.h"

/*
 * Another reactor's part has failed.  If this one's has not begun yet, it will see that when it begins.
 * Reactor 0 tells the members even if it owns no disk of the file, since they all have a lane to it.
 */
static void notice_run(void *arg)
{
	struct coll_to *to = arg;
	struct coll_req *req = to->req;
	struct coll_group *group = coll_group_find(to->reactor, req->start.group);
	struct coll *coll = group ? coll_find(group, req->start.op) : NULL;
	struct ddio_msg_coll_done done = { .op = req->start.op };

	if (coll)
		coll_fail(coll, &req->verdict);
	else if (group && !to->takes_part)
		coll_done_send(group, &done, &req->verdict);
	coll_req_put(req);
}

static struct coll_req *req_new(struct ddio_iop *iop)
{
	struct coll_req *req;
	uint32_t i;

	req = calloc(1, sizeof(*req) + iop->nreactors * sizeof(req->to[0]));
	if (!req)
		return NULL;
	atomic_init(&req->refs, 1);
	atomic_init(&req->failed, REQ_FINE);
	req->nto = iop->nreactors;
	for (i = 0; i < req->nto; i++) {
		struct coll_to *to = &req->to[i];

		to->req = req;
		to->reactor = &iop->reactors[i];
		to->notice.fn = notice_run;
		to->notice.arg = to;
	}
	return req;
}

/* Finds the reactors that own disks of the file.  The decoder has checked that no disk is named twice. */
static int find_reactors(struct coll_req *req, const struct ddio_iop *iop, struct verdict *v)
{
	const struct ddio_file_record *file = &req->start.file;
	uint32_t i, here = 0;
	int r;

	for (i = 0; i < file->ndisks; i++) {
		r = iop_disk_reactor(iop, file->disks[i]);
		if (r < 0)
			continue;
		req->to[r].takes_part = true;
		here++;
	}
	if (here)
		return 0;
	verdict_set(v, DDIO_ST_NOT_FOUND, COLL_NOBODY, "node %s has no disk of file \"%s\"",
		    iop->conf->nodes[iop->node].name, file->name);
	return -ENOENT;
}

static bool req_spreads(const struct ddio_msg_coll_start *st)
{
	return st->crowd.spread & DDIO_CROWD_SPREAD;
}

static uint32_t map_rules(const struct ddio_msg_coll_start *st)
{
	/* What is spread is told as lists, whatever it was. */
	uint32_t rules = req_spreads(st) ? MAP_KINDS : 0;

	if (!(st->flags & DDIO_COLL_OVERLAP))
		return rules;
	return st->flags & DDIO_COLL_WRITE ? rules | MAP_TWICE | MAP_LOWEST : rules | MAP_TWICE;
}

static int make_map(struct coll_req *req, const struct ddio_kin *kin, uint32_t n, struct verdict *v)
{
	const struct ddio_msg_coll_start *st = &req->start;
	const char *why = "";
	int err;

	if (n)
		err = ddio_map_new_kin(kin, n, st->nprocs, map_rules(st), &req->map, &why);
	else if (st->parts[0].kind == DDIO_PART_ARRAY)
		err = ddio_map_new_array(&st->array, st->nprocs, &req->map, &why);
	else
		err = ddio_map_new_overlapping(st->parts, st->nprocs, map_rules(st), &req->map,
					       &why);
	if (err) {
		verdict_set(v, ddio_status_from_errno(err), COLL_NOBODY,
			    "malformed description of the parts: %s", why);
		return err;
	}
	if (st->flags & DDIO_COLL_SHORT)
		ddio_map_clip(req->map, st->file_size);
	ddio_map_bounds(req->map, &req->lo, &req->hi);
	return 0;
}

/* Checks what depends on which bytes are meant. */
static int check_map(const struct coll_req *req, struct verdict *v)
{
	const struct ddio_msg_coll_start *st = &req->start;
	uint32_t first, second;
	uint64_t at;

	if (req->hi > DDIO_MAX_FILE) {
		verdict_set(v, DDIO_ST_RANGE, COLL_NOBODY,
			    "the parts reach to byte %llu, beyond the largest file",
			    (unsigned long long)req->hi);
		return -ERANGE;
	}
	if (!(st->flags & DDIO_COLL_WRITE)) {
		if (req->hi <= st->file_size)
			return 0;
		verdict_set(v, DDIO_ST_RANGE, COLL_NOBODY,
			    "the parts reach to byte %llu of file \"%s\", which has %llu",
			    (unsigned long long)req->hi, st->file.name,
			    (unsigned long long)st->file_size);
		return -ERANGE;
	}
	if (!ddio_map_check_overlap(req->map, &at, &first, &second))
		return 0;
	verdict_set(v, DDIO_ST_OVERLAP, COLL_NOBODY,
		    "ranks %u and %u both write byte %llu of file \"%s\"", first, second,
		    (unsigned long long)at, st->file.name);
	return -EINVAL;
}

int coll_req_map(struct coll_req *req, const struct ddio_kin *kin, uint32_t n, struct verdict *v)
{
	int err = make_map(req, kin, n, v);

	return err ? err : check_map(req, v);
}

static int check_start(const struct coll_group *group, const struct ddio_msg_coll_start *st,
		       struct verdict *v)
{
	if (group->reactor->stopping) {
		verdict_set(v, DDIO_ST_SHUTDOWN, COLL_NOBODY, SERVER_STOPPING);
		return -ESHUTDOWN;
	}
	if (st->nprocs != group->size) {
		verdict_set(v, DDIO_ST_MISMATCH, COLL_NOBODY,
			    "a request for %u processes in a group of %u", st->nprocs, group->size);
		return -EINVAL;
	}
	if (st->buffers > COLL_MAX_BUFFERS) {
		verdict_set(v, DDIO_ST_TOO_BIG, COLL_NOBODY,
			    "%u buffers for each disk are too many: the limit is %u", st->buffers,
			    COLL_MAX_BUFFERS);
		return -EINVAL;
	}
	return coll_group_complete(group, st->flags & DDIO_COLL_NEED, v) ? 0 : -ENOTCONN;
}

static bool may(const struct client *client, const struct ddio_msg_coll_start *st, uint32_t right)
{
	const struct reactor *reactor = client->reactor;

	return !reactor->iop->users ||
	       (client->user &&
		user_may(client->user, st->file.ref.id, right, ddio_env_wall(reactor->env)));
}

/* The one that asks has a grant for all: they are one user's. */
static int check_user(const struct client *client, const struct ddio_msg_coll_start *st,
		      struct verdict *v)
{
	uint32_t right = st->flags & DDIO_COLL_WRITE ? DDIO_GRANT_WRITE : DDIO_GRANT_READ;

	if (may(client, st, right))
		return 0;
	verdict_set(v, DDIO_ST_PERMISSION, COLL_NOBODY,
		    "the user may not %s file \"%s\", or what said so has expired",
		    right == DDIO_GRANT_WRITE ? "write" : "read", st->file.name);
	return -EACCES;
}

static int prepare(struct coll_req *req, const struct coll_member *m, struct verdict *v)
{
	const struct coll_group *group = m->group;
	int err;

	verdict_set(v, DDIO_ST_NO_MEMORY, COLL_NOBODY, "no memory for the collective's request");
	err = check_start(group, &req->start, v);
	if (!err)
		err = check_user(m->client, &req->start, v);
	req->may_read = may(m->client, &req->start, DDIO_GRANT_READ);
	if (!err)
		err = find_reactors(req, group->reactor->iop, v);
	if (!err && !req_spreads(&req->start))
		err = coll_req_map(req, req->start.crowd.kin, req->start.crowd.n, v);
	return err;
}

static void begin_run(void *arg)
{
	coll_begin(arg);
}

void coll_req_hand_out(struct coll_req *req)
{
	uint32_t i;

	for (i = 0; i < req->nto; i++) {
		struct coll_to *to = &req->to[i];

		if (!to->takes_part)
			continue;
		to->start.fn = begin_run;
		to->start.arg = to;
		coll_req_get(req);
		ddio_env_post(to->reactor->env, &to->start);
	}
}

/* Tells only the member that asked: the number may belong to an operation that runs. */
static void refuse_number(const struct coll_member *m, uint64_t op)
{
	struct ddio_msg_coll_done done = { .op = op, .handle = m->handle };
	struct verdict v;

	ddio_env_log_caused(m->client->reactor->env, DDIO_LOG_WARN,
			    "%s: collective %llu refused: the group is at %llu already",
			    ddio_conn_peer(m->client->conn), (unsigned long long)op,
			    (unsigned long long)m->group->last_start);
	verdict_set(&v, DDIO_ST_INVALID, COLL_NOBODY,
		    "collective %llu was started after %llu of the same group",
		    (unsigned long long)op, (unsigned long long)m->group->last_start);
	coll_done_send_one(m, &done, &v);
}

void coll_req_refuse(const struct coll_req *req, struct coll_group *group, const struct verdict *v)
{
	struct ddio_msg_coll_done done = { .op = req->start.op };

	group->reactor->refused++;
	ddio_env_log_caused(group->reactor->env, DDIO_LOG_WARN,
			    "collective %llu of file \"%s\" refused: %s",
			    (unsigned long long)done.op, req->start.file.name, v->text);
	coll_done_send(group, &done, v);
}

static void start(struct coll_member *m, struct coll_req *req)
{
	struct coll_group *group = m->group;
	struct verdict v;

	if (req->start.op <= group->last_start) {
		refuse_number(m, req->start.op);
		group->reactor->refused++;
		return;
	}
	group->last_start = req->start.op;
	req->asker = m->rank;
	memcpy(req->job, m->client->job->st.name, sizeof(req->job));
	if (prepare(req, m, &v)) {
		coll_req_refuse(req, group, &v);
	} else if (req_spreads(&req->start)) {
		coll_spread_begin(req, group);
	} else {
		coll_req_join(req, group);
		coll_req_hand_out(req);
	}
}

static int start_take(struct client *client, const void *payload, size_t len)
{
	struct coll_req *req;
	struct coll_member *m;
	int err;

	if (client->reactor->index)
		return -EPROTO;
	req = req_new(client->reactor->iop);
	if (!req)
		return -ENOMEM;
	err = ddio_get_coll_start(payload, len, &req->start);
	if (err) {
		memset(&req->start, 0, sizeof(req->start));
		goto put;
	}
	m = coll_client_member(client, req->start.group);
	if (m)
		start(m, req);
	else
		err = -EPROTO;
put:
	coll_req_put(req);
	return err;
}

/**
 * coll_start - handle a collective request
 * @client: one member's connection to reactor 0
 * @msg: COLL_START; not replied to: every reactor that takes part sends COLL_DONE to every
 *	member at the end, and reactor 0 does if the request is refused as a whole
 * @payload: struct ddio_msg_coll_start
 */
int coll_start(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	return start_take(client, payload, msg->length);
}

/**
 * coll_again - handle a collective request that is like an earlier one of this connection
 * @client: one member's connection to reactor 0
 * @msg: COLL_AGAIN; as COLL_START
 * @payload: what differs
 */
int coll_again(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	const void *whole;
	size_t len;
	int err;

	if (client->reactor->index || ddio_list_empty(&client->members))
		return -EPROTO;
	if (!client->starts)
		client->starts = calloc(1, sizeof(*client->starts));
	if (!client->starts)
		return -ENOMEM;
	err = ddio_past_get(client->starts, payload, msg->length, &whole, &len);
	return err ? err : start_take(client, whole, len);
}

int coll_start_large(struct client *client)
{
	return client->reactor->index || ddio_list_empty(&client->members) ? -EPROTO : 0;
}
