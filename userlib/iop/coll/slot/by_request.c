// SPDX-License-Identifier: LGPL-2.1-or-later
/* Blocks that move by a disk request each, in the order of the list. */
#include "iop/coll/slot/slot.h"

static void request_next(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;

	if (!sweep_take(cd))
		return;
	if (slot_take(slot, &slot->at)) {
		sweep_taken(cd, slot->at.sector);
		slot_lock(slot);
	} else {
		coll_kick(cd->coll);
	}
}

/* The block is read under its lock, not before. */
static bool request_fresh(const struct coll_slot *slot, uint64_t offset)
{
	(void)slot;
	(void)offset;
	return false;
}

/* Any buffer will do. */
static bool request_bind(struct coll_slot *slot)
{
	(void)slot;
	return true;
}

static void request_take(struct coll_slot *slot)
{
	slot->at = slot->next;
}

static struct slot_set request_busy(const struct coll_disk *cd)
{
	return cd->working;
}

static void request_write(struct coll_slot *slot)
{
	slot_submit(slot, DDIO_DISK_WRITE, slot->offset);
}

const struct source_ops by_request = {
	.next = request_next,
	.fresh = request_fresh,
	.bind = request_bind,
	.take = request_take,
	.busy = request_busy,
	.write = request_write,
};
