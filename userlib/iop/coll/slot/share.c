// SPDX-License-Identifier: LGPL-2.1-or-later
/* Slots in shared buffers: which members copy their parts of a block by themselves. */
#include "iop/coll/slot/slot.h"

bool slot_shares(const struct coll_slot *slot, uint32_t rank)
{
	const struct coll *coll = slot->disk->coll;
	const struct coll_member *m;

	if (!slot->disk->buf_area.len)
		return false;
	m = coll_group_member(coll->group, rank);
	return m && m->shares[coll_writes(coll)] &&
	       ddio_map_share_size(coll->req->map, rank) >= coll->reactor->share_min;
}

void slot_offer(struct coll_slot *slot)
{
	uint32_t i;

	slot->owed = 0;
	for (i = 0; i < slot->nparts; i++) {
		slot->part[i].shared = slot_shares(slot, slot->part[i].rank);
		slot->owed += slot->part[i].shared;
	}
	if (slot->owed)
		slot_tell(slot);
}

bool slot_waits(const struct coll_slot *slot)
{
	bool waits = coll_writes(slot->disk->coll) ? slot->ask == ASK_ASKED
						   : slot->state == SLOT_SENDING && slot->owed;

	return waits && ddio_list_empty(&slot->asking);
}

void slot_share_stop(const struct coll_slot *slot)
{
	struct coll *coll = slot->disk->coll;
	uint32_t i;

	if (!coll_writes(coll) || slot->ask != ASK_ASKED)
		return;
	for (i = 0; i < slot->told; i++)
		if (slot->part[i].shared && slot->part[i].owed != OWED_HERE)
			coll->share->spoiled = true;
}
