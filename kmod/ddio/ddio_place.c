// SPDX-License-Identifier: GPL-2.0-only
/*
 * Place: each block has an address of its own, and DMA goes there.
 *
 * Blocks that follow each other on the disk share a transfer, up to the length that the disk
 * takes, each still at its own address.  When a shared transfer fails, its blocks are tried
 * again one by one, so that only bad blocks are reported bad.
 *
 * The flush of a list of disks is here, too: it has nothing to deliver.
 */
#include <linux/blkdev.h>

#include "ddio_coll.h"

/* The block layer flushes longer plugs anyway. */
#define DDIO_PLUG_MAX 32UL

static const struct ddio_entry *place_entry(const struct ddio_flight *flight)
{
	return &flight->chan->coll->list.entry[flight->first];
}

static int place_setup(struct ddio_coll *coll, struct ddio_submit *arg)
{
	const struct ddio_block_list *list = &coll->list;
	u32 i;

	for (i = 0; i < list->nr_pins && coll->op == DDIO_READ; i++)
		WRITE_ONCE(list->pin[i]->dirty, true);
	return 0;
}

static void place_teardown(struct ddio_coll *coll)
{
}

/* Returns the block that holds byte @at of the disk; the flight's blocks are contiguous there. */
static const struct ddio_entry *place_find(const struct ddio_flight *flight, u64 at)
{
	const struct ddio_entry *entry = place_entry(flight);
	u32 low = 0, high = flight->nr, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (entry[middle].offset <= at)
			low = middle;
		else
			high = middle;
	}
	return entry + low;
}

static u32 place_memory(const struct ddio_flight *flight, u64 offset, u32 length,
			struct bio_vec *bv)
{
	const struct ddio_block_list *list = &flight->chan->coll->list;
	const struct ddio_entry *entry = place_entry(flight);

	if (flight->nr > 1) {
		u64 at = entry->offset + offset;

		entry = place_find(flight, at);
		offset = at - entry->offset;
	}
	return ddio_pin_at(list->pin[entry->pin], entry->where + offset,
			   min_t(u32, length, entry->length - offset), bv);
}

/* Returns how many entries from @next on share a transfer, and its *@length. */
static u32 place_merge(const struct ddio_chan *chan, u64 *length)
{
	const struct ddio_entry *entry = &chan->coll->list.entry[chan->next], *e;
	u64 left = chan->end - chan->next;
	u32 nr = 1;

	*length = entry->length;
	for (e = entry + 1; nr < left; e++, nr++) {
		if (e->offset != e[-1].offset + e[-1].length ||
		    *length + e->length > chan->transfer_max)
			break;
		*length += e->length;
	}
	return nr;
}

static void place_send(struct ddio_flight *flight, u64 length)
{
	bool reading = flight->chan->coll->op == DDIO_READ;

	ddio_flight_set(flight, reading ? DDIO_FLIGHT_FILLING : DDIO_FLIGHT_DRAINING);
	ddio_flight_submit(flight, place_entry(flight)->offset, length, place_memory);
}

static void place_begin(struct ddio_chan *chan)
{
	struct ddio_flight *flight;
	struct blk_plug plug;
	u64 length;

	blk_start_plug(&plug);
	/* The block layer then allocates the requests together. */
	plug.nr_ios = min_t(u64, min(hweight64(chan->free), DDIO_PLUG_MAX), chan->end - chan->next);
	while (chan->next < chan->end && !ddio_chan_stopped(chan)) {
		flight = ddio_chan_flight(chan);
		if (!flight)
			break;
		flight->first = chan->next;
		flight->nr = place_merge(chan, &length);
		flight->retry = 0;
		chan->next += flight->nr;
		chan->merged += flight->nr - 1;
		place_send(flight, length);
	}
	blk_finish_plug(&plug);
}

/*
 * Tries the next block of a failed transfer by itself.  If the collective is stopped, the blocks
 * that are left end as the transfer did, since they had been begun.
 */
static void place_retry(struct ddio_flight *flight)
{
	struct ddio_chan *chan = flight->chan;
	struct ddio_coll *coll = chan->coll;

	flight->nr = 1;
	if (flight->first < flight->retry && !ddio_chan_stopped(chan)) {
		place_send(flight, place_entry(flight)->length);
		return;
	}
	for (; flight->first < flight->retry; flight->first++)
		ddio_coll_block_done(coll, place_entry(flight), flight->retry_error);
}

static void place_landed(struct ddio_flight *flight)
{
	struct ddio_coll *coll = flight->chan->coll;
	u32 i;

	ddio_flight_set(flight, DDIO_FLIGHT_FREE);
	if (unlikely(flight->error && flight->nr > 1)) {
		flight->retry = flight->first + flight->nr;
		flight->retry_error = flight->error;
		place_retry(flight);
		return;
	}
	for (i = 0; i < flight->nr; i++)
		ddio_coll_block_done(coll, place_entry(flight) + i, flight->error);
	if (unlikely(flight->retry)) {
		flight->first++;
		place_retry(flight);
	}
}

const struct ddio_delivery ddio_place = {
	.setup = place_setup,
	.teardown = place_teardown,
	.begin = place_begin,
	.landed = place_landed,
};

static void flush_begin(struct ddio_chan *chan)
{
	struct ddio_flight *flight = ddio_chan_flight(chan);

	flight->first = chan->next++;
	flight->nr = 1;
	ddio_flight_set(flight, DDIO_FLIGHT_DRAINING);
	ddio_flight_flush(flight);
}

static void flush_landed(struct ddio_flight *flight)
{
	ddio_flight_set(flight, DDIO_FLIGHT_FREE);
	ddio_coll_block_done(flight->chan->coll, place_entry(flight), flight->error);
}

const struct ddio_delivery ddio_flush = {
	.setup = place_setup,
	.teardown = place_teardown,
	.begin = flush_begin,
	.landed = flush_landed,
};
