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

/* Counts the events of a collective; the time never runs backwards. */
static void traced_counts(const struct iop_trace *t, uint16_t coll, uint32_t count[8])
{
	uint32_t i;

	memset(count, 0, 8 * sizeof(count[0]));
	for (i = 0; i < t->n; i++) {
		CU_ASSERT_FATAL(t->event[i].kind < 8);
		CU_ASSERT(!i || t->event[i].ns >= t->event[i - 1].ns);
		count[t->event[i].kind] += t->event[i].coll == coll;
	}
}

/* What was recorded of each collective is what it counted. */
static void traced_check(const struct iop_trace *t, bool write, uint32_t k)
{
	const struct ddio_trace_coll *c = &t->coll[k];
	uint32_t count[8];

	traced_counts(t, (uint16_t)k, count);
	CU_ASSERT_EQUAL(c->flags, DDIO_TRACE_ENDED | (write ? DDIO_TRACE_WRITE : 0));
	CU_ASSERT_EQUAL(c->nprocs, 4);
	CU_ASSERT(c->disk_requests > 0);
	CU_ASSERT(c->messages > 0);
	CU_ASSERT_EQUAL(count[DDIO_TRACE_DISK_END], c->disk_requests);
	CU_ASSERT_EQUAL(count[DDIO_TRACE_SENT] + count[DDIO_TRACE_CAME], c->messages);
	CU_ASSERT(count[DDIO_TRACE_STATE] >= 3);
	CU_ASSERT(count[DDIO_TRACE_SLOT] > 0);
	CU_ASSERT_EQUAL(!count[DDIO_TRACE_ASK], !write);
}

static void read_and_write(struct coll_world *w, struct w_file *f)
{
	struct w_group *g = w_group_new(w, 4);
	struct ddio_array a = pattern("bc", 8, 24, 64, 4);

	w_file_init(w, f, 1, 1024, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, f, 8 * 24 * 64, 3);
	read_and_check(&(struct w_job){ .g = g, .f = f, .array = &a });
	write_and_check(&(struct w_job){
		.g = g, .f = f, .array = &a, .flags = DDIO_COLL_WRITE, .seed = 5 });
}

static void test_trace(void)
{
	static const struct ddio_msg_trace_ask both = { .most = 2 };
	struct w_params p = { .seed = 17, .ndisks = 4, .nreactors = 2 };
	struct coll_world *w = w_new(&p);
	struct w_file f;
	uint32_t i;

	for (i = 0; i < p.nreactors; i++)
		w->reactor[i].trace = trace_new(&both, 1, 65536);
	read_and_write(w, &f);
	for (i = 0; i < p.nreactors; i++) {
		CU_ASSERT_EQUAL_FATAL(w->reactor[i].trace->ncolls, 2);
		traced_check(w->reactor[i].trace, false, 0);
		traced_check(w->reactor[i].trace, true, 1);
		CU_ASSERT_EQUAL(w->reactor[i].trace->lost, 0);
		trace_free(w->reactor[i].trace);
	}
	w_file_free(&f);
	w_free(w);
}

/* One that is full, one of another file, one of later collectives; and one that ends while its collective runs. */
static void test_trace_bounds(void)
{
	struct ddio_msg_trace_ask ask[4] = { { .most = 1 },
					     { .most = 1, .file = "another" },
					     { .most = 1, .op = 2 },
					     { .most = 1, .job = "another" } };
	struct w_params p = { .seed = 17, .ndisks = 1, .nreactors = 1 };
	struct coll_world *w;
	struct iop_trace *t;
	struct w_file f;
	uint32_t i;

	for (i = 0; i < 4; i++) {
		w = w_new(&p);
		bounds_init(&w->reactor[0].bounds);
		t = w->reactor[0].trace = trace_new(&ask[i], 1, i ? 65536 : 5);
		read_and_write(w, &f);
		CU_ASSERT_EQUAL(t->ncolls, i == 0 || i == 2);
		CU_ASSERT(i != 2 || t->coll[0].flags & DDIO_TRACE_WRITE);
		CU_ASSERT_EQUAL(t->n, i == 0 ? 5 : i == 2 ? t->n : 0);
		CU_ASSERT_EQUAL(!t->lost, i != 0);
		CU_ASSERT_EQUAL(w->reactor[0].bounds.at[BOUND_TRACED].hits, t->lost);
		trace_free(t);
		w_file_free(&f);
		w_free(w);
	}
}

static const struct ut_case pattern_cases[] = {
	{ "every pattern, contiguous layout, two reactors", test_patterns_contiguous },
	{ "what a job moved is counted as its", test_job },
	{ "what is traced of a collective is what it counts", test_trace },
	{ "a trace has only what was asked for, and what it has room for", test_trace_bounds },
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
