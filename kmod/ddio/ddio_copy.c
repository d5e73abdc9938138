// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies a block's runs between a bounce buffer and the members' memory, in steps.
 *
 * A step is short: whoever copies looks after it whether it may go on, and can leave the rest to
 * another thread.  It is a read-side section of RCU, and is not begun when its member has left; so
 * a member that leaves waits for steps that are under way, and never for a whole copy.
 *
 * The block is taken in windows that fit into the nearest cache: all copies of one window come
 * before those of the next, so each further member's share costs little.
 */
#include <linux/crc32c.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "ddio_coll.h"

/* The cost of the longest step, in bytes; a piece costs so many at least. */
#define DDIO_COPY_STEP (64U << 10)
#define DDIO_COPY_PIECE_COST 16U

/* The same of a sum: bytes for which one byte of copying could be done. */
#define DDIO_COPY_SUM_CHEAP 4U

/* A part of the first cache, with room for the members' memory beside it. */
#define DDIO_COPY_WINDOW (8U << 10)

/* With more runs than these, each is likely to lie within one window anyway. */
#define DDIO_COPY_RUNS_MAX 64U

/* Returns what it costs to copy @bytes of @run; a run has fewer than 2^32 bytes. */
static u32 copy_cost(const struct ddio_run *run, u32 bytes)
{
	if (run->length >= DDIO_COPY_PIECE_COST)
		return bytes;
	return bytes / run->length * DDIO_COPY_PIECE_COST;
}

/* Returns how many bytes of @run make a step. */
static u32 copy_step(const struct ddio_run *run)
{
	if (run->length >= DDIO_COPY_PIECE_COST)
		return DDIO_COPY_STEP;
	return DDIO_COPY_STEP / DDIO_COPY_PIECE_COST * run->length;
}

/* Returns how much of the block is copied at a time: all of it, where parts gain nothing. */
static u32 copy_window(const struct ddio_entry *entry)
{
	if (entry->nr_runs < 2 || entry->nr_runs > DDIO_COPY_RUNS_MAX)
		return entry->length;
	return min(entry->length, DDIO_COPY_WINDOW);
}

/* Returns the run at the cursor, cut to its window, or NULL if nothing of it lies there. */
static const struct ddio_run *copy_run(const struct ddio_entry *entry, const struct ddio_run *first,
				       const struct ddio_cursor *cursor, struct ddio_run *part)
{
	const struct ddio_run *run = first + cursor->run;
	u32 window = copy_window(entry);

	if (window == entry->length)
		return run;
	return ddio_run_window(run, cursor->window, cursor->window + window, part) ? part : NULL;
}

/* Returns the next step, or NULL at the end; moves the cursor behind it. */
static const struct ddio_run *copy_next(const struct ddio_block_list *list,
					const struct ddio_entry *entry, struct ddio_cursor *cursor,
					struct ddio_run *part)
{
	const struct ddio_run *run;
	struct ddio_run whole;

	for (; cursor->window < entry->length; cursor->window += copy_window(entry)) {
		for (; cursor->run < entry->nr_runs; cursor->run++) {
			run = copy_run(entry, list->run + entry->first_run, cursor, part);
			if (run && cursor->at < ddio_run_bytes(run))
				goto found;
			cursor->at = 0;
		}
		cursor->run = 0;
	}
	return NULL;

found:
	if (!cursor->at && ddio_run_bytes(run) <= copy_step(run)) {
		cursor->at = ddio_run_bytes(run);
		return run;
	}
	whole = *run;
	cursor->at += ddio_run_part(&whole, cursor->at, copy_step(&whole), part);
	return part;
}

/* Returns false, with nothing copied, if the member has left. */
static bool copy_one(const struct ddio_flight *flight, const struct ddio_run *run)
{
	const struct ddio_coll *coll = flight->chan->coll;
	const struct ddio_block_list *list = &coll->list;
	const struct ddio_pin *pin =
		list->member[array_index_nospec(run->member, list->nr_members)];
	bool left;

	rcu_read_lock();
	/* Pairs with ddio_pin_leave(): the reason why the collective stops is seen as well. */
	left = smp_load_acquire(&pin->left);
	if (!left && coll->op == DDIO_READ)
		ddio_run_scatter(run, flight->bounce, pin->vaddr);
	else if (!left)
		ddio_run_gather(run, flight->bounce, pin->vaddr);
	rcu_read_unlock();
	return !left;
}

static void copy_spend(u32 *budget, u32 cost)
{
	*budget -= min(*budget, cost + DDIO_COPY_PIECE_COST);
}

/* The first step of a block to be written: what its runs leave out is written as zeroes. */
static void copy_begin(const struct ddio_flight *flight, const struct ddio_entry *entry,
		       u32 *budget)
{
	const struct ddio_run *run = flight->chan->coll->list.run + entry->first_run;

	if (flight->chan->coll->op == DDIO_READ ||
	    (entry->nr_runs == 1 && ddio_run_covers(run, entry->length)))
		return;
	memset(flight->bounce, 0, entry->length);
	copy_spend(budget, entry->length / 4);
}

/* Goes on with the sum of the flight's block; returns true when it is of all of it. */
static bool copy_sum(struct ddio_flight *flight, const struct ddio_entry *entry, u32 *budget)
{
	struct ddio_cursor *cursor = &flight->copied;
	u32 n;

	for (; cursor->summed < entry->length && *budget; cursor->summed += n) {
		n = min(entry->length - cursor->summed, DDIO_COPY_STEP);
		cursor->sum = ~crc32c(~cursor->sum, flight->bounce + cursor->summed, n);
		copy_spend(budget, n / DDIO_COPY_SUM_CHEAP);
	}
	return cursor->summed == entry->length;
}

/* Compares what was read with its sum: 0, -EAGAIN if it has not been summed yet, or -EBADMSG. */
static int copy_check(struct ddio_flight *flight, const struct ddio_entry *entry, u32 *budget)
{
	const struct ddio_coll *coll = flight->chan->coll;

	if (!coll->list.sum || coll->op != DDIO_READ)
		return 0;
	if (!copy_sum(flight, entry, budget))
		return -EAGAIN;
	return flight->copied.sum == coll->list.sum[entry->index] ? 0 : -EBADMSG;
}

/* All has been copied: keeps the sum of what is to be written.  Returns 0, or -EAGAIN as above. */
static int copy_end(struct ddio_flight *flight, const struct ddio_entry *entry, u32 *budget)
{
	const struct ddio_coll *coll = flight->chan->coll;

	if (!coll->list.sum || coll->op != DDIO_WRITE)
		return 0;
	if (!copy_sum(flight, entry, budget))
		return -EAGAIN;
	coll->list.sum[entry->index] = flight->copied.sum;
	return 0;
}

int ddio_copy_some(struct ddio_flight *flight, u32 *budget)
{
	const struct ddio_coll *coll = flight->chan->coll;
	const struct ddio_entry *entry = &coll->list.entry[flight->first];
	const struct ddio_run *run;
	struct ddio_run part;
	int err;

	if (READ_ONCE(coll->stop))
		return -ECANCELED;
	err = copy_check(flight, entry, budget);
	if (err)
		return err;
	if (!flight->copied.begun) {
		copy_begin(flight, entry, budget);
		flight->copied.begun = true;
	}
	while (*budget) {
		if (READ_ONCE(coll->stop))
			return -ECANCELED;
		run = copy_next(&coll->list, entry, &flight->copied, &part);
		if (!run)
			return copy_end(flight, entry, budget);
		if (!copy_one(flight, run))
			return -ECANCELED;
		copy_spend(budget, copy_cost(run, ddio_run_bytes(run)));
	}
	return -EAGAIN;
}
