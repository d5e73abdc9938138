// SPDX-License-Identifier: LGPL-2.1-or-later
/* The blocks that a request asks about, in the order of their places; those that lie nowhere come last. */
#include <errno.h>
#include <stdlib.h>
#include "iop/query/priv.h"

static bool asked(const struct iop_query *query, uint32_t i)
{
	const uint8_t *want = query->msg.want;

	return want[i / 8] >> i % 8 & 1;
}

static int order(const void *a, const void *b)
{
	const struct query_place *x = a, *y = b;

	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	return (x->block > y->block) - (x->block < y->block);
}

static uint64_t place_of(const struct iop_query *query, uint32_t i)
{
	uint64_t start, run;
	bool written;

	if (!query->obj ||
	    !object_lookup(query->obj, query_block(query, i), &start, &run, &written) || !written)
		return UINT64_MAX;
	return start;
}

/* The block of which a part has been looked at comes first. */
static void part_first(struct iop_query *query)
{
	struct query_place part;
	uint32_t i;

	for (i = 0; i < query->nplaces; i++)
		if (query->place[i].block == query->msg.part)
			break;
	if (i == query->nplaces)
		return;
	part = query->place[i];
	for (; i; i--)
		query->place[i] = query->place[i - 1];
	query->place[0] = part;
}

int query_list(struct iop_query *query)
{
	uint32_t i;

	query->place = malloc(query->msg.nblocks * sizeof(*query->place));
	if (!query->place)
		return -ENOMEM;
	for (i = 0; i < query->msg.nblocks; i++)
		if (asked(query, i))
			query->place[query->nplaces++] =
				(struct query_place){ place_of(query, i), i };
	qsort(query->place, query->nplaces, sizeof(*query->place), order);
	ddio_env_charge(query_env(query), DDIO_WORK_SORT, query->nplaces);
	part_first(query);
	return 0;
}
