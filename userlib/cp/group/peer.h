/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The other members of a group, and the connections with them. */
#ifndef DDIO_CP_PEER_H
#define DDIO_CP_PEER_H

#include "cp/group/group.h"

/**
 * struct link - one connection between two members
 * @ready: its opening exchange is over
 * @user: what each user of groups keeps here; see link_state()
 */
struct link {
	struct peer *peer;
	struct ddio_conn *conn;
	bool ready;
	struct ddio_alive alive;
	void *user[GROUP_USERS];
};

/**
 * struct peer - another member
 * @node: in the group's @peers, by rank
 * @out: the connection that this process made; @in: the one that the other made
 */
struct peer {
	struct ddio_group *group;
	uint32_t rank;
	struct ddio_hash_node node;
	struct link out, in;
};

/**
 * struct link_handler - what handles one kind of message between members
 * @bulk: names the sink; NULL for messages without bulk
 * @message: @payload and @len are the payload, or the fixed record in front of bulk
 *
 * A negative return closes the connection.
 */
struct link_handler {
	uint16_t opcode;
	int (*bulk)(struct link *link, const void *prefix, size_t prefix_len, uint64_t bulk_len,
		    struct ddio_sink *sink);
	int (*message)(struct link *link, const void *payload, size_t len);
};

/* Returns where @user keeps its pointer to its own state of the link; NULL at first. */
static inline void **link_state(struct link *link, const struct group_user *user)
{
	return &link->user[group_user_index(link->peer->group, user)];
}

/* Connects to the parent, as the children do to this member. */
int peers_connect(struct ddio_group *group, struct error *error);
/**
 * peers_tell - rank 0: encode all addresses, as what a step brings to every member
 * Return: their length, 0 if the members know them, or -errno.  *@data is to be freed.
 */
ssize_t peers_tell(const struct ddio_group *group, uint8_t **data);
/* Takes what peers_tell() encoded. */
int peers_told(struct ddio_group *group, const void *data, size_t len);
void peers_close(struct ddio_group *group);
void peers_free(struct ddio_group *group);
/* Reports a member as lost if it is silent though it is needed. */
void peers_check(struct ddio_group *group, bool owes);
/* Returns the bytes that wait to go out to other members. */
size_t peers_queued(const struct ddio_group *group);
/* Returns a link to any member, made if there is none; NULL: failed, and the group is broken. */
struct link *peer_link(struct ddio_group *group, uint32_t rank);
/* Returns the link with a neighbour in the tree, if it is ready; NULL: it is gone. */
struct link *peer_neighbour(struct ddio_group *group, uint32_t rank);
/* Sends to a neighbour in the tree; -ENOTCONN if it is gone. */
int peer_send(struct ddio_group *group, uint32_t rank, uint16_t opcode, const void *payload,
	      size_t len);
/*
 * The same, with @len bytes at @data behind the @fixed ones.  They lie in @owned, which is freed when they have left, or the
 * sending has failed.
 */
int peer_send_owned(struct ddio_group *group, uint32_t rank, uint16_t opcode, const void *fixed,
		    size_t fixed_len, void *owned, const void *data, size_t len);
/* Takes over the connection of a member, which is to be welcomed unless it has been; false if it is no peer, and the connection the caller's. */
bool peer_adopt(struct ddio_group *group, uint32_t rank, struct ddio_conn *conn, bool to_welcome);
/* Takes over this member's own connection with rank 0, which is open. */
void peer_keep(struct ddio_group *group, struct ddio_conn *conn);

#endif /* DDIO_CP_PEER_H */
