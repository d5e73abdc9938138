// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The wire form of crowds.  Numbers have as many bytes as they need, seven bits in each, the lowest first;
 * shifts, which may be negative, have their sign in the lowest bit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "proto/codec.h"

/* A family's first number: its levels, and the fields that it has. */
enum { HEAD_LEVELS = 7, HEAD_SKIP = 8, HEAD_AGAIN = 16, HEAD_MAX = 31 };

/* The fields that a view has. */
enum { VIEW_TREE = 1, VIEW_SAME = 2, VIEW_SKIP = 4, VIEW_EXTENT = 8, VIEW_MAX = 15 };

/* A crowd's kind, and beside it: how it is spread; its bounds follow; what it carries follows. */
enum {
	KIND_MASK = 7,
	KIND_SHIFT = 3,
	KIND_SPREAD = 3,
	KIND_BOUNDS = 32,
	KIND_CARRIES = 64,
	KIND_MAX = 127
};

/* Shortest encodings. */
enum { KIN_MIN = 2, ENTRY_MIN = 2, NODE_MIN = 2, CARRIED_MIN = 3 };

/* The most memory that one crowd may ask a reader for. */
#define CROWD_MEMORY ((uint64_t)DDIO_MAX_PAYLOAD)

/* What a reader has allocated: it goes with the crowd. */
struct crowd_held {
	struct crowd_held *next;
	max_align_t data[];
};

/**
 * struct crowd_coder - a coder, and what the entries refer to
 * @tree: of the last view that had one
 * @memory: bytes allocated
 * @kin: the family at hand; a writer adds its shift to the entries
 */
struct crowd_coder {
	struct ddio_coder *c;
	struct ddio_crowd *crowd;
	const struct ddio_tree *tree;
	uint64_t memory;
	struct ddio_kin *kin;
};

static uint64_t read_number(struct ddio_coder *c)
{
	uint64_t v = 0;
	uint8_t byte = 0x80;
	unsigned int bit;

	for (bit = 0; bit < 64 && byte & 0x80; bit += 7) {
		ddio_rd_bytes(&c->r, &byte, 1);
		v |= (uint64_t)(byte & 0x7f) << bit;
	}
	/* One form for each number: no zeros at its end, nothing above 64 bits. */
	code_check(c, !(byte & 0x80) && (bit == 7 || byte) && (bit < 70 || byte == 1), -EPROTO);
	return v;
}

static void write_number(struct ddio_coder *c, uint64_t v)
{
	uint8_t bytes[10];
	size_t n = 0;

	do {
		bytes[n++] = (uint8_t)(v & 0x7f) | (v > 0x7f ? 0x80 : 0);
		v >>= 7;
	} while (v);
	ddio_wr_bytes(&c->w, bytes, n);
}

void code_number(struct ddio_coder *c, uint64_t *v)
{
	if (c->reading)
		*v = read_number(c);
	else
		write_number(c, *v);
}

static void code_small(struct ddio_coder *c, uint32_t *v, uint32_t max)
{
	uint64_t wide = *v;

	code_number(c, &wide);
	code_check(c, wide <= max, -EINVAL);
	if (c->reading)
		*v = (uint32_t)wide;
}

static void code_shift(struct ddio_coder *c, uint64_t *v)
{
	uint64_t wire = *v << 1 ^ (*v >> 63 ? UINT64_MAX : 0);

	code_number(c, &wire);
	if (c->reading)
		*v = wire >> 1 ^ (wire & 1 ? UINT64_MAX : 0);
}

void *crowd_hold(struct ddio_crowd *crowd, size_t bytes)
{
	struct crowd_held *held = calloc(1, sizeof(*held) + bytes);

	if (!held)
		return NULL;
	held->next = crowd->held;
	crowd->held = held;
	return held->data;
}

/* For a reader: as code_alloc(), within the crowd's memory, which goes with the crowd. */
static void *crowd_alloc(struct crowd_coder *cc, uint64_t n, size_t size, size_t min)
{
	struct crowd_held *held;

	if (!n || !ddio_rd_fits(&cc->c->r, n, min))
		return NULL;
	code_check(cc->c, n <= (CROWD_MEMORY - cc->memory) / size, -EMSGSIZE);
	if (!coder_ok(cc->c))
		return NULL;
	cc->memory += n * size;
	held = ddio_rd_alloc(&cc->c->r, 1, sizeof(*held) + n * size);
	if (!held)
		return NULL;
	held->next = cc->crowd->held;
	cc->crowd->held = held;
	return held->data;
}

static void code_node(struct ddio_coder *c, struct ddio_tree_node *node)
{
	code_small(c, &node->kind, DDIO_TREE_SEQUENCE);
	code_check(c, node->kind >= DDIO_TREE_LEAF, -EINVAL);
	code_number(c, &node->n);
	if (node->kind == DDIO_TREE_REPEAT)
		code_shift(c, (uint64_t *)&node->stride);
	if (node->kind != DDIO_TREE_LEAF)
		code_number(c, &node->child);
}

static void code_tree(struct crowd_coder *cc, struct ddio_tree *tree)
{
	struct ddio_tree_child *child = (struct ddio_tree_child *)tree->child;
	struct ddio_tree_node *node = (struct ddio_tree_node *)tree->node;
	uint64_t i;

	code_number(cc->c, &tree->nnodes);
	code_number(cc->c, &tree->nchildren);
	if (cc->c->reading) {
		tree->node = node = crowd_alloc(cc, tree->nnodes, sizeof(*node), NODE_MIN);
		tree->child = child = crowd_alloc(cc, tree->nchildren, sizeof(*child), ENTRY_MIN);
	}
	for (i = 0; i < tree->nnodes && coder_ok(cc->c); i++)
		code_node(cc->c, &node[i]);
	for (i = 0; i < tree->nchildren && coder_ok(cc->c); i++) {
		code_shift(cc->c, (uint64_t *)&child[i].offset);
		code_number(cc->c, &child[i].node);
	}
}

static uint32_t view_flags(const struct crowd_coder *cc, const struct ddio_view *view,
			   uint64_t skip)
{
	uint32_t flags = 0;

	if (view->tree)
		flags = crowd_tree_same(cc->tree, view->tree) ? VIEW_SAME : VIEW_TREE;
	if (skip)
		flags |= VIEW_SKIP;
	if (view->extent)
		flags |= VIEW_EXTENT;
	return flags;
}

static void code_view(struct crowd_coder *cc, struct ddio_view *view)
{
	struct ddio_coder *c = cc->c;
	uint64_t offset = view->offset + cc->kin->offset, skip = view->skip + cc->kin->skip;
	uint32_t flags = c->reading ? 0 : view_flags(cc, view, skip);

	code_small(c, &flags, VIEW_MAX);
	code_check(c, (flags & (VIEW_TREE | VIEW_SAME)) != (VIEW_TREE | VIEW_SAME), -EINVAL);
	code_check(c, !(flags & VIEW_SAME) || cc->tree, -EINVAL);
	code_number(c, &offset);
	code_number(c, &view->len);
	if (flags & VIEW_EXTENT)
		code_number(c, &view->extent);
	if (flags & VIEW_SKIP)
		code_number(c, &skip);
	code_check(c, offset <= DDIO_MAX_FILE && view->len <= DDIO_MAX_FILE, -EMSGSIZE);
	if (c->reading) {
		view->offset = offset;
		view->skip = skip;
		view->tree = flags & VIEW_SAME ? cc->tree : NULL;
		if (flags & VIEW_TREE)
			view->tree = crowd_alloc(cc, 1, sizeof(*view->tree), NODE_MIN);
	}
	if (flags & VIEW_TREE && view->tree)
		code_tree(cc, (struct ddio_tree *)view->tree);
	if (c->reading && coder_ok(c))
		code_check(c, flags == view_flags(cc, view, skip), -EPROTO);
	if (view->tree)
		cc->tree = view->tree;
}

static void code_strided(struct crowd_coder *cc, struct ddio_strided *s)
{
	struct ddio_coder *c = cc->c;
	uint64_t offset = s->offset + cc->kin->offset;
	uint32_t i;

	code_number(c, &offset);
	code_number(c, &s->len);
	code_small(c, &s->nlevels, DDIO_MAX_DIMS);
	code_check(c, offset <= DDIO_MAX_FILE && s->len <= DDIO_MAX_FILE, -EMSGSIZE);
	if (c->reading)
		s->offset = offset;
	for (i = 0; i < s->nlevels && i < DDIO_MAX_DIMS && coder_ok(c); i++) {
		code_number(c, &s->level[i].count);
		code_number(c, (uint64_t *)&s->level[i].stride);
		code_check(c, s->level[i].count && s->level[i].stride >= 0, -EINVAL);
	}
}

/* @end: of the entry before: what comes next is mostly near it */
static void code_extent(struct crowd_coder *cc, struct ddio_extent *e, uint64_t *end)
{
	struct ddio_coder *c = cc->c;
	uint64_t offset = e->offset + cc->kin->offset, gap = offset - *end;

	code_shift(c, &gap);
	code_number(c, &e->len);
	if (c->reading)
		e->offset = offset = *end + gap;
	code_check(c, e->offset <= DDIO_MAX_FILE && e->len <= DDIO_MAX_FILE - e->offset, -EMSGSIZE);
	*end = offset + e->len;
}

static void code_entries(struct crowd_coder *cc, struct ddio_part *part)
{
	static const size_t size[] = { [DDIO_PART_STRIDED] = sizeof(*part->strided),
				       [DDIO_PART_LIST] = sizeof(*part->list),
				       [DDIO_PART_VIEW] = sizeof(*part->view) };
	uint64_t i, end = 0;
	void *entries = NULL;

	code_number(cc->c, &part->n);
	if (cc->c->reading) {
		entries = crowd_alloc(cc, part->n, size[part->kind], ENTRY_MIN);
		if (!entries)
			part->n = 0;
	}
	switch (part->kind) {
	case DDIO_PART_STRIDED:
		if (cc->c->reading)
			part->strided = entries;
		for (i = 0; i < part->n && coder_ok(cc->c); i++)
			code_strided(cc, (struct ddio_strided *)&part->strided[i]);
		break;
	case DDIO_PART_LIST:
		if (cc->c->reading)
			part->list = entries;
		for (i = 0; i < part->n && coder_ok(cc->c); i++)
			code_extent(cc, (struct ddio_extent *)&part->list[i], &end);
		break;
	default:
		if (cc->c->reading)
			part->view = entries;
		for (i = 0; i < part->n && coder_ok(cc->c); i++)
			code_view(cc, (struct ddio_view *)&part->view[i]);
	}
}

/* Codes a description of its own. */
static void code_own_part(struct crowd_coder *cc)
{
	struct ddio_part *part;

	if (!cc->c->reading) {
		code_entries(cc, (struct ddio_part *)cc->kin->part);
		return;
	}
	part = crowd_alloc(cc, 1, sizeof(*part), 1);
	if (!part)
		return;
	part->kind = cc->crowd->kind;
	cc->kin->part = part;
	code_entries(cc, part);
}

static void code_rows(struct ddio_coder *c, struct ddio_family *rows, bool skips)
{
	uint32_t i;

	for (i = 0; i < rows->nlevels && coder_ok(c); i++) {
		struct ddio_family_level *level = &rows->level[i];

		code_small(c, &level->count, DDIO_MAX_MEMBERS);
		code_check(c, level->count > 1, -EINVAL);
		code_shift(c, &level->offset);
		if (skips)
			code_shift(c, &level->skip);
	}
}

static bool rows_skip(const struct ddio_family *rows)
{
	uint32_t i;

	for (i = 0; i < rows->nlevels; i++)
		if (rows->level[i].skip)
			return true;
	return false;
}

static uint32_t kin_head(const struct ddio_kin *kin, const struct ddio_kin *last)
{
	uint64_t offset, skip;

	return kin->rows.nlevels | (rows_skip(&kin->rows) ? HEAD_SKIP : 0) |
	       (last && kin_shift(last, kin, &offset, &skip) ? HEAD_AGAIN : 0);
}

/* Codes how far the first member's description is from that of the family before, which it is like. */
static void code_again(struct crowd_coder *cc, const struct ddio_kin *last)
{
	struct ddio_kin *kin = cc->kin;
	uint64_t offset = 0, skip = 0;

	if (!cc->c->reading)
		kin_shift(last, kin, &offset, &skip);
	code_shift(cc->c, &offset);
	if (cc->crowd->kind == DDIO_PART_VIEW)
		code_shift(cc->c, &skip);
	if (!cc->c->reading || !coder_ok(cc->c))
		return;
	code_check(cc->c, last->part->n || (!offset && !skip), -EPROTO);
	kin->part = last->part;
	kin->offset = last->offset + offset;
	kin->skip = last->skip + skip;
}

/* Codes a family; @last: the one before, or NULL. */
static void code_kin(struct crowd_coder *cc, struct ddio_kin *kin, const struct ddio_kin *last)
{
	struct ddio_coder *c = cc->c;
	uint32_t head = c->reading ? 0 : kin_head(kin, last);

	cc->kin = kin;
	code_small(c, &head, HEAD_MAX);
	code_check(c, (head & HEAD_LEVELS) <= DDIO_FAMILY_LEVELS, -EINVAL);
	code_check(c, !(head & HEAD_AGAIN) || last, -EINVAL);
	code_check(c, !(head & HEAD_SKIP) || cc->crowd->kind == DDIO_PART_VIEW, -EINVAL);
	if (c->reading)
		kin->rows.nlevels = coder_ok(c) ? head & HEAD_LEVELS : 0;
	code_rows(c, &kin->rows, head & HEAD_SKIP);
	if (head & HEAD_AGAIN)
		code_again(cc, last);
	else
		code_own_part(cc);
	/* There is one form for each crowd. */
	if (c->reading && coder_ok(c))
		code_check(c, head == kin_head(kin, last), -EPROTO);
}

static uint64_t family_size(const struct ddio_family *family)
{
	uint64_t n = 1;
	uint32_t i;

	for (i = 0; i < family->nlevels && n <= DDIO_MAX_MEMBERS; i++)
		n *= family->level[i].count;
	return n;
}

/* Counts the members of a family that was read. */
static void check_kin(struct ddio_coder *c, struct ddio_crowd *crowd, const struct ddio_kin *kin)
{
	uint64_t n;

	if (!coder_ok(c))
		return;
	n = family_size(&kin->rows);
	code_check(c, n <= DDIO_MAX_MEMBERS - crowd->nmembers, -EMSGSIZE);
	if (!coder_ok(c))
		return;
	crowd->nmembers += (uint32_t)n;
	code_check(c, kin->part->n <= (DDIO_CROWD_ENTRIES - crowd->entries) / n, -E2BIG);
	if (coder_ok(c))
		crowd->entries += n * kin->part->n;
}

static void code_bounds(struct ddio_coder *c, struct ddio_crowd *crowd)
{
	uint64_t len = crowd->hi - crowd->lo;

	code_number(c, &crowd->lo);
	code_number(c, &len);
	code_check(c, len && crowd->lo <= DDIO_MAX_FILE && len <= DDIO_MAX_FILE - crowd->lo,
		   -EMSGSIZE);
	if (c->reading)
		crowd->hi = crowd->lo + len;
}

static void code_kind(struct ddio_coder *c, struct ddio_crowd *crowd)
{
	uint32_t kind = crowd->kind | crowd->spread << KIND_SHIFT | (crowd->hi ? KIND_BOUNDS : 0) |
			(crowd->carries ? KIND_CARRIES : 0);

	code_small(c, &kind, KIND_MAX);
	if (c->reading) {
		crowd->kind = kind & KIND_MASK;
		crowd->spread = kind >> KIND_SHIFT & KIND_SPREAD;
		crowd->carries = kind & KIND_CARRIES;
	}
	if (kind & KIND_BOUNDS && coder_ok(c))
		code_bounds(c, crowd);
	code_check(c, crowd->spread || !crowd->hi, -EINVAL);
	code_check(c, crowd->hi || !(crowd->spread & DDIO_CROWD_SPREAD), -EINVAL);
	code_check(c, crowd->kind > DDIO_PART_ARRAY && crowd->kind <= DDIO_PART_VIEW, -EINVAL);
}

/* Codes a member's data; @next: the lowest rank that it may be; @left: so many bytes at most. */
static void code_carried_one(struct ddio_coder *c, struct ddio_carried *x, uint32_t *next,
			     uint32_t *left)
{
	uint32_t gap = x->rank - *next;

	code_check(c, *next <= DDIO_MAX_MEMBERS, -EINVAL);
	code_small(c, &gap, DDIO_MAX_MEMBERS - *next);
	code_small(c, &x->len, *left);
	code_check(c, x->len, -EINVAL);
	if (!coder_ok(c))
		return;
	code_outside(c, &x->bytes, x->len);
	if (c->reading)
		x->rank = *next + gap;
	*next = x->rank + 1;
	*left -= x->len;
}

static void code_carried(struct crowd_coder *cc)
{
	struct ddio_crowd *crowd = cc->crowd;
	uint32_t left = DDIO_CROWD_CARRIED, next = crowd->first, i;

	if (!crowd->carries)
		return;
	code_small(cc->c, &crowd->ncarried, DDIO_MAX_MEMBERS);
	if (cc->c->reading)
		crowd->carried =
			crowd_alloc(cc, crowd->ncarried, sizeof(*crowd->carried), CARRIED_MIN);
	for (i = 0; i < crowd->ncarried && coder_ok(cc->c); i++)
		code_carried_one(cc->c, &crowd->carried[i], &next, &left);
}

/* Whose data they are must be in the crowd. */
static void check_carried(struct ddio_coder *c, const struct ddio_crowd *crowd)
{
	if (coder_ok(c) && crowd->ncarried)
		code_check(c,
			   crowd->carried[crowd->ncarried - 1].rank <
				   crowd->first + crowd->nmembers,
			   -EINVAL);
}

static void code_head(struct crowd_coder *cc)
{
	code_small(cc->c, &cc->crowd->first, DDIO_MAX_MEMBERS);
	code_kind(cc->c, cc->crowd);
	code_carried(cc);
}

static void code_crowd(struct ddio_coder *c, struct ddio_crowd *crowd)
{
	struct crowd_coder cc = { .c = c, .crowd = crowd };
	uint32_t i;

	code_head(&cc);
	code_small(c, &crowd->n, DDIO_MAX_MEMBERS);
	code_check(c, crowd->n, -EINVAL);
	if (c->reading) {
		crowd->kin = code_alloc(c, crowd->n, sizeof(*crowd->kin), KIN_MIN);
		crowd->room = crowd->n;
	}
	for (i = 0; i < crowd->n && coder_ok(c); i++) {
		code_kin(&cc, &crowd->kin[i], i ? &crowd->kin[i - 1] : NULL);
		if (c->reading)
			check_kin(c, crowd, &crowd->kin[i]);
	}
	code_check(c, crowd->first <= DDIO_MAX_MEMBERS - crowd->nmembers, -EMSGSIZE);
	check_carried(c, crowd);
}

void code_crowd_only(struct ddio_coder *c, struct ddio_crowd *crowd)
{
	code_crowd(c, crowd);
	code_check(c, !crowd->carries, -EINVAL);
}

bool ddio_crowd_has_data(const void *buf, size_t len)
{
	struct ddio_coder c = coder_reading(buf, len);
	struct ddio_crowd crowd = { 0 };
	struct crowd_coder cc = { .c = &c, .crowd = &crowd };
	bool has;

	code_head(&cc);
	has = coder_ok(&c) && crowd.ncarried;
	ddio_crowd_free(&crowd);
	return has;
}

ssize_t ddio_put_crowd(void *buf, size_t cap, const struct ddio_crowd *crowd)
{
	struct ddio_coder c = coder_writing(buf, cap);

	code_crowd(&c, (struct ddio_crowd *)crowd);
	return ddio_wr_end(&c.w);
}

int crowd_read(const void *buf, size_t len, struct ddio_crowd *crowd, size_t *used)
{
	struct ddio_coder c = coder_reading(buf, len);

	memset(crowd, 0, sizeof(*crowd));
	code_crowd(&c, crowd);
	*used = len - c.r.left;
	if (c.r.err)
		ddio_crowd_free(crowd);
	return c.r.err;
}

int ddio_get_crowd(const void *buf, size_t len, struct ddio_crowd *crowd)
{
	size_t used;
	int err = crowd_read(buf, len, crowd, &used);

	if (err || used == len)
		return err;
	ddio_crowd_free(crowd);
	return -EPROTO;
}

void crowd_adopt(struct ddio_crowd *to, struct ddio_crowd *from)
{
	struct crowd_held **end = &from->held;

	while (*end)
		end = &(*end)->next;
	*end = to->held;
	to->held = from->held;
	from->held = NULL;
	ddio_crowd_free(from);
}

void ddio_crowd_free(struct ddio_crowd *crowd)
{
	struct crowd_held *held;

	while (crowd->held) {
		held = crowd->held;
		crowd->held = held->next;
		free(held);
	}
	free(crowd->kin);
	memset(crowd, 0, sizeof(*crowd));
}
