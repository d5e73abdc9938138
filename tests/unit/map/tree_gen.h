/* SPDX-License-Identifier: GPL-2.0-only */
/* Random trees and views, and the bytes that they name, found by a naive walk. */
#ifndef DDIO_TREE_GEN_H
#define DDIO_TREE_GEN_H

#include "map_twin.h"

#define GEN_NODES 10
#define GEN_CHILDREN 40
#define GEN_TREE_BYTES 200

/**
 * struct gen_tree - a tree and what it is made of
 * @lo, @hi, @size: of each node, found on the way
 */
struct gen_tree {
	struct ddio_tree tree;
	struct ddio_tree_node node[GEN_NODES];
	struct ddio_tree_child child[GEN_CHILDREN];
	int64_t lo[GEN_NODES], hi[GEN_NODES];
	uint64_t size[GEN_NODES];
};

/**
 * enum gen_order - how wild a tree is
 * @GEN_SORTED: its bytes lie in file order
 * @GEN_ANY: most do
 * @GEN_WILD: as memory may be: backwards, on top of one another
 */
enum gen_order { GEN_SORTED, GEN_ANY, GEN_WILD };

static inline bool gen_strays(struct twin_rng *rng, enum gen_order order)
{
	return order == GEN_WILD ? twin_chance(rng, 30) : order == GEN_ANY && twin_chance(rng, 4);
}

static inline void gen_bounds(struct gen_tree *g, uint64_t i, int64_t at, uint64_t child)
{
	if (!g->size[child])
		return;
	if (!g->size[i] || at + g->lo[child] < g->lo[i])
		g->lo[i] = at + g->lo[child];
	if (!g->size[i] || at + g->hi[child] > g->hi[i])
		g->hi[i] = at + g->hi[child];
	g->size[i] += g->size[child];
}

static inline void gen_leaf(struct twin_rng *rng, struct gen_tree *g, uint64_t i)
{
	uint64_t n = twin_chance(rng, 5) ? 0 : twin_pick(rng, 1, 9);

	g->node[i] = (struct ddio_tree_node){ .kind = DDIO_TREE_LEAF, .n = n };
	g->hi[i] = (int64_t)n;
	g->size[i] = n;
}

static inline void gen_repeat(struct twin_rng *rng, struct gen_tree *g, uint64_t i,
			      enum gen_order order)
{
	uint64_t child = twin_pick(rng, i > 2 ? i - 3 : 0, i - 1), n = twin_pick(rng, 1, 5), k;
	int64_t stride = g->hi[child] - g->lo[child] + (int64_t)twin_pick(rng, 0, 5);

	if (twin_chance(rng, 3))
		n = 0;
	if (g->size[child] * n > GEN_TREE_BYTES)
		n = 1;
	if (twin_chance(rng, 30))
		stride = g->hi[child] - g->lo[child];
	if (gen_strays(rng, order))
		stride = (int64_t)twin_pick(rng, 0, 40) - (order == GEN_WILD ? 20 : 0);
	g->node[i] = (struct ddio_tree_node){
		.kind = DDIO_TREE_REPEAT, .n = n, .stride = stride, .child = child
	};
	for (k = 0; k < n; k++)
		gen_bounds(g, i, (int64_t)k * stride, child);
}

static inline void gen_sequence(struct twin_rng *rng, struct gen_tree *g, uint64_t i,
				enum gen_order order)
{
	uint64_t n = twin_pick(rng, 0, 4), k;

	g->node[i] =
		(struct ddio_tree_node){ .kind = DDIO_TREE_SEQUENCE, .child = g->tree.nchildren };
	for (k = 0; k < n; k++) {
		uint64_t child = twin_pick(rng, i > 3 ? i - 4 : 0, i - 1);
		int64_t at = (int64_t)twin_pick(rng, 0, 5);

		if (g->size[i] + g->size[child] > GEN_TREE_BYTES)
			break;
		at = twin_chance(rng, 30) ? g->hi[i] : g->hi[i] + at;
		at -= g->lo[child];
		if (gen_strays(rng, order))
			at = (int64_t)twin_pick(rng, 0, 60) - 20;
		g->child[g->tree.nchildren++] =
			(struct ddio_tree_child){ .offset = at, .node = child };
		g->node[i].n++;
		gen_bounds(g, i, at, child);
	}
}

static inline void gen_tree(struct twin_rng *rng, struct gen_tree *g, enum gen_order order)
{
	uint64_t n = twin_pick(rng, 1, GEN_NODES), i;

	memset(g, 0, sizeof(*g));
	g->tree.node = g->node;
	g->tree.child = g->child;
	for (i = 0; i < n; i++) {
		if (!i || twin_chance(rng, 15))
			gen_leaf(rng, g, i);
		else if (twin_chance(rng, 50))
			gen_repeat(rng, g, i, order);
		else
			gen_sequence(rng, g, i, order);
	}
	g->tree.nnodes = n;
}

/* Returns the bytes of the whole tree. */
static inline uint64_t gen_tree_size(const struct gen_tree *g)
{
	return g->size[g->tree.nnodes - 1];
}

/* A view of the tree that begins at or after @from. */
static inline void gen_view(struct twin_rng *rng, const struct gen_tree *g, uint64_t from,
			    enum gen_order order, struct ddio_view *view)
{
	uint64_t root = g->tree.nnodes - 1;
	uint64_t size = g->size[root];
	int64_t span = g->hi[root] - g->lo[root];
	uint64_t low = g->lo[root] < 0 ? (uint64_t)-g->lo[root] : 0;

	view->tree = &g->tree;
	view->offset = from + low + twin_pick(rng, 0, 9);
	view->extent = (uint64_t)span + (twin_chance(rng, 50) ? 0 : twin_pick(rng, 0, 9));
	if (gen_strays(rng, order))
		view->extent = twin_pick(rng, 0, (uint64_t)span);
	view->skip = !size || twin_chance(rng, 40) ? 0 : twin_pick(rng, 0, 2 * size);
	view->len = size ? twin_pick(rng, 0, 3 * size) : 0;
	if (size && twin_chance(rng, 40))
		view->len = size * twin_pick(rng, 1, 3);
}

/* Which bytes of the walk are wanted, and who takes them; @take returns false to stop. */
struct gen_walk {
	uint64_t skip;
	uint64_t len;
	bool (*take)(void *arg, uint64_t addr);
	void *arg;
};

static inline bool gen_walk_node(struct gen_walk *w, const struct ddio_tree *tree, uint64_t i,
				 uint64_t addr)
{
	const struct ddio_tree_node *node = &tree->node[i];
	uint64_t k;

	for (k = 0; k < node->n && w->len; k++) {
		const struct ddio_tree_child *child = &tree->child[node->child + k];
		bool ok = true;

		if (node->kind == DDIO_TREE_REPEAT)
			ok = gen_walk_node(w, tree, node->child, addr + k * (uint64_t)node->stride);
		else if (node->kind == DDIO_TREE_SEQUENCE)
			ok = gen_walk_node(w, tree, child->node, addr + (uint64_t)child->offset);
		else if (w->skip)
			w->skip--;
		else
			ok = w->len-- && w->take(w->arg, addr + k);
		if (!ok)
			return false;
	}
	return true;
}

/* Walks the bytes of a view one by one; false if @take did. */
static inline bool gen_walk_view(const struct ddio_view *view,
				 bool (*take)(void *arg, uint64_t addr), void *arg)
{
	struct gen_walk w = { view->skip, view->len, take, arg };
	uint64_t tile;

	for (tile = 0; w.len; tile++)
		if (!gen_walk_node(&w, view->tree, view->tree->nnodes - 1,
				   view->offset + tile * view->extent))
			return false;
	return true;
}

#define GEN_VIEWS_PROCS 6
#define GEN_VIEWS_BYTES 900

/* What the views of all processes name. */
struct gen_views {
	uint32_t nprocs;
	struct gen_tree tree[GEN_VIEWS_PROCS];
	struct ddio_view view[GEN_VIEWS_PROCS][2];
	struct ddio_part part[GEN_VIEWS_PROCS];
};

struct gen_taker {
	struct map_twin *t;
	uint32_t proc;
	bool twice;
	bool far;
};

static inline bool gen_take(void *arg, uint64_t addr)
{
	struct gen_taker *to = arg;

	to->far = addr >= to->t->bytes;
	to->twice = !to->far && !twin_append(to->t, to->proc, addr);
	return !to->far && !to->twice;
}

/* Members whose trees are the same, each shifted into the gaps of the others: a pattern dealt out. */
static inline void gen_views_dealt(struct twin_rng *rng, struct gen_views *c)
{
	uint64_t span, size;
	uint32_t p;

	gen_tree(rng, &c->tree[0], GEN_SORTED);
	size = gen_tree_size(&c->tree[0]);
	span = (uint64_t)(c->tree[0].hi[c->tree[0].tree.nnodes - 1] -
			  c->tree[0].lo[c->tree[0].tree.nnodes - 1]);
	gen_view(rng, &c->tree[0], 0, GEN_SORTED, &c->view[0][0]);
	for (p = 0; p < c->nprocs; p++) {
		c->view[p][0] = c->view[0][0];
		c->view[p][0].offset += p * span;
		c->view[p][0].extent = c->nprocs * span;
		c->view[p][0].len = size * twin_pick(rng, 1, 3);
		c->part[p].n = 1;
	}
}

static inline void gen_views_free(struct twin_rng *rng, struct gen_views *c)
{
	enum gen_order order = twin_chance(rng, 60) ? GEN_SORTED : GEN_ANY;
	uint32_t p, i;

	for (p = 0; p < c->nprocs; p++) {
		uint64_t from = twin_pick(rng, 0, GEN_VIEWS_BYTES / 2);

		gen_tree(rng, &c->tree[p], order);
		c->part[p].n = twin_pick(rng, 0, 2);
		for (i = 0; i < c->part[p].n; i++) {
			gen_view(rng, &c->tree[p], from, order, &c->view[p][i]);
			from = c->view[p][i].offset + 60;
			if (order == GEN_ANY &&
			    twin_chance(rng, 40)) /* the next one may lie before */
				from = 0;
		}
	}
}

static inline void gen_views(struct twin_rng *rng, struct gen_views *c)
{
	uint32_t p;

	memset(c, 0, sizeof(*c));
	c->nprocs = (uint32_t)twin_pick(rng, 1, GEN_VIEWS_PROCS);
	for (p = 0; p < c->nprocs; p++)
		c->part[p] = (struct ddio_part){ .kind = DDIO_PART_VIEW, .view = c->view[p] };
	if (twin_chance(rng, 40))
		gen_views_dealt(rng, c);
	else
		gen_views_free(rng, c);
}

/* Makes the twin, which the caller destroys.  Returns 0, or what the map must return; @far: some of it is beyond the twin's end. */
static inline int gen_views_expand(const struct gen_views *c, struct map_twin *t, bool *far)
{
	uint32_t p;
	uint64_t i;
	bool twice = false;

	twin_init(t, c->nprocs, GEN_VIEWS_BYTES);
	*far = false;
	for (p = 0; p < c->nprocs && !*far && !twice; p++)
		for (i = 0; i < c->part[p].n && !*far && !twice; i++) {
			struct gen_taker to = { .t = t, .proc = p };

			gen_walk_view(&c->view[p][i], gen_take, &to);
			*far = to.far;
			twice = to.twice;
		}
	return twice ? -EINVAL : 0;
}

#endif /* DDIO_TREE_GEN_H */
