// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "cp/coll/dd/blockset.h"

enum { PAGE_BITS = 64 * DDIO_BLOCKSET_WORDS };

static struct blockset_page *page_entry(struct blockset_page *page, size_t cap, uint64_t key)
{
	size_t i = (size_t)((key * 0x9e3779b97f4a7c15ull) >> 20) & (cap - 1);

	while (page[i].key && page[i].key != key)
		i = (i + 1) & (cap - 1);
	return &page[i];
}

static int set_grow(struct blockset *set)
{
	size_t cap = set->cap ? 2 * set->cap : 16, i;
	struct blockset_page *page = calloc(cap, sizeof(*page));

	if (!page)
		return -ENOMEM;
	for (i = 0; i < set->cap; i++)
		if (set->page[i].key)
			*page_entry(page, cap, set->page[i].key) = set->page[i];
	free(set->page);
	set->page = page;
	set->cap = cap;
	return 0;
}

int blockset_add(struct blockset *set, uint64_t block)
{
	uint64_t key = block / PAGE_BITS + 1, bit = block % PAGE_BITS;
	struct blockset_page *page;
	uint64_t *word;

	if (2 * (set->n + 1) > set->cap && set_grow(set))
		return -ENOMEM;
	page = page_entry(set->page, set->cap, key);
	if (!page->key) {
		page->key = key;
		set->n++;
	}
	word = &page->bits[bit / 64];
	if (*word >> bit % 64 & 1)
		return -EEXIST;
	*word |= (uint64_t)1 << bit % 64;
	return 0;
}

void blockset_free(struct blockset *set)
{
	free(set->page);
	set->page = NULL;
	set->cap = 0;
	set->n = 0;
}
