// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenes: a few rounds that would show one kind of mistake, if it is there.  What breaks at random rarely breaks the
 * one request whose error somebody forgets, or in the moment between an answer and the commit that it should have
 * waited for.  Scenes aim: at the next reads, writes, flushes or commits of a file's disk; at the moment after an
 * answer; at that between a cut and its commit, while others want the space.  They leave to chance all the rest.
 */
#include <stdlib.h>
#include <string.h>
#include "run.h"

enum scene_step {
	END,
	WRITE,	   /* all of the file, collectively */
	WRITE_TC,  /* the same, through the caches */
	WRITE_OWN, /* some of it, by each process */
	WRITE_ANY, /* some of it, collectively */
	OTHER,	   /* all of the other file, collectively */
	SYNC,
	SYNC_OTHER,
	DROP,
	READ, /* all of it, by any method */
	READ_TC,
	READ_OTHER,
	BAD_READS,
	BAD_WRITES,
	BAD_FLUSH,
	BAD_COMMITS,
	GOOD,  /* what was bad is good again */
	POWER, /* all lose power, now */
	UP,    /* waits until all are up, and forms a new group */
	CUT_OTHER,
	MIX, /* the file is cut or removed while the other is written, and power is lost */
};

#define AGAIN POWER, UP, READ
#define LABEL 4096 /* bytes of a disk that no file gets */

static const uint8_t bad_read[] = { WRITE, SYNC, DROP, BAD_READS, READ_TC, READ, GOOD, READ, END };
static const uint8_t bad_fill[] = { WRITE, SYNC, DROP, BAD_READS, WRITE_OWN, SYNC,
				    GOOD,  READ, SYNC, AGAIN,	  END };
static const uint8_t bad_merge[] = { WRITE, SYNC, DROP, BAD_READS, WRITE_ANY, GOOD, READ, END };
static const uint8_t bad_cached[] = { WRITE_TC, WRITE_OWN, BAD_WRITES, SYNC, GOOD,
				      DROP,	READ,	   AGAIN,      END };
static const uint8_t bad_write[] = { WRITE, BAD_WRITES, WRITE_ANY, GOOD, READ, END };
static const uint8_t bad_flush[] = { WRITE, BAD_FLUSH, SYNC, GOOD, AGAIN, END };
static const uint8_t bad_commit[] = { WRITE, BAD_COMMITS, SYNC, GOOD, AGAIN, END };
static const uint8_t acknowledged[] = { WRITE_ANY, WRITE_OWN, SYNC, AGAIN, END };
static const uint8_t reused[] = { CUT_OTHER, WRITE, SYNC, MIX, UP, READ, READ_OTHER, END };
static const uint8_t reused_twice[] = { CUT_OTHER, WRITE_OWN,  WRITE,	  SYNC,	 MIX,  UP,
					READ,	   READ_OTHER, CUT_OTHER, WRITE, SYNC, MIX,
					UP,	   READ_OTHER, READ,	  END };

static const uint8_t *const scenes[] = {
	bad_read,  bad_fill,   bad_merge,    bad_merge, bad_cached,   bad_write,    bad_flush,
	bad_flush, bad_commit, acknowledged, reused,	reused_twice, reused_twice, reused_twice,
};

#define SCENES (sizeof(scenes) / sizeof(scenes[0]))

/* Returns how many bytes of a file are on its first disk. */
static uint64_t file_share(const struct faults_file *file)
{
	uint64_t blocks = (file->cells * FAULTS_CELL + file->block - 1) / file->block;

	return (blocks + file->ndisks - 1) / file->ndisks * file->block;
}

/* Disks have room for one of two files and little else: what one frees the other one gets, at once. */
static void conf_tight(struct faults *f)
{
	uint64_t most = 0;
	uint32_t i;

	if (f->conf.files > 2)
		f->conf.files = 2;
	for (i = 0; i < f->conf.files; i++)
		if (file_share(&f->file[i]) > most)
			most = file_share(&f->file[i]);
	f->conf.disk_size =
		LABEL + (most * faults_pick(&f->rng, 100, 105) / 100 + 4095) / 4096 * 4096;
}

/* Each step of a commit takes its time, and hardly anything breaks at random. */
void faults_scene_conf(struct faults *f)
{
	struct faults_conf *c = &f->conf;

	if (faults_chance(&f->rng, 70))
		conf_tight(f);
	if (faults_chance(&f->rng, 80))
		c->offload_ns = faults_scale(&f->rng, 5 * FAULTS_MS, 30 * FAULTS_MS);
	if (faults_chance(&f->rng, 70))
		c->kinds = 0;
	if (!f->spec.rounds)
		c->rounds += 15;
	c->streamed = faults_chance(&f->rng, 50);
	c->satf = c->emulated && faults_chance(&f->rng, 70);
	if (c->cps < 2)
		c->cps = faults_pick(&f->rng, 1, 3);
}

/* Plans a transfer of all that the file may have; what lies beyond its end is not read. */
static void plan_all(struct faults *f, uint32_t file, bool write, uint32_t method)
{
	struct faults_round *r = &f->round;
	struct faults_xfer *x = &r->x[0];
	uint32_t i;

	r->op = OP_COLL;
	r->nxfer = 1;
	x->file = file;
	x->method = method;
	x->flags = write ? 0 : DDIO_XFER_SHORT;
	if (!write && f->conf.satf && method == DDIO_METHOD_DDS)
		x->flags |= DDIO_XFER_SATF;
	if (write)
		f->file[file].version++;
	for (i = 0; i < f->conf.cps; i++) {
		x->write[i] = write;
		x->version[i] = f->file[file].version;
	}
	faults_part_make(f, &x->part, 0, f->file[file].cells, write);
	if (write)
		return;
	x->part.kind = DDIO_PART_ARRAY;
	x->part.array = (struct ddio_array){
		.elem_size = FAULTS_CELL,
		.ndims = 1,
		.dim = { { .size = f->file[file].cells, .dist = DDIO_BLOCK, .procs = f->conf.cps } }
	};
}

static uint32_t any_method(struct faults *f)
{
	return faults_pick(&f->rng, DDIO_METHOD_TC, DDIO_METHOD_DDS);
}

/* Plans one call of one process. */
static void plan_call(struct faults *f, enum faults_op op, uint32_t file)
{
	f->round.op = op;
	f->round.file = file;
	f->round.actor = faults_pick(&f->rng, 0, f->conf.cps - 1);
}

/* Plans that all but one process write the other file's blocks, each the same number of whole ones. */
static void plan_blocks(struct faults *f)
{
	struct faults_round *r = &f->round;
	struct faults_xfer *x = &r->x[0];
	struct faults_file *file = &f->file[f->scene.other];
	uint32_t blocks = file->cells * FAULTS_CELL / file->block / (f->conf.cps - 1);
	uint32_t i, turn = 0;

	x->contiguous = true;
	x->method = DDIO_METHOD_DEFAULT;
	x->flags = 0;
	x->part.kind = DDIO_PART_LIST;
	for (i = 0; i < f->conf.cps; i++) {
		x->write[i] = i != r->actor;
		x->part.nlist[i] = x->write[i] && blocks;
		x->part.list[i][0] =
			(struct ddio_extent){ .offset = (uint64_t)turn * blocks * file->block,
					      .len = (uint64_t)blocks * file->block };
		turn += x->write[i];
	}
}

static void plan_mix(struct faults *f)
{
	struct faults_round *r = &f->round;
	uint64_t most = faults_scale(&f->rng, 100000, 20 * FAULTS_MS);
	uint32_t i;

	plan_call(f, OP_MIX, f->scene.file);
	r->own = f->conf.cps > 1 && faults_chance(&f->rng, 80);
	r->remove = faults_chance(&f->rng, 40);
	r->size = faults_pick(&f->rng, 0, 8) * FAULTS_CELL;
	r->nxfer = 1;
	plan_all(f, f->scene.other, true, any_method(f));
	r->op = OP_MIX;
	if (r->own)
		plan_blocks(f);
	for (i = 0; i < f->conf.cps; i++)
		r->delay[i] = i == r->actor ? 0 : faults_pick(&f->rng, 0, most);
	faults_fate_power_in(f, faults_pick(&f->rng, 0, most + f->conf.offload_ns),
			     faults_chance(&f->rng, 70) ? 0 : 500);
}

static void fail_requests(struct faults *f, enum faults_disk_ops ops)
{
	const struct faults_file *file = &f->file[f->scene.file];
	uint32_t i, n = ops == FAULTS_FLUSHES ? 1 : faults_scale(&f->rng, 1, 100);
	bool all = faults_chance(&f->rng, 40);

	for (i = 0; i < file->ndisks; i++)
		if (all || file->disk[i] == f->scene.disk)
			faults_fate_disk(f, file->disk[i], n, ops);
}

static void fail_commits(struct faults *f)
{
	const struct faults_file *file = &f->file[f->scene.file];
	bool all = faults_chance(&f->rng, 40);
	uint32_t i;

	for (i = 0; i < file->ndisks; i++)
		if (all || file->disk[i] == f->scene.disk)
			faults_fate_records(f, f->conf.node[file->disk[i]]);
}

/* Plans pauses until a loss of power is over, and then a new group. */
static void plan_up(struct faults *f)
{
	struct faults_scene *scene = &f->scene;

	if (scene->waited++ < 20 && (scene->waited == 1 || !faults_all_up(f))) {
		f->round.op = OP_PAUSE;
		f->round.size = scene->waited == 1 ? 60 * FAULTS_MS : FAULTS_TIMEOUT_MS * FAULTS_MS;
		scene->at--;
		return;
	}
	scene->waited = 0;
	f->round.op = OP_FORM;
}

/* Breaks or mends something.  Returns false if that is not what the step does. */
static bool step_breaks(struct faults *f, enum scene_step step)
{
	switch (step) {
	case BAD_READS:
		fail_requests(f, FAULTS_READS);
		break;
	case BAD_WRITES:
		fail_requests(f, FAULTS_WRITES);
		break;
	case BAD_FLUSH:
		fail_requests(f, FAULTS_FLUSHES);
		break;
	case BAD_COMMITS:
		fail_commits(f);
		break;
	case GOOD:
		faults_fate_good(f);
		break;
	default:
		return false;
	}
	return true;
}

/* Plans a transfer.  Returns false if that is not what the step does. */
static bool step_moves(struct faults *f, enum scene_step step)
{
	bool other = step == OTHER || step == READ_OTHER;
	bool cached = step == WRITE_TC || step == READ_TC;
	uint32_t file = other ? f->scene.other : f->scene.file;

	switch (step) {
	case WRITE:
	case WRITE_TC:
	case OTHER:
	case READ:
	case READ_TC:
	case READ_OTHER:
		plan_all(f, file, step == WRITE || step == WRITE_TC || step == OTHER,
			 cached ? DDIO_METHOD_TC : any_method(f));
		return true;
	case WRITE_OWN:
		f->round.op = OP_OWN;
		f->round.nxfer = 1;
		faults_plan_own(f, &f->round.x[0], file);
		return true;
	case WRITE_ANY:
		f->round.op = OP_COLL;
		f->round.nxfer = 1;
		do
			faults_plan_coll(f, &f->round.x[0], file);
		while (!f->round.x[0].write[0]);
		return true;
	default:
		return false;
	}
}

static void plan_power(struct faults *f)
{
	uint32_t lose = faults_chance(&f->rng, 80) ? 1000 : 500;

	f->round.op = OP_POWER;
	f->round.size = 20 * FAULTS_MS;
	if (faults_left_out(f))
		return;
	faults_say(f, "all I/O processors lose power, and %u of 1000 unflushed sectors", lose);
	faults_fate_power(f, lose);
}

static void step_acts(struct faults *f, enum scene_step step)
{
	switch (step) {
	case SYNC:
	case SYNC_OTHER:
		plan_call(f, OP_SYNC, step == SYNC ? f->scene.file : f->scene.other);
		break;
	case DROP:
		plan_call(f, OP_DROP, f->scene.file);
		break;
	case POWER:
		plan_power(f);
		break;
	case CUT_OTHER:
		plan_call(f, OP_SIZE, f->scene.other);
		break;
	case MIX:
		plan_mix(f);
		break;
	default:
		plan_up(f);
	}
}

static void scene_begin(struct faults *f)
{
	/* The last four are about two files. */
	uint32_t n = f->conf.files > 1 ? SCENES : SCENES - 4;
	uint32_t file = faults_pick(&f->rng, 0, f->conf.files - 1);
	const struct faults_file *about = &f->file[file];

	f->scene = (struct faults_scene){
		.at = scenes[faults_pick(&f->rng, 0, n - 1)],
		.file = file,
		.other = (file + 1) % f->conf.files,
		.disk = about->disk[faults_pick(&f->rng, 0, about->ndisks - 1)],
	};
}

bool faults_scene_plan(struct faults *f)
{
	if (!f->scene.at && faults_chance(&f->rng, 85))
		scene_begin(f);
	if (!f->scene.at)
		return false;
	while (step_breaks(f, *f->scene.at))
		f->scene.at++;
	if (*f->scene.at == END) {
		f->scene.at = NULL;
		return false;
	}
	f->scene.at++;
	if (!step_moves(f, f->scene.at[-1]))
		step_acts(f, f->scene.at[-1]);
	return true;
}
