// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is made of the records that match: kept, encoded, added up. */
#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "query/query.h"

static uint32_t type_of(const struct ddio_query_shape *shape, const struct ddio_query_reduce *r)
{
	return shape->q->field[r->field].type;
}

static int acc_init(struct query_acc *acc, const struct ddio_query_reduce *r, uint32_t type)
{
	if (r->kind == DDIO_QUERY_HISTOGRAM)
		acc->bin = calloc(r->nbounds + 1, sizeof(*acc->bin));
	else if (r->kind == DDIO_QUERY_SUM && ddio_query_is_float(type))
		acc->exact = calloc(1, sizeof(*acc->exact));
	else
		return 0;
	return acc->bin || acc->exact ? 0 : -ENOMEM;
}

int ddio_query_accs_init(struct ddio_query_accs *accs, const struct ddio_query_shape *shape)
{
	uint32_t i;
	int err = 0;

	memset(accs, 0, sizeof(*accs));
	accs->shape = shape;
	for (i = 0; i < shape->q->nreduce && !err; i++)
		err = acc_init(&accs->acc[i], &shape->q->reduce[i],
			       type_of(shape, &shape->q->reduce[i]));
	return err;
}

void ddio_query_accs_free(struct ddio_query_accs *accs)
{
	uint32_t i;

	for (i = 0; i < DDIO_QUERY_REDUCE_MAX; i++) {
		free(accs->acc[i].exact);
		free(accs->acc[i].bin);
	}
	memset(accs->acc, 0, sizeof(accs->acc));
}

static bool below(uint32_t type, union ddio_query_number a, union ddio_query_number b)
{
	if (ddio_query_is_float(type))
		return a.f < b.f;
	return ddio_query_is_signed(type) ? a.s < b.s : a.u < b.u;
}

/* Of two zeros, the negative one is less: which of them it is does not depend on the order in which they come. */
static bool better(uint32_t kind, uint32_t type, union ddio_query_number v,
		   union ddio_query_number best)
{
	if (ddio_query_is_float(type) && v.f == best.f)
		return kind == DDIO_QUERY_MIN ? signbit(v.f) && !signbit(best.f)
					      : !signbit(v.f) && signbit(best.f);
	return kind == DDIO_QUERY_MIN ? below(type, v, best) : below(type, best, v);
}

uint32_t query_bin(const struct ddio_query_reduce *r, uint32_t type, union ddio_query_number v)
{
	uint32_t lo = 0, hi = r->nbounds, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (below(type, v, r->bound[mid]))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static void acc_best(struct query_acc *acc, uint32_t kind, uint32_t type, union ddio_query_number v)
{
	if (!acc->count || better(kind, type, v, acc->best))
		acc->best = v;
}

static void acc_add(struct query_acc *acc, const struct ddio_query_reduce *r, uint32_t type,
		    union ddio_query_number v)
{
	if (ddio_query_is_float(type) && isnan(v.f)) {
		acc->nans++;
		return;
	}
	switch (r->kind) {
	case DDIO_QUERY_SUM:
		if (acc->exact)
			exact_add(acc->exact, v.f);
		else
			acc->sum += ddio_query_is_signed(type) ? (unsigned __int128)v.s : v.u;
		break;
	case DDIO_QUERY_HISTOGRAM:
		acc->bin[query_bin(r, type, v)]++;
		break;
	default:
		acc_best(acc, r->kind, type, v);
	}
	acc->count++;
}

void ddio_query_accs_add(struct ddio_query_accs *accs, const struct ddio_query_shape *shape,
			 const uint8_t *span)
{
	const struct ddio_query *q = accs->shape->q;
	uint32_t i;

	accs->matched++;
	for (i = 0; i < q->nreduce; i++)
		acc_add(&accs->acc[i], &q->reduce[i], type_of(shape, &q->reduce[i]),
			ddio_query_load(shape, q->reduce[i].field, span));
}

/*
 * Encoding: matched, then of each: count, NaNs, and what it is.
 */
static size_t acc_len(const struct ddio_query_reduce *r, uint32_t type)
{
	switch (r->kind) {
	case DDIO_QUERY_SUM:
		return 16 + (ddio_query_is_float(type) ? EXACT_LEN : 16);
	case DDIO_QUERY_HISTOGRAM:
		return 16 + 8 * ((size_t)r->nbounds + 1);
	default:
		return 16 + 8;
	}
}

size_t ddio_query_accs_len(const struct ddio_query_shape *shape)
{
	size_t len = 8;
	uint32_t i;

	for (i = 0; i < shape->q->nreduce; i++)
		len += acc_len(&shape->q->reduce[i], type_of(shape, &shape->q->reduce[i]));
	return len;
}

static uint8_t *put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, 8);
	return p + 8;
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return le64toh(v);
}

static uint8_t *acc_put(struct query_acc *acc, const struct ddio_query_reduce *r, uint8_t *p)
{
	uint32_t i;

	p = put64(put64(p, acc->count), acc->nans);
	if (acc->exact) {
		exact_put(acc->exact, p);
		return p + EXACT_LEN;
	}
	for (i = 0; acc->bin && i <= r->nbounds; i++)
		p = put64(p, acc->bin[i]);
	if (acc->bin)
		return p;
	if (r->kind == DDIO_QUERY_SUM)
		return put64(put64(p, (uint64_t)acc->sum), (uint64_t)(acc->sum >> 64));
	return put64(p, acc->count ? acc->best.u : 0);
}

void ddio_query_accs_put(struct ddio_query_accs *accs, uint8_t *buf)
{
	const struct ddio_query *q = accs->shape->q;
	uint32_t i;

	buf = put64(buf, accs->matched);
	for (i = 0; i < q->nreduce; i++)
		buf = acc_put(&accs->acc[i], &q->reduce[i], buf);
}

static void acc_merge(struct query_acc *acc, const struct ddio_query_reduce *r, uint32_t type,
		      const uint8_t *p)
{
	uint64_t count = get64(p);
	uint32_t i;

	acc->nans += get64(p + 8);
	p += 16;
	for (i = 0; acc->bin && i <= r->nbounds; i++)
		acc->bin[i] += get64(p + 8 * (size_t)i);
	if (acc->exact)
		(void)exact_merge(acc->exact, p);
	else if (r->kind == DDIO_QUERY_SUM)
		acc->sum += (unsigned __int128)get64(p + 8) << 64 | get64(p);
	else if (!acc->bin && count)
		acc_best(acc, r->kind, type, (union ddio_query_number){ .u = get64(p) });
	acc->count += count;
}

/* Returns true if one of them could be: no more values than records, of which each is in one bin. */
static bool acc_ok(const struct query_acc *acc, const struct ddio_query_reduce *r, uint64_t matched,
		   const uint8_t *p)
{
	uint64_t count = get64(p), sum = 0;
	uint32_t i;

	if (count > matched || get64(p + 8) != matched - count)
		return false;
	if (acc->exact)
		return !(get64(p + 16 + EXACT_LEN - 8) >> 32 &
			 ~(uint64_t)(EXACT_PLUS_INF | EXACT_MINUS_INF));
	for (i = 0; acc->bin && i <= r->nbounds; i++) {
		uint64_t n = get64(p + 16 + 8 * (size_t)i);

		if (n > count - sum)
			return false;
		sum += n;
	}
	return !acc->bin || sum == count;
}

int ddio_query_accs_merge(struct ddio_query_accs *accs, const uint8_t *buf, size_t len)
{
	const struct ddio_query *q = accs->shape->q;
	const uint8_t *p = buf + 8;
	uint64_t matched;
	uint32_t i;

	if (len != ddio_query_accs_len(accs->shape))
		return -EPROTO;
	matched = get64(buf);
	for (i = 0; i < q->nreduce; i++) {
		if (!acc_ok(&accs->acc[i], &q->reduce[i], matched, p))
			return -EPROTO;
		p += acc_len(&q->reduce[i], type_of(accs->shape, &q->reduce[i]));
	}
	accs->matched += matched;
	p = buf + 8;
	for (i = 0; i < q->nreduce; i++) {
		uint32_t type = type_of(accs->shape, &q->reduce[i]);

		acc_merge(&accs->acc[i], &q->reduce[i], type, p);
		p += acc_len(&q->reduce[i], type);
	}
	return 0;
}

void ddio_query_accs_result(struct ddio_query_accs *accs, struct ddio_query_value *value)
{
	const struct ddio_query *q = accs->shape->q;
	uint32_t i;

	for (i = 0; i < q->nreduce; i++) {
		struct query_acc *acc = &accs->acc[i];

		value[i].count = acc->count;
		value[i].nans = acc->nans;
		value[i].high = 0;
		value[i].value.u = 0;
		if (acc->exact) {
			value[i].value.f = exact_sum(acc->exact);
		} else if (acc->bin) {
			memcpy(value[i].bin, acc->bin,
			       ((size_t)q->reduce[i].nbounds + 1) * sizeof(*acc->bin));
		} else if (q->reduce[i].kind == DDIO_QUERY_SUM) {
			value[i].value.u = (uint64_t)acc->sum;
			value[i].high = (int64_t)(acc->sum >> 64);
		} else if (acc->count) {
			value[i].value = acc->best;
		}
	}
}
