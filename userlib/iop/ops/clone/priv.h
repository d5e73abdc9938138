/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the room. */
#ifndef DDIO_CLONE_PRIV_H
#define DDIO_CLONE_PRIV_H

#include "iop/ops/clone/clones.h"
#include "iop/store/epoch.h"

struct clone_hold;

/* hold.c */
int serve_obj_hold(struct server_request *req, const void *payload);
/* Finds what has the file for itself under this number; NULL: nothing, or not yet, or no longer. */
struct clone_hold *clone_hold_find(const struct iop_disk *disk, uint64_t file, uint64_t number);
/* Holds the object of the request's disk, which has no other user, without a limit; NULL: no memory. */
struct clone_hold *clone_hold_new(struct server_request *req, struct object *obj);
/* Returns its object. */
struct object *clone_hold_object(const struct clone_hold *h);
void clone_hold_end(struct clone_hold *h);
/* The reactor stops: ends all. */
void clone_holds_stop(struct reactor *reactor);

/* blocks.c */
int serve_obj_clone(struct server_request *req, const void *payload);

/* names.c */
int serve_ns_clone(struct server_request *req, const void *payload);
int serve_ns_cloned(struct server_request *req, const void *payload);
void clone_names_gone(struct client *client);

/* reap.c: a clone stays without a name, and its maker may be gone: after a while it is removed. */
void clone_reap(struct reactor *reactor, uint64_t ino);
void clone_reaper_init(struct reactor *reactor);
/* The node has started: what an earlier run of it may have left is removed, two timeouts later. */
void clone_reaper_start(struct ddio_iop *iop);
void clone_reaper_stop(struct reactor *reactor);
bool clone_reaper_idle(const struct reactor *reactor);
void clone_reaper_exit(struct reactor *reactor);

#endif /* DDIO_CLONE_PRIV_H */
