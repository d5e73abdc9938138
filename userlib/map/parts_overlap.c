// SPDX-License-Identifier: LGPL-2.1-or-later
/* Irregular parts of several processes that overlap: each byte is left to the lowest. */
#include <errno.h>
#include <stdlib.h>
#include "map/parts.h"

/* Adds the share's pieces to @scraps. */
static int share_flatten(const struct map_share *share, uint32_t proc, struct scraps *scraps,
			 uint64_t *flat)
{
	uint64_t i;
	int rc = 0;

	for (i = 0; i < share->items.n && !rc; i++) {
		const struct item *item = &share->items.item[i];
		uint64_t pieces = item_pieces(item);

		if (pieces > FLAT_MAX - *flat)
			return -EOVERFLOW;
		*flat += pieces;
		rc = scraps_add_item(scraps, item, item->share, proc);
	}
	return rc;
}

static int share_replace(struct map_share *share, const struct scrap *scrap, uint64_t n)
{
	int rc;

	items_free(&share->items);
	rc = items_add_scraps(&share->items, scrap, n);
	share_finish(share);
	return rc;
}

static int scrap_compare_proc(const void *a, const void *b)
{
	const struct scrap *x = a;
	const struct scrap *y = b;

	if (x->proc != y->proc)
		return x->proc < y->proc ? -1 : 1;
	return x->off < y->off ? -1 : x->off > y->off;
}

/* Makes every share anew of what it has kept. */
static int parts_replace(struct parts *parts, struct scraps *kept)
{
	uint64_t first = 0, i;
	uint32_t p;
	int rc = 0;

	qsort(kept->scrap, kept->n, sizeof(*kept->scrap), scrap_compare_proc);
	for (p = 0; p < parts->nprocs && !rc; p++) {
		for (i = first; i < kept->n && kept->scrap[i].proc == p; i++)
			;
		rc = share_replace(&parts->share[p], kept->scrap + first, i - first);
		first = i;
	}
	return rc;
}

int parts_settle(struct parts *parts, const char **why)
{
	struct scraps all = { 0 }, kept = { 0 };
	uint64_t flat = 0;
	uint32_t p;
	int rc = 0;

	if (!parts->all.overlap)
		return 0;
	for (p = 0; p < parts->nprocs && !rc; p++)
		rc = share_flatten(&parts->share[p], p, &all, &flat);
	if (!rc) {
		scraps_sort(&all);
		rc = scraps_settle(&all, false, &kept, &parts->claims);
	}
	if (!rc)
		rc = parts_replace(parts, &kept);
	free(all.scrap);
	free(kept.scrap);
	if (rc == -EOVERFLOW)
		*why = "part: parts overlap in too many pieces";
	if (rc)
		return rc;
	union_destroy(&parts->all);
	return parts_unite(parts, flat, why);
}

/* Returns true if another process has some of the bytes between the item's ends; @k is moved on to them. */
static bool item_met(const struct item *item, uint32_t proc, const struct scraps *claims,
		     uint64_t *k)
{
	const struct scrap *claim = claims->scrap;
	uint64_t i;

	while (*k < claims->n && claim[*k].off + claim[*k].len <= item->lo)
		++*k;
	for (i = *k; i < claims->n && claim[i].off < item->hi; i++)
		if (claim[i].proc != proc)
			return true;
	return false;
}

static bool share_met(const struct map_share *share, uint32_t proc, const struct scraps *claims)
{
	uint64_t i, k = 0;

	for (i = 0; i < share->items.n; i++)
		if (item_met(&share->items.item[i], proc, claims, &k))
			return true;
	return false;
}

int parts_yield(struct parts *parts, uint32_t proc, const struct scraps *claims)
{
	struct map_share *share = &parts->share[proc];
	struct scraps own = { 0 }, left = { 0 };
	const char *why = "";
	uint64_t flat = 0;
	int rc;

	if (!share_met(share, proc, claims))
		return 0;
	rc = share_flatten(share, proc, &own, &flat);
	if (!rc)
		rc = scraps_yield(&own, proc, claims, &left);
	if (!rc)
		rc = share_replace(share, left.scrap, left.n);
	free(own.scrap);
	free(left.scrap);
	if (rc)
		return rc;
	union_destroy(&parts->all);
	return parts_unite(parts, flat, &why);
}
