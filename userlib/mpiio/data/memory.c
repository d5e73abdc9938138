// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where data lie in a program's memory.  A type keeps its tree, so that a loop pays for it once; so does each transfer
 * that uses it, since the program may free the type meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mpiio/data/data.h"

static int keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct kept_shape {
	struct mpiio_shape shape;
	unsigned int refs;
};

static void kept_put(struct kept_shape *k)
{
	if (!k || __atomic_sub_fetch(&k->refs, 1, __ATOMIC_ACQ_REL))
		return;
	shape_drop(&k->shape);
	free(k);
}

static int type_goes(MPI_Datatype type, int key, void *value, void *extra)
{
	(void)type;
	(void)key;
	(void)extra;
	kept_put(value);
	return MPI_SUCCESS;
}

static int kept_by(MPI_Datatype type, struct kept_shape **kept)
{
	struct kept_shape *k = NULL;
	int there = 0, ret;

	if (keyval == MPI_KEYVAL_INVALID &&
	    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_goes, &keyval, NULL))
		return -ENOMEM;
	PMPI_Type_get_attr(type, keyval, kept, &there);
	if (there)
		return 0;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->refs = 1;
	ret = type_shape(type, &k->shape);
	if (!ret && PMPI_Type_set_attr(type, keyval, k))
		ret = -ENOMEM;
	if (ret)
		kept_put(k);
	else
		*kept = k;
	return ret;
}

/* The type's tree, for kept_put(). */
static int kept_get(MPI_Datatype type, struct kept_shape **kept)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = kept_by(type, kept);
	if (!ret)
		__atomic_add_fetch(&(*kept)->refs, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	return ret;
}

/* One contiguous piece, and where it begins. */
static bool one_piece(const struct mpiio_shape *s, int64_t extent, MPI_Count count, int64_t *offset)
{
	const struct ddio_tree_node *root = &s->node[s->nnodes - 1];
	bool dense = count == 1 || (extent > 0 && (uint64_t)extent == shape_bytes(s));

	*offset = 0;
	if (root->kind == DDIO_TREE_SEQUENCE && root->n == 1) {
		*offset = s->child[root->child].offset;
		root = &s->node[s->child[root->child].node];
	}
	return dense && root->kind == DDIO_TREE_LEAF;
}

static void view_use(struct mpiio_memory *m, const struct mpiio_shape *s, uint64_t offset,
		     int64_t extent)
{
	m->tree = shape_tree(s);
	m->view = (struct ddio_view){
		.tree = &m->tree, .offset = offset, .extent = (uint64_t)extent, .len = m->len
	};
	m->memory.kind = DDIO_MEMORY_VIEW;
	m->memory.nstrided = 1;
	m->memory.view = &m->view;
}

/* Addresses (MPI_BOTTOM), and elements that go backwards: a tree of all of them, from its lowest byte. */
static int all_of_it(MPI_Datatype type, int64_t extent, MPI_Count count, struct mpiio_memory *m)
{
	int64_t low = 0;
	uint64_t node;
	int ret = type_shape(type, &m->shape);

	if (!ret)
		ret = shape_repeat(&m->shape, (uint64_t)count, extent, m->shape.nnodes - 1, &node);
	if (!ret)
		ret = shape_root(&m->shape, node);
	if (!ret) {
		low = shape_low(&m->shape);
		ret = shape_moved(&m->shape, -low, m->shape.nnodes - 1, &node);
	}
	if (!ret)
		ret = shape_root(&m->shape, node);
	if (ret)
		return ret;
	m->buf = (char *)m->buf + low;
	view_use(m, &m->shape, 0, 1);
	return 0;
}

static int derived_memory(MPI_Datatype type, MPI_Count count, struct mpiio_memory *m)
{
	const struct mpiio_shape *s;
	struct kept_shape *kept = NULL;
	MPI_Count lb, extent;
	int64_t low, offset;
	int ret = kept_get(type, &kept);

	if (ret)
		return ret;
	m->kept = kept;
	s = &m->kept->shape;
	PMPI_Type_get_extent_x(type, &lb, &extent);
	m->packed = one_piece(s, extent, count, &offset);
	if (m->packed) {
		m->buf = (char *)m->buf + offset;
		return 0;
	}
	if (!m->buf || extent <= 0)
		return all_of_it(type, extent, count, m);
	low = shape_low(s) < 0 ? shape_low(s) : 0;
	m->buf = (char *)m->buf + low;
	view_use(m, s, (uint64_t)-low, extent);
	return 0;
}

int memory_of(void *buf, MPI_Count count, MPI_Datatype type, struct mpiio_memory *m)
{
	MPI_Count size;

	*m = (struct mpiio_memory){ .buf = buf, .packed = true };
	if (PMPI_Type_size_x(type, &size))
		return -EINVAL;
	if (__builtin_mul_overflow((uint64_t)size, (uint64_t)count, &m->len))
		return -EOVERFLOW;
	return m->len && !type_plain(type) ? derived_memory(type, count, m) : 0;
}

/* Bytes in the order of a tree's walk, one after the other. */
static uint8_t *pack(const struct ddio_tree *t, uint64_t at, const uint8_t *from, uint8_t *to)
{
	const struct ddio_tree_node *node = &t->node[at];
	uint64_t i;

	if (node->kind == DDIO_TREE_LEAF) {
		memcpy(to, from, node->n);
		return to + node->n;
	}
	for (i = 0; i < node->n; i++) {
		const struct ddio_tree_child *c = &t->child[node->child + i];

		if (node->kind == DDIO_TREE_REPEAT)
			to = pack(t, node->child, from + (int64_t)i * node->stride, to);
		else
			to = pack(t, c->node, from + c->offset, to);
	}
	return to;
}

void memory_pack(const struct mpiio_memory *m, uint8_t *to)
{
	const struct ddio_view *v = &m->view;
	const uint8_t *from = m->buf, *end = to + m->len;

	if (m->packed) {
		memcpy(to, from, m->len);
		return;
	}
	for (from += v->offset; to < end; from += v->extent)
		to = pack(v->tree, v->tree->nnodes - 1, from, to);
}

void memory_drop(struct mpiio_memory *m)
{
	kept_put(m->kept);
	shape_drop(&m->shape);
	free(m->staging);
}
