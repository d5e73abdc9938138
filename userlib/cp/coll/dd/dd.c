// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The disk-directed method: one request to each I/O processor, from rank 0.
 * After that the I/O processors are the ones who act.  The operation is over
 * when each reactor with disks of the file has said so and every byte has been
 * moved, exactly once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/priv.h"

struct ddio_op *dd_find(struct lane *lane, uint32_t handle, uint64_t number)
{
	struct ddio_group *group = group_by_handle(lane->node->session, handle);
	struct ddio_op *op = group ? op_find(group, number) : NULL;

	if (!op || op->m != &method_dd || !op->priv || op->failed.status)
		return NULL;
	return op->phase == DDIO_PHASE_AGREEING || op->phase == DDIO_PHASE_MOVING ? op : NULL;
}

static void lane_busy(struct dd_lane *dl)
{
	if (!dl->busy)
		dl->lane->colls++;
	dl->busy = true;
}

static void lane_unbusy(struct dd_lane *dl)
{
	if (dl->busy)
		dl->lane->colls--;
	dl->busy = false;
}

/*
 * Getting ready
 */
static bool lane_owns(const struct ddio_op *op, const struct lane *lane)
{
	const struct ddio_session *s = op->session;
	uint32_t i;

	for (i = 0; i < op->file->rec.ndisks; i++) {
		const struct cluster_disk *place = &s->disks[op->file->rec.disks[i]];

		if (place->node == lane->node->index && place->reactor == lane->reactor)
			return true;
	}
	return false;
}

static int dd_lanes(struct dd *dd)
{
	uint32_t i;

	dd->lanes = calloc(dd->attach.nlanes, sizeof(*dd->lanes));
	if (!dd->lanes)
		return -ENOMEM;
	dd->nlanes = dd->attach.nlanes;
	dd->nnodes = dd->attach.nnodes;
	for (i = 0; i < dd->nlanes; i++) {
		dd->lanes[i].lane = dd->attach.lanes[i];
		/* Those behind the reactors 0 are there because they own disks. */
		dd->lanes[i].owner = i >= dd->nnodes || lane_owns(dd->op, dd->lanes[i].lane);
		lane_busy(&dd->lanes[i]);
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
	dd->attach.group = op->group;
	dd->attach.rec = &op->file->rec;
	dd->attach.done = dd_attached;
	dd->attach.arg = dd;
	attach_begin(&dd->attach);
}

/*
 * The request
 */

/* One copy for all nodes. */
struct dd_start {
	uint32_t refs;
	uint8_t data[];
};

struct dd_start_send {
	struct ddio_send send;
	struct dd_start *start;
};

static void start_put(struct dd_start *start)
{
	if (!--start->refs)
		free(start);
}

static void start_sent(struct ddio_send *send, int err)
{
	struct dd_start_send *ss = ddio_container_of(send, struct dd_start_send, send);

	(void)err;
	start_put(ss->start);
	free(ss);
}

static int start_send(struct lane *lane, uint64_t number, struct dd_start *start, size_t len)
{
	struct iovec iov = { .iov_base = start->data, .iov_len = len };
	struct dd_start_send *ss = malloc(sizeof(*ss));
	int err;

	if (!ss)
		return -ENOMEM;
	ss->send.done = start_sent;
	ss->start = start;
	start->refs++;
	err = lane_send(lane, DDIO_OP_COLL_START, number, NULL, 0, &iov, 1, &ss->send);
	if (err)
		start_sent(&ss->send, err);
	return err;
}

static uint32_t start_flags(const struct ddio_op *op)
{
	uint32_t flags = 0;

	if (op->writing)
		flags |= DDIO_COLL_WRITE;
	if (op->method == DDIO_METHOD_DDS)
		flags |= DDIO_COLL_SORT;
	if (op->flags & DDIO_XFER_ROTATE)
		flags |= DDIO_COLL_ROTATE;
	if (op->flags & DDIO_XFER_SATF)
		flags |= DDIO_COLL_SATF;
	if (op->writing && op->flags & DDIO_XFER_SYNC)
		flags |= DDIO_COLL_SYNC;
	if (op->flags & DDIO_XFER_NO_BATCH)
		flags |= DDIO_COLL_NO_BATCH;
	return flags;
}

static struct dd_start *start_encode(struct ddio_op *op, size_t *len)
{
	struct ddio_msg_coll_start msg = { .op = op->turn.number,
					   .flags = start_flags(op),
					   .nprocs = op->nprocs,
					   .timeout_ns = op->session->timeout_ns,
					   .file_size = op->file_size,
					   .file = op->file->rec,
					   .nparts = op->nparts,
					   .parts = op->parts };
	struct ddio_part array = { 0 };
	struct dd_start *start = NULL;
	ssize_t n;

	memcpy(msg.group, op->group->id, sizeof(msg.group));
	if (op->part_kind == DDIO_PART_ARRAY) {
		if (ddio_get_part(op->part, op->part_len, &array, NULL))
			return NULL;
		msg.nparts = 1;
		msg.parts = &array;
	}
	n = ddio_put_coll_start(NULL, 0, &msg);
	if (n > 0 && n <= (ssize_t)DDIO_MAX_PAYLOAD)
		start = malloc(sizeof(*start) + (size_t)n);
	if (start) {
		start->refs = 1;
		ddio_put_coll_start(start->data, (size_t)n, &msg);
		*len = (size_t)n;
	}
	ddio_part_free(&array);
	return start;
}

static int dd_launch(struct ddio_op *op, struct error *error)
{
	struct dd *dd = op->priv;
	struct dd_start *start;
	size_t len;
	uint32_t i;
	int err = 0;

	if (op->failed.status) {
		*error = op->failed;
		return op->failed.err;
	}
	/* Nothing is wanted: nobody is asked. */
	if (!op->hi)
		return 0;
	start = start_encode(op, &len);
	if (!start) {
		error_set(error, -E2BIG, "the members' descriptions are too long together");
		return -E2BIG;
	}
	dd->launched = true;
	for (i = 0; i < dd->nnodes && !err; i++) {
		err = start_send(dd->lanes[i].lane, op->turn.number, start, len);
		if (err)
			error_status(error, DDIO_ST_NODE_LOST, "node %s (%s): %s",
				     DDIO_LANE_NAMES(dd->lanes[i].lane), strerror(-err));
	}
	start_put(start);
	op->messages += dd->nnodes;
	return err;
}

/*
 * The end
 */
static void dd_check_bytes(struct ddio_op *op)
{
	struct dd *dd = op->priv;
	uint64_t due = op->share;
	struct error error;

	dd_join_end(dd);
	if (op->writing)
		due = op->hi ? ddio_map_put_size(op->map, op->rank, 0, DDIO_MAX_FILE) : 0;
	if (dd->moved == due) {
		op_moved(op);
		return;
	}
	error_status(&error, DDIO_ST_PROTOCOL,
		     "%s of %s: the I/O processors are done, but %llu of %llu bytes were %s",
		     op->writing ? "write" : "read", op->file->rec.name,
		     (unsigned long long)dd->moved, (unsigned long long)due,
		     op->writing ? "asked for" : "delivered");
	op_fail(op, &error);
}

void dd_check_end(struct ddio_op *op)
{
	const struct dd *dd = op->priv;

	if (op->phase == DDIO_PHASE_MOVING && !dd->left && !dd->sends)
		dd_check_bytes(op);
}

static void dd_run(struct ddio_op *op)
{
	struct dd *dd = op->priv;

	/* Nobody was asked for anything. */
	if (!op->hi)
		dd->left = 0;
	dd_check_end(op);
}

static void dd_abort(struct ddio_op *op)
{
	struct dd *dd = op->priv;
	struct ddio_msg_coll_abort msg = { .op = op->turn.number,
					   .status = op->failed.status,
					   .rank = op->rank };
	uint8_t buf[64];
	ssize_t len;
	uint32_t i;

	memcpy(msg.group, op->group->id, sizeof(msg.group));
	len = ddio_put_coll_abort(buf, sizeof(buf), &msg);
	for (i = 0; len > 0 && i < dd->nlanes; i++)
		if (!dd->lanes[i].done)
			lane_send(dd->lanes[i].lane, DDIO_OP_COLL_ABORT, op->turn.number, buf,
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
	/* If rank 0 refused the transfer there is nothing to abort. */
	if (op->agreed || dd->launched || op->group->broken.status)
		dd_abort(op);
	dd_join_end(dd);
	dd_data_stop(op);
	/* A lane that does not take what is under way is given up by the watchdog. */
	for (i = 0; i < dd->nlanes && dd->sends; i++)
		lane_busy(&dd->lanes[i]);
	if (!dd->sends)
		op_stopped(op);
}

static void dd_free(struct ddio_op *op)
{
	struct dd *dd = op->priv;
	uint32_t i;

	if (!dd)
		return;
	for (i = 0; i < dd->nlanes; i++)
		lane_unbusy(&dd->lanes[i]);
	dd_join_end(dd);
	blockset_free(&dd->seen);
	free(dd->membership);
	free(dd->lanes);
	free(dd);
	op->priv = NULL;
}

const struct mover method_dd = {
	.prepare = dd_prepare,
	.launch = dd_launch,
	.run = dd_run,
	.stop = dd_stop,
	.free = dd_free,
};

/*
 * What reactors say in the end
 */
static void done_count(struct ddio_op *op, const struct ddio_msg_coll_done *done)
{
	struct ddio_report *r = &op->report;

	op->messages++;
	r->bytes_needed += done->bytes_needed;
	r->disk_read += done->disk_read;
	r->disk_written += done->disk_written;
	r->disk_requests += done->disk_requests;
	r->bytes_scattered += done->scattered;
	if (done->buffers > r->buffers)
		r->buffers = (uint32_t)done->buffers;
}

static void done_failed(struct ddio_op *op, struct lane *lane,
			const struct ddio_msg_coll_done *done)
{
	const char *node = lane->node->session->conf->nodes[lane->node->index].name;
	struct error error;
	char what[DDIO_MAX_TEXT];
	const char *text = done->text[0] ? done->text : ddio_status_text(done->status);

	op_describe(op, what);
	if (done->status == DDIO_ST_MEMBER_LOST && done->lost_rank < op->nprocs)
		error_status(&error, done->status, "%.200s: node %.64s: rank %u: %.200s", what,
			     node, done->lost_rank, text);
	else
		error_status(&error, done->status, "%.200s: node %.64s: %.220s", what, node, text);
	op_fail(op, &error);
}

int dd_done(struct lane *lane, const void *payload, size_t len)
{
	struct ddio_msg_coll_done done;
	struct ddio_op *op;
	struct dd *dd;
	uint32_t i;
	int err = ddio_get_coll_done(payload, len, &done);

	if (err)
		return err;
	op = dd_find(lane, done.handle, done.op);
	if (!op)
		return 0;
	dd = op->priv;
	for (i = 0; i < dd->nlanes && dd->lanes[i].lane != lane; i++)
		;
	if (i == dd->nlanes || dd->lanes[i].done)
		return -EPROTO;
	if (done.status) {
		dd->lanes[i].done = true;
		lane_unbusy(&dd->lanes[i]);
		done_failed(op, lane, &done);
		return 0;
	}
	if (!dd->lanes[i].owner || (done.scattered && !dd->may_scatter))
		return -EPROTO;
	dd->lanes[i].done = true;
	lane_unbusy(&dd->lanes[i]);
	dd->left--;
	dd->moved += done.scattered;
	done_count(op, &done);
	dd_check_end(op);
	return 0;
}

static void lane_lost_fail(struct ddio_op *op, const struct error *why)
{
	struct error error;
	char what[DDIO_MAX_TEXT];

	op_describe(op, what);
	error_status(&error, why->status, "%.200s: %.290s", what, why->text);
	op_fail(op, &error);
}

/* The groups that the reactor knew it does not know any more. */
void dd_lane_lost(struct lane *lane, const struct error *error)
{
	struct ddio_session *s = lane->node->session;
	struct ddio_op *op, *tmp;
	struct dd *dd;
	uint32_t g, i;
	bool again;

	attaches_lost(lane);
	for (g = 0; g < s->ngroups; g++) {
		do {
			again = false;
			if (!s->group[g])
				break;
			ddio_list_for_each_entry_safe(op, tmp, &s->group[g]->ops, link) {
				dd = op->m == &method_dd ? op->priv : NULL;
				for (i = 0; dd && i < dd->nlanes; i++)
					if (dd->lanes[i].lane == lane && !dd->lanes[i].done)
						break;
				if (!dd || i == dd->nlanes || op->phase >= DDIO_PHASE_STOPPING)
					continue;
				dd->lanes[i].done = true;
				lane_unbusy(&dd->lanes[i]);
				lane_lost_fail(op, error);
				again = true;
				break;
			}
		} while (again);
	}
}
