// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encoded messages, which one or more nodes get: whole, or as what differs from what they got before. */
#include <errno.h>
#include <stdlib.h>
#include "cp/coll/dd/priv.h"

/* One node's. */
struct dd_message_send {
	struct ddio_send send;
	struct dd_message *message;
	struct ddio_past_code code;
};

struct dd_message *dd_message_new(size_t len)
{
	struct dd_message *message = malloc(sizeof(*message) + len);

	if (!message)
		return NULL;
	message->refs = 1;
	message->len = len;
	return message;
}

void dd_message_put(struct dd_message *message)
{
	if (!--message->refs)
		free(message);
}

static void message_sent(struct ddio_send *send, int err)
{
	struct dd_message_send *ms = ddio_container_of(send, struct dd_message_send, send);

	(void)err;
	dd_message_put(ms->message);
	free(ms);
}

int dd_message_send(struct lane *lane, uint16_t opcode, uint64_t number, struct dd_message *message,
		    struct ddio_past *past, uint64_t *sent)
{
	struct dd_message_send *ms = malloc(sizeof(*ms));
	struct iovec iov[2];
	int n = 0, err;

	if (!ms)
		return -ENOMEM;
	ms->send.done = message_sent;
	ms->message = message;
	message->refs++;
	ms->code.whole = true;
	if (past) {
		ddio_past_put(past, message->data, message->len, &ms->code);
		iov[n++] = (struct iovec){ ms->code.bytes, ms->code.len };
		*sent += ms->code.len;
	}
	if (ms->code.whole) {
		iov[n++] = (struct iovec){ message->data, message->len };
		*sent += message->len;
	}
	err = lane_send(lane, opcode, number, NULL, 0, iov, n, &ms->send);
	if (err)
		message_sent(&ms->send, err);
	return err;
}

struct dd_asked *dd_asked_get(struct lane *lane, const struct lane_user *user)
{
	void **state = lane_state(lane, user);

	if (!*state)
		*state = calloc(1, sizeof(struct dd_asked));
	return *state;
}

void dd_asked_forget(struct lane *lane, const struct lane_user *user)
{
	struct dd_asked *asked = *lane_state(lane, user);

	if (asked)
		ddio_past_clear(&asked->past);
}

void dd_asked_free(void *state)
{
	struct dd_asked *asked = state;

	ddio_past_clear(&asked->past);
	free(asked);
}
