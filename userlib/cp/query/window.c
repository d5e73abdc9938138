// SPDX-License-Identifier: LGPL-2.1-or-later
/* A window of the file: each disk is asked about its blocks there until it has looked at all of them. */
#include <errno.h>
#include <string.h>
#include "cp/query/query.h"

uint64_t query_window_lo(const struct query_disk *d, uint32_t block)
{
	const struct query_job *job = d->job;
	const struct ddio_file_record *rec = &job->file->rec;

	return (job->window + (uint64_t)block * rec->ndisks + d->stripe) * rec->ref.block;
}

/* Returns true if some record has bytes there that it is asked about. */
static bool wanted(const struct query_job *job, uint64_t lo, uint64_t hi)
{
	struct ddio_query_range r;
	uint64_t record;

	ddio_query_range(job->shape, job->first, job->end, lo, hi, &r);
	if (r.whole < r.whole_end)
		return true;
	for (record = r.first; record < r.end; record++)
		if (ddio_query_fragment_len(job->shape, record, lo, hi))
			return true;
	return false;
}

static void want(struct query_disk *d)
{
	uint64_t lo;
	uint32_t i;

	memset(d->want, 0, sizeof(d->want));
	d->left = 0;
	d->part = DDIO_QUERY_NO_PART;
	d->part_next = 0;
	for (i = 0; i < d->job->per; i++) {
		lo = query_window_lo(d, i);
		if (!wanted(d->job, lo, lo + d->job->file->rec.ref.block))
			continue;
		d->want[i / 8] |= (uint8_t)(1u << i % 8);
		d->left++;
	}
}

static void disk_put(struct query_job *job)
{
	if (!--job->busy)
		query_window_done(job);
}

static void disk_ask(struct query_disk *d);

static void disk_fail(struct query_disk *d, int err)
{
	const struct query_job *job = d->job;
	uint32_t disk = job->file->rec.disks[d->stripe];

	if (!job->error.status)
		error_set(&d->job->error, err, "query of %.200s: disk %.60s: %s",
			  job->file->rec.name, job->file->session->conf->disks[disk].name,
			  err == -EPROTO ? "malformed answer" : strerror(-err));
}

static void disk_answered(struct node_request *request, const struct reply *reply)
{
	struct query_disk *d = request->arg;
	struct query_job *job = d->job;
	struct error error;
	int err = 0;

	if (reply->status) {
		error_clear(&error);
		reply_error(&error, reply, job->file->rec.name);
		error_first(&job->error, &error);
	} else if (!job->error.status) {
		err = query_answer(d, reply->payload, reply->len);
	}
	if (err)
		disk_fail(d, err);
	if (d->left && !job->error.status)
		disk_ask(d);
	else
		disk_put(job);
}

/* All members of a group send the same, but for who they are; so they are numbered, and go on when there is no room left. */
static void put_dealing(const struct query_dealing *dealing, struct ddio_msg_query *x)
{
	x->flags |= DDIO_QUERY_DEALT;
	x->deal = *dealing->deal;
	x->number = dealing->number;
	x->members = dealing->group->size;
	x->member = dealing->group->rank;
	memcpy(x->group, dealing->group->id, sizeof(x->group));
}

static void disk_ask(struct query_disk *d)
{
	const struct query_job *job = d->job;
	const struct ddio_file_record *rec = &job->file->rec;
	struct ddio_msg_query x = { .obj = { .file = rec->ref,
					     .disk = rec->disks[d->stripe],
					     .offset = job->window / rec->ndisks * rec->ref.block,
					     .len = (uint64_t)job->per * rec->ref.block },
				    .stripe = d->stripe,
				    .ndisks = rec->ndisks,
				    .part = d->part,
				    .part_next = d->part_next,
				    .first = job->first,
				    .end = job->end,
				    .nblocks = job->per,
				    .want = d->want,
				    .q = *job->shape->q };
	int err;

	d->counts = !job->found.keeps || (job->found.over && !job->dealing.deal);
	if (d->counts)
		x.flags |= DDIO_QUERY_COUNTS;
	if (!job->found.numbered)
		x.flags |= DDIO_QUERY_UNNUMBERED;
	if (job->dealing.deal)
		put_dealing(&job->dealing, &x);
	request_init(&d->request, DDIO_OP_OBJ_QUERY, disk_answered, d);
	err = request_put(&d->request, query, &x);
	if (err) {
		disk_fail(d, err);
		disk_put(d->job);
	} else {
		request_disk(job->file->session, x.obj.disk, &d->request);
	}
}

void query_window_begin(struct query_job *job)
{
	uint32_t i;

	/* One more, so that disks that fail at once do not end the window before the rest is asked. */
	job->busy = job->file->rec.ndisks + 1;
	for (i = 0; i < job->file->rec.ndisks; i++) {
		want(&job->disk[i]);
		if (job->disk[i].left && !job->error.status)
			disk_ask(&job->disk[i]);
		else
			disk_put(job);
	}
	disk_put(job);
}
