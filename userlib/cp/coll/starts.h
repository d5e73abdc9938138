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
 * @all: struct ddio_op.link, in the order in which they began; @by_turn: the same, struct ddio_op.by_turn
 * @unprepared: struct ddio_op.start_link: those that wait until @preparing has prepared; @begins: they are being begun
 * @numbered: struct ddio_op.name, by number; @unnamed: the same, by place, of those that nodes might be asked for and that have no number
 * @ready: struct order_line.link, in the order in which they have come: of those orders whose first has all but its turn at nodes; @free: of
 *	those whose first needs none there; @held: of those whose first is of a file that the group's epoch has, by @timer
 *	at the latest until that is given up
 * @decides: firsts of these are being started
 * @nstarted: so many rank 0 has had nodes asked for; @naside: of those, such as nodes keep until the end of the group's epoch;
 *	@narriving: of these, such as not all members know to be there
 * @nmeet: of those, such as another might meet at a node before or after its time; @nlate: of these, such as a node may be asked for late, and
 *	@late_file: members do, each its own nodes of that file; 0: not so
 * @told: as all members know it, from the verdicts; @used: as rank 0 does, also of those that have failed
 * @looks: how often one was looked at, to find it, the next to start, or those to fail
 */
struct ops {
	struct ddio_list all, unprepared, ready, free, held;
	struct ddio_hash by_turn, numbered, unnamed;
	struct ddio_timer timer;
	struct ddio_op *preparing;
	bool begins, decides;
	uint32_t nstarted, naside, narriving, nmeet, nlate;
	uint64_t late_file;
	struct start_numbers told, used;
	uint64_t looks;
};

void ops_init(struct ops *ops);
/* As struct group_user's free() of @ops. */
void ops_free(void *ops);

/* The operation has begun, and is over: at every member. */
void start_enter(struct ddio_op *op);
void start_leave(struct ddio_op *op);

/* Rank 0: the operation can be started from now on. */
void start_ready(struct ddio_op *op);
/* Rank 0: no node takes it for the group's: those behind it need not wait for it. */
void start_not(struct ddio_op *op);
/* The group is broken: nothing is started any more. */
void starts_stop(struct ddio_group *group);
/* The group's epoch is over: those of its files can be started. */
void starts_resume(struct ddio_group *group);
/* Rank 0: starts those that can be started, by start_decide() of agreement.c. */
void starts_decide(struct ddio_group *group);
/* Rank 0: returns false, and sets @error, if too many wait at nodes for the end of the group's epoch, as it would. */
bool start_may(const struct ddio_op *op, struct error *error);
/* Rank 0: gives an operation for nodes its number, and takes it for started. */
void start_take(struct ddio_op *op);
/* Rank 0: nodes have what that turn has asked of them. */
void start_arrived(struct ddio_group *group, uint64_t number);
/* Every member, rank 0 too: the verdict has come. */
void start_decided(struct ddio_op *op);
/* If nodes would have been asked for it, but it says that all have failed. */
void start_failed(struct ddio_op *op);
/* If nodes are asked for it: it named a number, or 0: then it is the one that follows the last. */
void start_told(struct ddio_op *op, uint64_t number);
/* Rank 0: returns the number that the verdict must name; 0: none. */
uint64_t start_names(const struct ddio_op *op);

/* Returns the operation whose turn had that number, or NULL. */
struct ddio_op *op_find(struct ddio_group *group, uint64_t number);
/* Returns the number of the operation; until it has one that which it would get if it were the next. */
uint64_t op_number(const struct ddio_op *op);
/* Returns the operation that an I/O processor calls by a number, also one whose verdict is on its way; or NULL. */
struct ddio_op *op_numbered(struct ddio_group *group, uint64_t number);

#endif /* DDIO_CP_STARTS_H */
