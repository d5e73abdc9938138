// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a group does together: in its own order, or in that of a file. */
#include <stdlib.h>
#include <string.h>
#include "cp/group/group.h"

void order_init(struct order *order, struct ddio_group *group, uint64_t key)
{
	*order = (struct order){ .group = group, .refs = 1, .last = key << ORDER_PLACE_BITS };
	memcpy(order->id, group->id, sizeof(order->id));
	order->first_ended = order->last;
	ddio_list_init(&order->ahead);
	ddio_list_init(&order->turns);
	ddio_list_init(&order->line.link);
	ddio_list_init(&order->line.ops);
}

struct order *order_new(struct ddio_group *group, uint64_t key)
{
	struct order *order = malloc(sizeof(*order));
	bool may = key <= ORDERS_MAX;

	if (!order)
		return NULL;
	order_init(order, group, may ? key : 0);
	if (!may) {
		order->group = NULL;
		return order;
	}
	/* All members know by now whether the group is patient: the file was opened in its order. */
	order->patient = group->patient_from != 0;
	ddio_hash_add(&group->orders, &order->node, key);
	return order;
}

bool order_is_of(const struct order *order, const struct ddio_group *group)
{
	return order && !memcmp(order->id, group->id, sizeof(order->id));
}

void order_get(struct order *order)
{
	order->refs++;
}

/* The group's own is a part of it. */
void order_put(struct order *order)
{
	if (!--order->refs)
		free(order);
}

void order_drop(struct order *order)
{
	if (!order)
		return;
	if (order->group)
		ddio_hash_del(&order->group->orders, &order->node);
	order->group = NULL;
	order_put(order);
}

void orders_drop(struct ddio_group *group)
{
	struct ddio_hash_walk walk;
	struct order *order;

	ddio_hash_for_each(order, &walk, &group->orders, node) {
		ddio_hash_del(&group->orders, &order->node);
		order->group = NULL;
	}
	ddio_hash_fini(&group->orders);
}

struct order *order_find(struct ddio_group *group, uint64_t number)
{
	uint64_t key = order_key(number);

	return key ? ddio_hash_entry(ddio_hash_find(&group->orders, key), struct order, node)
		   : &group->own;
}

bool order_is_over(struct ddio_group *group, uint64_t number)
{
	return order_key(number) <= group->nopened && !order_find(group, number);
}

/*
 * Turns
 */
/* Begins the turns that can begin. */
static void order_run(struct order *order)
{
	struct turn *turn;

	/* One that has passed its turn before its beginning is over: the loop that began it goes on. */
	if (order->running)
		return;
	order->running = true;
	order_get(order);
	while (!order->turn && !ddio_list_empty(&order->turns)) {
		turn = ddio_list_first(&order->turns, struct turn, link);
		if (order->nlent && !turn->lends)
			break;
		ddio_list_del(&turn->link);
		order->turn = turn;
		turn->begin(turn);
	}
	order->running = false;
	order_put(order);
}

void turn_take_of(struct order *order, struct turn *turn)
{
	turn->order = order;
	turn->number = ++order->last;
	ddio_list_add(&turn->link, &order->turns);
	order_run(order);
}

void turn_take(struct ddio_group *group, struct turn *turn)
{
	turn_take_of(&group->own, turn);
}

static void turn_lend_now(struct order *order)
{
	struct turn *turn = order->turn;

	if (!turn || !turn->asks || order->nlent == TURNS_LENT ||
	    order->group->nlent == TURNS_LENT_ALL || order->group->lent_bytes >= TURNS_LENT_BYTES)
		return;
	turn->lent = true;
	order->nlent++;
	order->group->nlent++;
	order->group->lent_bytes += turn->bytes;
	order->turn = NULL;
	order_run(order);
}

void turn_lend(struct order *order, struct turn *turn)
{
	if (order->turn != turn)
		return;
	turn->asks = true;
	turn_lend_now(order);
}

void turn_pass(struct turn *turn)
{
	struct order *order = turn->order;

	if (turn->lent) {
		turn->lent = false;
		order->nlent--;
		order->group->nlent--;
		order->group->lent_bytes -= turn->bytes;
		order_get(order);
		turn_lend_now(order);
		order_run(order);
		order_put(order);
	} else if (order->turn == turn) {
		order->turn = NULL;
		order_run(order);
	}
}
