// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scatter: blocks go through bounce buffers of the module, one for each flight; their runs
 * are copied between these and the memory of a joint's members.
 *
 * A flight that is free again begins its next block before another flight is copied, so the
 * disk works while the processor copies.
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
	const struct ddio_run *run = list->run + entry->where;
	u32 i;
	int err;

	for (i = 0; i < entry->aux; i++, run++) {
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
	u32 i;

	for (i = 0; i < min_t(u64, coll->depth, chan->end - chan->next); i++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		chan->flight[i].bounce = kvzalloc(PAGE_ALIGN(coll->list.longest), DDIO_GFP_LONG);
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

/* Copies the block.  Returns false if a member has left or the collective is stopped meanwhile. */
static bool scatter_copy(struct ddio_flight *flight, const struct ddio_entry *entry,
			 bool (*copy)(const struct ddio_coll *coll, const struct ddio_entry *entry,
				      void *block))
{
	struct ddio_coll *coll = flight->chan->coll;
	bool whole;

	if (!ddio_joint_copy_begin(coll->joint, coll))
		return false;
	whole = copy(coll, entry, flight->bounce);
	ddio_joint_copy_end(coll->joint);
	return whole;
}

/* Gathers a block and submits it. */
static void scatter_write(struct ddio_flight *flight, const struct ddio_entry *entry)
{
	struct ddio_chan *chan = flight->chan;

	ddio_flight_set(flight, DDIO_FLIGHT_FILLING);
	if (!scatter_copy(flight, entry, ddio_copy_gather)) {
		ddio_flight_set(flight, DDIO_FLIGHT_FREE);
		ddio_coll_block_done(chan->coll, entry, ddio_chan_stop_status(chan));
		return;
	}
	ddio_flight_set(flight, DDIO_FLIGHT_READY);
	ddio_flight_set(flight, DDIO_FLIGHT_DRAINING);
	ddio_flight_submit(flight, entry->offset, entry->length, scatter_memory);
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
		if (chan->coll->op == DDIO_WRITE) {
			scatter_write(flight, entry);
			continue;
		}
		ddio_flight_set(flight, DDIO_FLIGHT_FILLING);
		ddio_flight_submit(flight, entry->offset, entry->length, scatter_memory);
	}
}

/* Scatters a block that has been read. */
static int scatter_deliver(struct ddio_flight *flight, const struct ddio_entry *entry)
{
	ddio_flight_set(flight, DDIO_FLIGHT_READY);
	ddio_flight_set(flight, DDIO_FLIGHT_DRAINING);
	if (flight->error)
		return flight->error;
	if (!scatter_copy(flight, entry, ddio_copy_scatter))
		return ddio_chan_stop_status(flight->chan);
	return 0;
}

static void scatter_landed(struct ddio_flight *flight)
{
	struct ddio_chan *chan = flight->chan;
	struct ddio_coll *coll = chan->coll;
	const struct ddio_entry *entry = &coll->list.entry[flight->first];
	int status = flight->error;

	if (coll->op == DDIO_READ)
		status = scatter_deliver(flight, entry);
	ddio_flight_set(flight, DDIO_FLIGHT_FREE);
	if (!status)
		atomic64_add(entry->length, &coll->ctx->stats.scattered_bytes);
	ddio_coll_block_done(coll, entry, status);
	scatter_begin(chan);
}

const struct ddio_delivery ddio_scatter = {
	.setup = scatter_setup,
	.teardown = scatter_teardown,
	.ended = scatter_ended,
	.chan_setup = scatter_chan_setup,
	.chan_teardown = scatter_chan_teardown,
	.begin = scatter_begin,
	.landed = scatter_landed,
};
