// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A disk's block list as one stream, where its engine is best at that: the disk has
 * the whole list and fills, or empties, the slots' block buffers by itself.
 *
 * Reading, nobody holds a lock while the disk reads.  When a block has come it is
 * locked as it would be before a request, and what the stream brought is used if nothing
 * was written there since the stream was opened; else it is read again, by a
 * request, under the lock.  Blocks of which the cache holds newer bytes when the list is given to
 * the disk, and holes, are kept for afterwards, and then moved one by one, so that
 * the disk reads nothing that nobody needs.
 *
 * Writing, the disk says which slot is to hold the next block of the list.  A slot
 * here may have asked for the pieces of that block before; so the two change their
 * block buffers when that is due, and nothing that was received is moved.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/coll/coll.h"

static uint64_t to_come(const struct coll_disk *cd)
{
	return cd->plan.left + cd->given - cd->came;
}

bool feed_waits(const struct coll_slot *slot)
{
	const struct coll_disk *cd = slot->disk;

	return cd->stream && !coll_writes(cd->coll) && !slot->streamed &&
	       slot->state == SLOT_READING;
}

/* The slot is the disk's; but that has nothing for it any more if the others wait for all there is. */
static void slot_wait(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;
	uint64_t waiting = 0;
	uint32_t i;

	slot->streamed = NULL;
	slot_enter(slot, SLOT_IDLE);
	for (i = 0; i < cd->nslots; i++)
		waiting += feed_waits(&cd->slot[i]);
	if (waiting < to_come(cd))
		slot_enter(slot, SLOT_READING);
}

static void account(struct coll_disk *cd)
{
	cd->coll->done.disk_requests++;
	ddio_env_charge(cd->coll->reactor->env, DDIO_WORK_DISK, 1);
}

/*
 * Reading
 */
static bool read_list(void *ctx, struct ddio_disk_block *block)
{
	struct coll_disk *cd = ctx;
	struct plan_blocks placed;

	while (!cd->no_memory && plan_next(&cd->plan, &placed)) {
		if (placed.sector != SPAN_HOLE &&
		    !cache_newer(cd->disk->cache, cd->obj, placed.block)) {
			block->offset = placed.sector * SPAN_SECTOR;
			block->cookie = placed.block;
			cd->given++;
			return true;
		}
		cd->no_memory = plan_add(&cd->list, &placed);
	}
	return false;
}

static void read_slot(void *ctx, uint32_t number, const struct ddio_disk_block *block, int status)
{
	struct coll_disk *cd = ctx;
	struct coll_slot *slot = &cd->slot[number];
	struct coll *coll = cd->coll;

	cd->came++;
	if (coll->state != COLL_RUNNING) {
		slot_enter(slot, SLOT_IDLE);
		return;
	}
	account(cd);
	coll_block_set(cd, block->cookie, &slot->at);
	slot->at.hole = false;
	slot->streamed = block;
	if (status) {
		slot_enter(slot, SLOT_IDLE);
		coll_fail_disk(cd, &slot->at, status, "reading");
		return;
	}
	coll->done.disk_read += coll->block_size;
	slot_lock(slot);
	ddio_disk_commit(cd->disk->disk);
}

bool feed_fresh(const struct coll_slot *slot, uint64_t offset)
{
	return slot->streamed && slot->streamed->offset == offset &&
	       ddio_disk_stream_fresh(slot->disk->stream, slot->streamed);
}

void feed_next(struct coll_slot *slot)
{
	slot_wait(slot);
	ddio_disk_stream_release(slot->disk->stream, slot->number);
}

/* What the stream did not have. */
static void read_rest(struct coll_disk *cd)
{
	uint32_t i;

	plan_free(&cd->plan);
	cd->plan = cd->list;
	memset(&cd->list, 0, sizeof(cd->list));
	plan_rotate(&cd->plan, 0);
	for (i = 0; i < cd->nslots && cd->coll->state == COLL_RUNNING; i++)
		slot_read_next(&cd->slot[i]);
	ddio_disk_commit(cd->disk->disk);
}

static void feed_over(struct coll_disk *cd)
{
	ddio_disk_stream_close(cd->stream);
	cd->stream = NULL;
	cd->coll->io--;
	coll_kick(cd->coll);
}

static void read_ended(void *ctx, int status)
{
	struct coll_disk *cd = ctx;
	uint32_t i;

	for (i = 0; i < cd->nslots; i++) {
		if (feed_waits(&cd->slot[i]))
			slot_enter(&cd->slot[i], SLOT_IDLE);
		cd->slot[i].streamed = NULL;
	}
	feed_over(cd);
	if (cd->coll->state != COLL_RUNNING)
		return;
	if (status)
		coll_fail_disk(cd, NULL, status, "reading");
	else if (cd->no_memory)
		coll_fail_memory(cd->coll);
	else
		read_rest(cd);
}

static const struct ddio_disk_stream_ops read_ops = {
	.next = read_list,
	.slot = read_slot,
	.ended = read_ended,
};

/*
 * Writing
 */
static bool write_list(void *ctx, struct ddio_disk_block *block)
{
	struct coll_disk *cd = ctx;
	struct plan_blocks placed;

	if (!plan_next(&cd->list, &placed))
		return false;
	block->offset = placed.sector * SPAN_SECTOR;
	block->cookie = cd->given++;
	return true;
}

static void write_slot(void *ctx, uint32_t number, const struct ddio_disk_block *block, int status)
{
	struct coll_disk *cd = ctx;

	(void)status;
	cd->grant[block->cookie % cd->nslots] = (struct coll_grant){
		.turn = block->cookie, .offset = block->offset, .number = number, .given = true
	};
	coll_write_go(cd);
}

static struct coll_slot *slot_of_number(struct coll_disk *cd, uint32_t number)
{
	uint32_t i;

	for (i = 0; cd->slot[i].number != number;)
		i++;
	return &cd->slot[i];
}

/* Who has that buffer now has nothing in it: the disk has just given it. */
static void buffers_swap(struct coll_slot *a, struct coll_slot *b)
{
	uint32_t number = a->number;
	uint8_t *buf = a->buf;

	a->number = b->number;
	a->buf = b->buf;
	b->number = number;
	b->buf = buf;
}

bool feed_bind(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;
	const struct coll_grant *grant;

	if (!cd->stream)
		return true;
	grant = &cd->grant[slot->next.turn % cd->nslots];
	if (!grant->given || grant->turn != slot->next.turn)
		return false;
	if (slot->number != grant->number)
		buffers_swap(slot, slot_of_number(cd, grant->number));
	return true;
}

void feed_take(struct coll_slot *slot)
{
	struct coll_grant *grant;

	if (!slot->disk->stream)
		return;
	grant = &slot->disk->grant[slot->at.turn % slot->disk->nslots];
	grant->given = false;
	slot->promised = grant->offset;
}

void feed_write(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;

	if (!cd->stream) {
		slot_submit(slot, DDIO_DISK_WRITE, slot->offset);
		return;
	}
	if (slot->promised != slot->offset) {
		slot_unlock(slot, false);
		slot_enter(slot, SLOT_IDLE);
		coll_fail_gone(slot);
		return;
	}
	account(cd);
	slot_enter(slot, SLOT_WRITING);
	ddio_disk_stream_release(cd->stream, slot->number);
}

static void write_wrote(void *ctx, uint32_t number, const struct ddio_disk_block *block, int status)
{
	struct coll_disk *cd = ctx;

	(void)block;
	cd->came++;
	slot_moved(slot_of_number(cd, number), DDIO_DISK_WRITE, status);
}

static void write_ended(void *ctx, int status)
{
	struct coll_disk *cd = ctx;
	uint32_t i;

	/* Released, and then not begun. */
	for (i = 0; i < cd->nslots; i++)
		if (cd->slot[i].state == SLOT_WRITING)
			slot_moved(&cd->slot[i], DDIO_DISK_WRITE, status ? status : -ECANCELED);
	feed_over(cd);
	if (status && cd->coll->state == COLL_RUNNING)
		coll_fail_disk(cd, NULL, status, "writing");
}

static const struct ddio_disk_stream_ops write_ops = {
	.next = write_list,
	.slot = write_slot,
	.wrote = write_wrote,
	.ended = write_ended,
};

/*
 * Both
 */
static int feed_open(struct coll_disk *cd)
{
	bool writes = coll_writes(cd->coll);
	struct ddio_disk_stream_spec spec = {
		.op = writes ? DDIO_DISK_WRITE : DDIO_DISK_READ,
		.slots = cd->nslots,
		.len = cd->coll->block_size,
		.mem = cd->bufs,
		.stride = cd->stride,
		.ops = writes ? &write_ops : &read_ops,
		.ctx = cd,
	};

	if (writes) {
		cd->list = cd->plan;
		cd->grant = calloc(cd->nslots, sizeof(*cd->grant));
		if (!cd->grant)
			return -ENOMEM;
	} else {
		cd->list.sectors = cd->plan.sectors;
	}
	return ddio_disk_stream_open(cd->disk->disk, &spec, &cd->stream);
}

bool feed_begin(struct coll_disk *cd)
{
	struct plan plan = cd->plan;
	bool writes = coll_writes(cd->coll);
	uint32_t i;

	if (!cd->nslots || cd->plan.near || !ddio_disk_info(cd->disk->disk)->streams)
		return false;
	if (feed_open(cd)) {
		if (!writes)
			plan_free(&cd->list);
		cd->plan = plan;
		cd->given = 0;
		cd->no_memory = false;
		cd->stream = NULL;
		return false;
	}
	cd->coll->io++;
	for (i = 0; !writes && i < cd->nslots; i++)
		slot_wait(&cd->slot[i]);
	return true;
}
