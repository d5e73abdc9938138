/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of a group's operations rank 0 starts next, and by what number I/O processors know them. */
#ifndef DDIO_CP_STARTS_H
#define DDIO_CP_STARTS_H

#include "cp/coll/op.h"

/**
 * struct start_numbers - what the next number depends on
 * @last: the one before
 * @own: there are numbers of another kind than turns' since a file's order has had an operation that I/O processors know
 */
struct start_numbers {
	uint64_t last;
	bool own;
};

/**
 * struct ops - the operations of a group that are not over, but for those that wait for their turn, or to prepare; a group_user's state
 * @all: struct ddio_op.link, in the order in which they began
 * @unprepared: struct ddio_op.start_link, as of the next two: those that wait until @preparing has prepared; @begins: they are being begun
 * @decides: those of @undecided are being started
 * @undecided: all that nodes might be asked for and that not all have agreed on; at rank 0
 * @started: those that rank 0 has had nodes asked for, @nstarted of them
 * @told: as all members know it, from the verdicts; @used: as rank 0 does, also of those that have failed
 * @walk: counts looks for the next to start
 */
struct ops {
	struct ddio_list all, unprepared, undecided, started;
	struct ddio_op *preparing;
	bool begins, decides;
	uint32_t nstarted;
	struct start_numbers told, used;
	uint64_t walk;
};

void ops_init(struct ops *ops);

/* The operation has begun, and is over: at every member. */
void start_enter(struct ddio_op *op);
void start_leave(struct ddio_op *op);

/* Rank 0: starts those that can be started, by start_decide() of agreement.c. */
void starts_decide(struct ddio_group *group);
/* Rank 0: gives an operation for nodes its number, and takes it for started. */
void start_take(struct ddio_op *op);
/* Every member, rank 0 too: the verdict has come. */
void start_decided(struct ddio_op *op);
/* If nodes would have been asked for it, but it says that all have failed. */
void start_failed(struct ddio_op *op);
/* If nodes are asked for it: it named a number, or 0: then it is the one that follows the last. */
void start_told(struct ddio_op *op, uint64_t number);
/* Rank 0: returns the number that the verdict must name; 0: none. */
uint64_t start_names(const struct ddio_op *op);

/* Returns the number of the operation; until it has one that which it would get if it were the next. */
uint64_t op_number(const struct ddio_op *op);
/* Returns the operation that an I/O processor calls by a number, also one whose verdict is on its way; or NULL. */
struct ddio_op *op_numbered(struct ddio_group *group, uint64_t number);

#endif /* DDIO_CP_STARTS_H */
