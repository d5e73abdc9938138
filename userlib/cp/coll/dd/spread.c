// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Long irregular descriptions do not go through rank 0: members spread them.  They agree on the bounds only, and each node
 * asks each of them for what concerns the node.  So that nothing moves before all is checked, the nodes say when they are
 * ready, and rank 0 lets them go when all are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/priv.h"
#include "cp/coll/spread.h"

/*
 * Telling
 */
/* Returns true if the node has one of the blocks in which the piece lies. */
static bool piece_concerns(const struct ddio_op *op, const struct cluster_node *node,
			   const struct ddio_extent *e)
{
	const struct ddio_file_record *rec = &op->file->rec;
	const struct ddio_conf *conf = op->session->conf;
	uint64_t b = e->offset / rec->ref.block, n;

	n = (e->offset + e->len - 1) / rec->ref.block - b + 1;
	if (n > rec->ndisks)
		n = rec->ndisks;
	for (; n; n--, b++)
		if (conf->disks[rec->disks[b % rec->ndisks]].node == node->index)
			return true;
	return false;
}

/* Finds the pieces of the share, the first time that a node asks.  Return: 0 or -ENOMEM. */
static int pieces_find(struct ddio_op *op)
{
	struct dd *dd = op->priv;

	if (!dd->spread)
		dd->spread = spread_pieces(op, &dd->nspread);
	return dd->spread ? 0 : -ENOMEM;
}

/* Returns those that concern the node, *@n of them; NULL without memory. */
static struct ddio_extent *pieces_for(struct ddio_op *op, const struct cluster_node *node,
				      uint64_t *n)
{
	const struct dd *dd = op->priv;
	struct ddio_extent *e;
	uint64_t i;

	*n = 0;
	e = pieces_find(op) ? NULL : malloc((dd->nspread + 1) * sizeof(*e));
	for (i = 0; e && i < dd->nspread; i++)
		if (piece_concerns(op, node, &dd->spread[i]))
			e[(*n)++] = dd->spread[i];
	return e;
}

static struct dd_message *told_encode(struct ddio_op *op, const struct cluster_node *node)
{
	struct ddio_msg_coll_told msg = { .op = op_number(op) };
	struct ddio_part part = { .kind = DDIO_PART_LIST };
	struct dd_message *message = NULL;
	struct ddio_extent *e = pieces_for(op, node, &part.n);
	ssize_t len;

	part.list = e;
	memcpy(msg.group, op->group->id, sizeof(msg.group));
	if (e && !ddio_crowd_one(&msg.crowd, op->rank, &part)) {
		len = ddio_put_coll_told(NULL, 0, &msg);
		message = dd_message_new((size_t)len);
		if (message)
			ddio_put_coll_told(message->data, (size_t)len, &msg);
	}
	ddio_coll_told_free(&msg);
	free(e);
	return message;
}

static int told_send(struct lane *lane, struct ddio_op *op)
{
	struct dd_asked *asked = dd_asked_get(lane, &dd_spread_lane_user);
	struct dd_message *message = asked ? told_encode(op, lane->node) : NULL;
	int err;

	if (!message)
		return -ENOMEM;
	err = dd_message_send(lane, DDIO_OP_COLL_TOLD, op_number(op), message, &asked->past,
			      &asked->sent);
	if (err)
		dd_asked_forget(lane, &dd_spread_lane_user);
	dd_message_put(message);
	return err;
}

static struct dd_lane *dl_find(struct dd *dd, const struct lane *lane)
{
	uint32_t i;

	for (i = 0; i < dd->nlanes; i++)
		if (dd->lanes[i].lane == lane)
			return &dd->lanes[i];
	return NULL;
}

static void spread_fail(struct ddio_op *op, const struct lane *lane, int err)
{
	struct error error;
	char what[DDIO_MAX_TEXT];

	op_describe(op, what);
	error_set(&error, err, "%.300s: the description for node %s (%s): %s", what,
		  LANE_NAMES(lane), strerror(-err));
	op_fail(op, &error);
}

/*
 * A node asks.  It may know the group from an earlier operation, and have nothing of this one.  The operation of a member
 * that wants nothing is at its end with the verdict, which may come first.
 */
static int dd_tell(struct lane *lane, const void *payload, size_t len)
{
	struct ddio_msg_coll_step msg;
	struct dd_lane *dl;
	struct ddio_op *op;
	int err = ddio_get_coll_step(payload, len, &msg);

	op = err ? NULL : dd_find_told(lane, msg.handle, msg.op);
	if (!op)
		return err;
	dl = dl_find(op->priv, lane);
	if (lane->reactor || (dl && dl->spread) || op->part_kind == DDIO_PART_ARRAY)
		return -EPROTO;
	if (dl)
		dl->spread = true;
	op->messages += 2;
	err = told_send(lane, op);
	/* A member at the end can say that only by going. */
	if (err && op->phase > PHASE_MOVING)
		return err;
	if (err)
		spread_fail(op, lane, err);
	return 0;
}

/*
 * Rank 0
 */
void dd_spread_asked(struct dd *dd, struct dd_lane *dl)
{
	dl->unready = true;
	dd->unready++;
}

static int go_send(struct ddio_op *op, struct lane *lane)
{
	struct ddio_msg_coll_join msg = { .op = op_number(op) };
	uint8_t buf[REQUEST_INLINE];
	ssize_t len;

	memcpy(msg.group, op->group->id, sizeof(msg.group));
	len = ddio_put_coll_join(buf, sizeof(buf), &msg);
	op->messages++;
	return len < 0 ? (int)len
		       : lane_send(lane, DDIO_OP_COLL_GO, op_number(op), buf, (size_t)len, NULL, 0,
				   NULL);
}

/* Every node that was to say so is ready. */
static void spread_go(struct ddio_op *op)
{
	struct dd *dd = op->priv;
	uint32_t i;
	int err;

	for (i = 0; i < dd->nnodes; i++) {
		struct lane *lane = dd->lanes[i].lane;

		if (!dd->lanes[i].ready)
			continue;
		err = go_send(op, lane);
		if (err) {
			spread_fail(op, lane, err);
			return;
		}
	}
}

static int dd_ready(struct lane *lane, const void *payload, size_t len)
{
	struct ddio_msg_coll_step msg;
	struct dd_lane *dl;
	struct ddio_op *op;
	struct dd *dd;
	int err = ddio_get_coll_step(payload, len, &msg);

	op = err ? NULL : dd_find(lane, msg.handle, msg.op);
	if (!op)
		return err;
	dd = op->priv;
	dl = dl_find(dd, lane);
	if (!dl || !dl->unready)
		return -EPROTO;
	dl->unready = false;
	dl->ready = true;
	op->messages++;
	if (!--dd->unready)
		spread_go(op);
	return 0;
}

static void told_lost(struct lane *lane, const struct error *error)
{
	(void)error;
	dd_asked_forget(lane, &dd_spread_lane_user);
}

static const struct lane_handler spread_handlers[] = {
	{ .opcode = DDIO_OP_COLL_TELL, .message = dd_tell },
	{ .opcode = DDIO_OP_COLL_READY, .message = dd_ready },
	{ .opcode = 0 },
};

const struct lane_user dd_spread_lane_user = {
	.handlers = spread_handlers,
	.lost = told_lost,
	.free = dd_asked_free,
};
