// SPDX-License-Identifier: GPL-2.0-only
/*
 * A disk's share of a collective: what it has in the air, what lands, when it ends.
 *
 * The word chan->run says why the channel runs.  The thread that finds it 0 and adds a reason
 * starts the work; one that finds it set knows that the work will look once more.  So the
 * work is never queued twice; where transfers end while they are submitted, it goes
 * round without being queued at all.
 */
#include <linux/kthread.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "ddio_coll.h"

/* The longest merged transfer, even if the disk could do more. */
#define DDIO_TRANSFER_MAX BIT(20)

/* Blocks between two updates of the counters that others look at. */
#define DDIO_CHAN_ACCOUNT 256

/* Rounds between two looks at the clock. */
#define DDIO_CHAN_ROUNDS 16

/* Rounds after which the disk's thread looks after another channel. */
#define DDIO_CHAN_TURN 16

/* Moves the channel's counts to where others see them. */
static void ddio_chan_account(struct ddio_chan *chan)
{
	struct ddio_coll *coll = chan->coll;
	struct ddio_ctx_stats *stats = &coll->ctx->stats;

	atomic64_add(chan->blocks, &stats->blocks);
	atomic64_add(chan->bytes, coll->op == DDIO_READ ? &stats->read_bytes : &stats->write_bytes);
	atomic64_add(chan->bios, &stats->bios);
	atomic64_add(chan->merged, &stats->merged);
	atomic64_add(chan->works, &stats->works);
	spin_lock(&coll->lock);
	coll->ok_blocks += chan->blocks;
	coll->bytes += chan->bytes;
	spin_unlock(&coll->lock);
	chan->blocks = 0;
	chan->bytes = 0;
	chan->bios = 0;
	chan->merged = 0;
	chan->works = 0;
}

/*
 * Others may be using the page cache for what lies between the blocks, and may keep pages
 * dirty there.  Only a block's own pages must go.
 */
static int ddio_chan_sync_blocks(struct ddio_chan *chan)
{
	const struct ddio_block_list *list = &chan->coll->list;
	const struct ddio_entry *e = &list->entry[list->first[chan->index]];
	int err = 0;

	for (; !err && e < &list->entry[chan->end]; e++) {
		/* What has been written must go in any case. */
		if (chan->phase == DDIO_CHAN_NEW && ddio_chan_stopped(chan))
			break;
		err = ddio_disk_sync_cache(chan->disk, e->offset, e->offset + e->length, true);
		cond_resched();
	}
	return err;
}

/*
 * Returns false if that is for the disk's thread: to go through the blocks may take long, and a
 * lent thread has signals to look at.
 */
static bool ddio_chan_sync(struct ddio_chan *chan, bool lent, int *err)
{
	const struct ddio_span *span = &chan->coll->list.span[chan->index];

	*err = ddio_disk_sync_cache(chan->disk, span->from, span->to, chan->coll->op == DDIO_WRITE);
	if (*err != -EBUSY)
		return true;
	if (!lent)
		*err = ddio_chan_sync_blocks(chan);
	return !lent;
}

/*
 * Before the first round: writes out what the page cache holds; throws it away if blocks are
 * written.  Returns false if that is for the disk's thread.
 */
static bool ddio_chan_open(struct ddio_chan *chan, bool lent)
{
	int err;

	if (chan->phase != DDIO_CHAN_NEW)
		return true;
	if (!ddio_chan_sync(chan, lent, &err))
		return false;
	chan->phase = DDIO_CHAN_MOVING;
	if (err) {
		ddio_coll_fail(chan->coll, err);
		ddio_coll_stop(chan->coll, err);
	}
	return true;
}

static void ddio_chan_flushed(struct ddio_flight *flight)
{
	struct ddio_chan *chan = flight->chan;

	ddio_flight_set(flight, DDIO_FLIGHT_FREE);
	chan->phase = DDIO_CHAN_FLUSHED;
	if (flight->error)
		ddio_coll_fail(chan->coll, flight->error);
}

static void ddio_chan_land(struct ddio_chan *chan)
{
	struct llist_node *list = llist_reverse_order(llist_del_all(&chan->landed));
	struct ddio_flight *flight, *next;

	llist_for_each_entry_safe(flight, next, list, node) {
		if (chan->phase == DDIO_CHAN_FLUSHING)
			ddio_chan_flushed(flight);
		else
			chan->coll->ops->landed(flight);
	}
}

/* The collective is stopped: cancels what was not begun. */
static void ddio_chan_cancel_rest(struct ddio_chan *chan)
{
	struct ddio_coll *coll = chan->coll;

	for (; chan->next < chan->end; chan->next++) {
		ddio_coll_block_canceled(coll, &coll->list.entry[chan->next],
					 ddio_chan_stop_status(chan));
		if (chan->next % 4096 == 0)
			cond_resched();
	}
}

static void ddio_chan_flush(struct ddio_chan *chan)
{
	struct ddio_flight *flight = ddio_chan_flight(chan);

	chan->phase = DDIO_CHAN_FLUSHING;
	flight->nr = 0;
	ddio_flight_set(flight, DDIO_FLIGHT_DRAINING);
	ddio_flight_flush(flight);
}

/* Returns true if everything is over.  Begins the flush, if there is to be one, after all else. */
static bool ddio_chan_over(struct ddio_chan *chan)
{
	struct ddio_coll *coll = chan->coll;

	if (chan->in_air || (chan->next < chan->end && !ddio_chan_stopped(chan)))
		return false;
	if (chan->phase != DDIO_CHAN_MOVING)
		return true;
	if (coll->ops->idle && !coll->ops->idle(chan))
		return false;
	/* idle() may have submitted a flight that was released. */
	if (chan->in_air)
		return false;
	ddio_chan_cancel_rest(chan);
	if (!(coll->flags & DDIO_SUBMIT_FLUSH) || ddio_chan_stopped(chan))
		return true;
	ddio_chan_flush(chan);
	return false;
}

/* One round.  Returns true if the channel is over; *@more: there is something to copy. */
static bool ddio_chan_round(struct ddio_chan *chan, u32 landed, bool *more)
{
	const struct ddio_delivery *ops = chan->coll->ops;

	chan->works++;
	chan->in_air -= landed;
	ddio_chan_land(chan);
	if (chan->phase == DDIO_CHAN_MOVING && chan->next < chan->end && !ddio_chan_stopped(chan))
		ops->begin(chan);
	*more = chan->phase == DDIO_CHAN_MOVING && ops->copy && ops->copy(chan);
	if (chan->blocks >= DDIO_CHAN_ACCOUNT)
		ddio_chan_account(chan);
	return ddio_chan_over(chan);
}

/* The channel's last act.  Returns false, and has done nothing, if it is for the disk's thread. */
static bool ddio_chan_end(struct ddio_chan *chan, bool lent)
{
	struct ddio_coll *coll = chan->coll;
	int err = 0;

	if (coll->op == DDIO_WRITE && !ddio_chan_sync(chan, lent, &err))
		return false;
	if (err)
		ddio_coll_fail(coll, err);
	ddio_chan_account(chan);
	ddio_flights_drop(chan);
	ddio_coll_chan_ended(coll);
	return true;
}

/*
 * Returns true if the thread that was lent has something better to do; @copied: the round took
 * long.
 */
static bool ddio_chan_enough(u64 deadline, u32 round, bool copied)
{
	if (signal_pending(current))
		return true;
	if (deadline == DDIO_FOREVER || (!copied && round % DDIO_CHAN_ROUNDS))
		return false;
	return ktime_get_ns() >= deadline;
}

/*
 * Returns true if the page cache has something of the disk that waits to be written out: that may
 * take long, and a lent thread does not wait for what others have left there.
 */
static bool ddio_chan_cache_waits(const struct ddio_chan *chan)
{
	struct address_space *cache = chan->disk->file->f_mapping;

	return mapping_tagged(cache, PAGECACHE_TAG_DIRTY) ||
	       mapping_tagged(cache, PAGECACHE_TAG_WRITEBACK);
}

static void ddio_chan_run(struct ddio_chan *chan, const u64 *deadline)
{
	u32 round = 0;
	bool more;
	int why;

	do {
		why = atomic_xchg(&chan->run, DDIO_CHAN_BUSY);
		if (!ddio_chan_open(chan, deadline)) {
			ddio_chan_queue(chan);
			return;
		}
		if (ddio_chan_round(chan, why & DDIO_CHAN_FLIGHTS, &more)) {
			/* The word stays set: nobody else starts the work. */
			if ((deadline && chan->coll->op == DDIO_WRITE &&
			     ddio_chan_cache_waits(chan)) ||
			    !ddio_chan_end(chan, deadline))
				ddio_chan_queue(chan);
			return;
		}
		round++;
		if (deadline ? ddio_chan_enough(*deadline, round, more) : round == DDIO_CHAN_TURN) {
			ddio_chan_queue(chan);
			return;
		}
		cond_resched();
	} while (more || atomic_cmpxchg(&chan->run, DDIO_CHAN_BUSY, 0) != DDIO_CHAN_BUSY);
}

static void ddio_chan_work(struct kthread_work *work)
{
	struct ddio_chan *chan = container_of(work, struct ddio_chan, work);

	kthread_associate_blkcg(chan->coll->css);
	ddio_chan_run(chan, NULL);
	kthread_associate_blkcg(NULL);
}

void ddio_chan_start(struct ddio_chan *chan, bool here, u64 deadline)
{
	if (here && !ddio_chan_cache_waits(chan))
		ddio_chan_run(chan, &deadline);
	else
		ddio_chan_queue(chan);
}

void ddio_chan_poke_here(struct ddio_chan *chan)
{
	const u64 deadline = 0;

	if (!atomic_fetch_or(DDIO_CHAN_POKED, &chan->run))
		ddio_chan_run(chan, &deadline);
}

/* Returns the number of vectors for a flight's own bio. */
static u32 ddio_chan_vecs(const struct ddio_chan *chan)
{
	const struct ddio_coll *coll = chan->coll;
	u32 longest = max(coll->list.longest, chan->logical);

	/* As if all blocks of the channel were one transfer. */
	if (coll->delivery == DDIO_PLACE)
		longest = max_t(u64, longest,
				min_t(u64, chan->transfer_max,
				      (u64)longest * (chan->end - chan->next)));
	return min_t(u32, DIV_ROUND_UP(longest, PAGE_SIZE) + 1, BIO_MAX_VECS);
}

/**
 * ddio_chan_init - make a channel that can be poked, but does not run yet
 * @chan: all zero
 * @coll: whose; its list is there
 * @index: of the disk
 */
void ddio_chan_init(struct ddio_chan *chan, struct ddio_coll *coll, u32 index)
{
	struct request_queue *queue;

	chan->coll = coll;
	chan->index = index;
	chan->disk = coll->list.disk[index];
	chan->logical = coll->list.span[index].logical;
	chan->next = coll->list.first[index];
	chan->end = coll->list.first[index + 1];
	kthread_init_work(&chan->work, ddio_chan_work);
	INIT_LIST_HEAD(&chan->copying);
	init_llist_head(&chan->landed);
	atomic_set(&chan->run, DDIO_CHAN_POKED);
	queue = bdev_get_queue(chan->disk->bdev);
	chan->transfer_max =
		min_t(u64, (u64)queue_max_sectors(queue) << SECTOR_SHIFT, DDIO_TRANSFER_MAX);
	chan->nr_vecs = ddio_chan_vecs(chan);
}
