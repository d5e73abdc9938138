/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of the emulated drive share. */
#ifndef DDIO_HP97560_UT_H
#define DDIO_HP97560_UT_H

#include "base/rand.h"
#include "hp97560_priv.h"
#include "tests/unit/lib/ut.h"

#define CAPACITY 2647080ULL
#define PERIOD_NS 10000000000ULL
#define TURN_NS 14992503ULL /* rounded down */
#define OVERHEAD_NS 2200000ULL
#define BUS_8K_NS (16 * 51200ULL)
#define HIT_NS (OVERHEAD_NS + BUS_8K_NS)
#define HUGE_NS (1ULL << 60)
#define POLICIES 8

/* One of the combinations of the three policies. */
static inline void policy_params(struct hp97560_params *p, int policy)
{
	hp97560_params_default(p);
	p->read_ahead = policy & 1;
	p->immediate_report = policy & 2;
	p->bus_overlap = policy & 4;
}

static inline struct hp97560_result submit(struct hp97560_disk *d, enum hp97560_op op, u64 lba,
					   u32 sectors, u64 ns)
{
	struct hp97560_result r;

	CU_ASSERT_EQUAL_FATAL(hp97560_submit(d, op, lba, sectors, ns, &r), 0);
	return r;
}

#endif /* DDIO_HP97560_UT_H */
