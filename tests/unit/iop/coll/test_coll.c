// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collective executor: every pattern of the papers' table, reading and writing, with the work
 * of the disks counted.
 */
#include "tests/unit/iop/coll/coll_pattern.h"

static const char *const patterns[] = { "a",  "n",  "b",  "c",	"nn", "nb", "nc",
					"bn", "bb", "bc", "cn", "cb", "cc" };
enum { NPATTERNS = sizeof(patterns) / sizeof(patterns[0]) };

struct shape {
	uint64_t rec, rows, cols;
	uint32_t block;
};

static const struct shape shapes[] = {
	{ 8, 24, 64, 1024 },   /* 8-byte elements, several cycles a block */
	{ 1024, 12, 10, 512 }, /* records larger than blocks */
	{ 24, 17, 13, 2048 },  /* nothing divides anything */
};

/* Every @step-th set of flags, from @first on. */
static void pattern_all_flags(struct w_group *g, struct w_file *f, const struct ddio_array *a,
			      uint32_t first, uint32_t step)
{
	static const uint32_t flags[] = { 0, DDIO_COLL_SORT, DDIO_COLL_ROTATE,
					  DDIO_COLL_SORT | DDIO_COLL_ROTATE,
					  DDIO_COLL_SORT | DDIO_COLL_NO_BATCH };
	uint32_t i;

	for (i = first; i < sizeof(flags) / sizeof(flags[0]); i += step) {
		struct w_job job = { .g = g, .f = f, .flags = flags[i], .array = a };

		read_and_check(&job);
		job.flags |= DDIO_COLL_WRITE;
		job.seed = 100 + i;
		write_and_check(&job);
		read_and_check(&(struct w_job){ .g = g, .f = f, .flags = flags[i], .array = a });
	}
}

static void patterns_with(uint32_t layout, uint32_t nreactors, uint32_t nprocs)
{
	struct w_params p = { .seed = 11 + layout, .ndisks = 4, .nreactors = nreactors };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, nprocs);
	uint32_t s, i;

	printf("\n  seed %llu ", (unsigned long long)p.seed);
	for (s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
		const struct shape *sh = &shapes[s];
		struct w_file f;

		w_file_init(w, &f, s + 1, sh->block, layout);
		w_file_fill(w, &f, sh->rec * sh->rows * sh->cols, s);
		for (i = 0; i < NPATTERNS; i++) {
			struct ddio_array a =
				pattern(patterns[i], sh->rec, sh->rows, sh->cols, nprocs);

			pattern_all_flags(g, &f, &a, (s + i) % ut_stride(5), ut_stride(5));
		}
		w_file_free(&f);
	}
	CU_ASSERT(w->max_buffers <= 2);
	w_free(w);
}

static void test_patterns_contiguous(void)
{
	patterns_with(DDIO_LAYOUT_CONTIGUOUS_W, 2, 4);
}

static void test_patterns_random(void)
{
	patterns_with(DDIO_LAYOUT_RANDOM_BLOCKS_W, 1, 16);
}

static const struct ut_case pattern_cases[] = {
	{ "every pattern, contiguous layout, two reactors", test_patterns_contiguous },
	{ "every pattern, random blocks, sixteen members", test_patterns_random },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "patterns", pattern_cases },
	};

	return w_ut_run_shared("test_coll", suites, sizeof(suites) / sizeof(suites[0]));
}
