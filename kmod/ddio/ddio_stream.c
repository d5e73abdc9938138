// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams: the disk fills a slot while the process empties another, or the reverse.
 *
 * Each flight has a slot: memory in a buffer, and two words in the ring.  The flight's state,
 * which the process cannot reach, says whose the slot is:
 *
 *	reading:  FREE, FILLING (disk), READY, DRAINING (process), FREE
 *	writing:  FREE, FILLING (process), READY, DRAINING (disk), FREE
 *
 * An event gives a slot to the process, and the collective's id stands in the word @holder.  The
 * process gives it back by replacing that id with 0; so a release that comes late, when the slot is
 * another stream's, does nothing.  It is the channel's again when the channel's work finds 0
 * in the word of a slot that is the process's; what the word says at any other time
 * does not matter.  The work looks whenever a transfer has landed.  When none is in the
 * air, it will not look again unless told to, and says so:
 *
 *	module				process
 *	store asleep = 1		compare and exchange holder, id for 0
 *	full barrier			(a full barrier, too)
 *	load holder			load asleep
 *
 * At least one of the two sees what the other has stored: the work sees that there is something
 * to do; or the process sees that it must call DDIO_KICK.  While both keep up, neither needs to.
 */
#include <linux/align.h>
#include <linux/nospec.h>
#include <linux/overflow.h>

#include "ddio_coll.h"
#include "ddio_trace.h"

static u32 stream_number(const struct ddio_flight *flight)
{
	const struct ddio_chan *chan = flight->chan;

	return chan->index * chan->coll->depth + flight->slot;
}

static struct ddio_slot *stream_slot(const struct ddio_flight *flight)
{
	const struct ddio_coll *coll = flight->chan->coll;

	return ddio_ring_slot(coll->ctx->ring, coll->first_slot + stream_number(flight));
}

static const struct ddio_entry *stream_entry(const struct ddio_flight *flight)
{
	return &flight->chan->coll->list.entry[flight->first];
}

static bool stream_is_writing(const struct ddio_chan *chan)
{
	return chan->coll->op == DDIO_WRITE;
}

static bool stream_is_held(const struct ddio_flight *flight)
{
	return flight->state ==
	       (stream_is_writing(flight->chan) ? DDIO_FLIGHT_FILLING : DDIO_FLIGHT_DRAINING);
}

/* Checks that the memory of the slots lies in the buffer, aligned for every disk. */
static int stream_check_memory(const struct ddio_coll *coll, const struct ddio_pin *pin)
{
	const struct ddio_block_list *list = &coll->list;
	u64 slots = (u64)list->nr_disks * coll->depth;
	u64 end;
	u32 i;

	if (!coll->slot_length)
		return -EINVAL;
	if (coll->op == DDIO_READ && !pin->writable)
		return -EACCES;
	if (coll->slot_length < list->longest)
		return -ERANGE;
	/* Neither factor has more than 32 bits. */
	if (check_add_overflow(slots * coll->slot_length, coll->slot_offset, &end))
		return -EOVERFLOW;
	if (end > pin->length)
		return -ERANGE;
	for (i = 0; i < list->nr_disks; i++)
		if (!IS_ALIGNED(pin->at.first + coll->slot_offset, list->span[i].align) ||
		    !IS_ALIGNED(coll->slot_length, list->span[i].align))
			return -EINVAL;
	return 0;
}

static int stream_take_slots(struct ddio_coll *coll)
{
	u32 slots = coll->list.nr_disks * coll->depth;
	int err;

	err = ddio_ring_slots_get(coll->ctx->ring, slots, &coll->first_slot);
	if (err)
		return err;
	coll->nr_slots = slots;
	coll->slots_taken = true;
	return 0;
}

static int stream_setup(struct ddio_coll *coll, struct ddio_submit *arg)
{
	struct ddio_ctx *ctx = coll->ctx;
	struct ddio_kring *ring;
	struct ddio_obj *obj;
	int err;

	mutex_lock(&ctx->lock);
	ring = ctx->ring;
	obj = ddio_ctx_get_obj(ctx, DDIO_OBJ_BUFFER, arg->slot_buffer);
	mutex_unlock(&ctx->lock);
	if (!obj)
		return -ENOENT;
	coll->slot_pin = container_of(obj, struct ddio_pin, obj);
	coll->slot_offset = arg->slot_offset;
	coll->slot_length = arg->slot_length;
	if (!ring)
		return -ENOENT;
	err = stream_check_memory(coll, coll->slot_pin);
	if (err)
		return err;
	if (coll->op == DDIO_READ)
		WRITE_ONCE(coll->slot_pin->dirty, true);
	return stream_take_slots(coll);
}

/* Called when the collective has ended, too: slots and buffer are then free to be used again. */
static void stream_teardown(struct ddio_coll *coll)
{
	if (coll->slots_taken)
		ddio_ring_slots_put(coll->ctx->ring, coll->first_slot, coll->nr_slots);
	coll->slots_taken = false;
	if (coll->slot_pin)
		ddio_obj_put(&coll->slot_pin->obj);
	coll->slot_pin = NULL;
}

static u32 stream_memory(const struct ddio_flight *flight, u64 offset, u32 length,
			 struct bio_vec *bv)
{
	const struct ddio_coll *coll = flight->chan->coll;
	u64 slot = coll->slot_offset + (u64)stream_number(flight) * coll->slot_length;

	return ddio_pin_at(coll->slot_pin, slot + offset, length, bv);
}

static void stream_submit(struct ddio_flight *flight)
{
	const struct ddio_entry *entry = stream_entry(flight);

	ddio_flight_submit(flight, entry->offset, entry->length, stream_memory);
}

/* The slot is now the process's. */
static void stream_hand_over(struct ddio_flight *flight, int status)
{
	struct ddio_chan *chan = flight->chan;
	struct ddio_coll *coll = chan->coll;
	struct ddio_slot *slot = stream_slot(flight);
	struct ddio_event event = {
		.index = stream_entry(flight)->index,
		.user_data = coll->user_data,
		.collective = coll->obj.id,
		.slot = coll->first_slot + stream_number(flight),
		.status = status,
		.kind = DDIO_EVENT_SLOT,
	};
	int err;

	chan->held++;
	/* The event is posted with release semantics: these are seen before it. */
	WRITE_ONCE(slot->holder, coll->obj.id);
	WRITE_ONCE(slot->asleep, 0);
	trace_ddio_slot(chan, flight, true);
	err = ddio_ring_post(coll->ctx, &event, 0);
	if (!err)
		return;
	ddio_coll_fail(coll, err);
	ddio_coll_stop(coll, err);
}

/* The slot is the channel's again: it is free, or holds what is to be written. */
static void stream_take_back(struct ddio_flight *flight)
{
	struct ddio_chan *chan = flight->chan;

	chan->held--;
	trace_ddio_slot(chan, flight, false);
	if (!stream_is_writing(chan)) {
		ddio_flight_set(flight, DDIO_FLIGHT_FREE);
		return;
	}
	ddio_flight_set(flight, DDIO_FLIGHT_READY);
	ddio_flight_set(flight, DDIO_FLIGHT_DRAINING);
	stream_submit(flight);
}

static void stream_say_asleep(struct ddio_chan *chan, bool asleep)
{
	u32 i;

	for (i = 0; i < chan->coll->depth; i++)
		if (stream_is_held(&chan->flight[i]))
			WRITE_ONCE(stream_slot(&chan->flight[i])->asleep, asleep);
	chan->asleep = asleep;
	/* Before looking at @holder; pairs with the barrier of the process. */
	smp_mb();
}

static bool stream_is_released(const struct ddio_flight *flight)
{
	/* Pairs with the process's release: its accesses to the slot are over. */
	return stream_is_held(flight) && !smp_load_acquire(&stream_slot(flight)->holder);
}

static bool stream_any_released(const struct ddio_chan *chan)
{
	u32 i;

	for (i = 0; i < chan->coll->depth; i++)
		if (stream_is_released(&chan->flight[i]))
			return true;
	return false;
}

/* Takes back every slot that the process has released. */
static void stream_collect(struct ddio_chan *chan)
{
	u32 i;

	if (!chan->held)
		return;
	if (chan->asleep)
		stream_say_asleep(chan, false);
	for (i = 0; i < chan->coll->depth; i++)
		if (stream_is_released(&chan->flight[i]))
			stream_take_back(&chan->flight[i]);
}

/* Returns true if there is nothing more to do; false if a slot was released just now. */
static bool stream_rest(struct ddio_chan *chan)
{
	if (chan->in_air || !chan->held)
		return true;
	atomic64_inc(&chan->coll->ctx->stats.asleep);
	stream_say_asleep(chan, true);
	return !stream_any_released(chan);
}

/* Reading: submits free slots.  Writing: gives them to the process. */
static void stream_begin_free(struct ddio_chan *chan)
{
	struct ddio_flight *flight;

	while (chan->next < chan->end && !ddio_chan_stopped(chan)) {
		flight = ddio_chan_flight(chan);
		if (!flight)
			return;
		flight->first = chan->next++;
		flight->nr = 1;
		ddio_flight_set(flight, DDIO_FLIGHT_FILLING);
		if (stream_is_writing(chan))
			stream_hand_over(flight, 0);
		else
			stream_submit(flight);
	}
}

static void stream_begin(struct ddio_chan *chan)
{
	do {
		stream_collect(chan);
		stream_begin_free(chan);
	} while (!ddio_chan_stopped(chan) && !stream_rest(chan));
}

static void stream_read_landed(struct ddio_flight *flight)
{
	struct ddio_coll *coll = flight->chan->coll;
	const struct ddio_entry *entry = stream_entry(flight);
	int status = flight->error;

	ddio_flight_set(flight, DDIO_FLIGHT_READY);
	ddio_flight_set(flight, DDIO_FLIGHT_DRAINING);
	if (ddio_chan_stopped(flight->chan)) {
		/* The process no longer gets the block. */
		ddio_flight_set(flight, DDIO_FLIGHT_FREE);
		ddio_coll_block_done(coll, entry, status ? status : -ECANCELED);
		return;
	}
	stream_hand_over(flight, status);
	ddio_coll_block_done(coll, entry, status);
}

static void stream_landed(struct ddio_flight *flight)
{
	struct ddio_chan *chan = flight->chan;

	if (stream_is_writing(chan)) {
		ddio_flight_set(flight, DDIO_FLIGHT_FREE);
		ddio_coll_block_done(chan->coll, stream_entry(flight), flight->error);
	} else {
		stream_read_landed(flight);
	}
	if (!ddio_chan_stopped(chan))
		stream_collect(chan);
}

/* The collective is stopped: takes the process's slots away from it. */
static void stream_take_away(struct ddio_chan *chan)
{
	struct ddio_flight *flight;
	u32 i;

	for (i = 0; i < chan->coll->depth; i++) {
		flight = &chan->flight[i];
		if (!stream_is_held(flight))
			continue;
		chan->held--;
		WRITE_ONCE(stream_slot(flight)->holder, 0);
		ddio_flight_set(flight, DDIO_FLIGHT_FREE);
		if (stream_is_writing(chan))
			ddio_coll_block_done(chan->coll, stream_entry(flight), -ECANCELED);
	}
	chan->asleep = false;
}

static bool stream_idle(struct ddio_chan *chan)
{
	do {
		if (ddio_chan_stopped(chan)) {
			stream_take_away(chan);
			return true;
		}
		stream_collect(chan);
	} while (!stream_rest(chan));
	return !chan->held && !chan->in_air;
}

const struct ddio_delivery ddio_stream = {
	.setup = stream_setup,
	.teardown = stream_teardown,
	.ended = stream_teardown,
	.begin = stream_begin,
	.landed = stream_landed,
	.idle = stream_idle,
};

int ddio_stream_kick(struct ddio_ctx *ctx, const struct ddio_kick *arg)
{
	struct ddio_coll *coll;
	struct ddio_obj *obj;
	int err = 0;
	u32 slot;

	mutex_lock(&ctx->lock);
	obj = ddio_ctx_get_obj(ctx, DDIO_OBJ_COLL, arg->collective);
	mutex_unlock(&ctx->lock);
	if (!obj)
		return -ENOENT;
	coll = container_of(obj, struct ddio_coll, obj);
	atomic64_inc(&ctx->stats.kicks);
	slot = arg->slot - coll->first_slot;
	if (coll->delivery != DDIO_STREAM) {
		err = -EINVAL;
	} else if (arg->slot < coll->first_slot || slot >= coll->nr_slots) {
		err = -ENOENT;
	} else {
		slot = array_index_nospec(slot, coll->nr_slots);
		ddio_chan_poke_here(&coll->chan[slot / coll->depth]);
	}
	ddio_obj_put(obj);
	return err;
}
