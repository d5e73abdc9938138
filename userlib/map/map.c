// SPDX-License-Identifier: LGPL-2.1-or-later
/* The map: one interface over distributed arrays and irregular parts. */
#include <errno.h>
#include <stdlib.h>
#include "map/map_priv.h"

static struct ddio_map *map_alloc(uint32_t nprocs, bool is_array)
{
	struct ddio_map *map = calloc(1, sizeof(*map));

	if (map) {
		map->nprocs = nprocs;
		map->is_array = is_array;
		map->end = UINT64_MAX;
	}
	return map;
}

static int map_finish(struct ddio_map *map, int rc, struct ddio_map **out, const char **why,
		      const char *text)
{
	if (rc) {
		free(map);
		if (why)
			*why = rc == -ENOMEM ? "out of memory" : text;
		return rc;
	}
	*out = map;
	return 0;
}

int ddio_map_new_array(const struct ddio_array *array, uint32_t nprocs, struct ddio_map **map,
		       const char **why)
{
	struct ddio_map *m = map_alloc(nprocs, true);
	const char *text = "";
	int rc = m ? ddio_map_layout_init(&m->layout, array, nprocs, &text) : -ENOMEM;

	return map_finish(m, rc, map, why, text);
}

static int map_new(const struct parts_from *from, uint32_t nprocs, uint32_t rules,
		   struct ddio_map **map, const char **why)
{
	struct ddio_map *m = map_alloc(nprocs, false);
	const char *text = "";
	int rc = m ? parts_init(&m->parts, from, nprocs, rules, &text) : -ENOMEM;

	if (!rc && rules & MAP_LOWEST) {
		rc = parts_settle(&m->parts, &text);
		if (rc)
			parts_destroy(&m->parts);
	}
	return map_finish(m, rc, map, why, text);
}

int ddio_map_new_overlapping(const struct ddio_part *part, uint32_t nprocs, uint32_t rules,
			     struct ddio_map **map, const char **why)
{
	return map_new(&(struct parts_from){ .part = part }, nprocs, rules, map, why);
}

int ddio_map_new_kin(const struct ddio_kin *kin, uint32_t n, uint32_t nprocs, uint32_t rules,
		     struct ddio_map **map, const char **why)
{
	return map_new(&(struct parts_from){ .kin = kin, .nkin = n }, nprocs, rules, map, why);
}

void ddio_map_free(struct ddio_map *map)
{
	if (map && !map->is_array)
		parts_destroy(&map->parts);
	free(map);
}

bool ddio_map_overlaps(const struct ddio_map *map)
{
	return !map->is_array && (map->parts.twice || map->parts.claims.n);
}

uint64_t ddio_map_claims(const struct ddio_map *map)
{
	return map->is_array ? 0 : map->parts.claims.n;
}

struct ddio_map_claim ddio_map_claim(const struct ddio_map *map, uint64_t i)
{
	const struct scrap *claim = &map->parts.claims.scrap[i];

	return (struct ddio_map_claim){ claim->off, claim->len, claim->proc };
}

/* Returns true if the claims have bytes each, and are in file order. */
static bool claims_ok(const struct ddio_map_claim *claim, uint64_t n)
{
	uint64_t end = 0, i;

	for (i = 0; i < n; i++) {
		if (!claim[i].len || claim[i].off < end || claim[i].len > INT64_MAX ||
		    claim[i].off > INT64_MAX)
			return false;
		end = claim[i].off + claim[i].len;
	}
	return true;
}

int ddio_map_yield(struct ddio_map *map, uint32_t proc, const struct ddio_map_claim *claim,
		   uint64_t n)
{
	struct scraps claims = { 0 };
	uint64_t i;
	int rc = 0;

	if (map->is_array || !n)
		return 0;
	if (!map->parts.share || !claims_ok(claim, n))
		return -EINVAL;
	for (i = 0; i < n && !rc; i++)
		rc = scraps_add(&claims,
				&(struct scrap){ claim[i].off, claim[i].len, 0, claim[i].proc });
	if (!rc)
		rc = parts_yield(&map->parts, proc, &claims);
	free(claims.scrap);
	return rc;
}

uint64_t ddio_map_again_size(const struct ddio_map *map, uint32_t proc)
{
	const struct map_share *share;
	uint64_t sum = 0, shift, i;

	if (map->is_array)
		return 0;
	share = parts_share(&map->parts, proc, &shift);
	for (i = 0; i < share->nagain; i++)
		sum += again_len(map, &share->again[i]);
	return sum;
}

void ddio_map_clip(struct ddio_map *map, uint64_t end)
{
	map->end = end;
}

uint32_t ddio_map_ndims(const struct ddio_map *map)
{
	return map->is_array ? map->layout.ndims : 1;
}

uint64_t ddio_map_share_size(const struct ddio_map *map, uint32_t proc)
{
	uint64_t coord[NEST_DIMS], shift;

	if (proc >= map->nprocs)
		return 0;
	if (!map->is_array)
		return parts_share(&map->parts, proc, &shift)->size;
	if (!layout_coords(&map->layout, proc, coord))
		return 0;
	return layout_share(&map->layout, coord);
}

void ddio_map_bounds(const struct ddio_map *map, uint64_t *lo, uint64_t *hi)
{
	*lo = 0;
	*hi = 0;
	if (!map->is_array) {
		const struct item_union *all = &map->parts.all;

		if (all->nclusters) {
			*lo = all->items.item[0].lo;
			*hi = all->cluster[all->nclusters - 1].hi;
		}
	} else if (!map->layout.empty) {
		*lo = map->layout.section.off;
		*hi = nest_end(&map->layout.section);
	}
	*hi = map_clip(map, *hi);
	if (*lo >= *hi) {
		*lo = 0;
		*hi = 0;
	}
}

static bool map_next(const struct ddio_map *map, uint64_t from, uint64_t *start, uint64_t *end)
{
	if (!map->is_array)
		return union_next(&map->parts.all, from, start, end);
	return !map->layout.empty && nest_next(&map->layout.section, from, start, end);
}

bool ddio_map_next(const struct ddio_map *map, uint64_t from, uint64_t *start, uint64_t *end)
{
	if (!map_next(map, from, start, end) || *start >= map->end)
		return false;
	*end = map_clip(map, *end);
	return true;
}

uint64_t ddio_map_covered(const struct ddio_map *map, uint64_t lo, uint64_t hi)
{
	hi = map_clip(map, hi);
	if (lo >= hi)
		return 0;
	if (!map->is_array)
		return union_covered(&map->parts.all, lo, hi);
	if (map->layout.empty)
		return 0;
	return nest_below(&map->layout.section, hi) - nest_below(&map->layout.section, lo);
}

uint64_t map_below(const struct ddio_map *map, uint32_t proc, uint64_t x)
{
	uint64_t coord[NEST_DIMS];
	struct axis_mark mark;

	x = map_clip(map, x);
	if (!map->is_array)
		return parts_below(&map->parts, proc, x);
	if (!layout_coords(&map->layout, proc, coord))
		return 0;
	layout_mark(&map->layout, x, &mark);
	return layout_below(&map->layout, coord, &mark);
}

uint64_t ddio_map_msg_size(const struct ddio_map *map, uint32_t proc, uint64_t lo, uint64_t hi)
{
	if (proc >= map->nprocs || lo >= hi)
		return 0;
	return map_below(map, proc, hi) - map_below(map, proc, lo);
}

uint64_t ddio_map_msg_end(const struct ddio_map *map, uint32_t proc, uint64_t lo, uint64_t hi,
			  uint64_t len)
{
	uint64_t from = lo;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (ddio_map_msg_size(map, proc, from, mid) < len)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool map_delivers(const struct ddio_map *map, uint32_t proc)
{
	return !map->is_array || layout_delivers(&map->layout, proc);
}

uint64_t ddio_map_put_size(const struct ddio_map *map, uint32_t proc, uint64_t lo, uint64_t hi)
{
	return map_delivers(map, proc) ? ddio_map_msg_size(map, proc, lo, hi) : 0;
}

int map_walk(const struct ddio_map *map, const struct map_range *range, ddio_map_run_fn fn,
	     void *arg)
{
	struct map_range clipped = *range;

	clipped.hi = map_clip(map, range->hi);
	if (clipped.lo >= clipped.hi)
		return 0;
	if (map->is_array)
		return layout_runs(&map->layout, &clipped, fn, arg);
	return parts_runs(&map->parts, &clipped, fn, arg);
}

int ddio_map_runs(const struct ddio_map *map, uint64_t lo, uint64_t hi, bool writing,
		  ddio_map_run_fn fn, void *arg)
{
	struct map_range range = { lo, lo, hi, writing };

	return map_walk(map, &range, fn, arg);
}

int ddio_map_runs_of(const struct ddio_map *map, uint32_t proc, uint64_t lo, uint64_t hi,
		     bool writing, ddio_map_run_fn fn, void *arg)
{
	struct map_range range = { lo, lo, map_clip(map, hi), writing };

	if (proc >= map->nprocs || lo >= range.hi)
		return 0;
	if (map->is_array)
		return layout_runs_of(&map->layout, proc, &range, fn, arg);
	return parts_runs_of(&map->parts, proc, &range, fn, arg);
}

bool ddio_map_check_overlap(const struct ddio_map *map, uint64_t *at, uint32_t *first,
			    uint32_t *second)
{
	if (map->is_array || !map->parts.all.overlap)
		return false;
	*at = map->parts.all.at;
	*first = map->parts.all.first;
	*second = map->parts.all.second;
	return true;
}
