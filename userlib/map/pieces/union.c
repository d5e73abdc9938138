// SPDX-License-Identifier: LGPL-2.1-or-later
/* The union of irregular parts, and the first byte that two processes name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "map/pieces/union.h"

/* Items of one cluster that are kept as they are: a query visits each of them. */
#define CLUSTER_MAX(procs) (64 + 2 * (uint64_t)(procs))

/* Items that overlap are flattened if they have at most this many pieces. */
#define MIXED_MIN (UINT64_C(1) << 16)

static int item_compare_shape(const struct item *x, const struct item *y)
{
	uint32_t d;

	if (x->hi != y->hi)
		return x->hi < y->hi ? -1 : 1;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	if (x->len == ITEM_TREE)
		return tree_part_compare(x->tree, y->tree);
	if (x->len != ITEM_NEST) {
		if (x->hi - x->lo == x->len || x->stride == y->stride)
			return 0;
		return x->stride < y->stride ? -1 : 1;
	}
	if (x->nest->ndims != y->nest->ndims)
		return x->nest->ndims < y->nest->ndims ? -1 : 1;
	for (d = 0; d < x->nest->ndims; d++) {
		int rc = memcmp(&x->nest->dim[d], &y->nest->dim[d], sizeof(x->nest->dim[d]));

		if (rc)
			return rc;
	}
	return 0;
}

static int owned_compare(const void *a, const void *b)
{
	const struct owned *x = a;
	const struct owned *y = b;
	int rc;

	if (x->item.lo != y->item.lo)
		return x->item.lo < y->item.lo ? -1 : 1;
	rc = item_compare_shape(&x->item, &y->item);
	if (rc)
		return rc;
	return x->proc < y->proc ? -1 : x->proc > y->proc;
}

static void union_note(struct item_union *all, uint64_t at, uint32_t first, uint32_t second)
{
	if (all->overlap)
		return;
	all->overlap = true;
	all->at = at;
	all->first = first < second ? first : second;
	all->second = first < second ? second : first;
}

/* Keeps one of equal items.  Returns how many are left. */
static uint64_t owned_dedupe(struct item_union *all, struct owned *owned, uint64_t n)
{
	uint64_t i, kept = 0;

	for (i = 0; i < n; i++) {
		if (kept && owned[kept - 1].item.lo == owned[i].item.lo &&
		    !item_compare_shape(&owned[kept - 1].item, &owned[i].item))
			union_note(all, owned[i].item.lo, owned[kept - 1].proc, owned[i].proc);
		else
			owned[kept++] = owned[i];
	}
	return kept;
}

static int union_add_cluster(struct item_union *all, uint64_t first, uint64_t hi, bool mixed)
{
	struct item_cluster *p = all->cluster;

	if (all->nclusters == all->room) {
		all->room = all->room ? all->room * 2 : 16;
		p = reallocarray(p, all->room, sizeof(*p));
		if (!p)
			return -ENOMEM;
		all->cluster = p;
	}
	p[all->nclusters++] = (struct item_cluster){ first, hi, mixed };
	all->mixed |= mixed;
	return 0;
}

/* Keeps items that interleave as they are, in one cluster. */
static int union_keep(struct item_union *all, const struct owned *owned, uint64_t n, bool mixed)
{
	uint64_t first = all->items.n;
	uint64_t hi = 0;
	uint64_t i;

	for (i = 0; i < n; i++) {
		struct item item = owned[i].item;
		int rc;

		item.share = 0;
		item.before = all->size;
		if (!mixed)
			all->size += item_size(&item);
		if (item.hi > hi)
			hi = item.hi;
		rc = items_add(&all->items, &item);
		if (rc)
			return rc;
	}
	return union_add_cluster(all, first, hi, mixed);
}

/* Merges sorted scraps, of which some overlap, into pieces that lie apart. */
static void union_merge(struct item_union *all, struct scraps *scraps)
{
	struct scrap *out = scraps->scrap;
	uint64_t i;

	out->share = 0;
	for (i = 1; i < scraps->n; i++) {
		const struct scrap *next = &scraps->scrap[i];
		uint64_t end = out->off + out->len;
		uint64_t next_end = next->off + next->len;

		if (next->off > end) {
			uint64_t share = out->share + out->len;

			*++out = *next;
			out->share = share;
			continue;
		}
		if (next->off < end && next->proc != out->proc)
			union_note(all, next->off, out->proc, next->proc);
		/* The owner is the one that reaches farthest. */
		if (next_end > end) {
			out->len = next_end - out->off;
			out->proc = next->proc;
		}
	}
	scraps->n = out - scraps->scrap + 1;
}

static int union_flatten(struct item_union *all, const struct owned *owned, uint64_t n,
			 uint64_t *flat)
{
	struct scraps scraps = { 0 };
	uint64_t first = all->items.n;
	uint64_t i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++) {
		const struct item *item = &owned[i].item;
		uint64_t pieces = item_pieces(item);

		if (pieces > FLAT_MAX - *flat)
			rc = -EOVERFLOW;
		else
			rc = scraps_add_item(&scraps, item, 0, owned[i].proc);
		*flat += pieces;
	}
	if (rc)
		goto out_free;
	scraps_sort(&scraps);
	union_merge(all, &scraps);
	rc = items_add_scraps(&all->items, scraps.scrap, scraps.n);
	for (i = first; i < all->items.n && !rc; i++) {
		all->items.item[i].share = 0;
		all->items.item[i].before = all->size;
		all->size += item_size(&all->items.item[i]);
		rc = union_add_cluster(all, i, all->items.item[i].hi, false);
	}
out_free:
	free(scraps.scrap);
	return rc;
}

/* Adds items too large to flatten that may overlap, as far as their strides tell. */
static int union_add_large(struct item_union *all, const struct owned *owned, uint64_t n)
{
	uint32_t first, second;
	uint64_t at;
	int rc = items_sweep(owned, n, &at, &first, &second);

	if (rc < 0)
		return rc;
	if (rc)
		union_note(all, at, first, second);
	return union_keep(all, owned, n, rc);
}

static int union_add(struct item_union *all, const struct owned *owned, uint64_t n, uint64_t limit,
		     uint64_t *flat)
{
	uint64_t pieces = 0;
	uint64_t i;
	int rc = n == 1;

	if (n > 1 && n <= limit)
		rc = items_disjoint(owned, n);
	if (rc < 0)
		return rc;
	if (rc)
		return union_keep(all, owned, n, false);
	for (i = 0; i < n && pieces <= FLAT_MAX; i++)
		pieces += item_pieces(&owned[i].item) < FLAT_MAX ? item_pieces(&owned[i].item)
								 : FLAT_MAX + 1;
	if (n <= limit && pieces > MIXED_MIN) {
		rc = union_add_large(all, owned, n);
		if (rc != -EOVERFLOW || pieces > FLAT_MAX - *flat)
			return rc;
	}
	return union_flatten(all, owned, n, flat);
}

int union_init(struct item_union *all, struct owned *owned, uint64_t n, uint64_t flat)
{
	uint64_t first = 0;
	uint32_t procs = 0;
	uint64_t hi, i;
	int rc;

	memset(all, 0, sizeof(*all));
	if (!n)
		return 0;
	for (i = 0; i < n; i++)
		if (owned[i].proc > procs)
			procs = owned[i].proc;
	qsort(owned, n, sizeof(*owned), owned_compare);
	n = owned_dedupe(all, owned, n);
	hi = owned[0].item.hi;
	for (i = 1; i <= n; i++) {
		if (i == n || owned[i].item.lo >= hi) {
			rc = union_add(all, owned + first, i - first, CLUSTER_MAX(procs), &flat);
			if (rc)
				goto err_destroy;
			first = i;
		}
		if (i < n && owned[i].item.hi > hi)
			hi = owned[i].item.hi;
	}
	return 0;
err_destroy:
	union_destroy(all);
	return rc;
}

void union_destroy(struct item_union *all)
{
	free(all->items.item);
	free(all->cluster);
	memset(all, 0, sizeof(*all));
}

/* Returns the first cluster that ends after @x. */
static uint64_t union_find(const struct item_union *all, uint64_t x)
{
	uint64_t lo = 0;
	uint64_t hi = all->nclusters;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (all->cluster[mid].hi > x)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static uint64_t union_cluster_end(const struct item_union *all, uint64_t c)
{
	return c + 1 < all->nclusters ? all->cluster[c + 1].first : all->items.n;
}

/* Finds the first piece at or after @from of any item of cluster @c. */
static bool cluster_next(const struct item_union *all, uint64_t c, uint64_t from, uint64_t *start,
			 uint64_t *end)
{
	uint64_t i, s, e;
	bool found = false;

	for (i = all->cluster[c].first; i < union_cluster_end(all, c); i++) {
		if (!item_next(&all->items.item[i], from, &s, &e) || (found && s >= *start))
			continue;
		*start = s;
		*end = e;
		found = true;
	}
	return found;
}

bool union_next(const struct item_union *all, uint64_t from, uint64_t *start, uint64_t *end)
{
	uint64_t c = union_find(all, from);

	return c < all->nclusters && cluster_next(all, c, from, start, end);
}

/* Returns the number of distinct bytes below @x, without mixed clusters. */
static uint64_t union_below(const struct item_union *all, uint64_t x)
{
	uint64_t c = union_find(all, x);
	uint64_t i, sum;

	if (c == all->nclusters)
		return all->size;
	i = all->cluster[c].first;
	sum = all->items.item[i].before;
	if (all->cluster[c].mixed)
		return sum;
	for (; i < union_cluster_end(all, c); i++)
		sum += item_below(&all->items.item[i], x);
	return sum;
}

/* Bytes of a file that are counted together, by a bit each. */
enum { WINDOW = 32768, WORD = 64 };

static void window_mark(uint64_t *bits, uint64_t from, uint64_t to)
{
	uint64_t first = from / WORD, last = (to - 1) / WORD, w;
	uint64_t head = UINT64_MAX << from % WORD,
		 tail = UINT64_MAX >> (WORD - 1 - (to - 1) % WORD);

	if (first == last) {
		bits[first] |= head & tail;
		return;
	}
	bits[first] |= head;
	for (w = first + 1; w < last; w++)
		bits[w] = UINT64_MAX;
	bits[last] |= tail;
}

/* Marks an item's bytes in [lo, hi), which is no longer than a window. */
static void item_mark(const struct item *item, uint64_t lo, uint64_t hi, uint64_t *bits)
{
	uint64_t from = lo, start, end;

	while (from < hi && item_next(item, from, &start, &end) && start < hi) {
		from = end < hi ? end : hi;
		window_mark(bits, start - lo, from - lo);
	}
}

/* Returns the number of distinct bytes of cluster @c in a window: each piece is looked at once. */
static uint64_t window_count(const struct item_union *all, uint64_t c, uint64_t lo, uint64_t hi)
{
	uint64_t bits[WINDOW / WORD] = { 0 }, sum = 0, i;

	for (i = all->cluster[c].first; i < union_cluster_end(all, c); i++)
		item_mark(&all->items.item[i], lo, hi, bits);
	for (i = 0; i < WINDOW / WORD; i++)
		sum += (uint64_t)__builtin_popcountll(bits[i]);
	return sum;
}

/* Returns the number of distinct bytes of mixed cluster @c in [lo, hi): of long pieces one by one, of others in windows. */
static uint64_t cluster_walk(const struct item_union *all, uint64_t c, uint64_t lo, uint64_t hi)
{
	uint64_t sum = 0;
	uint64_t start, end;

	while (lo < hi && cluster_next(all, c, lo, &start, &end) && start < hi) {
		if (end > hi)
			end = hi;
		if (end - start >= WINDOW) {
			sum += end - start;
			lo = end;
			continue;
		}
		lo = hi - start < WINDOW ? hi : start + WINDOW;
		sum += window_count(all, c, start, lo);
	}
	return sum;
}

uint64_t union_covered(const struct item_union *all, uint64_t lo, uint64_t hi)
{
	uint64_t sum = union_below(all, hi) - union_below(all, lo);
	uint64_t c;

	if (!all->mixed)
		return sum;
	for (c = union_find(all, lo); c < all->nclusters; c++) {
		if (all->items.item[all->cluster[c].first].lo >= hi)
			break;
		if (all->cluster[c].mixed)
			sum += cluster_walk(all, c, lo, hi);
	}
	return sum;
}
