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
	bool again;
	int err;

	if (!asked)
		return -ENOMEM;
	if (lane->state == LANE_READY)
		grant_show(lane, file);
	again = lane->state == LANE_READY && ddio_conn_features(lane->conn) & DDIO_FEATURE_AGAIN;
	err = dd_message_send(lane, again ? DDIO_OP_COLL_AGAIN : DDIO_OP_COLL_START, number, start,
			      again ? &asked->past : NULL, &asked->sent);
	if (err)
		dd_asked_forget(lane, &dd_start_lane_user);
	return err;
}

bool dd_nodes_have(const struct ddio_op *op, uint64_t feature)
{
	const struct dd *dd = op->priv;
	uint32_t i;

	for (i = 0; i < dd->nnodes; i++)
		if (dd->lanes[i].lane->state == LANE_READY &&
		    !(ddio_conn_features(dd->lanes[i].lane->conn) & feature))
			return false;
	return true;
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
	if (op_is_atomic(op))
		flags |= DDIO_COLL_ATOMIC | DDIO_COLL_SYNC;
	if (op->flags & DDIO_XFER_NO_BATCH)
		flags |= DDIO_COLL_NO_BATCH;
	if (op->clipped)
		flags |= DDIO_COLL_SHORT;
	if (ddio_map_overlaps(op->whole))
		flags |= DDIO_COLL_OVERLAP;
	if (op->flags & DDIO_XFER_NO_SHARE && dd_nodes_have(op, DDIO_FEATURE_SHARE))
		flags |= DDIO_COLL_NO_SHARE;
	return flags;
}

/* The descriptions one by one, for nodes that do not know families. */
struct dd_parts {
	struct ddio_part *part;
	struct ddio_kin_room *room;
	uint32_t n;
};

static void parts_free(struct dd_parts *parts)
{
	uint32_t i;

	for (i = 0; parts->room && i < parts->n; i++)
		free(parts->room[i].entries);
	free(parts->room);
	free(parts->part);
}

static int parts_make(struct dd_parts *parts, const struct ddio_crowd *crowd)
{
	uint32_t k, i, at = 0;
	int err = 0;

	parts->n = crowd->nmembers;
	parts->part = calloc(parts->n + 1, sizeof(*parts->part));
	parts->room = calloc(parts->n + 1, sizeof(*parts->room));
	if (!parts->part || !parts->room)
		return -ENOMEM;
	for (k = 0; k < crowd->n; k++)
		for (i = 0; i < kin_size(&crowd->kin[k]) && !err; i++, at++)
			err = ddio_kin_part(&crowd->kin[k], i, &parts->room[at], &parts->part[at]);
	return err;
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

/* @spread: members tell what they spread, if any do; else it is not mentioned. */
static struct dd_message *start_encode(struct ddio_op *op, bool spread)
{
	struct ddio_msg_coll_start msg = { .op = op_number(op),
					   .flags = start_flags(op),
					   .nprocs = op->nprocs,
					   .timeout_ns = op->session->timeout_ns,
					   .file_size = op->file_size,
					   .epoch = op->epoch_number,
					   .file = op->file->rec };
	struct ddio_part array = { 0 };
	struct dd_parts parts = { 0 };
	struct dd_message *start = NULL;
	int err = 0;

	memcpy(msg.group, op->group->id, sizeof(msg.group));
	if (dd_nodes_have(op, DDIO_FEATURE_NEED))
		msg.flags |= DDIO_COLL_NEED;
	if (op->part_kind == DDIO_PART_ARRAY) {
		err = ddio_get_part(op->part, op->part_len, &array, NULL);
		msg.nparts = 1;
		msg.parts = &array;
	} else if (dd_nodes_have(op, DDIO_FEATURE_FAMILY)) {
		msg.flags |= DDIO_COLL_FAMILIES;
		msg.crowd = op->crowd;
		if (!spread)
			msg.crowd.lo = msg.crowd.hi = msg.crowd.spread = 0;
	} else {
		err = parts_make(&parts, &op->crowd);
		msg.nparts = parts.n;
		msg.parts = parts.part;
	}
	if (!err)
		start = start_put(&msg);
	parts_free(&parts);
	ddio_part_free(&array);
	return start;
}

/* Returns the features that the transfer needs, of nodes. */
static uint64_t start_needs(const struct ddio_op *op)
{
	uint64_t need = 0;

	if (op->clipped)
		need |= DDIO_FEATURE_SHORT;
	if (ddio_map_overlaps(op->whole))
		need |= DDIO_FEATURE_OVERLAP;
	if (op->part_kind == DDIO_PART_VIEW)
		need |= DDIO_FEATURE_VIEW;
	if (op_is_atomic(op))
		need |= DDIO_FEATURE_EPOCH;
	return need;
}

/* Says what needs these features. */
static const char *need_name(uint64_t need)
{
	if (need & DDIO_FEATURE_EPOCH)
		return "an atomic write of";
	if (need & DDIO_FEATURE_VIEW)
		return "views of";
	if (need & DDIO_FEATURE_SHORT)
		return "a read that reaches beyond the end of";
	return "bytes that are named more than once of";
}

/* Checks that every node knows what is asked of it.  A lane that was lost meanwhile cannot be asked. */
static int nodes_able(const struct ddio_op *op, struct error *error)
{
	const struct dd *dd = op->priv;
	uint64_t need = start_needs(op), lacks;
	uint32_t i;

	for (i = 0; i < dd->nnodes; i++) {
		struct lane *lane = dd->lanes[i].lane;

		if (lane->state != LANE_READY)
			continue;
		lacks = need & ~ddio_conn_features(lane->conn);
		if (!lacks)
			continue;
		error_status(error, DDIO_ST_UNSUPPORTED, "node %s (%s) is too old for %s %s",
			     LANE_NAMES(lane), need_name(lacks), op->file->rec.name);
		return error->err;
	}
	return 0;
}

/* Returns true if the node knows descriptions that are spread. */
static bool knows_spread(const struct lane *lane)
{
	return lane->state == LANE_READY && ddio_conn_features(lane->conn) & DDIO_FEATURE_SPREAD;
}

/* Asks the nodes that know of spread descriptions, or those that do not. */
static int nodes_ask(struct ddio_op *op, bool spread, struct error *error)
{
	struct dd_message *start = start_encode(op, spread);
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

		if (!dl->asked || !dl->own || (op->crowd.hi && knows_spread(dl->lane) != spread))
			continue;
		err = start_send(dl->lane, op_number(op), op->file->rec.ref.id, start);
		if (err)
			error_status(error, DDIO_ST_NODE_LOST, "node %s (%s): %s",
				     LANE_NAMES(dl->lane), strerror(-err));
		else if (spread)
			dd_spread_asked(dd, dl);
	}
	dd_message_put(start);
	return err;
}

int dd_launch_rest(struct ddio_op *op, struct error *error)
{
	const struct dd *dd = op->priv;
	uint32_t i;

	for (i = 0; i < dd->nnodes; i++)
		if (dd->lanes[i].asked && !knows_spread(dd->lanes[i].lane))
			return nodes_ask(op, false, error);
	return 0;
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
	err = nodes_able(op, error);
	if (!err)
		err = nodes_ask(op, op->crowd.hi != 0, error);
	if (!err && op->crowd.hi && !dd->unready)
		err = dd_launch_rest(op, error);
	op->messages += n;
	return err;
}
