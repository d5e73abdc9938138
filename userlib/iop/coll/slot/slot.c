// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A slot: a block buffer and a message buffer, the lock of the block, and the disk's requests for it.
 *
 * Each slot holds one block at a time and takes the next of the disk's list when it is done with it, so
 * that with two slots the disk moves one block while connections move the other.
 *
 * Locks and their order.  A slot locks its block in the cache only when all it waits for from then on is the
 * disk: when writing, after the members' pieces have arrived; when reading, until the block is in the buffer.
 * It holds one lock at a time and waits for nothing else while holding it, in particular for no member, no
 * other slot and no other lock.  So in the end every wait for a lock is a wait for a disk request, and no two
 * collectives, slots or requests of the traditional path can wait for each other.  (Scattered blocks are
 * locked many at a time, but only with locks that are free at once: see scatter.c.)
 */
#include <errno.h>
#include <string.h>
#include "iop/coll/core/pool.h"
#include "iop/coll/slot/slot.h"

/* A slot that is held waits for the disk. */
static bool waits_for_disk(const struct coll_slot *slot)
{
	return slot_waits_for_disk(slot->state) || (slot->state == SLOT_IDLE && slot->disk->held);
}

_Static_assert((int)DDIO_TRACE_IDLE == (int)SLOT_IDLE &&
		       (int)DDIO_TRACE_LOCKING == (int)SLOT_LOCKING &&
		       (int)DDIO_TRACE_FEEDING == (int)SLOT_FEEDING &&
		       (int)DDIO_TRACE_READING == (int)SLOT_READING &&
		       (int)DDIO_TRACE_RECORDING == (int)SLOT_DOUBTING &&
		       (int)DDIO_TRACE_WRITING == (int)SLOT_WRITING &&
		       (int)DDIO_TRACE_SENDING == (int)SLOT_SENDING &&
		       (int)DDIO_TRACE_NONE == (int)ASK_NONE &&
		       (int)DDIO_TRACE_TAKEN == (int)ASK_TAKEN &&
		       (int)DDIO_TRACE_ASKED == (int)ASK_ASKED &&
		       (int)DDIO_TRACE_READY == (int)ASK_READY,
	       "a trace has the states as the wire numbers them");

static void slot_trace(const struct coll_slot *slot, enum ddio_trace_kind kind, uint16_t state,
		       const struct coll_block *block)
{
	COLL_TRACE(slot->disk->coll, .kind = kind, .what = state, .place = block->file_block,
		   .disk = slot->disk->disk->number, .slot = (uint16_t)slot_place(slot));
}

void slot_ask_enter(struct coll_slot *slot, enum ask_state state)
{
	struct coll_disk *cd = slot->disk;
	uint32_t place = slot_place(slot);

	slot_set_put(&cd->asks[slot->ask], place, false);
	slot_set_put(&cd->asks[state], place, true);
	slot->ask = state;
	slot_trace(slot, DDIO_TRACE_ASK, (uint16_t)state, &slot->next);
}

void slot_enter(struct coll_slot *slot, enum slot_state state)
{
	struct coll *coll = slot->disk->coll;
	uint64_t now = ddio_env_now(coll->reactor->env);
	bool left = slot_waits_for_disk(slot->state) && !slot_waits_for_disk(state);

	if (waits_for_disk(slot)) {
		coll->done.wait_disk_ns += now - slot->since;
		slot->disk->progress_ns = now;
	} else {
		coll->done.wait_members_ns += now - slot->since;
	}
	slot->since = now;
	slot->state = state;
	slot_set_put(&slot->disk->working, slot_place(slot), state != SLOT_IDLE);
	slot_trace(slot, DDIO_TRACE_SLOT, (uint16_t)state, &slot->at);
	if (left)
		sweep_moved(slot->disk);
}

uint8_t *slot_msg(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;

	if (!cd->msgs)
		cd->msgs = coll_disk_memory(cd, &cd->msg_area);
	return cd->msgs ? cd->msgs + (slot - cd->slot) * cd->stride : NULL;
}

/*
 * Failure of a slot's block or disk
 */
void coll_fail_disk(struct coll_disk *cd, const struct coll_block *at, int err, const char *what)
{
	const char *file = cd->coll->req->start.file.name;
	char buf[128];
	const char *text = strerror_r(-err, buf, sizeof(buf));

	if (at)
		coll_fail_here(cd->coll, DDIO_ST_IO, COLL_NOBODY,
			       "disk %s: %s block %llu of file \"%s\" (byte %llu): %s",
			       cd->disk->name, what, (unsigned long long)at->file_block, file,
			       (unsigned long long)at->lo, text);
	else
		coll_fail_here(cd->coll, DDIO_ST_IO, COLL_NOBODY, "disk %s: %s for file \"%s\": %s",
			       cd->disk->name, what, file, text);
}

void coll_fail_gone(struct coll_slot *slot)
{
	const struct coll_disk *cd = slot->disk;

	coll_fail_here(cd->coll, DDIO_ST_STALE, COLL_NOBODY,
		       "disk %s: block %llu of file \"%s\" (byte %llu) was freed meanwhile",
		       cd->disk->name, (unsigned long long)slot->at.file_block,
		       cd->coll->req->start.file.name, (unsigned long long)slot->at.lo);
}

void coll_fail_sum(struct coll_disk *cd, const struct coll_block *at)
{
	coll_fail_here(cd->coll, DDIO_ST_IO, COLL_NOBODY,
		       "node %s, disk %s: block %llu of file \"%s\" (byte %llu) does not match "
		       "its checksum",
		       iop_node_name(cd->coll->reactor->iop), cd->disk->name,
		       (unsigned long long)at->file_block, cd->coll->req->start.file.name,
		       (unsigned long long)at->lo);
}

void coll_fail_proof(struct coll_disk *cd, const struct coll_block *at)
{
	coll_fail_here(cd->coll, DDIO_ST_IO, COLL_NOBODY,
		       "node %s, disk %s: block %llu of file \"%s\" (byte %llu) changed in the "
		       "node's memory before it was written: write it again",
		       iop_node_name(cd->coll->reactor->iop), cd->disk->name,
		       (unsigned long long)at->file_block, cd->coll->req->start.file.name,
		       (unsigned long long)at->lo);
}

bool slot_checked(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;
	int err = object_check_made(coll_old(cd), slot->at.block, slot->buf, &slot->sums);

	/* A feed may bring or write what is in the buffer next, and makes none. */
	slot->sums.n = 0;
	if (!err)
		return true;
	slot_drop(slot, false);
	if (err == -EBADMSG)
		coll_fail_sum(cd, &slot->at);
	else
		coll_fail_memory(cd->coll);
	return false;
}

/*
 * The lock
 */
static void slot_locked(struct coll_slot *slot)
{
	slot->held = true;
	if (slot->lock.status) {
		int err = slot->lock.status;

		slot_drop(slot, false);
		coll_fail_disk(slot->disk, &slot->at, err, "reading the rest of cached");
	} else {
		slot->disk->coll->ops->locked(slot);
	}
}

static void slot_granted(struct block_lock *lock)
{
	struct coll_slot *slot = lock->arg;

	slot_locked(slot);
	slot->disk->coll->ops->go(slot->disk);
}

void slot_lock(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;

	slot_enter(slot, SLOT_LOCKING);
	slot->lock.block = slot->at.block;
	slot->lock.dirty = NULL;
	slot->lock.newer = false;
	slot->lock.status = 0;
	/* Without an object nobody else can be using the block. */
	if (!cd->obj || cache_lock(cd->disk->cache, &slot->lock))
		slot_locked(slot);
}

void slot_unlock(struct coll_slot *slot, bool stale)
{
	if (slot->held && slot->disk->obj)
		cache_unlock(slot->disk->disk->cache, &slot->lock, stale);
	slot->held = false;
}

void slot_drop(struct coll_slot *slot, bool stale)
{
	slot_unlock(slot, stale);
	slot_enter(slot, SLOT_IDLE);
}

void slot_copy_cached(struct coll_slot *slot)
{
	struct coll *coll = slot->disk->coll;

	memcpy(slot->buf, slot->lock.dirty, coll->block_size);
	ddio_env_charge(coll->reactor->env, DDIO_WORK_COPY, coll->block_size);
	coll->done.cache_blocks++;
}

/*
 * Disk requests
 */
void coll_disk_account(struct coll_disk *cd)
{
	cd->coll->done.disk_requests++;
	ddio_env_charge(cd->coll->reactor->env, DDIO_WORK_DISK, 1);
}

void slot_submit(struct coll_slot *slot, enum ddio_disk_op op, uint64_t offset)
{
	struct coll_disk *cd = slot->disk;
	struct coll *coll = cd->coll;

	slot_enter(slot, op == DDIO_DISK_READ ? SLOT_READING : SLOT_WRITING);
	slot->req.op = op;
	slot->req.offset = offset;
	slot->req.len = coll->block_size;
	slot->req.buf = slot->buf;
	slot->req.sums = cd->obj && object_sums(cd->obj) ? &slot->sums : NULL;
	coll->io++;
	coll_disk_account(cd);
	SLOT_TRACE_DISK(cd, DDIO_TRACE_DISK, slot - cd->slot, op, offset);
	ddio_disk_submit(cd->disk->disk, &slot->req);
}

void slot_moved(struct coll_slot *slot, enum ddio_disk_op op, int status)
{
	struct coll *coll = slot->disk->coll;

	slot->req.op = op;
	slot->req.status = status;
	if (!status) {
		if (op == DDIO_DISK_READ)
			coll->done.disk_read += coll->block_size;
		else
			coll->done.disk_written += coll->block_size;
	}
	coll->ops->moved(slot);
	coll->ops->go(slot->disk);
	coll_kick(coll);
}

static void slot_io_done(struct ddio_disk_req *req)
{
	struct coll_slot *slot = req->arg;

	slot->disk->coll->io--;
	SLOT_TRACE_DISK(slot->disk, DDIO_TRACE_DISK_END, slot - slot->disk->slot, req->op,
			req->offset);
	slot_moved(slot, req->op, req->status);
}

/*
 * From block to block
 */
void slot_init(struct coll_disk *cd, struct coll_slot *slot)
{
	slot->disk = cd;
	slot->number = slot - cd->slot;
	slot->buf = cd->bufs + slot->number * cd->stride;
	slot->lock.obj = cd->obj;
	slot->lock.granted = slot_granted;
	slot->lock.arg = slot;
	slot->req.done = slot_io_done;
	slot->req.arg = slot;
	slot->since = ddio_env_now(cd->coll->reactor->env);
	ddio_list_init(&slot->asking);
	slot_set_put(&cd->asks[ASK_NONE], slot->number, true);
}

void coll_block_set(const struct coll_disk *cd, uint64_t number, struct coll_block *block)
{
	block->block = number;
	block->file_block = number * cd->coll->req->start.file.ndisks + cd->stripe;
	block->lo = block->file_block * cd->coll->block_size;
}

static bool take(struct coll_disk *cd, struct plan_blocks *placed)
{
	uint64_t asked;
	bool more;

	if (!cd->plan.near)
		return plan_next(&cd->plan, placed);
	more = plan_next_near(&cd->plan, cd->disk->disk, placed, &asked);
	ddio_env_charge(cd->coll->reactor->env, DDIO_WORK_SORT, asked);
	return more;
}

struct coll_slot *slot_to_go(const struct coll_disk *cd)
{
	struct coll_slot *slot;

	if (cd->turn_go == cd->turn_next)
		return NULL;
	slot = &cd->slot[cd->by_turn[cd->turn_go % cd->nslots]];
	return slot->ask != ASK_NONE && slot->next.turn == cd->turn_go ? slot : NULL;
}

bool slot_take(struct coll_slot *slot, struct coll_block *block)
{
	struct coll_disk *cd = slot->disk;
	struct plan_blocks placed;

	if (cd->coll->state != COLL_RUNNING || !take(cd, &placed))
		return false;
	coll_block_set(cd, placed.block, block);
	block->sector = placed.sector;
	block->hole = placed.sector == SPAN_HOLE;
	block->turn = cd->turn_next++;
	cd->by_turn[block->turn % cd->nslots] = (uint8_t)slot_place(slot);
	return true;
}
