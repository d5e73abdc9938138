// SPDX-License-Identifier: GPL-2.0-only
/*
 * A block's runs, copied between a bounce buffer and the members' memory.
 *
 * The copies of a block are made one after the other while it is in the cache, so
 * each member's part costs little more than the first one's.
 */
#include <linux/sched.h>
#include <linux/string.h>

#include "ddio_coll.h"

/* Bytes copied between two looks at whether to stop; each piece counts for so many at least. */
#define DDIO_COPY_CHUNK (256U << 10)
#define DDIO_COPY_PIECE_COST 16U

/* Reckons up what has been copied; false if the collective is stopped. */
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

bool ddio_copy_scatter(const struct ddio_coll *coll, const struct ddio_entry *entry,
		       const void *block)
{
	const struct ddio_run *run = coll->list.run + entry->where;
	u64 since = 0;
	u32 i;

	for (i = 0; i < entry->aux; i++, run++) {
		ddio_run_scatter(run, block, coll->list.member[run->member]->vaddr);
		if (!ddio_copy_go_on(coll, run, &since))
			return i + 1 == entry->aux;
	}
	return true;
}

bool ddio_copy_gather(const struct ddio_coll *coll, const struct ddio_entry *entry, void *block)
{
	const struct ddio_run *run = coll->list.run + entry->where;
	u64 since = 0;
	u32 i;

	if (entry->aux != 1 || !ddio_run_covers(run, entry->length))
		memset(block, 0, entry->length);
	for (i = 0; i < entry->aux; i++, run++) {
		ddio_run_gather(run, block, coll->list.member[run->member]->vaddr);
		if (!ddio_copy_go_on(coll, run, &since))
			return i + 1 == entry->aux;
	}
	return true;
}
