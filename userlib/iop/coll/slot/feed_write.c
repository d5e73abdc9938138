// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A feed that writes.  The disk says which slot is to hold the next block of the list.  A slot here may have
 * asked for the pieces of that block before; so the two swap their block buffers when that is due, and nothing that
 * was received is moved.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/coll/slot/slot.h"

static struct coll_slot *slot_of_number(struct coll_disk *cd, uint32_t number)
{
	uint32_t i;

	for (i = 0; cd->slot[i].number != number;)
		i++;
	return &cd->slot[i];
}

/* Swaps the slots' buffers.  That of the slot with the granted one is empty: the disk has just given it. */
static void buffers_swap(struct coll_slot *a, struct coll_slot *b)
{
	uint32_t number = a->number;
	uint8_t *buf = a->buf;

	a->number = b->number;
	a->buf = b->buf;
	b->number = number;
	b->buf = buf;
}

static struct feed_grant *grant_of(const struct coll_slot *slot)
{
	return &slot->disk->feed.grant[slot->next.turn % slot->disk->nslots];
}

static bool feed_write_bind(struct coll_slot *slot)
{
	const struct feed_grant *grant = grant_of(slot);

	if (!grant->given || grant->turn != slot->next.turn)
		return false;
	if (slot->number != grant->number)
		buffers_swap(slot, slot_of_number(slot->disk, grant->number));
	return true;
}

static void feed_write_take(struct coll_slot *slot)
{
	struct feed_grant *grant = grant_of(slot);

	grant->given = false;
	slot->granted = grant->offset;
	slot->at = slot->next;
}

/* Those whose block is at work or complete; a complete one waits only for the disk's grant. */
static struct slot_set feed_write_busy(const struct coll_disk *cd)
{
	return slot_set_or(&cd->working, &cd->asks[ASK_READY]);
}

static void feed_write_write(struct coll_slot *slot)
{
	struct coll_disk *cd = slot->disk;

	if (slot->granted != slot->offset) {
		object_write_end(cd->obj, slot->at.block, false, NULL);
		slot_drop(slot, false);
		coll_fail_gone(slot);
		return;
	}
	coll_disk_account(cd);
	SLOT_TRACE_DISK(cd, DDIO_TRACE_DISK, slot - cd->slot, DDIO_DISK_WRITE, slot->offset);
	slot_enter(slot, SLOT_WRITING);
	ddio_disk_stream_release(cd->feed.stream, slot->number);
}

static const struct source_ops feed_write_source = {
	.bind = feed_write_bind,
	.take = feed_write_take,
	.busy = feed_write_busy,
	.write = feed_write_write,
};

/*
 * What the disk's engine calls
 */
static bool write_list(void *ctx, struct ddio_disk_block *block)
{
	struct coll_disk *cd = ctx;
	struct plan_blocks next;

	if (!plan_next(&cd->feed.ahead, &next))
		return false;
	block->offset = next.sector * SPAN_SECTOR;
	block->cookie = cd->feed.given++;
	return true;
}

static void write_slot(void *ctx, uint32_t number, const struct ddio_disk_block *block, int status)
{
	struct coll_disk *cd = ctx;

	(void)status;
	cd->feed.grant[block->cookie % cd->nslots] = (struct feed_grant){
		.turn = block->cookie, .offset = block->offset, .number = number, .given = true
	};
	cd->coll->ops->go(cd);
}

static void write_wrote(void *ctx, uint32_t number, const struct ddio_disk_block *block, int status)
{
	struct coll_disk *cd = ctx;

	struct coll_slot *slot = slot_of_number(cd, number);

	cd->feed.came++;
	SLOT_TRACE_DISK(cd, DDIO_TRACE_DISK_END, slot - cd->slot, DDIO_DISK_WRITE, block->offset);
	slot_moved(slot, DDIO_DISK_WRITE, status);
}

static void write_ended(void *ctx, int status)
{
	struct coll_disk *cd = ctx;
	uint32_t i;

	/* Released to the disk, which never began to write it. */
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

int feed_write(struct coll_disk *cd)
{
	int err = -ENOMEM;

	cd->feed.ahead = cd->plan;
	cd->feed.grant = calloc(cd->nslots, sizeof(*cd->feed.grant));
	if (cd->feed.grant)
		err = feed_open(cd, DDIO_DISK_WRITE, &write_ops);
	if (err)
		cd->feed.given = 0;
	else
		cd->source = &feed_write_source;
	return err;
}
