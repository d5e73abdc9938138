// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The buffers that the blocks of one disk stream through.
 *
 * Each slot holds one block at a time and takes the next of the disk's list
 * when it is done with it, so that with two slots the disk moves one block while
 * connections move the other.
 *
 * Locks and their order.  A slot locks its block in the cache only when all it
 * waits for from then on is the disk: after the members' pieces have come when
 * writing, until the block is in the buffer when reading.  It holds one lock at
 * a time and waits for nothing else while holding it, in particular for no
 * member, no other slot and no other lock.  So whoever waits for a lock waits for
 * a disk request in the end, and no two collectives, slots or requests of the
 * traditional path can wait for each other.  (What is scattered takes locks of many
 * blocks, but only those that are free at once: see scatter.c.)
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/coll/coll.h"

static bool slot_waits_for_disk(enum slot_state state)
{
	return state == SLOT_LOCKING || state == SLOT_READING || state == SLOT_WRITING;
}

void slot_enter(struct coll_slot *slot, enum slot_state state)
{
	struct coll *coll = slot->disk->coll;
	uint64_t now = ddio_env_now(coll->reactor->env);

	if (slot_waits_for_disk(slot->state)) {
		coll->done.wait_disk_ns += now - slot->since;
		slot->disk->progress_ns = now;
	} else {
		coll->done.wait_members_ns += now - slot->since;
	}
	slot->since = now;
	slot->state = state;
}

/*
 * The parts of a block
 */
struct divide {
	struct coll *coll;
	struct coll_slot *slot;
	uint64_t lo;
	uint64_t runs;
};

static struct coll_part *part_new(struct coll_slot *slot, uint32_t rank)
{
	struct coll_part *part;

	if (slot->nparts == slot->cap) {
		uint32_t cap = slot->cap ? slot->cap * 2 : 16;

		part = realloc(slot->part, cap * sizeof(*part));
		if (!part)
			return NULL;
		slot->part = part;
		slot->cap = cap;
	}
	part = &slot->part[slot->nparts++];
	memset(part, 0, sizeof(*part));
	part->rank = rank;
	part->first = UINT32_MAX;
	return part;
}

static int divide_run(void *arg, const struct ddio_run *run)
{
	struct divide *dv = arg;
	struct coll_part *part;
	uint32_t *index = &dv->coll->index[run->proc];
	uint64_t first = run->file_off - dv->lo, end = first + run->len, pieces = 1;
	uint32_t i;

	if (!*index) {
		part = part_new(dv->slot, run->proc);
		if (!part)
			return -ENOMEM;
		*index = dv->slot->nparts;
	}
	part = &dv->slot->part[*index - 1];
	for (i = 0; i < run->nlevels; i++) {
		pieces *= run->level[i].count;
		end += (run->level[i].count - 1) * run->level[i].file_stride;
	}
	part->len += pieces * run->len;
	part->pieces += pieces;
	if (first < part->first)
		part->first = first;
	if (end > part->end)
		part->end = end;
	dv->runs++;
	return 0;
}

static int part_compare(const void *a, const void *b)
{
	const struct coll_part *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void parts_sort(struct coll_slot *slot)
{
	uint32_t i;

	for (i = 1; i < slot->nparts; i++) {
		if (slot->part[i - 1].rank > slot->part[i].rank) {
			qsort(slot->part, slot->nparts, sizeof(*slot->part), part_compare);
			return;
		}
	}
}

int slot_divide(struct coll_slot *slot, const struct coll_block *block)
{
	struct coll *coll = slot->disk->coll;
	struct divide dv = { .coll = coll, .slot = slot, .lo = block->lo };
	uint64_t hi = block->lo + coll->block_size;
	uint32_t i;
	int err;

	slot->nparts = 0;
	slot->sent = 0;
	err = ddio_map_runs(coll->req->map, block->lo, hi, coll_writes(coll), divide_run, &dv);
	for (i = 0; i < slot->nparts; i++)
		coll->index[slot->part[i].rank] = 0;
	ddio_env_charge(coll->reactor->env, DDIO_WORK_RUNS, dv.runs);
	if (err)
		return err;
	parts_sort(slot);
	slot->covered = ddio_map_covered(coll->req->map, block->lo, hi);
	coll->done.bytes_needed += slot->covered;
	return 0;
}

/*
 * Without batching every contiguous piece of a message would have been a Memput
 * or Memget of its own.
 */
void coll_charge_part(struct coll *coll, enum ddio_work work, const struct coll_part *part)
{
	struct ddio_env *env = coll->reactor->env;
	uint32_t i;

	ddio_env_charge(env, DDIO_WORK_PIECES, part->pieces * ddio_map_ndims(coll->req->map));
	if (!coll_req_flag(coll->req, DDIO_COLL_NO_BATCH)) {
		if (part->pieces > 1)
			ddio_env_charge(env, DDIO_WORK_GATHER, part->pieces);
		ddio_env_charge(env, work, part->len);
		return;
	}
	for (i = 0; i < part->pieces; i++)
		ddio_env_charge(env, work, part->len / part->pieces);
}

/*
 * Buffers
 */
static size_t buffer_stride(const struct coll_disk *cd)
{
	size_t align = ddio_disk_info(cd->disk->disk)->align;
	size_t size = cd->coll->block_size;

	return align > 1 ? (size + align - 1) / align * align : size;
}

static void *buffers_new(struct coll_disk *cd)
{
	return coll_buffer_get(cd->coll->reactor, cd->stride * cd->nslots);
}

static void buffers_free(struct coll_disk *cd, void *buf)
{
	coll_buffer_put(cd->coll->reactor, buf, cd->stride * cd->nslots);
}

uint8_t *slot_msg(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;

	if (!cd->msgs)
		cd->msgs = buffers_new(cd);
	return cd->msgs ? cd->msgs + (slot - cd->slot) * cd->stride : NULL;
}

static uint32_t slots_wanted(const struct coll_disk *cd)
{
	const struct ddio_iop *iop = cd->coll->reactor->iop;
	uint32_t n = cd->coll->req->start.buffers;

	if (!n)
		n = iop->conf->nodes[iop->node].buffers;
	if (!n)
		n = 2;
	if (n > COLL_MAX_BUFFERS)
		n = COLL_MAX_BUFFERS;
	return n < cd->plan.blocks ? n : cd->plan.blocks;
}

static void slot_granted(struct block_lock *lock);
static void slot_io_done(struct ddio_disk_req *req);
static void slot_send_done(struct ddio_send *send, int err);

static void slot_init(struct coll_disk *cd, struct coll_slot *slot)
{
	slot->disk = cd;
	slot->number = slot - cd->slot;
	slot->buf = cd->bufs + slot->number * cd->stride;
	slot->lock.obj = cd->obj;
	slot->lock.granted = slot_granted;
	slot->lock.arg = slot;
	slot->req.done = slot_io_done;
	slot->req.arg = slot;
	slot->send.done = slot_send_done;
	slot->send.arg = slot;
	slot->since = ddio_env_now(cd->coll->reactor->env);
	ddio_list_init(&slot->asking);
}

int coll_disk_buffers(struct coll_disk *cd)
{
	uint32_t n = slots_wanted(cd), i;

	if (!n)
		return 0;
	cd->stride = buffer_stride(cd);
	cd->nslots = n;
	cd->bufs = buffers_new(cd);
	cd->slot = cd->bufs ? calloc(n, sizeof(*cd->slot)) : NULL;
	if (!cd->slot) {
		/* No slot is better than one that was not made ready. */
		buffers_free(cd, cd->bufs);
		cd->bufs = NULL;
		cd->nslots = 0;
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		slot_init(cd, &cd->slot[i]);
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

	coll_scatter_free(cd);
	if (cd->bufs)
		cd->disk->coll_buffers -= cd->nslots;
	buffers_free(cd, cd->bufs);
	buffers_free(cd, cd->msgs);
	for (i = 0; i < cd->nslots; i++)
		free(cd->slot[i].part);
	free(cd->slot);
	free(cd->grant);
	plan_free(&cd->plan);
	if (!coll_writes(cd->coll))
		plan_free(&cd->list);
	if (cd->obj)
		object_put(cd->obj);
}

/*
 * Locks and disk requests
 */
static bool stopped(const struct coll_slot *slot)
{
	return slot->disk->coll->state != COLL_RUNNING;
}

static void slot_locked(struct coll_slot *slot)
{
	slot->held = true;
	if (slot->lock.status) {
		int err = slot->lock.status;

		slot_unlock(slot, false);
		slot_enter(slot, SLOT_IDLE);
		coll_fail_disk(slot->disk, &slot->at, err, "reading the rest of cached");
	} else if (coll_writes(slot->disk->coll)) {
		slot_write_locked(slot);
	} else {
		slot_read_locked(slot);
	}
}

static void slot_granted(struct block_lock *lock)
{
	struct coll_slot *slot = lock->arg;

	slot_locked(slot);
	if (coll_writes(slot->disk->coll))
		coll_write_go(slot->disk);
	ddio_disk_commit(slot->disk->disk->disk);
}

void slot_lock(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;

	slot_enter(slot, SLOT_LOCKING);
	slot->lock.block = slot->at.block;
	slot->lock.dirty = NULL;
	slot->lock.status = 0;
	/* Without an object there is nothing that anybody could be doing to the block. */
	if (!cd->obj || cache_lock(cd->disk->cache, &slot->lock))
		slot_locked(slot);
}

void slot_unlock(struct coll_slot *slot, bool stale)
{
	if (slot->held && slot->disk->obj)
		cache_unlock(slot->disk->disk->cache, &slot->lock, stale);
	slot->held = false;
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
	coll->io++;
	coll->done.disk_requests++;
	ddio_env_charge(coll->reactor->env, DDIO_WORK_DISK, 1);
	ddio_disk_submit(cd->disk->disk, &slot->req);
}

void slot_moved(struct coll_slot *slot, enum ddio_disk_op op, int status)
{
	struct coll_disk *cd = slot->disk;
	struct coll *coll = cd->coll;

	slot->req.op = op;
	slot->req.status = status;
	if (!status) {
		if (op == DDIO_DISK_READ)
			coll->done.disk_read += coll->block_size;
		else
			coll->done.disk_written += coll->block_size;
	}
	if (coll_writes(coll)) {
		slot_write_done(slot);
		coll_write_go(cd);
	} else {
		slot_read_done(slot);
	}
	ddio_disk_commit(cd->disk->disk);
	coll_kick(coll);
}

static void slot_io_done(struct ddio_disk_req *req)
{
	struct coll_slot *slot = req->arg;

	slot->disk->coll->io--;
	slot_moved(slot, req->op, req->status);
}

static void slot_send_done(struct ddio_send *send, int err)
{
	struct coll_slot *slot = send->arg;
	struct coll_disk *cd = slot->disk;

	(void)err; /* the member's loss is reported by its connection */
	cd->coll->sends--;
	if (--slot->sends)
		return;
	if (stopped(slot)) {
		slot_enter(slot, SLOT_IDLE);
		coll_kick(cd->coll);
		return;
	}
	slot_read_sent(slot);
	ddio_disk_commit(cd->disk->disk);
}

/*
 * From block to block
 */
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

bool slot_take(struct coll_slot *slot, struct coll_block *block)
{
	struct coll_disk *cd = slot->disk;
	struct plan_blocks placed;

	if (cd->coll->state != COLL_RUNNING || !take(cd, &placed))
		return false;
	coll_block_set(cd, placed.block, block);
	block->hole = placed.sector == SPAN_HOLE;
	block->turn = cd->turn_next++;
	return true;
}

void coll_disk_rest(struct coll_disk *cd)
{
	bool streams = feed_begin(cd);
	uint32_t i;

	if (coll_writes(cd->coll))
		coll_ask(cd);
	else
		for (i = 0; !streams && i < cd->nslots && cd->coll->state == COLL_RUNNING; i++)
			slot_read_next(&cd->slot[i]);
	ddio_disk_commit(cd->disk->disk);
}

void coll_disk_run(struct coll_disk *cd)
{
	if (!coll_scatter_begin(cd))
		coll_disk_rest(cd);
}

bool coll_disk_idle(const struct coll_disk *cd)
{
	uint32_t i;

	if (cd->stream || cd->scatter)
		return false;
	for (i = 0; i < cd->nslots; i++)
		if (cd->slot[i].state != SLOT_IDLE || cd->slot[i].ask != ASK_NONE)
			return false;
	return !cd->plan.left;
}

/* What waits for the disk or for connections to let go cannot be called back. */
static void slot_stop(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;
	uint32_t i;

	for (i = 0; slot->ask == ASK_ASKED && i < slot->nparts; i++)
		if (slot->part[i].owed == OWED_COMING)
			coll_discard(cd->coll, slot->part[i].rank);
	ddio_list_del(&slot->asking);
	slot->ask = ASK_NONE;
	if (slot->state != SLOT_LOCKING)
		return;
	if (!slot->held)
		cache_lock_cancel(cd->disk->cache, &slot->lock);
	slot_enter(slot, SLOT_IDLE);
}

void coll_disk_stop(struct coll_disk *cd)
{
	uint32_t i;

	for (i = 0; i < cd->nslots; i++)
		slot_stop(&cd->slot[i]);
	if (cd->stream)
		ddio_disk_stream_cancel(cd->stream);
	coll_scatter_stop(cd);
}
