// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Two-phase: the file is cut into contiguous segments of whole blocks, one for
 * each member (the conforming distribution).  Every member reads its segment
 * on the traditional path, and the members permute among themselves; writing
 * goes the other way.  Between the phases all say that they are ready, so that
 * none waits for data of a member that has failed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/2p/priv.h"
#include "cp/group/fan/fan.h"

enum { CHUNK = 256 << 10 };

/*
 * The segment and the disks
 */

/* Finds the next bytes from the disk's cursor on that it holds and somebody wants. */
static bool segment_seek(const struct two_phase *tp, uint32_t i, uint64_t *lo, uint64_t *hi)
{
	const struct ddio_op *op = tp->op;
	uint64_t bs = op->file->rec.ref.block, n = op->file->rec.ndisks;
	uint64_t at = tp->cursor[i], block, start, end;

	for (;;) {
		if (at >= tp->seg.hi || !ddio_map_next(op->whole, at, &start, &end) ||
		    start >= tp->seg.hi)
			return false;
		block = start / bs;
		if (block % n == i)
			break;
		at = (block + (i + n - block % n) % n) * bs;
	}
	*lo = start;
	*hi = end < (block + 1) * bs ? end : (block + 1) * bs;
	if (*hi > tp->seg.hi)
		*hi = tp->seg.hi;
	return true;
}

/* A read takes the gaps in a block along; a write must not touch them. */
static int segment_next(struct objio *io, struct objreq *req)
{
	struct two_phase *tp = io->arg;
	uint64_t bs = io->rec->ref.block, lo, hi, end, a, b;

	if (!segment_seek(tp, req->i, &lo, &hi))
		return 0;
	end = (lo / bs + 1) * bs < tp->seg.hi ? (lo / bs + 1) * bs : tp->seg.hi;
	if (!io->writing)
		hi = end;
	while (hi < end && ddio_map_next(tp->op->whole, hi, &a, &b) && a == hi)
		hi = b < end ? b : end;
	tp->cursor[req->i] = hi;
	req->obj.offset = lo / bs / io->rec->ndisks * bs + lo % bs;
	req->obj.len = hi - lo;
	req->iov_one.iov_base = tp->staging + (lo - tp->seg.lo);
	req->iov_one.iov_len = hi - lo;
	req->niov = 1;
	return 1;
}

static void segment_done(struct objio *io);

static void segment_io(struct two_phase *tp)
{
	struct ddio_op *op = tp->op;
	uint32_t i;

	for (i = 0; i < op->file->rec.ndisks; i++)
		tp->cursor[i] = tp->seg.lo;
	tp->io.session = op->session;
	tp->io.rec = &op->file->rec;
	tp->io.writing = op->writing;
	tp->io.window = op->outstanding;
	tp->io.next = segment_next;
	tp->io.done = segment_done;
	tp->io.arg = tp;
	tp->io_running = true;
	objio_begin(&tp->io);
}

static void segment_count(struct two_phase *tp)
{
	struct ddio_report *r = &tp->op->report;

	r->requests = tp->io.requests;
	r->disk_requests = tp->io.disk_reqs;
	r->disk_read = tp->io.disk_reqs * tp->op->file->rec.ref.block;
	r->buffers = tp->io.most;
	tp->op->messages += 2 * tp->io.requests;
}

/*
 * Between the phases
 */
static void stop_check(struct two_phase *tp);
static void exchanged(struct two_phase *tp);

static void exchange_posted(void *arg)
{
	struct two_phase *tp = arg;

	tp->posted = false;
	if (tp->stopping)
		stop_check(tp);
	else
		tp_exchange_begin(tp, exchanged);
}

/* Begins the exchange once the verdict has left for other members: packing takes a while, and they would wait for it. */
static void exchange_post(struct two_phase *tp)
{
	tp->posted = true;
	tp->post.fn = exchange_posted;
	tp->post.arg = tp;
	ddio_env_post(tp->op->session->env, &tp->post);
}

static void middle_agreed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct two_phase *tp = arg;
	int err = error->status ? 0 : peers_told(tp->op->group, data, len);

	tp->answered = true;
	tp->op->steps++;
	if (err)
		tp_broken(tp, err, "the addresses of the others");
	else if (tp->stopping)
		stop_check(tp);
	else if (error->status)
		op_fail(tp->op, error);
	else
		exchange_post(tp);
}

/* From here on members talk to all others; the first time they are told all addresses. */
static void middle_root(void *arg, struct fan *fan)
{
	struct two_phase *tp = arg;
	struct error error;
	uint8_t *data;
	ssize_t len = peers_tell(tp->op->group, &data);

	error_clear(&error);
	if (len < 0)
		error_set(&error, (int)len, "addresses of the group: %s", strerror((int)-len));
	/* Ends the step, and maybe the operation. */
	fan_release(fan, &error, data, len < 0 ? 0 : (size_t)len);
	free(data);
}

static void middle_begin(struct two_phase *tp)
{
	struct ddio_op *op = tp->op;
	const struct fan_in in = { .kind = FAN_KIND_MIDDLE,
				   .error = &op->failed,
				   .root = middle_root,
				   .done = middle_agreed,
				   .arg = tp };

	tp->asked = true;
	if (!tp->stopping)
		tp->stage = TP_MIDDLE;
	fan_begin(op->group, op->turn.number, STEP_MIDDLE, &in);
}

/* Stops the operation if nothing refers to its memory any more. */
static void stop_check(struct two_phase *tp)
{
	struct ddio_op *op = tp->op;

	if (tp->io_running || tp->sends || tp->posted)
		return;
	if (op->agreed && !tp->asked && !op->group->broken.status) {
		middle_begin(tp);
		return;
	}
	if (tp->asked && !tp->answered)
		return;
	op_stopped(op);
}

static void segment_done(struct objio *io)
{
	struct two_phase *tp = io->arg;

	tp->io_running = false;
	segment_count(tp);
	if (tp->stopping) {
		stop_check(tp);
	} else if (io->error.status) {
		op_fail(tp->op, &io->error);
	} else if (tp->stage == TP_READ) {
		middle_begin(tp);
	} else {
		tp->stage = TP_OVER;
		op_moved(tp->op);
	}
}

static void exchanged(struct two_phase *tp)
{
	if (tp->stopping) {
		stop_check(tp);
	} else if (tp->op->writing) {
		tp->stage = TP_WRITE;
		segment_io(tp);
	} else {
		tp->stage = TP_OVER;
		op_moved(tp->op);
	}
}

/*
 * The method
 */
static void tp_prepare(struct ddio_op *op)
{
	struct two_phase *tp = calloc(1, sizeof(*tp));

	op->priv = tp;
	if (tp) {
		tp->op = op;
		tp->cursor = calloc(op->file->rec.ndisks, sizeof(*tp->cursor));
	}
	if (!tp || !tp->cursor)
		error_set(&op->failed, -ENOMEM, "out of memory");
	op_prepared(op);
}

static void tp_run(struct ddio_op *op)
{
	struct two_phase *tp = op->priv;
	struct error error;
	uint64_t len;
	int err;

	tp_segment(op, op->rank, &tp->seg);
	len = tp->seg.hi - tp->seg.lo;
	tp->chunk = op->file->rec.ref.block > CHUNK ? op->file->rec.ref.block : CHUNK;
	tp->staging = malloc(len ? len : 1);
	err = tp->staging ? tp_exchange_prepare(tp) : -ENOMEM;
	if (err) {
		error_set(&error, err,
			  "%s of %s: rank %u has no memory for its segment of %llu bytes",
			  op->writing ? "write" : "read", op->file->rec.name, op->rank,
			  (unsigned long long)len);
		op_fail(op, &error);
	} else if (op->writing) {
		middle_begin(tp);
	} else {
		tp->stage = TP_READ;
		segment_io(tp);
	}
}

static void tp_stop(struct ddio_op *op)
{
	struct two_phase *tp = op->priv;

	if (!tp) {
		op_stopped(op);
		return;
	}
	tp->stopping = true;
	tp_exchange_stop(tp);
	if (tp->io_running)
		objio_stop(&tp->io, &op->failed);
	else
		stop_check(tp);
}

static void tp_free(struct ddio_op *op)
{
	struct two_phase *tp = op->priv;

	if (!tp)
		return;
	objio_free(&tp->io);
	free(tp->cursor);
	free(tp->staging);
	free(tp->peer);
	free(tp);
	op->priv = NULL;
}

const struct mover method_2p = {
	.prepare = tp_prepare,
	.run = tp_run,
	.stop = tp_stop,
	.free = tp_free,
};

static const struct step_kind tp_kinds[] = {
	{ .kind = FAN_KIND_MIDDLE, .name = "the second phase of a transfer" },
	{ .kind = 0 },
};

const struct group_user tp_group_user = { .kinds = tp_kinds };
