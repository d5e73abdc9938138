/* SPDX-License-Identifier: GPL-2.0-only */
/* What nodes and disks have done between two looks at them. */
#ifndef TOOLS_TOP_H
#define TOOLS_TOP_H

#include "tools/common/metrics.h"

/**
 * struct top_disk - what a disk does
 * @now: as it is
 * @busy: share of the time with a request under way, 0 to 1
 * @read, @written: bytes a second
 * @requests: a second
 * @hits: share of the lookups in its cache that found the block; -1 if there were none
 */
struct top_disk {
	const struct ddio_disk_state *now;
	double busy, read, written, requests, hits;
};

/**
 * struct top_sum - what the cluster does
 * @read, @written: bytes a second of all disks
 * @requests, @collectives: a second, of all nodes
 * @connections: open now
 * @up, @down: nodes that answered, and that did not
 */
struct top_sum {
	double read, written, requests, collectives;
	uint64_t connections;
	uint32_t up, down;
};

/**
 * struct top_job - what a job asks for, of all nodes
 * @name: "": processes that have named none
 * @connections: open now
 * @read, @written: bytes a second through the caches; @coll_read, @coll_written: by collectives
 * @requests: a second, but for collectives
 */
struct top_job {
	const char *name;
	uint64_t connections;
	double requests, read, written, coll_read, coll_written;
};

/*
 * Fill in what happened between the looks @then and @now, in the time by the nodes' own clocks.  A node that answered only once, or
 * was started anew in between, counts from its start.  @disk has room for @now->ndisks; those whose node did not answer are
 * left out.  Return of top_disks(): how many there are, the busiest first.  top_sum() adds up these @n.
 */
uint32_t top_disks(const struct metrics *then, const struct metrics *now, struct top_disk *disk);
void top_sum(const struct metrics *then, const struct metrics *now, const struct top_disk *disk,
	     uint32_t n, struct top_sum *sum);

/* Sorts the jobs of a look, for top_jobs(). */
void top_jobs_sort(struct metrics *m);
/* The same of jobs, those first that move most; @job has room for @now->njobs.  Return: how many there are. */
uint32_t top_jobs(const struct metrics *then, const struct metrics *now, struct top_job *job);

#endif /* TOOLS_TOP_H */
