// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel's flights: their memory, their states, and their transfers as bios.
 *
 * Most transfers fit into one bio, which is part of the flight, as its vectors are:
 * nothing is allocated, and when the bio has ended, and has given back what it held (its control
 * group), it can be made anew at once.  For the rest of a
 * longer one, further bios come from a pool; each is submitted before the next one
 * is taken, so one will always come back.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/slab.h>

#include "ddio_coll.h"

#define DDIO_BIO_POOL 64

static struct bio_set ddio_bios;

/* The states that may follow each. */
static const u8 ddio_flight_next[] = {
	[DDIO_FLIGHT_FREE] = BIT(DDIO_FLIGHT_FILLING) | BIT(DDIO_FLIGHT_DRAINING),
	[DDIO_FLIGHT_FILLING] = BIT(DDIO_FLIGHT_READY) | BIT(DDIO_FLIGHT_FREE),
	[DDIO_FLIGHT_READY] = BIT(DDIO_FLIGHT_DRAINING),
	[DDIO_FLIGHT_DRAINING] = BIT(DDIO_FLIGHT_FREE),
};

void ddio_flight_set(struct ddio_flight *flight, enum ddio_flight_state state)
{
	struct ddio_chan *chan = flight->chan;

	WARN_ON_ONCE(!(ddio_flight_next[flight->state] & BIT(state)));
	if (flight->state == DDIO_FLIGHT_FREE)
		chan->free &= ~BIT_ULL(flight->slot);
	if (state == DDIO_FLIGHT_FREE)
		chan->free |= BIT_ULL(flight->slot);
	flight->state = state;
}

struct ddio_flight *ddio_chan_flight(struct ddio_chan *chan)
{
	return chan->free ? &chan->flight[__ffs64(chan->free)] : NULL;
}

/* The flight's last act, in any context: the channel may be gone right after it. */
static void ddio_flight_land(struct ddio_flight *flight)
{
	struct ddio_chan *chan = flight->chan;

	llist_add(&flight->node, &chan->landed);
	if (!atomic_fetch_inc(&chan->run))
		ddio_chan_queue(chan);
}

static void ddio_flight_end_io(struct bio *bio)
{
	struct ddio_flight *flight = bio->bi_private;

	if (unlikely(bio->bi_status))
		cmpxchg(&flight->error, 0, blk_status_to_errno(bio->bi_status));
	if (bio == &flight->bio)
		bio_uninit(bio);
	else
		bio_put(bio);
	if (atomic_dec_and_test(&flight->bios))
		ddio_flight_land(flight);
}

static blk_opf_t ddio_flight_opf(const struct ddio_coll *coll)
{
	if (coll->op == DDIO_READ)
		return REQ_OP_READ;
	if (coll->flags & DDIO_SUBMIT_FUA)
		return REQ_OP_WRITE | REQ_SYNC | REQ_IDLE | REQ_FUA;
	return REQ_OP_WRITE | REQ_SYNC | REQ_IDLE;
}

static struct bio *ddio_flight_bio(struct ddio_flight *flight, bool first)
{
	struct ddio_chan *chan = flight->chan;
	blk_opf_t opf = ddio_flight_opf(chan->coll);
	struct bio *bio = &flight->bio;

	if (first)
		bio_init(bio, chan->disk->bdev, flight->vec, chan->nr_vecs, opf);
	else
		bio = bio_alloc_bioset(chan->disk->bdev, BIO_MAX_VECS, opf, GFP_NOIO, &ddio_bios);
	bio->bi_ioprio = chan->coll->ioprio;
	bio->bi_end_io = ddio_flight_end_io;
	bio->bi_private = flight;
	chan->bios++;
	return bio;
}

/* Takes @excess bytes off the end. */
static void ddio_bio_trim(struct bio *bio, u32 excess)
{
	bio->bi_iter.bi_size -= excess;
	while (excess) {
		struct bio_vec *last = &bio->bi_io_vec[bio->bi_vcnt - 1];

		if (last->bv_len > excess) {
			last->bv_len -= excess;
			return;
		}
		excess -= last->bv_len;
		bio->bi_vcnt--;
	}
}

/*
 * Fills @bio from @offset of the transfer on, in whole sectors of the disk.  Returns where it
 * ends.
 */
static u64 ddio_bio_fill(struct bio *bio, struct ddio_flight *flight, u64 offset, u64 length,
			 ddio_memory_fn memory)
{
	u32 logical = flight->chan->logical, excess;
	u64 at = offset;
	struct bio_vec bv;

	while (at < length && bio->bi_vcnt < bio->bi_max_vecs) {
		at += memory(flight, at, min_t(u64, length - at, U32_MAX), &bv);
		__bio_add_page(bio, bv.bv_page, bv.bv_len, bv.bv_offset);
	}
	excess = (at - offset) & (logical - 1);
	if (at < length && excess) {
		ddio_bio_trim(bio, excess);
		at -= excess;
	}
	return at;
}

void ddio_flight_submit(struct ddio_flight *flight, u64 offset, u64 length, ddio_memory_fn memory)
{
	struct bio *bio;
	u64 at = 0;

	flight->error = 0;
	/* The submitter's own count stands for the last bio. */
	atomic_set(&flight->bios, 1);
	flight->chan->in_air++;
	if (flight->chan->coll->op == DDIO_WRITE && !ddio_disk_may_write(flight->chan->disk)) {
		flight->error = -EACCES;
		ddio_flight_land(flight);
		return;
	}
	do {
		bio = ddio_flight_bio(flight, !at);
		bio->bi_iter.bi_sector = (offset + at) >> SECTOR_SHIFT;
		at = ddio_bio_fill(bio, flight, at, length, memory);
		if (at < length)
			atomic_inc(&flight->bios);
		submit_bio(bio);
	} while (at < length);
}

void ddio_flight_flush(struct ddio_flight *flight)
{
	struct ddio_chan *chan = flight->chan;
	struct bio *bio = &flight->bio;

	flight->error = 0;
	atomic_set(&flight->bios, 1);
	chan->in_air++;
	chan->bios++;
	bio_init(bio, chan->disk->bdev, NULL, 0, REQ_OP_WRITE | REQ_PREFLUSH);
	bio->bi_end_io = ddio_flight_end_io;
	bio->bi_private = flight;
	submit_bio(bio);
}

/**
 * ddio_flights_make - give a channel its flights
 * @chan: made by ddio_chan_init()
 *
 * Return: 0 or -ENOMEM, or what the delivery says; ddio_flights_drop() gives all back
 */
int ddio_flights_make(struct ddio_chan *chan)
{
	const struct ddio_coll *coll = chan->coll;
	u32 i;
	int err;

	err = ddio_charge_add(
		&chan->charge,
		coll->depth * (sizeof(*chan->flight) + (u64)chan->nr_vecs * sizeof(*chan->vec)));
	if (err)
		return err;
	chan->flight = ddio_alloc_long(coll->depth, sizeof(*chan->flight), true);
	if (!chan->flight)
		return -ENOMEM;
	for (i = 0; i < coll->depth; i++) {
		chan->flight[i].chan = chan;
		chan->flight[i].slot = i;
		chan->free |= BIT_ULL(i);
	}
	chan->vec = ddio_alloc_long(coll->depth, chan->nr_vecs * sizeof(*chan->vec), false);
	if (!chan->vec)
		return -ENOMEM;
	for (i = 0; i < coll->depth; i++)
		chan->flight[i].vec = chan->vec + i * chan->nr_vecs;
	return coll->ops->chan_setup ? coll->ops->chan_setup(chan) : 0;
}

/**
 * ddio_flights_drop - take a channel's flights away, if it has any
 * @chan: made by ddio_chan_init()
 */
void ddio_flights_drop(struct ddio_chan *chan)
{
	if (chan->flight && chan->coll->ops->chan_teardown)
		chan->coll->ops->chan_teardown(chan);
	kvfree(chan->vec);
	chan->vec = NULL;
	kvfree(chan->flight);
	chan->flight = NULL;
	ddio_charge_drop(&chan->charge);
}

int ddio_bio_init(void)
{
	return bioset_init(&ddio_bios, DDIO_BIO_POOL, 0, BIOSET_NEED_BVECS);
}

void ddio_bio_exit(void)
{
	bioset_exit(&ddio_bios);
}
