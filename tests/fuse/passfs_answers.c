// SPDX-License-Identifier: GPL-2.0-only
/* Each request is carried out at once, on the caller's thread; a thread that also serves gives the answer. */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "passfs.h"

struct answer *answer_new(ddio_fs_done done, void *arg)
{
	struct answer *a = calloc(1, sizeof(*a));

	if (!a)
		abort();
	a->done = done;
	a->arg = arg;
	return a;
}

/* Wakes the thread; called with the lock held. */
static void thread_wake(struct ddio_fs *fs)
{
	uint64_t one = 1;

	if (passfs(fs)->asleep && write(passfs(fs)->wake, &one, sizeof(one)) < 0)
		abort();
	passfs(fs)->asleep = false;
}

void answer_give(struct ddio_fs *fs, struct answer *a)
{
	pthread_mutex_lock(&passfs(fs)->queue_lock);
	a->next = NULL;
	*passfs(fs)->last = a;
	passfs(fs)->last = &a->next;
	thread_wake(fs);
	pthread_mutex_unlock(&passfs(fs)->queue_lock);
}

void answer_err(struct ddio_fs *fs, ddio_fs_done done, void *arg, int err)
{
	struct answer *a = answer_new(done, arg);

	a->reply.err = err;
	answer_give(fs, a);
}

void answer_value(struct ddio_fs *fs, ddio_fs_done done, void *arg, int64_t value)
{
	struct answer *a = answer_new(done, arg);

	a->reply.err = value < 0 ? (int)value : 0;
	a->reply.value = value < 0 ? 0 : (uint64_t)value;
	answer_give(fs, a);
}

/* Gives all answers that are queued.  Returns false at the end. */
static bool answers_all(struct ddio_fs *fs)
{
	struct answer *a;
	bool stop;

	pthread_mutex_lock(&passfs(fs)->queue_lock);
	while ((a = passfs(fs)->first)) {
		passfs(fs)->first = a->next;
		if (!passfs(fs)->first)
			passfs(fs)->last = &passfs(fs)->first;
		pthread_mutex_unlock(&passfs(fs)->queue_lock);
		a->done(a->arg, &a->reply);
		free(a->data);
		free(a);
		pthread_mutex_lock(&passfs(fs)->queue_lock);
	}
	stop = passfs(fs)->stop;
	passfs(fs)->asleep = true;
	pthread_mutex_unlock(&passfs(fs)->queue_lock);
	return !stop;
}

static void *thread_run(void *arg)
{
	struct ddio_fs *fs = arg;
	struct pollfd fds[2] = { { .fd = passfs(fs)->wake, .events = POLLIN },
				 { .events = POLLIN } };
	uint64_t count;

	while (answers_all(fs)) {
		fds[1].fd = passfs(fs)->served;
		if (poll(fds, 2, -1) < 0)
			continue;
		pthread_mutex_lock(&passfs(fs)->queue_lock);
		passfs(fs)->asleep = false;
		pthread_mutex_unlock(&passfs(fs)->queue_lock);
		if (fds[0].revents && read(passfs(fs)->wake, &count, sizeof(count)) < 0)
			abort();
		if (fds[1].revents && fds[1].fd == passfs(fs)->served &&
		    !passfs(fs)->serve(passfs(fs)->serve_arg))
			passfs(fs)->served = -1;
	}
	return NULL;
}

/* Only the thread itself may change what it serves, so it is told by an answer that no one asked for. */
struct served_change {
	struct ddio_fs *fs;
	int fd;
	bool (*fn)(void *arg);
	void *arg;
	sem_t done;
};

static void serve_set(void *arg, const struct ddio_fs_reply *reply)
{
	struct served_change *step = arg;

	(void)reply;
	passfs(step->fs)->served = step->fd;
	passfs(step->fs)->serve = step->fn;
	passfs(step->fs)->serve_arg = step->arg;
	sem_post(&step->done);
}

static void serve_change(struct served_change *step)
{
	sem_init(&step->done, 0, 0);
	answer_err(step->fs, serve_set, step, 0);
	while (sem_wait(&step->done))
		;
	sem_destroy(&step->done);
}

int ddio_fs_serve(struct ddio_fs *fs, int fd, bool (*fn)(void *arg), void *arg)
{
	struct served_change step = { .fs = fs, .fd = fd, .fn = fn, .arg = arg };

	serve_change(&step);
	return 0;
}

void ddio_fs_serve_end(struct ddio_fs *fs)
{
	struct served_change step = { .fs = fs, .fd = -1 };

	serve_change(&step);
}

int answers_begin(struct ddio_fs *fs)
{
	passfs(fs)->last = &passfs(fs)->first;
	passfs(fs)->served = -1;
	pthread_mutex_init(&passfs(fs)->queue_lock, NULL);
	passfs(fs)->wake = eventfd(0, EFD_CLOEXEC);
	if (passfs(fs)->wake < 0)
		return -errno;
	return -pthread_create(&passfs(fs)->thread, NULL, thread_run, fs);
}

void answers_end(struct ddio_fs *fs)
{
	pthread_mutex_lock(&passfs(fs)->queue_lock);
	passfs(fs)->stop = true;
	thread_wake(fs);
	pthread_mutex_unlock(&passfs(fs)->queue_lock);
	pthread_join(passfs(fs)->thread, NULL);
	close(passfs(fs)->wake);
}
