/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several requests at once, and one answer when all are answered. */
#ifndef DDIO_CP_BATCH_H
#define DDIO_CP_BATCH_H

#include "cp/node/lane.h"

/**
 * struct ddio_batch - the caller owns the memory until @done
 * @what: for messages: what was being done
 * @left: requests that are not answered, and one while they are being added
 * @missing_ok: what is not there is as good as done
 * @error: the first failure
 * @reply: of each success, may be NULL; @key is the request's; an error that it sets counts
 * @done: all are answered
 */
struct ddio_batch {
	struct ddio_session *session;
	const char *what;
	uint32_t left;
	bool missing_ok;
	struct error error;
	void (*reply)(struct ddio_batch *batch, uint64_t key, const struct reply *reply,
		      struct error *error);
	void (*done)(struct ddio_batch *batch);
	void *arg;
};

void batch_begin(struct ddio_batch *batch, struct ddio_session *session, const char *what,
		 void (*done)(struct ddio_batch *batch), void *arg);
/* An object request to the reactor of @obj->disk.  @key: for @reply. */
void batch_disk(struct ddio_batch *batch, uint16_t opcode, const struct ddio_msg_obj *obj,
		uint64_t key);
/* Any request to one lane; the payload is copied. */
void batch_lane(struct ddio_batch *batch, struct lane *lane, uint16_t opcode, const void *payload,
		size_t len, uint64_t key);
void batch_fail(struct ddio_batch *batch, int err, const char *why);
/* No more requests: @done comes when those that were added are answered, maybe inside. */
void batch_end(struct ddio_batch *batch);

#endif /* DDIO_CP_BATCH_H */
