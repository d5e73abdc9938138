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

struct fan;
struct peer;

/**
 * struct link - one connection between two members
 * @ready: its opening exchange is over
 * @bulk_op: whose data of the file's bytes @bulk_lo to @bulk_hi are under way, NULL if they are
 *	discarded
 * @scratch: where they wait to be unpacked unless @bulk_direct
 */
struct link {
	struct peer *peer;
	struct ddio_conn *conn;
	bool ready;
	struct alive alive;
	struct ddio_op *bulk_op;
	uint64_t bulk_lo, bulk_hi;
	bool bulk_direct;
	struct iovec sink;
	uint8_t *scratch;
	size_t scratch_cap;
};

/**
 * struct peer - another member
 * @out: the connection that this process made; @in: the one that the other made
 * @messages: of connections that are gone
 */
struct peer {
	struct ddio_group *group;
	uint32_t rank;
	struct link out, in;
	uint64_t messages;
};

/**
 * struct turn - something that the group does together, in its order
 * @number: from 1
 * @begin: its turn has come; ends in turn_pass(), then or later
 */
struct turn {
	struct ddio_list link;
	uint64_t number;
	void (*begin)(struct turn *turn);
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
	struct addrs addrs;
	bool told_all;
	struct peer **peers;
	uint32_t npeers, peers_cap;
	bool closed;
	struct error broken;
	uint32_t blame;
	uint64_t last_number;
	struct ddio_list turns;
	struct turn *turn;
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
int group_new(struct ddio_session *session, const uint8_t id[DDIO_GROUP_ID_LEN], uint32_t rank,
	      uint32_t size, struct addrs *addrs, struct ddio_group **group);
/* Ends what is under way with a cancellation, and puts the user's reference. */
void group_close(struct ddio_group *group);
/* The memory goes a little later, since callers up the stack may still look at it. */
void group_put(struct ddio_group *group);
struct ddio_group *group_by_id(struct ddio_session *session, const uint8_t id[DDIO_GROUP_ID_LEN]);
struct ddio_group *group_by_handle(struct ddio_session *session, uint32_t handle);
/* Nothing goes any more: tells the neighbours (@flood) and ends all steps and operations. */
void group_break(struct ddio_group *group, const struct error *error, uint32_t blame, bool flood);
/* A member, by its rank, did not do its part. */
void group_lost(struct ddio_group *group, uint32_t rank, const char *why);
/* The parent is connected, or never will be. */
void group_ready(struct ddio_group *group);
/* The group of one that serves strided and listed independent requests; NULL without memory. */
struct ddio_group *group_solo(struct ddio_session *session);

void groups_close(struct ddio_session *session);
/* The watchdog's part. */
bool groups_check(struct ddio_session *session);
/* Bytes that wait to go out to other members. */
size_t group_queued(const struct ddio_group *group);
size_t groups_queued(const struct ddio_session *session);
/* So long a member that leaves waits for these to be taken, looking again after each step. */
#define DDIO_LINGER_NS 1000000000
#define DDIO_LINGER_STEP_NS 1000000

void turn_take(struct ddio_group *group, struct turn *turn);
void turn_pass(struct ddio_group *group, struct turn *turn);

/*
 * peer.c
 */

/* Connections with the parent and, made by them, the children. */
int peers_connect(struct ddio_group *group, struct error *error);
/**
 * peers_tell - rank 0: all addresses, as what a step brings to every member
 * Return: its length, 0 if they are known, or -errno.  *@data is to be freed.
 */
ssize_t peers_tell(const struct ddio_group *group, uint8_t **data);
/* What it said has come. */
int peers_told(struct ddio_group *group, const void *data, size_t len);
void peers_close(struct ddio_group *group);
void peers_free(struct ddio_group *group);
/* The next one from *@at on, which is 0 at first; NULL at the end. */
struct peer *peer_next(const struct ddio_group *group, uint32_t *at);
bool peers_check(struct ddio_group *group, bool owes);
/* A connection to any member: made if there is none.  NULL: failed, and the group is broken. */
struct link *peer_link(struct ddio_group *group, uint32_t rank);
/* To a neighbour in the tree.  -ENOTCONN if it is gone. */
int peer_send(struct ddio_group *group, uint32_t rank, uint16_t opcode, const void *payload,
	      size_t len);
uint64_t peers_messages(const struct ddio_group *group);
/* A member has connected.  Return: false if it is not to be taken, and still the caller's. */
bool peer_adopt(struct ddio_group *group, uint32_t rank, struct ddio_conn *conn);

#endif /* DDIO_CP_GROUP_H */
