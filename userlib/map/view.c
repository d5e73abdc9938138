// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks a view and finds which bytes of its tree it is. */
#include <errno.h>
#include <string.h>
#include "map/view.h"

static int fail(const char **why, const char *text, int err)
{
	*why = text;
	return err;
}

/* Returns true if the trees are the same, word for word. */
static bool tree_same(const struct ddio_tree *a, const struct ddio_tree *b)
{
	return a->nnodes == b->nnodes && a->nchildren == b->nchildren && a->nnodes && b->node &&
	       !memcmp(a->node, b->node, a->nnodes * sizeof(*a->node)) &&
	       (!a->nchildren ||
		(b->child && !memcmp(a->child, b->child, a->nchildren * sizeof(*a->child))));
}

/* Makes the form of the view's tree, if it is not that of the last view. */
static int reader_form(struct view_reader *reader, const struct ddio_tree *tree, const char **why)
{
	struct tree_form *form;
	int rc;

	if (!tree)
		return fail(why, "view.tree is missing", -EINVAL);
	if (reader->form && (tree == reader->tree || tree_same(reader->tree, tree)))
		return 0;
	rc = tree_form_new(tree, &form, why);
	if (rc)
		return rc;
	tree_form_put(reader->form);
	reader->form = form;
	reader->tree = tree;
	return 0;
}

/* Repeats the tree as often as the view needs, from the tile on in which it begins. */
static int part_tile(const struct ddio_view *view, struct tree_form *form, struct tree_part *part,
		     const char **why)
{
	uint64_t size = form->node[form->root.node].size;
	uint64_t first = view->skip / size, skip = view->skip % size, shift, tiles;
	int64_t origin;
	int rc;

	if (__builtin_mul_overflow(first, view->extent, &shift) || shift > INT64_MAX ||
	    view->len > INT64_MAX || view->offset > INT64_MAX ||
	    __builtin_add_overflow((int64_t)view->offset, (int64_t)shift, &origin))
		return fail(why, "view: its last byte is beyond 2^63", -EOVERFLOW);
	tiles = (skip + view->len - 1) / size + 1;
	if (tiles > 1 && view->extent > INT64_MAX)
		return fail(why, "view.extent is above 2^63", -EOVERFLOW);
	part->form = form;
	part->from = skip;
	part->to = skip + view->len;
	rc = tree_form_repeat(form, &form->root, tiles, view->extent, &part->ref, why);
	if (rc == -EOVERFLOW)
		return fail(why, "view: its tiles span 2^62 bytes or more", rc);
	if (rc)
		return rc;
	if (__builtin_add_overflow((int64_t)part->ref.off, origin, (int64_t *)&part->ref.off))
		return fail(why, "view: its last byte is beyond 2^63", -EOVERFLOW);
	return 0;
}

int view_bounds(const struct tree_part *part, uint64_t *lo, uint64_t *hi, const char **why)
{
	const struct tree_node *node = tree_part_node(part);
	int64_t first, last;

	if (__builtin_add_overflow((int64_t)part->ref.off, node->hi, &last) ||
	    __builtin_add_overflow((int64_t)part->ref.off, node->lo, &first))
		return fail(why, "view: its last byte is beyond 2^63", -EOVERFLOW);
	tree_part_bounds(part, &first, &last);
	if (first < 0)
		return fail(why, "view: it reaches below offset 0", -EINVAL);
	*lo = (uint64_t)first;
	*hi = (uint64_t)last;
	return 0;
}

int view_read(struct view_reader *reader, const struct ddio_view *view, struct tree_part *part,
	      const char **why)
{
	int rc;

	if (!view->len)
		return -ENODATA;
	rc = reader_form(reader, view->tree, why);
	if (!rc)
		rc = part_tile(view, reader->form, part, why);
	if (rc)
		return rc;
	tree_part_narrow(part);
	return 0;
}
