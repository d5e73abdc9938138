// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading ahead of streams.  A client gives the reads of one open file a number, a
 * stream.  In a stream several runs may go on at once, since threads and processes
 * share an open file; a run is a row of requests each of which begins where the one before
 * ended, or at a constant distance from where it began.
 *
 * A request that belongs to no run and has missed goes to a list of recent ones.  Two that
 * continue each other, or one at the object's beginning, make a sequential run; three of the same
 * length at the same distance make a strided one.  Only when two more requests (at the beginning: one) have
 * come where they were expected does the run read ahead, and a run that has to wait long for that is
 * forgotten: so reads at random places read nothing ahead.
 *
 * A run reads so many blocks ahead as its depth says, half of them at a time, so that
 * several runs of a disk do not make its arm go to and fro for each block.  The depth doubles each time
 * so many blocks that were read ahead were used, and is halved when one is dropped
 * unused; a run that has come to nothing is forgotten.  All runs together have at most half of the cache for blocks that are not used yet, and
 * share it.
 *
 * A client's requests may overtake one another: one a little ahead of or behind its run
 * belongs to it.
 */
#include <stdlib.h>
#include <string.h>
#include "iop/cache/priv.h"

#define RUNS 64
#define RECENT 16
/* Requests that belong to no run after which one that is not proven is forgotten. */
#define PATIENCE 32
#define PROOFS 2
#define DEPTH_MIN 2
#define DEPTH_MAX 128
#define DEPTH_BYTES (2u << 20)
/* A request may come so many places too early or too late. */
#define STRAY 12
/* Requests of runs after which one that has had none has no share any more. */
#define ACTIVE 1024

/**
 * struct recent - a request that belongs to no run
 */
struct recent {
	uint64_t file, stream;
	uint64_t offset, len;
};

/**
 * struct run - requests that follow one another
 * @link: cache_streams.runs, the one used last first
 * @number: never used twice; 0: the slot is free
 * @len: of a strided run's requests; 0: sequential
 * @stride: from one's beginning to the next one's
 * @next: where the next request should begin
 * @ahead: where what has been read ahead ends; strided: the beginning of the next one to be read ahead
 * @proofs: requests still to come before it reads ahead
 * @born: cache_streams.strays when it began; @seen: cache_streams.turns when its last request came
 * @depth: blocks; @used: blocks used since it changed
 */
struct run {
	struct ddio_list link;
	uint64_t number;
	uint64_t file, stream;
	uint64_t len;
	int64_t stride;
	uint64_t next, ahead;
	uint32_t proofs;
	uint64_t born, seen;
	uint32_t depth, used;
};

/**
 * struct cache_streams - what a cache knows of streams
 * @strays: requests that belonged to no run so far; @turns: that belonged to one
 */
struct cache_streams {
	struct ddio_list runs;
	struct run slot[RUNS];
	struct recent recent[RECENT];
	uint64_t strays, turns, numbers;
};

static void run_forget(struct run *run)
{
	ddio_list_del(&run->link);
	run->number = 0;
}

void cache_streams_free(struct cache *c)
{
	free(c->streams);
	c->streams = NULL;
}

/* NULL without memory: then nothing is read ahead. */
static struct cache_streams *streams_get(struct cache *c)
{
	if (c->streams)
		return c->streams;
	c->streams = calloc(1, sizeof(*c->streams));
	if (c->streams)
		ddio_list_init(&c->streams->runs);
	return c->streams;
}

/* The run of an entry, if it is still known. */
static struct run *run_of(struct cache *c, const struct cache_entry *e)
{
	struct run *run;

	if (!e->run || !c->streams)
		return NULL;
	run = &c->streams->slot[e->run % RUNS];
	return run->number == e->run ? run : NULL;
}

/* Runs that share the memory. */
static uint32_t runs_active(const struct cache_streams *s)
{
	const struct run *run;
	uint32_t n = 0;

	ddio_list_for_each_entry(run, &s->runs, link)
		n += !run->proofs && s->turns - run->seen < ACTIVE;
	return n ? n : 1;
}

static uint32_t depth_max(const struct cache *c, uint32_t size)
{
	uint64_t room = cache_mem_bound(c, size) / 2 / cache_mem_cost(size);
	uint64_t most = DEPTH_BYTES / size;

	room /= runs_active(c->streams);
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

void cache_stream_used(struct cache *c, struct cache_entry *e)
{
	struct run *run = run_of(c, e);

	c->stats.prefetch_used++;
	if (run && ++run->used >= run->depth) {
		uint32_t most = depth_max(c, e->size);

		run->depth = run->depth * 2 < most ? run->depth * 2 : most;
		run->used = 0;
	}
	entry_settled(c, e);
}

void cache_stream_wasted(struct cache *c, struct cache_entry *e)
{
	struct run *run = run_of(c, e);

	c->stats.prefetch_wasted++;
	entry_settled(c, e);
	if (!run)
		return;
	run->used = 0;
	run->depth /= 2;
	if (!run->depth)
		run_forget(run);
}

void cache_stream_stats(const struct cache *c, struct cache_stats *stats)
{
	const struct run *run;

	stats->runs = 0;
	stats->depth = 0;
	if (!c->streams)
		return;
	ddio_list_for_each_entry(run, &c->streams->runs, link) {
		if (run->proofs)
			continue;
		stats->runs++;
		stats->depth = run->depth > stats->depth ? run->depth : stats->depth;
	}
}

static struct run *run_new(struct cache_streams *s, const struct cache_io *io)
{
	struct run *run = NULL;
	uint32_t i;

	for (i = 0; i < RUNS && !run; i++)
		if (!s->slot[i].number)
			run = &s->slot[i];
	if (!run) {
		run = ddio_list_entry(s->runs.prev, struct run, link);
		run_forget(run);
	}
	memset(run, 0, sizeof(*run));
	run->number = ++s->numbers * RUNS + (uint64_t)(run - s->slot);
	run->file = object_file(io->obj)->id;
	run->stream = io->stream;
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

/* A request a little ahead of its turn or behind it belongs to a run that has been proven. */
static enum fit sequential_fit(const struct run *run, const struct cache_io *io)
{
	uint64_t off = io->offset > run->next ? io->offset - run->next : run->next - io->offset;

	if (!off)
		return FIT_EXACTLY;
	return run->proofs || off > STRAY * io->len ? FIT_NOT : FIT_NEARLY;
}

static enum fit strided_fit(const struct run *run, const struct cache_io *io)
{
	int64_t off = (int64_t)(io->offset - run->next), k = off / run->stride;

	if (io->len != run->len || off % run->stride)
		return FIT_NOT;
	if (!k)
		return FIT_EXACTLY;
	return run->proofs || k < -STRAY || k > STRAY ? FIT_NOT : FIT_NEARLY;
}

static void run_advance(struct cache_streams *s, struct run *run, const struct cache_io *io)
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

/* The run that a request belongs to. */
static struct run *run_find(struct cache_streams *s, const struct cache_io *io)
{
	uint64_t file = object_file(io->obj)->id;
	struct run *run, *tmp, *best = NULL;

	ddio_list_for_each_entry_safe(run, tmp, &s->runs, link) {
		enum fit fit;

		if (run->proofs && s->strays - run->born > PATIENCE) {
			run_forget(run);
			continue;
		}
		if (run->stream != io->stream || run->file != file)
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

static bool recent_is(const struct recent *r, const struct cache_io *io, uint64_t offset)
{
	return r->len && r->stream == io->stream && r->file == object_file(io->obj)->id &&
	       r->offset == offset;
}

/* Does a request of the same length begin at @offset? */
static bool recent_has(const struct cache_streams *s, const struct cache_io *io, uint64_t offset)
{
	uint32_t i;

	for (i = 0; i < RECENT; i++)
		if (s->recent[i].len == io->len && recent_is(&s->recent[i], io, offset))
			return true;
	return false;
}

/* Three at the same distance, this one the last. */
static bool stride_find(const struct cache_streams *s, const struct cache_io *io, int64_t *stride)
{
	uint32_t i;

	for (i = 0; i < RECENT; i++) {
		const struct recent *r = &s->recent[i];

		if (r->len != io->len || !recent_is(r, io, r->offset) || r->offset == io->offset)
			continue;
		*stride = (int64_t)(io->offset - r->offset);
		if (recent_has(s, io, r->offset - (uint64_t)*stride))
			return true;
	}
	return false;
}

static bool continues_recent(const struct cache_streams *s, const struct cache_io *io)
{
	uint32_t i;

	for (i = 0; i < RECENT; i++)
		if (recent_is(&s->recent[i], io, io->offset - s->recent[i].len))
			return true;
	return false;
}

/* A request that belongs to no run, and has missed: perhaps a run begins. */
static void run_begin(struct cache_streams *s, const struct cache_io *io)
{
	struct recent *r = &s->recent[s->strays++ % RECENT];
	struct run *run;
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
	*r = (struct recent){ .file = object_file(io->obj)->id,
			      .stream = io->stream,
			      .offset = io->offset,
			      .len = io->len };
}

/* Blocks of [from, to); false: no more, for want of memory. */
static bool ahead_bytes(struct cache *c, struct cache_io *io, const struct run *run, uint64_t from,
			uint64_t to)
{
	uint32_t size = object_file(io->obj)->block;
	uint64_t bound = cache_mem_bound(c, size) / 2, block;

	for (block = from / size; block * size < to; block++) {
		if (c->unused + cache_mem_cost(size) > bound ||
		    !cache_prefetch_block(c, io, block, run->number))
			return false;
	}
	return true;
}

/* Others may have come since it grew. */
static void run_share(const struct cache *c, struct run *run, uint32_t size)
{
	uint32_t most = depth_max(c, size);

	run->depth = run->depth < most ? run->depth : most;
}

static void sequential_ahead(struct cache *c, struct cache_io *io, struct run *run)
{
	uint32_t size = object_file(io->obj)->block;
	uint64_t end = object_end(io->obj) * size;
	uint64_t to;

	if (run->ahead < run->next)
		run->ahead = run->next;
	if (run->ahead - run->next > (uint64_t)run->depth / 2 * size)
		return;
	run_share(c, run, size);
	to = run->next + (uint64_t)run->depth * size;
	if (to > end)
		to = end;
	while (run->ahead < to && ahead_bytes(c, io, run, run->ahead, run->ahead + 1))
		run->ahead = (run->ahead / size + 1) * size;
}

/* As many requests ahead as make the run's depth. */
static void strided_ahead(struct cache *c, struct cache_io *io, struct run *run)
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
	run_share(c, run, size);
	for (; have < want; have++) {
		/* Also where a stride leads out of the object at its beginning. */
		if (run->ahead >= object_end(io->obj) * size ||
		    !ahead_bytes(c, io, run, run->ahead, run->ahead + run->len))
			return;
		run->ahead += (uint64_t)run->stride;
	}
}

void cache_stream_read(struct cache *c, struct cache_io *io)
{
	struct cache_streams *s = streams_get(c);
	struct run *run = s ? run_find(s, io) : NULL;

	if (run && !run->proofs && run->len)
		strided_ahead(c, io, run);
	else if (run && !run->proofs)
		sequential_ahead(c, io, run);
	else if (s && !run && cache_io_state(io)->missed)
		run_begin(s, io);
}
