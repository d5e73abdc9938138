/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The requests of a lane, as lanes and nodes see them. */
#ifndef DDIO_CP_REQUEST_H
#define DDIO_CP_REQUEST_H

#include "cp/node/lane.h"

/* Sends a request on a lane that is ready; one that cannot be sent ends. */
void request_submit(struct lane *lane, struct node_request *request);
/* Ends a request that was not sent, or whose lane is lost. */
void request_fail(struct node_request *request, const struct error *error);
/* Sends the requests that waited for the lane to be ready. */
void requests_start(struct lane *lane);
/* Ends every request of a lost lane. */
void requests_fail(struct lane *lane, const struct error *error);
/* Ends every request of @list. */
void requests_end(struct ddio_list *list, const struct error *error);
/* Handles the bulk of a reply, and a reply. */
int request_bulk(struct lane *lane, const struct ddio_msg *msg, const void *prefix,
		 size_t prefix_len, struct ddio_sink *sink);
int request_reply(struct lane *lane, const struct ddio_msg *msg, const void *payload);

/*
 * tag.c: an index and the count of its uses.  It stays busy until its answer has come, even if the request was
 * cancelled meanwhile, so that a late answer finds no other request.
 */

/* Takes an index for @request.  Return: 0 or -ENOMEM. */
int tag_take(struct lane *lane, struct node_request *request, uint64_t *tag);
void tag_put(struct lane *lane, uint32_t i);
uint64_t tag_of(const struct lane *lane, uint32_t i);
/* Returns the busy index that @tag means, or NULL. */
struct lane_tag *tag_find(struct lane *lane, uint64_t tag);

/*
 * owed.c: answers that were lost on a connection that lives.  The watch asks the node about requests that are old,
 * whatever else the lane hears; a request that the node does not know either has lost its answer.
 */

/* Asks about old requests if it is time to.  Called by the watchdog. */
void owed_check(struct lane *lane);
/* Handles the reply: ends the lane if an answer was lost for which somebody waits.  Return: 0 or -EPROTO. */
int owed_reply(struct lane *lane, const struct ddio_msg *msg, const void *payload);

#endif /* DDIO_CP_REQUEST_H */
