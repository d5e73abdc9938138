/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups: processes that make collective requests together.  The members form
 * a binomial tree: the parent of a rank is the rank without its lowest bit; or, up to FLAT_MOST of
 * them, a flat one, in which rank 0 is the parent of all, by the connections by which they came.
 * Each has a connection with its parent and its children; others are made when
 * the two-phase method needs them.
 *
 * Everything that a group does together has a number, given in the order of
 * the calls, which is the same on every member (order.h).  A step of it is a fan
 * (fan/fan.h): contributions go up the tree, a verdict comes down.
 */
#ifndef DDIO_CP_GROUP_H
#define DDIO_CP_GROUP_H

#include "base/hash.h"
#include "cp/group/addrs.h"
#include "cp/group/order.h"
#include "cp/group/tree.h"
#include "cp/node/session.h"

struct fan;
struct link;
struct link_handler;
struct ddio_muster;
struct peer;
struct step_kind;

/* Of so many members at most the tree is flat. */
#define FLAT_MOST 16u

/* At most so many users of groups. */
enum { GROUP_USERS = 13 };

/**
 * struct group_user - what is built upon groups; each callback may be NULL
 * @handlers: of messages between members: opcode 0 at the end; NULL for none
 * @kinds: kinds of steps: kind 0 at the end; NULL for none
 * @ready: a link that this process made is connected
 * @drained: a link can take more
 * @needs: returns true if something waits for that member
 * @busy: returns true if something waits for the group
 * @lost: a member did not do its part
 * @broken: the group is broken: ends what is under way
 * @warned: a neighbour, @from, says that a turn's operation has failed; see fan/late.c
 * @decided: an epoch of the group is over, or a write of it has failed, and what waited for that can go on
 * @closed: the group's handle is being freed
 * @free, @free_link: the group, or the link's connection, goes, and with it what the user keeps
 *	in group_state() or link_state()
 */
struct group_user {
	const struct link_handler *handlers;
	const struct step_kind *kinds;
	void (*ready)(struct link *link);
	void (*drained)(struct link *link);
	bool (*needs)(struct ddio_group *group, uint32_t rank);
	bool (*busy)(struct ddio_group *group);
	void (*lost)(struct ddio_group *group, uint32_t rank, const char *why);
	void (*broken)(struct ddio_group *group, const struct error *error);
	void (*warned)(struct ddio_group *group, uint64_t number, uint32_t from);
	void (*decided)(struct ddio_group *group);
	void (*closed)(struct ddio_group *group);
	void (*free)(void *state);
	void (*free_link)(void *state);
};

/**
 * struct groups - the groups of a session
 * @group: by handle; a NULL is a free handle
 * @flat_most: groups of so many members at most have a flat tree, if rank 0 has this
 * @step_most: bytes that members say of a step at most
 * @users: NULL at the end
 * @ports: where other members of groups connect, the first made with the first group
 * @strangers: connections made there whose group is not known yet
 * @meetings: groups that are being formed around this process
 * @solo: the group of one of strided and listed independent requests
 */
struct groups {
	struct ddio_group **group;
	uint32_t n, flat_most;
	uint64_t step_most;
	const struct group_user *const *users;
	struct ddio_list ports;
	struct ddio_list strangers;
	struct ddio_list meetings;
	struct ddio_group *solo;
};

/**
 * struct ddio_group - reactor only, but for @rank, @size, @lost, @muster and what @own says
 * @handle: this process's own number for it, index in the session's groups
 * @addrs: of rank 0 and the neighbours in the tree; all members' at rank 0, and wherever
 *	members exchange data
 * @flat: rank 0 is the parent of all others
 * @told_all: rank 0: the members know all addresses
 * @peers: struct peer.node, by rank: the members with whom there ever was a connection
 * @broken: why the group can do nothing any more; rank @blame is to blame.  Once @lost is set, for other threads too
 * @patient_from: steps of its own turns from this number on wait for members as long as they live; 0: none
 * @own: its own order; @orders: struct order.node, those of files
 * @nopened: files that were opened by all: the key of the last one's order
 * @nlent: turns of any order that have lent theirs, and not passed it; @lent_bytes: of what they say
 * @fans: steps that are not over; @fans_by_seq: the same, struct fan.node
 * @nahead: of those, such as this member has not come to; @nclosed: such as it only says of that it has closed their file
 * @ahead_bytes: of what has been said of steps that this member has not come to
 * @nended: steps that are known to have ended without all children
 * @gathered: bytes of what children have contributed to be gathered, as they came
 * @looks: how often a step was looked at, to end those of a file, or to drop what comes late
 * @muster: where the members meet for a barrier, once all of them have it; for other threads too
 * @on_ready: called once when the parent is connected, or the group is broken
 * @refs: one of the user, and one of each operation
 * @user: what each user of groups keeps here; see group_state()
 */
struct ddio_group {
	struct ddio_session *session;
	uint8_t id[DDIO_GROUP_ID_LEN];
	uint32_t rank, size;
	uint32_t handle;
	struct addrs addrs;
	bool flat, told_all;
	struct ddio_hash peers;
	bool closed;
	struct error broken;
	_Atomic bool lost;
	uint32_t blame;
	uint64_t patient_from;
	struct order own;
	struct ddio_hash orders;
	uint64_t nopened;
	uint32_t nlent, nahead, nclosed, nended;
	uint64_t lent_bytes, ahead_bytes;
	struct ddio_list fans;
	struct ddio_hash fans_by_seq;
	uint64_t gathered, looks;
	uint32_t refs;
	struct ddio_muster *_Atomic muster;
	void (*on_ready)(struct ddio_group *group, void *arg);
	void *ready_arg;
	struct ddio_post free_post;
	void *user[GROUP_USERS];
};

static inline const struct group_user *const *group_users(const struct ddio_group *group)
{
	return group->session->groups->users;
}

/* Returns the user's index in the table. */
static inline uint32_t group_user_index(const struct ddio_group *group,
					const struct group_user *user)
{
	uint32_t i = 0;

	while (group_users(group)[i] != user)
		i++;
	return i;
}

/* Returns where @user keeps its pointer to its own state of the group; NULL at first. */
static inline void **group_state(struct ddio_group *group, const struct group_user *user)
{
	return &group->user[group_user_index(group, user)];
}

/*
 * The tree of the group's ranks: where it is flat, rank 0 is the parent of all.
 */
static inline uint32_t group_parent(const struct ddio_group *group, uint32_t rank)
{
	return group->flat ? 0 : tree_parent(rank);
}

/* Returns this member's child number @k, or UINT32_MAX if there is none. */
static inline uint32_t group_child(const struct ddio_group *group, unsigned int k)
{
	if (!group->flat)
		return tree_child(group->rank, group->size, k);
	return group->rank || k + 1 >= group->size ? UINT32_MAX : k + 1;
}

/* Returns the rank behind the last one below this member's child number @k, or that one's own. */
static inline uint64_t group_child_end(const struct ddio_group *group, uint32_t child,
				       unsigned int k)
{
	return group->flat ? child + 1 : child + ((uint64_t)1 << k);
}

/* Returns true if @rank is below @top in the tree, or @top itself. */
static inline bool group_holds(const struct ddio_group *group, uint32_t top, uint32_t rank)
{
	return group->flat ? !top || rank == top : tree_holds(top, rank);
}

/* Returns this member's child on the way down to @rank, which is below it. */
static inline uint32_t group_towards(const struct ddio_group *group, uint32_t rank)
{
	return group->flat ? rank : tree_towards(group->rank, rank);
}

static inline bool group_neighbours(const struct ddio_group *group, uint32_t rank)
{
	return group->flat ? !group->rank != !rank : tree_neighbours(group->rank, rank);
}

extern const struct group_user group_own_user;
extern const struct group_user barrier_group_user;

/* @addrs: its contents are taken over, also on failure; NULL for a group of one. */
int group_new(struct ddio_session *session, const uint8_t id[DDIO_GROUP_ID_LEN], uint32_t rank,
	      uint32_t size, struct addrs *addrs, struct ddio_group **group);
/* Cancels what is under way, and puts the user's reference. */
void group_close(struct ddio_group *group);
/* Puts a reference; the memory goes a little later, since callers up the stack may still look. */
void group_put(struct ddio_group *group);
struct ddio_group *group_by_id(struct ddio_session *session, const uint8_t id[DDIO_GROUP_ID_LEN]);
struct ddio_group *group_by_handle(struct ddio_session *session, uint32_t handle);
/* Ends all steps and operations of the group, which cannot be used again; with @flood tells the neighbours. */
void group_break(struct ddio_group *group, const struct error *error, uint32_t blame, bool flood);
/* Breaks the group: the member with that rank did not do its part. */
void group_lost(struct ddio_group *group, uint32_t rank, const char *why);
/* Calls on_ready: the parent is connected, or never will be. */
void group_ready(struct ddio_group *group);
/* Returns the group of one for strided and listed independent requests; NULL without memory. */
struct ddio_group *group_solo(struct ddio_session *session);

/* @users: NULL at the end.  Return: 0 or -ENOMEM. */
int groups_init(struct ddio_session *session, const struct group_user *const *users);
/* Cancels everything that any group does: the session is ending. */
void groups_cancel(struct ddio_session *session);
void groups_close(struct ddio_session *session);
void groups_free(struct ddio_session *session);
/* The watchdog's part: finds members that do not answer.  Returns true if something is owed. */
bool groups_check(struct ddio_session *session);
/* Returns the bytes that wait to go out to other members of any group. */
size_t groups_queued(const struct ddio_session *session);
/* How long a member that leaves waits for these to go out, and how often it looks. */
#define GROUP_LINGER_NS 1000000000
#define GROUP_LINGER_STEP_NS 1000000

#endif /* DDIO_CP_GROUP_H */
