// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/store/ranges/extent.h"

void extent_map_fini(struct extent_map *map)
{
	free(map->v);
	*map = (struct extent_map){ .v = NULL };
}

size_t extent_map_find(const struct extent_map *map, uint64_t block)
{
	size_t low = 0, high = map->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (map->v[mid].block + map->v[mid].count > block)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

uint64_t extent_map_end(const struct extent_map *map)
{
	return map->n ? map->v[map->n - 1].block + map->v[map->n - 1].count : 0;
}

int extent_map_reserve(struct extent_map *map, size_t n)
{
	size_t want = map->n + n;
	struct extent *v;

	if (want <= map->cap)
		return 0;
	if (want < map->cap + map->cap / 2)
		want = map->cap + map->cap / 2;
	v = realloc(map->v, want * sizeof(*v));
	if (!v)
		return -ENOMEM;
	map->v = v;
	map->cap = want;
	return 0;
}

static bool continues(const struct extent *a, const struct extent *b, uint32_t bs)
{
	return a->block + a->count == b->block && a->start + a->count * bs == b->start;
}

/* Merges extents that continue their predecessor, from index @from to @last. */
static void map_join(struct extent_map *map, size_t from, size_t last, uint32_t bs)
{
	size_t to = from, i;

	for (i = from + 1; i <= last; i++) {
		if (continues(&map->v[to], &map->v[i], bs))
			map->v[to].count += map->v[i].count;
		else
			map->v[++to] = map->v[i];
	}
	if (to == last)
		return;
	memmove(&map->v[to + 1], &map->v[last + 1], (map->n - last - 1) * sizeof(*map->v));
	map->n -= last - to;
}

/* Lengthens the extent before @at if that is all there is to do: the common case of a growing file. */
static bool add_to_end_of(struct extent_map *map, size_t at, const struct extent *ext, uint32_t bs)
{
	if (!at || !continues(&map->v[at - 1], ext, bs))
		return false;
	if (at < map->n && continues(ext, &map->v[at], bs))
		return false;
	map->v[at - 1].count += ext->count;
	return true;
}

int extent_map_add(struct extent_map *map, const struct extent *ext, size_t n, uint32_t bs)
{
	size_t at, old, last, to, i;

	if (!n)
		return 0;
	if (extent_map_reserve(map, n))
		return -ENOMEM;
	for (i = 0; i < n; i++)
		map->blocks += ext[i].count;
	at = extent_map_find(map, ext[0].block);
	if (n == 1 && add_to_end_of(map, at, ext, bs))
		return 0;
	/* Make room before the extents that follow all new ones, then merge from the back. */
	old = extent_map_find(map, ext[n - 1].block);
	last = old + n;
	memmove(&map->v[last], &map->v[old], (map->n - old) * sizeof(*map->v));
	map->n += n;
	for (to = last; n;) {
		if (old > at && map->v[old - 1].block > ext[n - 1].block)
			map->v[--to] = map->v[--old];
		else
			map->v[--to] = ext[--n];
	}
	map_join(map, at ? at - 1 : 0, last < map->n ? last : map->n - 1, bs);
	return 0;
}

/* Cuts [first, end) out of the middle of the extent at @at. */
static void map_split(struct extent_map *map, size_t at, uint64_t first, uint64_t end, uint32_t bs)
{
	struct extent *ext = &map->v[at];
	struct extent rest = { .block = end,
			       .start = ext->start + (end - ext->block) * bs,
			       .count = ext->block + ext->count - end };

	map->blocks -= end - first;
	ext->count = first - ext->block;
	memmove(&map->v[at + 2], &map->v[at + 1], (map->n - at - 1) * sizeof(*map->v));
	map->v[at + 1] = rest;
	map->n++;
}

/* Cuts blocks below @end off the front of an extent. */
static void map_behead(struct extent_map *map, struct extent *ext, uint64_t end, uint32_t bs)
{
	uint64_t gone = end - ext->block;

	ext->block = end;
	ext->start += gone * bs;
	ext->count -= gone;
	map->blocks -= gone;
}

void extent_map_cut(struct extent_map *map, uint64_t first, uint64_t end, uint32_t bs)
{
	size_t at = extent_map_find(map, first), last;
	struct extent *ext = &map->v[at];

	if (at < map->n && ext->block < first) {
		if (ext->block + ext->count > end) {
			map_split(map, at, first, end, bs);
			return;
		}
		map->blocks -= ext->block + ext->count - first;
		ext->count = first - ext->block;
		at++;
	}
	for (last = at; last < map->n && map->v[last].block + map->v[last].count <= end; last++)
		map->blocks -= map->v[last].count;
	if (last < map->n && map->v[last].block < end)
		map_behead(map, &map->v[last], end, bs);
	if (last == at)
		return;
	memmove(&map->v[at], &map->v[last], (map->n - last) * sizeof(*map->v));
	map->n -= last - at;
}

struct extent extent_map_part(const struct extent_map *map, uint64_t first, uint64_t end,
			      uint32_t bs)
{
	size_t at = extent_map_find(map, first);
	struct extent part = { .count = 0 };

	if (at == map->n || map->v[at].block >= end)
		return part;
	part = map->v[at];
	if (part.block < first) {
		part.start += (first - part.block) * bs;
		part.count -= first - part.block;
		part.block = first;
	}
	if (part.count > end - part.block)
		part.count = end - part.block;
	return part;
}
