// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include "iop/store/ranges/tree.h"

static void node_update(struct range_node *node)
{
	uint64_t longest = node->len;

	if (range_tree_longest(node->left) > longest)
		longest = node->left->longest;
	if (range_tree_longest(node->right) > longest)
		longest = node->right->longest;
	node->longest = longest;
}

/* Splits into ranges that start below @key and the others. */
static void tree_split(struct range_node *node, uint64_t key, struct range_node **low,
		       struct range_node **high)
{
	if (!node) {
		*low = NULL;
		*high = NULL;
	} else if (node->start < key) {
		*low = node;
		tree_split(node->right, key, &node->right, high);
		node_update(node);
	} else {
		*high = node;
		tree_split(node->left, key, low, &node->left);
		node_update(node);
	}
}

/* Joins two trees; all of @low lies below all of @high. */
static struct range_node *tree_join(struct range_node *low, struct range_node *high)
{
	if (!low || !high)
		return low ? low : high;
	if (low->prio > high->prio) {
		low->right = tree_join(low->right, high);
		node_update(low);
		return low;
	}
	high->left = tree_join(low, high->left);
	node_update(high);
	return high;
}

void range_tree_insert(struct range_node **root, struct range_node *node)
{
	struct range_node *low, *high;

	node->left = NULL;
	node->right = NULL;
	node->longest = node->len;
	tree_split(*root, node->start, &low, &high);
	*root = tree_join(tree_join(low, node), high);
}

struct range_node *range_tree_take(struct range_node **root, uint64_t start)
{
	struct range_node *low, *node, *high;

	tree_split(*root, start, &low, &high);
	tree_split(high, start + 1, &node, &high);
	*root = tree_join(low, high);
	return node;
}

struct range_node *range_tree_find(struct range_node *root, uint64_t at)
{
	struct range_node *node = root, *best = NULL;

	while (node) {
		if (node->start + node->len > at) {
			best = node;
			node = node->left;
		} else {
			node = node->right;
		}
	}
	return best;
}

/* Without a stack, by rotating left children up. */
void range_tree_free(struct range_node *root)
{
	struct range_node *node = root, *next;

	while (node) {
		next = node->left;
		if (next) {
			node->left = next->right;
			next->right = node;
		} else {
			next = node->right;
			free(node);
		}
		node = next;
	}
}
