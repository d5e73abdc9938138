// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdbool.h>
#include <stddef.h>
#include "base/rand.h"
#include "iop/lock/rangeset.h"

static bool is_before(const struct range *a, const struct range *b)
{
	return a->start != b->start ? a->start < b->start : a->seq < b->seq;
}

/* Returns the place in the heap: nobody outside has a say in it. */
static uint64_t weight(const struct range *range)
{
	return ddio_rand_mix(range->seq);
}

static void include(struct range *range, const struct range *child)
{
	if (!child)
		return;
	if (child->last > range->last)
		range->last = child->last;
	if (child->all != range->who)
		range->all = NULL;
}

static struct range *update(struct range *range)
{
	range->last = range->end;
	range->all = range->who;
	include(range, range->left);
	include(range, range->right);
	return range;
}

/* Divides a subtree into what stands before @at, and the rest. */
static void split(struct range *root, const struct range *at, struct range **before,
		  struct range **rest)
{
	if (!root) {
		*before = *rest = NULL;
		return;
	}
	if (is_before(root, at)) {
		split(root->right, at, &root->right, rest);
		*before = update(root);
	} else {
		split(root->left, at, before, &root->left);
		*rest = update(root);
	}
}

/* Joins two subtrees, of which @a stands before @b. */
static struct range *join(struct range *a, struct range *b)
{
	if (!a || !b)
		return a ? a : b;
	if (weight(a) > weight(b)) {
		a->right = join(a->right, b);
		return update(a);
	}
	b->left = join(a, b->left);
	return update(b);
}

static struct range *insert(struct range *root, struct range *range)
{
	if (!root || weight(range) > weight(root)) {
		split(root, range, &range->left, &range->right);
		return update(range);
	}
	if (is_before(root, range))
		root->right = insert(root->right, range);
	else
		root->left = insert(root->left, range);
	return update(root);
}

static struct range *take_out(struct range *root, const struct range *range)
{
	if (root == range)
		return join(root->left, root->right);
	if (is_before(root, range))
		root->right = take_out(root->right, range);
	else
		root->left = take_out(root->left, range);
	return update(root);
}

void rangeset_add(struct rangeset *set, struct range *range)
{
	range->seq = set->added++;
	set->root = insert(set->root, range);
}

void rangeset_del(struct rangeset *set, struct range *range)
{
	set->root = take_out(set->root, range);
}

/* Finds the first in a subtree that stands behind @after, or anywhere if that is NULL. */
static struct range *find(struct range *root, const struct range *after, struct range_query *q)
{
	struct range *found;

	if (!root || root->last < q->from || (q->but && root->all == q->but))
		return NULL;
	q->looked++;
	if (after && !is_before(after, root))
		return find(root->right, after, q);
	found = find(root->left, after, q);
	if (found || root->start > q->to)
		return found;
	if (root->end >= q->from && root->who != q->but)
		return root;
	return find(root->right, NULL, q);
}

struct range *rangeset_first(const struct rangeset *set, struct range_query *query)
{
	return find(set->root, NULL, query);
}

struct range *rangeset_next(const struct rangeset *set, const struct range *range,
			    struct range_query *query)
{
	return find(set->root, range, query);
}
