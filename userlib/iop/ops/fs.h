/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the handlers of requests about the name space are told, and what they share. */
#ifndef DDIO_FS_OPS_H
#define DDIO_FS_OPS_H

#include "iop/ops/fs_reply.h"

/* fs_lock.c: the name space is open; a reactor stops. */
void fs_node_start(struct ddio_iop *iop);
void fs_reactor_stop(struct reactor *reactor);
/* Returns false while waits for locks or leases are to be tried. */
bool fs_reactor_idle(const struct reactor *reactor);
/* fs_file.c: a connection ends. */
void fs_client_gone(struct client *client);
/* fs_epoch.c: a connection ends: what it has not decided is aborted. */
void fs_epochs_gone(struct client *client);
/* Returns true while an epoch of the file is not decided. */
bool fs_epoch_is_open(const struct server_request *req, uint64_t ino);
/* fs_file.c: returns true while another mount takes back the file's end after an append that failed. */
bool fs_end_is_locked(const struct server_request *req, uint64_t ino);

/*
 * fs_lease.c
 */
typedef int (*fs_serve)(struct server_request *req, const void *payload);
/* Serves the request, when no other mount has the lease of an inode that it is about. */
int fs_unleased(struct server_request *req, const void *payload, fs_serve serve);
/* Returns true if the request, which lists entries with attributes, waits for a lease and will be served again. */
bool fs_listing_waits(struct server_request *req, const void *payload, fs_serve serve,
		      const struct ddio_msg_fs_entries *x);
/*
 * Returns 0 unless the mount says that it wrote under a lease that it has lost, and the inode has changed since: -ECANCELED, or
 * -EALREADY if it has said the same before, and it was taken.
 */
int fs_lease_wrote(const struct server_request *req, const struct ddio_msg_fs_wrote *x);
/* The mount gives back its lease; @lease 0: whichever it has of the inode. */
void fs_lease_end(const struct server_request *req, uint64_t ino, uint64_t lease);
/* The name space is open; a mount ends; the reactor stops. */
void fs_leases_start(struct ddio_iop *iop);
bool fs_leases_lost(struct ddio_iop *iop, struct ns_mount *mount, uint64_t *steps);
void fs_leases_stop(struct reactor *reactor);

#endif /* DDIO_FS_OPS_H */
