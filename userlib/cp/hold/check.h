/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a session still has the locks that it believes to have. */
#ifndef DDIO_CP_HOLD_CHECK_H
#define DDIO_CP_HOLD_CHECK_H

#include "cp/node/session.h"

/**
 * struct hold_check - somebody who is about to rely on the session's locks; the caller owns the memory
 * @since: when it asked
 * @done: called once, perhaps inside hold_check()
 */
struct hold_check {
	struct ddio_list link;
	uint64_t since;
	void (*done)(struct hold_check *check);
};

/*
 * The name server gives locks to others when it has not heard of the session for its timeout.  So the check ends when it has
 * answered a request that was sent less than three quarters of that ago, or when the locks are lost: hold_missed() tells.  At once
 * if nothing is locked.
 */
void hold_check(struct ddio_session *session, struct hold_check *check);
/* Returns true if the session has lost a lock of the inode that it has not given back: others may have had it. */
bool hold_missed(const struct ddio_session *session, uint64_t ino);

#endif /* DDIO_CP_HOLD_CHECK_H */
