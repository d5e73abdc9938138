// SPDX-License-Identifier: LGPL-2.1-or-later
/* Turns the description of irregular parts into sorted items, and checks all of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "map/clan.h"
#include "map/view.h"

#define CACHE_LINE 64

/**
 * struct build - one share under construction
 * @scraps: single pieces, until the next nest or the end
 * @share: bytes described so far
 * @end: one past the last byte so far
 * @sorted: every item so far began at or after that
 * @rules: MAP_*
 * @twice: it names a byte twice
 * @again, @nagain: see struct map_share
 * @flat: pieces flattened by the map so far; @wild: those of this part that will have to be
 * @views: for parts of views; the members share it, and the forms of their trees
 */
struct build {
	struct items items;
	struct scraps scraps;
	uint64_t share;
	uint64_t end;
	bool sorted;
	uint32_t rules;
	bool twice;
	struct map_again *again;
	uint64_t nagain;
	uint64_t *flat;
	uint64_t wild;
	struct view_reader *views;
	const char **why;
};

/**
 * struct part_entry - one entry of a description
 * @lo, @hi: its bounds; @size: bytes
 * @monotone: they lie in file order
 * @is_tree: @tree counts, which holds no reference, else @nest
 */
struct part_entry {
	uint64_t lo;
	uint64_t hi;
	uint64_t size;
	bool monotone;
	bool is_tree;
	struct nest nest;
	struct tree_part tree;
};

static int fail(const char **why, const char *text, int err)
{
	*why = text;
	return err;
}

/* Turns a strided entry or one of a list into a nest. */
static int nest_entry(const struct ddio_part *part, uint64_t i, uint32_t rules, struct nest *nest,
		      const char **why)
{
	uint32_t allow = rules & MAP_TWICE ? STRIDED_TWICE : 0;
	struct ddio_strided plain = { 0 };
	uint64_t span;
	int rc;

	if (part->kind == DDIO_PART_STRIDED)
		return nest_read(nest, &part->strided[i], allow, &span, why);
	plain.offset = part->list[i].offset;
	plain.len = part->list[i].len;
	rc = nest_read(nest, &plain, 0, &span, why);
	if (rc == -EOVERFLOW)
		*why = "list: its last byte is beyond 2^63";
	return rc;
}

static int fail_flat(const struct build *b)
{
	return fail(b->why, "part: out of file order in more than 2^24 pieces", -EOVERFLOW);
}

/* Reads a view: into a nest, if it is one.  One that is out of order must be allowed its steps first. */
static int view_entry(struct build *b, const struct ddio_view *view, struct part_entry *entry)
{
	int rc = view_read(b->views, view, &entry->tree, b->why);

	if (rc)
		return rc;
	entry->is_tree = !tree_part_nest(&entry->tree, &entry->nest);
	entry->size = tree_part_size(&entry->tree);
	entry->monotone = tree_part_node(&entry->tree)->flags & TREE_MONOTONE;
	if (!entry->monotone && entry->is_tree) {
		if (tree_part_pieces(&entry->tree) > FLAT_MAX - *b->flat - b->wild)
			return fail_flat(b);
		b->wild += tree_part_pieces(&entry->tree);
	}
	return view_bounds(&entry->tree, &entry->lo, &entry->hi, b->why);
}

/* Reads entry @i of a description of any kind.  Returns -ENODATA if it is empty. */
static int part_read(struct build *b, const struct ddio_part *part, uint64_t i,
		     struct part_entry *entry)
{
	int rc;

	if (part->kind == DDIO_PART_VIEW)
		return view_entry(b, &part->view[i], entry);
	rc = nest_entry(part, i, b->rules, &entry->nest, b->why);
	if (rc)
		return rc;
	entry->is_tree = false;
	entry->size = nest_size(&entry->nest);
	entry->monotone = nest_monotone(&entry->nest);
	entry->lo = entry->nest.off;
	entry->hi = entry->monotone ? nest_end(&entry->nest) : 0;
	return 0;
}

static int build_flush(struct build *b)
{
	int rc = items_add_scraps(&b->items, b->scraps.scrap, b->scraps.n);

	b->scraps.n = 0;
	return rc;
}

/* Adds a nest of more than one piece that begins after all before it. */
static int build_add_nest(struct build *b, const struct nest *nest)
{
	struct item item = { .lo = nest->off, .hi = nest_end(nest), .share = b->share };
	struct nest *copy = NULL;
	int rc = build_flush(b);

	if (rc)
		return rc;
	item.before = b->share;
	if (nest->ndims == 2) {
		item.len = nest->dim[1].count;
		item.stride = nest->dim[0].stride;
	} else {
		copy = malloc(sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		*copy = *nest;
		item.nest = copy;
	}
	rc = items_add(&b->items, &item);
	if (rc)
		free(copy);
	return rc;
}

/* Adds a part of a tree that begins after all before it. */
static int build_add_tree(struct build *b, const struct part_entry *entry)
{
	struct item item = { .lo = entry->lo,
			     .hi = entry->hi,
			     .share = b->share,
			     .before = b->share,
			     .len = ITEM_TREE };
	struct tree_part *copy;
	int rc = build_flush(b);

	if (rc)
		return rc;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = entry->tree;
	item.tree = copy;
	rc = items_add(&b->items, &item);
	if (rc)
		free(copy);
	else
		copy->form->refs++;
	return rc;
}

/* Adds an entry; the description is in file order so far. */
static int build_add(struct build *b, const struct part_entry *entry)
{
	const struct nest *nest = &entry->nest;

	if (entry->is_tree)
		return build_add_tree(b, entry);
	if (nest->ndims > 1)
		return build_add_nest(b, nest);
	return scraps_add(&b->scraps,
			  &(struct scrap){ nest->off, nest->dim[0].count, b->share, 0 });
}

static void item_free(const struct item *item)
{
	if (item->len == ITEM_TREE) {
		tree_form_put(item->tree->form);
		free((void *)item->tree);
	} else if (item->len == ITEM_NEST) {
		free((void *)item->nest);
	}
}

void items_free(struct items *items)
{
	uint64_t i;

	for (i = 0; i < items->n; i++)
		item_free(&items->item[i]);
	free(items->item);
	memset(items, 0, sizeof(*items));
}

/* Reads the description once: sums up the share, and keeps the entries while they are in order. */
static int build_read(struct build *b, const struct ddio_part *part)
{
	struct part_entry entry;
	uint64_t i;
	int rc;

	for (i = 0; i < part->n; i++) {
		rc = part_read(b, part, i, &entry);
		if (rc == -ENODATA)
			continue;
		if (rc)
			return rc;
		if (b->sorted && entry.lo >= b->end && entry.monotone) {
			rc = build_add(b, &entry);
			if (rc)
				return rc;
			b->end = entry.hi;
		} else {
			b->sorted = false;
		}
		b->share += entry.size;
		if (b->share > INT64_MAX)
			return fail(b->why, "part: it has more than 2^63 bytes", -EOVERFLOW);
	}
	return b->sorted ? build_flush(b) : 0;
}

/* Keeps of each byte the first that the description names. */
static int build_settle(struct build *b)
{
	struct scraps kept = { 0 };
	int rc = scraps_settle(&b->scraps, true, &kept, NULL);

	if (!rc && b->rules & MAP_AGAIN)
		rc = again_find(&b->scraps, &kept, &b->again, &b->nagain);
	free(b->scraps.scrap);
	b->scraps = kept;
	b->twice = true;
	return rc == -EOVERFLOW ? fail(b->why, "part: it names too many bytes twice", rc) : rc;
}

/* Takes an entry apart into its pieces; @share is the offset of its first byte. */
static int entry_flatten(struct build *b, const struct part_entry *entry, uint64_t share)
{
	const struct nest *nest = &entry->nest;
	uint64_t pieces = entry->is_tree ? tree_part_pieces(&entry->tree)
					 : entry->size / nest->dim[nest->ndims - 1].count;

	if (pieces > FLAT_MAX - *b->flat)
		return fail_flat(b);
	*b->flat += pieces;
	b->wild = 0;
	if (entry->is_tree)
		return scraps_add_tree(&b->scraps, &entry->tree, share, 0);
	return scraps_add_nest(&b->scraps, nest, share, 0);
}

static int build_flatten(struct build *b, const struct ddio_part *part)
{
	struct part_entry entry;
	uint64_t share = 0;
	uint64_t i;
	int rc;

	b->scraps.n = 0;
	b->wild = 0;
	for (i = 0; i < part->n; i++) {
		rc = part_read(b, part, i, &entry);
		if (rc == -ENODATA)
			continue;
		if (!rc)
			rc = entry_flatten(b, &entry, share);
		if (rc)
			return rc;
		share += entry.size;
	}
	scraps_sort(&b->scraps);
	if (scraps_meet(&b->scraps)) {
		if (!(b->rules & MAP_TWICE))
			return fail(b->why, "part: it names a byte twice", -EINVAL);
		rc = build_settle(b);
		if (rc)
			return rc;
	}
	return build_flush(b);
}

static int part_check(const struct ddio_part *part, const char **why)
{
	if (part->reserved)
		return fail(why, "part.reserved is not 0", -EINVAL);
	if (part->kind < DDIO_PART_STRIDED || part->kind > DDIO_PART_VIEW)
		return fail(why, "part.kind is not STRIDED, LIST or VIEW", -EINVAL);
	if (!part->n)
		return 0;
	if (part->kind == DDIO_PART_STRIDED && !part->strided)
		return fail(why, "part.strided is missing", -EINVAL);
	if (part->kind == DDIO_PART_LIST && !part->list)
		return fail(why, "part.list is missing", -EINVAL);
	if (part->kind == DDIO_PART_VIEW && !part->view)
		return fail(why, "part.view is missing", -EINVAL);
	return 0;
}

void share_finish(struct map_share *share)
{
	uint64_t i;

	share->bytes = 0;
	share->monotone = true;
	for (i = 0; i < share->items.n; i++) {
		share->bytes += item_size(&share->items.item[i]);
		if (share->items.item[i].share != share->items.item[i].before)
			share->monotone = false;
	}
}

static int share_init(struct parts *parts, struct map_share *share, const struct ddio_part *part,
		      const struct build *blank)
{
	struct build b = *blank;
	const char **why = b.why;
	int rc = part_check(part, why);

	if (!rc)
		rc = build_read(&b, part);
	if (!rc && !b.sorted) {
		items_free(&b.items);
		rc = build_flatten(&b, part);
	}
	free(b.scraps.scrap);
	if (rc) {
		items_free(&b.items);
		free(b.again);
		return rc;
	}
	share->items = b.items;
	share->size = b.share;
	share->again = b.again;
	share->nagain = b.nagain;
	parts->twice |= b.twice;
	share_finish(share);
	return 0;
}

static uint64_t item_piece_len(const struct item *item)
{
	if (item->len == ITEM_TREE)
		return tree_part_node(item->tree)->least;
	return item->len != ITEM_NEST ? item->len : item->nest->dim[item->nest->ndims - 1].count;
}

static uint64_t parts_items(const struct parts *parts)
{
	uint64_t n = 0;
	uint32_t p;

	for (p = 0; parts->share && p < parts->nprocs; p++)
		n += parts->share[p].items.n;
	for (p = 0; parts->clan && p < parts->nclans; p++)
		n += parts->clan[p].share.items.n;
	return n;
}

/* Adds the items of a share to @owned.  Returns how many. */
static uint64_t share_own(struct parts *parts, const struct map_share *share, uint32_t proc,
			  struct owned *owned)
{
	uint64_t i;

	for (i = 0; i < share->items.n; i++) {
		parts->small |= item_piece_len(&share->items.item[i]) < CACHE_LINE;
		owned[i] = (struct owned){ share->items.item[i], proc };
	}
	return share->items.n;
}

/*
 * The same for a family: its items are those of all its processes, and @from, @from + 1 and so on
 * are their owners, since what two of them share belongs to two processes.
 */
static uint64_t clan_own(struct parts *parts, const struct clan *clan, uint32_t from,
			 struct owned *owned)
{
	const struct map_share *share = &clan->share;
	uint64_t i;

	for (i = 0; i < share->items.n; i++) {
		struct item item = share->items.item[i];

		parts->small |= item_piece_len(&item) < CACHE_LINE;
		if (clan->nest) {
			item.len = ITEM_NEST;
			item.nest = &clan->nest[i].merged;
			item.hi = nest_end(item.nest);
		}
		owned[i] = (struct owned){ item, from + (uint32_t)i };
	}
	return share->items.n;
}

int parts_unite(struct parts *parts, uint64_t flat, const char **why)
{
	uint64_t n = parts_items(parts);
	struct owned *owned = calloc(n ? n : 1, sizeof(*owned));
	uint32_t p;
	int rc;

	if (!owned)
		return -ENOMEM;
	n = 0;
	for (p = 0; parts->share && p < parts->nprocs; p++)
		n += share_own(parts, &parts->share[p], p, owned + n);
	for (p = 0; parts->clan && p < parts->nclans; p++)
		n += clan_own(parts, &parts->clan[p], (uint32_t)n, owned + n);
	rc = union_init(&parts->all, owned, n, flat);
	if (rc == -EOVERFLOW)
		*why = "part: parts interleave irregularly in too many pieces";
	free(owned);
	return rc;
}

/**
 * struct reader - reads the descriptions of all processes
 * @blank: what each build begins with
 * @room: for a description that is made
 * @kind: of those that are not empty; 0: not known yet
 */
struct reader {
	struct parts *parts;
	struct build blank;
	struct kin_room room;
	uint32_t kind;
};

static int read_part(struct reader *r, uint32_t proc, const struct ddio_part *part)
{
	int rc = share_init(r->parts, &r->parts->share[proc], part, &r->blank);

	if (!rc && part->n && r->kind && part->kind != r->kind && !(r->blank.rules & MAP_KINDS))
		rc = fail(r->blank.why, "part.kind differs between processes", -EINVAL);
	if (part->n)
		r->kind = part->kind;
	return rc;
}

/* Reads those of a family; @first: its first process. */
static int read_kin(struct reader *r, uint32_t first, const struct ddio_kin *kin)
{
	uint32_t n = (uint32_t)kin_size(kin), i;
	struct ddio_part part;
	int rc = 0;

	for (i = 0; i < n && !rc; i++) {
		rc = kin_part(kin, i, &r->room, &part);
		if (!rc)
			rc = read_part(r, first + i, &part);
	}
	return rc;
}

static int read_all(struct reader *r, const struct parts_from *from)
{
	uint32_t p = 0, i;
	int rc = 0;

	for (i = 0; from->kin && i < from->nkin && !rc; i++) {
		if (kin_size(&from->kin[i]) > r->parts->nprocs - p)
			return fail(r->blank.why, "part: there are more than processes", -EINVAL);
		rc = read_kin(r, p, &from->kin[i]);
		p += (uint32_t)kin_size(&from->kin[i]);
	}
	for (; from->part && p < r->parts->nprocs && !rc; p++)
		rc = read_part(r, p, &from->part[p]);
	return rc || p == r->parts->nprocs ? rc : fail(r->blank.why, "part is missing", -EINVAL);
}

/* Makes of steps in whole tiles of a view steps in the file.  Returns false if they are none. */
static bool rows_unskip(struct ddio_family *rows, const struct ddio_part *part,
			const struct view_reader *views)
{
	uint64_t size = 0;
	uint32_t l;

	if (part->kind == DDIO_PART_VIEW && part->n == 1 && part->view->len && views->form)
		size = views->form->node[views->form->root.node].size;
	for (l = 0; l < rows->nlevels; l++) {
		struct ddio_family_level *level = &rows->level[l];

		if (!level->skip)
			continue;
		if (!size || level->skip > INT64_MAX || level->skip % size)
			return false;
		level->offset += level->skip / size * part->view->extent;
		level->skip = 0;
	}
	return true;
}

/* Reads a family.  Returns -ENOTSUP if it has to be taken apart. */
static int read_clan(struct reader *r, uint32_t first, const struct ddio_kin *kin,
		     struct clan *clan)
{
	struct ddio_part part;
	int rc = kin_part(kin, 0, &r->room, &part);

	if (rc)
		return rc;
	clan->first = first;
	clan->n = (uint32_t)kin_size(kin);
	clan->rows = kin->rows;
	rc = share_init(r->parts, &clan->share, &part, &r->blank);
	if (!rc && part.n && r->kind && part.kind != r->kind)
		rc = -ENOTSUP;
	if (part.n)
		r->kind = part.kind;
	if (!rc && (r->parts->twice || !rows_unskip(&clan->rows, &part, r->blank.views)))
		rc = -ENOTSUP;
	return rc ? rc : clan_init(clan);
}

/* Reads families as they are.  Returns -ENOTSUP if that cannot be done. */
static int read_clans(struct reader *r, const struct parts_from *from)
{
	struct parts *parts = r->parts;
	uint32_t p = 0, i;
	int rc = 0;

	parts->clan = calloc(from->nkin, sizeof(*parts->clan));
	if (!parts->clan)
		return -ENOMEM;
	for (i = 0; i < from->nkin && !rc; i++) {
		if (kin_size(&from->kin[i]) > parts->nprocs - p)
			return -ENOTSUP;
		parts->nclans = i + 1;
		rc = read_clan(r, p, &from->kin[i], &parts->clan[i]);
		p += parts->clan[i].n;
	}
	return rc || p == parts->nprocs ? rc : -ENOTSUP;
}

/* Makes the parts in one of two ways: of families, or of processes. */
static int parts_read(struct parts *parts, const struct parts_from *from, uint32_t nprocs,
		      uint32_t rules, bool clans, const char **why)
{
	struct view_reader views = { 0 };
	uint64_t flat = 0;
	struct reader r = { .parts = parts,
			    .blank = { .sorted = true,
				       .rules = rules,
				       .flat = &flat,
				       .views = &views,
				       .why = why } };
	int rc;

	memset(parts, 0, sizeof(*parts));
	parts->nprocs = nprocs;
	if (clans) {
		rc = read_clans(&r, from);
	} else {
		parts->share = calloc(nprocs, sizeof(*parts->share));
		rc = parts->share ? read_all(&r, from) : -ENOMEM;
	}
	free(r.room.entries);
	view_reader_end(&views);
	if (!rc)
		rc = parts_unite(parts, flat, why);
	/* Who overlaps with whom is for the processes to say. */
	if (!rc && clans && parts->all.overlap)
		rc = -ENOTSUP;
	if (rc)
		parts_destroy(parts);
	return rc;
}

int parts_init(struct parts *parts, const struct parts_from *from, uint32_t nprocs, uint32_t rules,
	       const char **why)
{
	int rc = -ENOTSUP;

	if ((!from->part && !from->kin) || !nprocs)
		return fail(why, "part is missing", -EINVAL);
	if (from->kin && from->nkin < nprocs)
		rc = parts_read(parts, from, nprocs, rules, true, why);
	if (rc && rc != -ENOMEM)
		rc = parts_read(parts, from, nprocs, rules, false, why);
	return rc;
}

void parts_destroy(struct parts *parts)
{
	uint32_t p;

	union_destroy(&parts->all);
	for (p = 0; parts->share && p < parts->nprocs; p++) {
		items_free(&parts->share[p].items);
		free(parts->share[p].again);
	}
	for (p = 0; p < parts->nclans; p++)
		clan_destroy(&parts->clan[p]);
	free(parts->clan);
	free(parts->share);
	free(parts->claims.scrap);
	memset(parts, 0, sizeof(*parts));
}
