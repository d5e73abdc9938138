/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults for the executor's tests: a group whose collective must fail, and another that must be served
 * afterwards.
 */
#ifndef DDIO_TEST_COLL_FAULT_H
#define DDIO_TEST_COLL_FAULT_H

#include "tests/unit/iop/coll/coll_op.h"

struct fault {
	struct coll_world *w;
	struct w_group *g, *other;
	struct w_file f;
	struct ddio_array a;
	struct w_job job;
	uint64_t op;
};

enum { BLOCKS = 24, BLOCK = 1024, TIMEOUT_MS = 4000 };

/* A group of four and one of two; a file of 24 blocks over the node's disks. */
static inline void fault_new(struct fault *x, const struct w_params *p, uint32_t flags)
{
	memset(x, 0, sizeof(*x));
	x->w = w_new(p);
	x->g = w_group_new(x->w, 4);
	x->other = w_group_new(x->w, 2);
	w_deal(x->w, &x->f, &x->a, BLOCK, BLOCKS, 4);
	x->job = (struct w_job){ .g = x->g, .f = &x->f, .array = &x->a, .flags = flags, .seed = 9 };
}

/* The other group reads the file, whatever is in it. */
static inline void fault_free(struct fault *x)
{
	struct w_job job = { .g = x->other, .f = &x->f, .array = &x->a };
	uint64_t op;

	x->a.dim[0].procs = 2;
	op = w_start(&job);
	CU_ASSERT_EQUAL(w_wait(x->other, op, 60 * SEC), DDIO_ST_OK);
	w_file_free(&x->f);
	w_free(x->w);
}

static inline const char *fault_text(const struct fault *x, uint32_t rank)
{
	return m_op(&x->g->m[rank], x->op)->text;
}

static inline bool says(const struct fault *x, const char *what)
{
	uint32_t i;

	for (i = 0; i < x->g->n; i++)
		if (!x->g->m[i].gone && !strstr(fault_text(x, i), what)) {
			printf("'%s' is not in '%s'\n", what, fault_text(x, i));
			return false;
		}
	return true;
}

/* A member dies at any time. */
static inline bool killed_at(uint64_t us, uint32_t flags)
{
	struct w_params p = {
		.seed = us, .ndisks = 2, .nreactors = 1 + us % 2, .options = "delay_us=100"
	};
	struct fault x;
	uint32_t status;

	fault_new(&x, &p, flags);
	x.op = w_start(&x.job);
	w_run(x.w, us * 1000);
	m_leave(&x.g->m[2]);
	status = w_wait(x.g, x.op, 60 * SEC);
	CU_ASSERT(status == DDIO_ST_OK || status == DDIO_ST_MEMBER_LOST);
	if (status == DDIO_ST_OK && !(flags & DDIO_COLL_WRITE)) {
		/* The member had its bytes before, or does not need them now. */
		struct w_fill fill = { .image = x.f.image, .share = m_op(&x.g->m[0], x.op)->share };

		w_bytes(x.g->map[x.op % W_OPS], 0, compare_byte, &fill);
		CU_ASSERT_EQUAL(fill.wrong, 0);
	}
	w_run(x.w, 50 * MS);
	fault_free(&x);
	return status != DDIO_ST_OK;
}

#endif /* DDIO_TEST_COLL_FAULT_H */
