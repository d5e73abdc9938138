// SPDX-License-Identifier: GPL-2.0-only
/* A request's way through a disk. */
#include <linux/blk-mq.h>
#include <linux/bvec.h>

#include "hpd.h"

static struct request *cmd_request(struct hpd_cmd *cmd)
{
	return blk_mq_rq_from_pdu(cmd);
}

/*
 * Ends
 */

/* Inserts a command by due time, after equal ones.  The caller holds hpd->lock. */
static void pending_insert(struct hpd *hpd, struct hpd_cmd *cmd)
{
	struct hpd_cmd *before;

	list_for_each_entry_reverse(before, &hpd->pending, entry)
		if (before->due <= cmd->due)
			break;
	list_add(&cmd->entry, &before->entry);
}

/* Takes what is due out of the list and sets the timer for the rest. */
static void pending_take(struct hpd *hpd, struct list_head *due)
{
	ktime_t now = ktime_get();
	struct hpd_cmd *cmd, *next;

	list_for_each_entry_safe(cmd, next, &hpd->pending, entry) {
		if (hpd->off)
			cmd->status = BLK_STS_IOERR;
		else if (hpd->faults.stall)
			return;
		else if (cmd->due > now)
			break;
		cmd->pending = false;
		list_move_tail(&cmd->entry, due);
	}
	cmd = list_first_entry_or_null(&hpd->pending, struct hpd_cmd, entry);
	if (cmd && cmd->due != KTIME_MAX)
		hrtimer_start(&hpd->timer, cmd->due, HRTIMER_MODE_ABS_PINNED);
}

/**
 * hpd_run - end the commands whose time has come
 * @hpd: the disk
 */
void hpd_run(struct hpd *hpd)
{
	struct hpd_cmd *cmd, *next;
	unsigned long flags;
	LIST_HEAD(due);

	spin_lock_irqsave(&hpd->lock, flags);
	pending_take(hpd, &due);
	spin_unlock_irqrestore(&hpd->lock, flags);
	list_for_each_entry_safe(cmd, next, &due, entry)
		blk_mq_complete_request(cmd_request(cmd));
}

/* Ends the stall: every command that was held ends when the drive is done with it. */
void hpd_stall_end(struct hpd *hpd)
{
	struct hpd_cmd *cmd, *next;
	unsigned long flags;
	LIST_HEAD(all);

	spin_lock_irqsave(&hpd->lock, flags);
	hpd->faults.stall = false;
	list_splice_init(&hpd->pending, &all);
	list_for_each_entry_safe(cmd, next, &all, entry) {
		cmd->held = false;
		cmd->due = cmd->drive_due;
		pending_insert(hpd, cmd);
	}
	spin_unlock_irqrestore(&hpd->lock, flags);
	hpd_run(hpd);
}

enum hrtimer_restart hpd_timer(struct hrtimer *timer)
{
	hpd_run(container_of(timer, struct hpd, timer));
	return HRTIMER_NORESTART;
}

static void hpd_complete_rq(struct request *rq)
{
	struct hpd_cmd *cmd = blk_mq_rq_to_pdu(rq);

	blk_mq_end_request(rq, cmd->status);
}

/* Only commands that a fault holds time out; others are merely slow. */
static enum blk_eh_timer_return hpd_timeout_rq(struct request *rq)
{
	struct hpd *hpd = rq->q->queuedata;
	struct hpd_cmd *cmd = blk_mq_rq_to_pdu(rq);
	unsigned long flags;
	bool stalled;

	spin_lock_irqsave(&hpd->lock, flags);
	stalled = cmd->pending && (cmd->held || hpd->faults.stall) && hpd->settings.timeout_ms;
	if (stalled) {
		cmd->pending = false;
		cmd->status = BLK_STS_TIMEOUT;
		list_del(&cmd->entry);
		hpd->counts.timeouts++;
	}
	spin_unlock_irqrestore(&hpd->lock, flags);
	if (!stalled)
		return BLK_EH_RESET_TIMER;
	blk_mq_complete_request(rq);
	return BLK_EH_DONE;
}

/*
 * Beginnings
 */
static int data_move(struct hpd *hpd, struct request *rq)
{
	u64 pos = (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	bool write = op_is_write(req_op(rq));
	struct req_iterator iter;
	struct bio_vec bvec;
	int err = 0;
	void *data;

	rq_for_each_segment(bvec, rq, iter) {
		data = bvec_kmap_local(&bvec);
		if (write)
			err = hpd_store_write(&hpd->store, pos, data, bvec.bv_len);
		else
			err = hpd_store_read(&hpd->store, pos, data, bvec.bv_len);
		kunmap_local(data);
		if (err)
			break;
		pos += bvec.bv_len;
	}
	return err;
}

static blk_status_t data_do(struct hpd *hpd, struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		return errno_to_blk_status(data_move(hpd, rq));
	case REQ_OP_DISCARD:
	case REQ_OP_WRITE_ZEROES:
		hpd_store_zero(&hpd->store, (u64)blk_rq_pos(rq) << SECTOR_SHIFT, blk_rq_bytes(rq));
		return BLK_STS_OK;
	default:
		return BLK_STS_OK;
	}
}

/* Returns true if the drive gets this command, and as which *@op. */
static bool drive_op(struct request *rq, enum hp97560_op *op)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		*op = HP97560_READ;
		return true;
	case REQ_OP_WRITE:
	case REQ_OP_WRITE_ZEROES:
		*op = HP97560_WRITE;
		return true;
	case REQ_OP_FLUSH:
		*op = HP97560_FLUSH;
		return true;
	default:
		return false;
	}
}

static void count_op(struct hpd *hpd, struct request *rq)
{
	if (req_op(rq) == REQ_OP_DISCARD) {
		hpd->counts.discards++;
		hpd->counts.discard_sectors += blk_rq_sectors(rq);
	} else if (req_op(rq) == REQ_OP_WRITE_ZEROES) {
		hpd->counts.zeroes++;
		hpd->counts.zero_sectors += blk_rq_sectors(rq);
	} else if (req_op(rq) == REQ_OP_WRITE && rq->cmd_flags & REQ_FUA) {
		hpd->counts.fua_writes++;
	}
}

static void count_status(struct hpd *hpd, blk_status_t status)
{
	hpd->counts.errors += status != BLK_STS_OK;
	hpd->counts.no_space += status == BLK_STS_NOSPC;
	hpd->counts.no_memory += status == BLK_STS_RESOURCE;
}

/* Applies injected faults to a command of the drive. */
static void cmd_fault(struct hpd *hpd, struct hpd_cmd *cmd)
{
	struct request *rq = cmd_request(cmd);
	u32 late_us;

	spin_lock_irq(&hpd->lock);
	hpd_faults_bad(&hpd->faults, blk_rq_pos(rq), blk_rq_sectors(rq), &cmd->status);
	cmd->held = hpd_faults_hold(&hpd->faults);
	late_us = hpd->faults.stall_us;
	hpd->counts.held += cmd->held;
	spin_unlock_irq(&hpd->lock);
	if (cmd->held)
		cmd->due = late_us ? ktime_add_us(ktime_get(), late_us) : KTIME_MAX;
	if (cmd->held && late_us && cmd->due < cmd->drive_due)
		cmd->due = cmd->drive_due;
}

static void cmd_do(struct hpd *hpd, struct hpd_cmd *cmd)
{
	struct request *rq = cmd_request(cmd);
	enum hp97560_op op;
	int err;

	if (hpd->settings.read_only && op_is_write(req_op(rq))) {
		cmd->status = BLK_STS_IOERR;
		return;
	}
	if (drive_op(rq, &op)) {
		err = hpd_bus_submit(hpd, op, blk_rq_pos(rq), blk_rq_sectors(rq),
				     rq->cmd_flags & REQ_FUA, &cmd->drive_due);
		if (err) {
			cmd->status = BLK_STS_IOERR;
			return;
		}
		cmd->due = cmd->drive_due;
		cmd_fault(hpd, cmd);
	}
	if (!cmd->status)
		cmd->status = data_do(hpd, rq);
}

/* Returns true if the command is the first to end. */
static bool cmd_pend(struct hpd *hpd, struct hpd_cmd *cmd)
{
	bool first;

	spin_lock_irq(&hpd->lock);
	count_op(hpd, cmd_request(cmd));
	count_status(hpd, cmd->status);
	cmd->pending = true;
	pending_insert(hpd, cmd);
	first = list_is_first(&cmd->entry, &hpd->pending);
	spin_unlock_irq(&hpd->lock);
	return first;
}

static blk_status_t hpd_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct hpd *hpd = hctx->queue->queuedata;
	struct hpd_cmd *cmd = blk_mq_rq_to_pdu(bd->rq);
	bool first;

	memset(cmd, 0, sizeof(*cmd));
	blk_mq_start_request(bd->rq);
	mutex_lock(&hpd->io_lock);
	cmd_do(hpd, cmd);
	first = cmd_pend(hpd, cmd);
	mutex_unlock(&hpd->io_lock);
	if (first)
		hpd_run(hpd);
	return BLK_STS_OK;
}

const struct blk_mq_ops hpd_mq_ops = {
	.queue_rq = hpd_queue_rq,
	.complete = hpd_complete_rq,
	.timeout = hpd_timeout_rq,
};
