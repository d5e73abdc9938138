// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "base/rand.h"
#include "iop/store/ranges/shares.h"

/* Splits into ranges that start below @key and the others. */
static void tree_split(struct share_node *node, uint64_t key, struct share_node **low,
		       struct share_node **high)
{
	if (!node) {
		*low = NULL;
		*high = NULL;
	} else if (node->start < key) {
		*low = node;
		tree_split(node->right, key, &node->right, high);
	} else {
		*high = node;
		tree_split(node->left, key, low, &node->left);
	}
}

/* Joins two trees; all of @low lies below all of @high. */
static struct share_node *tree_join(struct share_node *low, struct share_node *high)
{
	if (!low || !high)
		return low ? low : high;
	if (low->prio > high->prio) {
		low->right = tree_join(low->right, high);
		return low;
	}
	high->left = tree_join(low, high->left);
	return high;
}

static void insert(struct shares *set, struct share_node *node)
{
	struct share_node *low, *high;

	node->left = NULL;
	node->right = NULL;
	tree_split(set->root, node->start, &low, &high);
	set->root = tree_join(tree_join(low, node), high);
	set->n++;
}

static void take(struct shares *set, struct share_node *node)
{
	struct share_node *low, *one, *high;

	tree_split(set->root, node->start, &low, &high);
	tree_split(high, node->start + 1, &one, &high);
	set->root = tree_join(low, high);
	set->n--;
	free(one);
}

static struct share_node *add(struct shares *set, uint64_t start, uint64_t len, uint64_t more)
{
	struct share_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->start = start;
	node->len = len;
	node->more = more;
	node->prio = ddio_rand_next(&set->rand);
	insert(set, node);
	return node;
}

void shares_init(struct shares *set)
{
	*set = (struct shares){ .rand = 1 };
}

/* Frees without a stack, by rotating left children up. */
void shares_fini(struct shares *set)
{
	struct share_node *node = set->root, *next;

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
	shares_init(set);
}

static struct share_node *find(const struct shares *set, uint64_t at)
{
	struct share_node *node = set->root, *best = NULL;

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

const struct share_node *shares_find(const struct shares *set, uint64_t at)
{
	return find(set, at);
}

uint64_t shares_at(const struct shares *set, uint64_t at, uint64_t *len)
{
	const struct share_node *node = find(set, at);
	uint64_t left;

	if (!node)
		return 0;
	left = (node->start > at ? node->start : node->start + node->len) - at;
	if (*len > left)
		*len = left;
	return node->start > at ? 0 : node->more;
}

/* Has a range begin at @at, if one goes over it: 0 or -ENOMEM. */
static int cut_at(struct shares *set, uint64_t at)
{
	struct share_node *node = find(set, at);

	if (!node || node->start >= at)
		return 0;
	if (!add(set, at, node->start + node->len - at, node->more))
		return -ENOMEM;
	node->len = at - node->start;
	return 0;
}

/* Joins the range that begins at @at with the one before it, if they are alike. */
static void join_at(struct shares *set, uint64_t at)
{
	struct share_node *node = find(set, at), *before = at ? find(set, at - 1) : NULL;

	if (!node || !before || node == before || node->start != at ||
	    before->start + before->len != at || before->more != node->more)
		return;
	before->len += node->len;
	take(set, node);
}

/* Puts ranges without another owner where there are none, up to @end: 0 or -ENOMEM. */
static int fill(struct shares *set, uint64_t start, uint64_t end)
{
	uint64_t at = start, len;

	for (; at < end; at += len) {
		struct share_node *node = find(set, at);

		len = end - at;
		if (node && node->start <= at) {
			len = node->start + node->len - at;
			continue;
		}
		if (node && len > node->start - at)
			len = node->start - at;
		if (!add(set, at, len, 0))
			return -ENOMEM;
	}
	return 0;
}

/* Ranges of [start, end) are joined where they are alike, and go where nothing is shared. */
static void tidy(struct shares *set, uint64_t start, uint64_t end)
{
	struct share_node *node = find(set, start);
	uint64_t at;

	for (; node && node->start < end; node = find(set, at)) {
		at = node->start + node->len;
		if (!node->more)
			take(set, node);
		else
			join_at(set, node->start);
	}
	join_at(set, end);
}

/* Prepares [start, end) for a change of each range in it. */
static int prepare(struct shares *set, uint64_t start, uint64_t end)
{
	int ret = cut_at(set, start);

	if (!ret)
		ret = cut_at(set, end);
	if (!ret)
		ret = fill(set, start, end);
	if (ret)
		tidy(set, start, end);
	return ret;
}

static void change(struct shares *set, uint64_t start, uint64_t end, uint64_t more)
{
	struct share_node *node;
	uint64_t at;

	for (at = start; at < end; at = node->start + node->len) {
		node = find(set, at);
		set->saved += node->len * more;
		if (!node->more)
			set->total += node->len;
		node->more += more;
		if (!node->more)
			set->total -= node->len;
	}
	tidy(set, start, end);
}

int shares_add(struct shares *set, uint64_t start, uint64_t len, uint64_t more)
{
	int ret = len && more ? prepare(set, start, start + len) : 0;

	if (!ret && len && more)
		change(set, start, start + len, more);
	return ret;
}

int shares_drop(struct shares *set, uint64_t start, uint64_t len)
{
	int ret = len ? prepare(set, start, start + len) : 0;

	/* One less, in the arithmetic of unsigned numbers. */
	if (!ret && len)
		change(set, start, start + len, UINT64_MAX);
	return ret;
}
