// SPDX-License-Identifier: LGPL-2.1-or-later
/* Removes and truncates objects, and frees blocks in the middle of them. */
#include <errno.h>
#include "iop/ops/handlers.h"
#include "iop/ops/object.h"

/* From now on nothing makes an object of a file that is removed, whoever wanted to write to it. */
static void removed(const struct server_request *req)
{
	if (req->msg.opcode == DDIO_OP_OBJ_REMOVE && !(req->obj.flags & DDIO_OBJ_REPAIR))
		store_gone(req->disk->store, req->obj.file.id);
}

static void cut_now(struct server_request *req)
{
	int err;

	if (req->msg.opcode == DDIO_OP_OBJ_REMOVE)
		err = object_remove(req->object);
	else
		err = object_punch(req->object, req->first, req->count);
	if (err) {
		obj_fail(req, err, "freeing its blocks");
		return;
	}
	removed(req);
	obj_commit(req);
}

/* On a disk that has stopped, an object that is missing may only be one whose removal failed. */
static void nothing_to_cut(struct server_request *req)
{
	int err = store_stopped(req->disk->store);

	if (err) {
		obj_fail(req, err, "freeing its blocks");
		return;
	}
	removed(req);
	server_reply(req, NULL, 0);
}

/* Returns true if there is something to cut; otherwise the request is over, and its handler returns *@ret. */
static bool cut_begin(struct server_request *req, const void *payload, int *ret)
{
	int err = 0;

	if (!obj_decode(req, payload, req->msg.length, false, ret))
		return false;
	/* The object's file is gone: only the store still knows its layout. */
	if (req->msg.opcode == DDIO_OP_OBJ_REMOVE && req->obj.flags & DDIO_OBJ_REPAIR)
		err = store_ref(req->disk->store, req->obj.file.id, &req->obj.file);
	if (err && err != -ENOENT) {
		obj_fail(req, err, "finding the object");
		return false;
	}
	if (!err)
		err = req->msg.opcode == DDIO_OP_OBJ_REMOVE ? obj_get_remains(req)
							    : obj_get_to_change(req, false);
	if (err == -ENOENT)
		nothing_to_cut(req);
	return !err;
}

int serve_obj_remove(struct server_request *req, const void *payload)
{
	int ret;

	if (cut_begin(req, payload, &ret))
		obj_quiet(req, 0, UINT64_MAX, cut_now);
	return ret;
}

/* Returns the first block that lies wholly behind @at. */
static uint64_t block_behind(const struct server_request *req, uint64_t at)
{
	uint32_t size = req->obj.file.block;

	return at / size + (at % size != 0);
}

static void truncate_rest(struct server_request *req)
{
	uint64_t first = block_behind(req, req->obj.offset + req->obj.len);

	obj_quiet(req, first, UINT64_MAX - first, cut_now);
}

static void truncate_edge(struct server_request *req)
{
	uint64_t size = req->obj.offset + req->obj.len;

	/*
	 * Bytes cut off within a block must read as zeros if the file grows again.  They are on the disk before the blocks
	 * behind them are cut off in the records, and the commit flushes both: no crash keeps the cut without the zeros.
	 */
	obj_zero(req, size, block_behind(req, size) * req->obj.file.block, truncate_rest);
}

int serve_obj_truncate(struct server_request *req, const void *payload)
{
	int ret;

	if (cut_begin(req, payload, &ret))
		obj_alone(req, truncate_edge);
	return ret;
}

/* Returns where the first block that lies wholly within the range begins, or where the range ends. */
static uint64_t punch_head(const struct server_request *req)
{
	uint64_t end = req->obj.offset + req->obj.len;
	uint64_t head = block_behind(req, req->obj.offset) * req->obj.file.block;

	return head < end ? head : end;
}

static void punch_rest(struct server_request *req)
{
	uint64_t first = block_behind(req, req->obj.offset);
	uint64_t end = (req->obj.offset + req->obj.len) / req->obj.file.block;

	if (end > first)
		obj_quiet(req, first, end - first, cut_now);
	else
		obj_commit(req);
}

static void punch_tail(struct server_request *req)
{
	uint64_t end = req->obj.offset + req->obj.len;
	uint64_t tail = end / req->obj.file.block * req->obj.file.block;

	obj_zero(req, tail < punch_head(req) ? end : tail, end, punch_rest);
}

static void punch_edge(struct server_request *req)
{
	obj_zero(req, req->obj.offset, punch_head(req), punch_tail);
}

int serve_obj_punch(struct server_request *req, const void *payload)
{
	int ret;

	if (cut_begin(req, payload, &ret))
		obj_alone(req, punch_edge);
	return ret;
}
