/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several requests at once, and one answer when all are answered. */
#ifndef DDIO_CP_REQUEST_SET_H
#define DDIO_CP_REQUEST_SET_H

#include "cp/node/lane.h"

/**
 * struct request_set - the caller owns the memory until @done
 * @what: for messages: what was being done
 * @left: requests that are not answered, and one while they are being added
 * @missing_ok: what is not there is as good as done
 * @error: the first failure
 * @reply: of each success, may be NULL; @key is the request's; an error that it sets counts
 * @done: all are answered
 */
struct request_set {
	struct ddio_session *session;
	const char *what;
	uint32_t left;
	bool missing_ok;
	struct error error;
	void (*reply)(struct request_set *set, uint64_t key, const struct reply *reply,
		      struct error *error);
	void (*done)(struct request_set *set);
	void *arg;
};

void request_set_begin(struct request_set *set, struct ddio_session *session, const char *what,
		       void (*done)(struct request_set *set), void *arg);
/* An object request to the reactor of @obj->disk.  @key: for @reply. */
void request_set_disk(struct request_set *set, uint16_t opcode, const struct ddio_msg_obj *obj,
		      uint64_t key);
/* Any request to one lane; the payload is copied. */
void request_set_lane(struct request_set *set, struct lane *lane, uint16_t opcode,
		      const void *payload, size_t len, uint64_t key);
void request_set_fail(struct request_set *set, int err, const char *why);
/* No more requests: @done comes when those that were added are answered, maybe inside. */
void request_set_end(struct request_set *set);

#endif /* DDIO_CP_REQUEST_SET_H */
