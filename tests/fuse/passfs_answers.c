// SPDX-License-Identifier: GPL-2.0-only
/* Each request is made at once, by the thread that has it; its answer comes from a thread that also serves. */
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

/* Under the lock. */
static void thread_wake(struct ddio_fs *fs)
{
	uint64_t one = 1;

	if (fs->asleep && write(fs->wake, &one, sizeof(one)) < 0)
		abort();
	fs->asleep = false;
}

void answer_give(struct ddio_fs *fs, struct answer *a)
{
	pthread_mutex_lock(&fs->queue_lock);
	a->next = NULL;
	*fs->last = a;
	fs->last = &a->next;
	thread_wake(fs);
	pthread_mutex_unlock(&fs->queue_lock);
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

/* Return: is there to be more? */
static bool answers_all(struct ddio_fs *fs)
{
	struct answer *a;
	bool stop;

	pthread_mutex_lock(&fs->queue_lock);
	while ((a = fs->first)) {
		fs->first = a->next;
		if (!fs->first)
			fs->last = &fs->first;
		pthread_mutex_unlock(&fs->queue_lock);
		a->done(a->arg, &a->reply);
		free(a->data);
		free(a);
		pthread_mutex_lock(&fs->queue_lock);
	}
	stop = fs->stop;
	fs->asleep = true;
	pthread_mutex_unlock(&fs->queue_lock);
	return !stop;
}

static void *thread_run(void *arg)
{
	struct ddio_fs *fs = arg;
	struct pollfd fds[2] = { { .fd = fs->wake, .events = POLLIN }, { .events = POLLIN } };
	uint64_t count;

	while (answers_all(fs)) {
		fds[1].fd = fs->served;
		if (poll(fds, 2, -1) < 0)
			continue;
		pthread_mutex_lock(&fs->queue_lock);
		fs->asleep = false;
		pthread_mutex_unlock(&fs->queue_lock);
		if (fds[0].revents && read(fs->wake, &count, sizeof(count)) < 0)
			abort();
		if (fds[1].revents && fds[1].fd == fs->served && !fs->serve(fs->serve_arg))
			fs->served = -1;
	}
	return NULL;
}

/* What is served is the thread's own, so it is told by an answer to nobody. */
struct serve_step {
	struct ddio_fs *fs;
	int fd;
	bool (*fn)(void *arg);
	void *arg;
	sem_t done;
};

static void serve_set(void *arg, const struct ddio_fs_reply *reply)
{
	struct serve_step *step = arg;

	(void)reply;
	step->fs->served = step->fd;
	step->fs->serve = step->fn;
	step->fs->serve_arg = step->arg;
	sem_post(&step->done);
}

static void serve_change(struct serve_step *step)
{
	sem_init(&step->done, 0, 0);
	answer_err(step->fs, serve_set, step, 0);
	while (sem_wait(&step->done))
		;
	sem_destroy(&step->done);
}

int ddio_fs_serve(struct ddio_fs *fs, int fd, bool (*fn)(void *arg), void *arg)
{
	struct serve_step step = { .fs = fs, .fd = fd, .fn = fn, .arg = arg };

	serve_change(&step);
	return 0;
}

void ddio_fs_serve_end(struct ddio_fs *fs)
{
	struct serve_step step = { .fs = fs, .fd = -1 };

	serve_change(&step);
}

int answers_begin(struct ddio_fs *fs)
{
	fs->last = &fs->first;
	fs->served = -1;
	pthread_mutex_init(&fs->queue_lock, NULL);
	fs->wake = eventfd(0, EFD_CLOEXEC);
	if (fs->wake < 0)
		return -errno;
	return -pthread_create(&fs->thread, NULL, thread_run, fs);
}

void answers_end(struct ddio_fs *fs)
{
	pthread_mutex_lock(&fs->queue_lock);
	fs->stop = true;
	thread_wake(fs);
	pthread_mutex_unlock(&fs->queue_lock);
	pthread_join(fs->thread, NULL);
	close(fs->wake);
}
