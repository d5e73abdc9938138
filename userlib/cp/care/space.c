// SPDX-License-Identifier: LGPL-2.1-or-later
/* How the free space of the disks lies: the same question to every disk at once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/file.h"

struct space_ask;

/**
 * struct space_answer - what one disk says
 */
struct space_answer {
	struct space_ask *ask;
	struct node_request request;
	struct ddio_msg_disk_space got;
	int error;
	char reason[512];
};

struct space_ask {
	struct session_call call;
	struct space_answer *disk;
	uint32_t left;
};

static void one_less(struct space_ask *ask)
{
	if (!--ask->left)
		call_end(&ask->call, NULL);
}

static void disk_got(struct node_request *request, const struct reply *reply)
{
	struct space_answer *a = request->arg;

	if (reply->status) {
		a->error = ddio_status_to_errno(reply->status);
		snprintf(a->reason, sizeof(a->reason), "%s", reply->text ? reply->text : "");
	} else {
		a->error = ddio_get_disk_space(reply->payload, reply->len, &a->got);
	}
	one_less(a->ask);
}

static void disk_ask(struct space_ask *ask, uint32_t i)
{
	const struct ddio_msg_obj obj = { .disk = i };
	struct space_answer *a = &ask->disk[i];

	a->ask = ask;
	request_init(&a->request, DDIO_OP_DISK_SPACE, disk_got, a);
	a->request.feature = DDIO_FEATURE_MEND;
	a->error = request_put(&a->request, obj, &obj);
	if (a->error)
		one_less(ask);
	else
		request_disk(ask->call.session, i, &a->request);
}

static void space_run(struct session_call *call)
{
	struct space_ask *ask = ddio_container_of(call, struct space_ask, call);
	uint32_t i;

	/* One more, so that a disk that fails at once does not end the call before the rest is asked. */
	ask->left = call->session->conf->ndisks + 1;
	for (i = 0; i < call->session->conf->ndisks; i++)
		disk_ask(ask, i);
	one_less(ask);
}

static void state_fill(const struct ddio_session *s, uint32_t i, const struct space_answer *a,
		       struct ddio_space_state *st)
{
	const struct ddio_conf_disk *disk = &s->conf->disks[i];

	*st = (struct ddio_space_state){ .disk = i, .error = a->error };
	snprintf(st->name, sizeof(st->name), "%s", disk->name);
	snprintf(st->node, sizeof(st->node), "%s", s->conf->nodes[disk->node].name);
	snprintf(st->reason, sizeof(st->reason), "%s", a->reason);
	if (a->error)
		return;
	st->free = a->got.free;
	st->ranges = a->got.ranges;
	st->longest = a->got.longest;
	st->shared = a->got.shared;
}

int ddio_space(struct ddio_session *session,
	       int (*fn)(void *arg, const struct ddio_space_state *st), void *arg)
{
	struct space_ask ask = { .left = 0 };
	struct ddio_space_state st;
	uint32_t i;
	int ret;

	if (!session)
		return -EINVAL;
	if (!fn)
		return session_fail(session, -EINVAL, "ddio_space: fn is NULL");
	ask.disk = calloc(session->conf->ndisks, sizeof(*ask.disk));
	if (!ask.disk)
		return session_fail(session, -ENOMEM, "ddio_space: out of memory");
	ret = call_run(session, &ask.call, space_run);
	for (i = 0; i < session->conf->ndisks && !ret; i++) {
		state_fill(session, i, &ask.disk[i], &st);
		ret = fn(arg, &st);
	}
	free(ask.disk);
	return ret;
}
