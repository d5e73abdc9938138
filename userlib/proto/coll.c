// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of collectives. */
#include <stdlib.h>
#include "proto/codec.h"

enum { WANT_LEN = 16 };

#define COLL_FLAGS                                                                     \
	(DDIO_COLL_WRITE | DDIO_COLL_SORT | DDIO_COLL_ROTATE | DDIO_COLL_SYNC |        \
	 DDIO_COLL_NO_BATCH | DDIO_COLL_SATF | DDIO_COLL_SHORT | DDIO_COLL_OVERLAP |   \
	 DDIO_COLL_FAMILIES | DDIO_COLL_NO_SHARE | DDIO_COLL_NEED | DDIO_COLL_ATOMIC | \
	 DDIO_COLL_TELL)

/* Flags that ATOMIC needs beside it. */
#define COLL_ATOMIC_WITH (DDIO_COLL_WRITE | DDIO_COLL_SYNC)

/* Returns true if the largest file can have a block of this number. */
static bool block_number_ok(uint64_t block)
{
	return block <= DDIO_MAX_FILE / DDIO_MIN_BLOCK;
}

static inline void code_attach(struct ddio_coder *c, struct ddio_msg_attach *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_u32(c, &x->rank);
	code_u32(c, &x->size);
	code_u32(c, &x->handle);
	code_reserved(c, &x->reserved);
	check_member(c, x->rank, x->size);
}
CODEC(attach, ddio_msg_attach)

/* Returns true if there is one array for all, or one description per process, all of one kind. */
static bool parts_agree(const struct ddio_msg_coll_start *x)
{
	uint32_t kind = 0, i;

	if (x->nparts == 1 && x->parts[0].kind == DDIO_PART_ARRAY)
		return true;
	if (x->nparts != x->nprocs)
		return false;
	for (i = 0; i < x->nparts; i++) {
		if (x->parts[i].kind == DDIO_PART_ARRAY)
			return false;
		if (!x->parts[i].n)
			continue;
		if (kind && x->parts[i].kind != kind)
			return false;
		kind = x->parts[i].kind;
	}
	return true;
}

static void code_parts(struct ddio_coder *c, struct ddio_msg_coll_start *x)
{
	uint32_t i;

	code_u32(c, &x->nparts);
	code_check(c, x->nparts == 1 || x->nparts == x->nprocs, -EINVAL);
	if (c->reading)
		x->parts = code_alloc(c, x->nparts, sizeof(*x->parts), PART_MIN);
	/* A valid message has one array at most; it is read into @x. */
	for (i = 0; i < x->nparts && coder_ok(c); i++)
		code_part(c, &x->parts[i], &x->array);
	if (c->reading && coder_ok(c))
		code_check(c, parts_agree(x), -EINVAL);
}

/* The crowd of all members. */
static void code_all(struct ddio_coder *c, struct ddio_msg_coll_start *x)
{
	code_crowd_only(c, &x->crowd);
	code_check(c, !x->crowd.first && x->crowd.nmembers == x->nprocs, -EINVAL);
}

static inline void code_coll_start(struct ddio_coder *c, struct ddio_msg_coll_start *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_u64(c, &x->op);
	code_u32(c, &x->flags);
	code_u32(c, &x->nprocs);
	code_u32(c, &x->buffers);
	code_reserved(c, &x->reserved);
	code_u64(c, &x->timeout_ns);
	code_u64(c, &x->file_size);
	code_check(c, !(x->flags & ~COLL_FLAGS), -EPROTO);
	code_check(c, !(x->flags & DDIO_COLL_WRITE) || !(x->flags & DDIO_COLL_SHORT), -EPROTO);
	code_check(c, x->op && x->nprocs, -EINVAL);
	code_check(c, x->nprocs <= DDIO_MAX_MEMBERS && x->file_size <= DDIO_MAX_FILE, -EMSGSIZE);
	if (x->flags & DDIO_COLL_ATOMIC) {
		code_u64(c, &x->epoch);
		code_check(c, !(COLL_ATOMIC_WITH & ~x->flags), -EPROTO);
		code_check(c, x->epoch && x->epoch < DDIO_EPOCH_MAX, -EINVAL);
	}
	code_record(c, &x->file);
	if (x->flags & DDIO_COLL_FAMILIES)
		code_all(c, x);
	else
		code_parts(c, x);
}
CODEC_OWNING(coll_start, ddio_msg_coll_start, ddio_coll_start_free)

void ddio_coll_start_free(struct ddio_msg_coll_start *start)
{
	uint32_t i;

	for (i = 0; start->parts && i < start->nparts; i++) {
		start->parts[i].array = NULL; /* lies in @start */
		ddio_part_free(&start->parts[i]);
	}
	free(start->parts);
	start->parts = NULL;
	start->nparts = 0;
	ddio_crowd_free(&start->crowd);
	ddio_file_record_free(&start->file);
}

static inline void code_coll_data(struct ddio_coder *c, struct ddio_msg_coll_data *x)
{
	code_u64(c, &x->op);
	code_u64(c, &x->block);
	code_u32(c, &x->handle);
	code_u32(c, &x->disk);
	code_bytes(c, x->group, sizeof(x->group));
	code_check(c, x->op != 0, -EINVAL);
	code_check(c, block_number_ok(x->block), -EMSGSIZE);
}
CODEC(coll_data, ddio_msg_coll_data)

static inline void code_want(struct ddio_coder *c, struct ddio_want *want)
{
	code_u64(c, &want->block);
	code_u32(c, &want->disk);
	code_reserved(c, &want->reserved);
	code_check(c, block_number_ok(want->block), -EMSGSIZE);
}

static inline void code_coll_want(struct ddio_coder *c, struct ddio_msg_coll_want *x)
{
	uint32_t i;

	code_u64(c, &x->op);
	code_u32(c, &x->handle);
	code_u32(c, &x->n);
	code_check(c, x->op && x->n, -EINVAL);
	code_check(c, x->n <= DDIO_MAX_BATCH, -EMSGSIZE);
	if (c->reading)
		x->want = code_alloc(c, x->n, sizeof(*x->want), WANT_LEN);
	for (i = 0; i < x->n && coder_ok(c); i++)
		code_want(c, &x->want[i]);
}

static void release_want(struct ddio_msg_coll_want *x)
{
	free(x->want);
	x->want = NULL;
	x->n = 0;
}
CODEC_OWNING(coll_want, ddio_msg_coll_want, release_want)

static inline void code_coll_done(struct ddio_coder *c, struct ddio_msg_coll_done *x)
{
	code_u64(c, &x->op);
	code_u32(c, &x->handle);
	code_u32(c, &x->status);
	code_u32(c, &x->reactor);
	code_u32(c, &x->lost_rank);
	code_u64(c, &x->bytes_needed);
	code_u64(c, &x->disk_read);
	code_u64(c, &x->disk_written);
	code_u64(c, &x->disk_requests);
	code_u64(c, &x->messages);
	code_u64(c, &x->cache_blocks);
	code_u64(c, &x->wait_disk_ns);
	code_u64(c, &x->wait_members_ns);
	code_u64(c, &x->elapsed_ns);
	code_u64(c, &x->buffers);
	code_u64(c, &x->scattered);
	code_str(c, x->text, sizeof(x->text));
	code_check(c, x->op && x->status < DDIO_ST_MAX, -EINVAL);
}
CODEC(coll_done, ddio_msg_coll_done)

static inline void code_coll_abort(struct ddio_coder *c, struct ddio_msg_coll_abort *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_u64(c, &x->op);
	code_u32(c, &x->status);
	code_u32(c, &x->rank);
	code_check(c, x->status && x->status < DDIO_ST_MAX, -EINVAL);
}
CODEC(coll_abort, ddio_msg_coll_abort)

static inline void code_joint(struct ddio_coder *c, struct ddio_msg_joint *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_bytes(c, x->token, sizeof(x->token));
	code_str(c, x->name, sizeof(x->name));
	code_check(c, x->name[0] != '\0', -EINVAL);
}
CODEC(joint, ddio_msg_joint)

static inline void code_coll_join(struct ddio_coder *c, struct ddio_msg_coll_join *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_u64(c, &x->op);
	code_check(c, x->op != 0, -EINVAL);
}
CODEC(coll_join, ddio_msg_coll_join)

static inline void code_coll_step(struct ddio_coder *c, struct ddio_msg_coll_step *x)
{
	code_u64(c, &x->op);
	code_u32(c, &x->handle);
	code_reserved(c, &x->reserved);
	code_check(c, x->op != 0, -EINVAL);
}
CODEC(coll_step, ddio_msg_coll_step)

static inline void code_coll_told(struct ddio_coder *c, struct ddio_msg_coll_told *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_u64(c, &x->op);
	code_check(c, x->op != 0, -EINVAL);
	code_crowd_only(c, &x->crowd);
	code_check(c, x->crowd.nmembers == 1 && x->crowd.kind == DDIO_PART_LIST, -EINVAL);
	code_check(c, !x->crowd.spread, -EINVAL);
}
CODEC_OWNING(coll_told, ddio_msg_coll_told, ddio_coll_told_free)

void ddio_coll_told_free(struct ddio_msg_coll_told *told)
{
	ddio_crowd_free(&told->crowd);
}
