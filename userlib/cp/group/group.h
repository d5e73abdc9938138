/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups: processes that make collective requests together.  The members form
 * a binomial tree: the parent of a rank is the rank without its lowest bit.
 * Each has a connection with its parent and its children; others are made when
 * the two-phase method needs them.
 *
 * Everything that a group does together has a number, given in the order of
 * the calls, which is the same on every member.  A step of it is a fan
 * (fan.h): contributions go up the tree, a verdict comes down.
 */
#ifndef DDIO_CP_GROUP_H
#define DDIO_CP_GROUP_H

#include "cp/group/addrs.h"
#include "cp/node/session.h"
#include "cp/group/tree.h"

struct ddio_fan;
struct ddio_peer;

/**
 * struct ddio_link - one connection between two members
 * @ready: its opening exchange is over
 * @bulk_op: whose data of the file's bytes @bulk_lo to @bulk_hi are under way, NULL if they are
 *	discarded
 * @scratch: where they wait to be unpacked unless @bulk_direct
 */
struct ddio_link {
	struct ddio_peer *peer;
	struct ddio_conn *conn;
	bool ready;
	struct ddio_alive alive;
	struct ddio_op *bulk_op;
	uint64_t bulk_lo, bulk_hi;
	bool bulk_direct;
	struct iovec sink;
	uint8_t *scratch;
	size_t scratch_cap;
};

/**
 * struct ddio_peer - another member
 * @out: the connection that this process made; @in: the one that the other made
 * @messages: of connections that are gone
 */
struct ddio_peer {
	struct ddio_group *group;
	uint32_t rank;
	struct ddio_link out, in;
	uint64_t messages;
};

/**
 * struct ddio_turn - something that the group does together, in its order
 * @number: from 1
 * @begin: its turn has come; ends in ddio_turn_pass(), then or later
 */
struct ddio_turn {
	struct ddio_list link;
	uint64_t number;
	void (*begin)(struct ddio_turn *turn);
};

/**
 * struct ddio_group - reactor only, but for @rank and @size
 * @handle: this process's own number for it, index in session->group
 * @addrs: of rank 0 and the neighbours in the tree; of all members at rank 0, and where these
 *	exchange data
 * @told_all: rank 0: the members know all addresses
 * @peers: those with whom there ever was a connection: a hash table, see peer.c
 * @broken: why nothing goes any more; blamed on rank @blame
 * @turns: wait for their turn; @turn is the one that has it
 * @fans: steps that are not over
 * @ops: operations that are not over
 * @attaches: lanes that know of this group
 * @ended: steps that failed before all children had contributed
 * @on_ready: called once when the parent is connected, or the group is broken
 * @refs: one of the user, and one of each operation
 */
struct ddio_group {
	struct ddio_session *session;
	uint8_t id[DDIO_GROUP_ID_LEN];
	uint32_t rank, size;
	uint32_t handle;
	struct ddio_addrs addrs;
	bool told_all;
	struct ddio_peer **peers;
	uint32_t npeers, peers_cap;
	bool closed;
	struct ddio_error broken;
	uint32_t blame;
	uint64_t last_number;
	struct ddio_list turns;
	struct ddio_turn *turn;
	struct ddio_list fans;
	uint64_t *ended;
	size_t nended;
	struct ddio_list ops;
	uint32_t refs;
	struct ddio_list attaches;
	void (*on_ready)(struct ddio_group *group, void *arg);
	void *ready_arg;
	struct ddio_post free_post;
};

/*
 * group.c
 */

/* @addrs: what it has is taken over, also on failure; NULL for a group of one. */
int ddio_group_new(struct ddio_session *session, const uint8_t id[DDIO_GROUP_ID_LEN], uint32_t rank,
		   uint32_t size, struct ddio_addrs *addrs, struct ddio_group **group);
/* Ends what is under way with a cancellation, and puts the user's reference. */
void ddio_group_close(struct ddio_group *group);
/* The memory goes a little later, since callers up the stack may still look at it. */
void ddio_group_put(struct ddio_group *group);
struct ddio_group *ddio_group_by_id(struct ddio_session *session,
				    const uint8_t id[DDIO_GROUP_ID_LEN]);
struct ddio_group *ddio_group_by_handle(struct ddio_session *session, uint32_t handle);
/* Nothing goes any more: tells the neighbours (@flood) and ends all steps and operations. */
void ddio_group_break(struct ddio_group *group, const struct ddio_error *error, uint32_t blame,
		      bool flood);
/* A member, by its rank, did not do its part. */
void ddio_group_lost(struct ddio_group *group, uint32_t rank, const char *why);
/* The parent is connected, or never will be. */
void ddio_group_ready(struct ddio_group *group);
/* The group of one that serves strided and listed independent requests; NULL without memory. */
struct ddio_group *ddio_group_solo(struct ddio_session *session);

void ddio_groups_close(struct ddio_session *session);
/* The watchdog's part. */
bool ddio_groups_check(struct ddio_session *session);
/* Bytes that wait to go out to other members. */
size_t ddio_group_queued(const struct ddio_group *group);
size_t ddio_groups_queued(const struct ddio_session *session);
/* So long a member that leaves waits for these to be taken, looking again after each step. */
#define DDIO_LINGER_NS 1000000000
#define DDIO_LINGER_STEP_NS 1000000

void ddio_turn_take(struct ddio_group *group, struct ddio_turn *turn);
void ddio_turn_pass(struct ddio_group *group, struct ddio_turn *turn);

/*
 * peer.c
 */

/* Connections with the parent and, made by them, the children. */
int ddio_peers_connect(struct ddio_group *group, struct ddio_error *error);
/**
 * ddio_peers_tell - rank 0: all addresses, as what a step brings to every member
 * Return: its length, 0 if they are known, or -errno.  *@data is to be freed.
 */
ssize_t ddio_peers_tell(const struct ddio_group *group, uint8_t **data);
/* What it said has come. */
int ddio_peers_told(struct ddio_group *group, const void *data, size_t len);
void ddio_peers_close(struct ddio_group *group);
void ddio_peers_free(struct ddio_group *group);
/* The next one from *@at on, which is 0 at first; NULL at the end. */
struct ddio_peer *ddio_peer_next(const struct ddio_group *group, uint32_t *at);
bool ddio_peers_check(struct ddio_group *group, bool owes);
/* A connection to any member: made if there is none.  NULL: failed, and the group is broken. */
struct ddio_link *ddio_peer_link(struct ddio_group *group, uint32_t rank);
/* To a neighbour in the tree.  -ENOTCONN if it is gone. */
int ddio_peer_send(struct ddio_group *group, uint32_t rank, uint16_t opcode, const void *payload,
		   size_t len);
uint64_t ddio_peers_messages(const struct ddio_group *group);
/* A member has connected.  Return: false if it is not to be taken, and still the caller's. */
bool ddio_peer_adopt(struct ddio_group *group, uint32_t rank, struct ddio_conn *conn);

#endif /* DDIO_CP_GROUP_H */
