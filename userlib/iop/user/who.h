/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A user and the groups of that user. */
#ifndef DDIO_IOP_WHO_H
#define DDIO_IOP_WHO_H

#include <stdbool.h>
#include <stdint.h>

#define WHO_NOBODY 65534u
#define WHO_GROUPS_MAX 65536u

/**
 * struct ddio_who - a user; in pointers to it NULL is one that may do everything
 * @groups: @ngroups besides @gid
 */
struct ddio_who {
	uint32_t uid, gid, ngroups;
	uint32_t *groups;
};

static inline bool who_in_group(const struct ddio_who *who, uint32_t gid)
{
	uint32_t i;

	if (who->gid == gid)
		return true;
	for (i = 0; i < who->ngroups; i++)
		if (who->groups[i] == gid)
			return true;
	return false;
}

#endif /* DDIO_IOP_WHO_H */
