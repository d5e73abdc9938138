// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Connections between members.  The child connects to the parent; any member
 * connects to any other when it has data for it.  The loss of a neighbour in
 * the tree breaks the group whatever it is doing: the verdict of a step goes
 * out to all neighbours before anybody can leave.  The loss of another member
 * matters only while data are exchanged with it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/peer.h"

/* Calls callback @fn of every user that has one. */
#define TELL_USERS(group, fn, ...)                                       \
	do {                                                             \
		const struct group_user *const *u_ = group_users(group); \
                                                                         \
		for (; *u_; u_++)                                        \
			if ((*u_)->fn)                                   \
				(*u_)->fn(__VA_ARGS__);                  \
	} while (0)

static void link_drop(struct link *link)
{
	const struct group_user *const *u = group_users(link->peer->group);
	struct ddio_conn *conn = link->conn;
	uint32_t i;

	link->conn = NULL;
	link->ready = false;
	for (i = 0; u[i]; i++) {
		if (link->user[i])
			u[i]->free_link(link->user[i]);
		link->user[i] = NULL;
	}
	memset(&link->alive, 0, sizeof(link->alive));
	if (conn)
		ddio_conn_close(conn, false);
}

static void peer_lost(struct ddio_group *group, uint32_t rank, const char *why)
{
	TELL_USERS(group, lost, group, rank, why);
}

static void link_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct link *link = ctx;

	if (welcome->node != link->peer->rank) {
		link_drop(link);
		peer_lost(link->peer->group, link->peer->rank,
			  "another process answers at its address");
		return;
	}
	link->ready = true;
	TELL_USERS(link->peer->group, ready, link);
}

static const struct link_handler *link_handler(const struct link *link, uint16_t opcode)
{
	const struct group_user *const *u;
	const struct link_handler *h;

	for (u = group_users(link->peer->group); *u; u++)
		for (h = (*u)->handlers; h && h->opcode; h++)
			if (h->opcode == opcode)
				return h;
	return NULL;
}

static int link_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct link *link = ctx;
	const struct link_handler *h;

	if (msg->opcode == DDIO_OP_PING)
		return msg->flags & DDIO_WIRE_REPLY
			       ? 0
			       : ddio_conn_reply(link->conn, msg, DDIO_ST_OK, NULL, 0);
	h = link_handler(link, msg->opcode);
	return h ? h->message(link, payload, msg->length) : -EPROTO;
}

static int link_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		     struct ddio_sink *sink)
{
	struct link *link = ctx;
	const struct link_handler *h = link_handler(link, msg->opcode);

	if (!h || !h->bulk || msg->flags & DDIO_WIRE_REPLY)
		return -EPROTO;
	return h->bulk(link, prefix, prefix_len, msg->length - prefix_len, sink);
}

static void link_drained(void *ctx)
{
	struct link *link = ctx;

	TELL_USERS(link->peer->group, drained, link);
}

/* Returns true if something that is under way waits for that member. */
static bool peer_needed(struct ddio_group *group, uint32_t rank)
{
	const struct group_user *const *u;

	for (u = group_users(group); *u; u++)
		if ((*u)->needs && (*u)->needs(group, rank))
			return true;
	return group_neighbours(group, rank);
}

static void link_closed(void *ctx, int err, const char *why)
{
	struct link *link = ctx;
	struct ddio_group *group = link->peer->group;
	uint32_t rank = link->peer->rank;

	link_drop(link);
	if (peer_needed(group, rank))
		peer_lost(group, rank, err ? why : "it closed the connection");
}

static const struct ddio_conn_ops link_ops = {
	.ready = link_ready,
	.bulk = link_bulk,
	.message = link_message,
	.drained = link_drained,
	.closed = link_closed,
};

static struct peer *peer_find(const struct ddio_group *group, uint32_t rank)
{
	return ddio_hash_entry(ddio_hash_find(&group->peers, rank), struct peer, node);
}

static struct peer *peer_get(struct ddio_group *group, uint32_t rank)
{
	struct peer *peer = peer_find(group, rank);

	if (peer)
		return peer;
	peer = calloc(1, sizeof(*peer));
	if (!peer)
		return NULL;
	peer->group = group;
	peer->rank = rank;
	peer->out.peer = peer;
	peer->in.peer = peer;
	ddio_hash_add(&group->peers, &peer->node, rank);
	return peer;
}

void peers_free(struct ddio_group *group)
{
	struct peer *peer;
	struct ddio_hash_walk walk;

	ddio_hash_for_each(peer, &walk, &group->peers, node) {
		free(peer);
	}
	ddio_hash_fini(&group->peers);
}

static int link_connect(struct ddio_group *group, uint32_t rank)
{
	const char *addr = addrs_find(&group->addrs, rank);
	struct peer *peer = peer_get(group, rank);
	struct ddio_msg_hello hello = { .role = DDIO_ROLE_PEER, .rank = group->rank };
	struct ddio_conn_opts opts;

	if (!peer)
		return -ENOMEM;
	if (!addr)
		return -EDESTADDRREQ;
	memcpy(hello.group, group->id, sizeof(hello.group));
	session_conn_opts(group->session, &opts);
	return ddio_conn_connect(group->session->env, addr, &hello, &opts, &link_ops, &peer->out,
				 &peer->out.conn);
}

int peers_connect(struct ddio_group *group, struct error *error)
{
	uint32_t parent = group_parent(group, group->rank);
	int err;

	if (!group->rank)
		return 0;
	err = link_connect(group, parent);
	if (err)
		error_set(error, err, "rank %u (%s): %s", parent, addrs_find(&group->addrs, parent),
			  strerror(-err));
	return err;
}

static void link_take(struct link *link, struct ddio_conn *conn)
{
	ddio_conn_set_ops(conn, &link_ops, link);
	link->conn = conn;
	link->ready = true;
}

bool peer_adopt(struct ddio_group *group, uint32_t rank, struct ddio_conn *conn, bool to_welcome)
{
	struct ddio_msg_welcome welcome = { .node = group->rank };
	struct peer *peer;
	struct link *link;

	if (rank >= group->size || rank == group->rank || group->broken.status)
		return false;
	peer = peer_get(group, rank);
	if (!peer || peer->in.conn)
		return false;
	link = &peer->in;
	link_take(link, conn);
	if (to_welcome && ddio_conn_welcome(conn, &welcome)) {
		link_drop(link);
		peer_lost(group, rank, "out of memory");
	}
	return true;
}

void peer_keep(struct ddio_group *group, struct ddio_conn *conn)
{
	struct peer *peer = peer_get(group, 0);

	if (peer) {
		link_take(&peer->out, conn);
		return;
	}
	ddio_conn_close(conn, false);
	peer_lost(group, 0, "out of memory");
}

void peers_close(struct ddio_group *group)
{
	struct peer *peer;
	struct ddio_hash_walk walk;

	ddio_hash_for_each(peer, &walk, &group->peers, node) {
		link_drop(&peer->out);
		link_drop(&peer->in);
	}
}

/*
 * All addresses
 */
ssize_t peers_tell(const struct ddio_group *group, uint8_t **data)
{
	*data = NULL;
	/* Two members know each other. */
	if (group->told_all || group->size < 3)
		return 0;
	return addrs_put(&group->addrs, group->id, group->size, 0, data);
}

static int told_take(struct ddio_group *group, const struct ddio_msg_group_table *table)
{
	const char *first = addrs_find(&group->addrs, 0);
	struct addrs all = { 0 };
	uint32_t i;
	int err = first && table->n == group->size ? 0 : -EPROTO;

	/* Rank 0 may not know which of its addresses reaches it. */
	for (i = 0; i < table->n && !err; i++)
		err = addrs_add(&all, i, i ? table->entry[i].addr : first);
	if (err) {
		addrs_free(&all);
		return err;
	}
	addrs_free(&group->addrs);
	group->addrs = all;
	return 0;
}

int peers_told(struct ddio_group *group, const void *data, size_t len)
{
	struct ddio_msg_group_table table;
	int err;

	if (!len)
		return 0;
	group->told_all = true;
	if (!group->rank)
		return 0;
	err = ddio_get_group_table(data, len, &table);
	if (err)
		return err;
	if (memcmp(table.group, group->id, sizeof(table.group)) || table.size != group->size)
		err = -EPROTO;
	else
		err = told_take(group, &table);
	free(table.entry);
	return err;
}

/* Returns the link to use, preferring one that is ready; NULL if there is none. */
static struct link *link_best(struct peer *peer)
{
	if (peer->out.conn && peer->out.ready)
		return &peer->out;
	if (peer->in.conn)
		return &peer->in;
	return peer->out.conn ? &peer->out : NULL;
}

struct link *peer_link(struct ddio_group *group, uint32_t rank)
{
	struct peer *peer = peer_find(group, rank);
	struct link *link = peer ? link_best(peer) : NULL;
	int err;

	if (link)
		return link;
	err = link_connect(group, rank);
	if (err) {
		peer_lost(group, rank, strerror(-err));
		return NULL;
	}
	return &peer_find(group, rank)->out;
}

struct link *peer_neighbour(struct ddio_group *group, uint32_t rank)
{
	struct peer *peer = peer_find(group, rank);
	struct link *link;

	if (!peer)
		return NULL;
	/* In the tree the child always connects to the parent. */
	link = rank && group_parent(group, rank) == group->rank ? &peer->in : &peer->out;
	return link->conn && link->ready ? link : NULL;
}

int peer_send(struct ddio_group *group, uint32_t rank, uint16_t opcode, const void *payload,
	      size_t len)
{
	struct ddio_msg msg = { .opcode = opcode };
	struct link *link = peer_neighbour(group, rank);

	if (!link)
		return -ENOTCONN;
	return ddio_conn_send(link->conn, &msg, payload, len, NULL, 0, NULL);
}

/* Bytes on their way out that nobody else needs. */
struct peer_bytes {
	struct ddio_send send;
	void *owned;
};

static void bytes_left(struct ddio_send *send, int err)
{
	struct peer_bytes *bytes = ddio_container_of(send, struct peer_bytes, send);

	(void)err;
	free(bytes->owned);
	free(bytes);
}

int peer_send_owned(struct ddio_group *group, uint32_t rank, uint16_t opcode, const void *fixed,
		    size_t fixed_len, void *owned, const void *data, size_t len)
{
	struct ddio_msg msg = { .opcode = opcode };
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
	struct link *link = peer_neighbour(group, rank);
	struct peer_bytes *bytes = calloc(1, sizeof(*bytes));
	int err = link ? -ENOMEM : -ENOTCONN;

	if (link && bytes) {
		bytes->send.done = bytes_left;
		bytes->owned = owned;
		err = ddio_conn_send(link->conn, &msg, fixed, fixed_len, &iov, 1, &bytes->send);
	}
	if (err) {
		free(owned);
		free(bytes);
	}
	return err;
}

static bool link_check(struct link *link, bool owes)
{
	struct ddio_session *s = link->peer->group->session;

	return link->conn && link->ready &&
	       ddio_alive_check(s->env, s->timeout_ns, &link->alive, link->conn, owes);
}

void peers_check(struct ddio_group *group, bool owes)
{
	struct peer *peer;
	struct ddio_hash_walk walk;

	ddio_hash_for_each(peer, &walk, &group->peers, node) {
		bool any = owes && peer_needed(group, peer->rank);

		if (!link_check(&peer->out, any) && !link_check(&peer->in, any))
			continue;
		peer_lost(group, peer->rank, "it does not answer");
		return;
	}
}

size_t peers_queued(const struct ddio_group *group)
{
	struct peer *p;
	size_t queued = 0;
	struct ddio_hash_walk walk;

	ddio_hash_for_each(p, &walk, &group->peers, node) {
		queued += p->out.conn ? ddio_conn_queued(p->out.conn) : 0;
		queued += p->in.conn ? ddio_conn_queued(p->in.conn) : 0;
	}
	return queued;
}
