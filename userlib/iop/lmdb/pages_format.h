/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file format of LMDB 0.9, version 1, of machines with 64-bit size_t: numbers are the machine's. */
#ifndef DDIO_LMDB_PAGES_FORMAT_H
#define DDIO_LMDB_PAGES_FORMAT_H

#include <stdint.h>

#define PAGE_MAGIC 0xBEEFC0DEu
#define PAGE_VERSION 1
#define PAGE_NONE UINT64_MAX /* root of an empty tree */
#define PAGE_SIZE_MAX 32768
#define PAGE_DEPTH_MAX 32
#define PAGE_KEY_MAX 511

enum { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_OVERFLOW = 4, PAGE_META = 8 };
enum { NODE_BIG = 1, NODE_TREE = 2 };
enum { TREE_FREE_FLAGS = 8 /* keys are numbers */ };

struct page_head {
	uint64_t number;
	uint16_t pad, flags;
	uint16_t lower, upper; /* of an overflow page: together how many pages it has */
};

struct page_tree {
	uint32_t pad; /* of the free tree of a meta page: bytes of a page */
	uint16_t flags, depth;
	uint64_t branches, leaves, overflows, entries, root;
};

struct page_meta {
	uint32_t magic, version;
	uint64_t address, map;
	struct page_tree free, main;
	uint64_t last, txn;
};

/* Its key follows, then its value or the number of its overflow page.  Of a branch the first three are the child. */
struct page_node {
	uint16_t low, high, flags, key_len;
};

_Static_assert(sizeof(struct page_head) == 16 && sizeof(struct page_tree) == 48 &&
		       sizeof(struct page_meta) == 136 && sizeof(struct page_node) == 8,
	       "as LMDB has them");

#endif /* DDIO_LMDB_PAGES_FORMAT_H */
