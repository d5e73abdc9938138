// SPDX-License-Identifier: GPL-2.0-only
/* ddio bench --mount: names. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "mount.h"

/* Files in a directory, where there are many directories. */
#define PER_DIR 16u

enum names_step { STEP_CREATE, STEP_STAT, STEP_UNLINK };

struct name_works {
	enum names_step step;
	bool many;
};

double mount_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

struct thread {
	pthread_t id;
	const struct mount_job *job;
	uint32_t me;
	int err;
	int (*fn)(const struct mount_job *job, uint32_t me, void *arg);
	void *arg;
};

static void *thread_run(void *arg)
{
	struct thread *t = arg;

	t->err = t->fn(t->job, t->me, t->arg);
	return NULL;
}

double mount_threads(const struct mount_job *job,
		     int (*fn)(const struct mount_job *job, uint32_t me, void *arg), void *arg)
{
	struct thread *t = calloc(job->jobs, sizeof(*t));
	double began = mount_now();
	uint32_t i, n;
	int err = 0;

	if (!t)
		return -ENOMEM;
	for (n = 0; n < job->jobs && !err; n++) {
		t[n] = (struct thread){ .job = job, .me = n, .fn = fn, .arg = arg };
		err = -pthread_create(&t[n].id, NULL, thread_run, &t[n]);
	}
	for (i = 0; i < n - (err ? 1 : 0); i++) {
		pthread_join(t[i].id, NULL);
		err = err ? err : t[i].err;
	}
	free(t);
	return err ? err : mount_now() - began;
}

void mount_forget(const struct mount_job *job)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	struct timespec second = { .tv_sec = 2 };

	(void)job;
	if (fd < 0 || write(fd, "2", 1) != 1)
		nanosleep(&second, NULL); /* longer than they are valid by default */
	if (fd >= 0)
		close(fd);
}

static int create(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

	return fd < 0 || close(fd) ? -errno : 0;
}

static int step_one(enum names_step step, const char *path)
{
	struct stat st;

	switch (step) {
	case STEP_CREATE:
		return create(path);
	case STEP_STAT:
		return stat(path, &st) ? -errno : 0;
	case STEP_UNLINK:
		return unlink(path) ? -errno : 0;
	}
	return -EINVAL;
}

/* Makes the path of the directory of file @i of job @me. */
static void dir_name(char *path, size_t len, const struct mount_job *job, uint32_t me, uint32_t i)
{
	snprintf(path, len, "%s/d%u.%u", job->dir, me, i / PER_DIR);
}

static int names_run(const struct mount_job *job, uint32_t me, void *arg)
{
	const struct name_works *names = arg;
	uint32_t i, n = job->files / job->jobs;
	char dir[4200], path[4300];
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		if (names->many)
			dir_name(dir, sizeof(dir), job, me, i);
		else
			snprintf(dir, sizeof(dir), "%s/one", job->dir);
		snprintf(path, sizeof(path), "%s/f%u.%u", dir, me, i);
		err = step_one(names->step, path);
	}
	return err;
}

/* Directories are made before and removed after the measured time. */
static int dirs_run(const struct mount_job *job, uint32_t me, void *arg)
{
	const bool *making = arg;
	uint32_t i, n = job->files / job->jobs;
	char path[4200];

	for (i = 0; i < n; i += PER_DIR) {
		dir_name(path, sizeof(path), job, me, i);
		if (*making ? mkdir(path, 0755) : rmdir(path))
			return -errno;
	}
	return 0;
}

static int dirs_all(const struct mount_job *job, bool making, bool many)
{
	char path[4200];
	double t;

	if (many) {
		t = mount_threads(job, dirs_run, &making);
		return t < 0 ? (int)t : 0;
	}
	snprintf(path, sizeof(path), "%s/one", job->dir);
	return (making ? mkdir(path, 0755) : rmdir(path)) ? -errno : 0;
}

static double step_run(const struct mount_job *job, enum names_step step, bool many)
{
	struct name_works names = { .step = step, .many = many };
	double t = 0;

	if (step == STEP_CREATE)
		t = dirs_all(job, true, many);
	if (step == STEP_STAT)
		mount_forget(job);
	if (t >= 0)
		t = mount_threads(job, names_run, &names);
	if (t >= 0 && step == STEP_UNLINK && dirs_all(job, false, many))
		return -errno;
	return t < 0 ? t : (double)(job->files / job->jobs * job->jobs) / t;
}

static double run_create_one(const struct mount_job *job)
{
	return step_run(job, STEP_CREATE, false);
}

static double run_stat_one(const struct mount_job *job)
{
	return step_run(job, STEP_STAT, false);
}

static double run_unlink_one(const struct mount_job *job)
{
	return step_run(job, STEP_UNLINK, false);
}

static double run_create_many(const struct mount_job *job)
{
	return step_run(job, STEP_CREATE, true);
}

static double run_stat_many(const struct mount_job *job)
{
	return step_run(job, STEP_STAT, true);
}

static double run_unlink_many(const struct mount_job *job)
{
	return step_run(job, STEP_UNLINK, true);
}

const struct mount_work mount_name_works[] = {
	{ "one-create", "/s", run_create_one, "names" },
	{ "one-stat", "/s", run_stat_one, "names" },
	{ "one-unlink", "/s", run_unlink_one, "names" },
	{ "many-create", "/s", run_create_many, "names" },
	{ "many-stat", "/s", run_stat_many, "names" },
	{ "many-unlink", "/s", run_unlink_many, "names" },
	{ 0 },
};
