/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parts of a file that no closed form describes, as items sorted by file
 * offset.  An item is one piece, or pieces at one distance, or a monotone
 * nest, or a monotone part of a tree; in each the share advances as the file
 * does, with nothing between.
 */
#ifndef DDIO_MAP_ITEMS_H
#define DDIO_MAP_ITEMS_H

#include "map/pieces/tree.h"

#define ITEM_NEST 0
#define ITEM_TREE UINT64_MAX

/**
 * struct item - bytes of one process, or of the union of all
 * @lo, @hi: first byte in the file, one past the last
 * @share: offset in the share of the first
 * @before: bytes of all items before this one
 * @len: bytes of each piece; ITEM_NEST if @nest counts, ITEM_TREE if @tree does
 * @stride: distance of two pieces, if there are several
 * @nest, @tree: has the item's owner
 */
struct item {
	uint64_t lo;
	uint64_t hi;
	uint64_t share;
	uint64_t before;
	uint64_t len;
	union {
		uint64_t stride;
		const struct nest *nest;
		const struct tree_part *tree;
	};
};

/* One contiguous piece, before items are made of it. */
struct scrap {
	uint64_t off;
	uint64_t len;
	uint64_t share;
	uint32_t proc;
};

/* Arrays that grow.  A zeroed one is empty; the caller frees the pointer. */
struct items {
	struct item *item;
	uint64_t n;
	uint64_t room;
};

struct scraps {
	struct scrap *scrap;
	uint64_t n;
	uint64_t room;
};

int items_add(struct items *items, const struct item *item);
int scraps_add(struct scraps *scraps, const struct scrap *scrap);

/* Returns the item, which is no tree, as a nest: its own, or @tmp filled in. */
const struct nest *item_nest(const struct item *item, struct nest *tmp);

/* Bytes of the item, pieces of it (of a tree at least as many as it has), and its bytes below file offset @x. */
uint64_t item_size(const struct item *item);
uint64_t item_pieces(const struct item *item);
uint64_t item_below(const struct item *item, uint64_t x);

bool item_next(const struct item *item, uint64_t from, uint64_t *start, uint64_t *end);

/* Every piece of a nest, monotone or not, becomes a scrap, in share order. */
int scraps_add_nest(struct scraps *scraps, const struct nest *nest, uint64_t share, uint32_t proc);
int scraps_add_tree(struct scraps *scraps, const struct tree_part *tree, uint64_t share,
		    uint32_t proc);
/* The same for an item of any kind. */
int scraps_add_item(struct scraps *scraps, const struct item *item, uint64_t share, uint32_t proc);

/* Sorts by file offset. */
void scraps_sort(struct scraps *scraps);

/*
 * Makes items of sorted scraps that do not overlap, as few as possible: scraps
 * that touch in file and share are merged, those at one distance become one item.
 */
int items_add_scraps(struct items *items, const struct scrap *scrap, uint64_t n);

#endif /* DDIO_MAP_ITEMS_H */
