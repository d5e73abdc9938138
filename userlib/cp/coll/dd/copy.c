// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Data of disk-directed transfers through buffers that an I/O processor on this machine shares: copied between the
 * block where the disk has put it, or will take it from, and the user's memory, and then said to be copied.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/priv.h"

#define BATCH 256 /* entries of one answer */

/**
 * struct dd_copy - blocks that a message has told of
 * @done: @ndone of them that were copied and not answered yet
 */
struct dd_copy {
	struct lane *lane;
	struct ddio_op *op;
	const struct ddio_shared *mem;
	uint32_t ndone;
	struct ddio_copied done[BATCH];
};

/* Blocks of a write that wait for the verdict. */
struct dd_copy_wait {
	struct ddio_list link;
	struct ddio_op *op;
	struct ddio_msg_coll_slots msg;
};

/* NULL: nothing waits on the lane, or never did. */
static struct ddio_list *waits_find(struct lane *lane)
{
	return *lane_state(lane, &dd_copy_lane_user);
}

/*
 * From and to memory
 */
struct dd_copy_run {
	uint8_t *block, *memory;
	uint64_t lo;
	bool past;
};

/*
 * A share of so many bytes, of a transfer of so many, has left the caches before the program looks at it: it goes past them, and leaves
 * them to the blocks.  For fewer that takes longer.
 */
#define PAST_SHARE (256u << 10)
#define PAST_ALL (4u << 20)

static bool goes_past(const struct ddio_op *op)
{
	return op->share >= PAST_SHARE && op->hi - op->lo >= PAST_ALL;
}

static int run_take(void *arg, const struct ddio_map_run *run)
{
	const struct dd_copy_run *cr = arg;

	ddio_map_run_take(run, cr->block, cr->lo, cr->memory, cr->past);
	return 0;
}

static int run_give(void *arg, const struct ddio_map_run *run)
{
	const struct dd_copy_run *cr = arg;

	ddio_map_run_give(run, cr->block, cr->lo, cr->memory);
	return 0;
}

static void packed_copy(const struct ddio_op *op, uint64_t lo, uint64_t hi, uint8_t *block)
{
	struct dd_copy_run cr = { .block = block, .memory = op->buf, .lo = lo };

	cr.past = goes_past(op);
	ddio_map_runs_of(op->map, op->rank, lo, hi, op->writing, op->writing ? run_give : run_take,
			 &cr);
}

static int msg_pack(void *arg, const struct ddio_map_run *run)
{
	const struct dd_copy_run *cr = arg;

	ddio_map_run_pack(run, cr->block, cr->lo, cr->memory);
	return 0;
}

static int msg_unpack(void *arg, const struct ddio_map_run *run)
{
	const struct dd_copy_run *cr = arg;

	ddio_map_run_unpack(run, cr->block, cr->lo, cr->memory);
	return 0;
}

/* By way of the block's message, where the memory is not the packed share. */
static int spread_copy(const struct ddio_op *op, uint64_t lo, uint64_t hi, uint64_t len,
		       uint8_t *block)
{
	struct dd_copy_run cr = { .block = block, .memory = malloc(len), .lo = lo };

	if (!cr.memory)
		return -ENOMEM;
	if (op->writing) {
		ddio_memmap_pack(op->memmap, lo, hi, true, cr.memory, op->buf);
		ddio_map_runs_of(op->map, op->rank, lo, hi, true, msg_unpack, &cr);
	} else {
		ddio_map_runs_of(op->map, op->rank, lo, hi, false, msg_pack, &cr);
		ddio_memmap_unpack(op->memmap, lo, hi, cr.memory, op->buf);
	}
	free(cr.memory);
	ddio_env_charge(op->session->env, DDIO_WORK_COPY, len);
	return 0;
}

/* Returns true if the buffers have @len bytes from @offset on. */
static bool lies_within(const struct ddio_shared *mem, uint64_t offset, uint64_t len)
{
	uint64_t size = ddio_shared_len(mem);

	return offset <= size && len <= size - offset;
}

static int block_copy(const struct dd_copy *dc, const struct ddio_slot_at *at)
{
	const struct ddio_op *op = dc->op;
	uint64_t lo = at->block * op->file->rec.ref.block, hi = lo + op->file->rec.ref.block;
	bool packed = at->flags & DDIO_SLOT_PACKED;
	uint8_t *mem;

	if (!lies_within(dc->mem, at->offset, packed ? at->len : hi - lo) ||
	    (packed && !op->writing))
		return -EPROTO;
	if (op->writing ? at->len != ddio_map_put_size(op->map, op->rank, lo, hi)
			: !dd_read_len_ok(op, at->len, lo, &hi))
		return -EPROTO;
	mem = (uint8_t *)ddio_shared_mem(dc->mem) + at->offset;
	ddio_env_charge(op->session->env, DDIO_WORK_SHARED, at->len);
	if (packed)
		ddio_memmap_pack(op->memmap, lo, hi, true, mem, op->buf);
	else if (op->packed)
		packed_copy(op, lo, hi, mem);
	else
		return spread_copy(op, lo, hi, at->len, mem);
	return 0;
}

/*
 * Answers
 */
static int copied_send(struct dd_copy *dc)
{
	struct ddio_msg_coll_copied msg = {
		.op = op_number(dc->op), .rank = dc->op->rank, .n = dc->ndone, .copied = dc->done
	};
	uint8_t buf[64 + sizeof(dc->done)];
	ssize_t len;

	if (!dc->ndone)
		return 0;
	dc->ndone = 0;
	memcpy(msg.group, dc->op->group->id, sizeof(msg.group));
	len = ddio_put_coll_copied(buf, sizeof(buf), &msg);
	if (len < 0)
		return (int)len;
	dc->op->messages++;
	return lane_send(dc->lane, DDIO_OP_COLL_COPIED, msg.op, buf, (size_t)len, NULL, 0, NULL);
}

static int copy_one(struct dd_copy *dc, const struct ddio_slot_at *at)
{
	struct dd *dd = dc->op->priv;
	int err = block_copy(dc, at);

	if (err)
		return err;
	dd->moved += at->len;
	dd->copied += at->len;
	dc->done[dc->ndone++] =
		(struct ddio_copied){ .block = at->block, .disk = at->disk, .slot = at->slot };
	return dc->ndone == BATCH ? copied_send(dc) : 0;
}

static int copy_all(struct lane *lane, struct ddio_op *op, const struct ddio_msg_coll_slots *msg)
{
	const struct attach *at = attach_find(op->group, lane);
	struct dd_copy dc;
	uint32_t i;
	int err = 0;

	dc.lane = lane;
	dc.op = op;
	dc.mem = at ? at->share[op->writing].mem : NULL;
	dc.ndone = 0;
	if (!dc.mem)
		return -EPROTO;
	for (i = 0; i < msg->n && !err; i++)
		err = copy_one(&dc, &msg->at[i]);
	if (!err)
		err = copied_send(&dc);
	if (!err)
		dd_check_end(op);
	return err;
}

/*
 * Messages
 */
/* Checks, before anything is copied, that each block is one of the operation's and has not come yet. */
static int slots_check(struct lane *lane, struct ddio_op *op, const struct ddio_msg_coll_slots *msg)
{
	struct dd *dd = op->priv;
	uint32_t i;
	int err = 0;

	for (i = 0; i < msg->n && !err; i++) {
		if (!dd_block_is_here(op, lane, msg->at[i].block, msg->at[i].disk))
			return -EPROTO;
		err = blockset_add(&dd->seen, msg->at[i].block);
	}
	return err == -EEXIST ? -EPROTO : err;
}

/* Keeps the blocks until the verdict; takes over what @msg has allocated. */
static int slots_keep(struct lane *lane, struct ddio_op *op, struct ddio_msg_coll_slots *msg)
{
	void **state = lane_state(lane, &dd_copy_lane_user);
	struct dd_copy_wait *wait = malloc(sizeof(*wait));

	if (!*state && wait) {
		*state = malloc(sizeof(struct ddio_list));
		if (*state)
			ddio_list_init(*state);
	}
	if (!wait || !*state) {
		free(wait);
		return -ENOMEM;
	}
	wait->op = op;
	wait->msg = *msg;
	msg->at = NULL;
	ddio_list_add(&wait->link, *state);
	return 0;
}

static int slots_take(struct lane *lane, struct ddio_op *op, struct ddio_msg_coll_slots *msg)
{
	int err = slots_check(lane, op, msg);

	if (err)
		return err;
	op->messages++;
	/* Not before the verdict has said whose the bytes are. */
	if (op->writing && op->phase == PHASE_AGREEING && op_yields(op))
		return slots_keep(lane, op, msg);
	return copy_all(lane, op, msg);
}

static int dd_slots(struct lane *lane, const void *payload, size_t len)
{
	struct ddio_msg_coll_slots msg;
	struct ddio_op *op;
	int err = ddio_get_coll_slots(payload, len, &msg);

	if (err)
		return err;
	op = dd_find(lane, msg.handle, msg.op);
	if (op)
		err = slots_take(lane, op, &msg);
	free(msg.at);
	return err;
}

static void wait_free(struct dd_copy_wait *wait)
{
	ddio_list_del(&wait->link);
	free(wait->msg.at);
	free(wait);
}

static void wait_serve(struct lane *lane, struct dd_copy_wait *wait)
{
	struct ddio_op *op = wait->op;
	struct error error;
	int err = copy_all(lane, op, &wait->msg);

	wait_free(wait);
	if (!err)
		return;
	error_set(&error, err, "write of %s: blocks for node %s (%s): %s", op->file->rec.name,
		  LANE_NAMES(lane), strerror(-err));
	op_fail(op, &error);
}

static struct dd_copy_wait *wait_next(struct lane *lane)
{
	struct ddio_list *waits = waits_find(lane);
	struct dd_copy_wait *wait;

	if (!waits || lane->state != LANE_READY)
		return NULL;
	ddio_list_for_each_entry(wait, waits, link)
		if (wait->op->phase != PHASE_AGREEING)
			return wait;
	return NULL;
}

static void node_copy_go(const struct cluster_node *node)
{
	struct dd_copy_wait *wait;
	uint32_t r;

	for (r = 0; r < node->nlanes; r++)
		while (node->lanes[r] && (wait = wait_next(node->lanes[r])))
			wait_serve(node->lanes[r], wait);
}

void dd_copy_go(struct ddio_session *session)
{
	uint32_t i;

	for (i = 0; i < session->conf->nnodes; i++)
		node_copy_go(node_look(session, i));
}

void dd_copy_stop(struct ddio_op *op)
{
	struct dd_copy_wait *wait, *tmp;
	struct dd *dd = op->priv;
	uint32_t i;

	for (i = 0; i < dd->nlanes; i++) {
		struct ddio_list *waits = waits_find(dd->lanes[i].lane);

		if (!waits)
			continue;
		ddio_list_for_each_entry_safe(wait, tmp, waits, link)
			if (wait->op == op)
				wait_free(wait);
	}
}

static const struct lane_handler copy_handlers[] = {
	{ .opcode = DDIO_OP_COLL_SLOTS, .message = dd_slots },
	{ .opcode = 0 },
};

const struct lane_user dd_copy_lane_user = { .handlers = copy_handlers, .free = free };
