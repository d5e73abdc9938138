// SPDX-License-Identifier: LGPL-2.1-or-later
/* One lock for all of the process: such calls are few. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "env/aside.h"
#include "env/env_ops.h"

/* So many calls of a kind wait at the same time. */
#define ASIDE_THREADS 4

/**
 * struct aside_threads - the threads of a kind
 * @queue: calls that no thread has begun
 */
struct aside_threads {
	struct ddio_list queue;
	uint32_t threads;
};

static struct aside_threads kinds[ASIDE_KINDS];
static uint32_t closes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void begin(void)
{
	int i;

	for (i = 0; i < ASIDE_KINDS; i++) {
		ddio_list_init(&kinds[i].queue);
		kinds[i].threads = 0;
	}
}

static void fork_begins(void)
{
	pthread_mutex_lock(&lock);
}

static void parent_goes_on(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child of fork() has none of the threads, and nobody there waits for what they did. */
static void child_begins(void)
{
	closes = 0;
	begin();
	pthread_mutex_unlock(&lock);
}

static void begin_once(void)
{
	begin();
	pthread_atfork(fork_begins, parent_goes_on, child_begins);
}

/* On the reactor. */
static void told(void *arg)
{
	struct ddio_aside *a = arg;

	pthread_mutex_lock(&lock);
	ddio_list_del(&a->link);
	pthread_mutex_unlock(&lock);
	if (a->done)
		a->done(a);
	a->release(a);
}

/* With the lock held.  A reactor that is listed is there. */
static void work_ended(struct ddio_aside *a)
{
	a->state = ASIDE_ENDED;
	if (a->env)
		ddio_env_post(a->env, &a->post);
	else
		a->release(a);
}

static void *thread_main(void *arg)
{
	struct aside_threads *kind = arg;
	struct ddio_aside *a;

	pthread_mutex_lock(&lock);
	while (!ddio_list_empty(&kind->queue)) {
		a = ddio_list_first(&kind->queue, struct ddio_aside, queue);
		ddio_list_del(&a->queue);
		a->state = ASIDE_WORKING;
		pthread_mutex_unlock(&lock);
		a->work(a);
		pthread_mutex_lock(&lock);
		work_ended(a);
	}
	kind->threads--;
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* With the lock held.  Return: 0: a thread will look at the queue; or -errno. */
static int thread_start(struct aside_threads *kind)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	if (kind->threads == ASIDE_THREADS)
		return 0;
	err = pthread_attr_init(&attr);
	if (err)
		return -err;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, &attr, thread_main, kind);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (!err)
		kind->threads++;
	return kind->threads ? 0 : -err;
}

static void aside_init(struct ddio_env *env, struct ddio_aside *a)
{
	a->state = ASIDE_QUEUED;
	a->env = env;
	a->post = (struct ddio_post){ .fn = told, .arg = a };
	ddio_list_init(&a->link);
	ddio_list_init(&a->queue);
}

void ddio_aside_here(struct ddio_env *env, struct ddio_aside *a, bool never)
{
	aside_init(env, a);
	if (!never)
		a->work(a);
	pthread_mutex_lock(&lock);
	ddio_list_add(&a->link, &env->asides);
	if (!never)
		work_ended(a);
	pthread_mutex_unlock(&lock);
}

static int begin_aside(struct ddio_env *env, struct ddio_aside *a)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct aside_threads *kind = &kinds[a->kind];
	int err;

	pthread_once(&once, begin_once);
	aside_init(env, a);
	pthread_mutex_lock(&lock);
	err = thread_start(kind);
	if (!err) {
		ddio_list_add(&a->queue, &kind->queue);
		if (env)
			ddio_list_add(&a->link, &env->asides);
	}
	pthread_mutex_unlock(&lock);
	return err;
}

int ddio_env_aside(struct ddio_env *env, struct ddio_aside *aside)
{
	return env->ops->aside ? env->ops->aside(env, aside) : begin_aside(env, aside);
}

/* With the lock held. */
static void forget(struct ddio_aside *a)
{
	a->done = NULL;
	/* Else told() is on its way. */
	if (a->state == ASIDE_ENDED)
		return;
	ddio_list_del(&a->link);
	a->env = NULL;
	if (a->state == ASIDE_WORKING)
		return;
	ddio_list_del(&a->queue);
	a->release(a);
}

void ddio_aside_forget(struct ddio_aside *aside)
{
	pthread_mutex_lock(&lock);
	forget(aside);
	pthread_mutex_unlock(&lock);
}

void asides_forget(struct ddio_env *env)
{
	struct ddio_aside *a, *tmp;

	pthread_mutex_lock(&lock);
	ddio_list_for_each_entry_safe(a, tmp, &env->asides, link) {
		if (a->state != ASIDE_ENDED) {
			forget(a);
			continue;
		}
		/* Nobody runs its post any more. */
		ddio_list_del(&a->link);
		a->release(a);
	}
	pthread_mutex_unlock(&lock);
}

/*
 * Descriptors
 */
struct aside_close {
	struct ddio_aside aside;
	int fd;
};

static void close_work(struct ddio_aside *aside)
{
	close(ddio_container_of(aside, struct aside_close, aside)->fd);
}

/* With the lock held. */
static void close_release(struct ddio_aside *aside)
{
	closes--;
	free(ddio_container_of(aside, struct aside_close, aside));
}

void close_aside(int fd)
{
	struct aside_close *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->aside.kind = ASIDE_CLOSE;
	c->aside.work = close_work;
	c->aside.release = close_release;
	c->fd = fd;
	pthread_mutex_lock(&lock);
	closes++;
	pthread_mutex_unlock(&lock);
	if (!begin_aside(NULL, &c->aside))
		return;
	pthread_mutex_lock(&lock);
	close_release(&c->aside);
	pthread_mutex_unlock(&lock);
}

uint32_t closes_aside(void)
{
	uint32_t n;

	pthread_mutex_lock(&lock);
	n = closes;
	pthread_mutex_unlock(&lock);
	return n;
}
