// SPDX-License-Identifier: GPL-2.0-only
/* What a cluster did between two looks at it. */
#include <string.h>
#include "tests/unit/lib/ut.h"
#include "tools/ddio/top.h"

#define SECOND 1000000000ULL

/* Two nodes with two disks each, all counters 0. */
struct top_look {
	struct ddio_node_state node[2];
	struct ddio_disk_state disk[4];
	struct metrics m;
};

static void look_init(struct top_look *look, uint64_t uptime)
{
	int i;

	memset(look, 0, sizeof(*look));
	for (i = 0; i < 2; i++) {
		snprintf(look->node[i].name, sizeof(look->node[i].name), "io%d", i);
		look->node[i].uptime_ns = uptime;
	}
	for (i = 0; i < 4; i++) {
		snprintf(look->disk[i].name, sizeof(look->disk[i].name), "d%d", i);
		snprintf(look->disk[i].node, sizeof(look->disk[i].node), "io%d", i / 2);
	}
	look->m = (struct metrics){
		.node = look->node, .disk = look->disk, .nnodes = 2, .ndisks = 4
	};
}

static void test_rates(void)
{
	struct top_look then, now;
	struct top_disk d[4];
	struct top_sum sum;

	look_init(&then, 10 * SECOND);
	look_init(&now, 12 * SECOND);
	then.disk[2].read_bytes = 1000000;
	now.disk[2].read_bytes = 5000000;
	now.disk[1].write_bytes = 600;
	now.disk[2].reads = 30;
	now.disk[2].writes = 10;
	now.disk[2].busy_ns = SECOND / 2;
	now.disk[3].busy_ns = SECOND;
	now.disk[3].cache_hits = 3;
	now.disk[3].cache_misses = 1;
	now.node[0].collectives = 4;
	now.node[1].requests = 6;
	now.node[1].connections = 7;
	CU_ASSERT_EQUAL_FATAL(top_disks(&then.m, &now.m, d), 4);
	/* The busiest first, idle ones in their order. */
	CU_ASSERT_PTR_EQUAL(d[0].now, &now.disk[3]);
	CU_ASSERT_PTR_EQUAL(d[1].now, &now.disk[2]);
	CU_ASSERT_PTR_EQUAL(d[2].now, &now.disk[0]);
	CU_ASSERT_PTR_EQUAL(d[3].now, &now.disk[1]);
	CU_ASSERT_DOUBLE_EQUAL(d[0].busy, 0.5, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(d[0].hits, 0.75, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(d[1].busy, 0.25, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(d[1].read, 2e6, 1e-3);
	CU_ASSERT_DOUBLE_EQUAL(d[1].requests, 20, 1e-9);
	CU_ASSERT_EQUAL(d[1].hits, -1);
	top_sum(&then.m, &now.m, d, 4, &sum);
	CU_ASSERT_DOUBLE_EQUAL(sum.read, 2e6, 1e-3);
	CU_ASSERT_DOUBLE_EQUAL(sum.written, 300, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(sum.collectives, 2, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(sum.requests, 3, 1e-9);
	CU_ASSERT_EQUAL(sum.connections, 7);
	CU_ASSERT_EQUAL(sum.up, 2);
}

/* The first look has none before it: it shows means since the nodes were started. */
static void test_first(void)
{
	const struct metrics none = { 0 };
	struct top_disk d[4];
	struct top_look now;

	look_init(&now, 4 * SECOND);
	now.disk[0].read_bytes = 400;
	now.disk[0].busy_ns = 9 * SECOND;
	CU_ASSERT_EQUAL_FATAL(top_disks(&none, &now.m, d), 4);
	CU_ASSERT_DOUBLE_EQUAL(d[0].read, 100, 1e-9);
	CU_ASSERT_EQUAL(d[0].busy, 1);
}

/* A node started anew counts from 0, and its time from its start; the other's figures are as ever. */
static void test_anew(void)
{
	struct top_look then, now;
	struct top_disk d[4];
	struct top_sum sum;

	look_init(&then, 10 * SECOND);
	look_init(&now, 20 * SECOND);
	now.node[1].uptime_ns = SECOND;
	then.disk[3].read_bytes = 1000;
	now.disk[3].read_bytes = 1500;
	now.disk[3].busy_ns = SECOND;
	then.disk[0].read_bytes = 1000;
	now.disk[0].read_bytes = 2000;
	now.node[1].requests = 5;
	then.node[1].requests = 100;
	CU_ASSERT_EQUAL_FATAL(top_disks(&then.m, &now.m, d), 4);
	CU_ASSERT_PTR_EQUAL(d[0].now, &now.disk[3]);
	CU_ASSERT_DOUBLE_EQUAL(d[0].read, 1500, 1e-9);
	CU_ASSERT_PTR_EQUAL(d[1].now, &now.disk[0]);
	CU_ASSERT_DOUBLE_EQUAL(d[1].read, 100, 1e-9);
	top_sum(&then.m, &now.m, d, 4, &sum);
	CU_ASSERT_DOUBLE_EQUAL(sum.requests, 5, 1e-9);
}

static void test_down(void)
{
	struct top_look then, now;
	struct top_disk d[4];
	struct top_sum sum;

	look_init(&then, 10 * SECOND);
	look_init(&now, 11 * SECOND);
	now.node[0].error = now.disk[0].error = now.disk[1].error = -111;
	now.node[0].requests = 1000;
	now.disk[3].reads = 2;
	CU_ASSERT_EQUAL_FATAL(top_disks(&then.m, &now.m, d), 2);
	top_sum(&then.m, &now.m, d, 2, &sum);
	CU_ASSERT_EQUAL(sum.up, 1);
	CU_ASSERT_EQUAL(sum.down, 1);
	CU_ASSERT_EQUAL(sum.requests, 0);
	/* Back again: what it did meanwhile counts from its start. */
	then.node[0].error = -111;
	now.node[0].error = now.disk[0].error = 0;
	now.disk[0].reads = 22;
	CU_ASSERT_EQUAL_FATAL(top_disks(&then.m, &now.m, d), 3);
	CU_ASSERT_PTR_EQUAL(d[0].now, &now.disk[0]);
	CU_ASSERT_DOUBLE_EQUAL(d[0].requests, 2, 1e-9);
}

/* Disks and nodes that a new configuration moved are found by their names; no time and counters that fell give no nonsense. */
static void test_moved(void)
{
	struct top_look then, now;
	struct top_disk d[4];

	look_init(&then, 10 * SECOND);
	look_init(&now, 11 * SECOND);
	then.m.ndisks = then.m.nnodes = 1;
	then.node[0] = now.node[1];
	then.node[0].uptime_ns = 10 * SECOND;
	then.disk[0] = now.disk[3];
	then.disk[0].reads = 5;
	now.disk[3].reads = 8;
	now.disk[0].reads = 110;
	CU_ASSERT_EQUAL_FATAL(top_disks(&then.m, &now.m, d), 4);
	CU_ASSERT_DOUBLE_EQUAL(d[3].requests, 3, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(d[0].requests, 10, 1e-9);
	now.disk[3].reads = 4;
	top_disks(&then.m, &now.m, d);
	CU_ASSERT_DOUBLE_EQUAL(d[3].requests, 4, 1e-9);
	now.node[1].uptime_ns = 10 * SECOND;
	top_disks(&then.m, &now.m, d);
	CU_ASSERT_EQUAL(d[3].requests, 0);
}

static void job_set(struct ddio_job_state *j, const char *node, const char *name, uint64_t bytes)
{
	*j = (struct ddio_job_state){ .connections = 2, .read_bytes = bytes, .requests = 3 };
	snprintf(j->node, sizeof(j->node), "%s", node);
	snprintf(j->name, sizeof(j->name), "%s", name);
}

/* A job is one line for all nodes, whatever the order in which they tell of it; a node that is down tells of none. */
static void test_jobs(void)
{
	struct ddio_job_state before[2], after[5];
	struct top_look then, now;
	struct top_job j[5];

	look_init(&then, 10 * SECOND);
	look_init(&now, 12 * SECOND);
	job_set(&before[0], "io1", "b", 1000);
	job_set(&before[1], "io0", "b", 500);
	then.m.job = before;
	then.m.njobs = 2;
	job_set(&after[0], "io1", "b", 3000);
	job_set(&after[1], "io1", "a", 1200);
	job_set(&after[2], "io0", "b", 700);
	job_set(&after[3], "io0", "", 0);
	job_set(&after[4], "io7", "", 0);
	after[2].coll_write_bytes = 4000;
	after[4].error = -111;
	now.m.job = after;
	now.m.njobs = 5;
	top_jobs_sort(&then.m);
	top_jobs_sort(&now.m);
	CU_ASSERT_EQUAL_FATAL(top_jobs(&then.m, &now.m, j), 3);
	CU_ASSERT_STRING_EQUAL(j[0].name, "b");
	CU_ASSERT_DOUBLE_EQUAL(j[0].read, 1000 + 100, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(j[0].coll_written, 2000, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(j[0].requests, 0, 1e-9);
	CU_ASSERT_EQUAL(j[0].connections, 4);
	CU_ASSERT_STRING_EQUAL(j[1].name, "a");
	CU_ASSERT_DOUBLE_EQUAL(j[1].read, 600, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(j[1].requests, 1.5, 1e-9);
	CU_ASSERT_STRING_EQUAL(j[2].name, "");
	now.m.njobs = 0;
	CU_ASSERT_EQUAL(top_jobs(&then.m, &now.m, j), 0);
}

static const struct ut_case cases[] = {
	{ "what happened between two looks, a second", test_rates },
	{ "the first look shows means", test_first },
	{ "a node that was started anew", test_anew },
	{ "a node that is down, and back", test_down },
	{ "disks are found by name", test_moved },
	{ "jobs, of all nodes", test_jobs },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "top", cases } };

	return ut_run("top", suites, 1);
}
