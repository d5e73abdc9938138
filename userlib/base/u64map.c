// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include "base/u64map.h"

static size_t place(const struct ddio_u64map *map, uint64_t key)
{
	uint64_t x = key * 0x9e3779b97f4a7c15ull;

	return (size_t)(x ^ x >> 29) & (map->cap - 1);
}

/* Where the key is, or would be. */
static size_t seek(const struct ddio_u64map *map, uint64_t key)
{
	size_t i = place(map, key);

	while (map->v[i].key && map->v[i].key != key)
		i = (i + 1) & (map->cap - 1);
	return i;
}

uint64_t *ddio_u64map_find(const struct ddio_u64map *map, uint64_t key)
{
	size_t i;

	if (!map->n)
		return NULL;
	i = seek(map, key);
	return map->v[i].key ? &map->v[i].value : NULL;
}

static bool grow(struct ddio_u64map *map)
{
	struct ddio_u64map larger = { .n = map->n, .cap = map->cap ? map->cap * 2 : 16 };
	size_t i;

	if (map->n * 4 < map->cap * 3)
		return true;
	larger.v = calloc(larger.cap, sizeof(*larger.v));
	if (!larger.v)
		return false;
	for (i = 0; i < map->cap; i++)
		if (map->v[i].key)
			larger.v[seek(&larger, map->v[i].key)] = map->v[i];
	free(map->v);
	*map = larger;
	return true;
}

uint64_t *ddio_u64map_make(struct ddio_u64map *map, uint64_t key)
{
	uint64_t *found = ddio_u64map_find(map, key);
	size_t i;

	if (found || !key || !grow(map))
		return found;
	i = seek(map, key);
	map->v[i] = (struct u64pair){ .key = key };
	map->n++;
	return &map->v[i].value;
}

/* Those behind it that were driven off their place move up. */
void ddio_u64map_drop(struct ddio_u64map *map, uint64_t key)
{
	size_t mask = map->cap - 1, hole, i, home;

	if (!ddio_u64map_find(map, key))
		return;
	hole = seek(map, key);
	for (i = (hole + 1) & mask; map->v[i].key; i = (i + 1) & mask) {
		home = place(map, map->v[i].key);
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		map->v[hole] = map->v[i];
		hole = i;
	}
	map->v[hole] = (struct u64pair){ .key = 0 };
	map->n--;
}

void ddio_u64map_free(struct ddio_u64map *map)
{
	free(map->v);
	*map = (struct ddio_u64map){ .v = NULL };
}
