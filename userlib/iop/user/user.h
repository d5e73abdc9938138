/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Users of connections, where the cluster tells them apart (users = munge), and what they may do: who somebody is
 * (struct ddio_who), what may be asked for by whom (enum iop_access), and grants, by which the name space tells the
 * I/O processors what a user may do with a file.
 */
#ifndef DDIO_IOP_USER_H
#define DDIO_IOP_USER_H

#include <stdbool.h>
#include "conn/conn.h"
#include "iop/user/who.h"
#include "proto/proto.h"

/* Who may ask for something; the first is for whatever nobody has thought about. */
enum iop_access {
	ACCESS_ROOT, /* root of the cluster, and daemons */
	ACCESS_ANY,  /* connections without a user, too */
	ACCESS_USER, /* every user; the handler checks what in particular */
	ACCESS_READ, /* whoever has a grant for the file, whose number comes first in the payload */
	ACCESS_WRITE,  /* a grant to write */
	ACCESS_FILE,   /* a grant to read or to write */
	ACCESS_REMOVE, /* a grant to remove */
};

enum iop_user_state { USER_UNKNOWN, USER_ASKED, USER_KNOWN };

/**
 * struct iop_grant - what the user may do with a file; @file 0: there is none here
 */
struct iop_grant {
	uint64_t file, until_ns;
	uint32_t rights;
};

/* So many inodes that are no directories are remembered of those that a connection's user was shown, by fours. */
#define USER_SEEN 4096

/**
 * struct iop_seen - an inode that the user was shown, by a way that was open; @ino 0: none
 */
struct iop_seen {
	uint64_t ino, until_ns;
};

/**
 * struct iop_user - the user of a connection
 * @root: may do everything
 * @why: UNKNOWN: why it is, "" if nothing was said yet
 * @grants: that of a file at its number modulo the number of places
 * @seen: USER_SEEN of them, or NULL
 */
struct iop_user {
	enum iop_user_state state;
	bool root;
	struct ddio_who who;
	char why[160];
	struct iop_grant grants[DDIO_GRANT_PLACES];
	struct iop_seen *seen;
};

/* NULL without memory. */
struct iop_user *user_new(void);
void user_free(struct iop_user *user);

/* Makes a grant and signs it.  Returns false without memory. */
bool grant_sign(const struct ddio_key *key, struct ddio_msg_grant *grant);
/* Returns true if a node of the cluster has signed it. */
bool grant_genuine(const struct ddio_key *key, const struct ddio_msg_grant *grant);
/* Computes what a daemon says of itself: see DDIO_USER_SERVER. */
bool server_sign(const struct ddio_key *key, const uint8_t tie[DDIO_PROOF_LEN],
		 uint8_t mac[DDIO_MAC_LEN]);
/*
 * Seal what a node says of one of its disks, and what the name space says, in life @names and with its last change @change, of a
 * disk that it has met: clients carry
 * both, and of those of users nothing else counts.  Without memory the seal is not genuine.
 */
void disk_seal(const struct ddio_key *key, struct ddio_disk_id *id);
bool disk_genuine(const struct ddio_key *key, const struct ddio_disk_id *id);
void disk_met_seal(const struct ddio_key *key, struct ddio_disk_id *id, uint64_t names,
		   uint64_t change);
bool disk_met_genuine(const struct ddio_key *key, const struct ddio_disk_id *id, uint64_t names,
		      uint64_t change);
/* A daemon that connects to another has no user: it shows that it has their key.  If that fails, it will be refused. */
void server_show(const struct ddio_key *key, struct ddio_conn *conn);

/* Remembers a grant if it is genuine and the user's: returns false if not. */
bool user_grant(struct iop_user *user, const struct ddio_key *key,
		const struct ddio_msg_grant *grant);
/* Returns true if the user may do one of @rights with the file at this time. */
bool user_may(const struct iop_user *user, uint64_t file, uint32_t rights, uint64_t now_ns);
/* Returns true if a grant for the file was shown, even one that has expired. */
bool user_knows(const struct iop_user *user, uint64_t file);
/* seen.c: the user is shown an inode; without memory that is forgotten at once. */
void user_see(struct iop_user *user, uint64_t ino, uint64_t until_ns);
bool user_saw(const struct iop_user *user, uint64_t ino, uint64_t now_ns);
/*
 * Decides about a message: 0 or -EACCES, then @why is a text for people.  @user: NULL: the connection has said nothing.
 * @payload: as far as it is there, @len bytes.
 */
int user_access(const struct iop_user *user, enum iop_access access, const void *payload,
		size_t len, uint64_t now_ns, const char **why);

#endif /* DDIO_IOP_USER_H */
