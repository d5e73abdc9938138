// SPDX-License-Identifier: GPL-2.0-only
/* Chunks asked for in turn: how many requests wait for an answer at a time. */
#include "tests/unit/cp/cp_world.h"

enum { BLOCK = 1024, ELEMS = 16 * BLOCK / 8, BYTES = ELEMS * 8 };

static struct ddio_array spread(uint32_t dist, uint64_t k)
{
	return (struct ddio_array){ .elem_size = 8,
				    .ndims = 1,
				    .dim = {
					    { .size = ELEMS, .dist = dist, .procs = 2, .k = k } } };
}

/* Moves an array by TC.  Returns the most requests that waited at one disk; *@requests: how many were made. */
static uint64_t most(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g,
		     const struct ddio_array *a, uint32_t flags, uint64_t *requests)
{
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = a };
	struct ddio_report report = { .struct_size = sizeof(report) };
	uint8_t *buf = calloc(1, BYTES / 2);
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &part,
				   .buf = buf,
				   .method = DDIO_METHOD_TC,
				   .flags = flags,
				   .report = &report };

	CP_OK(p, ddio_write_all(f, g, &t));
	CP_OK(p, ddio_read_all(f, g, &t));
	CU_ASSERT_EQUAL(report.bytes_share, BYTES / 2);
	*requests = report.requests;
	free(buf);
	return report.buffers;
}

static void in_turn(struct cp_proc *p)
{
	static const struct ddio_striping st = { .struct_size = sizeof(st), .block_size = BLOCK };
	struct ddio_array cyclic = spread(DDIO_CYCLIC, 1), blocks = spread(DDIO_BLOCK, 0);
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	uint64_t n;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, &st, &f));
	/* Each element is a chunk: one request at a time, and as many as elements. */
	CU_ASSERT_EQUAL(most(p, f, g, &cyclic, DDIO_XFER_IN_TURN, &n), 1);
	CU_ASSERT_EQUAL(n, ELEMS / 2);
	CU_ASSERT_EQUAL(most(p, f, g, &cyclic, 0, &n), 4);
	CU_ASSERT_EQUAL(n, ELEMS / 2);
	/* All of the share is one chunk, of 8 blocks on 4 disks. */
	CU_ASSERT_EQUAL(most(p, f, g, &blocks, DDIO_XFER_IN_TURN, &n), 2);
	CU_ASSERT_EQUAL(n, 8);
	ddio_close(f);
	ddio_group_free(g);
}

static void test_in_turn(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 2 });
	CU_ASSERT_EQUAL(cp_run(&w, in_turn, NULL), 0);
	cp_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "one chunk after the other", test_in_turn },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "in turn", cases } };

	return cp_ut_run("cp_turn", suites, 1);
}
