// SPDX-License-Identifier: LGPL-2.1-or-later
/* The descriptions of the processes of a family, one at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "map/kin.h"

/* Returns the shift of process @i of the family, from its description. */
static void kin_shift_of(const struct ddio_kin *kin, uint32_t i, uint64_t *offset, uint64_t *skip)
{
	uint32_t l;

	*offset = kin->offset;
	*skip = kin->skip;
	for (l = 0; l < kin->rows.nlevels; l++) {
		const struct ddio_family_level *level = &kin->rows.level[l];

		*offset += i % level->count * level->offset;
		*skip += i % level->count * level->skip;
		i /= level->count;
	}
}

/* Copies @n entries of @size bytes to @room.  Returns them, or NULL. */
static void *room_copy(struct kin_room *room, const void *entries, uint64_t n, size_t size)
{
	void *p = room->entries;

	if (n > SIZE_MAX / size)
		return NULL;
	if (n * size > room->size) {
		p = realloc(room->entries, n * size);
		if (!p)
			return NULL;
		room->entries = p;
		room->size = n * size;
	}
	return memcpy(p, entries, n * size);
}

static int shift_views(struct kin_room *room, struct ddio_part *part, uint64_t offset,
		       uint64_t skip)
{
	struct ddio_view *view = room_copy(room, part->view, part->n, sizeof(*view));
	uint64_t i;

	for (i = 0; view && i < part->n; i++) {
		view[i].offset += offset;
		view[i].skip += skip;
	}
	part->view = view;
	return view ? 0 : -ENOMEM;
}

static int shift_strided(struct kin_room *room, struct ddio_part *part, uint64_t offset)
{
	struct ddio_strided *strided = room_copy(room, part->strided, part->n, sizeof(*strided));
	uint64_t i;

	for (i = 0; strided && i < part->n; i++)
		strided[i].offset += offset;
	part->strided = strided;
	return strided ? 0 : -ENOMEM;
}

static int shift_list(struct kin_room *room, struct ddio_part *part, uint64_t offset)
{
	struct ddio_extent *list = room_copy(room, part->list, part->n, sizeof(*list));
	uint64_t i;

	for (i = 0; list && i < part->n; i++)
		list[i].offset += offset;
	part->list = list;
	return list ? 0 : -ENOMEM;
}

int kin_part(const struct ddio_kin *kin, uint32_t i, struct kin_room *room, struct ddio_part *part)
{
	uint64_t offset, skip;

	*part = *kin->part;
	kin_shift_of(kin, i, &offset, &skip);
	if (!part->n || (!offset && !skip))
		return 0;
	switch (part->kind) {
	case DDIO_PART_VIEW:
		return shift_views(room, part, offset, skip);
	case DDIO_PART_STRIDED:
		return shift_strided(room, part, offset);
	case DDIO_PART_LIST:
		return shift_list(room, part, offset);
	default:
		return 0; /* the map refuses it */
	}
}
