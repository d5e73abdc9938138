/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the data of a file are spread over the processes of a group, and where
 * one process keeps its share in memory.  Plain descriptions: no function here.
 *
 * Words follow High Performance Fortran and the papers: an N-dimensional
 * array lies in row-major (C) order in the file and each of its dimensions is
 * NONE (not distributed), BLOCK, CYCLIC(k) or ALL (every process holds it all).
 */
#ifndef DDIO_DIST_H
#define DDIO_DIST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DDIO_MAX_DIMS 8

/**
 * enum ddio_dist - how one dimension is spread over its part of the grid
 * @DDIO_NONE: not distributed; the grid has extent 1 in this dimension
 * @DDIO_BLOCK: one contiguous piece a process; ``k`` elements each, or
 *	ceil(count / procs) where ``k`` is 0
 * @DDIO_CYCLIC: pieces of ``k`` elements (1 where ``k`` is 0) dealt round-robin
 * @DDIO_ALL: replicated; every process of this grid dimension holds all of it
 */
enum ddio_dist {
	DDIO_NONE = 0,
	DDIO_BLOCK = 1,
	DDIO_CYCLIC = 2,
	DDIO_ALL = 3,
};

/**
 * struct ddio_dim - one dimension of an array in a file
 * @size: elements of the whole array in this dimension
 * @start: first element of the section (hyperslab) that is transferred
 * @count: elements of the section; 0 together with @start 0 and @stride 0
 *	means the whole dimension.  An empty section is @count 0, @stride 1.
 * @stride: distance between elements of the section (0 means 1)
 * @procs: extent of the process grid in this dimension (0 means 1)
 * @k: block length of BLOCK and CYCLIC, in elements; 0 for the default
 * @dist: one of enum ddio_dist
 * @reserved: must be 0
 *
 * The section is what is distributed: element i of the section, counted from
 * 0, goes to the process that a plain array of @count elements would give it.
 */
struct ddio_dim {
	uint64_t size;
	uint64_t start;
	uint64_t count;
	uint64_t stride;
	uint64_t procs;
	uint64_t k;
	uint32_t dist;
	uint32_t reserved;
};

/**
 * struct ddio_array - an array in a file, distributed over a grid of processes
 * @file_offset: byte of the file at which element (0, ..., 0) begins
 * @elem_size: bytes of one element, at least 1
 * @ndims: 1 to DDIO_MAX_DIMS
 * @reserved: must be 0
 * @dim: outermost dimension first
 *
 * The grid is row-major too: rank 0 has coordinates (0, ..., 0), and the last
 * dimension varies fastest.  Ranks beyond the product of ``procs`` have an
 * empty share.  A process's share is kept in row-major order of its own
 * indices, packed, unless a struct ddio_memory says otherwise.
 */
struct ddio_array {
	uint64_t file_offset;
	uint64_t elem_size;
	uint32_t ndims;
	uint32_t reserved;
	struct ddio_dim dim[DDIO_MAX_DIMS];
};

/**
 * struct ddio_level - one level of a nested-strided description
 * @count: repetitions, at least 1
 * @stride: bytes between the starts of two repetitions (may be negative in
 *	memory, never in a file)
 */
struct ddio_level {
	uint64_t count;
	int64_t stride;
};

/**
 * struct ddio_strided - nested-strided bytes (Galley's nested-batched request)
 * @offset: byte at which the first piece begins
 * @len: bytes of each contiguous piece
 * @nlevels: 0 (one piece) to DDIO_MAX_DIMS
 * @reserved: must be 0
 * @level: outermost level first
 */
struct ddio_strided {
	uint64_t offset;
	uint64_t len;
	uint32_t nlevels;
	uint32_t reserved;
	struct ddio_level level[DDIO_MAX_DIMS];
};

/**
 * struct ddio_extent - one contiguous piece of a list
 * @offset: first byte
 * @len: bytes
 */
struct ddio_extent {
	uint64_t offset;
	uint64_t len;
};

/**
 * enum ddio_tree_kind - what a node of a tree stands for
 * @DDIO_TREE_LEAF: @n contiguous bytes, the first at the node's origin
 * @DDIO_TREE_REPEAT: the node @child, @n times, each @stride bytes beyond the last
 * @DDIO_TREE_SEQUENCE: the @n entries of the tree's @child from index @child on, one after the other
 */
enum ddio_tree_kind {
	DDIO_TREE_LEAF = 1,
	DDIO_TREE_REPEAT = 2,
	DDIO_TREE_SEQUENCE = 3,
};

/**
 * struct ddio_tree_node - one node of a tree
 * @kind: one of enum ddio_tree_kind
 * @reserved: must be 0
 * @n: bytes, repetitions, or entries; 0 is a node without bytes
 * @stride: of DDIO_TREE_REPEAT, else 0; may be negative, or 0: see struct ddio_view
 * @child: of DDIO_TREE_REPEAT a node, which comes before this one; of DDIO_TREE_SEQUENCE the first
 *	entry, where those of the sequences before end (without entries: any number); else 0
 */
struct ddio_tree_node {
	uint32_t kind;
	uint32_t reserved;
	uint64_t n;
	int64_t stride;
	uint64_t child;
};

/**
 * struct ddio_tree_child - one entry of a sequence
 * @offset: where the node's origin lies, counted in bytes from that of the sequence
 * @node: index of a node that comes before the sequence
 */
struct ddio_tree_child {
	int64_t offset;
	uint64_t node;
};

#define DDIO_TREE_DEPTH 64

/**
 * struct ddio_tree - any nest of bytes, of the size of its description
 * @nnodes: number of @node
 * @node: each after those that it consists of, so that the last one is the root; several may
 *	have the same child
 * @nchildren: number of @child
 * @child: entries of all sequences, in the order of the nodes
 *
 * The bytes have an order, that of a walk from the root into the depth.  Every type of MPI is a tree:
 * of vectors and subarrays REPEAT, of indexed types, structures and darrays SEQUENCE.  At most
 * DDIO_TREE_DEPTH nodes may lie above one another, and all bytes within 2^62 of the origin.
 */
struct ddio_tree {
	uint64_t nnodes;
	const struct ddio_tree_node *node;
	uint64_t nchildren;
	const struct ddio_tree_child *child;
};

/**
 * struct ddio_view - a part of a tree that is repeated without end
 * @tree: see above; may be NULL if @len is 0.  Several views may name the same one
 * @offset: byte of the file, or from the buffer's address, at which the first tile's origin lies
 * @extent: bytes from the origin of one tile to that of the next; may be less than what the tree spans
 * @skip: bytes of the tiles, in their order, that come before the first one of this view
 * @len: bytes of this view
 *
 * As MPI sees a file: @offset is the displacement, @tree and @extent are the file type, @skip is the
 * position in bytes.  In a file, views in file order cost what their description does; others are flattened
 * to at most 2^24 pieces.  In memory, bytes may have any order; a byte that is named more than once can be
 * written from, and has one of the values after a read.
 */
struct ddio_view {
	const struct ddio_tree *tree;
	uint64_t offset;
	uint64_t extent;
	uint64_t skip;
	uint64_t len;
};

/**
 * enum ddio_part_kind - which member of struct ddio_part counts
 * @DDIO_PART_ARRAY: @array, the same on every process
 * @DDIO_PART_STRIDED: @strided[0 .. n), this process's own
 * @DDIO_PART_LIST: @list[0 .. n), this process's own
 * @DDIO_PART_VIEW: @view[0 .. n), this process's own
 */
enum ddio_part_kind {
	DDIO_PART_ARRAY = 1,
	DDIO_PART_STRIDED = 2,
	DDIO_PART_LIST = 3,
	DDIO_PART_VIEW = 4,
};

/**
 * struct ddio_part - what part of a file a process wants
 * @kind: one of enum ddio_part_kind
 * @reserved: must be 0
 * @n: number of entries of @strided, @list or @view; 0 is an empty share
 * @array: for DDIO_PART_ARRAY
 * @strided: for DDIO_PART_STRIDED; their bytes follow one another in memory
 * @list: for DDIO_PART_LIST; their bytes follow one another in memory
 * @view: for DDIO_PART_VIEW; their bytes follow one another in memory
 *
 * In a collective every member gives the same kind.  The caller keeps what
 * the pointers name until the call (or the start of an asynchronous one)
 * returns; the library copies.
 */
struct ddio_part {
	uint32_t kind;
	uint32_t reserved;
	uint64_t n;
	const struct ddio_array *array;
	const struct ddio_strided *strided;
	__extension__ union {
		const struct ddio_extent *list;
		const struct ddio_view *view;
	};
};

/**
 * enum ddio_memory_kind - which of two members of struct ddio_memory counts, without dimensions
 * @DDIO_MEMORY_STRIDED: @strided
 * @DDIO_MEMORY_VIEW: @view
 */
enum ddio_memory_kind {
	DDIO_MEMORY_STRIDED = 0,
	DDIO_MEMORY_VIEW = 1,
};

/**
 * struct ddio_memory - where a share lies in memory, if it is not packed
 * @ndims: 0: @strided or @view counts; else as many as the array has dimensions
 * @kind: one of enum ddio_memory_kind; 0 if @ndims is not
 * @size: elements of the local array, ghost cells included, per dimension
 * @start: index at which this process's own elements begin, per dimension
 * @nstrided: number of @strided, or of @view; their pieces take the share's bytes in order
 * @strided: offsets in bytes from the buffer's address
 * @view: the same
 */
struct ddio_memory {
	uint32_t ndims;
	uint32_t kind;
	uint64_t size[DDIO_MAX_DIMS];
	uint64_t start[DDIO_MAX_DIMS];
	uint64_t nstrided;
	__extension__ union {
		const struct ddio_strided *strided;
		const struct ddio_view *view;
	};
};

#ifdef __cplusplus
}
#endif

#endif /* DDIO_DIST_H */
