/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Families: processes with neighbouring ranks whose descriptions differ by a shift only, which grows with the
 * rank as an index grows in nested rows: the tiles of a matrix, records dealt out.
 */
#ifndef DDIO_MAP_KIN_H
#define DDIO_MAP_KIN_H

#include <stddef.h>
#include <stdint.h>
#include <ddio/dist.h>

#define DDIO_FAMILY_LEVELS 4

/**
 * struct ddio_family - the rows
 * @nlevels: 0: one process
 * @level: innermost first: @count times what is inside, each @offset and @skip further, modulo 2^64
 */
struct ddio_family {
	uint32_t nlevels;
	uint32_t reserved;
	struct ddio_family_level {
		uint32_t count;
		uint32_t reserved;
		uint64_t offset, skip;
	} level[DDIO_FAMILY_LEVELS];
};

/**
 * struct ddio_kin - one family
 * @part: a description, which the first process's differs from by
 * @offset, @skip: a shift: added to the offset of each entry, and to the skip of each view, modulo 2^64
 * @rows: the shifts of the others to the first
 */
struct ddio_kin {
	const struct ddio_part *part;
	uint64_t offset, skip;
	struct ddio_family rows;
};

/* Returns the processes of a family; it has no more than 2^32. */
static inline uint64_t kin_size(const struct ddio_kin *kin)
{
	uint64_t n = 1;
	uint32_t l;

	for (l = 0; l < kin->rows.nlevels; l++)
		n *= kin->rows.level[l].count;
	return n;
}

/**
 * struct kin_room - memory for one description
 * @entries: free() it in the end
 */
struct kin_room {
	void *entries;
	size_t size;
};

/* Makes the description of process @i of the family, in @room if it is shifted.  Return: 0 or -ENOMEM. */
int kin_part(const struct ddio_kin *kin, uint32_t i, struct kin_room *room, struct ddio_part *part);

#endif /* DDIO_MAP_KIN_H */
