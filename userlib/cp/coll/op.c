// SPDX-License-Identifier: LGPL-2.1-or-later
/* The phases of an operation. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/op.h"

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

struct ddio_op *op_find(struct ddio_group *group, uint64_t number)
{
	struct ddio_op *op;

	ddio_list_for_each_entry(op, &group->ops, link)
		if (op->turn.number == number)
			return op;
	return NULL;
}

/* The last of the reactor's accesses: the user may free the operation at once. */
static void op_finish(struct ddio_op *op)
{
	struct ddio_group *group = op->group;

	op_enter(op, DDIO_PHASE_OVER);
	report_fill(op);
	op->m->free(op);
	ddio_list_del(&op->link);
	file_put(op->file);
	turn_pass(group, &op->turn);
	group_put(group);
	ddio_gate_open(op->session->env, &op->gate);
}

/* Rank 0 may be in the middle of a talk with the name space, which is waited for. */
static void op_over(struct ddio_op *op, const struct error *result)
{
	op->result = *result;
	op->finishing = true;
	if (op->phase != DDIO_PHASE_ENDING)
		op_enter(op, DDIO_PHASE_ENDING);
	if (!op->rooted)
		op_finish(op);
}

bool op_unrooted(struct ddio_op *op)
{
	op->rooted = false;
	if (op->fan)
		return true;
	if (op->finishing)
		op_finish(op);
	return false;
}

static void op_end(struct ddio_op *op)
{
	op_enter(op, DDIO_PHASE_ENDING);
	end_begin(op);
}

void op_moved(struct ddio_op *op)
{
	if (op->phase == DDIO_PHASE_MOVING)
		op_end(op);
}

static void op_stop(struct ddio_op *op)
{
	op_enter(op, DDIO_PHASE_STOPPING);
	op->m->stop(op);
}

void op_stopped(struct ddio_op *op)
{
	if (op->phase != DDIO_PHASE_STOPPING)
		return;
	/* Others wait for us at the end only if they began. */
	if (op->agreed && !op->group->broken.status)
		op_end(op);
	else
		op_over(op, &op->failed);
}

void op_fail(struct ddio_op *op, const struct error *error)
{
	if (op->phase >= DDIO_PHASE_STOPPING)
		return;
	error_first(&op->failed, error);
	if (op->phase == DDIO_PHASE_MOVING)
		op_stop(op);
}

void op_agreed(struct ddio_op *op, const struct error *error)
{
	op->fan = NULL;
	op->agreed = !error->status;
	turn_pass(op->group, &op->turn);
	if (error->status) {
		op->failed = *error;
		op_stop(op);
		return;
	}
	op_enter(op, DDIO_PHASE_MOVING);
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

void op_prepared(struct ddio_op *op)
{
	op_enter(op, DDIO_PHASE_AGREEING);
	agreement_begin(op);
}

static void op_turn(struct turn *turn)
{
	struct ddio_op *op = ddio_container_of(turn, struct ddio_op, turn);

	op_enter(op, DDIO_PHASE_PREPARING);
	/* Who failed already says so to the others, and needs nothing else. */
	if (op->failed.status || op->group->broken.status)
		op_prepared(op);
	else
		op->m->prepare(op);
}

static void op_begin(void *arg)
{
	struct ddio_op *op = arg;
	struct ddio_session *s = op->session;

	ddio_env_charge(s->env, DDIO_WORK_CALL, 1);
	op_enter(op, DDIO_PHASE_QUEUED);
	if (!op->group)
		op->group = group_solo(s);
	if (!op->group) {
		error_set(&op->result, -ENOMEM, "out of memory");
		op->phase = DDIO_PHASE_OVER;
		ddio_gate_open(s->env, &op->gate);
		return;
	}
	op->group->refs++;
	file_get(op->file);
	ddio_list_add(&op->link, &op->group->ops);
	op->turn.begin = op_turn;
	turn_take(op->group, &op->turn);
}

void op_submit(struct ddio_op *op)
{
	ddio_gate_init(&op->gate);
	ddio_list_add(&op->session_link, &op->session->ops);
	op->post.fn = op_begin;
	op->post.arg = op;
	ddio_env_post(op->session->env, &op->post);
}

void ops_fail(struct ddio_group *group, const struct error *error)
{
	struct ddio_op *op, *tmp;
	bool again;

	/* One that ends may be the last of its neighbours in the list. */
	do {
		again = false;
		ddio_list_for_each_entry_safe(op, tmp, &group->ops, link)
			if (op->phase == DDIO_PHASE_MOVING) {
				op_fail(op, error);
				again = true;
				break;
			}
	} while (again);
}

void ops_cancel(struct ddio_session *session)
{
	uint32_t i;
	struct error error;

	error_status(&error, DDIO_ST_CANCELLED, "the session is ending");
	for (i = 0; i < session->ngroups; i++)
		if (session->group[i])
			group_break(session->group[i], &error, session->group[i]->rank, false);
}

void ops_free(struct ddio_session *session)
{
	struct ddio_op *op;

	while (!ddio_list_empty(&session->ops)) {
		op = ddio_list_first(&session->ops, struct ddio_op, session_link);
		op_free(op);
	}
}
