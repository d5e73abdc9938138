/* SPDX-License-Identifier: GPL-2.0-only */
/* A mount from its beginning to its end. */
#ifndef DDIOFS_SESSION_H
#define DDIOFS_SESSION_H

#include <stddef.h>
#include "options.h"

struct session;

/* Reaches the cluster and mounts it at o->dir. Return: 0, -errno with a line in @err. */
int session_open(const struct mount_opts *o, void (*log)(void *arg, int level, const char *line),
		 void *arg, struct session **session, char *err, size_t err_len);
/* Takes requests; @end becomes readable when the mount is gone. */
int session_start(struct session *session, int end, char *err, size_t err_len);
/* In order if nobody uses it, else by force: then its users get errors. */
void session_unmount(struct session *session);
/* Answers what is under way, unmounts what is mounted, ends the connection. */
void session_close(struct session *session);

#endif /* DDIOFS_SESSION_H */
