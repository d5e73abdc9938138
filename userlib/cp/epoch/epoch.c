// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An atomic write, as rank 0 of its group sees it: the name space opens an epoch; when every I/O processor has prepared it,
 * the name space decides it; then every disk is told.  Nobody is told that the write has ended before, so whoever reads
 * afterwards reads what was written.  A disk that cannot be told asks the name space.
 */
#include <errno.h>
#include <string.h>
#include "cp/epoch/epoch.h"

static void job_fail(struct epoch_job *job, int err)
{
	error_set(&job->error, err, "%s: %s", job->file->rec.name, strerror(-err));
	job->done(job);
}

static void names_ask(struct epoch_job *job, uint16_t opcode, const struct ddio_msg_ns_epoch *x,
		      void (*done)(struct node_request *request, const struct reply *reply))
{
	int err;

	request_init(&job->request, opcode, done, job);
	err = request_put(&job->request, ns_epoch, x);
	if (err)
		job_fail(job, err);
	else
		request_names(job->file->session, &job->request);
}

/* Tells every reactor with disks of the file how an epoch was decided. */
static void settle(struct epoch_job *job, uint64_t epoch, uint32_t flags,
		   void (*done)(struct request_set *set))
{
	struct ddio_msg_obj obj = { .file = job->file->rec.ref, .flags = flags, .offset = epoch };

	job->file->session->mark++;
	request_set_begin(&job->set, job->file->session, job->file->rec.name, done, job);
	file_reactors_ask(&job->set, job->file, DDIO_OP_OBJ_SETTLE, &obj);
	request_set_end(&job->set);
}

static bool epoch_read(struct epoch_job *job, const struct reply *reply,
		       struct ddio_msg_ns_epoch *x)
{
	int err;

	if (reply->status == DDIO_ST_NOT_FOUND)
		error_status(&job->error, DDIO_ST_STALE, "%s was removed", job->file->rec.name);
	else if (reply->status)
		reply_error(&job->error, reply, job->file->rec.name);
	if (reply->status)
		return false;
	err = ddio_get_ns_epoch(reply->payload, reply->len, x);
	if (!err && x->id == job->file->rec.ref.id)
		return true;
	reply_malformed(&job->error, err ? err : -EPROTO, job->file->rec.name);
	return false;
}

static void ask(struct epoch_job *job);

/* What was left of the epoch before is recorded everywhere. */
static void settled_before(struct request_set *set)
{
	struct epoch_job *job = set->arg;

	job->error = set->error;
	if (job->error.status)
		job->done(job);
	else
		ask(job);
}

static void begun(struct node_request *request, const struct reply *reply)
{
	struct epoch_job *job = request->arg;
	struct ddio_msg_ns_epoch x;

	if (!epoch_read(job, reply, &x)) {
		job->done(job);
		return;
	}
	if (x.settled && x.settled != job->settled) {
		job->settled = x.settled;
		settle(job, x.settled, DDIO_OBJ_COMMIT | DDIO_OBJ_DURABLE, settled_before);
		return;
	}
	job->number = x.epoch;
	job->size = job->file->rec.size = x.size;
	if (!x.epoch)
		reply_malformed(&job->error, -EPROTO, job->file->rec.name);
	job->done(job);
}

static void ask(struct epoch_job *job)
{
	const struct ddio_msg_ns_epoch x = { .id = job->file->rec.ref.id, .settled = job->settled };

	names_ask(job, DDIO_OP_NS_EPOCH, &x, begun);
}

void epoch_begin(struct epoch_job *job)
{
	error_clear(&job->error);
	ask(job);
}

/* A disk that was not reached asks the name space by itself. */
static void told(struct request_set *set)
{
	struct epoch_job *job = set->arg;

	job->done(job);
}

static void committed(struct node_request *request, const struct reply *reply)
{
	struct epoch_job *job = request->arg;
	struct ddio_msg_ns_epoch x;
	uint64_t number = job->number;

	job->number = 0;
	if (!epoch_read(job, reply, &x)) {
		job->unknown = reply->status != DDIO_ST_CANCELLED &&
			       reply->status != DDIO_ST_NOT_FOUND;
		if (job->unknown)
			job->done(job);
		else
			settle(job, number, 0, told);
		return;
	}
	job->size = job->file->rec.size = x.size;
	settle(job, number, DDIO_OBJ_COMMIT, told);
}

void epoch_commit(struct epoch_job *job)
{
	const struct ddio_msg_ns_epoch x = { .id = job->file->rec.ref.id,
					     .epoch = job->number,
					     .size = job->size };

	error_clear(&job->error);
	names_ask(job, DDIO_OP_NS_COMMIT, &x, committed);
}

static void given_up(struct node_request *request, const struct reply *reply)
{
	struct epoch_job *job = request->arg;
	uint64_t number = job->number;

	(void)reply;
	job->number = 0;
	/* If the name space could not be told, the end of this connection tells it, and disks ask. */
	settle(job, number, 0, told);
}

void epoch_abort(struct epoch_job *job)
{
	const struct ddio_msg_ns_epoch x = { .id = job->file->rec.ref.id,
					     .epoch = job->number,
					     .flags = DDIO_EPOCH_GIVE_UP };

	error_clear(&job->error);
	names_ask(job, DDIO_OP_NS_DECIDED, &x, given_up);
}
