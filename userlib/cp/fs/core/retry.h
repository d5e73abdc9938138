/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests that were not answered: whether they are made again, and when. */
#ifndef DDIO_CP_FS_RETRY_H
#define DDIO_CP_FS_RETRY_H

#include "cp/fs/core/core.h"

/**
 * struct fsc_retry - a rest before something is done again; all zero at first
 * @tries: how often it has been made so far
 */
struct fsc_retry {
	struct ddio_timer timer;
	struct ddio_list link;
	struct fsc_reactor *r;
	void (*fn)(struct fsc_retry *retry);
	uint32_t tries;
};

/* Calls @fn after a rest, or as soon as the file system ends. */
void fsc_retry_later(struct fsc_reactor *r, struct fsc_retry *retry,
		     void (*fn)(struct fsc_retry *retry));
/* The file system ends: calls everything that rests. */
void fsc_retries_end(struct fsc_reactor *r);

/* Returns true if no one answered: the request may succeed if it is made again. */
bool fsc_status_unanswered(uint32_t status);
/* Notes that the node did not answer.  Returns true if the request should be made again. */
bool fsc_node_retry(struct fsc_reactor *r, uint32_t node);
/* Notes that the node answered. */
void fsc_node_answered(struct fsc_reactor *r, uint32_t node);
/* Notes that the node does not answer, and has not for so long, unless that was known. */
void fsc_node_down(struct fsc_reactor *r, uint32_t node, uint64_t silent);
/* Returns how long it has not answered while this process looked; 0: it answers. */
uint64_t fsc_node_silent(struct fsc_reactor *r, uint32_t node);

#endif /* DDIO_CP_FS_RETRY_H */
