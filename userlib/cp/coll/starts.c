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
#include <errno.h>
#include <stdlib.h>
#include "cp/coll/starts.h"

/* Of a number: the key of the order, and the lowest bits of the place in it, of which fewer than so many are undecided at a time. */
enum { PLACE_BITS = 8, KEY_BITS = 20, NAME_BITS = PLACE_BITS + KEY_BITS };

_Static_assert(TURNS_LENT < 1 << PLACE_BITS, "places of operations that are undecided differ");
_Static_assert(ORDERS_MAX < 1 << KEY_BITS, "every order has a key");

/* A node takes 64 of a group at a time, and may still be at the end of some that are over here. */
#define STARTED_MAX 48

/* Of those, so many wait for the end of the group's epoch at most: were it all, none that comes before the end could be started. */
#define ASIDE_MAX 32

static struct ops *ops_of(struct ddio_group *group)
{
	return *group_state(group, &op_group_user);
}

void ops_init(struct ops *ops)
{
	*ops = (struct ops){ .looks = 0 };
	ddio_list_init(&ops->all);
	ddio_list_init(&ops->unprepared);
	ddio_list_init(&ops->ready);
	ddio_list_init(&ops->free);
	ddio_list_init(&ops->held);
}

void ops_free(void *state)
{
	struct ops *ops = state;

	if (!ops)
		return;
	ddio_hash_fini(&ops->by_turn);
	ddio_hash_fini(&ops->numbered);
	ddio_hash_fini(&ops->unnamed);
	free(ops);
}

/*
 * Numbers
 */
static uint64_t op_place(const struct ddio_op *op)
{
	return order_key(op->turn.number) << PLACE_BITS |
	       (op->turn.number & ((1 << PLACE_BITS) - 1));
}

static uint64_t number_place(uint64_t number)
{
	return number & (((uint64_t)1 << NAME_BITS) - 1);
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

/* Until an operation has a number its place is its name. */
static void name_add(struct ops *ops, struct ddio_op *op)
{
	if (op->number)
		ddio_hash_add(&ops->numbered, &op->name, op->number);
	else
		ddio_hash_add(&ops->unnamed, &op->name, op_place(op));
}

static void name_del(struct ops *ops, struct ddio_op *op)
{
	ddio_hash_del(op->number ? &ops->numbered : &ops->unnamed, &op->name);
}

static void op_name(struct ops *ops, struct ddio_op *op, uint64_t number)
{
	name_del(ops, op);
	op->number = number;
	name_add(ops, op);
}

void start_failed(struct ddio_op *op)
{
	struct ops *ops = ops_of(op->group);

	if (op->group->rank || op->started)
		return;
	op_name(ops, op, number_next(&ops->used, op));
	number_note(&ops->used, op);
}

void start_told(struct ddio_op *op, uint64_t number)
{
	struct ops *ops = ops_of(op->group);

	op_name(ops, op, number ? number : number_next(&ops->told, op));
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
	return number >> NAME_BITS && number_place(number) == op_place(op);
}

/* Returns the one that has no number yet and may get that one; NULL: there is none. */
static struct ddio_op *op_fitting(struct ddio_group *group, uint64_t number)
{
	struct ops *ops = ops_of(group);
	struct ddio_op *op = op_find(group, number);

	if (op && number_fits(op, number))
		return op;
	ddio_hash_for_each_match(op, &ops->unnamed, number_place(number), name) {
		ops->looks++;
		if (number_fits(op, number))
			return op;
	}
	return NULL;
}

struct ddio_op *op_find(struct ddio_group *group, uint64_t number)
{
	struct ops *ops = ops_of(group);

	if (!ops)
		return NULL;
	ops->looks++;
	return ddio_hash_entry(ddio_hash_find(&ops->by_turn, number), struct ddio_op, by_turn);
}

struct ddio_op *op_numbered(struct ddio_group *group, uint64_t number)
{
	struct ops *ops = ops_of(group);
	struct ddio_op *op;

	if (!ops || !number)
		return NULL;
	ops->looks++;
	op = ddio_hash_entry(ddio_hash_find(&ops->numbered, number), struct ddio_op, name);
	if (op)
		return op;
	op = op_fitting(group, number);
	if (op)
		op_name(ops, op, number);
	return op;
}

/*
 * Which is next
 */

/* Members that ask, each its own nodes, ask for all of a file by the same connections. */
static bool is_behind(const struct ops *ops, const struct ddio_op *op)
{
	return op->dealt && ops->nlate == ops->nmeet && ops->late_file == op->file->rec.ref.id;
}

/* One that members ask for, so perhaps after others that were started later, is at nodes with no other that it could meet there before or after its time. */
static bool must_wait(const struct ops *ops, const struct ddio_op *op)
{
	if (ops->nstarted >= STARTED_MAX || (ops->narriving && !in_group_order(op)))
		return true;
	return op->dealt ? ops->nmeet && !is_behind(ops, op) : ops->nlate;
}

static struct ddio_op *line_first(const struct order_line *line)
{
	return ddio_list_empty(&line->ops)
		       ? NULL
		       : ddio_list_first(&line->ops, struct ddio_op, start_link);
}

/* Has the order wait behind others if its first can be started: only that one is looked at, whatever rank 0 has to ask for it. */
static void line_wait(struct ops *ops, struct order_line *line)
{
	const struct ddio_op *first = line_first(line);

	if (first && first->sized)
		ddio_list_add(&line->link, op_is_dd(first) ? &ops->ready : &ops->free);
}

static void line_leave(struct ddio_op *op)
{
	struct order_line *line = &op->turn.order->line;
	bool first = line_first(line) == op;

	ddio_list_del(&op->start_link);
	if (!first)
		return;
	ddio_list_del(&line->link);
	line_wait(ops_of(op->group), line);
}

void start_ready(struct ddio_op *op)
{
	struct order_line *line = &op->turn.order->line;

	if (line_first(line) == op)
		line_wait(ops_of(op->group), line);
}

void start_decided(struct ddio_op *op)
{
	line_leave(op);
}

/*
 * Returns true if nodes would keep it waiting until the end of the group's epoch, and it would keep other writes of that from them.  What is
 * in the group's order may not wait here: the end of the epoch comes after it.
 */
static bool is_held(const struct ddio_op *op)
{
	return !in_group_order(op) && epochs_have(op->group, op->file);
}

static void held_for_long(void *arg)
{
	starts_resume(arg);
}

/* Holds it until the epoch is over, or is given up, of which nobody hears.  Returns false without memory. */
static bool hold_begin(struct ops *ops, struct ddio_group *group)
{
	const struct ddio_session *s = group->session;

	if (ddio_timer_armed(&ops->timer))
		return true;
	ops->timer.fn = held_for_long;
	ops->timer.arg = group;
	return !ddio_timer_arm(s->env, &ops->timer,
			       ddio_env_now(s->env) + DDIO_EPOCH_PATIENCE * s->timeout_ns);
}

/* Returns the first that nodes may be asked for, but for those that are under way; NULL: there is none. */
static struct ddio_op *ready_first(struct ops *ops)
{
	struct order_line *line;
	struct ddio_op *op;

	while (!ddio_list_empty(&ops->ready)) {
		line = ddio_list_first(&ops->ready, struct order_line, link);
		op = line_first(line);
		if (!is_held(op) || !hold_begin(ops, op->group))
			return op;
		ops->looks++;
		ddio_list_del(&line->link);
		ddio_list_add(&line->link, &ops->held);
	}
	return NULL;
}

/*
 * Returns the next that can be started.  One that must wait keeps those behind it waiting, or it might for ever: each that was
 * started ends, and then it is the next.
 */
static struct ddio_op *start_next(struct ops *ops)
{
	struct ddio_op *op;

	ops->looks++;
	if (!ddio_list_empty(&ops->free))
		return line_first(ddio_list_first(&ops->free, struct order_line, link));
	op = ready_first(ops);
	return op && !must_wait(ops, op) ? op : NULL;
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

void starts_stop(struct ddio_group *group)
{
	struct ops *ops = ops_of(group);

	if (ops)
		ddio_timer_cancel(group->session->env, &ops->timer);
}

void starts_resume(struct ddio_group *group)
{
	struct ops *ops = ops_of(group);

	if (!ops)
		return;
	ddio_list_splice(&ops->held, &ops->ready);
	starts_decide(group);
}

/*
 * Coming and going
 */
void start_enter(struct ddio_op *op)
{
	struct ops *ops = ops_of(op->group);

	ddio_list_add(&op->link, &ops->all);
	ddio_hash_add(&ops->by_turn, &op->by_turn, op->turn.number);
	if (op->m->agree)
		return;
	ddio_list_add(&op->start_link, &op->turn.order->line.ops);
	name_add(ops, op);
}

void start_not(struct ddio_op *op)
{
	line_leave(op);
	name_del(ops_of(op->group), op);
	op->number = 0;
}

static bool is_aside(const struct ddio_op *op)
{
	return in_group_order(op) && !op->within && epochs_have(op->group, op->file);
}

bool start_may(const struct ddio_op *op, struct error *error)
{
	if (!is_aside(op) || ops_of(op->group)->naside < ASIDE_MAX)
		return true;
	error_set(error, -EBUSY,
		  "%.200s: %u transfers of the group wait for the end of its epoch already",
		  op->file->rec.name, ASIDE_MAX);
	return false;
}

/* Those that nodes keep until the end of the epoch must not keep from them what comes before that. */
static void start_count(struct ops *ops, const struct ddio_op *op, int one)
{
	if (op->aside) {
		ops->naside += (uint32_t)one;
		return;
	}
	ops->nmeet += (uint32_t)one;
	if (op->dealt)
		ops->nlate += (uint32_t)one;
}

void start_take(struct ddio_op *op)
{
	struct ops *ops = ops_of(op->group);

	op_name(ops, op, number_next(&ops->used, op));
	number_note(&ops->used, op);
	op->started = true;
	ops->nstarted++;
	op->aside = op->arriving = is_aside(op);
	ops->narriving += op->arriving;
	start_count(ops, op, 1);
	if (!op->aside)
		ops->late_file = op->dealt ? op->file->rec.ref.id : 0;
	line_leave(op);
}

static void arrive(struct ops *ops, struct ddio_op *op)
{
	ops->narriving -= op->arriving;
	op->arriving = false;
}

void start_arrived(struct ddio_group *group, uint64_t number)
{
	struct ddio_op *op = op_find(group, number);

	if (op)
		arrive(ops_of(group), op);
	starts_decide(group);
}

static void start_over(struct ops *ops, struct ddio_op *op)
{
	arrive(ops, op);
	op->started = false;
	ops->nstarted--;
	start_count(ops, op, -1);
}

void start_leave(struct ddio_op *op)
{
	struct ops *ops = ops_of(op->group);

	if (op->started)
		start_over(ops, op);
	line_leave(op);
	if (!op->m->agree)
		name_del(ops, op);
	ddio_hash_del(&ops->by_turn, &op->by_turn);
	ddio_list_del(&op->link);
}
