/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Users, where the cluster tells them apart: each connection says whose it is, and shows what the name space has said
 * that this user may do with a file before it asks for anything of it.
 */
#ifndef DDIO_CP_GRANTS_H
#define DDIO_CP_GRANTS_H

#include "base/hash.h"
#include "cp/node/lane.h"

/**
 * struct kept_grant - what the user may do with a file
 * @link: in grants.spare while no file is open, else in grants.open
 * @serial: of this one, among all of the session
 * @holds: how often the file is open
 * @got_ns: when it came, on the wall's clock
 * @renewing: @request is under way
 */
struct kept_grant {
	struct ddio_hash_node node;
	struct ddio_list link;
	struct ddio_session *session;
	struct ddio_msg_grant msg;
	uint64_t serial, got_ns;
	uint32_t holds;
	bool renewing;
	struct node_request request;
};

/**
 * struct grants - of a session
 * @spare: the least lately used first, @nspare of them
 * @timer: runs while a file is open
 */
struct grants {
	struct ddio_hash by_file;
	struct ddio_list open, spare;
	uint32_t nspare;
	uint64_t serial;
	struct ddio_timer timer;
};

/* The name space has granted something: keeps it.  Return: 0 or -errno for the connection. */
int grant_take(struct lane *lane, const void *payload, size_t len);
/* Shows the grant for the file, if there is one that the node does not know yet. */
void grant_show(struct lane *lane, uint64_t file);

/* A file is open: its grant is renewed until grant_drop().  Returns false if there is none. */
bool grant_hold(struct ddio_session *session, uint64_t file);
void grant_drop(struct ddio_session *session, uint64_t file);
/* Returns true if the session has a grant for the file, or needs none. */
bool grant_there(const struct ddio_session *session, uint64_t file);

/* Returns how long a grant lasts. */
uint64_t grant_life(const struct kept_grant *k);
/* Calls ddio_session.renew when the grant whose life is the shortest may have to be renewed. */
void grants_look_later(struct ddio_session *session);
/* renew.c: has grants of the session renewed from now on. */
void renew_begin(struct ddio_session *session);

void grants_close(struct ddio_session *session);
void grants_free(struct ddio_session *session);

#endif /* DDIO_CP_GRANTS_H */
