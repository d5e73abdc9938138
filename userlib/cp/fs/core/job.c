// SPDX-License-Identifier: LGPL-2.1-or-later
/* Jobs of the file system's interface, how they end, and rests between attempts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/core/core.h"

/*
 * Errors
 */
void fsc_error_set(struct fsc_error *e, int err, const char *text)
{
	if (e->err)
		return;
	e->err = err;
	e->text = text && text[0] ? strdup(text) : NULL;
}

/* What a program that uses a file can be told. */
static int error_errno(uint32_t status)
{
	int err = ddio_status_to_errno(status);

	switch (status) {
	case DDIO_ST_PROTOCOL:
	case DDIO_ST_VERSION:
	case DDIO_ST_AUTH:
	case DDIO_ST_MISMATCH:
	case DDIO_ST_MEMBER_LOST:
	case DDIO_ST_NODE_LOST:
	case DDIO_ST_TIMEOUT:
	case DDIO_ST_CANCELLED:
	case DDIO_ST_CORRUPT:
	case DDIO_ST_SHUTDOWN:
		return -EIO;
	default:
		return err;
	}
}

void fsc_error_reply(struct fsc_error *e, const struct reply *reply)
{
	fsc_error_set(e, error_errno(reply->status),
		      reply->text ? reply->text : ddio_status_text(reply->status));
}

void fsc_error_first(struct fsc_error *e, struct fsc_error *other)
{
	if (!e->err && other->err)
		*e = *other;
	else
		free(other->text);
	other->text = NULL;
}

void fsc_error_free(struct fsc_error *e)
{
	free(e->text);
	e->text = NULL;
	e->err = 0;
}

/*
 * Again
 */
bool fsc_status_again(uint32_t status)
{
	return status == DDIO_ST_NODE_LOST || status == DDIO_ST_SHUTDOWN;
}

static void wait_over(void *arg)
{
	struct fsc_wait *wait = arg;

	ddio_list_del(&wait->link);
	wait->fn(wait);
}

void fsc_wait(struct fsc_reactor *r, struct fsc_wait *wait, void (*fn)(struct fsc_wait *wait))
{
	uint64_t ns = FSC_BACKOFF_NS << (wait->tries < 8 ? wait->tries : 8);

	wait->tries++;
	wait->r = r;
	wait->fn = fn;
	wait->timer.fn = wait_over;
	wait->timer.arg = wait;
	if (ns > FSC_BACKOFF_MAX_NS)
		ns = FSC_BACKOFF_MAX_NS;
	/* Without memory for a timer the next attempt is the one that was to come after it. */
	ddio_list_add(&wait->link, &r->waits);
	if (fsc_closing(r->fs) || ddio_timer_arm(r->env, &wait->timer, ddio_env_now(r->env) + ns))
		ddio_timer_arm(r->env, &wait->timer, ddio_env_now(r->env));
}

bool fsc_again(struct fsc_reactor *r, uint32_t node)
{
	uint64_t now = ddio_env_now(r->env);

	if (fsc_closing(r->fs))
		return false;
	if (!r->down[node]) {
		r->down[node] = now;
		r->ndown++;
		fsc_log(r->fs, DDIO_LOG_WARN, "node %s does not answer",
			r->session->conf->nodes[node].name);
	}
	return r->fs->hard || now - r->down[node] < r->fs->timeout_ns;
}

void fsc_answered(struct fsc_reactor *r, uint32_t node)
{
	if (!r->ndown || !r->down[node])
		return;
	r->down[node] = 0;
	r->ndown--;
	fsc_log(r->fs, DDIO_LOG_INFO, "node %s answers again", r->session->conf->nodes[node].name);
}

/*
 * Jobs
 */
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

static void job_run(void *arg)
{
	struct fsc_job *job = arg;

	if (fsc_closing(job->fs))
		fsc_job_fail(job, -ESHUTDOWN, "the file system is being closed");
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
