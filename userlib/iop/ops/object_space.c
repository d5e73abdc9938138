// SPDX-License-Identifier: LGPL-2.1-or-later
/* The space that an object takes: counts it, and allocates it ahead. */
#include <errno.h>
#include <stdlib.h>
#include "iop/ops/handlers.h"
#include "iop/ops/object.h"

int serve_obj_stat(struct server_request *req, const void *payload)
{
	struct ddio_msg_obj_stat x = { 0 };
	int ret, err;

	if (!obj_decode(req, payload, req->msg.length, false, &ret))
		return ret;
	err = obj_get(req, false);
	if (err && err != -ENOENT)
		return 0;
	if (!err) {
		x.alloc = object_blocks(req->object) * req->obj.file.block;
		x.end = object_end(req->object) * req->obj.file.block;
	}
	SERVER_REPLY(req, obj_stat, &x);
	return 0;
}

static uint64_t first_block(const struct server_request *req)
{
	return req->obj.offset / req->obj.file.block;
}

/* Returns how many blocks the range touches. */
static uint64_t touched_blocks(const struct server_request *req)
{
	uint64_t end = req->obj.offset + req->obj.len, size = req->obj.file.block;

	return end / size + (end % size != 0) - first_block(req);
}

static int space_take(struct server_request *req)
{
	int err = object_reserve(req->object, first_block(req), touched_blocks(req));

	if (err)
		obj_fail(req, err, "allocating space");
	return err;
}

/* Finds the whole blocks within the range; there are none if *@end is not above *@first. */
static void whole_blocks(const struct server_request *req, uint64_t *first, uint64_t *end)
{
	uint32_t size = req->obj.file.block;

	*first = req->obj.offset / size + (req->obj.offset % size != 0);
	*end = (req->obj.offset + req->obj.len) / size;
}

/* Zeroes the blocks, then takes the space again, since the object may have been cut meanwhile. */
static void zero_now(struct server_request *req)
{
	int err = object_unwrite(req->object, req->first, req->count);

	if (err)
		obj_fail(req, err, "making its blocks read as zeros");
	else if (!space_take(req))
		obj_commit(req);
}

static void zero_whole(struct server_request *req)
{
	uint64_t first, end;

	whole_blocks(req, &first, &end);
	if (end > first)
		obj_quiet(req, first, end - first, zero_now);
	else
		server_reply(req, NULL, 0);
}

static void zero_tail(struct server_request *req)
{
	uint64_t to = req->obj.offset + req->obj.len, first, end, from;

	whole_blocks(req, &first, &end);
	from = end * req->obj.file.block;
	/* If the range lies within one block, the head was all of it. */
	obj_zero(req, end < first ? to : from, to, zero_whole);
}

static void zero_head(struct server_request *req)
{
	uint64_t to = req->obj.offset + req->obj.len, first, end;

	whole_blocks(req, &first, &end);
	if (to > first * req->obj.file.block)
		to = first * req->obj.file.block;
	obj_zero(req, req->obj.offset, to, zero_tail);
}

int serve_obj_allocate(struct server_request *req, const void *payload)
{
	int ret;

	if (!obj_decode(req, payload, req->msg.length, false, &ret))
		return ret;
	/* Checked before an object is made that no disk could hold. */
	if (touched_blocks(req) > ddio_disk_info(req->disk->disk)->size / req->obj.file.block) {
		obj_fail(req, -ENOSPC, "allocating more than the disk holds");
		return 0;
	}
	if (obj_get(req, true) || space_take(req))
		return 0;
	if (req->obj.flags & DDIO_OBJ_ZERO)
		obj_alone(req, zero_head);
	else
		server_reply(req, NULL, 0);
	return 0;
}
