// SPDX-License-Identifier: GPL-2.0-only
/* The bytes of MPI's types as trees, against lists of all of their bytes; and positions in file views. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/lib/ut.h"
#include "map/pieces/tree.h"
#include "mpiio/core/view.h"

#define BYTES_MAX 4096
#define ROUNDS 4000

/* A type the naive way: where each of its bytes lies, in order, and how far it is to the next element. */
struct bytes_of_type {
	uint64_t n;
	int64_t extent;
	int64_t at[BYTES_MAX];
};

static uint64_t state;

static uint64_t below(uint64_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % n;
}

/* Bytes beyond what fits are no longer counted right: such types are left out. */
static void naive_put(struct bytes_of_type *to, const struct bytes_of_type *of, int64_t offset)
{
	uint64_t i;

	for (i = 0; i < of->n; i++, to->n++)
		if (to->n < BYTES_MAX)
			to->at[to->n] = of->at[i] + offset;
}

/*
 * Each of these makes a new type of the last one, in both ways.
 */
struct both_types {
	struct mpiio_shape shape;
	uint64_t node;
	struct bytes_of_type now, made;
};

static int make_vector(struct both_types *p)
{
	uint64_t count = below(4), len = below(4), i, j;
	int64_t stride = (int64_t)below(64) - 32;
	int ret = shape_repeat(&p->shape, len, p->now.extent, p->node, &p->node);

	for (i = 0; i < count; i++)
		for (j = 0; j < len; j++)
			naive_put(&p->made, &p->now,
				  (int64_t)i * stride + (int64_t)j * p->now.extent);
	return ret ? ret : shape_repeat(&p->shape, count, stride, p->node, &p->node);
}

#define ENTRIES 5

static void given_entry(const void *arg, uint64_t i, struct shape_entry *e)
{
	*e = ((const struct shape_entry *)arg)[i];
}

static int make_indexed(struct both_types *p)
{
	struct shape_entry e[ENTRIES];
	uint64_t n = below(ENTRIES + 1), i, j;

	for (i = 0; i < n; i++) {
		e[i] = (struct shape_entry){ (int64_t)below(100) - 20, below(3), p->node,
					     p->now.extent };
		for (j = 0; j < e[i].n; j++)
			naive_put(&p->made, &p->now, e[i].offset + (int64_t)j * p->now.extent);
	}
	return shape_sequence(&p->shape, n, given_entry, e, &p->node);
}

static int make_moved(struct both_types *p)
{
	int64_t by = (int64_t)below(50) - 25;

	naive_put(&p->made, &p->now, by);
	return shape_moved(&p->shape, by, p->node, &p->node);
}

/* Which elements of a dimension a process has. */
static uint64_t elements_of(const struct shape_dim *d, bool sub, uint64_t *element)
{
	uint64_t i, n = 0;

	for (i = 0; i < d->size; i++) {
		bool has;

		if (sub)
			has = i >= d->start && i < d->start + d->count;
		else if (d->cyclic)
			has = i / d->arg % d->procs == d->coord;
		else
			has = i / d->arg == d->coord;
		if (has)
			element[n++] = i;
	}
	return n;
}

static void naive_array(struct both_types *p, const struct shape_dim *d, bool sub)
{
	uint64_t fast[16], slow[16], nfast = elements_of(&d[0], sub, fast), i, j;
	uint64_t nslow = elements_of(&d[1], sub, slow);

	for (i = 0; i < nslow; i++)
		for (j = 0; j < nfast; j++)
			naive_put(&p->made, &p->now,
				  (int64_t)(slow[i] * d[0].size + fast[j]) * p->now.extent);
}

static int make_subarray(struct both_types *p)
{
	struct shape_dim d[2] = { 0 };
	int i;

	for (i = 0; i < 2; i++) {
		d[i].size = 1 + below(6);
		d[i].start = below(d[i].size);
		d[i].count = 1 + below(d[i].size - d[i].start);
	}
	naive_array(p, d, true);
	return shape_subarray(&p->shape, 2, d, p->node, p->now.extent, &p->node);
}

static int make_darray(struct both_types *p)
{
	struct shape_dim d[2] = { 0 };
	int i;

	for (i = 0; i < 2; i++) {
		d[i].size = 1 + below(9);
		d[i].procs = 1 + below(3);
		d[i].coord = below(d[i].procs);
		d[i].cyclic = (int)below(2);
		/* A block as long as the standard demands, so that all is dealt; any length of a cyclic one. */
		d[i].arg = d[i].cyclic ? 1 + below(3) : (d[i].size + d[i].procs - 1) / d[i].procs;
	}
	naive_array(p, d, false);
	return shape_darray(&p->shape, 2, d, p->node, p->now.extent, &p->node);
}

static int (*const makers[])(struct both_types *p) = { make_vector, make_indexed, make_moved,
						       make_subarray, make_darray };

static int make_random(struct both_types *p)
{
	uint64_t steps = below(4), i;
	int ret;

	memset(p, 0, sizeof(*p));
	p->now.n = 1 + below(8);
	p->now.extent = (int64_t)(p->now.n + below(3));
	for (i = 0; i < p->now.n; i++)
		p->now.at[i] = (int64_t)i;
	ret = shape_leaf(&p->shape, p->now.n, &p->node);
	for (i = 0; i < steps && !ret; i++) {
		p->made.n = 0;
		ret = makers[below(sizeof(makers) / sizeof(makers[0]))](p);
		p->made.extent = (int64_t)below(90) - 10;
		p->now = p->made;
		if (p->now.n > BYTES_MAX)
			return ret ? ret : 1;
	}
	return ret ? ret : shape_root(&p->shape, p->node);
}

static uint64_t count_faults(const struct both_types *p)
{
	uint64_t i, faults = 0;
	int64_t low = p->now.n ? p->now.at[0] : 0;

	if (shape_bytes(&p->shape) != p->now.n)
		return 1;
	for (i = 0; i < p->now.n; i++) {
		faults += shape_byte(&p->shape, p->shape.nnodes - 1, i) != p->now.at[i];
		low = p->now.at[i] < low ? p->now.at[i] : low;
	}
	return faults + (shape_low(&p->shape) != low);
}

static void test_random(void)
{
	static struct both_types p;
	unsigned int i, nested = 0, large = 0;

	for (i = 0; i < ut_rounds(ROUNDS); i++) {
		struct ddio_tree tree;
		struct tree_form *form = NULL;
		const char *why = "";
		int ret;

		state = i + 1;
		ret = make_random(&p);
		if (ret == 1) {
			large++;
		} else {
			CU_ASSERT_EQUAL_FATAL(ret, 0);
			CU_ASSERT_EQUAL(count_faults(&p), 0);
			tree = shape_tree(&p.shape);
			/* Whoever has no bytes describes none. */
			CU_ASSERT_EQUAL(tree_form_new(&tree, &form, &why), p.now.n ? 0 : -EINVAL);
			if (form)
				tree_form_put(form);
			nested += p.shape.nnodes > 2;
		}
		shape_drop(&p.shape);
	}
	CU_ASSERT(nested > ut_rounds(ROUNDS) / 4);
	CU_ASSERT(large < ut_rounds(ROUNDS) / 10);
}

/* Of a constructor's arguments a node or an entry each, however many pieces they mean. */
static void test_size(void)
{
	static struct shape_entry e[1000];
	struct mpiio_shape s = { 0 };
	uint64_t leaf, node, i;

	CU_ASSERT_EQUAL_FATAL(shape_leaf(&s, 8, &leaf), 0);
	CU_ASSERT_EQUAL_FATAL(shape_repeat(&s, 1u << 30, 16, leaf, &node), 0);
	CU_ASSERT_EQUAL(s.nnodes, 2);
	CU_ASSERT_EQUAL(shape_bytes(&s), 8ull << 30);
	for (i = 0; i < 1000; i++)
		e[i] = (struct shape_entry){ (int64_t)(100 * i), 3, leaf, 16 };
	CU_ASSERT_EQUAL_FATAL(shape_sequence(&s, 1000, given_entry, e, &node), 0);
	CU_ASSERT_EQUAL(s.nnodes, 4); /* the three times, once, and the sequence */
	CU_ASSERT_EQUAL(s.nchildren, 1000);
	shape_drop(&s);
}

/* Neighbours are one leaf; nothing is a leaf without bytes; a root comes last. */
static void test_plain(void)
{
	struct mpiio_shape s = { 0 };
	uint64_t leaf, node, none;

	CU_ASSERT_EQUAL_FATAL(shape_leaf(&s, 4, &leaf), 0);
	CU_ASSERT_EQUAL_FATAL(shape_repeat(&s, 10, 4, leaf, &node), 0);
	CU_ASSERT(shape_is_leaf(&s));
	CU_ASSERT_EQUAL(shape_bytes(&s), 40);
	CU_ASSERT_EQUAL_FATAL(shape_repeat(&s, 0, 4, node, &none), 0);
	CU_ASSERT_EQUAL(shape_bytes(&s), 0);
	CU_ASSERT_EQUAL_FATAL(shape_root(&s, node), 0);
	CU_ASSERT_EQUAL(shape_bytes(&s), 40);
	CU_ASSERT(shape_is_leaf(&s));
	CU_ASSERT_EQUAL(shape_repeat(&s, UINT64_MAX / 2, 40, node, &none), -EOVERFLOW);
	shape_drop(&s);
}

/* Every third 4-byte word, from byte 100 on, in etypes of 4 bytes. */
static void view_of_words(struct mpiio_view *v)
{
	uint64_t node;

	*v = (struct mpiio_view){ .disp = 100, .etype = 4, .extent = 12 };
	CU_ASSERT_EQUAL_FATAL(shape_leaf(&v->shape, 4, &node), 0);
}

static void test_positions(void)
{
	struct mpiio_view v;
	uint64_t size, want;

	view_of_words(&v);
	CU_ASSERT(!view_is_contiguous(&v));
	CU_ASSERT_EQUAL(view_byte(&v, 0), 100);
	CU_ASSERT_EQUAL(view_byte(&v, 4 * 7 + 1), 100 + 12 * 7 + 1);
	CU_ASSERT_EQUAL(view_byte(&v, UINT64_MAX / 4), -EOVERFLOW);
	for (size = 0; size < 400; size++) {
		want = size <= 100 ? 0 : (size - 100 + 11) / 12;
		CU_ASSERT_EQUAL(view_positions(&v, size), want);
	}
	view_drop(&v);
	CU_ASSERT_EQUAL_FATAL(view_of_bytes(&v), 0);
	CU_ASSERT(view_is_contiguous(&v));
	CU_ASSERT_EQUAL(view_positions(&v, 12345), 12345);
	view_drop(&v);
}

/* A file type without bytes: nothing can be there, and nothing loops. */
static void test_empty_view(void)
{
	struct mpiio_view v = { .etype = 1, .extent = 8 };
	uint64_t node;

	CU_ASSERT_EQUAL_FATAL(shape_leaf(&v.shape, 0, &node), 0);
	CU_ASSERT_EQUAL(view_byte(&v, 0), -EINVAL);
	CU_ASSERT_EQUAL(view_positions(&v, 1000), 0);
	view_drop(&v);
}

/* Repetitions with gaps, in one another: a level each. */
static void test_depth(void)
{
	struct mpiio_shape s = { 0 };
	uint64_t node;
	int i;

	CU_ASSERT_EQUAL(shape_leaf(&s, 1, &node), 0);
	for (i = 1; i < 20; i++) {
		CU_ASSERT_EQUAL(shape_depth_check(&s, 19), 0);
		CU_ASSERT_EQUAL(shape_repeat(&s, 2, (int64_t)3 << i, node, &node), 0);
		CU_ASSERT_EQUAL(shape_moved(&s, 0, node, &node), 0); /* nothing */
	}
	CU_ASSERT_EQUAL(shape_depth_check(&s, 20), 0);
	CU_ASSERT_EQUAL(shape_depth_check(&s, 19), -E2BIG);
	shape_drop(&s);
}

/* Two leaves of 4 bytes, the second at @second, that @n times each @stride further. */
static int order_of(int64_t first, int64_t second, uint64_t n, int64_t stride, int overlap)
{
	struct shape_entry e[] = { { first, 1, 0, 4 }, { second, 1, 0, 4 } };
	struct mpiio_shape s = { 0 };
	uint64_t node;
	int ret;

	CU_ASSERT_EQUAL_FATAL(shape_leaf(&s, 4, &node), 0);
	CU_ASSERT_EQUAL_FATAL(shape_sequence(&s, 2, given_entry, e, &node), 0);
	CU_ASSERT_EQUAL_FATAL(shape_repeat(&s, n, stride, node, &node), 0);
	CU_ASSERT_EQUAL_FATAL(shape_root(&s, node), 0);
	ret = shape_in_order(&s, overlap);
	shape_drop(&s);
	return ret;
}

/* A node out of order that no other is made of is no fault of the type's; of one that is, it is. */
static void test_order_left_over(void)
{
	struct mpiio_shape s = { 0 };
	uint64_t leaf, bad, node;

	CU_ASSERT_EQUAL_FATAL(shape_leaf(&s, 4, &leaf), 0);
	CU_ASSERT_EQUAL_FATAL(shape_repeat(&s, 3, 2, leaf, &bad), 0);
	CU_ASSERT_EQUAL_FATAL(shape_repeat(&s, 3, 8, leaf, &node), 0);
	CU_ASSERT_EQUAL(shape_in_order(&s, 0), 0);
	CU_ASSERT_EQUAL_FATAL(shape_repeat(&s, 2, 100, bad, &node), 0);
	CU_ASSERT_EQUAL(shape_in_order(&s, 0), -EDOM);
	CU_ASSERT_EQUAL_FATAL(shape_moved(&s, 8, bad, &node), 0);
	CU_ASSERT_EQUAL(shape_in_order(&s, 0), -EDOM);
	shape_drop(&s);
}

static void test_order(void)
{
	CU_ASSERT_EQUAL(order_of(0, 4, 1, 0, 0), 0);
	CU_ASSERT_EQUAL(order_of(4, 10, 5, 10, 0), 0);
	CU_ASSERT_EQUAL(order_of(4, 10, 5, 9, 0), -EDOM);
	CU_ASSERT_EQUAL(order_of(4, 10, 5, 9, 1), 0);
	CU_ASSERT_EQUAL(order_of(4, 10, 5, 5, 1), -EDOM);
	CU_ASSERT_EQUAL(order_of(4, 10, 2, -20, 1), -EDOM);
	CU_ASSERT_EQUAL(order_of(4, 7, 1, 0, 0), -EDOM);
	CU_ASSERT_EQUAL(order_of(4, 7, 1, 0, 1), 0);
	CU_ASSERT_EQUAL(order_of(4, 3, 1, 0, 1), -EDOM);
	CU_ASSERT_EQUAL(order_of(-1, 10, 5, 20, 0), -EDOM);
	CU_ASSERT_EQUAL(order_of(0, 10, UINT64_C(1) << 40, 1 << 24, 0), -EOVERFLOW);
}

static const struct ut_case cases[] = {
	{ "random types", test_random },
	{ "the size of a tree", test_size },
	{ "plain types", test_plain },
	{ "positions in a view", test_positions },
	{ "an empty view", test_empty_view },
	{ "depth", test_depth },
	{ "types of files", test_order },
	{ "what is left over", test_order_left_over },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "shapes", cases } };

	return ut_run("test_mpiio_shape", suites, 1);
}
