// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring: memory that the process maps, with events from the module and two words
 * for each of the streams' slots.
 *
 * The module alone stores the tail, the process alone the head:
 *
 *	module (under ring->lock)		process
 *	load-acquire head	<--------+	load-acquire tail <-----+
 *	write event[tail]		 |	read event[head]	|
 *	store-release tail+1	------+	 +-----	store-release head+1	|
 *			              |					|
 *				      +---------------------------------+
 *
 * so an event is read after it has been written, and overwritten after it has been
 * read.  The process may write anything anywhere: the module keeps its own tail, its
 * own sizes and its own map of slots, and an impossible head counts as that of a full ring.
 *
 * Room: collectives reserve the most events that they may ever have unread.  When one ends,
 * its reservation goes but its unread events stay; all events before ring->loose
 * may be such, and a new reservation leaves room for those that are still unread.
 */
#include <linux/bitmap.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ddio_dispatch.h"
#include "ddio_priv.h"

#define DDIO_RING_EVENTS_OFFSET ALIGN(sizeof(struct ddio_ring), SMP_CACHE_BYTES)

static size_t ddio_ring_slots_offset(const struct ddio_kring *ring)
{
	return ALIGN(DDIO_RING_EVENTS_OFFSET + ring->nr_events * sizeof(struct ddio_event),
		     SMP_CACHE_BYTES);
}

static struct ddio_event *ddio_ring_event(const struct ddio_kring *ring, u32 n)
{
	struct ddio_event *events = (void *)ring->shared + DDIO_RING_EVENTS_OFFSET;

	return &events[n & (ring->nr_events - 1)];
}

static void ddio_ring_describe(struct ddio_kring *ring)
{
	struct ddio_ring *shared = ring->shared;

	shared->events = ring->nr_events;
	shared->slots = ring->nr_slots;
	shared->events_offset = DDIO_RING_EVENTS_OFFSET;
	shared->slots_offset = ddio_ring_slots_offset(ring);
	shared->abi = DDIO_ABI_VERSION;
}

static struct ddio_kring *ddio_ring_new(u32 events, u32 slots)
{
	struct ddio_kring *ring;

	ring = kzalloc(sizeof(*ring), DDIO_GFP);
	if (!ring)
		return NULL;
	spin_lock_init(&ring->lock);
	ring->nr_events = events;
	ring->nr_slots = slots;
	ring->length = PAGE_ALIGN(ddio_ring_slots_offset(ring) + slots * sizeof(struct ddio_slot));
	if (ddio_charge_add(&ring->charge, ring->length))
		goto free_ring;
	ring->slot_map = bitmap_zalloc(max(slots, 1U), DDIO_GFP);
	if (!ring->slot_map)
		goto free_ring;
	ring->shared = __vmalloc(ring->length, DDIO_GFP | __GFP_ZERO);
	if (!ring->shared)
		goto free_map;
	ddio_ring_describe(ring);
	atomic64_inc(&ddio_live.rings);
	return ring;

free_map:
	bitmap_free(ring->slot_map);
free_ring:
	ddio_charge_drop(&ring->charge);
	kfree(ring);
	return NULL;
}

void ddio_ring_free(struct ddio_kring *ring)
{
	vfree(ring->shared);
	bitmap_free(ring->slot_map);
	ddio_charge_drop(&ring->charge);
	kfree(ring);
	atomic64_dec(&ddio_live.rings);
}

int ddio_ring_setup(struct ddio_ctx *ctx, struct ddio_ring_setup *arg, struct ddio_reply *reply)
{
	struct ddio_kring *ring;
	int err;

	if (!is_power_of_2(arg->events))
		return -EINVAL;
	if (arg->events > DDIO_RING_MAX || arg->slots > DDIO_RING_MAX)
		return -EOVERFLOW;
	if (READ_ONCE(ctx->ring))
		return -EEXIST;
	ring = ddio_ring_new(arg->events, arg->slots);
	if (!ring)
		return -ENOMEM;
	/* A process that does not learn of its ring has none, and may ask again. */
	arg->out_length = ring->length;
	err = ddio_reply_tell(reply, arg);
	if (err)
		goto free_ring;
	mutex_lock(&ctx->lock);
	if (ctx->ring)
		err = -EEXIST;
	else
		smp_store_release(&ctx->ring, ring); /* pairs with loads without the lock */
	mutex_unlock(&ctx->lock);
	if (!err)
		return 0;
free_ring:
	ddio_ring_free(ring);
	return err;
}

int ddio_ring_mmap(struct ddio_ctx *ctx, struct vm_area_struct *vma)
{
	struct ddio_kring *ring = smp_load_acquire(&ctx->ring); /* pairs with ddio_ring_setup() */
	unsigned long length = vma->vm_end - vma->vm_start;
	unsigned long offset;
	int err;

	if (!ring)
		return -ENOENT;
	if (vma->vm_pgoff || length > ring->length || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	vm_flags_clear(vma, VM_MAYEXEC);
	/* A child shares the descriptor, but has no part in the protocol. */
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP);
	for (offset = 0; offset < length; offset += PAGE_SIZE) {
		err = vm_insert_page(vma, vma->vm_start + offset,
				     vmalloc_to_page((void *)ring->shared + offset));
		if (err)
			return err;
	}
	return 0;
}

/* Returns how many events before position @end are unread. */
static u32 ddio_ring_unread(const struct ddio_kring *ring, u32 end)
{
	/* Pairs with the process's release: what it has read may be overwritten. */
	u32 head = smp_load_acquire(&ring->shared->head);
	u32 unread = ring->tail - head;

	/* A possible head, at @end or beyond: all events before @end are read. */
	if (unread <= ring->tail - end)
		return 0;
	return min(end - head, ring->nr_events);
}

int ddio_ring_reserve(struct ddio_kring *ring, u64 events)
{
	int err = -EBUSY;
	u64 taken;

	spin_lock(&ring->lock);
	taken = (u64)ring->reserved + ddio_ring_unread(ring, ring->loose);
	if (taken <= ring->nr_events && events <= ring->nr_events - taken) {
		ring->reserved += events;
		err = 0;
	}
	spin_unlock(&ring->lock);
	return err;
}

static void ddio_ring_give_back(struct ddio_kring *ring, u64 events)
{
	lockdep_assert_held(&ring->lock);
	ring->reserved -= events;
	ring->loose = ring->tail;
}

void ddio_ring_unreserve(struct ddio_kring *ring, u64 events)
{
	spin_lock(&ring->lock);
	ddio_ring_give_back(ring, events);
	spin_unlock(&ring->lock);
}

int ddio_ring_slots_get(struct ddio_kring *ring, u32 n, u32 *first)
{
	unsigned long at;
	int err = -EBUSY;
	u32 i;

	if (n > ring->nr_slots)
		return -EBUSY;
	spin_lock(&ring->lock);
	at = bitmap_find_next_zero_area(ring->slot_map, ring->nr_slots, 0, n, 0);
	if (at < ring->nr_slots) {
		bitmap_set(ring->slot_map, at, n);
		err = 0;
	}
	spin_unlock(&ring->lock);
	if (err)
		return err;
	for (i = 0; i < n; i++) {
		WRITE_ONCE(ddio_ring_slot(ring, at + i)->holder, 0);
		WRITE_ONCE(ddio_ring_slot(ring, at + i)->asleep, 0);
	}
	*first = at;
	return 0;
}

void ddio_ring_slots_put(struct ddio_kring *ring, u32 first, u32 n)
{
	spin_lock(&ring->lock);
	bitmap_clear(ring->slot_map, first, n);
	spin_unlock(&ring->lock);
}

static int ddio_ring_put(struct ddio_kring *ring, const struct ddio_event *event)
{
	lockdep_assert_held(&ring->lock);
	if (ddio_ring_unread(ring, ring->tail) >= ring->nr_events)
		return -ENOBUFS;
	*ddio_ring_event(ring, ring->tail) = *event;
	WRITE_ONCE(ring->tail, ring->tail + 1);
	/* Older events have been read, or there would be no room. */
	if (ring->tail - ring->loose > ring->nr_events)
		ring->loose = ring->tail - ring->nr_events;
	/* Pairs with the process's acquire: the event is there. */
	smp_store_release(&ring->shared->tail, ring->tail);
	return 0;
}

int ddio_ring_post(struct ddio_ctx *ctx, const struct ddio_event *event, u64 unreserve)
{
	struct ddio_kring *ring = ctx->ring;
	int err;

	spin_lock(&ring->lock);
	err = ddio_ring_put(ring, event);
	if (unreserve)
		ddio_ring_give_back(ring, unreserve);
	spin_unlock(&ring->lock);
	if (err)
		return err;
	atomic64_inc(&ctx->stats.events);
	if (wq_has_sleeper(&ctx->wait))
		wake_up_interruptible_all(&ctx->wait);
	return 0;
}

bool ddio_ring_readable(const struct ddio_kring *ring)
{
	return READ_ONCE(ring->tail) != READ_ONCE(ring->shared->head);
}

struct ddio_slot *ddio_ring_slot(const struct ddio_kring *ring, u32 slot)
{
	struct ddio_slot *slots = (void *)ring->shared + ddio_ring_slots_offset(ring);

	return &slots[array_index_nospec(slot, ring->nr_slots)];
}
