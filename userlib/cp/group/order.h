/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Orders in which a group does things: its own, which is that of the calls on every member, and one of each file that all have
 * opened together, for transfers that ask for it (DDIO_XFER_FILE_ORDER).  Nothing of one order waits for another's.
 *
 * A turn's number has its order's key in its upper bits, so whatever is named by it has a name of its own.
 */
#ifndef DDIO_CP_ORDER_H
#define DDIO_CP_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/list.h"
#include "proto/proto.h"

struct ddio_group;
struct order;

/* Bits of a turn's place in its order; a step's name has two more, the key the rest. */
#define ORDER_PLACE_BITS 42
/* Files that have an order of their own, of all that a group ever opens; the others have the group's. */
#define ORDERS_MAX ((1u << 20) - 1)

/**
 * struct turn - something that the group does together, in an order
 * @order: that of
 * @number: the order's key, and the place in it, from 1
 * @begin: its turn has come; ends, at once or later, in turn_pass()
 * @bytes: of what it says to others when it begins
 * @lends: it may lend its turn, and begin in a turn that was lent; one that does neither begins when all before it have passed
 * @asks, @lent: it would lend its turn; it has
 */
struct turn {
	struct ddio_list link;
	struct order *order;
	uint64_t number, bytes;
	void (*begin)(struct turn *turn);
	bool lends, asks, lent;
};

/**
 * struct order_line - what rank 0 keeps of an order to start its transfers in it: coll/starts.c
 * @link: the first of @ops can be started
 * @ops: those that were not started
 */
struct order_line {
	struct ddio_list link, ops;
};

/**
 * struct order - reactor only, but for @id, @last and @awaited
 * @node: in the group's table, by key; the group's own, whose key is 0, is not there
 * @group: NULL once it has gone
 * @id: the group's
 * @refs: one of its owner, and one of who is at work on it
 * @patient: first steps of its turns wait for members as long as they live; of the group's own it is the group that tells
 * @last: number of the last turn that was taken
 * @awaited: of a patient one: the last turn whose first step others have waited for since long, and this member has not begun
 * @first_ended: the last turn whose first step has ended here; of those before it, which began here before it, some may not have
 * @line: its user's
 * @ahead: struct fan.ahead, steps that others have begun in it and this member has not come to
 * @turns: wait for their turn; @turn is the one that has it, @nlent have lent it and not passed it; @running: they are being begun
 */
struct order {
	struct ddio_hash_node node;
	struct ddio_group *group;
	uint8_t id[DDIO_GROUP_ID_LEN];
	uint32_t refs;
	bool patient;
	_Atomic uint64_t last, awaited;
	uint64_t first_ended;
	struct order_line line;
	struct ddio_list ahead, turns;
	struct turn *turn;
	uint32_t nlent;
	bool running;
};

static inline uint64_t order_key(uint64_t number)
{
	return number >> ORDER_PLACE_BITS;
}

void order_init(struct order *order, struct ddio_group *group, uint64_t key);
/*
 * Returns a file's order, with one reference, or NULL without memory.  Beyond ORDERS_MAX, and if a member of the group knows none, it
 * is of the group, but has no turns: on all members alike.
 */
struct order *order_new(struct ddio_group *group, uint64_t key);
/* Returns true if the file with that order, or NULL, was opened by all of the group. */
bool order_is_of(const struct order *order, const struct ddio_group *group);
/* Returns true if it has turns of its own. */
static inline bool order_has_key(const struct order *order)
{
	return order_key(order->last);
}
void order_get(struct order *order);
void order_put(struct order *order);
/* Takes it from its group, and puts the reference: its file is closed. */
void order_drop(struct order *order);
/* Takes all from the group, which goes before their files. */
void orders_drop(struct ddio_group *group);
/* Returns the order that a turn's number is of; NULL: this member has closed the file, or never opened it. */
struct order *order_find(struct ddio_group *group, uint64_t number);
/* Returns true if that is the number of a turn of a file that this member has closed. */
bool order_is_over(struct ddio_group *group, uint64_t number);

/* The group's own order; or a file's. */
void turn_take(struct ddio_group *group, struct turn *turn);
void turn_take_of(struct order *order, struct turn *turn);
void turn_pass(struct turn *turn);
/*
 * Whose turn it is has told the others what it is about to do: the next may do so before all have agreed on this.  At most
 * TURNS_LENT of an order have lent theirs at a time; the next after these lends its own when one of them passes.  None lends it while
 * TURNS_LENT_ALL of all orders have, or what those have said has TURNS_LENT_BYTES: others may have to keep it.  The turn may be over, and gone.
 */
#define TURNS_LENT 16
#define TURNS_LENT_ALL 1024
#define TURNS_LENT_BYTES (1u << 20)
void turn_lend(struct order *order, struct turn *turn);

#endif /* DDIO_CP_ORDER_H */
