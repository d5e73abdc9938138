// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * MPI's types as trees, by MPI_Type_get_envelope() and MPI_Type_get_contents(): one descent for each constructor,
 * however many entries it has.  Bounds are asked of the MPI.
 */
#include <errno.h>
#include <stdlib.h>
#include "mpiio/data/contents.h"
#include "mpiio/data/data.h"

#define NEST_MAX \
	1000 /* constructors in one another: each is a call in here, on the program's stack */
#define KNOWN_MAX \
	64 /* types that have been described: more than are in one another, where one is in another more than once */
#define DEPTH_MAX 60 /* of the tree: below DDIO_TREE_DEPTH, as memory may put a few nodes on top */

static int64_t extent_of(MPI_Datatype type)
{
	MPI_Count lb = 0, extent = 0;

	PMPI_Type_get_extent_x(type, &lb, &extent);
	return extent;
}

bool type_plain(MPI_Datatype type)
{
	MPI_Count size = 0;

	return type_named(type) && !PMPI_Type_size_x(type, &size) && size == extent_of(type);
}

int type_copy(MPI_Datatype type, MPI_Datatype *copy)
{
	if (type_named(type)) {
		*copy = type;
		return 0;
	}
	return PMPI_Type_dup(type, copy) ? -ENOMEM : 0;
}

void type_drop(MPI_Datatype *type)
{
	if (*type != MPI_DATATYPE_NULL && !type_named(*type))
		PMPI_Type_free(type);
	*type = MPI_DATATYPE_NULL;
}

/* Types of a value and an index have holes, as a struct of C has. */
static int64_t pair_index(MPI_Datatype type)
{
	if (type == MPI_SHORT_INT)
		return sizeof(int);
	if (type == MPI_DOUBLE_INT)
		return sizeof(double);
	if (type == MPI_LONG_INT)
		return sizeof(long);
	if (type == MPI_LONG_DOUBLE_INT)
		return sizeof(long double);
	return 0;
}

struct type_pair {
	struct shape_entry entry[2];
};

static void pair_entry(const void *arg, uint64_t i, struct shape_entry *e)
{
	*e = ((const struct type_pair *)arg)->entry[i];
}

static int named(MPI_Datatype type, struct mpiio_shape *s, uint64_t *node)
{
	int64_t index = pair_index(type);
	MPI_Count size = 0;
	struct type_pair p = { 0 };
	uint64_t value, number;
	int ret;

	if (PMPI_Type_size_x(type, &size) || size < 0)
		return -EINVAL;
	if (!index || size == extent_of(type))
		return shape_leaf(s, (uint64_t)size, node);
	ret = shape_leaf(s, (uint64_t)size - sizeof(int), &value);
	if (!ret)
		ret = shape_leaf(s, sizeof(int), &number);
	if (ret)
		return ret;
	p.entry[0] = (struct shape_entry){ 0, 1, value, 0 };
	p.entry[1] = (struct shape_entry){ index, 1, number, 0 };
	return shape_sequence(s, 2, pair_entry, &p, node);
}

/* The i-th number of a type that may have been made with ints or with large counts. */
static int64_t number(const struct contents *c, MPI_Count i)
{
	return c->ncounts ? (int64_t)c->counts[i] : c->ints[i];
}

static int vector(struct mpiio_shape *s, uint64_t count, uint64_t len, int64_t stride,
		  int64_t extent, uint64_t *node)
{
	int ret = shape_repeat(s, len, extent, *node, node);

	return ret ? ret : shape_repeat(s, count, stride, *node, node);
}

/* Large counts: MPI_Type_create_hvector_c() has its stride among the counts. */
static int64_t hvector_stride(const struct contents *c)
{
	return c->ncounts ? (int64_t)c->counts[2] : (int64_t)c->addrs[0];
}

/* Lists: how the i-th entry is told. */
struct entries {
	const struct contents *c;
	uint64_t node;
	const uint64_t *nodes;
	const int64_t *extents;
	int64_t extent;
	MPI_Count n;
};

static void indexed_entry(const void *arg, uint64_t i, struct shape_entry *e)
{
	const struct entries *l = arg;
	int64_t len = number(l->c, 1 + (MPI_Count)i);

	*e = (struct shape_entry){ number(l->c, 1 + l->n + (MPI_Count)i) * l->extent, (uint64_t)len,
				   l->node, l->extent };
}

static int64_t address(const struct contents *c, MPI_Count i, MPI_Count after)
{
	return c->ncounts ? (int64_t)c->counts[after + i] : (int64_t)c->addrs[i];
}

static void hindexed_entry(const void *arg, uint64_t i, struct shape_entry *e)
{
	const struct entries *l = arg;

	*e = (struct shape_entry){ address(l->c, (MPI_Count)i, 1 + l->n),
				   (uint64_t)number(l->c, 1 + (MPI_Count)i), l->node, l->extent };
}

static void indexed_block_entry(const void *arg, uint64_t i, struct shape_entry *e)
{
	const struct entries *l = arg;

	*e = (struct shape_entry){ number(l->c, 2 + (MPI_Count)i) * l->extent,
				   (uint64_t)number(l->c, 1), l->node, l->extent };
}

static void hindexed_block_entry(const void *arg, uint64_t i, struct shape_entry *e)
{
	const struct entries *l = arg;

	*e = (struct shape_entry){ address(l->c, (MPI_Count)i, 2), (uint64_t)number(l->c, 1),
				   l->node, l->extent };
}

static void struct_entry(const void *arg, uint64_t i, struct shape_entry *e)
{
	const struct entries *l = arg;

	*e = (struct shape_entry){ address(l->c, (MPI_Count)i, 1 + l->n),
				   (uint64_t)number(l->c, 1 + (MPI_Count)i), l->nodes[i],
				   l->extents[i] };
}

/**
 * struct descent - from a type to all that it is made of
 * @s: what becomes of it
 * @known: the last types that have been described, @n of them so far: one that stands in another twice is described once, or a
 *	type of 30 constructors, each of the last one and a copy of it, would take a billion
 * @node: theirs
 */
struct descent {
	struct mpiio_shape *s;
	unsigned int n;
	MPI_Datatype known[KNOWN_MAX];
	uint64_t node[KNOWN_MAX];
};

static int descend(struct descent *d, MPI_Datatype type, unsigned int depth, uint64_t *node);

static int structure_filled(const struct contents *c, struct descent *d, unsigned int depth,
			    uint64_t *nodes, int64_t *extents, uint64_t *node)
{
	struct entries l = { .c = c, .n = c->ntypes, .nodes = nodes, .extents = extents };
	MPI_Count i;
	int ret;

	for (i = 0; i < c->ntypes; i++) {
		/* Often they are all the same: then so is the node. */
		bool again = i && c->types[i] == c->types[i - 1];

		nodes[i] = again ? nodes[i - 1] : 0;
		extents[i] = again ? extents[i - 1] : extent_of(c->types[i]);
		ret = again ? 0 : descend(d, c->types[i], depth, &nodes[i]);
		if (ret)
			return ret;
	}
	return shape_sequence(d->s, (uint64_t)c->ntypes, struct_entry, &l, node);
}

static int structure(const struct contents *c, struct descent *d, unsigned int depth,
		     uint64_t *node)
{
	uint64_t *nodes = calloc((size_t)c->ntypes + 1, sizeof(*nodes));
	int64_t *extents = calloc((size_t)c->ntypes + 1, sizeof(*extents));
	int ret = -ENOMEM;

	if (nodes && extents)
		ret = structure_filled(c, d, depth, nodes, extents, node);
	free(nodes);
	free(extents);
	return ret;
}

static int subarray(const struct contents *c, struct mpiio_shape *s, int64_t extent, uint64_t *node)
{
	struct shape_dim dims[64];
	int n = c->ints[0], i;
	bool fortran = c->ints[c->nints - 1] == MPI_ORDER_FORTRAN;

	if (n < 1 || n > 64)
		return -EOPNOTSUPP;
	for (i = 0; i < n; i++) {
		struct shape_dim *d = &dims[fortran ? i : n - 1 - i];

		/* Behind the ints that stay ints: the number of dimensions, the order. */
		*d = (struct shape_dim){ 0 };
		d->size = (uint64_t)(c->ncounts ? c->counts[i] : c->ints[1 + i]);
		d->count = (uint64_t)(c->ncounts ? c->counts[n + i] : c->ints[1 + n + i]);
		d->start = (uint64_t)(c->ncounts ? c->counts[2 * n + i] : c->ints[1 + 2 * n + i]);
	}
	return shape_subarray(s, (unsigned int)n, dims, *node, extent, node);
}

/* MPI 4.0, section 5.1.4: ranks are dealt in C's order, whatever that of the array is. */
static void darray_dim(const struct contents *c, int i, int n, uint64_t *rank, struct shape_dim *d)
{
	const int *ints = c->ncounts ? c->ints + 3 : c->ints + 3 + n;
	int dist = ints[i], arg = ints[n + i], procs = ints[2 * n + i];

	*d = (struct shape_dim){ 0 };
	d->size = (uint64_t)(c->ncounts ? c->counts[i] : c->ints[3 + i]);
	d->procs = (uint64_t)procs;
	d->coord = *rank % (uint64_t)procs;
	*rank /= (uint64_t)procs;
	d->cyclic = dist == MPI_DISTRIBUTE_CYCLIC;
	if (arg != MPI_DISTRIBUTE_DFLT_DARG && dist != MPI_DISTRIBUTE_NONE)
		d->arg = (uint64_t)arg;
	else
		d->arg = d->cyclic ? 1 : (d->size + d->procs - 1) / d->procs;
	if (!d->arg)
		d->arg = 1;
}

static int darray(const struct contents *c, struct mpiio_shape *s, int64_t extent, uint64_t *node)
{
	struct shape_dim dims[64];
	int n = c->ints[2], i;
	uint64_t rank = (uint64_t)c->ints[1];
	bool fortran = c->ints[c->nints - 1] == MPI_ORDER_FORTRAN;

	if (n < 1 || n > 64)
		return -EOPNOTSUPP;
	for (i = n - 1; i >= 0; i--)
		darray_dim(c, i, n, &rank, &dims[fortran ? i : n - 1 - i]);
	return shape_darray(s, (unsigned int)n, dims, *node, extent, node);
}

/* Types of one other type, whose node and extent are given. */
static int derived(const struct contents *c, struct mpiio_shape *s, int64_t extent, uint64_t *node)
{
	struct entries l = { .c = c, .node = *node, .extent = extent };
	MPI_Count n = c->nints + c->ncounts ? number(c, 0) : 0;

	l.n = n;
	switch (c->combiner) {
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
		return 0;
	case MPI_COMBINER_CONTIGUOUS:
		return shape_repeat(s, (uint64_t)n, extent, *node, node);
	case MPI_COMBINER_VECTOR:
		return vector(s, (uint64_t)n, (uint64_t)number(c, 1), number(c, 2) * extent, extent,
			      node);
	case MPI_COMBINER_HVECTOR:
		return vector(s, (uint64_t)n, (uint64_t)number(c, 1), hvector_stride(c), extent,
			      node);
	case MPI_COMBINER_INDEXED:
		return shape_sequence(s, (uint64_t)n, indexed_entry, &l, node);
	case MPI_COMBINER_HINDEXED:
		return shape_sequence(s, (uint64_t)n, hindexed_entry, &l, node);
	case MPI_COMBINER_INDEXED_BLOCK:
		return shape_sequence(s, (uint64_t)n, indexed_block_entry, &l, node);
	case MPI_COMBINER_HINDEXED_BLOCK:
		return shape_sequence(s, (uint64_t)n, hindexed_block_entry, &l, node);
	case MPI_COMBINER_SUBARRAY:
		return subarray(c, s, extent, node);
	case MPI_COMBINER_DARRAY:
		return darray(c, s, extent, node);
	default:
		return -EOPNOTSUPP;
	}
}

static bool known_find(const struct descent *d, MPI_Datatype type, uint64_t *node)
{
	unsigned int i;

	for (i = 0; i < d->n && i < KNOWN_MAX; i++) {
		if (d->known[i] != type)
			continue;
		*node = d->node[i];
		return true;
	}
	return false;
}

/*
 * The whole type holds all that it is made of, so none of them is another's meanwhile.  Open MPI hands out copies, in whose place may
 * soon be others; it has each type as a list of all its pieces itself.
 */
static void known_add(struct descent *d, MPI_Datatype type, uint64_t node)
{
#ifdef OPEN_MPI
	(void)d;
	(void)type;
	(void)node;
#else
	d->known[d->n % KNOWN_MAX] = type;
	d->node[d->n++ % KNOWN_MAX] = node;
#endif
}

static int construct(struct descent *d, const struct contents *c, unsigned int depth,
		     uint64_t *node)
{
	int ret;

	if (c->combiner == MPI_COMBINER_STRUCT)
		return structure(c, d, depth, node);
	ret = descend(d, c->types[0], depth, node);
	return ret ? ret : derived(c, d->s, extent_of(c->types[0]), node);
}

static int descend(struct descent *d, MPI_Datatype type, unsigned int depth, uint64_t *node)
{
	struct contents c;
	int ret;

	if (depth > NEST_MAX)
		return -E2BIG;
	if (known_find(d, type, node))
		return 0;
	ret = contents_get(type, &c);
	if (ret)
		return ret;
	if (is_named(c.combiner))
		return named(type, d->s, node);
	ret = construct(d, &c, depth + 1, node);
	contents_drop(&c);
	if (!ret)
		known_add(d, type, *node);
	return ret;
}

int type_shape(MPI_Datatype type, struct mpiio_shape *s)
{
	struct descent d = { .s = s };
	uint64_t node = 0;
	int ret;

	*s = (struct mpiio_shape){ 0 };
	ret = descend(&d, type, 0, &node);
	if (!ret)
		ret = shape_root(s, node);
	if (!ret)
		ret = shape_depth_check(s, DEPTH_MAX);
	if (ret)
		shape_drop(s);
	return ret;
}
