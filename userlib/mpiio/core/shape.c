// SPDX-License-Identifier: LGPL-2.1-or-later
/* Trees from constructors: leaves, repetitions, sequences. */
#include <errno.h>
#include <stdlib.h>
#include "mpiio/core/shape.h"

void shape_drop(struct mpiio_shape *s)
{
	free(s->node);
	free(s->bytes);
	free(s->low);
	free(s->child);
	*s = (struct mpiio_shape){ 0 };
}

static int grow(void **array, uint64_t n, size_t size)
{
	void *p = reallocarray(*array, n, size);

	if (!p)
		return -ENOMEM;
	*array = p;
	return 0;
}

static int nodes_reserve(struct mpiio_shape *s)
{
	uint64_t n = s->room_nodes ? 2 * s->room_nodes : 8;

	if (s->nnodes < s->room_nodes)
		return 0;
	if (grow((void **)&s->node, n, sizeof(*s->node)) ||
	    grow((void **)&s->bytes, n, sizeof(*s->bytes)) ||
	    grow((void **)&s->low, n, sizeof(*s->low)))
		return -ENOMEM;
	s->room_nodes = n;
	return 0;
}

static int children_reserve(struct mpiio_shape *s, uint64_t more)
{
	uint64_t n = 2 * s->room_children;

	if (s->room_children - s->nchildren >= more)
		return 0;
	if (__builtin_add_overflow(s->nchildren, more, &more))
		return -EOVERFLOW;
	if (n < more)
		n = more;
	if (grow((void **)&s->child, n, sizeof(*s->child)))
		return -ENOMEM;
	s->room_children = n;
	return 0;
}

static int node_add(struct mpiio_shape *s, const struct ddio_tree_node *node, uint64_t bytes,
		    int64_t low, uint64_t *out)
{
	int ret = nodes_reserve(s);

	if (ret)
		return ret;
	s->node[s->nnodes] = *node;
	s->bytes[s->nnodes] = bytes;
	s->low[s->nnodes] = low;
	*out = s->nnodes++;
	return 0;
}

int shape_leaf(struct mpiio_shape *s, uint64_t bytes, uint64_t *out)
{
	struct ddio_tree_node node = { .kind = DDIO_TREE_LEAF, .n = bytes };

	return node_add(s, &node, bytes, 0, out);
}

int shape_repeat(struct mpiio_shape *s, uint64_t n, int64_t stride, uint64_t of, uint64_t *out)
{
	struct ddio_tree_node node = {
		.kind = DDIO_TREE_REPEAT, .n = n, .stride = stride, .child = of
	};
	uint64_t bytes;
	int64_t low = 0;

	if (__builtin_mul_overflow(s->bytes[of], n, &bytes))
		return -EOVERFLOW;
	if (!bytes)
		return shape_leaf(s, 0, out);
	if (stride < 0 && __builtin_mul_overflow(stride, n - 1, &low))
		return -EOVERFLOW;
	if (__builtin_add_overflow(low, s->low[of], &low))
		return -EOVERFLOW;
	if (s->node[of].kind == DDIO_TREE_LEAF && stride >= 0 && (uint64_t)stride == s->bytes[of])
		return shape_leaf(s, bytes, out);
	if (n == 1) {
		*out = of;
		return 0;
	}
	return node_add(s, &node, bytes, low, out);
}

/* The repetitions of an entry: the last entry's, if it has as many of the same node. */
static int entry_node(struct mpiio_shape *s, const struct shape_entry *e,
		      const struct shape_entry *last, uint64_t *node)
{
	if (last && last->n == e->n && last->node == e->node && last->extent == e->extent)
		return 0;
	return shape_repeat(s, e->n, e->extent, e->node, node);
}

/* Entries are gathered first: their nodes' own entries come before. */
struct gathered {
	struct ddio_tree_child *child;
	uint64_t n, bytes;
	int64_t low;
};

static int gather(struct mpiio_shape *s, int64_t offset, uint64_t node, struct gathered *g)
{
	int64_t low;

	if (__builtin_add_overflow(g->bytes, s->bytes[node], &g->bytes) ||
	    __builtin_add_overflow(offset, s->low[node], &low))
		return -EOVERFLOW;
	if (!g->n || low < g->low)
		g->low = low;
	g->child[g->n++] = (struct ddio_tree_child){ .offset = offset, .node = node };
	return 0;
}

static int entries_gather(struct mpiio_shape *s, uint64_t n,
			  void (*entry)(const void *arg, uint64_t i, struct shape_entry *e),
			  const void *arg, struct gathered *g)
{
	struct shape_entry e[2], *last = NULL;
	uint64_t i, node = 0;
	int ret;

	for (i = 0; i < n; i++) {
		struct shape_entry *now = &e[i & 1];

		entry(arg, i, now);
		ret = entry_node(s, now, last, &node);
		if (ret)
			return ret;
		last = now;
		if (!s->bytes[node])
			continue;
		ret = gather(s, now->offset, node, g);
		if (ret)
			return ret;
	}
	return 0;
}

static int sequence_add(struct mpiio_shape *s, const struct gathered *g, uint64_t *out)
{
	struct ddio_tree_node node = { .kind = DDIO_TREE_SEQUENCE,
				       .n = g->n,
				       .child = s->nchildren };
	uint64_t i;
	int ret;

	if (!g->n)
		return shape_leaf(s, 0, out);
	if (g->n == 1 && !g->child[0].offset) {
		*out = g->child[0].node;
		return 0;
	}
	ret = children_reserve(s, g->n);
	if (!ret)
		ret = node_add(s, &node, g->bytes, g->low, out);
	if (ret)
		return ret;
	for (i = 0; i < g->n; i++)
		s->child[s->nchildren++] = g->child[i];
	return 0;
}

int shape_sequence(struct mpiio_shape *s, uint64_t n,
		   void (*entry)(const void *arg, uint64_t i, struct shape_entry *e),
		   const void *arg, uint64_t *out)
{
	struct gathered g = { .child = reallocarray(NULL, n ? n : 1, sizeof(*g.child)) };
	int ret = -ENOMEM;

	if (g.child)
		ret = entries_gather(s, n, entry, arg, &g);
	if (!ret)
		ret = sequence_add(s, &g, out);
	free(g.child);
	return ret;
}

int shape_moved(struct mpiio_shape *s, int64_t offset, uint64_t node, uint64_t *out)
{
	struct ddio_tree_child child;
	struct gathered g = { .child = &child };
	int ret;

	if (!s->bytes[node])
		return shape_leaf(s, 0, out);
	ret = gather(s, offset, node, &g);
	return ret ? ret : sequence_add(s, &g, out);
}

int shape_root(struct mpiio_shape *s, uint64_t node)
{
	struct ddio_tree_node root = { .kind = DDIO_TREE_SEQUENCE, .n = 1, .child = s->nchildren };
	int ret;

	if (node == s->nnodes - 1)
		return 0;
	if (s->node[node].kind == DDIO_TREE_LEAF)
		return shape_leaf(s, s->bytes[node], &node);
	ret = children_reserve(s, 1);
	if (ret)
		return ret;
	s->child[s->nchildren++] = (struct ddio_tree_child){ .node = node };
	return node_add(s, &root, s->bytes[node], s->low[node], &node);
}

/* Of the nodes that one names, which come before it, the deepest; @depth has theirs. */
static unsigned int depth_below(const struct mpiio_shape *s, const struct ddio_tree_node *node,
				const uint8_t *depth)
{
	unsigned int most = 0;
	uint64_t i;

	if (node->kind == DDIO_TREE_REPEAT)
		return depth[node->child];
	for (i = 0; node->kind == DDIO_TREE_SEQUENCE && i < node->n; i++)
		if (depth[s->child[node->child + i].node] > most)
			most = depth[s->child[node->child + i].node];
	return most;
}

int shape_depth_check(const struct mpiio_shape *s, uint8_t most)
{
	uint8_t *depth = calloc(s->nnodes, sizeof(*depth));
	unsigned int deepest = 0;
	uint64_t i;

	if (!depth)
		return -ENOMEM;
	/* Some nodes below the root may be of no use to it, but none is deeper than what it is made of. */
	for (i = 0; i < s->nnodes && deepest <= most; i++) {
		deepest = depth_below(s, &s->node[i], depth) + 1;
		depth[i] = (uint8_t)deepest;
	}
	free(depth);
	return deepest > most ? -E2BIG : 0;
}

uint64_t shape_bytes(const struct mpiio_shape *s)
{
	return s->bytes[s->nnodes - 1];
}

int64_t shape_low(const struct mpiio_shape *s)
{
	return s->low[s->nnodes - 1];
}

struct ddio_tree shape_tree(const struct mpiio_shape *s)
{
	return (struct ddio_tree){
		.nnodes = s->nnodes,
		.node = s->node,
		.nchildren = s->nchildren,
		.child = s->child,
	};
}

int shape_is_leaf(const struct mpiio_shape *s)
{
	return s->node[s->nnodes - 1].kind == DDIO_TREE_LEAF;
}

int64_t shape_byte(const struct mpiio_shape *s, uint64_t at_node, uint64_t at)
{
	const struct ddio_tree_node *node = &s->node[at_node];
	const struct ddio_tree_child *c;
	int64_t offset = 0;

	while (node->kind != DDIO_TREE_LEAF) {
		if (node->kind == DDIO_TREE_REPEAT) {
			uint64_t one = s->bytes[node->child];

			offset += (int64_t)(at / one) * node->stride;
			at %= one;
			node = &s->node[node->child];
			continue;
		}
		for (c = &s->child[node->child]; at >= s->bytes[c->node]; c++)
			at -= s->bytes[c->node];
		offset += c->offset;
		node = &s->node[c->node];
	}
	return offset + (int64_t)at;
}
