// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests about the name space, on reactor 0 of the node that serves it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/server_priv.h"

#define CREATE_TRIES 50

/**
 * struct ns_change - a change until it is durable
 * @record: the reply is @rec, else it is empty
 * @flags: of NS_CREATE
 */
struct ns_change {
	bool record;
	uint32_t flags;
	struct ddio_file_record rec;
};

static void fail_file(struct server_request *req, int err, const char *name, uint64_t id)
{
	uint32_t status = ddio_status_from_errno(err);

	if (name && name[0])
		server_fail(req, status, "file \"%s\": %s", name, ddio_status_text(status));
	else
		server_fail(req, status, "file %llu: %s", (unsigned long long)id,
			    ddio_status_text(status));
}

static void reply_record(struct server_request *req, const struct ddio_file_record *rec)
{
	SERVER_REPLY(req, record, rec);
}

/*
 * Changes are answered when they are durable.
 */
static void change_committed(struct ddio_commit *commit, int err)
{
	struct server_request *req = commit->arg;
	struct ns_change *ch = req->data;
	struct ddio_file_record rec = ch->rec;

	if (err)
		server_fail_errno(req, err, "committing the name space");
	else if (ch->record)
		reply_record(req, &rec);
	else
		server_reply(req, NULL, 0);
	ddio_file_record_free(&rec);
}

static void change_commit(struct server_request *req)
{
	req->commit.done = change_committed;
	ddio_ns_commit(req->reactor->iop->ns, &req->commit);
}

static struct ns_change *change_new(struct server_request *req)
{
	req->data = calloc(1, sizeof(struct ns_change));
	if (!req->data)
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for a change of the name space");
	return req->data;
}

/* True if the stripe can be served; else the request is over. */
static bool create_check(struct server_request *req, const struct ddio_file_record *rec)
{
	const struct ddio_iop *iop = req->reactor->iop;
	uint32_t i;

	for (i = 0; i < rec->ndisks; i++) {
		uint32_t number = rec->disks[i];
		const struct server_where *where;

		if (number >= iop->conf->ndisks) {
			server_fail(req, DDIO_ST_INVALID,
				    "file \"%s\": there is no disk %u, the cluster has %u",
				    rec->name, number, iop->conf->ndisks);
			return false;
		}
		where = &server_of(iop)->where[number];
		/* What the sectors of other nodes' disks are is theirs to say. */
		if (where->reactor < 0 || rec->ref.block >= where->info.sector)
			continue;
		server_fail(req, DDIO_ST_INVALID,
			    "file \"%s\": blocks of %u bytes are less than the sectors of disk %s",
			    rec->name, rec->ref.block, iop->conf->disks[number].name);
		return false;
	}
	return true;
}

/* It exists already, and that is no error. */
static void create_found(struct server_request *req, const char *name)
{
	struct ddio_file_record rec;
	int err = ddio_ns_lookup(req->reactor->iop->ns, name, 0, &rec);

	if (err == -ENOENT) {
		server_fail(req, DDIO_ST_BUSY, "file \"%s\" is being removed", name);
	} else if (err) {
		fail_file(req, err, name, 0);
	} else {
		reply_record(req, &rec);
		ddio_file_record_free(&rec);
	}
}

static void create_again(struct ddio_commit *commit, int err);

static void create_try(struct server_request *req)
{
	struct ns_change *ch = req->data;
	struct ddio_file_record rec;
	int err = ddio_ns_create(req->reactor->iop->ns, &ch->rec);

	if (!err) {
		change_commit(req);
		return;
	}
	/* Identifiers have run out, until the commit that is under way has brought new ones. */
	if (err == -EAGAIN && req->tries++ < CREATE_TRIES) {
		req->commit.done = create_again;
		ddio_ns_commit(req->reactor->iop->ns, &req->commit);
		return;
	}
	rec = ch->rec;
	if (err == -EEXIST && !(ch->flags & DDIO_NS_EXCL))
		create_found(req, rec.name);
	else
		fail_file(req, err, rec.name, 0);
	ddio_file_record_free(&rec);
}

static void create_again(struct ddio_commit *commit, int err)
{
	struct server_request *req = commit->arg;
	struct ns_change *ch = req->data;

	if (!err) {
		create_try(req);
		return;
	}
	ddio_file_record_free(&ch->rec);
	server_fail_errno(req, err, "committing the name space");
}

int server_op_ns_create(struct server_request *req, const void *payload)
{
	struct ddio_msg_ns_create x;
	struct ns_change *ch;
	int err = ddio_get_ns_create(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "name, block size, layout, size or disks");
	ch = create_check(req, &x.rec) ? change_new(req) : NULL;
	if (!ch) {
		ddio_file_record_free(&x.rec);
		return 0;
	}
	ch->record = true;
	ch->flags = x.flags;
	ch->rec = x.rec;
	create_try(req);
	return 0;
}

int server_op_ns_lookup(struct server_request *req, const void *payload)
{
	struct ddio_msg_ns_name x;
	struct ddio_file_record rec;
	int err = ddio_get_ns_name(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "name or number");
	err = ddio_ns_lookup(req->reactor->iop->ns, x.name[0] ? x.name : NULL, x.id, &rec);
	if (err) {
		fail_file(req, err, x.name, x.id);
		return 0;
	}
	reply_record(req, &rec);
	ddio_file_record_free(&rec);
	return 0;
}

int server_op_ns_remove(struct server_request *req, const void *payload)
{
	struct ddio_msg_ns_name x;
	struct ns_change *ch;
	int err = ddio_get_ns_name(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "name or number");
	if (!x.name[0]) {
		server_fail(req, DDIO_ST_INVALID, "NS_REMOVE names no file");
		return 0;
	}
	ch = change_new(req);
	if (!ch)
		return 0;
	err = ddio_ns_remove(req->reactor->iop->ns, x.name, &ch->rec);
	if (err) {
		fail_file(req, err, x.name, 0);
		return 0;
	}
	ch->record = true;
	change_commit(req);
	return 0;
}

int server_op_ns_remove_done(struct server_request *req, const void *payload)
{
	struct ddio_msg_ns_size x;
	int err = ddio_get_ns_size(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "number or size");
	if (!change_new(req))
		return 0;
	err = ddio_ns_remove_done(req->reactor->iop->ns, x.id);
	if (err)
		fail_file(req, err, NULL, x.id);
	else
		change_commit(req);
	return 0;
}

/* EXTEND is durable after the next sync, SET_SIZE when it is answered. */
int server_op_ns_size(struct server_request *req, const void *payload)
{
	bool exact = req->msg.opcode == DDIO_OP_NS_SET_SIZE;
	struct ddio_msg_ns_size x;
	int err = ddio_get_ns_size(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "number or size");
	if (!change_new(req))
		return 0;
	err = ddio_ns_set_size(req->reactor->iop->ns, x.id, x.size, exact);
	if (err)
		fail_file(req, err, NULL, x.id);
	else if (exact)
		change_commit(req);
	else
		server_reply(req, NULL, 0);
	return 0;
}

/* As much of the listing as goes into a message. */
static void list_reply(struct server_request *req, struct ddio_msg_ns_listing *x)
{
	struct ddio_msg_ns_listing part = *x;

	while (part.n > 1 && ddio_put_ns_listing(NULL, 0, &part) > (ssize_t)DDIO_MAX_SMALL) {
		part.n /= 2;
		part.more = 1;
	}
	SERVER_REPLY(req, ns_listing, &part);
}

int server_op_ns_list(struct server_request *req, const void *payload)
{
	struct ddio_msg_ns_list x;
	struct ddio_msg_ns_listing out = { 0 };
	int err = ddio_get_ns_list(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "name or number of entries");
	if (!x.max || x.max > DDIO_MAX_BATCH)
		x.max = DDIO_MAX_BATCH;
	err = ddio_ns_list(req->reactor->iop->ns, x.after, x.max, &out);
	if (err) {
		server_fail_errno(req, err, "listing the name space");
		return 0;
	}
	list_reply(req, &out);
	ddio_ns_listing_free(&out);
	return 0;
}
