// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "cp/coll/dd/blockset.h"

enum { PAGE_BITS = 64 * BLOCKSET_WORDS };

/* Returns the page of that number, made if there is none, or NULL if memory is short. */
static struct blockset_page *page_get(struct blockset *set, uint64_t number)
{
	struct ddio_hash_node *node = ddio_hash_find(&set->pages, number);
	struct blockset_page *page = ddio_hash_entry(node, struct blockset_page, node);

	if (page)
		return page;
	page = calloc(1, sizeof(*page));
	if (page)
		ddio_hash_add(&set->pages, &page->node, number);
	return page;
}

int blockset_add(struct blockset *set, uint64_t block)
{
	struct blockset_page *page = page_get(set, block / PAGE_BITS);
	uint64_t bit = block % PAGE_BITS, *word;

	if (!page)
		return -ENOMEM;
	word = &page->bits[bit / 64];
	if (*word >> bit % 64 & 1)
		return -EEXIST;
	*word |= (uint64_t)1 << bit % 64;
	return 0;
}

void blockset_free(struct blockset *set)
{
	struct blockset_page *page;
	struct ddio_hash_walk walk;

	ddio_hash_for_each(page, &walk, &set->pages, node) {
		free(page);
	}
	ddio_hash_fini(&set->pages);
}
