/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session as a holder of locks.  To the name server it is what a mount is: it attaches with a number of its own
 * before its first lock, attaches again after its connection was lost, and tells again which locks it holds if the
 * name server was restarted.  So its locks outlive a connection, and end with FS_DETACH or, if the process dies,
 * as soon as the name server has missed it for its timeout.
 */
#ifndef DDIO_CP_HOLD_H
#define DDIO_CP_HOLD_H

#include "cp/hold/check.h"
#include "cp/node/lane.h"
#include "proto/proto_fs.h"

/**
 * struct hold_range - bytes of an inode that are locked
 * @by: through which handle
 * @msg: inode, owner, bytes and type
 * @told: the restarted name server knows of it
 * @lost: somebody else may have it now
 */
struct hold_range {
	struct ddio_list link;
	const void *by;
	struct ddio_msg_fs_lock msg;
	bool told, lost;
};

/**
 * struct hold_ask - takes or gives back a range; the caller owns the memory
 * @msg: inode, owner, bytes, type; of flags DDIO_FS_LOCK_WAIT
 * @by: the handle; @name: of the file, for messages
 * @spare: memory for what changes when it is answered
 * @sent: when it was last sent
 * @lost: part of what was given back had been lost
 * @done: called once, perhaps inside hold_begin(); @dropped: for hold_drop()
 */
struct hold_ask {
	struct ddio_list link;
	struct ddio_session *session;
	struct ddio_msg_fs_lock msg;
	const void *by;
	const char *name;
	struct hold_range *spare[2];
	uint64_t sent;
	bool lost;
	struct error error;
	struct node_request request;
	void (*done)(struct hold_ask *ask);
	void (*dropped)(struct hold_ask *ask);
	void *arg;
};

extern const struct lane_user hold_lane_user;

void hold_begin(struct hold_ask *ask);
/* Gives back what was locked through a handle; @ask->by, session, name, dropped and arg are set. */
void hold_drop(struct hold_ask *ask);
/* The session is ending: gives everything back.  Returns true as long as the name server has not heard of it. */
bool hold_leave(struct ddio_session *session);
/* Ends what waits for an attempt to reach the name server. */
void hold_end(struct ddio_session *session);
void hold_free(struct ddio_session *session);

/*
 * ranges.c: lists of struct hold_range.  Of each byte an owner has one at most.
 */

/* Notes that @ask was granted; of @spare what was used is taken. */
void hold_ranges_apply(struct ddio_list *ranges, struct hold_ask *ask);
/* Returns one that was taken through the handle, or NULL; @by NULL: one that the name server is to be told of. */
struct hold_range *hold_ranges_find(struct ddio_list *ranges, const void *by);
/* Returns true if one of them is not lost. */
bool hold_ranges_any(const struct ddio_list *ranges);
void hold_ranges_lose(struct ddio_list *ranges);
/* Returns true if one of the inode is lost. */
bool hold_ranges_missed(const struct ddio_list *ranges, uint64_t ino);
void hold_ranges_untell(struct ddio_list *ranges);
void hold_ranges_free(struct ddio_list *ranges);

#endif /* DDIO_CP_HOLD_H */
