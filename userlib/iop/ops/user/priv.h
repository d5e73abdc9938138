/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the room. */
#ifndef DDIO_OPS_USER_PRIV_H
#define DDIO_OPS_USER_PRIV_H

#include "iop/ops/user/users.h"

/* say.c */
int take_user(struct client *client, const struct ddio_msg *msg, const void *payload);
void user_client_gone(struct client *client);

#endif /* DDIO_OPS_USER_PRIV_H */
