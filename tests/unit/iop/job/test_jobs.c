// SPDX-License-Identifier: GPL-2.0-only
/* What jobs have asked for, under few names or many. */
#include <stdlib.h>
#include <string.h>
#include "iop/job/job.h"
#include "tests/unit/lib/ut.h"

struct job_table {
	struct bound bound;
	struct iop_jobs jobs;
};

static void table_init(struct job_table *t, uint64_t limit)
{
	t->bound = (struct bound){ .limit = limit };
	jobs_init(&t->jobs, &t->bound);
}

/* What the list says of a name; all zero if it is not there. */
static struct ddio_job_status told(const struct iop_jobs *jobs, const char *name)
{
	struct ddio_job_status st = { .requests = 0 };
	struct ddio_msg_jobs x;
	uint32_t i;

	CU_ASSERT_EQUAL_FATAL(jobs_list(jobs, &x), 0);
	for (i = 0; i < x.n; i++)
		if (!strcmp(x.job[i].name, name))
			st = x.job[i];
	free(x.job);
	return st;
}

static uint64_t told_requests(const struct iop_jobs *jobs, uint32_t *n)
{
	struct ddio_msg_jobs x;
	uint64_t sum = 0;
	uint32_t i;

	CU_ASSERT_EQUAL_FATAL(jobs_list(jobs, &x), 0);
	for (i = 0; i < x.n; i++)
		sum += x.job[i].requests;
	*n = x.n;
	free(x.job);
	return sum;
}

static void test_counted(void)
{
	struct job_table t;
	uint32_t n;

	table_init(&t, 4);
	CU_ASSERT_EQUAL(told_requests(&t.jobs, &n), 0);
	CU_ASSERT_EQUAL(n, 0);
	jobs_get(&t.jobs, "")->st.requests = 3;
	jobs_get(&t.jobs, "a")->st.requests = 5;
	jobs_get(&t.jobs, "b")->st.connections = 1;
	CU_ASSERT_PTR_EQUAL(jobs_get(&t.jobs, "a"), jobs_get(&t.jobs, "a"));
	CU_ASSERT_EQUAL(told(&t.jobs, "").requests, 3);
	CU_ASSERT_EQUAL(told(&t.jobs, "a").requests, 5);
	CU_ASSERT_EQUAL(told(&t.jobs, "b").connections, 1);
	told_requests(&t.jobs, &n);
	CU_ASSERT_EQUAL(n, 3);
	CU_ASSERT_EQUAL(t.bound.now, 2);
	CU_ASSERT_EQUAL(t.bound.hits, 0);
	jobs_exit(&t.jobs);
	CU_ASSERT_EQUAL(t.bound.now, 0);
}

/* The job that was used least recently and has no connection gives way; what it asked for stays counted. */
static void test_full(void)
{
	struct job_table t;

	table_init(&t, 3);
	jobs_get(&t.jobs, "old")->st.connections = 1;
	jobs_get(&t.jobs, "b")->st.requests = 7;
	jobs_get(&t.jobs, "c")->st.requests = 9;
	jobs_get(&t.jobs, "b");
	jobs_get(&t.jobs, "d")->st.requests = 1;
	CU_ASSERT_EQUAL(told(&t.jobs, "c").requests, 0);
	CU_ASSERT_EQUAL(told(&t.jobs, "(others)").requests, 9);
	CU_ASSERT_EQUAL(told(&t.jobs, "b").requests, 7);
	CU_ASSERT_EQUAL(told(&t.jobs, "old").connections, 1);
	CU_ASSERT_EQUAL(t.bound.now, 3);
	CU_ASSERT_EQUAL(t.bound.most, 3);
	CU_ASSERT_EQUAL(t.bound.hits, 1);
	/* All have connections: one more is one of the others. */
	jobs_get(&t.jobs, "b")->st.connections = 1;
	jobs_get(&t.jobs, "d")->st.connections = 1;
	jobs_get(&t.jobs, "e")->st.requests += 2;
	CU_ASSERT_EQUAL(told(&t.jobs, "(others)").requests, 11);
	CU_ASSERT_EQUAL(told(&t.jobs, "e").requests, 0);
	jobs_exit(&t.jobs);
}

/* However many names come, memory stays bounded and no request is lost. */
static void test_many(void)
{
	struct job_table t;
	char name[DDIO_MAX_JOB + 1];
	uint32_t i, n;

	table_init(&t, 256);
	for (i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "job%u", i);
		jobs_get(&t.jobs, name)->st.requests++;
	}
	CU_ASSERT_EQUAL(told_requests(&t.jobs, &n), 20000);
	CU_ASSERT_EQUAL(n, 257);
	jobs_exit(&t.jobs);
}

static void test_sum(void)
{
	struct job_table a, b, sum;

	table_init(&a, 4);
	table_init(&b, 4);
	table_init(&sum, 2);
	jobs_get(&a.jobs, "x")->st = (struct ddio_job_status){ "x", 1, 2, 3, 4, 5, 6, 7, 8 };
	jobs_get(&b.jobs, "x")->st =
		(struct ddio_job_status){ "x", 10, 20, 30, 40, 50, 60, 70, 80 };
	jobs_get(&b.jobs, "")->st.requests = 8;
	jobs_get(&b.jobs, "y")->st.requests = 100;
	jobs_get(&b.jobs, "z")->st.requests = 200;
	jobs_add(&sum.jobs, &a.jobs);
	jobs_add(&sum.jobs, &b.jobs);
	CU_ASSERT_EQUAL(told(&sum.jobs, "x").connections, 11);
	CU_ASSERT_EQUAL(told(&sum.jobs, "x").requests, 22);
	CU_ASSERT_EQUAL(told(&sum.jobs, "x").read_bytes, 33);
	CU_ASSERT_EQUAL(told(&sum.jobs, "x").write_bytes, 44);
	CU_ASSERT_EQUAL(told(&sum.jobs, "x").collectives, 55);
	CU_ASSERT_EQUAL(told(&sum.jobs, "x").coll_read_bytes, 66);
	CU_ASSERT_EQUAL(told(&sum.jobs, "x").coll_write_bytes, 77);
	CU_ASSERT_EQUAL(told(&sum.jobs, "x").told, 88);
	CU_ASSERT_EQUAL(told(&sum.jobs, "").requests, 8);
	CU_ASSERT_EQUAL(told(&sum.jobs, "(others)").requests + told(&sum.jobs, "y").requests +
				told(&sum.jobs, "z").requests,
			300);
	jobs_exit(&a.jobs);
	jobs_exit(&b.jobs);
	jobs_exit(&sum.jobs);
}

/* A name comes from whoever has the key, and ends in lines and labels: it forges none, and not that of the others. */
static void test_clean(void)
{
	char name[] = "a b\n\"(others)\xc3\xa4{}\x7f/1.2:3,4-5_6@7+8", empty[] = "";

	job_name_clean(name);
	CU_ASSERT_STRING_EQUAL(name, "a_b___others______/1.2:3,4-5_6@7+8");
	job_name_clean(empty);
	CU_ASSERT_STRING_EQUAL(empty, "");
}

static const struct ut_case cases[] = {
	{ "what is counted under names, and under none", test_counted },
	{ "no room for one more name", test_full },
	{ "20,000 names", test_many },
	{ "the sum of several reactors", test_sum },
	{ "names are made harmless", test_clean },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "jobs", cases } };

	return ut_run("jobs", suites, 1);
}
