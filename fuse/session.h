/* SPDX-License-Identifier: GPL-2.0-only */
/* A mount from its beginning to its end. */
#ifndef DDIOFS_SESSION_H
#define DDIOFS_SESSION_H

#include <stddef.h>
#include "options.h"

struct mount_session;

/* Reaches the cluster and mounts it at o->dir.  Returns 0, or -errno with a line in @err. */
int session_open(const struct mount_opts *o, void (*log)(void *arg, int level, const char *line),
		 void *arg, struct mount_session **session, char *err, size_t err_len);
/* Begins to take requests; @end becomes readable when the mount is gone. */
int session_start(struct mount_session *session, int end, char *err, size_t err_len);
/* Gives memory back to the system that was not needed since the last call. */
void session_trim(struct mount_session *session);
/* Unmounts; if the mount is in use, by force, and its users get errors. */
void session_unmount(struct mount_session *session);
/* Answers the requests under way, unmounts, and ends the connection. */
void session_close(struct mount_session *session);

#endif /* DDIOFS_SESSION_H */
