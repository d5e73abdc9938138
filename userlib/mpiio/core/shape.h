/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bytes of a type as a tree, built by MPI's constructors.  Of a constructor's arguments a node or an entry
 * each is kept, never one of a piece.  What the types' bounds are, the caller knows: an element's extent is an
 * argument here.
 */
#ifndef MPIIO_SHAPE_H
#define MPIIO_SHAPE_H

#include <stdint.h>
#include <sys/types.h>
#include <ddio/dist.h>

/*
 * Nodes in the order of a struct ddio_tree, the bytes of each, and how far from its origin the lowest of them lies.  Zeroed, it is empty; shape_drop() frees what it
 * has.
 */
struct mpiio_shape {
	struct ddio_tree_node *node;
	uint64_t *bytes;
	int64_t *low;
	uint64_t nnodes, room_nodes;
	struct ddio_tree_child *child;
	uint64_t nchildren, room_children;
};

/* One entry of a sequence: @n elements of the node, @extent bytes from one to the next. */
struct shape_entry {
	int64_t offset;
	uint64_t n;
	uint64_t node;
	int64_t extent;
};

void shape_drop(struct mpiio_shape *s);

/* All of these: 0, and the node at @out; -ENOMEM, -EOVERFLOW. */
int shape_leaf(struct mpiio_shape *s, uint64_t bytes, uint64_t *out);
int shape_repeat(struct mpiio_shape *s, uint64_t n, int64_t stride, uint64_t node, uint64_t *out);
int shape_moved(struct mpiio_shape *s, int64_t offset, uint64_t node, uint64_t *out);

/**
 * shape_sequence - entries one after the other
 * @s: the shape
 * @n: number of entries
 * @entry: gives the i-th entry
 * @arg: for @entry
 * @out: receives the node
 *
 * Entries that follow each other with the same count of the same node share one node for their repetitions.
 */
int shape_sequence(struct mpiio_shape *s, uint64_t n,
		   void (*entry)(const void *arg, uint64_t i, struct shape_entry *e),
		   const void *arg, uint64_t *out);

/* A dimension of a subarray or a darray, the one that varies fastest first. */
struct shape_dim {
	uint64_t size;
	uint64_t start, count;	    /* subarray */
	uint64_t procs, coord, arg; /* darray; @arg is the length of a block, never 0 */
	int cyclic;
};

int shape_subarray(struct mpiio_shape *s, unsigned int ndims, const struct shape_dim *dim,
		   uint64_t node, int64_t extent, uint64_t *out);
int shape_darray(struct mpiio_shape *s, unsigned int ndims, const struct shape_dim *dim,
		 uint64_t node, int64_t extent, uint64_t *out);

/* Makes a node the root, which is the last one of a tree. */
int shape_root(struct mpiio_shape *s, uint64_t node);
struct ddio_tree shape_tree(const struct mpiio_shape *s);

/* Nodes above one another, the root and a leaf included: 0, or -E2BIG if they are more than @most; -ENOMEM. */
int shape_depth_check(const struct mpiio_shape *s, uint8_t most);

/* Of the root. */
uint64_t shape_bytes(const struct mpiio_shape *s);
int64_t shape_low(const struct mpiio_shape *s);
int shape_is_leaf(const struct mpiio_shape *s);

/**
 * shape_in_order - whether a type may be one of a file
 * @s: the shape
 * @overlap: pieces may overlap, as they may in a file that is only read
 *
 * Takes as long as the description is, not as what it describes.
 *
 * Return: 0; -EDOM: a piece lies below the origin, or before the one that comes first, or over it; -EOVERFLOW, -ENOMEM.
 */
int shape_in_order(const struct mpiio_shape *s, int overlap);

/**
 * shape_byte - finds a byte of a node by its place in their order
 * @s: the shape
 * @node: the node
 * @at: which byte, below the node's bytes
 *
 * Return: the byte's distance from the node's origin.
 */
int64_t shape_byte(const struct mpiio_shape *s, uint64_t node, uint64_t at);

#endif
