/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Views as parts of trees. */
#ifndef DDIO_MAP_VIEW_H
#define DDIO_MAP_VIEW_H

#include <stddef.h>
#include "map/pieces/tree.h"

/**
 * struct view_reader - reads views one by one
 * @tree: of the last one; @form: the form made of it, which the next one may share
 */
struct view_reader {
	const struct ddio_tree *tree;
	struct tree_form *form;
};

/**
 * view_read - turn a view into a part of a tree
 * @part: result; it holds no reference to its form, which lives as long as the reader, or whoever holds it
 *
 * Views whose trees are the same have the same form if they come one after the other.
 * Return: 0, -ENODATA: it is empty, -EINVAL, -EOVERFLOW, -ENOMEM.
 */
int view_read(struct view_reader *reader, const struct ddio_view *view, struct tree_part *part,
	      const char **why);

/*
 * Finds the part's bounds, and checks that they are not below 0 and below 2^63.  The steps are as many as
 * the part has pieces, or, if it is monotone, as it is deep.
 */
int view_bounds(const struct tree_part *part, uint64_t *lo, uint64_t *hi, const char **why);

static inline void view_reader_end(struct view_reader *reader)
{
	tree_form_put(reader->form);
	reader->form = NULL;
}

#endif /* DDIO_MAP_VIEW_H */
