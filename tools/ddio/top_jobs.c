// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "top.h"
#include "top_rate.h"

/* By node, then by name. */
static int by_place(const void *a, const void *b)
{
	const struct ddio_job_state *x = a, *y = b;
	int node = strcmp(x->node, y->node);

	return node ? node : strcmp(x->name, y->name);
}

void top_jobs_sort(struct metrics *m)
{
	if (m->njobs)
		qsort(m->job, m->njobs, sizeof(*m->job), by_place);
}

static void fill(struct top_job *j, const struct top_interval *in,
		 const struct ddio_job_state *then, const struct ddio_job_state *now)
{
	static const struct ddio_job_state none;

	then = then ? then : &none;
	*j = (struct top_job){
		.name = now->name,
		.connections = now->connections,
		.requests = top_rate(in, then->requests, now->requests),
		.read = top_rate(in, then->read_bytes, now->read_bytes),
		.written = top_rate(in, then->write_bytes, now->write_bytes),
		.coll_read = top_rate(in, then->coll_read_bytes, now->coll_read_bytes),
		.coll_written = top_rate(in, then->coll_write_bytes, now->coll_write_bytes),
	};
}

static int by_name(const void *a, const void *b)
{
	const struct top_job *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static double moves(const struct top_job *j)
{
	return j->read + j->written + j->coll_read + j->coll_written;
}

static int by_bytes(const void *a, const void *b)
{
	double x = moves(a), y = moves(b);

	if (x != y)
		return x < y ? 1 : -1;
	return by_name(a, b);
}

static void add(struct top_job *sum, const struct top_job *j)
{
	sum->connections += j->connections;
	sum->requests += j->requests;
	sum->read += j->read;
	sum->written += j->written;
	sum->coll_read += j->coll_read;
	sum->coll_written += j->coll_written;
}

/* Makes one of those with the same name.  Return: how many are left. */
static uint32_t fold(struct top_job *job, uint32_t n)
{
	uint32_t i, kept = 0;

	qsort(job, n, sizeof(*job), by_name);
	for (i = 0; i < n; i++) {
		if (kept && !strcmp(job[kept - 1].name, job[i].name))
			add(&job[kept - 1], &job[i]);
		else
			job[kept++] = job[i];
	}
	return kept;
}

uint32_t top_jobs(const struct metrics *then, const struct metrics *now, struct top_job *job)
{
	struct top_interval in = { 0 };
	const char *node = "";
	uint32_t i, n = 0, at = 0;

	for (i = 0; i < now->njobs; i++) {
		const struct ddio_job_state *j = &now->job[i], *old = NULL;

		if (j->error)
			continue;
		if (strcmp(node, j->node)) {
			node = j->node;
			in = top_interval(then, now, node);
		}
		while (at < then->njobs && by_place(&then->job[at], j) < 0)
			at++;
		if (at < then->njobs && !by_place(&then->job[at], j))
			old = &then->job[at];
		fill(&job[n++], &in, old, j);
	}
	if (!n)
		return 0;
	n = fold(job, n);
	qsort(job, n, sizeof(*job), by_bytes);
	return n;
}
