/* SPDX-License-Identifier: GPL-2.0-only */
/* The sub-commands of ddio and what they share. */
#ifndef DDIO_CMD_H
#define DDIO_CMD_H

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include "opt.h"

struct ddio_session;

/* Each returns an exit code. argv[0] is the command's name. */
int cmd_start(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_mount(int argc, char **argv);
int cmd_umount(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_layout(int argc, char **argv);
int cmd_mkdir(int argc, char **argv);
int cmd_rm(int argc, char **argv);
int cmd_fsck(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_lu(int argc, char **argv);
int cmd_matrix(int argc, char **argv);
int cmd_disk_model(int argc, char **argv);

/* Their tables, for help and completion. */
extern const struct opt_cmd opts_start, opts_stop, opts_mount, opts_umount, opts_status,
	opts_import, opts_export, opts_ls, opts_stat, opts_layout, opts_mkdir, opts_rm, opts_fsck,
	opts_bench, opts_sim, opts_lu, opts_matrix, opts_disk_model;

/* "ddio bench: text: strerror(-err)" on standard error; returns EXIT_FAILED. */
int cmd_fail(const char *command, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with the session's last error. */
int cmd_fail_session(const char *command, struct ddio_session *session, int err, const char *what);
/* Connects with --conf's value or the default; prints what went wrong. NULL if so. */
struct ddio_session *cmd_connect(const char *command, const char *conf);
/*
 * A path below a mount of ddio becomes the name in the cluster, in @out, and @conf the mount's configuration if
 * it has one of its own; any other is a name in the cluster already.
 */
const char *cmd_mounted(const char *name, char out[2 * PATH_MAX], char conf[PATH_MAX]);
/* "10.0M": three digits and a unit; static per call site by @buf. */
const char *cmd_human(uint64_t bytes, char buf[16]);

/*
 * Progress on a terminal; nothing in a pipe.
 */
struct progress {
	const char *what;
	uint64_t total;
	uint64_t last;
	bool on;
};
void progress_begin(struct progress *p, const char *what, uint64_t total, bool wanted);
void progress_step(struct progress *p, uint64_t now, const char *note);
void progress_end(struct progress *p);

#endif /* DDIO_CMD_H */
