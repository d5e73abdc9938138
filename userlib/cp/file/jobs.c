// SPDX-License-Identifier: LGPL-2.1-or-later
/* What jobs have asked nodes for, for tools. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cp/file/ask.h"

static int jobs_get(struct node_answer *a, const struct reply *reply)
{
	return ddio_get_jobs(reply->payload, reply->len, &a->said.jobs);
}

static void jobs_free(struct node_answer *a)
{
	free(a->said.jobs.job);
}

static int jobs_tell(const struct node_answer *a, const char *name,
		     int (*fn)(void *arg, const struct ddio_job_state *st), void *arg)
{
	struct ddio_job_state st = { .error = a->error };
	uint32_t i;
	int ret;

	snprintf(st.node, sizeof(st.node), "%s", name);
	snprintf(st.reason, sizeof(st.reason), "%s", a->reason);
	if (a->error)
		return fn(arg, &st);
	for (i = 0, ret = 0; i < a->said.jobs.n && !ret; i++) {
		const struct ddio_job_status *j = &a->said.jobs.job[i];

		snprintf(st.name, sizeof(st.name), "%s", j->name);
		st.connections = j->connections;
		st.requests = j->requests;
		st.read_bytes = j->read_bytes;
		st.write_bytes = j->write_bytes;
		st.collectives = j->collectives;
		st.coll_read_bytes = j->coll_read_bytes;
		st.coll_write_bytes = j->coll_write_bytes;
		st.told = j->told;
		ret = fn(arg, &st);
	}
	return ret;
}

int ddio_jobs(struct ddio_session *session, int (*fn)(void *arg, const struct ddio_job_state *st),
	      void *arg)
{
	struct question ask = { .op = DDIO_OP_JOBS, .get = jobs_get, .free = jobs_free };
	uint32_t i;
	int ret;

	if (!session)
		return -EINVAL;
	if (!fn)
		return session_fail(session, -EINVAL, "ddio_jobs: fn is NULL");
	ret = ask_all(session, &ask);
	for (i = 0; i < session->conf->nnodes && !ret; i++)
		ret = jobs_tell(&ask.answer[i], session->conf->nodes[i].name, fn, arg);
	ask_free(session, &ask);
	return ret;
}
