// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/objio.h"

/* Written data up to this size are copied after the fixed record. */
enum { OBJ_FIXED = 48, SMALL = REQUEST_INLINE - OBJ_FIXED };

static void req_reset(struct objreq *req)
{
	free(req->iov_alloc);
	free(req->bounce);
	req->iov_alloc = NULL;
	req->bounce = NULL;
	req->iov = &req->iov_one;
	req->niov = 0;
}

static struct objreq *req_get(struct objio *io)
{
	struct objreq *req;

	if (ddio_list_empty(&io->idle)) {
		req = calloc(1, sizeof(*req));
		if (!req)
			return NULL;
		req->io = io;
		ddio_list_init(&req->link);
	} else {
		req = ddio_list_first(&io->idle, struct objreq, link);
		ddio_list_del(&req->link);
	}
	req_reset(req);
	return req;
}

static void req_put(struct objreq *req)
{
	req_reset(req);
	ddio_list_push(&req->link, &req->io->idle);
}

static void objio_check(struct objio *io)
{
	if (io->busy || io->over || io->outstanding || (io->open && !io->error.status))
		return;
	io->over = true;
	io->done(io);
}

static void req_failed(struct objreq *req, const struct reply *reply)
{
	const struct objio *io = req->io;
	uint64_t block = req->obj.offset / io->rec->ref.block * io->rec->ndisks + req->i;
	struct ddio_session *s = io->session;

	error_status(&req->io->error, reply->altered ? DDIO_ST_IO : reply->status,
		     "%s of %.200s: disk %.60s, block %llu, file byte %llu: %.170s",
		     io->writing ? "write" : "read", io->rec->name,
		     req->obj.disk < s->conf->ndisks ? s->conf->disks[req->obj.disk].name
						     : "unknown",
		     (unsigned long long)block,
		     (unsigned long long)(block * io->rec->ref.block +
					  req->obj.offset % io->rec->ref.block),
		     reply->text ? reply->text : ddio_status_text(reply->status));
}

static uint32_t objio_window(const struct objio *io)
{
	return io->window ? io->window : OBJIO_WINDOW;
}

static void objio_fill(struct objio *io, uint32_t i);

static void req_took(struct objreq *req, const struct reply *reply)
{
	struct objio *io = req->io;
	struct ddio_msg_obj_data data;

	io->requests++;
	io->bytes += req->obj.len;
	if (io->writing)
		return;
	if (!ddio_get_obj_data(reply->payload, reply->len, &data))
		io->disk_reqs += data.disk_reqs;
	if (req->bounce && io->take)
		io->take(io, req);
}

static void req_done(struct node_request *request, const struct reply *reply)
{
	struct objreq *req = ddio_container_of(request, struct objreq, request);
	struct objio *io = req->io;
	uint32_t i = req->i;

	if (!reply->status)
		req_took(req, reply);
	else if (!io->error.status)
		req_failed(req, reply);
	ddio_list_del(&req->link);
	req_put(req);
	io->outstanding--;
	io->disk[i].outstanding--;
	io->busy++;
	if (!io->error.status)
		objio_fill(io, i);
	else if (!io->stopping)
		objio_stop(io, &io->error);
	io->busy--;
	objio_check(io);
}

static int req_send(struct objreq *req)
{
	struct objio *io = req->io;
	struct node_request *r = &req->request;
	ssize_t n;

	req->obj.file = io->rec->ref;
	req->obj.disk = io->rec->disks[req->i];
	req->obj.flags = 0;
	request_init(r, io->writing ? DDIO_OP_OBJ_WRITE : DDIO_OP_OBJ_READ, req_done, req);
	n = ddio_put_obj(r->inl, sizeof(r->inl), &req->obj);
	if (n < 0)
		return (int)n;
	r->fixed = r->inl;
	r->fixed_len = (size_t)n;
	r->in = !io->writing;
	r->bulk = req->obj.len;
	if (io->writing && req->niov == 1 && req->obj.len <= SMALL && n == OBJ_FIXED) {
		memcpy(r->inl + n, req->iov->iov_base, req->obj.len);
		r->fixed_len += req->obj.len;
	} else {
		r->iov = req->iov;
		r->n = req->niov;
	}
	ddio_list_add(&req->link, &io->active);
	request_disk(io->session, req->obj.disk, r);
	return 0;
}

static void fill_failed(struct objio *io, int err)
{
	if (!io->error.status)
		error_set(&io->error, err, "%s of %.200s: %s", io->writing ? "write" : "read",
			  io->rec->name, strerror(-err));
}

static void objio_fill(struct objio *io, uint32_t i)
{
	struct objio_disk *disk = &io->disk[i];
	struct objreq *req;
	int ret;

	while (!io->error.status && !disk->ended && disk->outstanding < objio_window(io)) {
		req = req_get(io);
		ret = -ENOMEM;
		if (req) {
			req->i = i;
			ret = io->next(io, req);
		}
		if (ret > 0) {
			io->outstanding++;
			if (++disk->outstanding > io->most)
				io->most = disk->outstanding;
			ret = req_send(req);
			if (!ret)
				continue;
			io->outstanding--;
			disk->outstanding--;
		}
		if (req)
			req_put(req);
		disk->ended = true;
		io->open--;
		if (ret < 0)
			fill_failed(io, ret);
	}
}

void objio_begin(struct objio *io)
{
	uint32_t i;

	ddio_list_init(&io->active);
	ddio_list_init(&io->idle);
	error_clear(&io->error);
	io->disk = calloc(io->rec->ndisks, sizeof(*io->disk));
	if (!io->disk) {
		fill_failed(io, -ENOMEM);
		objio_check(io);
		return;
	}
	io->open = io->rec->ndisks;
	io->busy = 1;
	for (i = 0; i < io->rec->ndisks; i++)
		objio_fill(io, i);
	if (io->error.status && !io->stopping)
		objio_stop(io, &io->error);
	io->busy = 0;
	objio_check(io);
}

void objio_again(struct objio *io)
{
	objio_free(io);
	io->over = false;
	objio_begin(io);
}

void objio_stop(struct objio *io, const struct error *error)
{
	struct objreq *req, *tmp;

	error_first(&io->error, error);
	io->stopping = true;
	io->busy++;
	ddio_list_for_each_entry_safe(req, tmp, &io->active, link) {
		/*
		 * The node may carry out the write at any time.  That must not be after the call has
		 * returned, over what was written or cut since.
		 */
		if (io->writing && request_left(&req->request))
			continue;
		if (!request_cancel(&req->request))
			continue;
		ddio_list_del(&req->link);
		io->outstanding--;
		io->disk[req->i].outstanding--;
		req_put(req);
	}
	io->busy--;
	objio_check(io);
}

void objio_free(struct objio *io)
{
	struct objreq *req;

	while (io->idle.next && !ddio_list_empty(&io->idle)) {
		req = ddio_list_first(&io->idle, struct objreq, link);
		ddio_list_del(&req->link);
		free(req);
	}
	free(io->disk);
	io->disk = NULL;
}
