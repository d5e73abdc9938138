/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the room. */
#ifndef DDIO_OPS_USER_PRIV_H
#define DDIO_OPS_USER_PRIV_H

#include "iop/ops/user/users.h"

/* say.c */
int take_user(struct client *client, const struct ddio_msg *msg, const void *payload);
void user_client_gone(struct client *client);

/*
 * reach.c: finds an inode by its number if the user has come to it: 0, -ESTALE, -EACCES.  inode_free() in any case.
 */
int user_reach(const struct server_request *req, uint64_t ino, struct inode *inode);
/* Whether the user has one of these rights, by a grant or by the mode. */
int user_may_use(const struct server_request *req, const struct inode *inode, uint32_t grants);

/* may_attr.c */
int may_setattr(const struct server_request *req, const struct ddio_who *who, const void *payload);
int may_getxattr(const struct server_request *req, const struct ddio_who *who, const void *payload);
int may_setxattr(const struct server_request *req, const struct ddio_who *who, const void *payload);

#endif /* DDIO_OPS_USER_PRIV_H */
