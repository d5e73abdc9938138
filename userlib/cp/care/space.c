// SPDX-License-Identifier: LGPL-2.1-or-later
/* How the free space of the disks lies. */
#include <errno.h>
#include <stdio.h>
#include "cp/file/ask.h"

static int space_put(const struct question *ask, uint32_t i, struct node_request *request)
{
	const struct ddio_msg_obj obj = { .disk = i };

	(void)ask;
	return request_put(request, obj, &obj);
}

static int space_get(struct node_answer *answer, const struct reply *reply)
{
	return ddio_get_disk_space(reply->payload, reply->len, &answer->said.space);
}

static void state_fill(const struct ddio_session *s, uint32_t i, const struct node_answer *a,
		       struct ddio_space_state *st)
{
	const struct ddio_conf_disk *disk = &s->conf->disks[i];

	*st = (struct ddio_space_state){ .disk = i, .error = a->error };
	snprintf(st->name, sizeof(st->name), "%s", disk->name);
	snprintf(st->node, sizeof(st->node), "%s", s->conf->nodes[disk->node].name);
	snprintf(st->reason, sizeof(st->reason), "%s", a->reason);
	if (a->error)
		return;
	st->free = a->said.space.free;
	st->ranges = a->said.space.ranges;
	st->longest = a->said.space.longest;
	st->shared = a->said.space.shared;
}

int ddio_space(struct ddio_session *session,
	       int (*fn)(void *arg, const struct ddio_space_state *st), void *arg)
{
	struct question ask = {
		.op = DDIO_OP_DISK_SPACE,
		.disks = true,
		.put = space_put,
		.get = space_get,
	};
	struct ddio_space_state st;
	uint32_t i;
	int ret;

	if (!session)
		return -EINVAL;
	if (!fn)
		return session_fail(session, -EINVAL, "ddio_space: fn is NULL");
	ret = ask_all(session, &ask);
	for (i = 0; i < session->conf->ndisks && !ret; i++) {
		state_fill(session, i, &ask.answer[i], &st);
		ret = fn(arg, &st);
	}
	ask_free(session, &ask);
	return ret;
}
