// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/kv/map.h"

void kv_map_init(struct kv_map *map)
{
	memset(map, 0, sizeof(*map));
	map->random = 0x9e3779b97f4a7c15ull;
}

static size_t node_bytes(const struct kv_node *node)
{
	return sizeof(*node) + node->levels * sizeof(node->next[0]) + node->key_len + node->len;
}

static void node_free(struct kv_node *node)
{
	free(node->value);
	free(node);
}

void kv_map_clear(struct kv_map *map)
{
	struct kv_node *node, *next;
	uint64_t random = map->random;

	for (node = map->head[0]; node; node = next) {
		next = node->next[0];
		node_free(node);
	}
	memset(map, 0, sizeof(*map));
	map->random = random;
}

int kv_compare(const void *a, size_t a_len, const void *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

static bool node_before(const struct kv_node *node, uint8_t db, const void *key, size_t key_len)
{
	if (node->db != db)
		return node->db < db;
	return kv_compare(kv_node_key(node), node->key_len, key, key_len) < 0;
}

/* Finds the first record at or after the key; @links: on each level the pointer to that record. */
static struct kv_node *descend(const struct kv_map *map, uint8_t db, const void *key,
			       size_t key_len, struct kv_node **links[KV_LEVELS])
{
	struct kv_node *const *from = map->head;
	int level;

	for (level = KV_LEVELS - 1; level >= 0; level--) {
		while (from[level] && node_before(from[level], db, key, key_len))
			from = from[level]->next;
		if (links)
			links[level] = (struct kv_node **)&from[level];
	}
	return from[0];
}

struct kv_node *kv_map_at(const struct kv_map *map, uint8_t db, const void *key, size_t key_len)
{
	return descend(map, db, key, key_len, NULL);
}

static bool node_is(const struct kv_node *node, uint8_t db, const void *key, size_t key_len)
{
	return node && node->db == db && node->key_len == key_len &&
	       !memcmp(kv_node_key(node), key, key_len);
}

struct kv_node *kv_map_find(const struct kv_map *map, uint8_t db, const void *key, size_t key_len)
{
	struct kv_node *node = descend(map, db, key, key_len, NULL);

	return node_is(node, db, key, key_len) ? node : NULL;
}

/* Draws a number of levels: a quarter of the nodes of each level are in the next one, too. */
static uint8_t levels_draw(struct kv_map *map)
{
	uint64_t x = map->random;
	uint8_t levels = 1;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	map->random = x;
	while (levels < KV_LEVELS && !(x & 3)) {
		levels++;
		x >>= 2;
	}
	return levels;
}

static struct kv_node *node_new(uint8_t levels, uint8_t db, const void *key, size_t key_len)
{
	struct kv_node *node = malloc(sizeof(*node) + levels * sizeof(node->next[0]) + key_len);

	if (!node)
		return NULL;
	node->value = NULL;
	node->len = 0;
	node->key_len = (uint16_t)key_len;
	node->db = db;
	node->levels = levels;
	memcpy((uint8_t *)&node->next[levels], key, key_len);
	return node;
}

static void node_link(struct kv_map *map, struct kv_node *node, struct kv_node **links[KV_LEVELS])
{
	int i;

	for (i = 0; i < node->levels; i++) {
		node->next[i] = *links[i];
		*links[i] = node;
	}
	map->n++;
	map->bytes += node_bytes(node);
}

static void node_replace(struct kv_map *map, struct kv_node *node, uint8_t *value, uint32_t len)
{
	map->bytes += len;
	map->bytes -= node->len;
	free(node->value);
	node->value = value;
	node->len = len;
}

int kv_map_set(struct kv_map *map, uint8_t db, const void *key, size_t key_len, const void *value,
	       size_t len)
{
	struct kv_node **links[KV_LEVELS], *node;
	uint8_t *copy = NULL;

	if (value) {
		copy = malloc(len ? len : 1);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, value, len);
	}
	node = descend(map, db, key, key_len, links);
	if (!node_is(node, db, key, key_len)) {
		node = node_new(levels_draw(map), db, key, key_len);
		if (!node) {
			free(copy);
			return -ENOMEM;
		}
		node_link(map, node, links);
	}
	node_replace(map, node, copy, copy ? (uint32_t)len : 0);
	return 0;
}

void kv_map_move(struct kv_map *to, struct kv_map *from)
{
	struct kv_node **links[KV_LEVELS], *node, *next, *old;
	uint64_t random = from->random;

	for (node = from->head[0]; node; node = next) {
		next = node->next[0];
		old = descend(to, node->db, kv_node_key(node), node->key_len, links);
		if (node_is(old, node->db, kv_node_key(node), node->key_len)) {
			node_replace(to, old, node->value, node->len);
			free(node);
		} else {
			node_link(to, node, links);
		}
	}
	memset(from, 0, sizeof(*from));
	from->random = random;
}
