// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests to the disks of a file: all at once, and again where a node did not answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/disks/set.h"

uint64_t fsc_share(const struct ddio_file_record *rec, uint32_t i, uint64_t end)
{
	uint64_t full = end / rec->ref.block, last = full % rec->ndisks;
	uint64_t bytes = (full / rec->ndisks + (i < last)) * rec->ref.block;

	return i == last ? bytes + end % rec->ref.block : bytes;
}

void fsc_set_init(struct fsc_set *set, struct fsc_reactor *r, const struct ddio_file_record *rec,
		  void (*done)(struct fsc_set *set))
{
	memset(set, 0, sizeof(*set));
	set->r = r;
	set->rec = rec;
	set->done = done;
}

int fsc_set_alloc(struct fsc_set *set, uint32_t n)
{
	set->req = calloc(n, sizeof(*set->req));
	set->n = set->req ? n : 0;
	return set->req ? 0 : -ENOMEM;
}

void fsc_set_free(struct fsc_set *set)
{
	free(set->req);
	set->req = NULL;
	set->n = 0;
	fsc_error_free(&set->error);
}

void fsc_set_begin(struct fsc_set *set)
{
	set->left = 1;
}

void fsc_set_end(struct fsc_set *set)
{
	if (!--set->left)
		set->done(set);
}

static void req_submit(struct fsc_set_req *req);

static void req_again(struct fsc_retry *retry)
{
	req_submit(ddio_container_of(retry, struct fsc_set_req, retry));
}

static uint32_t req_node(const struct fsc_set_req *req)
{
	const struct ddio_session *s = req->set->r->session;

	return req->obj.disk < s->conf->ndisks ? s->conf->disks[req->obj.disk].node : 0;
}

/*
 * Notes which incarnation of the node took the change.  That is known only now: another one may answer
 * the last request of the set.
 */
static void req_note_holder(const struct fsc_set_req *req)
{
	const struct fsc_set *set = req->set;
	uint32_t i = req->to ? req->to_i : req->i;

	set->holder[i] =
		disk_due(set->r->session, req->obj.disk, set->holder[i], req->request.boot);
}

static void req_done(struct node_request *request, const struct reply *reply)
{
	struct fsc_set_req *req = ddio_container_of(request, struct fsc_set_req, request);
	struct fsc_set *set = req->set;

	if (!reply->status) {
		fsc_node_answered(set->r, req_node(req));
		if (set->holder)
			req_note_holder(req);
		if (set->reply)
			set->reply(set, req, reply);
	} else if (fsc_status_unanswered(reply->status) && fsc_node_retry(set->r, req_node(req)) &&
		   !set->once) {
		fsc_retry_later(set->r, &req->retry, req_again);
		return;
	} else if (reply->status != DDIO_ST_NOT_FOUND || !set->missing_ok) {
		fsc_error_reply(&set->error, reply);
	}
	fsc_set_end(set);
}

static ssize_t req_put(struct fsc_set_req *req)
{
	struct node_request *r = &req->request;
	struct ddio_msg_obj_copy copy = { .from = req->obj.file, .disk = req->obj.disk };

	if (req->opcode != DDIO_OP_OBJ_COPY)
		return ddio_put_obj(r->inl, sizeof(r->inl), &req->obj);
	copy.to = *req->to;
	copy.from_offset = req->obj.offset;
	copy.to_offset = req->to_offset;
	copy.len = req->obj.len;
	return ddio_put_obj_copy(r->inl, sizeof(r->inl), &copy);
}

static void req_submit(struct fsc_set_req *req)
{
	struct fsc_set *set = req->set;
	struct node_request *r = &req->request;
	ssize_t n;

	if (fsc_closing(set->r->fs)) {
		fsc_error_set(&set->error, -ESHUTDOWN, FSC_CLOSING);
		fsc_set_end(set);
		return;
	}
	request_init(r, req->opcode, req_done, req);
	n = req_put(req);
	if (n < 0) {
		fsc_error_set(&set->error, (int)n, "the request is too long for a message");
		fsc_set_end(set);
		return;
	}
	r->fixed = r->inl;
	r->fixed_len = (size_t)n;
	r->in = req->opcode == DDIO_OP_OBJ_READ;
	r->bulk = req->niov ? req->obj.len : 0;
	/* A few bytes to be written follow the fixed record, copied. */
	if (req->niov == 1 && !r->in && req->obj.len <= sizeof(r->inl) - (size_t)n) {
		memcpy(r->inl + n, req->iov->iov_base, req->obj.len);
		r->fixed_len += req->obj.len;
	} else {
		r->iov = req->iov;
		r->n = req->niov;
	}
	request_disk(set->r->session, req->obj.disk, r);
}

void fsc_set_send(struct fsc_set *set, struct fsc_set_req *req)
{
	req->set = set;
	req->obj.file = set->rec->ref;
	req->obj.disk = set->rec->disks[req->i];
	set->left++;
	req_submit(req);
}

void fsc_set_range(struct fsc_set *set, uint16_t opcode, uint32_t flags, uint64_t from, uint64_t to,
		   bool all)
{
	const struct ddio_file_record *rec = set->rec;
	struct fsc_set_req *req;
	uint64_t lo, hi;
	uint32_t i;
	int err;

	fsc_set_begin(set);
	err = fsc_set_alloc(set, rec->ndisks);
	if (err)
		fsc_error_set(&set->error, err, "out of memory");
	for (i = 0; i < rec->ndisks && !err; i++) {
		lo = fsc_share(rec, i, from);
		hi = fsc_share(rec, i, to);
		if (lo == hi && !all)
			continue;
		req = &set->req[i];
		req->i = i;
		req->opcode = opcode;
		req->obj.flags = flags;
		req->obj.offset = opcode == DDIO_OP_OBJ_TRUNCATE ? 0 : lo;
		req->obj.len = hi - req->obj.offset;
		fsc_set_send(set, req);
	}
	fsc_set_end(set);
}
