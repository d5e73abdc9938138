/* SPDX-License-Identifier: GPL-2.0-only */
/* The daemon of an I/O processor: its state, messages and lists. */
#ifndef TOOLS_DDIOD_H
#define TOOLS_DDIOD_H

#include <stdbool.h>
#include <stdint.h>
#include "conf/conf.h"
#include "env/env.h"
#include "tools/common/opt.h"

#define PROGRAM "ddiod"

struct ddiod_opts {
	const char *conf;
	const char *node;
	bool foreground;
	const char *pid_file;
	const char *log_level;
	const char *log_file;
	const char *metrics;
	uint32_t ready_fd;
	bool repair;
	bool version;
	bool list_conf;
	bool list_engines;
};

/**
 * struct ddiod - the process
 * @log_fd: where log lines go; -1: to syslog
 * @started: startup is over: messages go to the log only
 * @parent: pipe to the process that waits until the node serves; -1: none
 * @ready: the descriptor of --ready-fd; -1: none
 * @lock: the lock file
 * @signals: signalfd
 * @done: eventfd: the node has stopped
 * @pid_written: the file of --pid-file is to be removed at the end
 * @metrics: serves --metrics, or NULL
 * @stop: asks reactor 0 to stop
 * @stopping: a signal has come
 */
struct ddiod {
	struct ddiod_opts opts;
	struct ddio_conf *conf;
	uint32_t node;
	enum ddio_log_level level;
	int log_fd;
	bool started;
	int parent;
	int ready;
	int lock;
	int signals;
	int done;
	bool pid_written;
	uint32_t nreactors, nenvs, nthreads;
	struct ddio_env **envs;
	struct ddio_iop *iop;
	struct metrics_server *metrics;
	struct ddio_post stop;
	bool stopping;
	uint64_t descriptors;
};

/* Sets the level from --log-level.  Return: 0, or -EINVAL after a message. */
int log_set_level(struct ddiod *d);
/* Opens the log file, or reopens it in place.  Return: 0, or -errno after a message. */
int log_open(struct ddiod *d);
/* From here on reports of broken invariants (base/bug.h) go to the log. */
void log_bugs(struct ddiod *d);
/* Writes one line to the log; the reactors call it, too.  @arg: the struct ddiod. */
void log_line(void *arg, enum ddio_log_level level, const char *line);
/* Logs a message; until the node serves, errors also go to standard error. */
void say(const struct ddiod *d, enum ddio_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* --list-conf: prints the keys of the configuration file.  Return: an exit code. */
int list_conf(void);
/* --list-engines: prints the disk engines and their options.  Return: an exit code. */
int list_engines(void);

#endif /* TOOLS_DDIOD_H */
