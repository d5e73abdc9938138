// SPDX-License-Identifier: GPL-2.0-only
/* ddio bench: options, the cluster, the processes, the results. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "bench.h"
#include "bench_spec.h"
#include "cmd.h"
#include "local.h"

/* Set by a signal: the loop below ends the processes and the cluster. */
static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

/* Broadcast through pipes made before the fork: rank 0 writes, each other reads its own. */
struct bench_pipes {
	int (*fd)[2];
	uint32_t n, rank;
	const struct bench_spec *spec;
};

static int pipe_all(int fd, void *buf, size_t len, bool out)
{
	size_t at = 0;
	ssize_t n;

	while (at < len) {
		n = out ? write(fd, (char *)buf + at, len - at)
			: read(fd, (char *)buf + at, len - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EPIPE;
		at += (size_t)n;
	}
	return 0;
}

static int bcast(void *arg, void *buf, size_t len, uint32_t root)
{
	struct bench_pipes *p = arg;
	uint32_t i;
	int err = 0;

	(void)root;
	if (p->rank)
		return pipe_all(p->fd[p->rank][0], buf, len, false);
	for (i = 1; i < p->n && !err; i++)
		err = pipe_all(p->fd[i][1], buf, len, true);
	return err;
}

/* Each process keeps its own ends only, so that a dead rank 0 is seen as the end of the pipe. */
static void keep_own_ends(struct bench_pipes *p)
{
	uint32_t i;

	for (i = 1; i < p->n; i++) {
		if (p->rank)
			close(p->fd[i][1]);
		if (p->rank != i)
			close(p->fd[i][0]);
	}
}

static int real_connect(void *arg, struct ddio_session **session)
{
	struct bench_pipes *p = arg;
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts), .conf = p->spec->conf };

	return ddio_connect(&opts, session);
}

static int real_meet(void *arg, struct ddio_session *session, struct ddio_group **group)
{
	struct bench_pipes *p = arg;

	return ddio_group_create_bcast(session, p->rank, p->n, bcast, p, NULL, group);
}

static uint64_t real_now(void *arg)
{
	struct timespec ts;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void child(const struct bench_spec *spec, struct bench_shared *sh, struct bench_pipes *p)
{
	struct bench_world world = {
		.connect = real_connect, .meet = real_meet, .now = real_now, .arg = p
	};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	keep_own_ends(p);
	p->spec = spec;
	_exit(bench_cp(spec, sh, p->rank, &world));
}

static void show_progress(struct progress *p, const struct bench_shared *sh)
{
	char what[sizeof(sh->what)];

	memcpy(what, (const void *)sh->what, sizeof(what));
	what[sizeof(what) - 1] = 0;
	progress_step(p, sh->done, what);
}

/* Reaps until all have ended; a failed or lost one ends the rest soon by the library's own rules. */
static int reap(const struct bench_spec *spec, struct bench_shared *sh, pid_t *pid)
{
	struct timespec tick = { 0, 50000000 };
	uint32_t left = spec->cps, i;
	struct progress p;
	int failed = 0, st;

	progress_begin(&p, "bench", sh->total, spec->progress);
	while (left) {
		for (i = 0; i < spec->cps; i++) {
			if (!pid[i] || waitpid(pid[i], &st, WNOHANG) != pid[i])
				continue;
			pid[i] = 0;
			left--;
			if (!WIFEXITED(st) || WEXITSTATUS(st))
				failed = 1;
			if (WIFSIGNALED(st) && !sh->failed) {
				sh->failed = 1;
				snprintf(sh->error, sizeof(sh->error), "process %u: %s", i,
					 strsignal(WTERMSIG(st)));
			}
		}
		show_progress(&p, sh);
		if (interrupted)
			for (i = 0; i < spec->cps; i++)
				if (pid[i])
					kill(pid[i], SIGKILL);
		if (left)
			nanosleep(&tick, NULL);
	}
	progress_end(&p);
	if (interrupted)
		return -EINTR;
	return failed ? -ECHILD : 0;
}

static int run_processes(const struct bench_spec *spec, struct bench_shared *sh)
{
	pid_t *pid = calloc(spec->cps, sizeof(*pid));
	int(*fd)[2] = calloc(spec->cps, sizeof(*fd));
	struct bench_pipes p = { .fd = fd, .n = spec->cps };
	uint32_t i, made = 0;
	int err = pid && fd ? 0 : -ENOMEM;

	for (i = 1; i < spec->cps && !err; i++)
		if (pipe2(fd[i], O_CLOEXEC))
			err = -errno;
	for (i = 0; i < spec->cps && !err; i++) {
		p.rank = i;
		pid[i] = fork();
		if (!pid[i])
			child(spec, sh, &p);
		if (pid[i] < 0)
			err = -errno;
		else
			made++;
	}
	p.rank = UINT32_MAX;
	for (i = 1; fd && i < spec->cps; i++) {
		close(fd[i][0]);
		close(fd[i][1]);
	}
	if (err)
		for (i = 0; i < made; i++)
			kill(pid[i], SIGKILL);
	if (made == spec->cps)
		err = reap(spec, sh, pid);
	free(fd);
	free(pid);
	return err;
}

/* A cluster of its own in a temporary directory, gone afterwards. */
struct bench_cluster {
	char dir[64], conf[80];
	pid_t *pids;
	uint32_t n;
};

static int cluster_start(const struct bench_values *v, struct bench_cluster *c)
{
	const char *tmp = getenv("TMPDIR");
	struct local_spec spec = { .iops = v->iops,
				   .disks = v->disks,
				   .engine = v->engine,
				   .options = v->disk_options,
				   .disk_size = v->disk_size,
				   .files = !strcmp(v->engine, "aio"),
				   .key = true,
				   .shared_bus = v->shared_bus,
				   .cache = v->cache,
				   .block = v->block,
				   .buffers = v->buffers,
				   .reactors = v->reactors };
	int err;

	snprintf(c->dir, sizeof(c->dir), "%.40s/ddio-bench.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(c->dir))
		return cmd_fail("bench", -errno, "%s", c->dir), -EIO;
	spec.dir = c->dir;
	snprintf(c->conf, sizeof(c->conf), "%s/ddio.conf", c->dir);
	c->pids = calloc(v->iops, sizeof(*c->pids));
	err = c->pids ? local_configure("bench", &spec) : -ENOMEM;
	if (err)
		return err;
	c->n = v->iops;
	return local_start("bench", c->dir, v->iops, c->pids);
}

static void cluster_stop(struct bench_cluster *c)
{
	if (c->pids)
		local_stop_children(c->pids, c->n);
	free(c->pids);
	if (c->dir[0])
		local_remove_tree(c->dir);
}

static int bench_all(struct bench_values *v)
{
	struct bench_cluster c = { .n = 0 };
	struct bench_spec spec;
	struct bench_shared *sh;
	int err = bench_spec_make(v, &spec);

	if (err)
		return err;
	sh = bench_shared_new(&spec);
	if (!sh)
		return cmd_fail("bench", 0, "too many runs: at most %d", BENCH_MAX_RUNS), -E2BIG;
	if (!v->conf) {
		err = cluster_start(v, &c);
		spec.conf = c.conf;
	}
	if (!err)
		err = run_processes(&spec, sh);
	cluster_stop(&c);
	if (err) {
		if (err == -EINTR)
			cmd_fail("bench", 0, "interrupted");
		else
			cmd_fail("bench", sh->failed ? 0 : err, "%s",
				 sh->failed ? sh->error : "cannot run");
	} else {
		err = bench_write("bench", v, &spec, sh);
	}
	bench_shared_free(&spec, sh);
	bench_spec_free(&spec);
	return err;
}

int ddio_cmd_bench(int argc, char **argv)
{
	struct bench_values v;
	int err;

	bench_defaults(&v);
	err = opt_parse(&ddio_opts_bench, &v, &argc, &argv);
	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	catch_signals();
	err = bench_all(&v);
	return err == -EINVAL ? EXIT_USAGE : err ? EXIT_FAILED : EXIT_OK;
}
