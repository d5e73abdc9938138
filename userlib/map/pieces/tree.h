/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trees: bytes in nests of repetitions and sequences, of which each node is kept once, whatever the
 * number of places that it stands for.
 *
 * A *form* is a tree as it is computed with: checked, without nodes that do not matter, and with the sums
 * of each node, so that a byte is found by descent.  A *part* is an interval of the bytes of a node of it.
 */
#ifndef DDIO_MAP_TREE_H
#define DDIO_MAP_TREE_H

#include "map/pieces/nest.h"

/**
 * struct tree_node - one node of a form
 * @kind: enum ddio_tree_kind
 * @flags: TREE_*
 * @n: bytes of a leaf, else repetitions or entries
 * @stride: of a repetition; two's complement, as all distances here
 * @child: of a repetition the node, of a sequence the first entry
 * @size: bytes
 * @pieces, @paths: leaves, and ways to a leaf; UINT64_MAX: too many to count
 * @least: bytes of the shortest leaf
 * @lo, @hi: from the origin to the first byte in the file and to one past the last
 */
struct tree_node {
	uint32_t kind;
	uint32_t flags;
	uint64_t n;
	uint64_t stride;
	uint64_t child;
	uint64_t size;
	uint64_t pieces;
	uint64_t paths;
	uint64_t least;
	int64_t lo;
	int64_t hi;
};

#define TREE_MONOTONE 0x1u /* its bytes lie in file order */
#define TREE_CHAIN 0x2u	   /* repetitions of one leaf */

/* @before: bytes of the entries before this one, of the same sequence */
struct tree_child {
	uint64_t off;
	uint64_t node;
	uint64_t before;
};

/* A node, and where its origin lies. */
struct tree_ref {
	uint64_t node;
	uint64_t off;
};

/**
 * struct tree_form - see above
 * @refs: holders
 * @root: what is left of the description's last node
 */
struct tree_form {
	uint32_t refs;
	uint64_t nnodes;
	uint64_t room;
	struct tree_node *node;
	uint64_t nchildren;
	struct tree_child *child;
	struct tree_ref root;
};

/* Checks a description and makes its form.  Return: 0, -EINVAL, -EOVERFLOW, -ENOMEM. */
int tree_form_new(const struct ddio_tree *tree, struct tree_form **form, const char **why);
void tree_form_put(struct tree_form *form);

/* Adds a node that repeats @ref; @out may be less than a node of its own. */
int tree_form_repeat(struct tree_form *form, const struct tree_ref *ref, uint64_t n,
		     uint64_t stride, struct tree_ref *out, const char **why);

/**
 * struct tree_part - bytes of a tree in a file or in memory
 * @form: held
 * @ref: a node, and the address of its origin
 * @from, @to: which of the node's bytes
 */
struct tree_part {
	struct tree_form *form;
	struct tree_ref ref;
	uint64_t from;
	uint64_t to;
};

/* Returns the part's node. */
static inline const struct tree_node *tree_part_node(const struct tree_part *part)
{
	return &part->form->node[part->ref.node];
}

static inline uint64_t tree_part_size(const struct tree_part *part)
{
	return part->to - part->from;
}

/* Replaces the part's node by the smallest that has all of its bytes. */
void tree_part_narrow(struct tree_part *part);

/* Makes a nest of the part.  Returns false if it is none. */
bool tree_part_nest(const struct tree_part *part, struct nest *nest);

/* Finds the addresses of the lowest byte and of one past the highest; the part must not be empty. */
void tree_part_bounds(const struct tree_part *part, int64_t *lo, int64_t *hi);

/* Returns a number of pieces, at least as many as the part has; UINT64_MAX if there are too many to count. */
uint64_t tree_part_pieces(const struct tree_part *part);

/* Returns 0 if both are the same bytes of one form; else the same order each time. */
int tree_part_compare(const struct tree_part *x, const struct tree_part *y);

/* Of a monotone part: returns how many of its bytes lie below address @x. */
uint64_t tree_part_below(const struct tree_part *part, uint64_t x);

/* Finds the address of byte @pos of the part, and how many bytes from there on are contiguous. */
uint64_t tree_part_seek(const struct tree_part *part, uint64_t pos, uint64_t *len);

/* @addr, @pos: of the first byte; @st: a is the distance in address, b that in the part's order. */
typedef int (*tree_run_fn)(void *arg, const struct stack *st, uint64_t addr, uint64_t pos);

/**
 * tree_part_walk - walk over bytes [@from, @to) of a part
 * @levels: 0: each piece by itself, in order; else at most so many levels of a run
 *
 * Return: 0, or what @fn returned, which ends the walk if it is not 0.
 */
int tree_part_walk(const struct tree_part *part, uint64_t from, uint64_t to, uint32_t levels,
		   tree_run_fn fn, void *arg);

/* Appends a nest for every way to a leaf of the part's node: a superset of its bytes.  Returns how many, 0 if it cannot. */
uint64_t tree_part_nests(const struct tree_part *part, struct nest *nest);

/* Returns how many nests that would be at most. */
static inline uint64_t tree_part_paths(const struct tree_part *part)
{
	return tree_part_node(part)->paths;
}

#endif /* DDIO_MAP_TREE_H */
