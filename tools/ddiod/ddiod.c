// SPDX-License-Identifier: GPL-2.0-only
/*
 * The daemon of an I/O processor: reads the configuration, goes into the background,
 * takes the node's lock, and runs each reactor in a thread until a signal asks it to stop.
 *
 * Threads: the main thread waits for signals and for the end; each reactor has a thread
 * of its own.  Only reactor 0 is asked to stop, by a post; it stops the others.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include "env/disk/engine.h"
#include "env/name.h"
#include "env/real/real.h"
#include "iop/iop.h"
#include "ddiod.h"
#include "keys.h"
#include "lock_file.h"
#include "metrics.h"
#include "vouch.h"
#include "tools/common/background.h"
#include "tools/common/notify.h"
#include "tools/common/opt.h"
#include "tools/common/version.h"

#define NO_FD UINT32_MAX
/* Far more than the kernel needs to end a process, and less than "ddio start" waits. */
#define LOCK_WAIT_MS 10000

static const struct ddio_opt ddiod_specs[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, offsetof(struct ddiod_opts, conf), "FILE",
		 "the cluster's configuration"),
	DDIO_OPT("node", 'n', OPT_TEXT, offsetof(struct ddiod_opts, node), "NAME",
		 "the node to serve"),
	DDIO_OPT("foreground", 'f', OPT_FLAG, offsetof(struct ddiod_opts, foreground), NULL,
		 "stay in the foreground"),
	DDIO_OPT("pid-file", 'p', OPT_TEXT, offsetof(struct ddiod_opts, pid_file), "FILE",
		 "write the process ID to this file"),
	DDIO_OPT("log-level", 'l', OPT_TEXT, offsetof(struct ddiod_opts, log_level), "LEVEL",
		 "error, warning, info (default) or debug"),
	DDIO_OPT("log-file", 0, OPT_TEXT, offsetof(struct ddiod_opts, log_file), "FILE",
		 "append log lines to this file; SIGHUP reopens it"),
	DDIO_OPT("metrics", 'm', OPT_TEXT, offsetof(struct ddiod_opts, metrics), "ADDRESS",
		 "tell the node's state at http://ADDRESS/metrics, to anybody who asks"),
	DDIO_OPT("ready-fd", 0, OPT_U32, offsetof(struct ddiod_opts, ready_fd), "N",
		 "write a byte to this descriptor when the node serves"),
	DDIO_OPT("repair", 0, OPT_FLAG, offsetof(struct ddiod_opts, repair), NULL,
		 "rewrite damaged disk labels"),
	DDIO_OPT("version", 0, OPT_FLAG, offsetof(struct ddiod_opts, version), NULL,
		 "show the version"),
	DDIO_OPT("list-conf", 0, OPT_FLAG, offsetof(struct ddiod_opts, list_conf), NULL,
		 "list the keys of the configuration file"),
	DDIO_OPT("list-engines", 0, OPT_FLAG, offsetof(struct ddiod_opts, list_engines), NULL,
		 "list the disk engines and their options"),
	{ 0 }
};

static const struct opt_cmd ddiod_cmd = {
	.program = PROGRAM,
	.summary = "Serve the disks of one node of a ddio cluster.",
	.opts = ddiod_specs,
};

/*
 * Before the reactors
 */
static int parse_ready(struct ddiod *d)
{
	if (d->opts.ready_fd == NO_FD)
		return 0;
	if (d->opts.ready_fd > INT32_MAX || fcntl((int)d->opts.ready_fd, F_SETFD, FD_CLOEXEC)) {
		fprintf(stderr, PROGRAM ": --ready-fd: %u is not an open descriptor\n",
			d->opts.ready_fd);
		return -EINVAL;
	}
	d->ready = (int)d->opts.ready_fd;
	return 0;
}

static int load_conf(struct ddiod *d, struct ddio_key *key)
{
	char err[1024];
	int ret;

	memset(key, 0, sizeof(*key));
	ret = ddio_conf_load(d->opts.conf, &d->conf, err, sizeof(err));
	if (ret) {
		say(d, DDIO_LOG_ERR, "%s", err);
		return ret;
	}
	ret = ddio_conf_find_node(d->conf, d->opts.node);
	if (ret < 0) {
		say(d, DDIO_LOG_ERR, "%s: there is no node \"%s\"", d->opts.conf, d->opts.node);
		return ret;
	}
	d->node = (uint32_t)ret;
	ret = ddio_conf_check_files(d->conf, d->node, err, sizeof(err));
	if (ret) {
		say(d, DDIO_LOG_ERR, "%s", err);
		return ret;
	}
	return keys_load(d, key);
}

/*
 * A daemon that was killed holds its locks until the kernel has cleaned up after it.  Linux
 * releases this one last, because it was taken first: disks, records and the port are free
 * by then.
 */
static int wait_for_lock(struct ddiod *d, const char *path)
{
	int err = lock_file_take(d->lock, 0);

	if (err != -EWOULDBLOCK)
		return err;
	say(d, DDIO_LOG_INFO, "waiting for process %ld, which holds %s",
	    (long)lock_file_holder(d->lock), path);
	return lock_file_take(d->lock, LOCK_WAIT_MS);
}

/* Makes this the node's only daemon, by a lock on a file beside the records. */
static int take_lock(struct ddiod *d)
{
	const struct ddio_conf_node *node = &d->conf->nodes[d->node];
	char path[4096];
	int err = ddio_env_dirs_make(node->meta, node->sync_io);

	if (err) {
		say(d, DDIO_LOG_ERR, "cannot make the meta directory %s: %s", node->meta,
		    strerror(-err));
		return err;
	}
	if (snprintf(path, sizeof(path), "%s/lock", node->meta) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	d->lock = lock_file_open(path);
	err = d->lock < 0 ? d->lock : wait_for_lock(d, path);
	if (err == -EWOULDBLOCK)
		say(d, DDIO_LOG_ERR,
		    "node %s is already served by process %ld, which holds %s: stop it first",
		    node->name, (long)lock_file_holder(d->lock), path);
	else if (err)
		say(d, DDIO_LOG_ERR, "%s: %s", path, strerror(-err));
	if (err)
		return err;
	err = lock_file_sign(d->lock);
	if (err)
		say(d, DDIO_LOG_WARN, "%s: %s", path, strerror(-err));
	return 0;
}

static int write_pid(struct ddiod *d)
{
	FILE *f;
	int err = 0;

	if (!d->opts.pid_file)
		return 0;
	f = fopen(d->opts.pid_file, "we");
	if (!f || fprintf(f, "%ld\n", (long)getpid()) < 0)
		err = -errno;
	if (f && fclose(f) && !err)
		err = -errno;
	if (err)
		say(d, DDIO_LOG_ERR, "pid file %s: %s", d->opts.pid_file, strerror(-err));
	else
		d->pid_written = true;
	return err;
}

/* Called before there are threads, so that all of them have the signals blocked. */
static int open_signals(struct ddiod *d)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (pthread_sigmask(SIG_BLOCK, &set, NULL))
		return -EINVAL;
	d->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	d->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return d->signals < 0 || d->done < 0 ? -errno : 0;
}

/*
 * The reactors
 */
static uint32_t cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return CPU_COUNT(&set);
}

/* Called by reactor 0. */
static void node_stopped(void *arg)
{
	const struct ddiod *d = arg;
	uint64_t one = 1;

	if (write(d->done, &one, sizeof(one)) < 0)
		say(d, DDIO_LOG_ERR, "cannot report the end: %s", strerror(errno));
}

static int envs_new(struct ddiod *d)
{
	struct ddio_real_opts opts = {
		.log = log_line,
		.log_arg = d,
		.log_level = d->level,
		.name = d->opts.node,
		.engines = ddio_disk_engines,
	};
	int err = 0;

	d->nreactors = ddio_iop_reactors(d->conf, d->node, cores());
	d->envs = calloc(d->nreactors, sizeof(*d->envs));
	if (!d->envs)
		return -ENOMEM;
	while (d->nenvs < d->nreactors && !err) {
		err = ddio_real_new(&opts, &d->envs[d->nenvs]);
		if (!err)
			d->nenvs++;
	}
	if (err)
		say(d, DDIO_LOG_ERR, "cannot make %u reactors: %s", d->nreactors, strerror(-err));
	return err;
}

static int node_start(struct ddiod *d, const struct ddio_key *key)
{
	struct ddio_key servers_key;
	struct ddio_iop_opts opts = {
		.conf = d->conf,
		.node = d->node,
		.nreactors = d->nreactors,
		.envs = d->envs,
		.key = key,
		.repair = d->opts.repair,
		.descriptors = d->descriptors,
		.vouch = munge_vouch,
		.on_stopped = node_stopped,
		.arg = d,
	};
	char err[1024] = "";
	int ret = keys_load_servers(d, &servers_key);

	if (ret)
		return ret;
	opts.servers_key = &servers_key;
	ret = ddio_iop_start(&opts, &d->iop, err, sizeof(err));
	explicit_bzero(&servers_key, sizeof(servers_key));
	if (ret)
		say(d, DDIO_LOG_ERR, "%s", err);
	while (!ret && d->nthreads < d->nreactors) {
		ret = ddio_real_start_thread(d->envs[d->nthreads]);
		if (!ret)
			d->nthreads++;
		else
			say(d, DDIO_LOG_ERR, "cannot start a reactor: %s", strerror(-ret));
	}
	return ret;
}

static void envs_free(struct ddiod *d)
{
	uint32_t i;

	for (i = 0; i < d->nthreads; i++)
		ddio_real_join_thread(d->envs[i]);
	d->nthreads = 0;
	ddio_iop_free(d->iop);
	d->iop = NULL;
	for (i = 0; i < d->nenvs; i++)
		ddio_real_free(d->envs[i]);
	free(d->envs);
	d->envs = NULL;
	d->nenvs = 0;
}

static void tell_ready(const struct ddiod *d, int fd)
{
	if (fd < 0)
		return;
	if (write(fd, "\n", 1) != 1)
		say(d, DDIO_LOG_WARN, "cannot report to the starting process: %s", strerror(errno));
	close(fd);
}

static void tell_manager(const struct ddiod *d, const char *state)
{
	int err = notify_send(state);

	if (err)
		say(d, DDIO_LOG_WARN, "cannot send %s to the service manager: %s", state,
		    strerror(-err));
}

/* The node serves: from now on messages go to the log, and the terminal is given up. */
static void now_ready(struct ddiod *d)
{
	if (d->parent >= 0)
		background_detach();
	d->started = true;
	say(d, DDIO_LOG_INFO, "serving on %s with %u reactor%s, version %s", ddio_iop_addr(d->iop),
	    d->nreactors, d->nreactors == 1 ? "" : "s", tool_version);
	tell_manager(d, "READY=1");
	tell_ready(d, d->ready);
	tell_ready(d, d->parent);
}

static void stop_posted(void *arg)
{
	ddio_iop_stop(arg);
}

static void handle_signal(struct ddiod *d)
{
	struct signalfd_siginfo info;

	if (read(d->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP) {
		if (!log_open(d))
			say(d, DDIO_LOG_INFO, "log reopened");
		if (!d->stopping)
			keys_reload(d);
		return;
	}
	if (d->stopping)
		return;
	say(d, DDIO_LOG_INFO, "stopping: %s", strsignal((int)info.ssi_signo));
	d->stopping = true;
	metrics_stop(d);
	tell_manager(d, "STOPPING=1");
	d->stop.fn = stop_posted;
	d->stop.arg = d->iop;
	ddio_env_post(d->envs[0], &d->stop);
}

/* Handles signals until the node has stopped. */
static void wait_for_end(struct ddiod *d)
{
	struct pollfd fds[2] = { { .fd = d->signals, .events = POLLIN },
				 { .fd = d->done, .events = POLLIN } };

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR) {
			say(d, DDIO_LOG_ERR, "poll: %s", strerror(errno));
			return;
		}
		if (fds[1].revents)
			return;
		if (fds[0].revents)
			handle_signal(d);
	}
}

static int serve(struct ddiod *d)
{
	struct ddio_key key;
	int err = load_conf(d, &key);

	if (!err)
		err = take_lock(d);
	if (!err)
		err = open_signals(d);
	if (!err)
		err = envs_new(d);
	if (!err)
		err = metrics_listen(d);
	if (!err)
		err = node_start(d, &key);
	if (!err)
		err = metrics_start(d);
	/* One that another keeps from starting leaves that one's file alone. */
	if (!err)
		err = write_pid(d);
	explicit_bzero(&key, sizeof(key));
	if (!err) {
		now_ready(d);
		wait_for_end(d);
		say(d, DDIO_LOG_INFO, "stopped");
	}
	metrics_stop(d);
	envs_free(d);
	if (d->pid_written)
		unlink(d->opts.pid_file);
	ddio_conf_free(d->conf);
	return err;
}

int main(int argc, char **argv)
{
	struct ddiod d = {
		.log_fd = -1, .parent = -1, .ready = -1, .lock = -1, .opts.ready_fd = NO_FD
	};
	struct rlimit rl;
	int err = opt_parse(&ddiod_cmd, &d.opts, &argc, &argv);

	if (err)
		return err < 0 ? EXIT_USAGE : EXIT_OK;
	if (d.opts.version) {
		printf(PROGRAM " %s (%s)\n", tool_version, tool_commit);
		return EXIT_OK;
	}
	if (d.opts.list_conf)
		return list_conf();
	if (d.opts.list_engines)
		return list_engines();
	if (!d.opts.conf || !d.opts.node) {
		fprintf(stderr,
			PROGRAM ": --conf and --node must be given\nTry '" PROGRAM " --help'.\n");
		return EXIT_USAGE;
	}
	if (log_set_level(&d) || parse_ready(&d))
		return EXIT_USAGE;
	if (log_open(&d))
		return EXIT_FAILED;
	if (!getrlimit(RLIMIT_NOFILE, &rl)) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
		d.descriptors = rl.rlim_cur;
	}
	openlog(PROGRAM, LOG_PID, LOG_DAEMON);
	log_bugs(&d);
	err = d.opts.foreground ? 0 : background_fork(&d.parent);
	if (err) {
		say(&d, DDIO_LOG_ERR, "cannot go into the background: %s", strerror(-err));
		return EXIT_FAILED;
	}
	return serve(&d) ? EXIT_FAILED : EXIT_OK;
}
