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
void user_tell_inode(const struct server_request *req, const struct inode *inode);

#endif /* DDIO_OPS_USERS_H */
