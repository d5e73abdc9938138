/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several requests at once, with one end when all are answered. */
#ifndef DDIO_CP_REQUEST_SET_H
#define DDIO_CP_REQUEST_SET_H

#include "cp/node/lane.h"

/**
 * struct request_set - the caller owns the memory until @done
 * @what: for messages: what is being done
 * @left: requests without an answer, and one more until request_set_end()
 * @missing_ok: DDIO_ST_NOT_FOUND counts as success
 * @error: the first failure
 * @reply: called for each success, with the request's @key; may set @error; may be NULL
 * @done: called when all are answered
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
/* Adds an object request to the reactor of @obj->disk.  @key: for @reply. */
void request_set_disk(struct request_set *set, uint16_t opcode, const struct ddio_msg_obj *obj,
		      uint64_t key);
/* Adds any request to the reactor of a disk; the payload is copied. */
void request_set_any(struct request_set *set, uint16_t opcode, uint32_t disk, const void *payload,
		     size_t len, uint64_t key);
/* Adds any request to one lane; the payload is copied. */
void request_set_lane(struct request_set *set, struct lane *lane, uint16_t opcode,
		      const void *payload, size_t len, uint64_t key);
void request_set_fail(struct request_set *set, int err, const char *why);
/* Ends the adding: @done comes when all are answered, maybe before this returns. */
void request_set_end(struct request_set *set);

#endif /* DDIO_CP_REQUEST_SET_H */
