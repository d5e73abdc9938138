/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The naive twin of a map: it knows of every byte of a small file where it
 * lies in every share, found element by element from the definitions, and
 * checks every answer of the map against that.
 */
#ifndef DDIO_MAP_TWIN_H
#define DDIO_MAP_TWIN_H

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "map/map.h"
#include "tests/unit/lib/ut.h"

#define TWIN_NONE UINT64_MAX

/* A generator of numbers that is the same everywhere (splitmix64). */
struct twin_rng {
	uint64_t state;
};

static inline uint64_t twin_rand(struct twin_rng *rng)
{
	uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Returns a number from @lo to @hi, both included. */
static inline uint64_t twin_pick(struct twin_rng *rng, uint64_t lo, uint64_t hi)
{
	return lo + twin_rand(rng) % (hi - lo + 1);
}

static inline bool twin_chance(struct twin_rng *rng, uint32_t percent)
{
	return twin_rand(rng) % 100 < percent;
}

/* The seed of this run: DDIO_SEED, or the time; printed, so that a failure can be repeated. */
static inline uint64_t twin_seed(const char *name)
{
	const char *text = getenv("DDIO_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);

	fprintf(stderr, "%s: DDIO_SEED=%" PRIu64 "\n", name, seed);
	return seed;
}

/**
 * struct map_twin - what a map should say
 * @bytes: the file as far as it is looked at
 * @share: [proc * @bytes + file offset]: offset in the share, or TWIN_NONE
 * @size: bytes of each share
 * @delivers: false for the replicas of a lower rank
 */
struct map_twin {
	uint32_t nprocs;
	uint64_t bytes;
	uint64_t *share;
	uint64_t *size;
	bool *delivers;
};

static inline void twin_init(struct map_twin *t, uint32_t nprocs, uint64_t bytes)
{
	uint64_t i;

	t->nprocs = nprocs;
	t->bytes = bytes;
	t->share = malloc((nprocs * bytes + 1) * sizeof(*t->share));
	t->size = calloc(nprocs, sizeof(*t->size));
	t->delivers = calloc(nprocs, sizeof(*t->delivers));
	if (!t->share || !t->size || !t->delivers)
		abort();
	for (i = 0; i < nprocs * bytes; i++)
		t->share[i] = TWIN_NONE;
	for (i = 0; i < nprocs; i++)
		t->delivers[i] = true;
}

static inline void twin_destroy(struct map_twin *t)
{
	free(t->share);
	free(t->size);
	free(t->delivers);
}

/* The next byte of the share of @proc; false if it has that byte already. */
static inline bool twin_append(struct map_twin *t, uint32_t proc, uint64_t file)
{
	uint64_t *share = &t->share[proc * t->bytes + file];

	if (*share != TWIN_NONE)
		return false;
	*share = t->size[proc]++;
	return true;
}

static inline uint64_t twin_at(const struct map_twin *t, uint32_t proc, uint64_t file)
{
	return t->share[proc * t->bytes + file];
}

static inline uint64_t twin_msg_size(const struct map_twin *t, uint32_t proc, uint64_t lo,
				     uint64_t hi)
{
	uint64_t n = 0;

	for (; lo < hi && lo < t->bytes; lo++)
		n += twin_at(t, proc, lo) != TWIN_NONE;
	return n;
}

static inline bool twin_wanted(const struct map_twin *t, uint64_t file)
{
	uint32_t p;

	for (p = 0; p < t->nprocs; p++)
		if (file < t->bytes && twin_at(t, p, file) != TWIN_NONE)
			return true;
	return false;
}

/*
 * One walk over runs, expanded byte by byte: [proc * bytes + message offset].
 */
struct twin_walk {
	const struct map_twin *t;
	uint64_t lo;
	uint64_t hi;
	uint64_t *file;
	uint64_t *share;
	uint64_t nruns;
	uint64_t faults;
};

static inline void twin_walk_byte(struct twin_walk *w, uint32_t proc, uint64_t file, uint64_t share,
				  uint64_t msg)
{
	uint64_t at = proc * w->t->bytes + msg;

	if (file < w->lo || file >= w->hi || msg >= w->t->bytes || w->file[at] != TWIN_NONE) {
		w->faults++;
		return;
	}
	w->file[at] = file;
	w->share[at] = share;
}

static inline int twin_walk_run(void *arg, const struct ddio_map_run *run)
{
	struct twin_walk *w = arg;
	uint64_t idx[2 * DDIO_MAX_DIMS] = { 0 };
	uint64_t file, along, i;
	uint32_t d;

	w->nruns++;
	if (run->proc >= w->t->nprocs || !run->len || run->nlevels > 2 * DDIO_MAX_DIMS) {
		w->faults++;
		return 0;
	}
	do {
		file = run->file_off;
		along = 0;
		for (d = 0; d < run->nlevels; d++) {
			file += idx[d] * run->level[d].file_stride;
			along += idx[d] * run->level[d].share_stride;
		}
		for (i = 0; i < run->len; i++)
			twin_walk_byte(w, run->proc, file + i, run->share_off + along + i,
				       run->msg_off + along + i);
		for (d = run->nlevels; d-- > 0;) {
			if (++idx[d] < run->level[d].count)
				break;
			idx[d] = 0;
		}
	} while (d != UINT32_MAX);
	return 0;
}

static inline void twin_walk_reset(struct twin_walk *w)
{
	uint64_t i;

	for (i = 0; i < w->t->nprocs * w->t->bytes; i++)
		w->file[i] = TWIN_NONE;
}

/* Every byte of the message of @proc, or none if not @wanted. */
static inline void twin_walk_check(struct twin_walk *w, uint32_t proc, bool wanted)
{
	const uint64_t *file = &w->file[proc * w->t->bytes];
	const uint64_t *share = &w->share[proc * w->t->bytes];
	uint64_t msg = 0;
	uint64_t f;

	for (f = w->lo; wanted && f < w->hi && f < w->t->bytes; f++) {
		if (twin_at(w->t, proc, f) == TWIN_NONE)
			continue;
		w->faults += file[msg] != f || share[msg] != twin_at(w->t, proc, f);
		msg++;
	}
	for (; msg < w->t->bytes; msg++)
		w->faults += file[msg] != TWIN_NONE;
}

static inline uint64_t twin_check_runs(const struct map_twin *t, const struct ddio_map *map,
				       uint64_t lo, uint64_t hi, bool writing)
{
	struct twin_walk w = { .t = t, .lo = lo, .hi = hi };
	uint32_t p;

	w.file = malloc((t->nprocs * t->bytes + 1) * sizeof(*w.file));
	w.share = malloc((t->nprocs * t->bytes + 1) * sizeof(*w.share));
	if (!w.file || !w.share)
		abort();
	twin_walk_reset(&w);
	w.faults += !!ddio_map_runs(map, lo, hi, writing, twin_walk_run, &w);
	for (p = 0; p < t->nprocs; p++)
		twin_walk_check(&w, p, !writing || t->delivers[p]);
	twin_walk_reset(&w);
	for (p = 0; p < t->nprocs; p++)
		w.faults += !!ddio_map_runs_of(map, p, lo, hi, writing, twin_walk_run, &w);
	for (p = 0; p < t->nprocs; p++)
		twin_walk_check(&w, p, !writing || t->delivers[p]);
	free(w.file);
	free(w.share);
	return w.faults;
}

static inline uint64_t twin_check_sizes(const struct map_twin *t, const struct ddio_map *map,
					uint64_t lo, uint64_t hi)
{
	uint64_t covered = 0;
	uint64_t faults = 0;
	uint64_t f;
	uint32_t p;

	for (f = lo; f < hi; f++)
		covered += twin_wanted(t, f);
	faults += covered != ddio_map_covered(map, lo, hi);
	for (p = 0; p < t->nprocs; p++) {
		uint64_t n = twin_msg_size(t, p, lo, hi);

		faults += n != ddio_map_msg_size(map, p, lo, hi);
		faults += (t->delivers[p] ? n : 0) != ddio_map_put_size(map, p, lo, hi);
	}
	return faults;
}

/* Share sizes, bounds, and all ranges that ddio_map_next() gives, of a map that ends at @end. */
static inline uint64_t twin_check_whole(const struct map_twin *t, const struct ddio_map *map,
					uint64_t end)
{
	uint64_t first = 0, last = 0;
	uint64_t lo, hi, f, at = 0;
	uint64_t faults = 0;
	uint32_t p;

	for (p = 0; p < t->nprocs; p++)
		faults += t->size[p] != ddio_map_share_size(map, p);
	faults += ddio_map_share_size(map, t->nprocs) != 0;
	for (f = t->bytes; f-- > 0;) {
		if (!twin_wanted(t, f))
			continue;
		first = f;
		if (!last)
			last = f + 1;
	}
	ddio_map_bounds(map, &lo, &hi);
	faults += lo != first || (hi != last && (!last || hi != end));
	while (ddio_map_next(map, at, &lo, &hi)) {
		if (lo < at || hi <= lo)
			return faults + 1;
		for (f = at; f < lo; f++)
			faults += twin_wanted(t, f);
		for (f = lo; f < hi; f++)
			faults += !twin_wanted(t, f);
		at = hi;
	}
	for (f = at; f < t->bytes; f++)
		faults += twin_wanted(t, f);
	return faults;
}

/* Returns true if some byte is held by two of those that deliver; then @map must say so. */
static inline uint64_t twin_check_overlap(const struct map_twin *t, const struct ddio_map *map)
{
	uint32_t first = 0, second = 0, p;
	uint64_t at = 0, f;
	bool overlap = false;

	for (f = 0; f < t->bytes; f++) {
		uint32_t holders = 0;

		for (p = 0; p < t->nprocs; p++)
			holders += t->delivers[p] && twin_at(t, p, f) != TWIN_NONE;
		overlap |= holders > 1;
	}
	if (ddio_map_check_overlap(map, &at, &first, &second) != overlap)
		return 1;
	if (!overlap)
		return 0;
	return first >= second || second >= t->nprocs || at >= t->bytes ||
	       twin_at(t, first, at) == TWIN_NONE || twin_at(t, second, at) == TWIN_NONE;
}

/* A byte that depends on where it comes from; never 0. */
static inline unsigned char twin_byte(uint32_t proc, uint64_t off)
{
	return (unsigned char)(1 + (off * 131 + proc * 17 + (off >> 8) * 7) % 255);
}

/*
 * Messages of their exact length, so that a sanitizer sees each byte beyond.
 * Process @skip has none.
 */
static inline void *twin_messages(const struct map_twin *t, uint64_t lo, uint64_t hi, uint32_t skip,
				  bool writing)
{
	unsigned char **msg = calloc(t->nprocs, sizeof(*msg));
	uint64_t n, i;
	uint32_t p;

	if (!msg)
		abort();
	for (p = 0; p < t->nprocs; p++) {
		if (p == skip)
			continue;
		n = writing && !t->delivers[p] ? 0 : twin_msg_size(t, p, lo, hi);
		msg[p] = malloc(n + !n);
		if (!msg[p])
			abort();
		for (i = 0; i < n; i++)
			msg[p][i] = writing ? twin_byte(p, i) : 0;
	}
	return msg;
}

static inline void twin_messages_free(void *messages, uint32_t nprocs)
{
	void **msg = messages;
	uint32_t p;

	for (p = 0; p < nprocs; p++)
		free(msg[p]);
	free(msg);
}

static inline uint64_t twin_check_pack(const struct map_twin *t, const struct ddio_map *map,
				       uint64_t lo, uint64_t hi, uint32_t skip)
{
	unsigned char **msg = twin_messages(t, lo, hi, skip, false);
	unsigned char *block = malloc(hi - lo + 1);
	uint64_t faults = 0;
	uint64_t f, n;
	uint32_t p;

	if (!block)
		abort();
	for (f = lo; f < hi; f++)
		block[f - lo] = twin_byte(0, f);
	faults += !!ddio_map_pack(map, lo, hi, block, (void *const *)msg);
	for (p = 0; p < t->nprocs; p++) {
		n = 0;
		for (f = lo; msg[p] && f < hi && f < t->bytes; f++)
			if (twin_at(t, p, f) != TWIN_NONE)
				faults += msg[p][n++] != twin_byte(0, f);
	}
	free(block);
	twin_messages_free(msg, t->nprocs);
	return faults;
}

/* Parts that overlap may not be written; the caller sees to that. */
static inline uint64_t twin_check_unpack(const struct map_twin *t, const struct ddio_map *map,
					 uint64_t lo, uint64_t hi, uint32_t skip)
{
	unsigned char **msg = twin_messages(t, lo, hi, skip, true);
	unsigned char *block = calloc(1, hi - lo + 1);
	unsigned char *want = calloc(1, hi - lo + 1);
	uint64_t faults = 0;
	uint64_t f, n;
	uint32_t p;

	if (!block || !want)
		abort();
	for (p = 0; p < t->nprocs; p++) {
		n = 0;
		for (f = lo; msg[p] && t->delivers[p] && f < hi && f < t->bytes; f++)
			if (twin_at(t, p, f) != TWIN_NONE)
				want[f - lo] = twin_byte(p, n++);
	}
	faults += !!ddio_map_unpack(map, lo, hi, block, (const void *const *)msg);
	for (f = lo; f < hi; f++)
		faults += block[f - lo] != want[f - lo];
	free(block);
	free(want);
	twin_messages_free(msg, t->nprocs);
	return faults;
}

/* A range that begins and ends anywhere, beyond the file too. */
static inline void twin_range(const struct map_twin *t, struct twin_rng *rng, uint64_t *lo,
			      uint64_t *hi)
{
	uint64_t swap;

	*lo = twin_pick(rng, 0, t->bytes + 4);
	*hi = twin_chance(rng, 30) ? *lo + twin_pick(rng, 0, 40) : twin_pick(rng, 0, t->bytes + 4);
	if (twin_chance(rng, 10)) {
		*lo = 0;
		*hi = t->bytes;
	}
	if (*hi < *lo) {
		swap = *lo;
		*lo = *hi;
		*hi = swap;
	}
}

/* The end of the shortest range that has as many bytes of somebody as a longer one. */
static inline uint64_t twin_check_msg_end(const struct map_twin *t, const struct ddio_map *map,
					  struct twin_rng *rng, uint64_t lo, uint64_t hi)
{
	uint32_t p = (uint32_t)twin_pick(rng, 0, t->nprocs - 1);
	uint64_t mid = twin_pick(rng, lo, hi), want = twin_msg_size(t, p, lo, mid);
	uint64_t end = ddio_map_msg_end(map, p, lo, hi, want);

	return twin_msg_size(t, p, lo, end) != want ||
	       (end > lo && twin_msg_size(t, p, lo, end - 1) == want);
}

/* Random ranges of a map that ends at @end. */
static inline uint64_t twin_check_ranges(const struct map_twin *t, const struct ddio_map *map,
					 struct twin_rng *rng, bool overlap, uint64_t end)
{
	uint64_t faults = twin_check_whole(t, map, end);
	uint64_t lo, hi;
	uint32_t skip;
	int i;

	for (i = 0; i < 4; i++) {
		twin_range(t, rng, &lo, &hi);
		skip = twin_chance(rng, 25) ? twin_pick(rng, 0, t->nprocs - 1) : UINT32_MAX;
		faults += twin_check_runs(t, map, lo, hi, i & 1);
		faults += twin_check_sizes(t, map, lo, hi);
		faults += twin_check_pack(t, map, lo, hi, skip);
		faults += twin_check_msg_end(t, map, rng, lo, hi);
		if (!overlap)
			faults += twin_check_unpack(t, map, lo, hi, skip);
	}
	return faults;
}

/* Cuts the map somewhere, and the twin likewise; shares keep their sizes. */
static inline uint64_t twin_clip(struct map_twin *t, struct ddio_map *map, struct twin_rng *rng)
{
	uint64_t end = twin_chance(rng, 10) ? 0 : twin_pick(rng, 0, t->bytes + 4);
	uint64_t f;
	uint32_t p;

	for (p = 0; p < t->nprocs; p++)
		for (f = end; f < t->bytes; f++)
			t->share[p * t->bytes + f] = TWIN_NONE;
	ddio_map_clip(map, end);
	return end;
}

/* Checks everything above; returns the number of disagreements.  In the end both are cut. */
static inline uint64_t twin_check_map(struct map_twin *t, struct ddio_map *map,
				      struct twin_rng *rng, bool overlap)
{
	uint64_t faults = twin_check_overlap(t, map);

	faults += twin_check_ranges(t, map, rng, overlap, TWIN_NONE);
	return faults + twin_check_ranges(t, map, rng, overlap, twin_clip(t, map, rng));
}

#endif /* DDIO_MAP_TWIN_H */
