/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How rank 0 learns the addresses of all members of a group that is being formed. */
#ifndef DDIO_CP_MEETING_H
#define DDIO_CP_MEETING_H

#include "cp/group/group.h"

/**
 * struct stranger - an accepted connection whose group is not known yet
 * @greeted: its HELLO, @hello, has come, and it waits for its group
 * @meeting: it is a guest of that; after that, @hello names the group
 * @stays: its table says to keep this connection as the one with its parent
 * @asked: it has shown whose it is; @same: it is this process's user's
 * @vouching: somebody is asked whether it is, or to vouch for this process, which shows that to it
 * @rank: the guest's, once it has given its address; else 0
 */
struct stranger {
	struct ddio_list link;
	struct ddio_session *session;
	struct ddio_conn *conn;
	struct ddio_timer timer;
	struct group_meeting *meeting;
	bool greeted, stays, asked, same;
	struct ddio_msg_hello hello;
	struct vouching *vouching;
	uint32_t rank;
};

/**
 * struct group_meeting - at rank 0: the members of a group that is being formed
 * @link: in the session's list: threads may form several groups at a time
 * @id: of the group; with @by_addr the others do not know it yet, so that there is one such meeting at a time
 * @flat: the group's tree will be
 * @addr: of each rank; an empty one has not arrived
 * @timer: bound on all of it
 * @done: all have arrived and were sent their table, or @error says why not
 */
struct group_meeting {
	struct ddio_list link;
	struct ddio_session *session;
	uint8_t id[DDIO_GROUP_ID_LEN];
	bool by_addr, flat;
	uint32_t size, arrived;
	char (*addr)[DDIO_MAX_ADDR];
	struct ddio_timer timer;
	struct error error;
	bool over;
	void (*done)(struct group_meeting *meeting);
	void *arg;
};

/* @own: the address of this process.  meeting_wait() sets who is told of the end. */
int meeting_begin(struct ddio_session *session, uint32_t size, bool by_addr, const char *own,
		  struct group_meeting **meeting, struct error *error);
void meeting_wait(struct group_meeting *meeting, void (*done)(struct group_meeting *meeting),
		  void *arg);
void meeting_free(struct group_meeting *meeting);
/* The one that a HELLO with this group is for, or NULL. */
struct group_meeting *meeting_of(const struct groups *groups, const uint8_t id[DDIO_GROUP_ID_LEN]);
/* Takes a guest's GROUP_JOIN.  A negative return closes its connection. */
int meeting_arrive(struct stranger *guest, const struct ddio_msg *msg, const void *payload);
/* Forgets a guest whose connection ended. */
void meeting_left(struct stranger *guest);

#endif /* DDIO_CP_MEETING_H */
