// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads blocks ahead: of runs half of their depth at a time, so that several runs on one disk do not make
 * its arm go to and fro for each block; else, as in the papers, the one block after each read.
 */
#include "iop/cache/priv.h"
#include "iop/cache/runs.h"

/* Reads a block ahead of a run (0: of none) if it has been written, is not cached, and there is memory for
 * it.  Returns false if there is none. */
static bool prefetch_block(struct cache *c, struct cache_io *io, uint64_t block, uint64_t run)
{
	uint64_t start, n;
	struct cache_entry *e;
	bool written;

	if (block >= object_end(io->obj) || cache_entry_find(c, io->obj, block))
		return true;
	if (!object_lookup(io->obj, block, &start, &n, &written) || !written)
		return true;
	e = cache_entry_get(c, io->obj, block);
	if (!e)
		return false;
	if (!cache_mem_try(c, e)) {
		cache_entry_settle(c, e);
		return false;
	}
	e->prefetched = true;
	e->run = run;
	c->unused += cache_mem_cost(e->size);
	c->stats.prefetches++;
	io->disk_reqs++;
	cache_disk_read(c, e, start);
	return true;
}

/* Reads ahead the block after the request. */
static void one_ahead(struct cache *c, struct cache_io *io)
{
	uint32_t size = object_file(io->obj)->block;

	prefetch_block(c, io, (io->offset + io->len - 1) / size + 1, 0);
}

/* Reads the blocks of [from, to) ahead.  Returns false if memory ran out. */
static bool ahead_bytes(struct cache *c, struct cache_io *io, const struct ahead_run *run,
			uint64_t from, uint64_t to)
{
	uint32_t size = object_file(io->obj)->block;
	uint64_t bound = cache_mem_bound(c, size) / 2, block;

	for (block = from / size; block * size < to; block++) {
		if (c->unused + cache_mem_cost(size) > bound ||
		    !prefetch_block(c, io, block, run->number))
			return false;
	}
	return true;
}

static void sequential_ahead(struct cache *c, struct cache_io *io, struct ahead_run *run)
{
	uint32_t size = object_file(io->obj)->block;
	uint64_t end = object_end(io->obj) * size;
	uint64_t to;

	if (run->ahead < run->next)
		run->ahead = run->next;
	if (run->ahead - run->next > (uint64_t)run->depth / 2 * size)
		return;
	cache_run_share(c, run, size);
	to = run->next + (uint64_t)run->depth * size;
	if (to > end)
		to = end;
	while (run->ahead < to && ahead_bytes(c, io, run, run->ahead, run->ahead + 1))
		run->ahead = (run->ahead / size + 1) * size;
}

/* Reads ahead as many of the run's reads as make up its depth. */
static void strided_ahead(struct cache *c, struct cache_io *io, struct ahead_run *run)
{
	uint32_t size = object_file(io->obj)->block;
	int64_t each = (int64_t)((run->len + size - 1) / size);
	int64_t want = run->depth / each > 1 ? run->depth / each : 1;
	int64_t have = (int64_t)(run->ahead - run->next) / run->stride;

	if (have < 0) {
		run->ahead = run->next;
		have = 0;
	}
	if (have > want / 2)
		return;
	cache_run_share(c, run, size);
	for (; have < want; have++) {
		/* A stride that leads out of the object at its beginning ends here, too. */
		if (run->ahead >= object_end(io->obj) * size ||
		    !ahead_bytes(c, io, run, run->ahead, run->ahead + run->len))
			return;
		run->ahead += (uint64_t)run->stride;
	}
}

void cache_read_ahead(struct cache *c, struct cache_io *io)
{
	struct ahead_run *run;

	if (!io->reader) {
		one_ahead(c, io);
		return;
	}
	run = cache_run_find(c, io, cache_io_state(io)->missed);
	if (run && run->len)
		strided_ahead(c, io, run);
	else if (run)
		sequential_ahead(c, io, run);
}
