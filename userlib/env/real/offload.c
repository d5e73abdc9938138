// SPDX-License-Identifier: LGPL-2.1-or-later
/* Blocking work of a reactor: one thread, started with the first job. */
#include <signal.h>
#include <string.h>
#include "env/real/priv.h"

int thread_create(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

/* On the reactor. */
static void worker_ended(void *arg)
{
	struct real_worker *worker = arg;
	struct ddio_offload *job, *next;

	pthread_mutex_lock(&worker->lock);
	job = worker->ended;
	worker->ended = NULL;
	worker->ended_end = &worker->ended;
	worker->posted = false;
	pthread_mutex_unlock(&worker->lock);
	for (; job; job = next) {
		next = job->next;
		job->done(job->arg);
	}
}

/* With the lock held. */
static void worker_hand_back(struct real *real, struct ddio_offload *job)
{
	struct real_worker *worker = &real->worker;

	job->next = NULL;
	*worker->ended_end = job;
	worker->ended_end = &job->next;
	if (!worker->posted) {
		worker->posted = true;
		ddio_env_post(&real->env, &worker->post);
	}
}

static void *worker_main(void *arg)
{
	struct real *real = arg;
	struct real_worker *worker = &real->worker;
	struct ddio_offload *job;

	pthread_mutex_lock(&worker->lock);
	for (;;) {
		job = worker->jobs;
		if (!job && worker->stop)
			break;
		if (!job) {
			pthread_cond_wait(&worker->wake, &worker->lock);
			continue;
		}
		worker->jobs = job->next;
		if (!worker->jobs)
			worker->jobs_end = &worker->jobs;
		pthread_mutex_unlock(&worker->lock);
		job->work(job->arg);
		pthread_mutex_lock(&worker->lock);
		worker_hand_back(real, job);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

void real_offload(struct ddio_env *env, struct ddio_offload *offload)
{
	struct real *real = real_of(env);
	struct real_worker *worker = &real->worker;
	int ret = 0;

	if (!worker->started) {
		worker->stop = false;
		ret = thread_create(&worker->thread, worker_main, real);
		worker->started = !ret;
	}
	if (!worker->started) {
		ddio_env_log(
			env, DDIO_LOG_WARN,
			"cannot start a thread for blocking work (%s): the reactor will block instead",
			strerror(-ret));
		offload->work(offload->arg);
	}
	pthread_mutex_lock(&worker->lock);
	if (worker->started) {
		offload->next = NULL;
		*worker->jobs_end = offload;
		worker->jobs_end = &offload->next;
		pthread_cond_signal(&worker->wake);
	} else {
		worker_hand_back(real, offload);
	}
	pthread_mutex_unlock(&worker->lock);
}

int worker_init(struct real *real)
{
	struct real_worker *worker = &real->worker;
	int ret;

	worker->jobs_end = &worker->jobs;
	worker->ended_end = &worker->ended;
	worker->post.fn = worker_ended;
	worker->post.arg = worker;
	ret = pthread_mutex_init(&worker->lock, NULL);
	return -(ret ? ret : pthread_cond_init(&worker->wake, NULL));
}

void worker_fini(struct real *real)
{
	struct real_worker *worker = &real->worker;

	if (!worker->started)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->stop = true;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	worker->started = false;
}
