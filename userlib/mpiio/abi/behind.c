// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write-behind of collective calls (the hint ddio_write_behind turns it off): what successive small calls write is
 * gathered in the memory of each process, and goes to the file as one collective transfer.  ENWRICH does so for single
 * writes (Purakayastha, Ellis, Kotz: "ENWRICH: A Compute-Processor Write Caching Scheme for Parallel File Systems", 1996).
 *
 * All processes make the same calls, so they gather and write in the same ones if they agree about how many: in a few of
 * the calls that go to the file, and at each collective write of what was gathered.  A process that has too much meanwhile
 * writes its own by itself, as does one that is about to look at the file in a call that is not collective, and one that
 * has not made such a call for a while.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mpiio/abi/behind.h"
#include "mpiio/abi/hints.h"
#include "mpiio/abi/op.h"

#define CALL_MOST \
	(256ull << 10) /* bytes of a call: larger ones are not worth the copy (experiments.rst) */
#define GATHER_AIM (8ull << 20)	  /* bytes of a process in one collective write */
#define GATHER_MOST (32ull << 20) /* bytes that a process keeps, of all its files */
#define DUE_AFTER 5		  /* seconds without another call */

/* Calls to the file before the processes agree; it doubles whenever gathering was of no use. */
#define AGAIN_FIRST 2
#define AGAIN_MOST 1024
#define WINDOW_FIRST 8

static _Atomic uint64_t kept_bytes;

void behind_init(struct mpiio_file *f)
{
	struct mpiio_behind *b = &f->behind;
	pthread_condattr_t monotonic;

	*b = (struct mpiio_behind){ .stage = BEHIND_OFF, .again = AGAIN_FIRST };
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&b->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static void room_drop(struct mpiio_behind *b)
{
	free(b->buf);
	kept_bytes -= b->room;
	b->buf = NULL;
	b->room = 0;
}

void behind_drop(struct mpiio_file *f)
{
	struct mpiio_behind *b = &f->behind;

	if (b->has_writer) {
		pthread_mutex_lock(&b->lock);
		b->stop = true;
		pthread_cond_signal(&b->wake);
		pthread_mutex_unlock(&b->lock);
		pthread_join(b->writer, NULL);
	}
	room_drop(b);
	pthread_cond_destroy(&b->wake);
	pthread_mutex_destroy(&b->lock);
}

int64_t behind_says(const struct mpiio_file *f)
{
	if (hints_is_on(f, "ddio_atomic"))
		return BEHIND_WHOLE;
	return hints_is_off(f, "ddio_write_behind") ? BEHIND_UNWANTED : BEHIND_WANTED;
}

void behind_choose(struct mpiio_file *f, int64_t most)
{
	f->whole = most == BEHIND_WHOLE;
	f->behind.stage = most == BEHIND_WANTED ? BEHIND_DIRECT : BEHIND_OFF;
	f->behind.direct = 0;
	f->behind.most = 0;
}

int behind_agree(struct mpiio_file *f)
{
	int64_t most = behind_says(f);
	int ret = file_max(f, CALL_INFO, &most, 1);

	behind_choose(f, ret ? BEHIND_UNWANTED : most);
	f->behind.again = AGAIN_FIRST;
	return ret;
}

bool behind_takes(const struct mpiio_file *f, const struct mpiio_access *a)
{
	return f->behind.stage != BEHIND_OFF && a->write && a->all && a->ends == ENDS_NOW &&
	       a->from != FROM_SHARED && !f->atomic;
}

/* Under the lock: an error of this process alone, which all hear of. */
static void err_note(struct mpiio_behind *b, int err, const char *text)
{
	if (b->err)
		return;
	b->err = err;
	b->told = false;
	snprintf(b->text, sizeof(b->text), "%s", text);
}

static const char *text_of(const struct mpiio_file *f, int err)
{
	return team_text(f->team, err);
}

static void text_copy(struct mpiio_behind *b, char *text, size_t size)
{
	pthread_mutex_lock(&b->lock);
	snprintf(text, size, "%s", b->text);
	pthread_mutex_unlock(&b->lock);
}

int behind_fail(struct mpiio_file *f, int err)
{
	char text[sizeof(f->behind.text)];

	text_copy(&f->behind, text, sizeof(text));
	return fail_text(f, err, text);
}

/*
 * Under the lock: pieces as a transfer.
 */
struct gathered_transfer {
	struct ddio_report report;
	struct ddio_tree tree;
	struct ddio_view view[BEHIND_CALLS];
	struct ddio_part part;
	struct ddio_transfer transfer;
};

/* Those of one call, or of all; what follows each other in the view is one. */
#define CALL_ALL UINT32_MAX
static void transfer_of(struct mpiio_file *f, unsigned int call, struct gathered_transfer *g)
{
	const struct mpiio_behind *b = &f->behind;
	uint64_t from = 0, skip = 0;
	unsigned int i, n = 0;

	for (i = 0; i < b->n; skip += b->piece[i++].len) {
		const struct behind_piece *p = &b->piece[i];

		if (call != CALL_ALL && p->call != call)
			continue;
		if (n && g->view[n - 1].skip + g->view[n - 1].len == p->at) {
			g->view[n - 1].len += p->len;
			continue;
		}
		from = n ? from : skip;
		view_part(&f->seen->view, p->at, p->len, &g->tree, &g->view[n++]);
	}
	g->part = (struct ddio_part){ .kind = DDIO_PART_VIEW, .n = n };
	g->part.view = g->view;
	g->report = (struct ddio_report){ .struct_size = sizeof(g->report) };
	g->transfer = (struct ddio_transfer){ .struct_size = sizeof(g->transfer),
					      .part = &g->part,
					      .buf = n ? b->buf + from : NULL,
					      .report = &g->report };
}

static int own_write(struct mpiio_file *f, unsigned int call, struct gathered_transfer *g)
{
	int ret;

	transfer_of(f, call, g);
	ret = ddio_write(f->file, &g->transfer);
	report_note(f, &g->report);
	return ret;
}

static void forget(struct mpiio_behind *b)
{
	b->n = 0;
	b->len = 0;
	b->twice = false;
}

/* What a later call wrote again. */
static int own_one_by_one(struct mpiio_file *f, struct gathered_transfer *g)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < f->behind.n && !ret; i++)
		ret = own_write(f, f->behind.piece[i].call, g);
	return ret;
}

static int own_locked(struct mpiio_file *f)
{
	struct gathered_transfer g;
	int ret;

	if (!f->behind.n)
		return 0;
	ret = f->behind.twice ? own_one_by_one(f, &g) : own_write(f, CALL_ALL, &g);
	forget(&f->behind);
	if (ret)
		err_note(&f->behind, ret, text_of(f, ret));
	return ret;
}

int behind_own(struct mpiio_file *f)
{
	int ret;

	if (f->behind.stage != BEHIND_GATHERS && !f->behind.has_writer)
		return 0;
	pthread_mutex_lock(&f->behind.lock);
	ret = own_locked(f);
	/* What its own thread could not write is not in the file either. */
	if (!ret && !f->behind.told)
		ret = f->behind.err;
	f->behind.told = true;
	pthread_mutex_unlock(&f->behind.lock);
	return ret;
}

void behind_stop(struct mpiio_file *f, bool own_later)
{
	struct mpiio_behind *b = &f->behind;

	if (!own_later)
		behind_own(f);
	if (b->stage == BEHIND_GATHERS)
		b->stage = BEHIND_DIRECT;
	b->calls = 0;
	b->direct = 0;
	b->again = AGAIN_FIRST;
}

/* A process that computes for long has its data in the file all the same. */
static void *write_when_due(void *arg)
{
	struct mpiio_file *f = arg;
	struct mpiio_behind *b = &f->behind;
	struct timespec now;

	pthread_mutex_lock(&b->lock);
	while (!b->stop) {
		if (!b->n) {
			pthread_cond_wait(&b->wake, &b->lock);
			continue;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec < b->due.tv_sec)
			pthread_cond_timedwait(&b->wake, &b->lock, &b->due);
		else
			own_locked(f);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

/* Under the lock.  The program's signals are none of this thread's.  Without it, data wait for the program's next call. */
static void due_set(struct mpiio_file *f)
{
	struct mpiio_behind *b = &f->behind;
	sigset_t all, old;

	clock_gettime(CLOCK_MONOTONIC, &b->due);
	b->due.tv_sec += DUE_AFTER;
	if (b->has_writer) {
		pthread_cond_signal(&b->wake);
		return;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	b->has_writer = !pthread_create(&b->writer, NULL, write_when_due, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static int write_all(struct mpiio_file *f, struct gathered_transfer *g)
{
	int ret = ddio_write_all(f->file, f->team->group, &g->transfer);

	if (ret == -EBADSLT) {
		g->transfer.flags = DDIO_XFER_OVERLAP;
		ret = ddio_write_all(f->file, f->team->group, &g->transfer);
	}
	report_note(f, &g->report);
	return ret;
}

/*
 * Bytes of several calls.  If they are of several processes, the standard leaves open whose they are then, but programs
 * expect the later call's.  So the calls are made as if each had been made at once, for which they need not be gathered.
 */
static int one_by_one(struct mpiio_file *f, struct gathered_transfer *g)
{
	unsigned int call;
	int ret = 0, one;

	for (call = 0; call < f->behind.calls; call++) {
		transfer_of(f, call, g);
		one = write_all(f, g);
		ret = ret ? ret : one;
	}
	return ret;
}

/* What all tell each other: bytes of the largest call, that one could not write, that one wrote the same place twice. */
struct agreed {
	uint64_t most, err, twice;
};

static struct agreed agreed_of(struct mpiio_behind *b)
{
	struct agreed mine;

	pthread_mutex_lock(&b->lock);
	mine = (struct agreed){ b->most, (uint64_t)-b->err, b->twice };
	pthread_mutex_unlock(&b->lock);
	return mine;
}

/* All have heard of what this process has said; what has gone wrong since then they hear later. */
static void agreed_note(struct mpiio_behind *b, const struct agreed *mine, const struct agreed *all)
{
	pthread_mutex_lock(&b->lock);
	if (mine->err)
		b->err = 0;
	else if (all->err)
		snprintf(b->text, sizeof(b->text), "another process could not write: %s",
			 strerror((int)all->err));
	b->most = 0;
	pthread_mutex_unlock(&b->lock);
}

static int agree_fail(struct mpiio_file *f, int err)
{
	const char *text = text_of(f, err);

	pthread_mutex_lock(&f->behind.lock);
	snprintf(f->behind.text, sizeof(f->behind.text), "%s", text);
	pthread_mutex_unlock(&f->behind.lock);
	return err;
}

static int agree(struct mpiio_file *f, struct agreed *all)
{
	struct mpiio_behind *b = &f->behind;
	const struct agreed mine = agreed_of(b);
	int64_t calls = b->calls;
	int64_t numbers[] = { (int64_t)mine.most, (int64_t)mine.err, mine.twice, calls, -calls };
	int ret = file_max(f, CALL_GATHERED, numbers, 5);

	if (!ret && numbers[3] != -numbers[4])
		ret = file_differs(f);
	if (ret)
		return agree_fail(f, ret);
	*all = (struct agreed){ (uint64_t)numbers[0], (uint64_t)numbers[1], numbers[2] != 0 };
	agreed_note(b, &mine, all);
	return 0;
}

static int all_locked(struct mpiio_file *f, struct agreed *all)
{
	struct gathered_transfer g;
	int ret = -EBADSLT;

	if (!all->twice) {
		transfer_of(f, CALL_ALL, &g);
		ret = ddio_write_all(f->file, f->team->group, &g.transfer);
		report_note(f, &g.report);
	}
	all->twice = ret == -EBADSLT;
	if (all->twice)
		ret = one_by_one(f, &g);
	if (ret)
		snprintf(f->behind.text, sizeof(f->behind.text), "%s", text_of(f, ret));
	forget(&f->behind);
	return ret;
}

/* As many calls as make the next collective write large: at first a few, as the next may be another kind. */
static void window_choose(struct mpiio_behind *b, uint64_t most, bool useless)
{
	bool full = b->calls == b->window && b->calls;
	uint64_t fit = most ? GATHER_AIM / most : BEHIND_CALLS;

	if (most > CALL_MOST || useless) {
		b->again = b->again < AGAIN_MOST ? 2 * b->again : AGAIN_MOST;
		b->stage = BEHIND_DIRECT;
		b->calls = 0;
		b->direct = 0;
		room_drop(b);
		return;
	}
	if (b->stage == BEHIND_DIRECT)
		b->window = WINDOW_FIRST;
	else if (full)
		b->window *= 4;
	if (b->window > fit)
		b->window = (unsigned int)fit;
	if (b->window > BEHIND_CALLS)
		b->window = BEHIND_CALLS;
	if (full)
		b->again = AGAIN_FIRST;
	b->stage = BEHIND_GATHERS;
	b->calls = 0;
}

int behind_settle(struct mpiio_file *f)
{
	struct mpiio_behind *b = &f->behind;
	struct agreed all;
	int ret;

	if (!b->calls)
		return 0;
	ret = agree(f, &all);
	pthread_mutex_lock(&b->lock);
	if (!ret) {
		ret = all_locked(f, &all);
		window_choose(b, all.most, all.twice || b->calls == 1);
		ret = ret ? ret : -(int)all.err;
	} else if (ret == TEAM_DIFFERS) {
		own_locked(f);
	}
	pthread_mutex_unlock(&b->lock);
	return ret;
}

/* Others may begin theirs of another file first.  Where the file has no order of its own a split one has its place among those that wait. */
bool behind_is_alone(const struct mpiio_file *f, const struct mpiio_access *a)
{
	return a->ends == ENDS_LATER || (a->ends == ENDS_SPLIT && ddio_file_has_order(f->file) > 0);
}

int behind_before(struct mpiio_file *f, const struct mpiio_access *a)
{
	if (!f->behind.calls || behind_takes(f, a))
		return 0;
	return a->all && !behind_is_alone(f, a) ? behind_settle(f) : behind_own(f);
}

static bool room_make(struct mpiio_behind *b, uint64_t len)
{
	uint64_t room = b->room ? b->room : 1 << 16;
	void *p;

	while (room < b->len + len)
		room *= 2;
	if (room == b->room)
		return true;
	if ((kept_bytes += room - b->room) > GATHER_MOST) {
		kept_bytes -= room - b->room;
		return false;
	}
	p = realloc(b->buf, room);
	if (!p) {
		kept_bytes -= room - b->room;
		return false;
	}
	b->buf = p;
	b->room = room;
	return true;
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

static void piece_add(struct mpiio_behind *b, const struct mpiio_op *op)
{
	b->twice = b->twice || is_rewritten(b, op->at, op->memory.len);
	memory_pack(&op->memory, b->buf + b->len);
	b->len += op->memory.len;
	b->piece[b->n++] = (struct behind_piece){ op->at, op->memory.len, b->calls };
}

/* What is large, or does not fit, this process writes by itself: the others do not know. */
static void gather_locked(struct mpiio_op *op)
{
	struct mpiio_file *f = op->file;
	struct mpiio_behind *b = &f->behind;
	uint64_t len = op->memory.len;
	bool small = len <= CALL_MOST;

	/* What goes to the file now must not be covered by what this process wrote before. */
	if ((!small || !room_make(b, len)) && own_locked(f)) {
		op_failed(op, b->err);
		return;
	}
	if (small && room_make(b, len)) {
		piece_add(b, op);
		due_set(f);
		op_wrote(op);
		return;
	}
	op->access.all = false;
	op_run(op);
}

/* What is wrong here, the others hear later. */
static void gather(struct mpiio_op *op)
{
	struct mpiio_behind *b = &op->file->behind;

	pthread_mutex_lock(&b->lock);
	if (!op->err && op->memory.len)
		gather_locked(op);
	if (op->err) {
		err_note(b, op->err, op->text);
		b->told = true;
	}
	pthread_mutex_unlock(&b->lock);
	op->ended = true;
}

/* Calls that go to the file: from time to time all look whether they are small. */
static void direct(struct mpiio_op *op)
{
	struct mpiio_behind *b = &op->file->behind;
	struct agreed all;
	int ret;

	op_run(op);
	if (++b->direct < b->again)
		return;
	/* What this one wrote is in the file; of a process that has died the next call tells. */
	ret = agree(op->file, &all);
	if (!ret)
		window_choose(b, all.most, false);
	else if (ret == TEAM_DIFFERS && !op->err)
		op_failed(op, ret);
}

void behind_write(struct mpiio_op *op)
{
	struct mpiio_behind *b = &op->file->behind;
	int ret;

	if (op->memory.len > b->most)
		b->most = op->memory.len;
	if (b->stage == BEHIND_DIRECT) {
		direct(op);
		return;
	}
	gather(op);
	if (++b->calls < b->window)
		return;
	ret = behind_settle(op->file);
	if (ret && !op->err) {
		op_failed(op, ret);
		text_copy(b, op->text, sizeof(op->text));
	}
}
