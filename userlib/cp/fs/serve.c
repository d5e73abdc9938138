// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests of other programs, taken on the thread that asks the name server. */
#include <errno.h>
#include <stdlib.h>
#include "cp/fs/serve.h"

/**
 * struct fsc_serve - where they come from
 * @fn, @arg: takes them
 */
struct fsc_serve {
	struct ddio_watcher watcher;
	bool (*fn)(void *arg);
	void *arg;
};

/* A step on reactor 0 that the caller waits for. */
struct serve_step {
	struct ddio_fs *fs;
	struct ddio_post post;
	struct ddio_gate gate;
	int fd;
	bool (*fn)(void *arg);
	void *arg;
	int err;
};

static void serve_ready(void *arg)
{
	struct ddio_fs *fs = arg;

	if (!fs->serve->fn(fs->serve->arg))
		ddio_watcher_stop(fs->reactor[0].env, &fs->serve->watcher);
}

static void serve_start(void *arg)
{
	struct serve_step *step = arg;
	struct ddio_fs *fs = step->fs;
	struct fsc_serve *serve = fs->serve;

	step->err = -EBUSY;
	if (!serve->watcher.priv) {
		serve->fn = step->fn;
		serve->arg = step->arg;
		serve->watcher = (struct ddio_watcher){ step->fd, serve_ready, fs, NULL };
		step->err = ddio_watcher_start(fs->reactor[0].env, &serve->watcher);
		fs->serving = !step->err;
	}
	ddio_gate_open(fs->reactor[0].env, &step->gate);
}

static void serve_stop(void *arg)
{
	struct serve_step *step = arg;
	struct ddio_env *env = step->fs->reactor[0].env;

	ddio_watcher_stop(env, &step->fs->serve->watcher);
	ddio_gate_open(env, &step->gate);
}

static int step_run(struct serve_step *step, void (*fn)(void *arg))
{
	struct ddio_env *env = step->fs->reactor[0].env;

	step->post.fn = fn;
	step->post.arg = step;
	ddio_gate_init(&step->gate);
	ddio_env_post(env, &step->post);
	ddio_gate_wait(env, &step->gate, 0);
	return step->err;
}

int ddio_fs_serve(struct ddio_fs *fs, int fd, bool (*fn)(void *arg), void *arg)
{
	struct serve_step step = { .fs = fs, .fd = fd, .fn = fn, .arg = arg };

	return step_run(&step, serve_start);
}

void ddio_fs_serve_end(struct ddio_fs *fs)
{
	struct serve_step step = { .fs = fs };

	step_run(&step, serve_stop);
}

int fsc_serve_new(struct ddio_fs *fs)
{
	fs->serve = calloc(1, sizeof(*fs->serve));
	return fs->serve ? 0 : -ENOMEM;
}

void fsc_serve_free(struct ddio_fs *fs)
{
	free(fs->serve);
}

void fsc_serve_stop(struct ddio_fs *fs)
{
	ddio_watcher_stop(fs->reactor[0].env, &fs->serve->watcher);
}
