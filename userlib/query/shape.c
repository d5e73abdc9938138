// SPDX-License-Identifier: LGPL-2.1-or-later
/* What follows from a question, and what is wrong with it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "query/query.h"

static const uint8_t type_len[] = {
	[DDIO_QUERY_S8] = 1,  [DDIO_QUERY_S16] = 2, [DDIO_QUERY_S32] = 4, [DDIO_QUERY_S64] = 8,
	[DDIO_QUERY_U8] = 1,  [DDIO_QUERY_U16] = 2, [DDIO_QUERY_U32] = 4, [DDIO_QUERY_U64] = 8,
	[DDIO_QUERY_F32] = 4, [DDIO_QUERY_F64] = 8,
};

uint32_t ddio_query_field_len(const struct ddio_query_field *field)
{
	return field->type == DDIO_QUERY_BYTES ? field->len : type_len[field->type];
}

static int wrong(const char **why, int err, const char *text)
{
	*why = text;
	return err;
}

static int field_check(const struct ddio_query *q, const struct ddio_query_field *f,
		       const char **why)
{
	uint32_t len;

	if (f->type > DDIO_QUERY_F64 || f->flags & ~DDIO_QUERY_BIG)
		return wrong(why, -EINVAL, "a field has an unknown type or flag");
	len = ddio_query_field_len(f);
	if (!len || (f->len && f->len != len))
		return wrong(why, -EINVAL, "a field has not the length of its type");
	if (f->offset > q->record || len > q->record - f->offset)
		return wrong(why, -EINVAL, "a field reaches beyond its record");
	return 0;
}

static int fields_check(const struct ddio_query *q, const char **why)
{
	uint32_t i;
	int err = 0;

	if (q->nfields > DDIO_QUERY_FIELDS_MAX)
		return wrong(why, -E2BIG, "too many fields");
	if (q->nfields && !q->field)
		return wrong(why, -EINVAL, "field is NULL");
	for (i = 0; i < q->nfields && !err; i++)
		err = field_check(q, &q->field[i], why);
	return err;
}

/* Returns true if there is such a field, and it is a number. */
static bool is_number(const struct ddio_query *q, uint32_t field)
{
	return field < q->nfields && q->field[field].type != DDIO_QUERY_BYTES;
}

/* Returns the depth of the stack after the step, or -errno. */
static int step_check(const struct ddio_query *q, const struct ddio_query_step *s, int depth,
		      const char **why)
{
	int takes = s->op == DDIO_QUERY_NOT ? 1 : 2;

	if (s->op < DDIO_QUERY_EQ || s->op > DDIO_QUERY_NOT)
		return wrong(why, -EINVAL, "a condition has an unknown step");
	if (s->op <= DDIO_QUERY_GE && !is_number(q, s->field))
		return wrong(why, -EINVAL,
			     "a condition compares a field that there is not, or no number");
	if (s->op <= DDIO_QUERY_GE)
		return depth < (int)DDIO_QUERY_DEPTH_MAX
			       ? depth + 1
			       : wrong(why, -E2BIG, "a condition is nested too deeply");
	if (depth < takes)
		return wrong(why, -EINVAL, "a condition takes more than it has compared");
	return depth - takes + 1;
}

static int where_check(const struct ddio_query *q, const char **why)
{
	uint32_t i;
	int depth = 0;

	if (q->nsteps > DDIO_QUERY_STEPS_MAX)
		return wrong(why, -E2BIG, "a condition has too many steps");
	if (q->nsteps && !q->where)
		return wrong(why, -EINVAL, "where is NULL");
	for (i = 0; i < q->nsteps; i++) {
		depth = step_check(q, &q->where[i], depth, why);
		if (depth < 0)
			return depth;
	}
	return q->nsteps && depth != 1
		       ? wrong(why, -EINVAL, "a condition must leave one truth, not several")
		       : 0;
}

static bool ascends(uint32_t type, union ddio_query_number a, union ddio_query_number b)
{
	if (ddio_query_is_float(type))
		return a.f < b.f;
	return ddio_query_is_signed(type) ? a.s < b.s : a.u < b.u;
}

int query_bounds_check(const struct ddio_query *q, const struct ddio_query_reduce *r,
		       const char **why)
{
	uint32_t type = q->field[r->field].type, i;

	if (r->kind == DDIO_QUERY_HISTOGRAM ? !r->nbounds || !r->bound : r->nbounds)
		return wrong(why, -EINVAL, "a histogram needs bounds, and nothing else has any");
	if (r->nbounds > DDIO_QUERY_BOUNDS_MAX)
		return wrong(why, -E2BIG, "histograms have too many bounds");
	if (r->nbounds && ddio_query_is_float(type) && isnan(r->bound[0].f))
		return wrong(why, -EINVAL, "a bound is NaN");
	for (i = 1; i < r->nbounds; i++)
		if (!ascends(type, r->bound[i - 1], r->bound[i]))
			return wrong(why, -EINVAL, "the bounds of a histogram must ascend");
	return 0;
}

static int reduce_check(const struct ddio_query *q, const struct ddio_query_reduce *r,
			uint32_t *bounds, const char **why)
{
	int err;

	if (r->kind < DDIO_QUERY_SUM || r->kind > DDIO_QUERY_HISTOGRAM || !is_number(q, r->field))
		return wrong(
			why, -EINVAL,
			"a reduction is unknown, or of a field that there is not, or no number");
	err = query_bounds_check(q, r, why);
	if (err)
		return err;
	if (r->nbounds > DDIO_QUERY_BOUNDS_MAX - *bounds)
		return wrong(why, -E2BIG, "histograms have too many bounds");
	*bounds += r->nbounds;
	return 0;
}

static int reduces_check(const struct ddio_query *q, const char **why)
{
	uint32_t i, bounds = 0;
	int err = 0;

	if (q->nreduce > DDIO_QUERY_REDUCE_MAX)
		return wrong(why, -E2BIG, "too many reductions");
	if (q->nreduce && !q->reduce)
		return wrong(why, -EINVAL, "reduce is NULL");
	for (i = 0; i < q->nreduce && !err; i++)
		err = reduce_check(q, &q->reduce[i], &bounds, why);
	return err;
}

static int outputs_check(const struct ddio_query *q, struct ddio_query_shape *shape,
			 const char **why)
{
	uint64_t out = 0;
	uint32_t i;

	if (q->noutput > DDIO_QUERY_FIELDS_MAX)
		return wrong(why, -E2BIG, "too many fields are to be returned");
	if (q->noutput && !q->output)
		return wrong(why, -EINVAL, "output is NULL");
	for (i = 0; i < q->noutput; i++) {
		if (q->output[i] >= q->nfields)
			return wrong(why, -EINVAL, "a field is to be returned that there is not");
		out += ddio_query_field_len(&q->field[q->output[i]]);
	}
	if (out > DDIO_QUERY_BYTES_MAX)
		return wrong(why, -E2BIG, "too many bytes of a record are to be returned");
	shape->out = (uint32_t)out;
	return 0;
}

static int run_order(const void *a, const void *b)
{
	const struct query_run *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Makes runs that overlap or touch one. */
static void runs_merge(struct ddio_query_shape *shape)
{
	struct query_run *to = shape->run;
	uint32_t i;

	for (i = 1; i < shape->nruns; i++) {
		const struct query_run *r = &shape->run[i];
		uint32_t end = r->offset + r->len;

		if (r->offset > to->offset + to->len)
			*++to = *r;
		else if (end > to->offset + to->len)
			to->len = end - to->offset;
	}
	shape->nruns = shape->nruns ? (uint32_t)(to - shape->run) + 1 : 0;
}

static void mark_used(const struct ddio_query *q, bool used[DDIO_QUERY_FIELDS_MAX])
{
	uint32_t i;

	for (i = 0; i < q->nsteps; i++)
		if (q->where[i].op <= DDIO_QUERY_GE)
			used[q->where[i].field] = true;
	for (i = 0; i < q->nreduce; i++)
		used[q->reduce[i].field] = true;
	for (i = 0; i < q->noutput; i++)
		used[q->output[i]] = true;
}

static int runs_make(struct ddio_query_shape *shape, const struct ddio_query_deal *deal,
		     const char **why)
{
	const struct ddio_query *q = shape->q;
	bool used[DDIO_QUERY_FIELDS_MAX] = { false };
	uint64_t sum = 0;
	uint32_t i;

	mark_used(q, used);
	if (deal && deal->kind != DDIO_QUERY_BY_NUMBER)
		used[deal->field] = true;
	for (i = 0; i < q->nfields; i++)
		if (used[i])
			shape->run[shape->nruns++] =
				(struct query_run){ .offset = q->field[i].offset,
						    .len = ddio_query_field_len(&q->field[i]) };
	qsort(shape->run, shape->nruns, sizeof(shape->run[0]), run_order);
	runs_merge(shape);
	for (i = 0; i < shape->nruns; i++) {
		shape->run[i].at = (uint32_t)sum;
		sum += shape->run[i].len;
	}
	if (sum > DDIO_QUERY_BYTES_MAX)
		return wrong(why, -E2BIG, "too many bytes of a record are looked at");
	shape->used = (uint32_t)sum;
	if (sum) {
		shape->lo = shape->run[0].offset;
		shape->hi = shape->run[shape->nruns - 1].offset + shape->run[shape->nruns - 1].len;
	}
	return 0;
}

static void loads_make(struct ddio_query_shape *shape)
{
	const struct ddio_query *q = shape->q;
	uint32_t i;

	for (i = 0; i < q->nfields; i++)
		shape->load[i] = (uint8_t)(q->field[i].type << 1 |
					   (q->field[i].flags & DDIO_QUERY_BIG ? 1 : 0));
}

int ddio_query_shape(const struct ddio_query *q, struct ddio_query_shape *shape, const char **why)
{
	return ddio_query_shape_dealt(q, NULL, 0, shape, why);
}

int ddio_query_shape_dealt(const struct ddio_query *q, const struct ddio_query_deal *deal,
			   uint32_t members, struct ddio_query_shape *shape, const char **why)
{
	int err;

	*shape = (struct ddio_query_shape){ .q = q };
	if (!q->record || q->record > DDIO_QUERY_RECORD_MAX)
		return wrong(why, -EINVAL, "a record has 1 to 1073741824 bytes");
	if (q->origin >> 62)
		return wrong(why, -EINVAL, "the origin is beyond the largest file");
	err = fields_check(q, why);
	if (!err)
		err = where_check(q, why);
	if (!err)
		err = reduces_check(q, why);
	if (!err)
		err = outputs_check(q, shape, why);
	if (!err && deal)
		err = query_deal_check(q, deal, members, why);
	if (!err)
		err = runs_make(shape, deal, why);
	if (!err)
		loads_make(shape);
	return err;
}

struct ddio_query_field *ddio_query_packed(const struct ddio_query_shape *shape)
{
	const struct ddio_query *q = shape->q;
	struct ddio_query_field *field = calloc(q->nfields ? q->nfields : 1, sizeof(*field));
	uint32_t i, r;

	for (i = 0; field && i < q->nfields; i++) {
		field[i] = q->field[i];
		field[i].offset = 0;
		for (r = 0; r < shape->nruns; r++)
			if (q->field[i].offset >= shape->run[r].offset &&
			    q->field[i].offset < shape->run[r].offset + shape->run[r].len)
				field[i].offset = shape->run[r].at +
						  (q->field[i].offset - shape->run[r].offset);
	}
	return field;
}
