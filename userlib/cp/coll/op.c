// SPDX-License-Identifier: LGPL-2.1-or-later
/* The phases of an operation. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/agree.h"
#include "cp/coll/carry.h"
#include "cp/coll/op.h"
#include "cp/coll/starts.h"
#include "cp/group/fan/fan.h"

static void op_enter(struct ddio_op *op, enum phase phase)
{
	op->phase = phase;
	op->at[phase] = ddio_env_now(op->session->env);
}

void op_describe(const struct ddio_op *op, char text[DDIO_MAX_TEXT])
{
	snprintf(text, DDIO_MAX_TEXT, "%s of %s", op->writing ? "write" : "read",
		 op->file->rec.name);
}

struct ddio_list *group_ops(struct ddio_group *group)
{
	struct ops *ops = *group_state(group, &op_group_user);

	return ops ? &ops->all : NULL;
}

/* Makes the group's operations.  Returns false without memory. */
static bool group_ops_make(struct ddio_group *group)
{
	void **state = group_state(group, &op_group_user);

	if (!*state) {
		*state = malloc(sizeof(struct ops));
		if (*state)
			ops_init(*state);
	}
	return *state;
}

/* Ends with the reactor's last access to @op: the user may free it at once. */
static void op_finish(struct ddio_op *op)
{
	struct ddio_group *group = op->group;

	op_enter(op, PHASE_OVER);
	report_fill(op);
	op->m->free(op);
	start_leave(op);
	op_has_stayed(op);
	turn_pass(&op->turn);
	file_put(op->file);
	starts_decide(group);
	group_put(group);
	ddio_env_served(op->session->env);
	ddio_gate_open(op->session->env, &op->gate);
}

/* The epoch was given up. */
static void epoch_aborted(struct epoch_job *job)
{
	op_finish(job->arg);
}

/* An epoch that is still open will not be decided any more. */
static void op_leave(struct ddio_op *op)
{
	if (!op->epoch.number) {
		op_finish(op);
		return;
	}
	op->epoch.done = epoch_aborted;
	epoch_abort(&op->epoch);
}

/* Waits for an exchange that rank 0 may have with the name server. */
static void op_over(struct ddio_op *op, const struct error *result)
{
	op->result = *result;
	op->finishing = true;
	if (op->within)
		epochs_left(op->group, op->within, op->entered ? op->file : NULL, result);
	if (op->phase != PHASE_ENDING)
		op_enter(op, PHASE_ENDING);
	if (!op->rooted)
		op_leave(op);
}

bool op_unrooted(struct ddio_op *op)
{
	op->rooted = false;
	if (op->fan)
		return true;
	if (op->finishing)
		op_leave(op);
	return false;
}

static void op_end(struct ddio_op *op)
{
	op_enter(op, PHASE_ENDING);
	end_begin(op);
}

/* Fills in what the share names a second time. */
static void op_again(struct ddio_op *op)
{
	uint64_t bytes = op->writing ? 0 : ddio_map_again_size(op->map, op->rank);

	if (!bytes)
		return;
	ddio_memmap_again(op->memmap, op->buf);
	ddio_env_charge(op->session->env, DDIO_WORK_COPY, bytes);
}

void op_moved(struct ddio_op *op)
{
	if (op->phase != PHASE_MOVING)
		return;
	op_again(op);
	op_end(op);
}

/* Others may wait for I/O processors that this member was to ask. */
static void op_warn(struct ddio_op *op, uint32_t but)
{
	if (!op->agreed || op->warned || !op_is_dd(op) || op->group->broken.status)
		return;
	op->warned = true;
	warn_neighbours(op->group, op->turn.number, but);
}

static void op_stop(struct ddio_op *op)
{
	op_enter(op, PHASE_STOPPING);
	op_warn(op, UINT32_MAX);
	op->m->stop(op);
}

void op_stopped(struct ddio_op *op)
{
	if (op->phase != PHASE_STOPPING)
		return;
	/* The others wait for this member at the end only if they began. */
	if (op->agreed && !op->group->broken.status)
		op_end(op);
	else if (op->agreed && op->failed.status == DDIO_ST_CANCELLED)
		op_over(op, &op->group->broken);
	else
		op_over(op, &op->failed);
}

void op_fail(struct ddio_op *op, const struct error *error)
{
	if (op->phase >= PHASE_STOPPING)
		return;
	error_first(&op->failed, error);
	if (op->phase == PHASE_MOVING)
		op_stop(op);
}

void op_agreed(struct ddio_op *op, const struct error *error)
{
	op->fan = NULL;
	op->agreed = !error->status;
	op->stays = op->agreed && op_stays(op);
	/* The next begins, but what it has a node asked for comes there behind this: see starts.c. */
	if (!op->stays)
		turn_pass(&op->turn);
	if (error->status) {
		op->failed = *error;
		op_stop(op);
		return;
	}
	op_enter(op, PHASE_MOVING);
	if (op->failed.status)
		op_stop(op);
	else
		op->m->run(op);
}

void op_ended(struct ddio_op *op, const struct error *error)
{
	op->fan = NULL;
	op_over(op, error);
}

void op_settled(struct ddio_op *op, const struct error *result)
{
	op->fan = NULL;
	op->agreed = !result->status;
	if (op->agreed)
		op_again(op);
	turn_pass(&op->turn);
	op_over(op, result);
}

/*
 * Returns true if others of the kind may begin before all have agreed on it.  Nodes take what a group starts in its order: so rank
 * 0 starts all of it, at once, and not each member a part of an array, or later what has to be spread.
 */
static bool op_lends(const struct ddio_op *op)
{
	return op_is_dd(op) && op->part_kind != DDIO_PART_ARRAY && !op->may_spread &&
	       !op_is_atomic(op);
}

/* The beginning may be the end: nobody is left, or there is no memory. */
static void op_agree(struct ddio_op *op)
{
	struct ddio_group *group = op->group;
	struct order *order = op->turn.order;
	struct turn *turn = op->turn.lends ? &op->turn : NULL;

	group->refs++;
	order_get(order);
	agreement_begin(op);
	if (turn)
		turn_lend(order, turn);
	order_put(order);
	group_put(group);
}

static void ops_prepare(struct ddio_group *group);

void op_prepared(struct ddio_op *op)
{
	struct ddio_group *group = op->group;
	struct ops *ops = *group_state(group, &op_group_user);

	group->refs++;
	ops->preparing = NULL;
	op_enter(op, PHASE_AGREEING);
	if (op->m->agree)
		op->m->agree(op);
	else
		op_agree(op);
	ops_prepare(group);
	group_put(group);
}

/* Whoever needs a file that this session keeps others from would wait for itself. */
static void op_enter_epoch(struct ddio_op *op)
{
	struct error error;
	bool may;

	error_clear(&error);
	may = op_is_atomic(op) && !order_key(op->turn.number)
		      ? file_unmissed(op->file, &error) &&
				epochs_enter(op->group, op->file, &op->within, &error)
		      : file_usable(op->file, &error);
	op->entered = may;
	if (!may)
		error_first(&op->failed, &error);
}

static void op_checked(struct hold_check *check)
{
	struct ddio_op *op = ddio_container_of(check, struct ddio_op, hold);

	op_enter_epoch(op);
	/* A member that has failed already only tells the others. */
	if (op->failed.status || op->group->broken.status)
		op_prepared(op);
	else
		op->m->prepare(op);
}

static void op_prepare(struct ddio_op *op)
{
	op->hold.done = op_checked;
	hold_check(op->session, &op->hold);
}

/* One at a time, whatever their orders: a node is asked once for what the group needs there. */
static void ops_prepare(struct ddio_group *group)
{
	struct ops *ops = *group_state(group, &op_group_user);
	struct ddio_op *op;

	if (ops->begins)
		return;
	ops->begins = true;
	group->refs++;
	while (!ops->preparing && !ddio_list_empty(&ops->unprepared)) {
		op = ddio_list_first(&ops->unprepared, struct ddio_op, start_link);
		ops->preparing = op;
		ddio_list_del(&op->start_link);
		start_enter(op);
		op_prepare(op);
	}
	ops->begins = false;
	group_put(group);
}

static void op_turn(struct turn *turn)
{
	struct ddio_op *op = ddio_container_of(turn, struct ddio_op, turn);
	struct ops *ops = *group_state(op->group, &op_group_user);

	op_enter(op, PHASE_PREPARING);
	ddio_list_add(&op->start_link, &ops->unprepared);
	ops_prepare(op->group);
}

/* Ends an operation for which there is no memory before the group has heard of it. */
static void op_refuse(struct ddio_op *op)
{
	error_set(&op->result, -ENOMEM, "out of memory");
	op->phase = PHASE_OVER;
	ddio_gate_open(op->session->env, &op->gate);
}

static void op_begin(void *arg)
{
	struct ddio_op *op = arg;
	struct ddio_session *s = op->session;

	ddio_env_charge(s->env, DDIO_WORK_CALL, 1);
	ddio_env_await_service(s->env, ddio_env_now(s->env));
	ddio_list_add(&op->session_link, &s->transfers->ops);
	op_enter(op, PHASE_QUEUED);
	if (!op->group)
		op->group = group_solo(s);
	if (!op->group || !group_ops_make(op->group)) {
		op_refuse(op);
		return;
	}
	op->group->refs++;
	file_get(op->file);
	op->turn.begin = op_turn;
	op->turn.lends = op_lends(op);
	op->turn.bytes = op->part_len;
	if (op->in_file_order)
		turn_take_of(op->file->order, &op->turn);
	else
		turn_take(op->group, &op->turn);
}

static struct ddio_post *op_post(struct ddio_op *op)
{
	ddio_gate_init(&op->gate);
	op->post.fn = op_begin;
	op->post.arg = op;
	return &op->post;
}

void op_submit(struct ddio_op *op)
{
	ddio_env_post(op->session->env, op_post(op));
}

static void op_free(struct ddio_op *op);

int op_call(struct ddio_op *op)
{
	int err = ddio_env_call(op->session->env, op_post(op), &op->gate);

	if (err)
		op_free(op);
	return err;
}

/* One that fails may end others: those leave the list. */
static void ops_fail(struct ddio_group *group, const struct error *error)
{
	struct ops *ops = *group_state(group, &op_group_user);
	struct ddio_list moving;
	struct ddio_op *op;

	if (!ops)
		return;
	starts_stop(group);
	ddio_list_init(&moving);
	ddio_list_for_each_entry(op, &ops->all, link) {
		ops->looks++;
		if (op->phase == PHASE_MOVING)
			ddio_list_add(&op->start_link, &moving);
	}
	while (!ddio_list_empty(&moving)) {
		op = ddio_list_first(&moving, struct ddio_op, start_link);
		ddio_list_del(&op->start_link);
		if (op->phase == PHASE_MOVING)
			op_fail(op, error);
	}
}

/* The one that failed says at the end why. */
static void ops_warned(struct ddio_group *group, uint64_t number, uint32_t from)
{
	struct ddio_op *op = op_find(group, number);
	struct error error;

	if (!op)
		return;
	op_warn(op, from);
	error_status(&error, DDIO_ST_CANCELLED, "another process has given up");
	if (op->phase == PHASE_MOVING)
		op_fail(op, &error);
}

static bool ops_busy(struct ddio_group *group)
{
	struct ddio_list *ops = group_ops(group);

	return ops && !ddio_list_empty(ops);
}

static const struct step_kind op_kinds[] = {
	{ .kind = FAN_KIND_START,
	  .name = "a collective transfer",
	  .explain = agree_explain,
	  .join = agreement_join,
	  .fresh = ddio_crowd_has_data,
	  .slice = carry_slice_start },
	{ .kind = FAN_KIND_PARTS, .name = "a collective transfer of another release" },
	{ .kind = FAN_KIND_STAYS, .name = "a transfer that waits for the end of an epoch" },
	{ .kind = FAN_KIND_END, .name = "the end of a transfer", .join = tally_join },
	{ .kind = 0 },
};

const struct group_user op_group_user = {
	.kinds = op_kinds,
	.busy = ops_busy,
	.broken = ops_fail,
	.warned = ops_warned,
	.decided = starts_resume,
	.free = ops_free,
};

/*
 * All operations of a session
 */
/* For less, no I/O processor shares buffers. */
#define SHARE_MIN (64u << 10)
/* What the descriptions of members with neighbouring ranks have at most on the way to rank 0. */
#define SPREAD_MIN (16u << 10)
/* More of them are asked sooner by several members, though only after the verdict. */
#define ASK_ALONE 16

int transfers_init(struct ddio_session *session, const struct mover *const *methods)
{
	struct transfers *transfers = calloc(1, sizeof(*transfers));

	if (!transfers)
		return -ENOMEM;
	transfers->methods = methods;
	transfers->share_min = SHARE_MIN;
	transfers->spread_min = SPREAD_MIN;
	transfers->ask_alone = ASK_ALONE;
	ddio_list_init(&transfers->ops);
	session->transfers = transfers;
	return 0;
}

static void op_free(struct ddio_op *op)
{
	ddio_list_del(&op->session_link);
	if (op->whole != op->map)
		ddio_map_free(op->whole);
	ddio_memmap_free(op->memmap);
	ddio_map_free(op->map);
	ddio_crowd_free(&op->crowd);
	free(op->part);
	free(op);
}

static void op_free_run(void *arg)
{
	op_free(arg);
}

void op_give_up(struct ddio_op *op)
{
	op->post.fn = op_free_run;
	op->post.arg = op;
	ddio_env_post_later(op->session->env, &op->post);
}

void transfers_free(struct ddio_session *session)
{
	struct transfers *t = session->transfers;

	while (t && !ddio_list_empty(&t->ops))
		op_free(ddio_list_first(&t->ops, struct ddio_op, session_link));
	free(t);
}
