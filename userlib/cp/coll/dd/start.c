// SPDX-License-Identifier: LGPL-2.1-or-later
/* The request of a disk-directed transfer, to the nodes that this member asks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/priv.h"
#include "cp/node/grants.h"

static void asked_lost(struct lane *lane, const struct error *error)
{
	(void)error;
	dd_asked_forget(lane, &dd_start_lane_user);
}

const struct lane_user dd_start_lane_user = { .lost = asked_lost, .free = dd_asked_free };

static int start_send(struct lane *lane, uint64_t number, uint64_t file, struct dd_message *start)
{
	struct dd_asked *asked = dd_asked_get(lane, &dd_start_lane_user);
	int err;

	if (!asked)
		return -ENOMEM;
	if (lane->state == LANE_READY)
		grant_show(lane, file);
	err = dd_message_send(lane, DDIO_OP_COLL_AGAIN, number, start, &asked->past, &asked->sent);
	if (err)
		dd_asked_forget(lane, &dd_start_lane_user);
	return err;
}

static uint32_t start_flags(const struct ddio_op *op)
{
	uint32_t flags = DDIO_COLL_NEED;

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
	if (op_is_atomic(op))
		flags |= DDIO_COLL_ATOMIC | DDIO_COLL_SYNC;
	if (op->flags & DDIO_XFER_NO_BATCH)
		flags |= DDIO_COLL_NO_BATCH;
	if (op->clipped)
		flags |= DDIO_COLL_SHORT;
	if (ddio_map_overlaps(op->whole))
		flags |= DDIO_COLL_OVERLAP;
	if (op->flags & DDIO_XFER_NO_SHARE)
		flags |= DDIO_COLL_NO_SHARE;
	if (op->session->transfers->tell)
		flags |= DDIO_COLL_TELL;
	return flags;
}

/* Encodes the message; NULL: without memory, or it is too long. */
static struct dd_message *start_put(const struct ddio_msg_coll_start *msg)
{
	struct dd_message *start = NULL;
	ssize_t n = ddio_put_coll_start(NULL, 0, msg);

	/* A byte may come in front of it. */
	if (n > 0 && n < (ssize_t)DDIO_MAX_PAYLOAD)
		start = dd_message_new((size_t)n);
	if (start)
		ddio_put_coll_start(start->data, (size_t)n, msg);
	return start;
}

/* Members tell what they spread, if any do; else it is not mentioned. */
static struct dd_message *start_encode(struct ddio_op *op)
{
	struct ddio_msg_coll_start msg = { .op = op_number(op),
					   .flags = start_flags(op),
					   .nprocs = op->nprocs,
					   .timeout_ns = op->session->timeout_ns,
					   .file_size = op->file_size,
					   .epoch = op->epoch_number,
					   .file = op->file->rec };
	struct ddio_part array = { 0 };
	struct dd_message *start = NULL;
	int err = 0;

	memcpy(msg.group, op->group->id, sizeof(msg.group));
	if (op->part_kind == DDIO_PART_ARRAY) {
		err = ddio_get_part(op->part, op->part_len, &array, NULL);
		msg.nparts = 1;
		msg.parts = &array;
	} else {
		msg.flags |= DDIO_COLL_FAMILIES;
		msg.crowd = op->crowd;
		if (!msg.crowd.hi)
			msg.crowd.lo = msg.crowd.spread = 0;
	}
	if (!err)
		start = start_put(&msg);
	ddio_part_free(&array);
	return start;
}

static int nodes_ask(struct ddio_op *op, struct error *error)
{
	struct dd_message *start = start_encode(op);
	struct dd *dd = op->priv;
	uint32_t i;
	int err = 0;

	if (!start) {
		error_set(error, -E2BIG,
			  "the members' descriptions together are too long for one message");
		return -E2BIG;
	}
	dd->launched = true;
	for (i = 0; i < dd->nnodes && !err; i++) {
		struct dd_lane *dl = &dd->lanes[i];

		if (!dl->asked || !dl->own)
			continue;
		err = start_send(dl->lane, op_number(op), op->file->rec.ref.id, start);
		if (err)
			error_status(error, DDIO_ST_NODE_LOST, "node %s (%s): %s",
				     LANE_NAMES(dl->lane), strerror(-err));
		else if (op->crowd.hi)
			dd_spread_asked(dd, dl);
	}
	dd_message_put(start);
	return err;
}

/* Returns how many nodes this member is to ask. */
static uint32_t own_count(const struct dd *dd)
{
	uint32_t n = 0, i;

	for (i = 0; i < dd->nnodes; i++)
		n += dd->lanes[i].asked && dd->lanes[i].own;
	return n;
}

/**
 * struct dd_arrival - questions to nodes that come there behind the request
 * @post: all were answered
 * @op: NULL: it is over
 */
struct dd_arrival {
	struct request_set set;
	struct ddio_post post;
	struct ddio_op *op;
};

static void arrival_over(void *arg)
{
	struct dd_arrival *arrival = arg;
	struct ddio_op *op = arrival->op;

	if (op)
		((struct dd *)op->priv)->arrival = NULL;
	free(arrival);
	if (op)
		op_has_stayed(op);
}

/* A node that cannot be asked has lost the request, too.  Where there is none to be asked the operation is still being begun. */
static void arrived(struct request_set *set)
{
	struct dd_arrival *arrival = set->arg;

	arrival->post.fn = arrival_over;
	arrival->post.arg = arrival;
	ddio_env_post(set->session->env, &arrival->post);
}

void dd_arrive(struct dd *dd)
{
	struct dd_arrival *arrival = calloc(1, sizeof(*arrival));
	uint32_t i;

	/* Without memory the next comes no sooner than this has ended. */
	if (!arrival)
		return;
	arrival->op = dd->op;
	dd->arrival = arrival;
	request_set_begin(&arrival->set, dd->op->session, "a request that stays", arrived, arrival);
	for (i = 0; i < dd->nnodes; i++)
		if (dd->lanes[i].asked && dd->lanes[i].own)
			request_set_lane(&arrival->set, dd->lanes[i].lane, DDIO_OP_PING, NULL, 0,
					 0);
	request_set_end(&arrival->set);
}

void dd_arrive_forget(struct dd *dd)
{
	if (dd->arrival)
		dd->arrival->op = NULL;
}

int dd_launch(struct ddio_op *op, struct error *error)
{
	struct dd *dd = op->priv;
	uint32_t n;
	int err = 0;

	if (op->failed.status) {
		*error = op->failed;
		return op->failed.err;
	}
	/* Nothing is wanted of those: no node is asked. */
	dd_reach(dd);
	n = own_count(dd);
	if (!n)
		return 0;
	err = nodes_ask(op, error);
	op->messages += n;
	return err;
}
