// SPDX-License-Identifier: LGPL-2.1-or-later
/* How a disk-directed transfer ends: each reactor says that it is done, or is lost. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/priv.h"

struct ddio_op *dd_find_told(struct lane *lane, uint32_t handle, uint64_t number)
{
	struct ddio_group *group = group_by_handle(lane->node->session, handle);
	struct ddio_op *op = group ? op_numbered(group, number) : NULL;

	if (!op || !op_is_dd(op) || !op->priv || op->failed.status)
		return NULL;
	return op->phase >= PHASE_AGREEING ? op : NULL;
}

struct ddio_op *dd_find(struct lane *lane, uint32_t handle, uint64_t number)
{
	struct ddio_op *op = dd_find_told(lane, handle, number);

	return op && op->phase <= PHASE_MOVING ? op : NULL;
}

/* Nothing more is expected of the others; what fails there the members hear from those that asked. */
static void quiet_done(struct dd *dd)
{
	uint32_t i;

	for (i = 0; i < dd->nlanes; i++) {
		if (!dd->lanes[i].quiet)
			continue;
		dd->lanes[i].done = true;
		dd_lane_unbusy(&dd->lanes[i]);
	}
}

static void dd_check_bytes(struct ddio_op *op)
{
	struct dd *dd = op->priv;
	struct error error;

	dd_join_end(dd);
	if (dd->moved == dd->due) {
		quiet_done(dd);
		op_moved(op);
		return;
	}
	error_status(&error, DDIO_ST_PROTOCOL,
		     "%s of %s: the I/O processors are done, but %llu of %llu bytes were %s",
		     op->writing ? "write" : "read", op->file->rec.name,
		     (unsigned long long)dd->moved, (unsigned long long)dd->due,
		     op->writing ? "asked for" : "delivered");
	op_fail(op, &error);
}

void dd_check_end(struct ddio_op *op)
{
	const struct dd *dd = op->priv;

	if (op->phase != PHASE_MOVING || dd->left || dd->sends)
		return;
	if (!dd->quiet || dd->moved >= dd->due)
		dd_check_bytes(op);
}

/*
 * What reactors say
 */
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

static void done_mark(struct dd *dd, struct dd_lane *dl)
{
	if (!dl->done && dl->quiet)
		dd->quiet--;
	else if (!dl->done)
		dd->left -= dl->owner;
	dl->done = true;
	dd_lane_unbusy(dl);
}

static int done_take(struct ddio_op *op, struct dd_lane *dl, const struct ddio_msg_coll_done *done)
{
	struct dd *dd = op->priv;

	if (dl->told)
		return -EPROTO;
	dl->told = true;
	if (!done->status && (!dl->owner || (done->scattered && !dd->may_scatter)))
		return -EPROTO;
	done_mark(dd, dl);
	if (done->status) {
		done_failed(op, dl->lane, done);
		return 0;
	}
	dd->moved += done->scattered;
	op->report.bytes_scattered += done->scattered;
	op->messages++;
	if (dl->own)
		tally_add(&op->tally, done);
	dd_check_end(op);
	return 0;
}

static int dd_done(struct lane *lane, const void *payload, size_t len)
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
	if (i < dd->nlanes)
		return done_take(op, &dd->lanes[i], &done);
	/* It knows the group from an earlier operation, and of this one only that it failed. */
	if (!done.status)
		return -EPROTO;
	done_failed(op, lane, &done);
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

/* What the operation gets whose data did not match: where they lie. */
static void altered_error(const struct ddio_op *op, const struct lane *lane, struct error *error)
{
	const struct ddio_file_record *rec = &op->file->rec;
	const struct ddio_msg_wrong *x = &lane->wrong;
	uint32_t i = 0;

	while (i + 1 < rec->ndisks && rec->disks[i] != x->disk)
		i++;
	error_status(error, DDIO_ST_IO,
		     "block %llu, of disk %.60s, did not match its checksum when it came from node "
		     "%s (%s)",
		     (unsigned long long)(x->block * rec->ndisks + i),
		     op->session->conf->disks[x->disk].name, LANE_NAMES(lane));
}

/* What is being stopped has no need of the lane. */
static void dd_lane_lost(struct dd_lane *dl, const struct error *error)
{
	struct lane *lane = dl->lane;
	struct ddio_op *op = dl->op;
	struct error altered;

	dd_lane_unbusy(dl);
	if (op->phase >= PHASE_STOPPING)
		return;
	dl->done = true;
	if (lane->altered == op)
		altered_error(op, lane, &altered);
	lane_lost_fail(op, lane->altered == op ? &altered : error);
}

/* What fails may end others: those leave the list.  What begins to expect something of the lane now has a connection of its own. */
static void dd_lanes_lost(struct lane *lane, const struct error *error)
{
	struct ddio_list lost;

	ddio_list_init(&lost);
	ddio_list_splice(&lane->expecting, &lost);
	while (!ddio_list_empty(&lost))
		dd_lane_lost(ddio_list_first(&lost, struct dd_lane, expects), error);
}

static const struct lane_handler end_handlers[] = {
	{ .opcode = DDIO_OP_COLL_DONE, .message = dd_done },
	{ .opcode = 0 },
};

const struct lane_user dd_end_lane_user = {
	.handlers = end_handlers,
	.lost = dd_lanes_lost,
};
