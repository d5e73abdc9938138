// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Shared counters.  Their values are rank 0's, and its reactor serves them, whatever its program does meanwhile.
 * A request goes up the tree from parent to parent, its answer comes down the same way.  Connections of the tree
 * are never made again: when one is lost the group is broken, which ends the wait of everybody.  Each member numbers
 * its requests, and rank 0 takes them in that order only, so none can be carried out twice.
 *
 * No feature of the protocol is needed: a counter exists only after a step that every member took.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cp/group/steps/counter.h"
#include "cp/group/fan/fan.h"
#include "cp/group/peer.h"

static struct counters *counters_of(struct ddio_group *group)
{
	return *group_state(group, &counter_group_user);
}

static void counters_free(void *state)
{
	struct counters *cs = state;
	struct ddio_group_counter *counter;
	struct ddio_hash_walk walk;

	ddio_hash_for_each(counter, &walk, &cs->all, node) {
		free(counter);
	}
	ddio_hash_fini(&cs->all);
	free(cs->served);
	free(cs);
}

static struct counters *counters_get(struct ddio_group *group)
{
	struct counters *cs = counters_of(group);

	if (cs)
		return cs;
	cs = calloc(1, sizeof(*cs));
	if (cs && !group->rank)
		cs->served = calloc(group->size, sizeof(*cs->served));
	if (!cs || (!group->rank && !cs->served)) {
		free(cs);
		return NULL;
	}
	ddio_list_init(&cs->waiting);
	*group_state(group, &counter_group_user) = cs;
	return cs;
}

/*
 * Creation
 */
struct counter_new_call {
	struct session_call call;
	struct ddio_group *group;
	struct turn turn;
	int64_t initial;
	uint8_t compare[8];
	struct ddio_group_counter *counter;
	struct error error;
};

static void counter_agreed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct counter_new_call *nc = arg;

	(void)data;
	(void)len;
	if (!error->status) {
		nc->counter->id = nc->turn.number;
		ddio_hash_add(&counters_of(nc->group)->all, &nc->counter->node, nc->counter->id);
	} else {
		free(nc->counter);
		nc->counter = NULL;
	}
	turn_pass(&nc->turn);
	call_end(&nc->call, error);
}

static void counter_begin(struct turn *turn)
{
	struct counter_new_call *nc = ddio_container_of(turn, struct counter_new_call, turn);
	const struct fan_in in = { .kind = FAN_KIND_COUNTER,
				   .compare = nc->compare,
				   .compare_len = sizeof(nc->compare),
				   .error = &nc->error,
				   .done = counter_agreed,
				   .arg = nc };

	bytes_put64(nc->compare, (uint64_t)nc->initial);
	fan_begin(nc->group, turn->number, STEP_FIRST, &in);
}

static void counter_new_run(struct session_call *call)
{
	struct counter_new_call *nc = ddio_container_of(call, struct counter_new_call, call);

	nc->counter = calloc(1, sizeof(*nc->counter));
	if (!nc->counter || !counters_get(nc->group)) {
		error_set(&nc->error, -ENOMEM, "rank %u: a counter: out of memory",
			  nc->group->rank);
	} else {
		nc->counter->group = nc->group;
		nc->counter->value = nc->initial;
	}
	nc->turn.begin = counter_begin;
	turn_take(nc->group, &nc->turn);
}

int ddio_counter_create(struct ddio_group *group, int64_t initial,
			struct ddio_group_counter **counter)
{
	struct counter_new_call nc = { .group = group, .initial = initial };
	int err;

	if (!group)
		return -EINVAL;
	if (!counter)
		return session_fail(group->session, -EINVAL,
				    "ddio_counter_create: counter is NULL");
	*counter = NULL;
	err = call_run(group->session, &nc.call, counter_new_run);
	*counter = nc.counter;
	return err;
}

static void counter_explain(uint32_t rank_a, const void *a, size_t a_len, uint32_t rank_b,
			    const void *b, size_t b_len, char text[DDIO_MAX_TEXT])
{
	if (a_len == 8 && b_len == 8)
		snprintf(text, DDIO_MAX_TEXT,
			 "the counter begins with %lld at rank %u, with %lld at rank %u",
			 (long long)bytes_get64(a), rank_a, (long long)bytes_get64(b), rank_b);
}

/*
 * Rank 0's part
 */
static void counter_apply(struct ddio_group_counter *counter, struct ddio_msg_counter *msg)
{
	int64_t before = counter->value;

	if (msg->action == DDIO_COUNTER_SET)
		counter->value = (int64_t)msg->value;
	else if (__builtin_add_overflow(before, (int64_t)msg->value, &counter->value))
		msg->status = DDIO_ST_RANGE;
	if (msg->status)
		counter->value = before;
	msg->value = (uint64_t)before;
}

/* Turns a request into its answer. */
static void counter_serve(struct counters *cs, struct ddio_msg_counter *msg)
{
	struct ddio_group_counter *counter = ddio_hash_entry(ddio_hash_find(&cs->all, msg->counter),
							     struct ddio_group_counter, node);

	msg->status = DDIO_ST_OK;
	if (counter)
		counter_apply(counter, msg);
	else
		msg->status = DDIO_ST_STALE;
}

/*
 * Messages
 */
static int counter_send(struct ddio_group *group, uint32_t to, uint16_t opcode,
			const struct ddio_msg_counter *msg)
{
	uint8_t buf[64];
	ssize_t len = ddio_put_counter(buf, sizeof(buf), msg);

	return len < 0 ? (int)len : peer_send(group, to, opcode, buf, (size_t)len);
}

/* Sends, or breaks the group. */
static void counter_pass(struct ddio_group *group, uint32_t to, uint16_t opcode,
			 const struct ddio_msg_counter *msg)
{
	int err = counter_send(group, to, opcode, msg);

	if (err)
		group_lost(group, to, strerror(-err));
}

static int counter_up(struct ddio_group *group, struct counters *cs, uint32_t from,
		      struct ddio_msg_counter *msg)
{
	if (msg->rank >= group->size || !group_holds(group, from, msg->rank) || msg->status)
		return -EPROTO;
	if (group->rank) {
		cs->passed++;
		session_watch(group->session);
		counter_pass(group, group_parent(group, group->rank), DDIO_OP_COUNTER_IN, msg);
		return 0;
	}
	if (msg->number != cs->served[msg->rank] + 1)
		return -EPROTO;
	cs->served[msg->rank]++;
	counter_serve(cs, msg);
	counter_pass(group, from, DDIO_OP_COUNTER_OUT, msg);
	return 0;
}

static int counter_answer(struct counters *cs, const struct ddio_msg_counter *msg);

static int counter_down(struct ddio_group *group, struct counters *cs, struct ddio_msg_counter *msg)
{
	if (msg->rank == group->rank)
		return counter_answer(cs, msg);
	if (msg->rank >= group->size || !group_holds(group, group->rank, msg->rank) || !cs->passed)
		return -EPROTO;
	cs->passed--;
	counter_pass(group, group_towards(group, msg->rank), DDIO_OP_COUNTER_OUT, msg);
	return 0;
}

/* Returns the counters of the group that the message is for, or NULL if it does not belong here. */
static struct counters *counter_get(struct link *link, const void *payload, size_t len,
				    struct ddio_msg_counter *msg)
{
	struct ddio_group *group = link->peer->group;

	if (ddio_get_counter(payload, len, msg) ||
	    memcmp(msg->group, group->id, sizeof(msg->group)))
		return NULL;
	return counters_of(group);
}

static int counter_in_message(struct link *link, const void *payload, size_t len)
{
	struct ddio_group *group = link->peer->group;
	uint32_t from = link->peer->rank;
	struct ddio_msg_counter msg;
	struct counters *cs = counter_get(link, payload, len, &msg);

	if (!cs || !from || group_parent(group, from) != group->rank)
		return -EPROTO;
	return group->broken.status ? 0 : counter_up(group, cs, from, &msg);
}

static int counter_out_message(struct link *link, const void *payload, size_t len)
{
	struct ddio_group *group = link->peer->group;
	struct ddio_msg_counter msg;
	struct counters *cs = counter_get(link, payload, len, &msg);

	if (!cs || !group->rank || group_parent(group, group->rank) != link->peer->rank)
		return -EPROTO;
	return group->broken.status ? 0 : counter_down(group, cs, &msg);
}

/*
 * Requests
 */

/**
 * struct counter_call - a request of this member
 * @msg: as it is sent; the answer in the end
 */
struct counter_call {
	struct session_call call;
	struct ddio_group *group;
	struct ddio_list link;
	int64_t operand;
	struct ddio_msg_counter msg;
};

static void counter_end(struct counter_call *cc)
{
	struct error error;

	error_clear(&error);
	if (cc->msg.status == DDIO_ST_RANGE)
		error_set(&error, -EOVERFLOW, "the counter is %lld, to which %lld cannot be added",
			  (long long)cc->msg.value, (long long)cc->operand);
	else if (cc->msg.status == DDIO_ST_STALE)
		error_status(&error, DDIO_ST_STALE, "rank 0 has freed the counter");
	else if (cc->msg.status)
		error_status(&error, cc->msg.status, "rank 0 refuses to count");
	call_end(&cc->call, &error);
}

static int counter_answer(struct counters *cs, const struct ddio_msg_counter *msg)
{
	struct counter_call *cc = ddio_list_first(&cs->waiting, struct counter_call, link);

	if (ddio_list_empty(&cs->waiting) || cc->msg.number != msg->number ||
	    cc->msg.counter != msg->counter || cc->msg.action != msg->action)
		return -EPROTO;
	ddio_list_del(&cc->link);
	cc->msg = *msg;
	counter_end(cc);
	return 0;
}

static void counter_run(struct session_call *call)
{
	struct counter_call *cc = ddio_container_of(call, struct counter_call, call);
	struct ddio_group *group = cc->group;
	struct counters *cs = counters_of(group);

	if (group->broken.status) {
		call_end(call, &group->broken);
		return;
	}
	if (!group->rank) {
		counter_serve(cs, &cc->msg);
		counter_end(cc);
		return;
	}
	memcpy(cc->msg.group, group->id, sizeof(cc->msg.group));
	cc->msg.rank = group->rank;
	cc->msg.number = ++cs->asked;
	ddio_list_add(&cc->link, &cs->waiting);
	session_watch(group->session);
	counter_pass(group, group_parent(group, group->rank), DDIO_OP_COUNTER_IN, &cc->msg);
}

static int counter_ask(struct ddio_group_counter *counter, uint32_t action, int64_t operand,
		       int64_t *before)
{
	struct counter_call cc = { .operand = operand };
	int err;

	if (!counter)
		return -EINVAL;
	cc.group = counter->group;
	cc.msg.counter = counter->id;
	cc.msg.action = action;
	cc.msg.value = (uint64_t)operand;
	err = call_run(cc.group->session, &cc.call, counter_run);
	if (!err && before)
		*before = (int64_t)cc.msg.value;
	return err;
}

int ddio_counter_add(struct ddio_group_counter *counter, int64_t delta, int64_t *before)
{
	return counter_ask(counter, DDIO_COUNTER_ADD, delta, before);
}

int ddio_counter_get(struct ddio_group_counter *counter, int64_t *value)
{
	return counter_ask(counter, DDIO_COUNTER_ADD, 0, value);
}

int ddio_counter_set(struct ddio_group_counter *counter, int64_t value)
{
	return counter_ask(counter, DDIO_COUNTER_SET, value, NULL);
}

struct counter_free_call {
	struct session_call call;
	struct ddio_group_counter *counter;
};

static void counter_free_run(struct session_call *call)
{
	struct ddio_group_counter *counter =
		ddio_container_of(call, struct counter_free_call, call)->counter;

	ddio_hash_del(&counters_of(counter->group)->all, &counter->node);
	free(counter);
	call_end(call, NULL);
}

void ddio_counter_free(struct ddio_group_counter *counter)
{
	struct counter_free_call fc = { .counter = counter };

	if (counter)
		call_run(counter->group->session, &fc.call, counter_free_run);
}

/*
 * As users of groups
 */
static bool counters_busy(struct ddio_group *group)
{
	const struct counters *cs = counters_of(group);

	return cs && (cs->passed || !ddio_list_empty(&cs->waiting));
}

static void counters_fail(struct ddio_group *group, const struct error *error)
{
	struct counters *cs = counters_of(group);
	struct counter_call *cc;

	while (cs && !ddio_list_empty(&cs->waiting)) {
		cc = ddio_list_first(&cs->waiting, struct counter_call, link);
		ddio_list_del(&cc->link);
		call_end(&cc->call, error);
	}
}

static const struct link_handler counter_handlers[] = {
	{ .opcode = DDIO_OP_COUNTER_IN, .message = counter_in_message },
	{ .opcode = DDIO_OP_COUNTER_OUT, .message = counter_out_message },
	{ .opcode = 0 },
};

static const struct step_kind counter_kinds[] = {
	{ .kind = FAN_KIND_COUNTER, .name = "ddio_counter_create()", .explain = counter_explain },
	{ .kind = 0 },
};

const struct group_user counter_group_user = {
	.handlers = counter_handlers,
	.kinds = counter_kinds,
	.busy = counters_busy,
	.broken = counters_fail,
	.free = counters_free,
};
