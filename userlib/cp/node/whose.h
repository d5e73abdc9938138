/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whose the processes of a group are, where the cluster knows users.  Processes that meet by a broadcast know the group's
 * random name from one another; those that meet at an address know nothing but that, and anybody may be there: rank 0 and
 * each guest show a credential of their user.
 */
#ifndef DDIO_CP_WHOSE_H
#define DDIO_CP_WHOSE_H

#include "cp/node/session.h"

/* The end that shows it, so that none takes back its own. */
enum whose_end { WHOSE_HOST = 'h', WHOSE_GUEST = 'g' };

/* Whether both ends of a connection have to show whose they are. */
bool whose_matters(const struct ddio_conn *conn, bool by_addr);
/* Shows it.  Return: 0, or -errno, with one line in @why. */
int whose_say(const struct ddio_session *session, struct ddio_conn *conn, enum whose_end end,
	      char why[DDIO_MAX_TEXT]);
/* Reads what the other end, @end, has shown.  Return: 0: it is this process's user; -EACCES; -EPROTO. */
int whose_take(const struct ddio_session *session, const struct ddio_conn *conn, enum whose_end end,
	       const void *payload, size_t len);

#endif /* DDIO_CP_WHOSE_H */
