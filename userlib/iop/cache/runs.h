/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs of reads, as far as read-ahead has to know them. */
#ifndef DDIO_CACHE_RUNS_H
#define DDIO_CACHE_RUNS_H

#include "iop/cache/cache.h"

/**
 * struct ahead_run - reads of which each begins where the one before ended, or at a constant distance
 *	from where it began
 * @link: ahead.runs, the one used last first
 * @number: never used twice; 0: the slot is free
 * @len: of a strided run's reads; 0: it is sequential
 * @stride: from where one read begins to where the next one does
 * @next: where the next read should begin
 * @ahead: sequential: where what has been read ahead ends; strided: where the next read to be made
 *	ahead begins
 * @proofs: reads that must still come before anything is read ahead
 * @born: ahead.strays when it began; @seen: ahead.turns when its last read came
 * @depth: blocks to read ahead; @used: blocks used since it changed
 */
struct ahead_run {
	struct ddio_list link;
	uint64_t number;
	uint64_t file, reader;
	uint64_t len;
	int64_t stride;
	uint64_t next, ahead;
	uint32_t proofs;
	uint64_t born, seen;
	uint32_t depth, used;
};

/* Notes a read; returns its run if that is to be read ahead of, else NULL. */
struct ahead_run *cache_run_find(struct cache *c, const struct cache_io *io, bool missed);
/* Limits the run's depth to its share of the memory: runs may have come since it grew. */
void cache_run_share(const struct cache *c, struct ahead_run *run, uint32_t size);

#endif /* DDIO_CACHE_RUNS_H */
