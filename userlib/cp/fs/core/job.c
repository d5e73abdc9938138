// SPDX-License-Identifier: LGPL-2.1-or-later
/* Jobs: calls of the file system's interface, and how they end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/core/job.h"

void *fsc_job_new(struct ddio_fs *fs, size_t size, ddio_fs_done done, void *arg)
{
	const struct ddio_fs_reply none = { .err = -ENOMEM, .text = "out of memory" };
	struct fsc_job *job = calloc(1, size);

	if (!job) {
		done(arg, &none);
		return NULL;
	}
	job->fs = fs;
	job->done = done;
	job->arg = arg;
	fsc_hold(fs);
	return job;
}

static void job_untold(void *arg, const struct ddio_fs_reply *reply)
{
	(void)arg;
	(void)reply;
}

void *fsc_job_new_quiet(struct ddio_fs *fs, size_t size)
{
	return fsc_job_new(fs, size, job_untold, NULL);
}

static void job_run(void *arg)
{
	struct fsc_job *job = arg;

	if (fsc_closing(job->fs))
		fsc_job_fail(job, -ESHUTDOWN, FSC_CLOSING);
	else
		job->run(job);
}

static void job_step(void *arg)
{
	struct fsc_job *job = arg;

	job->run(job);
}

void fsc_job_post(struct fsc_job *job, struct fsc_reactor *r, void (*run)(struct fsc_job *job))
{
	job->run = run;
	job->post.fn = job_run;
	job->post.arg = job;
	ddio_env_post(r->env, &job->post);
}

void fsc_job_go(struct fsc_job *job, struct fsc_reactor *from, struct fsc_reactor *to,
		void (*run)(struct fsc_job *job))
{
	if (from == to) {
		run(job);
		return;
	}
	job->run = run;
	job->post.fn = job_step;
	job->post.arg = job;
	ddio_env_post(to->env, &job->post);
}

void fsc_job_end(struct fsc_job *job, struct fsc_error *error, struct ddio_fs_reply *reply)
{
	struct ddio_fs *fs = job->fs;

	reply->err = error->err;
	reply->text = error->text;
	if (error->err && fsc_closing(fs))
		reply->err = -ESHUTDOWN;
	if (reply->err && !reply->text)
		reply->text = strerror(-reply->err);
	job->done(job->arg, reply);
	fsc_error_free(error);
	free(job);
	fsc_unhold(fs);
}

void fsc_job_drop(struct fsc_job *job)
{
	struct ddio_fs *fs = job->fs;

	free(job);
	fsc_unhold(fs);
}

void fsc_job_fail(struct fsc_job *job, int err, const char *text)
{
	struct fsc_error error = { .err = err };
	struct ddio_fs_reply reply = { 0 };

	reply.text = text;
	error.text = text ? strdup(text) : NULL;
	fsc_job_end(job, &error, &reply);
}
