// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of object requests and their replies. */
#include <stdlib.h>
#include "proto/codec.h"

enum { EXTENT_LEN = 28, ID_LEN = 8 };

#define OBJ_FLAGS                                                                                  \
	(DDIO_OBJ_NO_PREFETCH | DDIO_OBJ_ALL | DDIO_OBJ_REPAIR | DDIO_OBJ_ZERO | DDIO_OBJ_STREAM | \
	 DDIO_OBJ_DROP | DDIO_OBJ_COMMIT | DDIO_OBJ_DURABLE)

/* Returns true if the reference names no file, as in requests about a whole disk: all is zero. */
static bool no_file(const struct ddio_file_ref *ref)
{
	return !ref->id && !ref->seed && !ref->block && !ref->layout;
}

static inline void code_obj(struct ddio_coder *c, struct ddio_msg_obj *x)
{
	code_file_ref(c, &x->file);
	code_u32(c, &x->disk);
	code_u32(c, &x->flags);
	code_u64(c, &x->offset);
	code_u64(c, &x->len);
	if (x->flags & DDIO_OBJ_STREAM)
		code_u64(c, &x->stream);
	else if (c->reading)
		x->stream = 0;
	code_check(c, !(x->flags & ~OBJ_FLAGS), -EPROTO);
	code_check(c, no_file(&x->file) || file_ref_ok(&x->file), -EINVAL);
	code_check(c, x->offset <= DDIO_MAX_FILE && x->len <= DDIO_MAX_FILE - x->offset, -EMSGSIZE);
}
CODEC(obj, ddio_msg_obj)

static inline void code_obj_data(struct ddio_coder *c, struct ddio_msg_obj_data *x)
{
	code_u64(c, &x->len);
	code_u32(c, &x->hit);
	code_u32(c, &x->disk_reqs);
	code_check(c, x->hit <= 1, -EINVAL);
	code_check(c, x->len <= DDIO_MAX_BULK, -EMSGSIZE);
}
CODEC(obj_data, ddio_msg_obj_data)

/* Codes the head of a list: the number of entries in this message, and if there are more. */
static void code_list_head(struct ddio_coder *c, uint32_t *n, uint32_t *more)
{
	code_u32(c, n);
	code_u32(c, more);
	code_check(c, *more <= 1, -EINVAL);
	code_check(c, *n <= DDIO_MAX_BATCH, -EMSGSIZE);
}

static void code_extent(struct ddio_coder *c, struct ddio_wire_extent *e)
{
	const uint64_t max = DDIO_MAX_FILE / DDIO_MIN_BLOCK;

	code_u64(c, &e->block);
	code_u64(c, &e->start);
	code_u64(c, &e->count);
	code_flags(c, &e->flags, DDIO_EXTENT_UNWRITTEN);
	code_check(c, e->count > 0, -EINVAL);
	code_check(c, e->start <= DDIO_MAX_FILE && e->block <= max && e->count <= max, -EMSGSIZE);
}

static inline void code_extents(struct ddio_coder *c, struct ddio_msg_extents *x)
{
	uint32_t i;

	code_list_head(c, &x->n, &x->more);
	if (c->reading)
		x->ext = code_alloc(c, x->n, sizeof(*x->ext), EXTENT_LEN);
	for (i = 0; i < x->n && coder_ok(c); i++)
		code_extent(c, &x->ext[i]);
}

static void release_extents(struct ddio_msg_extents *x)
{
	free(x->ext);
	memset(x, 0, sizeof(*x));
}
CODEC_OWNING(extents, ddio_msg_extents, release_extents)

static inline void code_obj_list(struct ddio_coder *c, struct ddio_msg_obj_list *x)
{
	uint32_t i;

	code_list_head(c, &x->n, &x->more);
	if (c->reading)
		x->ids = code_alloc(c, x->n, sizeof(*x->ids), ID_LEN);
	for (i = 0; i < x->n && coder_ok(c); i++) {
		code_u64(c, &x->ids[i]);
		code_check(c, x->ids[i] != 0, -EINVAL);
	}
}

static void release_list(struct ddio_msg_obj_list *x)
{
	free(x->ids);
	memset(x, 0, sizeof(*x));
}
CODEC_OWNING(obj_list, ddio_msg_obj_list, release_list)

static inline void code_fsck(struct ddio_coder *c, struct ddio_msg_fsck *x)
{
	code_u64(c, &x->objects);
	code_u64(c, &x->extents);
	code_u64(c, &x->blocks);
	code_u64(c, &x->free_bytes);
	code_u64(c, &x->problems);
	code_u64(c, &x->repaired);
	code_str(c, x->text, sizeof(x->text));
}
CODEC(fsck, ddio_msg_fsck)

static inline void code_obj_stat(struct ddio_coder *c, struct ddio_msg_obj_stat *x)
{
	code_u64(c, &x->alloc);
	code_u64(c, &x->end);
	code_check(c, x->alloc <= DDIO_MAX_FILE && x->end <= DDIO_MAX_FILE, -EMSGSIZE);
}
CODEC(obj_stat, ddio_msg_obj_stat)

static inline void code_obj_copy(struct ddio_coder *c, struct ddio_msg_obj_copy *x)
{
	code_file_ref(c, &x->from);
	code_file_ref(c, &x->to);
	code_u32(c, &x->disk);
	code_flags(c, &x->flags, 0);
	code_u64(c, &x->from_offset);
	code_u64(c, &x->to_offset);
	code_u64(c, &x->len);
	code_check(c, file_ref_ok(&x->from) && file_ref_ok(&x->to), -EINVAL);
	code_check(c, x->len > 0, -EINVAL);
	code_check(c, x->len <= DDIO_MAX_BULK, -EMSGSIZE);
	code_check(c, x->from_offset <= DDIO_MAX_FILE - x->len, -EMSGSIZE);
	code_check(c, x->to_offset <= DDIO_MAX_FILE - x->len, -EMSGSIZE);
}
CODEC(obj_copy, ddio_msg_obj_copy)

static inline void code_obj_clone(struct ddio_coder *c, struct ddio_msg_obj_clone *x)
{
	code_file_ref(c, &x->to);
	code_file_ref(c, &x->from);
	code_u32(c, &x->disk);
	code_flags(c, &x->flags, DDIO_OBJ_CLONE_FREEZE);
	code_u64(c, &x->hold);
	code_u64(c, &x->len);
	code_check(c, file_ref_ok(&x->from) && file_ref_ok(&x->to), -EINVAL);
	code_check(c, x->from.id != x->to.id && x->from.block == x->to.block, -EINVAL);
	code_check(c, x->hold > 0 && x->hold <= DDIO_MAX_FILE, -EINVAL);
	code_check(c, x->len <= DDIO_MAX_FILE, -EMSGSIZE);
}
CODEC(obj_clone, ddio_msg_obj_clone)

static inline void code_obj_mend(struct ddio_coder *c, struct ddio_msg_obj_mend *x)
{
	code_file_ref(c, &x->file);
	code_u32(c, &x->disk);
	code_reserved(c, &x->reserved);
	code_u64(c, &x->at);
	code_u64(c, &x->longest);
	code_u64(c, &x->rate);
	code_check(c, file_ref_ok(&x->file), -EINVAL);
	code_check(c, x->at <= DDIO_MAX_FILE, -EMSGSIZE);
}
CODEC(obj_mend, ddio_msg_obj_mend)

static inline void code_mended(struct ddio_coder *c, struct ddio_msg_mended *x)
{
	code_flags(c, &x->flags, DDIO_MENDED_ALL | DDIO_MENDED_WAITS | DDIO_MENDED_BUSY);
	code_reserved(c, &x->reserved);
	code_u64(c, &x->at);
	code_u64(c, &x->moved);
	code_u64(c, &x->shared);
	code_u64(c, &x->reserved_blocks);
	code_u64(c, &x->space);
	code_u64(c, &x->bad);
	code_check(c, x->at <= DDIO_MAX_FILE, -EMSGSIZE);
}
CODEC(mended, ddio_msg_mended)

static inline void code_disk_space(struct ddio_coder *c, struct ddio_msg_disk_space *x)
{
	code_u64(c, &x->free);
	code_u64(c, &x->ranges);
	code_u64(c, &x->longest);
	code_u64(c, &x->shared);
}
CODEC(disk_space, ddio_msg_disk_space)
