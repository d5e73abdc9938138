/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records in memory, ordered by database and key: a skip list, since cursors walk it in order while
 * look-ups and insertions stay O(log n), and one map can be merged into another without allocating.  A
 * record may say that its key is deleted, which hides the record of a lower layer.
 */
#ifndef DDIO_KV_MAP_H
#define DDIO_KV_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KV_LEVELS 20

/**
 * struct kv_node - one record
 * @value: NULL: it is deleted
 * @next: @levels of them, followed by the key
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
 * @bytes: of nodes with their keys and values
 * @random: decides how many levels a node has
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
/* Orders keys like memcmp(); a prefix comes before what it begins. */
int kv_compare(const void *a, size_t a_len, const void *b, size_t b_len);
struct kv_node *kv_map_find(const struct kv_map *map, uint8_t db, const void *key, size_t key_len);
/* Returns the first record at or after the key, maybe of a later database, or NULL. */
struct kv_node *kv_map_at(const struct kv_map *map, uint8_t db, const void *key, size_t key_len);
/* Copies key and value; @value NULL: deleted.  Returns 0, or -ENOMEM with nothing changed. */
int kv_map_set(struct kv_map *map, uint8_t db, const void *key, size_t key_len, const void *value,
	       size_t len);
/* Moves all of @from into @to, where it prevails.  Allocates nothing. */
void kv_map_move(struct kv_map *to, struct kv_map *from);

#endif /* DDIO_KV_MAP_H */
