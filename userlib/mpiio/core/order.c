// SPDX-License-Identifier: LGPL-2.1-or-later
/* What MPI asks of types in a file (MPI 4.0, section 14.1.1): displacements that do not fall below zero, nor decrease. */
#include <errno.h>
#include <stdlib.h>
#include "mpiio/core/shape.h"

/*
 * Of a node, counted from its origin: where its first piece begins, where the last one does, where the last byte ends; or @fault, what
 * is wrong with it, which only matters to those that are made of it: some nodes are left over from the making of the others.
 */
struct order_span {
	int64_t first, last, end;
	int fault;
};

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* What comes next, @by bytes from the origin of what came: not before it, and behind it unless @overlap. */
static int follows(const struct order_span *came, const struct order_span *next, int64_t by,
		   int overlap)
{
	int64_t first;

	if (__builtin_add_overflow(next->first, by, &first))
		return -EOVERFLOW;
	return first >= (overlap ? came->last : came->end) ? 0 : -EDOM;
}

static int moved(const struct order_span *s, int64_t by, struct order_span *out)
{
	return __builtin_add_overflow(s->first, by, &out->first) ||
			       __builtin_add_overflow(s->last, by, &out->last) ||
			       __builtin_add_overflow(s->end, by, &out->end)
		       ? -EOVERFLOW
		       : 0;
}

static int repeat_span(const struct ddio_tree_node *node, const struct order_span *child,
		       int overlap, struct order_span *out)
{
	int64_t by;
	int ret = child->fault;

	if (!ret && node->n > 1)
		ret = follows(child, child, node->stride, overlap);
	if (ret)
		return ret;
	if (__builtin_mul_overflow(node->stride, node->n - 1, &by))
		return -EOVERFLOW;
	ret = moved(child, by, out);
	out->first = child->first;
	return ret;
}

static int sequence_span(const struct mpiio_shape *s, const struct ddio_tree_node *node,
			 const struct order_span *spans, int overlap, struct order_span *out)
{
	const struct ddio_tree_child *c = &s->child[node->child];
	int ret = moved(&spans[c->node], c->offset, out);
	struct order_span next;
	uint64_t i;

	if (!ret)
		ret = spans[c->node].fault;
	for (i = 1; !ret && i < node->n; i++) {
		ret = spans[c[i].node].fault;
		if (!ret)
			ret = follows(out, &spans[c[i].node], c[i].offset, overlap);
		if (!ret)
			ret = moved(&spans[c[i].node], c[i].offset, &next);
		if (ret)
			break;
		out->last = next.last;
		out->end = later(out->end, next.end);
	}
	return ret;
}

static void span_of(const struct mpiio_shape *s, uint64_t i, int overlap, struct order_span *spans)
{
	const struct ddio_tree_node *node = &s->node[i];
	int fault = 0;

	if (node->kind == DDIO_TREE_REPEAT)
		fault = repeat_span(node, &spans[node->child], overlap, &spans[i]);
	else if (node->kind == DDIO_TREE_SEQUENCE)
		fault = sequence_span(s, node, spans, overlap, &spans[i]);
	else
		spans[i] = (struct order_span){ .end = (int64_t)node->n };
	spans[i].fault = fault;
}

int shape_in_order(const struct mpiio_shape *s, int overlap)
{
	struct order_span *spans = reallocarray(NULL, s->nnodes, sizeof(*spans));
	uint64_t i;
	int ret;

	if (!spans)
		return -ENOMEM;
	for (i = 0; i < s->nnodes; i++)
		span_of(s, i, overlap, spans);
	ret = spans[s->nnodes - 1].fault;
	if (!ret && spans[s->nnodes - 1].first < 0)
		ret = -EDOM;
	free(spans);
	return ret;
}
