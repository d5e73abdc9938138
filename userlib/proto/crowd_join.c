// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From members to families.  Members come in the order of their ranks.  Of each level there is one row that
 * is still open: what continues it joins it, anything else closes it, and a closed row is an entry of the row of the
 * level outside.  A row that is closed there, too, goes outward as it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "proto/codec.h"
#include "proto/crowd.h"

struct shift {
	uint64_t offset, skip;
};

/**
 * struct joiner - a crowd on its way
 * @open: of each level the row that may go on: @kin has its levels, the last of them that row, unless
 *	@count is 1
 */
struct joiner {
	struct ddio_crowd *crowd;
	struct joiner_row {
		struct ddio_kin kin; /* the row's first entry */
		uint32_t count;	     /* 0: none is open */
		struct shift step;
	} open[DDIO_FAMILY_LEVELS];
};

/* Compares what a node of that kind has. */
static bool node_same(const struct ddio_tree_node *a, const struct ddio_tree_node *b)
{
	return a->kind == b->kind && a->n == b->n &&
	       (a->kind != DDIO_TREE_REPEAT || a->stride == b->stride) &&
	       (a->kind == DDIO_TREE_LEAF || a->child == b->child);
}

bool crowd_tree_same(const struct ddio_tree *a, const struct ddio_tree *b)
{
	uint64_t i;

	if (a == b)
		return true;
	if (!a || !b || a->nnodes != b->nnodes || a->nchildren != b->nchildren)
		return false;
	for (i = 0; i < a->nnodes; i++)
		if (!node_same(&a->node[i], &b->node[i]))
			return false;
	return !a->nchildren || !memcmp(a->child, b->child, a->nchildren * sizeof(*a->child));
}

static bool view_shifted(const struct ddio_view *a, const struct ddio_view *b, struct shift s)
{
	return b->offset - a->offset == s.offset && b->skip - a->skip == s.skip &&
	       a->extent == b->extent && a->len == b->len && crowd_tree_same(a->tree, b->tree);
}

static bool strided_shifted(const struct ddio_strided *a, const struct ddio_strided *b,
			    struct shift s)
{
	return b->offset - a->offset == s.offset && a->len == b->len && a->nlevels == b->nlevels &&
	       !memcmp(a->level, b->level, a->nlevels * sizeof(*a->level));
}

static bool entry_shifted(const struct ddio_part *a, const struct ddio_part *b, uint64_t i,
			  struct shift s)
{
	switch (a->kind) {
	case DDIO_PART_VIEW:
		return view_shifted(&a->view[i], &b->view[i], s);
	case DDIO_PART_STRIDED:
		return strided_shifted(&a->strided[i], &b->strided[i], s);
	default:
		return b->list[i].offset - a->list[i].offset == s.offset &&
		       a->list[i].len == b->list[i].len;
	}
}

/* Returns how far the first entry of @b is from that of @a. */
static struct shift part_shift(const struct ddio_part *a, const struct ddio_part *b)
{
	switch (a->kind) {
	case DDIO_PART_VIEW:
		return (struct shift){ b->view->offset - a->view->offset,
				       b->view->skip - a->view->skip };
	case DDIO_PART_STRIDED:
		return (struct shift){ b->strided->offset - a->strided->offset, 0 };
	default:
		return (struct shift){ b->list->offset - a->list->offset, 0 };
	}
}

bool kin_shift(const struct ddio_kin *a, const struct ddio_kin *b, uint64_t *offset, uint64_t *skip)
{
	struct shift s = { 0, 0 };
	uint64_t i;

	if (a->part != b->part) {
		if (a->part->kind != b->part->kind || a->part->n != b->part->n)
			return false;
		if (a->part->n)
			s = part_shift(a->part, b->part);
		for (i = 0; i < a->part->n; i++)
			if (!entry_shifted(a->part, b->part, i, s))
				return false;
	}
	*offset = s.offset + b->offset - a->offset;
	*skip = s.skip + b->skip - a->skip;
	/* Those that want nothing are where the others need them. */
	if (!a->part->n)
		*offset = *skip = 0;
	return true;
}

static bool rows_same(const struct ddio_family *a, const struct ddio_family *b, uint32_t nlevels)
{
	return !nlevels || !memcmp(a->level, b->level, nlevels * sizeof(*a->level));
}

/* Returns true if @kin, whose rows are those of the row's first entry, continues the row. */
static bool row_takes(const struct joiner_row *row, const struct ddio_kin *kin, struct shift *step)
{
	struct shift s;

	if (!row->count || row->kin.rows.nlevels != kin->rows.nlevels ||
	    !rows_same(&row->kin.rows, &kin->rows, kin->rows.nlevels) ||
	    !kin_shift(&row->kin, kin, &s.offset, &s.skip))
		return false;
	*step = s;
	return row->count == 1 ||
	       (s.offset == row->count * row->step.offset && s.skip == row->count * row->step.skip);
}

/* Returns what the row has become; it is not open any more. */
static struct ddio_kin row_close(struct joiner_row *row)
{
	struct ddio_kin kin = row->kin;

	if (row->count > 1)
		kin.rows.level[kin.rows.nlevels++] = (struct ddio_family_level){ row->count, 0,
										 row->step.offset,
										 row->step.skip };
	row->count = 0;
	return kin;
}

static int crowd_emit(struct ddio_crowd *crowd, const struct ddio_kin *kin)
{
	if (crowd->n == crowd->room) {
		uint32_t room = crowd->room ? 2 * crowd->room : 4;
		struct ddio_kin *p = reallocarray(crowd->kin, room, sizeof(*p));

		if (!p)
			return -ENOMEM;
		crowd->kin = p;
		crowd->room = room;
	}
	crowd->kin[crowd->n++] = *kin;
	return 0;
}

/* Adds @kin, of at most @level levels, to the row of that level. */
static int join_at(struct joiner *j, uint32_t level, const struct ddio_kin *kin)
{
	struct joiner_row *row = &j->open[level];
	struct joiner_row next = { .kin = *kin, .count = 1 };
	struct ddio_kin closed;
	struct shift step;

	if (level == DDIO_FAMILY_LEVELS)
		return crowd_emit(j->crowd, kin);
	if (row_takes(row, kin, &step)) {
		if (row->count++ == 1)
			row->step = step;
		return 0;
	}
	if (!row->count) {
		*row = next;
		return 0;
	}
	closed = row_close(row);
	*row = next;
	return join_at(j, level + 1, &closed);
}

/* Closes the rows of the levels below @level. */
static int join_close(struct joiner *j, uint32_t level)
{
	struct ddio_kin closed;
	uint32_t l;
	int err = 0;

	for (l = 0; l < level && !err; l++) {
		if (!j->open[l].count)
			continue;
		closed = row_close(&j->open[l]);
		err = join_at(j, l + 1, &closed);
	}
	return err;
}

/* Returns true if the row of the innermost level may go on with the family's first member. */
static bool join_continues(const struct joiner *j, const struct ddio_kin *kin)
{
	struct ddio_kin first = *kin;
	struct shift step;

	first.rows.nlevels = 0;
	return row_takes(&j->open[0], &first, &step);
}

/* Makes a whole family the open row of its level, or part of it. */
static int join_row(struct joiner *j, const struct ddio_kin *kin)
{
	uint32_t last = kin->rows.nlevels - 1;
	const struct ddio_family_level *level = &kin->rows.level[last];
	struct joiner_row *row = &j->open[last];
	struct ddio_kin body = *kin, closed;
	struct shift step;
	int err = join_close(j, last);

	if (err)
		return err;
	body.rows.nlevels = last;
	if (row->count > 1 && level->offset == row->step.offset && level->skip == row->step.skip &&
	    row_takes(row, &body, &step)) {
		row->count += level->count;
		return 0;
	}
	if (row->count) {
		closed = row_close(row);
		err = join_at(j, last + 1, &closed);
	}
	*row = (struct joiner_row){ body, level->count, { level->offset, level->skip } };
	return err;
}

/* Returns true if a row of a level below @level is open. */
static bool join_is_open(const struct joiner *j, uint32_t level)
{
	while (level-- > 0)
		if (j->open[level].count)
			return true;
	return false;
}

/* Adds a family: whole where that is how its members one by one would be added, else in parts. */
static int join_family(struct joiner *j, const struct ddio_kin *kin)
{
	const struct ddio_family_level *level;
	struct ddio_kin inner = *kin;
	uint32_t i;
	int err = 0;

	if (!kin->rows.nlevels)
		return join_at(j, 0, kin);
	if (!join_is_open(j, kin->rows.nlevels) || !join_continues(j, kin))
		return join_row(j, kin);
	level = &kin->rows.level[kin->rows.nlevels - 1];
	if (kin->rows.nlevels == 1 && j->open[0].count > 1 &&
	    j->open[0].step.offset == level->offset && j->open[0].step.skip == level->skip)
		return join_row(j, kin);
	inner.rows.nlevels--;
	for (i = 0; i < level->count && !err; i++) {
		err = join_family(j, &inner);
		inner.offset += level->offset;
		inner.skip += level->skip;
	}
	return err;
}

static void join_spread(struct ddio_crowd *crowd, const struct ddio_crowd *next, bool first)
{
	uint32_t may = next->spread & (first ? next->spread : crowd->spread) & DDIO_CROWD_MAY;

	crowd->spread = ((crowd->spread | next->spread) & DDIO_CROWD_SPREAD) | may;
	if (next->hi && (!crowd->hi || next->lo < crowd->lo))
		crowd->lo = next->lo;
	if (next->hi > crowd->hi)
		crowd->hi = next->hi;
}

/* @crowd has room for all. */
static void join_carried(struct ddio_crowd *crowd, const struct ddio_crowd *next, bool first)
{
	uint32_t i;

	crowd->carries = next->carries && (first || crowd->carries);
	for (i = 0; i < next->ncarried; i++)
		crowd->carried[crowd->ncarried++] = next->carried[i];
}

static bool carried_too_much(const struct ddio_crowd *crowd)
{
	uint64_t all = 0;
	uint32_t i;

	for (i = 0; i < crowd->ncarried; i++)
		all += crowd->carried[i].len;
	return all > DDIO_CROWD_CARRIED;
}

static int join_end(struct joiner *j)
{
	struct ddio_crowd *crowd = j->crowd;

	if (!crowd->spread)
		crowd->lo = crowd->hi = 0;
	if (carried_too_much(crowd))
		crowd->carries = false;
	if (!crowd->carries)
		crowd->ncarried = 0;
	return join_close(j, DDIO_FAMILY_LEVELS);
}

/* Adds what follows the members that are there. */
static int join_crowd(struct joiner *j, const struct ddio_crowd *next)
{
	struct ddio_crowd *crowd = j->crowd;
	uint32_t i;
	int err = 0;

	if (!crowd->nmembers) {
		crowd->first = next->first;
		crowd->kind = next->kind;
	}
	if (next->first != crowd->first + crowd->nmembers || next->kind != crowd->kind ||
	    next->nmembers > DDIO_MAX_MEMBERS - crowd->nmembers)
		return -EINVAL;
	if (next->entries > DDIO_CROWD_ENTRIES - crowd->entries)
		return -E2BIG;
	crowd->nmembers += next->nmembers;
	crowd->entries += next->entries;
	join_spread(crowd, next, crowd->nmembers == next->nmembers);
	join_carried(crowd, next, crowd->nmembers == next->nmembers);
	for (i = 0; i < next->n && !err; i++)
		err = join_family(j, &next->kin[i]);
	return err;
}

static int crowd_compare(const void *a, const void *b)
{
	const struct ddio_crowd *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* A child of each level of the tree, and the member itself. */
enum { CROWDS_MAX = 33 };

static int carried_room(struct ddio_crowd *crowd, const struct ddio_crowd *part, uint32_t n)
{
	uint32_t all = 0, i;

	for (i = 0; i < n; i++)
		all += part[i].ncarried;
	if (all)
		crowd->carried = crowd_hold(crowd, all * sizeof(*crowd->carried));
	return all && !crowd->carried ? -ENOMEM : 0;
}

int ddio_crowd_join(const void *buf, size_t len, struct ddio_crowd *crowd)
{
	struct ddio_crowd part[CROWDS_MAX];
	struct joiner j = { .crowd = crowd };
	const uint8_t *p = buf;
	uint32_t n = 0, i;
	size_t used;
	int err = 0;

	memset(crowd, 0, sizeof(*crowd));
	while (len && !err) {
		if (n == CROWDS_MAX)
			err = -EPROTO;
		else
			err = crowd_read(p, len, &part[n], &used);
		if (err)
			break;
		n++;
		p += used;
		len -= used;
	}
	if (n)
		qsort(part, n, sizeof(part[0]), crowd_compare);
	if (!err)
		err = carried_room(crowd, part, n);
	for (i = 0; i < n; i++) {
		if (!err)
			err = join_crowd(&j, &part[i]);
		crowd_adopt(crowd, &part[i]);
	}
	return err ? err : join_end(&j);
}

int ddio_crowd_one(struct ddio_crowd *crowd, uint32_t rank, const struct ddio_part *part)
{
	struct ddio_kin kin = { .part = part };

	*crowd = (struct ddio_crowd){
		.first = rank, .nmembers = 1, .kind = part->kind, .entries = part->n
	};
	return crowd_emit(crowd, &kin);
}

void ddio_crowd_spread(struct ddio_crowd *crowd)
{
	static const struct ddio_strided strided;
	static const struct ddio_extent extent;
	static const struct ddio_view view;
	static const struct ddio_part part[] = {
		[DDIO_PART_STRIDED] = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &strided },
		[DDIO_PART_LIST] = { .kind = DDIO_PART_LIST, .n = 1, .list = &extent },
		[DDIO_PART_VIEW] = { .kind = DDIO_PART_VIEW, .n = 1, .view = &view },
	};
	struct ddio_kin kin = { .part = &part[crowd->kind] };

	if (crowd->nmembers > 1) {
		kin.rows.nlevels = 1;
		kin.rows.level[0].count = crowd->nmembers;
	}
	crowd->kin[0] = kin;
	crowd->n = 1;
	crowd->entries = crowd->nmembers;
	crowd->spread |= DDIO_CROWD_SPREAD;
}

bool ddio_part_spread(const struct ddio_part *part)
{
	if (part->n != 1)
		return false;
	switch (part->kind) {
	case DDIO_PART_STRIDED:
		return !part->strided->len;
	case DDIO_PART_LIST:
		return !part->list->len;
	case DDIO_PART_VIEW:
		return !part->view->len;
	default:
		return false;
	}
}
