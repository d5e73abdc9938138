/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between a lane's connection and the requests that it carries. */
#ifndef DDIO_CP_REQUEST_H
#define DDIO_CP_REQUEST_H

#include "cp/node/lane.h"

int lane_up(struct lane *lane, struct error *error);
/* The lane is ready: send what waits for it. */
void requests_start(struct lane *lane);
/* The node is known: send what waits for that. */
void requests_route(struct cluster_node *node);
/* The lane is lost: every request of it ends. */
void requests_fail(struct lane *lane, const struct error *error);
/* Ends every request of @list. */
void requests_end(struct ddio_list *list, const struct error *error);
/* A reply with bulk, and a reply. */
int request_bulk(struct lane *lane, const struct ddio_msg *msg, const void *prefix,
		 size_t prefix_len, struct ddio_sink *sink);
int request_reply(struct lane *lane, const struct ddio_msg *msg, const void *payload);

#endif /* DDIO_CP_REQUEST_H */
