// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading: a block comes from the disk, by a request or a feed, or from the cache if that holds it dirty, and goes
 * to the members whose bytes are in it, one message each.  Bytes that are contiguous for a member are sent
 * from where they lie in the block; the others are packed into the slot's message buffer, for as many members
 * at a time as fit.
 */
#include <errno.h>
#include <string.h>
#include "iop/coll/slot/slot.h"

static void read_send(struct coll_slot *slot);

/* @checked: in this turn */
static void read_here(struct coll_slot *slot, bool checked)
{
	slot->checked = checked;
	slot_unlock(slot, false);
	if (slot_divide(slot, &slot->at)) {
		slot_enter(slot, SLOT_IDLE);
		coll_fail_memory(slot->disk->coll);
		return;
	}
	slot_offer(slot);
	read_send(slot);
}

static void slot_read_next(struct coll_slot *slot)
{
	slot_enter(slot, SLOT_IDLE);
	slot->disk->source->next(slot);
}

static void read_locked(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;
	uint64_t start, run;
	bool there = false, written = false;

	if (slot->lock.dirty) {
		slot_copy_cached(slot);
		read_here(slot, false);
		return;
	}
	if (cd->obj)
		there = object_lookup(cd->obj, slot->at.block, &start, &run, &written);
	if (there && written && cd->source->fresh(slot, start)) {
		if (slot_checked(slot))
			read_here(slot, true);
	} else if (there && written) {
		slot_submit(slot, DDIO_DISK_READ, start);
	} else if (there || slot->at.hole) {
		memset(slot->buf, 0, cd->coll->block_size);
		read_here(slot, false);
	} else {
		slot_drop(slot, false);
		coll_fail_gone(slot);
	}
}

static void read_moved(struct coll_slot *slot)
{
	if (slot->req.status) {
		slot_drop(slot, false);
		coll_fail_disk(slot->disk, &slot->at, slot->req.status, "reading");
	} else if (slot->disk->coll->state != COLL_RUNNING) {
		slot_drop(slot, false);
	} else if (slot_checked(slot)) {
		read_here(slot, true);
	}
}

/* Packs the messages of members from slot->sent on; returns the first that found no room, or -errno. */
static int64_t pack(struct coll_slot *slot)
{
	struct coll *coll = slot->disk->coll;
	uint8_t *msg = NULL;
	uint32_t used = 0, i, end;

	for (end = slot->sent; end < slot->nparts; end++) {
		struct coll_part *part = &slot->part[end];

		if (part->shared)
			continue;
		part->direct = slot_part_contiguous(part);
		part->where = part->direct ? part->first : used;
		if (part->direct)
			continue;
		if (part->len > coll->block_size - used)
			break;
		if (!msg)
			msg = slot_msg(slot);
		if (!msg)
			break;
		coll->msgs[part->rank] = msg + used;
		used += part->len;
	}
	if (used)
		ddio_map_pack(coll->req->map, slot->at.lo, slot->at.lo + coll->block_size,
			      slot->buf, coll->msgs);
	for (i = slot->sent; i < end; i++)
		coll->msgs[slot->part[i].rank] = NULL;
	return end > slot->sent ? (int64_t)end : -ENOMEM;
}

static void part_sent(struct ddio_send *send, int err)
{
	struct coll_slot *slot = send->arg;
	struct coll_disk *cd = slot->disk;

	(void)err; /* the member's loss is reported by its connection */
	cd->coll->sends--;
	if (--slot->sends)
		return;
	if (cd->coll->state != COLL_RUNNING) {
		slot_enter(slot, SLOT_IDLE);
		coll_kick(cd->coll);
		return;
	}
	read_send(slot);
	ddio_disk_commit(cd->disk->disk);
}

/*
 * Sends a message with its bulk.  If that is whole chunks of the block, the message's checksum is made of those that the block
 * was just compared with: then nothing that happens to the bytes on their way goes unnoticed, and they are not summed again.
 */
static int send_summed(struct coll_slot *slot, const struct coll_part *part, struct ddio_conn *conn,
		       const struct ddio_msg *msg, const void *fixed, size_t len)
{
	uint8_t *from = part->direct ? slot->buf : slot_msg(slot);
	struct iovec iov = { .iov_base = from + part->where, .iov_len = part->len };
	uint32_t sum;

	if (slot->checked && part->direct && ddio_conn_sums(conn) &&
	    object_sum_range(coll_old(slot->disk), slot->at.block, part->first, part->end, &sum))
		return ddio_conn_send_summed(conn, msg, fixed, len, &iov, 1, &slot->send, sum);
	return ddio_conn_send(conn, msg, fixed, len, &iov, 1, &slot->send);
}

static int send_part(struct coll_slot *slot, const struct coll_part *part)
{
	struct coll *coll = slot->disk->coll;
	struct coll_member *m = coll_group_member(coll->group, part->rank);
	struct ddio_msg msg = { .opcode = DDIO_OP_COLL_DATA, .tag = coll->done.op };
	struct ddio_msg_coll_data data = { .op = coll->done.op,
					   .block = slot->at.file_block,
					   .disk = slot->disk->disk->number };
	uint8_t fixed[sizeof(data)];
	ssize_t len;
	int err;

	if (!m)
		return -ENOTCONN;
	data.handle = m->handle;
	memcpy(data.group, coll->group->id, sizeof(data.group));
	len = ddio_put_coll_data(fixed, sizeof(fixed), &data);
	if (len < 0)
		return (int)len;
	slot->send.done = part_sent;
	slot->send.arg = slot;
	err = send_summed(slot, part, m->client->conn, &msg, fixed, (size_t)len);
	if (err)
		return err;
	slot->sends++;
	coll->sends++;
	coll->done.messages++;
	SLOT_TRACE_MESSAGE(coll, DDIO_TRACE_SENT, COLL_DATA, part->rank, slot->at.file_block,
			   part->len);
	coll_charge_part(coll, DDIO_WORK_MEMPUT, part);
	return 0;
}

/* Sends more of the block, or takes the next one if all is copied, too; everything sent before has left. */
static void read_send(struct coll_slot *slot)
{
	struct coll *coll = slot->disk->coll;
	int64_t end;
	int err = 0;

	if (slot->sent == slot->nparts) {
		if (!slot->owed)
			slot_read_next(slot);
		return;
	}
	slot_enter(slot, SLOT_SENDING);
	end = pack(slot);
	while (!err && slot->sent < end) {
		if (!slot->part[slot->sent].shared)
			err = send_part(slot, &slot->part[slot->sent]);
		if (!err)
			slot->sent++;
	}
	/* What is sent later is sent without the lock, and the block's checksums may be those of other bytes by then. */
	slot->checked = false;
	if (err == -ENOTCONN)
		coll_fail_lost(coll, slot->part[slot->sent].rank);
	else if (err || end < 0)
		coll_fail_memory(coll);
	if ((err || end < 0) && !slot->sends)
		slot_enter(slot, SLOT_IDLE);
}

static void read_copied(struct coll_slot *slot)
{
	if (!slot->sends)
		read_send(slot);
}

static void read_begin(struct coll_disk *cd)
{
	uint32_t i;

	for (i = 0; i < cd->nslots && cd->coll->state == COLL_RUNNING; i++)
		slot_read_next(&cd->slot[i]);
}

/* Commits what the slots have submitted; each slot goes on by itself. */
static void read_go(struct coll_disk *cd)
{
	ddio_disk_commit(cd->disk->disk);
}

static void read_resume(struct coll_disk *cd)
{
	uint32_t i;

	for (i = 0; i < cd->nslots && cd->coll->state == COLL_RUNNING; i++)
		if (cd->slot[i].state == SLOT_IDLE)
			slot_read_next(&cd->slot[i]);
	read_go(cd);
}

const struct slot_ops slot_read_ops = {
	.begin = read_begin,
	.locked = read_locked,
	.moved = read_moved,
	.copied = read_copied,
	.go = read_go,
	.resume = read_resume,
	.feed = feed_read,
	.scatter = &scatter_read_ops,
};
