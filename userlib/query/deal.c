// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which member of a group gets a record. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "query/query.h"

static int wrong(const char **why, int err, const char *text)
{
	*why = text;
	return err;
}

static int owners_check(const struct ddio_query_deal *deal, uint32_t members, const char **why)
{
	uint32_t ranges = deal->kind == DDIO_QUERY_BY_RANGE ? deal->nbounds + 1 : 0, i;

	if (deal->nowners > DDIO_QUERY_OWNERS_MAX)
		return wrong(why, -E2BIG, "a distribution has too many owners");
	if (deal->nowners && !deal->owner)
		return wrong(why, -EINVAL, "owner is NULL");
	if (deal->nowners && ranges && deal->nowners != ranges)
		return wrong(why, -EINVAL, "each range needs an owner");
	if (!deal->nowners && ranges > members)
		return wrong(why, -EINVAL, "there are more ranges than members");
	for (i = 0; i < deal->nowners; i++)
		if (deal->owner[i] >= members)
			return wrong(why, -EINVAL, "an owner is no member of the group");
	return 0;
}

/* The bounds are checked as those of a histogram are. */
int query_deal_check(const struct ddio_query *q, const struct ddio_query_deal *deal,
		     uint32_t members, const char **why)
{
	const struct ddio_query_reduce bounds = { .kind = DDIO_QUERY_HISTOGRAM,
						  .field = deal->field,
						  .nbounds = deal->nbounds,
						  .bound = deal->bound };

	if (!members || members > DDIO_QUERY_MEMBERS_MAX)
		return wrong(why, -E2BIG, "records are dealt out to 1024 members at most");
	if (deal->kind > DDIO_QUERY_BY_HASH)
		return wrong(why, -EINVAL, "a distribution is of an unknown kind");
	if (deal->kind == DDIO_QUERY_BY_NUMBER)
		return deal->field || deal->nbounds || deal->nowners
			       ? wrong(why, -EINVAL, "a distribution by number has nothing else")
			       : 0;
	if (deal->field >= q->nfields || q->field[deal->field].type == DDIO_QUERY_BYTES)
		return wrong(why, -EINVAL,
			     "a distribution is by a field that there is not, or no number");
	if (deal->kind == DDIO_QUERY_BY_RANGE ? query_bounds_check(q, &bounds, why)
					      : (int)deal->nbounds)
		return wrong(why, -EINVAL, "a distribution needs bounds that ascend, a hash none");
	return owners_check(deal, members, why);
}

/* The bits of a number, alike for numbers that are equal. */
static uint64_t bits_of(uint32_t type, union ddio_query_number v)
{
	if (!ddio_query_is_float(type))
		return v.u;
	if (isnan(v.f))
		return 0x7ff8000000000000;
	return v.f == 0 ? 0 : v.u;
}

/* Numbers that are equal have the same, and all NaNs. */
static uint64_t hash_of(uint32_t type, union ddio_query_number v)
{
	uint64_t x = bits_of(type, v);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint32_t by_number(uint32_t members, uint64_t i, uint64_t n)
{
	return (uint32_t)((unsigned __int128)i * members / n);
}

uint32_t ddio_query_owner(const struct ddio_query_shape *shape, const struct ddio_query_deal *deal,
			  uint32_t members, const uint8_t *span, uint64_t i, uint64_t n)
{
	const struct ddio_query_reduce bounds = { .nbounds = deal->nbounds, .bound = deal->bound };
	uint32_t type, at;
	union ddio_query_number v;

	if (deal->kind == DDIO_QUERY_BY_NUMBER)
		return by_number(members, i, n);
	type = shape->q->field[deal->field].type;
	v = ddio_query_load(shape, deal->field, span);
	if (deal->kind == DDIO_QUERY_BY_RANGE)
		at = query_bin(&bounds, type, v);
	else
		at = (uint32_t)(hash_of(type, v) % (deal->nowners ? deal->nowners : members));
	return deal->nowners ? deal->owner[at] : at;
}
