// SPDX-License-Identifier: LGPL-2.1-or-later
/* A question about a range of records: window after window of the file, all disks at once in each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/query/query.h"

/* Fragments that may be kept of the records of one window: there is at most one such record for each block. */
#define PIECES_BYTES (64u << 20)

void query_job_fail(struct query_job *job, int err, const char *why)
{
	if (!job->error.status)
		error_set(&job->error, err, "query of %.200s: %s", job->file->rec.name, why);
}

static uint32_t blocks_each(const struct query_job *job)
{
	uint64_t all = PIECES_BYTES / (job->shape->used + 64);
	uint64_t each = all / job->file->rec.ndisks;

	if (!each)
		return 1;
	return each < DDIO_QUERY_BLOCKS_MAX ? (uint32_t)each : DDIO_QUERY_BLOCKS_MAX;
}

static uint64_t window_at(const struct query_job *job, uint64_t byte)
{
	uint64_t block = byte / job->file->rec.ref.block;

	return block - block % job->file->rec.ndisks;
}

static void job_end(struct query_job *job)
{
	if (!job->error.status && job->pieces.records.n)
		query_job_fail(job, -EPROTO, "parts of records are missing");
	job->done(job);
}

/* Makes the window no longer than what is asked about. */
static void window_cut(struct query_job *job)
{
	uint64_t last = ddio_query_at(job->shape, job->end - 1) + job->shape->hi - 1;
	uint64_t n = (last / job->file->rec.ref.block - job->window) / job->file->rec.ndisks + 1;

	job->per = n < job->most ? (uint32_t)n : job->most;
}

/* Goes to where the next window with something in it begins; returns false if there is none. */
static bool window_skip(struct query_job *job)
{
	uint64_t at, byte = job->window * job->file->rec.ref.block;
	struct ddio_query_range r;

	ddio_query_range(job->shape, job->first, job->end, byte, UINT64_MAX / 2, &r);
	if (r.first == r.end || job->error.status)
		return false;
	at = window_at(job, ddio_query_at(job->shape, r.first) + job->shape->lo);
	if (at > job->window)
		job->window = at;
	window_cut(job);
	return true;
}

/* Begins windows as long as they end at once. */
static void windows_run(struct query_job *job)
{
	while (window_skip(job)) {
		job->beginning = true;
		job->over = false;
		query_window_begin(job);
		job->beginning = false;
		if (!job->over)
			return;
	}
	job_end(job);
}

void query_window_done(struct query_job *job)
{
	job->window += (uint64_t)job->per * job->file->rec.ndisks;
	job->over = true;
	if (!job->beginning)
		windows_run(job);
}

static int job_init(struct query_job *job)
{
	uint32_t i, n = job->file->rec.ndisks;
	int err = ddio_query_accs_init(&job->accs, job->shape);

	if (!err)
		err = query_pieces_init(job);
	job->disk = calloc(n, sizeof(*job->disk));
	if (err || !job->disk)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		job->disk[i].job = job;
		job->disk[i].stripe = i;
	}
	return 0;
}

void query_job_begin(struct query_job *job)
{
	int err = job_init(job);

	error_clear(&job->error);
	if (err)
		query_job_fail(job, err, "out of memory");
	if (err || job->first >= job->end || !job->shape->used) {
		job->done(job);
		return;
	}
	job->most = blocks_each(job);
	windows_run(job);
}

void query_job_free(struct query_job *job)
{
	ddio_query_accs_free(&job->accs);
	query_pieces_free(&job->pieces);
	free(job->found.entry);
	free(job->disk);
}
