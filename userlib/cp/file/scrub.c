// SPDX-License-Identifier: LGPL-2.1-or-later
/* Scrubs: the same question to every disk at once, so that one that hangs delays no other. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/file.h"
#include "cp/node/lane.h"

struct scrub_ask;

/**
 * struct scrub_answer - what one disk says
 */
struct scrub_answer {
	struct scrub_ask *ask;
	struct node_request request;
	struct ddio_msg_scrub_ask said;
	struct ddio_msg_scrub got;
	int error;
	char reason[512];
};

struct scrub_ask {
	struct session_call call;
	struct scrub_answer *disk;
	uint32_t flags, left;
	uint64_t rate;
};

static void one_less(struct scrub_ask *ask)
{
	if (!--ask->left)
		call_end(&ask->call, NULL);
}

static void disk_got(struct node_request *request, const struct reply *reply)
{
	struct scrub_answer *a = request->arg;

	if (reply->status) {
		a->error = ddio_status_to_errno(reply->status);
		snprintf(a->reason, sizeof(a->reason), "%s", reply->text ? reply->text : "");
	} else {
		a->error = ddio_get_scrub(reply->payload, reply->len, &a->got);
	}
	one_less(a->ask);
}

static void disk_ask(struct scrub_ask *ask, uint32_t i)
{
	struct scrub_answer *a = &ask->disk[i];

	a->ask = ask;
	a->said = (struct ddio_msg_scrub_ask){ .disk = i, .flags = ask->flags, .rate = ask->rate };
	request_init(&a->request, DDIO_OP_SCRUB, disk_got, a);
	a->request.feature = DDIO_FEATURE_SCRUB;
	a->error = request_put(&a->request, scrub_ask, &a->said);
	if (a->error)
		one_less(ask);
	else
		request_disk(ask->call.session, i, &a->request);
}

static void scrub_run(struct session_call *call)
{
	struct scrub_ask *ask = ddio_container_of(call, struct scrub_ask, call);
	uint32_t i;

	/* One more, so that a disk that fails at once does not end the call before the rest is asked. */
	ask->left = call->session->conf->ndisks + 1;
	for (i = 0; i < call->session->conf->ndisks; i++)
		disk_ask(ask, i);
	one_less(ask);
}

static void state_fill(const struct ddio_session *s, uint32_t i, const struct scrub_answer *a,
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
	st->running = !!(a->got.flags & DDIO_SCRUB_RUNS);
	st->begun = a->got.begun;
	st->ended = a->got.ended;
	st->used = a->got.used;
	st->done = a->got.done;
	st->mismatches = a->got.bad;
	st->unread = a->got.unread;
	st->given = a->got.given;
	st->rate = a->got.rate;
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
	struct scrub_ask ask = { .rate = rate };
	struct ddio_scrub_state st;
	uint32_t i;
	int ret;

	if (!session)
		return -EINVAL;
	if (!fn || action < DDIO_SCRUB_LOOK || action > DDIO_SCRUB_CONVERT)
		return session_fail(session, -EINVAL, "ddio_scrub: %s",
				    fn ? "no such action" : "fn is NULL");
	ask.flags = flags[action];
	ask.disk = calloc(session->conf->ndisks, sizeof(*ask.disk));
	if (!ask.disk)
		return session_fail(session, -ENOMEM, "ddio_scrub: out of memory");
	ret = call_run(session, &ask.call, scrub_run);
	for (i = 0; i < session->conf->ndisks && !ret; i++) {
		state_fill(session, i, &ask.disk[i], &st);
		ret = fn(arg, &st);
	}
	free(ask.disk);
	return ret;
}
