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
	bool straight = false;
	uint32_t used = 0, i;
	uint8_t *msg;

	for (i = 0; i < slot->nparts; i++) {
		struct coll_part *part = &slot->part[i];

		part->shared = slot_shares(slot, part->rank);
		part->direct = goes_straight(slot, part);
		part->owed = OWED_ASKED;
		part->iov.iov_len = part->len;
		if (part->direct) {
			straight = true;
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
	slot_set_put(&slot->disk->straight, slot_place(slot), straight);
	return 0;
}

static int slot_prepare(struct coll_slot *slot)
{
	int err = slot_divide(slot, &slot->next);

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
	struct slot_set coming = slot_set_or(&cd->asks[ASK_ASKED], &cd->asks[ASK_READY]), busy;

	if (coll_req_flag(cd->coll->req, DDIO_COLL_NO_BATCH) || slot_set_empty(&coming))
		return false;
	busy = cd->source->busy(cd);
	return slot_set_count(&busy) > cd->nslots / 2;
}

/* It is idle, or nothing of its next block goes straight into its block buffer. */
static void slot_ask(struct coll_slot *slot, bool straight)
{
	uint32_t i;

	if (straight && !slot->disk->source->bind(slot))
		return;
	for (i = 0; straight && i < slot->nparts; i++)
		if (slot->part[i].direct)
			slot->part[i].iov.iov_base = slot->buf + slot->part[i].first;
	slot_ask_enter(slot, ASK_ASKED);
	slot_tell(slot);
}

/* Slots without a next block take one each while there are some: 0 or -ENOMEM. */
static int take_blocks(struct coll_disk *cd)
{
	struct slot_set without = cd->asks[ASK_NONE];
	uint32_t i;
	int err = 0;

	while (!err && (i = slot_set_take(&without)) < cd->nslots &&
	       slot_take(&cd->slot[i], &cd->slot[i].next))
		err = slot_prepare(&cd->slot[i]);
	return err;
}

void coll_ask(struct coll_disk *cd)
{
	struct slot_set asking;
	uint32_t i;

	if (take_blocks(cd)) {
		coll_fail_memory(cd->coll);
		return;
	}
	if (can_wait(cd))
		return;
	asking = slot_set_but(&cd->asks[ASK_TAKEN], &cd->straight, &cd->working);
	while ((i = slot_set_take(&asking)) < cd->nslots)
		slot_ask(&cd->slot[i], slot_set_has(&cd->straight, i));
}
