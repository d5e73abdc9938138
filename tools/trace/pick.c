// SPDX-License-Identifier: GPL-2.0-only
/* Which of the recorded collectives are shown: those that every reactor has recorded from the beginning. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "trace.h"

/**
 * struct trace_choice - collectives of a group
 * @first, @last: their numbers within it, of @n collectives; other calls of the group have numbers, too
 */
struct trace_choice {
	const uint8_t *group;
	uint64_t first, last;
	uint32_t n;
};

static bool same_group(const uint8_t *a, const uint8_t *b)
{
	return !memcmp(a, b, DDIO_GROUP_ID_LEN);
}

/* Returns the lowest number that the part has of a group, or 0. */
static uint64_t lowest(const struct trace_part *p, const uint8_t *group)
{
	uint64_t low = 0;
	uint32_t i;

	for (i = 0; i < p->ncolls; i++)
		if (same_group(p->coll[i].group, group) && (!low || p->coll[i].op < low))
			low = p->coll[i].op;
	return low;
}

/* Returns the group of the first collective that a reactor has recorded; without events any will do. */
static const uint8_t *group_first(const struct trace_all *t)
{
	const uint8_t *group = NULL;
	int64_t at, first = INT64_MAX;
	uint32_t i;

	for (i = 0; i < t->nparts; i++) {
		const struct trace_part *p = &t->part[i];

		if (!p->ncolls)
			continue;
		at = p->n ? (int64_t)p->event[0].ns + p->skew : INT64_MAX;
		if (!group || at < first) {
			first = at;
			group = p->coll[0].group;
		}
	}
	return group;
}

/* Returns the lowest number above @after that any part has of the group, or 0. */
static uint64_t next_number(const struct trace_all *t, const uint8_t *group, uint64_t after)
{
	uint64_t low = 0;
	uint32_t i, k;

	for (i = 0; i < t->nparts; i++)
		for (k = 0; k < t->part[i].ncolls; k++) {
			const struct ddio_trace_coll *x = &t->part[i].coll[k];

			if (same_group(x->group, group) && x->op > after && (!low || x->op < low))
				low = x->op;
		}
	return low;
}

static bool choose(const struct trace_all *t, uint32_t most, struct trace_choice *c)
{
	uint64_t low;
	uint32_t i;

	*c = (struct trace_choice){ .group = group_first(t), .n = 1 };
	if (!c->group)
		return false;
	for (i = 0; i < t->nparts; i++) {
		low = lowest(&t->part[i], c->group);
		c->first = low > c->first ? low : c->first;
	}
	c->last = c->first;
	while (c->n < most && (low = next_number(t, c->group, c->last)) != 0) {
		c->last = low;
		c->n++;
	}
	return true;
}

static bool chosen(const struct trace_choice *c, const struct ddio_trace_coll *x)
{
	return same_group(x->group, c->group) && x->op >= c->first && x->op <= c->last;
}

bool trace_is_over(const struct trace_all *t, uint32_t most)
{
	struct trace_choice c;
	uint32_t i, k;

	if (!choose(t, most, &c) || c.n < most)
		return false;
	for (i = 0; i < t->nparts; i++)
		for (k = 0; k < t->part[i].ncolls; k++)
			if (chosen(&c, &t->part[i].coll[k]) &&
			    !(t->part[i].coll[k].flags & DDIO_TRACE_ENDED))
				return false;
	return true;
}

bool trace_picked(const struct trace_all *t, const struct trace_part *part, uint32_t coll)
{
	struct trace_choice c;

	return choose(t, t->ncolls, &c) && chosen(&c, &part->coll[coll]);
}

static int by_time(const void *a, const void *b)
{
	const struct trace_line *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	/* What a reactor has recorded stays in its order. */
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Requests have one order, whether they begin or end. */
static uint32_t thing(const struct trace_line *l)
{
	return l->e.kind == DDIO_TRACE_DISK_END ? DDIO_TRACE_DISK : l->e.kind;
}

/* Compares what events are about. */
static int compare_things(const struct trace_line *x, const struct trace_line *y)
{
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	if (x->e.coll != y->e.coll)
		return x->e.coll < y->e.coll ? -1 : 1;
	if (thing(x) != thing(y))
		return thing(x) < thing(y) ? -1 : 1;
	if (x->e.disk != y->e.disk)
		return x->e.disk < y->e.disk ? -1 : 1;
	return (int)x->e.slot - (int)y->e.slot;
}

static int by_thing(const void *a, const void *b)
{
	const struct trace_line *x = *(struct trace_line *const *)a;
	const struct trace_line *y = *(struct trace_line *const *)b;
	int ret = compare_things(x, y);

	return ret ? ret : x < y ? -1 : x > y;
}

static int link_things(struct trace_all *t)
{
	struct trace_line **order = calloc(t->n + 1, sizeof(struct trace_line *));
	uint32_t i;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < t->n; i++)
		order[i] = &t->line[i];
	qsort(order, t->n, sizeof(*order), by_thing);
	for (i = 1; i < t->n; i++) {
		if (compare_things(order[i - 1], order[i]))
			continue;
		order[i]->prev = order[i - 1];
		order[i - 1]->next = order[i];
	}
	free(order);
	return 0;
}

static void part_lines(struct trace_all *t, uint32_t i, const struct trace_choice *c)
{
	const struct trace_part *p = &t->part[i];
	uint32_t k;

	for (k = 0; k < p->n; k++)
		if (chosen(c, &p->coll[p->event[k].coll]))
			t->line[t->n++] = (struct trace_line){
				.at = p->event[k].ns + (uint64_t)p->skew,
				.part = i,
				.number = k,
				.e = p->event[k],
			};
	t->lost += p->lost;
}

int trace_pick(struct trace_all *t, uint32_t most)
{
	struct trace_choice c;
	uint64_t begin;
	uint32_t i, n = 0;

	if (!choose(t, most, &c))
		return -ENOENT;
	for (i = 0; i < t->nparts; i++)
		n += t->part[i].n;
	t->line = calloc(n + 1, sizeof(*t->line));
	if (!t->line)
		return -ENOMEM;
	for (i = 0; i < t->nparts; i++)
		part_lines(t, i, &c);
	t->ncolls = most;
	if (!t->n)
		return -ENOENT;
	qsort(t->line, t->n, sizeof(*t->line), by_time);
	begin = t->line[0].at;
	for (i = 0; i < t->n; i++)
		t->line[i].at -= begin;
	t->span = t->line[t->n - 1].at;
	return link_things(t);
}
