/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared counters of a group. */
#ifndef DDIO_CP_COUNTER_H
#define DDIO_CP_COUNTER_H

#include "cp/group/group.h"

/**
 * struct counters - what a member keeps of its group's counters
 * @all: struct ddio_group_counter.node, by id
 * @waiting: this member's own requests under way, in the order of their numbers; @asked is the last one's
 * @passed: requests of other members that went up through here and are not answered
 * @served: rank 0: the number of the last request of each rank
 */
struct counters {
	struct ddio_hash all;
	struct ddio_list waiting;
	uint64_t asked;
	uint64_t passed;
	uint64_t *served;
};

/**
 * struct ddio_group_counter - one member's handle
 * @id: number of the turn that made it, the same on every member
 * @value: rank 0's counts
 */
struct ddio_group_counter {
	struct ddio_group *group;
	struct ddio_hash_node node;
	uint64_t id;
	int64_t value;
};

extern const struct group_user counter_group_user;

#endif /* DDIO_CP_COUNTER_H */
