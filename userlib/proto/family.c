// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Families: members with neighbouring ranks whose views are the same but for offset and skip, which grow with the
 * rank as an index grows in nested rows.  A matrix in tiles is one, whatever the number of members.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "proto/codec.h"

/* Where a member's view begins, or how far two of them are apart. */
struct family_place {
	uint64_t offset;
	uint64_t skip;
};

static bool tree_same(const struct ddio_tree *a, const struct ddio_tree *b)
{
	if (a == b)
		return true;
	return a && b && a->nnodes == b->nnodes && a->nchildren == b->nchildren &&
	       (!a->nnodes || !memcmp(a->node, b->node, a->nnodes * sizeof(*a->node))) &&
	       (!a->nchildren || !memcmp(a->child, b->child, a->nchildren * sizeof(*a->child)));
}

/* Returns true if the two differ in nothing but their places. */
static bool part_like(const struct ddio_part *a, const struct ddio_part *b)
{
	if (a->kind != DDIO_PART_VIEW || b->kind != DDIO_PART_VIEW || a->n > 1 || a->n != b->n)
		return false;
	return !a->n || (a->view->extent == b->view->extent && a->view->len == b->view->len &&
			 tree_same(a->view->tree, b->view->tree));
}

/* Returns how far @b is from @a, if they are alike. */
static struct family_place part_step(const struct ddio_part *a, const struct ddio_part *b)
{
	if (!a->n || !part_like(a, b))
		return (struct family_place){ 0, 0 };
	return (struct family_place){ b->view->offset - a->view->offset,
				      b->view->skip - a->view->skip };
}

/* Returns true if the @n parts from @b on are those from @a on, each @step further. */
static bool block_shifted(const struct ddio_part *a, const struct ddio_part *b, uint32_t n,
			  struct family_place step)
{
	struct family_place here;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!part_like(&a[i], &b[i]))
			return false;
		here = part_step(&a[i], &b[i]);
		if (here.offset != step.offset || here.skip != step.skip)
			return false;
	}
	return true;
}

/* Finds the family of the first of @left parts.  Returns how many it has. */
static uint32_t family_find(const struct ddio_part *part, uint32_t left, struct ddio_family *family)
{
	struct ddio_family_level *level = family->level;
	struct family_place step;
	uint32_t block = 1, count;

	family->nlevels = 0;
	while (family->nlevels < DDIO_FAMILY_LEVELS && block <= left / 2) {
		step = part_step(part, part + block);
		count = 1;
		while (block <= left - count * block &&
		       block_shifted(part + (count - 1) * block, part + count * block, block, step))
			count++;
		if (count == 1)
			break;
		level[family->nlevels++] =
			(struct ddio_family_level){ count, 0, step.offset, step.skip };
		block *= count;
	}
	return block;
}

uint32_t ddio_families_find(const struct ddio_part *part, uint32_t n, struct ddio_family *family,
			    struct ddio_part *first)
{
	uint32_t at, nfamilies = 0;

	for (at = 0; at < n; nfamilies++) {
		first[nfamilies] = part[at];
		at += family_find(part + at, n - at, &family[nfamilies]);
	}
	return nfamilies;
}

uint64_t family_size(const struct ddio_family *family)
{
	uint64_t n = 1;
	uint32_t i;

	for (i = 0; i < family->nlevels && n <= DDIO_MAX_MEMBERS; i++)
		n *= family->level[i].count;
	return n;
}

/* Makes member @i of a family, whose first has @first. */
static void family_member(const struct ddio_family *family, const struct ddio_part *first,
			  uint32_t i, struct ddio_part *part, struct ddio_view *view)
{
	uint32_t l;

	*part = *first;
	if (!first->n || !family->nlevels)
		return;
	*view = *first->view;
	part->view = view;
	for (l = 0; l < family->nlevels; l++) {
		const struct ddio_family_level *level = &family->level[l];

		view->offset += i % level->count * level->offset;
		view->skip += i % level->count * level->skip;
		i /= level->count;
	}
}

void ddio_families_expand(const struct ddio_family *family, const struct ddio_part *first,
			  uint32_t nfamilies, struct ddio_part *part, struct ddio_view *view)
{
	uint32_t f, i, at = 0, n;

	for (f = 0; f < nfamilies; f++) {
		n = (uint32_t)family_size(&family[f]);
		for (i = 0; i < n; i++, at++)
			family_member(&family[f], &first[f], i, &part[at], &view[at]);
	}
}
