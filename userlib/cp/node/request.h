/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between a lane's connection and the requests that it carries. */
#ifndef DDIO_CP_REQUEST_H
#define DDIO_CP_REQUEST_H

#include "cp/node/lane.h"

int ddio_lane_up(struct ddio_lane *lane, struct ddio_error *error);
/* The lane is ready: send what waits for it. */
void ddio_requests_start(struct ddio_lane *lane);
/* The node is known: send what waits for that. */
void ddio_requests_route(struct ddio_node *node);
/* The lane is lost: every request of it ends. */
void ddio_requests_fail(struct ddio_lane *lane, const struct ddio_error *error);
/* Ends every request of @list. */
void ddio_requests_end(struct ddio_list *list, const struct ddio_error *error);
/* A reply with bulk, and a reply. */
int ddio_request_bulk(struct ddio_lane *lane, const struct ddio_msg *msg, const void *prefix,
		      size_t prefix_len, struct ddio_sink *sink);
int ddio_request_reply(struct ddio_lane *lane, const struct ddio_msg *msg, const void *payload);

#endif /* DDIO_CP_REQUEST_H */
