/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which files connections of libddio may write to.  They take no leases: their bytes may lie beyond a file's end before the name
 * server hears of them.  So a mount must not cut off what lies there while such a connection lives, and whoever was not known
 * when a file was cut, since its connection or the node began anew, is told that its bytes may be gone.  Reactor 0's.
 */
#ifndef DDIO_OPS_PATH_OPEN_H
#define DDIO_OPS_PATH_OPEN_H

#include "iop/server/request.h"

/* The connection has been told how the file is spread, and may write to it until it ends. */
void path_opened(const struct server_request *req, uint64_t ino);
/* Returns true if any connection may write to the file. */
bool path_is_open(const struct ddio_iop *iop, uint64_t ino);
/* What lies beyond the file's end is about to be cut off. */
void path_cut(struct ddio_iop *iop, uint64_t ino);
/* Returns true if what the connection has written beyond the file's end may have been cut off. */
bool path_was_cut(const struct server_request *req, uint64_t ino);
void path_client_gone(struct client *client);
/* The node ends. */
void path_cuts_free(struct ddio_iop *iop);

#endif /* DDIO_OPS_PATH_OPEN_H */
