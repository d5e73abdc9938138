// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A feed that reads.  Nobody holds a lock while the disk reads.  When a block has come it is locked as it would
 * be before a request, and what the feed brought is used if nothing was written there since the feed was
 * opened; otherwise the block is read again, by a request, under the lock.  Blocks of which the cache
 * holds newer bytes when the list is given to the disk, and holes, are kept for afterwards and then moved one by
 * one, so that the disk reads nothing that nobody needs.
 */
#include <errno.h>
#include <string.h>
#include "iop/coll/slot/slot.h"

static uint64_t to_come(const struct coll_disk *cd)
{
	return cd->plan.left + cd->feed.given - cd->feed.came;
}

/* Leaves the slot to the disk to fill, unless the other slots already wait for all that is to come. */
static void slot_wait(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;
	uint64_t waiting = 0;
	uint32_t i;

	slot->fed = NULL;
	for (i = 0; i < cd->nslots; i++)
		waiting += cd->slot[i].state == SLOT_FEEDING;
	if (waiting < to_come(cd))
		slot_enter(slot, SLOT_FEEDING);
}

static void feed_read_next(struct coll_slot *slot)
{
	bool fed = slot->fed;

	slot_wait(slot);
	if (fed)
		ddio_disk_stream_release(slot->disk->feed.stream, slot->number);
}

static bool feed_read_fresh(const struct coll_slot *slot, uint64_t offset)
{
	return slot->fed && slot->fed->offset == offset &&
	       ddio_disk_stream_fresh(slot->disk->feed.stream, slot->fed);
}

static const struct source_ops feed_read_source = {
	.next = feed_read_next,
	.fresh = feed_read_fresh,
};

/*
 * What the disk's engine calls
 */
static bool read_list(void *ctx, struct ddio_disk_block *block)
{
	struct coll_disk *cd = ctx;
	struct feed *feed = &cd->feed;
	struct plan_blocks next;

	while (!feed->no_memory && plan_next(&cd->plan, &next)) {
		if (next.sector != SPAN_HOLE &&
		    !cache_newer(cd->disk->cache, cd->obj, next.block)) {
			block->offset = next.sector * SPAN_SECTOR;
			block->cookie = next.block;
			feed->given++;
			return true;
		}
		feed->no_memory = plan_add(&feed->rest, &next);
	}
	return false;
}

static void read_slot(void *ctx, uint32_t number, const struct ddio_disk_block *block, int status)
{
	struct coll_disk *cd = ctx;
	struct coll_slot *slot = &cd->slot[number];
	struct coll *coll = cd->coll;

	cd->feed.came++;
	if (coll->state != COLL_RUNNING) {
		slot_enter(slot, SLOT_IDLE);
		return;
	}
	coll_disk_account(cd);
	SLOT_TRACE_DISK(cd, DDIO_TRACE_DISK_END, number, DDIO_DISK_READ, block->offset);
	coll_block_set(cd, block->cookie, &slot->at);
	slot->at.hole = false;
	slot->fed = block;
	if (status) {
		slot_enter(slot, SLOT_IDLE);
		coll_fail_disk(cd, &slot->at, status, "reading");
		return;
	}
	coll->done.disk_read += coll->block_size;
	slot_lock(slot);
	ddio_disk_commit(cd->disk->disk);
}

/* Reads by requests the blocks that the feed did not have. */
static void read_rest(struct coll_disk *cd)
{
	plan_free(&cd->plan);
	cd->plan = cd->feed.rest;
	memset(&cd->feed.rest, 0, sizeof(cd->feed.rest));
	plan_rotate(&cd->plan, 0);
	cd->coll->ops->begin(cd);
	ddio_disk_commit(cd->disk->disk);
}

static void read_ended(void *ctx, int status)
{
	struct coll_disk *cd = ctx;
	uint32_t i;

	for (i = 0; i < cd->nslots; i++) {
		if (cd->slot[i].state == SLOT_FEEDING)
			slot_enter(&cd->slot[i], SLOT_IDLE);
		cd->slot[i].fed = NULL;
	}
	feed_over(cd);
	if (cd->coll->state != COLL_RUNNING)
		return;
	if (status)
		coll_fail_disk(cd, NULL, status, "reading");
	else if (cd->feed.no_memory)
		coll_fail_memory(cd->coll);
	else
		read_rest(cd);
}

static const struct ddio_disk_stream_ops read_ops = {
	.next = read_list,
	.slot = read_slot,
	.ended = read_ended,
};

int feed_read(struct coll_disk *cd)
{
	struct plan plan = cd->plan;
	int err;

	cd->feed.rest.sectors = plan.sectors;
	err = feed_open(cd, DDIO_DISK_READ, &read_ops);
	if (!err) {
		cd->source = &feed_read_source;
		return 0;
	}
	/* Some of the list may have been handed out already. */
	cd->plan = plan;
	plan_free(&cd->feed.rest);
	cd->feed.given = 0;
	cd->feed.no_memory = false;
	return err;
}
