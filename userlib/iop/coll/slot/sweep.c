// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Several collectives on one disk at once: one sweep of the arm for all of them, instead of one each that fight for it.
 *
 * The next block of a sorted list goes to the disk only if no other collective that keeps the disk busy has one that lies
 * nearer ahead of the arm.  So each waits for what the sweep meets before it, at most once around; and it waits only for
 * a collective that has something at the disk, hence for disk requests, never for another's members: one whose members
 * have stopped has nothing there.  The nearest of all waits for nobody.
 */
#include "iop/coll/slot/slot.h"

/* Beyond all sectors. */
#define AROUND (UINT64_C(1) << 54)

/* Returns where the next block lies that goes to the disk; SPAN_HOLE: nowhere, or there is none. */
static uint64_t next_sector(const struct coll_disk *cd)
{
	const struct coll_slot *slot = slot_to_go(cd);

	return slot ? slot->next.sector : plan_peek(&cd->plan);
}

static bool keeps_busy(const struct coll_disk *cd)
{
	uint32_t i;

	if (cd->coll->state != COLL_RUNNING || next_sector(cd) == SPAN_HOLE)
		return false;
	for (i = 0; i < cd->nslots; i++)
		if (slot_waits_for_disk(cd->slot[i].state))
			return true;
	return false;
}

/* Returns how far ahead of the arm the next block lies. */
static uint64_t ahead(const struct coll_disk *cd)
{
	uint64_t sector = next_sector(cd), at = cd->disk->sweep_at;

	if (sector == SPAN_HOLE)
		return UINT64_MAX;
	return sector >= at ? sector - at : sector + AROUND - at;
}

/* Returns the nearest block of any collective but @but that keeps the disk busy and goes on. */
static uint64_t nearest_busy(const struct iop_disk *disk, const struct coll_disk *but)
{
	uint64_t least = UINT64_MAX;
	struct coll_disk *cd;

	ddio_list_for_each_entry(cd, &disk->sweep, sweep)
		if (cd != but && ahead(cd) < least && keeps_busy(cd))
			least = ahead(cd);
	return least;
}

static bool alone(const struct coll_disk *cd)
{
	return ddio_list_empty(&cd->sweep) || cd->disk->sweep.next == cd->disk->sweep.prev;
}

bool sweep_take(struct coll_disk *cd)
{
	uint64_t own = alone(cd) ? UINT64_MAX : ahead(cd);

	/* A hole needs no arm. */
	if (own == UINT64_MAX || nearest_busy(cd->disk, cd) >= own)
		return true;
	cd->held = true;
	return false;
}

void sweep_taken(struct coll_disk *cd, uint64_t sector)
{
	if (sector == SPAN_HOLE || ddio_list_empty(&cd->sweep))
		return;
	cd->disk->sweep_at = sector + cd->plan.sectors;
	sweep_moved(cd);
}

void sweep_moved(struct coll_disk *cd)
{
	struct coll_disk *other;
	uint64_t least;

	if (alone(cd))
		return;
	least = nearest_busy(cd->disk, NULL);
	ddio_list_for_each_entry(other, &cd->disk->sweep, sweep)
		if (other->held && ahead(other) <= least)
			coll_kick(other->coll);
}

/* Begins the list where the arm is, if there is a sweep under way. */
static void list_begin(struct coll_disk *cd)
{
	uint64_t at = cd->disk->sweep_at, skip = 0, i;
	const struct plan *plan = &cd->plan;

	if (ddio_list_empty(&cd->disk->sweep))
		return;
	for (i = 0; i < plan->n && plan->span[i].sector < at; i++)
		skip += plan_before(plan, i, at);
	plan_rotate(&cd->plan, skip < plan->blocks ? skip : 0);
}

void sweep_join(struct coll_disk *cd)
{
	/* A disk whose speed is known has an arm that moves. */
	if (!ddio_disk_info(cd->disk->disk)->peak ||
	    !coll_req_flag(cd->coll->req, DDIO_COLL_SORT) || cd->plan.near || cd->feed.stream ||
	    !cd->nslots)
		return;
	if (!coll_req_flag(cd->coll->req, DDIO_COLL_ROTATE))
		list_begin(cd);
	ddio_list_add(&cd->sweep, &cd->disk->sweep);
}

void sweep_leave(struct coll_disk *cd)
{
	if (ddio_list_empty(&cd->sweep))
		return;
	cd->held = false;
	sweep_moved(cd);
	ddio_list_del(&cd->sweep);
}

void sweep_go_on(struct coll *coll)
{
	uint32_t d;

	for (d = 0; d < coll->ndisks && coll->state == COLL_RUNNING; d++) {
		struct coll_disk *cd = &coll->disk[d];

		if (!cd->held)
			continue;
		cd->held = false;
		coll->ops->resume(cd);
	}
}
