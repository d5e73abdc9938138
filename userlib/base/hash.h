/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hash tables, embedded in what they hold: chains, twice as many as soon as there are more nodes than
 * chains.  Only growth allocates, and where it fails the chains stay long: adding cannot fail.
 *
 * A key is a number of 64 bits, and two nodes have the same key if and only if they were added with
 * the same number.  Nodes that are found by bytes, or by several numbers, are added with a digest of them,
 * and the caller compares what ddio_hash_for_each_match() finds.
 */
#ifndef DDIO_HASH_H
#define DDIO_HASH_H

#include <stddef.h>
#include <stdint.h>
#include "base/list.h"
#include "base/rand.h"

/**
 * struct ddio_hash_node - embedded in what a table holds
 * @next: in the chain
 * @mixed: the key, its bits mixed; different for different keys
 */
struct ddio_hash_node {
	struct ddio_hash_node *next;
	uint64_t mixed;
};

/**
 * struct ddio_hash - all zero is an empty table
 * @chain: first nodes, a power of two of them; NULL: @only is the one chain
 * @only: see @chain
 * @mask: chains - 1
 * @n: nodes in the table
 */
struct ddio_hash {
	struct ddio_hash_node **chain;
	struct ddio_hash_node *only;
	size_t mask;
	size_t n;
};

/**
 * struct ddio_hash_walk - a walk over all nodes, in no order that means anything
 * @at: the chain after that of the next node
 * @next: the node after the current one
 *
 * The current node may be removed and freed; nothing may be added until the walk is over.
 */
struct ddio_hash_walk {
	size_t at;
	struct ddio_hash_node *next;
};

/* Other nodes may have the same key. */
void ddio_hash_add(struct ddio_hash *hash, struct ddio_hash_node *node, uint64_t key);
/* Has an empty table make room for @n nodes at once; without memory it grows as others do. */
void ddio_hash_room(struct ddio_hash *hash, uint64_t n);
/* The node must be in the table. */
void ddio_hash_del(struct ddio_hash *hash, struct ddio_hash_node *node);
/* Frees the chains; what is still in the table is its owner's to free. */
void ddio_hash_fini(struct ddio_hash *hash);

/* Returns a node with the key, or NULL. */
struct ddio_hash_node *ddio_hash_find(const struct ddio_hash *hash, uint64_t key);
/* Returns the next node with the same key, or NULL. */
struct ddio_hash_node *ddio_hash_again(const struct ddio_hash_node *node);

/* Begin a walk at the first node, or NULL, and go on to the next one. */
struct ddio_hash_node *ddio_hash_first(const struct ddio_hash *hash, struct ddio_hash_walk *walk);
struct ddio_hash_node *ddio_hash_next(const struct ddio_hash *hash, struct ddio_hash_walk *walk);

/* Returns a key for @len bytes. */
uint64_t ddio_hash_bytes(const void *data, size_t len);

/* Returns a key for two numbers. */
static inline uint64_t ddio_hash_pair(uint64_t a, uint64_t b)
{
	return ddio_rand_mix(a) + b;
}

/* The struct that a node is embedded in, or NULL for NULL. */
#define ddio_hash_entry(node, type, member)                                    \
	({                                                                     \
		struct ddio_hash_node *_node = (node);                         \
		_node ? ddio_container_of(_node, type, member) : (type *)NULL; \
	})

/* Walks over all nodes of the table; see struct ddio_hash_walk. */
#define ddio_hash_for_each(pos, walk, hash, member)                                            \
	for (pos = ddio_hash_entry(ddio_hash_first((hash), (walk)), __typeof__(*pos), member); \
	     pos; pos = ddio_hash_entry(ddio_hash_next((hash), (walk)), __typeof__(*pos), member))

/* Walks over the nodes that were added with @key. */
#define ddio_hash_for_each_match(pos, hash, key, member)                                          \
	for (pos = ddio_hash_entry(ddio_hash_find((hash), (key)), __typeof__(*pos), member); pos; \
	     pos = ddio_hash_entry(ddio_hash_again(&pos->member), __typeof__(*pos), member))

#endif /* DDIO_HASH_H */
