/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups and members as a reactor knows them.  A reactor owns its groups, a group its members; a member is
 * also on the list of its client.
 */
#ifndef DDIO_COLL_GROUP_H
#define DDIO_COLL_GROUP_H

#include "env/kernel/joint.h"
#include "iop/coll/core/share.h"
#include "iop/coll/core/verdict.h"
#include "iop/server/reactor.h"

#define COLL_EARLY 8u /* aborts of operations that do not run, remembered per group */

/**
 * struct coll_member - one rank of a group, on one connection of the reactor
 * @node: in the reactor's table of members, by group and client; @by_rank: in that by group and rank
 * @handle: the member's own number for the group
 * @tx_seen, @tx_since: the connection's last progress in sending as the watch saw it, and when
 * @tx_queued: when the watch last saw output of the connection waiting
 * @piece_ns: when its last COLL_PIECE was complete
 * @joined_op: the last operation for which its memory is in the group's joint
 * @shares: it has the group's buffers for reading, for writing
 */
struct coll_member {
	struct client *client;
	struct coll_group *group;
	struct ddio_list client_link;
	struct ddio_hash_node node, by_rank;
	uint32_t rank;
	uint32_t handle;
	uint64_t tx_seen, tx_since, tx_queued;
	uint64_t piece_ns;
	uint64_t joined_op;
	bool shares[2];
};

/**
 * struct coll_group - a group as one reactor knows it; it costs the same whatever its size
 * @key: digest of @id
 * @size: ranks; @n: how many of them are attached
 * @uid: whose it is, if connections have users
 * @lost: a rank that was attached and whose connection ended, or COLL_NOBODY
 * @running: collectives on @colls
 * @joint: on reactor 0: where members on this machine join their memory; NULL until one asks
 * @share: buffers for reading, for writing; NULL until a member asks
 * @spreads, @nspreads: on reactor 0: collectives that have not begun, since members spread their descriptions
 * @last_start: on reactor 0: the highest number of an operation that it was asked for
 * @last_op: the highest number of an operation that began here; one whose descriptions are spread may begin after later ones
 * @early: a ring of operations that were aborted before they began, or when they were over; @nearly counts them
 */
struct coll_group {
	struct ddio_list link;	    /* reactor->groups */
	struct ddio_hash_node node; /* reactor->groups_by_id */
	struct reactor *reactor;
	uint8_t id[DDIO_GROUP_ID_LEN];
	uint64_t key;
	uint32_t size, n;
	uint32_t uid;
	uint32_t lost;
	uint32_t running;
	struct ddio_joint *joint;
	struct coll_share *share[2];
	uint64_t last_start, last_op;
	struct ddio_list colls; /* struct coll.group_link */
	struct ddio_list spreads;
	uint32_t nspreads;
	struct early {
		uint64_t op;
		uint32_t status, rank;
	} early[COLL_EARLY];
	uint32_t nearly;
};

/* Returns the reactor's group with that identifier, or NULL. */
struct coll_group *coll_group_find(struct reactor *reactor, const uint8_t *id);
/* Makes a group without members: 0, -ENOMEM, or -EUSERS: the reactor has as many as it may. */
int coll_group_new(struct reactor *reactor, const uint8_t *id, uint32_t size,
		   struct coll_group **group);
/* Frees the group if it has no member and runs nothing. */
void coll_group_release(struct coll_group *group);
/* Returns true if every rank is attached, or, if only @some need be, none is lost; otherwise *@v names a missing rank. */
bool coll_group_complete(const struct coll_group *group, bool some, struct verdict *v);
/* Makes the client a member: 0, -ENOMEM, or -EBUSY: it is a member of as many groups as it may be. */
int coll_member_new(struct coll_group *group, struct client *client,
		    const struct ddio_msg_attach *at);
/* May free the group, too. */
void coll_member_free(struct coll_member *m);
/* Returns the client's membership of the group with that identifier, or NULL. */
struct coll_member *coll_client_member(const struct client *client, const uint8_t *id);
/* Returns the attached member of a rank, or NULL. */
struct coll_member *coll_group_member(const struct coll_group *group, uint32_t rank);
/* Throws away what is left of the message that the member's connection is receiving. */
void coll_group_discard(const struct coll_group *group, uint32_t rank);
/* How the operation was aborted before it began, or NULL. */
const struct early *coll_group_early(const struct coll_group *group, uint64_t op);
/* Remembers that an operation was aborted. */
void coll_group_early_add(struct coll_group *group, const struct ddio_msg_coll_abort *abort);

#endif /* DDIO_COLL_GROUP_H */
