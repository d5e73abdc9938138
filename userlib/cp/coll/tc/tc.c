// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Traditional caching: one request for each contiguous chunk of the share,
 * never beyond a block of the file.  Each disk has a cursor of its own, so all
 * disks are kept busy whatever the order of the chunks.
 *
 * The chunks of a disk are expanded from the runs of the map a stretch of a
 * block at a time, so that memory is bounded whatever the block size.  A chunk
 * that ends with its stretch is kept until the next one is there: it may go on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/coll/tc/tc.h"
#include "cp/node/objio.h"

enum { STRETCH = 64 << 10 };

/**
 * struct tc_chunk - bytes of the share that are contiguous in the file
 * @share: where its first byte lies in the packed share
 * @broken: it is not contiguous there
 */
struct tc_chunk {
	uint64_t at, len, share;
	bool broken;
};

/**
 * struct tc_disk - the cursor of one disk
 * @block: the next block of the file, or the current one while @lo is within it
 * @lo: the next byte to be expanded
 * @chunk: @n of them; @next is the index of the next one to be requested
 */
struct tc_disk {
	uint64_t block, lo;
	struct tc_chunk *chunk;
	size_t n, next, cap;
	bool sorted;
};

struct tc {
	struct ddio_op *op;
	struct objio io;
	struct tc_disk *disk;
	bool running, stopping;
};

/*
 * Chunks
 */
static int chunk_push(struct tc_disk *d, uint64_t at, uint64_t len, uint64_t share)
{
	struct tc_chunk *last = d->n > d->next ? &d->chunk[d->n - 1] : NULL;
	struct tc_chunk *chunk;
	size_t cap;

	if (last && last->at + last->len == at) {
		last->broken |= last->share + last->len != share;
		last->len += len;
		return 0;
	}
	if (d->n == d->cap) {
		cap = d->cap ? 2 * d->cap : 64;
		chunk = realloc(d->chunk, cap * sizeof(*chunk));
		if (!chunk)
			return -ENOMEM;
		d->chunk = chunk;
		d->cap = cap;
		last = d->n > d->next ? &d->chunk[d->n - 1] : NULL;
	}
	if (last && last->at > at)
		d->sorted = false;
	d->chunk[d->n++] = (struct tc_chunk){ .at = at, .len = len, .share = share };
	return 0;
}

static int run_expand(struct tc_disk *d, const struct ddio_map_run *run, uint32_t level,
		      uint64_t at, uint64_t share)
{
	uint64_t i;
	int err = 0;

	if (level == run->nlevels)
		return chunk_push(d, at, run->len, share);
	for (i = 0; i < run->level[level].count && !err; i++) {
		err = run_expand(d, run, level + 1, at, share);
		at += run->level[level].file_stride;
		share += run->level[level].share_stride;
	}
	return err;
}

static int run_take(void *arg, const struct ddio_map_run *run)
{
	return run_expand(arg, run, 0, run->file_off, run->share_off);
}

static int chunk_cmp(const void *a, const void *b)
{
	const struct tc_chunk *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Sorts chunks, since runs come in any order, and merges neighbours. */
static int chunks_sort(struct tc_disk *d)
{
	struct tc_chunk *list = d->chunk + d->next;
	size_t n = d->n - d->next, i;
	int err = 0;

	qsort(list, n, sizeof(*list), chunk_cmp);
	d->n = d->next + 1;
	for (i = 1; i < n && !err; i++) {
		struct tc_chunk c = list[i];

		err = chunk_push(d, c.at, c.len, c.share);
		if (c.broken)
			d->chunk[d->n - 1].broken = true;
	}
	return err;
}

static int stretch_expand(struct tc *tc, struct tc_disk *d, uint64_t end)
{
	struct ddio_op *op = tc->op;
	uint64_t hi = d->lo + STRETCH < end ? d->lo + STRETCH : end;
	size_t before;
	int err;

	if (d->n > d->next)
		memmove(d->chunk, d->chunk + d->next, (d->n - d->next) * sizeof(*d->chunk));
	d->n -= d->next;
	d->next = 0;
	d->sorted = true;
	before = d->n;
	err = ddio_map_runs_of(op->map, op->rank, d->lo, hi, op->writing, run_take, d);
	if (!err && !d->sorted)
		err = chunks_sort(d);
	d->lo = hi;
	ddio_env_charge(op->session->env, DDIO_WORK_RUNS, d->n - before);
	return err;
}

/* Goes to the disk's next block of which anything is wanted; false if there is none. */
static bool block_seek(struct tc *tc, struct tc_disk *d)
{
	const struct ddio_op *op = tc->op;
	const struct ddio_file_record *rec = &op->file->rec;
	uint64_t bs = rec->ref.block, start, end, skip;

	for (;;) {
		if (!ddio_map_next(op->map, d->block * bs, &start, &end))
			return false;
		if (start / bs > d->block) {
			skip = (start / bs - d->block + rec->ndisks - 1) / rec->ndisks;
			d->block += skip * rec->ndisks;
			continue;
		}
		if (ddio_map_msg_size(op->map, op->rank, d->block * bs, (d->block + 1) * bs))
			return true;
		d->block += rec->ndisks;
	}
}

/* Expands runs until the next chunk is complete.  Return: 1, 0 at the end of the share, -errno. */
static int chunk_ready(struct tc *tc, struct tc_disk *d)
{
	uint64_t bs = tc->op->file->rec.ref.block, end;
	int err;

	for (;;) {
		end = (d->block + 1) * bs;
		if (d->n - d->next > 1 || (d->n > d->next && d->lo == end) ||
		    (d->n > d->next && d->chunk[d->next].at + d->chunk[d->next].len < d->lo))
			return 1;
		if (d->lo == end) {
			d->block += tc->op->file->rec.ndisks;
			d->lo = 0;
		}
		if (d->lo < d->block * bs) {
			if (!block_seek(tc, d))
				return 0;
			d->lo = d->block * bs;
		}
		err = stretch_expand(tc, d, (d->block + 1) * bs);
		if (err)
			return err;
	}
}

/*
 * Requests
 */
static int chunk_memory(struct tc *tc, struct objreq *req, const struct tc_chunk *c)
{
	struct ddio_op *op = tc->op;
	uint64_t at = c->share, len = c->len;

	req->niov = 1;
	req->iov_one.iov_len = c->len;
	if ((op->packed && !c->broken) ||
	    ddio_memmap_contiguous(op->memmap, c->at, c->at + c->len, op->writing, &at, &len)) {
		req->iov_one.iov_base = op->buf + at;
		return len == c->len ? 0 : -EPROTO;
	}
	req->bounce = malloc(c->len);
	if (!req->bounce)
		return -ENOMEM;
	req->iov_one.iov_base = req->bounce;
	req->key = c->at;
	if (op->writing)
		ddio_memmap_pack(op->memmap, c->at, c->at + c->len, true, req->bounce, op->buf);
	return 0;
}

static int tc_next(struct objio *io, struct objreq *req)
{
	struct tc *tc = io->arg;
	struct tc_disk *d = &tc->disk[req->i];
	uint64_t bs = io->rec->ref.block;
	const struct tc_chunk *c;
	int ret = chunk_ready(tc, d);

	if (ret <= 0)
		return ret;
	c = &d->chunk[d->next++];
	ddio_env_charge(io->session->env, DDIO_WORK_CALL, 1);
	req->obj.offset = c->at / bs / io->rec->ndisks * bs + c->at % bs;
	req->obj.len = c->len;
	ret = chunk_memory(tc, req, c);
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
static void tc_prepare(struct ddio_op *op)
{
	struct tc *tc = calloc(1, sizeof(*tc));
	uint32_t i;

	op->priv = tc;
	if (tc) {
		tc->op = op;
		tc->disk = calloc(op->file->rec.ndisks, sizeof(*tc->disk));
	}
	if (!tc || !tc->disk)
		error_set(&op->failed, -ENOMEM, "out of memory");
	for (i = 0; tc && tc->disk && i < op->file->rec.ndisks; i++)
		tc->disk[i].block = i;
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

static void tc_done(struct objio *io)
{
	struct tc *tc = io->arg;
	struct ddio_op *op = tc->op;
	uint64_t due = op_due(op);

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
	tc->io.next = tc_next;
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
	for (i = 0; tc->disk && i < op->file->rec.ndisks; i++)
		free(tc->disk[i].chunk);
	objio_free(&tc->io);
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
