// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Descriptions of what a process wants.  Only their shape is checked here;
 * the map decides whether an array or a list can be served.
 */
#include <stdlib.h>
#include "proto/codec.h"

enum {
	ARRAY_MIN = 24,
	DIM_LEN = 56,
	STRIDED_MIN = 24,
	LEVEL_LEN = 16,
	EXTENT_LEN = 16,
	VIEW_MIN = 40,
	NODE_LEN = 32,
	CHILD_LEN = 16
};

static void code_dim(struct ddio_coder *c, struct ddio_dim *d)
{
	code_u64(c, &d->size);
	code_u64(c, &d->start);
	code_u64(c, &d->count);
	code_u64(c, &d->stride);
	code_u64(c, &d->procs);
	code_u64(c, &d->k);
	code_u32(c, &d->dist);
	code_reserved(c, &d->reserved);
	code_check(c, d->dist <= DDIO_ALL, -EINVAL);
}

static void code_array(struct ddio_coder *c, struct ddio_array *a)
{
	uint32_t i;

	if (c->reading)
		memset(a, 0, sizeof(*a));
	code_u64(c, &a->file_offset);
	code_u64(c, &a->elem_size);
	code_u32(c, &a->ndims);
	code_reserved(c, &a->reserved);
	code_check(c, a->ndims >= 1 && a->ndims <= DDIO_MAX_DIMS && a->elem_size, -EINVAL);
	code_check(c, a->file_offset <= DDIO_MAX_FILE && a->elem_size <= DDIO_MAX_FILE, -EMSGSIZE);
	if (!code_fits(c, a->ndims, DIM_LEN))
		return;
	for (i = 0; i < a->ndims && i < DDIO_MAX_DIMS; i++)
		code_dim(c, &a->dim[i]);
}

static void code_strided(struct ddio_coder *c, struct ddio_strided *s)
{
	uint32_t i;

	code_u64(c, &s->offset);
	code_u64(c, &s->len);
	code_u32(c, &s->nlevels);
	code_reserved(c, &s->reserved);
	code_check(c, s->nlevels <= DDIO_MAX_DIMS, -EINVAL);
	code_check(c, s->offset <= DDIO_MAX_FILE && s->len <= DDIO_MAX_FILE, -EMSGSIZE);
	if (!code_fits(c, s->nlevels, LEVEL_LEN))
		return;
	for (i = 0; i < s->nlevels && i < DDIO_MAX_DIMS; i++) {
		code_u64(c, &s->level[i].count);
		code_u64(c, (uint64_t *)&s->level[i].stride);
		code_check(c, s->level[i].count && s->level[i].stride >= 0, -EINVAL);
	}
}

static void code_part_array(struct ddio_coder *c, struct ddio_part *part, struct ddio_array *array)
{
	code_check(c, part->n == 0, -EINVAL);
	if (c->reading)
		part->array = array ? array : code_alloc(c, 1, sizeof(*array), ARRAY_MIN);
	if (coder_ok(c))
		code_array(c, (struct ddio_array *)part->array);
}

static void code_part_strided(struct ddio_coder *c, struct ddio_part *part)
{
	struct ddio_strided *s = (struct ddio_strided *)part->strided;
	uint64_t i;

	if (c->reading)
		part->strided = s = code_alloc(c, part->n, sizeof(*s), STRIDED_MIN);
	for (i = 0; i < part->n && coder_ok(c); i++)
		code_strided(c, &s[i]);
}

static void code_part_list(struct ddio_coder *c, struct ddio_part *part)
{
	struct ddio_extent *e = (struct ddio_extent *)part->list;
	struct ddio_coder fast;
	uint64_t i;

	if (c->reading)
		part->list = e = code_alloc(c, part->n, sizeof(*e), EXTENT_LEN);
	fast = *c; /* nothing points to it: it stays in registers through a long list */
	for (i = 0; i < part->n && coder_ok(&fast); i++) {
		code_u64(&fast, &e[i].offset);
		code_u64(&fast, &e[i].len);
		code_check(&fast,
			   e[i].offset <= DDIO_MAX_FILE && e[i].len <= DDIO_MAX_FILE - e[i].offset,
			   -EMSGSIZE);
	}
	*c = fast;
}

static void code_node(struct ddio_coder *c, struct ddio_tree_node *node)
{
	code_u32(c, &node->kind);
	code_reserved(c, &node->reserved);
	code_u64(c, &node->n);
	code_u64(c, (uint64_t *)&node->stride);
	code_u64(c, &node->child);
	code_check(c, node->kind >= DDIO_TREE_LEAF && node->kind <= DDIO_TREE_SEQUENCE, -EINVAL);
}

static void code_tree(struct ddio_coder *c, struct ddio_tree *tree)
{
	struct ddio_tree_child *child = (struct ddio_tree_child *)tree->child;
	struct ddio_tree_node *node = (struct ddio_tree_node *)tree->node;
	uint64_t i;

	code_u64(c, &tree->nnodes);
	code_u64(c, &tree->nchildren);
	if (c->reading) {
		tree->node = node = code_alloc(c, tree->nnodes, sizeof(*node), NODE_LEN);
		tree->child = child = code_alloc(c, tree->nchildren, sizeof(*child), CHILD_LEN);
	}
	for (i = 0; i < tree->nnodes && coder_ok(c); i++)
		code_node(c, &node[i]);
	for (i = 0; i < tree->nchildren && coder_ok(c); i++) {
		code_u64(c, (uint64_t *)&child[i].offset);
		code_u64(c, &child[i].node);
	}
}

/* Codes one view.  Its tree follows unless it is @same, that of the view before; an empty view needs none. */
static void code_view(struct ddio_coder *c, struct ddio_view *view, const struct ddio_tree *same)
{
	uint32_t follows = view->tree && view->tree != same;

	code_u64(c, &view->offset);
	code_u64(c, &view->extent);
	code_u64(c, &view->skip);
	code_u64(c, &view->len);
	code_u32(c, &follows);
	code_padding(c);
	code_check(c, follows <= 1, -EINVAL);
	code_check(c, view->offset <= DDIO_MAX_FILE && view->len <= DDIO_MAX_FILE, -EMSGSIZE);
	if (c->reading)
		view->tree = follows && coder_ok(c) ? code_alloc(c, 1, sizeof(*view->tree), 16)
						    : same;
	if (follows && view->tree && coder_ok(c))
		code_tree(c, (struct ddio_tree *)view->tree);
}

static void code_part_views(struct ddio_coder *c, struct ddio_part *part)
{
	struct ddio_view *view = (struct ddio_view *)part->view;
	uint64_t i;

	if (c->reading)
		part->view = view = code_alloc(c, part->n, sizeof(*view), VIEW_MIN);
	for (i = 0; i < part->n && coder_ok(c); i++)
		code_view(c, &view[i], i ? view[i - 1].tree : NULL);
}

/* Codes the number of descriptions: an array has none, whatever @n says. */
static void code_part_count(struct ddio_coder *c, struct ddio_part *part)
{
	uint64_t n = part->kind == DDIO_PART_ARRAY ? 0 : part->n;

	code_u64(c, &n);
	if (c->reading)
		part->n = n;
}

void code_part(struct ddio_coder *c, struct ddio_part *part, struct ddio_array *array)
{
	if (c->reading)
		memset(part, 0, sizeof(*part));
	code_u32(c, &part->kind);
	code_reserved(c, &part->reserved);
	code_part_count(c, part);
	if (!coder_ok(c))
		return;
	switch (part->kind) {
	case DDIO_PART_ARRAY:
		code_part_array(c, part, array);
		break;
	case DDIO_PART_STRIDED:
		code_part_strided(c, part);
		break;
	case DDIO_PART_LIST:
		code_part_list(c, part);
		break;
	case DDIO_PART_VIEW:
		code_part_views(c, part);
		break;
	default:
		code_check(c, false, -EINVAL);
	}
}

ssize_t ddio_put_part(void *buf, size_t cap, const struct ddio_part *part)
{
	struct ddio_coder c = coder_writing(buf, cap);

	code_part(&c, (struct ddio_part *)part, NULL);
	return ddio_wr_end(&c.w);
}

int ddio_get_part(const void *buf, size_t len, struct ddio_part *part, size_t *used)
{
	struct ddio_coder c = coder_reading(buf, len);

	code_part(&c, part, NULL);
	if (!coder_ok(&c))
		ddio_part_free(part);
	else if (used)
		*used = len - c.r.left;
	return c.r.err;
}

/* Frees what was read: a view's tree is its own, or that of the view before. */
static void views_free(struct ddio_part *part)
{
	const struct ddio_tree *last = NULL;
	uint64_t i;

	for (i = 0; part->view && i < part->n; i++) {
		const struct ddio_tree *tree = part->view[i].tree;

		if (tree && tree != last) {
			free((void *)tree->node);
			free((void *)tree->child);
			free((void *)tree);
		}
		last = tree;
	}
}

void ddio_part_free(struct ddio_part *part)
{
	if (part->kind == DDIO_PART_VIEW)
		views_free(part);
	free((void *)part->array);
	free((void *)part->strided);
	free((void *)part->list);
	memset(part, 0, sizeof(*part));
}
