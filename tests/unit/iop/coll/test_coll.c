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

/* Each reactor counts what it moved for the job of the connection that asked, and for nobody else. */
static void test_job(void)
{
	struct w_params p = { .seed = 17, .ndisks = 4, .nreactors = 2 };
	struct coll_world *w = w_new(&p);
	struct w_group *g = w_group_new(w, 4);
	struct ddio_array a = pattern("bc", 8, 24, 64, 4);
	uint64_t size = 8 * 24 * 64, got[3] = { 0 };
	struct client *client;
	struct w_file f;
	uint32_t i;

	w_file_init(w, &f, 1, 1024, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, &f, size, 3);
	ddio_list_for_each_entry(client, &w->reactor[0].clients, link)
		client->job = jobs_get(&w->reactor[0].jobs, "4711");
	read_and_check(&(struct w_job){ .g = g, .f = &f, .array = &a });
	write_and_check(&(struct w_job){
		.g = g, .f = &f, .array = &a, .flags = DDIO_COLL_WRITE, .seed = 5 });
	for (i = 0; i < p.nreactors; i++) {
		got[0] += jobs_get(&w->reactor[i].jobs, "4711")->st.coll_read_bytes;
		got[1] += jobs_get(&w->reactor[i].jobs, "4711")->st.coll_write_bytes;
		got[2] += jobs_get(&w->reactor[i].jobs, "4711")->st.collectives;
		CU_ASSERT_EQUAL(w->reactor[i].jobs.none.st.collectives, 0);
	}
	CU_ASSERT_EQUAL(got[0], size);
	CU_ASSERT_EQUAL(got[1], size);
	CU_ASSERT_EQUAL(got[2], 2 * p.nreactors);
	w_file_free(&f);
	w_free(w);
}

static const struct ut_case pattern_cases[] = {
	{ "every pattern, contiguous layout, two reactors", test_patterns_contiguous },
	{ "what a job moved is counted as its", test_job },
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
