// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the runs that reads belong to.  A client gives the reads of one open file the number of a
 * reader.  One reader may have several runs at once, since threads and processes share an open file.
 *
 * A read that belongs to no run and has missed is kept in a list of recent ones.  Two reads that
 * continue each other, or one at the object's beginning, make a sequential run; three of the same
 * length at the same distance make a strided one.  A run is read ahead of only when two more reads
 * (at the beginning: one) have come where they were expected, and a run that waits too long for them
 * is forgotten: so nothing is read ahead of reads at random places.
 *
 * A run's depth is the number of blocks to read ahead.  It doubles each time that many blocks that were
 * read ahead have been used, and is halved when one is dropped unused; a run whose depth reaches zero is
 * forgotten.  All runs share half of the cache for blocks that have not been used yet.
 *
 * A client's reads may overtake one another: one that comes a little early or late still belongs to
 * its run.
 */
#include <stdlib.h>
#include <string.h>
#include "iop/cache/priv.h"
#include "iop/cache/runs.h"

#define RUNS 64
#define RECENT 16
/* After so many reads that belong to no run, a run that is not proven yet is forgotten. */
#define PATIENCE 32
#define PROOFS 2
#define DEPTH_MIN 2
#define DEPTH_MAX 128
#define DEPTH_BYTES (2u << 20)
/* A read may come this many places too early or too late. */
#define STRAY 12
/* A run without a read for so many reads of other runs has no share any more. */
#define ACTIVE 1024

/**
 * struct ahead_read - a read that belongs to no run
 */
struct ahead_read {
	uint64_t file, reader;
	uint64_t offset, len;
};

/**
 * struct ahead - what a cache knows of runs
 * @strays: reads that belonged to no run so far; @turns: reads that belonged to one
 */
struct ahead {
	struct ddio_list runs;
	struct ahead_run slot[RUNS];
	struct ahead_read recent[RECENT];
	uint64_t strays, turns, numbers;
};

static void run_forget(struct ahead_run *run)
{
	ddio_list_del(&run->link);
	run->number = 0;
}

void cache_runs_free(struct cache *c)
{
	free(c->ahead);
	c->ahead = NULL;
}

/* Returns NULL without memory: then nothing is read ahead. */
static struct ahead *ahead_get(struct cache *c)
{
	if (c->ahead)
		return c->ahead;
	c->ahead = calloc(1, sizeof(*c->ahead));
	if (c->ahead)
		ddio_list_init(&c->ahead->runs);
	return c->ahead;
}

/* Returns the run that an entry was read ahead of, if it is still known. */
static struct ahead_run *run_of(struct cache *c, const struct cache_entry *e)
{
	struct ahead_run *run;

	if (!e->run || !c->ahead)
		return NULL;
	run = &c->ahead->slot[e->run % RUNS];
	return run->number == e->run ? run : NULL;
}

/* Returns how many runs share the memory. */
static uint32_t runs_active(const struct ahead *s)
{
	const struct ahead_run *run;
	uint32_t n = 0;

	ddio_list_for_each_entry(run, &s->runs, link)
		n += !run->proofs && s->turns - run->seen < ACTIVE;
	return n ? n : 1;
}

static uint32_t depth_max(const struct cache *c, uint32_t size)
{
	uint64_t room = cache_mem_bound(c, size) / 2 / cache_mem_cost(size);
	uint64_t most = DEPTH_BYTES / size;

	room /= runs_active(c->ahead);
	room = room ? room : 1;
	most = most < DEPTH_MIN * 2 ? DEPTH_MIN * 2 : most > DEPTH_MAX ? DEPTH_MAX : most;
	return (uint32_t)(room < most ? room : most);
}

static void entry_settled(struct cache *c, struct cache_entry *e)
{
	c->unused -= cache_mem_cost(e->size);
	e->prefetched = false;
	e->run = 0;
}

void cache_run_used(struct cache *c, struct cache_entry *e)
{
	struct ahead_run *run = run_of(c, e);

	c->stats.prefetch_used++;
	if (run && ++run->used >= run->depth) {
		uint32_t most = depth_max(c, e->size);

		run->depth = run->depth * 2 < most ? run->depth * 2 : most;
		run->used = 0;
	}
	entry_settled(c, e);
}

void cache_run_wasted(struct cache *c, struct cache_entry *e)
{
	struct ahead_run *run = run_of(c, e);

	c->stats.prefetch_wasted++;
	entry_settled(c, e);
	if (!run)
		return;
	run->used = 0;
	run->depth /= 2;
	if (!run->depth)
		run_forget(run);
}

void cache_run_stats(const struct cache *c, struct cache_stats *stats)
{
	const struct ahead_run *run;

	stats->runs = 0;
	stats->depth = 0;
	if (!c->ahead)
		return;
	ddio_list_for_each_entry(run, &c->ahead->runs, link) {
		if (run->proofs)
			continue;
		stats->runs++;
		stats->depth = run->depth > stats->depth ? run->depth : stats->depth;
	}
}

static struct ahead_run *run_new(struct ahead *s, const struct cache_io *io)
{
	struct ahead_run *run = NULL;
	uint32_t i;

	for (i = 0; i < RUNS && !run; i++)
		if (!s->slot[i].number)
			run = &s->slot[i];
	if (!run) {
		run = ddio_list_entry(s->runs.prev, struct ahead_run, link);
		run_forget(run);
	}
	memset(run, 0, sizeof(*run));
	run->number = ++s->numbers * RUNS + (uint64_t)(run - s->slot);
	run->file = object_file(io->obj)->id;
	run->reader = io->reader;
	run->next = io->offset + io->len;
	run->ahead = run->next;
	run->proofs = io->offset ? PROOFS : 1;
	run->born = s->strays;
	run->seen = s->turns;
	run->depth = DEPTH_MIN;
	ddio_list_push(&run->link, &s->runs);
	return run;
}

enum fit { FIT_NOT, FIT_NEARLY, FIT_EXACTLY };

/* Only a run that has been proven takes a read that comes a little early or late. */
static enum fit sequential_fit(const struct ahead_run *run, const struct cache_io *io)
{
	uint64_t off = io->offset > run->next ? io->offset - run->next : run->next - io->offset;

	if (!off)
		return FIT_EXACTLY;
	return run->proofs || off > STRAY * io->len ? FIT_NOT : FIT_NEARLY;
}

static enum fit strided_fit(const struct ahead_run *run, const struct cache_io *io)
{
	int64_t off = (int64_t)(io->offset - run->next), k = off / run->stride;

	if (io->len != run->len || off % run->stride)
		return FIT_NOT;
	if (!k)
		return FIT_EXACTLY;
	return run->proofs || k < -STRAY || k > STRAY ? FIT_NOT : FIT_NEARLY;
}

static void run_advance(struct ahead *s, struct ahead_run *run, const struct cache_io *io)
{
	uint64_t end = io->offset + io->len;

	run->proofs -= run->proofs > 0;
	run->seen = s->turns++;
	if (run->len && (int64_t)(io->offset - run->next) / run->stride >= 0)
		run->next = io->offset + (uint64_t)run->stride;
	else if (!run->len && end > run->next)
		run->next = end;
	ddio_list_del(&run->link);
	ddio_list_push(&run->link, &s->runs);
}

/* Returns the run that a read belongs to, which moves on, or NULL. */
static struct ahead_run *run_find(struct ahead *s, const struct cache_io *io)
{
	uint64_t file = object_file(io->obj)->id;
	struct ahead_run *run, *tmp, *best = NULL;

	ddio_list_for_each_entry_safe(run, tmp, &s->runs, link) {
		enum fit fit;

		if (run->proofs && s->strays - run->born > PATIENCE) {
			run_forget(run);
			continue;
		}
		if (run->reader != io->reader || run->file != file)
			continue;
		fit = run->len ? strided_fit(run, io) : sequential_fit(run, io);
		if (fit == FIT_EXACTLY || (fit == FIT_NEARLY && !best))
			best = run;
		if (fit == FIT_EXACTLY)
			break;
	}
	if (best)
		run_advance(s, best, io);
	return best;
}

static bool recent_is(const struct ahead_read *r, const struct cache_io *io, uint64_t offset)
{
	return r->len && r->reader == io->reader && r->file == object_file(io->obj)->id &&
	       r->offset == offset;
}

/* Returns true if there was a recent read of the same length at @offset. */
static bool recent_has(const struct ahead *s, const struct cache_io *io, uint64_t offset)
{
	uint32_t i;

	for (i = 0; i < RECENT; i++)
		if (s->recent[i].len == io->len && recent_is(&s->recent[i], io, offset))
			return true;
	return false;
}

/* Returns true if three reads, this one the last, are at the same distance. */
static bool stride_find(const struct ahead *s, const struct cache_io *io, int64_t *stride)
{
	uint32_t i;

	for (i = 0; i < RECENT; i++) {
		const struct ahead_read *r = &s->recent[i];

		if (r->len != io->len || !recent_is(r, io, r->offset) || r->offset == io->offset)
			continue;
		*stride = (int64_t)(io->offset - r->offset);
		if (recent_has(s, io, r->offset - (uint64_t)*stride))
			return true;
	}
	return false;
}

static bool continues_recent(const struct ahead *s, const struct cache_io *io)
{
	uint32_t i;

	for (i = 0; i < RECENT; i++)
		if (recent_is(&s->recent[i], io, io->offset - s->recent[i].len))
			return true;
	return false;
}

/* Keeps a read that belongs to no run and has missed, and makes a run if one begins with it. */
static void run_begin(struct ahead *s, const struct cache_io *io)
{
	struct ahead_read *r = &s->recent[s->strays++ % RECENT];
	struct ahead_run *run;
	int64_t stride;

	if (!io->offset || continues_recent(s, io)) {
		run_new(s, io);
	} else if (stride_find(s, io, &stride)) {
		run = run_new(s, io);
		run->len = io->len;
		run->stride = stride;
		run->next = io->offset + (uint64_t)stride;
		run->ahead = run->next;
	}
	*r = (struct ahead_read){ .file = object_file(io->obj)->id,
				  .reader = io->reader,
				  .offset = io->offset,
				  .len = io->len };
}

struct ahead_run *cache_run_find(struct cache *c, const struct cache_io *io, bool missed)
{
	struct ahead *s = ahead_get(c);
	struct ahead_run *run = s ? run_find(s, io) : NULL;

	if (s && !run && missed)
		run_begin(s, io);
	return run && !run->proofs ? run : NULL;
}

void cache_run_share(const struct cache *c, struct ahead_run *run, uint32_t size)
{
	uint32_t most = depth_max(c, size);

	run->depth = run->depth < most ? run->depth : most;
}
