/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The entrance of userlib/cp: a session with all of its rooms. */
#ifndef DDIO_CP_H
#define DDIO_CP_H

#include "cp/node/session.h"

/**
 * ddio_session_new_env - make a session on a reactor that exists already
 * @env: its loop is run by the caller; must outlive the session
 * @conf: must outlive the session
 * @key: NULL for none
 *
 * Return: 0 or -ENOMEM.
 */
int ddio_session_new_env(struct ddio_env *env, struct ddio_conf *conf, const struct ddio_key *key,
			 struct ddio_session **session);

/* Reactor: cancels what is under way and closes all connections. */
void session_cancel(struct ddio_session *session);
/* Frees a session whose reactor runs no more, or that never began anything. */
void session_discard(struct ddio_session *session);

/* ways.c */
/* Writes a line on standard error that says by which ways the session's data and messages have gone. */
void ways_say(const struct ddio_session *session);

#endif /* DDIO_CP_H */
