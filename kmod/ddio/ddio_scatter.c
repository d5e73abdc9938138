// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scatter: blocks go through bounce buffers of the module, one for each flight; their runs
 * are copied between these and the memory of a joint's members.
 *
 * A flight that is free again begins its next block before another flight is copied, so the
 * disk works while the processor copies.  Copying takes turns with everything else that the
 * channel does: a round copies no more than DDIO_SCATTER_BUDGET.
 */
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ddio_coll.h"

/* Runs between two looks at whether to stop. */
#define DDIO_SCATTER_CHUNK 4096U

/* Bytes copied in a round. */
#define DDIO_SCATTER_BUDGET BIT(20)

static int scatter_check_run(const struct ddio_block_list *list, const struct ddio_run *run,
			     bool reading)
{
	const struct ddio_pin *pin;

	if (run->member >= list->nr_members)
		return -ENOENT;
	pin = list->member[array_index_nospec(run->member, list->nr_members)];
	if (!pin)
		return -ENOENT;
	if (reading && !pin->writable)
		return -EACCES;
	return ddio_run_check_memory(run, pin->length);
}

static int scatter_check_entry(const struct ddio_block_list *list, const struct ddio_entry *entry,
			       bool reading)
{
	const struct ddio_run *run = list->run + entry->first_run;
	u32 i;
	int err;

	for (i = 0; i < entry->nr_runs; i++, run++) {
		err = scatter_check_run(list, run, reading);
		if (err)
			return err;
		if (i % DDIO_SCATTER_CHUNK == 0)
			cond_resched();
	}
	return 0;
}

/* Checks that all runs lie in their members' memory; blames the first bad block as submitted. */
static int scatter_check(const struct ddio_coll *coll, struct ddio_submit *arg)
{
	const struct ddio_block_list *list = &coll->list;
	u64 i, blame = U64_MAX;
	int err = 0, ret;

	for (i = 0; i < list->nr; i++) {
		const struct ddio_entry *entry = &list->entry[i];

		if (i % DDIO_SCATTER_CHUNK == 0 && fatal_signal_pending(current))
			return -EINTR;
		if (entry->index >= blame)
			continue;
		ret = scatter_check_entry(list, entry, coll->op == DDIO_READ);
		if (!ret)
			continue;
		err = ret;
		blame = entry->index;
	}
	if (err)
		arg->out_block = blame;
	return err;
}

static int scatter_setup(struct ddio_coll *coll, struct ddio_submit *arg)
{
	struct ddio_block_list *list = &coll->list;
	struct ddio_kjoint *joint;
	u32 i;
	int err;

	joint = ddio_joint_from_fd(arg->joint_fd);
	if (IS_ERR(joint))
		return PTR_ERR(joint);
	INIT_LIST_HEAD(&coll->joint_link);
	coll->joint = joint;
	if (joint->owner != coll->ctx->owner)
		return -EACCES;
	err = ddio_joint_begin(joint, coll);
	if (err)
		return err;
	err = scatter_check(coll, arg);
	if (err || coll->op != DDIO_READ)
		return err;
	for (i = 0; i < list->nr_members; i++)
		if (list->member[i])
			WRITE_ONCE(list->member[i]->dirty, true);
	return 0;
}

static void scatter_teardown(struct ddio_coll *coll)
{
	if (!coll->joint)
		return;
	ddio_joint_leave(coll->joint, coll);
	ddio_joint_put(coll->joint);
	coll->joint = NULL;
}

static void scatter_ended(struct ddio_coll *coll)
{
	ddio_joint_end(coll->joint, coll);
}

static void scatter_chan_teardown(struct ddio_chan *chan)
{
	u32 i;

	for (i = 0; i < chan->coll->depth; i++) {
		kvfree(chan->flight[i].bounce);
		chan->flight[i].bounce = NULL;
	}
}

/*
 * Allocates whole pages, so that they are aligned for any disk; cleared, since a disk may
 * claim to have read what it has not.
 */
static int scatter_chan_setup(struct ddio_chan *chan)
{
	struct ddio_coll *coll = chan->coll;
	u32 nr = min_t(u64, coll->depth, chan->end - chan->next), i;
	int err;

	err = ddio_charge_add(&chan->charge, nr * (u64)PAGE_ALIGN(coll->list.longest));
	if (err)
		return err;
	for (i = 0; i < nr; i++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		chan->flight[i].bounce = ddio_alloc_long(PAGE_ALIGN(coll->list.longest), 1, true);
		if (!chan->flight[i].bounce)
			return -ENOMEM;
	}
	return 0;
}

static u32 scatter_memory(const struct ddio_flight *flight, u64 offset, u32 length,
			  struct bio_vec *bv)
{
	void *at = flight->bounce + offset;

	if (is_vmalloc_addr(at)) {
		length = min_t(u32, length, PAGE_SIZE - offset_in_page(at));
		bv->bv_page = vmalloc_to_page(at);
	} else {
		bv->bv_page = virt_to_page(at);
	}
	bv->bv_offset = offset_in_page(at);
	bv->bv_len = length;
	return length;
}

/* The flight's block is to be copied. */
static void scatter_copy_later(struct ddio_flight *flight)
{
	flight->copied = (struct ddio_cursor){};
	list_add_tail(&flight->link, &flight->chan->copying);
}

static void scatter_begin(struct ddio_chan *chan)
{
	const struct ddio_block_list *list = &chan->coll->list;
	const struct ddio_entry *entry;
	struct ddio_flight *flight;

	while (chan->next < chan->end && !ddio_chan_stopped(chan)) {
		flight = ddio_chan_flight(chan);
		if (!flight)
			return;
		entry = &list->entry[chan->next];
		flight->first = chan->next++;
		flight->nr = 1;
		ddio_flight_set(flight, DDIO_FLIGHT_FILLING);
		if (chan->coll->op == DDIO_WRITE)
			scatter_copy_later(flight);
		else
			ddio_flight_submit(flight, entry->offset, entry->length, scatter_memory);
	}
}

/* The flight's block has ended. */
static void scatter_done(struct ddio_flight *flight, int status)
{
	struct ddio_coll *coll = flight->chan->coll;
	const struct ddio_entry *entry = &coll->list.entry[flight->first];

	ddio_flight_set(flight, DDIO_FLIGHT_FREE);
	if (!status)
		atomic64_add(entry->length, &coll->ctx->stats.scattered_bytes);
	ddio_coll_block_done(coll, entry, status);
}

static void scatter_landed(struct ddio_flight *flight)
{
	if (flight->chan->coll->op == DDIO_READ) {
		ddio_flight_set(flight, DDIO_FLIGHT_READY);
		ddio_flight_set(flight, DDIO_FLIGHT_DRAINING);
		if (!flight->error) {
			scatter_copy_later(flight);
			return;
		}
	}
	scatter_done(flight, flight->error);
}

/* The copy of the flight's block has ended; @status as from ddio_copy_some(). */
static void scatter_copied(struct ddio_flight *flight, int status)
{
	struct ddio_chan *chan = flight->chan;
	const struct ddio_entry *entry = &chan->coll->list.entry[flight->first];

	if (status == -ECANCELED) {
		scatter_done(flight, ddio_chan_stop_status(chan));
	} else if (status) {
		scatter_done(flight, status);
	} else if (chan->coll->op == DDIO_READ) {
		scatter_done(flight, 0);
	} else {
		ddio_flight_set(flight, DDIO_FLIGHT_READY);
		ddio_flight_set(flight, DDIO_FLIGHT_DRAINING);
		ddio_flight_submit(flight, entry->offset, entry->length, scatter_memory);
	}
}

static bool scatter_copy(struct ddio_chan *chan)
{
	u32 budget = DDIO_SCATTER_BUDGET;
	struct ddio_flight *flight;
	int status;

	while ((flight = list_first_entry_or_null(&chan->copying, struct ddio_flight, link))) {
		status = ddio_copy_some(flight, &budget);
		if (status == -EAGAIN)
			return true;
		list_del(&flight->link);
		scatter_copied(flight, status);
		scatter_begin(chan);
	}
	return false;
}

static bool scatter_idle(struct ddio_chan *chan)
{
	return list_empty(&chan->copying);
}

const struct ddio_delivery ddio_scatter = {
	.setup = scatter_setup,
	.teardown = scatter_teardown,
	.ended = scatter_ended,
	.chan_setup = scatter_chan_setup,
	.chan_teardown = scatter_chan_teardown,
	.begin = scatter_begin,
	.landed = scatter_landed,
	.copy = scatter_copy,
	.idle = scatter_idle,
};
