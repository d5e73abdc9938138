// SPDX-License-Identifier: LGPL-2.1-or-later
/* The request of a disk-directed transfer, from rank 0 to every node. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/priv.h"

/* The encoded request: one copy for all nodes. */
struct dd_start {
	uint32_t refs;
	uint8_t data[];
};

/* One node's: what differs from what it was asked before, or all of it. */
struct dd_start_send {
	struct ddio_send send;
	struct dd_start *start;
	struct ddio_past_code code;
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

/* NULL without memory. */
static struct dd_asked *asked_get(struct lane *lane)
{
	void **state = lane_state(lane, &dd_start_lane_user);

	if (!*state)
		*state = calloc(1, sizeof(struct dd_asked));
	return *state;
}

static void asked_forget(struct lane *lane)
{
	struct dd_asked *asked = *lane_state(lane, &dd_start_lane_user);

	if (asked)
		ddio_past_clear(&asked->past);
}

static void asked_lost(struct lane *lane, const struct error *error)
{
	(void)error;
	asked_forget(lane);
}

static void asked_free(void *state)
{
	struct dd_asked *asked = state;

	ddio_past_clear(&asked->past);
	free(asked);
}

const struct lane_user dd_start_lane_user = { .lost = asked_lost, .free = asked_free };

static int start_send(struct lane *lane, uint64_t number, struct dd_start *start, size_t len)
{
	struct dd_start_send *ss = malloc(sizeof(*ss));
	struct dd_asked *asked = asked_get(lane);
	struct iovec iov[2];
	bool again;
	int n = 0, err;

	if (!ss || !asked) {
		free(ss);
		return -ENOMEM;
	}
	again = lane->state == LANE_READY && ddio_conn_features(lane->conn) & DDIO_FEATURE_AGAIN;
	ss->send.done = start_sent;
	ss->start = start;
	start->refs++;
	ss->code.whole = true;
	if (again) {
		ddio_past_put(&asked->past, start->data, len, &ss->code);
		iov[n++] = (struct iovec){ ss->code.bytes, ss->code.len };
		asked->sent += ss->code.len;
	}
	if (ss->code.whole) {
		iov[n++] = (struct iovec){ start->data, len };
		asked->sent += len;
	}
	err = lane_send(lane, again ? DDIO_OP_COLL_AGAIN : DDIO_OP_COLL_START, number, NULL, 0, iov,
			n, &ss->send);
	if (err) {
		asked_forget(lane);
		start_sent(&ss->send, err);
	}
	return err;
}

/* Returns true if every node has the feature. */
static bool nodes_have(const struct ddio_op *op, uint64_t feature)
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
	if (op->flags & DDIO_XFER_NO_BATCH)
		flags |= DDIO_COLL_NO_BATCH;
	if (op->clipped)
		flags |= DDIO_COLL_SHORT;
	if (ddio_map_overlaps(op->whole))
		flags |= DDIO_COLL_OVERLAP;
	if (op->flags & DDIO_XFER_NO_SHARE && nodes_have(op, DDIO_FEATURE_SHARE))
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
static struct dd_start *start_put_message(const struct ddio_msg_coll_start *msg, size_t *len)
{
	struct dd_start *start = NULL;
	ssize_t n = ddio_put_coll_start(NULL, 0, msg);

	/* A byte may come in front of it. */
	if (n > 0 && n < (ssize_t)DDIO_MAX_PAYLOAD)
		start = malloc(sizeof(*start) + (size_t)n);
	if (start) {
		start->refs = 1;
		ddio_put_coll_start(start->data, (size_t)n, msg);
		*len = (size_t)n;
	}
	return start;
}

static struct dd_start *start_encode(struct ddio_op *op, size_t *len)
{
	struct ddio_msg_coll_start msg = { .op = op->turn.number,
					   .flags = start_flags(op),
					   .nprocs = op->nprocs,
					   .timeout_ns = op->session->timeout_ns,
					   .file_size = op->file_size,
					   .file = op->file->rec };
	struct ddio_part array = { 0 };
	struct dd_parts parts = { 0 };
	struct dd_start *start = NULL;
	int err = 0;

	memcpy(msg.group, op->group->id, sizeof(msg.group));
	if (nodes_have(op, DDIO_FEATURE_NEED))
		msg.flags |= DDIO_COLL_NEED;
	if (op->part_kind == DDIO_PART_ARRAY) {
		err = ddio_get_part(op->part, op->part_len, &array, NULL);
		msg.nparts = 1;
		msg.parts = &array;
	} else if (nodes_have(op, DDIO_FEATURE_FAMILY)) {
		msg.flags |= DDIO_COLL_FAMILIES;
		msg.crowd = op->crowd;
	} else {
		err = parts_make(&parts, &op->crowd);
		msg.nparts = parts.n;
		msg.parts = parts.part;
	}
	if (!err)
		start = start_put_message(&msg, len);
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
	return need;
}

/* Says what needs these features. */
static const char *need_name(uint64_t need)
{
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

int dd_launch(struct ddio_op *op, struct error *error)
{
	struct dd *dd = op->priv;
	struct dd_start *start;
	size_t len;
	uint32_t i, n;
	int err = 0;

	if (op->failed.status) {
		*error = op->failed;
		return op->failed.err;
	}
	/* Nothing is wanted: no node is asked. */
	n = dd_reach(dd);
	if (!n)
		return 0;
	err = nodes_able(op, error);
	if (err)
		return err;
	start = start_encode(op, &len);
	if (!start) {
		error_set(error, -E2BIG,
			  "the members' descriptions together are too long for one message");
		return -E2BIG;
	}
	dd->launched = true;
	for (i = 0; i < dd->nnodes && !err; i++) {
		if (!dd->lanes[i].asked)
			continue;
		err = start_send(dd->lanes[i].lane, op->turn.number, start, len);
		if (err)
			error_status(error, DDIO_ST_NODE_LOST, "node %s (%s): %s",
				     LANE_NAMES(dd->lanes[i].lane), strerror(-err));
	}
	start_put(start);
	op->messages += n;
	return err;
}
