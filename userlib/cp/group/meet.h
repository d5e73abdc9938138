/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where other members connect, and how rank 0 learns of all of them. */
#ifndef DDIO_CP_MEET_H
#define DDIO_CP_MEET_H

#include "cp/group/group.h"

/**
 * struct group_meeting - at rank 0: the table of a group that is being formed
 * @id: of the group; while @by_addr the others do not know it yet
 * @addr: of each rank; an empty one has not come
 * @timer: bound on all of it
 * @done: the table is complete and on its way to everybody, or @error
 */
struct group_meeting {
	struct ddio_session *session;
	uint8_t id[DDIO_GROUP_ID_LEN];
	bool by_addr;
	uint32_t size, arrived;
	char (*addr)[DDIO_MAX_ADDR];
	struct ddio_timer timer;
	struct port *port;
	struct error error;
	bool over;
	void (*done)(struct group_meeting *meeting);
	void *arg;
};

struct port;

/**
 * port_open - an address at which other members reach this process
 * @wanted: "host:port" or "host"; NULL: loopback if all nodes are there or there is no key, else any
 *
 * The same address twice is one port.  Its real address is port_addr(), whose host may
 * be one that says "any".
 */
int port_open(struct ddio_session *session, const char *wanted, struct port **port,
	      struct error *error);
const char *port_addr(const struct port *port);
void port_close(struct port *port);
/* Ports and strangers. */
void session_unlisten(struct ddio_session *session);
/* A group was made: members that have connected early are let in. */
void strangers_admit(struct ddio_session *session, struct ddio_group *group);

bool addr_is_any(const char *addr);
/* If @addr says "any host", puts the host of @seen in its place. */
void addr_settle(char addr[DDIO_MAX_ADDR], const char *seen);

/* @own: the address of this process.  Its end is told to @done once that is set. */
int meeting_begin(struct ddio_session *session, uint32_t size, bool by_addr, const char *own,
		  struct group_meeting **meeting, struct error *error);
void meeting_wait(struct group_meeting *meeting, void (*done)(struct group_meeting *meeting),
		  void *arg);
void meeting_free(struct group_meeting *meeting);

/* meeting.c, for meet.c: a guest of the meeting says that it joins. */
struct stranger;
int meeting_join(struct group_meeting *meeting, struct stranger *guest, const struct ddio_msg *msg,
		 const void *payload);
void meeting_left(struct group_meeting *meeting, struct stranger *guest);

/**
 * struct stranger - a connection that was accepted and has no place yet
 * @greeted: it has said who it is: @hello; and waits for its group
 * @guest: of the session's meeting
 * @rank: the guest's, once it has joined; else 0
 */
struct stranger {
	struct ddio_list link;
	struct ddio_session *session;
	struct ddio_conn *conn;
	struct ddio_timer timer;
	bool greeted, guest;
	struct ddio_msg_hello hello;
	uint32_t rank;
};

#endif /* DDIO_CP_MEET_H */
