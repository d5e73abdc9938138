// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write-behind of collective calls (hint ddio_write_behind): what successive calls write is gathered in the memory of
 * each process, and goes to the file as one collective transfer.  ENWRICH does so for single writes (Purakayastha, Ellis,
 * Kotz: "ENWRICH: A Compute-Processor Write Caching Scheme for Parallel File Systems", 1996).
 *
 * All processes make the same calls, so they gather and write in the same ones if they agree about how many: at each
 * collective write of what was gathered.  A process that has too much meanwhile writes its own by itself, as does one that
 * is about to look at the file in a call that is not collective.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mpiio/abi/behind.h"
#include "mpiio/abi/hints.h"
#include "mpiio/abi/op.h"

#define GATHER_AIM (8ull << 20)	  /* bytes of a process in one collective write */
#define GATHER_MOST (32ull << 20) /* bytes that a process keeps */

void behind_init(struct mpiio_behind *b)
{
	*b = (struct mpiio_behind){ .stage = BEHIND_OFF };
	pthread_mutex_init(&b->lock, NULL);
}

void behind_drop(struct mpiio_behind *b)
{
	free(b->buf);
	pthread_mutex_destroy(&b->lock);
}

bool behind_wanted(const struct mpiio_file *f)
{
	return hints_is_on(f, "ddio_write_behind");
}

void behind_choose(struct mpiio_file *f, bool all_want)
{
	f->behind.stage = all_want ? BEHIND_ASKS : BEHIND_OFF;
}

void behind_agree(struct mpiio_file *f)
{
	behind_choose(f, !worst_of(f->team, behind_wanted(f) ? 0 : -ENOENT));
}

/* How many calls the next collective write takes: as many as make it large.  One is not worth a copy. */
static void window_agree(struct mpiio_file *f)
{
	struct mpiio_behind *b = &f->behind;
	uint64_t most = b->most;

	PMPI_Allreduce(&b->most, &most, 1, MPI_UINT64_T, MPI_MAX, f->team->comm);
	b->window = most ? (unsigned int)(GATHER_AIM / most < BEHIND_CALLS ? GATHER_AIM / most
									   : BEHIND_CALLS)
			 : BEHIND_CALLS;
	b->stage = b->window > 1 ? BEHIND_GATHERS : BEHIND_OFF;
	b->most = 0;
}

bool behind_takes(const struct mpiio_op *op)
{
	const struct mpiio_access *a = &op->access;

	return op->file->behind.stage != BEHIND_OFF && a->write && a->all && a->ends == ENDS_NOW &&
	       !op->file->atomic;
}

/*
 * Under the lock: the pieces as a transfer.
 */
struct gathered_transfer {
	struct ddio_tree tree;
	struct ddio_view view[BEHIND_CALLS];
	struct ddio_part part;
	struct ddio_transfer transfer;
};

static void transfer_of(const struct mpiio_file *f, struct gathered_transfer *g)
{
	const struct mpiio_behind *b = &f->behind;
	unsigned int i;

	for (i = 0; i < b->n; i++)
		view_part(&f->view, b->piece[i].at, b->piece[i].len, &g->tree, &g->view[i]);
	g->part = (struct ddio_part){ .kind = DDIO_PART_VIEW, .n = b->n };
	g->part.view = g->view;
	g->transfer = (struct ddio_transfer){ .struct_size = sizeof(g->transfer),
					      .part = &g->part,
					      .buf = b->n ? b->buf : NULL };
}

static void forget(struct mpiio_behind *b)
{
	b->n = 0;
	b->len = 0;
}

static int own_locked(struct mpiio_file *f)
{
	struct gathered_transfer g;
	int ret;

	if (!f->behind.n)
		return 0;
	transfer_of(f, &g);
	ret = ddio_write(f->file, &g.transfer);
	forget(&f->behind);
	return ret;
}

int behind_own(struct mpiio_file *f)
{
	int ret;

	if (f->behind.stage == BEHIND_OFF)
		return 0;
	pthread_mutex_lock(&f->behind.lock);
	ret = own_locked(f);
	pthread_mutex_unlock(&f->behind.lock);
	return ret;
}

/* As op_run() does it: bytes of several processes make it come again. */
static int all_locked(struct mpiio_file *f)
{
	struct gathered_transfer g;
	int ret;

	transfer_of(f, &g);
	ret = ddio_write_all(f->file, f->team->group, &g.transfer);
	if (ret == -EBADSLT) {
		g.transfer.flags = DDIO_XFER_OVERLAP;
		ret = ddio_write_all(f->file, f->team->group, &g.transfer);
	}
	forget(&f->behind);
	return ret;
}

int behind_settle(struct mpiio_file *f)
{
	struct mpiio_behind *b = &f->behind;
	int ret;

	if (!b->calls)
		return 0;
	requests_begin_all(f->team);
	pthread_mutex_lock(&b->lock);
	ret = all_locked(f);
	pthread_mutex_unlock(&b->lock);
	b->calls = 0;
	window_agree(f);
	return ret;
}

int behind_before(struct mpiio_file *f, const struct mpiio_access *a)
{
	if (!f->behind.calls)
		return 0;
	if (!a->all || a->ends != ENDS_NOW)
		return behind_own(f);
	return a->write && !f->atomic ? 0 : behind_settle(f);
}

/* Bytes in the order of a tree's walk, one after the other. */
static uint8_t *pack(const struct ddio_tree *t, uint64_t at, const uint8_t *from, uint8_t *to)
{
	const struct ddio_tree_node *node = &t->node[at];
	uint64_t i;

	if (node->kind == DDIO_TREE_LEAF) {
		memcpy(to, from, node->n);
		return to + node->n;
	}
	for (i = 0; i < node->n; i++) {
		const struct ddio_tree_child *c = &t->child[node->child + i];

		if (node->kind == DDIO_TREE_REPEAT)
			to = pack(t, node->child, from + (int64_t)i * node->stride, to);
		else
			to = pack(t, c->node, from + c->offset, to);
	}
	return to;
}

static void copy_in(uint8_t *to, const struct mpiio_memory *m)
{
	const struct ddio_view *v = &m->view;
	const uint8_t *from = m->buf, *end = to + m->len;

	if (m->packed) {
		memcpy(to, from, m->len);
		return;
	}
	for (from += v->offset; to < end; from += v->extent)
		to = pack(v->tree, v->tree->nnodes - 1, from, to);
}

/* A view shows no byte twice to a writer, so that two calls name the same byte only by the same place of it. */
static bool is_rewritten(const struct mpiio_behind *b, uint64_t at, uint64_t len)
{
	unsigned int i;

	for (i = 0; i < b->n; i++)
		if (at < b->piece[i].at + b->piece[i].len && b->piece[i].at < at + len)
			return true;
	return false;
}

static bool room_make(struct mpiio_behind *b, uint64_t len)
{
	uint64_t room = b->room ? b->room : 1 << 16;
	void *p;

	while (room < b->len + len)
		room *= 2;
	if (room == b->room)
		return true;
	p = realloc(b->buf, room);
	if (!p)
		return false;
	b->buf = p;
	b->room = room;
	return true;
}

static void piece_add(struct mpiio_behind *b, const struct mpiio_op *op)
{
	struct behind_piece *last = b->n ? &b->piece[b->n - 1] : NULL;

	copy_in(b->buf + b->len, &op->memory);
	b->len += op->memory.len;
	if (last && last->at + last->len == op->at)
		last->len += op->memory.len;
	else
		b->piece[b->n++] = (struct behind_piece){ op->at, op->memory.len };
}

/* Whatever does not fit, this process writes by itself: the others do not know. */
static void gather_locked(struct mpiio_op *op)
{
	struct mpiio_behind *b = &op->file->behind;
	uint64_t len = op->memory.len;
	int ret = 0;

	if (b->len + len > GATHER_MOST || b->n == BEHIND_CALLS || is_rewritten(b, op->at, len))
		ret = own_locked(op->file);
	if (!ret && len <= GATHER_MOST && room_make(b, len)) {
		piece_add(b, op);
		op_wrote(op);
		return;
	}
	if (!ret)
		ret = own_locked(op->file);
	if (ret) {
		op_failed(op, ret);
		return;
	}
	op->access.all = false;
	op_run(op);
}

static void gather(struct mpiio_op *op)
{
	struct mpiio_behind *b = &op->file->behind;

	if (!op->err && op->memory.len) {
		pthread_mutex_lock(&b->lock);
		gather_locked(op);
		pthread_mutex_unlock(&b->lock);
	}
	op->ended = true;
}

void behind_write(struct mpiio_op *op)
{
	struct mpiio_behind *b = &op->file->behind;
	int ret;

	if (op->memory.len > b->most)
		b->most = op->memory.len;
	if (b->stage == BEHIND_ASKS) {
		op_run(op);
		window_agree(op->file);
		return;
	}
	gather(op);
	if (++b->calls < b->window)
		return;
	ret = behind_settle(op->file);
	if (ret && !op->err)
		op_failed(op, ret);
}
