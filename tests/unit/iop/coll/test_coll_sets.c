// SPDX-License-Identifier: GPL-2.0-only
/* Sets of slots, against arrays of flags. */
#include <string.h>
#include "base/rand.h"
#include "iop/coll/slot/set.h"
#include "../../lib/ut.h"

struct twin {
	struct slot_set set;
	bool in[COLL_MAX_BUFFERS];
};

/* Puts in @many of a set's places, and takes some of them out again. */
static struct twin twin_new(uint64_t *rand, uint32_t many)
{
	struct twin t = { 0 };
	uint32_t k, i;

	for (k = 0; k < many; k++) {
		i = (uint32_t)ddio_rand_below(rand, COLL_MAX_BUFFERS);
		t.in[i] = ddio_rand_below(rand, 4);
		slot_set_put(&t.set, i, t.in[i]);
	}
	return t;
}

static void same(struct slot_set set, const bool *in)
{
	uint32_t n = 0, i;

	for (i = 0; i < COLL_MAX_BUFFERS; i++) {
		CU_ASSERT_EQUAL(slot_set_has(&set, i), in[i]);
		n += in[i];
	}
	CU_ASSERT_EQUAL(slot_set_count(&set), n);
	CU_ASSERT_EQUAL(slot_set_empty(&set), !n);
	for (i = 0; i < COLL_MAX_BUFFERS; i++)
		if (in[i])
			CU_ASSERT_EQUAL(slot_set_take(&set), i);
	CU_ASSERT_EQUAL(slot_set_take(&set), COLL_MAX_BUFFERS);
	CU_ASSERT_TRUE(slot_set_empty(&set));
}

static void each_place_alone(void)
{
	uint32_t i;

	for (i = 0; i < COLL_MAX_BUFFERS; i++) {
		struct twin t = { 0 };

		t.in[i] = true;
		slot_set_put(&t.set, i, true);
		same(t.set, t.in);
		slot_set_put(&t.set, i, false);
		CU_ASSERT_TRUE(slot_set_empty(&t.set));
	}
}

static void any_sets(void)
{
	uint64_t rand = 1;
	uint32_t many, i;

	for (many = 0; many < 4 * COLL_MAX_BUFFERS; many++) {
		struct twin a = twin_new(&rand, many), b = twin_new(&rand, many),
			    c = twin_new(&rand, many);
		bool either[COLL_MAX_BUFFERS], rest[COLL_MAX_BUFFERS];

		for (i = 0; i < COLL_MAX_BUFFERS; i++) {
			either[i] = a.in[i] || b.in[i];
			rest[i] = a.in[i] && !(b.in[i] && c.in[i]);
		}
		same(a.set, a.in);
		same(slot_set_or(&a.set, &b.set), either);
		same(slot_set_but(&a.set, &b.set, &c.set), rest);
	}
}

static const struct ut_case cases[] = {
	{ "each place alone", each_place_alone },
	{ "any sets, and what two of them make", any_sets },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "sets of slots", cases } };

	return ut_run("coll_sets", suites, 1);
}
