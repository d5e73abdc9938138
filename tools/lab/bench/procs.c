// SPDX-License-Identifier: GPL-2.0-only
/* Compute processes on this machine, and a cluster of their own. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tools/common/cmd.h"
#include "procs.h"

/* Set by a signal: the loop below ends the processes and the cluster. */
static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

void procs_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

bool procs_interrupted(void)
{
	return interrupted;
}

/**
 * struct own_way - how a process comes to a session and to the group
 */
struct own_way {
	struct cmd_pipes pipes;
	const char *conf;
};

static int real_connect(void *arg, struct ddio_session **session)
{
	struct own_way *way = arg;
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts), .conf = way->conf };

	return ddio_connect(&opts, session);
}

static int real_meet(void *arg, struct ddio_session *session, struct ddio_group **group)
{
	struct own_way *way = arg;

	return ddio_group_create_bcast(session, way->pipes.rank, way->pipes.n, pipes_bcast,
				       &way->pipes, NULL, group);
}

static uint64_t real_now(void *arg)
{
	struct timespec ts;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void child(const struct procs *ps, struct own_way *way, uint32_t rank)
{
	struct bench_world world = {
		.connect = real_connect, .meet = real_meet, .now = real_now, .arg = way
	};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	pipes_own(&way->pipes, rank);
	way->conf = ps->conf;
	_exit(ps->fn(ps->arg, rank, &world));
}

/* Notes how one process ended.  Return: whether well. */
static bool ended_well(const struct procs *ps, uint32_t i, int st)
{
	if (WIFSIGNALED(st) && !*ps->failed) {
		*ps->failed = 1;
		snprintf(ps->error, ps->error_len, "process %u: %s", i, strsignal(WTERMSIG(st)));
	}
	return WIFEXITED(st) && !WEXITSTATUS(st);
}

static void kill_all(const struct procs *ps, const pid_t *pid)
{
	uint32_t i;

	for (i = 0; i < ps->n; i++)
		if (pid[i] > 0)
			kill(pid[i], SIGKILL);
}

/* Waits until all have ended.  When one fails or is lost, the library ends the others' calls soon. */
static int reap(const struct procs *ps, pid_t *pid)
{
	struct timespec tick = { 0, 50000000 };
	uint32_t left = ps->n, i;
	int failed = 0, st;

	while (left) {
		for (i = 0; i < ps->n; i++) {
			if (!pid[i] || waitpid(pid[i], &st, WNOHANG) != pid[i])
				continue;
			pid[i] = 0;
			left--;
			if (!ended_well(ps, i, st))
				failed = 1;
		}
		if (ps->tick)
			ps->tick(ps->arg);
		if (interrupted)
			kill_all(ps, pid);
		if (left)
			nanosleep(&tick, NULL);
	}
	if (interrupted)
		return -EINTR;
	return failed ? -ECHILD : 0;
}

int procs_run(const struct procs *ps)
{
	pid_t *pid = calloc(ps->n, sizeof(*pid));
	struct own_way way = { .conf = NULL };
	uint32_t i, made = 0;
	int err = pid ? pipes_make(&way.pipes, ps->n) : -ENOMEM;

	for (i = 0; i < ps->n && !err; i++) {
		pid[i] = fork();
		if (!pid[i])
			child(ps, &way, i);
		if (pid[i] < 0)
			err = -errno;
		else
			made++;
	}
	pipes_free(&way.pipes);
	if (err)
		for (i = 0; i < made; i++)
			kill(pid[i], SIGKILL);
	if (made == ps->n)
		err = reap(ps, pid);
	free(pid);
	return err;
}

int procs_cluster_start(const char *command, const struct local_spec *want, struct procs_cluster *c)
{
	const char *tmp = getenv("TMPDIR");
	struct local_spec spec = *want;
	int err;

	snprintf(c->dir, sizeof(c->dir), "%.40s/ddio-%.12s.XXXXXX", tmp && *tmp ? tmp : "/tmp",
		 command);
	if (!mkdtemp(c->dir))
		return cmd_fail(command, -errno, "%s", c->dir), -EIO;
	spec.dir = c->dir;
	snprintf(c->conf, sizeof(c->conf), "%s/ddio.conf", c->dir);
	c->pids = calloc(spec.iops, sizeof(*c->pids));
	err = c->pids ? local_configure(command, &spec) : -ENOMEM;
	if (err)
		return err;
	c->n = spec.iops;
	return local_start(command, c->dir, spec.iops, c->pids);
}

void procs_cluster_stop(struct procs_cluster *c)
{
	if (c->pids)
		local_stop_children(c->pids, c->n);
	free(c->pids);
	if (c->dir[0])
		local_remove_tree(c->dir);
}
