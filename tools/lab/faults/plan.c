// SPDX-License-Identifier: GPL-2.0-only
/* Draws the cluster of a run with faults, and what its processes do, from the seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "run.h"

/* After this time nothing of the past is still under way. */
#define CALM_NS (10 * FAULTS_TIMEOUT_MS * FAULTS_MS)

static void conf_disks(struct faults *f)
{
	struct faults_conf *c = &f->conf;
	uint64_t *rng = &f->rng;
	uint32_t n = faults_pick(rng, 1, 4), i;

	c->iops = faults_pick(rng, 1, FAULTS_IOPS);
	c->disks = c->iops * n;
	for (i = 0; i < c->disks; i++)
		c->node[i] = i % c->iops;
	c->emulated = faults_chance(rng, 20);
	c->disk_delay_us = faults_chance(rng, 50) ? faults_scale(rng, 1, 3000) : 0;
	/* Some are too small for the files. */
	c->disk_size = faults_chance(rng, 20) ? faults_pick(rng, 24, 100) << 10 : 400 << 10;
	c->offload_ns = faults_chance(rng, 70) ? faults_scale(rng, 1000, 20 * FAULTS_MS) : 0;
	c->reactors = faults_pick(rng, 1, n);
	c->block = 512u << faults_pick(rng, 0, 3);
	c->cache = 8192u << faults_pick(rng, 0, 5);
	c->buffers = faults_pick(rng, 2, 4);
	c->cscan = faults_chance(rng, 80);
}

static void conf_files(struct faults *f)
{
	struct faults_file *file;
	uint32_t i, d, n;

	f->conf.files = faults_pick(&f->rng, 1, FAULTS_FILES);
	for (i = 0; i < f->conf.files; i++) {
		file = &f->file[i];
		snprintf(file->name, sizeof(file->name), "f%u", i);
		file->block = 512u << faults_pick(&f->rng, 0, 3);
		if (f->conf.large)
			file->block <<= 3;
		file->layout = faults_chance(&f->rng, 70) ? DDIO_CONTIGUOUS
							  : faults_pick(&f->rng, 1, 2);
		file->cells = faults_pick(&f->rng, 50, 6000);
		n = faults_pick(&f->rng, 1, f->conf.disks);
		d = faults_pick(&f->rng, 0, f->conf.disks - 1);
		file->ndisks = n;
		while (n--)
			file->disk[n] = (d + n) % f->conf.disks;
		file->cell = calloc(file->cells, sizeof(*file->cell));
		if (!file->cell)
			abort();
	}
}

void faults_conf_make(struct faults *f)
{
	struct faults_conf *c = &f->conf;

	f->rng = f->spec.seed;
	f->fate_rng = ~f->spec.seed;
	conf_disks(f);
	c->cps = faults_scale(&f->rng, 1, FAULTS_CPS);
	c->rounds = f->spec.rounds ? f->spec.rounds : faults_pick(&f->rng, 6, 40);
	c->large = f->spec.seed % 13 == 6;
	if (c->large && c->cache < 8 << 15)
		c->cache = 8 << 15;
	conf_files(f);
	/* A few kinds at a time find more bugs than all together. */
	c->kinds = ddio_rand_next(&f->rng) & ddio_rand_next(&f->rng) & ((1u << FAULTS_RECORDS) - 1);
	if (f->spec.power)
		c->kinds = 1u << FAULTS_POWER;
	c->most = faults_pick(&f->rng, 1, 20);
	c->gap_ns = faults_scale(&f->rng, 20000, 100 * FAULTS_MS);
	c->viewed = f->spec.seed % 16 >= 14;
	c->counted = f->spec.seed % 8 == 1 || f->spec.seed % 8 == 3;
	c->scrubbed = f->spec.seed % 7 >= 4;
	c->queried = f->spec.seed % 5 == 0;
	c->cloned = f->spec.seed % 9 == 2 || f->spec.seed % 9 == 4;
	c->install = f->spec.seed % 11 == 5 || f->spec.seed % 11 == 8;
	c->spread = f->spec.seed % 3 == 0;
	c->ordered = f->spec.seed % 13 == 10 || f->spec.seed % 13 == 12;
	c->locked = f->spec.seed % 8 == 1 || f->spec.seed % 8 == 4;
	c->small = f->spec.seed % 3 == 1;
	c->lax = f->spec.seed % 4 == 0 || f->spec.seed % 4 == 3;
	c->aimed = !f->spec.power && (f->spec.seed % 5 == 0 || f->spec.seed % 5 == 3);
	if (c->aimed)
		faults_scene_conf(f);
}

/*
 * Rounds
 */

/* Draws a range of a file; reads are mostly within the file. */
static void range_pick(struct faults *f, const struct faults_file *file, bool write,
		       uint32_t *first, uint32_t *cells)
{
	uint64_t most = faults_size_most(&file->seen) / FAULTS_CELL;
	uint32_t end = file->cells;

	if (!write && most && most < end && faults_chance(&f->rng, 95))
		end = most;
	if (faults_chance(&f->rng, 40)) {
		*first = 0;
		*cells = end;
		return;
	}
	*first = faults_pick(&f->rng, 0, end - 1);
	*cells = faults_scale(&f->rng, 1, end - *first);
}

/* @atomic: it is an atomic write in any case. */
static void plan_coll(struct faults *f, struct faults_xfer *x, uint32_t file, bool atomic)
{
	struct faults_file *target = &f->file[file];
	bool write = atomic || faults_chance(&f->rng, 55);
	uint32_t first, cells, r;

	memset(x, 0, sizeof(*x));
	x->file = file;
	x->method = faults_pick(&f->rng, DDIO_METHOD_TC, DDIO_METHOD_DDS);
	if (write && faults_chance(&f->rng, 30))
		x->flags |= DDIO_XFER_SYNC;
	if (faults_chance(&f->rng, 20))
		x->flags |= DDIO_XFER_ROTATE;
	if (faults_chance(&f->rng, 20))
		x->flags |= DDIO_XFER_NO_BATCH;
	x->outstanding = faults_chance(&f->rng, 50) ? 0 : faults_pick(&f->rng, 1, 8);
	if (f->conf.lax && !write && faults_chance(&f->rng, 50))
		x->flags |= DDIO_XFER_SHORT;
	if (f->conf.lax && faults_chance(&f->rng, 30))
		x->flags |= DDIO_XFER_OVERLAP;
	if (f->conf.small && faults_chance(&f->rng, 60)) {
		x->method = DDIO_METHOD_DEFAULT;
		x->flags &= DDIO_XFER_SHORT;
	}
	/* Of its own seeds, so that all others are as they were. */
	if (atomic || (write && f->spec.atomic && faults_chance(&f->rng, 70))) {
		x->method = faults_pick(&f->rng, DDIO_METHOD_DD, DDIO_METHOD_DDS);
		x->flags = DDIO_XFER_ATOMIC | (x->flags & DDIO_XFER_NO_BATCH);
	}
	if (write)
		target->version++;
	for (r = 0; r < f->conf.cps; r++) {
		x->write[r] = write;
		x->version[r] = target->version;
		/* What one writes over another must be told apart. */
		target->version += write && x->flags & DDIO_XFER_OVERLAP;
	}
	range_pick(f, target, write || x->flags & DDIO_XFER_SHORT, &first, &cells);
	if (x->flags & DDIO_XFER_OVERLAP && faults_chance(&f->rng, 70))
		faults_part_overlap(f, &x->part, first, cells);
	else
		faults_part_make(f, &x->part, first, cells, write);
}

void faults_plan_coll(struct faults *f, struct faults_xfer *x, uint32_t file)
{
	plan_coll(f, x, file, false);
}

/* Gives each process one or more pieces of its own. */
void faults_plan_own(struct faults *f, struct faults_xfer *x, uint32_t file)
{
	struct faults_file *target = &f->file[file];
	uint32_t first, cells, r, len, cps = f->conf.cps;

	memset(x, 0, sizeof(*x));
	x->file = file;
	x->contiguous = faults_chance(&f->rng, 70);
	x->method = faults_chance(&f->rng, 50) ? DDIO_METHOD_DEFAULT : DDIO_METHOD_TC;
	for (r = 0; r < cps; r++) {
		x->write[r] = faults_chance(&f->rng, 60);
		if (x->write[r])
			x->version[r] = ++target->version;
	}
	range_pick(f, target, true, &first, &cells);
	if (!x->contiguous) {
		faults_part_lists(f, &x->part, first, cells);
		return;
	}
	x->part.kind = DDIO_PART_LIST;
	len = cells / cps;
	for (r = 0; r < cps && len; r++) {
		x->part.nlist[r] = 1;
		x->part.list[r][0] =
			(struct ddio_extent){ (first + (uint64_t)r * len) * FAULTS_CELL,
					      faults_pick(&f->rng, 1, len) * FAULTS_CELL };
	}
}

/* Has a process sync that must hear of a loss.  Returns false if there is none. */
static bool plan_hear(struct faults *f)
{
	struct faults_round *r = &f->round;

	for (r->actor = 0; r->actor < f->conf.cps; r->actor++) {
		for (r->file = 0; r->file < f->conf.files; r->file++) {
			if (!f->cp[r->actor].due[r->file].lost)
				continue;
			r->op = OP_SYNC;
			return true;
		}
	}
	return false;
}

/* Where files are cloned, that is done instead of some of the rest. */
static void plan_clone(struct faults *f)
{
	struct faults_round *r = &f->round;

	if (!f->conf.cloned ||
	    (r->op != OP_DROP && r->op != OP_BARRIER && (r->op != OP_SYNC || r->number % 2)))
		return;
	r->op = OP_CLONE;
	memset(&r->x[0], 0, sizeof(r->x[0]));
	r->x[0].file = r->file;
}

/* The same for epochs of several files: of their own seeds, so that all others are as they were. */
static void plan_epoch(struct faults *f)
{
	struct faults_round *r = &f->round;
	uint32_t k;

	if (!f->spec.epochs || r->op == OP_REMOVE || r->op == OP_FORM || r->op == OP_CLONE ||
	    faults_chance(&f->rng, 60))
		return;
	r->op = OP_EPOCH;
	r->give_up = faults_chance(&f->rng, 10);
	r->nxfer = faults_pick(&f->rng, 1, f->conf.files);
	for (k = 0; k < r->nxfer; k++)
		plan_coll(f, &r->x[k], (r->file + k) % f->conf.files, true);
}

/* Both in the orders of their files: members with odd ranks begin the second first. */
static void plan_order(struct faults *f)
{
	uint32_t k;

	for (k = 0; f->conf.ordered && k < 2; k++)
		f->round.x[k].flags |= DDIO_XFER_FILE_ORDER;
}

static void plan_work(struct faults *f)
{
	struct faults_round *r = &f->round;
	uint32_t what = faults_pick(&f->rng, 0, 99);

	if (f->spec.power && faults_chance(&f->rng, 50) && plan_hear(f))
		return;
	r->file = faults_pick(&f->rng, 0, f->conf.files - 1);
	r->actor = faults_pick(&f->rng, 0, f->conf.cps - 1);
	r->nxfer = 1;
	if (what < (f->conf.ordered ? 20u : 45u)) {
		r->op = OP_COLL;
		faults_plan_coll(f, &r->x[0], r->file);
	} else if (what < 52 && f->conf.files > 1) {
		r->op = OP_PAIR;
		r->nxfer = 2;
		faults_plan_coll(f, &r->x[0], r->file);
		faults_plan_coll(f, &r->x[1], (r->file + 1) % f->conf.files);
		plan_order(f);
	} else if (what < 72) {
		r->op = OP_OWN;
		faults_plan_own(f, &r->x[0], r->file);
	} else if (what < 82) {
		r->op = OP_SYNC;
	} else if (what < 86) {
		r->op = OP_DROP;
	} else if (what < 91) {
		r->op = OP_SIZE;
		r->size = faults_pick(&f->rng, 0, f->file[r->file].cells) * FAULTS_CELL;
	} else if (what < 94) {
		r->op = OP_REMOVE;
	} else if (what < 97) {
		r->op = OP_FORM;
	} else {
		r->op = OP_BARRIER;
	}
	plan_clone(f);
	plan_epoch(f);
}

static void plan_read_back(struct faults *f, uint32_t file)
{
	f->round.nxfer = 1;
	memset(&f->round.x[0], 0, sizeof(f->round.x[0]));
	f->round.x[0].file = file;
	f->round.x[0].method = faults_pick(&f->rng, DDIO_METHOD_TC, DDIO_METHOD_DDS);
}

bool faults_all_up(const struct faults *f)
{
	uint32_t i;

	for (i = 0; i < f->conf.iops; i++)
		if (!faults_iop_up(f, i))
			return false;
	return true;
}

/*
 * Plans the end: everything is repaired; files are read, synced, read again after a power cut
 * everywhere, and checked.
 */
static void plan_end(struct faults *f)
{
	static const enum faults_op ops[] = { OP_PAUSE, OP_FORM,      OP_SYNC,	OP_READ_BACK,
					      OP_SYNC,	OP_FSCK,      OP_POWER, OP_FORM,
					      OP_FSCK,	OP_READ_BACK, OP_OVER };
	struct faults_round *r = &f->round;

	if (!f->stage)
		faults_fate_heal(f);
	/* An I/O processor that is stopping may still wait for slow disks. */
	if (f->stage == 1 && !faults_all_up(f) && f->step++ < 20) {
		r->op = OP_PAUSE;
		r->size = CALM_NS;
		return;
	}
	if (f->stage == 1)
		f->step = 0;
	r->op = ops[f->stage];
	/* The first sync may still report what was lost. */
	r->strict = f->stage != 2;
	r->fresh = true;
	r->size = CALM_NS;
	r->file = f->step;
	if (r->op == OP_READ_BACK)
		plan_read_back(f, f->step);
	if (r->op == OP_POWER)
		faults_fate_power(f, 1000);
	if ((r->op == OP_READ_BACK || r->op == OP_SYNC) && ++f->step < f->conf.files)
		return;
	f->step = 0;
	f->stage++;
}

/* Plans a pause after no group could be formed: the cause may go away. */
static void plan_pause(struct faults *f)
{
	f->round.op = OP_PAUSE;
	f->round.size = faults_scale(&f->rng, 10000, FAULTS_TIMEOUT_MS * FAULTS_MS);
}

/* Plans a pause in which requests of killed processes are finished. */
static void plan_settle(struct faults *f)
{
	f->orphaned = false;
	f->round.op = OP_PAUSE;
	f->round.size = 2 * FAULTS_TIMEOUT_MS * FAULTS_MS;
}

/* Leaves the round out: nobody does anything. */
static void leave_out(struct faults *f)
{
	const struct faults_skip *skip = f->spec.skip;
	struct faults_round *r = &f->round;

	if (!skip || f->stage || r->number >= FAULTS_SKIP || !skip->round[r->number] ||
	    r->op == OP_FORM)
		return;
	r->op = OP_PAUSE;
	r->size = 0;
	r->nxfer = 0;
}

void faults_round_plan(struct faults *f)
{
	uint32_t number = f->round.number + 1;

	memset(&f->round, 0, sizeof(f->round));
	f->round.number = number;
	if (f->result->why[0])
		f->round.op = OP_OVER;
	else if (f->stage || f->rounds >= f->conf.rounds)
		plan_end(f);
	else if (!f->formed && number > 1 && !f->paused)
		plan_pause(f);
	else if (f->orphaned && !f->paused)
		plan_settle(f);
	else if (!f->formed || f->reform)
		f->round.op = OP_FORM;
	else if (!f->conf.aimed || !faults_scene_plan(f))
		plan_work(f);
	leave_out(f);
	f->result->last = number;
	/* Rounds in which no group can be formed do not count. */
	if (f->formed || number > 4 * f->conf.rounds)
		f->rounds++;
	f->paused = f->round.op == OP_PAUSE;
	if (f->round.op == OP_FORM) {
		f->group++;
		memset(&f->count, 0, sizeof(f->count));
		f->reform = false;
	}
	if (f->spec.verbose)
		faults_say(f, "round %u: op %u, file %u, %s method %u flags %u", number,
			   f->round.op, f->round.file, f->round.x[0].write[0] ? "write" : "read",
			   f->round.x[0].method, f->round.x[0].flags);
}
