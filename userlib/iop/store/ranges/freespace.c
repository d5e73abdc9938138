// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "base/rand.h"
#include "iop/store/ranges/freespace.h"

int ranges_ready(struct ranges *set)
{
	if (!set->spare)
		set->spare = calloc(1, sizeof(*set->spare));
	return set->spare ? 0 : -ENOMEM;
}

static struct range_node *node_new(struct ranges *set)
{
	struct range_node *node = ranges_ready(set) ? NULL : set->spare;

	set->spare = NULL;
	if (node)
		node->prio = ddio_rand_next(&set->rand);
	return node;
}

static void set_insert(struct ranges *set, struct range_node *node, uint64_t start, uint64_t len)
{
	node->start = start;
	node->len = len;
	range_tree_insert(&set->root, node);
	set->total += len;
	set->n++;
}

/* Takes out the node that starts at @start, which must exist. */
static struct range_node *set_take(struct ranges *set, uint64_t start)
{
	struct range_node *node = range_tree_take(&set->root, start);

	set->total -= node->len;
	set->n--;
	return node;
}

void ranges_init(struct ranges *set)
{
	*set = (struct ranges){ .rand = 1 };
}

void ranges_fini(struct ranges *set)
{
	range_tree_free(set->root);
	free(set->spare);
	set->root = NULL;
	set->spare = NULL;
	set->total = 0;
	set->n = 0;
}

const struct range_node *ranges_find(const struct ranges *set, uint64_t at)
{
	return range_tree_find(set->root, at);
}

bool ranges_contain(const struct ranges *set, uint64_t start, uint64_t len)
{
	const struct range_node *node = ranges_find(set, start);

	return node && node->start <= start && node->len - (start - node->start) >= len;
}

int ranges_add(struct ranges *set, uint64_t start, uint64_t len)
{
	const struct range_node *before, *after;
	struct range_node *node = NULL;

	if (!len)
		return 0;
	if (start + len < start)
		return -EINVAL;
	after = ranges_find(set, start);
	if (after && after->start < start + len)
		return -EEXIST;
	before = start ? ranges_find(set, start - 1) : NULL;
	if (before && before->start < start) {
		node = set_take(set, before->start);
		start = node->start;
		len += node->len;
	}
	if (after && after->start == start + len) {
		len += after->len;
		free(node);
		node = set_take(set, after->start);
	}
	if (!node)
		node = node_new(set);
	if (!node)
		return -ENOMEM;
	set_insert(set, node, start, len);
	return 0;
}

/* Puts back what [start, end) leaves of @node, which has been taken out of the set. */
static void range_cut(struct ranges *set, struct range_node *node, uint64_t start, uint64_t end,
		      struct range_node **spare)
{
	uint64_t first = node->start, last = node->start + node->len;

	if (first < start) {
		set_insert(set, node, first, start - first);
		node = NULL;
	}
	if (last > end) {
		if (!node) {
			node = *spare;
			*spare = NULL;
		}
		set_insert(set, node, end, last - end);
		node = NULL;
	}
	free(node);
}

int ranges_remove(struct ranges *set, uint64_t start, uint64_t len)
{
	uint64_t end = start + len;
	const struct range_node *hit = len ? ranges_find(set, start) : NULL;
	struct range_node *spare = NULL;

	if (!hit || hit->start >= end)
		return 0;
	/* Only a hole in the middle of a range needs another node. */
	if (hit->start < start && hit->start + hit->len > end) {
		spare = node_new(set);
		if (!spare)
			return -ENOMEM;
	}
	while (hit && hit->start < end) {
		range_cut(set, set_take(set, hit->start), start, end, &spare);
		hit = ranges_find(set, start);
	}
	return 0;
}

static bool range_fits(const struct range_node *node, uint64_t from, uint64_t len, uint64_t align,
		       uint64_t *start)
{
	uint64_t end = node->start + node->len;
	uint64_t at = node->start > from ? node->start : from;

	at = (at + align - 1) & ~(align - 1);
	if (at < node->start || at > end || end - at < len)
		return false;
	*start = at;
	return true;
}

static bool tree_fit(const struct range_node *node, uint64_t from, uint64_t len, uint64_t align,
		     uint64_t *start)
{
	if (range_tree_longest(node) < len)
		return false;
	if (node->start > from && tree_fit(node->left, from, len, align, start))
		return true;
	if (node->len >= len && range_fits(node, from, len, align, start))
		return true;
	return tree_fit(node->right, from, len, align, start);
}

bool ranges_fit(const struct ranges *set, uint64_t from, uint64_t len, uint64_t align,
		uint64_t *start)
{
	return tree_fit(set->root, from, len, align, start);
}

uint64_t ranges_longest(const struct ranges *set)
{
	return range_tree_longest(set->root);
}
