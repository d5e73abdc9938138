// SPDX-License-Identifier: GPL-2.0-only
/* Sparse memory: pages by number; a page of zeros takes no memory. */
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "hpd.h"

/* The kernel may free memory by writing to this very disk; no process may be killed for it. */
#define STORE_GFP (GFP_NOIO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

void hpd_store_init(struct hpd_store *store)
{
	xa_init(&store->pages);
	store->used = 0;
	store->limit = U64_MAX;
}

void hpd_store_free(struct hpd_store *store)
{
	unsigned long index;
	struct page *page;

	xa_for_each(&store->pages, index, page) {
		__free_page(page);
		cond_resched();
	}
	xa_destroy(&store->pages);
	store->used = 0;
}

static struct page *store_page_add(struct hpd_store *store, unsigned long index)
{
	struct page *page;
	int err;

	if (store->used >= store->limit)
		return ERR_PTR(-ENOSPC);
	page = alloc_page(STORE_GFP | __GFP_ZERO);
	if (!page)
		return ERR_PTR(-ENOMEM);
	err = xa_err(xa_store(&store->pages, index, page, STORE_GFP));
	if (err) {
		__free_page(page);
		return ERR_PTR(err);
	}
	store->used++;
	return page;
}

static void store_page_remove(struct hpd_store *store, unsigned long index)
{
	struct page *page = xa_erase(&store->pages, index);

	if (page) {
		__free_page(page);
		store->used--;
	}
}

/* Returns how many of @len bytes from @pos on lie in one page. */
static size_t store_piece(u64 pos, u64 len)
{
	return min_t(u64, len, PAGE_SIZE - offset_in_page(pos));
}

int hpd_store_read(struct hpd_store *store, u64 pos, void *to, size_t len)
{
	size_t n;

	for (; len; len -= n, pos += n, to += n) {
		struct page *page = xa_load(&store->pages, pos >> PAGE_SHIFT);

		n = store_piece(pos, len);
		if (page)
			memcpy(to, page_address(page) + offset_in_page(pos), n);
		else
			memset(to, 0, n);
	}
	return 0;
}

int hpd_store_write(struct hpd_store *store, u64 pos, const void *from, size_t len)
{
	size_t n;

	for (; len; len -= n, pos += n, from += n) {
		struct page *page = xa_load(&store->pages, pos >> PAGE_SHIFT);

		n = store_piece(pos, len);
		if (!page)
			page = store_page_add(store, pos >> PAGE_SHIFT);
		if (IS_ERR(page))
			return PTR_ERR(page);
		memcpy(page_address(page) + offset_in_page(pos), from, n);
	}
	return 0;
}

/* Zeroes a part of a page; frees the page if all of it is zero then. */
static void store_zero_part(struct hpd_store *store, u64 pos, size_t len)
{
	unsigned long index = pos >> PAGE_SHIFT;
	struct page *page = xa_load(&store->pages, index);

	if (!page)
		return;
	memset(page_address(page) + offset_in_page(pos), 0, len);
	if (!memchr_inv(page_address(page), 0, PAGE_SIZE))
		store_page_remove(store, index);
}

/* Frees pages @first to @last - 1. */
static void store_remove(struct hpd_store *store, unsigned long first, unsigned long last)
{
	unsigned long index;
	struct page *page;

	if (first >= last)
		return;
	xa_for_each_range(&store->pages, index, page, first, last - 1) {
		store_page_remove(store, index);
		cond_resched();
	}
}

void hpd_store_zero(struct hpd_store *store, u64 pos, u64 len)
{
	u64 end = pos + len;
	size_t head = offset_in_page(pos) ? store_piece(pos, len) : 0;

	if (head)
		store_zero_part(store, pos, head);
	pos += head;
	store_remove(store, pos >> PAGE_SHIFT, end >> PAGE_SHIFT);
	pos = max(pos, round_down(end, PAGE_SIZE));
	if (pos < end)
		store_zero_part(store, pos, end - pos);
}
