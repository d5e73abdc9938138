/* SPDX-License-Identifier: GPL-2.0-only */
/* Compute processes on this machine, and a cluster of their own. */
#ifndef TOOLS_PROCS_H
#define TOOLS_PROCS_H

#include <stdatomic.h>
#include "bench.h"
#include "tools/common/local.h"

/**
 * struct procs - compute processes that form a group
 * @n: how many
 * @conf: of the cluster
 * @fn: run by each of them; its result is the exit code
 * @tick: called by the parent now and then; may be NULL
 * @arg: passed to @fn and @tick
 * @failed: shared; set to 1, with a text in @error, when a process is killed
 * @error, @error_len: shared text
 */
struct procs {
	uint32_t n;
	const char *conf;
	int (*fn)(void *arg, uint32_t rank, const struct bench_world *world);
	void (*tick)(void *arg);
	void *arg;
	_Atomic uint32_t *failed;
	char *error;
	size_t error_len;
};

/* Return: 0, -ECHILD if one failed, -EINTR after a signal, -errno. */
int procs_run(const struct procs *ps);
/* From now on a signal ends the processes, and procs_run() returns. */
void procs_catch_signals(void);
/* Return: whether there has been one. */
bool procs_interrupted(void);

/* A cluster in a temporary directory, which is removed afterwards. */
struct procs_cluster {
	char dir[80], conf[96];
	pid_t *pids;
	uint32_t n;
};

/* Prints what went wrong.  Return: 0 or -errno; call procs_cluster_stop() in any case. */
int procs_cluster_start(const char *command, const struct local_spec *want,
			struct procs_cluster *c);
void procs_cluster_stop(struct procs_cluster *c);

#endif /* TOOLS_PROCS_H */
