/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The real world: epoll, TCP, timers, threads. */
#ifndef DDIO_ENV_REAL_H
#define DDIO_ENV_REAL_H

#include "env/env.h"

struct ddio_disk_engine;

/**
 * struct ddio_real_opts - how a real env behaves
 * @log: where log lines go; NULL for standard error with a time stamp
 * @log_arg: for @log
 * @log_level: the least important level that is passed on
 * @name: shown in log lines (the node's name)
 * @engines: disk engines that ddio_disk_open() offers, NULL-terminated; NULL: none
 * @look_ns: how long the loop looks for the next event before it sleeps, if the last one came soon; 0: 20 us
 * @look_shared_ns: the same for what another process serves (ddio_env_await_service()), where others want the processor; 0: @look_ns
 */
struct ddio_real_opts {
	void (*log)(void *arg, enum ddio_log_level level, const char *line);
	void *log_arg;
	enum ddio_log_level log_level;
	const char *name;
	const struct ddio_disk_engine *const *engines;
	uint64_t look_ns, look_shared_ns;
};

int ddio_real_new(const struct ddio_real_opts *opts, struct ddio_env **env);
/* Everything opened through it must be closed; its loop must not be running. */
void ddio_real_free(struct ddio_env *env);
/* Runs the loop on the calling thread until real_stop(). Return: 0 or -errno. */
int real_run(struct ddio_env *env);
/* May be called by any thread and by signal handlers. */
void real_stop(struct ddio_env *env);
/* Runs the loop on a thread of its own; ddio_real_join_thread() stops the loop and waits for the thread. */
int ddio_real_start_thread(struct ddio_env *env);
void ddio_real_join_thread(struct ddio_env *env);

#endif /* DDIO_ENV_REAL_H */
