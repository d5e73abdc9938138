// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rank 0 starts a group's operations, those of each order in that order, and has so many at most at the nodes.  The rest waits there:
 * whatever began first on other members, each of those that were started ends by itself.
 *
 * Nodes know an operation by a number, and take a group's in rising ones only.  A group that does all in its own order has them by
 * its turns' numbers.  From the first that a file's order gives to nodes on a number counts what was started, with the operation's
 * place in its order behind that.  All members see the verdicts in the same order, so each counts for itself, and nothing is sent;
 * only after a start that failed a verdict names the number, since rank 0 has given away that of what failed: a member may have joined
 * its memory by it, and the place comes again.  A member knows an operation by its place, should a node ask for data before the verdict
 * has come.
 */
#include "cp/coll/starts.h"

/* Of a number: the key of the order, and the lowest bits of the place in it, of which fewer than so many are undecided at a time. */
enum { PLACE_BITS = 8, KEY_BITS = 20, NAME_BITS = PLACE_BITS + KEY_BITS };

_Static_assert(TURNS_LENT < 1 << PLACE_BITS, "places of operations that are undecided differ");
_Static_assert(ORDERS_MAX < 1 << KEY_BITS, "every order has a key");

/* A node takes 64 of a group at a time, and may still be at the end of some that are over here. */
#define STARTED_MAX 48

static struct ops *ops_of(struct ddio_group *group)
{
	return *group_state(group, &op_group_user);
}

void ops_init(struct ops *ops)
{
	*ops = (struct ops){ .walk = 0 };
	ddio_list_init(&ops->all);
	ddio_list_init(&ops->unprepared);
	ddio_list_init(&ops->undecided);
	ddio_list_init(&ops->started);
}

/*
 * Numbers
 */
static uint64_t op_place(const struct ddio_op *op)
{
	return order_key(op->turn.number) << PLACE_BITS |
	       (op->turn.number & ((1 << PLACE_BITS) - 1));
}

static bool in_group_order(const struct ddio_op *op)
{
	return !order_key(op->turn.number);
}

/* The first of another kind is far above the turns that are being agreed on. */
static uint64_t number_next(const struct start_numbers *from, const struct ddio_op *op)
{
	if (!from->own && in_group_order(op))
		return op->turn.number;
	return ((from->last >> NAME_BITS) + (from->own ? 1 : 2)) << NAME_BITS | op_place(op);
}

static void number_note(struct start_numbers *numbers, const struct ddio_op *op)
{
	numbers->last = op->number;
	numbers->own |= !in_group_order(op);
}

uint64_t start_names(const struct ddio_op *op)
{
	return op->number == number_next(&ops_of(op->group)->told, op) ? 0 : op->number;
}

void start_decided(struct ddio_op *op)
{
	if (!op->started)
		ddio_list_del(&op->start_link);
}

void start_failed(struct ddio_op *op)
{
	struct ops *ops = ops_of(op->group);

	if (op->group->rank || op->started)
		return;
	op->number = number_next(&ops->used, op);
	number_note(&ops->used, op);
}

void start_told(struct ddio_op *op, uint64_t number)
{
	struct ops *ops = ops_of(op->group);

	op->number = number ? number : number_next(&ops->told, op);
	/* One that was named has followed others of that kind. */
	ops->told.own |= number != 0;
	number_note(&ops->told, op);
}

uint64_t op_number(const struct ddio_op *op)
{
	return op->number ? op->number : number_next(&ops_of(op->group)->told, op);
}

/* Returns true if the number may be that of an operation that has none yet. */
static bool number_fits(const struct ddio_op *op, uint64_t number)
{
	if (op->number || op->phase != PHASE_AGREEING || !op_is_dd(op) ||
	    number <= ops_of(op->group)->told.last)
		return false;
	if (in_group_order(op) && op->turn.number == number)
		return true;
	return number >> NAME_BITS && (number & (((uint64_t)1 << NAME_BITS) - 1)) == op_place(op);
}

struct ddio_op *op_numbered(struct ddio_group *group, uint64_t number)
{
	struct ops *ops = ops_of(group);
	struct ddio_op *op;

	if (!ops || !number)
		return NULL;
	ddio_list_for_each_entry(op, &ops->all, link)
		if (op->number == number)
			return op;
	ddio_list_for_each_entry(op, &ops->undecided, start_link)
		if (number_fits(op, number)) {
			op->number = number;
			return op;
		}
	return NULL;
}

/*
 * Which is next
 */

/*
 * Returns true if a node may be asked for it after others that were started later: by another member; or, where one does not know
 * descriptions that are spread, once all others are ready.  Those of one order do not begin before it is agreed on; with others it is
 * never at the nodes at the same time.
 */
static bool starts_late(const struct ddio_op *op)
{
	return op->dealt || (op->unspread && op->part_kind != DDIO_PART_ARRAY &&
			     !(op->flags & DDIO_XFER_OVERLAP));
}

static bool must_wait(const struct ops *ops, const struct ddio_op *op)
{
	const struct ddio_op *other;

	if (!op_is_dd(op))
		return false;
	if (ops->nstarted >= STARTED_MAX)
		return true;
	ddio_list_for_each_entry(other, &ops->started, start_link)
		if (other->turn.order != op->turn.order && (starts_late(op) || starts_late(other)))
			return true;
	return false;
}

/* Returns the next that can be started.  Of each order only the first is looked at, whatever rank 0 has to ask for it. */
static struct ddio_op *start_next(struct ops *ops)
{
	struct ddio_op *op;

	ops->walk++;
	ddio_list_for_each_entry(op, &ops->undecided, start_link) {
		/* No node takes what has become small for the group's. */
		if (op->m->agree || op->turn.order->walk == ops->walk)
			continue;
		op->turn.order->walk = ops->walk;
		if (!op->sized || !op->fan)
			continue;
		if (!must_wait(ops, op))
			return op;
		/* Those behind it would keep it waiting for ever: each that was started ends, and then it is the next. */
		if (starts_late(op))
			return NULL;
	}
	return NULL;
}

void starts_decide(struct ddio_group *group)
{
	struct ops *ops = ops_of(group);
	struct ddio_op *op;

	/* One that ends at once leaves the next to the loop that began it. */
	if (ops->decides)
		return;
	ops->decides = true;
	group->refs++;
	while (!group->broken.status && (op = start_next(ops)))
		start_decide(op);
	ops->decides = false;
	group_put(group);
}

/*
 * Coming and going
 */
void start_enter(struct ddio_op *op)
{
	struct ops *ops = ops_of(op->group);

	ddio_list_add(&op->link, &ops->all);
	if (!op->m->agree)
		ddio_list_add(&op->start_link, &ops->undecided);
}

void start_take(struct ddio_op *op)
{
	struct ops *ops = ops_of(op->group);

	op->number = number_next(&ops->used, op);
	number_note(&ops->used, op);
	op->started = true;
	ops->nstarted++;
	ddio_list_del(&op->start_link);
	ddio_list_add(&op->start_link, &ops->started);
}

void start_leave(struct ddio_op *op)
{
	if (op->started)
		ops_of(op->group)->nstarted--;
	op->started = false;
	ddio_list_del(&op->start_link);
	ddio_list_del(&op->link);
}
