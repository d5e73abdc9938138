// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of questions about records.  What a question means is checked where it is answered; here only how long it is. */
#include <stdlib.h>
#include "proto/codec.h"
#include "proto/query/query.h"

enum { FIELD_LEN = 16, STEP_LEN = 16, REDUCE_MIN = 12, NUMBER_LEN = 8, INDEX_LEN = 4 };

/* Codes how many there are of something; for a reader, returns zeroed memory for them, or NULL. */
static void *code_count(struct ddio_coder *c, uint32_t *n, uint32_t most, size_t size, size_t min)
{
	void *array = NULL;

	code_u32(c, n);
	code_check(c, *n <= most, -EMSGSIZE);
	if (c->reading && coder_ok(c))
		array = code_alloc(c, *n, size, min);
	if (!coder_ok(c))
		*n = 0;
	return array;
}

static void code_fields(struct ddio_coder *c, struct ddio_query *q)
{
	struct ddio_query_field *f;
	uint32_t i;

	f = code_count(c, &q->nfields, DDIO_QUERY_FIELDS_MAX, sizeof(*f), FIELD_LEN);
	if (c->reading)
		q->field = f;
	for (i = 0; i < q->nfields && coder_ok(c); i++) {
		f = (struct ddio_query_field *)&q->field[i];
		code_u32(c, &f->offset);
		code_u32(c, &f->len);
		code_u32(c, &f->type);
		code_u32(c, &f->flags);
	}
}

static void code_where(struct ddio_coder *c, struct ddio_query *q)
{
	struct ddio_query_step *s;
	uint32_t i;

	s = code_count(c, &q->nsteps, DDIO_QUERY_STEPS_MAX, sizeof(*s), STEP_LEN);
	if (c->reading)
		q->where = s;
	for (i = 0; i < q->nsteps && coder_ok(c); i++) {
		s = (struct ddio_query_step *)&q->where[i];
		code_u32(c, &s->op);
		code_u32(c, &s->field);
		code_u64(c, &s->value.u);
	}
}

static void code_reduce(struct ddio_coder *c, struct ddio_query_reduce *r)
{
	union ddio_query_number *bound;
	uint32_t i;

	code_u32(c, &r->kind);
	code_u32(c, &r->field);
	bound = code_count(c, &r->nbounds, DDIO_QUERY_BOUNDS_MAX, sizeof(*bound), NUMBER_LEN);
	if (c->reading)
		r->bound = bound;
	for (i = 0; i < r->nbounds && coder_ok(c); i++) {
		bound = (union ddio_query_number *)&r->bound[i];
		code_u64(c, &bound->u);
	}
}

static void code_outputs(struct ddio_coder *c, struct ddio_query *q)
{
	uint32_t *output, i;

	output = code_count(c, &q->noutput, DDIO_QUERY_FIELDS_MAX, sizeof(*output), INDEX_LEN);
	if (c->reading)
		q->output = output;
	for (i = 0; i < q->noutput && coder_ok(c); i++)
		code_u32(c, (uint32_t *)&q->output[i]);
}

static void code_reduces(struct ddio_coder *c, struct ddio_query *q)
{
	struct ddio_query_reduce *r;
	uint32_t i;

	r = code_count(c, &q->nreduce, DDIO_QUERY_REDUCE_MAX, sizeof(*r), REDUCE_MIN);
	if (c->reading)
		q->reduce = r;
	for (i = 0; i < q->nreduce && coder_ok(c); i++)
		code_reduce(c, (struct ddio_query_reduce *)&q->reduce[i]);
}

static void code_question(struct ddio_coder *c, struct ddio_query *q)
{
	uint32_t version = DDIO_QUERY_VERSION;

	code_u32(c, &version);
	code_check(c, version == DDIO_QUERY_VERSION, -EINVAL);
	if (c->reading)
		q->struct_size = sizeof(*q);
	code_u32(c, &q->record);
	code_u64(c, &q->origin);
	code_fields(c, q);
	code_where(c, q);
	code_reduces(c, q);
	code_outputs(c, q);
}

static void code_owners(struct ddio_coder *c, struct ddio_query_deal *deal)
{
	uint32_t *owner, i;

	owner = code_count(c, &deal->nowners, DDIO_QUERY_OWNERS_MAX, sizeof(*owner), INDEX_LEN);
	if (c->reading)
		deal->owner = owner;
	for (i = 0; i < deal->nowners && coder_ok(c); i++)
		code_u32(c, (uint32_t *)&deal->owner[i]);
}

static void code_deal(struct ddio_coder *c, struct ddio_msg_query *x)
{
	struct ddio_query_deal *deal = &x->deal;
	struct ddio_query_reduce bounds = { .nbounds = deal->nbounds, .bound = deal->bound };

	code_bytes(c, x->group, sizeof(x->group));
	code_u64(c, &x->number);
	code_u32(c, &x->members);
	/* As a histogram's: kind, field, bounds. */
	bounds.kind = deal->kind;
	bounds.field = deal->field;
	code_reduce(c, &bounds);
	if (c->reading) {
		deal->struct_size = sizeof(*deal);
		deal->kind = bounds.kind;
		deal->field = bounds.field;
		deal->nbounds = bounds.nbounds;
		deal->bound = bounds.bound;
	}
	code_owners(c, deal);
	code_u32(c, &x->member);
	code_check(c, x->members && x->members <= DDIO_QUERY_MEMBERS_MAX, -EMSGSIZE);
	code_check(c, x->member < x->members, -EINVAL);
}

/* A window is whole blocks of the file, and a part of it one of them. */
static bool window_ok(const struct ddio_msg_query *x)
{
	const struct ddio_msg_obj *obj = &x->obj;
	uint64_t n = obj->len / obj->file.block;

	return n && n <= DDIO_QUERY_BLOCKS_MAX && n == x->nblocks &&
	       obj->offset / obj->file.block + n - 1 <=
		       DDIO_MAX_FILE / obj->file.block / x->ndisks &&
	       !(obj->offset % obj->file.block) && !(obj->len % obj->file.block) &&
	       (x->part < n || x->part == DDIO_QUERY_NO_PART);
}

static void code_object(struct ddio_coder *c, struct ddio_msg_obj *obj)
{
	code_file_ref(c, &obj->file);
	code_u32(c, &obj->disk);
	code_flags(c, &obj->flags, 0);
	code_u64(c, &obj->offset);
	code_u64(c, &obj->len);
	code_check(c, file_ref_ok(&obj->file), -EINVAL);
	code_check(c, obj->offset <= DDIO_MAX_FILE && obj->len <= DDIO_MAX_FILE - obj->offset,
		   -EMSGSIZE);
}

static inline void code_query(struct ddio_coder *c, struct ddio_msg_query *x)
{
	code_object(c, &x->obj);
	code_flags(c, &x->flags, DDIO_QUERY_COUNTS | DDIO_QUERY_UNNUMBERED | DDIO_QUERY_DEALT);
	code_u32(c, &x->stripe);
	code_u32(c, &x->ndisks);
	code_u32(c, &x->part);
	code_u64(c, &x->part_next);
	code_u64(c, &x->first);
	code_u64(c, &x->end);
	code_u32(c, &x->nblocks);
	code_check(c, x->ndisks <= DDIO_MAX_DISKS, -EMSGSIZE);
	code_check(c, x->stripe < x->ndisks, -EINVAL);
	code_check(c, x->first <= x->end && x->end <= DDIO_MAX_FILE, -EINVAL);
	code_check(c, coder_ok(c) && window_ok(x), -EINVAL);
	if (coder_ok(c))
		code_outside(c, &x->want, (x->nblocks + 7) / 8);
	code_question(c, &x->q);
	if (coder_ok(c) && x->flags & DDIO_QUERY_DEALT)
		code_deal(c, x);
}

void ddio_msg_query_free(struct ddio_msg_query *x)
{
	uint32_t i;

	for (i = 0; x->q.reduce && i < x->q.nreduce; i++)
		free((void *)x->q.reduce[i].bound);
	free((void *)x->q.field);
	free((void *)x->q.where);
	free((void *)x->q.reduce);
	free((void *)x->q.output);
	free((void *)x->deal.bound);
	free((void *)x->deal.owner);
	memset(x, 0, sizeof(*x));
}
CODEC_OWNING(query, ddio_msg_query, ddio_msg_query_free)

static inline void code_answer(struct ddio_coder *c, struct ddio_msg_answer *x)
{
	code_u32(c, &x->part);
	code_u32(c, &x->disk_reqs);
	code_u64(c, &x->part_next);
	code_u32(c, &x->nblocks);
	code_u32(c, &x->made_len);
	code_u32(c, &x->items_len);
	code_padding(c);
	code_check(c, x->nblocks <= DDIO_QUERY_BLOCKS_MAX, -EMSGSIZE);
	code_check(c, x->part < x->nblocks || x->part == DDIO_QUERY_NO_PART, -EINVAL);
	code_check(c, x->items_len <= DDIO_QUERY_ROOM, -EMSGSIZE);
	if (!coder_ok(c))
		return;
	code_outside(c, &x->did, (x->nblocks + 7) / 8);
	code_outside(c, &x->made, x->made_len);
	code_outside(c, &x->items, x->items_len);
}
CODEC(answer, ddio_msg_answer)
