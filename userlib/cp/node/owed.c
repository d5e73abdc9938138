// SPDX-License-Identifier: LGPL-2.1-or-later
/* Answers that were lost. */
#include <errno.h>
#include <stdlib.h>
#include "cp/node/request.h"

/* Requests asked about at once; if more are old, the next question goes on behind them. */
#define OWED_MAX 512u

static int by_tag(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns how many tags of old requests are in @tags now. */
static uint32_t old_tags(struct lane *lane, uint64_t now, uint64_t tags[OWED_MAX])
{
	uint64_t bound = lane->node->session->timeout_ns / 3;
	uint32_t i, k, n = 0;

	for (k = 0; k < lane->ntags && n < OWED_MAX; k++) {
		i = (lane->ask_from + k) % lane->ntags;
		if (lane->tags[i].busy && now - lane->tags[i].since >= bound)
			tags[n++] = tag_of(lane, i);
	}
	lane->ask_from = lane->ntags ? (lane->ask_from + k) % lane->ntags : 0;
	qsort(tags, n, sizeof(*tags), by_tag);
	return n;
}

void owed_check(struct lane *lane)
{
	const struct ddio_session *s = lane->node->session;
	struct ddio_msg msg = { .opcode = DDIO_OP_OWED };
	uint64_t now = ddio_env_now(s->env), tags[OWED_MAX];
	uint8_t buf[8 + sizeof(tags)];
	struct ddio_msg_tags x = { .tags = tags };
	ssize_t len;

	if (now - lane->asked < s->timeout_ns / 3)
		return;
	x.n = old_tags(lane, now, tags);
	if (!x.n)
		return;
	len = ddio_put_tags(buf, sizeof(buf), &x);
	/* What cannot be sent now is asked at the watchdog's next turn. */
	if (len > 0 && !ddio_conn_send(lane->conn, &msg, buf, (size_t)len, NULL, 0, NULL))
		lane->asked = now;
}

static void answer_lost(struct lane *lane, const struct node_request *request)
{
	struct error error;

	error_status(&error, DDIO_ST_NODE_LOST, "node %s (%s): the answer to %s was lost",
		     LANE_NAMES(lane), ddio_opcode_name(request->opcode));
	lane_fail(lane, &error);
}

int owed_reply(struct lane *lane, const struct ddio_msg *msg, const void *payload)
{
	const struct node_request *request = NULL;
	struct ddio_msg_tags x;
	uint32_t i;

	/* The node had no memory for the question; it is asked again. */
	if (msg->status)
		return 0;
	if (ddio_get_tags(payload, msg->length, &x))
		return -EPROTO;
	for (i = 0; i < x.n && !request; i++) {
		struct lane_tag *entry = tag_find(lane, x.tags[i]);

		if (entry && !entry->request)
			tag_put(lane, (uint32_t)x.tags[i] - 1);
		else if (entry)
			request = entry->request;
	}
	ddio_msg_tags_free(&x);
	if (request)
		answer_lost(lane, request);
	return 0;
}
