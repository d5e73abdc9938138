// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

#define CHAINS_FIRST 16u
#define CHAINS_MOST ((size_t)1 << 26)

static size_t chains(const struct ddio_hash *hash)
{
	return hash->chain ? hash->mask + 1 : 1;
}

static struct ddio_hash_node *const *chain_at(const struct ddio_hash *hash, size_t i)
{
	return hash->chain ? &hash->chain[i] : &hash->only;
}

static struct ddio_hash_node **chain_of(struct ddio_hash *hash, uint64_t mixed)
{
	return hash->chain ? &hash->chain[mixed & hash->mask] : &hash->only;
}

static void chain_push(struct ddio_hash *hash, struct ddio_hash_node *node)
{
	struct ddio_hash_node **chain = chain_of(hash, node->mixed);

	node->next = *chain;
	*chain = node;
}

static void hash_grow(struct ddio_hash *hash)
{
	size_t n = hash->chain ? 2 * chains(hash) : CHAINS_FIRST;
	struct ddio_hash larger = { .mask = n - 1, .n = hash->n };
	struct ddio_hash_node *node;
	struct ddio_hash_walk walk;

	larger.chain = calloc(n, sizeof(struct ddio_hash_node *));
	if (!larger.chain)
		return;
	for (node = ddio_hash_first(hash, &walk); node; node = ddio_hash_next(hash, &walk))
		chain_push(&larger, node);
	free(hash->chain);
	*hash = larger;
}

void ddio_hash_add(struct ddio_hash *hash, struct ddio_hash_node *node, uint64_t key)
{
	if (hash->n >= chains(hash))
		hash_grow(hash);
	node->mixed = ddio_rand_mix(key);
	chain_push(hash, node);
	hash->n++;
}

void ddio_hash_room(struct ddio_hash *hash, uint64_t n)
{
	size_t room = CHAINS_FIRST;

	while (room < n && room < CHAINS_MOST)
		room *= 2;
	if (hash->n || hash->chain)
		return;
	hash->chain = calloc(room, sizeof(struct ddio_hash_node *));
	if (hash->chain)
		hash->mask = room - 1;
}

void ddio_hash_del(struct ddio_hash *hash, struct ddio_hash_node *node)
{
	struct ddio_hash_node **at = chain_of(hash, node->mixed);

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	node->next = NULL;
	hash->n--;
}

void ddio_hash_fini(struct ddio_hash *hash)
{
	free(hash->chain);
	memset(hash, 0, sizeof(*hash));
}

/* Returns the first node from @node on that has the key, or NULL. */
static struct ddio_hash_node *chain_find(struct ddio_hash_node *node, uint64_t mixed)
{
	while (node && node->mixed != mixed)
		node = node->next;
	return node;
}

struct ddio_hash_node *ddio_hash_find(const struct ddio_hash *hash, uint64_t key)
{
	uint64_t mixed = ddio_rand_mix(key);

	return chain_find(*chain_at(hash, mixed & hash->mask), mixed);
}

struct ddio_hash_node *ddio_hash_again(const struct ddio_hash_node *node)
{
	return chain_find(node->next, node->mixed);
}

struct ddio_hash_node *ddio_hash_first(const struct ddio_hash *hash, struct ddio_hash_walk *walk)
{
	walk->at = 0;
	walk->next = NULL;
	return ddio_hash_next(hash, walk);
}

struct ddio_hash_node *ddio_hash_next(const struct ddio_hash *hash, struct ddio_hash_walk *walk)
{
	struct ddio_hash_node *node = walk->next;

	while (!node && walk->at < chains(hash))
		node = *chain_at(hash, walk->at++);
	walk->next = node ? node->next : NULL;
	return node;
}

uint64_t ddio_hash_bytes(const void *data, size_t len)
{
	uint64_t sum = len, word;
	const uint8_t *at = data;

	for (; len >= sizeof(word); len -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum = ddio_hash_pair(sum, word);
	}
	word = 0;
	memcpy(&word, at, len);
	return ddio_hash_pair(sum, word);
}
