// SPDX-License-Identifier: LGPL-2.1-or-later
/* Pieces of a file, sorted and compressed. */
#include <errno.h>
#include <stdlib.h>
#include "map/pieces/items.h"

/* Rows of fewer pieces at one distance stay single pieces. */
#define ROW_MIN 3

static int array_reserve(void **array, uint64_t *room, uint64_t n, size_t size)
{
	uint64_t want = n < 16 ? 16 : n + n / 2;
	void *p;

	if (n < *room)
		return 0;
	if (want > SIZE_MAX / size)
		return -ENOMEM;
	p = realloc(*array, want * size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*room = want;
	return 0;
}

int items_add(struct items *items, const struct item *item)
{
	void *array = items->item;
	int rc = array_reserve(&array, &items->room, items->n, sizeof(*item));

	if (rc)
		return rc;
	items->item = array;
	items->item[items->n++] = *item;
	return 0;
}

int scraps_add(struct scraps *scraps, const struct scrap *scrap)
{
	void *array = scraps->scrap;
	int rc = array_reserve(&array, &scraps->room, scraps->n, sizeof(*scrap));

	if (rc)
		return rc;
	scraps->scrap = array;
	scraps->scrap[scraps->n++] = *scrap;
	return 0;
}

const struct nest *item_nest(const struct item *item, struct nest *tmp)
{
	if (item->len == ITEM_NEST)
		return item->nest;
	tmp->off = item->lo;
	tmp->ndims = 2;
	tmp->dim[0].count = item_pieces(item);
	tmp->dim[0].stride = tmp->dim[0].count > 1 ? item->stride : item->len;
	tmp->dim[0].weight = item->len;
	tmp->dim[1] = (struct nest_dim){ item->len, 1, 1 };
	return tmp;
}

uint64_t item_pieces(const struct item *item)
{
	uint64_t span = item->hi - item->lo;

	if (item->len == ITEM_TREE)
		return tree_part_pieces(item->tree);
	if (item->len == ITEM_NEST)
		return nest_size(item->nest) / item->nest->dim[item->nest->ndims - 1].count;
	return span == item->len ? 1 : (span - item->len) / item->stride + 1;
}

uint64_t item_size(const struct item *item)
{
	if (item->len == ITEM_TREE)
		return tree_part_size(item->tree);
	return item->len != ITEM_NEST ? item->len * item_pieces(item) : nest_size(item->nest);
}

uint64_t item_below(const struct item *item, uint64_t x)
{
	uint64_t whole, part;

	if (x <= item->lo)
		return 0;
	if (x >= item->hi)
		return item_size(item);
	if (item->len == ITEM_TREE)
		return tree_part_below(item->tree, x);
	if (item->len == ITEM_NEST)
		return nest_below(item->nest, x);
	if (item->hi - item->lo == item->len)
		return x - item->lo;
	whole = (x - item->lo) / item->stride;
	part = x - item->lo - whole * item->stride;
	return whole * item->len + (part < item->len ? part : item->len);
}

bool item_next(const struct item *item, uint64_t from, uint64_t *start, uint64_t *end)
{
	struct nest tmp;
	uint64_t len;

	if (from >= item->hi)
		return false;
	if (item->len == ITEM_TREE) {
		*start = tree_part_seek(item->tree, item_below(item, from), &len);
		*end = *start + len;
		return true;
	}
	if (item->hi - item->lo == item->len) {
		*start = from > item->lo ? from : item->lo;
		*end = item->hi;
		return true;
	}
	return nest_next(item_nest(item, &tmp), from, start, end);
}

int scraps_add_nest(struct scraps *scraps, const struct nest *nest, uint64_t share, uint32_t proc)
{
	uint64_t len = nest->dim[nest->ndims - 1].count;
	uint64_t size = nest_size(nest);
	uint64_t idx[NEST_DIMS];
	uint64_t pos;
	int rc;

	for (pos = 0; pos < size; pos += len) {
		nest_seek(nest, pos, idx);
		rc = scraps_add(scraps,
				&(struct scrap){ nest_addr(nest, idx), len, share + pos, proc });
		if (rc)
			return rc;
	}
	return 0;
}

/**
 * struct tree_scraps - the pieces of a tree on their way to scraps
 * @share: offset in the share of the tree's first byte
 */
struct tree_scraps {
	struct scraps *scraps;
	uint64_t share;
	uint32_t proc;
};

static int tree_piece(void *arg, const struct stack *st, uint64_t addr, uint64_t pos)
{
	const struct tree_scraps *to = arg;

	return scraps_add(to->scraps, &(struct scrap){ addr, st->len, to->share + pos, to->proc });
}

int scraps_add_tree(struct scraps *scraps, const struct tree_part *tree, uint64_t share,
		    uint32_t proc)
{
	struct tree_scraps to = { scraps, share, proc };

	return tree_part_walk(tree, 0, tree_part_size(tree), 0, tree_piece, &to);
}

int scraps_add_item(struct scraps *scraps, const struct item *item, uint64_t share, uint32_t proc)
{
	struct nest tmp;

	if (item->len == ITEM_TREE)
		return scraps_add_tree(scraps, item->tree, share, proc);
	return scraps_add_nest(scraps, item_nest(item, &tmp), share, proc);
}

static int scrap_compare(const void *a, const void *b)
{
	const struct scrap *x = a;
	const struct scrap *y = b;

	if (x->off != y->off)
		return x->off < y->off ? -1 : 1;
	if (x->proc != y->proc)
		return x->proc < y->proc ? -1 : 1;
	return 0;
}

void scraps_sort(struct scraps *scraps)
{
	if (scraps->n)
		qsort(scraps->scrap, scraps->n, sizeof(*scraps->scrap), scrap_compare);
}

/* Returns the piece that begins at scrap @*i, with all that touch it; moves @*i on. */
static struct scrap scrap_join(const struct scrap *scrap, uint64_t n, uint64_t *i)
{
	struct scrap piece = scrap[(*i)++];

	while (*i < n && scrap[*i].off == piece.off + piece.len &&
	       scrap[*i].share == piece.share + piece.len)
		piece.len += scrap[(*i)++].len;
	return piece;
}

/* Returns how many scraps from @i on are pieces of one length at one distance. */
static uint64_t scrap_row(const struct scrap *scrap, uint64_t n, uint64_t i)
{
	uint64_t len = scrap[i].len;
	uint64_t j = i + 1;
	uint64_t stride;

	if (j >= n)
		return 1;
	stride = scrap[j].off - scrap[i].off;
	if (stride <= len)
		return 1;
	while (j < n && scrap[j].len == len && scrap[j].off == scrap[j - 1].off + stride &&
	       scrap[j].share == scrap[j - 1].share + len)
		j++;
	/* The last one may be longer: it is not part of the row then. */
	if (j < n && scrap[j].off == scrap[j - 1].off + len)
		j--;
	return j - i;
}

int items_add_scraps(struct items *items, const struct scrap *scrap, uint64_t n)
{
	uint64_t before = 0;
	uint64_t i = 0;

	if (items->n) {
		const struct item *last = &items->item[items->n - 1];

		before = last->before + item_size(last);
	}
	while (i < n) {
		uint64_t row = scrap_row(scrap, n, i);
		struct item item = { .lo = scrap[i].off, .share = scrap[i].share };
		int rc;

		if (row >= ROW_MIN) {
			item.len = scrap[i].len;
			item.stride = scrap[i + 1].off - scrap[i].off;
			item.hi = scrap[i + row - 1].off + item.len;
			i += row;
		} else {
			struct scrap piece = scrap_join(scrap, n, &i);

			item.len = piece.len;
			item.hi = piece.off + piece.len;
		}
		item.before = before;
		before += item_size(&item);
		rc = items_add(items, &item);
		if (rc)
			return rc;
	}
	return 0;
}
