// SPDX-License-Identifier: LGPL-2.1-or-later
/* Scrubs: begun, ended and looked at on every disk at once. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cp/file/ask.h"

/**
 * struct scrub_question - what every disk is told: DDIO_SCRUB_ASK_*, and bytes a second
 */
struct scrub_question {
	struct question ask;
	uint32_t flags;
	uint64_t rate;
};

static int scrub_put(const struct question *ask, uint32_t i, struct node_request *request)
{
	const struct scrub_question *q = ddio_container_of(ask, struct scrub_question, ask);
	const struct ddio_msg_scrub_ask said = { .disk = i, .flags = q->flags, .rate = q->rate };

	return request_put(request, scrub_ask, &said);
}

static int scrub_get(struct node_answer *answer, const struct reply *reply)
{
	return ddio_get_scrub(reply->payload, reply->len, &answer->said.scrub);
}

static void state_fill(const struct ddio_session *s, uint32_t i, const struct node_answer *a,
		       struct ddio_scrub_state *st)
{
	const struct ddio_conf_disk *disk = &s->conf->disks[i];

	memset(st, 0, sizeof(*st));
	snprintf(st->name, sizeof(st->name), "%s", disk->name);
	snprintf(st->node, sizeof(st->node), "%s", s->conf->nodes[disk->node].name);
	snprintf(st->reason, sizeof(st->reason), "%s", a->reason);
	st->disk = i;
	st->error = a->error;
	if (a->error)
		return;
	st->running = !!(a->said.scrub.flags & DDIO_SCRUB_RUNS);
	st->begun = a->said.scrub.begun;
	st->ended = a->said.scrub.ended;
	st->used = a->said.scrub.used;
	st->done = a->said.scrub.done;
	st->mismatches = a->said.scrub.bad;
	st->unread = a->said.scrub.unread;
	st->given = a->said.scrub.given;
	st->rate = a->said.scrub.rate;
}

int ddio_scrub(struct ddio_session *session, int action, uint64_t rate,
	       int (*fn)(void *arg, const struct ddio_scrub_state *st), void *arg)
{
	static const uint32_t flags[] = {
		[DDIO_SCRUB_LOOK] = 0,
		[DDIO_SCRUB_START] = DDIO_SCRUB_ASK_BEGIN,
		[DDIO_SCRUB_STOP] = DDIO_SCRUB_ASK_END,
		[DDIO_SCRUB_CONVERT] = DDIO_SCRUB_ASK_BEGIN | DDIO_SCRUB_ASK_LACKING,
	};
	struct scrub_question q = {
		.ask = {
			.op = DDIO_OP_SCRUB,
			.disks = true,
			.put = scrub_put,
			.get = scrub_get,
		},
		.rate = rate,
	};
	struct ddio_scrub_state st;
	uint32_t i;
	int ret;

	if (!session)
		return -EINVAL;
	if (!fn || action < DDIO_SCRUB_LOOK || action > DDIO_SCRUB_CONVERT)
		return session_fail(session, -EINVAL, "ddio_scrub: %s",
				    fn ? "no such action" : "fn is NULL");
	q.flags = flags[action];
	ret = ask_all(session, &q.ask);
	for (i = 0; i < session->conf->ndisks && !ret; i++) {
		state_fill(session, i, &q.ask.answer[i], &st);
		ret = fn(arg, &st);
	}
	ask_free(session, &q.ask);
	return ret;
}
