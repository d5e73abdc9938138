// SPDX-License-Identifier: GPL-2.0-only
/* The cells of a process as a view: pieces in rows, rows in sequences of a few, and bytes around that are left out. */
#include <stdlib.h>
#include "run.h"

/* Entries of an inner sequence. */
#define FEW 5

/**
 * struct view_maker - a tree under construction
 * @piece: its pieces, in the order of the cells; @npieces of them
 */
struct view_maker {
	struct ddio_tree_node *node;
	struct ddio_tree_child *child, *piece;
	uint64_t nnodes, nchildren, npieces;
};

static void *room(uint64_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		abort();
	return p;
}

static uint64_t node_add(struct view_maker *m, uint32_t kind, uint64_t n, int64_t stride,
			 uint64_t child)
{
	m->node[m->nnodes] =
		(struct ddio_tree_node){ .kind = kind, .n = n, .stride = stride, .child = child };
	return m->nnodes++;
}

static void piece_add(struct view_maker *m, int64_t offset, uint64_t node)
{
	m->piece[m->npieces++] = (struct ddio_tree_child){ offset, node };
}

/* Returns how many cells from the first on are neighbours. */
static uint32_t cells_run(const uint32_t *cells, uint32_t n)
{
	uint32_t i = 1;

	while (i < n && cells[i] == cells[i - 1] + 1)
		i++;
	return i;
}

/* Returns how many runs of @len cells follow one another at the distance of the first two. */
static uint32_t cells_row(const uint32_t *cells, uint32_t n, uint32_t len)
{
	uint32_t i = 1;

	while ((i + 1) * len <= n && cells_run(cells + i * len, n - i * len) == len &&
	       cells[i * len] - cells[(i - 1) * len] == cells[len] - cells[0])
		i++;
	return i;
}

static void pieces_make(struct view_maker *m, const uint32_t *cells, uint32_t n)
{
	uint32_t len, row;
	uint64_t node;

	for (; n; cells += row * len, n -= row * len) {
		len = cells_run(cells, n);
		row = cells_row(cells, n, len);
		node = node_add(m, DDIO_TREE_LEAF, (uint64_t)len * FAULTS_CELL, 0, 0);
		if (row > 1)
			node = node_add(m, DDIO_TREE_REPEAT, row,
					((int64_t)cells[len] - cells[0]) * FAULTS_CELL, node);
		piece_add(m, (int64_t)cells[0] * FAULTS_CELL, node);
	}
}

/* Makes sequences of a few pieces each, and one of these. */
static void sequences_make(struct view_maker *m)
{
	struct ddio_tree_child *top = room(m->npieces + 1, sizeof(*top));
	uint64_t i, k, ntop = 0;

	for (i = 0; i < m->npieces; i += k) {
		int64_t base = m->piece[i].offset;

		top[ntop++] = (struct ddio_tree_child){ base, m->nnodes };
		node_add(m, DDIO_TREE_SEQUENCE, 0, 0, m->nchildren);
		for (k = 0; k < FEW && i + k < m->npieces; k++) {
			m->child[m->nchildren] = m->piece[i + k];
			m->child[m->nchildren++].offset -= base;
		}
		m->node[m->nnodes - 1].n = k;
	}
	node_add(m, DDIO_TREE_SEQUENCE, ntop, 0, m->nchildren);
	for (i = 0; i < ntop; i++)
		m->child[m->nchildren++] = top[i];
	free(top);
}

void faults_view_make(struct faults_view *view, const uint32_t *cells, uint32_t n)
{
	struct view_maker m = { .node = room(4ull * n + 8, sizeof(*m.node)),
				.child = room(2ull * n + 8, sizeof(*m.child)),
				.piece = room(n + 2ull, sizeof(*m.piece)) };
	uint64_t cell = node_add(&m, DDIO_TREE_LEAF, FAULTS_CELL, 0, 0);
	bool before = n && cells[0];

	if (before)
		piece_add(&m, ((int64_t)cells[0] - 1) * FAULTS_CELL, cell);
	pieces_make(&m, cells, n);
	if (n)
		piece_add(&m, ((int64_t)cells[n - 1] + 1) * FAULTS_CELL, cell);
	sequences_make(&m);
	free(m.piece);
	faults_view_free(view);
	view->tree = (struct ddio_tree){ m.nnodes, m.node, m.nchildren, m.child };
	view->view = (struct ddio_view){ .tree = &view->tree,
					 .extent = UINT64_C(1) << 40,
					 .skip = before ? FAULTS_CELL : 0,
					 .len = (uint64_t)n * FAULTS_CELL };
}

void faults_view_free(struct faults_view *view)
{
	free((void *)view->tree.node);
	free((void *)view->tree.child);
	view->tree = (struct ddio_tree){ 0 };
}
