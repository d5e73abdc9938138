// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Traditional caching: one request for each contiguous chunk of the share,
 * never beyond a block of the file.  Each disk has a cursor of its own, so all
 * disks are kept busy whatever the order of the chunks; unless chunks are asked for in turn.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/tc/priv.h"
#include "cp/coll/tc/tc.h"

static int tc_next(struct objio *io, struct objreq *req)
{
	struct tc *tc = io->arg;
	struct tc_cursor *d = &tc->disk[req->i];
	uint64_t bs = io->rec->ref.block;
	const struct tc_chunk *c;
	int ret = tc_chunk_ready(tc, d);

	if (ret <= 0)
		return ret;
	c = &d->chunk[d->next++];
	ddio_env_charge(io->session->env, DDIO_WORK_CALL, 1);
	req->obj.offset = c->at / bs / io->rec->ndisks * bs + c->at % bs;
	req->obj.len = c->len;
	ret = tc_chunk_memory(tc, req, c);
	return ret ? ret : 1;
}

static void tc_take(struct objio *io, struct objreq *req)
{
	struct tc *tc = io->arg;

	ddio_memmap_unpack(tc->op->memmap, req->key, req->key + req->obj.len, req->bounce,
			   tc->op->buf);
	ddio_env_charge(io->session->env, DDIO_WORK_COPY, req->obj.len);
}

/*
 * The method
 */
static bool tc_make(struct ddio_op *op)
{
	struct tc *tc = calloc(1, sizeof(*tc));
	uint32_t i, ndisks = op->file->rec.ndisks;

	op->priv = tc;
	if (!tc)
		return false;
	tc->op = op;
	tc->cursors = tc_in_turn(tc) ? 1 : ndisks;
	tc->disk = calloc(tc->cursors, sizeof(*tc->disk));
	tc->block = calloc(ndisks, sizeof(*tc->block));
	if (!tc->disk || !tc->block)
		return false;
	for (i = 0; i < tc->cursors; i++)
		tc->disk[i] = (struct tc_cursor){ .block = i,
						  .step = tc->cursors,
						  .cut = !tc_in_turn(tc) };
	return true;
}

static void tc_prepare(struct ddio_op *op)
{
	if (!tc_make(op))
		error_set(&op->failed, -ENOMEM, "out of memory");
	op_prepared(op);
}

static void tc_count(struct tc *tc)
{
	struct ddio_report *r = &tc->op->report;

	r->requests = tc->io.requests;
	r->disk_requests = tc->io.disk_reqs;
	r->disk_read = tc->io.disk_reqs * tc->op->file->rec.ref.block;
	r->buffers = tc->io.most;
	tc->op->messages += 2 * tc->io.requests;
}

/* Goes on to the next chunk.  Return: 1 if there is one, 0 or -errno. */
static int tc_go_on(struct tc *tc)
{
	int ret = tc_turn_next(tc);

	if (ret > 0)
		objio_again(&tc->io);
	return ret;
}

static void tc_done(struct objio *io)
{
	struct tc *tc = io->arg;
	struct ddio_op *op = tc->op;
	uint64_t due = op_due(op);
	int ret = 0;

	if (tc_in_turn(tc) && !tc->stopping && !io->error.status) {
		ret = tc_go_on(tc);
		if (ret > 0)
			return;
	}
	if (ret < 0)
		error_set(&io->error, ret, "%s of %.200s: %s", op->writing ? "write" : "read",
			  op->file->rec.name, strerror(-ret));
	tc->running = false;
	tc_count(tc);
	if (tc->stopping) {
		op_stopped(op);
		return;
	}
	if (!io->error.status && io->bytes != due)
		error_status(&io->error, DDIO_ST_PROTOCOL,
			     "%s of %s: %llu of %llu bytes were moved",
			     op->writing ? "write" : "read", op->file->rec.name,
			     (unsigned long long)io->bytes, (unsigned long long)due);
	if (io->error.status)
		op_fail(op, &io->error);
	else
		op_moved(op);
}

static void tc_run(struct ddio_op *op)
{
	struct tc *tc = op->priv;

	tc->io.session = op->session;
	tc->io.rec = &op->file->rec;
	tc->io.writing = op->writing;
	tc->io.window = op->outstanding;
	tc->io.next = tc_in_turn(tc) ? tc_turn_request : tc_next;
	tc->io.take = tc_take;
	tc->io.done = tc_done;
	tc->io.arg = tc;
	tc->running = true;
	objio_begin(&tc->io);
}

static void tc_stop(struct ddio_op *op)
{
	struct tc *tc = op->priv;

	if (!tc || !tc->running) {
		op_stopped(op);
		return;
	}
	tc->stopping = true;
	objio_stop(&tc->io, &op->failed);
}

static void tc_free(struct ddio_op *op)
{
	struct tc *tc = op->priv;
	uint32_t i;

	if (!tc)
		return;
	for (i = 0; tc->disk && i < tc->cursors; i++)
		free(tc->disk[i].chunk);
	objio_free(&tc->io);
	free(tc->block);
	free(tc->disk);
	free(tc);
	op->priv = NULL;
}

const struct mover method_tc = {
	.prepare = tc_prepare,
	.run = tc_run,
	.stop = tc_stop,
	.free = tc_free,
};
