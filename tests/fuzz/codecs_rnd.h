/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers that a seed determines, and makers of what several messages contain; part of codecs.h. */
#ifndef DDIO_TEST_CODECS_RND_H
#define DDIO_TEST_CODECS_RND_H

#include <stdlib.h>
#include <string.h>
#include "proto/proto.h"
#include "proto/query/query.h"

struct rnd {
	uint64_t x;
};

static inline uint64_t rnd_u64(struct rnd *r)
{
	r->x ^= r->x << 13;
	r->x ^= r->x >> 7;
	r->x ^= r->x << 17;
	return r->x * 0x2545f4914f6cdd1dull;
}

static inline uint64_t rnd_below(struct rnd *r, uint64_t n)
{
	return rnd_u64(r) % n;
}

static inline void rnd_bytes(struct rnd *r, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len--)
		*p++ = (uint8_t)(rnd_u64(r) >> 56);
}

/* Makes a string of @min to @size - 1 bytes, often one of these two lengths. */
static inline void rnd_str(struct rnd *r, char *s, size_t size, size_t min)
{
	size_t n = min + rnd_below(r, size - min), i;

	switch (rnd_below(r, 4)) {
	case 0:
		n = min;
		break;
	case 1:
		n = size - 1;
		break;
	}
	for (i = 0; i < n; i++)
		s[i] = (char)(1 + rnd_below(r, 255));
	s[n] = '\0';
}

static inline void *rnd_array(size_t n, size_t size)
{
	void *p = n ? calloc(n, size) : NULL;

	if (n && !p)
		abort();
	return p;
}

static inline void gen_file_ref(struct rnd *r, struct ddio_file_ref *x)
{
	x->id = 1 + rnd_u64(r) / 2;
	x->seed = rnd_u64(r);
	x->block = DDIO_MIN_BLOCK << rnd_below(r, 16);
	x->layout = (uint32_t)rnd_below(r, DDIO_LAYOUT_MAX_W);
}

static inline void gen_record(struct rnd *r, struct ddio_file_record *x)
{
	uint32_t i;

	gen_file_ref(r, &x->ref);
	x->size = rnd_below(r, DDIO_MAX_FILE + 1);
	x->ctime_ns = rnd_u64(r);
	x->mtime_ns = rnd_u64(r);
	x->dying = (uint32_t)rnd_below(r, 2);
	x->ndisks = 1 + (uint32_t)rnd_below(r, 50);
	x->disks = rnd_array(x->ndisks, sizeof(*x->disks));
	for (i = 0; i < x->ndisks; i++)
		x->disks[i] = i * 7919 + (uint32_t)rnd_below(r, 7919);
	rnd_str(r, x->name, sizeof(x->name), 1);
}

static inline void gen_strided(struct rnd *r, struct ddio_strided *x)
{
	uint32_t i;

	x->offset = rnd_below(r, DDIO_MAX_FILE + 1);
	x->len = rnd_below(r, 1u << 20);
	x->nlevels = (uint32_t)rnd_below(r, DDIO_MAX_DIMS + 1);
	for (i = 0; i < x->nlevels; i++) {
		x->level[i].count = 1 + rnd_u64(r) / 2;
		x->level[i].stride = (int64_t)(rnd_u64(r) / 2);
	}
}

static inline void gen_array(struct rnd *r, struct ddio_array *x)
{
	uint32_t i;

	x->file_offset = rnd_below(r, DDIO_MAX_FILE + 1);
	x->elem_size = 1 + rnd_below(r, 4096);
	x->ndims = 1 + (uint32_t)rnd_below(r, DDIO_MAX_DIMS);
	for (i = 0; i < x->ndims; i++) {
		x->dim[i].size = rnd_u64(r);
		x->dim[i].start = rnd_u64(r);
		x->dim[i].count = rnd_u64(r);
		x->dim[i].stride = rnd_u64(r);
		x->dim[i].procs = rnd_u64(r);
		x->dim[i].k = rnd_u64(r);
		x->dim[i].dist = (uint32_t)rnd_below(r, DDIO_ALL + 1);
	}
}

static inline struct ddio_tree *gen_tree(struct rnd *r)
{
	struct ddio_tree *tree = rnd_array(1, sizeof(*tree));
	struct ddio_tree_node *node;
	struct ddio_tree_child *child;
	uint64_t i;

	tree->nnodes = 1 + rnd_below(r, 6);
	tree->nchildren = rnd_below(r, 6);
	tree->node = node = rnd_array(tree->nnodes, sizeof(*node));
	tree->child = child = rnd_array(tree->nchildren, sizeof(*child));
	for (i = 0; i < tree->nnodes; i++) {
		node[i].kind = 1 + (uint32_t)rnd_below(r, DDIO_TREE_SEQUENCE);
		node[i].n = rnd_u64(r);
		node[i].stride = (int64_t)rnd_u64(r);
		node[i].child = rnd_u64(r);
	}
	for (i = 0; i < tree->nchildren; i++) {
		child[i].offset = (int64_t)rnd_u64(r);
		child[i].node = rnd_u64(r);
	}
	return tree;
}

static inline void gen_views(struct rnd *r, struct ddio_part *x)
{
	struct ddio_view *v = rnd_array(x->n, sizeof(*v));
	uint64_t i;

	x->view = v;
	for (i = 0; i < x->n; i++) {
		v[i].tree = i && rnd_below(r, 2) ? v[i - 1].tree : gen_tree(r);
		v[i].offset = rnd_below(r, DDIO_MAX_FILE + 1);
		v[i].extent = rnd_u64(r);
		v[i].skip = rnd_u64(r);
		v[i].len = rnd_below(r, DDIO_MAX_FILE + 1);
	}
}

/* @kind 0: any. */
static inline void gen_part(struct rnd *r, struct ddio_part *x, uint32_t kind)
{
	struct ddio_strided *s;
	struct ddio_extent *e;
	struct ddio_array *a;
	uint64_t i;

	x->kind = kind ? kind : 1 + (uint32_t)rnd_below(r, DDIO_PART_VIEW);
	if (x->kind == DDIO_PART_ARRAY) {
		x->array = a = rnd_array(1, sizeof(*a));
		gen_array(r, a);
		return;
	}
	x->n = rnd_below(r, 4);
	if (x->kind == DDIO_PART_STRIDED) {
		x->strided = s = rnd_array(x->n, sizeof(*s));
		for (i = 0; i < x->n; i++)
			gen_strided(r, &s[i]);
		return;
	}
	if (x->kind == DDIO_PART_VIEW) {
		gen_views(r, x);
		return;
	}
	x->list = e = rnd_array(x->n, sizeof(*e));
	for (i = 0; i < x->n; i++) {
		e[i].offset = rnd_below(r, DDIO_MAX_FILE + 1);
		e[i].len = rnd_below(r, DDIO_MAX_FILE + 1 - e[i].offset);
	}
}

#endif /* DDIO_TEST_CODECS_RND_H */
