// SPDX-License-Identifier: LGPL-2.1-or-later
/* What messages say of steps. */
#include <stdio.h>
#include "cp/group/fan/priv.h"

#define TELL(...) snprintf(text, DDIO_MAX_TEXT, __VA_ARGS__)

static const struct step_kind *kind_find(const struct ddio_group *group, uint32_t kind)
{
	const struct group_user *const *u;
	const struct step_kind *k;

	for (u = group_users(group); *u; u++)
		for (k = (*u)->kinds; k && k->kind; k++)
			if (k->kind == kind)
				return k;
	return NULL;
}

const char *fan_kind_name(const struct ddio_group *group, uint32_t kind)
{
	const struct step_kind *k = kind_find(group, kind);

	return k ? k->name : "a collective call";
}

void *(*fan_join_of(const struct fan *fan))(struct ddio_group *group, const void *gathered,
					    size_t len, size_t *joined)
{
	const struct step_kind *k = kind_find(fan->group, fan->kind);

	return k ? k->join : NULL;
}

bool fan_is_fresh(const struct fan *fan)
{
	const struct step_kind *k = kind_find(fan->group, fan->kind);

	return k && k->fresh && k->fresh(fan->gather, fan->gather_len);
}

void *(*fan_slice_of(const struct fan *fan))(const void *verdict, size_t len, uint32_t first,
					     uint64_t end, size_t *n)
{
	const struct step_kind *k = kind_find(fan->group, fan->kind);

	return k ? k->slice : NULL;
}

bool fan_kinds_alike(const struct ddio_group *group, uint32_t kind_a, uint32_t kind_b)
{
	const struct step_kind *a = kind_find(group, kind_a), *b = kind_find(group, kind_b);

	return a && b && a->explain && a->explain == b->explain;
}

void fan_explain(const struct ddio_group *group, uint32_t kind, uint32_t rank_a, const void *a,
		 size_t a_len, uint32_t rank_b, const void *b, size_t b_len,
		 char text[DDIO_MAX_TEXT])
{
	const struct step_kind *k = kind_find(group, kind);

	TELL("ranks %u and %u disagree about %s", rank_a, rank_b, fan_kind_name(group, kind));
	if (k && k->explain)
		k->explain(rank_a, a, a_len, rank_b, b, b_len, text);
}

void fan_missing_text(const struct ddio_group *group, uint32_t kind, const uint32_t *missing,
		      size_t n, char text[DDIO_MAX_TEXT])
{
	size_t named = n < 16 ? n : 16, i, at;

	at = (size_t)TELL("%s", n == 1 ? "rank" : "ranks");
	for (i = 0; i < named; i++)
		at += (size_t)snprintf(text + at, DDIO_MAX_TEXT - at, "%s%u", i ? ", " : " ",
				       missing[i]);
	if (n > named)
		at += (size_t)snprintf(text + at, DDIO_MAX_TEXT - at, " and %zu more", n - named);
	snprintf(text + at, DDIO_MAX_TEXT - at, " of %u did not come to %s within %g s",
		 group->size, fan_kind_name(group, kind), (double)group->session->timeout_ns / 1e9);
}
