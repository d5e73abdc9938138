// SPDX-License-Identifier: GPL-2.0-only
/* Sets of ranges, against a plain list. */
#include <stdbool.h>
#include <stdlib.h>
#include "base/rand.h"
#include "iop/lock/rangeset.h"
#include "tests/unit/lib/ut.h"

enum { RANGES = 60, OWNERS = 3, SPAN = 100 };

struct rangeset_twin {
	struct rangeset set;
	struct range range[RANGES];
	bool in[RANGES];
	uint64_t rand;
};

static uint64_t pick(struct rangeset_twin *t, uint64_t below)
{
	return ddio_rand_below(&t->rand, below);
}

static bool stands_before(const struct range *a, const struct range *b)
{
	return a->start < b->start || (a->start == b->start && a->seq < b->seq);
}

static bool asked_for(const struct range *r, const struct range_query *q)
{
	return r->start <= q->to && r->end >= q->from && r->who != q->but;
}

/* Returns what rangeset_first() or rangeset_next() should. */
static const struct range *expected(const struct rangeset_twin *t, const struct range *after,
				    const struct range_query *q)
{
	const struct range *best = NULL, *r;
	int i;

	for (i = 0; i < RANGES; i++) {
		r = &t->range[i];
		if (!t->in[i] || !asked_for(r, q) || (after && !stands_before(after, r)))
			continue;
		if (!best || stands_before(r, best))
			best = r;
	}
	return best;
}

static void change(struct rangeset_twin *t)
{
	uint64_t i = pick(t, RANGES);
	struct range *r = &t->range[i];

	if (t->in[i]) {
		rangeset_del(&t->set, r);
	} else {
		r->start = pick(t, SPAN);
		r->end = r->start + pick(t, pick(t, 4) ? 5 : SPAN);
		r->who = &t->in[pick(t, OWNERS)];
		rangeset_add(&t->set, r);
	}
	t->in[i] = !t->in[i];
}

static void ask(struct rangeset_twin *t)
{
	uint64_t from = pick(t, SPAN);
	struct range_query q = { .from = from,
				 .to = from + pick(t, SPAN / 2),
				 .but = pick(t, 2) ? &t->in[pick(t, OWNERS)] : NULL };
	const struct range *r = rangeset_first(&t->set, &q), *want = expected(t, NULL, &q);

	CU_ASSERT_PTR_EQUAL_FATAL(r, want);
	while (r) {
		want = expected(t, r, &q);
		r = rangeset_next(&t->set, r, &q);
		CU_ASSERT_PTR_EQUAL_FATAL(r, want);
	}
}

static void test_twin(void)
{
	struct rangeset_twin t = { .rand = 1 };
	unsigned int i;

	for (i = 0; i < ut_rounds(20000); i++) {
		change(&t);
		ask(&t);
	}
}

/* However many there are, few are looked at; also where all but the last are one owner's. */
static void test_few(void)
{
	enum { MANY = 20000 };
	struct range *range = calloc(MANY, sizeof(*range));
	struct range_query q = { .from = 0, .to = UINT64_MAX, .but = range };
	struct rangeset set = { 0 };
	uint64_t i;

	for (i = 0; i < MANY; i++) {
		range[i] = (struct range){ .start = 2 * i,
					   .end = 2 * i,
					   .who = i < MANY - 1 ? range : range + 1 };
		rangeset_add(&set, &range[i]);
	}
	CU_ASSERT_PTR_EQUAL(rangeset_first(&set, &q), &range[MANY - 1]);
	CU_ASSERT(q.looked < 80);
	q = (struct range_query){ .from = MANY + 1, .to = MANY + 1 };
	CU_ASSERT_PTR_NULL(rangeset_first(&set, &q));
	q.from = q.to = UINT64_MAX;
	CU_ASSERT_PTR_NULL(rangeset_first(&set, &q));
	CU_ASSERT(q.looked < 80);
	free(range);
}

static const struct ut_case cases[] = {
	{ "against a list", test_twin },
	{ "few are looked at", test_few },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "rangeset", cases } };

	return ut_run("rangeset", suites, 1);
}
