// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Before a transfer: gives I/O processors on this machine access to the memory.
 *
 * Each node's reactor 0 is asked once per group for the group's joint.  If it comes, node and
 * process share a kernel; then, for each transfer, the memory is joined to it and the node is
 * told so, before rank 0 can start the operation.  If any of this fails, the data go by messages.
 *
 * Once a membership has ended nothing touches the memory any more, so that it can be
 * given back to the user whatever the I/O processors are doing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/priv.h"

/* Pinning less costs more than copying it. */
#define JOIN_MIN (64u << 10)

static bool worth_it(const struct ddio_op *op)
{
	return op->packed && op->share >= JOIN_MIN && !op->failed.status &&
	       !(op->flags & (DDIO_XFER_NO_SCATTER | DDIO_XFER_NO_BATCH));
}

static struct attach *attach_of(const struct dd *dd, uint32_t node)
{
	return attach_find(dd->op->group, dd->lanes[node].lane);
}

/*
 * The second step: the memory
 */
static void joined_told(struct request_set *set, uint64_t key, const struct reply *reply,
			struct error *error)
{
	struct dd *dd = set->arg;

	(void)key;
	(void)reply;
	(void)error;
	dd->may_scatter = true;
}

/* A node that did not answer does not use the memory, or is lost and the transfer fails. */
static void joined(struct request_set *set)
{
	struct dd *dd = set->arg;

	if (!dd->may_scatter)
		dd_join_end(dd);
	dd_share_begin(dd);
}

static void pin_refused(const struct ddio_op *op, int err)
{
	struct ddio_session *s = op->session;

	/* An earlier operation still has its memory there. */
	if (err == -EEXIST || s->transfers->told_unpinned)
		return;
	s->transfers->told_unpinned = true;
	ddio_env_log(s->env, DDIO_LOG_INFO,
		     "cannot pin %llu bytes (%s): this transfer and others like it go by messages",
		     (unsigned long long)op->share, strerror(-err));
}

static void memory_join(struct dd *dd, uint32_t node)
{
	const struct ddio_op *op = dd->op;
	const struct attach *at = attach_of(dd, node);
	struct ddio_msg_coll_join msg = { .op = op_number(op) };
	uint8_t buf[64];
	ssize_t len;
	int err;

	if (!at || !at->joint)
		return;
	err = ddio_joint_join(at->joint, op->rank, op->buf, op->share, op->writing,
			      &dd->membership[node]);
	if (err) {
		pin_refused(op, err);
		return;
	}
	memcpy(msg.group, op->group->id, sizeof(msg.group));
	len = ddio_put_coll_join(buf, sizeof(buf), &msg);
	if (len > 0)
		request_set_lane(&dd->joining, at->lane, DDIO_OP_COLL_JOIN, buf, (size_t)len, node);
}

static void memories_join(struct dd *dd)
{
	uint32_t i;

	request_set_begin(&dd->joining, dd->op->session, "join memory", joined, dd);
	dd->joining.reply = joined_told;
	if (!dd->op->failed.status)
		dd->membership = calloc(dd->nnodes, sizeof(struct ddio_membership *));
	for (i = 0; dd->membership && i < dd->nnodes; i++)
		memory_join(dd, i);
	request_set_end(&dd->joining);
}

/*
 * The first step: the joints
 */
static void joint_comes(struct request_set *set, uint64_t key, const struct reply *reply,
			struct error *error)
{
	struct attach *at = attach_of(set->arg, (uint32_t)key);

	(void)reply;
	(void)error;
	if (at && at->box && ddio_mailbox_take(at->box, &at->joint))
		at->joint = NULL;
}

/* A joint that has not come by now never will. */
static void joints_known(struct request_set *set)
{
	struct dd *dd = set->arg;
	struct attach *at;
	uint32_t i;

	for (i = 0; i < dd->nnodes; i++) {
		at = attach_of(dd, i);
		if (at)
			attach_box_close(&at->box);
	}
	memories_join(dd);
}

static void joint_ask(struct dd *dd, uint32_t node)
{
	struct attach *at = attach_of(dd, node);
	struct ddio_msg_joint msg;
	uint8_t buf[128];
	ssize_t len;

	if (!at || at->asked)
		return;
	at->asked = true;
	at->box = calloc(1, sizeof(*at->box));
	if (!at->box || ddio_mailbox_open(dd->op->session->env, at->box)) {
		free(at->box);
		at->box = NULL;
		return;
	}
	memcpy(msg.group, dd->op->group->id, sizeof(msg.group));
	memcpy(msg.token, at->box->token, sizeof(msg.token));
	memcpy(msg.name, at->box->name, sizeof(msg.name));
	len = ddio_put_joint(buf, sizeof(buf), &msg);
	if (len > 0)
		request_set_lane(&dd->joining, at->lane, DDIO_OP_JOINT, buf, (size_t)len, node);
}

void dd_join_begin(struct dd *dd)
{
	uint32_t i;

	if (!dd->lanes || !worth_it(dd->op)) {
		dd_share_begin(dd);
		return;
	}
	request_set_begin(&dd->joining, dd->op->session, "find the I/O processors on this machine",
			  joints_known, dd);
	dd->joining.reply = joint_comes;
	for (i = 0; i < dd->nnodes; i++)
		joint_ask(dd, i);
	request_set_end(&dd->joining);
}

void dd_join_end(struct dd *dd)
{
	uint32_t i;

	for (i = 0; dd->membership && i < dd->nnodes; i++) {
		ddio_membership_end(dd->membership[i]);
		dd->membership[i] = NULL;
	}
}
