/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whose requests a reactor serves: connections say of which job they are, and what they ask for is counted under its name.
 * Only so many names are kept.  Beyond that what was counted under those that have no connection, the one that was
 * used least recently first, is counted as that of others; nothing is lost.
 */
#ifndef DDIO_JOB_H
#define DDIO_JOB_H

#include "base/hash.h"
#include "iop/bound/bound.h"
#include "proto/proto.h"

/**
 * struct iop_job - what is counted under one name
 * @link: in jobs.used
 */
struct iop_job {
	struct ddio_hash_node node;
	struct ddio_list link;
	struct ddio_job_status st;
};

/**
 * struct iop_jobs - of a reactor, or the sum of several
 * @named: struct iop_job.node, by name; @used: struct iop_job.link, the least recently used first
 * @none: connections that have named no job
 * @others: of names that there was no room for
 * @bound: how many names there is room for
 */
struct iop_jobs {
	struct ddio_hash named;
	struct ddio_list used;
	uint64_t n;
	struct iop_job none, others;
	struct bound *bound;
};

void jobs_init(struct iop_jobs *jobs, struct bound *bound);
void jobs_exit(struct iop_jobs *jobs);
/* Makes a name that was sent fit for a line: letters, digits and "-+_.,:@/" stay. */
void job_name_clean(char *name);
/* Returns what is counted under the name, made if there is room; else that of others.  "" is no name. */
struct iop_job *jobs_get(struct iop_jobs *jobs, const char *name);
/* Adds what @more has counted. */
void jobs_add(struct iop_jobs *jobs, const struct iop_jobs *more);
/* Writes all that have counted anything into @x, allocated, to be freed.  Return: 0 or -ENOMEM. */
int jobs_list(const struct iop_jobs *jobs, struct ddio_msg_jobs *x);

#endif /* DDIO_JOB_H */
