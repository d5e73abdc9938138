/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Connections say whose they are, and clients are told what their users may do with files. */
#ifndef DDIO_OPS_USERS_H
#define DDIO_OPS_USERS_H

#include "iop/ns/ns.h"
#include "iop/server/request.h"
#include "iop/server/service.h"

extern const struct server_service user_service;

/* Returns the request's user, for the name space; NULL: everything is permitted. */
const struct ddio_who *user_of(const struct server_request *req);
/* Returns true if the user has a grant for one of @rights. */
bool user_has(const struct server_request *req, uint64_t file, uint32_t rights);
/* Tells the client, before the reply, that its user has these rights; nothing if users are not told apart. */
void user_tell(const struct server_request *req, uint64_t file, uint32_t rights);
/* Tells the client what its user may do with the file. */
void user_tell_inode(const struct server_request *req, struct inode *inode);
/* The same, but what the client has a grant for that says more stays: the file may be open since it was made. */
void user_opened(const struct server_request *req, struct inode *inode);
/* New inodes belong to the user, and to one of the user's groups. */
void user_owns(const struct server_request *req, struct ddio_msg_fs_make *make);
/* Tells the client of one that it has made, or found; it may ask about it from now on. */
void user_made(const struct server_request *req, struct inode *inode, bool made);

/* may.c: returns true if the user may not ask this of the name space by numbers of inodes; then the request is over. */
bool user_denied(struct server_request *req, const void *payload);
/* Whether the user has come to a directory, and has these rights there, NS_MAY_*: 0 or -errno. */
int user_may_dir(const struct server_request *req, uint64_t dir, uint32_t want);
/* What is checked of a rename: 0 or -errno. */
int user_check_rename(const struct server_request *req, const struct ddio_msg_fs_rename *x);
/* reach.c: the user is shown an inode, and may ask about it by its number for a while. */
void user_saw_inode(const struct server_request *req, uint64_t ino, uint32_t mode);

#endif /* DDIO_OPS_USERS_H */
