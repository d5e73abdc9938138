// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copies bytes of one object into another on the same disk.  Blocks that lie alike in both are shared, see object_share.c;
 * the others are copied through the cache, a buffer at a time.  Holes stay holes: where the source has no data, the target is cleared only as far as it has some.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ops/handlers.h"
#include "iop/ops/object.h"

#define COPY_BUF (256u << 10)

/**
 * struct copy - in the request's data; its object is the target
 * @share: first, blocks that are shared; @from of it is the source
 * @bytes: nothing more is shared
 * @done: bytes so far; @len: of the piece under way
 * @err, @what: why it failed
 * @busy: copy_run() is up the stack; @again: it must go on with the next piece
 */
struct copy {
	struct obj_share share;
	struct ddio_msg_obj_copy msg;
	uint64_t done, len;
	int err;
	const char *what;
	bool bytes, busy, again;
};

static void copy_run(struct server_request *req);

static void copy_end(struct server_request *req)
{
	struct copy *copy = req->data;
	struct ddio_msg_obj_data x = { .len = copy->done };

	object_put(copy->share.from);
	if (copy->err)
		obj_fail(req, copy->err, copy->what);
	else
		SERVER_REPLY(req, obj_data, &x);
}

/* Returns how many bytes from @at on are alike: all are data, or none are. */
static uint64_t data_run(struct server_request *req, const struct object *obj, uint64_t at,
			 uint64_t len, bool *data)
{
	uint32_t size = object_file(obj)->block;
	uint64_t block = at / size, start, run, dirty;
	bool there, written;

	there = object_lookup(obj, block, &start, &run, &written);
	*data = there && (written || cache_newer(req->disk->cache, obj, block));
	if (there && !written) {
		if (run > len / size + 1)
			run = len / size + 1;
		dirty = cache_next_newer(req->disk->cache, obj, block, run) - block;
		run = *data ? 1 : dirty;
	}
	/* A hole's run may go on to the end of all numbers. */
	if (run > len / size + 1)
		return len;
	run = (block + run) * size - at;
	return run < len ? run : len;
}

/* Ends a piece, and goes on with the next. */
static void copy_next(struct server_request *req, int err, const char *what)
{
	struct copy *copy = req->data;

	if (!err)
		copy->done += copy->len;
	copy->err = err;
	copy->what = what;
	copy->again = true;
	if (!copy->busy)
		copy_run(req);
}

static void copy_written(struct cache_io *io, int status)
{
	copy_next(io->arg, status, "writing a copy");
}

static void copy_write(struct server_request *req)
{
	struct copy *copy = req->data;

	req->io.obj = req->object;
	req->io.offset = copy->msg.to_offset + copy->done;
	req->io.len = copy->len;
	req->io.buf = req->buf;
	req->io.done = copy_written;
	cache_write(req->disk->cache, &req->io);
}

static void copy_read(struct cache_io *io, int status)
{
	if (status)
		copy_next(io->arg, status, "reading the source of a copy");
	else
		copy_write(io->arg);
}

/* Returns how many whole blocks of both objects are to be copied next; what is left of a block of either is copied. */
static uint64_t whole_blocks(const struct copy *copy)
{
	uint32_t size = copy->msg.to.block;
	uint64_t from = copy->msg.from_offset + copy->done, to = copy->msg.to_offset + copy->done;

	if (copy->bytes || copy->msg.from.block != size || from % size || to % size)
		return 0;
	return (copy->msg.len - copy->done) / size;
}

static void copy_shared(struct server_request *req, int err)
{
	struct copy *copy = req->data;

	copy->len = copy->share.shared * copy->msg.to.block;
	copy->bytes = err == -EBUSY;
	copy_next(req, err == -EBUSY ? 0 : err, "sharing blocks");
}

static void copy_share(struct server_request *req, uint64_t blocks)
{
	struct copy *copy = req->data;

	copy->share.at = (copy->msg.from_offset + copy->done) / copy->msg.to.block;
	copy->share.first = (copy->msg.to_offset + copy->done) / copy->msg.to.block;
	copy->share.count = blocks;
	copy->share.done = copy_shared;
	obj_share(req, &copy->share);
}

static void copy_piece(struct server_request *req)
{
	struct copy *copy = req->data;
	uint64_t left = copy->msg.len - copy->done;
	uint64_t from = copy->msg.from_offset + copy->done;
	uint64_t to = copy->msg.to_offset + copy->done, blocks = whole_blocks(copy);
	bool data, over;

	if (blocks) {
		copy_share(req, blocks);
		return;
	}
	copy->len = data_run(req, copy->share.from, from, left, &data);
	if (!data) {
		copy->len = data_run(req, req->object, to, copy->len, &over);
		if (!over) {
			copy_next(req, 0, NULL);
			return;
		}
	}
	if (copy->len > req->len)
		copy->len = req->len;
	if (!data) {
		memset(req->buf, 0, copy->len);
		copy_write(req);
		return;
	}
	req->io.obj = copy->share.from;
	req->io.offset = from;
	req->io.len = copy->len;
	req->io.buf = req->buf;
	req->io.done = copy_read;
	cache_read(req->disk->cache, &req->io);
}

/* Copies piece after piece; after one that ends at once it goes on here, not deeper in the stack. */
static void copy_run(struct server_request *req)
{
	struct copy *copy = req->data;

	copy->busy = true;
	for (;;) {
		if (copy->err || copy->done == copy->msg.len) {
			copy_end(req);
			return;
		}
		copy->again = false;
		copy_piece(req);
		if (!copy->again)
			break;
	}
	copy->busy = false;
}

/* Returns true if the copy may begin; otherwise the request is over, and its handler returns *@ret. */
static bool copy_decode(struct server_request *req, const void *payload, int *ret)
{
	struct copy *copy = req->data;
	struct ddio_msg_obj_copy *msg = &copy->msg;
	int err = ddio_get_obj_copy(payload, req->msg.length, msg);

	*ret = 0;
	if (err) {
		*ret = server_fail_decode(req, err, "files, flags, offsets or length");
		return false;
	}
	req->obj = (struct ddio_msg_obj){
		.file = msg->to, .disk = msg->disk, .offset = msg->to_offset, .len = msg->len
	};
	req->disk = reactor_disk(req->reactor, msg->disk);
	if (!req->disk) {
		obj_fail_disk(req);
		return false;
	}
	if (msg->from.id == msg->to.id && msg->from_offset < msg->to_offset + msg->len &&
	    msg->to_offset < msg->from_offset + msg->len) {
		obj_fail(req, -EINVAL, "copying bytes over themselves");
		return false;
	}
	return true;
}

/* A file that has nothing on this disk is all hole: an empty object stands for it. */
static int copy_objects(struct server_request *req)
{
	struct copy *copy = req->data;
	int err = obj_get_to_change(req, true);

	if (err)
		return err;
	err = store_get(req->disk->store, &copy->msg.from, true, &copy->share.from);
	if (err)
		obj_fail(req, err, "finding the source of a copy");
	return err;
}

int serve_obj_copy(struct server_request *req, const void *payload)
{
	struct copy *copy = calloc(1, sizeof(*copy));
	uint64_t len;
	int ret;

	req->data = copy;
	if (!copy) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for a copy");
		return 0;
	}
	if (!copy_decode(req, payload, &ret) || copy_objects(req))
		return ret;
	len = req->obj.len < COPY_BUF ? req->obj.len : COPY_BUF;
	if (server_request_buf(req, len))
		copy->err = -ENOMEM;
	copy->what = "copying";
	copy_run(req);
	return ret;
}
