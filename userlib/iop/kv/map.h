/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records in memory in the order of database and key: a skip list.  A record may say that there
 * is none of that key, which hides one further down.
 */
#ifndef DDIO_KV_MAP_H
#define DDIO_KV_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KV_LEVELS 20

/**
 * struct kv_node - one record
 * @value: NULL: there is no such record
 * @next: @levels of them, the key behind them
 */
struct kv_node {
	uint8_t *value;
	uint32_t len;
	uint16_t key_len;
	uint8_t db;
	uint8_t levels;
	struct kv_node *next[];
};

/**
 * struct kv_map - the records
 * @bytes: of keys and values, with what a node takes
 * @random: decides how high a node is
 */
struct kv_map {
	struct kv_node *head[KV_LEVELS];
	size_t n;
	size_t bytes;
	uint64_t random;
};

static inline const uint8_t *kv_node_key(const struct kv_node *node)
{
	return (const uint8_t *)&node->next[node->levels];
}

void kv_map_init(struct kv_map *map);
void kv_map_clear(struct kv_map *map);
/* The order of keys: like memcmp(), a beginning before what it begins. */
int kv_compare(const void *a, size_t a_len, const void *b, size_t b_len);
struct kv_node *kv_map_find(const struct kv_map *map, uint8_t db, const void *key, size_t key_len);
/* The first at or behind the key. */
struct kv_node *kv_map_at(const struct kv_map *map, uint8_t db, const void *key, size_t key_len);
/* Copies both.  @value NULL: there is none.  Return: 0 or -ENOMEM, with nothing changed. */
int kv_map_set(struct kv_map *map, uint8_t db, const void *key, size_t key_len, const void *value,
	       size_t len);
/* All of @from goes over @to; @from is empty then.  Allocates nothing. */
void kv_map_move(struct kv_map *to, struct kv_map *from);

#endif /* DDIO_KV_MAP_H */
