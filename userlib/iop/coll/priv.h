/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The executor, above slots: how a collective begins and lives (start.c, planning.c, coll.c, watch.c),
 * and what its members say (attach.c, piece.c, joint.c).
 */
#ifndef DDIO_COLL_PRIV_H
#define DDIO_COLL_PRIV_H

#include "iop/coll/slot/slot.h"

/* coll.c */
/* Begins the collective on the reactor; takes over the reference that came with @to. */
void coll_begin(struct coll_to *to);

/* start.c */
/* Makes the map of @n families, and checks it: 0, or a negative errno with the verdict. */
int coll_req_map(struct coll_req *req, const struct ddio_kin *kin, uint32_t n, struct verdict *v);
/* Hands the request to the reactors that take part. */
void coll_req_hand_out(struct coll_req *req);
/* Ends what has not begun: all members of the group are told. */
void coll_req_refuse(const struct coll_req *req, struct coll_group *group, const struct verdict *v);

/* watch.c */
/* Returns the time limit of a request: the client's wish within the node's bounds. */
uint64_t coll_time_limit(const struct reactor *reactor, const struct coll_req *req);

/* spread.c */
/* Asks the members of the group for their descriptions, and begins when all have told.  Takes a reference. */
void coll_spread_begin(struct coll_req *req, struct coll_group *group);
/* Ends what waits in the group, or only the operation @op, unless that is 0. */
void coll_spreads_end(struct coll_group *group, uint64_t op, const struct verdict *v);
int coll_told(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_told_large(struct client *client);
int coll_go(struct client *client, const struct ddio_msg *msg, const void *payload);

/* planning.c */
/* Makes block lists for a while.  OVER: all are made, or the collective has failed; WAITS: it gets a turn. */
enum coll_planned { COLL_PLAN_OVER, COLL_PLAN_MORE, COLL_PLAN_WAITS };
enum coll_planned coll_plan(struct coll *coll);

/* watch.c */
void coll_watch_begin(struct coll *coll);
void coll_watch_end(struct coll *coll);

/* share.c */
/* Has the collective use shared buffers if some member has them. */
void coll_share_use(struct coll *coll);

/* joint.c */
/* Returns true if some disk of the node scatters. */
bool coll_some_disk_scatters(const struct ddio_iop *iop);
/* Notes in the request which members have joined, before it is handed out. */
void coll_req_join(struct coll_req *req, struct coll_group *group);

/*
 * Handlers, see struct server_op.
 */
int coll_attach(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_detach(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_start(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_again(struct client *client, const struct ddio_msg *msg, const void *payload);
/* A long one is received from members only. */
int coll_start_large(struct client *client);
int coll_piece_bulk(struct client *client, const struct ddio_msg *msg, const void *prefix,
		    size_t prefix_len, struct ddio_sink *sink);
int coll_piece(struct client *client, const struct ddio_msg *msg, const void *prefix);
int coll_abort(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_joint(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_join(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_share(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_share_taken(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_copied(struct client *client, const struct ddio_msg *msg, const void *payload);

/*
 * What the service is told, see struct server_service.
 */
void coll_init(struct reactor *reactor);
/* Ends every collective of the reactor; returns at once. */
void coll_stop(struct reactor *reactor);
bool coll_idle(const struct reactor *reactor);
void coll_exit(struct reactor *reactor);
/* The connection's members are lost; their collectives end with MEMBER_LOST. */
void coll_client_lost(struct client *client);
/* The connection's members have made progress. */
void coll_client_drained(struct client *client);

#endif /* DDIO_COLL_PRIV_H */
