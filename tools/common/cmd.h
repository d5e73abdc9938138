/* SPDX-License-Identifier: GPL-2.0-only */
/* What the sub-commands of ddio and ddio-lab say, and how they reach a cluster. */
#ifndef TOOLS_CMD_H
#define TOOLS_CMD_H

#include <limits.h>
#include <stdint.h>
#include "opt.h"

struct ddio_session;

/* Prints "ddio COMMAND: text: strerror(-err)" on standard error, without the last part if @err is 0.
 * What would move a cursor or end a line is escaped.
 * Return: EXIT_FAILED */
int cmd_fail(const char *command, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Prints "ddio COMMAND: what: the session's last error", without what if the error names it, or strerror(-err) if it has none.
 * Return: EXIT_FAILED */
int cmd_fail_session(const char *command, struct ddio_session *session, int err, const char *what);
/* Connects to the cluster of the configuration @conf, or of the default one if it is NULL.
 * Return: the session, or NULL after a message */
struct ddio_session *cmd_connect(const char *command, const char *conf);
/* Return: what follows the last slash */
const char *cmd_last_part(const char *path);
/* Writes @bytes into @buf with three digits and a unit: "10.0M".  Return: @buf */
const char *cmd_human(uint64_t bytes, char buf[16]);

/**
 * struct cmd_pipes - by which processes that are about to be made form a group; see pipes.c
 * @fd: of each rank but 0; @n: ranks; @rank: this process's own
 */
struct cmd_pipes {
	int (*fd)[2];
	uint32_t n, rank;
};

/* Return: 0 or -errno; pipes_free() in any case */
int pipes_make(struct cmd_pipes *p, uint32_t n);
void pipes_free(struct cmd_pipes *p);
/* After the fork: each process keeps only its own ends, so that the pipes end if rank 0 dies. */
void pipes_own(struct cmd_pipes *p, uint32_t rank);
/* For ddio_group_create_bcast(). */
int pipes_bcast(void *pipes, void *buf, size_t len, uint32_t root);

/**
 * cmd_mounted - the name that a file has in the cluster
 * @name: a path below a mount of ddio, or a name in the cluster
 * @out: room for the answer
 * @conf: becomes the mount's configuration file, or "" if it was mounted without one
 *
 * Return: the name in the cluster: in @out, or @name if it is no path below a mount
 */
const char *cmd_mounted(const char *name, char out[2 * PATH_MAX], char conf[PATH_MAX]);
/* The same of a file that is about to be made: it need not exist, but its directory does. */
const char *cmd_mounted_new(const char *name, char out[2 * PATH_MAX], char conf[PATH_MAX]);

#endif /* TOOLS_CMD_H */
