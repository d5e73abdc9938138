// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds and walks the bytes of a part of a tree, by descent from its node. */
#include <string.h>
#include "map/pieces/tree.h"

/**
 * struct spot - a node on the way down
 * @addr: of its origin
 */
struct spot {
	const struct tree_form *form;
	const struct tree_node *node;
	uint64_t addr;
};

static struct spot spot_root(const struct tree_part *part)
{
	return (struct spot){ part->form, tree_part_node(part), part->ref.off };
}

/* Goes to repetition @i. */
static struct spot spot_repeat(const struct spot *at, uint64_t i)
{
	return (struct spot){ at->form, &at->form->node[at->node->child],
			      at->addr + i * at->node->stride };
}

static const struct tree_child *spot_children(const struct spot *at)
{
	return at->form->child + at->node->child;
}

/* Goes to entry @i. */
static struct spot spot_child(const struct spot *at, uint64_t i)
{
	const struct tree_child *child = spot_children(at) + i;

	return (struct spot){ at->form, &at->form->node[child->node], at->addr + child->off };
}

/* Returns the entry of a sequence that has byte @pos. */
static uint64_t child_at(const struct spot *at, uint64_t pos)
{
	const struct tree_child *child = spot_children(at);
	uint64_t lo = 0, hi = at->node->n - 1;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo + 1) / 2;

		if (child[mid].before > pos)
			hi = mid - 1;
		else
			lo = mid;
	}
	return lo;
}

/* Goes to the child that has byte @pos, and makes @pos one of its bytes. */
static struct spot spot_step(const struct spot *at, uint64_t *pos)
{
	uint64_t i, size;

	if (at->node->kind == DDIO_TREE_REPEAT) {
		size = at->form->node[at->node->child].size;
		i = *pos / size;
		*pos -= i * size;
		return spot_repeat(at, i);
	}
	i = child_at(at, *pos);
	*pos -= spot_children(at)[i].before;
	return spot_child(at, i);
}

uint64_t tree_part_seek(const struct tree_part *part, uint64_t pos, uint64_t *len)
{
	struct spot at = spot_root(part);
	uint64_t left = tree_part_size(part) - pos;

	pos += part->from;
	while (at.node->kind != DDIO_TREE_LEAF)
		at = spot_step(&at, &pos);
	*len = at.node->n - pos < left ? at.node->n - pos : left;
	return at.addr + pos;
}

void tree_part_narrow(struct tree_part *part)
{
	struct spot at = spot_root(part);

	while (at.node->kind != DDIO_TREE_LEAF) {
		uint64_t first = part->from, last = part->to - 1;
		struct spot down = spot_step(&at, &first);
		struct spot end = spot_step(&at, &last);

		if (down.node != end.node || part->to - part->from != last + 1 - first ||
		    down.addr != end.addr)
			break;
		part->from = first;
		part->to = last + 1;
		at = down;
	}
	part->ref = (struct tree_ref){ (uint64_t)(at.node - at.form->node), at.addr };
}

bool tree_part_nest(const struct tree_part *part, struct nest *nest)
{
	const struct tree_node *node = tree_part_node(part);
	uint64_t size = tree_part_size(part), inner;

	if (!(node->flags & TREE_CHAIN))
		return false;
	nest->off = part->ref.off;
	nest->ndims = 0;
	if (node->kind == DDIO_TREE_LEAF) {
		nest->off += part->from;
	} else {
		inner = part->form->node[node->child].size;
		if (part->from % inner || part->to % inner)
			return false;
		nest->off += part->from / inner * node->stride;
		nest->dim[nest->ndims++] = (struct nest_dim){ size / inner, node->stride, 0 };
		node = &part->form->node[node->child];
		size = node->n;
	}
	for (; node->kind == DDIO_TREE_REPEAT; node = &part->form->node[node->child]) {
		if (nest->ndims == DDIO_MAX_DIMS)
			return false;
		nest->dim[nest->ndims++] = (struct nest_dim){ node->n, node->stride, 0 };
		size = part->form->node[node->child].n;
	}
	nest->dim[nest->ndims++] = (struct nest_dim){ size, 1, 1 };
	nest_simplify(nest);
	return true;
}

/*
 * Bounds
 */
struct tree_bounds {
	int64_t lo;
	int64_t hi;
};

static void bounds_take(struct tree_bounds *b, int64_t lo, int64_t hi)
{
	if (lo < b->lo)
		b->lo = lo;
	if (hi > b->hi)
		b->hi = hi;
}

static void spot_bounds(const struct spot *at, uint64_t from, uint64_t to, struct tree_bounds *b);

/* Takes repetitions from @i to before @j, whole. */
static void repeat_bounds(const struct spot *at, uint64_t i, uint64_t j, struct tree_bounds *b)
{
	struct spot first, last;

	if (i >= j)
		return;
	first = spot_repeat(at, i);
	last = spot_repeat(at, j - 1);
	spot_bounds(&first, 0, first.node->size, b);
	spot_bounds(&last, 0, last.node->size, b);
}

/* Bytes [from, to) of a child of @at, whose byte 0 is byte @before of @at. */
static void child_bounds(const struct spot *child, uint64_t before, uint64_t from, uint64_t to,
			 struct tree_bounds *b)
{
	uint64_t end = before + child->node->size;

	if (from < before)
		from = before;
	if (to > end)
		to = end;
	if (from < to)
		spot_bounds(child, from - before, to - before, b);
}

/* All but the first and the last of the children are whole, so that there are two ways down at most. */
static void spot_bounds(const struct spot *at, uint64_t from, uint64_t to, struct tree_bounds *b)
{
	uint64_t i, last, size;
	struct spot child;

	if (!from && to == at->node->size) {
		bounds_take(b, (int64_t)at->addr + at->node->lo, (int64_t)at->addr + at->node->hi);
		return;
	}
	if (at->node->kind == DDIO_TREE_LEAF) {
		bounds_take(b, (int64_t)(at->addr + from), (int64_t)(at->addr + to));
		return;
	}
	if (at->node->kind == DDIO_TREE_REPEAT) {
		size = at->form->node[at->node->child].size;
		i = from / size;
		last = (to - 1) / size;
		child = spot_repeat(at, i);
		child_bounds(&child, i * size, from, to, b);
		if (i == last)
			return;
		repeat_bounds(at, i + 1, last, b);
		child = spot_repeat(at, last);
		child_bounds(&child, last * size, from, to, b);
		return;
	}
	for (i = child_at(at, from); i < at->node->n && spot_children(at)[i].before < to; i++) {
		child = spot_child(at, i);
		child_bounds(&child, spot_children(at)[i].before, from, to, b);
	}
}

void tree_part_bounds(const struct tree_part *part, int64_t *lo, int64_t *hi)
{
	struct tree_bounds b = { INT64_MAX, INT64_MIN };
	struct spot at = spot_root(part);
	uint64_t len;

	if (at.node->flags & TREE_MONOTONE) {
		*lo = (int64_t)tree_part_seek(part, 0, &len);
		*hi = (int64_t)tree_part_seek(part, tree_part_size(part) - 1, &len) + 1;
		return;
	}
	spot_bounds(&at, part->from, part->to, &b);
	*lo = b.lo;
	*hi = b.hi;
}

uint64_t tree_part_pieces(const struct tree_part *part)
{
	uint64_t pieces = tree_part_node(part)->pieces, size = tree_part_size(part);

	return pieces < size ? pieces : size;
}

int tree_part_compare(const struct tree_part *x, const struct tree_part *y)
{
	uint64_t a[] = { (uintptr_t)x->form, x->ref.node, x->from, x->to, x->ref.off };
	uint64_t b[] = { (uintptr_t)y->form, y->ref.node, y->from, y->to, y->ref.off };

	return memcmp(a, b, sizeof(a));
}

/*
 * By address
 */

/* Returns the entries of a monotone sequence that begin below @x. */
static uint64_t children_below(const struct spot *at, uint64_t x)
{
	uint64_t lo = 0, hi = at->node->n;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;
		struct spot child = spot_child(at, mid);

		if ((int64_t)(x - child.addr) > child.node->lo)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Goes to the child in which address @x lies, or the last before it.  Returns the bytes before it; 0 also if there is none. */
static uint64_t spot_descend(struct spot *at, uint64_t x)
{
	uint64_t i, before;

	if (at->node->kind == DDIO_TREE_REPEAT) {
		struct spot first = spot_repeat(at, 0);
		int64_t rel = (int64_t)(x - at->addr) - first.node->lo;

		i = rel < 0 ? 0 : (uint64_t)rel / at->node->stride;
		if (i >= at->node->n)
			i = at->node->n - 1;
		*at = spot_repeat(at, i);
		return i * at->node->size;
	}
	i = children_below(at, x);
	i -= i > 0;
	before = spot_children(at)[i].before;
	*at = spot_child(at, i);
	return before;
}

uint64_t tree_part_below(const struct tree_part *part, uint64_t x)
{
	struct spot at = spot_root(part);
	uint64_t sum = 0;
	int64_t rel;

	while (at.node->kind != DDIO_TREE_LEAF)
		sum += spot_descend(&at, x);
	rel = (int64_t)(x - at.addr);
	if (rel > 0)
		sum += (uint64_t)rel < at.node->n ? (uint64_t)rel : at.node->n;
	if (sum <= part->from)
		return 0;
	return sum < part->to ? sum - part->from : tree_part_size(part);
}

/*
 * The walk
 */

/**
 * struct walk - the levels outside the node at hand, outermost first
 * @max: at most so many
 */
struct walk {
	tree_run_fn fn;
	void *arg;
	uint32_t max;
	uint32_t n;
	struct stack_level level[2 * DDIO_MAX_DIMS];
};

static int walk_emit(const struct walk *w, uint64_t addr, uint64_t pos, uint64_t len)
{
	struct stack st = { .len = len };
	uint32_t i;

	for (i = w->n; i-- > 0;)
		stack_push(&st, w->level[i].count, w->level[i].a, w->level[i].b);
	return w->fn(w->arg, &st, addr, pos);
}

static int walk_spot(struct walk *w, const struct spot *at, uint64_t pos, uint64_t from,
		     uint64_t to);

/* Walks repetitions from @i to before @j, whole: as one level if there is room for it. */
static int walk_whole(struct walk *w, const struct spot *at, uint64_t pos, uint64_t i, uint64_t j)
{
	uint64_t size = at->form->node[at->node->child].size;
	struct spot child;
	int rc = 0;

	if (j - i > 1 && w->n < w->max) {
		w->level[w->n++] = (struct stack_level){ j - i, at->node->stride, size };
		child = spot_repeat(at, i);
		rc = walk_spot(w, &child, pos + i * size, 0, size);
		w->n--;
		return rc;
	}
	for (; i < j && !rc; i++) {
		child = spot_repeat(at, i);
		rc = walk_spot(w, &child, pos + i * size, 0, size);
	}
	return rc;
}

static int walk_repeat(struct walk *w, const struct spot *at, uint64_t pos, uint64_t from,
		       uint64_t to)
{
	uint64_t size = at->form->node[at->node->child].size;
	uint64_t i = from / size, j = to / size;
	struct spot child = spot_repeat(at, i);
	int rc = 0;

	if (i == j)
		return walk_spot(w, &child, pos + i * size, from - i * size, to - i * size);
	if (from % size) {
		rc = walk_spot(w, &child, pos + i * size, from % size, size);
		i++;
	}
	if (!rc && i < j)
		rc = walk_whole(w, at, pos, i, j);
	if (rc || !(to % size))
		return rc;
	child = spot_repeat(at, j);
	return walk_spot(w, &child, pos + j * size, 0, to % size);
}

static int walk_sequence(struct walk *w, const struct spot *at, uint64_t pos, uint64_t from,
			 uint64_t to)
{
	const struct tree_child *children = spot_children(at);
	uint64_t i;
	int rc = 0;

	for (i = child_at(at, from); i < at->node->n && children[i].before < to && !rc; i++) {
		struct spot child = spot_child(at, i);
		uint64_t before = children[i].before;
		uint64_t lo = from > before ? from - before : 0;
		uint64_t hi = to - before < child.node->size ? to - before : child.node->size;

		rc = walk_spot(w, &child, pos + before, lo, hi);
	}
	return rc;
}

/* Walks bytes [@from, @to) of a node whose byte 0 is at @pos. */
static int walk_spot(struct walk *w, const struct spot *at, uint64_t pos, uint64_t from,
		     uint64_t to)
{
	switch (at->node->kind) {
	case DDIO_TREE_LEAF:
		return walk_emit(w, at->addr + from, pos + from, to - from);
	case DDIO_TREE_REPEAT:
		return walk_repeat(w, at, pos, from, to);
	default:
		return walk_sequence(w, at, pos, from, to);
	}
}

int tree_part_walk(const struct tree_part *part, uint64_t from, uint64_t to, uint32_t levels,
		   tree_run_fn fn, void *arg)
{
	struct walk w = { .fn = fn, .arg = arg, .max = levels };
	struct spot at = spot_root(part);

	if (w.max > sizeof(w.level) / sizeof(w.level[0]))
		w.max = sizeof(w.level) / sizeof(w.level[0]);
	if (from >= to)
		return 0;
	return walk_spot(&w, &at, -part->from, part->from + from, part->from + to);
}

/*
 * Every way to a leaf
 */
static bool spot_nests(const struct spot *at, struct nest *way, struct nest **out)
{
	struct spot child;
	uint64_t i;
	bool ok = true;

	switch (at->node->kind) {
	case DDIO_TREE_LEAF:
		**out = *way;
		(*out)->off = at->addr;
		(*out)->dim[(*out)->ndims++] = (struct nest_dim){ at->node->n, 1, 1 };
		++*out;
		return true;
	case DDIO_TREE_REPEAT:
		if (way->ndims == DDIO_MAX_DIMS)
			return false;
		way->dim[way->ndims++] = (struct nest_dim){ at->node->n, at->node->stride, 0 };
		child = spot_repeat(at, 0);
		ok = spot_nests(&child, way, out);
		way->ndims--;
		return ok;
	default:
		for (i = 0; i < at->node->n && ok; i++) {
			child = spot_child(at, i);
			ok = spot_nests(&child, way, out);
		}
		return ok;
	}
}

uint64_t tree_part_nests(const struct tree_part *part, struct nest *nest)
{
	struct spot at = spot_root(part);
	struct nest way = { .ndims = 0 };
	struct nest *end = nest;

	return spot_nests(&at, &way, &end) ? (uint64_t)(end - nest) : 0;
}
