// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Codecs of memory that an I/O processor shares with members, and shows to mounts, on its machine; and of streams that a connection
 * carries.
 */
#include <stdlib.h>
#include "proto/codec.h"

enum { SLOT_AT_LEN = 32, COPIED_LEN = 16 };

static inline void code_memory(struct ddio_coder *c, struct ddio_msg_memory *x)
{
	code_bytes(c, x->token, sizeof(x->token));
	code_str(c, x->name, sizeof(x->name));
	code_check(c, x->name[0] != '\0', -EINVAL);
}
CODEC(memory, ddio_msg_memory)

static inline void code_share(struct ddio_coder *c, struct ddio_msg_share *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_bytes(c, x->token, sizeof(x->token));
	code_u32(c, &x->writing);
	code_reserved(c, &x->reserved);
	code_str(c, x->name, sizeof(x->name));
	code_check(c, x->writing <= 1 && x->name[0] != '\0', -EINVAL);
}
CODEC(share, ddio_msg_share)

static inline void code_share_taken(struct ddio_coder *c, struct ddio_msg_share_taken *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_u32(c, &x->writing);
	code_reserved(c, &x->reserved);
	code_check(c, x->writing <= 1, -EINVAL);
}
CODEC(share_taken, ddio_msg_share_taken)

static inline void code_show(struct ddio_coder *c, struct ddio_msg_show *x)
{
	code_bytes(c, x->token, sizeof(x->token));
	code_u32(c, &x->disk);
	code_reserved(c, &x->reserved);
	code_str(c, x->name, sizeof(x->name));
	code_check(c, x->name[0] != '\0', -EINVAL);
}
CODEC(show, ddio_msg_show)

/* Returns true if the largest file can have a block of this number. */
static bool number_ok(uint64_t block)
{
	return block <= DDIO_MAX_FILE / DDIO_MIN_BLOCK;
}

static inline void code_slot_at(struct ddio_coder *c, struct ddio_slot_at *at)
{
	code_u64(c, &at->block);
	code_u64(c, &at->offset);
	code_u32(c, &at->disk);
	code_u32(c, &at->len);
	code_u32(c, &at->slot);
	code_u32(c, &at->flags);
	code_check(c, !(at->flags & ~DDIO_SLOT_PACKED), -EPROTO);
	code_check(c, at->len > 0, -EINVAL);
	code_check(c, number_ok(at->block) && at->len <= DDIO_MAX_BLOCK, -EMSGSIZE);
}

static inline void code_coll_slots(struct ddio_coder *c, struct ddio_msg_coll_slots *x)
{
	uint32_t i;

	code_u64(c, &x->op);
	code_u32(c, &x->handle);
	code_u32(c, &x->n);
	code_check(c, x->op && x->n, -EINVAL);
	code_check(c, x->n <= DDIO_MAX_BATCH, -EMSGSIZE);
	if (c->reading)
		x->at = code_alloc(c, x->n, sizeof(*x->at), SLOT_AT_LEN);
	for (i = 0; i < x->n && coder_ok(c); i++)
		code_slot_at(c, &x->at[i]);
}

static void release_slots(struct ddio_msg_coll_slots *x)
{
	free(x->at);
	x->at = NULL;
	x->n = 0;
}
CODEC_OWNING(coll_slots, ddio_msg_coll_slots, release_slots)

static inline void code_copied(struct ddio_coder *c, struct ddio_copied *copied)
{
	code_u64(c, &copied->block);
	code_u32(c, &copied->disk);
	code_u32(c, &copied->slot);
	code_check(c, number_ok(copied->block), -EMSGSIZE);
}

static inline void code_coll_copied(struct ddio_coder *c, struct ddio_msg_coll_copied *x)
{
	uint32_t i;

	code_bytes(c, x->group, sizeof(x->group));
	code_u64(c, &x->op);
	code_u32(c, &x->rank);
	code_u32(c, &x->n);
	code_check(c, x->op && x->n, -EINVAL);
	code_check(c, x->n <= DDIO_MAX_BATCH && x->rank < DDIO_MAX_MEMBERS, -EMSGSIZE);
	if (c->reading)
		x->copied = code_alloc(c, x->n, sizeof(*x->copied), COPIED_LEN);
	for (i = 0; i < x->n && coder_ok(c); i++)
		code_copied(c, &x->copied[i]);
}

static void release_copied(struct ddio_msg_coll_copied *x)
{
	free(x->copied);
	x->copied = NULL;
	x->n = 0;
}
CODEC_OWNING(coll_copied, ddio_msg_coll_copied, release_copied)

static inline void code_mux_open(struct ddio_coder *c, struct ddio_msg_mux_open *x)
{
	code_u32(c, &x->id);
	code_u32(c, &x->node);
	code_u32(c, &x->reactor);
	code_reserved(c, &x->reserved);
	code_check(c, x->id, -EINVAL);
}
CODEC(mux_open, ddio_msg_mux_open)

static inline void code_mux_data(struct ddio_coder *c, struct ddio_msg_mux_data *x)
{
	code_u32(c, &x->id);
	code_reserved(c, &x->reserved);
	code_check(c, x->id, -EINVAL);
}
CODEC(mux_data, ddio_msg_mux_data)

static inline void code_mux_window(struct ddio_coder *c, struct ddio_msg_mux_window *x)
{
	code_u32(c, &x->id);
	code_u32(c, &x->bytes);
	code_check(c, x->id && x->bytes, -EINVAL);
	code_check(c, x->bytes <= DDIO_MUX_WINDOW, -EMSGSIZE);
}
CODEC(mux_window, ddio_msg_mux_window)

static inline void code_mux_part(struct ddio_coder *c, struct ddio_msg_mux_part *x)
{
	code_u32(c, &x->id);
	code_u32(c, &x->bytes);
	code_check(c, x->id && x->bytes, -EINVAL);
	code_check(c, x->bytes <= DDIO_MAX_MUX_PARTS, -EMSGSIZE);
}
CODEC(mux_part, ddio_msg_mux_part)

static inline void code_mux_end(struct ddio_coder *c, struct ddio_msg_mux_end *x)
{
	code_u32(c, &x->id);
	code_u32(c, &x->status);
	code_check(c, x->id && x->status < DDIO_ST_MAX, -EINVAL);
}
CODEC(mux_end, ddio_msg_mux_end)
