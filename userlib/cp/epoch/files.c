// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One decision for the epochs of several files, as rank 0 of their group asks for it.  Each file was written under an epoch of its
 * own; the name space decides them in one change, and then every disk is told of each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/epoch/epoch.h"

static void told(struct request_set *set)
{
	struct epochs_job *job = set->arg;

	job->done(job);
}

/* Tells every reactor how the epochs were decided; those that are not reached ask the name space. */
static void settle(struct epochs_job *job, uint32_t flags)
{
	struct ddio_msg_obj obj = { .flags = flags };
	uint32_t i;

	if (job->session->closing) {
		job->done(job);
		return;
	}
	request_set_begin(&job->set, job->session, "an epoch", told, job);
	for (i = 0; i < job->n; i++) {
		obj.file = job->file[i].file->rec.ref;
		obj.offset = job->file[i].number;
		job->session->mark++;
		file_reactors_ask(&job->set, job->file[i].file, DDIO_OP_OBJ_SETTLE, &obj);
	}
	request_set_end(&job->set);
}

static void ask(struct epochs_job *job, uint32_t flags,
		void (*done)(struct node_request *request, const struct reply *reply))
{
	struct ddio_msg_ns_epoch one[DDIO_EPOCH_FILES];
	const struct ddio_msg_ns_epochs x = { .n = job->n, .flags = flags, .epochs = one };
	uint32_t i;
	int err;

	error_clear(&job->error);
	if (!job->n) {
		job->done(job);
		return;
	}
	for (i = 0; i < job->n; i++)
		one[i] = (struct ddio_msg_ns_epoch){ .id = job->file[i].file->rec.ref.id,
						     .epoch = job->file[i].number,
						     .size = job->file[i].size };
	request_init(&job->request, DDIO_OP_NS_COMMIT_FILES, done, job);
	err = request_put(&job->request, ns_epochs, &x);
	if (!err) {
		request_names(job->session, &job->request);
		return;
	}
	error_set(&job->error, err, "an epoch: %s", strerror(-err));
	job->done(job);
}

/* Takes the sizes from the reply: 0 or -errno. */
static int sizes_take(struct epochs_job *job, const struct reply *reply)
{
	struct ddio_msg_ns_epochs x;
	int err = ddio_get_ns_epochs(reply->payload, reply->len, &x);
	uint32_t i;

	if (err)
		return err;
	if (x.n != job->n)
		err = -EPROTO;
	for (i = 0; i < x.n && !err; i++) {
		if (x.epochs[i].id != job->file[i].file->rec.ref.id)
			err = -EPROTO;
		job->file[i].size = x.epochs[i].size;
	}
	ddio_msg_ns_epochs_free(&x);
	return err;
}

static void decided(struct node_request *request, const struct reply *reply)
{
	struct epochs_job *job = request->arg;
	bool aborted = reply->status == DDIO_ST_CANCELLED || reply->status == DDIO_ST_NOT_FOUND;
	int err = 0;

	if (reply->status == DDIO_ST_NOT_FOUND)
		error_status(&job->error, DDIO_ST_STALE, "a file of the epoch was removed");
	else if (reply->status)
		reply_error(&job->error, reply, "an epoch");
	else
		err = sizes_take(job, reply);
	if (err)
		reply_malformed(&job->error, err, "an epoch");
	job->unknown = job->error.status && !aborted;
	if (job->unknown)
		job->done(job);
	else
		settle(job, aborted ? 0 : DDIO_OBJ_COMMIT);
}

void epochs_commit(struct epochs_job *job)
{
	ask(job, 0, decided);
}

static void given_up(struct node_request *request, const struct reply *reply)
{
	(void)reply;
	/* If the name space could not be told, the end of this connection tells it, and disks ask. */
	settle(request->arg, 0);
}

void epochs_abort(struct epochs_job *job)
{
	ask(job, DDIO_EPOCH_GIVE_UP, given_up);
}
