// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From the user's description of a transfer to an operation.  Runs in the
 * user's thread and touches nothing of the reactor's.  A member whose
 * description is wrong comes all the same, since the others would wait for it:
 * the error is its contribution.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/objio.h"
#include "cp/coll/carry.h"
#include "cp/coll/op.h"
#include "cp/coll/spread.h"

#define KNOWN_FLAGS                                                                        \
	(DDIO_XFER_SYNC | DDIO_XFER_ROTATE | DDIO_XFER_NO_BATCH | DDIO_XFER_SATF |         \
	 DDIO_XFER_NO_SCATTER | DDIO_XFER_SHORT | DDIO_XFER_OVERLAP | DDIO_XFER_NO_SHARE | \
	 DDIO_XFER_IN_TURN | DDIO_XFER_ATOMIC | DDIO_XFER_FILE_ORDER)

static int op_wrong(struct ddio_op *op, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int op_wrong(struct ddio_op *op, int err, const char *fmt, ...)
{
	char what[DDIO_MAX_TEXT], why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	op_describe(op, what);
	error_set(&op->failed, err, "rank %u: %.240s: %s", op->rank, what, why);
	return err;
}

static int strided_check(const struct ddio_part *part)
{
	uint64_t i;
	uint32_t l;

	for (i = 0; i < part->n; i++) {
		const struct ddio_strided *s = &part->strided[i];

		if (s->nlevels > DDIO_MAX_DIMS || s->reserved || s->offset > DDIO_MAX_FILE ||
		    s->len > DDIO_MAX_FILE)
			return -EINVAL;
		for (l = 0; l < s->nlevels; l++)
			if (!s->level[l].count || s->level[l].stride < 0)
				return -EINVAL;
	}
	return 0;
}

/* Checks what the encoder relies on; the map checks the rest. */
static int views_check(const struct ddio_part *part)
{
	uint64_t i;

	for (i = 0; i < part->n; i++) {
		const struct ddio_view *view = &part->view[i];
		const struct ddio_tree *tree = view->tree;

		if (view->offset > DDIO_MAX_FILE || view->len > DDIO_MAX_FILE ||
		    (view->len && !tree))
			return -EINVAL;
		if (tree && ((tree->nnodes && !tree->node) || (tree->nchildren && !tree->child)))
			return -EINVAL;
	}
	return 0;
}

static int part_check(struct ddio_op *op, const struct ddio_part *part)
{
	if (!part || part->reserved)
		return op_wrong(op, -EINVAL, "part is NULL, or its reserved member is not 0");
	switch (part->kind) {
	case DDIO_PART_ARRAY:
		if (!part->array || !part->array->ndims || part->array->ndims > DDIO_MAX_DIMS)
			return op_wrong(op, -EINVAL,
					"array is NULL, or does not have 1 to %d dimensions",
					DDIO_MAX_DIMS);
		return 0;
	case DDIO_PART_STRIDED:
		if (part->n && !part->strided)
			return op_wrong(op, -EINVAL, "strided is NULL");
		if (strided_check(part))
			return op_wrong(op, -EINVAL, "a strided description is invalid");
		return 0;
	case DDIO_PART_LIST:
		if (part->n && !part->list)
			return op_wrong(op, -EINVAL, "list is NULL");
		return 0;
	case DDIO_PART_VIEW:
		if (part->n && !part->view)
			return op_wrong(op, -EINVAL, "view is NULL");
		if (views_check(part))
			return op_wrong(op, -EINVAL,
					"a view is beyond the largest file, or part of it is NULL");
		return 0;
	default:
		return op_wrong(op, -EINVAL, "unknown kind %u of part", part->kind);
	}
}

/* Makes the map of this process's share; the other members' descriptions count as empty. */
static int own_map(struct ddio_op *op, const struct ddio_part *part, const char **why)
{
	struct ddio_part *parts;
	uint32_t r;
	int err;

	if (part->kind == DDIO_PART_ARRAY)
		return ddio_map_new_array(part->array, op->nprocs, &op->map, why);
	parts = calloc(op->nprocs, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	for (r = 0; r < op->nprocs; r++)
		parts[r].kind = part->kind;
	parts[op->rank] = *part;
	err = ddio_map_new_overlapping(parts, op->nprocs,
				       op->flags & DDIO_XFER_OVERLAP ? MAP_TWICE | MAP_AGAIN : 0,
				       &op->map, why);
	free(parts);
	return err;
}

static int op_map(struct ddio_op *op, const struct ddio_transfer *t)
{
	const char *why = NULL;
	uint64_t span;
	int err;

	err = own_map(op, t->part, &why);
	if (err)
		return op_wrong(op, err, "%s", why ? why : strerror(-err));
	op->share = ddio_map_share_size(op->map, op->rank);
	err = ddio_memmap_new(op->map, op->rank, t->memory, &op->memmap, &span, &why);
	if (err)
		return op_wrong(op, err, "%s", why ? why : strerror(-err));
	if (op->share && !t->buf)
		return op_wrong(op, -EINVAL, "buf is NULL, but the share has %llu bytes",
				(unsigned long long)op->share);
	return 0;
}

/* Returns true if it goes with the agreement: every member must find the same, so all must know the whole. */
static bool op_is_small(const struct ddio_op *op)
{
	bool known = !op->group || op->part_kind == DDIO_PART_ARRAY;
	uint64_t lo, hi, all = 0;
	uint32_t r;

	if (!known || op->nprocs > SMALL_MEMBERS ||
	    op->flags & ~(DDIO_XFER_SHORT | DDIO_XFER_NO_SCATTER))
		return false;
	ddio_map_bounds(op->map, &lo, &hi);
	if (hi == lo || hi - lo > SMALL_BYTES || ddio_map_covered(op->map, lo, hi) != hi - lo)
		return false;
	for (r = 0; r < op->nprocs && all <= SMALL_BYTES; r++)
		all += ddio_map_share_size(op->map, r);
	return all <= SMALL_BYTES;
}

/* As other functions of messages do. */
static ssize_t put_crowd_of_one(const struct ddio_op *op, void *buf, size_t cap,
				const struct ddio_part *part)
{
	struct ddio_crowd crowd;
	ssize_t len = ddio_crowd_one(&crowd, op->rank, part);

	if (op->may_spread) {
		crowd.spread = DDIO_CROWD_MAY;
		ddio_map_bounds(op->map, &crowd.lo, &crowd.hi);
	}
	if (!len)
		len = ddio_put_crowd(buf, cap, &crowd);
	ddio_crowd_free(&crowd);
	return len;
}

static ssize_t put_own(const struct ddio_op *op, void *buf, size_t cap,
		       const struct ddio_part *part)
{
	return part->kind == DDIO_PART_ARRAY ? ddio_put_part(buf, cap, part)
					     : put_crowd_of_one(op, buf, cap, part);
}

static int op_encode(struct ddio_op *op, const struct ddio_part *part)
{
	ssize_t len = put_own(op, NULL, 0, part);

	if (len > 0 && spread_can(op, (size_t)len)) {
		op->may_spread = true;
		len = put_own(op, NULL, 0, part);
	}
	if (len < 0)
		return op_wrong(op, (int)len, "%s", strerror((int)-len));
	if (len > (ssize_t)(DDIO_MAX_PAYLOAD / 2))
		return op_wrong(op, -E2BIG, "the description is too long");
	op->part = malloc((size_t)len);
	if (!op->part)
		return op_wrong(op, -ENOMEM, "out of memory");
	len = put_own(op, op->part, (size_t)len, part);
	if (len < 0)
		return op_wrong(op, (int)len, "%s", strerror((int)-len));
	op->part_len = (size_t)len;
	return 0;
}

static int op_take(struct ddio_op *op, const struct ddio_transfer *t)
{
	int err;

	if (!t || t->struct_size != sizeof(*t))
		return op_wrong(op, -EINVAL, "transfer is NULL, or its struct_size is wrong");
	if (t->flags & ~KNOWN_FLAGS)
		return op_wrong(op, -EINVAL, "unknown flags %#x", t->flags & ~KNOWN_FLAGS);
	if (t->method > DDIO_METHOD_DDS)
		return op_wrong(op, -EINVAL, "unknown method %u", t->method);
	if (t->flags & DDIO_XFER_ATOMIC &&
	    (!op->writing || t->method == DDIO_METHOD_TC || t->method == DDIO_METHOD_2P))
		return op_wrong(op, -EINVAL, "only a disk-directed write can be atomic");
	if (t->outstanding > OBJIO_WINDOW_MAX || t->reserved)
		return op_wrong(op, -EINVAL, "outstanding is above %u, or reserved is not 0",
				OBJIO_WINDOW_MAX);
	if (t->report && t->report->struct_size < sizeof(t->report->struct_size))
		return op_wrong(op, -EINVAL, "the report's struct_size is not set");
	err = part_check(op, t->part);
	if (err)
		return err;
	op->user_report = t->report;
	op->buf = t->buf;
	op->packed = !t->memory;
	op->flags = t->flags & ~DDIO_XFER_FILE_ORDER;
	op->outstanding = t->outstanding;
	op->method = t->method ? t->method : DDIO_METHOD_DDS;
	op->part_kind = t->part->kind;
	err = op_map(op, t);
	if (!err)
		err = op_encode(op, t->part);
	if (!err && !t->method && op_is_small(op))
		op->method = DDIO_METHOD_SMALL;
	else if (!err && !t->method)
		carry_look(op);
	return err;
}

static bool wants_file_order(const struct ddio_transfer *t)
{
	return t && t->struct_size == sizeof(*t) && t->flags & DDIO_XFER_FILE_ORDER;
}

/* Of an order that there is not, the other members would never hear. */
static int order_check(const struct ddio_file *file, const struct ddio_group *group,
		       const struct ddio_transfer *t)
{
	if (!wants_file_order(t) || (group && order_is_of(file->order, group)))
		return 0;
	return session_fail(file->session, -EINVAL,
			    "%s was not opened by all of the group: it has no order there",
			    file->rec.name);
}

/* NULL only without memory: what is wrong with the transfer goes into @failed. */
static struct ddio_op *op_new(struct ddio_file *file, struct ddio_group *group,
			      const struct ddio_transfer *t, bool writing)
{
	struct ddio_op *op = calloc(1, sizeof(*op));

	if (!op)
		return NULL;
	op->session = file->session;
	op->file = file;
	op->group = group;
	op->rank = group ? group->rank : 0;
	op->nprocs = group ? group->size : 1;
	op->writing = writing;
	op->in_file_order = wants_file_order(t) && order_has_key(file->order);
	op->method = DDIO_METHOD_DDS;
	ddio_list_init(&op->session_link);
	ddio_list_init(&op->link);
	ddio_list_init(&op->start_link);
	ddio_list_init(&op->turn.link);
	if (group && group->session != file->session)
		op_wrong(op, -EINVAL, "the file and the group are of different sessions");
	else
		op_take(op, t);
	op->m = op->session->transfers->methods[op->method];
	return op;
}

/*
 * Starting and waiting
 */
static int transfer_start(struct ddio_file *file, struct ddio_group *group,
			  const struct ddio_transfer *t, bool writing, struct ddio_op **result)
{
	int err = order_check(file, group, t);
	struct ddio_op *op = err ? NULL : op_new(file, group, t, writing);

	if (err)
		return err;
	if (!op)
		return session_fail(file->session, -ENOMEM, "out of memory");
	op_submit(op);
	*result = op;
	return 0;
}

int ddio_test(struct ddio_op *op)
{
	return op && !ddio_gate_is_open(&op->gate) ? -EINPROGRESS : 0;
}

static void report_copy(struct ddio_op *op)
{
	struct ddio_report *to = op->user_report;
	size_t len;

	if (!to)
		return;
	len = to->struct_size;
	op->report.struct_size = len;
	memcpy(to, &op->report, len < sizeof(op->report) ? len : sizeof(op->report));
}

/* An operation that is over: what came of it. */
static int op_take_result(struct ddio_op *op)
{
	int err = session_outcome(op->session, &op->result);

	report_copy(op);
	op_give_up(op);
	return err;
}

int ddio_wait(struct ddio_op *op)
{
	int err;

	if (!op)
		return -EINVAL;
	err = ddio_env_call(op->session->env, NULL, &op->gate);
	return err ? session_fail(op->session, err, CALL_INSIDE) : op_take_result(op);
}

static int transfer_run(struct ddio_file *file, struct ddio_group *group,
			const struct ddio_transfer *t, bool writing)
{
	int err = order_check(file, group, t);
	struct ddio_op *op = err ? NULL : op_new(file, group, t, writing);

	if (err)
		return err;
	if (!op)
		return session_fail(file->session, -ENOMEM, "out of memory");
	err = op_call(op);
	return err ? session_fail(file->session, err, CALL_INSIDE) : op_take_result(op);
}

int ddio_read_all(struct ddio_file *file, struct ddio_group *group, const struct ddio_transfer *t)
{
	return file && group ? transfer_run(file, group, t, false) : -EINVAL;
}

int ddio_write_all(struct ddio_file *file, struct ddio_group *group, const struct ddio_transfer *t)
{
	return file && group ? transfer_run(file, group, t, true) : -EINVAL;
}

int ddio_start_read_all(struct ddio_file *file, struct ddio_group *group,
			const struct ddio_transfer *t, struct ddio_op **op)
{
	return file && group && op ? transfer_start(file, group, t, false, op) : -EINVAL;
}

int ddio_start_write_all(struct ddio_file *file, struct ddio_group *group,
			 const struct ddio_transfer *t, struct ddio_op **op)
{
	return file && group && op ? transfer_start(file, group, t, true, op) : -EINVAL;
}

int ddio_start_read(struct ddio_file *file, const struct ddio_transfer *t, struct ddio_op **op)
{
	return file && op ? transfer_start(file, NULL, t, false, op) : -EINVAL;
}

int ddio_start_write(struct ddio_file *file, const struct ddio_transfer *t, struct ddio_op **op)
{
	return file && op ? transfer_start(file, NULL, t, true, op) : -EINVAL;
}

int ddio_read(struct ddio_file *file, const struct ddio_transfer *t)
{
	return file ? transfer_run(file, NULL, t, false) : -EINVAL;
}

int ddio_write(struct ddio_file *file, const struct ddio_transfer *t)
{
	return file ? transfer_run(file, NULL, t, true) : -EINVAL;
}
