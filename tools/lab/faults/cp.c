// SPDX-License-Identifier: GPL-2.0-only
/* A compute process of a run with faults: makes the calls of a round and records their results. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "run.h"

#define JUNK 0xa5

static struct faults_call *call_begin(struct faults_cp *cp, const char *what)
{
	struct faults_call *call = &cp->call[cp->ncalls++];

	call->made = true;
	call->began = cp->in_call = faults_now(cp->f);
	cp->what = what;
	return call;
}

/* Returns whether to plant a bug now: in the middle of the run, on the last process. */
static bool planted(struct faults_cp *cp, enum faults_plant plant)
{
	struct faults *f = cp->f;

	if (f->spec.plant != plant || f->planted || f->stage || cp->rank != f->conf.cps - 1 ||
	    f->round.number < 3 || (f->round.op != OP_COLL && plant != PLANT_HANG))
		return false;
	return f->planted = true;
}

static int call_end(struct faults_cp *cp, int ret)
{
	struct faults_call *call = &cp->call[cp->ncalls - 1];
	struct faults_result *res = cp->f->result;
	uint64_t ms;

	if (planted(cp, PLANT_VERDICT))
		ret = ret ? 0 : -EIO;
	if (planted(cp, PLANT_HANG))
		faults_sleep(cp, 2 * FAULTS_BOUND_NS);
	call->ret = ret;
	call->ended = faults_now(cp->f);
	cp->in_call = 0;
	snprintf(call->text, sizeof(call->text), "%s",
		 ret < 0 && cp->session ? ddio_last_error(cp->session) : "");
	res->calls++;
	res->failed += ret < 0;
	ms = (call->ended - call->began) / FAULTS_MS;
	if (ms > res->longest_ms)
		res->longest_ms = ms;
	if (call->ended - call->began > FAULTS_BOUND_NS)
		faults_violated(cp->f, "cp%u: %s took %llu ms", cp->rank, cp->what,
				(unsigned long long)ms);
	call->what = cp->what;
	if (cp->f->spec.verbose)
		faults_say(cp->f, "cp%u: %s: %d %s", cp->rank, cp->what, ret, call->text);
	return ret;
}

#define CALL(cp, name, expr) (call_begin(cp, name), call_end(cp, (int)(expr)))

/*
 * Groups and files
 */
static void cp_close(struct faults_cp *cp)
{
	uint32_t i;

	for (i = 0; i < cp->f->conf.files; i++) {
		if (cp->file[i])
			ddio_close(cp->file[i]);
		cp->file[i] = NULL;
	}
	if (cp->group)
		ddio_group_free(cp->group);
	cp->group = NULL;
	cp->counter = NULL;
}

void faults_cp_end(struct faults_cp *cp)
{
	cp_close(cp);
	if (cp->session)
		ddio_disconnect(cp->session);
	cp->session = NULL;
}

static void cp_open(struct faults_cp *cp, uint32_t i)
{
	struct faults_file *file = &cp->f->file[i];
	struct ddio_striping st = { .struct_size = sizeof(st),
				    .block_size = file->block,
				    .layout = file->layout,
				    .seed = 1 + i,
				    .ndisks = file->ndisks,
				    .disks = file->disk };
	struct ddio_file_stat stat;

	cp->id[i] = 0;
	if (CALL(cp, "open_all",
		 ddio_open_all(cp->group, file->name, DDIO_CREATE, &st, &cp->file[i])))
		return;
	if (!CALL(cp, "fstat", ddio_fstat(cp->file[i], &stat)))
		cp->id[i] = stat.id;
}

static void cp_form(struct faults_cp *cp)
{
	char address[32];
	uint32_t i;

	memset(cp->id, 0, sizeof(cp->id));
	cp_close(cp);
	if (cp->f->round.fresh)
		faults_cp_end(cp);
	if (!cp->session && faults_connect(cp))
		abort();
	snprintf(address, sizeof(address), "127.0.0.1:%u", 9000 + cp->f->group % 20000);
	if (CALL(cp, "group_create",
		 ddio_group_create(cp->session, cp->rank, cp->f->conf.cps, address, &cp->group)))
		return;
	if (cp->f->conf.lax && CALL(cp, "set_patient", ddio_group_set_patient(cp->group)))
		return;
	if (cp->f->conf.counted &&
	    CALL(cp, "counter_create", ddio_counter_create(cp->group, 0, &cp->counter)))
		return;
	for (i = 0; i < cp->f->conf.files; i++)
		cp_open(cp, i);
}

/*
 * Counters
 */

/* Every value is told to one member, and none that has not been asked for. */
static void count_told(struct faults_cp *cp, int64_t before)
{
	struct faults_count *count = &cp->f->count;

	if (before < 0 || before >= count->asked || before >= FAULTS_COUNTS ||
	    count->seen[before]) {
		faults_violated(cp->f, "cp%u: the counter was %lld, %u members have added",
				cp->rank, (long long)before, count->asked);
		return;
	}
	count->seen[before] = true;
	count->told++;
}

static void cp_count(struct faults_cp *cp)
{
	struct faults_count *count = &cp->f->count;
	uint32_t life = cp->f->group, told;
	int64_t value = 0;

	if (!cp->counter || count->asked == FAULTS_COUNTS)
		return;
	count->asked++;
	/* A member of a group that was given up still waits for its answer. */
	if (!CALL(cp, "counter_add", ddio_counter_add(cp->counter, 1, &value)) &&
	    life == cp->f->group)
		count_told(cp, value);
	told = count->told;
	if (!CALL(cp, "counter_get", ddio_counter_get(cp->counter, &value)) &&
	    life == cp->f->group && (value < told || value > count->asked))
		faults_violated(cp->f, "cp%u: the counter is %lld, of %u additions %u are known",
				cp->rank, (long long)value, count->asked, told);
}

/* Locks some bytes for a while in which nobody else may have them; those of a process that has died are free some time. */
static void cp_lock(struct faults_cp *cp)
{
	struct faults *f = cp->f;
	struct ddio_file *file = cp->file[0];

	if (!f->conf.locked || !file)
		return;
	if (CALL(cp, "lock", ddio_lock(file, cp->rank, 100, DDIO_LOCK_EXCLUSIVE)))
		return;
	if (f->inside && !f->inside->dead && !cp->dead)
		faults_violated(f, "cp%u has locked what cp%u has locked", cp->rank,
				f->inside->rank);
	f->inside = cp;
	faults_sleep(cp, FAULTS_MS);
	if (f->inside == cp)
		f->inside = NULL;
	CALL(cp, "unlock", ddio_unlock(file, 0, 0));
}

/*
 * Transfers
 */
static void xfer_buffers(struct faults_cp *cp, uint32_t k)
{
	const struct faults_xfer *x = &cp->f->round.x[k];
	const struct faults_file *file = &cp->f->file[x->file];
	uint32_t i;

	cp->cells[k] = calloc(FAULTS_TWICE * file->cells + FAULTS_TWICE, sizeof(*cp->cells[k]));
	if (!cp->cells[k])
		abort();
	cp->ncells[k] = faults_part_cells(&x->part, cp->rank, cp->cells[k]);
	cp->buf[k] = malloc(cp->ncells[k] * FAULTS_CELL + 1);
	if (!cp->buf[k])
		abort();
	memset(cp->buf[k], JUNK, cp->ncells[k] * FAULTS_CELL);
	for (i = 0; x->write[cp->rank] && i < cp->ncells[k]; i++)
		cp->buf[k][i] = faults_value(file, x->file, cp->cells[k][i], x->version[cp->rank]);
}

static int cell_cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Finds between which cells a read of @moved bytes was cut: it got the first ones in the file. */
static void cut_find(struct faults_cp *cp, uint32_t k, uint64_t moved)
{
	uint32_t n = cp->ncells[k], *sorted = malloc((n + 1) * sizeof(*sorted));

	if (!sorted)
		abort();
	memcpy(sorted, cp->cells[k], n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), cell_cmp);
	moved /= FAULTS_CELL;
	if (moved > n)
		faults_violated(cp->f, "cp%u: a read of %u cells has moved %llu", cp->rank, n,
				(unsigned long long)moved);
	else
		cp->end_least[k] = moved ? (sorted[moved - 1] + 1ull) * FAULTS_CELL : 0;
	cp->end_most[k] = moved < n ? (uint64_t)sorted[moved] * FAULTS_CELL : UINT64_MAX;
	free(sorted);
}

/* Forgets the cells beyond the end of the file, whose memory must be as it was. */
static void xfer_cut(struct faults_cp *cp, uint32_t k, const struct ddio_report *report)
{
	uint64_t junk;
	uint32_t i, n = 0;

	memset(&junk, JUNK, sizeof(junk));
	cut_find(cp, k, report->bytes_moved);
	for (i = 0; i < cp->ncells[k]; i++) {
		if ((uint64_t)cp->cells[k][i] * FAULTS_CELL < cp->end_least[k]) {
			cp->cells[k][n] = cp->cells[k][i];
			cp->buf[k][n++] = cp->buf[k][i];
		} else if (cp->buf[k][i] != junk) {
			faults_violated(cp->f, "cp%u reads %016llx beyond the end, at byte %llu",
					cp->rank, (unsigned long long)cp->buf[k][i],
					(unsigned long long)cp->cells[k][i] * FAULTS_CELL);
		}
	}
	cp->ncells[k] = n;
}

static void xfer_describe(struct faults_cp *cp, uint32_t k, struct ddio_transfer *t,
			  struct ddio_part *part, struct ddio_report *report)
{
	const struct faults_xfer *x = &cp->f->round.x[k];

	*part = (struct ddio_part){ .kind = x->part.kind, .array = &x->part.array };
	if (part->kind == DDIO_PART_STRIDED) {
		part->strided = &x->part.strided[cp->rank];
		part->n = part->strided->len ? 1 : 0;
	} else if (part->kind == DDIO_PART_LIST) {
		part->list = x->part.list[cp->rank];
		part->n = x->part.nlist[cp->rank];
	}
	if (cp->f->conf.viewed) {
		faults_view_make(&cp->view[k], cp->cells[k], cp->ncells[k]);
		*part = (struct ddio_part){ .kind = DDIO_PART_VIEW,
					    .n = 1,
					    .view = &cp->view[k].view };
	}
	*t = (struct ddio_transfer){ .struct_size = sizeof(*t),
				     .part = part,
				     .buf = cp->buf[k],
				     .method = x->method,
				     .flags = x->flags,
				     .outstanding = x->outstanding,
				     .report = report };
	report->struct_size = sizeof(*report);
}

/* Asks which cells of the file that was just read or written are not zeros: one process by itself, or all together. */
static void cp_query(struct faults_cp *cp, uint32_t k)
{
	static const struct ddio_query_field field = { .type = DDIO_QUERY_U64 };
	static const struct ddio_query_step step = { .op = DDIO_QUERY_NE };
	static const struct ddio_query_deal hash = { .struct_size = sizeof(hash),
						     .kind = DDIO_QUERY_BY_HASH };
	static const uint32_t output[] = { 0 };
	const struct ddio_query q = { .struct_size = sizeof(q),
				      .record = FAULTS_CELL,
				      .nfields = 1,
				      .field = &field,
				      .nsteps = 1,
				      .where = &step,
				      .noutput = 1,
				      .output = output };
	const struct faults_round *round = &cp->f->round;
	uint32_t cells = cp->f->file[round->x[k].file].cells;
	struct ddio_file *file = cp->file[round->x[k].file];
	bool together = round->number % 2;
	struct faults_found *found = &cp->found;
	struct ddio_query_result r = { .struct_size = sizeof(r),
				       .records = UINT64_MAX,
				       .room = cells };

	if (!cp->f->conf.queried || (!together && round->number / 2 % cp->f->conf.cps != cp->rank))
		return;
	found->index = r.index = malloc(cells * sizeof(*r.index));
	found->buf = r.buf = malloc(cells * FAULTS_CELL);
	if (!r.index || !r.buf)
		abort();
	if (together ? CALL(cp, "query_all", ddio_query_all(file, cp->group, &q, &hash, &r))
		     : CALL(cp, "query", ddio_query(file, &q, &r)))
		return;
	found->there = true;
	found->all = !together;
	found->records = r.records;
	found->n = together ? r.mine : r.matched;
}

static void cp_coll(struct faults_cp *cp)
{
	const struct faults_xfer *x = &cp->f->round.x[0];
	struct ddio_file *file = cp->file[x->file];
	struct ddio_report report;
	struct ddio_transfer t;
	struct ddio_part part;

	xfer_buffers(cp, 0);
	xfer_describe(cp, 0, &t, &part, &report);
	if (x->write[cp->rank])
		CALL(cp, "write_all", ddio_write_all(file, cp->group, &t));
	else if (!CALL(cp, "read_all", ddio_read_all(file, cp->group, &t)))
		xfer_cut(cp, 0, &report);
	if (cp->ncells[0] && !x->write[cp->rank] && !cp->call[cp->ncalls - 1].ret &&
	    planted(cp, PLANT_BYTE))
		cp->buf[0][cp->ncells[0] / 2] ^= 1ull << 20;
	cp_query(cp, 0);
}

static void cp_pair(struct faults_cp *cp)
{
	struct ddio_op *op[2] = { NULL, NULL };
	int ret[2] = { 0, 0 };
	struct ddio_report report[2];
	struct ddio_transfer t;
	struct ddio_part part;
	uint32_t i, k;

	for (i = 0; i < 2; i++) {
		const struct faults_xfer *x = &cp->f->round.x[i];

		k = x->flags & DDIO_XFER_FILE_ORDER && cp->rank & 1 ? 1 - i : i;
		x = &cp->f->round.x[k];
		xfer_buffers(cp, k);
		xfer_describe(cp, k, &t, &part, &report[k]);
		if (x->write[cp->rank])
			ret[k] = ddio_start_write_all(cp->file[x->file], cp->group, &t, &op[k]);
		else
			ret[k] = ddio_start_read_all(cp->file[x->file], cp->group, &t, &op[k]);
	}
	for (k = 0; k < 2; k++)
		if (!CALL(cp, "wait", ret[k] ? ret[k] : ddio_wait(op[k])) &&
		    !cp->f->round.x[k].write[cp->rank])
			xfer_cut(cp, k, &report[k]);
}

/* One write after the other; what comes of them is decided for all. */
static void cp_epoch(struct faults_cp *cp)
{
	const struct faults_round *r = &cp->f->round;
	struct ddio_report report;
	struct ddio_transfer t;
	struct ddio_part part;
	uint32_t k;
	int ret = 0;

	if (CALL(cp, "epoch_begin", ddio_epoch_begin(cp->group)))
		return;
	for (k = 0; k < r->nxfer && !ret; k++) {
		xfer_buffers(cp, k);
		xfer_describe(cp, k, &t, &part, &report);
		ret = CALL(cp, "write_all", ddio_write_all(cp->file[r->x[k].file], cp->group, &t));
	}
	if (ret || r->give_up)
		CALL(cp, "epoch_abort", ddio_epoch_abort(cp->group));
	else
		CALL(cp, "epoch_commit", ddio_epoch_commit(cp->group));
}

static void cp_own(struct faults_cp *cp)
{
	const struct faults_xfer *x = &cp->f->round.x[0];
	const struct ddio_extent *e = &x->part.list[cp->rank][0];
	struct ddio_file *file = cp->file[x->file];
	bool write = x->write[cp->rank];
	struct ddio_report report;
	struct ddio_transfer t;
	struct ddio_part part;
	int64_t n;

	xfer_buffers(cp, 0);
	xfer_describe(cp, 0, &t, &part, &report);
	if (!cp->ncells[0])
		return;
	if (!x->contiguous) {
		if (write)
			CALL(cp, "write", ddio_write(file, &t));
		else
			CALL(cp, "read", ddio_read(file, &t));
		return;
	}
	call_begin(cp, write ? "pwrite" : "pread");
	n = write ? ddio_pwrite(file, cp->buf[0], e->len, e->offset)
		  : ddio_pread(file, cp->buf[0], e->len, e->offset);
	call_end(cp, (int)n);
	/* Nothing was read beyond the end. */
	if (n >= 0 && !write)
		cp->ncells[0] = n / FAULTS_CELL;
	else if (n >= 0 && (uint64_t)n != e->len)
		faults_violated(cp->f, "cp%u: pwrite of %llu bytes returned %lld", cp->rank,
				(unsigned long long)e->len, (long long)n);
}

static void mix_cut(struct faults_cp *cp)
{
	const struct faults_round *r = &cp->f->round;

	if (r->remove)
		CALL(cp, "remove", ddio_remove(cp->session, cp->f->file[r->file].name));
	else
		CALL(cp, "set_size", ddio_set_size(cp->file[r->file], r->size));
}

/* The file is cut after the collective has begun and before it is waited for. */
static void mix_coll(struct faults_cp *cp)
{
	const struct faults_xfer *x = &cp->f->round.x[0];
	struct ddio_op *op = NULL;
	struct ddio_report report;
	struct ddio_transfer t;
	struct ddio_part part;
	uint32_t n;
	int ret;

	xfer_buffers(cp, 0);
	xfer_describe(cp, 0, &t, &part, &report);
	ret = ddio_start_write_all(cp->file[x->file], cp->group, &t, &op);
	/* The transfer's call is the first one for all. */
	cp->ncalls = 1;
	if (cp->f->round.actor == cp->rank)
		mix_cut(cp);
	n = cp->ncalls;
	cp->ncalls = 0;
	CALL(cp, "wait", ret ? ret : ddio_wait(op));
	cp->ncalls = n;
}

static void cp_mix(struct faults_cp *cp)
{
	const struct faults_round *r = &cp->f->round;

	faults_sleep(cp, r->delay[cp->rank]);
	if (!r->own)
		mix_coll(cp);
	else if (r->actor == cp->rank)
		mix_cut(cp);
	else
		cp_own(cp);
}

/* Each process asks for the size; nothing changes it now. */
static void cp_read_back(struct faults_cp *cp)
{
	struct faults_xfer *x = &cp->f->round.x[0];
	struct ddio_file_stat stat;
	uint64_t n;

	if (CALL(cp, "fstat", ddio_fstat(cp->file[x->file], &stat)))
		return;
	cp->size = stat.size;
	n = stat.size / FAULTS_CELL;
	if (!n || n > cp->f->file[x->file].cells)
		return;
	x->part.kind = DDIO_PART_ARRAY;
	x->part.array = (struct ddio_array){
		.elem_size = FAULTS_CELL,
		.ndims = 1,
		.dim = { { .size = n, .dist = DDIO_BLOCK, .procs = cp->f->conf.cps } }
	};
	cp_coll(cp);
}

/* Reads all of the clone, for the round's end. */
static void clone_read(struct faults_cp *cp, struct ddio_file *clone)
{
	const struct faults_file *file = &cp->f->file[cp->f->round.file];
	struct ddio_file_stat stat;
	uint64_t i, n;

	if (CALL(cp, "fstat", ddio_fstat(clone, &stat)))
		return;
	n = stat.size / FAULTS_CELL;
	if (n > file->cells)
		faults_violated(cp->f, "cp%u: a clone of %s has %llu bytes", cp->rank, file->name,
				(unsigned long long)stat.size);
	cp->cells[0] = calloc(n + 1, sizeof(*cp->cells[0]));
	cp->buf[0] = calloc(n + 1, FAULTS_CELL);
	if (n > file->cells || !cp->cells[0] || !cp->buf[0])
		return;
	for (i = 0; i < n; i++)
		cp->cells[0][i] = (uint32_t)i;
	call_begin(cp, "pread");
	if (call_end(cp, (int)ddio_pread(clone, cp->buf[0], n * FAULTS_CELL, 0)) < 0)
		return;
	cp->ncells[0] = n;
	cp->size = stat.size;
	cp->cloned = true;
}

/* Writes over @size bytes of the clone, which changes nothing of the file.  Nobody can write a snapshot, if @frozen. */
static void clone_write(struct faults_cp *cp, struct ddio_file *clone, uint64_t size, bool frozen)
{
	uint8_t *buf = size ? malloc(size) : NULL;
	int ret;

	if (!buf)
		return;
	memset(buf, 0xc1, size);
	call_begin(cp, "pwrite");
	ret = (int)ddio_pwrite(clone, buf, size, 0);
	call_end(cp, frozen && ret == -EROFS ? 0 : ret);
	if (frozen && ret >= 0)
		faults_violated(cp->f, "cp%u: a snapshot of %s was written", cp->rank,
				cp->f->file[cp->f->round.file].name);
	free(buf);
}

static int mend_told(void *arg, const struct ddio_mend_state *st)
{
	(void)arg;
	(void)st;
	return 0;
}

/* Makes the round's clone, or snapshot, and opens it.  Returns NULL after an error. */
static struct ddio_file *clone_make(struct faults_cp *cp, bool snap, char *name, size_t len)
{
	const struct faults_round *r = &cp->f->round;
	struct ddio_file *file = cp->file[r->file], *clone = NULL;
	struct ddio_file_stat stat;
	char own[32];
	int err;

	snprintf(own, sizeof(own), "clone%u", r->number);
	snprintf(name, len, "%s", own);
	if (!snap) {
		err = CALL(cp, "clone", ddio_clone(file, name));
	} else {
		err = CALL(cp, "fstat", ddio_fstat(file, &stat));
		if (!err)
			err = CALL(cp, "snap", ddio_snap(file, own));
		if (!err)
			snprintf(name, len, DDIO_SNAP_DIRECTORY "/%llu/%s",
				 (unsigned long long)stat.id, own);
	}
	if (err || CALL(cp, "open", ddio_open(cp->session, name, 0, NULL, &clone)))
		return NULL;
	return clone;
}

static void cp_clone(struct faults_cp *cp)
{
	const struct faults_round *r = &cp->f->round;
	const bool snap = r->number % 2;
	struct ddio_file *clone;
	char name[80];

	cp->cloned = false;
	clone = clone_make(cp, snap, name, sizeof(name));
	if (!clone)
		return;
	if (snap)
		clone_write(cp, clone, FAULTS_CELL, true);
	clone_read(cp, clone);
	if (!snap)
		clone_write(cp, clone, cp->cloned ? cp->size : 0, false);
	ddio_close(clone);
	if (!CALL(cp, "remove", ddio_remove(cp->session, name)))
		CALL(cp, "mend", ddio_mend(cp->file[r->file], 0, 0, mend_told, NULL));
}

static void fsck_line(void *arg, const char *line)
{
	struct faults_cp *cp = arg;

	if (cp->f->spec.verbose)
		faults_say(cp->f, "fsck: %s", line);
	snprintf(cp->problem, sizeof(cp->problem), "%s", line);
}

static void cp_fsck(struct faults_cp *cp)
{
	struct ddio_check_result result = { 0 };

	CALL(cp, "check", ddio_check(cp->session, 0, fsck_line, cp, &result));
	cp->problems = result.problems;
}

static void cp_act(struct faults_cp *cp)
{
	const struct faults_round *r = &cp->f->round;

	switch (r->op) {
	case OP_SYNC:
		CALL(cp, "sync", ddio_sync(cp->file[r->file]));
		break;
	case OP_DROP:
		CALL(cp, "drop_cache", ddio_drop_cache(cp->file[r->file]));
		break;
	case OP_SIZE:
		CALL(cp, "set_size", ddio_set_size(cp->file[r->file], r->size));
		break;
	case OP_REMOVE:
		CALL(cp, "remove", ddio_remove(cp->session, cp->f->file[r->file].name));
		break;
	case OP_CLONE:
		cp_clone(cp);
		break;
	default:
		cp_fsck(cp);
	}
}

void faults_cp_round(struct faults_cp *cp)
{
	const struct faults_round *r = &cp->f->round;

	switch (r->op) {
	case OP_FORM:
		cp_form(cp);
		break;
	case OP_COLL:
		cp_coll(cp);
		break;
	case OP_PAIR:
		cp_pair(cp);
		break;
	case OP_OWN:
		cp_own(cp);
		break;
	case OP_EPOCH:
		cp_epoch(cp);
		break;
	case OP_BARRIER:
		CALL(cp, "barrier", ddio_group_barrier(cp->group));
		break;
	case OP_PAUSE:
	case OP_POWER:
		faults_sleep(cp, r->size);
		break;
	case OP_READ_BACK:
		cp_read_back(cp);
		break;
	case OP_MIX:
		cp_mix(cp);
		break;
	default:
		if (r->actor == cp->rank)
			cp_act(cp);
	}
	if (r->op == OP_COLL || r->op == OP_PAIR || r->op == OP_OWN || r->op == OP_BARRIER) {
		cp_count(cp);
		cp_lock(cp);
	}
}
