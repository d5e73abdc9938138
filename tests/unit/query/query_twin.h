/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Questions about records, answered naively: every record of a file in memory, one by one, conditions as trees, sums of
 * floating numbers by Shewchuk's method, which is exact, too.  And makers of random questions.
 */
#ifndef DDIO_TEST_QUERY_TWIN_H
#define DDIO_TEST_QUERY_TWIN_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ddio/query.h>

#define TWIN_FIELDS 6
#define TWIN_STEPS 15
#define TWIN_REDUCE 4
#define TWIN_BOUNDS 5

/**
 * struct twin_question - a question with all that it names
 */
struct twin_question {
	struct ddio_query q;
	struct ddio_query_field field[TWIN_FIELDS];
	struct ddio_query_step step[TWIN_STEPS];
	struct ddio_query_reduce reduce[TWIN_REDUCE];
	union ddio_query_number bound[TWIN_REDUCE][TWIN_BOUNDS];
	uint32_t output[TWIN_FIELDS];
	uint64_t first, records;
};

/**
 * struct twin_sum - numbers that do not overlap, ascending by magnitude, whose sum it is
 */
struct twin_sum {
	double part[64];
	int n;
	bool plus, minus;
};

struct twin_result {
	uint64_t matched, records;
	struct twin_sum sum[TWIN_REDUCE];
	struct ddio_query_value value[TWIN_REDUCE];
	uint64_t bins[TWIN_REDUCE][TWIN_BOUNDS + 1];
	uint64_t *index;
	uint8_t *buf;
};

static inline uint64_t twin_rnd(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 22) % below;
}

static inline uint32_t twin_len(const struct ddio_query_field *f)
{
	static const uint32_t len[] = { 0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8 };

	return f->type ? len[f->type] : f->len;
}

static inline bool twin_float(const struct ddio_query_field *f)
{
	return f->type >= DDIO_QUERY_F32;
}

static inline bool twin_signed(const struct ddio_query_field *f)
{
	return f->type >= DDIO_QUERY_S8 && f->type <= DDIO_QUERY_S64;
}

static inline void twin_sum_add(struct twin_sum *s, double x)
{
	int i, n = 0;

	if (isinf(x)) {
		s->plus |= x > 0;
		s->minus |= x < 0;
		return;
	}
	for (i = 0; i < s->n; i++) {
		double y = s->part[i], high, low;

		if (fabs(x) < fabs(y)) {
			y = x;
			x = s->part[i];
		}
		high = x + y;
		low = y - (high - x);
		if (low != 0)
			s->part[n++] = low;
		x = high;
	}
	s->part[n++] = x;
	s->n = n;
}

static inline double twin_sum_take(const struct twin_sum *s)
{
	double high, low = 0, x;
	int n = s->n;

	if (s->plus || s->minus)
		return s->plus && s->minus ? NAN : s->plus ? INFINITY : -INFINITY;
	if (!n)
		return 0;
	high = s->part[--n];
	while (n && low == 0) {
		x = high;
		high = x + s->part[--n];
		low = s->part[n] - (high - x);
	}
	/* Halfway between two numbers, what is left of the others decides. */
	if (n && ((low < 0 && s->part[n - 1] < 0) || (low > 0 && s->part[n - 1] > 0))) {
		x = high + 2 * low;
		if (2 * low == x - high)
			high = x;
	}
	return high;
}

/* Byte by byte. */
static inline union ddio_query_number twin_load(const struct ddio_query_field *f,
						const uint8_t *record)
{
	union ddio_query_number v = { .u = 0 };
	uint32_t n = twin_len(f), i;
	float f32;
	uint32_t u32;

	for (i = 0; i < n; i++)
		v.u |= (uint64_t)record[f->offset + (f->flags & DDIO_QUERY_BIG ? n - 1 - i : i)]
		       << (8 * i);
	if (f->type == DDIO_QUERY_F32) {
		u32 = (uint32_t)v.u;
		memcpy(&f32, &u32, 4);
		v.f = f32;
	} else if (twin_signed(f) && n < 8 && v.u >> (8 * n - 1)) {
		v.u |= ~0ull << (8 * n);
	}
	return v;
}

static inline bool twin_compare(uint32_t op, const struct ddio_query_field *f,
				union ddio_query_number a, union ddio_query_number b)
{
#define TWIN_OPS(x, y)         \
	switch (op) {          \
	case DDIO_QUERY_EQ:    \
		return x == y; \
	case DDIO_QUERY_NE:    \
		return x != y; \
	case DDIO_QUERY_LT:    \
		return x < y;  \
	case DDIO_QUERY_LE:    \
		return x <= y; \
	case DDIO_QUERY_GT:    \
		return x > y;  \
	default:               \
		return x >= y; \
	}
	if (twin_float(f))
		TWIN_OPS(a.f, b.f)
	if (twin_signed(f))
		TWIN_OPS(a.s, b.s)
	TWIN_OPS(a.u, b.u)
#undef TWIN_OPS
}

/* The condition that ends with step *at - 1, from its end backwards. */
static inline bool twin_tree(const struct ddio_query *q, const uint8_t *record, uint32_t *at)
{
	const struct ddio_query_step *s = &q->where[--*at];
	bool a, b;

	if (s->op <= DDIO_QUERY_GE)
		return twin_compare(s->op, &q->field[s->field],
				    twin_load(&q->field[s->field], record), s->value);
	a = twin_tree(q, record, at);
	if (s->op == DDIO_QUERY_NOT)
		return !a;
	b = twin_tree(q, record, at);
	return s->op == DDIO_QUERY_AND ? a && b : a || b;
}

static inline void twin_result_init(struct twin_result *r, struct twin_question *t, uint64_t room)
{
	uint32_t i, out = 0;

	memset(r, 0, sizeof(*r));
	for (i = 0; i < TWIN_REDUCE; i++)
		r->value[i].bin = r->bins[i];
	for (i = 0; i < t->q.noutput; i++)
		out += twin_len(&t->field[t->output[i]]);
	r->index = malloc(room * sizeof(*r->index));
	r->buf = malloc(room * out + 1);
}

static inline void twin_result_free(struct twin_result *r)
{
	free(r->index);
	free(r->buf);
}

static inline bool twin_less(const struct ddio_query_field *f, union ddio_query_number a,
			     union ddio_query_number b)
{
	if (twin_float(f) && a.f == 0 && b.f == 0)
		return signbit(a.f) && !signbit(b.f);
	return twin_compare(DDIO_QUERY_LT, f, a, b);
}

static inline void twin_reduce(const struct twin_question *t, uint32_t i, const uint8_t *record,
			       struct twin_result *result)
{
	struct ddio_query_value *v = &result->value[i];
	const struct ddio_query_reduce *r = &t->reduce[i];
	const struct ddio_query_field *f = &t->field[r->field];
	union ddio_query_number x = twin_load(f, record);
	unsigned __int128 sum = (unsigned __int128)(uint64_t)v->high << 64 | v->value.u;
	uint32_t b;

	if (twin_float(f) && isnan(x.f)) {
		v->nans++;
		return;
	}
	if (r->kind == DDIO_QUERY_SUM && twin_float(f)) {
		twin_sum_add(&result->sum[i], x.f);
		v->value.f = twin_sum_take(&result->sum[i]);
	} else if (r->kind == DDIO_QUERY_SUM) {
		sum += twin_signed(f) ? (unsigned __int128)(__int128)x.s : x.u;
		v->value.u = (uint64_t)sum;
		v->high = (int64_t)(sum >> 64);
	} else if (r->kind == DDIO_QUERY_HISTOGRAM) {
		for (b = 0; b < r->nbounds; b++)
			if (twin_compare(DDIO_QUERY_LT, f, x, r->bound[b]))
				break;
		v->bin[b]++;
	} else if (!v->count || (r->kind == DDIO_QUERY_MIN ? twin_less(f, x, v->value)
							   : twin_less(f, v->value, x))) {
		v->value = x;
	}
	v->count++;
}

static inline void twin_answer(const struct twin_question *t, const uint8_t *image, size_t size,
			       struct twin_result *r)
{
	const struct ddio_query *q = &t->q;
	uint64_t n = size > q->origin ? (size - q->origin) / q->record : 0, i, end;
	uint8_t *to = r->buf;
	uint32_t k, at;

	i = t->first < n ? t->first : n;
	end = t->records < n - i ? i + t->records : n;
	r->records = end - i;
	for (; i < end; i++) {
		const uint8_t *record = image + q->origin + i * q->record;

		at = q->nsteps;
		if (at && !twin_tree(q, record, &at))
			continue;
		r->index[r->matched++] = i;
		for (k = 0; k < q->noutput; k++) {
			const struct ddio_query_field *f = &q->field[q->output[k]];

			memcpy(to, record + f->offset, twin_len(f));
			to += twin_len(f);
		}
		for (k = 0; k < q->nreduce; k++)
			twin_reduce(t, k, record, r);
	}
}

static inline bool twin_same_value(const struct twin_question *t, uint32_t i,
				   const struct ddio_query_value *a,
				   const struct ddio_query_value *b)
{
	const struct ddio_query_reduce *r = &t->reduce[i];

	if (a->count != b->count || a->nans != b->nans)
		return false;
	if (r->kind == DDIO_QUERY_HISTOGRAM)
		return !memcmp(a->bin, b->bin, (r->nbounds + 1) * sizeof(*a->bin));
	if (!a->count)
		return true;
	if (r->kind == DDIO_QUERY_SUM && twin_float(&t->field[r->field]))
		return a->value.f == b->value.f || (isnan(a->value.f) && isnan(b->value.f));
	return a->value.u == b->value.u && a->high == b->high;
}

static inline bool twin_same(const struct twin_question *t, const struct twin_result *a,
			     const struct twin_result *b)
{
	uint64_t out = 0;
	uint32_t i;

	if (a->matched != b->matched || a->records != b->records)
		return false;
	for (i = 0; i < t->q.noutput; i++)
		out += twin_len(&t->field[t->output[i]]);
	for (i = 0; i < t->q.nreduce; i++)
		if (!twin_same_value(t, i, &a->value[i], &b->value[i]))
			return false;
	return !memcmp(a->index, b->index, a->matched * sizeof(*a->index)) &&
	       !memcmp(a->buf, b->buf, a->matched * out);
}

/*
 * Random questions
 */
static inline union ddio_query_number twin_number(const struct ddio_query_field *f, uint64_t *seed)
{
	union ddio_query_number v = { .u = 0 };
	uint64_t kind = twin_rnd(seed, 4);

	if (twin_float(f))
		v.f = kind == 0	  ? 0
		      : kind == 1 ? (double)twin_rnd(seed, 1000) * 1e-3
		      : kind == 2 ? -1e30 * (double)twin_rnd(seed, 10)
				  : 1e-300 * (double)twin_rnd(seed, 10);
	else if (twin_signed(f))
		v.s = (int64_t)twin_rnd(seed, kind == 0	  ? 4
					      : kind == 1 ? 300
							  : 1ull << 40) -
		      (kind == 1 ? 150 : 0);
	else
		v.u = twin_rnd(seed, kind == 0 ? 4 : kind == 1 ? 300 : 1ull << 40);
	return v;
}

static inline uint32_t twin_a_number(const struct twin_question *t, uint64_t *seed)
{
	return (uint32_t)twin_rnd(seed, t->q.nfields - 1); /* the last one is bytes */
}

/* Makes a condition of @n comparisons, in the order in which steps are taken. */
static inline void twin_where(struct twin_question *t, uint64_t *seed, uint32_t n)
{
	struct ddio_query_step *s;
	uint32_t depth = 0;

	while (n || depth > 1) {
		s = &t->step[t->q.nsteps++];
		if (n && (depth < 2 || twin_rnd(seed, 2))) {
			s->field = twin_a_number(t, seed);
			s->op = DDIO_QUERY_EQ + (uint32_t)twin_rnd(seed, 6);
			s->value = twin_number(&t->field[s->field], seed);
			n--;
			depth++;
		} else {
			*s = (struct ddio_query_step){ .op = DDIO_QUERY_AND +
							     (uint32_t)twin_rnd(seed, 2) };
			depth--;
		}
		if (!twin_rnd(seed, 4) && t->q.nsteps + 2 * n + depth < TWIN_STEPS)
			t->step[t->q.nsteps++] = (struct ddio_query_step){ .op = DDIO_QUERY_NOT };
	}
}

static inline void twin_reduces(struct twin_question *t, uint64_t *seed)
{
	struct ddio_query_reduce *r;
	uint32_t i, k;

	t->q.nreduce = (uint32_t)twin_rnd(seed, TWIN_REDUCE + 1);
	for (i = 0; i < t->q.nreduce; i++) {
		r = &t->reduce[i];
		*r = (struct ddio_query_reduce){ .kind = 1 + (uint32_t)twin_rnd(seed, 4),
						 .field = twin_a_number(t, seed) };
		if (r->kind != DDIO_QUERY_HISTOGRAM)
			continue;
		r->bound = t->bound[i];
		r->nbounds = 1 + (uint32_t)twin_rnd(seed, TWIN_BOUNDS);
		t->bound[i][0] = twin_number(&t->field[r->field], seed);
		for (k = 1; k < r->nbounds; k++) {
			t->bound[i][k] = t->bound[i][k - 1];
			if (twin_float(&t->field[r->field]))
				t->bound[i][k].f += 1 + fabs(t->bound[i][k].f) / 2;
			else
				t->bound[i][k].u += 1 + twin_rnd(seed, 100);
		}
	}
}

static inline void twin_fields(struct twin_question *t, uint64_t *seed, uint32_t record)
{
	struct ddio_query_field *f;
	uint32_t i;

	t->q.nfields = 2 + (uint32_t)twin_rnd(seed, TWIN_FIELDS - 1);
	for (i = 0; i < t->q.nfields; i++) {
		f = &t->field[i];
		memset(f, 0, sizeof(*f));
		f->flags = (uint32_t)twin_rnd(seed, 2);
		do
			f->type = 1 + (uint32_t)twin_rnd(seed, 10);
		while (twin_len(f) > record);
		if (i == t->q.nfields - 1) {
			f->type = DDIO_QUERY_BYTES;
			f->len = 1 + (uint32_t)twin_rnd(seed, record < 30 ? record : 30);
		}
		f->offset = (uint32_t)twin_rnd(seed, record - twin_len(f) + 1);
	}
}

static inline uint32_t twin_record(uint64_t *seed)
{
	switch (twin_rnd(seed, 4)) {
	case 0:
		return 8u << twin_rnd(seed, 4);
	case 1:
		return 1 + (uint32_t)twin_rnd(seed, 40);
	case 2:
		return 1 + (uint32_t)twin_rnd(seed, 2000);
	default:
		return 1 + (uint32_t)twin_rnd(seed, 20000);
	}
}

/* Makes a random question about a file of @size bytes. */
static inline void twin_question(struct twin_question *t, uint64_t *seed, uint64_t size)
{
	uint32_t record = twin_record(seed), i;

	memset(t, 0, sizeof(*t));
	t->q = (struct ddio_query){ .struct_size = sizeof(t->q),
				    .record = record,
				    .origin = twin_rnd(seed, 3) ? 0 : twin_rnd(seed, 1000),
				    .field = t->field,
				    .where = t->step,
				    .reduce = t->reduce,
				    .output = t->output };
	twin_fields(t, seed, record);
	twin_where(t, seed, (uint32_t)twin_rnd(seed, 5));
	twin_reduces(t, seed);
	t->q.noutput = (uint32_t)twin_rnd(seed, t->q.nfields + 1);
	for (i = 0; i < t->q.noutput; i++)
		t->output[i] = (uint32_t)twin_rnd(seed, t->q.nfields);
	t->first = twin_rnd(seed, 2) ? 0 : twin_rnd(seed, size / record + 2);
	t->records = twin_rnd(seed, 2) ? UINT64_MAX : twin_rnd(seed, size / record + 2);
}

#endif /* DDIO_TEST_QUERY_TWIN_H */
