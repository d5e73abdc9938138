// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "base/rand.h"
#include "iop/store/ranges/shares.h"

static struct share_node *share_of(struct range_node *range)
{
	return (struct share_node *)range;
}

static struct share_node *find(const struct shares *set, uint64_t at)
{
	return share_of(range_tree_find(set->root, at));
}

static void take(struct shares *set, struct share_node *node)
{
	free(range_tree_take(&set->root, node->range.start));
	set->n--;
}

static struct share_node *add(struct shares *set, uint64_t start, uint64_t len, uint64_t more)
{
	struct share_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->range.start = start;
	node->range.len = len;
	node->range.prio = ddio_rand_next(&set->rand);
	node->more = more;
	range_tree_insert(&set->root, &node->range);
	set->n++;
	return node;
}

static void set_len(struct shares *set, struct share_node *node, uint64_t len)
{
	range_tree_take(&set->root, node->range.start);
	node->range.len = len;
	range_tree_insert(&set->root, &node->range);
}

void shares_init(struct shares *set)
{
	*set = (struct shares){ .rand = 1 };
}

void shares_fini(struct shares *set)
{
	range_tree_free(set->root);
	shares_init(set);
}

uint64_t shares_at(const struct shares *set, uint64_t at, uint64_t *len)
{
	const struct share_node *node = find(set, at);
	uint64_t left;

	if (!node)
		return 0;
	left = (node->range.start > at ? node->range.start : node->range.start + node->range.len) -
	       at;
	if (*len > left)
		*len = left;
	return node->range.start > at ? 0 : node->more;
}

/* Has a range begin at @at, if one goes over it: 0 or -ENOMEM. */
static int cut_at(struct shares *set, uint64_t at)
{
	struct share_node *node = find(set, at);
	uint64_t end;

	if (!node || node->range.start >= at)
		return 0;
	end = node->range.start + node->range.len;
	set_len(set, node, at - node->range.start);
	if (add(set, at, end - at, node->more))
		return 0;
	set_len(set, node, end - node->range.start);
	return -ENOMEM;
}

/* Joins the range that begins at @at with the one before it, if they are alike. */
static void join_at(struct shares *set, uint64_t at)
{
	struct share_node *node = find(set, at), *before = at ? find(set, at - 1) : NULL;
	uint64_t len;

	if (!node || !before || node == before || node->range.start != at ||
	    before->range.start + before->range.len != at || before->more != node->more)
		return;
	len = node->range.len;
	take(set, node);
	set_len(set, before, before->range.len + len);
}

/* Puts ranges without another owner where there are none, up to @end: 0 or -ENOMEM. */
static int fill(struct shares *set, uint64_t start, uint64_t end)
{
	uint64_t at = start, len;

	for (; at < end; at += len) {
		struct share_node *node = find(set, at);

		len = end - at;
		if (node && node->range.start <= at) {
			len = node->range.start + node->range.len - at;
			continue;
		}
		if (node && len > node->range.start - at)
			len = node->range.start - at;
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

	for (; node && node->range.start < end; node = find(set, at)) {
		at = node->range.start + node->range.len;
		if (!node->more)
			take(set, node);
		else
			join_at(set, node->range.start);
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

	for (at = start; at < end; at = node->range.start + node->range.len) {
		node = find(set, at);
		set->saved += node->range.len * more;
		if (!node->more)
			set->total += node->range.len;
		node->more += more;
		if (!node->more)
			set->total -= node->range.len;
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
