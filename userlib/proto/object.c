// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of object requests and their replies. */
#include <stdlib.h>
#include "proto/codec.h"

enum { EXTENT_LEN = 28, ID_LEN = 8 };

#define OBJ_FLAGS \
	(DDIO_OBJ_NO_PREFETCH | DDIO_OBJ_ALL | DDIO_OBJ_REPAIR | DDIO_OBJ_ZERO | DDIO_OBJ_STREAM)

ssize_t ddio_put_obj(void *buf, size_t cap, const struct ddio_msg_obj *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_file_ref(&w, &x->file);
	ddio_wr_u32(&w, x->disk);
	ddio_wr_u32(&w, x->flags);
	ddio_wr_u64(&w, x->offset);
	ddio_wr_u64(&w, x->len);
	if (x->flags & DDIO_OBJ_STREAM)
		ddio_wr_u64(&w, x->stream);
	return ddio_wr_end(&w);
}

/* Requests about a whole disk name no file: all of the reference is zero then. */
static bool no_file(const struct ddio_file_ref *ref)
{
	return !ref->id && !ref->seed && !ref->block && !ref->layout;
}

int ddio_get_obj(const void *buf, size_t len, struct ddio_msg_obj *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_file_ref(&r, &x->file);
	x->disk = ddio_rd_u32(&r);
	x->flags = ddio_rd_u32(&r);
	x->offset = ddio_rd_u64(&r);
	x->len = ddio_rd_u64(&r);
	x->stream = x->flags & DDIO_OBJ_STREAM ? ddio_rd_u64(&r) : 0;
	ddio_rd_check(&r, !(x->flags & ~OBJ_FLAGS), -EPROTO);
	ddio_rd_check(&r, no_file(&x->file) || ddio_file_ref_ok(&x->file), -EINVAL);
	ddio_rd_check(&r, x->offset <= DDIO_MAX_FILE && x->len <= DDIO_MAX_FILE - x->offset,
		      -EMSGSIZE);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_obj_data(void *buf, size_t cap, const struct ddio_msg_obj_data *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->len);
	ddio_wr_u32(&w, x->hit);
	ddio_wr_u32(&w, x->disk_reqs);
	return ddio_wr_end(&w);
}

int ddio_get_obj_data(const void *buf, size_t len, struct ddio_msg_obj_data *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->len = ddio_rd_u64(&r);
	x->hit = ddio_rd_u32(&r);
	x->disk_reqs = ddio_rd_u32(&r);
	ddio_rd_check(&r, x->hit <= 1, -EINVAL);
	ddio_rd_check(&r, x->len <= DDIO_MAX_BULK, -EMSGSIZE);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_extents(void *buf, size_t cap, const struct ddio_msg_extents *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);
	uint32_t i;

	ddio_wr_u32(&w, x->n);
	ddio_wr_u32(&w, x->more);
	for (i = 0; i < x->n; i++) {
		ddio_wr_u64(&w, x->ext[i].block);
		ddio_wr_u64(&w, x->ext[i].start);
		ddio_wr_u64(&w, x->ext[i].count);
		ddio_wr_u32(&w, x->ext[i].flags);
	}
	return ddio_wr_end(&w);
}

static void rd_extent(struct ddio_rd *r, struct ddio_wire_extent *e)
{
	const uint64_t max = DDIO_MAX_FILE / DDIO_MIN_BLOCK;

	e->block = ddio_rd_u64(r);
	e->start = ddio_rd_u64(r);
	e->count = ddio_rd_u64(r);
	e->flags = ddio_rd_u32(r);
	ddio_rd_check(r, !(e->flags & ~DDIO_EXTENT_UNWRITTEN), -EPROTO);
	ddio_rd_check(r, e->count > 0, -EINVAL);
	ddio_rd_check(r, e->start <= DDIO_MAX_FILE && e->block <= max && e->count <= max,
		      -EMSGSIZE);
}

/* The head of a list of one message: how many follow, of at least @min bytes each. */
static uint32_t rd_list_head(struct ddio_rd *r, uint32_t *more, size_t min)
{
	uint32_t n = ddio_rd_u32(r);

	*more = ddio_rd_u32(r);
	ddio_rd_check(r, *more <= 1, -EINVAL);
	ddio_rd_check(r, n <= DDIO_MAX_BATCH, -EMSGSIZE);
	return ddio_rd_fits(r, n, min) ? n : 0;
}

int ddio_get_extents(const void *buf, size_t len, struct ddio_msg_extents *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	uint32_t i;
	int err;

	memset(x, 0, sizeof(*x));
	x->n = rd_list_head(&r, &x->more, EXTENT_LEN);
	x->ext = ddio_rd_alloc(&r, x->n, sizeof(*x->ext));
	for (i = 0; i < x->n && !r.err; i++)
		rd_extent(&r, &x->ext[i]);
	err = ddio_rd_end(&r);
	if (err) {
		free(x->ext);
		memset(x, 0, sizeof(*x));
	}
	return err;
}

ssize_t ddio_put_obj_list(void *buf, size_t cap, const struct ddio_msg_obj_list *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);
	uint32_t i;

	ddio_wr_u32(&w, x->n);
	ddio_wr_u32(&w, x->more);
	for (i = 0; i < x->n; i++)
		ddio_wr_u64(&w, x->ids[i]);
	return ddio_wr_end(&w);
}

int ddio_get_obj_list(const void *buf, size_t len, struct ddio_msg_obj_list *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	uint32_t i;
	int err;

	memset(x, 0, sizeof(*x));
	x->n = rd_list_head(&r, &x->more, ID_LEN);
	x->ids = ddio_rd_alloc(&r, x->n, sizeof(*x->ids));
	for (i = 0; i < x->n && !r.err; i++) {
		x->ids[i] = ddio_rd_u64(&r);
		ddio_rd_check(&r, x->ids[i] != 0, -EINVAL);
	}
	err = ddio_rd_end(&r);
	if (err) {
		free(x->ids);
		memset(x, 0, sizeof(*x));
	}
	return err;
}

ssize_t ddio_put_fsck(void *buf, size_t cap, const struct ddio_msg_fsck *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->objects);
	ddio_wr_u64(&w, x->extents);
	ddio_wr_u64(&w, x->blocks);
	ddio_wr_u64(&w, x->free_bytes);
	ddio_wr_u64(&w, x->problems);
	ddio_wr_u64(&w, x->repaired);
	ddio_wr_str(&w, x->text, sizeof(x->text));
	return ddio_wr_end(&w);
}

int ddio_get_fsck(const void *buf, size_t len, struct ddio_msg_fsck *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->objects = ddio_rd_u64(&r);
	x->extents = ddio_rd_u64(&r);
	x->blocks = ddio_rd_u64(&r);
	x->free_bytes = ddio_rd_u64(&r);
	x->problems = ddio_rd_u64(&r);
	x->repaired = ddio_rd_u64(&r);
	ddio_rd_str(&r, x->text, sizeof(x->text));
	return ddio_rd_end(&r);
}
