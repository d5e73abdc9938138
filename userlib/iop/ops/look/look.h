/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a node knows of itself: its status, what clients may take of it, what jobs have asked for, and what it has cached. */
#ifndef DDIO_OPS_LOOK_H
#define DDIO_OPS_LOOK_H

#include "iop/server/gather.h"
#include "iop/server/opts.h"
#include "iop/server/request.h"
#include "iop/server/service.h"

int serve_ping(struct server_request *req, const void *payload);
int serve_status(struct server_request *req, const void *payload);
int serve_bounds(struct server_request *req, const void *payload);
int serve_jobs(struct server_request *req, const void *payload);
int serve_show(struct server_request *req, const void *payload);
extern const struct server_service trace_service;
int take_job(struct client *client, const struct ddio_msg *msg, const void *payload);
int take_wrong(struct client *client, const struct ddio_msg *msg, const void *payload);
/* See ddio_iop_look(). */
int ops_look(struct ddio_iop *iop, ddio_iop_look_fn fn, void *arg);

/*
 * The answers, for clients (STATUS, BOUNDS, JOBS) and within the daemon (ddio_iop_look()).  Called on the
 * reactor that asked; what they get is valid until they return.
 */
typedef void (*status_fn)(void *arg, const struct ddio_msg_status *st);
typedef void (*bounds_fn)(void *arg, const struct ddio_msg_bounds *bounds);
typedef void (*jobs_fn)(void *arg, const struct ddio_msg_jobs *jobs);
/* Ask for the node's status, bounds or jobs, on the loop of @home.  Return: 0, or -ENOMEM and @done is not called. */
int status_ask(struct reactor *home, status_fn done, void *arg);
int bounds_ask(struct reactor *home, bounds_fn done, void *arg);
int jobs_ask(struct reactor *home, jobs_fn done, void *arg);

#endif /* DDIO_OPS_LOOK_H */
