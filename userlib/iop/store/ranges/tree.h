/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Disjoint ranges by where they start: a treap in which every node knows the longest range below it.  Neither a hash
 * table nor a heap finds the first range from a place on that is long enough, as the allocation of space needs, and this does in
 * O(log n).
 */
#ifndef DDIO_RANGE_TREE_H
#define DDIO_RANGE_TREE_H

#include <stdint.h>

/**
 * struct range_node - one range; the first member of what has more to say of it
 * @start, @len: not to be changed while it is in a tree
 * @longest: of this node and all below it
 * @prio: a random number, from its user
 */
struct range_node {
	struct range_node *left, *right;
	uint64_t start, len;
	uint64_t longest;
	uint64_t prio;
};

/* Ranges in the tree neither contain nor overlap the new one. */
void range_tree_insert(struct range_node **root, struct range_node *node);
/* Takes out the node that starts at @start, which must exist. */
struct range_node *range_tree_take(struct range_node **root, uint64_t start);
/* Returns the first range that ends after @at, or NULL. */
struct range_node *range_tree_find(struct range_node *root, uint64_t at);
/* Has free() take each node. */
void range_tree_free(struct range_node *root);

static inline uint64_t range_tree_longest(const struct range_node *root)
{
	return root ? root->longest : 0;
}

#endif /* DDIO_RANGE_TREE_H */
