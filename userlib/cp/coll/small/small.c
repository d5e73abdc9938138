// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Small transfers.  To start the I/O processors, hear of each that it is done, and agree on the end costs more messages
 * than the data of a small array take.  So they go with the one step that is needed anyway: when writing, each member's
 * data go up the tree with its contribution; rank 0 puts them together, and writes them as one process would; when
 * reading it reads for all, and the verdict carries to each member what is its own.
 *
 * Nothing but the verdict ends the transfer, so it succeeds on every member or fails on every one.  Only rank 0 has
 * requests under way, and they are for memory of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/small/priv.h"
#include "cp/coll/starts.h"
#include "cp/group/fan/fan.h"

static void small_free(struct ddio_op *op)
{
	struct small_op *sm = op->priv;

	if (!sm)
		return;
	range_free(&sm->range);
	ddio_env_spare_put(op->session->env, DDIO_ENV_SPARE_BLOCK, sm->block, sm->block_len);
	free(sm->boot);
	free(sm);
	op->priv = NULL;
}

/*
 * Rank 0: the end
 */
static void small_release(struct small_op *sm)
{
	struct ddio_op *op = sm->op;
	uint8_t *data = NULL;
	size_t len = 0;

	if (!op_unrooted(op))
		return;
	if (!sm->error.status) {
		data = small_verdict_put(sm, &len);
		if (!data)
			error_set(&sm->error, -ENOMEM, "out of memory");
	}
	/* The verdict may end the operation. */
	fan_release(op->fan, &sm->error, data, len);
	free(data);
}

static void small_put(struct small_op *sm)
{
	if (!--sm->left)
		small_release(sm);
}

/*
 * Rank 0: writing
 */
static void small_extended(struct size_job *job)
{
	struct small_op *sm = job->arg;

	incarnations_note(sm->op->file);
	error_first(&sm->error, &job->error);
	sm->op->file_size = job->size;
	small_put(sm);
}

static void small_extend(struct small_op *sm)
{
	struct ddio_op *op = sm->op;

	op->size = (struct size_job){
		.file = op->file, .size = op->hi, .done = small_extended, .arg = sm
	};
	size_extend(&op->size);
}

static void small_wrote(struct range_io *range)
{
	struct small_op *sm = range->arg;
	struct ddio_op *op = sm->op;

	incarnations_note(op->file);
	error_first(&sm->error, &range->io.error);
	small_count(sm);
	if (sm->error.status || !op->fan || sm->within)
		small_put(sm);
	else
		small_extend(sm);
}

/*
 * The name server is told of bytes beyond the end once they are there, as independent.c has it.  If there should be none, it is
 * told at the same time: it may know of a shorter file.  The data, which take longer, are sent first.
 */
static void small_write(struct small_op *sm)
{
	struct ddio_op *op = sm->op;
	bool within = op->hi <= op->file->rec.size;

	sm->left = 1;
	if (agreement_check(op, &sm->error) || small_gather(sm)) {
		small_put(sm);
		return;
	}
	incarnations_begin(op->file);
	sm->within = within;
	sm->left += within;
	sm->moving = true;
	sm->range.done = small_wrote;
	range_begin(&sm->range, true);
	if (within)
		small_extend(sm);
}

/*
 * Rank 0: reading
 */
static void small_got(struct range_io *range)
{
	struct small_op *sm = range->arg;

	error_first(&sm->error, &range->io.error);
	small_count(sm);
	small_put(sm);
}

static void small_fetch(struct small_op *sm)
{
	sm->moving = true;
	sm->range.done = small_got;
	range_begin(&sm->range, false);
}

static void small_checked(struct small_op *sm, const struct size_job *job)
{
	struct ddio_op *op = sm->op;

	error_first(&sm->error, &job->error);
	op->file_size = job->size;
	if (!sm->error.status)
		agreement_check(op, &sm->error);
}

static void small_sized(struct size_job *job)
{
	struct small_op *sm = job->arg;

	small_checked(sm, job);
	small_put(sm);
}

static void small_sized_first(struct size_job *job)
{
	struct small_op *sm = job->arg;

	small_checked(sm, job);
	if (sm->error.status || !sm->op->fan)
		small_put(sm);
	else
		small_fetch(sm);
}

/*
 * Asks for the size, which another process may have changed, and for the data at the same time where the file was long
 * enough when it was last heard of.  Else data that are written meanwhile would be missed, but not their size.  The request for
 * the data, which take longer, leaves first.
 */
static void small_read(struct small_op *sm)
{
	struct ddio_op *op = sm->op;
	bool first = sm->range.end > op->file->rec.size;

	sm->left = first ? 1 : 2;
	op->size = (struct size_job){ .file = op->file,
				      .done = first ? small_sized_first : small_sized,
				      .arg = sm };
	if (!first)
		small_fetch(sm);
	size_ask(&op->size);
}

/* Fresh memory would cost more than what is moved. */
static void block_get(struct small_op *sm, uint64_t len)
{
	sm->block =
		ddio_env_spare_get(sm->op->session->env, DDIO_ENV_SPARE_BLOCK, len, &sm->block_len);
	if (!sm->block) {
		sm->block_len = len;
		sm->block = malloc(len);
	}
	if (sm->block)
		memset(sm->block, 0, len);
}

static void small_root(void *arg, struct fan *fan)
{
	struct ddio_op *op = arg;
	struct small_op *sm = op->priv;

	op->fan = fan;
	op->rooted = true;
	/* All members' of an array, or a process's alone. */
	if (!op->whole)
		op->whole = op->map;
	error_clear(&sm->error);
	ddio_map_bounds(op->whole, &op->lo, &op->hi);
	sm->range = (struct range_io){ .file = op->file, .at = op->lo, .end = op->hi, .arg = sm };
	block_get(sm, op->hi - op->lo);
	sm->boot = small_boots(op->file);
	if (!sm->block || !sm->boot) {
		sm->left = 1;
		error_set(&sm->error, -ENOMEM, "out of memory");
		small_put(sm);
		return;
	}
	sm->range.buf = sm->block;
	if (op->writing)
		small_write(sm);
	else
		small_read(sm);
}

/*
 * Every member
 */

/* A parent that passes on what is malformed is as good as lost. */
static void small_bad_verdict(struct ddio_op *op, struct error *error)
{
	error_status(error, DDIO_ST_PROTOCOL, "malformed verdict from rank 0");
	if (op->group->rank)
		group_lost(op->group, group_parent(op->group, op->group->rank), error->text);
}

static void small_told(struct ddio_op *op, const struct error *verdict, const void *data,
		       size_t len)
{
	struct small_op *sm = op->priv;
	struct error error = *verdict;
	bool busy = op->rooted;

	op->steps++;
	if (!error.status && small_verdict_take(op, data, len))
		small_bad_verdict(op, &error);
	op_settled(op, &error);
	/* The group is broken while rank 0 is at it: nobody waits for what it does any more. */
	if (busy && sm->moving)
		objio_stop(&sm->range.io, &error);
}

static void small_agreed(void *arg, const struct error *verdict, const void *data, size_t len)
{
	small_told(arg, verdict, data, len);
}

/* Rank 0 has the fan: the members' data are there.  The others hear only then that it is small, and need nothing. */
static bool small_adopt(struct ddio_op *op, struct fan *fan)
{
	struct small_op *sm = fan ? calloc(1, sizeof(*sm)) : NULL;

	if (fan && !sm)
		return false;
	start_not(op);
	op->m->free(op);
	op->priv = sm;
	op->m = &method_small;
	op->method = DDIO_METHOD_SMALL;
	if (!fan)
		return true;
	sm->op = op;
	small_root(op, fan);
	return true;
}

static void small_agree(struct ddio_op *op)
{
	struct small_op *sm = op->priv;
	struct fan_in in = { .kind = FAN_KIND_SMALL,
			     .error = &op->failed,
			     .root = small_root,
			     .done = small_agreed,
			     .arg = op };
	uint8_t *compare = agreement_compare(op, &in.compare_len), *own = NULL;

	if (!compare && !op->failed.status)
		error_set(&op->failed, -ENOMEM, "out of memory");
	if (sm && op->writing && !op->failed.status)
		own = small_own_put(op, &in.gather_len);
	in.compare = compare;
	in.gather = own;
	fan_begin(op->group, op->turn.number, STEP_FIRST, &in);
	free(own);
	free(compare);
}

/* Nobody meets this process in the order of its turns: others begin while its requests are under way. */
static void small_begin(struct ddio_op *op)
{
	if (op->nprocs == 1)
		turn_pass(&op->turn);
	small_agree(op);
}

static void small_prepare(struct ddio_op *op)
{
	struct small_op *sm = calloc(1, sizeof(*sm));

	op->priv = sm;
	if (sm)
		sm->op = op;
	else
		error_set(&op->failed, -ENOMEM, "out of memory");
	op_prepared(op);
}

static void small_report(struct ddio_op *op)
{
	const struct small_op *sm = op->priv;

	op->report.iops = sm ? sm->iops : 0;
}

const struct mover method_small = {
	.prepare = small_prepare,
	.agree = small_begin,
	.adopt = small_adopt,
	.told = small_told,
	.report = small_report,
	.free = small_free,
};
