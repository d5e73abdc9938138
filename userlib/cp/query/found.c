// SPDX-License-Identifier: LGPL-2.1-or-later
/* The records that match: they come in the order of the disks, and are put in that of the file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/query/query.h"

#define FIRST_CAP 64u

static int entry_grow(struct query_found *found)
{
	uint64_t cap = found->cap ? 2 * found->cap : FIRST_CAP;
	struct found_entry *entry;

	if (found->n < found->cap)
		return 0;
	if (cap > SIZE_MAX / sizeof(*entry))
		return -ENOMEM;
	entry = realloc(found->entry, cap * sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	found->entry = entry;
	found->cap = cap;
	return 0;
}

uint8_t *query_found_add(struct query_found *found, uint64_t record, int *ret)
{
	static uint8_t nowhere[1]; /* for records of which only the number is kept */

	*ret = 0;
	found->all++;
	if (!found->keeps)
		return NULL;
	if (found->n == found->room) {
		found->over = true;
		return NULL;
	}
	*ret = entry_grow(found);
	if (*ret)
		return NULL;
	found->entry[found->n] = (struct found_entry){ record, found->n };
	return found->out ? found->buf + found->n++ * found->out : (found->n++, nowhere);
}

void query_found_run(struct query_found *found, uint64_t first, uint64_t n)
{
	found->all = n;
	found->over = found->keeps && n > found->room;
	if (!found->keeps || found->over)
		return;
	found->first = first;
	found->n = n;
}

static int order(const void *a, const void *b)
{
	const struct found_entry *x = a, *y = b;

	return (x->record > y->record) - (x->record < y->record);
}

/* Moves the fields of entry @i, and of those that have to make way for them, to where they belong. */
static void cycle(struct query_found *found, uint64_t i, uint8_t *kept)
{
	uint8_t *buf = found->buf;
	uint32_t out = found->out;
	uint64_t to = i, from = found->entry[i].at;

	memcpy(kept, buf + i * out, out);
	while (from != i) {
		memcpy(buf + to * out, buf + from * out, out);
		found->entry[to].at = to;
		to = from;
		from = found->entry[to].at;
	}
	memcpy(buf + to * out, kept, out);
	found->entry[to].at = to;
}

int query_found_sort(struct query_found *found, uint64_t *index)
{
	uint8_t *kept;
	uint64_t i;

	if (!found->entry) {
		for (i = 0; index && i < found->n; i++)
			index[i] = found->first + i;
		return 0;
	}
	kept = malloc(found->out ? found->out : 1);
	if (!kept)
		return -ENOMEM;
	if (found->n)
		qsort(found->entry, found->n, sizeof(*found->entry), order);
	for (i = 0; i < found->n; i++) {
		if (found->out && found->entry[i].at != i)
			cycle(found, i, kept);
		if (index)
			index[i] = found->entry[i].record;
	}
	free(kept);
	return 0;
}
