/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whose the processes of a group are, where the cluster knows users.  Processes that meet by a broadcast know the group's
 * random name from one another; those that meet at an address know nothing but that, and anybody may be there: rank 0 and
 * each guest show a credential of their user.
 *
 * Whoever vouches for users may never answer, so nobody waits longer than the session's timeout.
 */
#ifndef DDIO_CP_WHOSE_H
#define DDIO_CP_WHOSE_H

#include "cp/node/session.h"

#define VOUCHING_TIED (DDIO_PROOF_LEN + 1)

/* Called once, from the loop: @err is 0 or -errno, @why one line; @cred: what was made.  The question is over. */
typedef void (*vouching_done_fn)(void *arg, int err, const char *cred, const char *why);

/**
 * vouching_make - have this process's user vouched for
 * @tied: @len bytes that go into the credential, at most VOUCHING_TIED
 *
 * Return: 0 and *@vouching, or -errno.
 */
int vouching_make(struct ddio_session *session, const void *tied, size_t len, vouching_done_fn done,
		  void *arg, struct vouching **vouching);
/* Does nothing with NULL. */
void vouching_forget(struct vouching *vouching);

/* The end that shows it, so that none takes back its own. */
enum whose_end { WHOSE_HOST = 'h', WHOSE_GUEST = 'g' };

/* Whether both ends of a connection have to show whose they are. */
bool whose_matters(const struct ddio_conn *conn, bool by_addr);
/* Has somebody vouch for this end, to whose_show() it.  Return: 0: @done is called, unless it is forgotten; or -errno. */
int whose_make(struct ddio_session *session, const struct ddio_conn *conn, enum whose_end end,
	       vouching_done_fn done, void *arg, struct vouching **vouching);
int whose_show(struct ddio_conn *conn, const char *cred);
/*
 * Checks what the other end, @end, has shown.  Nothing is read from the connection until @done has been called with 0: it is this
 * process's user's; or -errno.  Return: as whose_make(), or -EPROTO.
 */
int whose_check(struct ddio_session *session, struct ddio_conn *conn, enum whose_end end,
		const void *payload, size_t len, vouching_done_fn done, void *arg,
		struct vouching **vouching);

#endif /* DDIO_CP_WHOSE_H */
