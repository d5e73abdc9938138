// SPDX-License-Identifier: LGPL-2.1-or-later
/* One disk's part of a collective: its slots, and how its blocks are moved: scattered first, then the others. */
#include <errno.h>
#include <stdlib.h>
#include "iop/coll/slot/slot.h"

static size_t buffer_stride(const struct coll_disk *cd)
{
	size_t align = ddio_disk_info(cd->disk->disk)->align;
	size_t size = cd->coll->block_size;

	return align > 1 ? (size + align - 1) / align * align : size;
}

/* With half of its blocks in buffers that are shared, a disk works while members do; a turn costs each of these a wake-up. */
static uint64_t bytes_auto(const struct coll_disk *cd)
{
	uint64_t half = cd->plan.blocks * cd->stride / 2;

	if (!cd->coll->share || half < SLOTS_AUTO_BYTES)
		return SLOTS_AUTO_BYTES;
	return half < SLOTS_SHARED_BYTES ? half : SLOTS_SHARED_BYTES;
}

/*
 * How many nobody has said.  Two keep a disk busy whose arm takes its time, as in the papers: one block moves between
 * it and the medium while the other goes to members, or comes.  Where blocks are there at once, members and
 * disk take turns instead, each woken for what the other has made ready by then: the more that is, the fewer turns.
 */
static uint32_t slots_auto(const struct coll_disk *cd)
{
	const struct ddio_disk_info *info = ddio_disk_info(cd->disk->disk);
	uint64_t bytes = SLOTS_AUTO_ALL / cd->coll->ndisks;

	if (info->positions || info->streams || cd->coll->reactor->memory >= SLOTS_AUTO_HELD)
		return 2;
	if (bytes > bytes_auto(cd))
		bytes = bytes_auto(cd);
	return bytes / cd->stride > 2 ? (uint32_t)(bytes / cd->stride) : 2;
}

static uint32_t slots_wanted(const struct coll_disk *cd)
{
	const struct ddio_iop *iop = cd->coll->reactor->iop;
	uint32_t n = cd->coll->req->start.buffers;

	if (!n)
		n = iop->conf->nodes[iop->node].buffers;
	if (!n)
		n = slots_auto(cd);
	if (n > COLL_MAX_BUFFERS)
		n = COLL_MAX_BUFFERS;
	return n < cd->plan.blocks ? n : cd->plan.blocks;
}

int coll_disk_buffers(struct coll_disk *cd)
{
	uint32_t n, i;

	cd->stride = buffer_stride(cd);
	n = slots_wanted(cd);
	if (!n)
		return 0;
	cd->nslots = n;
	cd->bufs = coll_disk_memory(cd, &cd->buf_area);
	cd->slot = cd->bufs ? calloc(n, sizeof(*cd->slot)) : NULL;
	if (!cd->slot) {
		/* Better no slot than one that was not initialized. */
		coll_disk_memory_free(cd, cd->bufs, &cd->buf_area);
		cd->bufs = NULL;
		cd->nslots = 0;
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		slot_init(cd, &cd->slot[i]);
	cd->source = &by_request;
	cd->coll->nslots += n;
	cd->disk->coll_buffers += n;
	if (n > cd->disk->coll_max_buffers)
		cd->disk->coll_max_buffers = n;
	if (n > cd->coll->done.buffers)
		cd->coll->done.buffers = n;
	return 0;
}

void coll_disk_free(struct coll_disk *cd)
{
	uint32_t i;

	sweep_leave(cd);
	coll_scatter_free(cd);
	if (cd->bufs)
		cd->disk->coll_buffers -= cd->nslots;
	coll_disk_memory_free(cd, cd->bufs, &cd->buf_area);
	coll_disk_memory_free(cd, cd->msgs, &cd->msg_area);
	for (i = 0; i < cd->nslots; i++)
		free(cd->slot[i].part);
	free(cd->slot);
	free(cd->feed.grant);
	plan_free(&cd->plan);
	plan_free(&cd->feed.rest);
	if (cd->obj)
		object_put(cd->obj);
}

/* Returns true if the disk may be given its whole list, which it may not if the blocks are chosen one by one. */
static bool can_feed(const struct coll_disk *cd)
{
	return cd->nslots && !cd->plan.near && ddio_disk_info(cd->disk->disk)->streams;
}

/* Moves the blocks that are not scattered through the slots: by a feed if possible, otherwise by requests. */
static void disk_slots(struct coll_disk *cd)
{
	if (can_feed(cd))
		(void)cd->coll->ops->feed(cd);
	sweep_join(cd);
	cd->coll->ops->begin(cd);
	ddio_disk_commit(cd->disk->disk);
}

void coll_disk_run(struct coll_disk *cd)
{
	if (!coll_scatter_begin(cd, disk_slots))
		disk_slots(cd);
}

bool coll_disk_idle(const struct coll_disk *cd)
{
	if (cd->feed.stream || cd->scatter || cd->plan.left)
		return false;
	return slot_set_empty(&cd->working) && slot_set_count(&cd->asks[ASK_NONE]) == cd->nslots;
}

/* Only locks and questions can be called back, not what the disk or connections have begun. */
static void slot_stop(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;
	uint32_t i;

	for (i = 0; slot->ask == ASK_ASKED && i < slot->nparts; i++)
		if (slot->part[i].owed == OWED_COMING)
			coll_group_discard(cd->coll->group, slot->part[i].rank);
	slot_share_stop(slot);
	ddio_list_del(&slot->asking);
	slot_ask_enter(slot, ASK_NONE);
	if (slot->state != SLOT_LOCKING)
		return;
	if (!slot->held)
		cache_lock_cancel(cd->disk->cache, &slot->lock);
	slot_enter(slot, SLOT_IDLE);
}

void coll_disk_stop(struct coll_disk *cd)
{
	uint32_t i;

	coll_hold_stop(cd);
	sweep_leave(cd);
	for (i = 0; i < cd->nslots; i++)
		slot_stop(&cd->slot[i]);
	if (cd->feed.stream)
		ddio_disk_stream_cancel(cd->feed.stream);
	coll_scatter_stop(cd);
}
