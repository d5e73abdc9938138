// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing: when all pieces of a block are here, and it is the block's turn in the order of the disk's list, the
 * block is locked in the cache; bytes that nobody sends are taken from there or from the disk, and the block
 * is written.
 *
 * A block that is not wholly covered keeps its other bytes, whatever the size of the file was when the
 * request was made: another client may have written them since.  All its pieces go to the message buffer, since the
 * old bytes arrive later.
 */
#include <string.h>
#include "iop/coll/slot/slot.h"

/* Puts what is in the message buffer, which is free afterwards, into the block at @to. */
static void unpack(struct coll_slot *slot, uint8_t *to)
{
	struct coll *coll = slot->disk->coll;
	uint8_t *msg = slot->disk->msgs ? slot_msg(slot) : NULL;
	bool packed = false;
	uint32_t i;

	for (i = 0; i < slot->nparts; i++) {
		if (slot->part[i].direct)
			continue;
		coll->msgs[slot->part[i].rank] = msg + slot->part[i].where;
		packed = true;
	}
	if (packed)
		ddio_map_unpack(coll->req->map, slot->at.lo, slot->at.lo + coll->block_size, to,
				(const void *const *)coll->msgs);
	for (i = 0; i < slot->nparts; i++)
		coll->msgs[slot->part[i].rank] = NULL;
	slot_ask_enter(slot, ASK_NONE);
}

static void write_recorded(struct commit *commit, int err);

/* Writes the slot's block, or waits until the store has recorded that it may change. */
static void write_begin(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;
	int ret = object_write_begin(cd->obj, slot->at.block);

	if (!ret) {
		cd->source->write(slot);
	} else if (ret < 0) {
		slot_drop(slot, false);
		coll_fail_disk(cd, &slot->at, ret, "writing");
	} else {
		object_write_soon(cd->obj, slot->at.block);
		slot_enter(slot, SLOT_DOUBTING);
		slot->doubt.done = write_recorded;
		slot->doubt.arg = slot;
		slot->doubt.early = true;
		cd->coll->io++;
		store_commit(cd->disk->store, &slot->doubt);
	}
}

static void write_recorded(struct commit *commit, int err)
{
	struct coll_slot *slot = commit->arg;
	struct coll_disk *cd = slot->disk;

	cd->coll->io--;
	if (!err && cd->coll->state == COLL_RUNNING) {
		write_begin(slot);
	} else {
		slot_drop(slot, false);
		if (err)
			coll_fail_disk(cd, &slot->at, err, "writing");
	}
	ddio_disk_commit(cd->disk->disk);
	coll_kick(cd->coll);
}

/* Writes the block, all of which is in the two buffers. */
static void write_block(struct coll_slot *slot)
{
	slot->proof = slot->arrived;
	unpack(slot, slot->buf);
	write_begin(slot);
}

/* Finds the smallest range of the block that has all bytes that somebody sends; returns its length. */
static uint32_t sent_range(const struct coll_slot *slot, uint32_t *first)
{
	uint32_t end = 0, i;

	*first = UINT32_MAX;
	for (i = 0; i < slot->nparts; i++) {
		*first = slot->part[i].first < *first ? slot->part[i].first : *first;
		end = slot->part[i].end > end ? slot->part[i].end : end;
	}
	return end - *first;
}

/*
 * Returns true if the block is one that the next collective is likely to complete, as those at both ends of a range
 * are: its bytes are contiguous, and need not be durable in the end.  It goes to the cache, which writes it when
 * it is complete.  A block with gaps goes to the disk at once, in the order of the list; so does every block of a feed,
 * which the disk has been told of.
 */
static bool is_end(const struct coll_slot *slot)
{
	const struct coll_disk *cd = slot->disk;
	uint32_t first;

	return slot->merge && cd->source == &by_request &&
	       !coll_req_flag(cd->coll->req, DDIO_COLL_SYNC) &&
	       sent_range(slot, &first) == slot->covered;
}

/* Leaves the block to the cache, if that has room for it just now. */
static bool write_to_cache(struct coll_slot *slot)
{
	struct cache *cache = slot->disk->disk->cache;
	uint8_t *room = cache_lock_room(cache, &slot->lock);
	uint32_t first, len;

	if (!room)
		return false;
	unpack(slot, room);
	len = sent_range(slot, &first);
	cache_lock_put(cache, &slot->lock, first, len);
	slot_drop(slot, false);
	coll_kick(slot->disk->coll);
	return true;
}

static void write_locked(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;
	uint64_t run, from;
	bool written;

	if (!object_target(cd->obj, slot->at.block, &slot->offset, &run, &written)) {
		slot_drop(slot, false);
		coll_fail_gone(slot);
		return;
	}
	from = slot->offset;
	if (slot->merge)
		object_lookup(coll_old(cd), slot->at.block, &from, &run, &written);
	if (slot->merge && slot->lock.part && write_to_cache(slot))
		return;
	if (slot->merge && slot->lock.dirty) {
		slot_copy_cached(slot);
	} else if (slot->merge && written) {
		slot_submit(slot, DDIO_DISK_READ, from);
		return;
	} else if (slot->merge) {
		memset(slot->buf, 0, cd->coll->block_size);
	}
	write_block(slot);
}

/* Returns true unless the block was to hold other bytes than those that were written. */
static bool write_proved(const struct coll_slot *slot)
{
	const struct coll_disk *cd = slot->disk;

	return slot->proof.len < cd->coll->block_size ||
	       object_prove(cd->obj, slot->at.block, slot->proof.sum);
}

static void write_moved(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;
	bool writing = slot->req.op == DDIO_DISK_WRITE;
	int err = slot->req.status;

	if (writing && err)
		object_write_end(cd->obj, slot->at.block, false, NULL);
	else if (writing)
		err = object_write_made(cd->obj, slot->at.block, slot->buf, &slot->sums);
	if (err) {
		/* If the cache holds the block dirty, those bytes are still better than the disk's. */
		slot_drop(slot, writing && !slot->lock.newer);
		coll_fail_disk(cd, &slot->at, err,
			       writing ? "writing" : "reading the old bytes of");
	} else if (writing) {
		slot_drop(slot, true);
		if (!write_proved(slot))
			coll_fail_proof(cd, &slot->at);
	} else if (cd->coll->state != COLL_RUNNING) {
		slot_drop(slot, false);
	} else if (slot_checked(slot)) {
		write_block(slot);
	}
}

/* All other pieces have come before, or @slot->owed would count them. */
static void write_copied(struct coll_slot *slot)
{
	slot_ask_enter(slot, ASK_READY);
}

static struct coll_slot *slot_due(struct coll_disk *cd)
{
	struct coll_slot *slot = slot_to_go(cd);

	if (!slot || slot->ask != ASK_READY || slot->state != SLOT_IDLE || !cd->source->bind(slot))
		return NULL;
	return sweep_take(cd) ? slot : NULL;
}

static void write_go(struct coll_disk *cd)
{
	struct coll_slot *slot;

	while (cd->coll->state == COLL_RUNNING && (slot = slot_due(cd))) {
		cd->turn_go++;
		sweep_taken(cd, slot->next.sector);
		cd->source->take(slot);
		slot->lock.part = cache_takes_ends(cd->disk->cache) &&
				  (!slot->merge || is_end(slot));
		slot_lock(slot);
	}
	if (cd->coll->state == COLL_RUNNING)
		coll_ask(cd);
	ddio_disk_commit(cd->disk->disk);
}

const struct slot_ops slot_write_ops = {
	.begin = coll_ask,
	.locked = write_locked,
	.moved = write_moved,
	.copied = write_copied,
	.go = write_go,
	.resume = write_go,
	.feed = feed_write,
	.scatter = &scatter_write_ops,
};
