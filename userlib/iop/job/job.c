// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/job/job.h"

#define OTHERS "(others)" /* no job can be called so: see job_name_clean() */

void jobs_init(struct iop_jobs *jobs, struct bound *bound)
{
	memset(jobs, 0, sizeof(*jobs));
	ddio_list_init(&jobs->used);
	snprintf(jobs->others.st.name, sizeof(jobs->others.st.name), OTHERS);
	jobs->bound = bound;
}

void job_name_clean(char *name)
{
	for (; *name; name++)
		if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
		      (*name >= '0' && *name <= '9') || strchr("-+_.,:@/", *name)))
			*name = '_';
}

static void job_del(struct iop_jobs *jobs, struct iop_job *job)
{
	ddio_hash_del(&jobs->named, &job->node);
	ddio_list_del(&job->link);
	free(job);
	jobs->n--;
	jobs->bound->now--;
}

void jobs_exit(struct iop_jobs *jobs)
{
	struct iop_job *job, *tmp;

	ddio_list_for_each_entry_safe(job, tmp, &jobs->used, link)
		job_del(jobs, job);
	ddio_hash_fini(&jobs->named);
}

static void counters_add(struct ddio_job_status *sum, const struct ddio_job_status *st)
{
	sum->connections += st->connections;
	sum->requests += st->requests;
	sum->read_bytes += st->read_bytes;
	sum->write_bytes += st->write_bytes;
	sum->collectives += st->collectives;
	sum->coll_read_bytes += st->coll_read_bytes;
	sum->coll_write_bytes += st->coll_write_bytes;
	sum->told += st->told;
}

/* Makes room for one more name; returns false if all of them have connections. */
static bool make_room(struct iop_jobs *jobs)
{
	struct iop_job *job;

	jobs->bound->hits++;
	ddio_list_for_each_entry(job, &jobs->used, link) {
		if (job->st.connections)
			continue;
		counters_add(&jobs->others.st, &job->st);
		job_del(jobs, job);
		return true;
	}
	return false;
}

static struct iop_job *job_new(struct iop_jobs *jobs, const char *name, uint64_t key)
{
	struct iop_job *job;

	if (jobs->n >= jobs->bound->limit && !make_room(jobs))
		return &jobs->others;
	job = calloc(1, sizeof(*job));
	if (!job)
		return &jobs->others;
	snprintf(job->st.name, sizeof(job->st.name), "%s", name);
	ddio_hash_add(&jobs->named, &job->node, key);
	jobs->n++;
	jobs->bound->now++;
	bound_seen(jobs->bound, jobs->n);
	return job;
}

static struct iop_job *job_find(struct iop_jobs *jobs, const char *name, uint64_t key)
{
	struct iop_job *job;

	ddio_hash_for_each_match(job, &jobs->named, key, node)
		if (!strcmp(job->st.name, name))
			return job;
	return NULL;
}

struct iop_job *jobs_get(struct iop_jobs *jobs, const char *name)
{
	uint64_t key = ddio_hash_bytes(name, strlen(name));
	struct iop_job *job;

	if (!name[0])
		return &jobs->none;
	if (!strcmp(name, OTHERS))
		return &jobs->others;
	job = job_find(jobs, name, key);
	if (job)
		ddio_list_del(&job->link);
	else
		job = job_new(jobs, name, key);
	if (job != &jobs->others)
		ddio_list_add(&job->link, &jobs->used);
	return job;
}

void jobs_add(struct iop_jobs *jobs, const struct iop_jobs *more)
{
	const struct iop_job *job;

	counters_add(&jobs->none.st, &more->none.st);
	counters_add(&jobs->others.st, &more->others.st);
	ddio_list_for_each_entry(job, &more->used, link)
		counters_add(&jobs_get(jobs, job->st.name)->st, &job->st);
}

static void list_one(struct ddio_msg_jobs *x, const struct ddio_job_status *st)
{
	if (st->connections || st->requests || st->collectives || st->told)
		x->job[x->n++] = *st;
}

int jobs_list(const struct iop_jobs *jobs, struct ddio_msg_jobs *x)
{
	const struct iop_job *job;

	x->n = 0;
	x->job = calloc(jobs->n + 2, sizeof(*x->job));
	if (!x->job)
		return -ENOMEM;
	list_one(x, &jobs->none.st);
	ddio_list_for_each_entry(job, &jobs->used, link)
		list_one(x, &job->st);
	list_one(x, &jobs->others.st);
	return 0;
}
