// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies a block's runs between a bounce buffer and the members' memory.
 *
 * The block is taken in parts that fit into the nearest cache: all copies of one part come before
 * those of the next, so each further member's share costs little.
 */
#include <linux/sched.h>
#include <linux/string.h>

#include "ddio_coll.h"

/* Bytes copied between two looks at whether to stop; each piece counts for so many at least. */
#define DDIO_COPY_CHUNK (256U << 10)
#define DDIO_COPY_PIECE_COST 16U

/* A part of the first cache, with room for the members' memory beside it. */
#define DDIO_COPY_WINDOW (8U << 10)

/* With more runs than these, each is likely to lie within one part anyway. */
#define DDIO_COPY_RUNS_MAX 64U

/* Counts what has been copied.  Returns false if the collective is stopped. */
static bool ddio_copy_go_on(const struct ddio_coll *coll, const struct ddio_run *run, u64 *since)
{
	u64 bytes = ddio_run_bytes(run);

	/* A run has fewer than 2^32 bytes. */
	*since += DDIO_COPY_PIECE_COST;
	*since += run->length < DDIO_COPY_PIECE_COST
			  ? (u64)((u32)bytes / run->length) * DDIO_COPY_PIECE_COST
			  : bytes;
	if (*since < DDIO_COPY_CHUNK)
		return true;
	*since = 0;
	cond_resched();
	return !READ_ONCE(coll->stop);
}

typedef void (*ddio_copy_fn)(const struct ddio_run *run, void *block, void *memory);

static void copy_scatter(const struct ddio_run *run, void *block, void *memory)
{
	ddio_run_scatter(run, block, memory);
}

static void copy_gather(const struct ddio_run *run, void *block, void *memory)
{
	ddio_run_gather(run, block, memory);
}

/* Returns how much of the block is copied at a time: all of it, where parts gain nothing. */
static u32 copy_window(const struct ddio_entry *entry)
{
	if (entry->aux < 2 || entry->aux > DDIO_COPY_RUNS_MAX)
		return entry->length;
	return min(entry->length, DDIO_COPY_WINDOW);
}

static bool copy_runs(const struct ddio_coll *coll, const struct ddio_entry *entry, void *block,
		      ddio_copy_fn copy)
{
	const struct ddio_run *first = coll->list.run + entry->where, *run,
			      *end = first + entry->aux;
	u32 window = copy_window(entry), from;
	bool whole = window == entry->length;
	struct ddio_run part;
	u64 since = 0;

	for (from = 0; from < entry->length; from += window) {
		for (run = first; run < end; run++) {
			if (!whole && !ddio_run_window(run, from, from + window, &part))
				continue;
			copy(whole ? run : &part, block, coll->list.member[run->member]->vaddr);
			if (!ddio_copy_go_on(coll, whole ? run : &part, &since))
				return false;
		}
	}
	return true;
}

bool ddio_copy_scatter(const struct ddio_coll *coll, const struct ddio_entry *entry, void *block)
{
	return copy_runs(coll, entry, block, copy_scatter);
}

bool ddio_copy_gather(const struct ddio_coll *coll, const struct ddio_entry *entry, void *block)
{
	const struct ddio_run *run = coll->list.run + entry->where;

	if (entry->aux != 1 || !ddio_run_covers(run, entry->length))
		memset(block, 0, entry->length);
	return copy_runs(coll, entry, block, copy_gather);
}
