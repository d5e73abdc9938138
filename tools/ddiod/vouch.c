// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Users of connections: one credential after the other is handed to munge.  Each connection has one at most under way, so
 * that the queue is no longer than connections are many.
 */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include "munge/munge.h"
#include "vouch.h"

/**
 * struct voucher - the thread
 * @first, @last: what waits
 */
struct voucher {
	struct ddio_vouch vouch;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct ddio_vouch_job *first, **last;
	bool stopping;
};

/* Adds the groups of a user's name, if this machine knows one; else there is
 * only the group that was vouched for. */
static int find_groups(struct ddio_who *who)
{
	char buf[16384];
	struct passwd pw, *found = NULL;
	int n = 0;

	if (getpwuid_r(who->uid, &pw, buf, sizeof(buf), &found) || !found)
		return 0;
	getgrouplist(pw.pw_name, who->gid, NULL, &n);
	if (n <= 0 || (uint32_t)n > WHO_GROUPS_MAX)
		return 0;
	who->groups = calloc((size_t)n, sizeof(*who->groups));
	if (!who->groups)
		return -ENOMEM;
	if (getgrouplist(pw.pw_name, who->gid, who->groups, &n) >= 0)
		who->ngroups = (uint32_t)n;
	return 0;
}

static void look(struct ddio_vouch_job *job)
{
	uid_t uid = WHO_NOBODY;
	gid_t gid = WHO_NOBODY;

	job->err = ddio_munge_check(job->cred, job->tie, sizeof(job->tie), &uid, &gid, job->why,
				    sizeof(job->why));
	if (job->err)
		return;
	job->who = (struct ddio_who){ .uid = uid, .gid = gid };
	job->err = find_groups(&job->who);
	if (job->err)
		snprintf(job->why, sizeof(job->why), "no memory for a user's groups");
}

/* Waits for the next one; NULL: there will be none. */
static struct ddio_vouch_job *next_job(struct voucher *v)
{
	struct ddio_vouch_job *job;

	pthread_mutex_lock(&v->lock);
	while (!v->first && !v->stopping)
		pthread_cond_wait(&v->more, &v->lock);
	job = v->first;
	if (job) {
		v->first = job->next;
		if (!v->first)
			v->last = &v->first;
	}
	pthread_mutex_unlock(&v->lock);
	return job;
}

static void *voucher_run(void *arg)
{
	struct voucher *v = arg;
	struct ddio_vouch_job *job;

	while ((job = next_job(v)) != NULL) {
		look(job);
		ddio_env_post(job->env, &job->post);
	}
	return NULL;
}

static void voucher_ask(void *arg, struct ddio_vouch_job *job)
{
	struct voucher *v = arg;

	pthread_mutex_lock(&v->lock);
	job->next = NULL;
	*v->last = job;
	v->last = &job->next;
	pthread_cond_signal(&v->more);
	pthread_mutex_unlock(&v->lock);
}

int voucher_start(struct voucher **voucher)
{
	struct voucher *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return -ENOMEM;
	v->vouch = (struct ddio_vouch){ .ask = voucher_ask, .arg = v };
	v->last = &v->first;
	pthread_mutex_init(&v->lock, NULL);
	pthread_cond_init(&v->more, NULL);
	err = pthread_create(&v->thread, NULL, voucher_run, v);
	if (err) {
		free(v);
		return -err;
	}
	*voucher = v;
	return 0;
}

void voucher_stop(struct voucher *v)
{
	if (!v)
		return;
	pthread_mutex_lock(&v->lock);
	v->stopping = true;
	pthread_cond_signal(&v->more);
	pthread_mutex_unlock(&v->lock);
	pthread_join(v->thread, NULL);
	pthread_cond_destroy(&v->more);
	pthread_mutex_destroy(&v->lock);
	free(v);
}

const struct ddio_vouch *voucher_of(const struct voucher *v)
{
	return v ? &v->vouch : NULL;
}
