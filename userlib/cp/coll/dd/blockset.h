/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A set of numbers of blocks: pages of bits in a hash table, so that neighbours are cheap. */
#ifndef DDIO_CP_BLOCKSET_H
#define DDIO_CP_BLOCKSET_H

#include <stdint.h>
#include "base/hash.h"

#define BLOCKSET_WORDS 8

/**
 * struct blockset_page - which of neighbouring blocks are in the set
 * @node: in the set, by the number of the page
 */
struct blockset_page {
	struct ddio_hash_node node;
	uint64_t bits[BLOCKSET_WORDS];
};

/**
 * struct blockset - all zero is an empty set
 * @pages: struct blockset_page.node
 */
struct blockset {
	struct ddio_hash pages;
};

/* Return: 0, -EEXIST if it was there already, -ENOMEM. */
int blockset_add(struct blockset *set, uint64_t block);
void blockset_free(struct blockset *set);

#endif /* DDIO_CP_BLOCKSET_H */
