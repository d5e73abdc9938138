// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The disk-directed method: one request to each I/O processor that has something, from one member.
 * After that the I/O processors act.  The operation is over when each reactor
 * with disks of the file has said so and every byte has been moved, exactly
 * once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/priv.h"
#include "cp/coll/spread.h"

/*
 * Getting ready
 */
static int dd_lanes(struct dd *dd)
{
	uint64_t mark;
	uint32_t i;

	dd->lanes = calloc(dd->attach.nlanes, sizeof(*dd->lanes));
	if (!dd->lanes)
		return -ENOMEM;
	dd->nlanes = dd->attach.nlanes;
	dd->nnodes = dd->attach.nnodes;
	mark = dd_mark_owners(dd, NULL);
	for (i = 0; i < dd->nlanes; i++) {
		dd->lanes[i].lane = dd->attach.lanes[i];
		dd->lanes[i].op = dd->op;
		ddio_list_init(&dd->lanes[i].expects);
		dd->lanes[i].owner = dd->lanes[i].lane->mark == mark;
		dd_lane_busy(&dd->lanes[i]);
		dd->left += dd->lanes[i].owner;
	}
	session_watch(dd->op->session);
	return 0;
}

static void dd_attached(struct attach_job *job)
{
	struct dd *dd = job->arg;

	if (job->error.status)
		error_first(&dd->op->failed, &job->error);
	else if (dd_lanes(dd))
		error_set(&dd->op->failed, -ENOMEM, "out of memory");
	free(job->lanes);
	dd_join_begin(dd);
}

static void dd_prepare(struct ddio_op *op)
{
	struct dd *dd = calloc(1, sizeof(*dd));

	op->priv = dd;
	if (!dd) {
		error_set(&op->failed, -ENOMEM, "out of memory");
		op_prepared(op);
		return;
	}
	dd->op = op;
	if (dd_ask(dd) || dd_need(dd)) {
		error_set(&op->failed, -ENOMEM, "out of memory");
		op_prepared(op);
		return;
	}
	dd->attach.places = dd->need;
	dd->attach.group = op->group;
	dd->attach.rec = &op->file->rec;
	dd->attach.done = dd_attached;
	dd->attach.arg = dd;
	attach_begin(&dd->attach);
}

/*
 * Moving and stopping
 */
static void dd_run(struct ddio_op *op)
{
	struct ddio_session *session = op->session;
	bool yields = op_yields(op);
	struct dd *dd = op->priv;
	struct error error;

	if (dd_need_less(dd)) {
		error_set(&error, -ENOMEM, "out of memory");
		op_fail(op, &error);
		return;
	}
	dd->due = op_due(op);
	dd_reach_only(dd);
	error_clear(&error);
	/* Rank 0 did before it told the others. */
	if (op->rank && dd_launch(op, &error)) {
		op_fail(op, &error);
		return;
	}
	if (op->stays)
		dd_arrive(dd);
	dd_check_end(op);
	/* A block that cannot be sent ends the operation. */
	if (yields) {
		dd_data_go(session);
		dd_copy_go(session);
	}
}

static void dd_abort(struct ddio_op *op)
{
	struct dd *dd = op->priv;
	struct ddio_msg_coll_abort msg = { .op = op_number(op),
					   .status = op->failed.status,
					   .rank = op->rank };
	uint8_t buf[64];
	ssize_t len;
	uint32_t i;

	memcpy(msg.group, op->group->id, sizeof(msg.group));
	len = ddio_put_coll_abort(buf, sizeof(buf), &msg);
	for (i = 0; len > 0 && i < dd->nlanes; i++)
		if (!dd->lanes[i].done)
			lane_send(dd->lanes[i].lane, DDIO_OP_COLL_ABORT, op_number(op), buf,
				  (size_t)len, NULL, 0, NULL);
}

static void dd_stop(struct ddio_op *op)
{
	struct dd *dd = op->priv;
	uint32_t i;

	if (!dd || !dd->lanes) {
		op_stopped(op);
		return;
	}
	dd->stopping = true;
	if (op->agreed)
		dd_reach_only(dd);
	/* If rank 0 refused the transfer there is nothing to abort. */
	if (op->agreed || dd->launched || op->group->broken.status)
		dd_abort(op);
	dd_join_end(dd);
	dd_data_stop(op);
	dd_copy_stop(op);
	/* The watchdog gives up a lane that does not take what is being sent. */
	for (i = 0; i < dd->nlanes && dd->sends; i++)
		dd_lane_busy(&dd->lanes[i]);
	if (!dd->sends)
		op_stopped(op);
}

static void dd_free(struct ddio_op *op)
{
	struct dd *dd = op->priv;
	uint32_t i;

	if (!dd)
		return;
	dd_arrive_forget(dd);
	for (i = 0; i < dd->nlanes; i++)
		dd_lane_unbusy(&dd->lanes[i]);
	dd_join_end(dd);
	blockset_free(&dd->seen);
	free(dd->ask);
	free(dd->need);
	free(dd->spread);
	free(dd->membership);
	free(dd->lanes);
	free(dd);
	op->priv = NULL;
}

static void dd_report(struct ddio_op *op)
{
	struct dd *dd = op->priv;

	op->report.iops = dd && dd->lanes && op->agreed ? dd_reach(dd) : 0;
	op->report.requests = op->report.iops;
	op->report.bytes_shared = dd ? dd->copied : 0;
}

const struct mover method_dd = {
	.prepare = dd_prepare,
	.launch = dd_launch,
	.run = dd_run,
	.stop = dd_stop,
	.report = dd_report,
	.free = dd_free,
};
