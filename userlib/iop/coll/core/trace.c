// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>
#include "iop/coll/core/trace.h"

_Static_assert((int)DDIO_TRACE_PLANNING == (int)COLL_PLANNING &&
		       (int)DDIO_TRACE_DOUBTING == (int)COLL_DOUBTING &&
		       (int)DDIO_TRACE_RUNNING == (int)COLL_RUNNING &&
		       (int)DDIO_TRACE_COMMITTING == (int)COLL_COMMITTING &&
		       (int)DDIO_TRACE_STOPPING == (int)COLL_STOPPING &&
		       (int)DDIO_TRACE_RELEASING == (int)COLL_RELEASING &&
		       (int)DDIO_TRACE_OVER == (int)COLL_OVER,
	       "a trace has the states as the wire numbers them");

/* Returns the trace that records the collective, or NULL: it has ended, or another has begun. */
static struct iop_trace *trace_of(const struct coll *coll)
{
	struct iop_trace *t = coll->reactor->trace;

	return t && t->number == coll->traced ? t : NULL;
}

void coll_trace_begin(struct coll *coll)
{
	const struct ddio_msg_coll_start *st = &coll->req->start;
	struct ddio_trace_coll x = { .op = st->op,
				     .nprocs = st->nprocs,
				     .block = coll->block_size };
	struct iop_trace *t = coll->reactor->trace;

	if (!t)
		return;
	x.flags = coll_writes(coll) ? DDIO_TRACE_WRITE : 0;
	memcpy(x.group, st->group, sizeof(x.group));
	snprintf(x.job, sizeof(x.job), "%s", coll->req->job);
	snprintf(x.file, sizeof(x.file), "%s", st->file.name);
	if (!trace_take(t, &x))
		return;
	coll->traced = t->number;
	COLL_TRACE(coll, .kind = DDIO_TRACE_STATE, .what = DDIO_TRACE_PLANNING);
}

void coll_trace_end(const struct coll *coll)
{
	struct iop_trace *t = coll->traced ? trace_of(coll) : NULL;
	int i = t ? trace_find(t, coll->req->start.group, coll->req->start.op) : -1;
	const struct ddio_msg_coll_done *done = &coll->done;
	struct ddio_trace_coll *x;

	if (i < 0)
		return;
	x = &t->coll[i];
	x->flags |= DDIO_TRACE_ENDED;
	x->status = coll->verdict.status;
	x->bytes_needed = done->bytes_needed;
	x->disk_requests = done->disk_requests;
	x->disk_read = done->disk_read;
	x->disk_written = done->disk_written;
	x->messages = done->messages;
	x->wait_disk_ns = done->wait_disk_ns;
	x->wait_members_ns = done->wait_members_ns;
}

/* What is known of a member that has gone is not worth an event less. */
static uint16_t way_of(const struct coll *coll, uint32_t rank)
{
	const struct coll_member *m = coll_group_member(coll->group, rank);

	return m ? (uint16_t)ddio_conn_way(m->client->conn) : 0;
}

void coll_trace_add(const struct coll *coll, struct ddio_trace_event event)
{
	struct iop_trace *t = trace_of(coll);
	int i = t ? trace_find(t, coll->req->start.group, coll->req->start.op) : -1;

	if (i < 0)
		return;
	event.coll = (uint16_t)i;
	if (event.kind == DDIO_TRACE_SENT || event.kind == DDIO_TRACE_CAME)
		event.slot = way_of(coll, event.rank);
	event.ns = ddio_env_now(coll->reactor->env);
	trace_add(t, &event, &coll->reactor->bounds.at[BOUND_TRACED]);
}
