// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing: asks members for their pieces of blocks, ahead of the disk.
 *
 * A slot asks for its next block while the last one is still being written, unless a large piece is to
 * go straight into the block buffer.  With many members, small messages are the greatest cost of a write: so
 * questions of several slots and disks go to a member in one message, and so do the answers, and a slot waits
 * for the others as long as the disk has enough to do.
 */
#include <errno.h>
#include "iop/coll/slot/slot.h"

/* Pieces of this size or more go straight into the block buffer: copying them would cost more than asking for
 * them ahead gains. */
#define STRAIGHT_MIN (64u << 10)

/*
 * Where the pieces of a block go
 */
static bool goes_straight(const struct coll_slot *slot, const struct coll_part *part)
{
	if (slot->merge)
		return false;
	return part->shared || (part->len >= STRAIGHT_MIN && slot_part_contiguous(part));
}

static int place_parts(struct coll_slot *slot)
{
	uint32_t used = 0, i;
	uint8_t *msg;

	slot->straight = false;
	for (i = 0; i < slot->nparts; i++) {
		struct coll_part *part = &slot->part[i];

		part->shared = slot_shares(slot, part->rank);
		part->direct = goes_straight(slot, part);
		part->owed = OWED_ASKED;
		part->iov.iov_len = part->len;
		if (part->direct) {
			slot->straight = true;
			continue;
		}
		msg = slot_msg(slot);
		if (!msg)
			return -ENOMEM;
		/* Its member cannot copy to memory that it has not. */
		part->shared = part->shared && slot->disk->msg_area.len;
		part->where = used;
		part->iov.iov_base = msg + used;
		used += part->len;
	}
	return 0;
}

static int slot_prepare(struct coll_slot *slot)
{
	int err;

	if (slot->ask != ASK_NONE || !slot_take(slot, &slot->next))
		return 0;
	err = slot_divide(slot, &slot->next);
	if (err)
		return err;
	slot->arrived = (struct coll_proof){ 0 };
	slot->merge = slot->covered < slot->disk->coll->block_size;
	slot->owed = slot->nparts;
	slot_ask_enter(slot, ASK_TAKEN);
	return place_parts(slot);
}

/*
 * Returns true if the disk has enough to do for the next questions to wait for one another: something is on
 * its way, and more than half of the blocks are at the disk, so that it does not run out of work.
 */
static bool can_wait(const struct coll_disk *cd)
{
	uint32_t busy = 0, coming = 0, i;

	if (coll_req_flag(cd->coll->req, DDIO_COLL_NO_BATCH))
		return false;
	for (i = 0; i < cd->nslots; i++) {
		busy += cd->source->busy(&cd->slot[i]);
		coming += cd->slot[i].ask == ASK_ASKED || cd->slot[i].ask == ASK_READY;
	}
	return coming && busy > cd->nslots / 2;
}

static void slot_ask(struct coll_slot *slot)
{
	uint32_t i;

	if (slot->ask != ASK_TAKEN ||
	    (slot->straight && (slot->state != SLOT_IDLE || !slot->disk->source->bind(slot))))
		return;
	for (i = 0; slot->straight && i < slot->nparts; i++)
		if (slot->part[i].direct)
			slot->part[i].iov.iov_base = slot->buf + slot->part[i].first;
	slot_ask_enter(slot, ASK_ASKED);
	slot_tell(slot);
}

void coll_ask(struct coll_disk *cd)
{
	uint32_t i;

	for (i = 0; i < cd->nslots; i++) {
		if (slot_prepare(&cd->slot[i])) {
			coll_fail_memory(cd->coll);
			return;
		}
	}
	if (can_wait(cd))
		return;
	for (i = 0; i < cd->nslots; i++)
		slot_ask(&cd->slot[i]);
}
