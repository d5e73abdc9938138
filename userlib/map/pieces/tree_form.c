// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From the description of a tree to its form: one pass over its nodes, each after its children.
 * Whatever has no bytes, or stands for its child alone, is left out; leaves that touch are joined, and
 * a sequence of equal entries at one distance becomes a repetition.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "map/pieces/tree.h"

/* Addresses are less than this from the origin, so that no difference overflows. */
#define REACH_MAX (INT64_C(1) << 62)

#define NOTHING UINT64_MAX

/**
 * struct growth - a form under construction
 * @ref: for each node of the description: what is left of it; its node is NOTHING if it has no bytes
 * @depth: nodes of the description from it down
 * @used: entries that belong to sequences so far
 */
struct growth {
	const struct ddio_tree *tree;
	struct tree_form *form;
	struct tree_ref *ref;
	uint8_t *depth;
	uint64_t used;
	const char **why;
};

static int fail(const char **why, const char *text, int err)
{
	*why = text;
	return err;
}

static int fail_range(const char **why)
{
	return fail(why, "tree: it has or spans 2^62 bytes or more", -EOVERFLOW);
}

static uint64_t mul_capped(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static bool reach_ok(int64_t lo, int64_t hi)
{
	return lo > -REACH_MAX && hi < REACH_MAX;
}

static int node_add(struct tree_form *form, const struct tree_node *node, struct tree_ref *ref)
{
	uint64_t room = form->room ? 2 * form->room : 8;
	struct tree_node *p;

	/* Views of one tree often need the same node. */
	if (form->nnodes && !memcmp(&form->node[form->nnodes - 1], node, sizeof(*node))) {
		ref->node = form->nnodes - 1;
		return 0;
	}
	if (form->nnodes == form->room) {
		p = reallocarray(form->node, room, sizeof(*p));
		if (!p)
			return -ENOMEM;
		form->node = p;
		form->room = room;
	}
	form->node[form->nnodes] = *node;
	ref->node = form->nnodes++;
	return 0;
}

static int leaf_add(struct tree_form *form, uint64_t len, struct tree_ref *ref, const char **why)
{
	struct tree_node node = { .kind = DDIO_TREE_LEAF,
				  .flags = TREE_MONOTONE | TREE_CHAIN,
				  .n = len,
				  .size = len,
				  .pieces = 1,
				  .paths = 1,
				  .least = len,
				  .hi = (int64_t)len };

	if (len >= (uint64_t)REACH_MAX)
		return fail_range(why);
	return node_add(form, &node, ref);
}

/* Returns how far @n repetitions reach beyond the first one, either way, in @reach; false if too far. */
static bool repeat_reach(uint64_t n, int64_t stride, int64_t *reach)
{
	*reach = 0;
	if (!stride)
		return true;
	return n - 1 < (uint64_t)REACH_MAX &&
	       !__builtin_mul_overflow((int64_t)(n - 1), stride, reach) && *reach > -REACH_MAX &&
	       *reach < REACH_MAX;
}

/* Makes the node that repeats @child. */
static int repeat_make(const struct tree_node *child, uint64_t n, int64_t stride,
		       struct tree_node *node, const char **why)
{
	int64_t reach;

	*node = (struct tree_node){ .kind = DDIO_TREE_REPEAT,
				    .flags = child->flags,
				    .n = n,
				    .stride = (uint64_t)stride,
				    .pieces = mul_capped(child->pieces, n),
				    .paths = child->paths,
				    .least = child->least };
	if (!repeat_reach(n, stride, &reach) ||
	    __builtin_mul_overflow(child->size, n, &node->size) ||
	    node->size >= (uint64_t)REACH_MAX)
		return fail_range(why);
	node->lo = child->lo + (reach < 0 ? reach : 0);
	node->hi = child->hi + (reach > 0 ? reach : 0);
	if (!reach_ok(node->lo, node->hi))
		return fail_range(why);
	if (stride < child->hi - child->lo)
		node->flags &= ~TREE_MONOTONE;
	return 0;
}

int tree_form_repeat(struct tree_form *form, const struct tree_ref *ref, uint64_t n,
		     uint64_t stride, struct tree_ref *out, const char **why)
{
	struct tree_ref child = *ref;
	const struct tree_node *node;
	struct tree_node repeat;
	int rc;

	*out = child;
	if (child.node == NOTHING || n == 1)
		return 0;
	if (!n) {
		out->node = NOTHING;
		return 0;
	}
	node = &form->node[child.node];
	if (node->kind == DDIO_TREE_LEAF && stride == node->n) {
		if (mul_capped(node->n, n) >= (uint64_t)REACH_MAX)
			return fail_range(why);
		return leaf_add(form, node->n * n, out, why);
	}
	if (node->kind == DDIO_TREE_REPEAT && stride == node->n * node->stride &&
	    mul_capped(n, node->n) != UINT64_MAX) {
		n *= node->n;
		stride = node->stride;
		child.node = node->child;
		node = &form->node[child.node];
	}
	rc = repeat_make(node, n, (int64_t)stride, &repeat, why);
	if (rc)
		return rc;
	repeat.child = child.node;
	return node_add(form, &repeat, out);
}

/*
 * Sequences
 */

/* Joins the leaf @ref to the last of the entries from @first on, if they touch. */
static int child_join(struct growth *g, uint64_t first, const struct tree_ref *ref, bool *joined)
{
	struct tree_form *form = g->form;
	const struct tree_node *leaf = &form->node[ref->node], *node;
	struct tree_child *last = &form->child[form->nchildren - 1];
	struct tree_ref both;
	int rc;

	*joined = false;
	if (form->nchildren == first || leaf->kind != DDIO_TREE_LEAF)
		return 0;
	node = &form->node[last->node];
	if (node->kind != DDIO_TREE_LEAF || last->off + node->n != ref->off)
		return 0;
	rc = leaf_add(form, node->n + leaf->n, &both, g->why);
	if (rc)
		return rc;
	last->node = both.node;
	*joined = true;
	return 0;
}

/* Appends an entry, or lengthens the last one. */
static int child_add(struct growth *g, uint64_t first, const struct tree_ref *ref)
{
	struct tree_form *form = g->form;
	bool joined;
	int rc;

	if (ref->node == NOTHING)
		return 0;
	rc = child_join(g, first, ref, &joined);
	if (rc || joined)
		return rc;
	form->child[form->nchildren++] = (struct tree_child){ ref->off, ref->node, 0 };
	return 0;
}

/* Adds to the node of a sequence what entry @child, the next one, is. */
static int sequence_extend(const struct tree_form *form, struct tree_node *node,
			   struct tree_child *child, const char **why)
{
	const struct tree_node *part = &form->node[child->node];
	int64_t lo, hi;

	if (__builtin_add_overflow(part->lo, (int64_t)child->off, &lo) ||
	    __builtin_add_overflow(part->hi, (int64_t)child->off, &hi) || !reach_ok(lo, hi))
		return fail_range(why);
	child->before = node->size;
	if (node->size && lo < node->hi)
		node->flags &= ~TREE_MONOTONE;
	node->flags &= part->flags | ~TREE_MONOTONE;
	node->lo = node->size && node->lo < lo ? node->lo : lo;
	node->hi = node->size && node->hi > hi ? node->hi : hi;
	node->size += part->size;
	if (node->size >= (uint64_t)REACH_MAX)
		return fail_range(why);
	node->pieces = add_capped(node->pieces, part->pieces);
	node->paths = add_capped(node->paths, part->paths);
	if (part->least < node->least)
		node->least = part->least;
	return 0;
}

/* Returns true if the @n entries are the same node at one distance. */
static bool children_even(const struct tree_child *child, uint64_t n)
{
	uint64_t i;

	for (i = 1; i < n; i++)
		if (child[i].node != child[0].node ||
		    child[i].off - child[i - 1].off != child[1].off - child[0].off)
			return false;
	return true;
}

/* Makes what is needed of the entries from @first on. */
static int sequence_finish(struct growth *g, uint64_t first, struct tree_ref *ref)
{
	struct tree_form *form = g->form;
	struct tree_child *child = form->child + first;
	uint64_t n = form->nchildren - first, i;
	struct tree_node node = { .kind = DDIO_TREE_SEQUENCE,
				  .flags = TREE_MONOTONE,
				  .n = n,
				  .child = first,
				  .least = UINT64_MAX };
	struct tree_ref one;
	int rc = 0;

	if (!n)
		return 0;
	for (i = 0; i < n && !rc; i++)
		rc = sequence_extend(form, &node, &child[i], g->why);
	if (rc)
		return rc;
	if (children_even(child, n)) {
		form->nchildren = first;
		one = (struct tree_ref){ child->node, child->off };
		return tree_form_repeat(form, &one, n, n > 1 ? child[1].off - child->off : 0, ref,
					g->why);
	}
	return node_add(form, &node, ref);
}

static int sequence_grow(struct growth *g, uint64_t i)
{
	const struct ddio_tree_node *node = &g->tree->node[i];
	uint64_t first = g->form->nchildren, k;
	int rc = 0;

	if (node->n && (node->child != g->used || node->n > g->tree->nchildren - g->used))
		return fail(g->why, "tree: the entries of its sequences do not follow one another",
			    -EINVAL);
	g->used += node->n;
	for (k = 0; k < node->n && !rc; k++) {
		const struct ddio_tree_child *child = &g->tree->child[node->child + k];
		struct tree_ref ref;

		if (child->node >= i)
			return fail(g->why, "tree: a node comes before its child", -EINVAL);
		if (child->offset <= -REACH_MAX || child->offset >= REACH_MAX)
			return fail_range(g->why);
		ref = g->ref[child->node];
		ref.off += (uint64_t)child->offset;
		if (g->depth[child->node] >= g->depth[i])
			g->depth[i] = g->depth[child->node] + 1;
		rc = child_add(g, first, &ref);
	}
	return rc ? rc : sequence_finish(g, first, &g->ref[i]);
}

static int repeat_grow(struct growth *g, uint64_t i)
{
	const struct ddio_tree_node *node = &g->tree->node[i];

	if (node->child >= i)
		return fail(g->why, "tree: a node comes before its child", -EINVAL);
	g->depth[i] = g->depth[node->child] + 1;
	return tree_form_repeat(g->form, &g->ref[node->child], node->n, (uint64_t)node->stride,
				&g->ref[i], g->why);
}

static int node_grow(struct growth *g, uint64_t i)
{
	const struct ddio_tree_node *node = &g->tree->node[i];

	if (node->reserved)
		return fail(g->why, "tree.node.reserved is not 0", -EINVAL);
	if (node->kind != DDIO_TREE_REPEAT && node->stride)
		return fail(g->why, "tree.node.stride is set, but the node is no repetition",
			    -EINVAL);
	g->depth[i] = 1;
	g->ref[i].node = NOTHING;
	switch (node->kind) {
	case DDIO_TREE_LEAF:
		if (node->child)
			return fail(g->why, "tree.node.child of a leaf is not 0", -EINVAL);
		return node->n ? leaf_add(g->form, node->n, &g->ref[i], g->why) : 0;
	case DDIO_TREE_REPEAT:
		return repeat_grow(g, i);
	case DDIO_TREE_SEQUENCE:
		return sequence_grow(g, i);
	default:
		return fail(g->why, "tree.node.kind is unknown", -EINVAL);
	}
}

static int nodes_grow(struct growth *g)
{
	uint64_t i;
	int rc = 0;

	for (i = 0; i < g->tree->nnodes && !rc; i++) {
		rc = node_grow(g, i);
		if (!rc && g->depth[i] > DDIO_TREE_DEPTH)
			rc = fail(g->why, "tree: more than 64 nodes lie above one another",
				  -EINVAL);
	}
	if (!rc)
		g->form->root = g->ref[g->tree->nnodes - 1];
	return rc;
}

static struct tree_form *form_alloc(const struct ddio_tree *tree)
{
	struct tree_form *form = calloc(1, sizeof(*form));

	if (!form)
		return NULL;
	form->refs = 1;
	form->child = calloc(tree->nchildren + 1, sizeof(*form->child));
	if (!form->child) {
		free(form);
		return NULL;
	}
	return form;
}

static bool tree_sizes_ok(const struct ddio_tree *tree)
{
	return tree->nnodes && tree->node && (tree->child || !tree->nchildren) &&
	       tree->nnodes < SIZE_MAX / 256 && tree->nchildren < SIZE_MAX / 256;
}

int tree_form_new(const struct ddio_tree *tree, struct tree_form **form, const char **why)
{
	struct growth g = { .tree = tree, .why = why };
	int rc = -ENOMEM;

	if (!tree_sizes_ok(tree))
		return fail(why, "tree: its nodes or children are missing", -EINVAL);
	g.form = form_alloc(tree);
	g.ref = calloc(tree->nnodes, sizeof(*g.ref));
	g.depth = calloc(tree->nnodes, sizeof(*g.depth));
	if (g.form && g.ref && g.depth)
		rc = nodes_grow(&g);
	if (!rc && g.form->root.node == NOTHING)
		rc = fail(why, "tree: it has no bytes", -EINVAL);
	free(g.ref);
	free(g.depth);
	if (rc) {
		tree_form_put(g.form);
		return rc;
	}
	*form = g.form;
	return 0;
}

void tree_form_put(struct tree_form *form)
{
	if (!form || --form->refs)
		return;
	free(form->node);
	free(form->child);
	free(form);
}
