/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the handlers of requests about the name space are told, and what they share. */
#ifndef DDIO_FS_OPS_H
#define DDIO_FS_OPS_H

#include "iop/ops/fs_reply.h"

/* fs_lock.c: the name space is open; a reactor stops. */
void fs_node_start(struct ddio_iop *iop);
void fs_reactor_stop(struct reactor *reactor);
/* Returns false while waits for locks are to be tried. */
bool fs_reactor_idle(const struct reactor *reactor);
/* fs_file.c: a connection ends. */
void fs_client_gone(struct client *client);

#endif /* DDIO_FS_OPS_H */
